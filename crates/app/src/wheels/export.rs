//! The list of spins in the export of an account.

use crate::store::ExportReadTx;
use terrace_games::{Spin, SpinTable};
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};

/// Spins of wheels, newest first.
pub fn spins(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<(Spin, SpinTable)>, StoreError> {
    tx.spins(user, Limit::MAX, after)
}
