//! Balances: what fans can spend, as one ledger of points, coins and money. Rules as pure functions; no database, no web
//! framework, no runtime.
//!
//! A [`Transfer`] is one row of the journal: it takes an [`Amount`] from one account and gives it to another, so that no
//! row can make or lose anything. The accounts of fans have a balance, which is kept beside the journal and is never
//! below zero; what the accounts of the [`House`] come to is the sum of their rows, so that no award waits for another
//! at a row of the house's.
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

mod account;
mod amount;
mod audit;
mod ports;
mod source;
mod transfer;

pub use account::{AccountKind, Holder, House};
pub use amount::{Amount, AmountOutOfRange};
pub use audit::{FanLedger, LedgerCheck, LedgerFault, LedgerMend};
pub use ports::{LedgerAudit, LedgerRead, LedgerRepairWrite, LedgerWrite};
pub use source::{MalformedSource, TransferSource};
pub use transfer::{Balance, Entry, Transfer, TransferId, TransferOutcome, reason};
