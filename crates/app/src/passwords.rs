//! Password hashing (Argon2id, RFC 9106), off the async threads and bounded: however many sign in at once, a
//! fixed number of hashes is computed at a time, a fixed number waits, and the rest is told to come later.

use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use terrace_identity::{Password, PasswordHash};
use terrace_kernel::StoreError;
use tokio::sync::Semaphore;

/// What one hash costs. The default is what OWASP recommends for Argon2id: 19 MiB, two passes, one lane.
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

/// More passwords wait to be hashed than the service takes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many sign-ins at once")]
pub struct PasswordsBusy;

/// Why hashing or checking came to nothing.
#[derive(Debug)]
pub(crate) enum PasswordFailure {
    /// Too many wait already.
    Busy,
    /// A defect of ours.
    Broken(StoreError),
}

/// Hashes and checks passwords.
pub struct Passwords {
    cost: PasswordCost,
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
    /// What an unknown name's password is checked against, so that it takes as long as a known one's.
    decoy_salt: [u8; 16],
}

impl Passwords {
    /// At most `workers` hashes at a time, at most `queue` more waiting.
    pub fn new(cost: PasswordCost, workers: usize, queue: usize, decoy_salt: [u8; 16]) -> Self {
        Self {
            cost,
            running: Arc::new(Semaphore::new(workers.max(1))),
            waiting: AtomicUsize::new(0),
            most_waiting: queue,
            decoy_salt,
        }
    }

    /// Hashes a password that was chosen, with `salt`.
    pub(crate) async fn hash(
        &self,
        password: Password,
        salt: [u8; 16],
    ) -> Result<PasswordHash, PasswordFailure> {
        let cost = self.cost;
        self.run(move || {
            let hash = hasher(cost)?
                .hash_password_with_salt(password.as_bytes(), &salt)
                .map_err(|error| StoreError::defect("hash a password", error))?;
            Ok(PasswordHash::from_phc(hash.to_string()))
        })
        .await
    }

    /// Whether `password` is the one that `hash` was made of. Without a hash it is not, after the same work.
    pub(crate) async fn verify(
        &self,
        password: Password,
        hash: Option<PasswordHash>,
    ) -> Result<bool, PasswordFailure> {
        let (cost, decoy_salt) = (self.cost, self.decoy_salt);
        self.run(move || {
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
        let permit = if let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() {
            permit
        } else {
            let _place = self.take_place().ok_or(PasswordFailure::Busy)?;
            Arc::clone(&self.running).acquire_owned().await.map_err(|_| PasswordFailure::Busy)?
        };
        let done = tokio::task::spawn_blocking(move || {
            // The permit goes with the work: a client that hangs up frees no place before its hash is done.
            let _permit = permit;
            work()
        });
        match done.await {
            Ok(result) => result.map_err(PasswordFailure::Broken),
            Err(error) => Err(PasswordFailure::Broken(StoreError::defect("hash a password", error))),
        }
    }

    fn take_place(&self) -> Option<Place<'_>> {
        let took = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, |waiting| {
            (waiting < self.most_waiting).then_some(waiting + 1)
        });
        metrics::gauge!("terrace_password_queue")
            .set(f64::from(u32::try_from(self.waiting.load(Ordering::Relaxed)).unwrap_or(u32::MAX)));
        took.is_ok().then(|| Place(&self.waiting))
    }
}

/// A place in the queue, given back when its holder is served or hangs up.
struct Place<'p>(&'p AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
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

    #[tokio::test]
    async fn a_flood_is_told_to_come_later() {
        let passwords = Arc::new(Passwords::new(CHEAP, 1, 2, [0; 16]));
        let held = Arc::clone(&passwords.running).acquire_owned().await.unwrap();
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let passwords = Arc::clone(&passwords);
                tokio::spawn(async move { passwords.verify(offered("x"), None).await })
            })
            .collect();
        while passwords.waiting.load(Ordering::Acquire) < 2 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(passwords.verify(offered("x"), None).await, Err(PasswordFailure::Busy)));
        drop(held);
        for one in waiting {
            assert!(matches!(one.await.unwrap(), Ok(false)));
        }
        assert_eq!(passwords.waiting.load(Ordering::Acquire), 0);
    }
}
