//! Reads of wheels and spins.

use crate::store::{Query, WheelReadTx};
use crate::wheels::WheelBook;
use chrono::NaiveDate;
use chrono_tz::Tz;
use std::collections::HashMap;
use std::convert::Infallible;
use terrace_games::{SegmentKey, Spin, SpinState, SpinTable, Wheel, WheelId, WheelRead};
use terrace_kernel::{Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_quests::{Visits, next_date_at, today};

/// Reads all wheels.
pub(super) struct ReadWheels;

impl Query for ReadWheels {
    const NAME: &'static str = "read_wheels";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn WheelRead;
    type Output = WheelBook;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WheelRead, _now: Timestamp) -> Outcome<WheelBook, Infallible> {
        Ok(WheelBook::new(tx.wheels()?))
    }
}

/// Reads how often limited segments gave their grants.
pub struct ReadSegmentsGiven;

impl Query for ReadSegmentsGiven {
    const NAME: &'static str = "read_segments_given";
    type Ports = dyn WheelRead;
    type Output = HashMap<(WheelId, SegmentKey), u32>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WheelRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let given = tx.segments_given()?.into_iter();
        Ok(given.map(|(wheel, segment, given)| ((wheel, segment), given)).collect())
    }
}

/// Reads where a fan stands at all wheels.
pub struct ReadFanAtWheels {
    /// The fan.
    pub user: UserId,
}

/// Where a fan stands at all wheels.
#[derive(Debug, Clone)]
pub struct FanAtWheels {
    states: HashMap<WheelId, SpinState>,
    /// The fan's local date.
    pub today: NaiveDate,
    /// When the next local date begins.
    pub next_date_at: Timestamp,
}

impl FanAtWheels {
    /// Where a fan with these standings and this calendar is.
    pub(crate) fn new(
        states: Vec<(WheelId, SpinState)>,
        (zone, visits): (Tz, Option<&Visits>),
        now: Timestamp,
    ) -> Self {
        Self {
            states: states.into_iter().collect(),
            today: today(zone, visits, now),
            next_date_at: next_date_at(zone, visits, now),
        }
    }

    /// Whether a free spin of the wheel is left, and otherwise when there is one again; `None` for a wheel without any.
    pub fn free_spin(&self, wheel: &Wheel) -> (bool, Option<Timestamp>) {
        let is_left = self.state(wheel.id).spins.is_left(wheel, self.today);
        (is_left, (wheel.has_free_spin && !is_left).then_some(self.next_date_at))
    }

    /// Where the fan stands at a wheel.
    pub fn state(&self, wheel: WheelId) -> SpinState {
        self.states.get(&wheel).copied().unwrap_or_default()
    }
}

impl Query for ReadFanAtWheels {
    const NAME: &'static str = "read_fan_at_wheels";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn WheelReadTx;
    type Output = Option<FanAtWheels>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WheelReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Some((zone, visits)) = tx.visits_and_zone(self.user)? else { return Ok(None) };
        let states = tx.spin_states(self.user)?;
        Ok(Some(FanAtWheels::new(states, (zone, visits.as_ref()), now)))
    }
}

/// Lists a fan's spins, the newest first.
pub struct ListSpins {
    /// The fan.
    pub user: UserId,
    /// The maximum number of spins.
    pub limit: Limit,
    /// The key of the last spin of the previous page.
    pub after: Option<TimeKey>,
}

impl Query for ListSpins {
    const NAME: &'static str = "list_spins";
    type Ports = dyn WheelRead;
    type Output = Page<(Spin, SpinTable)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WheelRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.spins(self.user, self.limit, self.after)?)
    }
}
