//! Reactions to posts (spec §1 rule 2).

use crate::room::reaction_batch::set_reactions;
use crate::store::{Batched, Command, RoomTx};
use terrace_identity::AuthorCard;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, PostId, StoreError, TeamId, Topic, UserId};
use terrace_social::{PostView, ReactionCounts, ReactionKind};

/// Sets or removes a fan's reaction to a post. A fan has at most one: the same kind changes nothing, another kind
/// replaces it.
#[derive(Debug, Clone)]
pub struct React {
    /// Fan who reacts.
    pub fan: UserId,
    /// Post that is reacted to.
    pub post: PostId,
    /// New kind of reaction; `None` removes the reaction.
    pub kind: Option<ReactionKind>,
}

/// Why a reaction was not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReactRefusal {
    /// The post does not exist, or no longer exists.
    PostNotFound,
    /// The fan's account was deleted or suspended in the meantime.
    NotActive,
}

impl React {
    /// The event of a changed reaction to a post in the room of `team`.
    pub(super) fn changed(&self, team: Option<TeamId>) -> NewEvent {
        NewEvent {
            topic: Topic::LockerRoom,
            kind: EventKind::ReactionChanged,
            actor: Some(self.fan),
            team,
            subject: self.post.as_uuid(),
            object: None,
        }
    }
}

impl Command for React {
    const NAME: &'static str = "react";
    type Ports = dyn RoomTx;
    type Output = PostView<AuthorCard>;
    type Refusal = ReactRefusal;

    fn batches(&self) -> bool {
        true
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn RoomTx) -> Result<Batched<Self>, StoreError> {
        set_reactions(batch, tx)
    }

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        let post =
            tx.lock_post(self.post, Some(self.fan))?.ok_or(Failure::Refused(ReactRefusal::PostNotFound))?;
        let before = tx.reaction(post.id, self.fan)?;
        if let Some(change) = ReactionCounts::change(before, self.kind) {
            if !tx.set_reaction(post.id, self.fan, self.kind, ctx.now())? {
                return Err(Failure::Refused(ReactRefusal::NotActive));
            }
            tx.add_to_reaction_counts(post.id, &change)?;
            tx.append(&self.changed(post.team), ctx.now())?;
        }
        // The author's account may have been deleted since the lock.
        tx.post(post.id, Some(self.fan))?.ok_or(Failure::Refused(ReactRefusal::PostNotFound))
    }
}
