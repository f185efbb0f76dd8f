//! Quests as content describes them.

use crate::{Check, Period, QuestId, QuestKey, StepDone, StepId, StepKey};
use chrono::NaiveDate;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{TeamId, Timestamp, UnknownName};

/// How often a fan may go through a quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cadence {
    /// Once.
    Once,
    /// Once on each of the fan's local dates.
    Daily,
}

impl Cadence {
    /// Every cadence.
    pub const ALL: [Self; 2] = [Self::Once, Self::Daily];

    /// The stable name, as tables, content and answers hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Daily => "daily",
        }
    }

    /// The run that a fan is in, or would start, on a local date.
    pub const fn period(self, local_date: NaiveDate) -> Period {
        match self {
            Self::Once => Period::Once,
            Self::Daily => Period::Day(local_date),
        }
    }
}

impl fmt::Display for Cadence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Cadence {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|cadence| cadence.as_str() == text)
            .ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A step of a quest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its id; it stays as long as its key does.
    pub id: StepId,
    /// Its key; no two steps of a quest share one.
    pub key: StepKey,
    /// What it is called; a change of it changes nothing else.
    pub title: String,
    /// Its place in the quest, from 1.
    pub position: u32,
    /// Whether the quest is complete only with it.
    pub is_required: bool,
    /// What it pays when it is completed; 0 or more.
    pub points: i64,
    /// The condition under which it is complete; none for a step that the fan confirms.
    pub check: Option<Check>,
}

/// A quest. Content is where it is described; a quest in hand was checked by [`crate::plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quest {
    /// Its id; it stays as long as its key does.
    pub id: QuestId,
    /// Its key; no two quests share one.
    pub key: QuestKey,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// How often a fan may go through it.
    pub cadence: Cadence,
    /// The team on whose board its points count; none: the fan's favourite one.
    pub team: Option<TeamId>,
    /// What completing it pays, beside its steps; 0 or more.
    pub bonus: i64,
    /// Whether it starts by itself at registration.
    pub is_onboarding: bool,
    /// Whether a step may be completed only after all required steps before it.
    pub is_sequential: bool,
    /// Its first instant; none: it has always been open.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it; none: it stays open.
    pub closes_at: Option<Timestamp>,
    /// The quests that a fan must have completed before starting it.
    pub prerequisites: Vec<QuestId>,
    /// Its steps, by position.
    pub steps: Vec<Step>,
    /// Whether it was taken out of the content: it is kept for those who went through it, and is never open.
    pub is_retired: bool,
}

impl Quest {
    /// Whether it may be started, and its steps completed.
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.is_retired
            && self.opens_at.is_none_or(|opens| opens.is_over(now))
            && self.closes_at.is_none_or(|closes| !closes.is_over(now))
    }

    /// What the whole of it pays: its steps, required or not, and the bonus.
    pub fn total_points(&self) -> i64 {
        self.steps.iter().fold(self.bonus, |sum, step| sum.saturating_add(step.points))
    }

    /// The step of this id.
    pub fn step(&self, id: StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Whether it is complete with these steps done (`docs/spec.md` §3, rule 3): all its required ones, or all there
    /// are where none is required. Steps that content took away since do not count. A quest whose last open step was
    /// taken away is complete without a step being completed: who evaluates progress asks this too.
    pub fn is_complete(&self, done: &[StepDone]) -> bool {
        let is_done = |step: &Step| done.iter().any(|one| one.step == step.id);
        if self.steps.iter().any(|step| step.is_required) {
            self.steps.iter().all(|step| !step.is_required || is_done(step))
        } else {
            !self.steps.is_empty() && self.steps.iter().all(is_done)
        }
    }
}
