//! Waiting for states that no event announces.

use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

/// The longest wait of [`wait_until`]: much longer than any state takes on a loaded machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// Time between two checks.
const INTERVAL: Duration = Duration::from_millis(1);

/// Waits until `is_reached` returns true. It is for states of other processes and threads that cannot notify a test,
/// such as a file that disappears; where something notifies (a channel, a stream, a process that ends), wait for that.
///
/// # Errors
///
/// When `is_reached` fails, or when two minutes have passed; the error then names the `state`.
pub fn wait_until(state: &str, mut is_reached: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !is_reached()? {
        ensure!(start.elapsed() < PATIENCE, "not within {} s: {state}", PATIENCE.as_secs());
        std::thread::sleep(INTERVAL);
    }
    Ok(())
}
