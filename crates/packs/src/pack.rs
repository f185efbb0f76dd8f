//! Packs as content describes them, and what their copies are drawn from.

use crate::{CollectibleId, PackId, PackKey, Rarity};
use std::collections::BTreeMap;
use terrace_kernel::PricePart;
use terrace_kernel::Timestamp;

/// A position in a pack for which one collectible is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The rarities that the slot may give and their weights: each rarity once, from the most frequent to the rarest;
    /// at least one, with weights of 1 to 1,000,000.
    pub rarities: Vec<(Rarity, u32)>,
}

impl Slot {
    /// Whether the slot may give this rarity.
    pub fn can_give(&self, rarity: Rarity) -> bool {
        self.rarities.iter().any(|(given, _)| *given == rarity)
    }
}

/// A collectible in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Id of the collectible.
    pub collectible: CollectibleId,
    /// How rare the collectible is.
    pub rarity: Rarity,
    /// Edition of the collectible; `None` for an open edition.
    pub edition: Option<u32>,
    /// Its weight among the collectibles of its rarity in the pack: 1 to 1,000,000.
    pub weight: u32,
}

/// The promise that a copy contains at least one collectible of a rarity or a rarer one. If no earlier slot gave one,
/// the last slot is drawn only from such rarities, by their weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// The minimum rarity that fulfils the guarantee.
    pub at_least: Rarity,
}

/// A pack that passed [`crate::plan`]. Slots, contents and guarantee never change after it first went on sale, so that
/// every sealed copy has the odds that were published when it was bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// Id of the pack; as stable as its key.
    pub id: PackId,
    /// Unique key of the pack.
    pub key: PackKey,
    /// Display name.
    pub name: String,
    /// Description shown to fans.
    pub description: String,
    /// Image: an https address, or a path of this service.
    pub image_url: Option<String>,
    /// Price of one copy.
    pub price: PricePart,
    /// How many copies a fan may buy; `None` for no limit.
    pub per_user_limit: Option<u32>,
    /// How many copies may be sold; `None` for no limit.
    pub supply: Option<u32>,
    /// The first instant of the sale; `None`: the pack has always been on sale.
    pub opens_at: Option<Timestamp>,
    /// The first instant after the sale; `None`: the sale has no end.
    pub closes_at: Option<Timestamp>,
    /// 1 to 20 slots, in the order in which they are drawn.
    pub slots: Vec<Slot>,
    /// The guarantee of every copy, if any.
    pub guarantee: Option<Guarantee>,
    /// The collectibles that the pack may give, each once, sorted by id.
    pub contents: Vec<Content>,
    /// Whether the pack was removed from the content. It is no longer sold, but its sealed copies can be opened.
    pub is_retired: bool,
}

impl Pack {
    /// Whether the pack is on sale at `now`.
    pub fn is_on_sale(&self, now: Timestamp) -> bool {
        !self.is_retired && self.was_on_sale(now) && self.closes_at.is_none_or(|closes| !closes.is_over(now))
    }

    /// Whether the sale has begun by `now`, even if it has ended since.
    pub fn was_on_sale(&self, now: Timestamp) -> bool {
        self.opens_at.is_none_or(|opens| opens.is_over(now))
    }

    /// The collectibles of a rarity, sorted by id.
    pub fn contents_of(&self, rarity: Rarity) -> impl Iterator<Item = &Content> {
        self.contents.iter().filter(move |content| content.rarity == rarity)
    }
}

/// How many copies of limited collectibles have been minted. A collectible without an entry has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Minted(BTreeMap<CollectibleId, u32>);

impl FromIterator<(CollectibleId, u32)> for Minted {
    fn from_iter<I: IntoIterator<Item = (CollectibleId, u32)>>(counts: I) -> Self {
        Self(counts.into_iter().collect())
    }
}

impl Minted {
    /// How many copies were minted; 0 for an open edition, whose copies are not counted.
    pub fn count(&self, collectible: CollectibleId) -> u32 {
        self.0.get(&collectible).copied().unwrap_or(0)
    }

    /// How many copies are left; `None` for an open edition.
    pub fn left(&self, content: &Content) -> Option<u32> {
        content.edition.map(|edition| edition.saturating_sub(self.count(content.collectible)))
    }

    /// Whether at least one copy is left.
    pub fn is_left(&self, content: &Content) -> bool {
        self.left(content) != Some(0)
    }

    /// Counts one more copy of a limited collectible; does nothing for an open edition.
    pub fn mint(&mut self, content: &Content) {
        if content.edition.is_some() {
            let count = self.0.entry(content.collectible).or_default();
            *count = count.saturating_add(1);
        }
    }
}
