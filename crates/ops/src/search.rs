//! Indexes accounts and posts for the search: once those that are older than the index, and later those that an import
//! wrote.

use crate::maintenance::{TaskContext, TaskFailure};
use std::convert::Infallible;
use std::time::Duration;
use terrace_app::App;
use terrace_app::platform::{Consumer, Job};
use terrace_app::search::{INDEX_NAMES, INDEX_POSTS, changed_since};
use terrace_kernel::{Ctx, Outcome, PostId, StoreError, TimeKey, Timestamp, UserId, Uuid, num};
use terrace_store::{
    Backfill, BackfillRead, BackfillWrite, Command, OpsReadTx, OpsTx, Query, into_infallible,
};

/// Name of the task and of the job.
pub(crate) const NAME: &str = "backfill-search";
/// How often a process checks whether there is work left; once it is finished, that is one small read.
const EVERY: Duration = Duration::from_hours(1);
/// Maximum number of accounts or posts that one transaction indexes.
const PORTION: u32 = 200;
/// Time that the consumers of the event log have for a change before it counts as missing from the index.
const LATE: Duration = Duration::from_mins(10);

/// What is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexed {
    Users,
    Posts,
}

impl Indexed {
    pub(crate) const ALL: [Self; 2] = [Self::Users, Self::Posts];

    /// Name of the backfill.
    const fn backfill(self) -> &'static str {
        match self {
            Self::Users => "backfill-search-users",
            Self::Posts => "backfill-search-posts",
        }
    }

    /// Name in counts.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Users => "names of fans in the search",
            Self::Posts => "posts in the search",
        }
    }

    /// The consumer that indexes changes.
    const fn consumer(self) -> Consumer {
        match self {
            Self::Users => INDEX_NAMES,
            Self::Posts => INDEX_POSTS,
        }
    }

    /// The ids of the rows after a row, in order.
    pub(crate) fn after(
        self,
        tx: &mut dyn OpsReadTx,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Uuid>, StoreError> {
        Ok(match self {
            Self::Users => {
                let users = tx.users_to_index(after.map(UserId::from_uuid), limit)?;
                users.into_iter().map(UserId::as_uuid).collect()
            }
            Self::Posts => {
                let posts = tx.posts_to_index(after.map(PostId::from_uuid), limit)?;
                posts.into_iter().map(PostId::as_uuid).collect()
            }
        })
    }

    /// Those of the rows that are not indexed as they are, unless they changed after `before`.
    pub(crate) fn wrong(
        self,
        tx: &mut dyn OpsReadTx,
        rows: &[Uuid],
        before: Timestamp,
    ) -> Result<Vec<Uuid>, StoreError> {
        Ok(match self {
            Self::Users => {
                let users = tx.misindexed_users(&ids(rows), before)?;
                users.into_iter().map(UserId::as_uuid).collect()
            }
            Self::Posts => {
                let posts = tx.misindexed_posts(&ids(rows), before)?;
                posts.into_iter().map(PostId::as_uuid).collect()
            }
        })
    }

    /// Indexes the rows; returns the number of those that were not indexed as they are.
    pub(crate) fn index(self, tx: &mut dyn OpsTx, rows: &[Uuid]) -> Result<u64, StoreError> {
        match self {
            Self::Users => tx.index_users(&ids(rows)),
            Self::Posts => tx.index_posts(&ids(rows)),
        }
    }
}

pub(crate) fn ids<I: From<Uuid>>(rows: &[Uuid]) -> Vec<I> {
    rows.iter().copied().map(I::from).collect()
}

/// The job that indexes what is older than the index.
pub(crate) fn job() -> Job {
    Job::new(NAME, EVERY, |app| async move {
        if !into_infallible(app.query(IsIndexed).await)? {
            let indexed =
                fill_index(&app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)?;
            log::info!("{NAME} has indexed {indexed} accounts and posts");
        }
        Ok(())
    })
}

/// Looks at every account and post again, and indexes those that are not indexed as they are.
pub(crate) async fn index_again(app: &App, pace: &TaskContext) -> Result<(), TaskFailure> {
    pace.batch(app, ForgetIndexed).await?;
    fill_index(app, pace).await.map(drop)
}

/// Resumes the backfill; a dry run looks at everything. Returns the number of accounts and posts that it indexed.
pub(crate) async fn fill_index(app: &App, pace: &TaskContext) -> Result<u64, TaskFailure> {
    let mut all = 0;
    for of in Indexed::ALL {
        let mut dry_progress = pace.is_dry().then(Backfill::default);
        while let Some(portion) = pace.batch(app, IndexPortion { of, dry_progress }).await? {
            pace.count(of.as_str(), portion.indexed);
            pace.advance(portion.rows);
            all += portion.indexed;
            dry_progress = dry_progress.map(|_| reached(portion.last));
        }
    }
    Ok(all)
}

fn reached(last: Uuid) -> Backfill {
    // Rows are read in the order of their ids.
    Backfill { reached: Some(TimeKey { at: Timestamp::from_micros(0), id: last }), finished_at: None }
}

struct IsIndexed;

impl Query for IsIndexed {
    const NAME: &'static str = "is_indexed";
    type Ports = dyn BackfillRead;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BackfillRead, _now: Timestamp) -> Outcome<bool, Infallible> {
        for of in Indexed::ALL {
            if tx.backfill(of.backfill())?.is_none_or(|backfill| backfill.finished_at.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Resets the backfill.
struct ForgetIndexed;

impl Command for ForgetIndexed {
    const NAME: &'static str = "forget_indexed";
    type Ports = dyn BackfillWrite;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BackfillWrite, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        for of in Indexed::ALL {
            forget_indexed(tx, of)?;
        }
        Ok(())
    }
}

/// Resets the backfill of these rows, after some were written without events.
pub(crate) fn forget_indexed(tx: &mut dyn BackfillWrite, of: Indexed) -> Result<(), StoreError> {
    tx.lock_backfill(of.backfill())?;
    tx.set_backfill(of.backfill(), &Backfill::default())
}

struct Portion {
    rows: u64,
    indexed: u64,
    last: Uuid,
}

/// Indexes the next rows and stores the progress; `None` if there are no more.
struct IndexPortion {
    of: Indexed,
    /// Progress of a dry run, which is not stored.
    dry_progress: Option<Backfill>,
}

impl Command for IndexPortion {
    const NAME: &'static str = "index_portion";
    type Ports = dyn OpsTx;
    type Output = Option<Portion>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        let name = self.of.backfill();
        let kept = tx.lock_backfill(name)?;
        let before = self.dry_progress.unwrap_or(kept);
        if before.finished_at.is_some() {
            return Ok(None);
        }
        let rows = self.of.after(tx, before.reached.map(|key| key.id), PORTION)?;
        let Some(last) = rows.last().copied() else {
            tx.set_backfill(name, &Backfill { finished_at: Some(ctx.now()), ..before })?;
            return Ok(None);
        };
        let indexed = self.of.index(tx, &rows)?;
        tx.set_backfill(name, &reached(last))?;
        Ok(Some(Portion { rows: num::to_u64(rows.len()), indexed, last }))
    }
}

/// The time up to which changes must be in the index by now; `None` if what is older than the index is not yet indexed.
pub(crate) struct IndexedUntil(pub(crate) Indexed);

impl Query for IndexedUntil {
    const NAME: &'static str = "indexed_until";
    type Ports = dyn OpsReadTx;
    type Output = Option<Timestamp>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, now: Timestamp) -> Outcome<Option<Timestamp>, Infallible> {
        if tx.backfill(self.0.backfill())?.is_none_or(|backfill| backfill.finished_at.is_none()) {
            return Ok(None);
        }
        let late = now.minus(LATE);
        let pending = changed_since(tx, self.0.consumer())?;
        Ok(Some(pending.map_or(late, |at| late.min(at.minus(Duration::from_micros(1))))))
    }
}
