//! The `terrace` program: configuration → storage → use cases → web.

mod account;
mod backup;
mod coins;
mod completions;
mod doctor;
mod edge_settings;
mod follow_graph;
mod hidden;
mod legacy;
mod machine;
mod maintenance;
mod media_settings;
mod minting;
mod payments;
#[cfg(unix)]
mod permissions;
mod place;
mod progress;
mod report;
mod secret;
mod secret_settings;
mod serve;
mod settings;
mod stream_settings;
mod trend_settings;
mod upkeep;
mod verify_opening;

use crate::machine::{SystemClock, SystemEntropy};
use crate::settings::{Cli, Command, Demo, Maintain, Seed, Settings};
use anyhow::Context;
use clap::{CommandFactory, FromArgMatches};
use mimalloc::MiMalloc;
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::platform::Verify;
use terrace_app::{App, Catalogue, PackContent, QuestContent, into_infallible};
use terrace_kernel::StoreError;
use terrace_storage::{Storage, StorageConfig};

/// The system allocator keeps the memory of a burst of sign-ins, 19 MiB for each thread that ever hashed a password;
/// this one returns it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The log filter unless `RUST_LOG` is set. The HTTP library logs malformed HTTP as an error of its own; any client
/// could fill the log with such errors and trigger alerts.
const LOGGED: &str = "info,actix_http::h1::dispatcher=off";

fn main() -> ExitCode {
    machine::keep_to_small_pages();
    #[cfg(unix)]
    permissions::restrict_new_files();
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(LOGGED))
        .format_timestamp_millis()
        .init();
    secret_settings::warn_of_secret_flags(&matches);
    let folders = place::of(&cli);
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            // Not through the log, whose filter may suppress it.
            let words = format!("{error:#}");
            eprintln!("error: {words}");
            for line in place::advice(&words, &folders) {
                eprintln!("{line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { command, settings } = cli;
    if matches!(command, Some(Command::Maintain(_))) {
        machine::step_back();
    }
    match command.unwrap_or(Command::Serve) {
        Command::Serve => runtime()?.block_on(serve::serve(settings)),
        Command::Migrate { revert_all } => migrate(&settings, revert_all),
        Command::Seed(wanted) => runtime()?.block_on(seed(wanted, settings)),
        Command::Maintain(Maintain::Verify) => runtime()?.block_on(verify(settings)),
        Command::Maintain(Maintain::List) => maintenance::list(&settings),
        Command::Maintain(Maintain::Plan(which)) => maintenance::plan(&which, &settings),
        Command::Maintain(Maintain::Run(arguments)) => {
            runtime()?.block_on(maintenance::run(arguments, settings))
        }
        Command::Maintain(Maintain::History { limit }) => {
            runtime()?.block_on(maintenance::history(limit, settings))
        }
        Command::Maintain(Maintain::Repair { dry_run }) => {
            runtime()?.block_on(maintenance::repair(dry_run, settings))
        }
        Command::Maintain(Maintain::Season(command)) => {
            runtime()?.block_on(upkeep::season(command, settings))
        }
        Command::Maintain(Maintain::Coins(command)) => runtime()?.block_on(coins::coins(command, settings)),
        Command::Maintain(Maintain::ImportCompletions { file, dry_run }) => {
            runtime()?.block_on(completions::import(&file, dry_run, settings))
        }
        Command::Maintain(Maintain::MintEarlier) => runtime()?.block_on(maintenance::mint_earlier(settings)),
        Command::Maintain(Maintain::RetryMinting) => runtime()?.block_on(minting::retry(settings)),
        Command::Maintain(Maintain::Reconcile) => runtime()?.block_on(maintenance::reconcile(settings)),
        Command::Maintain(Maintain::Sweep) => runtime()?.block_on(maintenance::sweep(settings)),
        Command::Maintain(Maintain::BackfillTopics) => {
            runtime()?.block_on(maintenance::backfill_topics(settings))
        }
        Command::Backup { file } => backup::backup(&file, &settings),
        Command::Restore { file, force } => backup::restore(&file, force, &settings),
        Command::Import(command) => runtime()?.block_on(legacy::import(command, settings)),
        Command::Doctor => runtime()?.block_on(doctor::doctor(settings)),
        Command::Account(command) => runtime()?.block_on(account::account(command, settings)),
        Command::Verify { place } => verify_opening::verify(&place),
        Command::Openapi => {
            report::line(&terrace_web::openapi().to_pretty_json()?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_name("terrace")
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// Opens the database; creates its folder if it is missing.
fn open(settings: &Settings) -> anyhow::Result<Storage> {
    open_with(settings.storage()?)
}

fn open_with(config: StorageConfig) -> anyhow::Result<Storage> {
    Storage::open(config, Arc::new(SystemClock), Arc::new(SystemEntropy)).context("cannot open the database")
}

/// Creates the application on an open database.
fn app(settings: &Settings, storage: &Storage) -> App {
    App::new(Arc::new(storage.clone()), Arc::new(SystemClock), Arc::new(SystemEntropy), settings.app())
}

/// Creates the application, and fails unless the schema is the one that this program needs.
async fn ready_app(settings: &Settings, storage: &Storage) -> anyhow::Result<App> {
    let app = app(settings, storage);
    app.ready().await.map_err(|error| {
        let words = match &error {
            // The schema of a newer version.
            StoreError::Defect { .. } => "the database is not one that this program can use",
            StoreError::Unavailable(_) | StoreError::Contended(_) | StoreError::Corrupt { .. } => {
                "the database is not ready; `terrace migrate` brings it up to date"
            }
        };
        anyhow::Error::new(error).context(words)
    })?;
    Ok(app)
}

/// Applies all pending migrations.
fn bring_up_to_date(storage: &Storage) -> anyhow::Result<()> {
    for name in storage.migrate().context("cannot migrate the database")? {
        log::info!("applied migration {name}");
    }
    Ok(())
}

fn migrate(settings: &Settings, revert_all: bool) -> anyhow::Result<ExitCode> {
    let storage = open(settings)?;
    if revert_all {
        for name in storage.revert_all().context("cannot revert the migrations")? {
            report::line(&format!("reverted {name}"))?;
        }
    } else {
        let applied = storage.migrate().context("cannot migrate the database")?;
        for name in &applied {
            report::line(&format!("applied {name}"))?;
        }
        if applied.is_empty() {
            report::line("the database is up to date")?;
        }
    }
    storage.close();
    Ok(ExitCode::SUCCESS)
}

async fn seed(wanted: Seed, settings: Settings) -> anyhow::Result<ExitCode> {
    // Opened before anything is written, so that a bad file changes nothing.
    let graph =
        wanted.follow_graph.as_deref().map(|file| follow_graph::open(file, wanted.strict)).transpose()?;
    let mut config = settings.storage()?;
    if graph.is_some() {
        config.write_cache_kib = follow_graph::CACHE_KIB;
        config.slow_query = follow_graph::SLOW;
    }
    let storage = open_with(config)?;
    bring_up_to_date(&storage)?;
    let app = app(&settings, &storage);
    app.found_seasons().await.context("cannot make the first seasons")?;
    let summary = app.load_catalogue(Catalogue::embedded()?).await?;
    let quests = app.load_quests(QuestContent::embedded()?).await;
    let quests = quests.map_err(|failure| anyhow::anyhow!("cannot load the quests: {failure:?}"))?;
    let packs = app.load_packs(PackContent::embedded()?).await;
    let packs = packs.map_err(|failure| anyhow::anyhow!("cannot load the packs: {failure:?}"))?;
    let (leagues, teams, quests, packs) = (summary.leagues, summary.teams, quests.quests, packs.packs);
    report::line(&format!(
        "{leagues} leagues, {teams} teams, {quests} quests and {packs} packs are up to date"
    ))?;
    if settings.demo == Demo::Always {
        report::line(&report::demo(app.load_demo(false).await?))?;
    }
    if let Some(graph) = graph {
        graph.bring_in(&app).await?;
    }
    storage.close();
    Ok(ExitCode::SUCCESS)
}

async fn verify(settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = Arc::new(ready_app(&settings, &storage).await?);
    let checks = into_infallible(app.query(Verify).await)?;
    // Concurrently: each only reads, in batches.
    let (points, ledger, rows) =
        tokio::try_join!(app.verify_points(), app.verify_ledger(), app.verify_rows())?;
    storage.close();
    for check in &checks {
        report::line(&report::counter(check))?;
    }
    upkeep::print_points(&points)?;
    upkeep::print_ledger(&ledger)?;
    for ran in &rows {
        report::line(&report::pending_repairs(ran))?;
    }
    let pending_repairs: u64 = rows.iter().flat_map(|ran| ran.counts.values()).sum();
    let wrong: u64 = checks.iter().map(|check| check.wrong).sum();
    if points.wrong() > 0 {
        report::line(&format!(
            "{} rows disagree with the ledger of points; `terrace maintain repair` makes them right",
            points.wrong()
        ))?;
    }
    if ledger.wrong() > 0 {
        report::line(&format!(
            "{} balances disagree with the journal; `terrace maintain repair` makes them right",
            ledger.wrong()
        ))?;
    }
    if wrong > 0 {
        report::line(&format!(
            "{wrong} counters disagree with what they count; `terrace maintain repair` makes them right, and \
             `terrace maintain run sweep-blocked-follows` ends follows beside blocks"
        ))?;
    }
    if pending_repairs > 0 {
        report::line(&format!("{pending_repairs} rows need repair; run `terrace maintain repair`"))?;
    }
    if wrong > 0 || points.wrong() > 0 || ledger.wrong() > 0 || pending_repairs > 0 {
        return Ok(ExitCode::FAILURE);
    }
    report::line("every counter agrees with what it counts")?;
    Ok(ExitCode::SUCCESS)
}
