//! Maintenance as one catalogue (spec §1 rules 12 and 13): every maintenance operation on data is a [`Task`] with a
//! name, a category and the tasks that must run before it. Tasks can be run as a dry run, run in order, are recorded
//! in a journal, and may be stopped and run again at any time, while servers are running.
//!
//! # Adding a task
//!
//! Add a constructor in a file of its own and one line in [`catalogue`](crate::tasks::catalogue). The task writes
//! through [`Work::batch`]; its counts are the rows that it wrote, so the second of two runs counts nothing:
//!
//! ```
//! use terrace_ops::maintenance::{Category, Task, TaskFailure, Work};
//!
//! async fn work(work: Work) -> Result<(), TaskFailure> {
//!     work.go_on()?;
//!     work.count("rows of nothing", 0);
//!     Ok(())
//! }
//!
//! let task = Task::new("repair-nothing", Category::Repair, "Repairs nothing", work).after(&["seasons"]);
//! assert_eq!(task.name(), "repair-nothing");
//! ```

mod context;
mod journal;
mod order;
mod run;
mod walk;
mod work;

pub use context::yield_to_writers;
pub(crate) use context::{TaskContext, dry_run};
pub use journal::{Busy, CountRows, MaintenanceHistory, RunState};
pub use order::OrderFault;
pub use run::{Left, Round, RoundFailure, RoundReport, TaskRun, maintain};
pub use terrace_store::maintenance::{
    Extent, MaintenanceRead, MaintenanceWrite, RunOutcome, RunRecord, UnknownOutcome,
};
pub use terrace_store::repair::{
    Carrier, Counts, FactsAudit, FactsRepair, LeftBehind, LookedAt, OrphanProgress, PacksAudit, PacksRepair,
    RepairRead, RepairWrite, RowsAudit, RowsRepair, UnassignedAward, Unrecorded, UnrecordedVisit,
};
pub use walk::{CheckReport, WalkReport};
pub(crate) use walk::{Derived, Held, Looked, Page, Portion, Settled, hold, walk};
pub use work::{Observer, TaskFailure, Unwatched, Work};

use std::fmt;
use std::sync::Arc;
use terrace_app::App;
use terrace_store::BoxFuture;

/// Kind of work that a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Creates what the service needs to start.
    SetUp,
    /// Fills in data that older rows lack.
    Backfill,
    /// Removes rows past their retention, and duplicates.
    CleanUp,
    /// Repairs data that has become inconsistent.
    Repair,
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::SetUp => "set-up",
            Self::Backfill => "backfill",
            Self::CleanUp => "clean-up",
            Self::Repair => "repair",
        })
    }
}

/// What a task needs in addition to the database. The program that runs tasks configures the use cases for the tasks
/// of the run; a task whose need is not met is skipped unless it was requested by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Storage of pictures.
    Media,
    /// The service's secret and the payment provider.
    Payments,
    /// A minter that receives changes of owned collectibles.
    Minter,
    /// Storage of pictures, and the service's secret.
    Demo,
}

type Doing = Arc<dyn Fn(Work) -> BoxFuture<'static, Result<(), TaskFailure>> + Send + Sync>;

/// An entry of the catalogue.
#[derive(Clone)]
pub struct Task {
    name: &'static str,
    category: Category,
    about: &'static str,
    after: &'static [&'static str],
    needs: Option<Need>,
    is_by_name_only: bool,
    work: Doing,
}

impl Task {
    /// Creates a task that does `work`. A run may be stopped between any two batches, also by a crash, and then
    /// starts over: it must rely on stored state and not on memory. `about` is a sentence without its full stop.
    pub fn new<F>(
        name: &'static str,
        category: Category,
        about: &'static str,
        work: impl Fn(Work) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), TaskFailure>> + Send + 'static,
    {
        let work: Doing = Arc::new(move |one| Box::pin(work(one)));
        Self { name, category, about, after: &[], needs: None, is_by_name_only: false, work }
    }

    /// Makes the task run only after these.
    #[must_use]
    pub fn after(self, names: &'static [&'static str]) -> Self {
        Self { after: names, ..self }
    }

    /// Declares a need in addition to the database.
    #[must_use]
    pub fn needs(self, need: Need) -> Self {
        Self { needs: Some(need), ..self }
    }

    /// Excludes the task from `--all`, because its effect does not suit every service.
    #[must_use]
    pub fn by_name_only(self) -> Self {
        Self { is_by_name_only: true, ..self }
    }

    /// Stable name of the task.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn category(&self) -> Category {
        self.category
    }

    /// Description of what the task does.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Names of the tasks that must run before it.
    pub fn comes_after(&self) -> &'static [&'static str] {
        self.after
    }

    /// Whether the task runs only if it is requested by name.
    pub fn is_by_name_only(&self) -> bool {
        self.is_by_name_only
    }

    /// Why the task cannot run with these use cases; `None` if it can.
    fn unfit(&self, app: &App) -> Option<&'static str> {
        match self.needs {
            Some(Need::Minter) if !app.has_minter() => Some("no minter is configured (--minter-url)"),
            Some(Need::Payments) if app.seed_cipher().is_err() => {
                Some("the service's secret is not here (--secret-file)")
            }
            Some(Need::Minter | Need::Media | Need::Payments | Need::Demo) | None => None,
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("name", &self.name)
            .field("category", &self.category)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default)]
pub struct TaskList {
    tasks: Vec<Task>,
}

/// Selection of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// All tasks except those that run only by name.
    All,
    /// The tasks of a category, except those that run only by name.
    Of(Category),
    /// The tasks with these names.
    Named(Vec<String>),
}

/// Tasks in execution order.
#[derive(Debug, Clone)]
pub struct Plan {
    steps: Vec<PlannedTask>,
}

/// One task of a plan.
#[derive(Debug, Clone)]
pub struct PlannedTask {
    pub task: Task,
    /// Whether it was requested; otherwise, a requested task depends on it.
    pub is_requested: bool,
    /// Whether it may be skipped if its needs are not met, because it was not requested by name.
    is_optional: bool,
}

impl Plan {
    /// The tasks, in execution order.
    pub fn steps(&self) -> &[PlannedTask] {
        &self.steps
    }

    /// Whether any task of the plan has this need.
    pub fn needs(&self, need: Need) -> bool {
        self.steps.iter().any(|step| step.task.needs == Some(need))
    }

    /// Removes the tasks that were not requested.
    #[must_use]
    pub fn only_requested(mut self) -> Self {
        self.steps.retain(|step| step.is_requested);
        self
    }
}

/// Why no plan was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// No task has this name.
    #[error("there is no task {name:?}; {}", meant(*.nearest, .known))]
    Unknown {
        /// Name as it was typed.
        name: String,
        /// Most similar name, if there is one.
        nearest: Option<&'static str>,
        /// Names of all tasks.
        known: Vec<&'static str>,
    },
    /// The declared dependencies have no valid order.
    #[error(transparent)]
    Order(#[from] OrderFault),
}

fn meant(nearest: Option<&str>, known: &[&str]) -> String {
    nearest.map_or_else(|| format!("there are {}", known.join(", ")), |name| format!("did you mean {name}?"))
}

impl TaskList {
    /// Creates a list of these tasks.
    pub fn new(tasks: impl IntoIterator<Item = Task>) -> Self {
        Self { tasks: tasks.into_iter().collect() }
    }

    /// Adds a task.
    #[must_use]
    pub fn with(mut self, task: Task) -> Self {
        self.tasks.push(task);
        self
    }

    /// The tasks, in the order of declaration.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the selected tasks and all tasks that they depend on, in execution order.
    ///
    /// # Errors
    ///
    /// An unknown task name, with a suggestion; or a defect of the list: a cycle, or a dependency on a task that does
    /// not exist.
    pub fn plan(&self, wanted: &Wanted) -> Result<Plan, PlanFault> {
        let known: Vec<&'static str> = self.tasks.iter().map(Task::name).collect();
        let is_usual = |task: &&Task| !task.is_by_name_only;
        let asked: Vec<&str> = match wanted {
            Wanted::All => self.tasks.iter().filter(is_usual).map(Task::name).collect(),
            Wanted::Of(category) => {
                let of = self.tasks.iter().filter(|task| task.category == *category);
                of.filter(is_usual).map(Task::name).collect()
            }
            Wanted::Named(names) => names.iter().map(String::as_str).collect(),
        };
        if let Some(name) = asked.iter().find(|name| !known.contains(name)) {
            let nearest = order::nearest(&known, name);
            return Err(PlanFault::Unknown { name: (*name).to_owned(), nearest, known });
        }
        let entries: Vec<_> = self.tasks.iter().map(|task| (task.name, task.after)).collect();
        let names = order::in_order(&entries, &asked)?;
        let step = |task: &Task| PlannedTask {
            task: task.clone(),
            is_requested: asked.contains(&task.name),
            is_optional: !matches!(wanted, Wanted::Named(_)),
        };
        let find = |name: &&str| self.tasks.iter().find(|task| task.name == *name);
        Ok(Plan { steps: names.iter().filter_map(find).map(step).collect() })
    }
}
