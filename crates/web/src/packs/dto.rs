//! Packs and collectibles as content has them, with their odds and what is left.

use crate::dto::Time;
use serde::Serialize;
use terrace_app::PackBook;
use terrace_app::packs::Supply;
use terrace_kernel::Timestamp;
use terrace_kernel::{Price, PriceKind};
use terrace_packs::{
    Collectible as DomainCollectible, Content, Odds, Pack as DomainPack, Quantity, Rarity as Named,
    RarityOdds as Chance, odds,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// How rare a collectible is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rarity {
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

impl From<Named> for Rarity {
    fn from(rarity: Named) -> Self {
        match rarity {
            Named::Common => Self::Common,
            Named::Uncommon => Self::Uncommon,
            Named::Rare => Self::Rare,
            Named::Epic => Self::Epic,
            Named::Legendary => Self::Legendary,
        }
    }
}

/// What is paid with.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PackPriceKind {
    /// Points that can be spent.
    Points,
    /// Coins.
    Coins,
    /// Money.
    Money,
}

/// A price.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackPrice {
    /// What is paid with.
    kind: PackPriceKind,
    /// Points or coins, or minor units of the currency.
    #[schema(example = 100)]
    amount: i64,
    /// The currency of money by its ISO 4217 code; null for points and coins.
    #[schema(example = json!(null))]
    currency: Option<String>,
}

impl PackPrice {
    /// What one copy costs.
    fn of_one(price: &Price) -> Self {
        Self::of(price, Quantity::ONE)
    }

    /// What so many copies cost together.
    pub(crate) fn of(price: &Price, quantity: Quantity) -> Self {
        let kind = match price.kind() {
            PriceKind::Points => PackPriceKind::Points,
            PriceKind::Coins => PackPriceKind::Coins,
            PriceKind::Money => PackPriceKind::Money,
        };
        let currency = price.currency().map(|currency| currency.to_string());
        Self { kind, amount: price.total(quantity.copies()), currency }
    }
}

/// The odds of a rarity.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RarityOdds {
    /// Which.
    rarity: Rarity,
    /// The share of the collectibles of this pack that are of the rarity, the guarantee included; all shares add up to 1.
    #[schema(example = 0.1)]
    probability: f64,
    /// The probability that a copy holds at least one of the rarity.
    #[schema(example = 0.19)]
    at_least_one: f64,
}

impl From<&Chance> for RarityOdds {
    fn from(chance: &Chance) -> Self {
        Self { rarity: chance.rarity.into(), probability: chance.share, at_least_one: chance.at_least_one }
    }
}

/// A pack.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pack {
    /// Its id.
    id: Uuid,
    /// Its key.
    #[schema(example = "match-day")]
    key: String,
    /// What it is called.
    name: String,
    /// What it is about.
    description: String,
    /// Its picture: an https address, or a path of this service.
    image_url: Option<String>,
    /// What one copy costs.
    price: PackPrice,
    /// Whether a copy can be bought now.
    available: bool,
    /// How many more copies can be sold; null for any number.
    remaining: Option<u32>,
    /// How many copies a fan may buy; null for any number.
    per_user_limit: Option<u32>,
    /// Its first instant.
    opens_at: Option<Time>,
    /// The first instant after it.
    closes_at: Option<Time>,
    /// How many collectibles a copy gives.
    slots: usize,
    /// The least rarity that every copy holds at least one of, or of a rarer one; null where nothing is promised.
    guarantee: Option<Rarity>,
    /// What a copy gives, from the most frequent rarity to the rarest.
    odds: Vec<RarityOdds>,
    /// What it may give; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    contents: Option<Vec<PackContent>>,
}

impl Pack {
    pub(crate) fn new(pack: &DomainPack, supply: &Supply, now: Timestamp) -> Self {
        Self::with_odds(pack, supply, now, &odds(pack, &supply.minted))
    }

    fn with_odds(pack: &DomainPack, supply: &Supply, now: Timestamp, odds: &Odds) -> Self {
        let remaining = supply.remaining(pack);
        Self {
            id: pack.id.as_uuid(),
            key: pack.key.to_string(),
            name: pack.name.clone(),
            description: pack.description.clone(),
            image_url: pack.image_url.clone(),
            price: PackPrice::of_one(&pack.price),
            available: pack.is_on_sale(now) && remaining != Some(0),
            remaining,
            per_user_limit: pack.per_user_limit,
            opens_at: pack.opens_at.map(Time),
            closes_at: pack.closes_at.map(Time),
            slots: pack.slots.len(),
            guarantee: pack.guarantee.map(|guarantee| guarantee.at_least.into()),
            odds: odds.rarities.iter().map(RarityOdds::from).collect(),
            contents: None,
        }
    }

    /// The pack with what it may give.
    pub(crate) fn in_full(pack: &DomainPack, book: &PackBook, supply: &Supply, now: Timestamp) -> Self {
        let odds = odds(pack, &supply.minted);
        let content = |content: &Content| {
            let collectible = book.collectible(content.collectible)?;
            Some(PackContent::new(content, collectible, supply, &odds))
        };
        let contents = pack.contents.iter().filter_map(content).collect();
        Self { contents: Some(contents), ..Self::with_odds(pack, supply, now, &odds) }
    }
}

/// Packs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackList {
    /// Those that are on sale, in the order of the content, sold-out ones included.
    pub(crate) packs: Vec<Pack>,
    /// Where the next page begins; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// A collectible.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Collectible {
    /// Its id.
    id: Uuid,
    /// Its key.
    #[schema(example = "scarf")]
    key: String,
    /// What it is called.
    name: String,
    /// How rare it is.
    rarity: Rarity,
    /// Its picture: an https address, or a path of this service.
    image_url: Option<String>,
    /// The team that it belongs to.
    team_id: Option<Uuid>,
}

impl From<&DomainCollectible> for Collectible {
    fn from(collectible: &DomainCollectible) -> Self {
        Self {
            id: collectible.id.as_uuid(),
            key: collectible.key.to_string(),
            name: collectible.name.clone(),
            rarity: collectible.rarity.into(),
            image_url: collectible.image_url.clone(),
            team_id: collectible.team.map(Uuid::from),
        }
    }
}

/// A collectible in a pack.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackContent {
    /// Which.
    collectible: Collectible,
    /// Its weight among the collectibles of its rarity.
    weight: u32,
    /// The probability with which each slot gives it; 0 once none is left.
    probabilities: Vec<f64>,
    /// How many copies there may ever be; null for any number.
    edition: Option<u32>,
    /// How many of a limited edition were minted; null of an open one.
    minted: Option<u32>,
    /// How many of a limited edition are left; null of an open one.
    left: Option<u32>,
}

impl PackContent {
    fn new(content: &Content, collectible: &DomainCollectible, supply: &Supply, odds: &Odds) -> Self {
        let of_slot = |slot: &terrace_packs::SlotOdds| {
            slot.collectibles.get(&content.collectible).copied().unwrap_or_default()
        };
        Self {
            collectible: collectible.into(),
            weight: content.weight,
            probabilities: odds.slots.iter().map(of_slot).collect(),
            edition: content.edition,
            minted: content.edition.map(|_| supply.minted.count(content.collectible)),
            left: supply.minted.left(content),
        }
    }
}

/// A pack.
#[derive(Serialize, ToSchema)]
pub(crate) struct PackEnvelope {
    /// The pack as it is now.
    pub(crate) pack: Pack,
}
