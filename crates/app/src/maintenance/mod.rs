//! Maintenance as one catalogue (spec §1 rules 12 and 13): every chore that operators do to data is a [`Task`] with a name,
//! a category and the tasks that must have run before it. Tasks are rehearsed, run in order, noted in a journal, and may
//! be stopped and run again at any time, beside servers.
//!
//! # Adding a task
//!
//! A constructor in a file of its own, one line in [`catalogue`]. Its work goes through [`Work::batch`]; what it counts is
//! what it wrote, so that the second of two runs counts nothing:
//!
//! ```
//! use terrace_app::maintenance::{Category, Task, TaskFailure, Work};
//!
//! async fn work(work: Work) -> Result<(), TaskFailure> {
//!     work.go_on()?;
//!     work.count("rows of nothing", 0);
//!     Ok(())
//! }
//!
//! let task = Task::new("repair-nothing", Category::Repair, "Mends nothing", work).after(&["seasons"]);
//! assert_eq!(task.name(), "repair-nothing");
//! ```

mod journal;
mod order;
mod repairs;
mod run;
mod stride;
mod tasks_cleanup;
mod tasks_setup;
mod tasks_upkeep;
mod work;

pub use crate::store::maintenance::{
    Extent, MaintenanceRead, MaintenanceWrite, RunOutcome, RunRecord, UnknownOutcome,
};
pub use crate::store::repair::{
    Carrier, Counts, FactsAudit, FactsRepair, LeftBehind, LookedAt, OrphanProgress, PacksAudit, PacksRepair,
    RepairRead, RepairWrite, RowsAudit, RowsRepair, UnassignedAward, Unrecorded, UnrecordedVisit,
};
pub use journal::{Busy, CountRows, MaintenanceHistory, RunState};
pub use order::OrderFault;
pub use run::{Left, Round, RoundFailure, RoundReport, TaskRun};
pub(crate) use stride::AdaptiveBatch;
pub(crate) use work::TaskContext;
pub use work::{Observer, TaskFailure, Unwatched, Work};

use crate::App;
use crate::store::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// What kind of work a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Puts there what the service needs to begin.
    SetUp,
    /// Fills in what older rows lack.
    Backfill,
    /// Removes what is past its time, or there twice.
    CleanUp,
    /// Makes right what drifted apart.
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

/// What a task needs beside the database. Whoever runs tasks gives the use cases what the tasks of the run need; one whose
/// need is not met is left out where nobody named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The place for pictures.
    Media,
    /// The service's secret, and whoever takes money.
    Payments,
    /// Somebody who is told of what fans come to own.
    Minter,
}

type Doing = Arc<dyn Fn(Work) -> BoxFuture<'static, Result<(), TaskFailure>> + Send + Sync>;

/// One entry of the catalogue.
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
    /// A task that does `work`. It may be stopped between any two batches, also for good by a crash, and then runs from its
    /// beginning: it goes by what is there and not by what it remembers. `about` is a sentence without its full stop.
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

    /// The same, to run only after these.
    #[must_use]
    pub fn after(self, names: &'static [&'static str]) -> Self {
        Self { after: names, ..self }
    }

    /// The same, which needs something beside the database.
    #[must_use]
    pub fn needs(self, need: Need) -> Self {
        Self { needs: Some(need), ..self }
    }

    /// The same, never a part of `--all`: what it does is not for every service.
    #[must_use]
    pub fn by_name_only(self) -> Self {
        Self { is_by_name_only: true, ..self }
    }

    /// Its stable name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its category.
    pub fn category(&self) -> Category {
        self.category
    }

    /// What it does.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// What must have run before it.
    pub fn comes_after(&self) -> &'static [&'static str] {
        self.after
    }

    /// Whether it runs only where it is named.
    pub fn is_by_name_only(&self) -> bool {
        self.is_by_name_only
    }

    /// Why it cannot run with these use cases, if it cannot.
    fn unfit(&self, app: &App) -> Option<&'static str> {
        match self.needs {
            Some(Need::Minter) if app.minter.is_none() => {
                Some("no minter is configured (--minter-url): nobody would be told")
            }
            Some(Need::Payments) if app.seed_cipher.is_none() => {
                Some("the service's secret is not here (--secret-file)")
            }
            Some(Need::Minter | Need::Media | Need::Payments) | None => None,
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

/// The tasks that there are.
#[derive(Debug, Clone, Default)]
pub struct TaskList {
    tasks: Vec<Task>,
}

/// Every task of this program that needs no file of its machine, in the order in which it is shown. What could stand in
/// either order runs in this one.
pub fn catalogue() -> TaskList {
    TaskList {
        tasks: vec![
            tasks_setup::seasons(),
            tasks_setup::teams(),
            tasks_setup::quests(),
            tasks_setup::packs(),
            tasks_setup::demo(),
            tasks_upkeep::turn_seasons(),
            tasks_upkeep::backfill_topics(),
            tasks_upkeep::name_skeletons(),
            repairs::step_order(),
            repairs::quest_runs(),
            repairs::quest_points(),
            repairs::visit_points(),
            repairs::boards(),
            repairs::onboarding(),
            repairs::counters(),
            repairs::blocked_follows(),
            repairs::deleted_accounts(),
            repairs::deleted_posts(),
            repairs::purchases(),
            repairs::packs(),
            repairs::pack_stock(),
            tasks_upkeep::repair_points(),
            tasks_upkeep::repair_balances(),
            tasks_upkeep::reconcile_purchases(),
            tasks_upkeep::sync_quests(),
            repairs::minting_lanes(),
            tasks_upkeep::mint_earlier(),
            tasks_cleanup::idempotency_keys(),
            tasks_cleanup::sessions(),
            tasks_cleanup::events(),
            tasks_cleanup::minting(),
            tasks_cleanup::media(),
            tasks_cleanup::notices(),
            tasks_cleanup::imports(),
            tasks_cleanup::journal(),
        ],
    }
}

/// Which tasks are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// All but those that run only by name.
    All,
    /// Those of a category, but for those that run only by name.
    Of(Category),
    /// Those of these names.
    Named(Vec<String>),
}

/// Tasks in the order in which they run.
#[derive(Debug, Clone)]
pub struct Plan {
    steps: Vec<Step>,
}

/// One task of a plan.
#[derive(Debug, Clone)]
pub struct Step {
    /// The task.
    pub task: Task,
    /// Whether it was asked for; if not, something that was asked for comes after it.
    pub is_asked: bool,
    /// Whether it may be left out where what it needs is not there: nobody named it.
    is_optional: bool,
}

impl Plan {
    /// The tasks, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether a task of it needs this.
    pub fn needs(&self, need: Need) -> bool {
        self.steps.iter().any(|step| step.task.needs == Some(need))
    }

    /// The same without what nobody asked for.
    #[must_use]
    pub fn only_asked(mut self) -> Self {
        self.steps.retain(|step| step.is_asked);
        self
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// A task that there is not.
    #[error("there is no task {name:?}; {}", meant(*.nearest, .known))]
    Unknown {
        /// As it was typed.
        name: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// What is declared has no order.
    #[error(transparent)]
    Order(#[from] OrderFault),
}

fn meant(nearest: Option<&str>, known: &[&str]) -> String {
    nearest.map_or_else(|| format!("there are {}", known.join(", ")), |name| format!("did you mean {name}?"))
}

impl TaskList {
    /// A list of these tasks.
    pub fn new(tasks: impl IntoIterator<Item = Task>) -> Self {
        Self { tasks: tasks.into_iter().collect() }
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, task: Task) -> Self {
        self.tasks.push(task);
        self
    }

    /// The tasks, as they are declared.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// What is wanted and all that it comes after, in order.
    ///
    /// # Errors
    ///
    /// Names a task that there is not, with what may have been meant; or a defect of the list: tasks that come after
    /// themselves or after none that there is.
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
        let step = |task: &Task| Step {
            task: task.clone(),
            is_asked: asked.contains(&task.name),
            is_optional: !matches!(wanted, Wanted::Named(_)),
        };
        let find = |name: &&str| self.tasks.iter().find(|task| task.name == *name);
        Ok(Plan { steps: names.iter().filter_map(find).map(step).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(plan: &Plan) -> Vec<&'static str> {
        plan.steps().iter().map(|step| step.task.name()).collect()
    }

    /// Spec §1 rule 13: every category of maintenance has its tasks, and they have an order.
    #[test]
    fn rule_13_the_catalogue_has_an_order_and_every_category() {
        let tasks = catalogue();
        let plan = tasks.plan(&Wanted::All).unwrap();
        let planned = names(&plan);
        for task in tasks.tasks() {
            assert_eq!(planned.contains(&task.name()), !task.is_by_name_only(), "{}", task.name());
            assert!(!task.about().is_empty() && !task.about().ends_with('.'), "{}", task.name());
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(task.name().bytes().all(is_plain), "{}", task.name());
        }
        for category in [Category::SetUp, Category::Backfill, Category::CleanUp, Category::Repair] {
            assert!(!tasks.plan(&Wanted::Of(category)).unwrap().steps().is_empty(), "{category}");
        }
        for (nth, step) in plan.steps().iter().enumerate() {
            for before in step.task.comes_after() {
                assert!(planned.iter().take(nth).any(|name| name == before), "{:?}", step.task);
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_told_from_what_it_comes_after() {
        let plan = catalogue().plan(&Wanted::Named(vec!["sync-quests".to_owned()])).unwrap();
        assert!(plan.steps().len() > 1 && names(&plan).last() == Some(&"sync-quests"), "{plan:?}");
        assert_eq!(names(&plan.only_asked()), ["sync-quests"]);
        let demo = catalogue().plan(&Wanted::Named(vec!["demo".to_owned()])).unwrap();
        assert_eq!(names(&demo).last(), Some(&"demo"));
    }

    #[test]
    fn a_task_that_there_is_not_is_named_with_what_was_meant() {
        let fault = |name: &str| catalogue().plan(&Wanted::Named(vec![name.to_owned()])).unwrap_err();
        let slip = fault("repair-pionts").to_string();
        assert_eq!(slip, "there is no task \"repair-pionts\"; did you mean repair-points?");
        let strange = fault("xyzzy").to_string();
        assert!(strange.contains("there are seasons, ") && strange.contains("sweep-media"), "{strange}");
    }
}
