//! `terrace reports`: moderation of reported posts and comments while servers run.

mod print;

use crate::database::{open, ready_app};
use crate::maintenance::{user, who};
use crate::report;
use crate::settings::Settings;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::{App, into_infallible};
use terrace_kernel::{Failure, Uuid, uuid_from_canonical};
use terrace_ops::reports::{
    DecideReports, DecidedContent, ListReports, ReportFilter, ShowReports, ShownReports, Verdict,
    decide_reports, reported_picture,
};

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ReportsCommand {
    /// List reported posts and comments that wait for a decision, the newest report first.
    List {
        /// Also list posts and comments whose reports are all decided.
        #[arg(long)]
        all: bool,
        /// The number of posts and comments on a page.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// The number of the page, from 1.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        page: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show a reported post or comment: its text as reported and now, its reports, and the post of a comment.
    Show {
        /// The id of the post or comment.
        #[arg(value_name = "ID", value_parser = id)]
        id: Uuid,
        /// Write the reported picture to this file, which must not exist.
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Dismiss the reports of posts and comments, which stay as they are.
    Dismiss(Decisions),
    /// Delete reported posts and comments, as their authors could.
    Remove(Decisions),
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Decisions {
    /// The ids of the posts and comments.
    #[arg(value_name = "ID", required = true, num_args = 1..=100, value_parser = id)]
    ids: Vec<Uuid>,
    /// Only report what would be decided; write nothing.
    #[arg(long)]
    dry_run: bool,
    /// The moderator's name for the journal; by default the user of the system.
    #[arg(long, value_name = "WHO", value_parser = who)]
    by: Option<String>,
}

fn id(text: &str) -> Result<Uuid, String> {
    uuid_from_canonical(text).map_err(|error| error.to_string())
}

/// Runs the command and prints its result.
pub(crate) async fn reports(command: ReportsCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let done = run(app, command, &settings).await;
    storage.close();
    for line in done? {
        report::line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn run(app: App, command: ReportsCommand, settings: &Settings) -> anyhow::Result<Vec<String>> {
    match command {
        ReportsCommand::List { all, limit, page, json } => {
            let filter = if all { ReportFilter::All } else { ReportFilter::Undecided };
            let skip = u64::from(page.saturating_sub(1)).saturating_mul(u64::from(limit));
            let list = into_infallible(app.query(ListReports { filter, limit, skip }).await)?;
            Ok(if json { print::list_json(&list, page)? } else { print::list(&list, filter, limit, page) })
        }
        ReportsCommand::Show { id, picture, json } => {
            let shown = app.query(ShowReports { id }).await.map_err(|failure| match failure {
                Failure::Refused(refusal) => anyhow::Error::new(refusal),
                Failure::Broken(error) => error.into(),
            })?;
            let mut lines = if json { print::shown_json(&shown)? } else { print::shown(&shown) };
            if let Some(file) = picture {
                write_picture(app.with_media(Arc::new(settings.open_media()?)), &shown, &file).await?;
                // JSON remains one document.
                lines.extend((!json).then(|| format!("the picture is in {}", file.display())));
            }
            Ok(lines)
        }
        ReportsCommand::Dismiss(decisions) => decide(&app, Verdict::Dismiss, decisions).await,
        ReportsCommand::Remove(decisions) => decide(&app, Verdict::Remove, decisions).await,
    }
}

async fn write_picture(app: App, shown: &ShownReports, file: &Path) -> anyhow::Result<()> {
    let Some(picture) = shown.reports.iter().find_map(|report| report.picture.as_ref()) else {
        bail!("no undecided report of {} has a picture", shown.summary.content.id);
    };
    let Some(bytes) = reported_picture(&app, picture).await? else {
        bail!("the picture {} is not in the storage of pictures", picture.hash);
    };
    let write = || OpenOptions::new().write(true).create_new(true).open(file)?.write_all(&bytes);
    write().with_context(|| format!("cannot write {}", file.display()))
}

async fn decide(app: &App, verdict: Verdict, decisions: Decisions) -> anyhow::Result<Vec<String>> {
    let Decisions { ids, dry_run, by } = decisions;
    let command = DecideReports { ids, verdict, by: by.unwrap_or_else(user) };
    let decided = decide_reports(app, command, dry_run).await.map_err(|failure| match failure {
        Failure::Refused(refusal) => anyhow::anyhow!("{refusal}; nothing was changed"),
        Failure::Broken(error) => error.into(),
    })?;
    let mut lines: Vec<String> = decided.iter().map(|one| words(verdict, one)).collect();
    if dry_run {
        lines.push("nothing was written".to_owned());
    }
    Ok(lines)
}

fn words(verdict: Verdict, decided: &DecidedContent) -> String {
    let DecidedContent { content, reports, existed } = decided;
    let (kind, id) = (content.kind.as_str(), content.id);
    let reports = if *reports == 1 { "1 report".to_owned() } else { format!("{reports} reports") };
    match (verdict, existed) {
        (Verdict::Dismiss, _) => format!("{kind} {id}: {reports} dismissed"),
        (Verdict::Remove, true) => format!("{kind} {id}: removed, {reports} decided"),
        (Verdict::Remove, false) => format!("{kind} {id}: was deleted before, {reports} decided"),
    }
}
