//! What runs beside requests: every consumer of events, and the schedule of periodic jobs.

use crate::App;
use crate::accounts::erase_account;
use crate::notifications::NOTIFY;
use crate::platform::{Consumer, Handle, Job};
use crate::quests::check_after;
use crate::room::remove_deleted_post;
use crate::search::{INDEX_NAMES, INDEX_POSTS};
use std::sync::Arc;
use terrace_kernel::{EventKind, Position, StoreError};
use tokio::sync::watch;

/// All consumers of this program.
pub(crate) const CONSUMERS: &[Consumer] = &[
    Consumer {
        name: "remove-deleted-posts",
        follows: &[EventKind::PostDeleted],
        handle: Handle::One(|tx, ctx, event| remove_deleted_post(tx, ctx, event)),
    },
    Consumer {
        name: "erase-deleted-accounts",
        follows: &[EventKind::AccountDeleted],
        handle: Handle::One(|tx, ctx, event| erase_account(tx, ctx, event)),
    },
    Consumer {
        name: "check-progress",
        follows: &[
            EventKind::UserFollowed,
            EventKind::ProfileChanged,
            EventKind::AccountRestored,
            EventKind::ScoreChanged,
            EventKind::PointsAwarded,
            EventKind::QuestStarted,
            EventKind::StepCompleted,
            EventKind::QuestCompleted,
        ],
        handle: Handle::Many(|tx, ctx, events| check_after(tx, ctx, events)),
    },
    INDEX_NAMES,
    INDEX_POSTS,
    NOTIFY,
];

/// The jobs of the use cases. The crates above register their own beside them.
pub fn jobs() -> Vec<Job> {
    let mut jobs = crate::notifications::jobs();
    jobs.extend([crate::trends::refresh_job(), crate::rewards::expire_job(), crate::trivia::job()]);
    jobs
}

impl App {
    /// Runs every durable consumer until `stop` turns true.
    pub async fn run_consumers(self: Arc<Self>, stop: watch::Receiver<bool>) {
        let runs = CONSUMERS
            .iter()
            .map(|consumer| tokio::spawn(Arc::clone(&self).run_consumer(*consumer, stop.clone())));
        for run in runs.collect::<Vec<_>>() {
            if let Err(error) = run.await {
                log::error!("a consumer stopped: {error}");
            }
        }
    }

    /// Runs every consumer until it has processed all events that are public now.
    pub async fn catch_up_consumers(&self) -> Result<(), StoreError> {
        for consumer in CONSUMERS {
            let mut seen = Position::START;
            while self.advance(*consumer, &mut seen, None).await? {}
        }
        Ok(())
    }

    /// Runs each of these jobs whenever it is due, until `stop` turns true; then releases its leases.
    pub async fn run_jobs(self: Arc<Self>, jobs: Vec<Job>, stop: watch::Receiver<bool>) {
        let runs = jobs.into_iter().map(|job| {
            let (app, stop) = (Arc::clone(&self), stop.clone());
            tokio::spawn(async move { app.keep_job(&job, stop).await })
        });
        for run in runs.collect::<Vec<_>>() {
            if let Err(error) = run.await {
                log::error!("a job's schedule stopped: {error}");
            }
        }
    }
}
