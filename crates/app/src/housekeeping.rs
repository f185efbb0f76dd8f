//! Removes what is past its time.

use crate::App;
use crate::execute::{Command, unrefused};
use crate::media::Shards;
use crate::store::Tx;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

/// Rows that one transaction removes at most.
const PORTION: u32 = 500;
/// How often one process looks for what is past its time.
const EVERY: Duration = Duration::from_mins(10);
/// How long ended sessions stay, so that a refresh token that was copied is still known for one.
const ENDED_SESSIONS_STAY: Duration = Duration::from_hours(7 * 24);
const LEASE: &str = "housekeeping";

/// How much was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Idempotency keys with their answers.
    pub idempotency_keys: u64,
    /// Sessions and tokens.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Uploads that no post took.
    pub uploads: u64,
    /// Pictures that nothing referred to.
    pub pictures: u64,
    /// Objects that no picture lay in.
    pub objects: u64,
}

impl App {
    /// Keeps house every ten minutes until `stop` turns true; of many processes, one does it.
    pub async fn run_housekeeping(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        loop {
            match self.lease_housekeeping().await {
                Ok(true) => match self.sweep_with(Shards::DueAt(self.now())).await {
                    Ok(swept) if swept == Swept::default() => {}
                    Ok(swept) => log::info!("housekeeping removed {swept:?}"),
                    Err(error) => log::warn!("housekeeping will try again: {error}"),
                },
                Ok(false) => {}
                Err(error) => log::warn!("housekeeping will try again: {error}"),
            }
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Removes everything that is past its time, in small transactions.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        self.sweep_with(Shards::All).await
    }

    async fn sweep_with(&self, shards: Shards) -> Result<Swept, StoreError> {
        let now = self.now();
        let mut swept = Swept::default();
        let keys = now.minus(self.config.idempotency_life);
        let sessions = now.minus(ENDED_SESSIONS_STAY);
        let events = now.minus(self.config.event_life);
        for (what, before, count) in [
            (What::IdempotencyKeys, keys, &mut swept.idempotency_keys),
            (What::Sessions, sessions, &mut swept.sessions),
            (What::Events, events, &mut swept.events),
        ] {
            loop {
                let removed = unrefused(self.execute(Sweep { what, before }).await)?;
                *count += removed;
                if removed < u64::from(PORTION) {
                    break;
                }
            }
        }
        let media = self.sweep_media(shards).await?;
        Ok(Swept { uploads: media.uploads, pictures: media.pictures, objects: media.objects, ..swept })
    }

    async fn lease_housekeeping(&self) -> Result<bool, StoreError> {
        unrefused(self.execute(TakeLease { name: LEASE, holder: self.process, life: EVERY * 2 }).await)
    }
}

#[derive(Clone, Copy)]
enum What {
    IdempotencyKeys,
    Sessions,
    Events,
}

/// Removes one portion.
struct Sweep {
    what: What,
    before: Timestamp,
}

impl Command for Sweep {
    const NAME: &'static str = "sweep";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match self.what {
            What::IdempotencyKeys => tx.sweep_idempotency(self.before, PORTION)?,
            What::Sessions => tx.remove_ended_sessions(self.before, PORTION)?,
            What::Events => tx.sweep_events(self.before, PORTION)?,
        })
    }
}

/// Takes or prolongs a lease.
struct TakeLease {
    name: &'static str,
    holder: Uuid,
    life: Duration,
}

impl Command for TakeLease {
    const NAME: &'static str = "take_lease";
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.take_lease(self.name, self.holder, ctx.now(), ctx.now().plus(self.life))?)
    }
}
