//! Notes that a session is in use.

use crate::execute::Command;
use crate::store::Tx;
use std::convert::Infallible;
use terrace_kernel::{Ctx, Outcome, SessionId};

/// Notes when a session was last used.
pub(crate) struct TouchSession {
    pub(crate) session: SessionId,
}

impl Command for TouchSession {
    const NAME: &'static str = "touch_session";
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        Ok(tx.touch_session(self.session, ctx.now(), None)?)
    }
}
