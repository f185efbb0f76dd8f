//! Levels as content.

use crate::content::{ContentFaults, Entry, Text};
use serde::Deserialize;
use std::sync::{Arc, LazyLock};
use terrace_kernel::text::line;
use terrace_scoring::{Level, Levels, LevelsError};

/// Name of the file in messages.
const LEVELS: &str = "levels.toml";
/// The maximum length of a name, in characters.
const LONGEST_NAME: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelEntry {
    name: String,
    from: i64,
}

/// The embedded levels; a test ensures that they are valid.
pub fn embedded_levels() -> Arc<Levels> {
    static READ: LazyLock<Arc<Levels>> = LazyLock::new(|| {
        let text = include_str!("../../content/levels.toml");
        Arc::new(read_levels(text, &mut ContentFaults::default()).unwrap_or_default())
    });
    Arc::clone(&READ)
}

/// Parses levels and notes all faults.
pub fn read_levels(text: &str, faults: &mut ContentFaults) -> Option<Levels> {
    let text = Text::new(LEVELS, text);
    let [entries] = text.entries(["level"], faults);
    let (mut lines, mut levels) = (Vec::new(), Vec::new());
    for Entry { line: at, value } in text.read_all::<LevelEntry>(entries, faults) {
        match line(&value.name, 1, LONGEST_NAME) {
            Ok(name) => {
                lines.push(at);
                levels.push(Level { name, from: value.from });
            }
            Err(error) => faults.add(LEVELS, at, format!("the name {error}")),
        }
    }
    Levels::new(levels)
        .map_err(|error| {
            let place = match error {
                LevelsError::Order(place) => lines.get(place).copied(),
                LevelsError::First => lines.first().copied(),
                LevelsError::Count => None,
            };
            faults.add(LEVELS, place, error.to_string());
        })
        .ok()
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
        let mut faults = ContentFaults::default();
        let text = "[[level]]\nname = \"A\"\nfrom = 0\n[[level]]\nname = \"\"\nfrom = 5\n[[level]]\nname = \"B\"\nfrom = 0\n";
        assert_eq!(read_levels(text, &mut faults), None);
        let said = faults.to_string();
        assert!(
            said.contains("levels.toml:4: the name ") && said.contains("levels.toml:7: a level begins"),
            "{said}"
        );
    }
}
