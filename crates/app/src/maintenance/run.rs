//! How tasks run: one after the other, each noted when it begins and when it ends, under a lease that lasts as long as
//! the whole of them does.

use crate::App;
use crate::maintenance::journal::{BeginRun, EndRun, ProlongRun, ReleaseRun, Successes};
use crate::maintenance::work::{Observer, TaskContext, TaskFailure, Work};
use crate::maintenance::{Busy, Plan, RunOutcome, Task};
use crate::store::into_infallible;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::StoreError;
use tokio::sync::watch;
use uuid::Uuid;

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Round {
    /// The tasks.
    pub plan: Plan,
    /// Whether everything is rolled back: nothing is written then, no journal either.
    pub is_dry: bool,
    /// Whether what was not asked for is left out; it must have run before.
    pub only: bool,
    /// Who runs it, in their own words.
    pub by: String,
    /// What was asked for, as it could be typed again.
    pub arguments: String,
}

/// What became of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRun {
    /// The task.
    pub task: &'static str,
    /// How it ended.
    pub outcome: RunOutcome,
    /// How many rows of which kind it wrote, or in a rehearsal would have; none of zero.
    pub counts: BTreeMap<&'static str, u64>,
    /// How long it took.
    pub took: Duration,
    /// How long the longest of its batches took, each of which is one transaction, once that had begun: so long others waited
    /// at most for what it held. Nothing where it did none.
    pub longest_batch: Option<Duration>,
    /// Why it did not do its work.
    pub failure: Option<String>,
}

/// A task that was wanted as one of many and left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The task.
    pub task: &'static str,
    /// Why.
    pub why: String,
}

/// What became of a round. It ends with the first task that does not do its work: others may come after that one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundReport {
    /// The tasks that ran, in their order.
    pub ran: Vec<TaskRun>,
    /// Those that were left out.
    pub left: Vec<Left>,
    /// Whether it was stopped.
    pub is_stopped: bool,
}

impl RoundReport {
    /// Whether everything did its work.
    pub fn is_well(&self) -> bool {
        !self.is_stopped && self.ran.iter().all(|ran| ran.outcome == RunOutcome::Succeeded)
    }

    /// How many rows of this kind the tasks wrote.
    pub fn count(&self, kind: &str) -> u64 {
        self.ran.iter().filter_map(|ran| ran.counts.get(kind)).sum()
    }

    /// How many rows of any kind.
    pub fn rows(&self) -> u64 {
        self.ran.iter().flat_map(|ran| ran.counts.values()).sum()
    }
}

/// Why nothing was run, or no more.
#[derive(Debug, thiserror::Error)]
pub enum RoundFailure {
    /// Another is at it.
    #[error("{} runs maintenance since {}, now at {}", .0.by, .0.since, .0.task)]
    Busy(Busy),
    /// What must have run before never did its work here.
    #[error(
        "{task} comes after {after}, which never ran to its end here: run it first, or leave --only away"
    )]
    Missing {
        /// What was asked for.
        task: &'static str,
        /// What it comes after.
        after: &'static str,
    },
    /// A task that was asked for cannot run here.
    #[error("{}: {}", .0.task, .0.why)]
    Unfit(Left),
    /// The database is not to be had.
    #[error(transparent)]
    Broken(#[from] StoreError),
}

/// Whose lease it is, and what is written into the journal.
struct Command {
    holder: Uuid,
    by: String,
    arguments: String,
    is_dry: bool,
}

impl App {
    /// Runs tasks in their order until `stop` turns true, which ends it between two batches. One command does that at a
    /// time, in any process; rehearsals write nothing and may go beside it. What a task wrote before it was stopped or
    /// killed stays, and the next run does the rest.
    ///
    /// # Errors
    ///
    /// When another is at it, when something that must have run before has not, and when the database is not to be had. A
    /// task that fails is no error: the report says so.
    pub async fn maintain(
        self: &Arc<Self>,
        round: Round,
        observer: Arc<dyn Observer>,
        stop: watch::Receiver<bool>,
    ) -> Result<RoundReport, RoundFailure> {
        let Round { plan, is_dry, only, by, arguments } = round;
        let plan = if only { self.with_all_before(plan).await? } else { plan };
        let mut report = RoundReport::default();
        let tasks = self.fit(&plan, &mut report.left)?;
        for left in &report.left {
            observer.left(left);
        }
        let command = Command { holder: self.seed().open().new_id(), by, arguments, is_dry };
        let ended = self.run_tasks(&command, tasks, observer, &stop, &mut report).await;
        if is_dry || matches!(ended, Err(RoundFailure::Busy(_))) {
            return ended.map(|()| report);
        }
        // Others need not wait until it is over.
        let released = into_infallible(self.execute(ReleaseRun { holder: command.holder }).await);
        // What broke first says more.
        ended?;
        released?;
        Ok(report)
    }

    async fn run_tasks(
        self: &Arc<Self>,
        command: &Command,
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
            let run = if command.is_dry { None } else { Some(self.begin(command, &task).await?) };
            observer.began(&task);
            let pace = TaskContext::new(command.is_dry, stop.clone(), Arc::clone(&observer));
            let started = Instant::now();
            let ended = self.see_task(&task, pace.clone(), run.map(|_| command.holder)).await;
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
                self.end(id, &ran).await?;
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

    /// What was asked for alone, once all that it comes after is known to have run.
    async fn with_all_before(&self, plan: Plan) -> Result<Plan, RoundFailure> {
        let done = into_infallible(self.query(Successes).await)?;
        let only = plan.only_asked();
        let is_here = |name: &str| only.steps().iter().any(|step| step.task.name == name);
        for step in only.steps() {
            let missing = step.task.after.iter().find(|name| !is_here(name) && !done.contains_key(**name));
            if let Some(after) = missing {
                return Err(RoundFailure::Missing { task: step.task.name, after });
            }
        }
        Ok(only)
    }

    /// The tasks that can run here. What cannot and was not named is left out, with what comes after it.
    fn fit(&self, plan: &Plan, left: &mut Vec<Left>) -> Result<Vec<Task>, RoundFailure> {
        let mut tasks = Vec::new();
        for step in plan.steps() {
            let task = &step.task;
            let before = task.after.iter().find(|name| left.iter().any(|left| left.task == **name));
            let why = match (task.unfit(self), before) {
                (Some(why), _) => why.to_owned(),
                (None, Some(before)) => format!("it comes after {before}, which is left out"),
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

    async fn begin(&self, command: &Command, task: &Task) -> Result<Uuid, RoundFailure> {
        let begin = BeginRun {
            holder: command.holder,
            life: self.config.job_lease,
            task: task.name,
            by: command.by.clone(),
            arguments: command.arguments.clone(),
        };
        into_infallible(self.execute(begin).await)?.map_err(RoundFailure::Busy)
    }

    async fn end(&self, id: Uuid, ran: &TaskRun) -> Result<(), StoreError> {
        let counts = ran.counts.iter().map(|(kind, rows)| ((*kind).to_owned(), *rows)).collect();
        let end = EndRun { id, outcome: ran.outcome, counts, failure: ran.failure.clone() };
        into_infallible(self.execute(end).await)
    }

    /// Does a task's work to its end, keeping the lease meanwhile, where there is one.
    async fn see_task(
        self: &Arc<Self>,
        task: &Task,
        pace: TaskContext,
        holder: Option<Uuid>,
    ) -> Result<(), TaskFailure> {
        let life = self.config.job_lease;
        // A task of its own, so that a panic is a failure of this run only.
        let mut run = tokio::spawn((task.work)(Work::new(Arc::clone(self), pace)));
        loop {
            tokio::select! {
                done = &mut run => {
                    return done.unwrap_or_else(|error| Err(StoreError::defect(task.name, error).into()));
                }
                () = tokio::time::sleep(life / 3) => {
                    let Some(holder) = holder else { continue };
                    match into_infallible(self.execute(ProlongRun { holder, life }).await) {
                        Ok(true) => {}
                        Ok(false) => break,
                        // It may still be ours: the next attempt shows.
                        Err(error) => log::warn!("the lease of maintenance was not prolonged: {error}"),
                    }
                }
            }
        }
        run.abort();
        // Until it has stopped it may still hand in commands.
        let _ = run.await;
        Err(TaskFailure::Refused(
            "another took maintenance over: this one was silent for too long".to_owned(),
        ))
    }
}
