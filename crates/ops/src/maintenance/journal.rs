//! The maintenance journal: who ran what, when, and with which result; and the lease that allows only one run at a
//! time.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use terrace_store::maintenance::{Extent, RunOutcome, RunRecord};
use terrace_store::{Command, Lease, OpsReadTx, OpsTx, Query};
use uuid::Uuid;

/// Name of the maintenance lease. All tasks share one: concurrent runs would break their order.
const LEASE: &str = "maintenance";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// The run is in progress.
    Running,
    /// The run completed its work.
    Succeeded,
    /// The run failed or was refused.
    Failed,
    /// An operator stopped the run between two batches.
    Stopped,
    /// The process of the run ended without recording an outcome. Committed batches remain; another run does the
    /// rest.
    Interrupted,
}

impl RunState {
    fn of(record: &RunRecord, lease: Option<Lease>, now: Timestamp) -> Self {
        let is_held =
            lease.is_some_and(|lease| lease.holder == record.holder && !lease.expires_at.is_over(now));
        match record.outcome {
            RunOutcome::Running if is_held => Self::Running,
            RunOutcome::Running => Self::Interrupted,
            RunOutcome::Succeeded => Self::Succeeded,
            RunOutcome::Failed => Self::Failed,
            RunOutcome::Stopped => Self::Stopped,
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => RunOutcome::Running.as_str(),
            Self::Succeeded => RunOutcome::Succeeded.as_str(),
            Self::Failed => RunOutcome::Failed.as_str(),
            Self::Stopped => RunOutcome::Stopped.as_str(),
            Self::Interrupted => "interrupted",
        })
    }
}

/// A maintenance run in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Busy {
    /// Name of its operator, in free text.
    pub by: String,
    /// Start time.
    pub since: Timestamp,
    /// Name of its current task.
    pub task: String,
}

/// Reads the newest runs.
#[derive(Debug, Clone, Copy)]
pub struct MaintenanceHistory {
    /// Maximum number of runs.
    pub limit: u32,
}

impl Query for MaintenanceHistory {
    const NAME: &'static str = "maintenance_history";
    type Ports = dyn OpsReadTx;
    /// The newest first.
    type Output = Vec<(RunRecord, RunState)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        // In this order, because the statements may see different states: a run that is read as running held the lease
        // then, and one that has ended since has written the journal before it released the lease.
        let runs = tx.maintenance_runs(self.limit)?;
        let lease = tx.lease(LEASE)?;
        let mut shown = Vec::with_capacity(runs.len());
        for mut run in runs {
            if RunState::of(&run, lease, now) == RunState::Interrupted {
                run = read_again(tx, run)?;
            }
            let state = RunState::of(&run, lease, now);
            shown.push((run, state));
        }
        Ok(shown)
    }
}

fn read_again(tx: &mut dyn OpsReadTx, run: RunRecord) -> Result<RunRecord, StoreError> {
    let runs = tx.maintenance_runs_of(run.holder)?;
    Ok(runs.into_iter().find(|other| other.id == run.id).unwrap_or(run))
}

/// Counts the rows that a task scans.
#[derive(Debug, Clone, Copy)]
pub struct CountRows(pub Extent);

impl Query for CountRows {
    const NAME: &'static str = "count_rows";
    type Ports = dyn OpsReadTx;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<u64, Infallible> {
        Ok(tx.extent(self.0)?)
    }
}

/// Finds the tasks that have ever succeeded.
pub(super) struct Successes;

impl Query for Successes {
    const NAME: &'static str = "maintenance_successes";
    type Ports = dyn OpsReadTx;
    type Output = BTreeMap<String, Timestamp>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.maintenance_successes()?)
    }
}

/// Takes or prolongs the lease and records the start of a task, or returns the run that holds the lease.
pub(super) struct BeginRun {
    pub(super) holder: Uuid,
    pub(super) life: Duration,
    pub(super) task: &'static str,
    pub(super) by: String,
    pub(super) arguments: String,
}

impl Command for BeginRun {
    const NAME: &'static str = "begin_maintenance";
    type Ports = dyn OpsTx;
    /// Id of the run, or the run that holds the lease.
    type Output = Result<Uuid, Busy>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        let now = ctx.now();
        if !tx.take_lease(LEASE, self.holder, now, now.plus(self.life))? {
            return Ok(Err(busy(tx, now)?));
        }
        let id = ctx.new_id();
        tx.begin_maintenance(&RunRecord {
            id,
            holder: self.holder,
            task: self.task.to_owned(),
            started_by: self.by.clone(),
            arguments: self.arguments.clone(),
            started_at: now,
            finished_at: None,
            outcome: RunOutcome::Running,
            counts: BTreeMap::new(),
            failure: None,
        })?;
        Ok(Ok(id))
    }
}

fn busy(tx: &mut dyn OpsTx, now: Timestamp) -> Result<Busy, StoreError> {
    let runs = match tx.lease(LEASE)? {
        Some(lease) => tx.maintenance_runs_of(lease.holder)?,
        None => Vec::new(),
    };
    Ok(match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => {
            Busy { by: first.started_by.clone(), since: first.started_at, task: last.task.clone() }
        }
        // The lease was released between the two statements.
        _ => Busy { by: "another operator".to_owned(), since: now, task: "another task".to_owned() },
    })
}

/// Prolongs the lease; false if another process has held it since.
pub(super) struct ProlongRun {
    pub(super) holder: Uuid,
    pub(super) life: Duration,
}

impl Command for ProlongRun {
    const NAME: &'static str = "prolong_maintenance";
    type Ports = dyn OpsTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.prolong_lease(LEASE, self.holder, ctx.now().plus(self.life))?)
    }
}

/// Records the end of a run.
pub(super) struct EndRun {
    pub(super) id: Uuid,
    pub(super) outcome: RunOutcome,
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) failure: Option<String>,
}

impl Command for EndRun {
    const NAME: &'static str = "end_maintenance";
    type Ports = dyn OpsTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        Ok(tx.end_maintenance(self.id, ctx.now(), self.outcome, &self.counts, self.failure.as_deref())?)
    }
}

/// Releases the lease.
pub(super) struct ReleaseRun {
    pub(super) holder: Uuid,
}

impl Command for ReleaseRun {
    const NAME: &'static str = "release_maintenance";
    type Ports = dyn OpsTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        Ok(tx.release_lease(LEASE, self.holder)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_lease_is_gone_was_interrupted() {
        let at = |second: u64| Timestamp::from_micros(0).plus(Duration::from_secs(second));
        let (ours, theirs) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let run = |outcome| RunRecord {
            id: Uuid::from_u128(9),
            holder: ours,
            task: "seasons".to_owned(),
            started_by: "mia".to_owned(),
            arguments: "run seasons".to_owned(),
            started_at: at(0),
            finished_at: None,
            outcome,
            counts: BTreeMap::new(),
            failure: None,
        };
        let lease = |holder, until| Some(Lease { holder, expires_at: at(until) });
        let state = |outcome, lease| RunState::of(&run(outcome), lease, at(5));
        assert_eq!(state(RunOutcome::Running, lease(ours, 6)), RunState::Running);
        assert_eq!(state(RunOutcome::Running, lease(ours, 5)), RunState::Interrupted);
        assert_eq!(state(RunOutcome::Running, lease(theirs, 6)), RunState::Interrupted);
        assert_eq!(state(RunOutcome::Running, None), RunState::Interrupted);
        assert_eq!(state(RunOutcome::Stopped, lease(ours, 6)), RunState::Stopped);
        for outcome in [RunOutcome::Running, RunOutcome::Succeeded, RunOutcome::Failed, RunOutcome::Stopped] {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
        }
    }
}
