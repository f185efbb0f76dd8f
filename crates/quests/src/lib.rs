//! Quests, daily visits and achievements: what a fan may complete, when, and what it pays. Rules as pure functions; no
//! database, no web framework, no runtime.
//!
//! A [`Quest`] comes from content, which [`plan`] checks as a whole. A fan's way through it is a [`Run`] with the steps
//! done; [`advance`] says what one more step comes to and [`met_steps`] which steps their [`Check`]s complete, over the
//! [`Facts`] of the fan. [`visit`] is the daily visit, by the dates of the fan's own time zone.

mod achievement;
mod check;
mod content;
mod facts;
mod ids;
mod key;
mod own;
mod ports;
mod progress;
mod quest;
mod run;
mod standing;
mod title;
mod visits;

pub use achievement::{Achievement, AchievementFacts, Goal, MalformedGoal};
pub use check::{Check, CheckError, MalformedCheck};
pub use content::{
    AchievementDraft, CheckDraft, ContentError, ContentProblem, Known, QuestDraft, StepDraft, plan,
    plan_achievements,
};
pub use facts::{FactGroup, Facts};
pub use ids::{QuestId, StepId};
pub use key::{AchievementKey, QuestKey, StepKey};
pub use own::{OwnQuestRead, OwnStep, StandingsRead};
pub use ports::{FanProgress, QuestRead, QuestWrite};
pub use progress::{Advance, StartRefusal, StepRefusal, advance, is_due, is_left_complete, met_steps, start};
pub use quest::{Cadence, Quest, Step};
pub use run::{MalformedPeriod, Period, Run, RunStatus, StepDone};
pub use standing::FanStanding;
pub use title::{Mismatch, find_quest, find_step};
pub use visits::{
    Dates, MalformedDates, Visit, VisitOutcome, VisitRules, Visits, ZoneChange, first_instant, local_date,
    today, visit,
};
