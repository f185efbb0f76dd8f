//! What topics and trends need from a store.
//!
//! What is trending is reckoned in *epochs*. A run writes a new one in portions, publishes it last, and leaves those
//! before it alone for a while, so that whoever pages through one comes to its end.

use crate::{PostView, RankedPost, RankedTopic, Tag, TrendCandidate};
use std::time::Duration;
use terrace_kernel::{Limit, Page, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// Names an epoch; a later one has the greater number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochId(pub i64);

/// An epoch that was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrendEpoch {
    /// Which.
    pub id: EpochId,
    /// The instant for which it was reckoned.
    pub begun_at: Timestamp,
    /// When a later one took its place; none while it is the current one.
    pub replaced_at: Option<Timestamp>,
}

impl TrendEpoch {
    /// Whether it may be gone in part, because it was replaced `keep` ago or longer.
    pub fn is_over(&self, now: Timestamp, keep: Duration) -> bool {
        self.replaced_at.is_some_and(|at| at.plus(keep).is_over(now))
    }
}

/// A place in a list of trending posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrendKey {
    /// Of which epoch.
    pub epoch: EpochId,
    /// The rank of the post that is there.
    pub rank: i64,
}

/// Whose trending posts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrendRoom {
    /// Everybody's.
    Everybody,
    /// Those in the rooms of these teams; of no team: none.
    Teams(Vec<TeamId>),
}

/// How many rows trends take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrendsKept {
    /// Epochs, those among them that are not published.
    pub epochs: i64,
    /// Ranked posts and topics of all of them.
    pub ranked: i64,
}

/// A post of which it is not known which topics it is under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntaggedPost {
    /// Its place in lists ordered by time.
    pub key: TimeKey,
    /// Its text.
    pub body: String,
}

/// Writes which posts are under which topics. They go with the post.
pub trait TopicWrite {
    /// Notes that posts are under topics; what is noted already stays so. Says how many were not. Callers have written the
    /// posts in this transaction or hold them by [`TopicWrite::hold_posts`].
    fn insert_tags(&mut self, tags: &[(PostId, Tag)]) -> Result<u64, StoreError>;

    /// Up to `limit` posts that are not deleted, newest first, after `after`, each kept from being removed until the
    /// transaction ends.
    fn hold_posts(&mut self, after: Option<TimeKey>, limit: u32) -> Result<Vec<UntaggedPost>, StoreError>;
}

/// Reads what is trending, and of what it is reckoned. `A` is the card of an author, which the store joins in.
pub trait TrendRead<A> {
    /// Up to `limit` posts that are shown, created at `since` or later, newest first, after `after`.
    fn trend_candidates(
        &mut self,
        since: Timestamp,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<TrendCandidate>, StoreError>;

    /// The topics that each of `posts` is under.
    fn tags_of(&mut self, posts: &[PostId]) -> Result<Vec<(PostId, Tag)>, StoreError>;

    /// The epoch that was published last; none before the first.
    fn current_epoch(&mut self) -> Result<Option<TrendEpoch>, StoreError>;

    /// An epoch, if it was published and is not removed.
    fn epoch(&mut self, id: EpochId) -> Result<Option<TrendEpoch>, StoreError>;

    /// The posts of an epoch that are shown to `reader`, best first, behind `after` (0 for the first page), with
    /// `reader`'s own reactions. Those that are hidden or gone since are passed over, and the page is full all the
    /// same.
    fn trending_posts(
        &mut self,
        epoch: EpochId,
        room: &TrendRoom,
        reader: Option<UserId>,
        limit: Limit,
        after: i64,
    ) -> Result<Page<PostView<A>, TrendKey>, StoreError>;

    /// The first `limit` topics of an epoch.
    fn trending_topics(&mut self, epoch: EpochId, limit: u32) -> Result<Vec<RankedTopic>, StoreError>;

    /// How many rows there are of all epochs.
    fn trends_kept(&mut self) -> Result<TrendsKept, StoreError>;
}

/// Writes what is trending. Epochs are locked from the later to the earlier.
pub trait TrendWrite {
    /// Begins an epoch for the instant `at`.
    fn begin_epoch(&mut self, at: Timestamp) -> Result<EpochId, StoreError>;

    /// Holds an epoch that is still being written until the transaction ends; `false` when it is published, or was
    /// removed by a run that came later.
    fn hold_epoch(&mut self, id: EpochId) -> Result<bool, StoreError>;

    /// Adds posts to an epoch that is held.
    fn add_trend_posts(&mut self, id: EpochId, posts: &[RankedPost]) -> Result<(), StoreError>;

    /// Adds topics to an epoch that is held.
    fn add_trend_topics(&mut self, id: EpochId, topics: &[RankedTopic]) -> Result<(), StoreError>;

    /// Publishes an epoch that is whole; `false` when it was removed, or a later one is published.
    fn publish_epoch(&mut self, id: EpochId, at: Timestamp) -> Result<bool, StoreError>;

    /// Notes that every published epoch before `id` was replaced, `at` this instant unless it was before.
    fn retire_epochs_before(&mut self, id: EpochId, at: Timestamp) -> Result<(), StoreError>;

    /// An epoch that nobody needs: begun before `id` and never published, or replaced at `replaced` or earlier.
    fn dead_epoch(&mut self, id: EpochId, replaced: Timestamp) -> Result<Option<EpochId>, StoreError>;

    /// Removes up to `limit` rows of an epoch, and the epoch itself once it has none; `true` when it is gone.
    fn remove_epoch(&mut self, id: EpochId, limit: u32) -> Result<bool, StoreError>;
}
