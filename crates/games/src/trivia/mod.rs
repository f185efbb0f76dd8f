//! Trivia: rounds of questions, the time that answers take, their scores, and the commitment to the right options.

mod content;
mod round;
mod script;

pub use content::{KnownRounds, QuestionDraft, RoundDraft, RoundError, RoundProblem, Rounds, plan_rounds};
pub use round::{
    ANSWER_GRACE, ANSWER_TOLERANCE, CLOSING_DELAY, Milestone, QuestionTime, Round, RoundMode, RoundStatus,
};
pub use script::{Choice, MalformedScript, Question, RoundFault, Salt, Script, verify_round};

#[cfg(test)]
mod tests;
