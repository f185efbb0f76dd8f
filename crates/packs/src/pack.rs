//! Packs as content describes them, and what a copy of one is drawn from.

use crate::{CollectibleId, PackId, PackKey, Rarity};
use std::collections::BTreeMap;
use terrace_kernel::Price;
use terrace_kernel::Timestamp;

/// A place in a pack that one collectible is drawn for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The rarities that it may give and their weights, each rarity once, from the most frequent to the rarest; at
    /// least one, weights of 1 to 1,000,000.
    pub rarities: Vec<(Rarity, u32)>,
}

impl Slot {
    /// Whether it may give this rarity.
    pub fn can_give(&self, rarity: Rarity) -> bool {
        self.rarities.iter().any(|(given, _)| *given == rarity)
    }
}

/// A collectible in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Which.
    pub collectible: CollectibleId,
    /// How rare the collectible is.
    pub rarity: Rarity,
    /// The collectible's edition; `None`: an open one.
    pub edition: Option<u32>,
    /// Its weight among the collectibles of its rarity in the pack: 1 to 1,000,000.
    pub weight: u32,
}

/// The promise that a copy holds at least one collectible of a rarity or a rarer one: where no slot before the last gave
/// one, the last is drawn among those of its rarities alone, by their weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// The least rarity that fulfils it.
    pub at_least: Rarity,
}

/// A pack. One in hand was checked by [`crate::plan`]. What it is drawn from (slots, contents, guarantee) stays as it was
/// when it first went on sale, so that every sealed copy holds what was published when it was bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// Its id; it stays as long as its key does.
    pub id: PackId,
    /// Its key; no two packs share one.
    pub key: PackKey,
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Its picture: an https address, or a path of this service.
    pub image_url: Option<String>,
    /// What one copy costs.
    pub price: Price,
    /// How many copies a fan may buy; `None`: any number.
    pub per_user_limit: Option<u32>,
    /// How many copies may be sold; `None`: any number.
    pub supply: Option<u32>,
    /// The first instant of its sale; none: it has always been on sale.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it; none: it stays on sale.
    pub closes_at: Option<Timestamp>,
    /// 1 to 20 slots, in the order in which they are drawn.
    pub slots: Vec<Slot>,
    /// What every copy holds at least.
    pub guarantee: Option<Guarantee>,
    /// The collectibles that it may give, each once, by ascending ids.
    pub contents: Vec<Content>,
    /// Whether it was taken out of the content: it is not sold any more, and its sealed copies can be opened.
    pub is_retired: bool,
}

impl Pack {
    /// Whether it is sold.
    pub fn is_on_sale(&self, now: Timestamp) -> bool {
        !self.is_retired && self.was_on_sale(now) && self.closes_at.is_none_or(|closes| !closes.is_over(now))
    }

    /// Whether its sale has begun, whether or not it has ended since.
    pub fn was_on_sale(&self, now: Timestamp) -> bool {
        self.opens_at.is_none_or(|opens| opens.is_over(now))
    }

    /// Its collectibles of a rarity, by ascending ids.
    pub fn contents_of(&self, rarity: Rarity) -> impl Iterator<Item = &Content> {
        self.contents.iter().filter(move |content| content.rarity == rarity)
    }
}

/// How many copies of limited collectibles were minted so far. One that is not named was never minted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Minted(BTreeMap<CollectibleId, u32>);

impl FromIterator<(CollectibleId, u32)> for Minted {
    fn from_iter<I: IntoIterator<Item = (CollectibleId, u32)>>(counts: I) -> Self {
        Self(counts.into_iter().collect())
    }
}

impl Minted {
    /// How many copies of it were minted; 0 for an open edition, whose copies nobody counts.
    pub fn count(&self, collectible: CollectibleId) -> u32 {
        self.0.get(&collectible).copied().unwrap_or(0)
    }

    /// How many copies of it are left; `None`: any number.
    pub fn left(&self, content: &Content) -> Option<u32> {
        content.edition.map(|edition| edition.saturating_sub(self.count(content.collectible)))
    }

    /// Whether one more can be had.
    pub fn is_left(&self, content: &Content) -> bool {
        self.left(content) != Some(0)
    }

    /// Counts one more copy, of limited collectibles.
    pub fn mint(&mut self, content: &Content) {
        if content.edition.is_some() {
            let count = self.0.entry(content.collectible).or_default();
            *count = count.saturating_add(1);
        }
    }
}
