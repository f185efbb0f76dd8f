//! Achievements: goals that a fan reaches once.

use crate::{AchievementKey, Facts};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::num;

/// The facts about a fan that achievements use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AchievementFacts {
    /// The facts that checks use too.
    pub facts: Facts,
    /// How many quests the fan completed; each day of a daily quest counts.
    pub quests_completed: u64,
    /// The longest streak of daily visits.
    pub longest_streak: u32,
}

/// The goal of an achievement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Follow this many people.
    Follows(u32),
    /// Be followed by this many people.
    Followers(u32),
    /// Have joined this many boards.
    BoardsJoined(u32),
    /// Complete this many quests.
    QuestsCompleted(u32),
    /// Visit on this many consecutive dates.
    VisitStreak(u32),
    /// Have this many points in the active season.
    SeasonPoints(i64),
    /// Have a display name, biography, picture and favourite team.
    CompleteProfile,
}

/// The text is not a goal in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a goal such as followers:10: there are follows, followers, boards_joined, quests_completed, visit_streak, season_points (each with a number from 1) and complete_profile"
)]
pub struct MalformedGoal;

impl Goal {
    /// The highest target of a count.
    pub const MAX: u32 = 1_000_000_000;
    /// The highest target of points.
    pub const MAX_POINTS: i64 = 1_000_000_000_000;

    /// The stable name of the kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Follows(_) => "follows",
            Self::Followers(_) => "followers",
            Self::BoardsJoined(_) => "boards_joined",
            Self::QuestsCompleted(_) => "quests_completed",
            Self::VisitStreak(_) => "visit_streak",
            Self::SeasonPoints(_) => "season_points",
            Self::CompleteProfile => "complete_profile",
        }
    }

    /// The target value.
    pub fn target(&self) -> u64 {
        match self {
            Self::Follows(n)
            | Self::Followers(n)
            | Self::BoardsJoined(n)
            | Self::QuestsCompleted(n)
            | Self::VisitStreak(n) => u64::from(*n),
            Self::SeasonPoints(points) => num::to_u64(*points),
            Self::CompleteProfile => 4,
        }
    }

    fn have(&self, known: &AchievementFacts) -> u64 {
        match self {
            Self::Follows(_) => known.facts.follows,
            Self::Followers(_) => known.facts.followers,
            Self::BoardsJoined(_) => known.facts.boards_joined,
            Self::QuestsCompleted(_) => known.quests_completed,
            Self::VisitStreak(_) => u64::from(known.longest_streak),
            Self::SeasonPoints(_) => num::to_u64(known.facts.season_points),
            Self::CompleteProfile => known.facts.profile_parts(),
        }
    }
}

/// The canonical form: `kind:n`, or `kind` for a goal without a number.
impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        if *self == Self::CompleteProfile { Ok(()) } else { write!(f, ":{}", self.target()) }
    }
}

impl FromStr for Goal {
    type Err = MalformedGoal;

    fn from_str(text: &str) -> Result<Self, MalformedGoal> {
        let (kind, value) = text.split_once(':').unwrap_or((text, "1"));
        let value: i64 = value.parse().map_err(|_| MalformedGoal)?;
        let count = || u32::try_from(value).map_err(|_| MalformedGoal);
        let goal = match kind {
            "follows" => Self::Follows(count()?),
            "followers" => Self::Followers(count()?),
            "boards_joined" => Self::BoardsJoined(count()?),
            "quests_completed" => Self::QuestsCompleted(count()?),
            "visit_streak" => Self::VisitStreak(count()?),
            "season_points" => Self::SeasonPoints(value),
            "complete_profile" => Self::CompleteProfile,
            _ => return Err(MalformedGoal),
        };
        let most = if kind == "season_points" { Self::MAX_POINTS } else { i64::from(Self::MAX) };
        let is_written_so = goal.to_string() == text;
        if is_written_so && (1..=most).contains(&value) { Ok(goal) } else { Err(MalformedGoal) }
    }
}

/// An achievement, as content describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Achievement {
    /// Unique key of the achievement.
    pub key: AchievementKey,
    /// Display title.
    pub title: String,
    /// Description shown to fans.
    pub description: String,
    /// Whether it is hidden from fans who do not have it.
    pub is_secret: bool,
    /// The goal to reach.
    pub goal: Goal,
}

impl Achievement {
    /// A fan's progress: the current value, capped at the target, and the target.
    pub fn progress(&self, known: &AchievementFacts) -> (u64, u64) {
        let target = self.goal.target();
        (self.goal.have(known).min(target), target)
    }

    /// Whether a fan has reached the goal now. An unlocked achievement is permanent, even if the goal no longer holds.
    pub fn is_reached(&self, known: &AchievementFacts) -> bool {
        let (have, target) = self.progress(known);
        have >= target
    }

    /// Whether a fan may see the achievement: a secret one only after it is unlocked.
    pub fn is_shown(&self, is_unlocked: bool) -> bool {
        is_unlocked || !self.is_secret
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn achievement(goal: &str) -> Achievement {
        Achievement {
            key: "popular".parse().unwrap(),
            title: "Popular".to_owned(),
            description: String::new(),
            is_secret: true,
            goal: goal.parse().unwrap(),
        }
    }

    #[test]
    fn an_achievement_is_reached_at_its_target() {
        let none = AchievementFacts::default();
        let with = |facts| AchievementFacts { facts, ..none };
        for (goal, known, progress) in [
            ("follows:3", with(Facts { follows: 2, ..none.facts }), (2, 3)),
            ("follows:3", with(Facts { follows: 4, ..none.facts }), (3, 3)),
            ("followers:2", with(Facts { followers: 2, ..none.facts }), (2, 2)),
            ("boards_joined:2", with(Facts { boards_joined: 1, ..none.facts }), (1, 2)),
            ("quests_completed:5", AchievementFacts { quests_completed: 5, ..none }, (5, 5)),
            ("visit_streak:7", AchievementFacts { longest_streak: 6, ..none }, (6, 7)),
            ("season_points:10", with(Facts { season_points: -3, ..none.facts }), (0, 10)),
            ("season_points:10", with(Facts { season_points: 11, ..none.facts }), (10, 10)),
            ("complete_profile", with(Facts { has_bio: true, ..none.facts }), (1, 4)),
        ] {
            let achievement = achievement(goal);
            assert_eq!(achievement.progress(&known), progress, "{goal}");
            assert_eq!(achievement.is_reached(&known), progress.0 == progress.1, "{goal}");
            assert!(!achievement.is_reached(&none), "{goal}");
        }
    }

    #[test]
    fn a_secret_one_is_hidden_until_it_is_unlocked() {
        let secret = achievement("follows:1");
        let open = Achievement { is_secret: false, ..secret.clone() };
        assert_eq!((secret.is_shown(false), secret.is_shown(true)), (false, true));
        assert_eq!((open.is_shown(false), open.is_shown(true)), (true, true));
    }

    #[test]
    fn goals_are_read_as_they_are_written() {
        for text in [
            "follows:1",
            "followers:10",
            "boards_joined:2",
            "quests_completed:3",
            "visit_streak:30",
            "season_points:1000000000000",
            "complete_profile",
        ] {
            assert_eq!(text.parse::<Goal>().map(|goal| goal.to_string()), Ok(text.to_owned()));
        }
        for wrong in [
            "",
            "follows",
            "follows:",
            "follows:0",
            "follows:-1",
            "follows:01",
            "follows:1:1",
            "follows:1000000001",
            "season_points",
            "season_points:1000000000001",
            "complete_profile:1",
            "complete_profile:4",
            "fame:1",
        ] {
            assert_eq!(wrong.parse::<Goal>(), Err(MalformedGoal), "{wrong}");
        }
    }
}
