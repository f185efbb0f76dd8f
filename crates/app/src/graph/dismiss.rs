//! Takes somebody out of one's recommendations.

use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, Failure, Outcome, UserId};

/// Takes somebody out of one's recommendations for good. It may be done again, and changes nothing then.
#[derive(Debug, Clone)]
pub struct Dismiss {
    /// Whose recommendations.
    pub user: UserId,
    /// Who.
    pub dismissed: UserId,
}

/// Why nobody was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DismissRefusal {
    /// There is nobody whom one could be recommended: the account is unknown, not active, one's own, or there is a
    /// block between the two. Which of these is not told.
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
