//! Dismisses a user from the caller's recommendations.

use crate::store::Command;
use terrace_kernel::{Ctx, Failure, Outcome, UserId};
use terrace_social::DismissalWrite;

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
    type Ports = dyn DismissalWrite;
    type Output = ();
    type Refusal = DismissRefusal;

    fn run(&self, tx: &mut dyn DismissalWrite, ctx: &mut Ctx) -> Outcome<(), DismissRefusal> {
        if tx.dismiss(self.user, self.dismissed, ctx.now())? {
            Ok(())
        } else {
            Err(Failure::Refused(DismissRefusal::NotFound))
        }
    }
}
