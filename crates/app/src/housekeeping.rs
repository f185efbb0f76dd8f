//! Removes what is past its time.

use crate::App;
use crate::execute::Command;
use crate::jobs::Job;
use crate::maintenance::{Pace, TaskFailure};
use crate::media::{Shards, SweptMedia};
use crate::minting::TOLD_STAYS;
use crate::store::Tx;
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};

/// Rows that one transaction removes at most.
const PORTION: u32 = 500;
/// How often what is past its time is looked for.
const EVERY: Duration = Duration::from_mins(10);
/// How long ended sessions stay, so that a refresh token that was copied is still known for one.
const ENDED_SESSIONS_STAY: Duration = Duration::from_hours(7 * 24);

/// The jobs that keep house.
pub(crate) fn jobs() -> Vec<Job> {
    let rows = [
        ("sweep-idempotency-keys", What::IdempotencyKeys),
        ("sweep-sessions", What::Sessions),
        ("sweep-events", What::Events),
        ("sweep-minting", What::Minting),
    ]
    .map(|(name, what)| {
        Job::new(name, EVERY, move |app| async move {
            let swept = app.sweep_all(what, &Pace::unwatched()).await;
            let removed = swept.map_err(TaskFailure::into_store)?;
            if removed > 0 {
                log::info!("{name} removed {removed} rows");
            }
            Ok(())
        })
    });
    let media = Job::new("sweep-media", EVERY, |app| async move {
        let swept = app.sweep_media(Shards::DueAt(app.now()), &Pace::unwatched()).await;
        let swept = swept.map_err(TaskFailure::into_store)?;
        if (SweptMedia { noted: 0, ..swept }) != SweptMedia::default() {
            log::info!("sweep-media removed {swept:?}");
        }
        Ok(())
    });
    rows.into_iter().chain([media]).collect()
}

/// How much was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Idempotency keys with their answers.
    pub idempotency_keys: u64,
    /// Sessions and tokens.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Messages that the minter has taken.
    pub minting: u64,
    /// Uploads that no post took.
    pub uploads: u64,
    /// Pictures that nothing referred to.
    pub pictures: u64,
    /// Objects that no picture lay in.
    pub objects: u64,
}

impl App {
    /// Removes everything that is past its time, in small transactions.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        self.sweep_at(&Pace::unwatched()).await.map_err(TaskFailure::into_store)
    }

    async fn sweep_at(&self, pace: &Pace) -> Result<Swept, TaskFailure> {
        let media = self.sweep_media(Shards::All, pace).await?;
        Ok(Swept {
            idempotency_keys: self.sweep_all(What::IdempotencyKeys, pace).await?,
            sessions: self.sweep_all(What::Sessions, pace).await?,
            events: self.sweep_all(What::Events, pace).await?,
            minting: self.sweep_all(What::Minting, pace).await?,
            uploads: media.uploads,
            pictures: media.pictures,
            objects: media.objects,
        })
    }

    /// Removes what is past its time of one kind; says how many rows.
    pub(crate) async fn sweep_all(&self, what: What, pace: &Pace) -> Result<u64, TaskFailure> {
        let before = self.now().minus(match what {
            What::IdempotencyKeys => self.config.idempotency_life,
            What::Sessions => ENDED_SESSIONS_STAY,
            What::Events => self.config.event_life,
            What::Minting => TOLD_STAYS,
        });
        pace.drain(self, PORTION, || Sweep { what, before }).await
    }
}

/// Rows that end by themselves.
#[derive(Clone, Copy)]
pub(crate) enum What {
    IdempotencyKeys,
    Sessions,
    Events,
    Minting,
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
            What::Minting => tx.sweep_minting(self.before, PORTION)?,
        })
    }
}
