//! Loads content in one transaction.

use crate::content::plan::{Existing, Planned, plan};
use crate::content::{Content, ContentChanges};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_app::App;
use terrace_app::content::ContentFaults;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, Timestamp, Topic};
use terrace_store::content::{ContentPicture, StoredContent};
use terrace_store::{Command, OpsReadTx, OpsTx, Query, into_infallible};
use uuid::Uuid;

/// Returns what a load of `content` would change.
///
/// # Errors
///
/// All rules that the content breaks together with the stored one.
pub async fn plan_content(app: &App, content: Arc<Content>) -> Outcome<ContentChanges, ContentFaults> {
    app.query(PlanContent { content }).await
}

/// The content that was loaded last.
pub async fn stored_content(app: &App) -> Result<Option<StoredContent>, StoreError> {
    into_infallible(app.query(ReadStoredContent).await)
}

/// Loads content, if it changes exactly what `expected` says.
pub async fn load_content(
    app: &App,
    content: Arc<Content>,
    expected: ContentChanges,
) -> Outcome<ContentChanges, LoadRefusal> {
    let loaded = app.execute(LoadContent { content, expected }).await;
    app.forget_quest_book();
    app.forget_pack_book();
    app.forget_product_book();
    app.forget_reward_book();
    app.forget_wheel_book();
    loaded
}

/// Why content was not loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadRefusal {
    /// It breaks rules together with the stored content.
    #[error("{0}")]
    Faults(ContentFaults),
    /// The stored content has changed since the plan was made.
    #[error("the stored content has changed since the plan was made; plan again")]
    Changed,
}

struct PlanContent {
    content: Arc<Content>,
}

impl Query for PlanContent {
    const NAME: &'static str = "plan_content";
    type Ports = dyn OpsReadTx;
    type Output = ContentChanges;
    type Refusal = ContentFaults;

    fn run(&self, tx: &mut dyn OpsReadTx, now: Timestamp) -> Outcome<ContentChanges, ContentFaults> {
        let existing = Existing::read(tx)?;
        let mut ids = 0_u128;
        let new_id = || {
            ids += 1;
            Uuid::from_u128(ids)
        };
        plan(&self.content, &existing, now, new_id).map(|planned| planned.changes).map_err(Failure::Refused)
    }
}

struct ReadStoredContent;

impl Query for ReadStoredContent {
    const NAME: &'static str = "read_stored_content";
    type Ports = dyn OpsReadTx;
    type Output = Option<StoredContent>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.stored_content()?)
    }
}

/// Loads all content by its keys. What is not in it any more is retired.
struct LoadContent {
    content: Arc<Content>,
    expected: ContentChanges,
}

impl Command for LoadContent {
    const NAME: &'static str = "load_content";
    type Ports = dyn OpsTx;
    type Output = ContentChanges;
    type Refusal = LoadRefusal;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<ContentChanges, LoadRefusal> {
        tx.lock_content()?;
        let existing = Existing::read(tx)?;
        let planned = plan(&self.content, &existing, ctx.now(), || ctx.new_id())
            .map_err(|faults| Failure::Refused(LoadRefusal::Faults(faults)))?;
        if planned.changes != self.expected {
            return Err(Failure::Refused(LoadRefusal::Changed));
        }
        self.write(tx, ctx, &planned)?;
        Ok(planned.changes)
    }
}

impl LoadContent {
    fn write(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, planned: &Planned) -> Result<(), StoreError> {
        for league in &planned.leagues {
            tx.upsert_league(league, ctx.now())?;
        }
        for team in &planned.teams {
            tx.upsert_team(team, ctx.now())?;
        }
        let keys: Vec<&str> = planned.teams.iter().map(|team| team.key.as_str()).collect();
        tx.retire_teams(&keys)?;
        tx.put_quests(&planned.quests)?;
        let keys: Vec<_> = planned.quests.iter().map(|quest| quest.key.clone()).collect();
        tx.retire_quests(&keys)?;
        tx.put_collectibles(&planned.packs.collectibles)?;
        tx.put_packs(&planned.packs.packs)?;
        let keys: Vec<_> = planned.packs.packs.iter().map(|pack| pack.key.clone()).collect();
        tx.retire_packs(&keys)?;
        tx.put_catalogue(&planned.shop)?;
        let keys: Vec<_> = planned.shop.products.iter().map(|product| product.key.clone()).collect();
        tx.retire_products(&keys)?;
        tx.put_rewards(&planned.rewards)?;
        let keys: Vec<_> = planned.rewards.iter().map(|reward| reward.key.clone()).collect();
        tx.retire_rewards(&keys)?;
        tx.put_wheels(&planned.wheels)?;
        let keys: Vec<_> = planned.wheels.iter().map(|wheel| wheel.key.clone()).collect();
        tx.retire_wheels(&keys)?;
        tx.put_rounds(&planned.rounds)?;
        let keys: Vec<_> = planned.rounds.iter().map(|round| round.key.clone()).collect();
        tx.cancel_rounds(&keys, ctx.now())?;
        for picture in self.content.pictures.values() {
            tx.put_content_picture(&ContentPicture {
                hash: picture.hash,
                kind: picture.kind,
                bytes: picture.bytes.to_vec(),
            })?;
        }
        tx.put_content(&planned.stored)?;
        let event = NewEvent {
            topic: Topic::Content,
            kind: EventKind::ContentChanged,
            actor: None,
            team: None,
            subject: ctx.new_id(),
            object: None,
        };
        tx.append(&event, ctx.now())
    }
}
