//! Comments on a post (spec §1 rule 2).

use crate::store::Command;
use crate::store::Tx;
use terrace_identity::AuthorCard;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, PostId, Topic, UserId};
use terrace_social::{Comment, NewComment};

/// Creates a comment and counts it, together.
#[derive(Debug, Clone)]
pub struct CreateComment {
    /// Who writes it.
    pub author: UserId,
    /// The post that it is a child of.
    pub post: PostId,
    /// Its text, checked by `terrace_social::comment_body`.
    pub body: String,
}

/// A comment that was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentCreated {
    /// The comment.
    pub comment: Comment<AuthorCard>,
    /// How many comments the post has now.
    pub comment_count: i64,
}

/// Why a comment was not created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateCommentRefusal {
    /// There is no such post (any more).
    PostNotFound,
    /// The author's account was deleted or suspended meanwhile.
    NotActive,
}

impl Command for CreateComment {
    const NAME: &'static str = "create_comment";
    type Output = CommentCreated;
    type Refusal = CreateCommentRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
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
        // The row holds the author's account since it was inserted: that it is shown says that the account is active.
        let comment = tx
            .comment(self.post, comment.id, Some(self.author))?
            .ok_or(Failure::Refused(CreateCommentRefusal::NotActive))?;
        Ok(CommentCreated { comment, comment_count })
    }
}
