//! Export of all data stored about an account, in pages.

use crate::account_data::{EXPORT_PAGE, ExportList, page_of};
use crate::accounts::NotFound;
use crate::store::{ExportReadTx, Query};
use terrace_identity::{AccountStatus, KeptSession};
use terrace_kernel::{Failure, Outcome, Page, StoreError, TimeKey, Timestamp, UserId};

/// Reads a page of a list in two or three statements. Refused if the account is not active.
#[derive(Debug, Clone)]
pub struct ReadExport<T, K> {
    /// The account to export.
    pub user: UserId,
    pub list: ExportList<T, K>,
    /// The key of the last row of the page before; `None` for the first page.
    pub after: Option<K>,
}

impl<T: Send + 'static, K: Clone + Send + 'static> Query for ReadExport<T, K> {
    const NAME: &'static str = "read_export";
    type Ports = dyn ExportReadTx;
    type Output = Page<T, K>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ExportReadTx, _now: Timestamp) -> Outcome<Page<T, K>, NotFound> {
        let account = tx.account(self.user)?;
        if account.is_none_or(|account| account.status != AccountStatus::Active) {
            return Err(Failure::Refused(NotFound));
        }
        Ok((self.list)(tx, self.user, self.after.clone())?)
    }
}

/// Sessions, including ended ones, newest first.
pub fn sessions(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<KeptSession>, StoreError> {
    Ok(page_of(tx.kept_sessions_of(user, EXPORT_PAGE, after)?, KeptSession::key))
}
