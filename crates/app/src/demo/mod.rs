//! Demonstration content for a first look: fans with streaks, quests, points and packs, and what they wrote. The same
//! every time, except for ids, the contents of sealed packs, and timestamps, which are relative to the time of loading.

mod demo_graph;
mod demo_inbox;
mod demo_packs;
mod demo_pictures;
mod demo_points;
mod demo_progress;
mod demo_room;

use crate::App;
use crate::accounts::PasswordFailure;
use crate::boards::{AwardResult, Awards};
use crate::demo::demo_pictures::Pictures;
use crate::graph::follows_imported;
use crate::packs::{LoadPacks, PackContent, SeedCipher};
use crate::platform::SecretKey;
use crate::quests::{LoadQuests, QuestContent};
use crate::rewards::{LoadRewards, RewardContent};
use crate::shop::{LoadProducts, ShopContent};
use crate::store::{BoardTx, Command, DemoReadTx, DemoTx, Query, SignInTx, into_infallible};
use crate::teams::Catalogue;
use crate::trivia::{LoadTrivia, TriviaContent};
use crate::wallets::{Network, RequestWallet, SANDBOX_NETWORK};
use crate::wheels::{LoadWheels, WheelContent};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use terrace_identity::ports::NewAccount;
use terrace_identity::{Password, PasswordHash, Role, TimeZone, Username};
use terrace_kernel::{Ctx, CtxSeed, Failure, Outcome, StoreError, TeamId, Timestamp, UserId};
use terrace_scoring::{NewAward, Points, SourceKey, Writer};

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
    #[serde(default)]
    has_picture: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoPost {
    author: String,
    team: Option<String>,
    body: String,
    minutes_ago: u32,
    picture: Option<DemoPicture>,
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
    /// Place of the comment that it replies to, from 1.
    reply_to: Option<usize>,
    minutes_after: u32,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DemoPicture {
    motif: String,
    alt: String,
}

impl App {
    /// Loads the embedded catalogue and demo content in one transaction. With `only_if_new`, only into a database
    /// without accounts.
    pub async fn load_demo(&self, only_if_new: bool) -> Result<DemoOutcome, StoreError> {
        if let Some(outcome) = self.demo_before(only_if_new).await? {
            return Ok(outcome);
        }
        let loaded = self.execute(self.demo(only_if_new, false).await?).await;
        self.forget_quest_book();
        self.forget_pack_book();
        self.forget_product_book();
        self.forget_reward_book();
        self.forget_wheel_book();
        match loaded {
            Ok(outcome) | Err(Failure::Refused(outcome)) => Ok(outcome),
            Err(Failure::Broken(error)) => Err(error),
        }
    }

    /// Why the demo content would not be loaded; `None` if it would.
    pub async fn demo_before(&self, only_if_new: bool) -> Result<Option<DemoOutcome>, StoreError> {
        into_infallible(self.query(FindDemo { only_if_new }).await)
    }

    /// Builds the command that loads the demo content, and stores its pictures. For a dry run no pictures are stored,
    /// and no secret key is needed.
    pub async fn demo(&self, only_if_new: bool, is_dry: bool) -> Result<LoadDemo, StoreError> {
        let demo: Demo = toml::from_str(include_str!("../../content/demo.toml"))
            .map_err(|error| StoreError::defect("read the demo content", error))?;
        let catalogue =
            Catalogue::embedded().map_err(|error| StoreError::defect("read the catalogue", error))?;
        let mut ctx = self.seed().open();
        let password = Password::offer(DEMO_PASSWORD.to_owned());
        let password = match self.passwords.hash(password, ctx.random_bytes()).await {
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
        let rewards =
            RewardContent::embedded().map_err(|error| StoreError::defect("read the rewards", error))?;
        let wheels =
            WheelContent::embedded().map_err(|error| StoreError::defect("read the wheels", error))?;
        let trivia = TriviaContent::of_demo(self.now())
            .map_err(|error| StoreError::defect("read the rounds of trivia", error))?;
        let (pictures, safe) = if is_dry {
            let forgotten = SecretKey::from_bytes(ctx.random_bytes());
            (Pictures::default(), Arc::new(SeedCipher::new(&forgotten)))
        } else {
            (self.put_demo_pictures(&demo, &catalogue).await?, self.seed_cipher()?)
        };
        let (awards, has_minter) = (self.awards(), self.minter.is_some());
        let mut networks = self.wallet_networks().unwrap_or_default().iter();
        let sandbox_network = networks.find(|network| network.as_str() == SANDBOX_NETWORK).cloned();
        Ok(LoadDemo {
            demo,
            catalogue,
            quests,
            packs,
            shop,
            rewards,
            wheels,
            trivia,
            pictures,
            password,
            awards,
            safe,
            has_minter,
            sandbox_network,
            only_if_new,
        })
    }
}

/// Whether demo content, or any account, exists.
struct FindDemo {
    only_if_new: bool,
}

impl Query for FindDemo {
    const NAME: &'static str = "find_demo";
    type Ports = dyn DemoReadTx;
    type Output = Option<DemoOutcome>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn DemoReadTx, _now: Timestamp) -> Outcome<Option<DemoOutcome>, Infallible> {
        if self.only_if_new && tx.any_account()? {
            return Ok(Some(DemoOutcome::NotNew));
        }
        let is_there = tx.credentials_by_key(&Username::key_of(DEMO_FAN))?.is_some();
        Ok(is_there.then_some(DemoOutcome::AlreadyThere))
    }
}

/// Loads the demo content.
pub struct LoadDemo {
    demo: Demo,
    catalogue: Catalogue,
    quests: QuestContent,
    packs: PackContent,
    shop: ShopContent,
    rewards: RewardContent,
    wheels: WheelContent,
    trivia: TriviaContent,
    pictures: Pictures,
    password: PasswordHash,
    awards: Awards,
    safe: Arc<SeedCipher>,
    has_minter: bool,
    /// The network of the sandbox, if it is the wallet provider.
    sandbox_network: Option<Network>,
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
        done(LoadQuests { content: self.quests.clone() }.run(tx, ctx))?;
        // Draws depend on the order of the ids of new collectibles, and the order of tied fans on that of theirs.
        let now = ctx.now();
        let fixed = |of: &str| CtxSeed::new(now, Sha256::digest(of).into()).open();
        done(LoadPacks { content: self.packs.clone() }.run(tx, &mut fixed("demo/packs")))?;
        done(LoadProducts { content: self.shop.clone() }.run(tx, ctx))?;
        done(LoadRewards { content: self.rewards.clone() }.run(tx, ctx))?;
        done(LoadWheels { content: self.wheels.clone() }.run(tx, ctx))?;
        done(LoadTrivia { content: self.trivia.clone() }.run(tx, ctx))?;
        let Some(fans) = self.load_fans(tx, &mut fixed("demo/fans"), &teams)? else {
            return Err(Failure::Refused(DemoOutcome::AlreadyThere));
        };
        self.load_portraits(tx, ctx, &fans)?;
        self.load_graph(tx, ctx, &teams, &fans)?;
        let (mut comments, mut posts) = (0, Vec::new());
        for (nth, post) in self.demo.post.iter().enumerate() {
            posts.push(self.load_post(tx, ctx, &teams, &fans, nth, post)?);
            comments += post.comments.len();
        }
        tx.index_users(&fans.values().copied().collect::<Vec<_>>())?;
        tx.index_posts(&posts.iter().map(|post| post.id).collect::<Vec<_>>())?;
        self.load_inbox(tx, ctx, &fans, &posts)?;
        // Earlier facts would count on no board.
        let since = tx.seasons()?.active().map_or(ctx.now(), |season| season.starts_at);
        let awards = self.load_points(tx, ctx, &teams, &fans, since)?;
        self.load_visits(tx, ctx, &fans, since)?;
        self.load_quests(tx, ctx, &fans)?;
        self.load_packs(tx, ctx, &fans)?;
        if let Some(network) = &self.sandbox_network {
            for fan in &self.demo.fan {
                let user = find(&fans, &fan.username)?;
                done(RequestWallet { user, network: network.clone() }.run(tx, ctx))?;
            }
        }
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

    /// The fans with their favourite teams.
    fn teams_of_fans(&self) -> Vec<(&str, &str)> {
        self.demo.fan.iter().map(|fan| (fan.username.as_str(), fan.favorite_team.as_str())).collect()
    }

    /// Inserts the follows between fans, and of teams.
    fn load_graph(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        teams: &HashMap<&str, TeamId>,
        fans: &HashMap<&str, UserId>,
    ) -> Result<(), StoreError> {
        let people = self.teams_of_fans();
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
        since: Timestamp,
    ) -> Result<usize, StoreError> {
        let people = self.teams_of_fans();
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
            match done(self.awards.give(tx, ctx, &award, team, Writer::Service))? {
                AwardResult::Now { .. } => given += 1,
                AwardResult::Before => {}
            }
        }
        Ok(given)
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

/// The result of a command that no rule refuses.
fn done<T, R: Debug>(outcome: Outcome<T, R>) -> Result<T, StoreError> {
    outcome.map_err(|failure| match failure {
        Failure::Refused(refusal) => wrong(format!("{refusal:?}")),
        Failure::Broken(error) => error,
    })
}

/// A context at an earlier time.
fn earlier(ctx: &mut Ctx, at: Timestamp) -> Ctx {
    CtxSeed::new(at, ctx.random_bytes()).open()
}

fn wrong(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::defect("read the demo content", cause)
}
