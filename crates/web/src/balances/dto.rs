//! Balances, and what was moved on them.

use crate::dto::Time;
use crate::wallets::dto::TokenWallet;
use serde::Serialize;
use terrace_app::balances::{AccountBalance, Wallets};
use terrace_kernel::Currency;
use terrace_ledger::{AccountKind, Entry, Network, Statement, StatementEntry};
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
    /// What pending orders hold in addition; it is spent or returned when they end.
    #[schema(example = 0)]
    held: i64,
}

impl From<&AccountBalance> for Wallet {
    fn from(account: &AccountBalance) -> Self {
        let AccountBalance { balance, held } = *account;
        let kind = match balance.kind {
            AccountKind::Points => WalletKind::Points,
            AccountKind::Coins => WalletKind::Coins,
            AccountKind::Money(_) => WalletKind::Money,
        };
        let currency = balance.kind.currency().map(|currency| currency.to_string());
        Self { id: balance.kind.to_string(), kind, currency, balance: balance.amount, held }
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

/// The caller's balances and wallets, and a page of the entries of the balances.
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
    /// The wallets on networks, the oldest first.
    wallets: Vec<TokenWallet>,
    /// The networks on which a wallet can be requested; none without a provider.
    networks: Vec<String>,
}

impl WalletPage {
    pub(crate) fn new(wallets: &Wallets, networks: &[Network], next_cursor: Option<String>) -> Self {
        Self {
            accounts: wallets.accounts.iter().map(Wallet::from).collect(),
            entries: wallets.entries.items.iter().map(WalletEntry::from).collect(),
            next_cursor,
            wallets: wallets.wallets.iter().map(TokenWallet::from).collect(),
            networks: networks.iter().map(ToString::to_string).collect(),
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
    /// What pending orders hold in addition, in minor units.
    #[schema(example = 0)]
    held: i64,
    /// The ISO 4217 code of the currency.
    #[schema(example = "EUR")]
    currency: String,
}

impl CashBalance {
    pub(crate) fn new(account: AccountBalance, currency: Currency) -> Self {
        Self { amount: account.balance.amount, held: account.held, currency: currency.to_string() }
    }
}

/// An entry of a money account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CashEntry {
    /// The number of the entry: those of an account are numbered from 1 without gaps.
    #[schema(example = 12, minimum = 1)]
    seq: i64,
    /// The id of the transfer.
    id: Uuid,
    /// The change in minor units; negative if money was spent.
    #[schema(example = -499)]
    amount: i64,
    /// The balance after the entry: that after the previous one plus `amount`.
    #[schema(example = 751)]
    balance_after: i64,
    /// The reason, as a text.
    #[schema(example = "Order of a scarf")]
    reason: String,
    /// When it was booked; never earlier than the previous entry.
    created_at: Time,
}

impl From<&StatementEntry> for CashEntry {
    fn from(entry: &StatementEntry) -> Self {
        Self {
            seq: entry.seq,
            id: entry.id.as_uuid(),
            amount: entry.change,
            balance_after: entry.balance_after,
            reason: entry.reason.clone(),
            created_at: Time(entry.at),
        }
    }
}

/// A page of a statement. `opening` and the amounts of the entries of all pages sum to `closing`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CashStatement {
    /// The ISO 4217 code of the currency, in whose minor units amounts are.
    #[schema(example = "EUR")]
    currency: String,
    /// The balance before the first entry of the period.
    #[schema(example = 1250)]
    opening: i64,
    /// The balance after the last entry of the period.
    #[schema(example = 751)]
    closing: i64,
    /// The entries, the oldest first.
    entries: Vec<CashEntry>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

impl CashStatement {
    pub(crate) fn new(statement: &Statement, next_cursor: Option<String>) -> Self {
        Self {
            currency: statement.currency.to_string(),
            opening: statement.ends.opening.balance,
            closing: statement.ends.closing.balance,
            entries: statement.entries.items.iter().map(CashEntry::from).collect(),
            next_cursor,
        }
    }
}
