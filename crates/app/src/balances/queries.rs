//! A fan's balances and ledger entries.

use crate::store::Query;
use std::convert::Infallible;
use terrace_kernel::Currency;
use terrace_kernel::{Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_ledger::{AccountKind, Balance, Entry, LedgerRead};

/// Reads a fan's balances and a page of ledger entries, newest first.
#[derive(Debug, Clone)]
pub struct ReadWallets {
    /// The fan.
    pub user: UserId,
    /// Maximum number of entries.
    pub limit: Limit,
    /// The entry after which the page starts.
    pub after: Option<TimeKey>,
}

/// A fan's balances and ledger entries.
#[derive(Debug, Clone)]
pub struct Wallets {
    /// The balances: points and coins always, money only if there ever was some.
    pub balances: Vec<Balance>,
    /// The page of ledger entries.
    pub entries: Page<Entry, TimeKey>,
}

impl Query for ReadWallets {
    const NAME: &'static str = "read_wallets";
    type Ports = dyn LedgerRead;
    type Output = Wallets;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn LedgerRead, _now: Timestamp) -> Outcome<Wallets, Infallible> {
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

/// Reads a fan's money balance in a currency, in minor units.
#[derive(Debug, Clone, Copy)]
pub struct ReadCash {
    /// The fan.
    pub user: UserId,
    /// The balance in other currencies is not part of the answer.
    pub currency: Currency,
}

impl Query for ReadCash {
    const NAME: &'static str = "read_cash";
    type Ports = dyn LedgerRead;
    type Output = i64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn LedgerRead, _now: Timestamp) -> Outcome<i64, Infallible> {
        let cash = AccountKind::Money(self.currency);
        let balances = tx.balances(self.user)?;
        Ok(balances.iter().find(|balance| balance.kind == cash).map_or(0, |balance| balance.amount))
    }
}
