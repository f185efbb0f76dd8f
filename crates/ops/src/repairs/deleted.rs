//! Removal of rows of deleted accounts and deleted posts that should have been removed already.

use crate::maintenance::{Category, Counts, LeftBehind, Task, TaskFailure, Work};
use std::convert::Infallible;
use std::time::Duration;
use terrace_app::accounts::erase_left;
use terrace_kernel::{Ctx, Outcome, PostId, Timestamp, UserId, num};
use terrace_store::{Command, OpsReadTx, OpsTx, Query};

/// Accounts and posts that one query checks.
const PORTION: u32 = 200;
/// Maximum number of rows that one transaction removes.
const ROWS: u32 = 500;
/// Time that the consumers of the event log have for a deletion before this task takes over.
const LATE: Duration = Duration::from_hours(1);

/// Removes what deleted accounts left behind.
pub(crate) fn deleted_accounts() -> Task {
    let about = "Removes remaining rows of deleted accounts";
    Task::new("sweep-deleted-accounts", Category::CleanUp, about, |work: Work| async move {
        let mut after = None;
        loop {
            let left = work.ask(LeftByDeleted { after }).await?;
            for (user, rows) in left.accounts {
                count_rows(&work, &rows);
                while !work.is_dry() && !work.batch(EraseLeft { user }).await? {}
            }
            let Some(last) = left.last else { return Ok::<(), TaskFailure>(()) };
            after = Some(last);
        }
    })
    // Removing rows decrements counters, which must be correct before.
    .after(&["repair-counters"])
}

/// Removes deleted posts that still exist.
pub(crate) fn deleted_posts() -> Task {
    let about = "Removes remaining rows of posts that were deleted more than an hour ago";
    Task::new("sweep-deleted-posts", Category::CleanUp, about, |work: Work| async move {
        let before = work.app().now().minus(LATE);
        let mut after = None;
        loop {
            let posts = work.ask(DeletedPosts { before, after }).await?;
            let Some((last, _)) = posts.last() else { return Ok::<(), TaskFailure>(()) };
            after = Some(*last);
            for (post, rows) in &posts {
                work.count("posts", 1);
                count_rows(&work, rows);
                while !work.is_dry() && !work.batch(RemovePost { post: *post }).await? {}
            }
            work.advance(num::to_u64(posts.len()));
        }
    })
    // That task removes posts by marking them as deleted.
    .after(&["sweep-deleted-accounts"])
}

fn count_rows(work: &Work, rows: &Counts) {
    for (kind, rows) in rows {
        work.count(kind, *rows);
    }
}

struct LeftByDeleted {
    after: Option<UserId>,
}

impl Query for LeftByDeleted {
    const NAME: &'static str = "left_by_deleted";
    type Ports = dyn OpsReadTx;
    type Output = LeftBehind;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.left_by_deleted(self.after, PORTION)?)
    }
}

/// Removes a portion of the rows of a deleted account; returns whether it was the last.
struct EraseLeft {
    user: UserId,
}

impl Command for EraseLeft {
    const NAME: &'static str = "erase_left";
    type Ports = dyn OpsTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        tx.remove_progress_of(self.user)?;
        Ok(erase_left(tx, ctx, self.user)?)
    }
}

struct DeletedPosts {
    before: Timestamp,
    after: Option<PostId>,
}

impl Query for DeletedPosts {
    const NAME: &'static str = "deleted_posts";
    type Ports = dyn OpsReadTx;
    type Output = Vec<(PostId, Counts)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.deleted_posts(self.before, self.after, PORTION)?)
    }
}

/// Removes a portion of the rows of a deleted post, and finally the post; returns whether it was the last.
struct RemovePost {
    post: PostId,
}

impl Command for RemovePost {
    const NAME: &'static str = "remove_deleted_post";
    type Ports = dyn OpsTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.remove_deleted_post(self.post, ROWS)?)
    }
}
