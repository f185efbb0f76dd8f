//! `terrace import legacy FILE…`: imports the tables of an older system and prints a summary.

use crate::database::{open_with, ready_app};
use crate::import_file::{CACHE_KIB, SLOW, lines};
use crate::progress::Progress;
use crate::report;
use crate::settings::Settings;
use anyhow::{Context, bail};
use clap::Subcommand;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use terrace_app::App;
use terrace_ops::legacy::{
    LegacyMoved, LegacyProgress, LegacyReport, LegacySource, LegacyTable, Remarks, RowSum, import_id,
};

/// The imports.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Import {
    /// Import tables of an older system as CSV files, one for each table, identified by name: User.csv,
    /// PointsHistory.csv and so on. All files are checked before anything is written, and the data becomes visible
    /// only when the import is complete.
    Legacy {
        /// The CSV files, in any order.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Skip bad lines instead of refusing the files.
        #[arg(long)]
        skip_bad: bool,
    },
}

/// Imports all tables; exit code 1 if a record is bad and nothing was written.
pub(crate) async fn import(command: Import, settings: Settings) -> anyhow::Result<ExitCode> {
    let Import::Legacy { files, skip_bad } = command;
    // Checked before the database is opened.
    let (sources, size) = sources(&files)?;
    let mut config = settings.storage()?;
    config.write_cache_kib = CACHE_KIB;
    config.slow_query = SLOW;
    let storage = open_with(config)?;
    let app = ready_app(&settings, &storage).await?;
    let done = import_tables(&app, (&sources, size), skip_bad).await;
    storage.close();
    done
}

/// The files by table, and their total size in bytes.
fn sources(files: &[PathBuf]) -> anyhow::Result<(Vec<LegacySource>, u64)> {
    let (mut sources, mut seen, mut size) = (Vec::new(), BTreeSet::new(), 0_u64);
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(table) = LegacyTable::of_file(&name) else {
            let known: Vec<String> = LegacyTable::ALL.iter().map(|table| format!("{table}.csv")).collect();
            bail!("{} is the file of no table; known are {}", path.display(), known.join(", "));
        };
        if !seen.insert(table) {
            bail!("{table}.csv is named twice");
        }
        let length = path.metadata().with_context(|| format!("cannot read {}", path.display()))?.len();
        size = size.saturating_add(length);
        let (name, path) = (path.display().to_string(), path.clone());
        let open = move || -> io::Result<Box<dyn io::Read>> { Ok(Box::new(File::open(&path)?)) };
        sources.push(LegacySource { table, name, open: Box::new(open) });
    }
    Ok((sources, size))
}

async fn import_tables(
    app: &App,
    (sources, size): (&[LegacySource], u64),
    skip_bad: bool,
) -> anyhow::Result<ExitCode> {
    if !terrace_ops::legacy::has_seasons(app).await? {
        bail!("the database has no seasons, teams or quests yet: `terrace seed` brings them");
    }
    let mut progress = Progress::new(size);
    let mut watch = |progress_of: LegacyProgress| match progress_of {
        LegacyProgress::Read(bytes) => progress.show(bytes),
        LegacyProgress::Moving => Ok(()),
    };
    let checked =
        terrace_ops::legacy::check_legacy(app, sources, &mut watch).await.context("nothing was written")?;
    if checked.bad_records() > 0 && !skip_bad {
        progress.end()?;
        print_counts(&checked)?;
        let bad = lines(checked.bad_records());
        report::line(&format!("{bad} bad; nothing was written; --skip-bad leaves them out"))?;
        return Ok(ExitCode::FAILURE);
    }
    let import = import_id(sources, &checked)?;
    let moved = terrace_ops::legacy::import_legacy(app, import, sources, &checked, &mut watch).await;
    progress.end()?;
    print_counts(&checked)?;
    let moved = moved.context("no imported data is visible; run the same command to continue")?;
    for line in summary(&checked, &moved) {
        report::line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the number of records in each file, and the remarks about them.
fn print_counts(checked: &LegacyReport) -> io::Result<()> {
    for count in checked.tables.values() {
        let bad = if count.bad > 0 { format!(", {} bad", count.bad) } else { String::new() };
        report::line(&format!("{}: {}{bad}", count.file, records(count.good)))?;
    }
    remarks(checked, &checked.bad, "bad")?;
    remarks(checked, &checked.left_out, "skipped")
}

fn remarks(checked: &LegacyReport, remarks: &Remarks, word: &str) -> io::Result<()> {
    for (table, kind, found) in remarks.iter() {
        let file = checked.tables.get(&table).map_or("", |count| count.file.as_str());
        report::line(&format!("{word}, {file}: {kind}: {}", lines(found.count())))?;
        for line in found.text(&format!("{file}:")) {
            report::line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

fn records(count: u64) -> String {
    if count == 1 { "1 record".to_owned() } else { format!("{count} records") }
}

/// Lines that compare the files with the database after the import.
fn summary(checked: &LegacyReport, moved: &LegacyMoved) -> Vec<String> {
    let tally = &moved.tally;
    let mut text = Vec::new();
    for (table, new) in [
        ("users", moved.users),
        ("points_history", moved.records),
        ("user_quest_status", moved.runs),
        ("user_step_status", moved.steps),
        ("leaderboard_entries", moved.entries),
        ("follows", moved.follows),
        ("team_follows", moved.team_follows),
    ] {
        let read = checked.rows_of(table);
        if read == 0 && new == 0 {
            continue;
        }
        let staged = tally.staged.get(table).copied().unwrap_or(0);
        let twice = read.saturating_sub(staged);
        let twice = if twice > 0 { format!(", {twice} came twice") } else { String::new() };
        text.push(format!("{table}: {read} read{twice}, {new} new"));
    }
    if moved.seasons > 0 {
        text.push(format!("seasons: {} new", moved.seasons));
    }
    let seasons: BTreeSet<_> = tally.points_in.keys().chain(tally.points_out.keys()).collect();
    for season in seasons {
        let name = season.map_or("without a season".to_owned(), |id| {
            format!("of season {}", moved.season_keys.get(&id).map_or("unknown", String::as_str))
        });
        let of = |sums: &std::collections::BTreeMap<_, RowSum>| sums.get(season).copied().unwrap_or_default();
        let (read, written) = (of(&tally.points_in), of(&tally.points_out));
        text.push(format!("points {name}: {} in, {} out", sum(read), sum(written)));
    }
    if tally.points_left.rows > 0 {
        text.push(format!("points of accounts that were closed here: {} skipped", sum(tally.points_left)));
    }
    if tally.entries_in.rows > 0 {
        let (read, written) = (sum(tally.entries_in), sum(tally.entries_out));
        text.push(format!("entries of boards: {read} in, {written} by the records of points"));
    }
    text
}

fn sum(sum: RowSum) -> String {
    format!("{} of {} points", records(sum.rows), sum.points)
}
