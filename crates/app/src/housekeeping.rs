//! Removes what is past its time.

use crate::App;
use crate::maintenance::{Pace, TaskFailure};
use crate::media::{Shards, SweptMedia};
use crate::minting::TOLD_STAYS;
use crate::platform::Job;
use crate::store::{Command, Query, unrefused};
use crate::store::{Past, ReadTx, Tx};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};

/// Rows that one transaction removes at most.
const PORTION: u32 = 500;
/// How often what is past its time is looked for.
const EVERY: Duration = Duration::from_mins(10);
/// How long ended sessions stay, so that a refresh token that was copied is still known for one.
const ENDED_SESSIONS_STAY: Duration = Duration::from_hours(7 * 24);
/// How long notices of payments stay, by which an event that is told again is known: longer than any provider tells of one,
/// a disputed payment included.
const NOTICES_STAY: Duration = Duration::from_hours(400 * 24);
/// How long what waits of an import stays for somebody to go on with it.
const IMPORTS_WAIT: Duration = Duration::from_hours(7 * 24);
/// How long all runs of maintenance stay: a year can be compared with the one before.
const RUNS_STAY: Duration = Duration::from_hours(400 * 24);

/// The jobs that keep house.
pub(crate) fn jobs() -> Vec<Job> {
    let rows = [
        ("sweep-idempotency-keys", Past::IdempotencyKeys),
        ("sweep-sessions", Past::Sessions),
        ("sweep-events", Past::Events),
        ("sweep-minting", Past::Minting),
        ("sweep-notices", Past::Notices),
        ("sweep-imports", Past::Imports),
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
        if swept != SweptMedia::default() {
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
    /// What payment providers told.
    pub notices: u64,
    /// Rows of imports that nobody went on with.
    pub imports: u64,
    /// Runs of maintenance.
    pub runs: u64,
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
            idempotency_keys: self.sweep_all(Past::IdempotencyKeys, pace).await?,
            sessions: self.sweep_all(Past::Sessions, pace).await?,
            events: self.sweep_all(Past::Events, pace).await?,
            minting: self.sweep_all(Past::Minting, pace).await?,
            notices: self.sweep_all(Past::Notices, pace).await?,
            imports: self.sweep_all(Past::Imports, pace).await?,
            runs: self.sweep_all(Past::Runs, pace).await?,
            uploads: media.uploads,
            pictures: media.pictures,
            objects: media.objects,
        })
    }

    /// Removes what is past its time of one kind; says how many rows.
    pub(crate) async fn sweep_all(&self, what: Past, pace: &Pace) -> Result<u64, TaskFailure> {
        let before = self.now().minus(match what {
            Past::IdempotencyKeys => self.config.idempotency_life,
            Past::Sessions => ENDED_SESSIONS_STAY,
            Past::Events => self.config.event_life,
            Past::Minting => TOLD_STAYS,
            Past::Notices => NOTICES_STAY,
            Past::Imports => IMPORTS_WAIT,
            Past::Runs => RUNS_STAY,
            // These go by `sweep_media`.
            Past::Uploads | Past::Pictures => return Ok(0),
        });
        if pace.is_task() {
            pace.go_on()?;
            let count = unrefused(self.query(CountPast { what, before }).await)?;
            if pace.is_dry() {
                return Ok(count);
            }
            pace.expect(count);
        }
        pace.drain(self, PORTION, || Sweep { what, before }).await
    }
}

/// Counts what is past its time.
pub(crate) struct CountPast {
    pub(crate) what: Past,
    pub(crate) before: Timestamp,
}

impl Query for CountPast {
    const NAME: &'static str = "count_past_its_time";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<u64, Infallible> {
        Ok(tx.past_its_time(self.what, self.before)?)
    }
}

/// Removes one portion.
struct Sweep {
    what: Past,
    before: Timestamp,
}

impl Command for Sweep {
    const NAME: &'static str = "sweep";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match self.what {
            Past::IdempotencyKeys => tx.sweep_idempotency(self.before, PORTION)?,
            Past::Sessions => tx.remove_ended_sessions(self.before, PORTION)?,
            Past::Events => tx.sweep_events(self.before, PORTION)?,
            Past::Minting => tx.sweep_minting(self.before, PORTION)?,
            Past::Notices => tx.sweep_notices(self.before, PORTION)?,
            Past::Imports => tx.sweep_imports(self.before, PORTION)?,
            Past::Runs => tx.sweep_maintenance(self.before, PORTION)?,
            Past::Uploads | Past::Pictures => 0,
        })
    }
}
