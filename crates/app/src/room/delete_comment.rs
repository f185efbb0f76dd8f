//! Deletion of a comment by its author.

use crate::room::erasure::comment_deleted;
use crate::store::{Command, RoomTx};
use terrace_kernel::{CommentId, Ctx, Failure, Outcome, PostId, StoreError, UserId};
use terrace_social::ErasedComment;

/// Removes a comment and decrements the post's counter, in one transaction.
#[derive(Debug, Clone)]
pub struct DeleteComment {
    /// Account that requests the deletion.
    pub user: UserId,
    /// Post that the comment belongs to.
    pub post: PostId,
    /// Comment to delete.
    pub comment: CommentId,
}

/// Why a comment was not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteCommentRefusal {
    /// The post or comment does not exist, or no longer exists.
    NotFound,
    /// Another account wrote it.
    NotYours,
}

impl Command for DeleteComment {
    const NAME: &'static str = "delete_comment";
    type Ports = dyn RoomTx;
    type Output = ();
    type Refusal = DeleteCommentRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<(), DeleteCommentRefusal> {
        let missing = || Failure::Refused(DeleteCommentRefusal::NotFound);
        // Authors may delete their comments even if they can no longer see the post.
        let post = tx.lock_post(self.post, None)?.ok_or_else(missing)?;
        let comment = tx.comment(post.id, self.comment, Some(self.user))?.ok_or_else(missing)?;
        if comment.author.id != self.user {
            return Err(Failure::Refused(DeleteCommentRefusal::NotYours));
        }
        let place = ErasedComment { post: post.id, team: post.team, comment: comment.id };
        if delete_locked_comment(tx, ctx, place, self.user)? { Ok(()) } else { Err(missing()) }
    }
}

/// Deletes a comment as its author does; `false` if there is none. The caller holds the lock on the post.
pub fn delete_locked_comment(
    tx: &mut dyn RoomTx,
    ctx: &Ctx,
    comment: ErasedComment,
    author: UserId,
) -> Result<bool, StoreError> {
    if !tx.delete_comment(comment.post, comment.comment, author)? {
        return Ok(false);
    }
    tx.uncount_comment(comment.post)?;
    tx.append(&comment_deleted(author, comment), ctx.now())?;
    Ok(true)
}
