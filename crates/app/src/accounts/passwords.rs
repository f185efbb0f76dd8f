//! Password hashing (Argon2id, RFC 9106), off the async threads and bounded: a fixed number of hashes is computed
//! at a time, a fixed number waits in a queue, and further requests are rejected as busy.

use crate::platform::{NotDone, Workers};
use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use terrace_identity::{Password, PasswordHash};
use terrace_kernel::StoreError;

/// Counts computed hashes, including those of the decoy for unknown names. The metric shows that signing in with an
/// unknown name costs as much as with a known one.
const HASHES: &str = "terrace_password_hashes_total";

/// Cost parameters of one hash. The default is what OWASP recommends for Argon2id: 19 MiB, two passes, one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory in KiB, at least 8.
    pub memory_kib: u32,
    /// Passes over the memory, at least 1.
    pub passes: u32,
}

impl Default for PasswordCost {
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2 }
    }
}

/// The queue of passwords to hash is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many concurrent sign-ins")]
pub struct PasswordsBusy;

/// Why hashing or verifying failed.
#[derive(Debug)]
pub(crate) enum PasswordFailure {
    /// The queue is full.
    Busy,
    /// An internal error.
    Broken(StoreError),
}

/// Hashes and verifies passwords.
pub struct Passwords {
    cost: PasswordCost,
    workers: Workers,
    /// Salt of the decoy hash that is computed for an unknown name, so that it takes as long as a known one.
    decoy_salt: [u8; 16],
}

impl Passwords {
    /// Creates a hasher that computes at most `workers` hashes at a time and queues at most `queue` more.
    pub fn new(cost: PasswordCost, workers: usize, queue: usize, decoy_salt: [u8; 16]) -> Self {
        Self { cost, workers: Workers::new("terrace_password_queue", workers, queue), decoy_salt }
    }

    /// Hashes a new password with `salt`.
    pub(crate) async fn hash(
        &self,
        password: Password,
        salt: [u8; 16],
    ) -> Result<PasswordHash, PasswordFailure> {
        let cost = self.cost;
        self.run(move || {
            metrics::counter!(HASHES).increment(1);
            let hash = hasher(cost)?
                .hash_password_with_salt(password.as_bytes(), &salt)
                .map_err(|error| StoreError::defect("hash a password", error))?;
            Ok(PasswordHash::from_phc(hash.to_string()))
        })
        .await
    }

    /// Whether `password` matches `hash`. Without a hash returns `false` after the same amount of work.
    pub(crate) async fn verify(
        &self,
        password: Password,
        hash: Option<PasswordHash>,
    ) -> Result<bool, PasswordFailure> {
        let (cost, decoy_salt) = (self.cost, self.decoy_salt);
        self.run(move || {
            metrics::counter!(HASHES).increment(1);
            let Some(hash) = hash else {
                hasher(cost)?
                    .hash_password_with_salt(password.as_bytes(), &decoy_salt)
                    .map_err(|error| StoreError::defect("hash a password", error))?;
                return Ok(false);
            };
            let parsed = phc::PasswordHash::new(hash.as_phc()).map_err(|error| StoreError::Corrupt {
                table: "credentials",
                column: "password_hash",
                detail: error.to_string(),
            })?;
            Ok(hasher(cost)?.verify_password(password.as_bytes(), &parsed).is_ok())
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, PasswordFailure> {
        match self.workers.run(work).await {
            Ok(result) => result.map_err(PasswordFailure::Broken),
            Err(NotDone::Busy) => Err(PasswordFailure::Busy),
            Err(NotDone::Panicked(error)) => {
                Err(PasswordFailure::Broken(StoreError::defect("hash a password", error)))
            }
        }
    }
}

fn hasher(cost: PasswordCost) -> Result<Argon2<'static>, StoreError> {
    let params = Params::new(cost.memory_kib, cost.passes, 1, None)
        .map_err(|error| StoreError::defect("set up password hashing", error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: PasswordCost = PasswordCost { memory_kib: 64, passes: 1 };

    fn offered(text: &str) -> Password {
        Password::offer(text.to_owned())
    }

    #[tokio::test]
    async fn only_the_right_password_is_right() {
        let passwords = Passwords::new(CHEAP, 1, 4, [0; 16]);
        let hash = passwords.hash(offered("correct horse"), [1; 16]).await.unwrap();
        assert!(hash.as_phc().starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{}", hash.as_phc());
        assert!(passwords.verify(offered("correct horse"), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify(offered("battery staple"), Some(hash)).await.unwrap());
        assert!(!passwords.verify(offered("correct horse"), None).await.unwrap());
    }
}
