//! Everything that is kept about an account, page by page.

use super::NotFound;
use crate::execute::Query;
use crate::store::{KeptKey, KeyPlace, ReadTx};
use terrace_identity::{AccountStatus, KeptSession};
use terrace_kernel::{
    CommentId, Failure, Limit, Outcome, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId,
};
use terrace_ledger::{Balance, Entry};
use terrace_packs::{CopyList, Owned, OwnedFilter, Purchase, UserPack};
use terrace_scoring::{BoardEntry, PointsRecord};
use terrace_social::{Comment, OwnReaction, OwnReport, OwnTeamFollow, OwnTie, Post};

/// Rows of one page: some 100 KiB of long posts at the most that is usual, 5 MiB at the very most.
const PAGE: u32 = 500;

/// The parts of an export, in its order, each with the place in it after which to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportPlace {
    /// Sessions, those that ended too, newest first.
    Sessions(Option<TimeKey>),
    /// Posts, newest first.
    Posts(Option<TimeKey>),
    /// Comments.
    Comments(Option<CommentId>),
    /// Reactions.
    Reactions(Option<PostId>),
    /// Reports.
    Reports(Option<PostId>),
    /// Who is followed.
    Follows(Option<UserId>),
    /// Teams that are followed.
    TeamFollows(Option<TeamId>),
    /// Who is blocked.
    Blocks(Option<UserId>),
    /// Who is not to be recommended again.
    Dismissals(Option<UserId>),
    /// Records of points, newest first.
    Points(Option<TimeKey>),
    /// Boards.
    Boards,
    /// Balances.
    Balances,
    /// What was moved on the accounts, newest first.
    Entries(Option<TimeKey>),
    /// Purchases of packs, newest first.
    Purchases(Option<TimeKey>),
    /// Copies of packs, newest first.
    Copies(Option<TimeKey>),
    /// Collectibles, newest first.
    Owned(Option<TimeKey>),
    /// Idempotency keys.
    Keys(Option<KeyPlace>),
}

impl ExportPlace {
    /// Where an export begins.
    pub const START: Self = Self::Sessions(None);
}

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
    /// Who is followed.
    Follows(Vec<OwnTie>),
    /// Teams that are followed.
    TeamFollows(Vec<OwnTeamFollow>),
    /// Who is blocked.
    Blocks(Vec<OwnTie>),
    /// Who is not to be recommended again.
    Dismissals(Vec<OwnTie>),
    /// Records of points.
    Points(Vec<PointsRecord>),
    /// Boards, those that were left too.
    Boards(Vec<BoardEntry>),
    /// Balances.
    Balances(Vec<Balance>),
    /// What was moved on the accounts, newest first.
    Entries(Vec<Entry>),
    /// Purchases of packs.
    Purchases(Vec<Purchase>),
    /// Copies of packs.
    Copies(Vec<UserPack>),
    /// Collectibles, those that were taken back left out.
    Owned(Vec<Owned>),
    /// Idempotency keys.
    Keys(Vec<KeptKey>),
}

/// A page of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPage {
    /// Its rows, all of one part.
    pub rows: ExportRows,
    /// Where the next page begins, in this part or the next; `None` behind the last.
    pub next: Option<ExportPlace>,
}

/// Reads a page of an export, in two statements. Refused when the account is not active (any more).
#[derive(Debug, Clone)]
pub struct ReadExport {
    /// Whose.
    pub user: UserId,
    /// From where.
    pub place: ExportPlace,
}

impl Query for ReadExport {
    const NAME: &'static str = "read_export";
    type Output = ExportPage;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<ExportPage, NotFound> {
        let account = tx.account(self.user)?;
        if account.is_none_or(|account| account.status != AccountStatus::Active) {
            return Err(Failure::Refused(NotFound));
        }
        let user = self.user;
        Ok(match &self.place {
            ExportPlace::Sessions(after) => {
                let rows = tx.kept_sessions_of(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(KeptSession::key);
                let next = last.map_or(ExportPlace::Posts(None), |key| ExportPlace::Sessions(Some(key)));
                ExportPage { rows: ExportRows::Sessions(rows), next: Some(next) }
            }
            ExportPlace::Posts(after) => {
                let rows = tx.posts_of(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(Post::key);
                let next = last.map_or(ExportPlace::Comments(None), |key| ExportPlace::Posts(Some(key)));
                ExportPage { rows: ExportRows::Posts(rows), next: Some(next) }
            }
            ExportPlace::Comments(after) => {
                let rows = tx.comments_of(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(|comment| comment.id);
                let next = last.map_or(ExportPlace::Reactions(None), |id| ExportPlace::Comments(Some(id)));
                ExportPage { rows: ExportRows::Comments(rows), next: Some(next) }
            }
            ExportPlace::Reactions(after) => {
                let rows = tx.reactions_of(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(|reaction| reaction.post);
                let next = last.map_or(ExportPlace::Reports(None), |id| ExportPlace::Reactions(Some(id)));
                ExportPage { rows: ExportRows::Reactions(rows), next: Some(next) }
            }
            ExportPlace::Reports(after) => {
                let rows = tx.reports_of(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(|report| report.post);
                let next = last.map_or(ExportPlace::Follows(None), |id| ExportPlace::Reports(Some(id)));
                ExportPage { rows: ExportRows::Reports(rows), next: Some(next) }
            }
            ExportPlace::Follows(after) => {
                let rows = tx.own_follows(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(|tie| tie.user);
                let next = last.map_or(ExportPlace::TeamFollows(None), |id| ExportPlace::Follows(Some(id)));
                ExportPage { rows: ExportRows::Follows(rows), next: Some(next) }
            }
            ExportPlace::TeamFollows(after) => {
                let rows = tx.own_team_follows(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(|follow| follow.team);
                let next = last.map_or(ExportPlace::Blocks(None), |id| ExportPlace::TeamFollows(Some(id)));
                ExportPage { rows: ExportRows::TeamFollows(rows), next: Some(next) }
            }
            ExportPlace::Blocks(after) => {
                let rows = tx.own_blocks(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(|tie| tie.user);
                let next = last.map_or(ExportPlace::Dismissals(None), |id| ExportPlace::Blocks(Some(id)));
                ExportPage { rows: ExportRows::Blocks(rows), next: Some(next) }
            }
            ExportPlace::Dismissals(after) => {
                let rows = tx.own_dismissals(user, PAGE, *after)?;
                let last = last_of_full(&rows).map(|tie| tie.user);
                let next = last.map_or(ExportPlace::Points(None), |id| ExportPlace::Dismissals(Some(id)));
                ExportPage { rows: ExportRows::Dismissals(rows), next: Some(next) }
            }
            ExportPlace::Points(after) => {
                let records = tx.records(user, Limit::MAX, *after)?;
                let next = records.next.map_or(ExportPlace::Boards, |key| ExportPlace::Points(Some(key)));
                ExportPage { rows: ExportRows::Points(records.items), next: Some(next) }
            }
            // One row a board, and so one page: of teams there are some hundreds.
            ExportPlace::Boards => {
                let rows = ExportRows::Boards(tx.entries_of(user)?);
                ExportPage { rows, next: Some(ExportPlace::Balances) }
            }
            // As few as there are currencies.
            ExportPlace::Balances => {
                let rows = ExportRows::Balances(tx.balances(user)?);
                ExportPage { rows, next: Some(ExportPlace::Entries(None)) }
            }
            ExportPlace::Entries(after) => {
                let entries = tx.entries(user, Limit::MAX, *after)?;
                let next =
                    entries.next.map_or(ExportPlace::Purchases(None), |key| ExportPlace::Entries(Some(key)));
                ExportPage { rows: ExportRows::Entries(entries.items), next: Some(next) }
            }
            ExportPlace::Purchases(after) => purchases(tx, user, *after)?,
            ExportPlace::Copies(after) => copies(tx, user, *after)?,
            ExportPlace::Owned(after) => owned(tx, user, *after)?,
            ExportPlace::Keys(after) => {
                let rows = tx.keys_of(user, PAGE, after.as_ref())?;
                let next = last_of_full(&rows).map(|kept| ExportPlace::Keys(Some(kept.place.clone())));
                ExportPage { rows: ExportRows::Keys(rows), next }
            }
        })
    }
}

fn purchases(tx: &mut dyn ReadTx, user: UserId, after: Option<TimeKey>) -> Result<ExportPage, StoreError> {
    let found = tx.purchases(user, Limit::MAX, after)?;
    let next = found.next.map_or(ExportPlace::Copies(None), |key| ExportPlace::Purchases(Some(key)));
    Ok(ExportPage { rows: ExportRows::Purchases(found.items), next: Some(next) })
}

fn copies(tx: &mut dyn ReadTx, user: UserId, after: Option<TimeKey>) -> Result<ExportPage, StoreError> {
    let found = tx.copies(user, CopyList::Bought, Limit::MAX, after)?;
    let next = found.next.map_or(ExportPlace::Owned(None), |key| ExportPlace::Copies(Some(key)));
    Ok(ExportPage { rows: ExportRows::Copies(found.items), next: Some(next) })
}

fn owned(tx: &mut dyn ReadTx, user: UserId, after: Option<TimeKey>) -> Result<ExportPage, StoreError> {
    let found = tx.owned(user, OwnedFilter::default(), Limit::MAX, after)?;
    let next = found.next.map_or(ExportPlace::Keys(None), |key| ExportPlace::Owned(Some(key)));
    Ok(ExportPage { rows: ExportRows::Owned(found.items), next: Some(next) })
}

/// The last row of a page that is full, behind which more may follow.
fn last_of_full<T>(rows: &[T]) -> Option<&T> {
    let full = u32::try_from(rows.len()).is_ok_and(|count| count >= PAGE);
    if full { rows.last() } else { None }
}
