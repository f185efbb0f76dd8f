//! Streaks that end today without a visit.

use crate::visits::{VisitRules, Visits, visit_status};
use chrono::{NaiveDate, Timelike};
use chrono_tz::Tz;
use terrace_kernel::Timestamp;

/// The length from which a streak is worth a warning.
const SHORTEST: u32 = 2;
/// The local hour from which a fan is warned.
const HOUR: u32 = 18;

/// The fan's date and the streak, if it is evening and the streak ends with the date unless the fan visits.
pub fn streak_at_risk(visits: &Visits, zone: Tz, now: Timestamp) -> Option<(NaiveDate, u32)> {
    let status = visit_status(Some(visits), zone, now, &VisitRules::default());
    let is_evening = now.to_chrono().with_timezone(&visits.zone).hour() >= HOUR;
    let ends = !status.visited_today && status.freezes == 0 && status.streak >= SHORTEST;
    (ends && is_evening).then(|| (visits.date(zone, now), status.streak))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_6_a_fan_is_warned_in_the_evening_of_the_last_date() {
        let zone = chrono_tz::Europe::Berlin;
        let visits = |last: &str, streak, freezes| Visits {
            last_paid: Some(last.parse().unwrap()),
            streak,
            longest: streak,
            freezes,
            ..Visits::none(zone)
        };
        let date = |text: &str| text.parse::<NaiveDate>().unwrap();
        for (visits, now, warned) in [
            // 18:00 in Berlin is 16:00 in UTC.
            (visits("2026-05-01", 5, 0), "2026-05-02T16:00:00Z", Some((date("2026-05-02"), 5))),
            (visits("2026-05-01", 5, 0), "2026-05-02T15:59:59Z", None),
            (visits("2026-05-02", 5, 0), "2026-05-02T20:00:00Z", None),
            (visits("2026-05-01", 5, 1), "2026-05-02T20:00:00Z", None),
            (visits("2026-04-30", 5, 1), "2026-05-02T20:00:00Z", Some((date("2026-05-02"), 5))),
            (visits("2026-04-30", 5, 0), "2026-05-02T20:00:00Z", None),
            (visits("2026-05-01", 1, 0), "2026-05-02T20:00:00Z", None),
        ] {
            assert_eq!(streak_at_risk(&visits, zone, now.parse().unwrap()), warned, "{visits:?} at {now}");
        }
    }
}
