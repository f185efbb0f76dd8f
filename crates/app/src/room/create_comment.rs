//! Comments on a post (spec §1 rule 2).

use crate::room::comment_batch::create_comments;
use crate::room::mentions::mentions_in;
use crate::store::{Batched, Command, RoomTx};
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Ctx, EventKind, Failure, NewEvent, Outcome, PostId, StoreError, TeamId, Topic, UserId,
};
use terrace_social::{Comment, NewComment};

/// Creates a comment and increments the post's counter, in one transaction.
#[derive(Debug, Clone)]
pub struct CreateComment {
    pub author: UserId,
    /// Post that the comment belongs to.
    pub post: PostId,
    /// Text, validated by `terrace_social::comment_body`.
    pub body: String,
}

/// Result of creating a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentCreated {
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

    fn batches(&self) -> bool {
        true
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn RoomTx) -> Result<Batched<Self>, StoreError> {
        create_comments(batch, tx)
    }

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        let counted = tx
            .count_comment(self.post, self.author)?
            .ok_or(Failure::Refused(CreateCommentRefusal::PostNotFound))?;
        self.insert(tx, ctx, counted, None)?.ok_or(Failure::Refused(CreateCommentRefusal::NotActive))
    }
}

impl CreateComment {
    /// The comment, created now.
    pub(super) fn comment(&self, reply_to: Option<CommentId>, ctx: &mut Ctx) -> NewComment {
        NewComment {
            id: ctx.new_id(),
            post: self.post,
            author: self.author,
            reply_to,
            body: self.body.clone(),
            created_at: ctx.now(),
        }
    }

    /// The event of a new comment on a post in the room of `team`.
    pub(super) fn created(comment: &NewComment, team: Option<TeamId>) -> NewEvent {
        NewEvent {
            topic: Topic::LockerRoom,
            kind: EventKind::CommentCreated,
            actor: Some(comment.author),
            team,
            subject: comment.post.as_uuid(),
            object: Some(comment.id.as_uuid()),
        }
    }

    /// Inserts the comment into a post that has counted it; `None` if the author's account is no longer active.
    fn insert(
        &self,
        tx: &mut dyn RoomTx,
        ctx: &mut Ctx,
        (team, comment_count): (Option<TeamId>, i64),
        reply_to: Option<CommentId>,
    ) -> Result<Option<CommentCreated>, StoreError> {
        let comment = self.comment(reply_to, ctx);
        tx.insert_comment(&comment)?;
        let mentions = mentions_in(tx, &self.body, self.author)?;
        if !mentions.is_empty() {
            tx.set_comment_mentions(comment.id, &mentions)?;
        }
        tx.append(&Self::created(&comment, team), comment.created_at)?;
        // The insert locked the author's account; the row is visible only if the account is active.
        let comment = tx.comment(self.post, comment.id, Some(self.author))?;
        Ok(comment.map(|comment| CommentCreated { comment, comment_count }))
    }
}

/// Creates a comment as a reply to another comment of the same post. A reply to a reply becomes a reply to the same
/// comment.
#[derive(Debug, Clone)]
pub struct CreateReply {
    pub comment: CreateComment,
    /// Comment that it replies to.
    pub reply_to: CommentId,
}

/// Why a reply was not created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateReplyRefusal {
    /// The comment was not created.
    Comment(CreateCommentRefusal),
    /// The post has no comment with this id that is visible to the author.
    UnknownComment,
}

impl Command for CreateReply {
    const NAME: &'static str = "create_reply";
    type Ports = dyn RoomTx;
    type Output = CommentCreated;
    type Refusal = CreateReplyRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        let CreateComment { post, author, .. } = self.comment;
        let refused = |refusal| Failure::Refused(CreateReplyRefusal::Comment(refusal));
        // Locks the post, so that the other comment is not deleted meanwhile.
        let counted =
            tx.count_comment(post, author)?.ok_or_else(|| refused(CreateCommentRefusal::PostNotFound))?;
        let parent = tx
            .comment(post, self.reply_to, Some(author))?
            .ok_or(Failure::Refused(CreateReplyRefusal::UnknownComment))?;
        let parent = parent.reply_to.unwrap_or(parent.id);
        let created = self.comment.insert(tx, ctx, counted, Some(parent))?;
        created.ok_or_else(|| refused(CreateCommentRefusal::NotActive))
    }
}
