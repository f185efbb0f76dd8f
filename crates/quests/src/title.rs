//! Rows from elsewhere that know a step only by its title. Titles are read for this alone: everything else goes by keys.

use crate::{Quest, StepId};

/// The step that a title means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// It.
    One(StepId),
    /// No step is called so.
    None,
    /// Several steps are called so, and nobody can say which is meant.
    Several,
}

/// The step of these quests that is called so. Case and the number of blanks do not matter, everything else does.
pub fn match_by_title(quests: &[Quest], title: &str) -> Match {
    let wanted = folded(title);
    let mut called =
        quests.iter().flat_map(|quest| &quest.steps).filter(|step| folded(&step.title) == wanted);
    match (called.next(), called.next()) {
        (None, _) => Match::None,
        (Some(step), None) => Match::One(step.id),
        (Some(_), Some(_)) => Match::Several,
    }
}

fn folded(title: &str) -> String {
    title.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
