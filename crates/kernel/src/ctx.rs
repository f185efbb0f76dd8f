//! The inputs of a command that are not in its arguments: the time, new identifiers and random numbers.

use crate::Timestamp;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::{Builder, Uuid};

/// A source of the current time. Only an implementation of this trait reads the system clock.
pub trait Clock: Send + Sync + 'static {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// A source of unpredictable seeds. Only an implementation of this trait reads the system's random number generator.
pub trait Entropy: Send + Sync + 'static {
    /// 256 fresh random bits.
    fn seed(&self) -> [u8; 32];
}

/// Creates the context of one command, once for each run of its body. A body that runs again after a rollback gets the
/// same time, the same ids and the same random numbers, and therefore makes the same decisions.
#[derive(Clone)]
pub struct CtxSeed {
    now: Timestamp,
    seed: [u8; 32],
}

impl CtxSeed {
    /// Creates a seed for one command from a given time and given random bits.
    pub fn new(now: Timestamp, seed: [u8; 32]) -> Self {
        Self { now, seed }
    }

    /// Creates a seed for one command that starts now.
    pub fn draw(clock: &dyn Clock, entropy: &dyn Entropy) -> Self {
        Self::new(clock.now(), entropy.seed())
    }

    /// Creates the context for one run of the command's body. Every call returns an equal context.
    pub fn open(&self) -> Ctx {
        Ctx { now: self.now, rng: StdRng::from_seed(self.seed) }
    }
}

/// The time, ids and randomness of one run of a command. Commands have no other source for them.
pub struct Ctx {
    now: Timestamp,
    rng: StdRng,
}

impl Ctx {
    /// The time at which the command was submitted, which retries do not change, or the time of the event that caused
    /// it, if that is later ([`not_before`](Self::not_before)).
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Sets the time for the rest of the command to `cause` if that is later. An effect is then never dated before the
    /// event that caused it, even if the command was submitted before the event was read, or if another machine's clock
    /// is ahead.
    pub fn not_before(&mut self, cause: Timestamp) {
        self.now = self.now.max(cause);
    }

    /// A new `UUIDv7` (RFC 9562 §5.7) with the time of the command, as any of the typed ids.
    pub fn new_id<I: From<Uuid>>(&mut self) -> I {
        self.new_id_at(self.now)
    }

    /// A new `UUIDv7` with the time `at`, for imported rows.
    pub fn new_id_at<I: From<Uuid>>(&mut self, at: Timestamp) -> I {
        let random = self.random_bytes::<10>();
        I::from(Builder::from_unix_timestamp_millis(at.as_unix_millis(), &random).into_uuid())
    }

    /// `N` random bytes of cryptographic quality.
    pub fn random_bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.rng.fill_bytes(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PostId;

    #[test]
    fn a_body_that_runs_twice_sees_the_same_world() {
        let seed = CtxSeed::new(Timestamp::from_micros(1_700_000_000_000_000), [7; 32]);
        let (mut first, mut second) = (seed.open(), seed.open());
        assert_eq!(first.now(), second.now());
        assert_eq!(first.new_id::<PostId>(), second.new_id::<PostId>());
        assert_ne!(first.random_bytes::<16>(), [0; 16]);
    }

    #[test]
    fn ids_are_version_7_of_the_commands_time() {
        let now = Timestamp::from_micros(1_700_000_000_123_456);
        let id: Uuid = CtxSeed::new(now, [1; 32]).open().new_id();
        assert_eq!(id.get_version_num(), 7);
        assert_eq!(id.get_timestamp().map(|at| at.to_unix()), Some((1_700_000_000, 123_000_000)));
    }
}
