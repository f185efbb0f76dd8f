//! `terrace maintain list`, `plan`, `run` and `history`, and the short forms of some tasks: maintenance of the data
//! while servers run.

use crate::database::{app, open, ready_app};
use crate::folders;
use crate::minting::with_minter;
use crate::payments::with_payments;
use crate::progress::Progress;
use crate::report;
use crate::secret::{self, check_secret, cron_secret_task};
use crate::serve::stop_signal;
use crate::settings::Settings;
use anyhow::bail;
use clap::Args;
use std::env;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use terrace_app::{App, SecretKey, into_infallible};
use terrace_ops::maintenance::{
    Category, Left, MaintenanceHistory, Need, Observer, Plan, Round, RoundReport, RunOutcome, RunRecord,
    RunState, Task, TaskList, TaskRun, Wanted,
};
use terrace_ops::tasks::catalogue;
use terrace_storage::Storage;
use tokio::sync::watch;

/// The exit code that shells use for a program ended by Ctrl-C.
const STOPPED: u8 = 130;
/// Commands that change data and are not tasks.
const OTHERS: &str = "Commands with arguments of their own: terrace maintain coins, season, \
                      import-completions and retry-minting, terrace import legacy, terrace account";
/// Maximum length of an operator's name, in characters.
const LONGEST_NAME: usize = 80;

/// Which tasks.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// The names of tasks; see `maintain list`.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// All tasks, except those that only run by name.
    #[arg(long)]
    all: bool,
}

impl Which {
    fn wanted(&self) -> Wanted {
        if self.all { Wanted::All } else { Wanted::Named(self.names.clone()) }
    }

    fn words(&self) -> String {
        if self.all { "--all".to_owned() } else { self.names.join(" ") }
    }
}

/// How tasks are run.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    which: Which,
    /// Run in transactions that are rolled back: report exactly which rows would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Skip the tasks that precede these; they must have run before.
    #[arg(long)]
    only: bool,
    /// The operator's name for the journal; by default the user of the system.
    #[arg(long, value_name = "WHO", value_parser = who)]
    by: Option<String>,
}

pub(crate) fn who(text: &str) -> Result<String, String> {
    let is_name = (1..=LONGEST_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if is_name { Ok(text.to_owned()) } else { Err(format!("1 to {LONGEST_NAME} characters, on one line")) }
}

/// The user name that the system reports.
pub(crate) fn user() -> String {
    let mut named = ["USER", "LOGNAME"].into_iter().filter_map(|name| env::var(name).ok());
    named.find_map(|name| who(&name).ok()).unwrap_or_else(|| "unknown".to_owned())
}

/// Every task, including those for files of this machine.
fn tasks(settings: &Settings) -> TaskList {
    catalogue().with(cron_secret_task(settings))
}

/// Prints all tasks.
pub(crate) fn list(settings: &Settings) -> anyhow::Result<ExitCode> {
    for task in tasks(settings).tasks() {
        let name = if task.is_by_name_only() { " Only by name." } else { "" };
        report::line(&format!(
            "{:<24} {:<9} {}.{name}{}",
            task.name(),
            task.category(),
            task.about(),
            after(task)
        ))?;
    }
    report::line(OTHERS)?;
    Ok(ExitCode::SUCCESS)
}

fn after(task: &Task) -> String {
    let names = task.comes_after();
    if names.is_empty() { String::new() } else { format!(" After {}.", names.join(", ")) }
}

/// Prints the order in which tasks would run.
pub(crate) fn plan(which: &Which, settings: &Settings) -> anyhow::Result<ExitCode> {
    let plan = tasks(settings).plan(&which.wanted())?;
    for (nth, step) in plan.steps().iter().enumerate() {
        let wanted = if step.is_requested { "" } else { " Others come after it." };
        let (name, category) = (step.task.name(), step.task.category());
        report::line(&format!("{:>2}. {name:<24} {category:<9}{}{wanted}", nth + 1, after(&step.task)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs tasks and prints the result of each.
pub(crate) async fn run(arguments: RunArgs, settings: Settings) -> anyhow::Result<ExitCode> {
    let RunArgs { which, dry_run, only, by } = arguments;
    let plan = tasks(&settings).plan(&which.wanted())?;
    let flags = if only { " --only" } else { "" };
    let round = Round {
        plan,
        is_dry: dry_run,
        only,
        by: by.unwrap_or_else(user),
        arguments: format!("run {}{flags}", which.words()),
    };
    let is_optional = which.all;
    let report = carry_out(round, is_optional, Verbosity::All, &settings).await?;
    if dry_run {
        report::line("nothing was written")?;
    }
    if let Some(TaskRun { failure: Some(why), .. }) = report.ran.last() {
        for line in folders::advice(why, &folders::of_settings(&settings)) {
            report::line(&line)?;
        }
    }
    Ok(ended(&report))
}

fn ended(report: &RoundReport) -> ExitCode {
    match (report.is_stopped, report.is_well()) {
        (true, _) => ExitCode::from(STOPPED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    }
}

/// How much is printed about tasks while they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    /// The result of each task, and the lines that it prints.
    All,
    /// The lines that tasks print.
    Lines,
    /// Only the progress.
    Nothing,
}

/// Runs the short form of tasks: returns their report on success, otherwise the exit code.
async fn short(
    words: &str,
    wanted: Wanted,
    is_dry: bool,
    verbosity: Verbosity,
    settings: &Settings,
) -> anyhow::Result<Result<RoundReport, ExitCode>> {
    let plan = tasks(settings).plan(&wanted)?;
    let round = Round { plan, is_dry, only: false, by: user(), arguments: words.to_owned() };
    let is_optional = !matches!(wanted, Wanted::Named(_));
    let report = carry_out(round, is_optional, verbosity, settings).await?;
    if let Some(TaskRun { task, failure: Some(why), .. }) = report.ran.last() {
        bail!("{task}: {why}");
    }
    Ok(if report.is_well() { Ok(report) } else { Err(ended(&report)) })
}

fn named(names: &[&str]) -> Wanted {
    Wanted::Named(names.iter().map(|name| (*name).to_owned()).collect())
}

/// Runs every repair, and prints a line if there was nothing to repair.
pub(crate) async fn repair(dry_run: bool, settings: Settings) -> anyhow::Result<ExitCode> {
    let wanted = Wanted::Of(Category::Repair);
    let report = match short("repair", wanted, dry_run, Verbosity::Lines, &settings).await? {
        Ok(report) => report,
        Err(code) => return Ok(code),
    };
    if report.rows() == 0 {
        report::line("nothing needs repair")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes expired data.
pub(crate) async fn sweep(settings: Settings) -> anyhow::Result<ExitCode> {
    let all = [
        "sweep-idempotency-keys",
        "sweep-sessions",
        "sweep-events",
        "sweep-minting",
        "sweep-reports",
        "sweep-carts",
        "sweep-notifications",
        "sweep-push",
        "sweep-media",
    ];
    match short("sweep", named(&all), false, Verbosity::Nothing, &settings).await? {
        Ok(done) => report::line(&report::swept(&done))?,
        Err(code) => return Ok(code),
    }
    Ok(ExitCode::SUCCESS)
}

/// Extracts the topics of every post again.
pub(crate) async fn backfill_topics(settings: Settings) -> anyhow::Result<ExitCode> {
    let done =
        short("backfill-topics", named(&["backfill-topics"]), false, Verbosity::Lines, &settings).await?;
    Ok(done.map_or_else(|code| code, |_| ExitCode::SUCCESS))
}

/// Completes purchases that were interrupted.
pub(crate) async fn reconcile(settings: Settings) -> anyhow::Result<ExitCode> {
    let done =
        short("reconcile", named(&["reconcile-purchases"]), false, Verbosity::Lines, &settings).await?;
    Ok(done.map_or_else(|code| code, |_| ExitCode::SUCCESS))
}

/// Queues for the minter what was minted before one was configured.
pub(crate) async fn mint_earlier(settings: Settings) -> anyhow::Result<ExitCode> {
    match short("mint-earlier", named(&["mint-earlier"]), false, Verbosity::Nothing, &settings).await? {
        Ok(done) => {
            let handed = done.rows();
            report::line(&format!("{handed} collectibles are handed to the minter by the servers that run"))?;
        }
        Err(code) => return Ok(code),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the maintenance runs, newest first.
pub(crate) async fn history(limit: u32, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let found = into_infallible(app.query(MaintenanceHistory { limit }).await);
    storage.close();
    for (run, state) in found? {
        report::line(&words(&run, state))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn words(run: &RunRecord, state: RunState) -> String {
    let RunRecord { task, started_by, arguments, started_at, finished_at, counts, failure, .. } = run;
    let took =
        finished_at.map_or_else(String::new, |at| format!(" after {}", seconds(at.since(*started_at))));
    let counts = rows(counts.iter().map(|(kind, rows)| (kind.as_str(), *rows)));
    let why = failure.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    format!("{started_at} {task} {state}{took}{why}; {counts}; by {started_by} ({arguments})")
}

fn rows<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let counts: Vec<_> = counts.map(|(kind, rows)| format!("{kind}: {rows}")).collect();
    if counts.is_empty() { "no rows".to_owned() } else { counts.join(", ") }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Runs tasks until they are done or a signal stops them.
async fn carry_out(
    round: Round,
    is_optional: bool,
    verbosity: Verbosity,
    settings: &Settings,
) -> anyhow::Result<RoundReport> {
    let storage = open(settings)?;
    let carried_out = carry_out_on(&storage, round, is_optional, verbosity, settings).await;
    storage.close();
    carried_out
}

async fn carry_out_on(
    storage: &Storage,
    round: Round,
    is_optional: bool,
    verbosity: Verbosity,
    settings: &Settings,
) -> anyhow::Result<RoundReport> {
    ready_app(settings, storage).await?;
    let app = Arc::new(equipped(storage, &round.plan, is_optional, round.is_dry, settings).await?);
    let (stop, stopped) = watch::channel(false);
    let signal = stop_signal()?;
    log::info!("{} begins; Ctrl-C ends it between two batches", round.arguments);
    let listener = tokio::spawn(async move {
        signal.await;
        log::warn!(
            "stopping after this batch; a second Ctrl-C stops immediately, and the next run continues"
        );
        stop.send_replace(true);
        if let Ok(again) = stop_signal() {
            again.await;
            std::process::exit(STOPPED.into());
        }
    });
    let printer = Arc::new(Printer::new(verbosity, round.is_dry));
    let observer: Arc<dyn Observer> = Arc::<Printer>::clone(&printer);
    let report = terrace_ops::maintenance::maintain(&app, round, observer, stopped).await;
    listener.abort();
    printer.end()?;
    Ok(report?)
}

/// The application with what the tasks of a plan need.
async fn equipped(
    storage: &Storage,
    plan: &Plan,
    is_optional: bool,
    is_dry: bool,
    settings: &Settings,
) -> anyhow::Result<App> {
    let without_payments = || -> anyhow::Result<App> {
        let mut app = app(settings, storage);
        if plan.needs(Need::Media) || plan.needs(Need::Demo) {
            app = app.with_media(Arc::new(settings.open_media()?));
        }
        if plan.needs(Need::Minter) {
            app = with_minter(app, settings)?;
        }
        Ok(app)
    };
    // A dry run creates no secret, nor do tasks that were not named.
    let may_make = !is_dry && !is_optional;
    let needs_secret = plan.needs(Need::Payments) || plan.needs(Need::Demo);
    if !needs_secret || !(may_make || settings.secret_path().exists()) {
        return without_payments();
    }
    let secret = secret::read(settings)?;
    let app = without_payments()?.with_secret(&secret);
    // The comparison also records the secret if none was recorded before.
    if !is_dry && let Err(error) = check_secret(&app, settings).await {
        if !is_optional {
            return Err(error);
        }
        log::warn!("{error:#}");
        return without_payments();
    }
    paid(app, &secret, settings)
}

fn paid(app: App, secret: &SecretKey, settings: &Settings) -> anyhow::Result<App> {
    with_payments(app, settings, secret, settings.listen)
}

/// Prints the progress and the results of tasks.
struct Printer {
    verbosity: Verbosity,
    is_dry: bool,
    progress: Mutex<Option<Progress>>,
    /// The first error while printing, if any.
    broken: Mutex<Option<io::Error>>,
}

impl Printer {
    fn new(verbosity: Verbosity, is_dry: bool) -> Self {
        Self { verbosity, is_dry, progress: Mutex::default(), broken: Mutex::default() }
    }

    /// Clears the progress line; returns the first error while printing.
    fn end(&self) -> io::Result<()> {
        self.clear();
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn clear(&self) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = progress.as_mut() {
            self.note(progress.end());
        }
    }

    fn line(&self, words: &str) {
        self.clear();
        self.note(report::line(words));
    }

    fn note(&self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

impl Observer for Printer {
    fn began(&self, task: &Task) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(Progress::of(task.name(), None));
    }

    fn moved(&self, done: u64, of: Option<u64>) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = progress.as_mut() {
            progress.resize(of);
            self.note(progress.show(done));
        }
    }

    fn print(&self, line: &str) {
        match self.verbosity {
            Verbosity::All => self.line(&format!("  {line}")),
            Verbosity::Lines => self.line(line),
            Verbosity::Nothing => {}
        }
    }

    fn ended(&self, ran: &TaskRun) {
        self.clear();
        if self.verbosity == Verbosity::All {
            self.line(&came_to(ran, self.is_dry));
        }
    }

    fn left(&self, left: &Left) {
        if self.verbosity != Verbosity::Nothing {
            self.line(&format!("{} is skipped: {}", left.task, left.why));
        }
    }
}

fn came_to(ran: &TaskRun, is_dry: bool) -> String {
    let TaskRun { task, outcome, counts, took, longest_batch, failure } = ran;
    let rows = rows(counts.iter().map(|(kind, rows)| (*kind, *rows)));
    let longest = longest_batch
        .map_or_else(String::new, |longest| format!(", longest batch {} ms", longest.as_millis()));
    let took = format!("({}{}{longest})", if is_dry { "dry run, " } else { "" }, seconds(*took));
    match outcome {
        RunOutcome::Succeeded | RunOutcome::Running => format!("{task:<24} {rows} {took}"),
        RunOutcome::Stopped => format!("{task:<24} stopped; {rows} {took}"),
        RunOutcome::Failed => {
            let why = failure.as_deref().unwrap_or("no reason given");
            format!("{task:<24} failed: {why}; {rows} {took}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command, Maintain};
    use clap::Parser;

    fn asked(arguments: &[&str]) -> Result<Maintain, clap::Error> {
        let cli = Cli::try_parse_from([&["terrace", "maintain"], arguments].concat())?;
        match cli.command {
            Some(Command::Maintain(maintain)) => Ok(maintain),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tasks_are_given_by_name_or_all_at_once() {
        let Ok(Maintain::Run(run)) = asked(&["run", "seasons", "teams", "--only", "--by", "Mia"]) else {
            panic!("a run")
        };
        assert_eq!((run.which.words().as_str(), run.only, run.dry_run), ("seasons teams", true, false));
        assert_eq!(run.by.as_deref(), Some("Mia"));
        let Ok(Maintain::Plan(which)) = asked(&["plan", "--all"]) else { panic!("a plan") };
        assert_eq!(which.wanted(), Wanted::All);
        for wrong in [&["run"][..], &["plan"], &["run", "--all", "seasons"], &["run", "--all", "--by", ""]] {
            assert!(asked(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn all_tasks_include_the_cron_secret() {
        let settings = Cli::try_parse_from(["terrace"]).unwrap().settings;
        let plan = tasks(&settings).plan(&Wanted::All).unwrap();
        assert!(plan.steps().iter().any(|step| step.task.name() == "cron-secret"));
    }
}
