//! Seeds of draws that follow from the service's secret, so that they need not be stored.

use crate::platform::SecretKey;
use std::fmt;
use terrace_draws::ServerSeed;
use zeroize::Zeroizing;

/// A key from which the seeds of one kind of draws are derived.
pub(crate) struct SeedKey(Zeroizing<[u8; 32]>);

impl SeedKey {
    /// The key of a secret for one purpose.
    pub(crate) fn new(secret: &SecretKey, purpose: &str) -> Self {
        Self(Zeroizing::new(secret.derive(purpose)))
    }

    /// The seed of a draw. The parts that identify it have fixed lengths, so that different parts have different seeds.
    pub(crate) fn seed(&self, parts: &[&[u8]]) -> ServerSeed {
        ServerSeed::derived(&self.0, &parts.concat())
    }
}

impl fmt::Debug for SeedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeedKey(…)")
    }
}
