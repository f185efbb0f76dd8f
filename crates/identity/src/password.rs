//! Passwords: their bounds, and types that do not print them.

use crate::Secret;
use crate::weak_password::Folded;
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
    /// On the list of common passwords.
    #[error("must not be a common password, because attackers try those first")]
    Common,
    /// Repeated characters, sequences and rows of keys.
    #[error(
        "must not be only repeated characters, sequences such as 12345678 or rows of keys such as qwertyui"
    )]
    Run,
    /// The username, alone or with padding.
    #[error("must not be the username, with or without digits and punctuation around it")]
    Username,
}

impl Password {
    /// The fewest characters of a new password.
    pub const MIN: usize = 8;
    /// The most characters of any password.
    pub const MAX: usize = 128;

    /// A password that is being chosen: 8 to 128 characters of any kind, but not one that attackers try first
    /// (NIST SP 800-63B, section 5.1.1.2). [`Self::check_username`] completes the check once the account is known.
    ///
    /// # Errors
    ///
    /// When it is too short, too long, common, or a run of characters.
    pub fn choose(text: String) -> Result<Self, PasswordError> {
        let text = Zeroizing::new(text);
        if !(Self::MIN..=Self::MAX).contains(&text.chars().count()) {
            return Err(PasswordError::Length);
        }
        let folded = Folded::new(&text);
        if folded.is_run() {
            return Err(PasswordError::Run);
        }
        if folded.is_common() {
            return Err(PasswordError::Common);
        }
        Ok(Self(text))
    }

    /// Checks a chosen password against the username of its account, given by its key.
    ///
    /// # Errors
    ///
    /// When it is the username, alone or with only digits, punctuation and spaces around it.
    pub fn check_username(&self, key: &str) -> Result<(), PasswordError> {
        if Folded::new(&self.0).is_username(key) { Err(PasswordError::Username) } else { Ok(()) }
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
        let length = |text: &str| Password::choose(text.to_owned()).map(|_| ());
        assert_eq!(length("a1b2-c3"), Err(PasswordError::Length));
        assert_eq!(length("éàéèéùéê"), Ok(()));
        assert_eq!(length(&"terrace-".repeat(16)), Ok(()));
        assert_eq!(length(&("terrace-".repeat(16) + "x")), Err(PasswordError::Length));
        assert_eq!(Password::offer("x".repeat(1_000_000)).as_bytes().len(), 129);
    }

    #[test]
    fn weak_passwords_cannot_be_chosen_and_can_be_offered() {
        for (text, expected) in [
            ("Password1", Err(PasswordError::Common)),
            ("12345678", Err(PasswordError::Run)),
            ("mia-2026", Err(PasswordError::Username)),
            ("terrace-demo", Ok(())),
            ("up the terrace", Ok(())),
        ] {
            let chosen =
                Password::choose(text.to_owned()).and_then(|password| password.check_username("mia"));
            assert_eq!(chosen, expected, "{text}");
            assert_eq!(Password::offer(text.to_owned()).as_bytes(), text.as_bytes());
        }
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
