//! `terrace seed`: the catalogue, and with it demo content or a follow graph.

use crate::database::{app, bring_up_to_date, open_with};
use crate::import_file::{CACHE_KIB, SLOW};
use crate::settings::{Demo, Settings};
use crate::{follow_graph, report, secret};
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::{App, Catalogue, PackContent, QuestContent};
use terrace_storage::Storage;

/// Additional content to load.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Seed {
    /// An edge list to import: a header line, then two numbers on each line, `from,to`. Each number is a fan, each
    /// line a mutual follow. Existing rows stay unchanged.
    #[arg(long, value_name = "FILE")]
    pub(crate) follow_graph: Option<PathBuf>,
    /// Refuse a follow graph with bad lines before anything is written, instead of skipping these lines.
    #[arg(long, requires = "follow_graph")]
    pub(crate) strict: bool,
}

pub(crate) async fn seed(wanted: Seed, settings: Settings) -> anyhow::Result<ExitCode> {
    // Opened before anything is written, so that a bad file changes nothing.
    let graph =
        wanted.follow_graph.as_deref().map(|file| follow_graph::open(file, wanted.strict)).transpose()?;
    let mut config = settings.storage()?;
    if graph.is_some() {
        config.write_cache_kib = CACHE_KIB;
        config.slow_query = SLOW;
    }
    let storage = open_with(config)?;
    bring_up_to_date(&storage)?;
    let app = match settings.demo {
        Demo::Always => demo_app(&settings, &storage).await?,
        Demo::Auto | Demo::Never => app(&settings, &storage),
    };
    if let Some(content) = terrace_ops::content::stored_content(&app).await? {
        anyhow::bail!(
            "version {} of a club's content is loaded; `terrace content load` changes it",
            content.version
        );
    }
    app.found_seasons().await.context("cannot make the first seasons")?;
    // Before the packs, because it fixes the order of their collectibles, on which its draws depend.
    let demo = match settings.demo {
        Demo::Always => Some(app.load_demo(false).await?),
        Demo::Auto | Demo::Never => None,
    };
    let summary = app.load_catalogue(Catalogue::embedded()?).await?;
    let quests = app.load_quests(QuestContent::embedded()?).await;
    let quests = quests.map_err(|failure| anyhow::anyhow!("cannot load the quests: {failure:?}"))?;
    let packs = app.load_packs(PackContent::embedded()?).await;
    let packs = packs.map_err(|failure| anyhow::anyhow!("cannot load the packs: {failure:?}"))?;
    let (leagues, teams, quests, packs) = (summary.leagues, summary.teams, quests.quests, packs.packs);
    report::line(&format!(
        "{leagues} leagues, {teams} teams, {quests} quests and {packs} packs are up to date"
    ))?;
    if let Some(demo) = demo {
        report::line(&report::demo(demo))?;
    }
    if let Some(graph) = graph {
        graph.bring_in(&app).await?;
    }
    storage.close();
    Ok(ExitCode::SUCCESS)
}

/// The application with what demo content needs: the storage of pictures, and the secret that seals packs.
async fn demo_app(settings: &Settings, storage: &Storage) -> anyhow::Result<App> {
    let app = app(settings, storage).with_media(Arc::new(settings.open_media()?));
    let app = app.with_secret(&secret::read(settings)?);
    secret::check_secret(&app, settings).await?;
    Ok(app)
}
