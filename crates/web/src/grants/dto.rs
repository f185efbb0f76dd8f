//! What fans are given.

use crate::dto::names;
use serde::Serialize;
use terrace_kernel::{Grant as DomainGrant, GrantKind as Kind};
use utoipa::ToSchema;
use uuid::Uuid;

names! {
    /// The kind of what a fan is given. `pack`: sealed copies of a pack; `product`: a digital product.
    GrantKind(Kind): Kind::ALL, Kind::as_str
}

/// What a fan is given.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Grant {
    /// The kind.
    kind: GrantKind,
    /// How much or how many; 0 of nothing.
    #[schema(example = 200)]
    amount: i64,
    /// The id of the pack, the collectible or the product; null for other kinds.
    #[schema(required)]
    id: Option<Uuid>,
}

impl From<&DomainGrant> for Grant {
    fn from(grant: &DomainGrant) -> Self {
        Self { kind: GrantKind(grant.kind()), amount: grant.amount(), id: grant.id() }
    }
}
