//! What one has, and what was moved on one's accounts.

use crate::store::Query;
use crate::store::ReadTx;
use std::convert::Infallible;
use terrace_kernel::Currency;
use terrace_kernel::{Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_ledger::{AccountKind, Balance, Entry};

/// Reads a fan's balances and a page of what was moved, the newest first.
#[derive(Debug, Clone)]
pub struct ReadWallets {
    /// Whose.
    pub user: UserId,
    /// How many entries.
    pub limit: Limit,
    /// After which entry.
    pub after: Option<TimeKey>,
}

/// A fan's accounts.
#[derive(Debug, Clone)]
pub struct Wallets {
    /// What is on them: points and coins always, money where there ever was some.
    pub balances: Vec<Balance>,
    /// What was moved.
    pub entries: Page<Entry, TimeKey>,
}

impl Query for ReadWallets {
    const NAME: &'static str = "read_wallets";
    type Output = Wallets;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Wallets, Infallible> {
        let mut balances = tx.balances(self.user)?;
        for kind in [AccountKind::Points, AccountKind::Coins] {
            if !balances.iter().any(|balance| balance.kind == kind) {
                balances.push(Balance { kind, amount: 0 });
            }
        }
        balances.sort_unstable();
        Ok(Wallets { balances, entries: tx.entries(self.user, self.limit, self.after)? })
    }
}

/// Reads how much money a fan has in [`Currency::DEFAULT`], in its minor units.
#[derive(Debug, Clone, Copy)]
pub struct ReadCash {
    /// Whose.
    pub user: UserId,
}

impl Query for ReadCash {
    const NAME: &'static str = "read_cash";
    type Output = i64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<i64, Infallible> {
        let cash = AccountKind::Money(Currency::DEFAULT);
        let balances = tx.balances(self.user)?;
        Ok(balances.iter().find(|balance| balance.kind == cash).map_or(0, |balance| balance.amount))
    }
}
