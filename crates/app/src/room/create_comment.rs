//! Comments on a post (spec §1 rule 2).

use crate::store::{Command, RoomTx};
use terrace_identity::AuthorCard;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, PostId, Topic, UserId};
use terrace_social::{Comment, NewComment};

/// Creates a comment and increments the post's counter, in one transaction.
#[derive(Debug, Clone)]
pub struct CreateComment {
    /// Author of the comment.
    pub author: UserId,
    /// Post that the comment belongs to.
    pub post: PostId,
    /// Text, validated by `terrace_social::comment_body`.
    pub body: String,
}

/// Result of creating a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentCreated {
    /// The created comment.
    pub comment: Comment<AuthorCard>,
    /// Number of comments of the post, including this one.
    pub comment_count: i64,
}

/// Why a comment was not created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateCommentRefusal {
    /// The post does not exist, or no longer exists.
    PostNotFound,
    /// The author's account was deleted or suspended in the meantime.
    NotActive,
}

impl Command for CreateComment {
    const NAME: &'static str = "create_comment";
    type Ports = dyn RoomTx;
    type Output = CommentCreated;
    type Refusal = CreateCommentRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        let (team, comment_count) = tx
            .count_comment(self.post, self.author)?
            .ok_or(Failure::Refused(CreateCommentRefusal::PostNotFound))?;
        let comment = NewComment {
            id: ctx.new_id(),
            post: self.post,
            author: self.author,
            body: self.body.clone(),
            created_at: ctx.now(),
        };
        tx.insert_comment(&comment)?;
        tx.append(
            &NewEvent {
                topic: Topic::LockerRoom,
                kind: EventKind::CommentCreated,
                actor: Some(self.author),
                team,
                subject: self.post.as_uuid(),
                object: Some(comment.id.as_uuid()),
            },
            ctx.now(),
        )?;
        // The insert locked the author's account; the row is visible only if the account is active.
        let comment = tx
            .comment(self.post, comment.id, Some(self.author))?
            .ok_or(Failure::Refused(CreateCommentRefusal::NotActive))?;
        Ok(CommentCreated { comment, comment_count })
    }
}
