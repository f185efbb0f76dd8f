//! Collectibles as content describes them.

use crate::{CollectibleId, CollectibleKey};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{TeamId, UnknownName};

/// How rare a collectible is, ordered from the most frequent to the rarest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rarity {
    /// The most frequent rarity.
    Common,
    /// Rarer than [`Rarity::Common`].
    Uncommon,
    /// Rarer than [`Rarity::Uncommon`].
    Rare,
    /// Rarer than [`Rarity::Rare`].
    Epic,
    /// The rarest rarity.
    Legendary,
}

impl Rarity {
    /// Every rarity, from the most frequent to the rarest.
    pub const ALL: [Self; 5] = [Self::Common, Self::Uncommon, Self::Rare, Self::Epic, Self::Legendary];

    /// The stable name, as stored in tables, content, responses and proofs.
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

/// A collectible that passed [`crate::plan`]. Its rarity and its edition never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collectible {
    /// Id of the collectible; as stable as its key.
    pub id: CollectibleId,
    /// Unique key of the collectible.
    pub key: CollectibleKey,
    /// Display name.
    pub name: String,
    /// Rarity; it never changes.
    pub rarity: Rarity,
    /// The team that the collectible belongs to, if any.
    pub team: Option<TeamId>,
    /// Image: an https address, or a path of this service.
    pub image_url: Option<String>,
    /// The number of copies that can ever exist, 1 or more. Each copy carries a serial from 1 to this number; serials
    /// are not reused. `None`: an open edition, whose copies have no serial.
    pub edition: Option<u32>,
}
