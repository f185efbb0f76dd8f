//! Dates of time zones: the current date, the start of a date, and which dates exist.

use chrono::{NaiveDate, NaiveTime, TimeZone};
use chrono_tz::Tz;
use std::time::Duration;
use terrace_kernel::Timestamp;

/// More than the largest UTC offset that any zone ever had (Manila was 15:56 behind until 1844).
const MOST_OFFSET: Duration = Duration::from_hours(16);

/// The date in a zone at an instant.
pub fn local_date(zone: Tz, at: Timestamp) -> NaiveDate {
    at.to_chrono().with_timezone(&zone).date_naive()
}

/// The first instant at or after `from` at which the date in a zone is `date` or, if the zone skips it, a later date.
/// It is midnight if that exists. If a clock that is set back over midnight starts a date twice, the first time counts,
/// unless it lies before `from`.
pub fn first_instant(zone: Tz, date: NaiveDate, from: Timestamp) -> Timestamp {
    if local_date(zone, from) >= date {
        return from;
    }
    let midnights = zone.from_local_datetime(&date.and_time(NaiveTime::MIN));
    [midnights.earliest(), midnights.latest()]
        .into_iter()
        .flatten()
        .map(|midnight| Timestamp::from_chrono(midnight.to_utc()))
        .find(|midnight| *midnight > from && local_date(zone, *midnight) >= date)
        .unwrap_or_else(|| end_of_gap(zone, date, from))
}

/// The end of the gap if a zone skips the start of `date`. The date at `from` must be earlier, and the zone must change
/// only once.
fn end_of_gap(zone: Tz, date: NaiveDate, from: Timestamp) -> Timestamp {
    let midnight = utc_midnight(date);
    let mut before = from.max(midnight.minus(MOST_OFFSET)).as_micros();
    let mut after = midnight.plus(MOST_OFFSET).as_micros();
    while after.saturating_sub(before) > 1 {
        let middle = before.midpoint(after);
        if local_date(zone, Timestamp::from_micros(middle)) >= date {
            after = middle;
        } else {
            before = middle;
        }
    }
    Timestamp::from_micros(after)
}

/// Whether a date exists in a zone: Samoa skipped 2011-12-30 when it moved across the date line.
pub(super) fn exists(zone: Tz, date: NaiveDate) -> bool {
    local_date(zone, first_instant(zone, date, utc_midnight(date).minus(MOST_OFFSET))) == date
}

/// The next date.
pub(super) fn next(date: NaiveDate) -> NaiveDate {
    date.succ_opt().unwrap_or(date)
}

fn utc_midnight(date: NaiveDate) -> Timestamp {
    Timestamp::from_chrono(date.and_time(NaiveTime::MIN).and_utc())
}
