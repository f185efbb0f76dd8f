//! The locker room: posts, comments, reactions, likes, reports and feeds (spec §1).

mod comment_batch;
mod create_comment;
mod create_post;
mod delete_comment;
mod delete_post;
mod edit_comment;
mod edit_post;
mod erasure;
pub mod export;
mod followed;
mod like_comment;
mod lists;
mod mentions;
mod post_batch;
mod queries;
mod react;
mod reaction_batch;
mod report_comment;
mod report_post;

pub use create_comment::{
    CommentCreated, CreateComment, CreateCommentRefusal, CreateReply, CreateReplyRefusal,
};
pub use create_post::{Attachment, CreatePost, CreatePostRefusal};
pub use delete_comment::{DeleteComment, DeleteCommentRefusal, delete_locked_comment};
pub(crate) use delete_post::remove_deleted_post;
pub use delete_post::{DeletePost, DeletePostRefusal, delete_locked_post};
pub use edit_comment::{EditComment, EditCommentRefusal};
pub use edit_post::{EditPost, EditPostRefusal};
pub(crate) use erasure::ERASURE;
pub use like_comment::{LikeComment, LikeCommentRefusal};
pub use lists::{ListedPosts, ReadPostsOf, ReadTagged};
pub(crate) use mentions::mentions_in;
pub use queries::{
    FeedPage, FeedRefusal, FeedScope, GetComment, GetPost, ListComments, OwnFeedView, PostPage, ReadFeed,
    ReadFeedKeys, ReadOwnFeedView, ReadPosts,
};
pub use react::{React, ReactRefusal};
pub use report_comment::{ReportComment, ReportCommentRefusal};
pub use report_post::{ReportPost, ReportPostRefusal};
