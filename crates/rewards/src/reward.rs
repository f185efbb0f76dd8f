//! Rewards as content describes them.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use terrace_kernel::{Grant, Timestamp, UnknownName, Uuid, stable_keys, typed_ids};

typed_ids! {
    /// Id of a reward.
    RewardId;
    /// Id of a claim of a reward.
    ClaimId;
    /// Id of a code.
    CodeId;
    /// Id of a till.
    TillId;
}

stable_keys! {
    /// Stable key of a reward.
    RewardKey;
}

/// Declares an enum of values with stable names.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name, as used in tables, content and responses.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|value| value.as_str() == text)
                    .ok_or_else(|| UnknownName(text.to_owned()))
            }
        }
    };
}
pub(crate) use named;

named! {
    /// What a claim is paid with.
    CostKind {
        /// Spendable points.
        Points = "points",
        /// Coins, as of all areas.
        Coins = "coins",
    }
}

named! {
    /// The period in which a fan may claim a reward so many times.
    Period {
        /// At any time.
        Ever = "ever",
        /// On one date of the fan's time zone.
        Day = "day",
        /// In one season; without an active season the reward is closed.
        Season = "season",
    }
}

named! {
    /// Where the codes of a reward come from.
    CodeSource {
        /// An operator has stored them; a claim takes one.
        Pool = "pool",
        /// A claim generates one.
        Generated = "generated",
    }
}

/// The cost of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// What it is paid with.
    pub kind: CostKind,
    /// 1 to 1,000,000,000.
    pub amount: i64,
}

/// What a fan must have reached to claim a reward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// A level, by its number.
    Level(u32),
    /// The completion of a quest, on any day.
    Quest(Uuid),
    /// An achievement, by its key.
    Achievement(String),
    /// A rank on the global board of the active season, or a better one.
    Rank(u32),
    /// Points of the active season.
    Points(i64),
}

/// What a claim gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// A code, which is used once, at a till or by the fan.
    Code(CodeSource),
    /// Something that the fan has with the claim.
    Goods(Grant),
}

impl Gives {
    /// The grant that a claim gives.
    pub const fn grant(&self) -> Grant {
        match self {
            Self::Code(_) => Grant::Code(1),
            Self::Goods(grant) => *grant,
        }
    }
}

/// A reward that fans claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reward {
    /// Id of the reward; as stable as its key.
    pub id: RewardId,
    /// Unique key of the reward.
    pub key: RewardKey,
    /// Display name.
    pub name: String,
    /// Description; may be empty.
    pub description: String,
    /// A picture: a path of the service or an https address.
    pub image_url: Option<String>,
    /// What a claim gives.
    pub gives: Gives,
    /// What a claim costs; `None` if it is free.
    pub cost: Option<Cost>,
    /// What a fan must have reached; all of them.
    pub requires: Vec<Requirement>,
    /// The number of claims of all fans together; `None` for no limit. Of a pool, the number of its codes counts instead.
    pub stock: Option<u32>,
    /// The most claims of a fan in a period.
    pub per_user_limit: Option<u32>,
    /// The period of that limit.
    pub period: Period,
    /// How long a claim may be used; `None` for no limit.
    pub valid_for: Option<Duration>,
    /// The first instant at which it can be claimed.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it closes.
    pub closes_at: Option<Timestamp>,
    /// Whether the reward was removed from the content.
    pub is_retired: bool,
}

impl Reward {
    /// Whether there are only so many of it.
    pub fn is_limited(&self) -> bool {
        self.stock.is_some() || self.gives == Gives::Code(CodeSource::Pool)
    }

    /// Whether it can be claimed at this time, apart from all other rules.
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.is_retired && self.was_open(now) && !self.closes_at.is_some_and(|at| at.is_over(now))
    }

    /// Whether it is or was open.
    pub fn was_open(&self, now: Timestamp) -> bool {
        self.opens_at.is_none_or(|at| at.is_over(now))
    }
}

/// What a fan has reached, as far as requirements of rewards depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reached {
    /// The number of the level.
    pub level: u32,
    /// The completed quests.
    pub quests: HashSet<Uuid>,
    /// The keys of the achievements.
    pub achievements: HashSet<String>,
    /// The rank on the global board of the active season, if the fan is listed there.
    pub rank: Option<u64>,
    /// The points of the active season.
    pub points: i64,
}

impl Requirement {
    /// Whether a fan meets it.
    pub fn is_met(&self, reached: &Reached) -> bool {
        match self {
            Self::Level(level) => reached.level >= *level,
            Self::Quest(quest) => reached.quests.contains(quest),
            Self::Achievement(key) => reached.achievements.contains(key),
            Self::Rank(rank) => reached.rank.is_some_and(|own| own <= u64::from(*rank)),
            Self::Points(points) => reached.points >= *points,
        }
    }
}

/// The stock of a limited reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RewardStock {
    /// How many claims or codes there are in all.
    pub supply: u32,
    /// How many were claimed. A unit is never returned: the fan may have seen its code.
    pub taken: u32,
}

impl RewardStock {
    /// How many are left; the supply may have been lowered below what was claimed.
    pub const fn remaining(self) -> u32 {
        self.supply.saturating_sub(self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_met_from_its_value_on() {
        let quest = Uuid::from_u128(7);
        let reached = Reached {
            level: 3,
            quests: HashSet::from([quest]),
            achievements: HashSet::from(["loyal".to_owned()]),
            rank: Some(10),
            points: 500,
        };
        for (requirement, is_met) in [
            (Requirement::Level(3), true),
            (Requirement::Level(4), false),
            (Requirement::Quest(quest), true),
            (Requirement::Quest(Uuid::from_u128(8)), false),
            (Requirement::Achievement("loyal".to_owned()), true),
            (Requirement::Achievement("other".to_owned()), false),
            (Requirement::Rank(10), true),
            (Requirement::Rank(9), false),
            (Requirement::Points(500), true),
            (Requirement::Points(501), false),
        ] {
            assert_eq!(requirement.is_met(&reached), is_met, "{requirement:?}");
        }
        assert!(!Requirement::Rank(100).is_met(&Reached::default()), "an unlisted fan has no rank");
    }
}
