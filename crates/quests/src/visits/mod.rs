//! Daily visits: one visit pays on each of the fan's local dates, and consecutive dates form a streak.
//!
//! A fan's dates are those of their time zone. After a change of zone, the new zone applies from the next midnight of
//! the old one, so that a fan cannot get two dates out of one day by changing zones. The dates that a fan had therefore
//! depend on the history of zones, which [`Visits`] stores. Call [`Visits::in_zone`] whenever a fan changes their zone.

mod at_risk;
mod calendar;
mod dates;

pub use at_risk::streak_at_risk;
pub use calendar::{first_instant, local_date};
pub use dates::{Dates, MalformedDates};

use calendar::{exists, next};
use chrono::NaiveDate;
use chrono_tz::Tz;
use std::time::Duration;
use terrace_kernel::{Timestamp, num};

/// Longer than any date.
const TWO_DAYS: Duration = Duration::from_hours(48);

/// A pending change of the time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneChange {
    /// The new zone.
    pub to: Tz,
    /// The instant from which it applies: a midnight of the old zone.
    pub from: Timestamp,
}

/// The stored state of a fan's visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visits {
    /// The last paid date; `None` before the first visit.
    pub last_paid: Option<NaiveDate>,
    /// The zone whose dates apply.
    pub zone: Tz,
    /// The pending change of the zone, if any.
    pub change: Option<ZoneChange>,
    /// Dates after the last paid one that the fan never had, because a change of zone skipped them.
    pub jumped: Dates,
    /// The number of consecutive dates with a visit, up to the last paid one.
    pub streak: u32,
    /// The longest streak so far.
    pub longest: u32,
    /// How many dates may be missed without breaking the streak.
    pub freezes: u32,
}

/// The rewards of visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitRules {
    /// Points for the first visit of a date.
    pub points: i64,
    /// Extra points for reaching a streak: (length, points), once in each streak.
    pub milestones: Vec<(u32, i64)>,
    /// Coins for reaching a streak: (length, coins), once in each streak.
    pub coins: Vec<(u32, i64)>,
    /// A freeze is earned each time a streak has grown by this many dates; 0 disables freezes.
    pub freeze_every: u32,
    /// The maximum number of freezes of a fan.
    pub max_freezes: u32,
}

impl Default for VisitRules {
    fn default() -> Self {
        Self {
            points: 10,
            milestones: vec![(7, 50), (30, 250), (100, 1_000)],
            coins: vec![(2, 10), (7, 10), (30, 50), (100, 200)],
            freeze_every: 7,
            max_freezes: 2,
        }
    }
}

/// The result of a visit, and when the next one pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The result.
    pub outcome: VisitOutcome,
    /// The first instant at which a visit pays again: the start of the fan's next date.
    pub next_visit_at: Timestamp,
}

/// The result of a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VisitOutcome {
    /// Nothing is paid: the date is not later than the last paid one.
    AlreadyToday {
        /// The current streak.
        streak: u32,
        /// The state to be stored, if a change of zone was detected or took effect.
        noted: Option<Visits>,
    },
    /// The visit pays.
    Paid {
        /// The date that is paid.
        local_date: NaiveDate,
        /// The total points: for the visit, and for the milestone that it reaches.
        points: i64,
        /// The coins of the milestone that it reaches.
        coins: i64,
        /// The length of the streak with extra points that this visit reached, if any.
        milestone: Option<u32>,
        /// The state to be stored.
        state: Visits,
    },
}

/// A length of a streak that pays more than a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Milestone {
    /// The length of the streak.
    pub days: u32,
    /// The points in addition to those of the visit.
    pub points: i64,
    /// The coins in addition to the points; 0 if the length pays none.
    pub coins: i64,
}

/// A fan's visits as of an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisitStatus {
    /// The current streak; 0 if it is broken.
    pub streak: u32,
    /// The longest streak so far.
    pub longest: u32,
    /// How many further dates may be missed without breaking the streak.
    pub freezes: u32,
    /// Whether the fan's date is paid.
    pub visited_today: bool,
    /// The first instant at which a visit pays: the start of the next date, or of the fan's date if it is not paid.
    pub next_visit_at: Timestamp,
    /// The next milestone; `None` after the last one.
    pub next_milestone: Option<Milestone>,
}

/// The status of a fan whose zone is `zone`. It changes nothing: a pending change of zone is taken into account as in
/// [`visit`].
pub fn visit_status(state: Option<&Visits>, zone: Tz, now: Timestamp, rules: &VisitRules) -> VisitStatus {
    let known = state.map_or_else(|| Visits::none(zone), |state| state.in_zone(zone, now));
    let today = local_date(known.zone, now);
    let visited_today = known.last_paid.is_some_and(|last| today <= last);
    let next_visit_at = if visited_today {
        known.next_visit_at(now)
    } else {
        first_instant(known.zone, today, now.minus(TWO_DAYS))
    };
    let missed = num::to_u32(known.missed_before(today));
    let streak = if missed > known.freezes { 0 } else { known.streak };
    VisitStatus {
        streak,
        longest: known.longest,
        freezes: known.freezes.saturating_sub(missed),
        visited_today,
        next_visit_at,
        next_milestone: rules.next_milestone(streak),
    }
}

impl VisitRules {
    /// The first milestone of a streak that is longer than `streak`.
    pub fn next_milestone(&self, streak: u32) -> Option<Milestone> {
        let lengths = self.milestones.iter().chain(&self.coins).map(|(days, _)| *days);
        let days = lengths.filter(|days| *days > streak).min()?;
        let extra = |rewards: &[(u32, i64)]| of(rewards, days).map_or(0, |(_, extra)| extra);
        Some(Milestone { days, points: extra(&self.milestones), coins: extra(&self.coins) })
    }

    /// The points of the visit that extends a streak to this length: for the visit and for the milestone that it
    /// reaches.
    pub fn pays(&self, streak: u32) -> i64 {
        self.points.saturating_add(of(&self.milestones, streak).map_or(0, |(_, bonus)| bonus))
    }
}

/// The reward for a streak of this length.
fn of(milestones: &[(u32, i64)], streak: u32) -> Option<(u32, i64)> {
    milestones.iter().find(|(length, _)| *length == streak).copied()
}

impl Visits {
    /// The state of a fan without visits.
    pub fn none(zone: Tz) -> Self {
        Self {
            last_paid: None,
            zone,
            change: None,
            jumped: Dates::default(),
            streak: 0,
            longest: 0,
            freezes: 0,
        }
    }

    /// The state after setting the fan's current zone. A zone that differs from the applicable one applies from the
    /// next midnight of that one; a pending change whose time has come takes effect.
    #[must_use]
    pub fn in_zone(&self, zone: Tz, now: Timestamp) -> Self {
        let mut visits = self.clone().settled(now);
        if zone == visits.zone {
            visits.change = None;
        } else if visits.change.is_none_or(|change| change.to != zone) {
            let tomorrow = next(local_date(visits.zone, now));
            visits.change = Some(ZoneChange { to: zone, from: first_instant(visits.zone, tomorrow, now) });
        }
        visits
    }

    /// The fan's date if their zone is `zone`.
    pub fn date(&self, zone: Tz, now: Timestamp) -> NaiveDate {
        local_date(self.in_zone(zone, now).zone, now)
    }

    /// The first instant of the last paid date, or `from` if that is later; `None` if no date was paid. It is the
    /// earliest possible time of that visit for an account that was created at `from`.
    pub fn last_paid_from(&self, from: Timestamp) -> Option<Timestamp> {
        self.last_paid.map(|date| first_instant(self.zone, date, from))
    }

    /// Applies the pending change of zone if its time has come.
    fn settled(mut self, now: Timestamp) -> Self {
        if let Some(change) = self.change.take_if(|change| change.from.is_over(now)) {
            let left = local_date(self.zone, change.from.minus(Duration::from_micros(1)));
            let entered = local_date(change.to, change.from);
            if let Some(last) = self.last_paid
                && self.is_near(left)
            {
                // Dates that occur in the new zone are not skipped, even if they were recorded as skipped before.
                let jumped = self.jumped.iter().filter(|date| *date < entered);
                let absent = dates(last, next(left)).filter(|date| !exists(self.zone, *date));
                let between = dates(left, entered).filter(|date| *date > last);
                self.jumped = Dates::of(jumped.chain(absent).chain(between));
            }
            self.zone = change.to;
        }
        self
    }

    /// How many dates between the last paid one and `today` the fan had and missed. If they are too many for any
    /// streak, the number is approximate.
    fn missed_before(&self, today: NaiveDate) -> i64 {
        let Some(last) = self.last_paid else { return 0 };
        if !self.is_near(today) {
            return (today - last).num_days();
        }
        let missed = dates(last, today)
            .filter(|date| !self.jumped.contains(*date) && exists(self.zone, *date))
            .count();
        num::to_i64(missed)
    }

    /// Whether `date` is close enough to the last paid date that a streak may continue; more distant dates need not be
    /// examined one by one. This also bounds the number of skipped dates, since at least every other date is one that
    /// the fan had. The additional dates allow for those that zones skip.
    fn is_near(&self, date: NaiveDate) -> bool {
        const BY_THEMSELVES: i64 = 8;
        let jumped = num::to_i64(self.jumped.len());
        let near = i64::from(self.freezes).saturating_add(jumped).saturating_add(BY_THEMSELVES);
        self.last_paid.is_some_and(|last| (date - last).num_days() <= near)
    }

    /// The state after a visit on `today`, a date that is paid.
    fn paid(&self, today: NaiveDate, rules: &VisitRules) -> Self {
        let missed = num::to_u32(self.missed_before(today));
        let goes_on = self.last_paid.is_some() && missed <= self.freezes;
        let streak = if goes_on { self.streak.saturating_add(1) } else { 1 };
        let earned = u32::from(streak.checked_rem(rules.freeze_every) == Some(0));
        let freezes = self.freezes.saturating_sub(missed).saturating_add(earned).min(rules.max_freezes);
        Self {
            last_paid: Some(today),
            zone: self.zone,
            change: self.change,
            jumped: Dates::default(),
            streak,
            longest: self.longest.max(streak),
            freezes,
        }
    }

    /// The first instant at or after `now` at which a visit pays, if nothing changes.
    fn next_visit_at(&self, now: Timestamp) -> Timestamp {
        let date = self.last_paid.map_or(NaiveDate::MIN, next);
        let here = first_instant(self.zone, date, now);
        match self.change {
            Some(change) if change.from <= here => first_instant(change.to, date, change.from),
            Some(_) | None => here,
        }
    }
}

/// The date of a fan whose zone is `zone`, with or without visits.
pub fn today(zone: Tz, visits: Option<&Visits>, now: Timestamp) -> NaiveDate {
    visits.map_or_else(|| local_date(zone, now), |visits| visits.date(zone, now))
}

/// The first instant of the next date of a fan whose zone is `zone`, with or without visits.
pub fn next_date_at(zone: Tz, visits: Option<&Visits>, now: Timestamp) -> Timestamp {
    let calendar = visits.map_or_else(|| Visits::none(zone), |visits| visits.in_zone(zone, now));
    let date = local_date(calendar.zone, now);
    Visits { last_paid: Some(date), ..calendar }.next_visit_at(now)
}

/// The dates strictly between the two.
fn dates(after: NaiveDate, before: NaiveDate) -> impl Iterator<Item = NaiveDate> {
    next(after).iter_days().take_while(move |date| *date < before)
}

/// The result of a visit of a fan whose zone is `zone_now`. It pays on a date later than the last paid one, regardless
/// of changes of zones and clocks in between. A change of zone that was not passed to [`Visits::in_zone`] is treated as
/// made now.
pub fn visit(state: Option<&Visits>, zone_now: Tz, now: Timestamp, rules: &VisitRules) -> Visit {
    let known = state.map_or_else(|| Visits::none(zone_now), |state| state.in_zone(zone_now, now));
    let today = local_date(known.zone, now);
    if known.last_paid.is_some_and(|last| today <= last) {
        let next_visit_at = known.next_visit_at(now);
        let (streak, noted) = (known.streak, (state != Some(&known)).then_some(known));
        return Visit { outcome: VisitOutcome::AlreadyToday { streak, noted }, next_visit_at };
    }
    let state = known.paid(today, rules);
    let (reached, coins) = (of(&rules.milestones, state.streak), of(&rules.coins, state.streak));
    let next_visit_at = state.next_visit_at(now);
    let outcome = VisitOutcome::Paid {
        local_date: today,
        points: rules.pays(state.streak),
        coins: coins.map_or(0, |(_, coins)| coins),
        milestone: reached.map(|(streak, _)| streak),
        state,
    };
    Visit { outcome, next_visit_at }
}

#[cfg(test)]
mod tests;
