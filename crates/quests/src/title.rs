//! Matching of imported rows that name a quest or a step by its title. Titles are used only for this; all other
//! references use keys.

use crate::{Quest, Step};

/// Why the step of an imported row cannot be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Mismatch {
    /// No quest has this key or title.
    #[error("no quest has this key or title")]
    UnknownQuest,
    /// Several quests have this title.
    #[error("several quests have this title")]
    AmbiguousQuest,
    /// No step has this key or title.
    #[error("no step has this key or title")]
    UnknownStep,
    /// Several steps have this key or title.
    #[error("several steps are called so")]
    AmbiguousStep,
}

/// The step that an imported row means, and its quest. Keys take precedence over titles, which are compared without
/// regard to case and the number of spaces. If the row names no quest, the keys and titles of all steps rank equally,
/// because keys of steps are unique only within a quest.
///
/// # Errors
///
/// Returns an error if there is no match, or several: the function never guesses.
pub fn find_step<'a>(
    quests: &'a [Quest],
    quest: Option<&str>,
    step: &str,
) -> Result<(&'a Quest, &'a Step), Mismatch> {
    let title = folded(step);
    let Some(quest) = quest else {
        let is_meant = |one: &Step| one.key.as_str() == step || folded(&one.title) == title;
        let meant = quests.iter().flat_map(|quest| quest.steps.iter().map(move |step| (quest, step)));
        return only(
            meant.filter(|(_, step)| is_meant(step)),
            Mismatch::UnknownStep,
            Mismatch::AmbiguousStep,
        );
    };
    let quest = find_quest(quests, quest)?;
    if let Some(step) = quest.steps.iter().find(|one| one.key.as_str() == step) {
        return Ok((quest, step));
    }
    let called = quest.steps.iter().filter(|one| folded(&one.title) == title);
    only(called, Mismatch::UnknownStep, Mismatch::AmbiguousStep).map(|step| (quest, step))
}

/// The quest that an imported row means, by its key, or else by its title.
///
/// # Errors
///
/// Returns an error if there is no match, or several.
pub fn find_quest<'a>(quests: &'a [Quest], quest: &str) -> Result<&'a Quest, Mismatch> {
    let titled = || {
        let wanted = folded(quest);
        let called = quests.iter().filter(|one| folded(&one.title) == wanted);
        only(called, Mismatch::UnknownQuest, Mismatch::AmbiguousQuest)
    };
    quests.iter().find(|one| one.key.as_str() == quest).map_or_else(titled, Ok)
}

/// The single item of `found`.
fn only<T>(
    mut found: impl Iterator<Item = T>,
    unknown: Mismatch,
    ambiguous: Mismatch,
) -> Result<T, Mismatch> {
    match (found.next(), found.next()) {
        (None, _) => Err(unknown),
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(ambiguous),
    }
}

fn folded(title: &str) -> String {
    title.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::Mismatch::{AmbiguousQuest, AmbiguousStep, UnknownQuest, UnknownStep};
    use super::*;
    use crate::quest::tests::{quest, step_id};

    #[test]
    fn a_title_means_the_step_that_is_called_so() {
        let mut quests = [quest("rrr")];
        for (step, title) in quests[0].steps.iter_mut().zip(["Follow a fan", "Überraschung", "follow  A fan"])
        {
            step.title = title.to_owned();
        }
        let found = |quests: &[Quest], title: &str| find_step(quests, None, title).map(|(_, step)| step.id);
        assert_eq!(found(&quests, " \tÜBERRASCHUNG\n"), Ok(step_id(2)));
        assert_eq!(found(&quests, "Follow a  FAN"), Err(AmbiguousStep));
        for unknown in ["", "Follow", "Follow a fan!", "Followafan"] {
            assert_eq!(found(&quests, unknown), Err(UnknownStep), "{unknown}");
        }
        quests[0].steps.truncate(2);
        assert_eq!(found(&quests, "Follow a  FAN"), Ok(step_id(1)));
    }

    #[test]
    fn a_step_is_known_by_keys_then_by_titles_and_never_guessed() {
        let named = |mut one: Quest, key: &str, title: &str, steps: [(&str, &str); 2]| {
            one.key = key.parse().unwrap();
            one.title = title.to_owned();
            for (step, (key, title)) in one.steps.iter_mut().zip(steps) {
                step.key = key.parse().unwrap();
                step.title = title.to_owned();
            }
            one
        };
        let quests = [
            named(quest("rr"), "welcome", "Welcome!", [("photo", "Add a photo"), ("team", "Photo")]),
            named(quest("rr"), "fans", "Daily", [("one", "Same"), ("two", "same")]),
            named(quest("rr"), "daily", "Every day", [("hello", "Say hello"), ("cheer", "Cheer")]),
            named(quest("rr"), "old", "every  DAY", [("hello", "Wave"), ("shout", "Cheer")]),
        ];
        for (of, step, found) in [
            (Some("welcome"), "photo", Ok("welcome/photo")),
            (Some(" WELCOME!"), "Photo", Ok("welcome/team")),
            (Some("welcome"), " add  A photo", Ok("welcome/photo")),
            // A key takes precedence over a title, for quests and for steps.
            (Some("daily"), "hello", Ok("daily/hello")),
            (Some("Daily"), "one", Ok("fans/one")),
            (Some("fans"), "Same", Err(AmbiguousStep)),
            (Some("Every day"), "hello", Err(AmbiguousQuest)),
            (Some("Welcome"), "photo", Err(UnknownQuest)),
            (Some(""), "photo", Err(UnknownQuest)),
            (Some("welcome"), "Cheer", Err(UnknownStep)),
            (None, "say HELLO", Ok("daily/hello")),
            (None, "shout", Ok("old/shout")),
            // The key of one step and the title of another; one key or one title shared by two.
            (None, "photo", Err(AmbiguousStep)),
            (None, "hello", Err(AmbiguousStep)),
            (None, "cheer", Err(AmbiguousStep)),
            (None, "Add a photo!", Err(UnknownStep)),
            (None, "", Err(UnknownStep)),
        ] {
            let name =
                |(quest, step): (&Quest, &Step)| format!("{}/{}", quest.key.as_str(), step.key.as_str());
            let expected = found.map(str::to_owned);
            assert_eq!(find_step(&quests, of, step).map(name), expected, "{of:?} {step}");
        }
    }
}
