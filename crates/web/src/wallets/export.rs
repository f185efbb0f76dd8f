//! Wallets in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::wallets::dto::ExportedWallet;
use terrace_app::wallets::export;

pub(crate) const EXPORT: &[ExportPart] = &[ExportPart::of::<ExportedWallet>(
    "wallets",
    "Wallets on networks, the oldest first, with their last known balances.",
    |app, viewer| pages::<ExportedWallet, _, _>(app, viewer, export::wallets),
)];
