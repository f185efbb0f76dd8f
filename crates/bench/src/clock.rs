//! A clock that all processes of a measurement share, so that their timestamps can be subtracted, and the current time.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, SystemTime};
use terrace_kernel::num;

/// Nanoseconds since an unspecified moment before the measurement. Monotonic.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(nanos.unwrap_or(0))
}

/// The current time in microseconds since 1970.
pub(crate) fn unix_micros() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "what is written is dated now")]
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    num::to_i64(since_epoch.as_micros())
}

/// The time from one moment to another; zero if `to` is earlier.
pub(crate) const fn between(from: u64, to: u64) -> Duration {
    Duration::from_nanos(to.saturating_sub(from))
}

/// The CPU time that this thread has used.
pub(crate) fn thread_cpu() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(num::to_u64(used.tv_sec), num::to_u32(used.tv_nsec))
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
