//! A club: its name, colours, logo and texts.

use crate::content::{ContentFaults, Fields, Text};
use std::collections::BTreeMap;
use terrace_kernel::Currency;
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
    /// The currency of prices and balances in money.
    pub currency: Currency,
    /// Path of the logo in the folder, if there is one, and the line that names it.
    pub logo: Option<(String, usize)>,
    /// Texts by name: `tagline`, `welcome`, `about`, `rules` and `imprint`, of 1 to 2,000 characters each.
    pub texts: BTreeMap<String, String>,
}

impl Default for Club {
    fn default() -> Self {
        Self {
            version: 0,
            name: "Terrace".to_owned(),
            colors: ["#fbb03b".to_owned(), "#11161d".to_owned()],
            currency: Currency::DEFAULT,
            logo: None,
            texts: BTreeMap::new(),
        }
    }
}

impl Club {
    /// Parses a club and notes all faults; what cannot be read is as in [`Club::default`]. `None` if nothing can be read.
    pub fn read(text: Option<&str>, faults: &mut ContentFaults) -> Option<Self> {
        Text::new(CLUB, text).whole(faults, |fields| {
            let default = Self::default();
            let version = fields.required("version", 1_i64);
            let version = u32::try_from(version).ok().filter(|version| *version > 0);
            if version.is_none() {
                fields.fault("version", "version is a whole number from 1");
            }
            let name = line(&fields.text("name", &default.name), 1, LONGEST_NAME)
                .map_err(|error| fields.fault("name", format!("the name {error}")));
            let colors = fields.required("colors", default.colors);
            for color in colors.iter().filter(|color| !is_color(color)) {
                fields.fault("colors", format!("{color:?} is no colour of the form #rrggbb"));
            }
            Self {
                version: version.unwrap_or_default(),
                name: name.unwrap_or(default.name),
                colors,
                currency: currency(fields),
                logo: fields.optional("logo").map(|logo| (logo, fields.line_of("logo"))),
                texts: fields.table("texts", texts).unwrap_or_default(),
            }
        })
    }
}

fn currency(fields: &mut Fields<'_, '_>) -> Currency {
    let Some(text) = fields.optional::<String>("currency") else { return Currency::DEFAULT };
    let currency = text.parse().ok().filter(|currency: &Currency| currency.decimals().is_some());
    currency.unwrap_or_else(|| {
        fields.fault("currency", format!("ISO 4217 lists no currency {text:?}"));
        Currency::DEFAULT
    })
}

fn texts(fields: &mut Fields<'_, '_>) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for (key, at, value) in fields.all::<String>() {
        if !TEXTS.contains(&key.as_str()) {
            fields.add(at, format!("unknown text {key:?}; known are {}", TEXTS.join(", ")));
            continue;
        }
        let Some(value) = value else { continue };
        match paragraphs(&value, 1, LONGEST_TEXT) {
            Ok(value) => drop(texts.insert(key, value)),
            Err(error) => fields.add(at, format!("the text {key:?} {error}")),
        }
    }
    texts
}

/// Whether the text is `#rrggbb`.
pub(crate) fn is_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Club, Vec<String>) {
        let mut faults = ContentFaults::default();
        let club = Club::read(Some(text), &mut faults);
        (club.unwrap_or_default(), faults.sorted().iter().map(ToString::to_string).collect())
    }

    fn starts(faults: &[String], starts: &[&str]) {
        assert_eq!(faults.len(), starts.len(), "{faults:#?}");
        for (fault, start) in faults.iter().zip(starts) {
            assert!(fault.starts_with(start), "{fault} does not start with {start}");
        }
    }

    #[test]
    fn a_club_is_read_and_its_faults_are_named() {
        let (club, faults) = read(
            "version = 3\nname = \"Port Aldham\"\ncolors = [\"#fbb03b\", \"#11161D\"]\ncurrency = \"JPY\"\n\
             [texts]\nwelcome = \"Come in.\"\n",
        );
        assert_eq!((club.version, club.currency.as_str(), faults), (3, "JPY", vec![]));
        let (_, faults) = read(
            "version = 0\nname = \"\"\ncolors = [\"red\", \"#11161d\"]\ncolour = 1\ncurrency = \"ZZZ\"\n[texts]\n\
             hello = \"x\"\nabout = \"\"\n",
        );
        starts(
            &faults,
            &[
                "club.toml:1: version is a whole number from 1",
                "club.toml:2: the name ",
                "club.toml:3: \"red\" is no colour",
                "club.toml:4: unknown field `colour`",
                "club.toml:5: ISO 4217 lists no currency \"ZZZ\"",
                "club.toml:7: unknown text \"hello\"",
                "club.toml:8: the text \"about\" ",
            ],
        );
    }

    #[test]
    fn every_field_that_is_missing_or_of_another_type_is_named() {
        let (_, faults) = read("");
        let missing =
            ["colors", "name", "version"].map(|name| format!("club.toml:1: missing field `{name}`"));
        assert_eq!(faults, missing);
        let (club, faults) =
            read("version = \"a\"\nname = 4\ncolors = [1, 2]\nlogo = 7\ntexts = 1\nzz = 1\ncurrency = 978\n");
        starts(
            &faults,
            &[
                "club.toml:1: `version`: invalid type",
                "club.toml:2: `name`: invalid type",
                "club.toml:3: `colors`: invalid type",
                "club.toml:4: `logo`: invalid type",
                "club.toml:5: `texts` ",
                "club.toml:6: unknown field `zz`",
                "club.toml:7: `currency`: invalid type",
            ],
        );
        assert_eq!((club.name.as_str(), club.currency), ("Terrace", Currency::EUR));
    }
}
