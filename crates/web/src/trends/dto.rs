//! What is trending, and what a refresh of it came to.

use crate::dto::Time;
use crate::room::dto::Post;
use serde::Serialize;
use terrace_app::Synced;
use terrace_app::trends::Trends;
use terrace_kernel::num;
use terrace_social::RankedTopic;
use utoipa::ToSchema;

/// A trending topic.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrendingTopic {
    /// The hashtag without its `#`, in lower case.
    #[schema(example = "matchday")]
    tag: String,
    /// The score in thousandths: the sum over all fans who posted under it of the score of each fan's best post.
    #[schema(example = 12_500, minimum = 0)]
    score: i64,
    /// The number of posts of the last days under the topic.
    #[schema(example = 7, minimum = 1)]
    post_count: i64,
}

impl From<&RankedTopic> for TrendingTopic {
    fn from(topic: &RankedTopic) -> Self {
        Self { tag: topic.tag.as_str().to_owned(), score: topic.score, post_count: topic.post_count }
    }
}

/// Trending topics and posts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrendList {
    /// The topics, best first.
    topics: Vec<TrendingTopic>,
    /// The posts, best first; `GET /api/locker-room?sort=trending` has more.
    posts: Vec<Post>,
    /// The instant of the ranking; null before the first ranking.
    #[schema(required)]
    refreshed_at: Option<Time>,
}

impl From<&Trends> for TrendList {
    fn from(trends: &Trends) -> Self {
        Self {
            topics: trends.topics.iter().map(TrendingTopic::from).collect(),
            posts: trends.posts.iter().map(Post::from).collect(),
            refreshed_at: trends.refreshed_at.map(Time),
        }
    }
}

/// The result of refreshing trends.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SyncReport {
    /// Whether this call did the work; false if it waited for another call that did.
    refreshed: bool,
    /// The duration in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// The instant for which the data is computed.
    #[schema(required)]
    refreshed_at: Option<Time>,
}

impl From<Synced> for SyncReport {
    fn from(synced: Synced) -> Self {
        let Synced { refreshed, took, refreshed_at } = synced;
        Self { refreshed, duration_ms: num::to_u64(took.as_millis()), refreshed_at: refreshed_at.map(Time) }
    }
}
