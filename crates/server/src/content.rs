//! Content of a club: a new folder, checks, and loads.

use crate::database::{bring_up_to_date, open, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::{Context, bail, ensure};
use clap::Subcommand;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::App;
use terrace_kernel::{Clock, Failure};
use terrace_ops::content::{
    Content, ContentChanges, Item, LoadRefusal, load_content, plan_content, stored_content,
};

/// The commands for content.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ContentCommand {
    /// Create a folder with the content of a small club, to start from.
    New {
        /// The folder, which must not exist or be empty.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Check a folder and name every fault with its file and line; exits with 1 if there is one.
    Check {
        /// The folder with the content.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Show what a folder would change, ask, and load it in one transaction; servers may be running.
    Load {
        /// The folder with the content.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Load without asking.
        #[arg(long)]
        yes: bool,
    },
}

/// The files of a new folder.
const NEW: [(&str, &str); 7] = [
    ("club.toml", include_str!("../content/club.toml")),
    ("leagues.toml", include_str!("../content/leagues.toml")),
    ("teams.toml", include_str!("../content/teams.toml")),
    ("quests.toml", include_str!("../content/quests.toml")),
    ("packs.toml", include_str!("../content/packs.toml")),
    ("achievements.toml", include_str!("../../app/content/achievements.toml")),
    ("levels.toml", include_str!("../../app/content/levels.toml")),
];

/// The most items of a plan that are listed by name.
const LISTED: usize = 30;

pub(crate) async fn content(command: ContentCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    match command {
        ContentCommand::New { folder } => new(&folder),
        ContentCommand::Check { folder } => check(&folder),
        ContentCommand::Load { folder, yes } => load(&folder, yes, &settings).await,
    }
}

fn new(folder: &Path) -> anyhow::Result<ExitCode> {
    let is_used = folder.exists() && fs::read_dir(folder)?.next().is_some();
    ensure!(!is_used, "{} is not empty; nothing was written", folder.display());
    fs::create_dir_all(folder.join("images"))
        .with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, text) in NEW {
        let path = folder.join(name);
        let write =
            || OpenOptions::new().write(true).create_new(true).open(&path)?.write_all(text.as_bytes());
        write().with_context(|| format!("cannot write {}", path.display()))?;
    }
    report::line(&format!("{} holds the content of a small club; next:", folder.display()))?;
    report::line(&format!("  terrace content check {}", folder.display()))?;
    report::line(&format!("  terrace serve --content {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn check(folder: &Path) -> anyhow::Result<ExitCode> {
    let Some(content) = read(folder)? else { return Ok(ExitCode::FAILURE) };
    let teams = content.catalogue.summary().teams;
    let (quests, packs) = (content.quests.drafts.len(), content.packs.summary());
    let (packs, collectibles, pictures) = (packs.packs, packs.collectibles, content.pictures.len());
    report::line(&format!(
        "no faults: {}, version {}: {teams} teams, {quests} quests, {packs} packs, {collectibles} collectibles, \
         {pictures} pictures",
        content.club.name, content.club.version
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a folder; prints its faults and returns `None` if it has any.
fn read(folder: &Path) -> anyhow::Result<Option<Content>> {
    ensure!(folder.is_dir(), "{} is no folder", folder.display());
    match Content::read(folder, crate::machine::SystemClock.now()) {
        Ok(content) => Ok(Some(content)),
        Err(faults) => {
            report::line(&faults.to_string())?;
            let count = faults.count();
            report::line(&format!(
                "{count} {}; nothing was changed",
                if count == 1 { "fault" } else { "faults" }
            ))?;
            Ok(None)
        }
    }
}

async fn load(folder: &Path, yes: bool, settings: &Settings) -> anyhow::Result<ExitCode> {
    let Some(content) = read(folder)? else { return Ok(ExitCode::FAILURE) };
    let content = Arc::new(content);
    let storage = open(settings)?;
    bring_up_to_date(&storage)?;
    let app = ready_app(settings, &storage).await?;
    let loaded = load_into(&app, &content, yes).await;
    storage.close();
    loaded
}

async fn load_into(app: &App, content: &Arc<Content>, yes: bool) -> anyhow::Result<ExitCode> {
    app.found_seasons().await.context("cannot make the first seasons")?;
    let changes = match plan_content(app, Arc::clone(content)).await {
        Ok(changes) => changes,
        Err(Failure::Refused(faults)) => {
            report::line(&faults.to_string())?;
            report::line("nothing was changed")?;
            return Ok(ExitCode::FAILURE);
        }
        Err(Failure::Broken(error)) => return Err(error.into()),
    };
    if changes.is_empty() {
        report::line("this content is loaded already")?;
        return Ok(ExitCode::SUCCESS);
    }
    print_plan(&changes)?;
    if !yes && !confirmed()? {
        report::line("nothing was changed")?;
        return Ok(ExitCode::FAILURE);
    }
    match load_content(app, Arc::clone(content), changes).await {
        Ok(_) => {}
        Err(Failure::Refused(refusal @ (LoadRefusal::Faults(_) | LoadRefusal::Changed))) => {
            bail!("{refusal}")
        }
        Err(Failure::Broken(error)) => return Err(error.into()),
    }
    report::line(&format!("loaded version {} of {}", content.club.version, content.club.name))?;
    Ok(ExitCode::SUCCESS)
}

fn print_plan(changes: &ContentChanges) -> anyhow::Result<()> {
    for (word, items) in [("add", &changes.added), ("change", &changes.changed), ("retire", &changes.retired)]
    {
        for item in items.iter().take(LISTED) {
            report::line(&format!("{word} {item}"))?;
        }
        let more = items.len().saturating_sub(LISTED);
        if more > 0 {
            report::line(&format!("{word} {more} more"))?;
        }
    }
    let count = [&changes.added, &changes.changed, &changes.retired].map(Vec::len);
    report::line(&format!("{} added, {} changed, {} retired", count[0], count[1], count[2]))?;
    Ok(())
}

fn confirmed() -> anyhow::Result<bool> {
    report::line("Load this content? Type yes:")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}

/// Loads the folder that `serve` runs with, where that is safe: into a database without content, or a higher version
/// that retires nothing. Otherwise the log says what to run.
pub(crate) async fn apply_on_serve(app: &App, folder: &Path) -> anyhow::Result<()> {
    let Some(content) = read(folder)? else {
        bail!("the content in {} has faults; `terrace content check` names them", folder.display());
    };
    let content = Arc::new(content);
    let stored = stored_content(app).await?;
    if stored.as_ref().is_some_and(|stored| stored.digest == content.digest) {
        return Ok(());
    }
    let changes = match plan_content(app, Arc::clone(&content)).await {
        Ok(changes) => changes,
        Err(Failure::Refused(faults)) => {
            bail!("the content in {} cannot be loaded:\n{faults}", folder.display())
        }
        Err(Failure::Broken(error)) => return Err(error.into()),
    };
    let version = content.club.version;
    let is_newer = stored.as_ref().is_none_or(|stored| version > stored.version);
    if !is_newer || !(changes.retired.is_empty()) {
        let stored = stored.map_or(0, |stored| stored.version);
        let retired: Vec<String> = changes.retired.iter().take(LISTED).map(Item::to_string).collect();
        let why = if is_newer {
            format!("it retires {}", retired.join(", "))
        } else {
            format!("its version is {version}, and version {stored} is loaded")
        };
        let folder = folder.display();
        log::warn!("the content in {folder} was not loaded: {why}; run `terrace content load {folder}`");
        return Ok(());
    }
    match load_content(app, content, changes).await {
        Ok(_) => log::info!("loaded version {version} of the content"),
        // Another process that starts at the same time has loaded it.
        Err(Failure::Refused(LoadRefusal::Changed)) => log::info!("another process loaded the content"),
        Err(Failure::Refused(LoadRefusal::Faults(faults))) => {
            bail!("the content cannot be loaded:\n{faults}")
        }
        Err(Failure::Broken(error)) => return Err(error.into()),
    }
    Ok(())
}
