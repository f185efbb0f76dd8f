//! Deletes the caller's own account.

use crate::store::{Command, ErasureTx};
use terrace_identity::{AccountStatus, PasswordHash, deleted_name};
use terrace_kernel::{Ctx, EventKind, Failure, Limit, NewEvent, Outcome, Topic, UserId};
use terrace_ledger::Balance;
use terrace_shop::OrderState;

/// Maximum number of session rows, and of stored answers, that the deletion itself removes: enough for almost every
/// account. The erasure job removes the rest.
const PORTION: u32 = 500;

/// Closes an account whose owner proved the password. After the commit no one can act as it and nothing of it is
/// shown: every read filters out rows whose author is not active. The consumer of `account.deleted` removes what
/// the account wrote afterwards, in portions, so that the deletion of a busy account does not block other
/// transactions.
pub(crate) struct DeleteAccount {
    pub(crate) user: UserId,
    /// The hash that the password was verified against.
    pub(crate) proved: PasswordHash,
}

/// Why an account was not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeleteAccountRuleRefusal {
    /// It is already deleted, or was suspended since its session was checked.
    NotActive,
    /// The password was changed since it was verified.
    ProofIsStale,
    /// One of the user's ledger accounts still holds money.
    BalanceLeft,
    /// An order that is paid is still to be sent or on its way.
    OrderOpen,
}

impl Command for DeleteAccount {
    const NAME: &'static str = "delete_account";
    type Ports = dyn ErasureTx;
    type Output = ();
    type Refusal = DeleteAccountRuleRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn ErasureTx, ctx: &mut Ctx) -> Outcome<(), DeleteAccountRuleRefusal> {
        let not_active = || Failure::Refused(DeleteAccountRuleRefusal::NotActive);
        // The lock prevents a concurrent sign-in with the old password.
        let credentials = tx.lock_credentials(self.user)?.ok_or_else(not_active)?;
        if credentials.password != self.proved {
            return Err(Failure::Refused(DeleteAccountRuleRefusal::ProofIsStale));
        }
        if credentials.status != AccountStatus::Active
            || !tx.close_account(self.user, &deleted_name(self.user), ctx.now())?
        {
            return Err(not_active());
        }
        // A closed account receives no transfers, so the balances cannot grow after this check.
        let has_money = |balance: &Balance| balance.kind.currency().is_some() && balance.amount > 0;
        if tx.lock_balances(self.user)?.iter().any(has_money) {
            return Err(Failure::Refused(DeleteAccountRuleRefusal::BalanceLeft));
        }
        if !tx.orders(self.user, Some(OrderState::Paid), Limit::default(), None)?.items.is_empty() {
            return Err(Failure::Refused(DeleteAccountRuleRefusal::OrderOpen));
        }
        // Ended before removal: this waits for a refresh in progress, whose new tokens are then removed too.
        tx.end_other_sessions(self.user, None, ctx.now())?;
        tx.remove_sessions_of(self.user, PORTION)?;
        tx.remove_keys_of(self.user, PORTION)?;
        tx.remove_presence(self.user)?;
        tx.relist(self.user, ctx.now())?;
        tx.remove_progress_of(self.user)?;
        // Uploads without a post are removed now; pictures of the profile and of posts are hidden with the account.
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
