//! Follows or unfollows a user (spec §1 rule 3).

use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, Topic, UserId};
use terrace_social::LockedPair;

/// Follows a user; no effect if already followed.
#[derive(Debug, Clone)]
pub struct FollowUser {
    /// The follower.
    pub fan: UserId,
    /// The user to follow.
    pub other: UserId,
}

/// Unfollows a user; no effect if not followed.
#[derive(Debug, Clone)]
pub struct UnfollowUser {
    /// The follower.
    pub fan: UserId,
    /// The followed user.
    pub other: UserId,
}

/// The state after the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Following {
    /// Whether the fan follows the user or team.
    pub following: bool,
    /// Number of followers of the user or team.
    pub follower_count: i64,
}

/// Why a command between two users was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowRefusal {
    /// The other account is the caller's own.
    Oneself,
    /// The other account is unknown, deleted or suspended, or one of the two blocks the other. The refusal does not
    /// distinguish these cases.
    NotFound,
    /// The caller's account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for FollowUser {
    const NAME: &'static str = "follow_user";
    type Output = Following;
    type Refusal = FollowRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Following, FollowRefusal> {
        let pair = lock(tx, self.fan, self.other)?;
        let mut follower_count = pair.other_followers;
        if tx.insert_follow(self.fan, self.other, ctx.now())? {
            tx.add_to_follow_counts(self.fan, self.other, 1)?;
            append_follow_event(tx, ctx, EventKind::UserFollowed, self.fan, self.other)?;
            follower_count = follower_count.saturating_add(1);
        } else {
            refuse_hidden(tx, self.fan, self.other)?;
        }
        Ok(Following { following: true, follower_count })
    }
}

impl Command for UnfollowUser {
    const NAME: &'static str = "unfollow_user";
    type Output = Following;
    type Refusal = FollowRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Following, FollowRefusal> {
        let pair = lock(tx, self.fan, self.other)?;
        let mut follower_count = pair.other_followers;
        if end_follow(tx, ctx, self.fan, self.other)? {
            follower_count = follower_count.saturating_sub(1);
        } else {
            refuse_hidden(tx, self.fan, self.other)?;
        }
        Ok(Following { following: false, follower_count })
    }
}

/// Locks both accounts, or refuses if the first may not act on the second.
pub(crate) fn lock(tx: &mut dyn Tx, fan: UserId, other: UserId) -> Outcome<LockedPair, FollowRefusal> {
    if fan == other {
        return Err(Failure::Refused(FollowRefusal::Oneself));
    }
    let not_found = || Failure::Refused(FollowRefusal::NotFound);
    let pair = tx.lock_pair(fan, other)?.ok_or_else(not_found)?;
    if !pair.actor_active {
        return Err(Failure::Refused(FollowRefusal::NotActive));
    }
    if pair.other_active { Ok(pair) } else { Err(not_found()) }
}

/// Refuses if one of the two blocks the other. Needed only if the locked edge did not change.
fn refuse_hidden(tx: &mut dyn Tx, fan: UserId, other: UserId) -> Outcome<(), FollowRefusal> {
    if tx.ties(fan, other)?.hidden { Err(Failure::Refused(FollowRefusal::NotFound)) } else { Ok(()) }
}

/// Deletes the follow of `other` by `fan`, with counters and event; returns whether it existed. Both accounts are
/// locked.
pub(crate) fn end_follow(tx: &mut dyn Tx, ctx: &Ctx, fan: UserId, other: UserId) -> Result<bool, StoreError> {
    if !tx.delete_follow(fan, other)? {
        return Ok(false);
    }
    tx.add_to_follow_counts(fan, other, -1)?;
    append_follow_event(tx, ctx, EventKind::UserUnfollowed, fan, other)?;
    Ok(true)
}

/// Appends an event for an action of `actor` on `other`.
pub(crate) fn append_follow_event(
    tx: &mut dyn Tx,
    ctx: &Ctx,
    kind: EventKind,
    actor: UserId,
    other: UserId,
) -> Result<(), StoreError> {
    let event = NewEvent {
        topic: Topic::Graph,
        kind,
        actor: Some(actor),
        team: None,
        subject: other.as_uuid(),
        object: None,
    };
    tx.append(&event, ctx.now())
}
