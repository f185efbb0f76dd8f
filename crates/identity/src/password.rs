//! Passwords: their bounds, and types that do not print them.

use crate::Secret;
use std::fmt;
use terrace_kernel::Ctx;
use zeroize::Zeroizing;

/// A password as somebody typed it. It is wiped from memory when dropped and never printed.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

/// Why a text cannot be a new password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// 8 to 128 characters.
    #[error("must hold 8 to 128 characters")]
    Length,
}

impl Password {
    /// The fewest characters of a new password.
    pub const MIN: usize = 8;
    /// The most characters of any password.
    pub const MAX: usize = 128;

    /// A password that is being chosen: 8 to 128 characters, anything else is free (NIST SP 800-63B).
    ///
    /// # Errors
    ///
    /// When it is too short or too long.
    pub fn choose(text: String) -> Result<Self, PasswordError> {
        let text = Zeroizing::new(text);
        if (Self::MIN..=Self::MAX).contains(&text.chars().count()) {
            Ok(Self(text))
        } else {
            Err(PasswordError::Length)
        }
    }

    /// A password that is offered as proof. One that could not have been chosen is simply wrong; an overlong
    /// one is cut, so that it costs no more than another wrong one.
    pub fn offer(text: String) -> Self {
        let text = Zeroizing::new(text);
        if text.chars().count() <= Self::MAX {
            return Self(text);
        }
        Self(Zeroizing::new(text.chars().take(Self::MAX + 1).collect()))
    }

    /// Draws a password of 120 random bits, in characters that are not mistaken for one another.
    pub fn draw(ctx: &mut Ctx) -> (Secret, Self) {
        // Thirty-two of them, so that five bits of each byte choose one, all alike.
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let random = Zeroizing::new(ctx.random_bytes::<24>());
        let mut text = String::with_capacity(27);
        for (place, byte) in random.iter().enumerate() {
            if place > 0 && place.is_multiple_of(6) {
                text.push('-');
            }
            let letter = LETTERS.get(usize::from(byte & 31)).copied().unwrap_or(b'a');
            text.push(char::from(letter));
        }
        (Secret::new(text.clone()), Self(Zeroizing::new(text)))
    }

    /// The bytes that are hashed.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// A stored password hash (a PHC string).
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Takes a PHC string as a hasher made it.
    pub fn from_phc(phc: String) -> Self {
        Self(phc)
    }

    /// What no password has: every one is wrong, after as much work as ever (its digest is all zeros).
    pub fn of_nothing() -> Self {
        let (salt, digest) = ("A".repeat(22), "A".repeat(43));
        Self(format!("$argon2id$v=19$m=19456,t=2,p=1${salt}${digest}"))
    }

    /// The PHC string.
    pub fn as_phc(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::{CtxSeed, Timestamp};

    #[test]
    fn bounds_count_characters() {
        assert!(Password::choose("1234567".into()).is_err());
        assert!(Password::choose("éééééééé".into()).is_ok());
        assert!(Password::choose("x".repeat(128)).is_ok());
        assert!(Password::choose("x".repeat(129)).is_err());
        assert_eq!(Password::offer("x".repeat(1_000_000)).as_bytes().len(), 129);
    }

    #[test]
    fn a_drawn_password_can_be_chosen_and_is_another_each_time() {
        let mut ctx = CtxSeed::new(Timestamp::from_micros(0), [3; 32]).open();
        let (secret, password) = Password::draw(&mut ctx);
        assert_eq!(secret.expose().as_bytes(), password.as_bytes());
        assert_eq!(secret.expose().len(), 27);
        assert!(Password::choose(secret.expose().to_owned()).is_ok());
        assert_ne!(Password::draw(&mut ctx).0.expose(), secret.expose());
    }

    #[test]
    fn never_printed() {
        assert_eq!(format!("{:?}", Password::offer("hunter2!".into())), "Password(…)");
        assert_eq!(format!("{:?}", PasswordHash::from_phc("$argon2id$…".into())), "PasswordHash(…)");
    }
}
