//! What a fan tells about themselves.

use crate::confusable::{TooManyMarks, check_marks};
use chrono_tz::Tz;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::TeamId;
use terrace_kernel::text::{TextError, line, paragraphs};

/// A time zone of the IANA database, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeZone(Tz);

/// The text names no zone of the IANA database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a time zone of the IANA database, such as Europe/Lisbon")]
pub struct InvalidTimeZone;

impl TimeZone {
    /// The zone of accounts that name none.
    pub const UTC: Self = Self(Tz::UTC);

    /// The zone's name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The zone in chrono's terms.
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

/// A display name: one line of 1 to 50 characters.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn display_name(text: &str) -> Result<String, TextError> {
    line(text, 1, 50)
}

/// Why a text cannot be chosen as a display name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DisplayNameError {
    /// It is not one line of the right length.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Too many combining marks on one character.
    #[error(transparent)]
    Marks(#[from] TooManyMarks),
}

/// [`display_name`] for a new name, which must also pile up no combining marks. Imported names are exempt.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn choose_display_name(text: &str) -> Result<String, DisplayNameError> {
    let name = display_name(text)?;
    check_marks(&name)?;
    Ok(name)
}

/// A biography: up to 500 characters, line breaks allowed.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn bio(text: &str) -> Result<String, TextError> {
    paragraphs(text, 0, 500)
}

/// A change to one's profile: what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileChange {
    /// A new display name, checked by [`display_name`].
    pub display_name: Option<String>,
    /// A new biography, checked by [`bio`].
    pub bio: Option<String>,
    /// A new time zone.
    pub time_zone: Option<TimeZone>,
    /// A new favourite team, or none any more.
    pub favorite_team: Option<Option<TeamId>>,
    /// Whether boards list the fan.
    pub leaderboard_visible: Option<bool>,
}

impl ProfileChange {
    /// Whether it would change nothing at all.
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
