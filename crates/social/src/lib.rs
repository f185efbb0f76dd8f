//! The locker room: posts, comments, reactions and reports, as rules and as the ports through which they are
//! stored. No database, no web framework, no runtime.

mod authored;
pub mod ports;
mod post;
mod reaction;
mod topics;
mod trend_ports;
mod trends;

pub use authored::{AuthoredRead, Erased, ErasedComment, ErasedPost, ErasureWrite, OwnReaction, OwnReport};
pub use ports::{CommentRead, CommentWrite, PostRead, PostWrite, ReactionWrite, ReportWrite};
pub use post::{
    Comment, FeedFilter, NewComment, NewPost, Post, PostView, comment_body, post_body, report_reason,
};
pub use reaction::{ReactionCounts, ReactionKind};
pub use topics::{TAG_LENGTH, TAGS_OF_POST, Tag, tags};
pub use trend_ports::{
    EpochId, TopicWrite, TrendEpoch, TrendKey, TrendRead, TrendRoom, TrendWrite, TrendsKept, UntaggedPost,
};
pub use trends::{
    RankedPost, RankedTopic, Ranking, Reckoning, TRENDING_POSTS, TRENDING_POSTS_OF_TEAM, TRENDING_TOPICS,
    TrendCandidate,
};
