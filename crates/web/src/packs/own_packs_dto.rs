//! What fans buy, open and own.

use crate::dto::{IdText, Time, given};
use crate::packs::dto::{Collectible, PackPrice, Rarity};
use serde::{Deserialize, Serialize};
use terrace_app::PackBook;
use terrace_app::accounts::KeptCopy;
use terrace_app::packs::{PackOpened, PackPurchased};
use terrace_packs::{
    Owned, OwnedSource, Proof as DomainProof, PurchaseState, RarityRow, Tables, UserPack as DomainUserPack,
    UserPackId, UserPackState,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// How much is bought.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PurchaseBody {
    /// How many copies: 1 to 20, 1 when left out.
    #[serde(default, deserialize_with = "given")]
    #[schema(minimum = 1, maximum = 20, default = 1, nullable = false)]
    pub(crate) quantity: Option<i64>,
}

/// What is opened.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OpenBody {
    /// Which copy; the oldest sealed one when left out.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Uuid>, nullable = false)]
    pub(crate) user_pack_id: Option<IdText<UserPackId>>,
    /// One's own half of the draw, 1 to 64 characters; the service picks one when left out.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    pub(crate) client_seed: Option<String>,
}

/// Where a purchase stands.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PurchaseStatus {
    /// It waits for its payment.
    Pending,
    /// Paid: the copies are the fan's.
    Completed,
    /// The payment did not come in time.
    Expired,
    /// The payment was declined, or given up.
    Cancelled,
    /// What was paid was given back.
    Refunded,
}

impl From<PurchaseState> for PurchaseStatus {
    fn from(state: PurchaseState) -> Self {
        match state {
            PurchaseState::Pending => Self::Pending,
            PurchaseState::Completed => Self::Completed,
            PurchaseState::Expired => Self::Expired,
            PurchaseState::Cancelled => Self::Cancelled,
            PurchaseState::Refunded => Self::Refunded,
        }
    }
}

/// A purchase.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Purchase {
    /// Its id.
    id: Uuid,
    /// What was bought.
    pack_id: Uuid,
    /// How many copies.
    quantity: u32,
    /// Where it stands.
    status: PurchaseStatus,
    /// What all copies cost together.
    price: PackPrice,
    /// Where it is paid, while it waits for money.
    checkout_url: Option<String>,
    /// Until when it waits for its payment; null for what was paid at once.
    expires_at: Option<Time>,
    /// When it was started.
    created_at: Time,
}

impl From<&terrace_packs::Purchase> for Purchase {
    fn from(purchase: &terrace_packs::Purchase) -> Self {
        Self {
            id: purchase.id.as_uuid(),
            pack_id: purchase.pack.as_uuid(),
            quantity: purchase.quantity.copies(),
            status: purchase.state.into(),
            price: PackPrice::of(&purchase.price, purchase.quantity),
            checkout_url: purchase.checkout_url.clone(),
            expires_at: purchase.expires_at.map(Time),
            created_at: Time(purchase.created_at),
        }
    }
}

/// Where a copy stands.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UserPackStatus {
    /// Nobody knows yet what it holds.
    Sealed,
    /// What it held is the fan's.
    Opened,
    /// Taken back with what it held.
    Revoked,
}

impl From<UserPackState> for UserPackStatus {
    fn from(state: UserPackState) -> Self {
        match state {
            UserPackState::Sealed => Self::Sealed,
            UserPackState::Opened => Self::Opened,
            UserPackState::Revoked => Self::Revoked,
        }
    }
}

/// A pack, as it stands beside its copies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackCard {
    /// Its id.
    id: Uuid,
    /// Its key.
    #[schema(example = "match-day")]
    key: String,
    /// What it is called.
    name: String,
    /// Its picture.
    image_url: Option<String>,
}

/// A copy of a pack.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserPack {
    /// Its id.
    id: Uuid,
    /// The pack's id.
    pack_id: Uuid,
    /// The pack; null for a moment where it has just come into the content.
    pack: Option<PackCard>,
    /// The purchase that it came with.
    purchase_id: Uuid,
    /// Its place in its purchase, from 1; the nonce of its draw.
    nonce: u32,
    /// Where it stands.
    status: UserPackStatus,
    /// The SHA-256 of the server's half of its draw.
    #[schema(example = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd")]
    server_seed_hash: String,
    /// When it became the fan's.
    purchased_at: Time,
    /// When it was opened.
    opened_at: Option<Time>,
}

impl UserPack {
    pub(crate) fn new(copy: &DomainUserPack, book: &PackBook) -> Self {
        let card = |pack: &terrace_packs::Pack| PackCard {
            id: pack.id.as_uuid(),
            key: pack.key.to_string(),
            name: pack.name.clone(),
            image_url: pack.image_url.clone(),
        };
        Self {
            id: copy.id.as_uuid(),
            pack_id: copy.pack.as_uuid(),
            pack: book.pack(copy.pack).map(card),
            purchase_id: copy.purchase.as_uuid(),
            nonce: copy.nonce,
            status: copy.state.into(),
            server_seed_hash: copy.seed_hash.to_string(),
            purchased_at: Time(copy.bought_at),
            opened_at: copy.opened_at.map(Time),
        }
    }
}

/// A purchase and what came with it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseResult {
    /// The purchase.
    purchase: Purchase,
    /// The copies; none while it waits for its payment.
    user_packs: Vec<UserPack>,
}

impl PurchaseResult {
    pub(crate) fn new(
        purchase: &terrace_packs::Purchase,
        copies: &[DomainUserPack],
        book: &PackBook,
    ) -> Self {
        let user_packs = copies.iter().map(|copy| UserPack::new(copy, book)).collect();
        Self { purchase: purchase.into(), user_packs }
    }
}

impl From<&PackPurchased> for PurchaseResult {
    fn from(purchased: &PackPurchased) -> Self {
        Self::new(&purchased.purchase, &purchased.copies, &purchased.book)
    }
}

/// Purchases.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseList {
    /// Purchases, the newest first.
    pub(crate) purchases: Vec<Purchase>,
    /// Where the next page begins; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// Copies of packs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserPackList {
    /// Copies, the newest first.
    pub(crate) packs: Vec<UserPack>,
    /// Where the next page begins; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// Where a collectible came from.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnedFrom {
    /// A pack that was opened.
    Pack,
}

/// A collectible that a fan owns.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnedCollectible {
    /// The id of this one.
    id: Uuid,
    /// What it is; null for a moment where it has just come into the content.
    collectible: Option<Collectible>,
    /// Its number within a limited edition, from 1; null of an open one.
    serial: Option<u32>,
    /// How many there may ever be; null for any number.
    edition: Option<u32>,
    /// When it became the fan's.
    acquired_at: Time,
    /// Where it came from.
    source: OwnedFrom,
    /// The copy of the pack that gave it.
    user_pack_id: Uuid,
}

impl OwnedCollectible {
    pub(crate) fn new(owned: &Owned, book: &PackBook) -> Self {
        let collectible = book.collectible(owned.collectible);
        let OwnedSource::Pack { copy, .. } = owned.source;
        Self {
            id: owned.id.as_uuid(),
            collectible: collectible.map(Collectible::from),
            serial: owned.serial,
            edition: collectible.and_then(|collectible| collectible.edition),
            acquired_at: Time(owned.acquired_at),
            source: OwnedFrom::Pack,
            user_pack_id: copy.as_uuid(),
        }
    }
}

/// Collectibles.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnedList {
    /// Collectibles, the newest first.
    pub(crate) collectibles: Vec<OwnedCollectible>,
    /// Where the next page begins; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// A collectible in a table.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawnCollectible {
    /// Which.
    id: Uuid,
    /// Its weight among those of its rarity.
    weight: u32,
}

/// A rarity in a table.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawnRarity {
    /// Which.
    rarity: Rarity,
    /// Its weight among the rarities of the slot.
    weight: u32,
    /// Its collectibles that were left.
    collectibles: Vec<DrawnCollectible>,
}

impl From<&RarityRow> for DrawnRarity {
    fn from(row: &RarityRow) -> Self {
        let collectible = |(id, weight): &(terrace_packs::CollectibleId, u32)| DrawnCollectible {
            id: id.as_uuid(),
            weight: *weight,
        };
        Self {
            rarity: row.rarity.into(),
            weight: row.weight,
            collectibles: row.collectibles.iter().map(collectible).collect(),
        }
    }
}

/// What the slots of a copy were drawn from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawTable {
    /// The least rarity that was promised.
    guarantee: Option<Rarity>,
    /// The table of each slot when it was drawn.
    slots: Vec<Vec<DrawnRarity>>,
}

impl From<&Tables> for DrawTable {
    fn from(tables: &Tables) -> Self {
        let slot = |table: &terrace_packs::Table| table.rarities.iter().map(DrawnRarity::from).collect();
        Self {
            guarantee: tables.guarantee.map(|guarantee| guarantee.at_least.into()),
            slots: tables.slots.iter().map(slot).collect(),
        }
    }
}

/// Everything that it takes to recompute a draw.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Proof {
    /// How it was drawn.
    #[schema(example = "hmac-sha256-v1")]
    algorithm: &'static str,
    /// The server's half, revealed: 64 hexadecimal digits.
    server_seed: String,
    /// Its SHA-256, as it was published when the copy was bought.
    server_seed_hash: String,
    /// The fan's half.
    client_seed: String,
    /// Who gave the fan's half: `client` or `server`.
    #[schema(example = "client")]
    client_seed_source: &'static str,
    /// The copy's place in its purchase, from 1.
    nonce: u32,
    /// What the slots were drawn from.
    table: DrawTable,
    /// The SHA-256 of the table's text.
    table_hash: String,
}

impl From<&DomainProof> for Proof {
    fn from(proof: &DomainProof) -> Self {
        Self {
            algorithm: proof.algorithm.as_str(),
            server_seed: proof.server_seed.reveal(),
            server_seed_hash: proof.server_seed_hash.to_string(),
            client_seed: proof.client_seed.to_string(),
            client_seed_source: proof.client_seed_source.as_str(),
            nonce: proof.nonce,
            table: DrawTable::from(&proof.tables),
            table_hash: proof.table_hash.to_string(),
        }
    }
}

/// What a copy gave, and the proof of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenResult {
    /// The copy as it is now.
    user_pack: UserPack,
    /// What it gave, by slot.
    collectibles: Vec<OwnedCollectible>,
    /// How it was drawn.
    proof: Proof,
}

impl From<&PackOpened> for OpenResult {
    fn from(opened: &PackOpened) -> Self {
        let PackOpened { copy, opening, book } = opened;
        Self {
            user_pack: UserPack::new(copy, book),
            collectibles: opening.owned.iter().map(|owned| OwnedCollectible::new(owned, book)).collect(),
            proof: Proof::from(&opening.proof),
        }
    }
}

/// A copy of a pack, as an export has it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedCopy {
    /// Its id.
    id: Uuid,
    /// Of which pack.
    pack_id: Uuid,
    /// The purchase that it came with.
    purchase_id: Uuid,
    /// Where it stands.
    status: UserPackStatus,
    /// The SHA-256 of the server's half of its draw.
    server_seed_hash: String,
    /// When it became the fan's.
    purchased_at: Time,
    /// When it was opened.
    opened_at: Option<Time>,
    /// The fan's half of its draw; null before it was opened.
    client_seed: Option<String>,
    /// Who gave the fan's half: `client` or `server`.
    #[schema(example = "client")]
    client_seed_source: Option<&'static str>,
}

impl From<&KeptCopy> for ExportedCopy {
    fn from(KeptCopy { copy, client_seed }: &KeptCopy) -> Self {
        let (seed, source) =
            client_seed.as_ref().map(|(seed, source)| (seed.to_string(), source.as_str())).unzip();
        Self {
            id: copy.id.as_uuid(),
            pack_id: copy.pack.as_uuid(),
            purchase_id: copy.purchase.as_uuid(),
            status: copy.state.into(),
            server_seed_hash: copy.seed_hash.to_string(),
            purchased_at: Time(copy.bought_at),
            opened_at: copy.opened_at.map(Time),
            client_seed: seed,
            client_seed_source: source,
        }
    }
}

/// A collectible that a fan owns, as an export has it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedOwned {
    /// The id of this one.
    id: Uuid,
    /// What it is.
    collectible_id: Uuid,
    /// Its number within a limited edition.
    serial: Option<u32>,
    /// When it became the fan's.
    acquired_at: Time,
    /// The copy of the pack that gave it.
    user_pack_id: Uuid,
}

impl From<&Owned> for ExportedOwned {
    fn from(owned: &Owned) -> Self {
        let OwnedSource::Pack { copy, .. } = owned.source;
        Self {
            id: owned.id.as_uuid(),
            collectible_id: owned.collectible.as_uuid(),
            serial: owned.serial,
            acquired_at: Time(owned.acquired_at),
            user_pack_id: copy.as_uuid(),
        }
    }
}
