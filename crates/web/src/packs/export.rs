//! Purchases, packs and collectibles in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::Time;
use crate::packs::dto::PackPrice;
use crate::packs::own_packs_dto::{ClientSeedSource, CollectibleToken, PurchaseStatus, UserPackStatus};
use serde::Serialize;
use terrace_app::packs::export::{self, KeptCopy};
use terrace_packs::{Owned, Purchase, PurchaseId, UserPackId};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<ExportedPurchase>("purchases", "Purchases of packs, newest first.", |app, viewer| {
        pages::<ExportedPurchase, _, _>(app, viewer, export::purchases)
    }),
    ExportPart::of::<ExportedCopy>("packs", "Copies of packs, newest first.", |app, viewer| {
        pages::<ExportedCopy, _, _>(app, viewer, export::copies)
    }),
    ExportPart::of::<ExportedOwned>("collectibles", "Collectibles, newest first.", |app, viewer| {
        pages::<ExportedOwned, _, _>(app, viewer, export::owned)
    }),
];

/// A purchase in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedPurchase {
    /// The id of the purchase.
    id: Uuid,
    /// The id of the pack.
    pack_id: Uuid,
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

impl From<&Purchase> for ExportedPurchase {
    fn from(purchase: &Purchase) -> Self {
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

/// A copy of a pack in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedCopy {
    /// The id of the copy.
    id: Uuid,
    /// The id of the pack.
    pack_id: Uuid,
    /// The id of the purchase; null for a copy that was given.
    #[schema(required)]
    purchase_id: Option<Uuid>,
    /// The state of the copy.
    status: UserPackStatus,
    /// The SHA-256 of the server seed of the draw.
    server_seed_hash: String,
    /// When the fan received the copy.
    purchased_at: Time,
    /// When the copy was opened.
    #[schema(required)]
    opened_at: Option<Time>,
    /// The client seed of the draw; null before the copy is opened.
    #[schema(required)]
    client_seed: Option<String>,
    /// The origin of the client seed; null before the copy is opened.
    #[schema(required)]
    client_seed_source: Option<ClientSeedSource>,
}

impl From<&KeptCopy> for ExportedCopy {
    fn from(KeptCopy { copy, client_seed }: &KeptCopy) -> Self {
        let (seed, source) =
            client_seed.as_ref().map(|(seed, source)| (seed.to_string(), ClientSeedSource(*source))).unzip();
        Self {
            id: copy.id.as_uuid(),
            pack_id: copy.pack.as_uuid(),
            purchase_id: copy.origin.purchase().map(PurchaseId::as_uuid),
            status: copy.state.into(),
            server_seed_hash: copy.seed_hash.to_string(),
            purchased_at: Time(copy.bought_at),
            opened_at: copy.opened_at.map(Time),
            client_seed: seed,
            client_seed_source: source,
        }
    }
}

/// An owned collectible in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedOwned {
    /// The id of the owned collectible.
    id: Uuid,
    /// The id of the collectible.
    collectible_id: Uuid,
    /// The serial number in a limited edition.
    #[schema(required)]
    serial: Option<u32>,
    /// When the fan received the collectible.
    acquired_at: Time,
    /// The id of the copy that contained it; null for one that was given.
    #[schema(required)]
    user_pack_id: Option<Uuid>,
    /// The token that the minter reported.
    #[schema(required)]
    token: Option<CollectibleToken>,
}

impl From<&Owned> for ExportedOwned {
    fn from(owned: &Owned) -> Self {
        Self {
            id: owned.id.as_uuid(),
            collectible_id: owned.collectible.as_uuid(),
            serial: owned.serial,
            acquired_at: Time(owned.acquired_at),
            user_pack_id: owned.source.copy().map(UserPackId::as_uuid),
            token: owned.token.as_ref().map(CollectibleToken::from),
        }
    }
}
