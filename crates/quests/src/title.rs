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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::tests::{quest, step_id};

    #[test]
    fn a_title_means_the_step_that_is_called_so() {
        let mut quests = [quest("rrr")];
        for (step, title) in quests[0].steps.iter_mut().zip(["Follow a fan", "Überraschung", "follow  A fan"])
        {
            step.title = title.to_owned();
        }
        assert_eq!(match_by_title(&quests, " \tÜBERRASCHUNG\n"), Match::One(step_id(2)));
        assert_eq!(match_by_title(&quests, "Follow a  FAN"), Match::Several);
        for unknown in ["", "Follow", "Follow a fan!", "Followafan"] {
            assert_eq!(match_by_title(&quests, unknown), Match::None, "{unknown}");
        }
        quests[0].steps.truncate(2);
        assert_eq!(match_by_title(&quests, "Follow a  FAN"), Match::One(step_id(1)));
    }
}
