//! Levels as content.

use crate::content::{ContentFaults, Entry, Text};
use std::sync::{Arc, LazyLock};
use terrace_kernel::text::line;
use terrace_scoring::{Level, Levels, LevelsError};

/// Name of the file in messages.
const LEVELS: &str = "levels.toml";
/// The maximum length of a name, in characters.
const LONGEST_NAME: usize = 60;

/// The embedded levels; a test ensures that they are valid.
pub fn embedded_levels() -> Arc<Levels> {
    static READ: LazyLock<Arc<Levels>> = LazyLock::new(|| {
        let text = include_str!("../../content/levels.toml");
        Arc::new(read_levels(Some(text), &mut ContentFaults::default()).unwrap_or_default())
    });
    Arc::clone(&READ)
}

/// Parses levels and notes all faults; `None` if the table is not valid.
pub fn read_levels(text: Option<&str>, faults: &mut ContentFaults) -> Option<Levels> {
    let text = Text::new(LEVELS, text);
    let [entries] = text.entries(["level"], faults);
    let is_open = entries.is_open;
    let entries = text.read_all(entries, faults, |fields| {
        let name = line(&fields.text("name", "Level"), 1, LONGEST_NAME)
            .map_err(|error| fields.fault("name", format!("the name {error}")));
        (name.unwrap_or_default(), fields.required("from", None::<i64>))
    });
    let (mut places, mut levels) = (Vec::new(), Vec::new());
    for Entry { place, value: (name, from) } in entries {
        // A level of which the bound is not known cannot be compared, except that the first one begins at 0.
        let is_first = levels.is_empty();
        if let Some(from) = from.or(is_first.then_some(0)) {
            places.push(place);
            levels.push(Level { name, from });
        }
    }
    let errors = match Levels::new(levels) {
        Ok(levels) => return Some(levels),
        Err(errors) => errors,
    };
    for error in errors {
        let place = match error {
            LevelsError::First => places.first(),
            LevelsError::Order(place) => places.get(place),
            LevelsError::Count => places.last(),
        };
        match place {
            Some(place) => place.fault(faults, error.to_string()),
            None if is_open => {}
            None => faults.add(LEVELS, 1, error.to_string()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_levels_are_valid() {
        assert!(embedded_levels().iter().count() >= 5);
    }

    #[test]
    fn faults_name_their_line() {
        let said = |text: &str| {
            let mut faults = ContentFaults::default();
            read_levels(Some(text), &mut faults);
            faults.sorted().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let text = "[[level]]\nname = \"A\"\nfrom = 0\n[[level]]\nname = \"\"\nfrom = -5\n[[level]]\nname = \"B\"\nfrom = -5\n";
        let order = "a level begins at more points than the one before it";
        assert_eq!(
            said(text),
            [
                format!("levels.toml:4: {order}"),
                "levels.toml:5: the name must hold at least 1 visible character(s)".to_owned(),
                format!("levels.toml:7: {order}"),
            ]
        );
        assert_eq!(said(""), ["levels.toml:1: a table holds 1 to 200 levels"]);
        // A bound that cannot be read causes no other fault.
        assert_eq!(said("[[level]]\nname = \"A\"\n"), ["levels.toml:1: missing field `from`"]);
    }
}
