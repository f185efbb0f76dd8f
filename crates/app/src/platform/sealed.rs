//! Opaque bytes that a client carries for the service and can neither read nor change.

use crate::platform::SecretKey;
use aes_gcm_siv::aead::{Aead, Payload};
use aes_gcm_siv::{Aes256GcmSiv, KeyInit, Nonce};
use std::fmt;
use zeroize::Zeroize;

/// Encrypts and authenticates cursors: AES-256-GCM-SIV (RFC 8452) under a key that every process derives from the
/// service's secret. The nonce is always the same, which this cipher permits: equal values have equal cursors in every
/// process, so that equal pages have equal entity tags. Cursors reveal this and their length alone.
pub struct CursorSeal(Aes256GcmSiv);

impl CursorSeal {
    /// Derives the key from a secret.
    pub fn new(secret: &SecretKey) -> Self {
        let mut key = secret.derive("terrace/cursors/2");
        let cipher = Aes256GcmSiv::new(&key.into());
        key.zeroize();
        Self(cipher)
    }

    /// Seals `values` for the purpose that `context` names.
    pub fn seal(&self, context: &[u8], values: &[u8]) -> Vec<u8> {
        // The cipher fails only on input larger than any memory; the resulting cursor cannot be opened.
        self.0.encrypt(&Nonce::default(), Payload { msg: values, aad: context }).unwrap_or_default()
    }

    /// Opens the output of [`CursorSeal::seal`] for the same context and secret.
    pub fn open(&self, context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        self.0.decrypt(&Nonce::default(), Payload { msg: sealed, aad: context }).ok()
    }
}

impl fmt::Debug for CursorSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CursorSeal(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_values_are_opened_by_the_same_secret_in_the_same_context_alone() {
        let seal = CursorSeal::new(&SecretKey::from_bytes([1; 32]));
        let sealed = seal.seal(b"board", &[7; 32]);
        assert_eq!(seal.open(b"board", &sealed), Some(vec![7; 32]));
        assert_eq!(seal.open(b"feed", &sealed), None);
        assert_eq!(CursorSeal::new(&SecretKey::from_bytes([2; 32])).open(b"board", &sealed), None);
        assert_eq!(CursorSeal::new(&SecretKey::from_bytes([1; 32])).seal(b"board", &[7; 32]), sealed);
        assert_ne!(seal.seal(b"feed", &[7; 32]), sealed);
        assert!(!sealed.windows(4).any(|bytes| bytes == [7; 4]));
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(seal.open(b"board", &changed), None, "{place}");
            assert_eq!(seal.open(b"board", &sealed[..place]), None, "{place}");
        }
        assert_eq!(seal.seal(b"", b"").len(), 16);
    }
}
