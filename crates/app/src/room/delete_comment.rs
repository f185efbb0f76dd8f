//! Deletes one's own comment.

use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{CommentId, Ctx, EventKind, Failure, NewEvent, Outcome, PostId, Topic, UserId};

/// Removes a comment and lowers the post's counter, together.
#[derive(Debug, Clone)]
pub struct DeleteComment {
    /// Who asks.
    pub user: UserId,
    /// The post that the comment belongs to.
    pub post: PostId,
    /// The comment.
    pub comment: CommentId,
}

/// Why a comment was not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteCommentRefusal {
    /// There is no such post or comment (any more).
    NotFound,
    /// Somebody else wrote it.
    NotYours,
}

impl Command for DeleteComment {
    const NAME: &'static str = "delete_comment";
    type Output = ();
    type Refusal = DeleteCommentRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), DeleteCommentRefusal> {
        let missing = || Failure::Refused(DeleteCommentRefusal::NotFound);
        // One's own words can be taken back also where one no longer sees the post.
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
