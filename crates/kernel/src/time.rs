//! Instants as the service stores them: whole microseconds, UTC.

use crate::num;
use chrono::{DateTime, Datelike, SecondsFormat, Timelike, Utc};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// An instant in microseconds since the Unix epoch. It is truncated to that precision when it is created, so that a
/// value read back from either database equals the value written. Bounded to the years 1 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// 0001-01-01T00:00:00Z.
const FIRST: i64 = -62_135_596_800_000_000;
/// 9999-12-31T23:59:59.999999Z.
const LAST: i64 = 253_402_300_799_999_999;

/// The text is not an RFC 3339 instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 instant such as 2026-05-01T12:00:00.000Z")]
pub struct MalformedTimestamp;

impl Timestamp {
    /// Creates an instant from microseconds since the Unix epoch, clamped to the years 1 to 9999.
    pub const fn from_micros(micros: i64) -> Self {
        if micros < FIRST {
            Self(FIRST)
        } else if micros > LAST {
            Self(LAST)
        } else {
            Self(micros)
        }
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the Unix epoch, rounded down; 0 before the epoch, because `UUIDv7` has no earlier time.
    pub fn as_unix_millis(self) -> u64 {
        num::to_u64(self.0.div_euclid(1000))
    }

    /// The instant `span` after this one, clamped to the year 9999.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        let micros = num::to_i64(span.as_micros());
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// The instant `span` before this one, clamped to the year 1.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        let micros = num::to_i64(span.as_micros());
        Self::from_micros(self.0.saturating_sub(micros))
    }

    /// The time elapsed since `earlier`; zero if `earlier` is later than this instant.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(num::to_u64(self.0.saturating_sub(earlier.0)))
    }

    /// Reports whether this expiry has passed at `now`. An expiry has passed from exactly its own instant on.
    pub fn is_over(self, now: Self) -> bool {
        self <= now
    }

    /// The same instant as a `chrono` value, for calendars and time zones.
    pub fn to_chrono(self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.0).unwrap_or(DateTime::<Utc>::UNIX_EPOCH)
    }

    /// Creates an instant from a `chrono` value, truncated to microseconds.
    pub fn from_chrono(instant: DateTime<Utc>) -> Self {
        Self::from_micros(instant.timestamp_micros())
    }
}

/// RFC 3339, UTC, `Z`, milliseconds: the wire format of every time in the service. A page has dozens of them, so the
/// digits are written directly, in a fraction of the time of chrono's formatters.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.to_chrono();
        let mut text = *b"0000-00-00T00:00:00.000Z";
        // Each number with the place of its last digit.
        let numbers = [
            (3, at.year().unsigned_abs()),
            (6, at.month()),
            (9, at.day()),
            (12, at.hour()),
            (15, at.minute()),
            (18, at.second()),
            (22, at.timestamp_subsec_millis()),
        ];
        for (last, mut number) in numbers {
            for digit in text.iter_mut().take(last + 1).rev() {
                if number == 0 {
                    break;
                }
                *digit += u8::try_from(number % 10).unwrap_or(0);
                number /= 10;
            }
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_chrono().to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

impl FromStr for Timestamp {
    type Err = MalformedTimestamp;

    fn from_str(text: &str) -> Result<Self, MalformedTimestamp> {
        DateTime::parse_from_rfc3339(text)
            .map(|instant| Self::from_chrono(instant.with_timezone(&Utc)))
            .map_err(|_| MalformedTimestamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_rfc_3339_with_milliseconds_and_z() {
        let instant: Timestamp = "2026-05-01T14:00:00.123456+02:00".parse().unwrap();
        assert_eq!(instant.to_string(), "2026-05-01T12:00:00.123Z");
        assert_eq!(format!("{instant:?}"), "2026-05-01T12:00:00.123456Z");
    }

    #[test]
    fn is_written_like_chrono_writes_it() {
        // Some 116 days apart, by a prime number of microseconds: all parts of an instant vary.
        for micros in (FIRST..=LAST).step_by(10_000_000_000_037) {
            let instant = Timestamp::from_micros(micros);
            let expected = instant.to_chrono().to_rfc3339_opts(SecondsFormat::Millis, true);
            assert_eq!(instant.to_string(), expected);
        }
    }

    #[test]
    fn stays_within_the_years_that_can_be_written() {
        assert_eq!(Timestamp::from_micros(i64::MIN).to_string(), "0001-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_micros(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_micros(0).plus(Duration::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn an_expiry_is_over_at_its_instant() {
        let expiry = Timestamp::from_micros(10);
        assert!(!expiry.is_over(Timestamp::from_micros(9)));
        assert!(expiry.is_over(Timestamp::from_micros(10)));
        assert_eq!(Timestamp::from_micros(5).since(expiry), Duration::ZERO);
    }
}
