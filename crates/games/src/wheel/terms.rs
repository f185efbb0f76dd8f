//! When a fan may spin.

use super::Wheel;
use chrono::NaiveDate;
use terrace_kernel::Timestamp;

/// A fan's spins of a wheel so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FreeSpin {
    /// The local date of the last free spin.
    pub last_free: Option<NaiveDate>,
    /// The local date of the last spin, and how many spins that date had.
    pub last_day: Option<(NaiveDate, u32)>,
}

/// Why a spin is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpinRefusal {
    /// The wheel is not open.
    Closed,
    /// The wheel has limited grants, and the account is new.
    AccountTooNew,
    /// The wheel gives no free spin today, or no longer.
    NoFreeSpin,
    /// The wheel has no price.
    NoPrice,
    /// The fan had all spins of the date.
    LimitReached,
}

impl FreeSpin {
    /// Whether a free spin is left on a local date: dates only ascend, so that a change of the time zone gives none twice.
    pub fn is_left(&self, wheel: &Wheel, today: NaiveDate) -> bool {
        wheel.has_free_spin
            && self.last_free.is_none_or(|last| last < today)
            && !self.is_used_up(wheel, today)
    }

    /// The spins of a local date.
    fn spins(&self, today: NaiveDate) -> u32 {
        // A date that lies before the last one, after a change of the time zone, belongs to it.
        self.last_day.filter(|(day, _)| *day >= today).map_or(0, |(_, spins)| spins)
    }

    fn is_used_up(&self, wheel: &Wheel, today: NaiveDate) -> bool {
        wheel.daily_limit.is_some_and(|limit| self.spins(today) >= limit)
    }

    /// The spins after one more on a local date.
    #[must_use]
    pub fn after(&self, today: NaiveDate, is_free: bool) -> Self {
        let day = self.last_day.map_or(today, |(day, _)| day.max(today));
        Self {
            last_free: if is_free { Some(today) } else { self.last_free },
            last_day: Some((day, self.spins(today).saturating_add(1))),
        }
    }
}

/// Whether a fan may spin now, free or for the price.
///
/// # Errors
///
/// Returns the first reason against it.
pub fn may_spin(
    wheel: &Wheel,
    spins: &FreeSpin,
    is_free: bool,
    is_new_account: bool,
    today: NaiveDate,
    now: Timestamp,
) -> Result<(), SpinRefusal> {
    if !wheel.is_open(now) {
        return Err(SpinRefusal::Closed);
    }
    if wheel.is_limited() && is_new_account {
        return Err(SpinRefusal::AccountTooNew);
    }
    if spins.is_used_up(wheel, today) {
        return Err(SpinRefusal::LimitReached);
    }
    match (is_free, wheel.price) {
        (true, _) if !spins.is_left(wheel, today) => Err(SpinRefusal::NoFreeSpin),
        (false, None) => Err(SpinRefusal::NoPrice),
        (true, _) | (false, Some(_)) => Ok(()),
    }
}
