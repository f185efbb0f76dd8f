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
use terrace_app::content::ContentFaults;
use terrace_kernel::{Clock, Failure};
use terrace_ops::content::{
    Content, ContentChanges, LoadRefusal, listed, load_content, plan_content, stored_content,
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
const NEW: [(&str, &str); 12] = [
    ("club.toml", include_str!("../content/club.toml")),
    ("leagues.toml", include_str!("../content/leagues.toml")),
    ("teams.toml", include_str!("../content/teams.toml")),
    ("quests.toml", include_str!("../content/quests.toml")),
    ("packs.toml", include_str!("../content/packs.toml")),
    ("products.toml", include_str!("../content/products.toml")),
    ("shipping.toml", include_str!("../content/shipping.toml")),
    ("rewards.toml", include_str!("../content/rewards.toml")),
    ("wheels.toml", include_str!("../content/wheels.toml")),
    ("trivia.toml", include_str!("../content/trivia.toml")),
    ("achievements.toml", include_str!("../../app/content/achievements.toml")),
    ("levels.toml", include_str!("../../app/content/levels.toml")),
];

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
    for note in content.closed(crate::machine::SystemClock.now()).iter() {
        report::line(&format!("note: {note}"))?;
    }
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
    Content::read(folder).map_or_else(|faults| refuse(&faults).map(|()| None), |content| Ok(Some(content)))
}

fn refuse(faults: &ContentFaults) -> anyhow::Result<()> {
    report::line(&faults.to_string())?;
    let count = faults.count();
    report::line(&format!("{count} {}; nothing was changed", if count == 1 { "fault" } else { "faults" }))?;
    Ok(())
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
            refuse(&faults)?;
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
        for item in listed(items) {
            report::line(&format!("{word} {item}"))?;
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
/// that retires nothing. Otherwise the loaded content is served, and the log says why and what to run.
pub(crate) async fn apply_on_serve(app: &App, folder: &Path) -> anyhow::Result<()> {
    let stored = stored_content(app).await?.map(|stored| (stored.version, stored.digest));
    let applied = apply(app, folder, stored.as_ref()).await?;
    let folder = folder.display();
    match applied {
        Applied::Loaded => {}
        Applied::Faulty(why) if stored.is_none() => bail!("the content in {folder} cannot be loaded: {why}"),
        Applied::Faulty(why) | Applied::Waits(why) => {
            log::warn!("the content in {folder} was not loaded: {why}; run `terrace content load {folder}`");
        }
    }
    Ok(())
}

/// What became of a folder.
enum Applied {
    /// It is loaded.
    Loaded,
    /// It is not loaded without a request, because of this.
    Waits(String),
    /// It cannot be loaded, because of this.
    Faulty(String),
}

const BREAKS_RULES: &str = "it breaks rules together with what is loaded";

fn faulty(what: &str, faults: &ContentFaults) -> Applied {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Applied::Faulty(format!("{what}: {}", faults.join("; ")))
}

/// `stored` are version and digest of the loaded content.
async fn apply(app: &App, folder: &Path, stored: Option<&(u32, String)>) -> anyhow::Result<Applied> {
    if !folder.is_dir() {
        return Ok(Applied::Faulty("it is no folder".to_owned()));
    }
    let content = match Content::read(folder) {
        Ok(content) => Arc::new(content),
        Err(faults) => return Ok(faulty("it has faults", &faults)),
    };
    if stored.is_some_and(|(_, digest)| *digest == content.digest) {
        return Ok(Applied::Loaded);
    }
    let version = content.club.version;
    if let Some((stored, _)) = stored.filter(|(stored, _)| version <= *stored) {
        return Ok(Applied::Waits(format!("its version is {version}, and version {stored} is loaded")));
    }
    let changes = match plan_content(app, Arc::clone(&content)).await {
        Ok(changes) => changes,
        Err(Failure::Refused(faults)) => return Ok(faulty(BREAKS_RULES, &faults)),
        Err(Failure::Broken(error)) => return Err(error.into()),
    };
    if !changes.retired.is_empty() {
        return Ok(Applied::Waits(format!("it retires {}", listed(&changes.retired).join(", "))));
    }
    match load_content(app, content, changes).await {
        Ok(_) => log::info!("loaded version {version} of the content"),
        // Another process that starts at the same time has loaded it.
        Err(Failure::Refused(LoadRefusal::Changed)) => log::info!("another process loaded the content"),
        Err(Failure::Refused(LoadRefusal::Faults(faults))) => {
            return Ok(faulty(BREAKS_RULES, &faults));
        }
        Err(Failure::Broken(error)) => return Err(error.into()),
    }
    Ok(Applied::Loaded)
}
