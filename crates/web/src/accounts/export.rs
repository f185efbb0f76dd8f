//! Sessions in the export of an account.

use crate::account_data::{ExportPart, pages_with};
use crate::accounts::dto::SessionKind;
use crate::dto::Time;
use serde::Serialize;
use terrace_app::accounts::export;
use terrace_identity::KeptSession;
use terrace_kernel::SessionId;
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[ExportPart::of::<ExportedSession>(
    "sessions",
    "Sessions, including ended ones, newest first.",
    |app, viewer| {
        pages_with(app, viewer, export::sessions, move |kept| ExportedSession::new(kept, viewer.session_id))
    },
)];

/// A session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedSession {
    /// The id of the session.
    id: Uuid,
    /// How the device signed in.
    kind: SessionKind,
    /// The name of the device, as its owner entered it.
    #[schema(required)]
    device_name: Option<String>,
    /// When the session was started.
    created_at: Time,
    /// When the session was last used, to within some minutes.
    last_seen_at: Time,
    /// When the session expires or would have expired.
    expires_at: Time,
    /// When the session was ended, if it was.
    #[schema(required)]
    ended_at: Option<Time>,
    /// Whether this request uses the session.
    current: bool,
}

impl ExportedSession {
    /// The session as the one that is `current` sees it.
    pub(crate) fn new(kept: &KeptSession, current: SessionId) -> Self {
        let KeptSession { session, ended_at } = kept;
        Self {
            id: session.id.as_uuid(),
            kind: SessionKind(session.kind),
            device_name: session.device_name.clone(),
            created_at: Time(session.created_at),
            last_seen_at: Time(session.last_seen_at),
            expires_at: Time(session.expires_at),
            ended_at: ended_at.map(Time),
            current: session.id == current,
        }
    }
}
