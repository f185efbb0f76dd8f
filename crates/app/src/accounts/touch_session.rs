//! Notes that a session, and with it an account, is in use.

use crate::store::Command;
use crate::store::Tx;
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, SessionId, UserId};

/// How exactly it is kept when an account was last seen: more often it is not written.
pub(crate) const SEEN_TO: Duration = Duration::from_hours(24);

/// Notes when a session was last used, and its account last seen.
pub(crate) struct TouchSession {
    pub(crate) user: UserId,
    pub(crate) session: SessionId,
}

impl Command for TouchSession {
    const NAME: &'static str = "touch_session";
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        tx.touch_session(self.session, ctx.now(), None)?;
        tx.note_use(self.user, ctx.now(), ctx.now().minus(SEEN_TO))?;
        Ok(())
    }
}
