//! What a fan wants to be notified of, and when pushes wait.

use crate::notifications::NotificationKind;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// A time of day in the fan's time zone, in whole minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalTime(u16);

/// The text is not a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a time of day from 00:00 to 23:59")]
pub struct MalformedLocalTime;

impl LocalTime {
    /// A time from the minutes since midnight; `None` from 24 hours on.
    pub fn from_minutes(minutes: u16) -> Option<Self> {
        (minutes < DAY).then_some(Self(minutes))
    }

    /// The minutes since midnight.
    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl FromStr for LocalTime {
    type Err = MalformedLocalTime;

    fn from_str(text: &str) -> Result<Self, MalformedLocalTime> {
        let number = |digits: &str| {
            let is_pair = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse::<u16>().ok().filter(|_| is_pair)
        };
        let (hours, minutes) = text.split_once(':').ok_or(MalformedLocalTime)?;
        match (number(hours), number(minutes)) {
            (Some(hours @ 0..24), Some(minutes @ 0..60)) => Ok(Self(hours * 60 + minutes)),
            (_, _) => Err(MalformedLocalTime),
        }
    }
}

/// The times of day between which pushes wait, in the fan's time zone; they may span midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    from: LocalTime,
    to: LocalTime,
}

/// Both times are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("quiet hours end at another time than they begin")]
pub struct QuietHoursError;

impl QuietHours {
    /// Quiet hours from `from` to before `to`.
    ///
    /// # Errors
    ///
    /// When both are the same.
    pub fn new(from: LocalTime, to: LocalTime) -> Result<Self, QuietHoursError> {
        if from == to { Err(QuietHoursError) } else { Ok(Self { from, to }) }
    }

    /// When they begin.
    pub const fn from(self) -> LocalTime {
        self.from
    }

    /// When they end.
    pub const fn to(self) -> LocalTime {
        self.to
    }

    /// The minutes until the quiet hours end; `None` if `at` is outside of them.
    pub fn left(self, at: LocalTime) -> Option<u16> {
        let since = |start: LocalTime, end: LocalTime| (DAY + end.0 - start.0) % DAY;
        let length = since(self.from, self.to);
        let passed = since(self.from, at);
        (passed < length).then(|| length - passed)
    }
}

/// How a fan is notified of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindPreference {
    /// In the inbox.
    pub in_app: bool,
    /// By a push message, where the fan has subscribed to them.
    pub push: bool,
}

impl Default for KindPreference {
    fn default() -> Self {
        Self { in_app: true, push: true }
    }
}

/// The preferences of a fan. Everything is wanted unless it is excluded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preferences {
    /// The kinds with another preference than the default.
    kinds: BTreeMap<NotificationKind, KindPreference>,
    /// When pushes wait.
    pub quiet_hours: Option<QuietHours>,
}

impl Preferences {
    /// How the fan is notified of this kind.
    pub fn of(&self, kind: NotificationKind) -> KindPreference {
        let wanted = self.kinds.get(&kind).copied().unwrap_or_default();
        KindPreference { in_app: wanted.in_app || kind.is_always_in_app(), ..wanted }
    }

    /// Sets how the fan is notified of a kind.
    pub fn set(&mut self, kind: NotificationKind, preference: KindPreference) {
        if preference == KindPreference::default() {
            self.kinds.remove(&kind);
        } else {
            self.kinds.insert(kind, preference);
        }
    }

    /// The kinds with another preference than the default.
    pub fn exceptions(&self) -> impl Iterator<Item = (NotificationKind, KindPreference)> {
        self.kinds.iter().map(|(kind, preference)| (*kind, *preference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> LocalTime {
        text.parse().unwrap()
    }

    #[test]
    fn times_of_day_have_two_digits_each() {
        for text in ["00:00", "07:30", "23:59"] {
            assert_eq!(time(text).to_string(), text);
        }
        for wrong in ["24:00", "7:30", "12:60", "12", "+1:00", "12:3", "12:345", "", "aa:bb", "-1:00"] {
            assert_eq!(wrong.parse::<LocalTime>(), Err(MalformedLocalTime), "{wrong}");
        }
        assert_eq!(
            (LocalTime::from_minutes(1439), LocalTime::from_minutes(1440)),
            (Some(time("23:59")), None)
        );
    }

    #[test]
    fn spec_6_quiet_hours_may_span_midnight() {
        assert_eq!(QuietHours::new(time("08:00"), time("08:00")), Err(QuietHoursError));
        for (from, to, at, left) in [
            ("22:00", "07:00", "21:59", None),
            ("22:00", "07:00", "22:00", Some(540)),
            ("22:00", "07:00", "23:59", Some(421)),
            ("22:00", "07:00", "00:00", Some(420)),
            ("22:00", "07:00", "06:59", Some(1)),
            ("22:00", "07:00", "07:00", None),
            ("12:00", "13:30", "12:30", Some(60)),
            ("12:00", "13:30", "13:30", None),
            ("12:00", "13:30", "11:59", None),
        ] {
            let hours = QuietHours::new(time(from), time(to)).unwrap();
            assert_eq!(hours.left(time(at)), left, "{from} to {to} at {at}");
        }
    }

    #[test]
    fn spec_6_everything_is_wanted_unless_excluded_and_moderation_always_in_app() {
        let mut preferences = Preferences::default();
        let nothing = KindPreference { in_app: false, push: false };
        for kind in NotificationKind::ALL {
            assert_eq!(preferences.of(kind), KindPreference::default());
            preferences.set(kind, nothing);
            assert_eq!(preferences.of(kind), KindPreference { in_app: kind.is_always_in_app(), push: false });
        }
        preferences.set(NotificationKind::Follow, KindPreference::default());
        assert_eq!(preferences.exceptions().count(), NotificationKind::ALL.len() - 1);
    }
}
