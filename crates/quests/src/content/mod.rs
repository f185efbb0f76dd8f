//! What content says, checked as a whole before anything of it is kept.

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

/// The most that a step or a bonus may pay.
const MOST_POINTS: i64 = 1_000_000;
/// The most steps that a quest may have.
const MOST_STEPS: usize = 50;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 120;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 500;

/// A quest as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestDraft {
    /// Its key: what stays when everything else changes.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// 0 to 500 characters.
    pub description: String,
    /// `once` or `daily`.
    pub cadence: String,
    /// The key of a team.
    pub team: Option<String>,
    /// 0 to 1,000,000 points.
    pub bonus: i64,
    /// Whether it starts by itself at registration; not for a daily one.
    pub is_onboarding: bool,
    /// Whether its steps are to be done in order.
    pub is_sequential: bool,
    /// Its first instant.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it.
    pub closes_at: Option<Timestamp>,
    /// The keys of the quests that come before it.
    pub prerequisites: Vec<String>,
    /// 1 to 50 steps, in order.
    pub steps: Vec<StepDraft>,
}

/// A step as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepDraft {
    /// Its key within the quest: what stays when everything else changes.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// Whether the quest is complete only with it.
    pub is_required: bool,
    /// 0 to 1,000,000 points.
    pub points: i64,
    /// Its condition.
    pub check: Option<CheckDraft>,
}

/// A condition as content has it: the name of a kind, and the parameters that were given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckDraft {
    /// The name of the kind.
    pub kind: String,
    /// How many people.
    pub count: Option<i64>,
    /// How many points.
    pub points: Option<i64>,
    /// Which rank.
    pub rank: Option<i64>,
}

/// An achievement as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AchievementDraft {
    /// Its key: what stays when everything else changes.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// 0 to 500 characters.
    pub description: String,
    /// Whether it is shown only to those who have it.
    pub is_secret: bool,
    /// What it is for, such as `followers:10`.
    pub goal: String,
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ContentError {
    /// The key of the quest or achievement as it stands there.
    pub item: String,
    /// Its place among its kind, from 0: what finds it in the file where the key does not.
    pub place: usize,
    /// The step: its key as it stands there and its place in the quest, from 0.
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

/// What is wrong with content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentProblem {
    /// The key is none.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key was used before: by a quest, by an achievement, or by a step of the quest.
    #[error("the key is used twice")]
    KeyTwice,
    /// The title cannot be taken.
    #[error("the title {0}")]
    Title(TextError),
    /// The description cannot be taken.
    #[error("the description {0}")]
    Description(TextError),
    /// The cadence is none.
    #[error("the cadence must be \"once\" or \"daily\"")]
    Cadence,
    /// No team has this key.
    #[error("there is no team {0:?}")]
    UnknownTeam(String),
    /// Too few points, or too many.
    #[error("points must be 0 to {MOST_POINTS}")]
    Points,
    /// The quest closes before it opens, or at once.
    #[error("it must open before it closes")]
    Window,
    /// A daily quest would start at registration.
    #[error("a daily quest cannot be an onboarding one")]
    DailyOnboarding,
    /// The quest has no step, or too many.
    #[error("a quest has 1 to {MOST_STEPS} steps")]
    Steps,
    /// A prerequisite is no quest of the content.
    #[error("there is no quest {0:?} that could come before it")]
    UnknownPrerequisite(String),
    /// A prerequisite is named twice.
    #[error("{0:?} comes before it twice")]
    PrerequisiteTwice(String),
    /// The quest comes before itself.
    #[error("it comes before itself: {}", .0.join(" after "))]
    Cycle(Vec<String>),
    /// A quest that starts at registration would wait for another one.
    #[error("an onboarding quest cannot have prerequisites")]
    OnboardingWaits,
    /// The check is none.
    #[error("the check {0}")]
    Check(CheckError),
    /// The goal is none.
    #[error("{0}")]
    Goal(MalformedGoal),
}

/// What content is checked against, and what it keeps.
pub struct Known<'a> {
    /// The quests that there are: those of the same key keep their ids, as do their steps.
    pub quests: &'a [Quest],
    /// The team of a key.
    pub team: &'a dyn Fn(&str) -> Option<TeamId>,
}

/// The quests that content describes, by the order in which it does. Ids go by keys: a quest or step whose key was there
/// before keeps its id, and with it what fans did in it, whatever its title has become; `new_id` names the others.
///
/// # Errors
///
/// Everything that is wrong, in the order of the content.
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

/// The achievements that content describes, by the order in which it does.
///
/// # Errors
///
/// Everything that is wrong, in the order of the content.
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

/// What was found wrong with an item, in one of its steps or in it as a whole.
#[derive(Default)]
struct Problems(Vec<(Option<(String, usize)>, ContentProblem)>);

impl Problems {
    fn note(&mut self, problem: ContentProblem) {
        self.0.push((None, problem));
    }

    /// The value, or `None` and a note of what is wrong with it.
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

/// A quest, unless something that it is made of is missing; whatever is wrong is noted.
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
    let prerequisites = prerequisites(draft, ids, found);
    let before = known.quests.iter().find(|quest| quest.key.as_str() == draft.key);
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

/// The shortest way from a quest over what comes before it back to itself, as keys, if there is one.
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
