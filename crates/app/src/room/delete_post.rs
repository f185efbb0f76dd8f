//! Deletion of a post by its author.

use crate::platform::{PORTION, Progress};
use crate::store::{Command, RoomTx};
use terrace_kernel::{Ctx, Event, EventKind, Failure, NewEvent, Outcome, PostId, StoreError, Topic, UserId};

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
        tx.mark_post_deleted(post.id, ctx.now())?;
        tx.append(
            &NewEvent {
                topic: Topic::LockerRoom,
                kind: EventKind::PostDeleted,
                actor: Some(self.user),
                team: post.team,
                subject: post.id.as_uuid(),
                object: None,
            },
            ctx.now(),
        )?;
        Ok(())
    }
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
