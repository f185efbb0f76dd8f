//! The two seeds of a draw, and the digests that proofs contain.

use crate::words::block;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{UnknownName, hex};

/// The text is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 lower-case hexadecimal digits")]
pub struct MalformedDigest;

/// A SHA-256 digest. Its text form is 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Wraps a digest that was computed before.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = MalformedDigest;

    fn from_str(text: &str) -> Result<Self, MalformedDigest> {
        hex::read_32(text).map(Self).ok_or(MalformedDigest)
    }
}

/// The secret seed of a draw: 32 bytes that only the service knows. Their SHA-256 is published before the fan chooses the
/// client seed, and the bytes are revealed with the outcome. `Debug` does not show them.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerSeed([u8; 32]);

impl ServerSeed {
    /// Wraps 32 bytes, which must be random and used for one draw only.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A seed that is computed from a key and what it is for, so that it need not be stored: the HMAC-SHA-256 of `purpose`.
    /// It is secret as long as the key is, and different purposes have different seeds.
    pub fn derived(key: &[u8; 32], purpose: &[u8]) -> Self {
        let keyed: Hmac<Sha256> = Hmac::new(&block(key).into());
        Self(keyed.chain_update(purpose).finalize().into_bytes().into())
    }

    /// The bytes. They determine the outcome of the draw: never disclose them before it.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest that is published when the copy is bought.
    pub fn hash(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// The bytes as 64 lower-case hexadecimal digits, for the proof of an opened copy.
    pub fn reveal(&self) -> String {
        Digest(self.0).to_string()
    }
}

impl fmt::Debug for ServerSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerSeed(of hash {})", self.hash())
    }
}

/// Parses a revealed seed.
impl FromStr for ServerSeed {
    type Err = MalformedDigest;

    fn from_str(text: &str) -> Result<Self, MalformedDigest> {
        hex::read_32(text).map(Self).ok_or(MalformedDigest)
    }
}

/// A server seed as stored while its copy is sealed: encrypted, and opaque to this crate.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSeed(Vec<u8>);

impl SealedSeed {
    /// Wraps the ciphertext.
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The ciphertext.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SealedSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedSeed({} bytes)", self.0.len())
    }
}

/// The fan's seed of a draw, given when a copy is opened: 1 to 64 characters, used verbatim, without control
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientSeed(String);

/// The text is not a valid client seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a client seed is 1 to {} characters without control characters", ClientSeed::LONGEST)]
pub struct MalformedClientSeed;

impl ClientSeed {
    /// The maximum length, in Unicode scalar values.
    pub const LONGEST: usize = 64;

    /// The text, whose UTF-8 bytes are an input of the draw.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ClientSeed {
    type Err = MalformedClientSeed;

    fn from_str(text: &str) -> Result<Self, MalformedClientSeed> {
        let length = text.chars().take(Self::LONGEST.saturating_add(1)).count();
        if (1..=Self::LONGEST).contains(&length) && !text.chars().any(char::is_control) {
            Ok(Self(text.to_owned()))
        } else {
            Err(MalformedClientSeed)
        }
    }
}

impl fmt::Display for ClientSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where the client seed came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientSeedSource {
    /// The fan: the outcome could not be known beforehand.
    Client,
    /// The service, because the fan gave none; the fairness of such a draw rests on trust in the service.
    Server,
}

impl ClientSeedSource {
    /// Every source.
    pub const ALL: [Self; 2] = [Self::Client, Self::Server];

    /// The stable name, as stored in tables and proofs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

impl FromStr for ClientSeedSource {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|source| source.as_str() == text)
            .ok_or_else(|| UnknownName(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_seed_is_a_short_text() {
        for right in ["a", " ", "goal:7", "⚽ é", &"é".repeat(64)] {
            assert_eq!(right.parse::<ClientSeed>().map(|seed| seed.to_string()), Ok(right.to_owned()));
        }
        for wrong in ["", "a\nb", "\0", "\u{85}", &"x".repeat(65), &"x".repeat(1 << 20)] {
            assert_eq!(wrong.parse::<ClientSeed>(), Err(MalformedClientSeed));
        }
    }

    #[test]
    fn a_seed_is_shown_only_when_it_is_revealed() {
        let seed = ServerSeed::from_bytes([0xab; 32]);
        assert!(!format!("{seed:?}").contains("abab"));
        assert_eq!(seed.reveal(), "ab".repeat(32));
        assert_eq!(seed.reveal().parse(), Ok(seed.clone()));
        assert_eq!(seed.hash().to_string().parse(), Ok(seed.hash()));
        assert_eq!("AB".repeat(32).parse::<Digest>(), Err(MalformedDigest));
        assert_eq!(format!("{:?}", SealedSeed::from_bytes(vec![1, 2])), "SealedSeed(2 bytes)");
    }

    #[test]
    fn a_derived_seed_depends_on_key_and_purpose() {
        // Test case 2 of RFC 4231 §4.3.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let seed = ServerSeed::derived(&key, b"what do ya want for nothing?");
        assert_eq!(seed.reveal(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert_ne!(seed, ServerSeed::derived(&key, b"what do ya want for something?"));
        assert_ne!(seed, ServerSeed::derived(&[0; 32], b"what do ya want for nothing?"));
    }

    #[test]
    fn a_digest_is_sha_256() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), abc);
    }
}
