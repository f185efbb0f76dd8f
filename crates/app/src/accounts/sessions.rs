//! Resolves tokens to viewers, and lists sessions.

use crate::store::Query;
use std::convert::Infallible;
use terrace_identity::{DeviceSession, SessionRead, Token, Viewer};
use terrace_kernel::{Limit, Outcome, Page, TimeKey, Timestamp, UserId};

/// Resolves a token to its viewer.
pub(crate) struct FindViewer {
    pub(crate) token: Token,
}

impl Query for FindViewer {
    const NAME: &'static str = "find_viewer";
    type Ports = dyn SessionRead;
    type Output = Option<Viewer>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SessionRead, now: Timestamp) -> Outcome<Option<Viewer>, Infallible> {
        Ok(tx.viewer(&self.token, now)?)
    }
}

/// Lists a user's own live sessions, newest first.
#[derive(Debug, Clone)]
pub struct ListSessions {
    /// Owner of the sessions.
    pub user: UserId,
    /// Maximum number of sessions.
    pub limit: Limit,
    /// Keyset position after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ListSessions {
    const NAME: &'static str = "list_sessions";
    type Ports = dyn SessionRead;
    type Output = Page<DeviceSession>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SessionRead, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.sessions_of(self.user, now, self.limit, self.after)?)
    }
}
