//! Blocks a user, or removes the block. While a block exists, neither user sees the other.

use crate::graph::follow_user::{FollowRefusal, append_follow_event, end_follow, lock};
use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, EventKind, Failure, Outcome, UserId};

/// Blocks a user and ends the follows in both directions. A blocked user may block the other one too, and then stays
/// hidden when the first block is removed.
#[derive(Debug, Clone)]
pub struct BlockUser {
    /// The user who blocks.
    pub fan: UserId,
    /// The user to block.
    pub other: UserId,
}

/// Removes a block; no effect if there is none. The follows are not restored.
#[derive(Debug, Clone)]
pub struct UnblockUser {
    /// The user who blocked.
    pub fan: UserId,
    /// The blocked user.
    pub other: UserId,
}

/// Why a user was not blocked, or a block not removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockRefusal {
    /// The other account is the caller's own.
    Oneself,
    /// The other account is unknown, deleted or suspended, or, if there is no block to remove, blocks the caller. The
    /// refusal does not distinguish these cases.
    NotFound,
    /// The caller's account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl From<FollowRefusal> for BlockRefusal {
    fn from(refusal: FollowRefusal) -> Self {
        match refusal {
            FollowRefusal::Oneself => Self::Oneself,
            FollowRefusal::NotFound => Self::NotFound,
            FollowRefusal::NotActive => Self::NotActive,
        }
    }
}

impl Command for BlockUser {
    const NAME: &'static str = "block_user";
    type Output = ();
    type Refusal = BlockRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), BlockRefusal> {
        // A concurrent follow of either user has committed before this lock, or will see the block.
        lock(tx, self.fan, self.other).map_err(|failure| failure.map(BlockRefusal::from))?;
        if tx.insert_block(self.fan, self.other, ctx.now())? {
            end_follow(tx, ctx, self.fan, self.other)?;
            end_follow(tx, ctx, self.other, self.fan)?;
            append_follow_event(tx, ctx, EventKind::UserBlocked, self.fan, self.other)?;
        }
        Ok(())
    }
}

impl Command for UnblockUser {
    const NAME: &'static str = "unblock_user";
    type Output = ();
    type Refusal = BlockRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), BlockRefusal> {
        if self.fan == self.other {
            return Err(Failure::Refused(BlockRefusal::Oneself));
        }
        if tx.delete_block(self.fan, self.other)? {
            append_follow_event(tx, ctx, EventKind::UserUnblocked, self.fan, self.other)?;
            return Ok(());
        }
        // A hidden user must be indistinguishable from one that does not exist.
        let seen = tx.public_profile(self.other)?.is_some() && !tx.ties(self.fan, self.other)?.hidden;
        if seen { Ok(()) } else { Err(Failure::Refused(BlockRefusal::NotFound)) }
    }
}
