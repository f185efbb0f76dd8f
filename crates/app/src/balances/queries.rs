//! A fan's balances, ledger entries and statements.

use crate::store::{BalanceReadTx, Query};
use std::convert::Infallible;
use terrace_kernel::{Currency, Limit, Money, Outcome, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_ledger::{AccountKind, Balance, Entry, LedgerRead, Period, Statement, StatementPlace, Wallet};
use terrace_shop::HeldByOrders;

/// An account of a fan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountBalance {
    /// What the fan can spend.
    pub balance: Balance,
    /// What pending orders hold in addition.
    pub held: i64,
}

/// What orders hold of a kind.
fn held_of(held: &HeldByOrders, kind: AccountKind) -> i64 {
    match kind {
        AccountKind::Points => held.points,
        AccountKind::Coins => held.coins,
        AccountKind::Money(currency) => {
            let of = |money: &&Money| money.currency == currency;
            held.money.iter().find(of).map_or(0, |money| money.amount)
        }
    }
}

/// The accounts of a fan that ever had entries.
pub(super) fn accounts(tx: &mut dyn BalanceReadTx, user: UserId) -> Result<Vec<AccountBalance>, StoreError> {
    let balances = tx.balances(user)?;
    let held = tx.held_by_orders(user)?;
    let account = |balance: Balance| AccountBalance { balance, held: held_of(&held, balance.kind) };
    Ok(balances.into_iter().map(account).collect())
}

/// Reads a fan's balances and wallets, and a page of ledger entries, newest first.
#[derive(Debug, Clone)]
pub struct ReadWallets {
    /// The fan.
    pub user: UserId,
    /// Maximum number of entries.
    pub limit: Limit,
    /// The entry after which the page starts.
    pub after: Option<TimeKey>,
}

/// A fan's balances, ledger entries and wallets.
#[derive(Debug, Clone)]
pub struct Wallets {
    /// The accounts: points and coins always, money only if there ever was some.
    pub accounts: Vec<AccountBalance>,
    /// The page of ledger entries.
    pub entries: Page<Entry, TimeKey>,
    /// The wallets on networks, the oldest first.
    pub wallets: Vec<Wallet>,
}

impl Query for ReadWallets {
    const NAME: &'static str = "read_wallets";
    /// What an order takes from a balance is held at the same time.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn BalanceReadTx;
    type Output = Wallets;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BalanceReadTx, _now: Timestamp) -> Outcome<Wallets, Infallible> {
        let mut accounts = accounts(tx, self.user)?;
        for kind in [AccountKind::Points, AccountKind::Coins] {
            if !accounts.iter().any(|account| account.balance.kind == kind) {
                accounts.push(AccountBalance { balance: Balance { kind, amount: 0 }, held: 0 });
            }
        }
        accounts.sort_unstable();
        let entries = tx.entries(self.user, self.limit, self.after)?;
        Ok(Wallets { accounts, entries, wallets: tx.wallets(self.user)? })
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
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn BalanceReadTx;
    type Output = AccountBalance;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BalanceReadTx, _now: Timestamp) -> Outcome<AccountBalance, Infallible> {
        let kind = AccountKind::Money(self.currency);
        let found = accounts(tx, self.user)?.into_iter().find(|account| account.balance.kind == kind);
        Ok(found.unwrap_or(AccountBalance { balance: Balance { kind, amount: 0 }, held: 0 }))
    }
}

/// Reads a page of a statement of a fan's money account, oldest entries first.
#[derive(Debug, Clone, Copy)]
pub struct ReadStatement {
    /// The fan.
    pub user: UserId,
    /// The currency of the account.
    pub currency: Currency,
    /// The period. Its end is determined when the first page is read.
    pub period: Period,
    /// Maximum number of entries.
    pub limit: Limit,
    /// Where the page starts; `None` for the first one.
    pub place: Option<StatementPlace>,
}

impl Query for ReadStatement {
    const NAME: &'static str = "read_statement";
    type Ports = dyn LedgerRead;
    type Output = Statement;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn LedgerRead, _now: Timestamp) -> Outcome<Statement, Infallible> {
        let Self { user, currency, period, limit, .. } = *self;
        let place = if let Some(place) = self.place {
            place
        } else {
            let ends = tx.statement_ends(user, currency, period)?;
            StatementPlace { ends, after: ends.opening.seq }
        };
        let StatementPlace { ends, after } = place;
        let mut entries = Vec::new();
        if after < ends.closing.seq {
            entries = tx.statement_entries(user, currency, after, ends.closing.seq, limit)?;
        }
        let next = |entry: &terrace_ledger::StatementEntry| StatementPlace { ends, after: entry.seq };
        Ok(Statement { currency, ends, entries: Page::from_overfull(entries, limit, next) })
    }
}
