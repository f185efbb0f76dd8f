//! Replaces the password of a user who proved the current one.

use crate::store::{AccountTx, Command};
use terrace_identity::PasswordHash;
use terrace_kernel::{Ctx, Failure, Outcome, SessionId, UserId};

/// Replaces the password and ends every other session in one transaction, which locks out anyone who used the old
/// password.
pub(crate) struct ReplacePassword {
    pub(crate) user: UserId,
    /// The caller's session, which stays open.
    pub(crate) session: SessionId,
    /// The hash that the current password was verified against.
    pub(crate) old: PasswordHash,
    pub(crate) new: PasswordHash,
}

/// Another request changed the password after it was verified.
pub(crate) struct PasswordChangedMeanwhile;

impl Command for ReplacePassword {
    const NAME: &'static str = "replace_password";
    type Ports = dyn AccountTx;
    type Output = ();
    type Refusal = PasswordChangedMeanwhile;

    fn run(&self, tx: &mut dyn AccountTx, ctx: &mut Ctx) -> Outcome<(), PasswordChangedMeanwhile> {
        if !tx.replace_password(self.user, &self.old, &self.new, ctx.now())? {
            return Err(Failure::Refused(PasswordChangedMeanwhile));
        }
        tx.end_other_sessions(self.user, Some(self.session), ctx.now())?;
        Ok(())
    }
}
