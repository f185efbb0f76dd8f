//! What operators do to coins: give some, take some.

use crate::accounts::UnknownAccount;
use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, UserId};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};

/// Gives coins to a fan, or takes some of theirs.
#[derive(Debug, Clone)]
pub struct MoveCoins {
    /// The username, however it is spelled.
    pub username: String,
    /// How many.
    pub amount: Amount,
    /// Whether the fan gets them.
    pub gives: bool,
    /// What it says to the fan, checked by [`terrace_ledger::reason`].
    pub reason: String,
    /// What tells it from others, by [`TransferSource::operator`]: what was done is not done again.
    pub source: TransferSource,
}

/// What it came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoinsMoved {
    /// The account.
    pub user: UserId,
    /// How many coins they have now; nothing where it was done before.
    pub balance: Option<i64>,
}

/// Why coins are not moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveCoinsRefusal {
    /// There is no account of this name, or it was deleted.
    UnknownAccount,
    /// The fan has only so many.
    Insufficient {
        /// How many.
        has: i64,
    },
}

impl Command for MoveCoins {
    const NAME: &'static str = "move_coins";
    type Output = CoinsMoved;
    type Refusal = MoveCoinsRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<CoinsMoved, MoveCoinsRefusal> {
        let found = crate::accounts::lock_named(tx, &self.username)
            .map_err(|failure| failure.map(|UnknownAccount| MoveCoinsRefusal::UnknownAccount))?;
        let (user, fan) = (found.user_id, Holder::Fan(found.user_id));
        let (debit, credit) = if self.gives {
            (Holder::House(House::Issuance), fan)
        } else {
            (fan, Holder::House(House::Issuance))
        };
        let moved = tx.transfer(&Transfer {
            id: ctx.new_id(),
            kind: AccountKind::Coins,
            debit,
            credit,
            amount: self.amount,
            reason: self.reason.clone(),
            source: self.source.clone(),
            at: ctx.now(),
        })?;
        match moved {
            TransferOutcome::Now { debit, credit } => Ok(CoinsMoved { user, balance: credit.or(debit) }),
            TransferOutcome::Before => Ok(CoinsMoved { user, balance: None }),
            TransferOutcome::Insufficient { has } => {
                Err(Failure::Refused(MoveCoinsRefusal::Insufficient { has }))
            }
            TransferOutcome::NoFan => {
                Err(Failure::Broken(StoreError::defect("move coins", "a locked account is gone")))
            }
        }
    }
}
