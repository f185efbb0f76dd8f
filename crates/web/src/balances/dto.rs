//! Balances, and what was moved on them.

use crate::dto::Time;
use serde::Serialize;
use terrace_app::balances::Wallets;
use terrace_kernel::Currency;
use terrace_ledger::{AccountKind, Balance, Entry};
use utoipa::ToSchema;
use uuid::Uuid;

/// What an account holds.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletKind {
    /// Points that can be spent.
    Points,
    /// Coins.
    Coins,
    /// Money.
    Money,
}

/// An account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wallet {
    /// What its entries call it: `points`, `coins` or the code of its currency.
    #[schema(example = "points")]
    id: String,
    /// What it holds.
    kind: WalletKind,
    /// The currency of money by its ISO 4217 code, in whose minor units amounts are; null for points and coins.
    #[schema(example = json!(null))]
    currency: Option<String>,
    /// What is on it, zero or more.
    #[schema(example = 120)]
    balance: i64,
}

impl From<&Balance> for Wallet {
    fn from(balance: &Balance) -> Self {
        let kind = match balance.kind {
            AccountKind::Points => WalletKind::Points,
            AccountKind::Coins => WalletKind::Coins,
            AccountKind::Money(_) => WalletKind::Money,
        };
        let currency = balance.kind.currency().map(|currency| currency.to_string());
        Self { id: balance.kind.to_string(), kind, currency, balance: balance.amount }
    }
}

/// What was moved on an account, once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletEntry {
    /// Its id; that of points which were given is the record's.
    id: Uuid,
    /// The account.
    #[schema(example = "points")]
    account: String,
    /// By how much it changed; below zero where something was spent or taken back.
    #[schema(example = 50)]
    amount: i64,
    /// What was on it then.
    #[schema(example = 120)]
    balance_after: i64,
    /// What for, in words.
    #[schema(example = "Daily visit")]
    reason: String,
    /// When.
    created_at: Time,
}

impl From<&Entry> for WalletEntry {
    fn from(entry: &Entry) -> Self {
        Self {
            id: entry.id.as_uuid(),
            account: entry.kind.to_string(),
            amount: entry.change,
            balance_after: entry.balance_after,
            reason: entry.reason.clone(),
            created_at: Time(entry.at),
        }
    }
}

/// One's accounts, and a page of what was moved on them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletPage {
    /// Points and coins, and money where there ever was some.
    accounts: Vec<Wallet>,
    /// What was moved, on whichever, the newest first.
    entries: Vec<WalletEntry>,
    /// Where the next page starts; null on the last.
    next_cursor: Option<String>,
}

impl WalletPage {
    pub(crate) fn new(wallets: &Wallets, next_cursor: Option<String>) -> Self {
        Self {
            accounts: wallets.balances.iter().map(Wallet::from).collect(),
            entries: wallets.entries.items.iter().map(WalletEntry::from).collect(),
            next_cursor,
        }
    }
}

/// How much money one has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CashBalance {
    /// In minor units of the currency.
    #[schema(example = 1250)]
    amount: i64,
    /// By its ISO 4217 code.
    #[schema(example = "EUR")]
    currency: String,
}

impl CashBalance {
    pub(crate) fn new(amount: i64) -> Self {
        Self { amount, currency: Currency::DEFAULT.to_string() }
    }
}
