//! What fans buy, open and own.

use crate::dto::{IdText, Time, given, names, open_set};
use crate::packs::dto::{Collectible, DrawAlgorithm, OpenDrawAlgorithm, PackPrice, Rarity};
use serde::{Deserialize, Serialize};
use terrace_app::PackBook;
use terrace_app::packs::{PackOpened, PackPurchased};
use terrace_packs::MintedToken;
use terrace_packs::{
    Owned, OwnedSource, PackId, Proof as DomainProof, PurchaseId, PurchaseState, RarityRow, Tables,
    UserPack as DomainUserPack, UserPackId, UserPackState,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// The quantity to buy.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PurchaseBody {
    /// The number of copies: 1 to 20, by default 1.
    #[serde(default, deserialize_with = "given")]
    #[schema(minimum = 1, maximum = 20, default = 1, nullable = false)]
    pub(crate) quantity: Option<i64>,
}

/// The copy to open.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OpenBody {
    /// The id of the copy; defaults to the oldest sealed one.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Uuid>, nullable = false)]
    pub(crate) user_pack_id: Option<IdText<UserPackId>>,
    /// The client seed of the draw, 1 to 64 characters; chosen by the service if omitted.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    pub(crate) client_seed: Option<String>,
}

/// The state of a purchase.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PurchaseStatus {
    /// The payment is pending.
    Pending,
    /// The purchase is paid and the fan owns the copies.
    Completed,
    /// The payment did not arrive in time.
    Expired,
    /// The payment was declined or abandoned.
    Cancelled,
    /// The payment was refunded.
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
    /// The id of the purchase.
    id: Uuid,
    /// The id of the pack.
    pack_id: Uuid,
    /// The pack; null for a moment if it was just added to the content.
    #[schema(required)]
    pack: Option<PackCard>,
    /// The number of copies.
    quantity: u32,
    /// The state of the purchase.
    status: PurchaseStatus,
    /// The price of all copies together.
    price: PackPrice,
    /// The URL at which to pay, while a payment in money is pending.
    #[schema(required)]
    checkout_url: Option<String>,
    /// When the pending payment expires; null for purchases that completed immediately.
    #[schema(required)]
    expires_at: Option<Time>,
    /// When the purchase was started.
    created_at: Time,
}

impl Purchase {
    pub(crate) fn new(purchase: &terrace_packs::Purchase, book: &PackBook) -> Self {
        Self {
            id: purchase.id.as_uuid(),
            pack_id: purchase.pack.as_uuid(),
            pack: PackCard::of(purchase.pack, book),
            quantity: purchase.quantity.copies(),
            status: purchase.state.into(),
            price: PackPrice::of(&purchase.price, purchase.quantity),
            checkout_url: purchase.checkout_url.clone(),
            expires_at: purchase.expires_at.map(Time),
            created_at: Time(purchase.created_at),
        }
    }
}

/// The state of a copy.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UserPackStatus {
    /// The copy is sealed; its content is not drawn yet.
    Sealed,
    /// The copy is opened and the fan owns its content.
    Opened,
    /// The copy and its content were revoked.
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

/// A pack, as shown next to its copies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackCard {
    /// The id of the pack.
    id: Uuid,
    /// The stable key of the pack.
    #[schema(example = "match-day")]
    key: String,
    /// The name of the pack.
    name: String,
    /// The URL of the picture.
    #[schema(required)]
    image_url: Option<String>,
}

impl PackCard {
    fn of(pack: PackId, book: &PackBook) -> Option<Self> {
        book.pack(pack).map(|pack| Self {
            id: pack.id.as_uuid(),
            key: pack.key.to_string(),
            name: pack.name.clone(),
            image_url: pack.image_url.clone(),
        })
    }
}

/// A copy of a pack.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserPack {
    /// The id of the copy.
    id: Uuid,
    /// The id of the pack.
    pack_id: Uuid,
    /// The pack; null for a moment if it was just added to the content.
    #[schema(required)]
    pack: Option<PackCard>,
    /// The id of the purchase; null if the fan was given the copy, such as with an order.
    #[schema(required)]
    purchase_id: Option<Uuid>,
    /// The position in the purchase, or among the copies that were given together, from 1; also the nonce of the draw.
    nonce: u32,
    /// The state of the copy.
    status: UserPackStatus,
    /// The SHA-256 of the server seed of the draw.
    #[schema(example = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd")]
    server_seed_hash: String,
    /// When the fan received the copy.
    purchased_at: Time,
    /// When the copy was opened.
    #[schema(required)]
    opened_at: Option<Time>,
}

impl UserPack {
    pub(crate) fn new(copy: &DomainUserPack, book: &PackBook) -> Self {
        Self {
            id: copy.id.as_uuid(),
            pack_id: copy.pack.as_uuid(),
            pack: PackCard::of(copy.pack, book),
            purchase_id: copy.origin.purchase().map(PurchaseId::as_uuid),
            nonce: copy.nonce,
            status: copy.state.into(),
            server_seed_hash: copy.seed_hash.to_string(),
            purchased_at: Time(copy.bought_at),
            opened_at: copy.opened_at.map(Time),
        }
    }
}

/// A purchase and its copies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseResult {
    /// The purchase.
    purchase: Purchase,
    /// The copies; empty while the payment is pending.
    user_packs: Vec<UserPack>,
}

impl PurchaseResult {
    pub(crate) fn new(
        purchase: &terrace_packs::Purchase,
        copies: &[DomainUserPack],
        book: &PackBook,
    ) -> Self {
        let user_packs = copies.iter().map(|copy| UserPack::new(copy, book)).collect();
        Self { purchase: Purchase::new(purchase, book), user_packs }
    }
}

impl From<&PackPurchased> for PurchaseResult {
    fn from(purchased: &PackPurchased) -> Self {
        Self::new(&purchased.purchase, &purchased.copies, &purchased.book)
    }
}

/// A purchase.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseEnvelope {
    /// The purchase in its current state.
    pub(crate) purchase: Purchase,
}

/// Purchases.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseList {
    /// The purchases, newest first.
    pub(crate) purchases: Vec<Purchase>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// Copies of packs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserPackList {
    /// The copies, newest first.
    pub(crate) packs: Vec<UserPack>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// The source of a collectible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnedFrom {
    /// An opened pack.
    Pack,
    /// Given without a pack, such as with an order.
    Grant,
}

impl From<&OwnedSource> for OwnedFrom {
    fn from(source: &OwnedSource) -> Self {
        match source {
            OwnedSource::Pack { .. } => Self::Pack,
            OwnedSource::Grant { .. } => Self::Grant,
        }
    }
}

open_set! {
    /// Where a collectible is from.
    OpenOwnedFrom of OwnedFrom
}

/// A collectible that a fan owns.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnedCollectible {
    /// The id of the owned collectible.
    id: Uuid,
    /// The collectible; null for a moment if it was just added to the content.
    #[schema(required)]
    collectible: Option<Collectible>,
    /// The serial number in a limited edition, from 1; null for an open edition.
    #[schema(required)]
    serial: Option<u32>,
    /// The size of the edition; null if unlimited.
    #[schema(required)]
    edition: Option<u32>,
    /// When the fan received the collectible.
    acquired_at: Time,
    #[schema(inline)]
    source: OpenOwnedFrom,
    /// The id of the copy that contained it; null if it was given without a pack.
    #[schema(required)]
    user_pack_id: Option<Uuid>,
    /// The token that the minter reported; null before, without a minter, and after it was burned.
    #[schema(required)]
    token: Option<CollectibleToken>,
}

/// A token of a collectible on a network, as the minter reported it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CollectibleToken {
    /// The name of the network.
    #[schema(example = "polygon")]
    network: String,
    /// The contract.
    #[schema(example = "0x52908400098527886e0f7030069857d2e4169ee7")]
    contract: String,
    /// The id of the token within its contract.
    #[schema(example = "7")]
    token_id: String,
    /// The transaction that minted it.
    #[schema(example = "0x01")]
    transaction_id: String,
}

impl From<&MintedToken> for CollectibleToken {
    fn from(token: &MintedToken) -> Self {
        Self {
            network: token.network.clone(),
            contract: token.contract.clone(),
            token_id: token.token_id.clone(),
            transaction_id: token.transaction.clone(),
        }
    }
}

impl OwnedCollectible {
    pub(crate) fn new(owned: &Owned, book: &PackBook) -> Self {
        let collectible = book.collectible(owned.collectible);
        Self {
            id: owned.id.as_uuid(),
            collectible: collectible.map(Collectible::from),
            serial: owned.serial,
            edition: collectible.and_then(|collectible| collectible.edition),
            acquired_at: Time(owned.acquired_at),
            source: OpenOwnedFrom(OwnedFrom::from(&owned.source)),
            user_pack_id: owned.source.copy().map(UserPackId::as_uuid),
            token: owned.token.as_ref().map(CollectibleToken::from),
        }
    }
}

/// Collectibles.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnedList {
    /// The collectibles, newest first.
    pub(crate) collectibles: Vec<OwnedCollectible>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A collectible in a table.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawnCollectible {
    /// The id of the collectible.
    id: Uuid,
    /// The weight among the collectibles of the same rarity.
    weight: u32,
}

/// A rarity in a table.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawnRarity {
    /// The rarity.
    rarity: Rarity,
    /// The weight among the rarities of the slot.
    weight: u32,
    /// The collectibles of the rarity that were left.
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

/// The tables that the slots of a copy were drawn from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrawTable {
    /// The guaranteed rarity, if any.
    #[schema(required)]
    guarantee: Option<Rarity>,
    /// The table of each slot at its draw.
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

names! {
    /// The origin of a client seed: the fan, or the service if the fan gave none.
    ClientSeedSource(terrace_packs::ClientSeedSource): terrace_packs::ClientSeedSource::ALL, terrace_packs::ClientSeedSource::as_str
}

/// All input for recomputing a draw.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Proof {
    #[schema(inline)]
    algorithm: OpenDrawAlgorithm,
    /// The revealed server seed: 64 hexadecimal digits.
    server_seed: String,
    /// The SHA-256 of the server seed, as published at the purchase.
    server_seed_hash: String,
    /// The client seed.
    client_seed: String,
    /// The origin of the client seed.
    client_seed_source: ClientSeedSource,
    /// The position of the copy in its purchase, from 1.
    nonce: u32,
    /// The tables of the slots.
    table: DrawTable,
    /// The SHA-256 of the text of the tables.
    table_hash: String,
}

impl From<&DomainProof> for Proof {
    fn from(proof: &DomainProof) -> Self {
        Self {
            algorithm: OpenDrawAlgorithm(DrawAlgorithm(proof.algorithm)),
            server_seed: proof.server_seed.reveal(),
            server_seed_hash: proof.server_seed_hash.to_string(),
            client_seed: proof.client_seed.to_string(),
            client_seed_source: ClientSeedSource(proof.client_seed_source),
            nonce: proof.nonce,
            table: DrawTable::from(&proof.tables),
            table_hash: proof.table_hash.to_string(),
        }
    }
}

/// The content of an opened copy and the proof of its draw.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenResult {
    /// The copy in its current state.
    user_pack: UserPack,
    /// The collectibles, by slot.
    collectibles: Vec<OwnedCollectible>,
    /// The proof of the draw.
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
