//! A one-time backfill of existing rows, in portions. It resumes where it was stopped.

use crate::maintenance::{TaskContext, TaskFailure};
use std::convert::Infallible;
use std::time::Duration;
use terrace_app::App;
use terrace_app::platform::Job;
use terrace_kernel::{Ctx, Outcome, StoreError, TimeKey, Timestamp, num};
use terrace_social::tags;
use terrace_store::{Backfill, BackfillRead, BackfillWrite, Command, OpsTx, Query, into_infallible};

/// Name of the backfill and of the job.
const TOPICS: &str = "backfill-topics";
/// How often a process checks whether there is work left; once it is finished, that is one small read.
const EVERY: Duration = Duration::from_hours(1);
/// Maximum number of posts that one transaction processes.
const PORTION: u32 = 500;

/// The job that finds the topics of posts that were written before topics were stored.
pub(crate) fn job() -> Job {
    Job::new(TOPICS, EVERY, |app| async move {
        if !into_infallible(app.query(TopicsKnown).await)? {
            let found =
                find_topics(&app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)?;
            log::info!("{TOPICS} has looked at {} posts", found.posts);
        }
        Ok(())
    })
}

/// Finds the topics of every post again, whatever was done before, and returns the number of posts. Stored topics
/// are kept. May be stopped and run again at any time, also concurrently with itself.
///
/// # Errors
///
/// When the database is unavailable.
pub async fn backfill_topics(app: &App) -> Result<u64, StoreError> {
    let found = look_for_topics(app, &TaskContext::unwatched()).await;
    found.map(|found| found.posts).map_err(TaskFailure::into_store)
}

/// Same as [`backfill_topics`], as part of a maintenance task.
pub(crate) async fn look_for_topics(app: &App, pace: &TaskContext) -> Result<TopicsFound, TaskFailure> {
    pace.batch(app, ForgetTopicsKnown).await?;
    find_topics(app, pace).await
}

/// Resumes the backfill; a dry run processes all posts.
async fn find_topics(app: &App, pace: &TaskContext) -> Result<TopicsFound, TaskFailure> {
    let mut all = TopicsFound::default();
    let mut dry_progress = pace.is_dry().then(Backfill::default);
    while let Some(found) = pace.batch(app, FindTopics { dry_progress }).await? {
        all.posts += found.posts;
        all.tags += found.tags;
        pace.advance(found.posts);
        dry_progress = dry_progress.map(|_| Backfill { reached: found.last, finished_at: None });
    }
    Ok(all)
}

/// Reads whether the backfill is finished.
pub(crate) struct TopicsKnown;

impl Query for TopicsKnown {
    const NAME: &'static str = "topics_known";
    type Ports = dyn BackfillRead;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BackfillRead, _now: Timestamp) -> Outcome<bool, Infallible> {
        Ok(tx.backfill(TOPICS)?.is_some_and(|backfill| backfill.finished_at.is_some()))
    }
}

/// Resets the backfill.
struct ForgetTopicsKnown;

impl Command for ForgetTopicsKnown {
    const NAME: &'static str = "forget_topics_known";
    type Ports = dyn BackfillWrite;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BackfillWrite, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        tx.lock_backfill(TOPICS)?;
        Ok(tx.set_backfill(TOPICS, &Backfill::default())?)
    }
}

/// Result of processing posts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TopicsFound {
    /// Number of posts processed.
    pub(crate) posts: u64,
    /// Number of topics stored that were missing before.
    pub(crate) tags: u64,
    /// The last post processed.
    last: Option<TimeKey>,
}

/// Finds the topics of the next posts and stores the progress; `None` if there are no more.
struct FindTopics {
    /// Progress of a dry run, which is not stored.
    dry_progress: Option<Backfill>,
}

impl Command for FindTopics {
    const NAME: &'static str = "find_topics";
    type Ports = dyn OpsTx;
    type Output = Option<TopicsFound>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        let kept = tx.lock_backfill(TOPICS)?;
        let before = self.dry_progress.unwrap_or(kept);
        if before.finished_at.is_some() {
            return Ok(None);
        }
        let posts = tx.hold_posts(before.reached, PORTION)?;
        let Some(last) = posts.last() else {
            tx.set_backfill(TOPICS, &Backfill { finished_at: Some(ctx.now()), ..before })?;
            return Ok(None);
        };
        let found: Vec<_> =
            posts.iter().flat_map(|post| tags(&post.body).into_iter().map(|tag| (post.key, tag))).collect();
        let tags = tx.insert_tags(&found)?;
        let last_key = last.key;
        tx.set_backfill(TOPICS, &Backfill { reached: Some(last_key), finished_at: None })?;
        let posts = num::to_u64(posts.len());
        Ok(Some(TopicsFound { posts, tags, last: Some(last_key) }))
    }
}
