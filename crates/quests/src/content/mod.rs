//! Validation of quests and achievements as a whole, before any of them is stored.

use crate::achievement::MalformedGoal;
use crate::{
    Achievement, AchievementKey, Cadence, Check, CheckError, Goal, Quest, QuestId, QuestKey, Step, StepId,
    StepKey,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use terrace_kernel::text::{TextError, line, paragraphs};
use terrace_kernel::{MalformedKey, TeamId, Timestamp};
use uuid::Uuid;

/// The maximum points of a step or a bonus.
const MOST_POINTS: i64 = 1_000_000;
/// The maximum number of steps of a quest.
const MOST_STEPS: usize = 50;
/// The maximum length of a title, in characters.
const LONGEST_TITLE: usize = 120;
/// The maximum length of a description, in characters.
const LONGEST_DESCRIPTION: usize = 500;

/// A quest as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestDraft {
    /// Stable key, which identifies the quest across versions of the content.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// 0 to 500 characters.
    pub description: String,
    /// `once` or `daily`.
    pub cadence: String,
    /// Key of a team.
    pub team: Option<String>,
    /// 0 to 1,000,000 points.
    pub bonus: i64,
    /// Whether it starts automatically at registration; not allowed for a daily quest.
    pub is_onboarding: bool,
    /// Whether the steps must be completed in order.
    pub is_sequential: bool,
    /// The first instant at which it is open.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it closed.
    pub closes_at: Option<Timestamp>,
    /// Keys of the quests that must be completed first.
    pub prerequisites: Vec<String>,
    /// 1 to 50 steps, in order.
    pub steps: Vec<StepDraft>,
}

/// A step as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepDraft {
    /// Key within the quest, which identifies the step across versions of the content.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// Whether the step is required to complete the quest.
    pub is_required: bool,
    /// 0 to 1,000,000 points.
    pub points: i64,
    /// The condition of the step, if any.
    pub check: Option<CheckDraft>,
}

/// A condition as written in content: the name of a kind, and the given parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckDraft {
    /// Name of the kind.
    pub kind: String,
    /// The number of people.
    pub count: Option<i64>,
    /// The number of points.
    pub points: Option<i64>,
    /// The rank to reach on the global board, from 1.
    pub rank: Option<i64>,
}

/// An achievement as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AchievementDraft {
    /// Stable key, which identifies the achievement across versions of the content.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// 0 to 500 characters.
    pub description: String,
    /// Whether it is hidden from fans who do not have it.
    pub is_secret: bool,
    /// The goal, such as `followers:10`.
    pub goal: String,
}

/// A problem in the content and its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ContentError {
    /// Key of the quest or achievement as written.
    pub item: String,
    /// Index in its list, from 0; locates the item in the file where the key does not.
    pub place: usize,
    /// The step: its key as written and its index in the quest, from 0.
    pub step: Option<(String, usize)>,
    /// What is wrong.
    pub problem: ContentProblem,
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item, place, step, problem } = self;
        write!(f, "{item:?} (no. {})", place.saturating_add(1))?;
        if let Some((step, place)) = step {
            write!(f, ", step {step:?} (no. {})", place.saturating_add(1))?;
        }
        write!(f, ": {problem}")
    }
}

/// A problem in the content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentProblem {
    /// The key is malformed.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key was used before: by a quest, by an achievement, or by a step of the quest.
    #[error("the key is used twice")]
    KeyTwice,
    /// The title is invalid.
    #[error("the title {0}")]
    Title(TextError),
    /// The description is invalid.
    #[error("the description {0}")]
    Description(TextError),
    /// There is no cadence of this name.
    #[error("the cadence must be \"once\" or \"daily\"")]
    Cadence,
    /// No team has this key.
    #[error("there is no team {0:?}")]
    UnknownTeam(String),
    /// The points are negative, or too many.
    #[error("points must be 0 to {MOST_POINTS}")]
    Points,
    /// The quest closes before it opens, or at the same instant.
    #[error("it must open before it closes")]
    Window,
    /// A quest that is not stored yet closes before the content is loaded.
    #[error("it is new, and closes in the past")]
    ClosedBefore,
    /// A daily quest is marked as an onboarding quest.
    #[error("a daily quest cannot be an onboarding one")]
    DailyOnboarding,
    /// The quest has no steps, or too many.
    #[error("a quest has 1 to {MOST_STEPS} steps")]
    Steps,
    /// A prerequisite is not a quest of the content.
    #[error("there is no quest {0:?} that could come before it")]
    UnknownPrerequisite(String),
    /// A prerequisite is listed twice.
    #[error("{0:?} comes before it twice")]
    PrerequisiteTwice(String),
    /// The quest is a prerequisite of itself, directly or indirectly.
    #[error("it comes before itself: {}", .0.join(" after "))]
    Cycle(Vec<String>),
    /// An onboarding quest has prerequisites.
    #[error("an onboarding quest cannot have prerequisites")]
    OnboardingWaits,
    /// The check is invalid.
    #[error("the check {0}")]
    Check(CheckError),
    /// The goal is malformed.
    #[error("{0}")]
    Goal(MalformedGoal),
}

/// The state that content is validated against.
pub struct Known<'a> {
    /// The stored quests. Content of the same key keeps their ids, and the ids of their steps.
    pub quests: &'a [Quest],
    /// Looks up a team by its key.
    pub team: &'a dyn Fn(&str) -> Option<TeamId>,
    /// The instant after which a quest that is not stored yet must close, if this is checked.
    pub closes_after: Option<Timestamp>,
}

/// Validates content and builds the quests that it describes, in the order of the content. A quest or step whose key is
/// stored already keeps the stored id, and with it the progress of fans, even if its title changed; `new_id` generates
/// the ids of the others.
///
/// # Errors
///
/// Returns all problems, in the order of the content.
pub fn plan(
    drafts: &[QuestDraft],
    known: &Known<'_>,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Vec<Quest>, Vec<ContentError>> {
    let mut errors = Vec::new();
    let mut ids = BTreeMap::new();
    for draft in drafts {
        let before = known.quests.iter().find(|quest| quest.key.as_str() == draft.key);
        ids.entry(draft.key.as_str())
            .or_insert_with(|| before.map_or_else(|| QuestId::from_uuid(new_id()), |quest| quest.id));
    }
    let mut seen = BTreeSet::new();
    let mut quests = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        let mut found = Problems::default();
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        if let Some(cycle) = cycle(drafts, draft) {
            found.note(ContentProblem::Cycle(cycle));
        }
        quests.extend(quest(draft, known, &ids, &mut new_id, &mut found));
        errors.extend(found.0.into_iter().map(|(step, problem)| ContentError {
            item: draft.key.clone(),
            place,
            step,
            problem,
        }));
    }
    if errors.is_empty() { Ok(quests) } else { Err(errors) }
}

/// Validates content and builds the achievements that it describes, in the order of the content.
///
/// # Errors
///
/// Returns all problems, in the order of the content.
pub fn plan_achievements(drafts: &[AchievementDraft]) -> Result<Vec<Achievement>, Vec<ContentError>> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    let mut achievements = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        let mut found = Problems::default();
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        achievements.extend(achievement(draft, &mut found));
        errors.extend(found.0.into_iter().map(|(step, problem)| ContentError {
            item: draft.key.clone(),
            place,
            step,
            problem,
        }));
    }
    if errors.is_empty() { Ok(achievements) } else { Err(errors) }
}

/// The problems of an item, each in one of its steps or in the item as a whole.
#[derive(Default)]
struct Problems(Vec<(Option<(String, usize)>, ContentProblem)>);

impl Problems {
    fn note(&mut self, problem: ContentProblem) {
        self.0.push((None, problem));
    }

    /// Returns the value; on an error, notes the problem and returns `None`.
    fn take<T, E>(&mut self, value: Result<T, E>, problem: impl FnOnce(E) -> ContentProblem) -> Option<T> {
        value.map_err(|error| self.note(problem(error))).ok()
    }

    fn points(&mut self, points: i64) -> i64 {
        if !(0..=MOST_POINTS).contains(&points) {
            self.note(ContentProblem::Points);
        }
        points
    }
}

/// Builds a quest and notes all its problems. `None` if a required part is invalid.
fn quest(
    draft: &QuestDraft,
    known: &Known<'_>,
    ids: &BTreeMap<&str, QuestId>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Quest> {
    let key: Option<QuestKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let title = found.take(line(&draft.title, 1, LONGEST_TITLE), ContentProblem::Title);
    let description =
        found.take(paragraphs(&draft.description, 0, LONGEST_DESCRIPTION), ContentProblem::Description);
    let cadence: Option<Cadence> = found.take(draft.cadence.parse(), |_| ContentProblem::Cadence);
    let team = draft.team.as_ref().and_then(|key| {
        found.take((known.team)(key).ok_or(key), |key| ContentProblem::UnknownTeam(key.clone()))
    });
    let bonus = found.points(draft.bonus);
    if let (Some(opens), Some(closes)) = (draft.opens_at, draft.closes_at)
        && opens >= closes
    {
        found.note(ContentProblem::Window);
    }
    if draft.is_onboarding && cadence == Some(Cadence::Daily) {
        found.note(ContentProblem::DailyOnboarding);
    }
    if draft.is_onboarding && !draft.prerequisites.is_empty() {
        found.note(ContentProblem::OnboardingWaits);
    }
    let before = known.quests.iter().find(|quest| quest.key.as_str() == draft.key);
    if before.is_none()
        && draft.closes_at.zip(known.closes_after).is_some_and(|(closes, after)| closes <= after)
    {
        found.note(ContentProblem::ClosedBefore);
    }
    let prerequisites = prerequisites(draft, ids, found);
    let steps = steps(draft, before, new_id, found);
    Some(Quest {
        id: *ids.get(draft.key.as_str())?,
        key: key?,
        title: title?,
        description: description?,
        cadence: cadence?,
        team,
        bonus,
        is_onboarding: draft.is_onboarding,
        is_sequential: draft.is_sequential,
        opens_at: draft.opens_at,
        closes_at: draft.closes_at,
        prerequisites,
        steps,
        is_retired: false,
    })
}

fn prerequisites(draft: &QuestDraft, ids: &BTreeMap<&str, QuestId>, found: &mut Problems) -> Vec<QuestId> {
    let mut named = BTreeSet::new();
    let mut prerequisites = Vec::new();
    for key in &draft.prerequisites {
        if !named.insert(key) {
            found.note(ContentProblem::PrerequisiteTwice(key.clone()));
        }
        match ids.get(key.as_str()) {
            Some(id) => prerequisites.push(*id),
            None => found.note(ContentProblem::UnknownPrerequisite(key.clone())),
        }
    }
    prerequisites
}

fn steps(
    draft: &QuestDraft,
    before: Option<&Quest>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Vec<Step> {
    if !(1..=MOST_STEPS).contains(&draft.steps.len()) {
        found.note(ContentProblem::Steps);
    }
    let mut seen = BTreeSet::new();
    let mut steps = Vec::new();
    for ((place, draft), position) in draft.steps.iter().enumerate().zip(1..) {
        let mut wrong = Problems::default();
        if !seen.insert(draft.key.as_str()) {
            wrong.note(ContentProblem::KeyTwice);
        }
        let kept = before.and_then(|quest| quest.steps.iter().find(|step| step.key.as_str() == draft.key));
        let id = kept.map_or_else(|| StepId::from_uuid(new_id()), |step| step.id);
        steps.extend(step(draft, id, position, &mut wrong));
        found.0.extend(wrong.0.into_iter().map(|(_, problem)| (Some((draft.key.clone(), place)), problem)));
    }
    steps
}

fn step(draft: &StepDraft, id: StepId, position: u32, found: &mut Problems) -> Option<Step> {
    let key: Option<StepKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let title = found.take(line(&draft.title, 1, LONGEST_TITLE), ContentProblem::Title);
    let points = found.points(draft.points);
    let check = draft.check.as_ref().map(|check| found.take(check.parsed(), ContentProblem::Check));
    let check = match check {
        Some(check) => Some(check?),
        None => None,
    };
    Some(Step { id, key: key?, title: title?, position, is_required: draft.is_required, points, check })
}

impl CheckDraft {
    fn parsed(&self) -> Result<Check, CheckError> {
        let given = [("count", self.count), ("points", self.points), ("rank", self.rank)];
        Check::from_parts(&self.kind, given.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }
}

fn achievement(draft: &AchievementDraft, found: &mut Problems) -> Option<Achievement> {
    let key: Option<AchievementKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let title = found.take(line(&draft.title, 1, LONGEST_TITLE), ContentProblem::Title);
    let description =
        found.take(paragraphs(&draft.description, 0, LONGEST_DESCRIPTION), ContentProblem::Description);
    let goal: Option<Goal> = found.take(draft.goal.parse(), ContentProblem::Goal);
    Some(Achievement {
        key: key?,
        title: title?,
        description: description?,
        is_secret: draft.is_secret,
        goal: goal?,
    })
}

/// The shortest cycle from a quest over its prerequisites back to itself, as keys, if there is one.
fn cycle(drafts: &[QuestDraft], start: &QuestDraft) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut ways = vec![vec![start]];
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let Some(last) = way.last() else { continue };
            for key in &last.prerequisites {
                if *key == start.key {
                    let keys = way.iter().map(|draft| draft.key.clone());
                    return Some(keys.chain([start.key.clone()]).collect());
                }
                let Some(before) = drafts.iter().find(|draft| draft.key == *key) else { continue };
                if seen.insert(key) {
                    longer.push([&way[..], &[before]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests;
