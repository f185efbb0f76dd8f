//! The parts of a profile that a fan can edit.

use crate::confusable::{TooManyMarks, check_marks};
use chrono_tz::Tz;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::TeamId;
use terrace_kernel::text::{TextError, line, paragraphs};

/// A time zone, identified by its name in the IANA database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeZone(Tz);

/// The text is not the name of a zone in the IANA database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a time zone of the IANA database, such as Europe/Lisbon")]
pub struct InvalidTimeZone;

impl TimeZone {
    /// The time zone of accounts that have not chosen one.
    pub const UTC: Self = Self(Tz::UTC);

    /// The name of the zone in the IANA database.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The zone as a `chrono_tz` value.
    pub fn tz(self) -> Tz {
        self.0
    }
}

impl FromStr for TimeZone {
    type Err = InvalidTimeZone;

    fn from_str(name: &str) -> Result<Self, InvalidTimeZone> {
        name.parse().map(Self).map_err(|_| InvalidTimeZone)
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Validates a display name: one line of 1 to 50 characters.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn display_name(text: &str) -> Result<String, TextError> {
    line(text, 1, 50)
}

/// Why a text is rejected as a new display name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DisplayNameError {
    /// It is not a single line of valid length.
    #[error(transparent)]
    Text(#[from] TextError),
    /// It has too many combining marks on one character.
    #[error(transparent)]
    Marks(#[from] TooManyMarks),
}

/// Like [`display_name`] for a new name, which must also not stack combining marks. Imported names are exempt.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn choose_display_name(text: &str) -> Result<String, DisplayNameError> {
    let name = display_name(text)?;
    check_marks(&name)?;
    Ok(name)
}

/// Validates a biography: up to 500 characters, line breaks allowed.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn bio(text: &str) -> Result<String, TextError> {
    paragraphs(text, 0, 500)
}

/// A change to a profile. A field that is `None` remains unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileChange {
    /// A new display name, validated by [`display_name`].
    pub display_name: Option<String>,
    /// A new biography, validated by [`bio`].
    pub bio: Option<String>,
    /// A new time zone.
    pub time_zone: Option<TimeZone>,
    /// A new favourite team, or `Some(None)` to remove it.
    pub favorite_team: Option<Option<TeamId>>,
    /// Whether the fan is listed on boards.
    pub leaderboard_visible: Option<bool>,
    /// Whether others see the fan's collectibles.
    pub collection_visible: Option<bool>,
}

impl ProfileChange {
    /// Reports whether the change has no effect.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_those_of_the_iana_database() {
        assert_eq!("Europe/Lisbon".parse::<TimeZone>().map(TimeZone::name), Ok("Europe/Lisbon"));
        for wrong in ["", "Mars/Olympus", "GMT+25", "europe/nowhere", "../etc/passwd"] {
            assert_eq!(wrong.parse::<TimeZone>(), Err(InvalidTimeZone), "{wrong}");
        }
    }

    #[test]
    fn display_names_and_bios() {
        assert_eq!(display_name(" Mia ").as_deref(), Ok("Mia"));
        assert!(display_name("").is_err() && display_name(&"x".repeat(51)).is_err());
        assert_eq!(choose_display_name(" Mia ❤️ ").as_deref(), Ok("Mia ❤️"));
        assert_eq!(choose_display_name("\u{301}Mia"), Err(DisplayNameError::Marks(TooManyMarks)));
        assert_eq!(
            choose_display_name("q\u{301}\u{302}\u{303}q"),
            Err(DisplayNameError::Marks(TooManyMarks))
        );
        assert_eq!(bio("").as_deref(), Ok(""));
        assert!(bio(&"x".repeat(501)).is_err());
    }
}
