//! The lists of wallets in the export of an account.

use crate::account_data::whole;
use crate::store::ExportReadTx;
use crate::wallets::ShownWallet;
use terrace_kernel::{Page, StoreError, UserId};

/// The wallets, with their last known balances.
pub fn wallets(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<ShownWallet, ()>, StoreError> {
    let wallets = tx.wallets(user)?;
    let shown = wallets.into_iter().map(|wallet| {
        let balances = tx.wallet_balances(wallet.id)?;
        Ok(ShownWallet { wallet, balances, is_stale: false })
    });
    Ok(whole(shown.collect::<Result<Vec<_>, StoreError>>()?))
}
