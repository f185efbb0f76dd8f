//! The locker room and the social graph: posts, comments, reactions, reports, follows and blocks, as rules and as the
//! ports that store them. No database, no web framework, no runtime.
//! ```
//! use terrace_kernel::text::TextError;
//! use terrace_social::{ReactionCounts, ReactionKind, post_body, tags};
//!
//! // The text to store, or the rule that it breaks.
//! assert_eq!(post_body("  What a save!\r\n").as_deref(), Ok("What a save!"));
//! assert_eq!(post_body(" \n "), Err(TextError::TooShort(1)));
//!
//! let found: Vec<_> = tags("Up the #Terrace").iter().map(ToString::to_string).collect();
//! assert_eq!(found, ["terrace"]);
//!
//! // A reaction that replaces another changes two counters of the post.
//! let change = ReactionCounts::change(Some(ReactionKind::Like), Some(ReactionKind::Fire));
//! let change = change.expect("different reactions");
//! assert_eq!((change.like, change.fire, change.total()), (-1, 1, 0));
//! ```

#![warn(missing_docs)]

mod authored;
mod feed;
mod graph;
mod mentions;
pub mod notifications;
pub mod ports;
mod post;
mod reaction;
pub mod recommend;
mod reports;
pub mod search;
mod suggest;
mod topics;
mod trend_ports;
mod trends;

pub use authored::{
    AuthoredRead, Erased, ErasedComment, ErasedPost, ErasureWrite, OwnCommentReport, OwnLike, OwnReaction,
    OwnReport,
};
pub use feed::{FeedFilter, FeedRead, FollowedPlaces, Gathered, PostListRead};
pub use graph::{
    Blocked, ErasedFollow, FollowEdge, FollowedTeam, GraphErasure, GraphRead, GraphWrite, LockedPair,
    OwnGraphRead, OwnTeamFollow, OwnTie, Relations, Relationship, TeamFollowRead, TeamFollowWrite,
};
pub use mentions::{MENTIONS, Mention, MentionSite, MentionWrite, mention_sites, mentions};
pub use ports::{
    CommentLikeWrite, CommentRead, CommentWrite, LockedPost, PostRead, PostWrite, ReactionWrite, RoomBatch,
};
pub use post::{
    Comment, EDIT_WINDOW, ImageSize, NewComment, NewPost, Post, PostImage, PostTeam, PostView, comment_body,
    image_alt, is_editable, post_body, report_reason,
};
pub use reaction::{ReactionCounts, ReactionKind};
pub use reports::{
    ContentId, ContentKind, CurrentText, Decision, FIRST_REASONS, LockedContent, NewReport, REPORT_LIFE,
    Report, ReportDecisionWrite, ReportFilter, ReportRead, ReportWrite, ReportedContent, ReportedPicture,
};
pub use search::{PostTextRead, SearchAudit, SearchRead, SearchText, SearchWrite};
pub use suggest::{Acquaintance, DismissalWrite, Edges, FollowGraphRead, Member, Names, SuggestionRead};
pub use topics::{TAG_LENGTH, TAGS_OF_POST, Tag, tags};
pub use trend_ports::{
    EpochId, TopicWrite, TrendEpoch, TrendKey, TrendRead, TrendRoom, TrendWrite, TrendsKept, UntaggedPost,
};
pub use trends::{
    RankedPost, RankedTopic, Ranking, TRENDING_POSTS, TRENDING_POSTS_OF_TEAM, TRENDING_TOPICS,
    TrendCandidate, TrendScorer,
};
