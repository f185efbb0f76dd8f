//! Follows, blocks and dismissals in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::Time;
use serde::Serialize;
use terrace_app::graph::export;
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<ExportedTie>("follows", "Followed fans, ordered by id.", |app, viewer| {
        pages::<ExportedTie, _, _>(app, viewer, export::follows)
    }),
    ExportPart::of::<ExportedTeamFollow>("teamFollows", "Followed teams, ordered by id.", |app, viewer| {
        pages::<ExportedTeamFollow, _, _>(app, viewer, export::team_follows)
    }),
    ExportPart::of::<ExportedTie>("blocks", "Blocked fans, ordered by id.", |app, viewer| {
        pages::<ExportedTie, _, _>(app, viewer, export::blocks)
    }),
    ExportPart::of::<ExportedTie>(
        "dismissals",
        "Dismissed recommendations, ordered by id of the fan.",
        |app, viewer| pages::<ExportedTie, _, _>(app, viewer, export::dismissals),
    ),
];

/// A fan who is followed, blocked or dismissed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedTie {
    /// The id of the account.
    user_id: Uuid,
    /// Since when the relation exists.
    since: Time,
}

impl From<&terrace_social::OwnTie> for ExportedTie {
    fn from(tie: &terrace_social::OwnTie) -> Self {
        Self { user_id: tie.user.as_uuid(), since: Time(tie.since) }
    }
}

/// A followed team.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedTeamFollow {
    /// The id of the team.
    team_id: Uuid,
    /// Since when the follow exists.
    since: Time,
}

impl From<&terrace_social::OwnTeamFollow> for ExportedTeamFollow {
    fn from(follow: &terrace_social::OwnTeamFollow) -> Self {
        Self { team_id: follow.team.as_uuid(), since: Time(follow.since) }
    }
}
