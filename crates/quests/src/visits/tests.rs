//! Tests of the daily visit: tables, the changes of every zone, and a model that records each quarter of an hour.

use super::*;
use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::TZ_VARIANTS;
use proptest::prelude::*;
use std::collections::BTreeSet;

const HOUR: Duration = Duration::from_hours(1);
const INSTANT: Duration = Duration::from_micros(1);

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn zone(name: &str) -> Tz {
    name.parse().unwrap()
}

/// A fan who visits, with the stored state.
struct Fan {
    zone: Tz,
    state: Option<Visits>,
    rules: VisitRules,
}

impl Fan {
    fn new(zone_name: &str) -> Self {
        Self { zone: zone(zone_name), state: None, rules: VisitRules::default() }
    }

    /// A change of zone that is passed to [`Visits::in_zone`] at once.
    fn moves(&mut self, to: &str, now: &str) {
        let state = self.state.clone().unwrap_or_else(|| Visits::none(self.zone));
        self.zone = zone(to);
        self.state = Some(state.in_zone(self.zone, at(now)));
    }

    fn visit_at(&mut self, now: Timestamp) -> Visit {
        let visit = visit(self.state.as_ref(), self.zone, now, &self.rules);
        match &visit.outcome {
            VisitOutcome::Paid { state, .. } => self.state = Some(state.clone()),
            VisitOutcome::AlreadyToday { noted, .. } => self.state = noted.clone().or(self.state.take()),
        }
        visit
    }

    /// The date that a visit pays, if any.
    fn pays(&mut self, now: &str) -> Option<NaiveDate> {
        paid(&self.visit_at(at(now)))
    }

    fn streak(&self) -> u32 {
        self.state.as_ref().map_or(0, |state| state.streak)
    }

    fn freezes(&self) -> u32 {
        self.state.as_ref().map_or(0, |state| state.freezes)
    }

    /// Visits at noon UTC on consecutive dates.
    fn visits_daily(&mut self, from: &str, days: usize) {
        for date in day(from).iter_days().take(days) {
            assert_eq!(self.pays(&format!("{date}T12:00:00Z")), Some(date));
        }
    }
}

fn paid(visit: &Visit) -> Option<NaiveDate> {
    match &visit.outcome {
        VisitOutcome::Paid { local_date, .. } => Some(*local_date),
        VisitOutcome::AlreadyToday { .. } => None,
    }
}

#[test]
fn a_visit_pays_once_on_each_local_date() {
    let mut fan = Fan::new("America/New_York");
    assert_eq!(fan.pays("2026-05-01T03:59:59Z"), Some(day("2026-04-30")));
    assert_eq!(fan.pays("2026-05-01T03:59:59.999999Z"), None);
    assert_eq!(fan.pays("2026-05-01T04:00:00Z"), Some(day("2026-05-01")));
    let again = fan.visit_at(at("2026-05-01T20:00:00Z"));
    assert_eq!(again.outcome, VisitOutcome::AlreadyToday { streak: 2, noted: None });
    assert_eq!(again.next_visit_at, at("2026-05-02T04:00:00Z"));
}

#[test]
fn dates_in_a_row_are_a_streak_with_milestones_and_capped_freezes() {
    let mut fan = Fan::new("UTC");
    let mut points = 0;
    let (mut milestones, mut coins) = (Vec::new(), Vec::new());
    for (n, date) in (1..).zip(day("2026-01-01").iter_days().take(107)) {
        let visit = fan.visit_at(at(&format!("{date}T12:00:00Z")));
        let VisitOutcome::Paid { points: paid, coins: given, milestone, state, .. } = visit.outcome else {
            panic!("day {n} pays")
        };
        points += paid;
        coins.extend((given > 0).then_some(given));
        milestones.extend(milestone);
        assert_eq!((state.streak, state.longest), (n, n));
        assert_eq!(state.freezes, (n / 7).min(2), "day {n}");
    }
    assert_eq!(milestones, [7, 30, 100]);
    assert_eq!(coins, [10, 10, 50, 200]);
    assert_eq!(points, 107 * 10 + 50 + 250 + 1_000);
}

#[test]
fn a_missed_date_uses_up_a_freeze_or_breaks_the_streak() {
    for (days, missed, streak, freezes) in [
        (1, 0, 2, 0),
        (1, 1, 1, 0),
        (6, 1, 1, 0),
        (7, 1, 8, 0),
        (7, 2, 1, 0),
        (14, 1, 15, 1),
        (14, 2, 15, 0),
        (14, 3, 1, 0),
        (14, 4_000, 1, 0),
        // A visit uses a freeze before it earns one.
        (13, 1, 14, 1),
        (20, 2, 21, 1),
    ] {
        let mut fan = Fan::new("UTC");
        fan.visits_daily("2026-01-01", days);
        let before = fan.streak();
        let back = day("2026-01-01") + chrono::Days::new(u64::try_from(days + missed).unwrap());
        let now = at(&format!("{back}T12:00:00Z"));
        let state = fan.state.clone().unwrap();
        let status = visit_status(Some(&state), fan.zone, now, &fan.rules);
        assert_eq!(status.streak, if streak == 1 { 0 } else { before }, "{days}, {missed}");
        let since = at(&format!("{back}T00:00:00Z"));
        assert_eq!((status.longest, status.visited_today, status.next_visit_at), (before, false, since));
        assert_eq!(paid(&fan.visit_at(now)), Some(back));
        assert_eq!((fan.streak(), fan.freezes()), (streak, freezes), "{days} days, then {missed} missed");
        assert_eq!(fan.state.map(|state| state.longest), Some(before.max(streak)));
    }
}

#[test]
fn a_status_is_what_a_visit_finds_and_leaves() {
    let mut fan = Fan::new("Europe/Lisbon");
    let now = at("2026-01-01T12:00:00Z");
    let first = Milestone { days: 2, points: 0, coins: 10 };
    let none = visit_status(None, fan.zone, now, &fan.rules);
    let expected = VisitStatus {
        streak: 0,
        longest: 0,
        freezes: 0,
        visited_today: false,
        next_visit_at: at("2026-01-01T00:00:00Z"),
        next_milestone: Some(first),
    };
    assert_eq!(none, expected);
    let visit = fan.visit_at(now);
    let status = visit_status(fan.state.as_ref(), fan.zone, now, &fan.rules);
    let paid = VisitStatus {
        streak: 1,
        longest: 1,
        visited_today: true,
        next_visit_at: visit.next_visit_at,
        ..expected
    };
    assert_eq!(status, paid);
    fan.visits_daily("2026-01-02", 6);
    let later = at("2026-01-09T12:00:00Z");
    let status = visit_status(fan.state.as_ref(), fan.zone, later, &fan.rules);
    // One date was missed, which used up the freeze that seven dates earned.
    assert_eq!((status.streak, status.freezes, status.visited_today), (7, 0, false));
    assert_eq!(status.next_milestone, Some(Milestone { days: 30, points: 250, coins: 50 }));
}

#[test]
fn the_next_milestone_is_the_nearest_that_is_longer() {
    let rules = VisitRules::default();
    let next = |streak| rules.next_milestone(streak).map(|next| (next.days, next.points, next.coins));
    for (streak, expected) in [
        (0, Some((2, 0, 10))),
        (1, Some((2, 0, 10))),
        (2, Some((7, 50, 10))),
        (29, Some((30, 250, 50))),
        (30, Some((100, 1_000, 200))),
        (100, None),
        (u32::MAX, None),
    ] {
        assert_eq!(next(streak), expected, "{streak}");
    }
}

#[test]
fn a_milestone_pays_once_in_each_streak() {
    let mut fan = Fan::new("UTC");
    fan.rules.max_freezes = 0;
    for start in ["2026-01-01", "2026-03-01"] {
        fan.visits_daily(start, 6);
        let seventh = day(start) + chrono::Days::new(6);
        let visit = fan.visit_at(at(&format!("{seventh}T12:00:00Z")));
        assert!(matches!(visit.outcome, VisitOutcome::Paid { points: 60, milestone: Some(7), .. }));
        fan.visits_daily(&(seventh + chrono::Days::new(1)).to_string(), 5);
    }
}

#[test]
fn a_clock_that_steps_back_pays_nothing_twice() {
    let mut fan = Fan::new("Europe/Lisbon");
    assert_eq!(fan.pays("2026-05-05T12:00:00Z"), Some(day("2026-05-05")));
    for earlier in
        ["2026-05-05T11:00:00Z", "2026-05-04T12:00:00Z", "2026-05-01T12:00:00Z", "2020-05-05T12:00:00Z"]
    {
        let visit = fan.visit_at(at(earlier));
        assert_eq!(paid(&visit), None, "{earlier}");
        assert_eq!(visit.next_visit_at, at("2026-05-05T23:00:00Z"), "{earlier}");
    }
    assert_eq!(fan.pays("2026-05-05T23:00:00Z"), Some(day("2026-05-06")));
    assert_eq!(fan.streak(), 2);
}

#[test]
fn a_date_without_a_midnight_begins_where_it_begins() {
    for (name, now, next) in [
        // Clocks went from 00:00 to 01:00.
        ("America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z"),
        ("Asia/Beirut", "2026-03-28T12:00:00Z", "2026-03-28T22:00:00Z"),
        ("America/Havana", "2026-03-07T12:00:00Z", "2026-03-08T05:00:00Z"),
        // Clocks went from 24:00 back to 23:00: midnight occurs only once.
        ("America/Sao_Paulo", "2018-02-17T12:00:00Z", "2018-02-18T03:00:00Z"),
        // Clocks went from 00:01 back to 23:01: the first midnight starts the date.
        ("America/St_Johns", "2010-11-06T12:00:00Z", "2010-11-07T02:30:00Z"),
        // 2011-12-30 was skipped.
        ("Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z"),
    ] {
        let visit = Fan::new(name).visit_at(at(now));
        assert_eq!(visit.next_visit_at, at(next), "{name}");
    }
}

#[test]
fn a_date_that_comes_twice_pays_once() {
    let mut fan = Fan::new("America/St_Johns");
    assert_eq!(fan.pays("2010-11-07T02:30:30Z"), Some(day("2010-11-07")));
    // 23:30 of the day before, repeated.
    assert_eq!(fan.pays("2010-11-07T03:00:00Z"), None);
    assert_eq!(fan.pays("2010-11-07T03:30:00Z"), None);
    // A fan who visits only in between is paid for both dates.
    let mut other = Fan::new("America/St_Johns");
    let visit = other.visit_at(at("2010-11-07T03:00:00Z"));
    assert_eq!((paid(&visit), visit.next_visit_at), (Some(day("2010-11-06")), at("2010-11-07T03:30:00Z")));
    assert_eq!(other.pays("2010-11-07T03:30:00Z"), Some(day("2010-11-07")));
}

#[test]
fn a_date_that_a_zone_jumps_over_breaks_no_streak() {
    let mut fan = Fan::new("Pacific/Apia");
    assert_eq!(fan.pays("2011-12-29T20:00:00Z"), Some(day("2011-12-29")));
    assert_eq!(fan.pays("2011-12-30T10:00:00Z"), Some(day("2011-12-31")));
    assert_eq!(fan.streak(), 2);
    // 2012-01-01 was missed, and was not skipped.
    assert_eq!(fan.pays("2012-01-01T20:00:00Z"), Some(day("2012-01-02")));
    assert_eq!(fan.streak(), 1);
}

#[test]
fn a_changed_zone_counts_from_the_next_midnight_of_the_old_one() {
    let mut fan = Fan::new("Pacific/Kiritimati");
    assert_eq!(fan.pays("2026-05-02T05:00:00Z"), Some(day("2026-05-02")));
    // It is May 1 there; the day in the old zone lasts until 10:00.
    fan.moves("Pacific/Pago_Pago", "2026-05-02T06:00:00Z");
    let visit = fan.visit_at(at("2026-05-02T07:00:00Z"));
    // May 3 in the new zone.
    assert_eq!((paid(&visit), visit.next_visit_at), (None, at("2026-05-03T11:00:00Z")));
    assert_eq!(fan.pays("2026-05-02T10:00:00Z"), None);
    assert_eq!(fan.pays("2026-05-03T10:59:59Z"), None);
    assert_eq!(fan.pays("2026-05-03T11:00:00Z"), Some(day("2026-05-03")));
    assert_eq!(fan.streak(), 2);
}

#[test]
fn no_two_dates_come_out_of_one_day_by_changing_the_zone() {
    let mut fan = Fan::new("Pacific/Pago_Pago");
    assert_eq!(fan.pays("2026-05-02T10:30:00Z"), Some(day("2026-05-01")));
    // It is May 3 there already, but not for this fan.
    fan.moves("Pacific/Kiritimati", "2026-05-02T10:40:00Z");
    assert_eq!(fan.pays("2026-05-02T10:59:59Z"), None);
    let visit = fan.visit_at(at("2026-05-02T11:00:00Z"));
    assert_eq!((paid(&visit), visit.next_visit_at), (Some(day("2026-05-03")), at("2026-05-03T10:00:00Z")));
    // May 2 was skipped.
    assert_eq!(fan.streak(), 2);
}

#[test]
fn a_change_that_is_taken_back_was_none() {
    let mut fan = Fan::new("Europe/Lisbon");
    assert_eq!(fan.pays("2026-05-02T12:00:00Z"), Some(day("2026-05-02")));
    let before = fan.state.clone();
    fan.moves("Pacific/Kiritimati", "2026-05-02T13:00:00Z");
    fan.moves("Pacific/Pago_Pago", "2026-05-02T13:00:01Z");
    fan.moves("Europe/Lisbon", "2026-05-02T14:00:00Z");
    assert_eq!(fan.state, before);
}

#[test]
fn a_change_before_the_first_visit_waits_too() {
    let mut fan = Fan::new("Pacific/Kiritimati");
    fan.moves("Pacific/Pago_Pago", "2026-05-02T06:00:00Z");
    assert_eq!(fan.pays("2026-05-02T07:00:00Z"), Some(day("2026-05-02")));
    assert_eq!(fan.pays("2026-05-03T07:00:00Z"), None);
    assert_eq!(fan.pays("2026-05-03T11:00:00Z"), Some(day("2026-05-03")));
}

#[test]
fn an_unannounced_change_of_zone_counts_as_made_now_and_is_stored() {
    let mut fan = Fan::new("Pacific/Kiritimati");
    assert_eq!(fan.pays("2026-05-02T05:00:00Z"), Some(day("2026-05-02")));
    fan.zone = zone("Pacific/Pago_Pago");
    let visit = fan.visit_at(at("2026-05-02T07:00:00Z"));
    let VisitOutcome::AlreadyToday { streak: 1, noted: Some(noted) } = visit.outcome else {
        panic!("the state must be stored: {visit:?}")
    };
    let change = ZoneChange { to: zone("Pacific/Pago_Pago"), from: at("2026-05-02T10:00:00Z") };
    assert_eq!(noted.change, Some(change));
    assert_eq!(fan.pays("2026-05-02T10:00:00Z"), None);
    assert_eq!(fan.pays("2026-05-03T11:00:00Z"), Some(day("2026-05-03")));
}

#[test]
fn a_jumped_date_that_comes_up_after_all_may_be_missed() {
    let mut fan = Fan::new("Pacific/Pago_Pago");
    assert_eq!(fan.pays("2026-05-02T10:30:00Z"), Some(day("2026-05-01")));
    fan.moves("Pacific/Kiritimati", "2026-05-02T10:40:00Z");
    // May 3 passes without a visit; after the return, May 2 occurs for an hour and May 3 a second time.
    fan.moves("Pacific/Pago_Pago", "2026-05-02T12:00:00Z");
    let state = fan.state.clone().unwrap();
    assert_eq!(state.jumped, Dates::of([day("2026-05-02")]));
    assert_eq!(fan.pays("2026-05-03T12:00:00Z"), Some(day("2026-05-03")));
    assert_eq!(fan.streak(), 1);
}

/// The changes of a zone's offset from the beginning of 2000 to the end of 2030, to the second. Two changes within four
/// days that cancel each other would be missed; there are none.
fn changes(zone: Tz) -> Vec<(i64, i32, i32)> {
    const STEP: i64 = 4 * 86_400;
    let offset = |second: i64| {
        zone.offset_from_utc_datetime(&DateTime::from_timestamp(second, 0).unwrap().naive_utc())
            .fix()
            .local_minus_utc()
    };
    let (first, last) = (946_684_800, 1_924_992_000);
    let mut found = Vec::new();
    let (mut second, mut before) = (first, offset(first));
    while second < last {
        let after = offset(second + STEP);
        if after != before {
            let (mut low, mut high) = (second, second + STEP);
            while high - low > 1 {
                let middle = low.midpoint(high);
                if offset(middle) == before { low = middle } else { high = middle }
            }
            found.push((high, before, after));
        }
        second += STEP;
        before = after;
    }
    found
}

/// A fan who visits every hour around a change: each existing date pays once, at the predicted instant and not before,
/// and the streak continues. (For a date that starts, is interrupted and starts again, the first start is predicted,
/// and a visit during the interruption is not paid yet.)
fn walk(zone: Tz, change: Timestamp) {
    let rules = VisitRules::default();
    let mut now = change.minus(HOUR * 30);
    let first = visit(None, zone, now, &rules);
    let VisitOutcome::Paid { mut state, .. } = first.outcome else { panic!("{zone} at {now}") };
    let mut next = first.next_visit_at;
    let (mut streak, end) = (1, change.plus(HOUR * 30));
    while now < end {
        now = now.plus(HOUR);
        let visited = visit(Some(&state), zone, now, &rules);
        let is_later = state.last_paid.is_some_and(|last| local_date(zone, now) > last);
        assert_eq!(paid(&visited).is_some(), is_later, "{zone} at {now}");
        assert!(now >= next || !is_later, "{zone} at {now}: predicted {next}");
        if let VisitOutcome::Paid { local_date: date, state: after, .. } = visited.outcome {
            assert_eq!(date, local_date(zone, now));
            let just_before = visit(Some(&state), zone, next.minus(INSTANT), &rules);
            assert_eq!(paid(&just_before), None, "{zone} before {next}");
            let just_then = visit(Some(&state), zone, next, &rules);
            assert_eq!(paid(&just_then), Some(date), "{zone} at {next}");
            streak += 1;
            assert_eq!(after.streak, streak, "{zone} at {now}");
            state = after;
        }
        next = visited.next_visit_at;
        assert!(next > now, "{zone} at {now}");
    }
    assert!(streak >= 3, "{zone} around {change}");
}

#[test]
fn every_zone_pays_each_of_its_dates_once_around_each_kind_of_change_that_it_made() {
    let mut walked = 0;
    for zone in TZ_VARIANTS {
        // Most years change in the same way: at the same time of day, between the same offsets.
        let mut kinds = BTreeSet::new();
        for (second, before, after) in changes(zone) {
            if kinds.insert((second.rem_euclid(86_400), before, after)) {
                walk(zone, Timestamp::from_micros(second * 1_000_000));
                walked += 1;
            }
        }
    }
    assert!(walked > 800, "the rule has lost its subject: {walked}");
}

/// A direct model: it records which zone applied when, and which dates a fan had.
struct Diary {
    zone: Tz,
    change: Option<(Tz, Timestamp)>,
    had: BTreeSet<NaiveDate>,
    last: Option<NaiveDate>,
    streak: u32,
    freezes: u32,
}

const QUARTER: Duration = Duration::from_mins(15);

impl Diary {
    fn new(zone: Tz) -> Self {
        Self { zone, change: None, had: BTreeSet::new(), last: None, streak: 0, freezes: 0 }
    }

    /// A quarter of an hour starts.
    fn quarter(&mut self, now: Timestamp) {
        if let Some((to, _)) = self.change.take_if(|(_, from)| *from <= now) {
            self.zone = to;
        }
        self.had.insert(local_date(self.zone, now));
    }

    fn moves(&mut self, to: Tz, now: Timestamp) {
        let today = local_date(self.zone, now);
        let mut midnight = now;
        while local_date(self.zone, midnight) <= today {
            midnight = midnight.plus(QUARTER);
        }
        self.change = (to != self.zone).then_some((to, midnight));
    }

    fn visit(&mut self, now: Timestamp) -> Option<NaiveDate> {
        let today = local_date(self.zone, now);
        if self.last.is_some_and(|last| today <= last) {
            return None;
        }
        self.streak += 1;
        if let Some(last) = self.last.replace(today) {
            for _missed in self.had.iter().filter(|date| **date > last && **date < today) {
                if self.freezes == 0 {
                    self.streak = 1;
                } else {
                    self.freezes -= 1;
                }
            }
        }
        if self.streak.is_multiple_of(7) {
            self.freezes = (self.freezes + 1).min(2);
        }
        Some(today)
    }

    /// The first quarter of an hour from now on that would pay.
    fn next(&self, mut now: Timestamp) -> Timestamp {
        let zone_at = |at| self.change.filter(|(_, from)| *from <= at).map_or(self.zone, |(to, _)| to);
        while self.last.is_some_and(|last| local_date(zone_at(now), now) <= last) {
            now = now.plus(QUARTER);
        }
        now
    }
}

/// Zones at both ends of the world and in between, with and without clock changes in the tested weeks.
const ZONES: [&str; 10] = [
    "UTC",
    "Europe/Lisbon",
    "America/Sao_Paulo",
    "America/Havana",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "Etc/GMT+12",
];

const WEEKS: [&str; 4] =
    ["2010-10-29T00:00:00Z", "2018-02-10T00:00:00Z", "2018-10-27T00:00:00Z", "2026-03-01T00:00:00Z"];

proptest! {
    /// For any changes of zones and any visits over three weeks, payments and the streak follow the dates that the fan
    /// had.
    #[test]
    fn a_fan_who_moves_is_paid_by_earlier_dates(
        week in 0..WEEKS.len(),
        home in 0..ZONES.len(),
        is_daily in any::<bool>(),
        // What happens in which quarter of an hour: a visit, or a move to a zone.
        mut deeds in prop::collection::vec((0_u32..2_016, prop::option::weighted(0.4, 0..ZONES.len())), 0..60),
    ) {
        if is_daily {
            deeds.extend((0..21).map(|n| (n * 96 + 40, None)));
        }
        deeds.sort_unstable();
        let start = at(WEEKS[week]);
        let mut diary = Diary::new(zone(ZONES[home]));
        let mut fan = Fan::new(ZONES[home]);
        let mut deeds = deeds.into_iter().peekable();
        for quarter in 0..2_016 {
            let now = start.plus(QUARTER * quarter);
            diary.quarter(now);
            while let Some((_, deed)) = deeds.next_if(|(when, _)| *when == quarter) {
                if let Some(to) = deed {
                    diary.moves(zone(ZONES[to]), now);
                    fan.moves(ZONES[to], &now.to_string());
                } else {
                    let visit = fan.visit_at(now);
                    prop_assert_eq!(paid(&visit), diary.visit(now), "{}", now);
                    prop_assert_eq!((fan.streak(), fan.freezes()), (diary.streak, diary.freezes), "{}", now);
                    prop_assert_eq!(visit.next_visit_at, diary.next(now), "{}", now);
                }
            }
        }
    }

    /// For any clock steps and changes of zones, no date is paid twice, and paid dates ascend.
    #[test]
    fn whatever_clock_and_zones_do_paid_dates_ascend(
        moments in prop::collection::vec((0_u64..40 * 24, 0..ZONES.len(), any::<bool>()), 1..60),
    ) {
        let start = at("2026-03-01T00:00:00Z");
        let mut fan = Fan::new("UTC");
        let mut last = None;
        for (hours, to, is_reported) in moments {
            let now = start.plus(HOUR * u32::try_from(hours).unwrap());
            if is_reported {
                fan.moves(ZONES[to], &now.to_string());
            } else {
                fan.zone = zone(ZONES[to]);
            }
            let visit = fan.visit_at(now);
            if let Some(date) = paid(&visit) {
                prop_assert!(last.is_none_or(|last| date > last));
                last = Some(date);
            }
            prop_assert!(visit.next_visit_at > now);
        }
    }
}
