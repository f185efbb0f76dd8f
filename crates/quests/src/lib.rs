//! Quests, daily visits and achievements: the rules for what a fan may complete, when, and what it pays. Pure
//! functions: no database, no web framework, no runtime.
//!
//! [`plan`] validates content as a whole and turns it into [`Quest`]s. A fan's progress in a quest is a [`Run`] with
//! the completed steps. [`advance`] computes the result of completing a step, and [`met_steps`] the steps whose
//! [`Check`]s hold, given the [`Facts`] about the fan. [`visit`] implements the daily visit, by the dates of the fan's
//! own time zone.
//! ```
//! use terrace_kernel::CtxSeed;
//! use terrace_quests::{VisitOutcome, VisitRules, visit};
//!
//! let ctx = CtxSeed::new("2026-05-02T12:00:00Z".parse()?, [7; 32]).open();
//! let (lisbon, rules) = ("Europe/Lisbon".parse()?, VisitRules::default());
//! let first = visit(None, lisbon, ctx.now(), &rules);
//! let VisitOutcome::Paid { points, state, .. } = first.outcome else { panic!("a first visit is paid") };
//! assert_eq!(points, 10);
//! // Midnight of the next date in Lisbon.
//! assert_eq!(first.next_visit_at.to_string(), "2026-05-02T23:00:00.000Z");
//!
//! let again = visit(Some(&state), lisbon, ctx.now(), &rules);
//! assert!(matches!(again.outcome, VisitOutcome::AlreadyToday { streak: 1, .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

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
pub use ports::{FanLock, FanProgress, QuestBatch, QuestRead, QuestWrite, VisitsChange};
pub use progress::{Advance, StartRefusal, StepRefusal, advance, is_due, is_left_complete, met_steps, start};
pub use quest::{Cadence, Quest, Step};
pub use run::{MalformedPeriod, Period, Run, RunStatus, StepDone};
pub use standing::FanStanding;
pub use title::{Mismatch, find_quest, find_step};
pub use visits::{
    Dates, MalformedDates, Milestone, Visit, VisitOutcome, VisitRules, VisitStatus, Visits, ZoneChange,
    first_instant, local_date, next_date_at, streak_at_risk, today, visit, visit_status,
};
