//! Purchases, packs and collectibles in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::Time;
use crate::packs::own_packs_dto::{Purchase, UserPackStatus};
use serde::Serialize;
use terrace_app::packs::export::{self, KeptCopy};
use terrace_packs::{Owned, OwnedSource};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<Purchase>("purchases", "Purchases of packs, newest first.", |app, viewer| {
        pages::<Purchase, _, _>(app, viewer, export::purchases)
    }),
    ExportPart::of::<ExportedCopy>("packs", "Copies of packs, newest first.", |app, viewer| {
        pages::<ExportedCopy, _, _>(app, viewer, export::copies)
    }),
    ExportPart::of::<ExportedOwned>("collectibles", "Collectibles, newest first.", |app, viewer| {
        pages::<ExportedOwned, _, _>(app, viewer, export::owned)
    }),
];

/// A copy of a pack in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedCopy {
    /// The id of the copy.
    id: Uuid,
    /// The id of the pack.
    pack_id: Uuid,
    /// The id of the purchase.
    purchase_id: Uuid,
    /// The state of the copy.
    status: UserPackStatus,
    /// The SHA-256 of the server seed of the draw.
    server_seed_hash: String,
    /// When the fan received the copy.
    purchased_at: Time,
    /// When the copy was opened.
    opened_at: Option<Time>,
    /// The client seed of the draw; null before the copy is opened.
    client_seed: Option<String>,
    /// The origin of the client seed: `client` or `server`.
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

/// An owned collectible in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedOwned {
    /// The id of the owned collectible.
    id: Uuid,
    /// The id of the collectible.
    collectible_id: Uuid,
    /// The serial number in a limited edition.
    serial: Option<u32>,
    /// When the fan received the collectible.
    acquired_at: Time,
    /// The id of the copy that contained it.
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
