//! Compares the clock of this process with that of the database.
//!
//! Questions of live rounds open and close by the time alone, so processes that share a database must agree about it: one whose
//! clock is wrong is not ready ([`App::ready`]). A comparison is made every few seconds, not with each check. It takes a few
//! round trips, of which the shortest counts, and half of that one is the bound of its error.

use crate::App;
use crate::store::{Query, ServerClockRead, into_infallible};
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_kernel::{Clock, Outcome, StoreError, Timestamp};
use tokio::sync::watch;

/// How far the clock of a process that is ready may be from that of the database.
pub const MAX_CLOCK_OFFSET: Duration = Duration::from_millis(50);
/// Interval between two comparisons.
const EVERY: Duration = Duration::from_secs(10);
/// The round trips of a comparison.
const ROUND_TRIPS: usize = 4;

/// How far the clock of the database is from that of this process, as measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// The distance.
    pub apart: Duration,
    /// Whether the clock of the database is ahead.
    pub is_ahead: bool,
    /// The largest error of the measurement.
    pub error: Duration,
}

impl ClockOffset {
    /// Within this duration, which is that of a round trip, first `ours` was read and then, by the database, `theirs`.
    fn of(ours: Timestamp, theirs: Timestamp, round_trip: Duration) -> Self {
        let error = round_trip / 2;
        let ours = ours.plus(error);
        Self { apart: theirs.since(ours).max(ours.since(theirs)), is_ahead: theirs > ours, error }
    }

    /// Whether the clocks are too far apart, whatever the error is.
    pub fn is_too_large(&self) -> bool {
        self.apart > MAX_CLOCK_OFFSET.saturating_add(self.error)
    }

    /// In seconds, positive if the clock of the database is ahead.
    fn seconds(&self) -> f64 {
        let apart = self.apart.as_secs_f64();
        if self.is_ahead { apart } else { -apart }
    }
}

impl fmt::Display for ClockOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.is_ahead { "behind" } else { "ahead of" };
        let [apart, error] = [self.apart, self.error].map(|span| span.as_secs_f64() * 1_000.0);
        write!(f, "the clock is {apart:.1} ms {side} the database's, measured to {error:.1} ms")
    }
}

/// The last comparison; `None` before the first one, and with an embedded database.
#[derive(Debug, Default)]
pub(crate) struct LastOffset(Mutex<Option<ClockOffset>>);

impl LastOffset {
    /// Replaces the comparison and returns the one before.
    fn replace(&self, offset: Option<ClockOffset>) -> Option<ClockOffset> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), offset)
    }

    /// Fails if the clock was too far off.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(offset) if offset.is_too_large() => Err(StoreError::Unavailable(offset.to_string())),
            Some(_) | None => Ok(()),
        }
    }
}

/// Reads the clocks in turn. Not the time of the query, but that of each round trip counts.
struct CompareClocks {
    clock: Arc<dyn Clock>,
}

impl Query for CompareClocks {
    const NAME: &'static str = "compare_clocks";
    type Ports = dyn ServerClockRead;
    type Output = Option<ClockOffset>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ServerClockRead, _now: Timestamp) -> Outcome<Option<ClockOffset>, Infallible> {
        let mut best: Option<ClockOffset> = None;
        for _ in 0..ROUND_TRIPS {
            // In this order, so that a pause between any two of the steps is part of the error.
            let (begun, ours) = (Instant::now(), self.clock.now());
            let Some(theirs) = tx.server_time()? else { return Ok(None) };
            let measured = ClockOffset::of(ours, theirs, begun.elapsed());
            if best.is_none_or(|best| measured.error < best.error) {
                best = Some(measured);
            }
        }
        Ok(best)
    }
}

impl App {
    /// Compares the clock of this process with that of the database, which decides whether the process is ready. `None` with
    /// an embedded database, which has no clock of its own.
    ///
    /// # Errors
    ///
    /// When the store is unavailable; the last comparison stays.
    pub async fn compare_clocks(&self) -> Result<Option<ClockOffset>, StoreError> {
        let offset = into_infallible(self.query(CompareClocks { clock: Arc::clone(&self.clock) }).await)?;
        let before = self.clock_offset.replace(offset);
        if let Some(offset) = offset {
            metrics::gauge!("terrace_clock_offset_seconds").set(offset.seconds());
            match (before.is_some_and(|before| before.is_too_large()), offset.is_too_large()) {
                (false, true) => log::error!("this process is not ready: {offset}"),
                (true, false) => log::info!("this process is ready again: {offset}"),
                (true, true) | (false, false) => {}
            }
        }
        Ok(offset)
    }

    /// Compares the clocks every few seconds until `stop` becomes true.
    pub async fn run_clocks(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                // The sender was dropped, or it sent true.
                _ = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            if let Err(error) = self.compare_clocks().await {
                log::debug!("the clocks were not compared: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_8_an_offset_counts_beyond_the_error_of_its_measurement() {
        let ours = Timestamp::from_micros(1_800_000_000_000_000);
        let millis = Duration::from_millis;
        for (apart, round_trip, is_too_large) in [
            (0, 0, false),
            (50, 0, false),
            (51, 0, true),
            (60, 20, false),
            (61, 20, true),
            (900, 2_000, false),
        ] {
            let read = ours.plus(millis(round_trip) / 2);
            for theirs in [read.plus(millis(apart)), read.minus(millis(apart))] {
                let offset = ClockOffset::of(ours, theirs, millis(round_trip));
                assert_eq!(offset.apart, millis(apart));
                assert_eq!(offset.is_too_large(), is_too_large, "{apart} ms in {round_trip} ms");
            }
        }
    }

    #[test]
    fn an_offset_says_which_clock_is_ahead() {
        let ours = Timestamp::from_micros(1_800_000_000_000_000);
        let text = |theirs| ClockOffset::of(ours, theirs, Duration::ZERO).to_string();
        assert!(text(ours.plus(MAX_CLOCK_OFFSET)).contains("50.0 ms behind"));
        assert!(text(ours.minus(MAX_CLOCK_OFFSET)).contains("50.0 ms ahead of"));
    }
}
