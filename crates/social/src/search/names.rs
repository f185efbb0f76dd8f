//! The names of fans and teams.

use crate::search::words::{is_part, is_unspaced};
use crate::topics::{JOINERS, fold};
use std::collections::BTreeMap;
use std::fmt;

/// Signs that are part of usernames.
const SIGNS: [char; 3] = ['.', '_', '-'];
/// The maximum number of places within a name from which it is found.
const PLACES: usize = 32;

/// A name in the form in which names are compared: normalised, case folded, with one space between words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameKey(String);

impl NameKey {
    /// The form of a text; `None` if it has only signs.
    pub fn of(text: &str) -> Option<Self> {
        let is_kept = |c: char| is_part(c) || SIGNS.contains(&c);
        let joined: String = fold(text).chars().filter(|c| !JOINERS.contains(c)).collect();
        // Removing joiners can make adjacent characters composable.
        let folded = fold(&joined);
        let words = folded.split(|c| !is_kept(c)).map(|word| word.trim_start_matches(SIGNS));
        let key = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        (!key.is_empty()).then_some(Self(key))
    }

    /// Wraps a key that was stored.
    pub fn stored(key: String) -> Self {
        Self(key)
    }

    /// The text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A text after all texts that begin with this key, in the order of their characters.
    pub fn end(&self) -> String {
        format!("{}{}", self.0, char::MAX)
    }
}

impl fmt::Display for NameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text by which the owner of a name is found: the name, or the name from one of its later words on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameEntry {
    /// The text.
    pub key: NameKey,
    /// Whether it is only a part of the name.
    pub is_part: bool,
}

/// The texts by which the owner of these names is found, in order and each once.
pub fn name_entries(names: &[&str]) -> Vec<NameEntry> {
    let mut all: BTreeMap<NameKey, bool> = BTreeMap::new();
    for key in names.iter().filter_map(|name| NameKey::of(name)) {
        for from in beginnings(&key.0) {
            all.entry(NameKey(from.to_owned())).or_insert(true);
        }
        all.insert(key, false);
    }
    all.into_iter().map(|(key, is_part)| NameEntry { key, is_part }).collect()
}

/// The name from each of its words on but the first, and from each character of a script without spaces.
fn beginnings(key: &str) -> impl Iterator<Item = &str> {
    let mut previous = None;
    let starts = key.char_indices().filter_map(move |(at, c)| {
        let before = previous.replace(c)?;
        let is_start = !SIGNS.contains(&c)
            && c != ' '
            && (before == ' ' || SIGNS.contains(&before) || is_unspaced(c) || is_unspaced(before));
        is_start.then_some(at)
    });
    starts.take(PLACES).filter_map(|at| key.get(at..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries(names: &[&str]) -> Vec<String> {
        let sign = |is_part| if is_part { "" } else { "=" };
        name_entries(names).iter().map(|entry| format!("{}{}", entry.key, sign(entry.is_part))).collect()
    }

    #[test]
    fn a_name_is_found_from_each_of_its_words_on() {
        for (names, expected) in [
            (&["Mia Carter"][..], &["carter", "mia carter="][..]),
            (&["mia_92", "Mia  CARTER!"], &["92", "carter", "mia carter=", "mia_92="]),
            (&["mia", "Mia"], &["mia="]),
            (&["Carter", "Mia Carter"], &["carter=", "mia carter="]),
            (&["j.doe-x_"], &["doe-x_", "j.doe-x_=", "x_"]),
            (&["O'Neil (GK)"], &["gk", "neil gk", "o neil gk="]),
            (&["山田 太郎"], &["太郎", "山田 太郎=", "田 太郎", "郎"]),
            (&["FC東京"], &["fc東京=", "京", "東京"]),
            (&["⚽", "…", ""], &[]),
        ] {
            assert_eq!(entries(names), expected, "{names:?}");
        }
    }

    #[test]
    fn a_search_text_keeps_the_signs_of_usernames() {
        for (text, expected) in
            [("Mia_", Some("mia_")), ("@mia", Some("mia")), ("-mia  c.", Some("mia c.")), ("_.-", None)]
        {
            assert_eq!(NameKey::of(text).as_ref().map(NameKey::as_str), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_found_by_its_beginnings(name in "[a-zA-Zß._ 一-丈é-]{1,30}", length in 1_usize..30) {
            let part: String = name.chars().take(length).collect();
            if let Some(asked) = NameKey::of(&part) {
                let end = asked.end();
                let is_found = |entry: &NameEntry| entry.key >= asked && entry.key.as_str() < end.as_str();
                prop_assert!(name_entries(&[&name]).iter().any(is_found));
            }
        }

        #[test]
        fn keys_are_stable_and_bounded(name in any::<String>()) {
            let entries = name_entries(&[&name]);
            prop_assert!(entries.len() <= PLACES + 1);
            for entry in entries {
                prop_assert_eq!(NameKey::of(entry.key.as_str()), Some(entry.key.clone()));
                prop_assert!(!entry.key.as_str().contains('\0'));
            }
        }
    }
}
