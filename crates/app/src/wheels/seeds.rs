//! The server seeds of spins.

use crate::platform::{SecretKey, SeedKey};
use terrace_draws::ServerSeed;
use terrace_games::WheelId;
use terrace_kernel::UserId;

/// Computes the server seeds of spins from the service's secret.
#[derive(Debug)]
pub struct WheelSeeds(SeedKey);

impl WheelSeeds {
    /// The seeds of a secret key.
    pub fn new(secret: &SecretKey) -> Self {
        Self(SeedKey::new(secret, "terrace/seeds of wheels/1"))
    }

    /// The seed of a fan's spin with this number, from 1.
    pub fn seed(&self, wheel: WheelId, user: UserId, nonce: u32) -> ServerSeed {
        let (wheel, user) = (wheel.as_uuid(), user.as_uuid());
        self.0.seed(&[wheel.as_bytes(), user.as_bytes(), &nonce.to_be_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_seed_is_that_of_a_wheel_a_fan_and_a_number() {
        let seeds = WheelSeeds::new(&SecretKey::from_bytes([1; 32]));
        let (wheel, fan) =
            (|n| WheelId::from_uuid(Uuid::from_u128(n)), |n| UserId::from_uuid(Uuid::from_u128(n)));
        let one = seeds.seed(wheel(1), fan(2), 3);
        assert_eq!(one, WheelSeeds::new(&SecretKey::from_bytes([1; 32])).seed(wheel(1), fan(2), 3));
        for other in [
            seeds.seed(wheel(2), fan(2), 3),
            seeds.seed(wheel(1), fan(1), 3),
            seeds.seed(wheel(1), fan(2), 4),
            seeds.seed(wheel(2), fan(1), 3),
            WheelSeeds::new(&SecretKey::from_bytes([2; 32])).seed(wheel(1), fan(2), 3),
        ] {
            assert_ne!(one, other);
        }
    }
}
