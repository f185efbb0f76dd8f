//! Operators' credits and debits of coins.

use crate::accounts::UnknownAccount;
use crate::store::{BalanceTx, Command};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, UserId};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};

/// Credits coins to a fan or debits them.
#[derive(Debug, Clone)]
pub struct MoveCoins {
    /// The username, in any spelling.
    pub username: String,
    /// Number of coins.
    pub amount: Amount,
    /// `true` to credit the fan, `false` to debit.
    pub gives: bool,
    /// Reason shown to the fan, checked by [`terrace_ledger::reason`].
    pub reason: String,
    /// Unique source of the transfer, from [`TransferSource::operator`]: a source is applied at most once.
    pub source: TransferSource,
}

/// The outcome of a credit or debit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoinsMoved {
    /// Id of the account.
    pub user: UserId,
    /// The fan's new balance in coins; `None` if the source was applied before.
    pub balance: Option<i64>,
}

/// Why coins are not moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveCoinsRefusal {
    /// No account has this name, or it was deleted.
    UnknownAccount,
    /// The fan's balance is too low.
    Insufficient {
        /// The fan's balance in coins.
        has: i64,
    },
}

impl Command for MoveCoins {
    const NAME: &'static str = "move_coins";
    type Ports = dyn BalanceTx;
    type Output = CoinsMoved;
    type Refusal = MoveCoinsRefusal;

    fn run(&self, tx: &mut dyn BalanceTx, ctx: &mut Ctx) -> Outcome<CoinsMoved, MoveCoinsRefusal> {
        let found = crate::accounts::lock_named(tx, &self.username)
            .map_err(|failure| failure.map(|UnknownAccount| MoveCoinsRefusal::UnknownAccount))?;
        let (user, fan) = (found.user_id, Holder::Fan(found.user_id));
        let (debit, credit) = if self.gives {
            (Holder::House(House::Issuance), fan)
        } else {
            (fan, Holder::House(House::Issuance))
        };
        let moved = Transfer {
            id: ctx.new_id(),
            kind: AccountKind::Coins,
            debit,
            credit,
            amount: self.amount,
            reason: self.reason.clone(),
            source: self.source.clone(),
            at: ctx.now(),
        };
        let moved = crate::balances::transfer(tx, &moved)?;
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
