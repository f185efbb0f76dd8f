//! Records the last use of a session and of its account.

use crate::store::{Command, SessionTx};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, SessionId, UserId};

/// Minimum interval between two writes of an account's last-seen time.
pub(crate) const SEEN_TO: Duration = Duration::from_hours(24);

/// Records when a session was last used and its account last seen.
pub(crate) struct TouchSession {
    pub(crate) user: UserId,
    pub(crate) session: SessionId,
}

impl Command for TouchSession {
    const NAME: &'static str = "touch_session";
    type Ports = dyn SessionTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SessionTx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        tx.touch_session(self.session, ctx.now(), None)?;
        tx.note_use(self.user, ctx.now(), ctx.now().minus(SEEN_TO))?;
        Ok(())
    }
}
