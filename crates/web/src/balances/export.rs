//! Balances and ledger entries in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::balances::dto::{Wallet, WalletEntry};
use terrace_app::balances::export;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<Wallet>(
        "accounts",
        "Ledger accounts that ever had entries, with their balances.",
        |app, viewer| pages::<Wallet, _, _>(app, viewer, export::balances),
    ),
    ExportPart::of::<WalletEntry>(
        "entries",
        "The entries of these accounts, newest first.",
        |app, viewer| pages::<WalletEntry, _, _>(app, viewer, export::entries),
    ),
];
