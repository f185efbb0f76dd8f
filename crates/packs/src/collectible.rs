//! Collectibles as content describes them.

use crate::{CollectibleId, CollectibleKey};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{TeamId, UnknownName};

/// How rare a collectible is; the order is that of rareness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rarity {
    /// The most frequent.
    Common,
    /// Rarer than common ones.
    Uncommon,
    /// Rarer than uncommon ones.
    Rare,
    /// Rarer than rare ones.
    Epic,
    /// The rarest.
    Legendary,
}

impl Rarity {
    /// Every rarity, from the most frequent to the rarest.
    pub const ALL: [Self; 5] = [Self::Common, Self::Uncommon, Self::Rare, Self::Epic, Self::Legendary];

    /// The stable name, as tables, content, answers and proofs hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::Uncommon => "uncommon",
            Self::Rare => "rare",
            Self::Epic => "epic",
            Self::Legendary => "legendary",
        }
    }
}

impl fmt::Display for Rarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Rarity {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|rarity| rarity.as_str() == text)
            .ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A collectible. One in hand was checked by [`crate::plan`]; its rarity and its edition stay as they were first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collectible {
    /// Its id; it stays as long as its key does.
    pub id: CollectibleId,
    /// Its key; no two collectibles share one.
    pub key: CollectibleKey,
    /// What it is called.
    pub name: String,
    /// How rare it is.
    pub rarity: Rarity,
    /// The team that it belongs to.
    pub team: Option<TeamId>,
    /// Its picture: an https address, or a path of this service.
    pub image_url: Option<String>,
    /// How many copies there may ever be, 1 or more: each carries a serial from 1 to this number, which is not used
    /// again. `None`: an open edition, whose copies carry none.
    pub edition: Option<u32>,
}
