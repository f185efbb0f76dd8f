//! Likes of comments.

use crate::store::{Command, RoomTx};
use terrace_identity::AuthorCard;
use terrace_kernel::{CommentId, Ctx, EventKind, Failure, NewEvent, Outcome, PostId, Topic, UserId};
use terrace_social::Comment;

/// Sets or removes a fan's like of a comment. The state that exists already changes nothing.
#[derive(Debug, Clone)]
pub struct LikeComment {
    /// Fan who likes the comment.
    pub fan: UserId,
    /// Post that the comment belongs to.
    pub post: PostId,
    /// Comment that is liked.
    pub comment: CommentId,
    /// Whether the fan likes it.
    pub likes: bool,
}

/// Why a like was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikeCommentRefusal {
    /// The post or comment does not exist, or no longer exists.
    NotFound,
    /// The fan's account was deleted or suspended in the meantime.
    NotActive,
}

impl Command for LikeComment {
    const NAME: &'static str = "like_comment";
    type Ports = dyn RoomTx;
    type Output = Comment<AuthorCard>;
    type Refusal = LikeCommentRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        let missing = || Failure::Refused(LikeCommentRefusal::NotFound);
        // The lock on the post protects its comments and their likes.
        let post = tx.lock_post(self.post, Some(self.fan))?.ok_or_else(missing)?;
        let comment = tx.comment(post.id, self.comment, Some(self.fan))?.ok_or_else(missing)?;
        if comment.is_liked == self.likes {
            return Ok(comment);
        }
        let change = if self.likes {
            if !tx.insert_like(comment.id, self.fan, ctx.now())? {
                return Err(Failure::Refused(LikeCommentRefusal::NotActive));
            }
            1
        } else {
            tx.delete_like(comment.id, self.fan)?;
            -1
        };
        tx.add_to_like_count(comment.id, change)?;
        tx.append(
            &NewEvent {
                topic: Topic::LockerRoom,
                kind: EventKind::CommentLiked,
                actor: Some(self.fan),
                team: post.team,
                subject: post.id.as_uuid(),
                object: Some(comment.id.as_uuid()),
            },
            ctx.now(),
        )?;
        // The author's account may have been deleted since the comment was read.
        tx.comment(post.id, comment.id, Some(self.fan))?.ok_or_else(missing)
    }
}
