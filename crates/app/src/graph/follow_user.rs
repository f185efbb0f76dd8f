//! Follows somebody, or does so no more (spec §1 rule 3).

use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, Topic, UserId};
use terrace_social::LockedPair;

/// Follows somebody; who does so already goes on, and nothing happens.
#[derive(Debug, Clone)]
pub struct FollowUser {
    /// Who follows.
    pub fan: UserId,
    /// Whom.
    pub other: UserId,
}

/// Follows somebody no more; who does not follow them goes on like that, and nothing happens.
#[derive(Debug, Clone)]
pub struct UnfollowUser {
    /// Who followed.
    pub fan: UserId,
    /// Whom.
    pub other: UserId,
}

/// How it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Following {
    /// Whether the fan follows.
    pub following: bool,
    /// How many fans follow the same.
    pub follower_count: i64,
}

/// Why nothing was changed between two fans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowRefusal {
    /// The two are one.
    Oneself,
    /// There is no such fan, or none that may be seen: unknown, deleted, put aside, or one of the two blocks the
    /// other. Which of these is not told.
    NotFound,
    /// The account of who asks was deleted or suspended meanwhile.
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
            tell(tx, ctx, EventKind::UserFollowed, self.fan, self.other)?;
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

/// Locks the two, or says why the first may do nothing to the second.
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

/// An edge that is locked and did not change: there is none either where one of the two blocks the other.
fn refuse_hidden(tx: &mut dyn Tx, fan: UserId, other: UserId) -> Outcome<(), FollowRefusal> {
    if tx.ties(fan, other)?.hidden { Err(Failure::Refused(FollowRefusal::NotFound)) } else { Ok(()) }
}

/// Ends that `fan` follows `other`, both of whom are locked, with its counters and its event; says whether they did.
pub(crate) fn end_follow(tx: &mut dyn Tx, ctx: &Ctx, fan: UserId, other: UserId) -> Result<bool, StoreError> {
    if !tx.delete_follow(fan, other)? {
        return Ok(false);
    }
    tx.add_to_follow_counts(fan, other, -1)?;
    tell(tx, ctx, EventKind::UserUnfollowed, fan, other)?;
    Ok(true)
}

/// Tells what `actor` did to `other`.
pub(crate) fn tell(
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
