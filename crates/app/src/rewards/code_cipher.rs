//! The encryption of codes, and the digests by which they are found.

use crate::App;
use crate::platform::SecretKey;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use std::fmt;
use std::sync::Arc;
use terrace_kernel::{Ctx, StoreError};
use terrace_rewards::{Code, CodeDigest, CodeId, NewCode, SealedCode};
use zeroize::{Zeroize, Zeroizing};

/// The first byte of a sealed code, so that the format can change.
const VERSION: u8 = 1;
/// Length of a nonce in bytes.
const NONCE: usize = 24;

/// Encrypts codes with XChaCha20-Poly1305 under a derived key, and computes their digests under another one. The id of the
/// code is authenticated, so that swapped rows are detected.
pub struct CodeCipher {
    cipher: XChaCha20Poly1305,
    digests: Zeroizing<[u8; 32]>,
}

impl CodeCipher {
    /// Derives the keys from a secret.
    pub fn new(secret: &SecretKey) -> Self {
        let mut key = secret.derive("terrace/codes of claims/1");
        let cipher = XChaCha20Poly1305::new(&key.into());
        key.zeroize();
        Self { cipher, digests: Zeroizing::new(secret.derive("terrace/digests of codes/1")) }
    }

    /// The digest by which a code is found.
    pub fn digest(&self, code: &Code) -> CodeDigest {
        CodeDigest::of(code, &self.digests)
    }

    /// Makes the row of a code.
    pub(crate) fn seal(&self, code: &Code, ctx: &mut Ctx) -> Result<NewCode, StoreError> {
        let (id, nonce): (CodeId, [u8; NONCE]) = (ctx.new_id(), ctx.random_bytes());
        let uuid = id.as_uuid();
        let payload = Payload { msg: code.expose().as_bytes(), aad: uuid.as_bytes() };
        let sealed = self
            .cipher
            .encrypt(&nonce.into(), payload)
            .map_err(|_| StoreError::defect("seal a code", "the cipher refuses"))?;
        let sealed = SealedCode::from_bytes([[VERSION].as_slice(), &nonce, &sealed].concat());
        Ok(NewCode { id, digest: self.digest(code), sealed })
    }

    /// Decrypts the code that was sealed with this id.
    ///
    /// # Errors
    ///
    /// If it was sealed with another secret key or for another code, or is damaged.
    pub fn open(&self, id: CodeId, sealed: &SealedCode) -> Result<Code, StoreError> {
        let parts = sealed.as_bytes().split_first().and_then(|(version, rest)| {
            let (nonce, text) = rest.split_first_chunk::<NONCE>()?;
            (*version == VERSION).then_some((*nonce, text))
        });
        let opened = parts.and_then(|(nonce, msg)| {
            let uuid = id.as_uuid();
            let payload = Payload { msg, aad: uuid.as_bytes() };
            self.cipher.decrypt(&nonce.into(), payload).ok().map(Zeroizing::new)
        });
        let text = opened.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.and_then(|text| Code::parse(text).ok()).ok_or_else(|| StoreError::Corrupt {
            table: "reward_codes",
            column: "sealed",
            detail: format!("the secret of this process does not open code {id}"),
        })
    }
}

impl fmt::Debug for CodeCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeCipher(…)")
    }
}

impl App {
    /// The cipher of codes; an error if this process has no secret key.
    pub fn code_cipher(&self) -> Result<Arc<CodeCipher>, StoreError> {
        let cipher = self.code_cipher.as_ref().map(Arc::clone);
        cipher.ok_or_else(|| StoreError::defect("seal codes", "this process has no secret"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::{CtxSeed, Timestamp};

    #[test]
    fn a_code_is_opened_by_the_same_secret_for_the_same_row_alone() {
        let mut ctx = CtxSeed::new(Timestamp::from_micros(1), [3; 32]).open();
        let cipher = CodeCipher::new(&SecretKey::from_bytes([1; 32]));
        let code = Code::parse("ABCD-EFGH-JKMN-PQRS").unwrap();
        let row = cipher.seal(&code, &mut ctx).unwrap();
        assert_eq!(cipher.open(row.id, &row.sealed).unwrap().expose(), "ABCD-EFGH-JKMN-PQRS");
        assert!(!row.sealed.as_bytes().windows(4).any(|bytes| bytes == b"ABCD"));
        assert_eq!(cipher.digest(&Code::parse("abcdefghjkmnpqrs").unwrap()), row.digest);
        let other = cipher.seal(&code, &mut ctx).unwrap();
        assert_eq!(other.digest, row.digest);
        assert_ne!(other.sealed, row.sealed);
        assert!(cipher.open(other.id, &row.sealed).is_err());
        let stranger = CodeCipher::new(&SecretKey::from_bytes([2; 32]));
        assert!(stranger.open(row.id, &row.sealed).is_err());
        assert_ne!(stranger.digest(&code), row.digest);
        for place in 0..row.sealed.as_bytes().len() {
            let mut bytes = row.sealed.as_bytes().to_vec();
            bytes[place] ^= 1;
            assert!(cipher.open(row.id, &SealedCode::from_bytes(bytes)).is_err(), "{place}");
        }
    }
}
