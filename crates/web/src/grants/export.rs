//! What a fan was given, in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::{Time, names};
use crate::grants::dto::GrantKind;
use serde::Serialize;
use terrace_app::grants::{GivenGrant, Giver as DomainGiver, export};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[ExportPart::of::<ExportedGrant>(
    "grants",
    "What the fan was given for orders, claims, spins and rounds, newest first.",
    |app, viewer| pages::<ExportedGrant, _, _>(app, viewer, export::grants),
)];

names! {
    /// What something was given for: a line of an order, a claim of a reward, a spin of a wheel or a round of trivia.
    Giver(DomainGiver): DomainGiver::ALL, DomainGiver::as_str
}

/// What a fan was given, in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedGrant {
    /// The id of the grant.
    id: Uuid,
    /// What it was given for.
    giver: Giver,
    /// The id of the line of an order, the claim, the spin or the round.
    source_id: Uuid,
    /// The kind.
    kind: GrantKind,
    /// How much or how many.
    amount: i64,
    /// The id of the pack, the collectible or the product; null for other kinds.
    #[schema(required)]
    item_id: Option<Uuid>,
    /// When it was given.
    given_at: Time,
    /// When it was taken back; null if it was not.
    #[schema(required)]
    taken_back_at: Option<Time>,
}

impl From<&GivenGrant> for ExportedGrant {
    fn from(given: &GivenGrant) -> Self {
        Self {
            id: given.id.as_uuid(),
            giver: Giver(given.source.giver),
            source_id: given.source.id,
            kind: GrantKind(given.grant.kind()),
            amount: given.grant.amount(),
            item_id: given.grant.id(),
            given_at: Time(given.given_at),
            taken_back_at: given.taken_back_at.map(Time),
        }
    }
}
