//! Ends one of the caller's sessions.

use crate::store::Command;
use terrace_identity::SessionWrite;
use terrace_kernel::{Ctx, Failure, Outcome, SessionId, UserId};

/// Ends a session of `user`, with all its tokens.
pub(crate) struct EndSession {
    /// Owner of the session.
    pub(crate) user: UserId,
    /// The session to end.
    pub(crate) session: SessionId,
}

/// Why a session was not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSessionRefusal {
    /// The user has no live session with this id.
    NotFound,
}

impl Command for EndSession {
    const NAME: &'static str = "end_session";
    type Ports = dyn SessionWrite;
    type Output = ();
    type Refusal = EndSessionRefusal;

    fn run(&self, tx: &mut dyn SessionWrite, ctx: &mut Ctx) -> Outcome<(), EndSessionRefusal> {
        if tx.end_session(self.user, self.session, ctx.now())? {
            Ok(())
        } else {
            Err(Failure::Refused(EndSessionRefusal::NotFound))
        }
    }
}
