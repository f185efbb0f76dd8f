//! Operators' actions on the outbox: report what was minted before there was a minter, and retry failed messages.

use crate::maintenance::{TaskContext, TaskFailure};
use std::convert::Infallible;
use terrace_app::App;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId};
use terrace_store::minting::{MintingRead, MintingUpkeep};
use terrace_store::{Command, OpsTx, Query, into_infallible};

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

/// Adds to the outbox what fans own and no message reports: openings before there was a minter, or in processes
/// without one. Returns the number of messages. May be stopped and run again at any time, also while packs are
/// opened.
///
/// # Errors
///
/// If the database is unavailable.
pub async fn mint_earlier(app: &App) -> Result<u64, StoreError> {
    hand_earlier(app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
}

/// [`mint_earlier`] in the context of a maintenance task.
pub(crate) async fn hand_earlier(app: &App, pace: &TaskContext) -> Result<u64, TaskFailure> {
    let (mut after, mut handed) = (None, 0);
    loop {
        let fans = into_infallible(app.query(FindFansWithoutMessages { after }).await)?;
        let Some(last) = fans.last().copied() else { return Ok(handed) };
        handed += pace.drain(app, PORTION, || HandEarlier { fans: fans.clone() }).await?;
        after = Some(last);
    }
}

/// Makes everything due that was set aside or is paused: for when the minter is available again, or accepts what
/// it had refused.
///
/// # Errors
///
/// If the database is unavailable.
pub async fn retry_minting(app: &App) -> Result<MintingRetried, StoreError> {
    let pace = TaskContext::unwatched();
    let retry = async |what: Retry| pace.drain(app, PORTION, || what).await.map_err(TaskFailure::into_store);
    Ok(MintingRetried { messages: retry(Retry::SetAside).await?, fans: retry(Retry::Lanes).await? })
}

struct FindFansWithoutMessages {
    after: Option<UserId>,
}

impl Query for FindFansWithoutMessages {
    const NAME: &'static str = "find_fans_without_messages";
    type Ports = dyn MintingRead;
    type Output = Vec<UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn MintingRead, _now: Timestamp) -> Outcome<Vec<UserId>, Infallible> {
        Ok(tx.fans_without_messages(self.after, FANS)?)
    }
}

struct HandEarlier {
    fans: Vec<UserId>,
}

impl Command for HandEarlier {
    const NAME: &'static str = "hand_earlier_to_minter";
    type Ports = dyn OpsTx;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
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
    type Ports = dyn MintingUpkeep;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn MintingUpkeep, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match self {
            Self::SetAside => tx.retry_set_aside(ctx.now(), PORTION)?,
            Self::Lanes => tx.hasten_lanes(ctx.now(), PORTION)?,
        })
    }
}
