//! Removal of rows past their retention.

use crate::count_expired::CountExpired;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::media::{Shards, SweptMedia, sweep_media};
use std::convert::Infallible;
use std::time::Duration;
use terrace_app::minting::DELIVERED_STAY;
use terrace_app::{App, Job};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use terrace_shop::CART_LIFE;
use terrace_social::REPORT_LIFE;
use terrace_store::{Command, OpsTx, Retention, into_infallible};

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
        ("sweep-reports", Retention::Reports),
        ("sweep-carts", Retention::Carts),
        ("sweep-notifications", Retention::Notifications),
        ("sweep-push", Retention::Push),
    ]
    .map(|(name, what)| {
        Job::new(name, EVERY, move |app| async move {
            let swept = sweep_all(&app, what, &TaskContext::unwatched()).await;
            let removed = swept.map_err(TaskFailure::into_store)?;
            if removed > 0 {
                log::info!("{name} removed {removed} rows");
            }
            Ok(())
        })
    });
    let media = Job::new("sweep-media", EVERY, |app| async move {
        let swept = sweep_media(&app, Shards::DueAt(app.now()), &TaskContext::unwatched()).await;
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
    pub events: u64,
    /// Messages that the minter has accepted.
    pub minting: u64,
    /// Notices of payment providers.
    pub notices: u64,
    /// Rows of imports that were abandoned.
    pub imports: u64,
    /// Runs of maintenance.
    pub runs: u64,
    /// Reports that were not decided in time.
    pub reports: u64,
    /// Carts that were not changed for 90 days.
    pub carts: u64,
    /// Notifications that expired, and who caused them.
    pub notifications: u64,
    /// Push messages that expired, and subscriptions of expired sessions.
    pub push: u64,
    /// Uploads that expired without a post.
    pub uploads: u64,
    /// Pictures without references.
    pub pictures: u64,
    /// Objects without a picture.
    pub objects: u64,
}

/// Removes everything past its retention, in small transactions.
pub async fn sweep(app: &App) -> Result<Swept, StoreError> {
    sweep_at(app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
}

async fn sweep_at(app: &App, pace: &TaskContext) -> Result<Swept, TaskFailure> {
    let reports = sweep_all(app, Retention::Reports, pace).await?;
    let carts = sweep_all(app, Retention::Carts, pace).await?;
    let notifications = sweep_all(app, Retention::Notifications, pace).await?;
    let push = sweep_all(app, Retention::Push, pace).await?;
    let media = sweep_media(app, Shards::All, pace).await?;
    Ok(Swept {
        idempotency_keys: sweep_all(app, Retention::IdempotencyKeys, pace).await?,
        sessions: sweep_all(app, Retention::Sessions, pace).await?,
        events: sweep_all(app, Retention::Events, pace).await?,
        minting: sweep_all(app, Retention::Minting, pace).await?,
        notices: sweep_all(app, Retention::Notices, pace).await?,
        imports: sweep_all(app, Retention::Imports, pace).await?,
        runs: sweep_all(app, Retention::Runs, pace).await?,
        reports,
        carts,
        notifications,
        push,
        uploads: media.uploads,
        pictures: media.pictures,
        objects: media.objects,
    })
}

/// Removes rows of one kind that are past their retention; returns how many.
pub(crate) async fn sweep_all(app: &App, what: Retention, pace: &TaskContext) -> Result<u64, TaskFailure> {
    let before = app.now().minus(match what {
        Retention::IdempotencyKeys => app.config().idempotency_life,
        Retention::Sessions => ENDED_SESSIONS_STAY,
        Retention::Events => app.config().event_life,
        Retention::Minting => DELIVERED_STAY,
        Retention::Notices => NOTICES_STAY,
        Retention::Imports => IMPORTS_WAIT,
        Retention::Runs => RUNS_STAY,
        Retention::Reports => REPORT_LIFE,
        Retention::Carts => CART_LIFE,
        // Rows have the instant at which they expire.
        Retention::Push | Retention::Notifications => Duration::ZERO,
        // Handled by `sweep_media`.
        Retention::Uploads | Retention::Pictures => return Ok(0),
    });
    if pace.is_task() {
        pace.go_on()?;
        let count = into_infallible(app.query(CountExpired { what, before }).await)?;
        if pace.is_dry() {
            return Ok(count);
        }
        pace.expect(count);
    }
    pace.drain(app, PORTION, || Sweep { what, before }).await
}

/// Removes one portion.
struct Sweep {
    what: Retention,
    before: Timestamp,
}

impl Command for Sweep {
    const NAME: &'static str = "sweep";
    type Ports = dyn OpsTx;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match self.what {
            Retention::IdempotencyKeys => tx.sweep_idempotency(self.before, PORTION)?,
            Retention::Sessions => tx.remove_ended_sessions(self.before, PORTION)?,
            Retention::Events => tx.sweep_events(self.before, PORTION)?,
            Retention::Minting => tx.sweep_minting(self.before, PORTION)?,
            Retention::Notices => tx.sweep_notices(self.before, PORTION)?,
            Retention::Imports => tx.sweep_imports(self.before, PORTION)?,
            Retention::Runs => tx.sweep_maintenance(self.before, PORTION)?,
            Retention::Reports => tx.expire_reports(self.before, ctx.now(), PORTION)?,
            Retention::Carts => tx.sweep_carts(self.before, PORTION)?,
            Retention::Notifications => tx.sweep_notifications(self.before, PORTION)?,
            Retention::Push => tx.sweep_push(self.before, PORTION)?,
            Retention::Uploads | Retention::Pictures => 0,
        })
    }
}
