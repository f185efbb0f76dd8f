//! The steps of the room in the erasure of an account.

use crate::account_data::{ErasureStep, append_events};
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, EventKind, NewEvent, StoreError, Topic, UserId};
use terrace_social::{ErasedComment, ErasedPost};

pub(crate) const ERASURE: &[ErasureStep] = &[posts, comments, reactions, likes, reports, reports_on];

/// Marks posts as deleted. The job that removes deleted posts then removes them with everything that refers to them.
fn posts(tx: &mut dyn ErasureTx, ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    let posts = tx.erase_posts(user, limit, ctx.now())?;
    append_events(tx, ctx, posts.reported.into_iter().map(|post| post_deleted(user, post)))?;
    Ok(posts.found)
}

fn comments(tx: &mut dyn ErasureTx, ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    let comments = tx.erase_comments(user, limit)?;
    append_events(tx, ctx, comments.reported.into_iter().map(|comment| comment_deleted(user, comment)))?;
    Ok(comments.found)
}

fn reactions(tx: &mut dyn ErasureTx, ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    let reactions = tx.erase_reactions(user, limit)?;
    append_events(tx, ctx, reactions.reported.into_iter().map(|post| reaction_changed(user, post)))?;
    Ok(reactions.found)
}

fn likes(tx: &mut dyn ErasureTx, ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    let likes = tx.erase_likes(user, limit)?;
    append_events(tx, ctx, likes.reported.into_iter().map(|comment| comment_liked(user, comment)))?;
    Ok(likes.found)
}

/// Reports are removed because their reasons are text written by the reporter.
fn reports(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    tx.erase_reports(user, limit)
}

/// Reports of the account's content are removed because they keep its text. This is after the content itself, so that
/// there are no new ones.
fn reports_on(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    tx.erase_reports_on(user, limit)
}

pub(super) fn post_deleted(actor: UserId, ErasedPost { post, team }: ErasedPost) -> NewEvent {
    NewEvent {
        topic: Topic::LockerRoom,
        kind: EventKind::PostDeleted,
        actor: Some(actor),
        team,
        subject: post.as_uuid(),
        object: None,
    }
}

pub(super) fn comment_deleted(
    actor: UserId,
    ErasedComment { post, team, comment }: ErasedComment,
) -> NewEvent {
    NewEvent {
        kind: EventKind::CommentDeleted,
        object: Some(comment.as_uuid()),
        ..post_deleted(actor, ErasedPost { post, team })
    }
}

fn comment_liked(actor: UserId, comment: ErasedComment) -> NewEvent {
    NewEvent { kind: EventKind::CommentLiked, ..comment_deleted(actor, comment) }
}

fn reaction_changed(actor: UserId, post: ErasedPost) -> NewEvent {
    NewEvent { kind: EventKind::ReactionChanged, ..post_deleted(actor, post) }
}
