//! The `terrace` program: configuration → storage → use cases → web.

mod account;
mod backup;
mod claim;
mod cli;
mod coins;
mod completions;
mod content;
mod database;
mod doctor;
mod folders;
mod follow_graph;
mod import_file;
mod legacy;
mod machine;
mod maintenance;
mod minting;
mod operator_report;
mod order;
mod payments;
#[cfg(unix)]
mod permissions;
mod progress;
mod push;
mod report;
mod reports;
mod secret;
mod seed;
mod serve;
mod settings;
mod stock;
mod till;
mod upkeep;
mod verify;
mod verify_opening;
mod wallets;

use crate::cli::{Cli, Command, Maintain};
use crate::machine::runtime;
use clap::{CommandFactory, FromArgMatches};
use mimalloc::MiMalloc;
use std::path::PathBuf;
use std::process::ExitCode;

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
        // At `trace` it writes down requests with their headers, which contain keys.
        .filter_module("ureq_proto::util", log::LevelFilter::Debug)
        .init();
    settings::warn_of_secret_flags(&matches);
    let folders = folders(&cli);
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            // Not through the log, whose filter may suppress it.
            let words = format!("{error:#}");
            eprintln!("error: {words}");
            for line in folders::advice(&words, &folders) {
                eprintln!("{line}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The folders that a command may write to.
fn folders(cli: &Cli) -> Vec<PathBuf> {
    let mut folders = folders::of_settings(&cli.settings);
    if let Some(Command::Backup { file }) = &cli.command {
        folders.push(file.parent().unwrap_or(file).to_owned());
    }
    folders
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { command, settings } = cli;
    if matches!(command, Some(Command::Maintain(_))) {
        machine::step_back();
    }
    match command.unwrap_or(Command::Serve) {
        Command::Serve => runtime()?.block_on(serve::serve(settings)),
        Command::Migrate { revert_all } => database::migrate(&settings, revert_all),
        Command::Content(command) => runtime()?.block_on(content::content(command, settings)),
        Command::Seed(wanted) => runtime()?.block_on(seed::seed(wanted, settings)),
        Command::Maintain(Maintain::Verify) => runtime()?.block_on(verify::verify(settings)),
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
        Command::Reports(command) => runtime()?.block_on(reports::reports(command, settings)),
        Command::Order(command) => runtime()?.block_on(order::order(command, settings)),
        Command::Report(arguments) => runtime()?.block_on(operator_report::report(arguments, settings)),
        Command::Stock(command) => runtime()?.block_on(stock::stock(command, settings)),
        Command::Claim(command) => runtime()?.block_on(claim::claim(command, settings)),
        Command::Till(command) => runtime()?.block_on(till::till(command, settings)),
        Command::Account(command) => runtime()?.block_on(account::account(command, settings)),
        Command::Push(command) => push::push(&command),
        Command::Verify { place } => verify_opening::verify(&place),
        Command::Openapi => {
            report::line(&terrace_web::openapi().to_pretty_json()?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
