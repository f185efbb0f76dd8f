//! Export of all data stored about an account, in pages.

use crate::account_data::{EXPORT_PAGE, ExportList, ExportRows, ListPage, ReadRest};
use crate::accounts::NotFound;
use crate::store::{ExportReadTx, Query};
use crate::{balances, boards, graph, packs, platform, quests, room};
use std::fmt;
use terrace_identity::{AccountStatus, KeptSession};
use terrace_kernel::{Failure, Outcome, StoreError, TimeKey, Timestamp, UserId};

/// The lists of the areas, in the order of the document, after the sessions.
const AREAS: [&[ExportList]; 7] = [
    room::EXPORT,
    graph::EXPORT,
    boards::EXPORT,
    quests::EXPORT,
    balances::EXPORT,
    packs::EXPORT,
    platform::EXPORT,
];

/// Where a page of an export begins.
#[derive(Clone)]
pub struct ExportPlace {
    /// Reads the list from its beginning.
    list: ExportList,
    /// Reads the rest of the list, after its first page.
    rest: Option<ReadRest>,
    /// The index of the following list.
    following: usize,
}

impl ExportPlace {
    /// The start of an export.
    pub const START: Self = Self { list: |tx, user| sessions(tx, user, None), rest: None, following: 0 };

    /// The beginning of the following list, if there is one.
    fn following_list(&self) -> Option<Self> {
        let list = AREAS.into_iter().flatten().nth(self.following)?;
        Some(Self { list: *list, rest: None, following: self.following + 1 })
    }
}

impl fmt::Debug for ExportPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExportPlace").field("following", &self.following).finish_non_exhaustive()
    }
}

/// A page of an export.
#[derive(Debug, Clone)]
pub struct ExportPage {
    /// The rows, all of one list.
    pub rows: ExportRows,
    /// Where the next page begins, in this list or the following one; `None` after the last page.
    pub next: Option<ExportPlace>,
}

/// Reads a page of an export in two or three statements. Refused if the account is not active.
#[derive(Debug, Clone)]
pub struct ReadExport {
    /// The account to export.
    pub user: UserId,
    /// Where the page begins.
    pub place: ExportPlace,
}

impl Query for ReadExport {
    const NAME: &'static str = "read_export";
    type Ports = dyn ExportReadTx;
    type Output = ExportPage;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ExportReadTx, _now: Timestamp) -> Outcome<ExportPage, NotFound> {
        let account = tx.account(self.user)?;
        if account.is_none_or(|account| account.status != AccountStatus::Active) {
            return Err(Failure::Refused(NotFound));
        }
        let place = &self.place;
        let ListPage { rows, rest } = match &place.rest {
            Some(rest) => rest(tx, self.user)?,
            None => (place.list)(tx, self.user)?,
        };
        let next = match rest {
            Some(rest) => Some(ExportPlace { rest: Some(rest), ..place.clone() }),
            None => place.following_list(),
        };
        Ok(ExportPage { rows, next })
    }
}

/// Sessions, including ended ones, newest first.
fn sessions(tx: &mut dyn ExportReadTx, user: UserId, after: Option<TimeKey>) -> Result<ListPage, StoreError> {
    let rows = tx.kept_sessions_of(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, KeptSession::key, ExportRows::Sessions, sessions))
}
