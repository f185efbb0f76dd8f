//! The locker room: posts, comments, reactions and reports, as rules and as the ports through which they are
//! stored. No database, no web framework, no runtime.

mod authored;
pub mod ports;
mod post;
mod reaction;
pub mod recommend;
mod suggest;

pub use authored::{AuthoredRead, Erased, ErasedComment, ErasedPost, ErasureWrite, OwnReaction, OwnReport};
pub use ports::{CommentRead, CommentWrite, PostRead, PostWrite, ReactionWrite, ReportWrite};
pub use post::{
    Comment, FeedFilter, NewComment, NewPost, Post, PostView, comment_body, post_body, report_reason,
};
pub use reaction::{ReactionCounts, ReactionKind};
pub use suggest::{Acquaintance, DismissalWrite, Edges, FollowGraphRead, Member, Names, SuggestionRead};
