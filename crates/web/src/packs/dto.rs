//! Packs and collectibles as content has them, with their odds and what is left.

use crate::dto::{Time, names, open_set};
use serde::Serialize;
use terrace_app::PackBook;
use terrace_app::packs::Supply;
use terrace_kernel::Timestamp;
use terrace_kernel::{PriceKind, PricePart};
use terrace_packs::{
    Collectible as DomainCollectible, Content, Held, Odds, Pack as DomainPack, Quantity, Rarity as Named,
    RarityOdds as Chance, odds,
};
use utoipa::ToSchema;
use uuid::Uuid;

names! {
    /// An algorithm of draws.
    DrawAlgorithm(terrace_packs::Algorithm): terrace_packs::Algorithm::ALL, terrace_packs::Algorithm::as_str
}

open_set! {
    /// The name of an algorithm of draws.
    OpenDrawAlgorithm of DrawAlgorithm
}

/// The rarity of a collectible.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rarity {
    /// The most frequent rarity.
    Common,
    /// Rarer than common.
    Uncommon,
    /// Rarer than uncommon.
    Rare,
    /// Rarer than rare.
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

/// The kind of value that a price is paid in.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PackPriceKind {
    /// Spendable points.
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
    /// The kind of value that is paid.
    kind: PackPriceKind,
    /// The amount: points or coins, or minor units of the currency.
    #[schema(example = 100)]
    amount: i64,
    /// The ISO 4217 code of the currency; null for points and coins.
    #[schema(example = json!(null), required)]
    currency: Option<String>,
}

impl PackPrice {
    /// The price of one copy.
    fn of_one(price: &PricePart) -> Self {
        Self::of(price, Quantity::ONE)
    }

    /// The price of this number of copies.
    pub(crate) fn of(price: &PricePart, quantity: Quantity) -> Self {
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
    /// The rarity.
    rarity: Rarity,
    /// The share of the pack's collectibles that have the rarity, including the guarantee; all shares add up to 1.
    #[schema(example = 0.1)]
    probability: f64,
    /// The probability that a copy contains at least one collectible of the rarity.
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
    /// The id of the pack.
    id: Uuid,
    /// The stable key of the pack.
    #[schema(example = "match-day")]
    key: String,
    /// The name of the pack.
    name: String,
    /// The description of the pack.
    description: String,
    /// The URL of the picture: an https URL, or a path of this service.
    #[schema(required)]
    image_url: Option<String>,
    /// The price of one copy.
    price: PackPrice,
    /// Whether a copy can be bought now.
    available: bool,
    /// The number of copies that can still be sold; null if unlimited.
    #[schema(required)]
    remaining: Option<u32>,
    /// The number of copies that one fan may buy; null if unlimited.
    #[schema(required)]
    per_user_limit: Option<u32>,
    /// The number of copies that the reader has, sealed or opened; null if the reader is signed out.
    #[schema(required)]
    owned: Option<u32>,
    /// The number of copies that count towards `perUserLimit`: those of the reader's pending and completed purchases;
    /// null if the reader is signed out.
    #[schema(required)]
    bought: Option<u32>,
    /// The first instant of the sale.
    #[schema(required)]
    opens_at: Option<Time>,
    /// The first instant after the sale.
    #[schema(required)]
    closes_at: Option<Time>,
    /// The number of collectibles in a copy.
    slots: usize,
    /// The guarantee: every copy contains at least one collectible of this rarity or a rarer one; null without a
    /// guarantee.
    #[schema(required)]
    guarantee: Option<Rarity>,
    /// The odds of each rarity, from the most frequent to the rarest.
    odds: Vec<RarityOdds>,
    /// The collectibles that a copy may contain; omitted in lists.
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
            owned: None,
            bought: None,
            opens_at: pack.opens_at.map(Time),
            closes_at: pack.closes_at.map(Time),
            slots: pack.slots.len(),
            guarantee: pack.guarantee.map(|guarantee| guarantee.at_least.into()),
            odds: odds.rarities.iter().map(RarityOdds::from).collect(),
            contents: None,
        }
    }

    /// The pack with its contents.
    pub(crate) fn in_full(pack: &DomainPack, book: &PackBook, supply: &Supply, now: Timestamp) -> Self {
        let odds = odds(pack, &supply.minted);
        let content = |content: &Content| {
            let collectible = book.collectible(content.collectible)?;
            Some(PackContent::new(content, collectible, supply, &odds))
        };
        let contents = pack.contents.iter().filter_map(content).collect();
        Self { contents: Some(contents), ..Self::with_odds(pack, supply, now, &odds) }
    }

    /// The pack with what the reader has of it; nothing for a signed-out reader.
    pub(crate) fn held(self, held: Option<Held>) -> Self {
        let (owned, bought) = held.map(|held| (held.owned, held.bought)).unzip();
        Self { owned, bought, ..self }
    }
}

/// Packs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackList {
    /// The packs on sale, including sold-out ones, in the order of the content.
    pub(crate) packs: Vec<Pack>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A collectible.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Collectible {
    /// The id of the collectible.
    id: Uuid,
    /// The stable key of the collectible.
    #[schema(example = "scarf")]
    key: String,
    /// The name of the collectible.
    name: String,
    /// The rarity.
    rarity: Rarity,
    /// The URL of the picture: an https URL, or a path of this service.
    #[schema(required)]
    image_url: Option<String>,
    /// The team of the collectible, if any.
    #[schema(required)]
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
    /// The collectible.
    collectible: Collectible,
    /// The weight among the collectibles of the same rarity.
    weight: u32,
    /// The probability of the collectible in each slot; 0 once none is left.
    probabilities: Vec<f64>,
    /// The size of the edition; null if unlimited.
    #[schema(required)]
    edition: Option<u32>,
    /// The number of minted copies of a limited edition; null for an open edition.
    #[schema(required)]
    minted: Option<u32>,
    /// The number of remaining copies of a limited edition; null for an open edition.
    #[schema(required)]
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
    /// The pack in its current state.
    pub(crate) pack: Pack,
}
