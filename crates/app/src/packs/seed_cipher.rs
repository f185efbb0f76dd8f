//! The encryption of the seeds of sealed copies.

use crate::platform::SecretKey;
use crate::rewards::CodeCipher;
use crate::store::{Command, SecretMarks, into_infallible};
use crate::trivia::TriviaSeeds;
use crate::wheels::WheelSeeds;
use crate::{App, CursorSeal};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use terrace_kernel::{Ctx, Outcome, StoreError};
use terrace_packs::{SealedSeed, ServerSeed, UserPackId};
use zeroize::Zeroize;

/// The first byte of the output of [`SeedCipher::seal`], so that the format can change.
const VERSION: u8 = 1;
/// Length of a nonce in bytes.
const NONCE: usize = 24;

/// Encrypts the seeds of sealed copies with XChaCha20-Poly1305 under a derived key. The copy's id is authenticated,
/// so that swapped rows are detected.
pub struct SeedCipher {
    cipher: XChaCha20Poly1305,
}

impl SeedCipher {
    /// Creates the cipher of a secret key.
    pub fn new(secret: &SecretKey) -> Self {
        let mut key = secret.derive("terrace/seeds of sealed packs/1");
        let cipher = XChaCha20Poly1305::new(&key.into());
        key.zeroize();
        Self { cipher }
    }

    /// Encrypts a copy's seed. The nonce must be random.
    pub fn seal(
        &self,
        copy: UserPackId,
        seed: &ServerSeed,
        nonce: [u8; NONCE],
    ) -> Result<SealedSeed, StoreError> {
        let copy = copy.as_uuid();
        let payload = Payload { msg: seed.as_bytes(), aad: copy.as_bytes() };
        let sealed = self
            .cipher
            .encrypt(&nonce.into(), payload)
            .map_err(|_| StoreError::defect("seal a seed", "the cipher refuses"))?;
        Ok(SealedSeed::from_bytes([[VERSION].as_slice(), &nonce, &sealed].concat()))
    }

    /// Decrypts the seed that was sealed for this copy.
    ///
    /// # Errors
    ///
    /// If it was sealed with another secret key or for another copy, or is damaged.
    pub fn open(&self, copy: UserPackId, sealed: &SealedSeed) -> Result<ServerSeed, StoreError> {
        let parts = sealed.as_bytes().split_first().and_then(|(version, rest)| {
            let (nonce, text) = rest.split_first_chunk::<NONCE>()?;
            (*version == VERSION).then_some((*nonce, text))
        });
        let opened = parts.and_then(|(nonce, msg)| {
            let copy = copy.as_uuid();
            let payload = Payload { msg, aad: copy.as_bytes() };
            self.cipher.decrypt(&nonce.into(), payload).ok()
        });
        let seed = opened.and_then(|seed| <[u8; 32]>::try_from(seed).ok());
        seed.map(ServerSeed::from_bytes).ok_or_else(|| StoreError::Corrupt {
            table: "user_packs",
            column: "sealed_seed",
            detail: format!("the secret of this process does not open copy {copy}"),
        })
    }
}

impl fmt::Debug for SeedCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeedCipher(…)")
    }
}

/// Stores the secret key's fingerprint unless one is stored; returns whether the stored one is equal.
struct MarkSecret {
    mark: [u8; 32],
}

impl Command for MarkSecret {
    const NAME: &'static str = "mark_secret";
    type Ports = dyn SecretMarks;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SecretMarks, _ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.keep_mark("service", &self.mark)? == self.mark)
    }
}

impl App {
    /// Sets the secret key that all processes of the service share. Without one, no packs are sold or opened, no
    /// rewards are claimed, and other processes reject this process's cursors.
    #[must_use]
    pub fn with_secret(self, secret: &SecretKey) -> Self {
        let mark = secret.derive("terrace/mark/1");
        let cursors = CursorSeal::new(secret);
        let wheel_seeds = Some(Arc::new(WheelSeeds::new(secret)));
        let trivia_seeds = Some(Arc::new(TriviaSeeds::new(secret)));
        let code_cipher = Some(Arc::new(CodeCipher::new(secret)));
        let seed_cipher = Some((Arc::new(SeedCipher::new(secret)), mark));
        Self { cursors, seed_cipher, code_cipher, wheel_seeds, trivia_seeds, ..self }
    }

    /// Whether this process has the same secret key as the first process on this database.
    pub async fn has_the_secret(&self) -> Result<bool, StoreError> {
        let Some((_, mark)) = &self.seed_cipher else { return Ok(false) };
        into_infallible(self.execute(MarkSecret { mark: *mark }).await)
    }

    /// The cipher of server seeds; an error if this process has no secret key.
    pub fn seed_cipher(&self) -> Result<Arc<SeedCipher>, StoreError> {
        let safe = self.seed_cipher.as_ref().map(|(safe, _)| Arc::clone(safe));
        safe.ok_or_else(|| StoreError::defect("seal packs", "this process has no secret"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn copy(number: u128) -> UserPackId {
        Uuid::from_u128(number).into()
    }

    #[test]
    fn a_seed_is_opened_by_the_same_secret_for_the_same_copy_alone() {
        let safe = SeedCipher::new(&SecretKey::from_bytes([1; 32]));
        let seed = ServerSeed::from_bytes([7; 32]);
        let sealed = safe.seal(copy(1), &seed, [9; 24]).unwrap();
        assert_eq!(safe.open(copy(1), &sealed).unwrap(), seed);
        assert!(!sealed.as_bytes().windows(8).any(|bytes| bytes == [7; 8]));
        assert!(safe.open(copy(2), &sealed).is_err());
        assert!(SeedCipher::new(&SecretKey::from_bytes([2; 32])).open(copy(1), &sealed).is_err());
        for place in 0..sealed.as_bytes().len() {
            let mut bytes = sealed.as_bytes().to_vec();
            bytes[place] ^= 1;
            assert!(safe.open(copy(1), &SealedSeed::from_bytes(bytes)).is_err(), "{place}");
        }
        for length in [0, 1, 24, 25, 40] {
            let cut = sealed.as_bytes()[..length].to_vec();
            assert!(safe.open(copy(1), &SealedSeed::from_bytes(cut)).is_err(), "{length}");
        }
    }
}
