//! Demonstration content: fans, posts, comments and reactions for a first look. The same every time, except for the
//! timestamps, which are relative to the time of loading.

mod demo_graph;
mod demo_points;

use crate::App;
use crate::accounts::{PasswordFailure, start_onboarding};
use crate::boards::{AwardResult, Awards};
use crate::graph::follows_imported;
use crate::packs::{LoadPacks, PackContent};
use crate::quests::{LoadQuests, QuestBook, QuestContent, check_fan};
use crate::shop::{LoadProducts, ShopContent};
use crate::store::{BoardTx, Command, DemoTx, QuestTx, SignInTx};
use crate::teams::Catalogue;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use terrace_identity::ports::NewAccount;
use terrace_identity::{Password, PasswordHash, Role, TimeZone, Username};
use terrace_kernel::{Ctx, Failure, Outcome, PostId, StoreError, TeamId, Timestamp, UserId, num};
use terrace_scoring::{NewAward, Points, SourceKey, Writer};
use terrace_social::{
    NewComment, NewPost, ReactionCounts, ReactionKind, ReactionWrite, comment_body, post_body,
};

/// Username of the demo fan to sign in as.
pub const DEMO_FAN: &str = "mia";
/// Password of every demo fan. It is public, so demo content opens the service to everyone; see `docs/operations/install.md`.
pub const DEMO_PASSWORD: &str = "terrace-demo";

/// The outcome of loading demo content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoOutcome {
    /// The content was loaded.
    Loaded {
        /// Number of fans.
        fans: usize,
        /// Number of posts.
        posts: usize,
        /// Number of comments.
        comments: usize,
        /// Number of points records.
        awards: usize,
    },
    /// The content was already loaded; nothing changed.
    AlreadyThere,
    /// The database already has accounts; nothing changed.
    NotNew,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Demo {
    fan: Vec<DemoFan>,
    post: Vec<DemoPost>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoFan {
    username: String,
    display_name: String,
    bio: String,
    favorite_team: String,
    time_zone: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoPost {
    author: String,
    team: Option<String>,
    body: String,
    minutes_ago: u32,
    #[serde(default)]
    comments: Vec<DemoComment>,
    #[serde(default)]
    reactions: BTreeMap<String, u32>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoComment {
    author: String,
    body: String,
    minutes_after: u32,
}

impl App {
    /// Loads the embedded catalogue and demo content in one transaction. With `only_if_new`, only into a database
    /// without accounts.
    pub async fn load_demo(&self, only_if_new: bool) -> Result<DemoOutcome, StoreError> {
        let loaded = self.execute(self.demo(only_if_new).await?).await;
        self.forget_quest_book();
        self.forget_pack_book();
        self.forget_product_book();
        match loaded {
            Ok(outcome) | Err(Failure::Refused(outcome)) => Ok(outcome),
            Err(Failure::Broken(error)) => Err(error),
        }
    }

    /// Builds the command that loads the demo content.
    pub async fn demo(&self, only_if_new: bool) -> Result<LoadDemo, StoreError> {
        let demo = toml::from_str(include_str!("../../content/demo.toml"))
            .map_err(|error| StoreError::defect("read the demo content", error))?;
        let catalogue =
            Catalogue::embedded().map_err(|error| StoreError::defect("read the catalogue", error))?;
        let salt = self.seed().open().random_bytes();
        let password = match self.passwords.hash(Password::offer(DEMO_PASSWORD.to_owned()), salt).await {
            Ok(hash) => hash,
            Err(PasswordFailure::Broken(error)) => return Err(error),
            Err(PasswordFailure::Busy) => {
                return Err(StoreError::Unavailable("too many concurrent sign-ins".to_owned()));
            }
        };
        let quests =
            QuestContent::embedded().map_err(|error| StoreError::defect("read the quests", error))?;
        let packs = PackContent::embedded().map_err(|error| StoreError::defect("read the packs", error))?;
        let shop = ShopContent::embedded().map_err(|error| StoreError::defect("read the shop", error))?;
        let awards = self.awards();
        Ok(LoadDemo { demo, catalogue, quests, packs, shop, password, awards, only_if_new })
    }
}

/// Loads the demo content.
pub struct LoadDemo {
    demo: Demo,
    catalogue: Catalogue,
    quests: QuestContent,
    packs: PackContent,
    shop: ShopContent,
    password: PasswordHash,
    awards: Awards,
    only_if_new: bool,
}

impl Command for LoadDemo {
    const NAME: &'static str = "load_demo";
    type Ports = dyn DemoTx;
    type Output = DemoOutcome;
    type Refusal = DemoOutcome;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn DemoTx, ctx: &mut Ctx) -> Outcome<DemoOutcome, DemoOutcome> {
        if self.only_if_new && tx.any_account()? {
            return Err(Failure::Refused(DemoOutcome::NotNew));
        }
        let teams = self.catalogue.load(tx, ctx)?;
        let quests = LoadQuests { content: self.quests.clone() }.run(tx, ctx);
        quests.map_err(|failure| match failure {
            Failure::Refused(refusal) => Failure::Broken(StoreError::defect("load the quests", refusal)),
            Failure::Broken(error) => Failure::Broken(error),
        })?;
        let packs = LoadPacks { content: self.packs.clone() }.run(tx, ctx);
        packs.map_err(|failure| match failure {
            Failure::Refused(refusal) => Failure::Broken(StoreError::defect("load the packs", refusal)),
            Failure::Broken(error) => Failure::Broken(error),
        })?;
        let shop = LoadProducts { content: self.shop.clone() }.run(tx, ctx);
        shop.map_err(|failure| match failure {
            Failure::Refused(refusal) => Failure::Broken(StoreError::defect("load the shop", refusal)),
            Failure::Broken(error) => Failure::Broken(error),
        })?;
        let Some(fans) = self.load_fans(tx, ctx, &teams)? else {
            return Err(Failure::Refused(DemoOutcome::AlreadyThere));
        };
        self.load_graph(tx, ctx, &teams, &fans)?;
        let (mut comments, mut posts) = (0, Vec::new());
        for (nth, post) in self.demo.post.iter().enumerate() {
            posts.push(self.load_post(tx, ctx, &teams, &fans, nth, post)?);
            comments += post.comments.len();
        }
        tx.index_users(&fans.values().copied().collect::<Vec<_>>())?;
        tx.index_posts(&posts)?;
        let awards = self.load_points(tx, ctx, &teams, &fans)?;
        self.load_progress(tx, ctx, &fans)?;
        Ok(DemoOutcome::Loaded { fans: fans.len(), posts: self.demo.post.len(), comments, awards })
    }
}

impl LoadDemo {
    /// Inserts the demo fans and returns their ids by name; `None` if one of the names is taken.
    fn load_fans(
        &self,
        tx: &mut dyn SignInTx,
        ctx: &mut Ctx,
        teams: &HashMap<&str, TeamId>,
    ) -> Result<Option<HashMap<&str, UserId>>, StoreError> {
        let mut fans = HashMap::new();
        for fan in &self.demo.fan {
            let created_at = joined_at(ctx);
            let account = NewAccount {
                id: ctx.new_id_at(created_at),
                username: Username::parse(&fan.username).map_err(wrong)?,
                display_name: terrace_identity::display_name(&fan.display_name).map_err(wrong)?,
                bio: terrace_identity::bio(&fan.bio).map_err(wrong)?,
                favorite_team: Some(find(teams, &fan.favorite_team)?),
                time_zone: fan.time_zone.parse::<TimeZone>().map_err(wrong)?,
                role: Role::Fan,
                password: self.password.clone(),
                created_at,
            };
            if !tx.insert_account(&account)? {
                return Ok(None);
            }
            tx.note_sign_in(account.id, ctx.now())?;
            fans.insert(fan.username.as_str(), account.id);
        }
        Ok(Some(fans))
    }

    /// Inserts the follows between fans, and of teams.
    fn load_graph(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        teams: &HashMap<&str, TeamId>,
        fans: &HashMap<&str, UserId>,
    ) -> Result<(), StoreError> {
        let people: Vec<_> =
            self.demo.fan.iter().map(|fan| (fan.username.as_str(), fan.favorite_team.as_str())).collect();
        for edge in demo_graph::follows(&people) {
            let (fan, other) = (find(fans, edge.from)?, find(fans, edge.to)?);
            if tx.insert_follow(fan, other, ctx.now().minus(minutes(edge.minutes_ago)))? {
                tx.add_to_follow_counts(fan, other, 1)?;
            }
        }
        for edge in demo_graph::team_follows(&people) {
            let (fan, team) = (find(fans, edge.from)?, find(teams, edge.to)?);
            if tx.insert_team_follow(fan, team, ctx.now().minus(minutes(edge.minutes_ago)))? {
                tx.add_to_team_followers(team, 1)?;
            }
        }
        tx.append(&follows_imported(find(fans, DEMO_FAN)?), ctx.now())
    }

    /// Awards points to the fans in the active season, as any award; returns the number of facts that paid.
    fn load_points(
        &self,
        tx: &mut dyn BoardTx,
        ctx: &mut Ctx,
        teams: &HashMap<&str, TeamId>,
        fans: &HashMap<&str, UserId>,
    ) -> Result<usize, StoreError> {
        let people: Vec<_> =
            self.demo.fan.iter().map(|fan| (fan.username.as_str(), fan.favorite_team.as_str())).collect();
        // Earlier facts would count on no board.
        let since = tx.seasons()?.active().map_or(ctx.now(), |season| season.starts_at);
        let mut given = 0;
        for entry in demo_points::awards(&people) {
            let award = NewAward {
                user: find(fans, entry.fan)?,
                amount: Points::new(entry.amount),
                reason: entry.reason.to_owned(),
                source: SourceKey::import(&entry.origin).map_err(wrong)?,
                at: ctx.now().minus(minutes(entry.minutes_ago)).max(since),
            };
            let team = entry.team.map(|team| find(teams, team)).transpose()?;
            match self.awards.give(tx, ctx, &award, team, Writer::Service) {
                Ok(AwardResult::Now { .. }) => given += 1,
                Ok(AwardResult::Before) => {}
                Err(Failure::Refused(refusal)) => return Err(wrong(format!("{refusal:?}"))),
                Err(Failure::Broken(error)) => return Err(error),
            }
        }
        Ok(given)
    }

    /// Starts the onboarding quests for the fans, as their registration would have, and completes the steps that they
    /// fulfil.
    fn load_progress(
        &self,
        tx: &mut dyn QuestTx,
        ctx: &mut Ctx,
        fans: &HashMap<&str, UserId>,
    ) -> Result<(), StoreError> {
        let book = QuestBook::new(tx.quests()?);
        for fan in &self.demo.fan {
            let user = find(fans, &fan.username)?;
            start_onboarding(tx, book.quests(), user, joined_at(ctx))?;
            check_fan(tx, ctx, &self.awards, &book, (user, None)).map_err(|failure| match failure {
                Failure::Refused(refusal) => wrong(format!("{refusal:?}")),
                Failure::Broken(error) => error,
            })?;
        }
        Ok(())
    }

    fn load_post(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        teams: &HashMap<&str, TeamId>,
        fans: &HashMap<&str, UserId>,
        nth: usize,
        entry: &DemoPost,
    ) -> Result<PostId, StoreError> {
        let created_at = ctx.now().minus(minutes(entry.minutes_ago));
        let post = NewPost {
            id: ctx.new_id_at(created_at),
            author: find(fans, &entry.author)?,
            team: entry.team.as_deref().map(|team| find(teams, team)).transpose()?,
            body: post_body(&entry.body).map_err(wrong)?,
            image: None,
            created_at,
        };
        tx.insert_post(&post)?;
        tx.insert_tags(&post.tags())?;
        for comment in &entry.comments {
            let at = created_at.plus(minutes(comment.minutes_after));
            let author = find(fans, &comment.author)?;
            tx.count_comment(post.id, author)?;
            tx.insert_comment(&NewComment {
                id: ctx.new_id_at(at),
                post: post.id,
                author,
                reply_to: None,
                body: comment_body(&comment.body).map_err(wrong)?,
                created_at: at,
            })?;
        }
        self.load_reactions(tx, fans, nth, entry, &post.id, created_at)?;
        Ok(post.id)
    }

    /// Distributes the reactions over the fans except the author, starting with a different fan for each post.
    fn load_reactions(
        &self,
        tx: &mut dyn ReactionWrite,
        fans: &HashMap<&str, UserId>,
        nth: usize,
        entry: &DemoPost,
        post: &PostId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let others = self.demo.fan.iter().cycle().skip(nth * 7 % self.demo.fan.len().max(1));
        let mut others = others.take(self.demo.fan.len()).filter(|fan| fan.username != entry.author);
        let mut counts = ReactionCounts::default();
        for (kind, count) in &entry.reactions {
            let kind = kind.parse::<ReactionKind>().map_err(wrong)?;
            for fan in others.by_ref().take(num::to_usize(*count)) {
                tx.set_reaction(*post, find(fans, &fan.username)?, Some(kind), at)?;
                counts.add(kind, 1);
            }
        }
        if counts.total() > 0 {
            tx.add_to_reaction_counts(*post, &counts)?;
        }
        Ok(())
    }
}

/// When the demo fans joined: 21 days ago.
fn joined_at(ctx: &Ctx) -> Timestamp {
    ctx.now().minus(Duration::from_hours(21 * 24))
}

fn minutes(count: u32) -> Duration {
    Duration::from_mins(u64::from(count))
}

fn find<T: Copy>(known: &HashMap<&str, T>, name: &str) -> Result<T, StoreError> {
    known.get(name).copied().ok_or_else(|| wrong(format!("nothing is called {name:?}")))
}

fn wrong(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::defect("read the demo content", cause)
}
