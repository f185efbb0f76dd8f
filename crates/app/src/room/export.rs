//! The lists of the room in the export of an account.

use crate::account_data::{EXPORT_PAGE, page_of};
use crate::store::ExportReadTx;
use terrace_kernel::{CommentId, Page, PostId, StoreError, TimeKey, UserId};
use terrace_social::{Comment, OwnCommentReport, OwnLike, OwnReaction, OwnReport, Post};

/// Posts, newest first.
pub fn posts(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<Post>, StoreError> {
    Ok(page_of(tx.posts_of(user, EXPORT_PAGE, after)?, Post::key))
}

/// Comments, ordered by id.
pub fn comments(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<CommentId>,
) -> Result<Page<Comment<()>, CommentId>, StoreError> {
    Ok(page_of(tx.comments_of(user, EXPORT_PAGE, after)?, |comment| comment.id))
}

/// Reactions, ordered by the id of the post.
pub fn reactions(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<PostId>,
) -> Result<Page<OwnReaction, PostId>, StoreError> {
    Ok(page_of(tx.reactions_of(user, EXPORT_PAGE, after)?, |reaction| reaction.post))
}

/// Reports, ordered by the id of the post.
pub fn reports(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<PostId>,
) -> Result<Page<OwnReport, PostId>, StoreError> {
    Ok(page_of(tx.reports_of(user, EXPORT_PAGE, after)?, |report| report.post))
}

/// Likes of comments, ordered by the id of the comment.
pub fn likes(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<CommentId>,
) -> Result<Page<OwnLike, CommentId>, StoreError> {
    Ok(page_of(tx.likes_of(user, EXPORT_PAGE, after)?, |like| like.comment))
}

/// Reports of comments, ordered by the id of the comment.
pub fn comment_reports(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<CommentId>,
) -> Result<Page<OwnCommentReport, CommentId>, StoreError> {
    Ok(page_of(tx.comment_reports_of(user, EXPORT_PAGE, after)?, |report| report.comment))
}
