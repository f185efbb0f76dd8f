//! Work that goes once through rows older than itself, in portions, and goes on where it was when it is stopped.

use crate::App;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::platform::Job;
use crate::store::{Backfill, ReadTx, Tx};
use crate::store::{Command, Query, into_infallible};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, PostId, StoreError, TimeKey, Timestamp};
use terrace_social::tags;

/// Its name where it is stored, and as a job.
const TOPICS: &str = "backfill-topics";
/// How often a process looks whether there is anything left to do; once it is done, that is one small read.
const EVERY: Duration = Duration::from_hours(1);
/// Posts that one transaction looks at.
const PORTION: u32 = 500;

/// The job that finds the topics of posts from before topics were kept.
pub(crate) fn job() -> Job {
    Job::new(TOPICS, EVERY, |app| async move {
        if !into_infallible(app.query(TopicsKnown).await)? {
            let found = app.find_topics(&TaskContext::unwatched()).await.map_err(TaskFailure::into_store)?;
            log::info!("{TOPICS} has looked at {} posts", found.posts);
        }
        Ok(())
    })
}

impl App {
    /// Looks for the topics of every post again, whatever was done before, and says at how many posts. Nothing that is
    /// known is lost, and it may be stopped and run again at any time, also beside itself.
    ///
    /// # Errors
    ///
    /// When the database is not to be had.
    pub async fn backfill_topics(&self) -> Result<u64, StoreError> {
        let found = self.look_for_topics(&TaskContext::unwatched()).await;
        found.map(|found| found.posts).map_err(TaskFailure::into_store)
    }

    /// [`App::backfill_topics`], at a pace.
    pub(crate) async fn look_for_topics(&self, pace: &TaskContext) -> Result<TopicsFound, TaskFailure> {
        pace.batch(self, ForgetTopicsKnown).await?;
        self.find_topics(pace).await
    }

    /// Goes on where the work was left; a rehearsal goes through all posts.
    async fn find_topics(&self, pace: &TaskContext) -> Result<TopicsFound, TaskFailure> {
        let mut all = TopicsFound::default();
        let mut rehearsed = pace.is_dry().then(Backfill::default);
        while let Some(found) = pace.batch(self, FindTopics { rehearsed }).await? {
            all.posts += found.posts;
            all.tags += found.tags;
            pace.advance(found.posts);
            rehearsed = rehearsed.map(|_| Backfill { reached: found.last, finished_at: None });
        }
        Ok(all)
    }
}

/// Whether the topics of all older posts are known.
struct TopicsKnown;

impl Query for TopicsKnown {
    const NAME: &'static str = "topics_known";
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<bool, Infallible> {
        Ok(tx.backfill(TOPICS)?.is_some_and(|backfill| backfill.finished_at.is_some()))
    }
}

/// Begins anew.
struct ForgetTopicsKnown;

impl Command for ForgetTopicsKnown {
    const NAME: &'static str = "forget_topics_known";
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        tx.lock_backfill(TOPICS)?;
        Ok(tx.set_backfill(TOPICS, &Backfill::default())?)
    }
}

/// What a look for topics found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TopicsFound {
    /// How many posts were looked at.
    pub(crate) posts: u64,
    /// How many topics were noted that were not before.
    pub(crate) tags: u64,
    /// The last post.
    last: Option<TimeKey>,
}

/// Finds the topics of the next posts, and moves on with them; nothing when there are no more.
struct FindTopics {
    /// How far a rehearsal is, of which nothing is kept.
    rehearsed: Option<Backfill>,
}

impl Command for FindTopics {
    const NAME: &'static str = "find_topics";
    type Output = Option<TopicsFound>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        let kept = tx.lock_backfill(TOPICS)?;
        let before = self.rehearsed.unwrap_or(kept);
        if before.finished_at.is_some() {
            return Ok(None);
        }
        let posts = tx.hold_posts(before.reached, PORTION)?;
        let Some(last) = posts.last() else {
            tx.set_backfill(TOPICS, &Backfill { finished_at: Some(ctx.now()), ..before })?;
            return Ok(None);
        };
        let found: Vec<_> = posts
            .iter()
            .flat_map(|post| tags(&post.body).into_iter().map(|tag| (PostId::from_uuid(post.key.id), tag)))
            .collect();
        let tags = tx.insert_tags(&found)?;
        let last_key = last.key;
        tx.set_backfill(TOPICS, &Backfill { reached: Some(last_key), finished_at: None })?;
        let posts = u64::try_from(posts.len()).unwrap_or(u64::MAX);
        Ok(Some(TopicsFound { posts, tags, last: Some(last_key) }))
    }
}
