//! Quests as content describes them.

use crate::{Check, Period, QuestId, QuestKey, StepDone, StepId, StepKey};
use chrono::NaiveDate;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{TeamId, Timestamp, UnknownName};

/// How often a fan may complete a quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cadence {
    /// A single time.
    Once,
    /// Once on each of the fan's local dates.
    Daily,
}

impl Cadence {
    /// Every cadence.
    pub const ALL: [Self; 2] = [Self::Once, Self::Daily];

    /// The stable name, as stored in tables, content and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Daily => "daily",
        }
    }

    /// The period of the run that a fan has, or would start, on a local date.
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
    /// Id of the step; as stable as its key.
    pub id: StepId,
    /// Key of the step, unique within its quest.
    pub key: StepKey,
    /// Display title; it identifies nothing.
    pub title: String,
    /// Position in the quest, from 1.
    pub position: u32,
    /// Whether the step is required to complete the quest.
    pub is_required: bool,
    /// Points paid for completing the step; 0 or more.
    pub points: i64,
    /// The check that completes the step; `None` for a step that the fan confirms.
    pub check: Option<Check>,
}

/// A quest that passed [`crate::plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quest {
    /// Id of the quest; as stable as its key.
    pub id: QuestId,
    /// Unique key of the quest.
    pub key: QuestKey,
    /// Display title.
    pub title: String,
    /// Description shown to fans.
    pub description: String,
    /// How often a fan may complete it.
    pub cadence: Cadence,
    /// The team on whose board its points count; `None`: the fan's favourite team.
    pub team: Option<TeamId>,
    /// Points paid for completing the quest, in addition to its steps; 0 or more.
    pub bonus: i64,
    /// Whether it starts automatically at registration.
    pub is_onboarding: bool,
    /// Whether a step may be completed only after all earlier required steps.
    pub is_sequential: bool,
    /// The first instant at which it is open; `None`: it has always been open.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it closed; `None`: it stays open.
    pub closes_at: Option<Timestamp>,
    /// The quests that a fan must have completed before starting it.
    pub prerequisites: Vec<QuestId>,
    /// The steps, ordered by position.
    pub steps: Vec<Step>,
    /// Whether it was removed from the content. It is kept for fans who have runs of it, and is never open.
    pub is_retired: bool,
}

impl Quest {
    /// Whether the quest has opened by `now`, even if it has closed or was retired since.
    pub fn was_open(&self, now: Timestamp) -> bool {
        self.opens_at.is_none_or(|opens| opens.is_over(now))
    }

    /// Whether the quest may be started and its steps completed at `now`.
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.is_retired && self.was_open(now) && self.closes_at.is_none_or(|closes| !closes.is_over(now))
    }

    /// Whether a prerequisite is missing among the quests that a fan has completed.
    pub fn is_locked(&self, completed: &[QuestId]) -> bool {
        !self.prerequisites.iter().all(|before| completed.contains(before))
    }

    /// The points that the whole quest pays: all steps, required or not, and the bonus.
    pub fn total_points(&self) -> i64 {
        self.steps.iter().fold(self.bonus, |sum, step| sum.saturating_add(step.points))
    }

    /// The step with this id.
    pub fn step(&self, id: StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Whether the quest is complete with these steps done (`docs/spec.md` §3, rule 3): all required steps, or all
    /// steps if none is required. Steps that were removed from the content do not count. Removing the last open step
    /// completes a quest without another step being done, so that progress checks must evaluate this too.
    pub fn is_complete(&self, done: &[StepDone]) -> bool {
        let is_done = |step: &Step| done.iter().any(|one| one.step == step.id);
        if self.steps.iter().any(|step| step.is_required) {
            self.steps.iter().all(|step| !step.is_required || is_done(step))
        } else {
            !self.steps.is_empty() && self.steps.iter().all(is_done)
        }
    }

    /// When the quest became complete with these steps done, whatever the order in which they were recorded: the latest
    /// time of the steps that count. `None` if it is not complete.
    pub fn complete_since(&self, done: &[StepDone]) -> Option<Timestamp> {
        if !self.is_complete(done) {
            return None;
        }
        let any_required = self.steps.iter().any(|step| step.is_required);
        let counts =
            |one: &&StepDone| self.step(one.step).is_some_and(|step| step.is_required || !any_required);
        done.iter().filter(counts).map(|one| one.at).max()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use uuid::Uuid;

    pub(crate) fn step_id(n: u32) -> StepId {
        StepId::from_uuid(Uuid::from_u128(1_000 + u128::from(n)))
    }

    pub(crate) fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    pub(crate) fn done(steps: &[u32]) -> Vec<StepDone> {
        steps.iter().map(|n| StepDone { step: step_id(*n), at: at(0) }).collect()
    }

    /// A quest with one step per letter: `r` required, `o` optional. Step n pays n points, and the bonus is 100.
    pub(crate) fn quest(steps: &str) -> Quest {
        let step = |(letter, position)| Step {
            id: step_id(position),
            key: format!("step-{position}").parse().unwrap(),
            title: format!("Step {position}"),
            position,
            is_required: letter == 'r',
            points: i64::from(position),
            check: None,
        };
        Quest {
            id: QuestId::from_uuid(Uuid::from_u128(1)),
            key: "welcome".parse().unwrap(),
            title: "Welcome".to_owned(),
            description: String::new(),
            cadence: Cadence::Once,
            team: None,
            bonus: 100,
            is_onboarding: false,
            is_sequential: false,
            opens_at: None,
            closes_at: None,
            prerequisites: Vec::new(),
            steps: steps.chars().zip(1..).map(step).collect(),
            is_retired: false,
        }
    }

    #[test]
    fn spec_3_rule_3_a_quest_is_complete_with_all_its_required_steps() {
        for (steps, completed, is_complete) in [
            ("rr", &[][..], false),
            ("rr", &[1], false),
            ("rr", &[2], false),
            ("rr", &[2, 1], true),
            ("ror", &[1, 3], true),
            ("ror", &[1, 2], false),
            // If no step is required, all are.
            ("oo", &[1], false),
            ("oo", &[1, 2], true),
            // Steps that were removed do not count.
            ("r", &[7], false),
            ("r", &[1, 7], true),
            ("", &[], false),
        ] {
            assert_eq!(quest(steps).is_complete(&done(completed)), is_complete, "{steps}, {completed:?}");
        }
    }

    #[test]
    fn spec_3_rule_3_a_quest_is_complete_since_the_last_of_its_required_steps() {
        for (steps, completed, since) in [
            ("ror", &[(1, 5), (3, 4)][..], Some(5)),
            ("ror", &[(3, 4), (2, 9), (1, 5)], Some(5)),
            ("ror", &[(1, 5), (2, 9)], None),
            ("oo", &[(1, 5), (2, 9)], Some(9)),
            ("r", &[(1, 5), (7, 9)], Some(5)),
            ("", &[], None),
        ] {
            let done: Vec<StepDone> =
                completed.iter().map(|(n, time)| StepDone { step: step_id(*n), at: at(*time) }).collect();
            assert_eq!(quest(steps).complete_since(&done), since.map(at), "{steps}, {completed:?}");
        }
    }

    #[test]
    fn a_quest_is_open_in_its_window() {
        for (opens, closes, now, is_open) in [
            (None, None, 5, true),
            (Some(5), None, 4, false),
            (Some(5), None, 5, true),
            (None, Some(5), 4, true),
            (None, Some(5), 5, false),
            (Some(3), Some(5), 4, true),
        ] {
            let windowed = Quest { opens_at: opens.map(at), closes_at: closes.map(at), ..quest("r") };
            assert_eq!(windowed.is_open(at(now)), is_open, "{opens:?} {closes:?} {now}");
            assert!(!Quest { is_retired: true, ..windowed }.is_open(at(now)));
        }
    }

    #[test]
    fn its_points_are_all_that_it_can_pay() {
        assert_eq!(quest("ror").total_points(), 1 + 2 + 3 + 100);
        let mut rich = quest("r");
        rich.steps[0].points = i64::MAX;
        assert_eq!(rich.total_points(), i64::MAX);
    }

    #[test]
    fn a_daily_quest_has_a_run_for_each_date() {
        let date = "2026-05-01".parse().unwrap();
        assert_eq!(Cadence::Once.period(date), Period::Once);
        assert_eq!(Cadence::Daily.period(date), Period::Day(date));
        for cadence in Cadence::ALL {
            assert_eq!(cadence.to_string().parse(), Ok(cadence));
        }
    }
}
