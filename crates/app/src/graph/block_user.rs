//! Blocks somebody, or lifts it: neither of the two sees the other while it stands.

use crate::graph::follow_user::{FollowRefusal, end_follow, lock, tell};
use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, EventKind, Failure, Outcome, UserId};

/// Blocks somebody and ends the follows in both directions. Whoever is blocked by them may block them too, and so
/// stays out of their sight when theirs is lifted.
#[derive(Debug, Clone)]
pub struct BlockUser {
    /// Who blocks.
    pub fan: UserId,
    /// Whom.
    pub other: UserId,
}

/// Lifts a block; where there is none, nothing happens. The follows do not come back.
#[derive(Debug, Clone)]
pub struct UnblockUser {
    /// Who blocked.
    pub fan: UserId,
    /// Whom.
    pub other: UserId,
}

/// Why somebody was not blocked, or a block was not lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockRefusal {
    /// The two are one.
    Oneself,
    /// There is no such fan: unknown, deleted or put aside, or, where there is no block to lift, one who blocks who
    /// asks. Which of these is not told.
    NotFound,
    /// The account of who asks was deleted or suspended meanwhile.
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
        // Whoever follows at the same time has done so before, or finds the block.
        lock(tx, self.fan, self.other).map_err(|failure| failure.map(BlockRefusal::from))?;
        if tx.insert_block(self.fan, self.other, ctx.now())? {
            end_follow(tx, ctx, self.fan, self.other)?;
            end_follow(tx, ctx, self.other, self.fan)?;
            tell(tx, ctx, EventKind::UserBlocked, self.fan, self.other)?;
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
            tell(tx, ctx, EventKind::UserUnblocked, self.fan, self.other)?;
            return Ok(());
        }
        // Whoever may not be seen is not told from nobody.
        let seen = tx.public_profile(self.other)?.is_some() && !tx.ties(self.fan, self.other)?.hidden;
        if seen { Ok(()) } else { Err(Failure::Refused(BlockRefusal::NotFound)) }
    }
}
