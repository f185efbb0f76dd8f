//! Deletion of a post by its author.

use crate::platform::{PORTION, Progress};
use crate::room::erasure::post_deleted;
use crate::store::{Command, RoomTx};
use terrace_kernel::{Ctx, Event, Failure, Outcome, PostId, StoreError, UserId};
use terrace_social::ErasedPost;

/// Deletes a post: it is hidden at once; after the commit, the consumer of `post.deleted` removes its comments and
/// reactions in portions, so that deleting a popular post does not block other writers.
#[derive(Debug, Clone)]
pub struct DeletePost {
    /// Account that requests the deletion.
    pub user: UserId,
    /// Post to delete.
    pub post: PostId,
}

/// Why a post was not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletePostRefusal {
    /// The post does not exist, or no longer exists.
    NotFound,
    /// Another account wrote it.
    NotYours,
}

impl Command for DeletePost {
    const NAME: &'static str = "delete_post";
    type Ports = dyn RoomTx;
    type Output = ();
    type Refusal = DeletePostRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<(), DeletePostRefusal> {
        let post =
            tx.lock_post(self.post, Some(self.user))?.ok_or(Failure::Refused(DeletePostRefusal::NotFound))?;
        if post.author != self.user {
            return Err(Failure::Refused(DeletePostRefusal::NotYours));
        }
        delete_locked_post(tx, ctx, ErasedPost { post: post.id, team: post.team }, post.author)?;
        Ok(())
    }
}

/// Deletes a post as its author does. The caller holds the lock on the post.
pub fn delete_locked_post(
    tx: &mut dyn RoomTx,
    ctx: &Ctx,
    post: ErasedPost,
    author: UserId,
) -> Result<(), StoreError> {
    tx.mark_post_deleted(post.post, ctx.now())?;
    tx.append(&post_deleted(author, post), ctx.now())
}

/// Removes the rows of a deleted post, a portion in each transaction.
pub(crate) fn remove_deleted_post(
    tx: &mut dyn RoomTx,
    _ctx: &mut Ctx,
    event: &Event,
) -> Result<Progress, StoreError> {
    let post = PostId::from_uuid(event.what.subject);
    Ok(if tx.remove_deleted_post(post, PORTION)? { Progress::Done } else { Progress::More })
}
