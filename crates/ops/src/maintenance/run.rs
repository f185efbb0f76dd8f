//! Execution of tasks: one after the other, each recorded at its start and end, under one lease that covers all of
//! them.

use crate::maintenance::journal::{BeginRun, EndRun, ProlongRun, ReleaseRun, Successes};
use crate::maintenance::work::{Observer, TaskFailure, Work};
use crate::maintenance::{Busy, Plan, RunOutcome, Task, TaskContext};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_kernel::StoreError;
use terrace_store::into_infallible;
use tokio::sync::watch;
use uuid::Uuid;

/// A request to run tasks.
#[derive(Debug, Clone)]
pub struct Round {
    /// Tasks to run.
    pub plan: Plan,
    /// Whether all transactions are rolled back; the journal is not written either.
    pub is_dry: bool,
    /// Whether tasks that were not requested are skipped; they must have run before.
    pub only: bool,
    /// Name of the operator, in free text.
    pub by: String,
    /// Arguments of the command, in a form that can be typed again.
    pub arguments: String,
}

/// Result of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRun {
    /// Name of the task.
    pub task: &'static str,
    pub outcome: RunOutcome,
    /// Number of rows written by kind, or that a dry run would have written; without zeros.
    pub counts: BTreeMap<&'static str, u64>,
    /// Duration.
    pub took: Duration,
    /// Duration of its longest batch, from the start of the transaction: the longest time for which it may have
    /// blocked others. `None` if there was no batch.
    pub longest_batch: Option<Duration>,
    /// Reason of the failure.
    pub failure: Option<String>,
}

/// A task that was selected as one of many and skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Name of the task.
    pub task: &'static str,
    /// Reason why it was skipped.
    pub why: String,
}

/// Result of a request. It ends with the first task that does not succeed, because later tasks may depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundReport {
    /// The tasks that ran, in order.
    pub ran: Vec<TaskRun>,
    /// The tasks that were skipped.
    pub left: Vec<Left>,
    /// Whether the run was stopped.
    pub is_stopped: bool,
}

impl RoundReport {
    /// Whether all tasks succeeded.
    pub fn is_well(&self) -> bool {
        !self.is_stopped && self.ran.iter().all(|ran| ran.outcome == RunOutcome::Succeeded)
    }

    /// Number of rows of this kind that the tasks wrote.
    pub fn count(&self, kind: &str) -> u64 {
        self.ran.iter().filter_map(|ran| ran.counts.get(kind)).sum()
    }

    /// Number of rows of all kinds.
    pub fn rows(&self) -> u64 {
        self.ran.iter().flat_map(|ran| ran.counts.values()).sum()
    }
}

/// Why no task, or no further task, was run.
#[derive(Debug, thiserror::Error)]
pub enum RoundFailure {
    /// Another command is running maintenance.
    #[error("{} runs maintenance since {}, now at {}", .0.by, .0.since, .0.task)]
    Busy(Busy),
    /// A required task has never succeeded on this database.
    #[error(
        "{task} comes after {after}, which never ran to its end here: run it first, or leave --only away"
    )]
    Missing {
        /// Task that was requested.
        task: &'static str,
        /// Task that it depends on.
        after: &'static str,
    },
    /// A requested task cannot run in this configuration.
    #[error("{}: {}", .0.task, .0.why)]
    Unfit(Left),
    /// The database is unavailable.
    #[error(transparent)]
    Broken(#[from] StoreError),
}

/// Holder of the lease and the data for the journal.
struct RunRequest {
    holder: Uuid,
    by: String,
    arguments: String,
    is_dry: bool,
}

/// Runs tasks in order until `stop` turns true, which ends the run between two batches. Only one command runs at
/// a time, across all processes; dry runs write nothing and may run concurrently. Changes of a task that was
/// stopped or killed remain, and the next run does the rest.
///
/// # Errors
///
/// When another command is running, when a required task has not run, and when the database is unavailable. A
/// failed task is not an error: it is part of the report.
pub async fn maintain(
    app: &Arc<App>,
    round: Round,
    observer: Arc<dyn Observer>,
    stop: watch::Receiver<bool>,
) -> Result<RoundReport, RoundFailure> {
    let Round { plan, is_dry, only, by, arguments } = round;
    let plan = if only { with_all_before(app, plan).await? } else { plan };
    let mut report = RoundReport::default();
    let tasks = fit(app, &plan, &mut report.left)?;
    for left in &report.left {
        observer.left(left);
    }
    let request = RunRequest { holder: app.seed().open().new_id(), by, arguments, is_dry };
    let ended = run_tasks(app, &request, tasks, observer, &stop, &mut report).await;
    if is_dry || matches!(ended, Err(RoundFailure::Busy(_))) {
        return ended.map(|()| report);
    }
    // Release the lease at once, so that others need not wait for it to expire.
    let released = into_infallible(app.execute(ReleaseRun { holder: request.holder }).await);
    // The first failure is more informative.
    ended?;
    released?;
    Ok(report)
}

async fn run_tasks(
    app: &Arc<App>,
    request: &RunRequest,
    tasks: Vec<Task>,
    observer: Arc<dyn Observer>,
    stop: &watch::Receiver<bool>,
    report: &mut RoundReport,
) -> Result<(), RoundFailure> {
    for task in tasks {
        if *stop.borrow() {
            report.is_stopped = true;
            break;
        }
        let run = if request.is_dry { None } else { Some(begin(app, request, &task).await?) };
        observer.began(&task);
        let pace = TaskContext::new(request.is_dry, stop.clone(), Arc::clone(&observer));
        let started = Instant::now();
        let ended = see_task(app, &task, pace.clone(), run.map(|_| request.holder)).await;
        let (outcome, failure) = match ended {
            Ok(()) => (RunOutcome::Succeeded, None),
            Err(TaskFailure::Stopped) => (RunOutcome::Stopped, None),
            Err(failure @ (TaskFailure::Broken(_) | TaskFailure::Refused(_))) => {
                (RunOutcome::Failed, Some(failure.to_string()))
            }
        };
        let (counts, longest_batch) = (pace.counts(), pace.longest_batch());
        let ran =
            TaskRun { task: task.name, outcome, counts, took: started.elapsed(), longest_batch, failure };
        if let Some(id) = run {
            end(app, id, &ran).await?;
        }
        observer.ended(&ran);
        report.ran.push(ran);
        report.is_stopped |= outcome == RunOutcome::Stopped;
        if outcome != RunOutcome::Succeeded {
            break;
        }
    }
    Ok(())
}

/// Returns the requested tasks alone, after checking that all tasks they depend on have succeeded before.
async fn with_all_before(app: &App, plan: Plan) -> Result<Plan, RoundFailure> {
    let done = into_infallible(app.query(Successes).await)?;
    let only = plan.only_requested();
    let is_here = |name: &str| only.steps().iter().any(|step| step.task.name == name);
    for step in only.steps() {
        let missing = step.task.after.iter().find(|name| !is_here(name) && !done.contains_key(**name));
        if let Some(after) = missing {
            return Err(RoundFailure::Missing { task: step.task.name, after });
        }
    }
    Ok(only)
}

/// Returns the tasks that can run here. A task that cannot and was not requested by name is skipped, as are its
/// dependents.
fn fit(app: &App, plan: &Plan, left: &mut Vec<Left>) -> Result<Vec<Task>, RoundFailure> {
    let mut tasks = Vec::new();
    for step in plan.steps() {
        let task = &step.task;
        let before = task.after.iter().find(|name| left.iter().any(|left| left.task == **name));
        let why = match (task.unfit(app), before) {
            (Some(why), _) => why.to_owned(),
            (None, Some(before)) => format!("it comes after {before}, which is skipped"),
            (None, None) => {
                tasks.push(task.clone());
                continue;
            }
        };
        let one = Left { task: task.name, why };
        if !step.is_optional {
            return Err(RoundFailure::Unfit(one));
        }
        left.push(one);
    }
    Ok(tasks)
}

async fn begin(app: &App, request: &RunRequest, task: &Task) -> Result<Uuid, RoundFailure> {
    let begin = BeginRun {
        holder: request.holder,
        life: app.config().job_lease,
        task: task.name,
        by: request.by.clone(),
        arguments: request.arguments.clone(),
    };
    into_infallible(app.execute(begin).await)?.map_err(RoundFailure::Busy)
}

async fn end(app: &App, id: Uuid, ran: &TaskRun) -> Result<(), StoreError> {
    let counts = ran.counts.iter().map(|(kind, rows)| ((*kind).to_owned(), *rows)).collect();
    let end = EndRun { id, outcome: ran.outcome, counts, failure: ran.failure.clone() };
    into_infallible(app.execute(end).await)
}

/// Runs a task's work to completion while prolonging the lease, if there is one.
async fn see_task(
    app: &Arc<App>,
    task: &Task,
    pace: TaskContext,
    holder: Option<Uuid>,
) -> Result<(), TaskFailure> {
    let life = app.config().job_lease;
    // In a separate task, so that a panic fails only this run.
    let mut run = tokio::spawn((task.work)(Work::new(Arc::clone(app), pace)));
    loop {
        tokio::select! {
            done = &mut run => {
                return done.unwrap_or_else(|error| Err(StoreError::defect(task.name, error).into()));
            }
            () = tokio::time::sleep(life / 3) => {
                let Some(holder) = holder else { continue };
                match into_infallible(app.execute(ProlongRun { holder, life }).await) {
                    Ok(true) => {}
                    Ok(false) => break,
                    // The lease may still be held: the next attempt decides.
                    Err(error) => log::warn!("the lease of maintenance was not prolonged: {error}"),
                }
            }
        }
    }
    run.abort();
    // It may submit commands until it has actually stopped.
    let _ = run.await;
    Err(TaskFailure::Refused("another took maintenance over: this one was silent for too long".to_owned()))
}
