//! Replaces a password that was proved.

use crate::store::Command;
use crate::store::Tx;
use terrace_identity::PasswordHash;
use terrace_kernel::{Ctx, Failure, Outcome, SessionId, UserId};

/// Replaces the password and ends every other session, together: whoever knew the old one is out.
pub(crate) struct ReplacePassword {
    pub(crate) user: UserId,
    /// The session that asks and stays.
    pub(crate) session: SessionId,
    /// The hash that the current password was checked against.
    pub(crate) old: PasswordHash,
    pub(crate) new: PasswordHash,
}

/// The password was changed by somebody else meanwhile.
pub(crate) struct PasswordChangedMeanwhile;

impl Command for ReplacePassword {
    const NAME: &'static str = "replace_password";
    type Output = ();
    type Refusal = PasswordChangedMeanwhile;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), PasswordChangedMeanwhile> {
        if !tx.replace_password(self.user, &self.old, &self.new, ctx.now())? {
            return Err(Failure::Refused(PasswordChangedMeanwhile));
        }
        tx.end_other_sessions(self.user, Some(self.session), ctx.now())?;
        Ok(())
    }
}
