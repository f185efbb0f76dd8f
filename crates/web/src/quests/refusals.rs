//! Maps the refusals of quests to error codes.

use crate::error::{ApiError, Code};
use crate::platform::no_longer;
use terrace_app::quests::{CompleteStepRefusal, StartQuestRefusal};
use terrace_quests::{StartRefusal, StepRefusal};

impl From<StartQuestRefusal> for ApiError {
    fn from(refusal: StartQuestRefusal) -> Self {
        match refusal {
            StartQuestRefusal::UnknownQuest => Self::new(Code::NotFound, "there is no such quest"),
            StartQuestRefusal::Rule(StartRefusal::QuestClosed) => Code::QuestClosed.into(),
            StartQuestRefusal::Rule(StartRefusal::PrerequisitesMissing) => Code::QuestLocked.into(),
            StartQuestRefusal::NotActive => no_longer(),
        }
    }
}

impl From<CompleteStepRefusal> for ApiError {
    fn from(refusal: CompleteStepRefusal) -> Self {
        match refusal {
            CompleteStepRefusal::UnknownStep | CompleteStepRefusal::Rule(StepRefusal::NoSuchStep) => {
                Self::new(Code::NotFound, "there is no such step")
            }
            CompleteStepRefusal::Rule(StepRefusal::QuestNotStarted) => Code::QuestNotStarted.into(),
            CompleteStepRefusal::Rule(StepRefusal::QuestClosed) => Code::QuestClosed.into(),
            CompleteStepRefusal::Rule(StepRefusal::QuestLocked) => Code::QuestLocked.into(),
            CompleteStepRefusal::Rule(StepRefusal::OutOfOrder) => Code::StepOutOfOrder.into(),
            CompleteStepRefusal::Rule(StepRefusal::ConditionNotMet) => Code::StepConditionNotMet.into(),
            CompleteStepRefusal::NotActive => no_longer(),
        }
    }
}
