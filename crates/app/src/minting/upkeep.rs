//! Operators' actions on the outbox: report what was minted before there was a minter, and retry failed messages.

use crate::App;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::minting::MintingStanding;
use crate::store::{Command, Query, into_infallible};
use crate::store::{ReadTx, Tx};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId};

/// Maximum number of rows written by one transaction.
const PORTION: u32 = 500;
/// Number of fans whose accounts one transaction locks.
const FANS: u32 = 200;

/// The outcome of a retry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MintingRetried {
    /// Messages that had been set aside and are pending again.
    pub messages: u64,
    /// Fans whose messages were paused and are sent next.
    pub fans: u64,
}

impl App {
    /// Adds to the outbox what fans own and no message reports: openings before there was a minter, or in processes
    /// without one. Returns the number of messages. May be stopped and run again at any time, also while packs are
    /// opened.
    ///
    /// # Errors
    ///
    /// If the database is unavailable.
    pub async fn mint_earlier(&self) -> Result<u64, StoreError> {
        self.hand_earlier(&TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
    }

    /// [`App::mint_earlier`] in the context of a maintenance task.
    pub(crate) async fn hand_earlier(&self, pace: &TaskContext) -> Result<u64, TaskFailure> {
        let (mut after, mut handed) = (None, 0);
        loop {
            let fans = into_infallible(self.query(FindFansWithoutMessages { after }).await)?;
            let Some(last) = fans.last().copied() else { return Ok(handed) };
            handed += pace.drain(self, PORTION, || HandEarlier { fans: fans.clone() }).await?;
            after = Some(last);
        }
    }

    /// Makes everything due that was set aside or is paused: for when the minter is available again, or accepts what
    /// it had refused.
    ///
    /// # Errors
    ///
    /// If the database is unavailable.
    pub async fn retry_minting(&self) -> Result<MintingRetried, StoreError> {
        let messages = self.in_portions(Retry::SetAside).await?;
        let fans = self.in_portions(Retry::Lanes).await?;
        Ok(MintingRetried { messages, fans })
    }

    async fn in_portions(&self, what: Retry) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let portion = into_infallible(self.execute(what).await)?;
            all += portion;
            if portion < u64::from(PORTION) {
                return Ok(all);
            }
        }
    }
}

/// Reads the state of the outbox.
pub(super) struct ReadMinting;

impl Query for ReadMinting {
    const NAME: &'static str = "read_minting";
    type Output = MintingStanding;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<MintingStanding, Infallible> {
        Ok(tx.minting_standing()?)
    }
}

struct FindFansWithoutMessages {
    after: Option<UserId>,
}

impl Query for FindFansWithoutMessages {
    const NAME: &'static str = "find_fans_without_messages";
    type Output = Vec<UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Vec<UserId>, Infallible> {
        Ok(tx.fans_without_messages(self.after, FANS)?)
    }
}

struct HandEarlier {
    fans: Vec<UserId>,
}

impl Command for HandEarlier {
    const NAME: &'static str = "hand_earlier_to_minter";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        // Locks before any read: no pack of these fans is opened or revoked until the transaction ends.
        tx.hold_fans(&self.fans)?;
        Ok(tx.hand_earlier_to_minter(&self.fans, PORTION, ctx.now())?)
    }
}

#[derive(Clone, Copy)]
enum Retry {
    SetAside,
    Lanes,
}

impl Command for Retry {
    const NAME: &'static str = "retry_minting";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match self {
            Self::SetAside => tx.retry_set_aside(ctx.now(), PORTION)?,
            Self::Lanes => tx.hasten_lanes(ctx.now(), PORTION)?,
        })
    }
}
