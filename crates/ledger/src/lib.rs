//! Balances: what fans can spend, as one ledger of points, coins and money. The rules are pure functions, without a
//! database, a web framework or an async runtime.
//!
//! A [`Transfer`] is one row of the journal. It moves an [`Amount`] from one account to another, so that no row can
//! create or destroy value. Each account of a fan has a balance, which is stored beside the journal and is never
//! negative. The balance of an account of the [`House`] is the sum of its rows and is not stored, so that concurrent
//! awards do not contend for a lock on the same row.
//!
//! ```
//! use terrace_kernel::{Timestamp, UserId, Uuid};
//! use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferSource};
//!
//! let fan = UserId::from_uuid(Uuid::from_u128(7));
//! let purchase = Uuid::from_u128(8);
//! let price = Transfer {
//!     id: Uuid::from_u128(9).into(),
//!     kind: AccountKind::Coins,
//!     debit: Holder::Fan(fan),
//!     credit: Holder::House(House::Revenue),
//!     amount: Amount::new(120)?,
//!     reason: "A pack".to_owned(),
//!     source: TransferSource::of("purchase", purchase),
//!     at: Timestamp::from_micros(0),
//! };
//! assert_eq!(price.change_of(fan), -120);
//! # Ok::<(), terrace_ledger::AmountOutOfRange>(())
//! ```

#![warn(missing_docs)]

mod account;
mod amount;
mod audit;
mod ports;
mod source;
mod statement;
mod transfer;
mod wallet;

pub use account::{AccountKind, Holder, House};
pub use amount::{Amount, AmountOutOfRange};
pub use audit::{AccountEntries, FanLedger, LedgerCheck, LedgerFault, LedgerRepair};
pub use ports::{LedgerAudit, LedgerBatch, LedgerRead, LedgerRepairWrite, LedgerWrite};
pub use source::{MalformedSource, TransferSource};
pub use statement::{
    Booking, Period, PeriodReversed, Statement, StatementEnds, StatementEntry, StatementPlace,
    StatementPoint, number_entries,
};
pub use transfer::{Balance, Entry, Transfer, TransferId, TransferOutcome, reason};
pub use wallet::{
    ChainName, Custody, MalformedChainName, MalformedNetworkName, Network, Provisioning, Token, TokenBalance,
    TokenFault, Wallet, WalletId, WalletRead, WalletRepair, WalletStanding, WalletStatus, WalletWrite,
};
