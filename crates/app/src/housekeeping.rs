//! Removal of rows past their retention.

use crate::App;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::media::{Shards, SweptMedia};
use crate::minting::DELIVERED_STAY;
use crate::platform::{CountExpired, Job};
use crate::store::{Command, Retention, Tx, into_infallible};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};

/// Maximum number of rows that one transaction removes.
const PORTION: u32 = 500;
/// Period of the jobs.
const EVERY: Duration = Duration::from_mins(10);
/// Retention of ended sessions, so that the reuse of a copied refresh token is recognized.
const ENDED_SESSIONS_STAY: Duration = Duration::from_hours(7 * 24);
/// Retention of payment notices, by which a redelivered event is recognized: longer than any provider redelivers
/// events, disputed payments included.
const NOTICES_STAY: Duration = Duration::from_hours(400 * 24);
/// Retention of an interrupted import, during which it can be resumed.
const IMPORTS_WAIT: Duration = Duration::from_hours(7 * 24);
/// Retention of maintenance runs: a year can be compared with the one before.
const RUNS_STAY: Duration = Duration::from_hours(400 * 24);

/// The jobs that remove rows past their retention.
pub(crate) fn jobs() -> Vec<Job> {
    let rows = [
        ("sweep-idempotency-keys", Retention::IdempotencyKeys),
        ("sweep-sessions", Retention::Sessions),
        ("sweep-events", Retention::Events),
        ("sweep-minting", Retention::Minting),
        ("sweep-notices", Retention::Notices),
        ("sweep-imports", Retention::Imports),
    ]
    .map(|(name, what)| {
        Job::new(name, EVERY, move |app| async move {
            let swept = app.sweep_all(what, &TaskContext::unwatched()).await;
            let removed = swept.map_err(TaskFailure::into_store)?;
            if removed > 0 {
                log::info!("{name} removed {removed} rows");
            }
            Ok(())
        })
    });
    let media = Job::new("sweep-media", EVERY, |app| async move {
        let swept = app.sweep_media(Shards::DueAt(app.now()), &TaskContext::unwatched()).await;
        let swept = swept.map_err(TaskFailure::into_store)?;
        if swept != SweptMedia::default() {
            log::info!("sweep-media removed {swept:?}");
        }
        Ok(())
    });
    rows.into_iter().chain([media]).collect()
}

/// Number of rows removed, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Idempotency keys with their answers.
    pub idempotency_keys: u64,
    /// Sessions and tokens.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Messages that the minter has accepted.
    pub minting: u64,
    /// Notices of payment providers.
    pub notices: u64,
    /// Rows of imports that were abandoned.
    pub imports: u64,
    /// Runs of maintenance.
    pub runs: u64,
    /// Uploads that expired without a post.
    pub uploads: u64,
    /// Pictures without references.
    pub pictures: u64,
    /// Objects without a picture.
    pub objects: u64,
}

impl App {
    /// Removes everything past its retention, in small transactions.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        self.sweep_at(&TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
    }

    async fn sweep_at(&self, pace: &TaskContext) -> Result<Swept, TaskFailure> {
        let media = self.sweep_media(Shards::All, pace).await?;
        Ok(Swept {
            idempotency_keys: self.sweep_all(Retention::IdempotencyKeys, pace).await?,
            sessions: self.sweep_all(Retention::Sessions, pace).await?,
            events: self.sweep_all(Retention::Events, pace).await?,
            minting: self.sweep_all(Retention::Minting, pace).await?,
            notices: self.sweep_all(Retention::Notices, pace).await?,
            imports: self.sweep_all(Retention::Imports, pace).await?,
            runs: self.sweep_all(Retention::Runs, pace).await?,
            uploads: media.uploads,
            pictures: media.pictures,
            objects: media.objects,
        })
    }

    /// Removes rows of one kind that are past their retention; returns how many.
    pub(crate) async fn sweep_all(&self, what: Retention, pace: &TaskContext) -> Result<u64, TaskFailure> {
        let before = self.now().minus(match what {
            Retention::IdempotencyKeys => self.config.idempotency_life,
            Retention::Sessions => ENDED_SESSIONS_STAY,
            Retention::Events => self.config.event_life,
            Retention::Minting => DELIVERED_STAY,
            Retention::Notices => NOTICES_STAY,
            Retention::Imports => IMPORTS_WAIT,
            Retention::Runs => RUNS_STAY,
            // Handled by `sweep_media`.
            Retention::Uploads | Retention::Pictures => return Ok(0),
        });
        if pace.is_task() {
            pace.go_on()?;
            let count = into_infallible(self.query(CountExpired { what, before }).await)?;
            if pace.is_dry() {
                return Ok(count);
            }
            pace.expect(count);
        }
        pace.drain(self, PORTION, || Sweep { what, before }).await
    }
}

/// Removes one portion.
struct Sweep {
    what: Retention,
    before: Timestamp,
}

impl Command for Sweep {
    const NAME: &'static str = "sweep";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match self.what {
            Retention::IdempotencyKeys => tx.sweep_idempotency(self.before, PORTION)?,
            Retention::Sessions => tx.remove_ended_sessions(self.before, PORTION)?,
            Retention::Events => tx.sweep_events(self.before, PORTION)?,
            Retention::Minting => tx.sweep_minting(self.before, PORTION)?,
            Retention::Notices => tx.sweep_notices(self.before, PORTION)?,
            Retention::Imports => tx.sweep_imports(self.before, PORTION)?,
            Retention::Runs => tx.sweep_maintenance(self.before, PORTION)?,
            Retention::Uploads | Retention::Pictures => 0,
        })
    }
}
