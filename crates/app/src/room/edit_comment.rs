//! Edits of a comment by its author.

use crate::room::mentions::mentions_in;
use crate::store::{Command, RoomTx};
use terrace_identity::AuthorCard;
use terrace_kernel::{CommentId, Ctx, EventKind, Failure, NewEvent, Outcome, PostId, Topic, UserId};
use terrace_social::{Comment, is_editable};

/// Replaces the text of a comment, and its mentions with those of the new text, within the time for edits. The same text again changes nothing.
#[derive(Debug, Clone)]
pub struct EditComment {
    /// Account that requests the edit.
    pub user: UserId,
    /// Post that the comment belongs to.
    pub post: PostId,
    /// Comment to edit.
    pub comment: CommentId,
    /// New text, validated by `terrace_social::comment_body`.
    pub body: String,
}

/// Why a comment was not edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditCommentRefusal {
    /// The post or comment does not exist, or no longer exists.
    NotFound,
    /// Another account wrote it.
    NotYours,
    /// The time for edits is over.
    TooLate,
}

impl Command for EditComment {
    const NAME: &'static str = "edit_comment";
    type Ports = dyn RoomTx;
    type Output = Comment<AuthorCard>;
    type Refusal = EditCommentRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        let missing = || Failure::Refused(EditCommentRefusal::NotFound);
        // The lock on the post protects its comments.
        let post = tx.lock_post(self.post, Some(self.user))?.ok_or_else(missing)?;
        let comment = tx.comment(post.id, self.comment, Some(self.user))?.ok_or_else(missing)?;
        if comment.author.id != self.user {
            return Err(Failure::Refused(EditCommentRefusal::NotYours));
        }
        if !is_editable(comment.created_at, ctx.now()) {
            return Err(Failure::Refused(EditCommentRefusal::TooLate));
        }
        if comment.body == self.body {
            return Ok(comment);
        }
        tx.edit_comment(comment.id, &self.body, ctx.now())?;
        let mentions = mentions_in(tx, &self.body, self.user)?;
        tx.set_comment_mentions(comment.id, &mentions)?;
        tx.append(
            &NewEvent {
                topic: Topic::LockerRoom,
                kind: EventKind::CommentEdited,
                actor: Some(self.user),
                team: post.team,
                subject: post.id.as_uuid(),
                object: Some(comment.id.as_uuid()),
            },
            ctx.now(),
        )?;
        // The author's account may have been deleted since the lock.
        tx.comment(post.id, comment.id, Some(self.user))?.ok_or_else(missing)
    }
}
