//! A club: its name, colours, logo and texts.

use crate::content::{ContentFaults, Text};
use serde::Deserialize;
use std::collections::BTreeMap;
use terrace_kernel::text::{line, paragraphs};

/// Name of the file in messages.
const CLUB: &str = "club.toml";
/// The maximum length of a name, in characters.
const LONGEST_NAME: usize = 60;
/// The maximum length of a text, in characters.
const LONGEST_TEXT: usize = 2_000;
/// The texts that a club may set.
const TEXTS: [&str; 5] = ["tagline", "welcome", "about", "rules", "imprint"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Club {
    /// Version of the content. A server applies only a higher one by itself.
    pub version: u32,
    /// One line of 1 to 60 characters.
    pub name: String,
    /// Main and second colour, `#rrggbb`.
    pub colors: [String; 2],
    /// Path of the logo in the folder, if there is one.
    pub logo: Option<String>,
    /// Texts by name: `tagline`, `welcome`, `about`, `rules` and `imprint`, of 1 to 2,000 characters each.
    pub texts: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClubFile {
    version: u32,
    name: String,
    colors: [String; 2],
    logo: Option<String>,
    #[serde(default)]
    texts: BTreeMap<String, toml::Spanned<String>>,
}

impl Default for Club {
    fn default() -> Self {
        Self {
            version: 0,
            name: "Terrace".to_owned(),
            colors: ["#fbb03b".to_owned(), "#11161d".to_owned()],
            logo: None,
            texts: BTreeMap::new(),
        }
    }
}

impl Club {
    /// Parses a club and notes all faults.
    pub fn read(text: &str, faults: &mut ContentFaults) -> Option<Self> {
        let text = Text::new(CLUB, text);
        let file: ClubFile = text.whole(faults)?;
        if file.version == 0 {
            faults.add(CLUB, None, "version is a whole number from 1");
        }
        let name = line(&file.name, 1, LONGEST_NAME)
            .map_err(|error| faults.add(CLUB, None, format!("the name {error}")))
            .ok();
        for color in file.colors.iter().filter(|color| !is_color(color)) {
            faults.add(CLUB, None, format!("{color:?} is no colour of the form #rrggbb"));
        }
        let mut texts = BTreeMap::new();
        for (key, value) in file.texts {
            let at = text.line_of(value.span().start);
            if !TEXTS.contains(&key.as_str()) {
                faults.add(CLUB, at, format!("unknown text {key:?}; known are {}", TEXTS.join(", ")));
                continue;
            }
            match paragraphs(value.get_ref(), 1, LONGEST_TEXT) {
                Ok(value) => {
                    texts.insert(key, value);
                }
                Err(error) => faults.add(CLUB, at, format!("the text {key:?} {error}")),
            }
        }
        Some(Self { version: file.version, name: name?, colors: file.colors, logo: file.logo, texts })
    }
}

/// Whether the text is `#rrggbb`.
pub(crate) fn is_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Club>, Vec<String>) {
        let mut faults = ContentFaults::default();
        let club = Club::read(text, &mut faults);
        (club, faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_club_is_read_and_its_faults_are_named() {
        let (club, faults) = read(
            "version = 3\nname = \"Port Aldham\"\ncolors = [\"#fbb03b\", \"#11161D\"]\n[texts]\nwelcome = \"Come in.\"\n",
        );
        assert_eq!((club.unwrap().version, faults), (3, vec![]));
        let (club, faults) = read(
            "version = 0\nname = \"\"\ncolors = [\"red\", \"#11161d\"]\ncolour = 1\n[texts]\nhello = \"x\"\nabout = \"\"\n",
        );
        assert_eq!(club, None);
        assert_eq!(faults.len(), 6, "{faults:?}");
        assert!(
            faults.iter().any(|fault| fault.starts_with("club.toml:4: unknown field `colour`")),
            "{faults:?}"
        );
        assert!(
            faults.iter().any(|fault| fault.starts_with("club.toml:6: unknown text \"hello\"")),
            "{faults:?}"
        );
    }
}
