//! Queries for the quests of fans.

use crate::content::ContentFaults;
use crate::quests::{NotActive, QuestBook, read_achievements};
use crate::store::{Query, QuestBookReadTx, StandingsReadTx};
use chrono::NaiveDate;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Failure, Limit, Outcome, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_quests::{
    AchievementFacts, AchievementKey, Facts, FanStanding, QuestId, QuestRead, Run, StandingsRead, StepDone,
    VisitRules, VisitStatus, local_date, today, visit_status,
};
use terrace_scoring::{PointsRead, PointsRecord, SourceKey};

/// Reads all quests.
pub(crate) struct ReadQuestBook;

impl Query for ReadQuestBook {
    const NAME: &'static str = "read_quests";
    type Ports = dyn QuestBookReadTx;
    type Output = QuestBook;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn QuestBookReadTx, _now: Timestamp) -> Outcome<QuestBook, Infallible> {
        let mut book = QuestBook::new(tx.quests()?);
        if let Some(text) = tx.stored_content()?.and_then(|content| content.achievements) {
            book.achievements = read_achievements(Some(&text), &mut ContentFaults::default()).into();
        }
        Ok(book)
    }
}

/// Reads what a fan's list of quests shows of the fan, in two to four statements.
#[derive(Debug, Clone)]
pub struct ReadOwnQuests {
    /// The fan.
    pub user: UserId,
    /// All quests.
    pub book: Arc<QuestBook>,
}

/// What a list of quests shows of its reader; empty for a signed-out one.
#[derive(Debug, Clone, Default)]
pub struct OwnQuests {
    /// The current runs, each with its completed steps, by quest.
    pub runs: HashMap<QuestId, (Run, Vec<StepDone>)>,
    /// The prerequisites of quests that the reader has completed.
    pub completed: Vec<QuestId>,
    /// The facts that checks count.
    pub facts: Facts,
}

impl OwnQuests {
    /// Reads what a list of quests shows of a fan on the fan's date, in one to three statements.
    fn read(
        tx: &mut dyn QuestRead,
        user: UserId,
        book: &QuestBook,
        today: NaiveDate,
    ) -> Result<Self, StoreError> {
        let runs = tx.open_runs(user, today)?;
        let facts = if book.counts() { tx.facts(user)? } else { Facts::default() };
        Ok(Self::new(runs, tx.completed_among(user, &book.prerequisites())?, facts))
    }

    pub(crate) fn new(
        runs: impl IntoIterator<Item = (Run, Vec<StepDone>)>,
        completed: Vec<QuestId>,
        facts: Facts,
    ) -> Self {
        let runs = runs.into_iter().map(|(run, done)| (run.quest, (run, done))).collect();
        Self { runs, completed, facts }
    }

    /// The same with this run in place of the one that was read, if any.
    #[must_use]
    pub fn with_run(mut self, run: Option<(Run, Vec<StepDone>)>) -> Self {
        self.runs.extend(run.map(|(run, done)| (run.quest, (run, done))));
        self
    }
}

impl Query for ReadOwnQuests {
    const NAME: &'static str = "read_own_quests";
    type Ports = dyn QuestRead;
    type Output = OwnQuests;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn QuestRead, now: Timestamp) -> Outcome<OwnQuests, Infallible> {
        let Some((zone, visits)) = tx.visits_and_zone(self.user)? else { return Ok(OwnQuests::default()) };
        Ok(OwnQuests::read(tx, self.user, &self.book, today(zone, visits.as_ref(), now))?)
    }
}

/// Reads the status of a fan's daily visits.
#[derive(Debug, Clone, Copy)]
pub struct ReadVisits {
    /// The fan.
    pub user: UserId,
}

impl Query for ReadVisits {
    const NAME: &'static str = "read_visits";
    type Ports = dyn QuestRead;
    type Output = VisitStatus;
    type Refusal = NotActive;

    fn run(&self, tx: &mut dyn QuestRead, now: Timestamp) -> Outcome<VisitStatus, NotActive> {
        let (zone, visits) = tx.visits_and_zone(self.user)?.ok_or(Failure::Refused(NotActive))?;
        Ok(visit_status(visits.as_ref(), zone, now, &VisitRules::default()))
    }
}

/// Reads the progress of a fan whose account is active, in three statements.
pub struct ReadStandingInQuests {
    /// The fan.
    pub user: UserId,
}

impl Query for ReadStandingInQuests {
    const NAME: &'static str = "find_progress";
    type Ports = dyn QuestRead;
    type Output = Option<FanStanding>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn QuestRead, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Some(progress) = tx.progress_of(self.user)? else { return Ok(None) };
        let today = today(progress.zone, progress.visits.as_ref(), now);
        let runs = tx.open_runs(self.user, today)?;
        Ok(Some(FanStanding { user: self.user, progress, runs }))
    }
}

/// Reads the progress of the next portion of accounts.
pub struct ReadStandings {
    /// Account after which the portion starts.
    pub after: Option<UserId>,
    /// Maximum number of accounts.
    pub limit: u32,
}

/// Progress of a portion of accounts.
pub struct StandingsPortion {
    /// The active accounts of the portion.
    pub fans: Vec<FanStanding>,
    /// The last account of the portion.
    pub last: UserId,
}

impl Query for ReadStandings {
    const NAME: &'static str = "read_standings_in_quests";
    type Ports = dyn StandingsReadTx;
    /// `None` after the last account.
    type Output = Option<StandingsPortion>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn StandingsReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let fans = tx.fans_after(self.after, self.limit)?;
        let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(None) };
        let fans = portion_of_standings(tx, (*first, *last), now)?;
        Ok(Some(StandingsPortion { fans, last: *last }))
    }
}

/// Reads the progress of the active accounts from `first` to `last`, in their current runs.
pub fn portion_of_standings(
    tx: &mut dyn StandingsRead,
    (first, last): (UserId, UserId),
    now: Timestamp,
) -> Result<Vec<FanStanding>, StoreError> {
    // In any time zone, the local date is one of these three.
    let here = local_date(chrono_tz::UTC, now);
    let dates: Vec<NaiveDate> =
        [here.pred_opt(), Some(here), here.succ_opt()].into_iter().flatten().collect();
    tx.standings_between(first, last, &dates)
}

/// Finds the fans among these who have started one of these quests and not completed it.
pub struct ActiveAmong {
    /// The fans.
    pub users: Vec<UserId>,
    pub quests: Vec<QuestId>,
}

impl Query for ActiveAmong {
    const NAME: &'static str = "active_in_quests";
    type Ports = dyn QuestRead;
    type Output = Vec<UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn QuestRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.active_among(&self.users, &self.quests)?)
    }
}

/// Reads a fan's achievements.
#[derive(Debug, Clone)]
pub struct ReadAchievements {
    /// Fan whose achievements are read.
    pub user: UserId,
}

/// A fan's achievements with the facts that they depend on.
#[derive(Debug, Clone)]
pub struct OwnAchievements {
    /// Facts on which achievements depend.
    pub known: AchievementFacts,
    /// Unlocked achievements with the time of each.
    pub unlocked: Vec<(AchievementKey, Timestamp)>,
}

impl Query for ReadAchievements {
    const NAME: &'static str = "read_achievements";
    type Ports = dyn QuestRead;
    type Output = OwnAchievements;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn QuestRead, _now: Timestamp) -> Outcome<OwnAchievements, Infallible> {
        let known = tx.progress_of(self.user)?.map(|state| state.known()).unwrap_or_default();
        Ok(OwnAchievements { known, unlocked: tx.achievements_of(self.user)? })
    }
}

/// Reads the quests that a fan completed, from the records of points, newest first.
#[derive(Debug, Clone)]
pub struct ReadCompletedQuests {
    /// Fan whose quests are read.
    pub user: UserId,
    /// Maximum number of quests.
    pub limit: Limit,
    /// Key after which the page starts.
    pub after: Option<TimeKey>,
    /// All quests.
    pub book: Arc<QuestBook>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedQuest {
    /// Id of the quest.
    pub quest: QuestId,
    /// Current title, or the title at completion if the quest no longer exists.
    pub title: String,
    /// Points of its steps and its bonus.
    pub points: i64,
    /// Time of completion.
    pub at: Timestamp,
}

impl Query for ReadCompletedQuests {
    const NAME: &'static str = "read_completed_quests";
    type Ports = dyn PointsRead;
    type Output = Page<CompletedQuest>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PointsRead, _now: Timestamp) -> Outcome<Page<CompletedQuest>, Infallible> {
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
