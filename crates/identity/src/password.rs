//! Passwords: their rules, and types that cannot be printed.

use crate::Secret;
use crate::weak_password::Folded;
use std::fmt;
use terrace_kernel::Ctx;
use zeroize::Zeroizing;

/// A password as the user typed it. It is wiped from memory when dropped and never printed.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

/// Why a text is rejected as a new password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// It does not have 8 to 128 characters.
    #[error("must hold 8 to 128 characters")]
    Length,
    /// It is on the list of common passwords.
    #[error("must not be a common password, because attackers try those first")]
    Common,
    /// It consists of repeated characters, sequences or rows of keys.
    #[error(
        "must not be only repeated characters, sequences such as 12345678 or rows of keys such as qwertyui"
    )]
    Run,
    /// It is the username, alone or with padding.
    #[error("must not be the username, with or without digits and punctuation around it")]
    Username,
}

impl Password {
    /// The minimum number of characters of a new password.
    pub const MIN: usize = 8;
    /// The maximum number of characters of any password.
    pub const MAX: usize = 128;

    /// Validates a new password: 8 to 128 characters of any kind, but not one that attackers try first (NIST SP
    /// 800-63B, section 5.1.1.2). Once the account is known, [`Self::check_username`] completes the check.
    ///
    /// # Errors
    ///
    /// Fails if the password is too short, too long, common, or a run of characters.
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

    /// Compares a new password with the username key of its account.
    ///
    /// # Errors
    ///
    /// Fails if the password is the username, alone or with only digits, punctuation and spaces around it.
    pub fn check_username(&self, key: &str) -> Result<(), PasswordError> {
        if Folded::new(&self.0).is_username(key) { Err(PasswordError::Username) } else { Ok(()) }
    }

    /// Wraps a password that a client submits for verification. A text that is not a valid password simply fails to
    /// verify; an overlong one is truncated, so that verifying it costs no more than any other wrong password.
    pub fn offer(text: String) -> Self {
        let text = Zeroizing::new(text);
        if text.chars().count() <= Self::MAX {
            return Self(text);
        }
        Self(Zeroizing::new(text.chars().take(Self::MAX + 1).collect()))
    }

    /// Generates a password of 120 random bits, from characters that are not easily confused with one another.
    pub fn draw(ctx: &mut Ctx) -> (Secret, Self) {
        // There are 32 letters, so that five bits of each byte select one with equal probability.
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

    /// The bytes to hash.
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
    /// Wraps a PHC string that a hasher produced.
    pub fn from_phc(phc: String) -> Self {
        Self(phc)
    }

    /// A hash that no password matches (its digest is all zeros). Verifying against it takes as much work as against
    /// any other hash.
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
