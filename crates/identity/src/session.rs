//! Sessions of signed-in devices, and the tokens that authenticate them.

use crate::account::Role;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{Ctx, SessionId, TimeKey, Timestamp, UnknownName, UserId};
use zeroize::Zeroizing;

/// The purpose of a token. A token of one kind is not accepted as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// The cookie of a browser.
    Cookie,
    /// A short-lived bearer token.
    Access,
    /// A token that can be exchanged once for a new pair of tokens.
    Refresh,
    /// The token of a till, which belongs to no account.
    Till,
}

impl TokenKind {
    /// The stable name, as used in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cookie => "cookie",
            Self::Access => "access",
            Self::Refresh => "refresh",
            Self::Till => "till",
        }
    }

    /// The prefix of tokens of this kind, by which scanners for leaked secrets recognise them.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Cookie => "tsc_",
            Self::Access => "tsa_",
            Self::Refresh => "tsr_",
            Self::Till => "tst_",
        }
    }
}

/// A text that is never printed and is wiped from memory when dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text itself, for the one response that contains it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// SHA-256 of a token, the only part of it that is stored. A token has 256 random bits and needs no slow hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Wraps a stored digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// A token as the service stores it: its kind and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    /// The purpose of the token.
    pub kind: TokenKind,
    /// SHA-256 of the token.
    pub hash: TokenHash,
}

impl Token {
    /// Generates a token of 256 random bits. The secret is sent to the client and never stored.
    pub fn draw(kind: TokenKind, ctx: &mut Ctx) -> (Secret, Self) {
        let random = Zeroizing::new(ctx.random_bytes::<32>());
        let text = format!("{}{}", kind.prefix(), URL_SAFE_NO_PAD.encode(*random));
        let token = Self { kind, hash: TokenHash(Sha256::digest(text.as_bytes()).into()) };
        (Secret::new(text), token)
    }

    /// Parses a token that a client presents as one of `kind`; `None` for a text of another form or kind.
    pub fn present(kind: TokenKind, text: &str) -> Option<Self> {
        let random = text.strip_prefix(kind.prefix())?;
        if random.len() != 43 || !random.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        {
            return None;
        }
        Some(Self { kind, hash: TokenHash(Sha256::digest(text.as_bytes()).into()) })
    }
}

/// The way in which a device signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// A browser, with a cookie.
    Browser,
    /// A native client or a service, with bearer tokens.
    Mobile,
}

impl SessionKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Browser, Self::Mobile];

    /// The stable name, as used in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Mobile => "mobile",
        }
    }
}

impl FromStr for SessionKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// Validates the name that an owner gives to a device: one line of 1 to 100 characters.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn device_name(text: &str) -> Result<String, TextError> {
    line(text, 1, 100)
}

/// A new session to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Id of the session.
    pub id: SessionId,
    /// Id of the account that owns the session.
    pub user_id: UserId,
    /// The way in which the device signed in.
    pub kind: SessionKind,
    /// The name that the owner gave to the device.
    pub device_name: Option<String>,
    /// The time at which the session was opened.
    pub created_at: Timestamp,
    /// The time at which the session expires unless it is extended.
    pub expires_at: Timestamp,
}

/// A session as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceSession {
    /// Id of the session.
    pub id: SessionId,
    /// The way in which the device signed in.
    pub kind: SessionKind,
    /// The name that the owner gave to the device.
    pub device_name: Option<String>,
    /// The time at which the session was opened.
    pub created_at: Timestamp,
    /// The time of the last use, accurate to a few minutes.
    pub last_seen_at: Timestamp,
    /// The time at which the session expires unless it is extended.
    pub expires_at: Timestamp,
}

/// A stored session, live or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSession {
    /// The device and the times of the session.
    pub session: DeviceSession,
    /// The time at which the session was ended, if it was.
    pub ended_at: Option<Timestamp>,
}

impl KeptSession {
    /// The sort key of the session in lists ordered by time.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.session.created_at, id: self.session.id.as_uuid() }
    }
}

/// The authenticated reader: an active account with a live session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewer {
    /// Id of the account.
    pub user_id: UserId,
    /// Id of the session that authenticates it.
    pub session_id: SessionId,
    /// The permissions of the account.
    pub role: Role,
    /// The last recorded use of the session.
    pub last_seen_at: Timestamp,
    /// The time at which the presented token or its session expires, whichever is earlier.
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::CtxSeed;

    #[test]
    fn a_token_is_read_back_as_its_own_kind_only() {
        let mut ctx = CtxSeed::new(Timestamp::from_micros(0), [3; 32]).open();
        let (secret, token) = Token::draw(TokenKind::Access, &mut ctx);
        assert_eq!(Token::present(TokenKind::Access, secret.expose()), Some(token));
        assert_eq!(Token::present(TokenKind::Cookie, secret.expose()), None);
        assert_eq!(Token::present(TokenKind::Refresh, secret.expose()), None);
        assert_eq!(Token::present(TokenKind::Access, "tsa_short"), None);
        let odd = format!("tsa_{}", "é".repeat(21) + "x");
        assert_eq!(Token::present(TokenKind::Access, &odd), None);
    }

    #[test]
    fn secrets_are_not_printed() {
        let mut ctx = CtxSeed::new(Timestamp::from_micros(0), [3; 32]).open();
        let (secret, token) = Token::draw(TokenKind::Cookie, &mut ctx);
        let printed = format!("{secret:?} {token:?}");
        assert!(!printed.contains("tsc_"), "{printed}");
    }
}
