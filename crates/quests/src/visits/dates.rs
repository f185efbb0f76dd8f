//! A short list of dates, as stored in a table column.

use chrono::NaiveDate;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::distinct;

/// A sorted list of unique dates. The text form is `2026-05-01`, separated by spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dates(Vec<NaiveDate>);

/// The text is not a list of dates in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not dates in order, such as 2026-05-01 2026-05-03")]
pub struct MalformedDates;

impl Dates {
    /// Creates a list; sorts the dates and removes duplicates.
    pub fn of(dates: impl IntoIterator<Item = NaiveDate>) -> Self {
        Self(distinct(dates))
    }

    /// The dates in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = NaiveDate> + '_ {
        self.0.iter().copied()
    }

    /// Whether the list contains this date.
    pub fn contains(&self, date: NaiveDate) -> bool {
        self.0.binary_search(&date).is_ok()
    }

    /// The number of dates.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Dates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, date) in self.0.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            write!(f, "{space}{date}")?;
        }
        Ok(())
    }
}

impl FromStr for Dates {
    type Err = MalformedDates;

    fn from_str(text: &str) -> Result<Self, MalformedDates> {
        let dates: Result<Vec<NaiveDate>, _> =
            text.split(' ').filter(|date| !date.is_empty()).map(str::parse).collect();
        let dates = Self::of(dates.map_err(|_| MalformedDates)?);
        if dates.to_string() == text { Ok(dates) } else { Err(MalformedDates) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_written() {
        for text in ["", "2026-05-01", "2026-05-01 2026-05-03"] {
            assert_eq!(text.parse::<Dates>().map(|dates| dates.to_string()), Ok(text.to_owned()));
        }
        for wrong in [" ", "x", "2026-5-1", "2026-05-03 2026-05-01", "2026-05-01 2026-05-01", "2026-05-01 "] {
            assert_eq!(wrong.parse::<Dates>(), Err(MalformedDates), "{wrong}");
        }
    }
}
