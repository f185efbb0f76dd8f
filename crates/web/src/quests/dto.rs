//! Quests and what fans do in them.

use crate::dto::{IdText, Time, names};
use serde::{Deserialize, Serialize};
use terrace_app::QuestBook;
use terrace_app::quests::{CompletedQuest as Completed, DailyVisit as VisitMade, OwnQuests};
use terrace_kernel::Timestamp;
use terrace_quests::{
    Achievement as DomainAchievement, AchievementFacts, Check, Quest as DomainQuest, QuestId,
    Step as DomainStep, StepId, VisitStatus as Visits,
};
use utoipa::ToSchema;
use uuid::Uuid;

names! {
    /// How often a quest can be done: a single time, or once on each date.
    Cadence(terrace_quests::Cadence): terrace_quests::Cadence::ALL, terrace_quests::Cadence::as_str
}

names! {
    /// The status of a quest that was started.
    RunStatus(terrace_quests::RunStatus): terrace_quests::RunStatus::ALL, terrace_quests::RunStatus::as_str
}

/// The condition of a step.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum StepCheck {
    /// Follow people.
    FollowUser {
        /// The number of people.
        #[schema(minimum = 1)]
        count: u32,
    },
    /// Have a profile picture.
    UploadProfilePicture,
    /// Have a favourite team.
    ChooseFavoriteTeam,
    /// Have a display name, a biography, a picture and a favourite team.
    CompleteProfile,
    /// Be followed.
    GetFollowers {
        /// The number of followers.
        #[schema(minimum = 1)]
        count: u32,
    },
    /// Have joined a leaderboard.
    JoinLeaderboard,
    /// Have points in the season.
    PointsThreshold {
        /// The number of points.
        #[schema(minimum = 1)]
        points: i64,
    },
    /// Reach a rank on the global leaderboard.
    RankThreshold {
        /// The rank, or a better one.
        #[schema(minimum = 1)]
        rank: u32,
    },
}

impl From<&Check> for StepCheck {
    fn from(check: &Check) -> Self {
        match *check {
            Check::FollowUser { count } => Self::FollowUser { count },
            Check::UploadProfilePicture => Self::UploadProfilePicture,
            Check::ChooseFavoriteTeam => Self::ChooseFavoriteTeam,
            Check::CompleteProfile => Self::CompleteProfile,
            Check::GetFollowers { count } => Self::GetFollowers { count },
            Check::JoinLeaderboard => Self::JoinLeaderboard,
            Check::PointsThreshold { points } => Self::PointsThreshold { points },
            Check::RankThreshold { rank } => Self::RankThreshold { rank },
        }
    }
}

/// The reader's status in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepStatus {
    /// Not completed.
    Available,
    /// Completed.
    Completed,
}

/// The reader's progress towards the target of a check.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepProgress {
    /// The current value, at most the target.
    value: u64,
    /// The value that completes the step.
    target: u64,
}

/// A step of a quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestStep {
    /// The id of the step.
    id: Uuid,
    /// The key of the step within the quest.
    #[schema(example = "favorite-team")]
    key: String,
    /// The title of the step.
    title: String,
    /// The position in the quest.
    position: u32,
    /// Whether the step is required to complete the quest.
    required: bool,
    /// The points of the step.
    points: i64,
    /// The condition; null for a step that the fan confirms.
    #[schema(required)]
    check: Option<StepCheck>,
    /// The reader's status.
    status: StepStatus,
    /// When the reader completed the step.
    #[schema(required)]
    completed_at: Option<Time>,
    /// The reader's progress if the check counts fans, points or parts of the profile; null otherwise.
    #[schema(required)]
    progress: Option<StepProgress>,
}

impl QuestStep {
    pub(crate) fn new(step: &DomainStep, quest: QuestId, own: &OwnQuests) -> Self {
        let done = own.runs.get(&quest).and_then(|(_, done)| done.iter().find(|done| done.step == step.id));
        let progress = step.check.filter(Check::counts).map(|check| {
            let (value, target) = check.progress(&own.facts);
            // A completed step stays complete if the value falls later.
            StepProgress { value: if done.is_some() { target } else { value }, target }
        });
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
            progress,
        }
    }
}

/// A quest that must be completed before another one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequiredQuest {
    /// The id of the quest.
    quest_id: Uuid,
    /// The title of the quest.
    title: String,
    /// Whether the reader has completed it, on any day.
    completed: bool,
}

/// The reader's status in a quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuestStatus {
    /// Not started.
    Available,
    /// Started.
    Active,
    /// Completed; for a daily quest, on the reader's date.
    Completed,
}

/// A quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Quest {
    /// The id of the quest.
    id: Uuid,
    /// The stable key of the quest.
    #[schema(example = "welcome")]
    key: String,
    /// The title of the quest.
    title: String,
    /// The description of the quest.
    description: String,
    /// How often the quest can be done.
    cadence: Cadence,
    /// The team whose leaderboard the points count on.
    #[schema(required)]
    team_id: Option<Uuid>,
    /// The points of completing the quest, in addition to its steps.
    bonus: i64,
    /// The points of the quest and all its steps.
    total_points: i64,
    /// Whether the steps must be completed in order.
    sequential: bool,
    /// The first instant at which the quest is open.
    #[schema(required)]
    opens_at: Option<Time>,
    /// The first instant after it is open.
    #[schema(required)]
    closes_at: Option<Time>,
    /// The reader's status.
    status: QuestStatus,
    /// The quests that must be completed first.
    requires: Vec<RequiredQuest>,
    /// Whether the reader can neither start the quest nor complete its steps, because a required quest is not
    /// completed; false for a completed quest.
    locked: bool,
    /// The steps, in order.
    steps: Vec<QuestStep>,
}

impl Quest {
    pub(crate) fn new(quest: &DomainQuest, book: &QuestBook, own: &OwnQuests) -> Self {
        let status = match own.runs.get(&quest.id).map(|(run, _)| run.status) {
            None => QuestStatus::Available,
            Some(terrace_quests::RunStatus::Active) => QuestStatus::Active,
            Some(terrace_quests::RunStatus::Completed) => QuestStatus::Completed,
        };
        let required = |id: &QuestId| {
            book.quest(*id).map(|before| RequiredQuest {
                quest_id: id.as_uuid(),
                title: before.title.clone(),
                completed: own.completed.contains(id),
            })
        };
        Self {
            id: quest.id.as_uuid(),
            key: quest.key.to_string(),
            title: quest.title.clone(),
            description: quest.description.clone(),
            cadence: Cadence(quest.cadence),
            team_id: quest.team.map(Uuid::from),
            bonus: quest.bonus,
            total_points: quest.total_points(),
            sequential: quest.is_sequential,
            opens_at: quest.opens_at.map(Time),
            closes_at: quest.closes_at.map(Time),
            status,
            requires: quest.prerequisites.iter().filter_map(required).collect(),
            locked: status != QuestStatus::Completed && quest.is_locked(&own.completed),
            steps: quest.steps.iter().map(|step| QuestStep::new(step, quest.id, own)).collect(),
        }
    }
}

/// Quests.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestList {
    /// The open quests, in the order of the content.
    quests: Vec<Quest>,
}

impl QuestList {
    /// The open quests with the reader's progress.
    pub(crate) fn open(book: &QuestBook, own: &OwnQuests, now: Timestamp) -> Self {
        let open = book.quests().iter().filter(|quest| quest.is_open(now));
        Self { quests: open.map(|quest| Quest::new(quest, book, own)).collect() }
    }
}

/// A quest.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestEnvelope {
    /// The quest in its current state.
    pub(crate) quest: Quest,
}

/// The quest to start.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartBody {
    /// The id of the quest.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) quest_id: IdText<QuestId>,
}

/// The step to complete.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StepBody {
    /// The id of the step.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) step_id: IdText<StepId>,
}

/// An empty body.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

/// The result of completing a step.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepResult {
    /// The step in its current state.
    pub(crate) step: QuestStep,
    /// The points paid by this request, including the bonus of the quest; 0 if the step was completed before.
    pub(crate) points_awarded: i64,
    /// Whether the step completed the quest.
    pub(crate) quest_completed: bool,
    /// The quest in its current state.
    pub(crate) quest: Quest,
}

/// The result of a progress check.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckResult {
    /// The steps that the check completed.
    pub(crate) completed_steps: Vec<QuestStep>,
    /// The quests that the check completed.
    pub(crate) completed_quests: Vec<Quest>,
    /// The points paid for them.
    pub(crate) points_awarded: i64,
}

/// A length of the streak of daily visits that pays more than a visit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitMilestone {
    /// The length of the streak.
    days: u32,
    /// The points in addition to those of the visit.
    points: i64,
    /// The coins.
    coins: i64,
}

/// The caller's daily visits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitStatus {
    /// The number of consecutive dates with a visit; 0 if the streak is broken.
    streak: u32,
    /// The longest streak so far.
    longest_streak: u32,
    /// The number of further dates that may be missed without breaking the streak.
    freezes: u32,
    /// Whether the fan's date is paid.
    visited_today: bool,
    /// The first instant at which a visit pays: the start of the next date, or of the fan's date if it is not paid.
    next_visit_at: Time,
    /// The next milestone; null after the last one.
    #[schema(required)]
    next_milestone: Option<VisitMilestone>,
}

impl From<Visits> for VisitStatus {
    fn from(visits: Visits) -> Self {
        Self {
            streak: visits.streak,
            longest_streak: visits.longest,
            freezes: visits.freezes,
            visited_today: visits.visited_today,
            next_visit_at: Time(visits.next_visit_at),
            next_milestone: visits.next_milestone.map(|next| VisitMilestone {
                days: next.days,
                points: next.points,
                coins: next.coins,
            }),
        }
    }
}

/// The result of a daily visit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitResult {
    /// Whether the date was paid before.
    already_completed: bool,
    /// The points paid by this request.
    points_awarded: i64,
    /// The coins paid by this request.
    coins_awarded: i64,
    /// The number of consecutive dates with a visit.
    streak: u32,
    /// The longest streak so far.
    longest_streak: u32,
    /// The number of further dates that may be missed without breaking the streak.
    freezes: u32,
    /// Whether the fan's date is paid.
    visited_today: bool,
    /// The first instant at which a visit pays again.
    next_visit_at: Time,
    /// The next milestone; null after the last one.
    #[schema(required)]
    next_milestone: Option<VisitMilestone>,
}

impl From<VisitMade> for VisitResult {
    fn from(visit: VisitMade) -> Self {
        let VisitStatus { streak, longest_streak, freezes, visited_today, next_visit_at, next_milestone } =
            visit.status.into();
        Self {
            already_completed: visit.already_completed,
            points_awarded: visit.points,
            coins_awarded: visit.coins,
            streak,
            longest_streak,
            freezes,
            visited_today,
            next_visit_at,
            next_milestone,
        }
    }
}

/// A completed quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompletedQuest {
    /// The id of the quest.
    quest_id: Uuid,
    /// The title of the quest.
    title: String,
    /// The points of the quest, steps and bonus included.
    points_earned: i64,
    /// When the quest was completed.
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
    /// The completed quests, newest first.
    pub(crate) quests: Vec<CompletedQuest>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// An achievement.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Achievement {
    /// The key of the achievement.
    #[schema(example = "first-quest")]
    key: String,
    /// The title of the achievement.
    title: String,
    /// The description of the achievement.
    description: String,
    /// The caller's progress.
    progress: u64,
    /// The progress that unlocks the achievement.
    target: u64,
    /// When it was unlocked; null before.
    #[schema(required)]
    unlocked_at: Option<Time>,
}

impl Achievement {
    pub(crate) fn new(
        achievement: &DomainAchievement,
        known: &AchievementFacts,
        unlocked_at: Option<Timestamp>,
    ) -> Self {
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
    /// The visible achievements: secret ones once they are unlocked.
    pub(crate) achievements: Vec<Achievement>,
}
