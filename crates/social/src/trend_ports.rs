//! The store interface of topics and trends.
//!
//! Trends are computed in *epochs*. A run writes a new epoch in batches, publishes it last, and keeps replaced epochs
//! for a while, so that a client that is paging through one can reach its end.

use crate::{PostView, RankedPost, RankedTopic, Tag, TrendCandidate};
use std::time::Duration;
use terrace_kernel::{Limit, Page, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// Id of an epoch; a later epoch has a greater number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochId(pub i64);

/// A published epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrendEpoch {
    /// Id of the epoch.
    pub id: EpochId,
    /// The instant that the trends were computed for.
    pub begun_at: Timestamp,
    /// When a later epoch replaced it; `None` for the current one.
    pub replaced_at: Option<Timestamp>,
}

impl TrendEpoch {
    /// Whether it was replaced `keep` ago or longer, so that parts of it may be removed already.
    pub fn is_over(&self, now: Timestamp, keep: Duration) -> bool {
        self.replaced_at.is_some_and(|at| at.plus(keep).is_over(now))
    }
}

/// A position in a list of trending posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrendKey {
    /// Id of the epoch.
    pub epoch: EpochId,
    /// The rank of the post.
    pub rank: i64,
}

/// The rooms whose trending posts are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrendRoom {
    /// All rooms.
    Everybody,
    /// The rooms of these teams; an empty list matches no post.
    Teams(Vec<TeamId>),
}

/// The number of stored trend rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrendsKept {
    /// Epochs, including unpublished ones.
    pub epochs: i64,
    /// Ranked posts and topics of all epochs.
    pub ranked: i64,
}

/// A post whose topics were not extracted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntaggedPost {
    /// The sort key in lists ordered by time.
    pub key: TimeKey,
    /// The text of the post.
    pub body: String,
}

/// Writes the topics of posts. They are removed together with the post.
pub trait TopicWrite {
    /// Inserts topics of posts, which are given by their sort keys; existing rows stay. Returns how many were new. Callers must have inserted the posts in
    /// this transaction or locked them with [`TopicWrite::hold_posts`] or `PostWrite::lock_post_text`.
    fn insert_tags(&mut self, tags: &[(TimeKey, Tag)]) -> Result<u64, StoreError>;

    /// Removes the topics of a post. The caller holds the lock on its text.
    fn remove_tags(&mut self, post: PostId) -> Result<(), StoreError>;

    /// Up to `limit` posts that are not deleted, newest first, after `after`; their removal and edits of their texts are
    /// prevented until the transaction ends.
    fn hold_posts(&mut self, after: Option<TimeKey>, limit: u32) -> Result<Vec<UntaggedPost>, StoreError>;
}

/// Reads trends and the data that they are computed from. The store joins in `A`, the card of an author.
pub trait TrendRead<A> {
    /// Up to `limit` visible posts created at `since` or later, newest first, after `after`.
    fn trend_candidates(
        &mut self,
        since: Timestamp,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<TrendCandidate>, StoreError>;

    /// The topics of each post in `posts`.
    fn tags_of(&mut self, posts: &[PostId]) -> Result<Vec<(PostId, Tag)>, StoreError>;

    /// The most recently published epoch; `None` before the first.
    fn current_epoch(&mut self) -> Result<Option<TrendEpoch>, StoreError>;

    /// A published epoch, unless it was removed.
    fn epoch(&mut self, id: EpochId) -> Result<Option<TrendEpoch>, StoreError>;

    /// The posts of an epoch that are visible to `reader`, best first, after rank `after` (0 for the first page), with
    /// `reader`'s own reactions. Posts that were hidden or removed since are skipped, and the page is still filled.
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

    /// The number of rows of all epochs.
    fn trends_kept(&mut self) -> Result<TrendsKept, StoreError>;
}

/// Writes trends. Epochs are locked from the latest to the earliest.
pub trait TrendWrite {
    /// Creates an epoch for the instant `at`.
    fn begin_epoch(&mut self, at: Timestamp) -> Result<EpochId, StoreError>;

    /// Locks an unpublished epoch until the transaction ends; `false` if it was published, or removed by a later run.
    fn hold_epoch(&mut self, id: EpochId) -> Result<bool, StoreError>;

    /// Adds posts to a locked epoch.
    fn add_trend_posts(&mut self, id: EpochId, posts: &[RankedPost]) -> Result<(), StoreError>;

    /// Adds topics to a locked epoch.
    fn add_trend_topics(&mut self, id: EpochId, topics: &[RankedTopic]) -> Result<(), StoreError>;

    /// Publishes a complete epoch; `false` if it was removed, or a later one is published.
    fn publish_epoch(&mut self, id: EpochId, at: Timestamp) -> Result<bool, StoreError>;

    /// Marks every published epoch before `id` as replaced at `at`, unless it was marked earlier.
    fn retire_epochs_before(&mut self, id: EpochId, at: Timestamp) -> Result<(), StoreError>;

    /// An epoch that can be removed: created before `id` and never published, or replaced at `replaced` or earlier.
    fn dead_epoch(&mut self, id: EpochId, replaced: Timestamp) -> Result<Option<EpochId>, StoreError>;

    /// Removes up to `limit` rows of an epoch, and the epoch itself once it has none; `true` once it is removed.
    fn remove_epoch(&mut self, id: EpochId, limit: u32) -> Result<bool, StoreError>;
}
