//! Time and randomness under the control of tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use terrace_kernel::{Clock, Entropy, Timestamp};

/// A clock that stands still until it is set. Clones share one time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    micros: Arc<AtomicI64>,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self { micros: Arc::new(AtomicI64::new(now.as_micros())) }
    }

    /// Sets the clock, forwards or backwards.
    pub fn set(&self, now: Timestamp) {
        self.micros.store(now.as_micros(), Ordering::SeqCst);
    }

    /// Advances the clock by `span`.
    pub fn advance(&self, span: Duration) {
        self.set(self.now().plus(span));
    }
}

/// 2026-05-01T12:00:00Z, a Friday.
impl Default for ManualClock {
    fn default() -> Self {
        Self::at(Timestamp::from_micros(1_777_636_800_000_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.load(Ordering::SeqCst))
    }
}

/// A clock that runs from 2026-05-01T12:00:00Z and can be advanced. Clones share one time.
#[derive(Debug, Clone)]
pub struct FlowingClock {
    started: Instant,
    base: ManualClock,
}

impl FlowingClock {
    /// Advances the clock by `span` at once.
    pub fn advance(&self, span: Duration) {
        self.base.advance(span);
    }
}

impl Default for FlowingClock {
    fn default() -> Self {
        Self { started: Instant::now(), base: ManualClock::default() }
    }
}

impl Clock for FlowingClock {
    fn now(&self) -> Timestamp {
        self.base.now().plus(self.started.elapsed())
    }
}

/// Seeds that are all different, and the same in every run in the order in which they are drawn.
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

/// The odd constant of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl SeededEntropy {
    /// The sequence of seeds for `number`.
    pub fn new(number: u64) -> Self {
        Self { state: AtomicU64::new(number) }
    }

    /// The next number of `SplitMix64`: a bijection of the state, so that no number repeats.
    fn next(&self) -> u64 {
        let mut z = self.state.fetch_add(GOLDEN, Ordering::SeqCst).wrapping_add(GOLDEN);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Default for SeededEntropy {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Entropy for SeededEntropy {
    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        for part in seed.chunks_exact_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes());
        }
        seed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_only_when_it_is_set() {
        let clock = ManualClock::default();
        let seen_by_the_service = clock.clone();
        assert_eq!(seen_by_the_service.now().to_string(), "2026-05-01T12:00:00.000Z");
        clock.advance(Duration::from_secs(90));
        assert_eq!(seen_by_the_service.now().to_string(), "2026-05-01T12:01:30.000Z");
        clock.set(Timestamp::from_micros(0));
        assert_eq!(seen_by_the_service.now().to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn seeds_repeat_from_run_to_run_and_never_within_one() {
        let (first, again, other) = (SeededEntropy::new(1), SeededEntropy::new(1), SeededEntropy::new(2));
        let seeds: std::collections::BTreeSet<_> = (0..100).map(|_| first.seed()).collect();
        assert_eq!(seeds.len(), 100);
        assert_eq!(seeds, (0..100).map(|_| again.seed()).collect());
        assert!(!seeds.contains(&other.seed()));
    }
}
