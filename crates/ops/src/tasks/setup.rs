//! Tasks that create what the service needs to start: seasons and the embedded content.

use crate::maintenance::{Category, Need, Task, TaskFailure, Work};
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use terrace_app::boards::FoundSeasons;
use terrace_app::demo::DemoOutcome;
use terrace_app::packs::{LoadPacks, PackContent};
use terrace_app::quests::{LoadQuests, QuestContent};
use terrace_app::teams::Catalogue;
use terrace_identity::{League, Team};
use terrace_kernel::{Ctx, Failure, Outcome, num};
use terrace_packs::{Collectible, Pack};
use terrace_quests::Quest;
use terrace_store::{Command, OpsTx};

pub(super) fn seasons() -> Task {
    let about = "Creates the first seasons if there are none";
    Task::new("seasons", Category::SetUp, about, |work| async move {
        let made = work.batch(FoundSeasons).await?;
        work.count("seasons", if made { 2 } else { 0 });
        Ok(())
    })
}

pub(super) fn teams() -> Task {
    let about = "Loads the leagues and teams that come with the program, by their keys; removes none";
    Task::new("teams", Category::SetUp, about, |work| async move {
        let content = Content::Teams(Catalogue::embedded().map_err(wrong)?);
        load(&work, content).await
    })
}

pub(super) fn quests() -> Task {
    let about = "Loads the quests that come with the program, by their keys; others are retired";
    Task::new("quests", Category::SetUp, about, |work| async move {
        let content = Content::Quests(QuestContent::embedded().map_err(wrong)?);
        let loaded = load(&work, content).await;
        work.app().forget_quest_book();
        loaded
    })
    // Team quests refer to existing teams.
    .after(&["teams"])
}

pub(super) fn packs() -> Task {
    let about =
        "Loads the packs and collectibles that come with the program, by their keys; other packs are retired";
    Task::new("packs", Category::SetUp, about, |work| async move {
        let content = Content::Packs(PackContent::embedded().map_err(wrong)?);
        let loaded = load(&work, content).await;
        work.app().forget_pack_book();
        loaded
    })
    // Team collectibles refer to existing teams.
    .after(&["teams"])
}

/// Loads the demo content, whose accounts have a published password.
pub(super) fn demo() -> Task {
    let about = "Loads the demo content unless it exists; the password of its fans is public";
    Task::new("demo", Category::SetUp, about, |work| async move {
        let exists = "the demo content, or an account of one of its names, is there";
        if work.app().demo_before(false).await?.is_some() {
            work.print(exists);
            return Ok(());
        }
        let demo = work.app().demo(false, work.is_dry()).await?;
        let loaded = work.attempt(demo).await;
        work.app().forget_quest_book();
        work.app().forget_pack_book();
        match loaded? {
            Ok(DemoOutcome::Loaded { fans, posts, comments, awards }) => {
                work.count("fans", num::to_u64(fans));
                work.count("posts", num::to_u64(posts));
                work.count("comments", num::to_u64(comments));
                work.count("awards of points", num::to_u64(awards));
            }
            Ok(DemoOutcome::AlreadyThere | DemoOutcome::NotNew) | Err(_) => {
                work.print(exists);
            }
        }
        Ok(())
    })
    // Awards need an active season.
    .after(&["seasons", "quests", "packs"])
    .needs(Need::Demo)
    .by_name_only()
}

fn wrong(error: impl Display) -> TaskFailure {
    TaskFailure::Refused(error.to_string())
}

async fn load(work: &Work, content: Content) -> Result<(), TaskFailure> {
    if let Some(stored) = crate::content::stored_content(work.app()).await? {
        work.print(&format!("version {} of a club's content is loaded", stored.version));
        return Ok(());
    }
    let is_dry_run = work.is_dry();
    match work.attempt(Load { content, is_dry_run }).await? {
        Ok(counts) => {
            for (kind, rows) in counts {
                work.count(kind, rows);
            }
            Ok(())
        }
        Err(why) => Err(TaskFailure::Refused(why)),
    }
}

/// Embedded content of one kind.
enum Content {
    Teams(Catalogue),
    Quests(QuestContent),
    Packs(PackContent),
}

/// Loads the content and counts the changed rows.
struct Load {
    content: Content,
    /// A dry run on an empty database lacks the rows that earlier tasks would have created.
    is_dry_run: bool,
}

impl Command for Load {
    const NAME: &'static str = "set_up_content";
    type Ports = dyn OpsTx;
    /// Number of rows by kind.
    type Output = Vec<(&'static str, u64)>;
    /// Description of the error in the content.
    type Refusal = String;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Self::Output, String> {
        if self.is_dry_run && !matches!(self.content, Content::Teams(_)) {
            let catalogue = Catalogue::embedded().map_err(|error| Failure::Refused(error.to_string()))?;
            catalogue.load(tx, ctx)?;
        }
        match &self.content {
            Content::Teams(catalogue) => {
                let before: (Vec<League>, Vec<Team>) = (tx.all_leagues()?, tx.all_teams()?);
                catalogue.load(tx, ctx)?;
                let leagues = changed(before.0, &tx.all_leagues()?, |league| league.id);
                Ok(vec![("leagues", leagues), ("teams", changed(before.1, &tx.all_teams()?, |team| team.id))])
            }
            Content::Quests(content) => {
                let before: Vec<Quest> = tx.quests()?;
                let loaded = LoadQuests { content: content.clone() }.run(tx, ctx);
                loaded.map_err(|failure| failure.map(|refusal| refusal.to_string()))?;
                Ok(vec![("quests", changed(before, &tx.quests()?, |quest| quest.id))])
            }
            Content::Packs(content) => {
                let before: (Vec<Collectible>, Vec<Pack>) = (tx.collectibles()?, tx.packs()?);
                let loaded = LoadPacks { content: content.clone() }.run(tx, ctx);
                loaded.map_err(|failure| failure.map(|refusal| refusal.to_string()))?;
                let collectibles = changed(before.0, &tx.collectibles()?, |collectible| collectible.id);
                Ok(vec![
                    ("collectibles", collectibles),
                    ("packs", changed(before.1, &tx.packs()?, |pack| pack.id)),
                ])
            }
        }
    }
}

/// Counts rows that are new or changed.
fn changed<T: PartialEq, I: Eq + Hash>(before: Vec<T>, after: &[T], id: impl Fn(&T) -> I) -> u64 {
    let known: HashMap<I, T> = before.into_iter().map(|row| (id(&row), row)).collect();
    num::to_u64(after.iter().filter(|row| known.get(&id(row)) != Some(*row)).count())
}
