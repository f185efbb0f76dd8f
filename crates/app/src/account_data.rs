//! The data of one account in all areas: the lists of an export, and the steps of an erasure. Each area names its own in
//! its `export.rs` and `erasure.rs`; `accounts` calls the areas in order.

use crate::store::{ErasureTx, ExportReadTx, KeptKey};
use std::sync::Arc;
use terrace_identity::KeptSession;
use terrace_kernel::{Ctx, NewEvent, Page, StoreError, Timestamp, UserId};
use terrace_ledger::{Balance, Entry};
use terrace_packs::{ClientSeed, ClientSeedSource, Owned, Purchase, UserPack};
use terrace_quests::{AchievementKey, OwnStep, Run, Visits};
use terrace_scoring::{BoardEntry, PointsRecord};
use terrace_social::{Comment, OwnReaction, OwnReport, OwnTeamFollow, OwnTie, Post};

/// Rows per page of an export: some 100 KiB for posts of the usual length, at most 5 MiB.
pub(crate) const EXPORT_PAGE: u32 = 500;

/// Rows of one part of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportRows {
    /// Sessions.
    Sessions(Vec<KeptSession>),
    /// Posts.
    Posts(Vec<Post>),
    /// Comments.
    Comments(Vec<Comment<()>>),
    /// Reactions.
    Reactions(Vec<OwnReaction>),
    /// Reports.
    Reports(Vec<OwnReport>),
    /// Followed users.
    Follows(Vec<OwnTie>),
    /// Followed teams.
    TeamFollows(Vec<OwnTeamFollow>),
    /// Blocked users.
    Blocks(Vec<OwnTie>),
    /// Users dismissed from recommendations.
    Dismissals(Vec<OwnTie>),
    /// Points records.
    Points(Vec<PointsRecord>),
    /// Leaderboard entries, including boards that the fan left.
    Boards(Vec<BoardEntry>),
    /// Quest runs; a daily quest has one run per day.
    Quests(Vec<Run>),
    /// Completed quest steps.
    QuestSteps(Vec<OwnStep>),
    /// Daily visits; at most one row.
    DailyVisits(Vec<Visits>),
    /// Achievements with the time each was earned.
    Achievements(Vec<(AchievementKey, Timestamp)>),
    /// Balances.
    Balances(Vec<Balance>),
    /// Ledger entries, newest first.
    Entries(Vec<Entry>),
    /// Pack purchases.
    Purchases(Vec<Purchase>),
    /// Pack copies.
    Copies(Vec<KeptCopy>),
    /// Collectibles, without revoked ones.
    Owned(Vec<Owned>),
    /// Idempotency keys.
    Keys(Vec<KeptKey>),
}

/// A pack copy with the client seed of its draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCopy {
    /// The copy.
    pub copy: UserPack,
    /// The client seed of the opening and its source; `None` before the copy is opened.
    pub client_seed: Option<(ClientSeed, ClientSeedSource)>,
}

/// Reads the first page of a list of an export.
pub(crate) type ExportList = fn(&mut dyn ExportReadTx, UserId) -> Result<ListPage, StoreError>;

/// Reads a page of a list after a key.
type ReadAfter<K> = fn(&mut dyn ExportReadTx, UserId, Option<K>) -> Result<ListPage, StoreError>;

/// Reads the next page of a list.
pub(crate) type ReadRest =
    Arc<dyn Fn(&mut dyn ExportReadTx, UserId) -> Result<ListPage, StoreError> + Send + Sync>;

/// A page of one list of an export.
pub(crate) struct ListPage {
    pub(crate) rows: ExportRows,
    /// Reads the next page; `None` after the last page of the list.
    pub(crate) rest: Option<ReadRest>,
}

impl ListPage {
    /// A list that fits on one page.
    pub(crate) fn whole(rows: ExportRows) -> Self {
        Self { rows, rest: None }
    }

    /// A page of up to [`EXPORT_PAGE`] rows. More rows may follow a full page, after the key of its last row.
    pub(crate) fn of_rows<T, K: Clone + Send + Sync + 'static>(
        rows: Vec<T>,
        key: impl Fn(&T) -> K,
        list: impl Fn(Vec<T>) -> ExportRows,
        read: ReadAfter<K>,
    ) -> Self {
        let is_full = u32::try_from(rows.len()).is_ok_and(|count| count >= EXPORT_PAGE);
        let next = if is_full { rows.last().map(key) } else { None };
        Self::of_page(Page { items: rows, next }, list, read)
    }

    /// A page that a query for pages returned.
    pub(crate) fn of_page<T, K: Clone + Send + Sync + 'static>(
        page: Page<T, K>,
        list: impl Fn(Vec<T>) -> ExportRows,
        read: ReadAfter<K>,
    ) -> Self {
        let rest =
            page.next.map(|key| -> ReadRest { Arc::new(move |tx, user| read(tx, user, Some(key.clone()))) });
        Self { rows: list(page.items), rest }
    }
}

/// Removes up to a number of an account's rows of one kind. Returns how many it removed, or the whole limit if the
/// transaction must be committed before the next step. Appends the same event for each row as an ordinary removal
/// would, so that clients which show the row are notified.
pub(crate) type ErasureStep = fn(&mut dyn ErasureTx, &Ctx, UserId, u32) -> Result<u32, StoreError>;

/// Appends the events of an erasure.
pub(crate) fn append_events(
    tx: &mut dyn ErasureTx,
    ctx: &Ctx,
    events: impl Iterator<Item = NewEvent>,
) -> Result<(), StoreError> {
    tx.append_all(&events.collect::<Vec<_>>(), ctx.now())
}
