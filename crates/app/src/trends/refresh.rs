//! Refresh of trending topics and posts (spec §1 rule 12).
//!
//! A run reads the posts of the window in pages, ranks them in memory, writes the ranking in portions, each in its
//! own transaction, and publishes it last. Portions are short, so other writers do not wait long, and a run that is
//! stopped at any point leaves the published ranking unchanged. The next run removes the rows of a stopped one.

use crate::App;
use crate::platform::{Job, RequestedRun};
use crate::store::{Command, Query, TrendReadTx, into_infallible};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_identity::AuthorCard;
use terrace_kernel::{Ctx, Failure, Outcome, PostId, StoreError, TimeKey, Timestamp, num};
use terrace_social::{
    EpochId, RankedPost, RankedTopic, Ranking, Tag, TrendCandidate, TrendEpoch, TrendRead, TrendScorer,
    TrendWrite, TrendsKept,
};

/// Name of the job.
const SYNC: &str = "sync-trends";
/// Posts that one query reads.
const PAGE: u32 = 500;
/// Maximum number of rows that one transaction writes or removes.
const PORTION: u32 = 200;
/// Maximum number of posts in a window; the newest count.
const MOST_POSTS: u32 = 100_000;
/// How long an expired epoch is kept for readers that have just checked whether it is expired.
const GRACE: Duration = Duration::from_mins(1);
/// How long a request waits for a run in progress.
const PATIENCE: Duration = Duration::from_secs(30);

/// Result of a request to refresh the trends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synced {
    /// Whether this call did the work; otherwise it waited for a run in progress.
    pub refreshed: bool,
    /// Duration of the call.
    pub took: Duration,
    /// Time for which the current ranking was computed.
    pub refreshed_at: Option<Timestamp>,
}

/// The job that refreshes the trends.
pub(crate) fn job() -> Job {
    let default = crate::AppConfig::default().trend_period;
    Job::new(SYNC, default, |app| async move { app.refresh_trends().await })
        .every(|config| config.trend_period)
}

impl App {
    /// Refreshes the trends, whether or not the job is due. Of concurrent calls, in any process, one does the work
    /// and the others wait for it.
    ///
    /// # Errors
    ///
    /// When the run fails, when another run lasts too long, and when the database is unavailable.
    pub async fn sync_trends(self: &Arc<Self>) -> Result<Synced, StoreError> {
        let began = Instant::now();
        let refreshed = match self.run_now(job(), PATIENCE).await? {
            RequestedRun::Done => true,
            RequestedRun::Joined => false,
            RequestedRun::Failed => return Err(unavailable("the trends were not refreshed")),
            RequestedRun::Busy => return Err(unavailable("another process still refreshes the trends")),
        };
        let epoch = into_infallible(self.query(FindTrends).await)?.0;
        Ok(Synced { refreshed, took: began.elapsed(), refreshed_at: epoch.map(|epoch| epoch.begun_at) })
    }

    /// Updates the metrics of the age and size of the trends.
    ///
    /// # Errors
    ///
    /// When the database is unavailable.
    pub async fn measure_trends(&self) -> Result<(), StoreError> {
        let (epoch, kept) = into_infallible(self.query(FindTrends).await)?;
        if let Some(epoch) = epoch {
            let age = self.now().since(epoch.begun_at);
            metrics::gauge!("terrace_trends_age_seconds").set(age.as_secs_f64());
        }
        let rows = num::to_u32(kept.ranked);
        metrics::gauge!("terrace_trends_rows").set(f64::from(rows));
        Ok(())
    }

    /// One run of the job.
    async fn refresh_trends(&self) -> Result<(), StoreError> {
        let epoch = into_infallible(self.execute(BeginEpoch).await)?;
        self.sweep_trends(epoch.id).await?;
        let (read, ranking) = self.compute_trends(epoch).await?;
        let portion = num::to_usize(PORTION);
        for posts in ranking.posts.chunks(portion) {
            self.add(AddTrends { epoch: epoch.id, posts: posts.to_vec(), topics: Vec::new() }).await?;
        }
        for topics in ranking.topics.chunks(portion) {
            self.add(AddTrends { epoch: epoch.id, posts: Vec::new(), topics: topics.to_vec() }).await?;
        }
        self.execute(PublishEpoch { epoch: epoch.id }).await.map_err(or_superseded)?;
        log::debug!(
            "{SYNC} read {read} posts, ranked {} and {} topics",
            ranking.posts.len(),
            ranking.topics.len()
        );
        Ok(())
    }

    async fn add(&self, portion: AddTrends) -> Result<(), StoreError> {
        self.execute(portion).await.map_err(or_superseded)
    }

    /// Reads and ranks the window; also returns the number of posts read.
    async fn compute_trends(&self, epoch: TrendEpoch) -> Result<(u32, Ranking), StoreError> {
        let since = epoch.begun_at.minus(self.config.trend_window);
        let mut scorer = TrendScorer::new(epoch.begun_at, self.config.trend_half_life);
        let (mut read, mut after) = (0, None);
        while read < MOST_POSTS {
            let page = into_infallible(self.query(ReadCandidates { since, after }).await)?;
            let posts = num::to_u32(page.posts.len());
            after = page.posts.last().map(|post| TimeKey { at: post.created_at, id: post.post.as_uuid() });
            let mut tags: HashMap<PostId, Vec<Tag>> = HashMap::new();
            for (post, tag) in page.tags {
                tags.entry(post).or_default().push(tag);
            }
            for post in &page.posts {
                scorer.add(post, tags.remove(&post.post).into_iter().flatten());
            }
            read = read.saturating_add(posts);
            if posts < PAGE {
                break;
            }
        }
        Ok((read, scorer.finish()))
    }

    /// Removes epochs before `own` that can no longer be read.
    async fn sweep_trends(&self, own: EpochId) -> Result<(), StoreError> {
        let replaced = self.now().minus(self.config.trend_keep.saturating_add(GRACE));
        while into_infallible(self.execute(SweepTrends { own, replaced }).await)? {}
        Ok(())
    }
}

fn unavailable(why: &str) -> StoreError {
    StoreError::Unavailable(why.to_owned())
}

/// A later run has removed or replaced the epoch. This ends a run whose process was assumed dead.
struct Superseded;

fn or_superseded(failure: Failure<Superseded>) -> StoreError {
    match failure {
        Failure::Refused(Superseded) => StoreError::Contended("a later run took the trends over".to_owned()),
        Failure::Broken(error) => error,
    }
}

/// Finds the current epoch and the number of stored rows.
struct FindTrends;

impl Query for FindTrends {
    const NAME: &'static str = "find_trends";
    type Ports = dyn TrendReadTx;
    type Output = (Option<TrendEpoch>, TrendsKept);
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TrendReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok((tx.current_epoch()?, tx.trends_kept()?))
    }
}

/// A page of posts to rank.
struct Candidates {
    posts: Vec<TrendCandidate>,
    tags: Vec<(PostId, Tag)>,
}

struct ReadCandidates {
    since: Timestamp,
    after: Option<TimeKey>,
}

impl Query for ReadCandidates {
    const NAME: &'static str = "read_trend_candidates";
    type Ports = dyn TrendReadTx;
    type Output = Candidates;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TrendReadTx, _now: Timestamp) -> Outcome<Candidates, Infallible> {
        let posts = tx.trend_candidates(self.since, PAGE, self.after)?;
        let ids: Vec<_> = posts.iter().map(|post| post.post).collect();
        let tags = TrendRead::<AuthorCard>::tags_of(tx, &ids)?;
        Ok(Candidates { posts, tags })
    }
}

struct BeginEpoch;

impl Command for BeginEpoch {
    const NAME: &'static str = "begin_trends";
    type Ports = dyn TrendWrite;
    type Output = TrendEpoch;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TrendWrite, ctx: &mut Ctx) -> Outcome<TrendEpoch, Infallible> {
        let begun_at = ctx.now();
        Ok(TrendEpoch { id: tx.begin_epoch(begun_at)?, begun_at, replaced_at: None })
    }
}

/// Writes one portion.
struct AddTrends {
    epoch: EpochId,
    posts: Vec<RankedPost>,
    topics: Vec<RankedTopic>,
}

impl Command for AddTrends {
    const NAME: &'static str = "add_trends";
    type Ports = dyn TrendWrite;
    type Output = ();
    type Refusal = Superseded;

    fn run(&self, tx: &mut dyn TrendWrite, _ctx: &mut Ctx) -> Outcome<(), Superseded> {
        if !tx.hold_epoch(self.epoch)? {
            return Err(Failure::Refused(Superseded));
        }
        if !self.posts.is_empty() {
            tx.add_trend_posts(self.epoch, &self.posts)?;
        }
        if !self.topics.is_empty() {
            tx.add_trend_topics(self.epoch, &self.topics)?;
        }
        Ok(())
    }
}

struct PublishEpoch {
    epoch: EpochId,
}

impl Command for PublishEpoch {
    const NAME: &'static str = "publish_trends";
    type Ports = dyn TrendWrite;
    type Output = ();
    type Refusal = Superseded;

    fn run(&self, tx: &mut dyn TrendWrite, ctx: &mut Ctx) -> Outcome<(), Superseded> {
        if !tx.publish_epoch(self.epoch, ctx.now())? {
            return Err(Failure::Refused(Superseded));
        }
        Ok(tx.retire_epochs_before(self.epoch, ctx.now())?)
    }
}

/// Removes one portion of an expired epoch; returns whether there may be more.
struct SweepTrends {
    own: EpochId,
    replaced: Timestamp,
}

impl Command for SweepTrends {
    const NAME: &'static str = "sweep_trends";
    type Ports = dyn TrendWrite;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TrendWrite, _ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        let Some(dead) = tx.dead_epoch(self.own, self.replaced)? else { return Ok(false) };
        tx.remove_epoch(dead, PORTION)?;
        Ok(true)
    }
}
