//! Quests and what fans do in them.

use crate::dto::{IdText, Time};
use serde::{Deserialize, Serialize};
use terrace_app::quests::{CompletedQuest as Completed, DailyVisit as VisitMade};
use terrace_kernel::Timestamp;
use terrace_quests::{
    Achievement as Known, AchievementFacts, Check, Quest as DomainQuest, QuestId, Run, RunStatus,
    Step as DomainStep, StepDone, StepId,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// The condition of a step: its kind, and with some a number.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepCheck {
    /// `follow_user`, `upload_profile_picture`, `choose_favorite_team`, `complete_profile`, `get_followers`,
    /// `join_leaderboard`, `points_threshold` or `rank_threshold`.
    kind: &'static str,
    /// How many fans, of `follow_user` and `get_followers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    count: Option<i64>,
    /// How many points of the season, of `points_threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    points: Option<i64>,
    /// Which rank or a better one, of `rank_threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rank: Option<i64>,
}

impl From<&Check> for StepCheck {
    fn from(check: &Check) -> Self {
        let named = |name: &str| check.parameter().filter(|(own, _)| *own == name).map(|(_, value)| value);
        Self { kind: check.kind(), count: named("count"), points: named("points"), rank: named("rank") }
    }
}

/// What a step is at for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepStatus {
    /// Not done.
    Available,
    /// Done.
    Completed,
}

/// A step of a quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestStep {
    /// Its id.
    id: Uuid,
    /// Its key within the quest.
    #[schema(example = "favorite-team")]
    key: String,
    /// What it is called.
    title: String,
    /// Its place in the quest.
    position: u32,
    /// Whether the quest is complete only with it.
    required: bool,
    /// What it pays.
    points: i64,
    /// Its condition; null for one that the fan confirms.
    check: Option<StepCheck>,
    /// What it is at for the reader.
    status: StepStatus,
    /// When the reader did it.
    completed_at: Option<Time>,
}

impl QuestStep {
    pub(crate) fn new(step: &DomainStep, done: &[StepDone]) -> Self {
        let done = done.iter().find(|done| done.step == step.id);
        Self {
            id: step.id.as_uuid(),
            key: step.key.to_string(),
            title: step.title.clone(),
            position: step.position,
            required: step.is_required,
            points: step.points,
            check: step.check.as_ref().map(StepCheck::from),
            status: if done.is_some() { StepStatus::Completed } else { StepStatus::Available },
            completed_at: done.map(|done| Time(done.at)),
        }
    }
}

/// What a quest is at for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuestStatus {
    /// Not started.
    Available,
    /// Started.
    Active,
    /// Completed; a daily one on the reader's date.
    Completed,
}

/// A quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Quest {
    /// Its id.
    id: Uuid,
    /// Its key.
    #[schema(example = "welcome")]
    key: String,
    /// What it is called.
    title: String,
    /// What it is about.
    description: String,
    /// `once` or `daily`.
    #[schema(example = "once")]
    cadence: &'static str,
    /// The team whose board its points count on.
    team_id: Option<Uuid>,
    /// What completing it pays on top.
    bonus: i64,
    /// What all of it pays.
    total_points: i64,
    /// Whether its steps are to be done in order.
    sequential: bool,
    /// Its first instant.
    opens_at: Option<Time>,
    /// The first instant after it.
    closes_at: Option<Time>,
    /// What it is at for the reader.
    status: QuestStatus,
    /// Its steps, in order.
    steps: Vec<QuestStep>,
}

impl Quest {
    pub(crate) fn new(quest: &DomainQuest, own: Option<&(Run, Vec<StepDone>)>) -> Self {
        let done = own.map(|(_, done)| done.as_slice()).unwrap_or_default();
        let status = match own.map(|(run, _)| run.status) {
            None => QuestStatus::Available,
            Some(RunStatus::Active) => QuestStatus::Active,
            Some(RunStatus::Completed) => QuestStatus::Completed,
        };
        Self {
            id: quest.id.as_uuid(),
            key: quest.key.to_string(),
            title: quest.title.clone(),
            description: quest.description.clone(),
            cadence: quest.cadence.as_str(),
            team_id: quest.team.map(Uuid::from),
            bonus: quest.bonus,
            total_points: quest.total_points(),
            sequential: quest.is_sequential,
            opens_at: quest.opens_at.map(Time),
            closes_at: quest.closes_at.map(Time),
            status,
            steps: quest.steps.iter().map(|step| QuestStep::new(step, done)).collect(),
        }
    }
}

/// Quests.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestList {
    /// Those that are open, in the order of the content.
    pub(crate) quests: Vec<Quest>,
}

/// A quest.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestEnvelope {
    /// The quest as it is now.
    pub(crate) quest: Quest,
}

/// Which quest to start.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartBody {
    /// Its id.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) quest_id: IdText<QuestId>,
}

/// Which step is done.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StepBody {
    /// Its id.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) step_id: IdText<StepId>,
}

/// Nothing needs to be said.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

/// What a step came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepResult {
    /// The step as it is now.
    pub(crate) step: QuestStep,
    /// What was paid now, the quest's bonus included; 0 where the step had been done.
    pub(crate) points_awarded: i64,
    /// Whether the quest was completed with it.
    pub(crate) quest_completed: bool,
    /// The quest as it is now.
    pub(crate) quest: Quest,
}

/// What a check of progress came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckResult {
    /// The steps that were completed by it.
    pub(crate) completed_steps: Vec<QuestStep>,
    /// The quests that were.
    pub(crate) completed_quests: Vec<Quest>,
    /// What they paid.
    pub(crate) points_awarded: i64,
}

/// What a daily visit came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitResult {
    /// Whether the day was paid before.
    already_completed: bool,
    /// What was paid now.
    points_awarded: i64,
    /// On how many days in a row one has visited.
    streak: u32,
    /// The first instant at which a visit pays again.
    next_visit_at: Time,
}

impl From<VisitMade> for VisitResult {
    fn from(visit: VisitMade) -> Self {
        Self {
            already_completed: visit.already_completed,
            points_awarded: visit.points,
            streak: visit.streak,
            next_visit_at: Time(visit.next_visit_at),
        }
    }
}

/// A quest that was completed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompletedQuest {
    /// Which.
    quest_id: Uuid,
    /// What it is called.
    title: String,
    /// What it paid, steps and bonus.
    points_earned: i64,
    /// When.
    completed_at: Time,
}

impl From<&Completed> for CompletedQuest {
    fn from(completed: &Completed) -> Self {
        Self {
            quest_id: completed.quest.as_uuid(),
            title: completed.title.clone(),
            points_earned: completed.points,
            completed_at: Time(completed.at),
        }
    }
}

/// A page of completed quests.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompletedQuestList {
    /// The newest first.
    pub(crate) quests: Vec<CompletedQuest>,
    /// Where the next page starts; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// An achievement.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Achievement {
    /// Its key.
    #[schema(example = "first-quest")]
    key: String,
    /// What it is called.
    title: String,
    /// What it is for.
    description: String,
    /// How far one is.
    progress: u64,
    /// How far one has to come.
    target: u64,
    /// Since when one has it; null before.
    unlocked_at: Option<Time>,
}

impl Achievement {
    pub(crate) fn new(achievement: &Known, known: &AchievementFacts, unlocked_at: Option<Timestamp>) -> Self {
        let (progress, target) = achievement.progress(known);
        Self {
            key: achievement.key.to_string(),
            title: achievement.title.clone(),
            description: achievement.description.clone(),
            // What was reached stays reached, whatever became of what it was for.
            progress: if unlocked_at.is_some() { target } else { progress },
            target,
            unlocked_at: unlocked_at.map(Time),
        }
    }
}

/// Achievements.
#[derive(Serialize, ToSchema)]
pub(crate) struct AchievementList {
    /// Those that one may see: secret ones once they are unlocked.
    pub(crate) achievements: Vec<Achievement>,
}
