//! The secret that every process of a service shares, and the keys that are derived from it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Entropy, hex};
use zeroize::Zeroize;

/// 32 random bytes that all processes of a service share and that no database contains. Keys derived from them
/// protect data that must stay secret if the database is stolen. Not shown by `Debug`.
#[derive(Clone)]
pub struct SecretKey([u8; 32]);

/// The text is not a valid secret key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret key is 64 lower-case hexadecimal digits")]
pub struct MalformedSecretKey;

impl SecretKey {
    /// Creates a key from 32 bytes, which must be random.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Generates a random key.
    pub fn draw(entropy: &dyn Entropy) -> Self {
        Self(entropy.seed())
    }

    /// The key as 64 lower-case hexadecimal digits, for the file in which it is stored.
    pub fn reveal(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = hex::write(&self.0, &mut text);
        text
    }

    /// Derives a key or fingerprint for one purpose, which reveals nothing about the others (HMAC-SHA-256 as a PRF).
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        keyed(&self.0).chain_update(purpose).finalize().into_bytes().into()
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

/// Parses the output of [`SecretKey::reveal`]; surrounding whitespace is ignored.
impl FromStr for SecretKey {
    type Err = MalformedSecretKey;

    fn from_str(text: &str) -> Result<Self, MalformedSecretKey> {
        hex::read_32(text.trim()).map(Self).ok_or(MalformedSecretKey)
    }
}

/// HMAC-SHA256 with a key of any length: it is padded to a block, and a longer one is first hashed to 32 bytes (RFC
/// 2104). Passing the whole block makes the constructor infallible.
pub(crate) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    let mut block = [0_u8; 64];
    if key.len() > block.len() {
        let hashed: [u8; 32] = <Sha256 as sha2::Digest>::digest(key).into();
        block.iter_mut().zip(hashed).for_each(|(to, from)| *to = from);
    } else {
        block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    }
    let mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    block.zeroize();
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_as_it_is_written_and_shown_nowhere_else() {
        let secret = SecretKey::from_bytes([0xab; 32]);
        assert_eq!(secret.reveal(), "ab".repeat(32));
        let read: SecretKey = format!("{}\n", secret.reveal()).parse().unwrap();
        assert_eq!(read.reveal(), secret.reveal());
        assert!("AB".repeat(32).parse::<SecretKey>().is_err() && "ab".parse::<SecretKey>().is_err());
        assert!(!format!("{secret:?}").contains("ab"));
    }
}
