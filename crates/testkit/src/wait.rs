//! Waiting for states that no event announces.

use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

/// The longest wait of [`wait_until`], and for the program to start, to run a chore or to stop: much longer than any
/// state takes on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);
/// The shortest and the longest time between two checks.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// Waits until `is_reached` returns true. It is for states of other processes and threads that cannot notify a test,
/// such as a file that disappears; where something notifies (a channel, a stream, a process that ends), wait for that.
///
/// # Errors
///
/// When `is_reached` fails, or when two minutes have passed; the error then names the `state`.
pub fn wait_until(state: &str, mut is_reached: impl FnMut() -> Result<bool>) -> Result<()> {
    wait_at_most(PATIENCE, state, &mut is_reached)
}

/// Waits as [`wait_until`] does, but at most `patience`, for a state that must be reached within a known time.
///
/// # Errors
///
/// When `is_reached` fails, or when it is still false after `patience`; the error then names the `state`.
pub fn wait_at_most(
    patience: Duration,
    state: &str,
    mut is_reached: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let start = Instant::now();
    let (shortest, longest) = INTERVALS;
    loop {
        // Read before the check: a check that is itself slow does not shorten the time for the state.
        let waited = start.elapsed();
        if is_reached()? {
            return Ok(());
        }
        ensure!(waited < patience, "not within {patience:?}: {state}");
        // A long wait checks less often, so that it takes little of the processor from what it waits for.
        std::thread::sleep((waited / 10).clamp(shortest, longest));
    }
}
