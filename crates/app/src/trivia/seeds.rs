//! The seeds that draw the questions of solo rounds.

use crate::platform::{SecretKey, SeedKey};
use terrace_draws::ServerSeed;
use terrace_games::RoundId;
use terrace_kernel::UserId;

/// Computes the seeds of fans in solo rounds from the service's secret.
#[derive(Debug)]
pub struct TriviaSeeds(SeedKey);

impl TriviaSeeds {
    /// The seeds of a secret key.
    pub fn new(secret: &SecretKey) -> Self {
        Self(SeedKey::new(secret, "terrace/questions of rounds/1"))
    }

    /// The seed of a fan in a round.
    pub fn seed(&self, round: RoundId, user: UserId) -> ServerSeed {
        let (round, user) = (round.as_uuid(), user.as_uuid());
        self.0.seed(&[round.as_bytes(), user.as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_seed_is_that_of_a_round_and_a_fan() {
        let seeds = |secret| TriviaSeeds::new(&SecretKey::from_bytes([secret; 32]));
        let (round, fan) =
            (|n| RoundId::from_uuid(Uuid::from_u128(n)), |n| UserId::from_uuid(Uuid::from_u128(n)));
        let one = seeds(1).seed(round(1), fan(2));
        assert_eq!(one, seeds(1).seed(round(1), fan(2)));
        for other in [
            seeds(1).seed(round(2), fan(1)),
            seeds(1).seed(round(1), fan(1)),
            seeds(2).seed(round(1), fan(2)),
        ] {
            assert_ne!(one, other);
        }
    }
}
