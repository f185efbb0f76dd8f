//! Deletes one's own account.

use crate::store::Command;
use crate::store::Tx;
use terrace_identity::{AccountStatus, PasswordHash, deleted_name};
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, Topic, UserId};
use terrace_ledger::Balance;

/// Rows of sessions, tokens and stored answers that go with the deletion itself: all of almost everybody's. What is
/// left of more goes with the rest.
const PORTION: u32 = 500;

/// Closes an account that its owner proved. From the commit on nobody can act as it, and nothing of it is shown: every
/// read leaves out whose author is not active. What it wrote is removed afterwards by the consumer that follows
/// `account.deleted`, in portions, so that the end of a busy account holds up nobody.
pub(crate) struct DeleteAccount {
    pub(crate) user: UserId,
    /// The hash that the password was checked against.
    pub(crate) proved: PasswordHash,
}

/// Why an account was not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeleteAccountRuleRefusal {
    /// It is deleted already, or suspended since its session was checked.
    NotActive,
    /// The password was changed since it was checked.
    ProofIsStale,
    /// There is money left on an account of theirs.
    BalanceLeft,
}

impl Command for DeleteAccount {
    const NAME: &'static str = "delete_account";
    type Output = ();
    type Refusal = DeleteAccountRuleRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), DeleteAccountRuleRefusal> {
        let not_active = || Failure::Refused(DeleteAccountRuleRefusal::NotActive);
        // Locked, so that no session is opened on the password meanwhile.
        let credentials = tx.lock_credentials(self.user)?.ok_or_else(not_active)?;
        if credentials.password != self.proved {
            return Err(Failure::Refused(DeleteAccountRuleRefusal::ProofIsStale));
        }
        if credentials.status != AccountStatus::Active
            || !tx.close_account(self.user, &deleted_name(self.user), ctx.now())?
        {
            return Err(not_active());
        }
        // Nothing comes to an account that is closed, nor any more to this one.
        let has_money = |balance: &Balance| balance.kind.currency().is_some() && balance.amount > 0;
        if tx.lock_balances(self.user)?.iter().any(has_money) {
            return Err(Failure::Refused(DeleteAccountRuleRefusal::BalanceLeft));
        }
        // Ended before they are removed: a refresh that is just being done is waited for, and its tokens go too.
        tx.end_other_sessions(self.user, None, ctx.now())?;
        tx.remove_sessions_of(self.user, PORTION)?;
        tx.remove_keys_of(self.user, PORTION)?;
        tx.remove_presence(self.user)?;
        tx.relist(self.user, ctx.now())?;
        tx.remove_progress_of(self.user)?;
        // Their pictures go with them; those of the profile and of posts are hidden with the account.
        tx.remove_uploads_of(self.user)?;
        tx.append(
            &NewEvent {
                topic: Topic::Account,
                kind: EventKind::AccountDeleted,
                actor: Some(self.user),
                team: None,
                subject: self.user.as_uuid(),
                object: None,
            },
            ctx.now(),
        )?;
        Ok(())
    }
}
