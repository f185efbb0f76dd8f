//! Signed-in devices and the tokens that prove them.

use crate::account::Role;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{Ctx, SessionId, TimeKey, Timestamp, UnknownName, UserId};
use zeroize::Zeroizing;

/// What a token is good for. The kinds do not interchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A browser's cookie.
    Cookie,
    /// A short-lived bearer token.
    Access,
    /// Exchanged, once, for a new pair.
    Refresh,
}

impl TokenKind {
    /// The stable name, as tables hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cookie => "cookie",
            Self::Access => "access",
            Self::Refresh => "refresh",
        }
    }

    /// What tokens of this kind begin with, so that scanners for leaked secrets can know them.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Cookie => "tsc_",
            Self::Access => "tsa_",
            Self::Refresh => "tsr_",
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

    /// The text itself, for the one answer that hands it out.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The SHA-256 of a token: all that is stored of it. 256 random bits need no slow hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Takes a stored digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// A token: its kind and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    /// What it is good for.
    pub kind: TokenKind,
    /// What is stored of it.
    pub hash: TokenHash,
}

impl Token {
    /// Draws 256 random bits; the secret goes to the client and is kept nowhere.
    pub fn draw(kind: TokenKind, ctx: &mut Ctx) -> (Secret, Self) {
        let random = Zeroizing::new(ctx.random_bytes::<32>());
        let text = format!("{}{}", kind.prefix(), URL_SAFE_NO_PAD.encode(*random));
        let token = Self { kind, hash: TokenHash(Sha256::digest(text.as_bytes()).into()) };
        (Secret::new(text), token)
    }

    /// Reads a token that a client presents as one of `kind`; a text of another form or kind is none.
    pub fn present(kind: TokenKind, text: &str) -> Option<Self> {
        let random = text.strip_prefix(kind.prefix())?;
        if random.len() != 43 || !random.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        {
            return None;
        }
        Some(Self { kind, hash: TokenHash(Sha256::digest(text.as_bytes()).into()) })
    }
}

/// How a device signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// A browser, with a cookie.
    Browser,
    /// A native client or a service, with bearer tokens.
    Mobile,
}

impl SessionKind {
    /// The stable name, as tables and answers hold it.
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
        match text {
            "browser" => Ok(Self::Browser),
            "mobile" => Ok(Self::Mobile),
            other => Err(UnknownName(other.to_owned())),
        }
    }
}

/// A device's name as its owner gives it: one line of 1 to 100 characters.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn device_name(text: &str) -> Result<String, TextError> {
    line(text, 1, 100)
}

/// A session that is being opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub user_id: UserId,
    /// How the device signed in.
    pub kind: SessionKind,
    /// What its owner calls it.
    pub device_name: Option<String>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it ends unless it is prolonged.
    pub expires_at: Timestamp,
}

/// A signed-in device as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceSession {
    /// Its id.
    pub id: SessionId,
    /// How the device signed in.
    pub kind: SessionKind,
    /// What its owner calls it.
    pub device_name: Option<String>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was last used, to some minutes.
    pub last_seen_at: Timestamp,
    /// When it ends unless it is prolonged.
    pub expires_at: Timestamp,
}

/// A session as it is kept, ended or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSession {
    /// The session.
    pub session: DeviceSession,
    /// When it was ended, if it was.
    pub ended_at: Option<Timestamp>,
}

impl KeptSession {
    /// Its place in lists ordered by time.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.session.created_at, id: self.session.id.as_uuid() }
    }
}

/// Who is asking: an active account with a live session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewer {
    /// The account.
    pub user_id: UserId,
    /// The session that proves it.
    pub session_id: SessionId,
    /// What the account may do.
    pub role: Role,
    /// When the session was last noted as used.
    pub last_seen_at: Timestamp,
    /// When the token that was presented ends, or its session if that is sooner.
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
