//! Deletion of a comment by its author.

use crate::store::{Command, RoomTx};
use terrace_kernel::{CommentId, Ctx, EventKind, Failure, NewEvent, Outcome, PostId, Topic, UserId};

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
        if !tx.delete_comment(post.id, comment.id, self.user)? {
            return Err(missing());
        }
        tx.uncount_comment(post.id)?;
        tx.append(
            &NewEvent {
                topic: Topic::LockerRoom,
                kind: EventKind::CommentDeleted,
                actor: Some(self.user),
                team: post.team,
                subject: post.id.as_uuid(),
                object: Some(comment.id.as_uuid()),
            },
            ctx.now(),
        )?;
        Ok(())
    }
}
