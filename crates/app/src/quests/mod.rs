//! Quests: content, and the progress of fans. The rules are in `terrace-quests`; this module connects them to points,
//! boards and the event log.
//!
//! # How progress is detected
//!
//! Five places detect that a fan has fulfilled a step or reached an achievement:
//!
//! 1. The write itself: the step that completes a quest, and the visit that makes the longest streak so far, grant
//!    their achievements in their own transaction.
//! 2. The fan's own request `check-progress`.
//! 3. The consumer `check-progress` (`checks`), moments after an event. The events concern follows, profiles, points,
//!    totals, restored accounts, started and completed quests, and completed steps. It takes up to 64 events at once.
//!    For events about points it compares the totals in the events with open steps and missing achievements
//!    (`by_points`), in one statement each, and checks only the fans who may have reached one.
//! 4. The job `sync-leaderboards` of `terrace-ops` reads the global board down to the lowest rank that an open quest
//!    requires, and checks the fans on it who are in such a quest. It finds ranks that improved because other fans lost
//!    points or left.
//! 5. The job `sync-quests` of `terrace-ops` scans all active accounts, 500 per query in four statements. It finds what no
//!    event reports: windows that open by the clock, changed content, new achievements, imported follows.
//!
//! Places 2 to 5 evaluate `check_fan` in the transaction that awards the points. The consumer calls it for every
//! affected fan. Places 2, 4 and 5 read first, in a query: `FanStanding::has_news` decides whether a check would change
//! anything, and only then does the command `CheckProgress` lock the account and evaluate the rule. A fan without news
//! costs three statements and no write. A scan checks 16 fans concurrently, each in a transaction of their own. A
//! failure for one fan is logged and does not delay the others; the run is then marked as failed and retried.
//!
//! A rank counts only while its season is active, and it is looked up only if a step depends on it
//! (`FanStanding::asks_rank`). When a fan's own points or listing change, the rank is counted only as far as the
//! required rank. An award itself has no additional cost.
//!
//! The response to `complete-step` is built from the run as the command left it, so no later read can contradict it.

mod by_points;
mod checks;
mod commands;
mod content;
pub mod export;
mod progress;
mod queries;
mod step_batch;
mod visit_batch;

pub use commands::{
    CheckProgress, CompleteStep, CompleteStepRefusal, DailyVisit, LoadQuests, StartQuest, StartQuestRefusal,
    StepCompleted, VisitDaily,
};
pub(crate) use commands::{give_milestone_coins, visit_award};
pub(crate) use queries::ReadQuestBook;
pub use queries::{
    ActiveAmong, CompletedQuest, OwnAchievements, OwnQuests, ReadAchievements, ReadCompletedQuests,
    ReadOwnQuests, ReadStandingInQuests, ReadStandings, ReadVisits, StandingsPortion, portion_of_standings,
};

pub(crate) use checks::{check_after, check_fan, grant_achievements};
pub use content::{QuestContent, QuestSummary, embedded_achievements, read_achievements};
pub(crate) use progress::{Progress, append_quest_event, not_given, pay_quest, pay_step};

use crate::App;
use crate::content::ContentFaults;

use crate::store::into_infallible;

use std::collections::BTreeSet;
use std::sync::Arc;
use terrace_kernel::{Failure, Outcome, StoreError, UserId};
use terrace_quests::{Achievement, Check, Quest, QuestId, Run, Step, StepDone, StepId};

/// All quests and achievements.
#[derive(Debug, Clone)]
pub struct QuestBook {
    quests: Vec<Quest>,
    achievements: Arc<[Achievement]>,
}

impl Default for QuestBook {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl QuestBook {
    pub(crate) fn new(quests: Vec<Quest>) -> Self {
        Self { quests, achievements: embedded_achievements() }
    }

    /// All quests, in the order of the content, retired ones included.
    pub fn quests(&self) -> &[Quest] {
        &self.quests
    }

    /// The quest with this id.
    pub fn quest(&self, id: QuestId) -> Option<&Quest> {
        self.quests.iter().find(|quest| quest.id == id)
    }

    /// The step with this id, with its quest.
    pub fn step(&self, id: StepId) -> Option<(&Quest, &Step)> {
        self.quests.iter().find_map(|quest| Some((quest, quest.step(id)?)))
    }

    /// The quests that other quests require, each once.
    pub(crate) fn prerequisites(&self) -> Vec<QuestId> {
        let required: BTreeSet<QuestId> =
            self.quests.iter().flat_map(|quest| quest.prerequisites.iter().copied()).collect();
        required.into_iter().collect()
    }

    /// Whether a step has a check that counts.
    pub(crate) fn counts(&self) -> bool {
        self.quests.iter().any(counts)
    }

    /// All achievements.
    pub fn achievements(&self) -> &[Achievement] {
        &self.achievements
    }
}

/// Whether a step of the quest has a check that counts.
fn counts(quest: &Quest) -> bool {
    quest.steps.iter().any(|step| step.check.is_some_and(|check| check.counts()))
}

/// Result of a progress check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Steps completed.
    pub steps: Vec<StepId>,
    /// Quests completed.
    pub quests: Vec<QuestId>,
    /// Points awarded.
    pub points: i64,
    /// Number of achievements granted.
    pub achievements: u64,
}

/// Why a fan's progress was not checked: the account was deleted or suspended in the meantime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotActive;

impl App {
    /// Returns the quests from a cache with a lifetime of one second, which changes by this process invalidate.
    pub async fn quest_book(&self) -> Result<Arc<QuestBook>, StoreError> {
        if let Some(book) = self.quest_books.get(&()) {
            return Ok(book);
        }
        let book = Arc::new(into_infallible(self.query(ReadQuestBook).await)?);
        self.quest_books.insert((), Arc::clone(&book));
        Ok(book)
    }

    /// Invalidates the cache of quests.
    pub fn forget_quest_book(&self) {
        self.quest_books.invalidate_all();
    }

    /// Loads quests by their keys; quests that the content no longer contains are retired.
    ///
    /// # Errors
    ///
    /// Refuses content that is inconsistent with the existing teams, and changes nothing.
    pub async fn load_quests(&self, content: QuestContent) -> Outcome<QuestSummary, ContentFaults> {
        let loaded = self.execute(LoadQuests { content }).await;
        self.forget_quest_book();
        loaded
    }

    /// Completes a step for a fan; also returns the quests that it was checked against.
    pub async fn complete_step(
        &self,
        user: UserId,
        step: StepId,
    ) -> Outcome<(Arc<QuestBook>, StepCompleted), CompleteStepRefusal> {
        let book = self.quest_book().await.map_err(Failure::Broken)?;
        let asks_rank =
            book.step(step).is_some_and(|(_, step)| matches!(step.check, Some(Check::RankThreshold { .. })));
        let rank = if asks_rank { self.global_rank(user).await.map_err(Failure::Broken)? } else { None };
        let command = CompleteStep { user, step, book: Arc::clone(&book), rank, awards: self.awards() };
        let completed = self.execute(command).await?;
        Ok((book, completed))
    }

    /// What the fan's view of a quest shows of the fan, with the run as a command left it. The rest is read only for a
    /// quest that shows it.
    pub async fn own_quest(
        &self,
        user: UserId,
        book: &Arc<QuestBook>,
        quest: &Quest,
        run: Option<(Run, Vec<StepDone>)>,
    ) -> Result<OwnQuests, StoreError> {
        if quest.prerequisites.is_empty() && !counts(quest) {
            return Ok(OwnQuests::default().with_run(run));
        }
        let own = into_infallible(self.query(ReadOwnQuests { user, book: Arc::clone(book) }).await)?;
        Ok(own.with_run(run))
    }

    /// Completes the steps and quests whose conditions a fan meets. If nothing is due, nothing is written.
    pub async fn check_progress(&self, user: UserId) -> Outcome<Checked, NotActive> {
        let book = self.quest_book().await.map_err(Failure::Broken)?;
        let standing =
            into_infallible(self.query(ReadStandingInQuests { user }).await).map_err(Failure::Broken)?;
        let standing = standing.ok_or(Failure::Refused(NotActive))?;
        let now = self.now();
        let rank = if standing.asks_rank(book.quests(), now) {
            self.global_rank(user).await.map_err(Failure::Broken)?
        } else {
            None
        };
        if !standing.has_news(book.quests(), book.achievements(), rank, now) {
            return Ok(Checked::default());
        }
        self.execute(CheckProgress { user, book, rank, awards: self.awards() }).await
    }

    /// A fan's rank on the global board of the active season.
    pub async fn global_rank(&self, user: UserId) -> Result<Option<u64>, StoreError> {
        let now = self.boards_now(Some(user)).await;
        let shown = match self.find_board(now, crate::boards::BoardChoice::Global, None).await {
            Ok(shown) => shown,
            Err(Failure::Refused(_)) => return Ok(None),
            Err(Failure::Broken(error)) => return Err(error),
        };
        if !shown.season.is_active() {
            return Ok(None);
        }
        let standing = self.standing(now, &shown, user).await?;
        Ok(standing.and_then(|standing| u64::try_from(standing.ranked.rank).ok()))
    }
}
