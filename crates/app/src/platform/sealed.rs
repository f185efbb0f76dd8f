//! Opaque bytes that a client carries for the service and can neither read nor change.

use crate::platform::{SecretKey, keyed};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use hmac::Mac;
use std::fmt;
use terrace_kernel::num;
use zeroize::Zeroize;

/// Length of a nonce in bytes.
const NONCE: usize = 24;

/// Encrypts and authenticates cursors: XChaCha20-Poly1305 under keys that every process derives from the service's
/// secret. The nonce is a MAC of the plaintext, so that a place in a list has the same cursor in every process, and
/// equal pages have equal entity tags.
pub struct CursorSeal {
    cipher: XChaCha20Poly1305,
    nonces: [u8; 32],
}

impl CursorSeal {
    /// Derives the keys from a secret.
    pub fn new(secret: &SecretKey) -> Self {
        let mut key = secret.derive("terrace/cursors/1");
        let cipher = XChaCha20Poly1305::new(&key.into());
        key.zeroize();
        Self { cipher, nonces: secret.derive("terrace/nonces of cursors/1") }
    }

    /// Seals `values` for the purpose that `context` names.
    pub fn seal(&self, context: &[u8], values: &[u8]) -> Vec<u8> {
        let length = num::to_u64(context.len()).to_be_bytes();
        let mac = keyed(&self.nonces).chain_update(length).chain_update(context).chain_update(values);
        let mac: [u8; 32] = mac.finalize().into_bytes().into();
        let nonce = mac.first_chunk::<NONCE>().copied().unwrap_or_default();
        // The cipher fails only on input larger than any memory; the resulting cursor cannot be opened.
        let sealed = self.cipher.encrypt(&nonce.into(), Payload { msg: values, aad: context });
        [nonce.as_slice(), &sealed.unwrap_or_default()].concat()
    }

    /// Opens the output of [`CursorSeal::seal`] for the same context and secret.
    pub fn open(&self, context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, msg) = sealed.split_first_chunk::<NONCE>()?;
        self.cipher.decrypt(&(*nonce).into(), Payload { msg, aad: context }).ok()
    }
}

impl Drop for CursorSeal {
    fn drop(&mut self) {
        self.nonces.zeroize();
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
        assert_eq!(seal.seal(b"", b"").len(), 24 + 16);
    }
}
