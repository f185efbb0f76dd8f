//! A season: a span of time whose points are counted together.

use crate::SeasonId;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{Timestamp, UnknownName};

/// A season's stable key, such as `0.5`: 1 to 32 of `a-z`, `0-9`, `.`, `_` and `-`, beginning with a letter or
/// digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SeasonKey(String);

/// The text is not a valid season key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a season's key is 1 to 32 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit")]
pub struct MalformedSeasonKey;

impl SeasonKey {
    /// The key as stored in tables and commands.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SeasonKey {
    type Err = MalformedSeasonKey;

    fn from_str(text: &str) -> Result<Self, MalformedSeasonKey> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let fits = text.len() <= 32
            && text.bytes().next().is_some_and(plain)
            && text.bytes().all(|byte| plain(byte) || b"._-".contains(&byte));
        if fits { Ok(Self(text.to_owned())) } else { Err(MalformedSeasonKey) }
    }
}

impl fmt::Display for SeasonKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Validates the name of a season: one line of 1 to 80 characters.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn season_name(text: &str) -> Result<String, TextError> {
    line(text, 1, 80)
}

/// The status of a season.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeasonStatus {
    /// The time before points were counted by season (Season 0): its records have null scopes and count nowhere
    /// (`docs/spec.md`, scoring rule 6).
    Legacy,
    /// Announced, but not started.
    Planned,
    /// Current: its boards are shown by default.
    Active,
    /// Over: it stays readable, and only maintenance writes records of it.
    Closed,
}

impl SeasonStatus {
    /// Every status, in the order of a season's life.
    pub const ALL: [Self; 4] = [Self::Legacy, Self::Planned, Self::Active, Self::Closed];

    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Planned => "planned",
            Self::Active => "active",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for SeasonStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SeasonStatus {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A period to which points belong. One is active at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Season {
    /// Id of the season.
    pub id: SeasonId,
    /// Unique key of the season.
    pub key: SeasonKey,
    /// Display name, validated by [`season_name`].
    pub name: String,
    /// Its first instant.
    pub starts_at: Timestamp,
    /// The first instant after it; `None` if it has no end yet.
    pub ends_at: Option<Timestamp>,
    /// Current status.
    pub status: SeasonStatus,
}

impl Season {
    /// Whether the season covers an instant.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.starts_at <= at && !self.ends_at.is_some_and(|end| end.is_over(at))
    }

    /// Whether the season's boards are shown by default.
    pub fn is_active(&self) -> bool {
        self.status == SeasonStatus::Active
    }

    /// Whether records can belong to this season (`docs/spec.md`, scoring rule 6).
    pub fn is_counted(&self) -> bool {
        self.status != SeasonStatus::Legacy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain() {
        for key in ["0", "0.5", "1", "2027-spring", "a_b"] {
            assert_eq!(key.parse::<SeasonKey>().map(|key| key.to_string()), Ok(key.to_owned()));
        }
        for wrong in ["", ".5", "Season 1", "ö", "a/b", &"x".repeat(33)] {
            assert_eq!(wrong.parse::<SeasonKey>(), Err(MalformedSeasonKey), "{wrong}");
        }
    }

    #[test]
    fn a_status_is_read_as_it_is_written() {
        for status in SeasonStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        assert!("Active".parse::<SeasonStatus>().is_err());
    }

    #[test]
    fn a_season_begins_with_its_first_instant_and_is_over_at_its_end() {
        let at = Timestamp::from_micros;
        let season = |ends_at| Season {
            id: SeasonId::from_uuid(uuid::Uuid::nil()),
            key: "1".parse().unwrap(),
            name: "One".to_owned(),
            starts_at: at(10),
            ends_at,
            status: SeasonStatus::Active,
        };
        let bounded = season(Some(at(20)));
        assert_eq!([9, 10, 19, 20].map(|micros| bounded.covers(at(micros))), [false, true, true, false]);
        assert!(season(None).covers(at(i64::MAX)));
    }
}
