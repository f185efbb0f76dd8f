//! A fan's run through a quest.

use crate::{QuestId, StepId, local_date};
use chrono::NaiveDate;
use chrono_tz::Tz;
use std::fmt;
use std::iter;
use std::str::FromStr;
use terrace_kernel::{Timestamp, UnknownName};

/// Identifies one of a fan's runs of a quest. The text form is part of keys, and therefore never null: empty, or a date
/// such as `2026-05-01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Period {
    /// The only run of a once-only quest.
    Once,
    /// The run of a day, by the fan's local date.
    Day(NaiveDate),
}

impl Period {
    /// The local date of a daily run, as used in source keys of points.
    pub const fn local_date(self) -> Option<NaiveDate> {
        match self {
            Self::Once => None,
            Self::Day(date) => Some(date),
        }
    }

    /// Whether a run of this period can go on for a fan whose local date is `today`.
    pub fn is_open_on(self, today: NaiveDate) -> bool {
        self.local_date().is_none_or(|date| date == today)
    }

    /// The periods that are open at this instant in any time zone. No zone is a whole day from UTC.
    pub fn open_anywhere(now: Timestamp) -> impl Iterator<Item = Self> {
        let date = local_date(Tz::UTC, now);
        let days = [date.pred_opt(), Some(date), date.succ_opt()];
        iter::once(Self::Once).chain(days.into_iter().flatten().map(Self::Day))
    }
}

/// The text is not a period in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither empty nor a date such as 2026-05-01")]
pub struct MalformedPeriod;

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once => Ok(()),
            Self::Day(date) => date.fmt(f),
        }
    }
}

impl FromStr for Period {
    type Err = MalformedPeriod;

    fn from_str(text: &str) -> Result<Self, MalformedPeriod> {
        if text.is_empty() {
            return Ok(Self::Once);
        }
        let period = text.parse().map(Self::Day).map_err(|_| MalformedPeriod)?;
        if period.to_string() == text { Ok(period) } else { Err(MalformedPeriod) }
    }
}

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// Started, and not complete.
    Active,
    /// The required steps are completed. Optional steps may still be completed.
    Completed,
}

impl RunStatus {
    /// Every status.
    pub const ALL: [Self; 2] = [Self::Active, Self::Completed];

    /// The stable name, as stored in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RunStatus {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A fan's run through a quest (`UserQuestStatus` of `docs/spec.md` §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Id of the quest.
    pub quest: QuestId,
    /// The period of the run.
    pub period: Period,
    /// The current status.
    pub status: RunStatus,
    /// When the quest was started.
    pub started_at: Timestamp,
    /// When the quest was completed, if it was.
    pub completed_at: Option<Timestamp>,
}

impl Run {
    /// A run that starts now.
    pub const fn started(quest: QuestId, period: Period, now: Timestamp) -> Self {
        Self { quest, period, status: RunStatus::Active, started_at: now, completed_at: None }
    }
}

/// A step that was completed in a run (`UserStepStatus` of `docs/spec.md` §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepDone {
    /// Id of the step.
    pub step: StepId,
    /// When it was completed.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono_tz::TZ_VARIANTS;
    use std::time::Duration;

    #[test]
    fn a_period_is_never_null_and_has_one_spelling() {
        let day = Period::Day("2026-05-01".parse().unwrap());
        for (period, text) in [(Period::Once, ""), (day, "2026-05-01")] {
            assert_eq!(period.to_string(), text);
            assert_eq!(text.parse(), Ok(period));
        }
        for wrong in [" ", "once", "2026-5-1", "2026-05-01 ", "2026-02-30"] {
            assert_eq!(wrong.parse::<Period>(), Err(MalformedPeriod), "{wrong}");
        }
        assert_eq!((Period::Once.local_date(), day.local_date()), (None, "2026-05-01".parse().ok()));
    }

    #[test]
    fn a_period_of_any_zone_is_open_anywhere() {
        let start = Timestamp::from_micros(1_780_000_000_000_000);
        for hours in 0..48 {
            let now = start.plus(Duration::from_hours(hours));
            let open: Vec<Period> = Period::open_anywhere(now).collect();
            for zone in TZ_VARIANTS {
                let today = local_date(zone, now);
                let here: Vec<Period> =
                    open.iter().copied().filter(|period| period.is_open_on(today)).collect();
                assert_eq!(here, [Period::Once, Period::Day(today)], "{zone} at {now:?}");
            }
        }
    }

    #[test]
    fn statuses_are_read_as_they_are_written() {
        for status in RunStatus::ALL {
            assert_eq!(status.to_string().parse(), Ok(status));
        }
        assert!("available".parse::<RunStatus>().is_err());
    }
}
