//! Dismisses a user from the caller's recommendations.

use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, Failure, Outcome, UserId};

/// Dismisses a user from recommendations permanently. Repeating it has no effect.
#[derive(Debug, Clone)]
pub struct Dismiss {
    /// The user who receives the recommendations.
    pub user: UserId,
    /// The dismissed user.
    pub dismissed: UserId,
}

/// Why a user was not dismissed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DismissRefusal {
    /// The user could not be recommended anyway: the account is unknown, not active or the caller's own, or one of
    /// the two blocks the other. The refusal does not distinguish these cases.
    NotFound,
}

impl Command for Dismiss {
    const NAME: &'static str = "dismiss";
    type Output = ();
    type Refusal = DismissRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), DismissRefusal> {
        if tx.dismiss(self.user, self.dismissed, ctx.now())? {
            Ok(())
        } else {
            Err(Failure::Refused(DismissRefusal::NotFound))
        }
    }
}
