//! Quests as fans see them.

use crate::execute::Query;
use crate::quests::QuestBook;
use crate::store::ReadTx;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_quests::{
    Achievement, AchievementFacts, AchievementKey, Facts, QuestId, Run, StepDone, is_due, today,
};
use terrace_scoring::{PointsRecord, SourceKey};

/// Reads every quest.
pub(crate) struct ReadQuestBook;

impl Query for ReadQuestBook {
    const NAME: &'static str = "read_quests";
    type Output = QuestBook;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<QuestBook, Infallible> {
        Ok(QuestBook::new(tx.quests()?))
    }
}

/// Reads how far a fan is in the quests of today.
#[derive(Debug, Clone)]
pub struct ReadOwnRuns {
    /// The fan.
    pub user: UserId,
}

/// A fan's runs by quest.
pub type OwnRuns = HashMap<QuestId, (Run, Vec<StepDone>)>;

impl Query for ReadOwnRuns {
    const NAME: &'static str = "read_own_quests";
    type Output = OwnRuns;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<OwnRuns, Infallible> {
        let Some((zone, visits)) = tx.visits_and_zone(self.user)? else { return Ok(OwnRuns::new()) };
        let runs = tx.open_runs(self.user, today(zone, visits.as_ref(), now))?;
        Ok(runs.into_iter().map(|(run, done)| (run.quest, (run, done))).collect())
    }
}

/// Finds whether a check of a fan's progress would find nothing.
pub(crate) struct FindProgress {
    pub(crate) user: UserId,
    pub(crate) book: Arc<QuestBook>,
    pub(crate) rank: Option<u64>,
}

impl Query for FindProgress {
    const NAME: &'static str = "find_progress";
    /// Whether nothing is new.
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<bool, Infallible> {
        let state = tx.progress_of(self.user)?;
        let Some(state) = state else { return Ok(false) };
        let facts = Facts { rank: self.rank, ..state.facts };
        let news = |(run, done): &(Run, Vec<StepDone>)| {
            self.book.quest(run.quest).is_some_and(|quest| is_due(quest, run, done, &facts, now))
        };
        let today = today(state.zone, state.visits.as_ref(), now);
        let has_news = tx.open_runs(self.user, today)?.iter().any(news);
        let known = state.known();
        let is_new = |achievement: &Achievement| {
            achievement.is_reached(&known) && !state.achievements.contains(&achievement.key)
        };
        Ok(!has_news && !self.book.achievements().iter().any(is_new))
    }
}

/// Reads a fan's achievements.
#[derive(Debug, Clone)]
pub struct ReadAchievements {
    /// The fan.
    pub user: UserId,
}

/// What is known of a fan, and since when they have what.
#[derive(Debug, Clone)]
pub struct OwnAchievements {
    /// What achievements go by.
    pub known: AchievementFacts,
    /// Those that they have.
    pub unlocked: Vec<(AchievementKey, Timestamp)>,
}

impl Query for ReadAchievements {
    const NAME: &'static str = "read_achievements";
    type Output = OwnAchievements;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<OwnAchievements, Infallible> {
        let known = tx.progress_of(self.user)?.map(|state| state.known()).unwrap_or_default();
        Ok(OwnAchievements { known, unlocked: tx.achievements_of(self.user)? })
    }
}

/// Reads the quests that a fan completed, from the records of points, the newest first.
#[derive(Debug, Clone)]
pub struct ReadCompletedQuests {
    /// The fan.
    pub user: UserId,
    /// How many.
    pub limit: Limit,
    /// After which.
    pub after: Option<TimeKey>,
    /// The quests.
    pub book: Arc<QuestBook>,
}

/// A quest that was completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedQuest {
    /// Which.
    pub quest: QuestId,
    /// Its title as it is now, or as it was when it was completed.
    pub title: String,
    /// What it paid, steps and bonus.
    pub points: i64,
    /// When.
    pub at: Timestamp,
}

impl Query for ReadCompletedQuests {
    const NAME: &'static str = "read_completed_quests";
    type Output = Page<CompletedQuest>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Page<CompletedQuest>, Infallible> {
        let page = tx.quest_records(self.user, self.limit, self.after)?;
        let steps_of = |record: &PointsRecord| -> Vec<SourceKey> {
            let quest = record.source.subject().and_then(|id| self.book.quest(QuestId::from_uuid(id)));
            let date = record.source.local_date();
            let steps = quest.into_iter().flat_map(|quest| &quest.steps);
            steps.map(|step| SourceKey::quest_step(step.id.as_uuid(), date)).collect()
        };
        let keys: Vec<SourceKey> = page.items.iter().flat_map(steps_of).collect();
        let paid: HashMap<SourceKey, i64> = tx
            .records_among(self.user, &keys)?
            .into_iter()
            .map(|record| (record.source, record.amount.get()))
            .collect();
        Ok(page.map(|record| {
            let id = record.source.subject().map(QuestId::from_uuid);
            let quest = id.and_then(|id| self.book.quest(id));
            let steps: i64 = steps_of(&record).iter().filter_map(|key| paid.get(key)).sum();
            CompletedQuest {
                quest: id.unwrap_or(QuestId::from_uuid(uuid::Uuid::nil())),
                title: quest.map_or_else(|| record.reason.clone(), |quest| quest.title.clone()),
                points: record.amount.get().saturating_add(steps),
                at: record.at,
            }
        }))
    }
}
