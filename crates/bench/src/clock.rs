//! A clock that the processes of a measurement share: what one stamps, another one can subtract.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Nanoseconds since some moment before the machine started measuring. It never goes back.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(nanos.unwrap_or(0))
}

/// How long it was from one moment to another; nothing where the other was first.
pub(crate) const fn between(from: u64, to: u64) -> Duration {
    Duration::from_nanos(to.saturating_sub(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_go_back() {
        let (one, two) = (now(), now());
        assert!(one > 0 && two >= one);
        assert_eq!((between(5, 3), between(3, 5)), (Duration::ZERO, Duration::from_nanos(2)));
    }
}
