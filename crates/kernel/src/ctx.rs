//! What a command may know of the world: the time, fresh identifiers, randomness.

use crate::Timestamp;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::{Builder, Uuid};

/// Tells the time. The one place where a process asks its machine is behind this trait.
pub trait Clock: Send + Sync + 'static {
    /// The instant at which it is asked.
    fn now(&self) -> Timestamp;
}

/// Gives unpredictable seeds. The one place where a process asks its machine is behind this trait.
pub trait Entropy: Send + Sync + 'static {
    /// 256 fresh random bits.
    fn seed(&self) -> [u8; 32];
}

/// From what the context of one command is made, as often as its body runs: a body that is run again after a
/// rollback sees the same time, the same ids and the same random numbers, and so decides the same.
#[derive(Clone)]
pub struct CtxSeed {
    now: Timestamp,
    seed: [u8; 32],
}

impl CtxSeed {
    /// A seed for one command.
    pub fn new(now: Timestamp, seed: [u8; 32]) -> Self {
        Self { now, seed }
    }

    /// Draws a seed for one command that starts now.
    pub fn draw(clock: &dyn Clock, entropy: &dyn Entropy) -> Self {
        Self::new(clock.now(), entropy.seed())
    }

    /// A context for one run of the command's body.
    pub fn open(&self) -> Ctx {
        Ctx { now: self.now, rng: StdRng::from_seed(self.seed) }
    }
}

/// The time, ids and randomness of one run of a command. Commands take them from nowhere else.
pub struct Ctx {
    now: Timestamp,
    rng: StdRng,
}

impl Ctx {
    /// When the command was given, also across retries, or when what it follows from happened
    /// ([`not_before`](Self::not_before)).
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Moves the time of the rest of the command to `cause`, where that is later: what follows from an event is not dated
    /// before it, although the command was given before the event was read, or another machine's clock is ahead.
    pub fn not_before(&mut self, cause: Timestamp) {
        self.now = self.now.max(cause);
    }

    /// A fresh `UUIDv7` (RFC 9562 §5.7) of the command's time, as any of the typed ids.
    pub fn new_id<I: From<Uuid>>(&mut self) -> I {
        self.new_id_at(self.now)
    }

    /// A fresh `UUIDv7` of another time, for rows that are brought in from elsewhere.
    pub fn new_id_at<I: From<Uuid>>(&mut self, at: Timestamp) -> I {
        let random = self.random_bytes::<10>();
        I::from(Builder::from_unix_timestamp_millis(at.as_unix_millis(), &random).into_uuid())
    }

    /// Random bytes of cryptographic quality.
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
