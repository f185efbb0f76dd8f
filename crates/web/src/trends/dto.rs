//! What is trending, and what a refresh of it came to.

use crate::dto::Time;
use crate::room::dto::Post;
use serde::Serialize;
use std::time::Duration;
use terrace_app::Synced;
use terrace_app::trends::Trends;
use terrace_social::RankedTopic;
use utoipa::ToSchema;

/// A topic that is talked about.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrendingTopic {
    /// The hashtag without its `#`, in lower case.
    #[schema(example = "matchday")]
    tag: String,
    /// What it is worth, in thousandths: for each fan who posted under it, the best of their posts.
    #[schema(example = 12_500, minimum = 0)]
    score: i64,
    /// How many posts of the last days are under it.
    #[schema(example = 7, minimum = 1)]
    post_count: i64,
}

impl From<&RankedTopic> for TrendingTopic {
    fn from(topic: &RankedTopic) -> Self {
        Self { tag: topic.tag.as_str().to_owned(), score: topic.score, post_count: topic.post_count }
    }
}

/// What is trending at a glance.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrendList {
    /// The topics, best first.
    topics: Vec<TrendingTopic>,
    /// The posts, best first; `GET /api/locker-room?sort=trending` goes on.
    posts: Vec<Post>,
    /// The instant for which they were ranked; null before the first time.
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

/// What a wish for fresh derived data came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SyncReport {
    /// Whether this call did the work; false when another was at it, whose end was waited for.
    refreshed: bool,
    /// How long that took, in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// The instant for which the data is reckoned now.
    refreshed_at: Option<Time>,
}

impl From<Synced> for SyncReport {
    fn from(synced: Synced) -> Self {
        let Synced { refreshed, took, refreshed_at } = synced;
        Self { refreshed, duration_ms: millis(took), refreshed_at: refreshed_at.map(Time) }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
