//! Idempotency keys in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::Time;
use serde::Serialize;
use terrace_app::platform::export;
use terrace_app::store::KeptKey;
use utoipa::ToSchema;

pub(crate) const EXPORT: &[ExportPart] = &[ExportPart::of::<ExportedKey>(
    "idempotencyKeys",
    "Idempotency keys whose responses are still stored.",
    |app, viewer| pages::<ExportedKey, _, _>(app, viewer, export::keys),
)];

/// An idempotency key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedKey {
    /// The method and route of the request.
    #[schema(example = "POST /api/locker-room")]
    route: String,
    /// The key, as the client chose it.
    key: String,
    /// When the key was used.
    created_at: Time,
}

impl From<&KeptKey> for ExportedKey {
    fn from(kept: &KeptKey) -> Self {
        Self {
            route: kept.place.operation().to_owned(),
            key: kept.place.key.clone(),
            created_at: Time(kept.created_at),
        }
    }
}
