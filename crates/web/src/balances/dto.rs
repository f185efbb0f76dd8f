//! Balances, and what was moved on them.

use crate::dto::Time;
use serde::Serialize;
use terrace_app::balances::Wallets;
use terrace_kernel::Currency;
use terrace_ledger::{AccountKind, Balance, Entry};
use utoipa::ToSchema;
use uuid::Uuid;

/// The kind of value that an account holds.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletKind {
    /// Spendable points.
    Points,
    /// Coins.
    Coins,
    /// Money.
    Money,
}

/// An account of the ledger.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wallet {
    /// The name used in entries: `points`, `coins` or the code of the currency.
    #[schema(example = "points")]
    id: String,
    /// The kind of value that the account holds.
    kind: WalletKind,
    /// The ISO 4217 code of the currency, whose minor units amounts are in; null for points and coins.
    #[schema(example = json!(null), required)]
    currency: Option<String>,
    /// The balance, zero or more.
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

/// One change of a balance.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletEntry {
    /// The id of the transfer; for awarded points, the id of their record.
    id: Uuid,
    /// The name of the account.
    #[schema(example = "points")]
    account: String,
    /// The amount of the change; negative if it was spent or reversed.
    #[schema(example = 50)]
    amount: i64,
    /// The balance after the change.
    #[schema(example = 120)]
    balance_after: i64,
    /// The reason, as a text.
    #[schema(example = "Daily visit")]
    reason: String,
    /// When it happened.
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

/// The caller's balances, and a page of their entries.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletPage {
    /// The accounts: points and coins, and money if there ever was any.
    accounts: Vec<Wallet>,
    /// The entries of all accounts, newest first.
    entries: Vec<WalletEntry>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
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

/// The caller's balance in money.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CashBalance {
    /// The amount in minor units of the currency.
    #[schema(example = 1250)]
    amount: i64,
    /// The ISO 4217 code of the currency.
    #[schema(example = "EUR")]
    currency: String,
}

impl CashBalance {
    pub(crate) fn new(amount: i64, currency: Currency) -> Self {
        Self { amount, currency: currency.to_string() }
    }
}
