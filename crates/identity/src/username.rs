//! Usernames: which texts are valid, and when two names are the same.

use crate::confusable::{self, TooManyMarks};
use caseless::Caseless;
use std::fmt;
use terrace_kernel::text::is_invisible;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A username as its owner wrote it (after NFKC), and the key under which it is unique.
#[derive(Clone, PartialEq, Eq)]
pub struct Username {
    shown: String,
    key: String,
    skeleton: String,
}

/// Why a text is rejected as a username.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UsernameError {
    /// It does not have 3 to 30 characters.
    #[error("must hold 3 to 30 characters")]
    Length,
    /// It contains characters other than letters, digits, and `.`, `_`, `-`, such as invisible ones or spaces.
    #[error("may hold letters, digits, '.', '_' and '-' only")]
    Character,
    /// It does not begin with a letter or a digit.
    #[error("must begin with a letter or a digit")]
    Start,
    /// It mixes scripts that are not written together.
    #[error("must not mix scripts that are not written together, such as Latin and Cyrillic")]
    MixedScripts,
    /// It has too many combining marks on one character.
    #[error(transparent)]
    Marks(#[from] TooManyMarks),
}

impl Username {
    /// The minimum number of characters, after NFKC.
    pub const MIN: usize = 3;
    /// The maximum number of characters, after NFKC.
    pub const MAX: usize = 30;

    /// Normalises a text (NFKC) and validates it: letters, digits, marks on them, and `.`, `_`, `-`.
    ///
    /// # Errors
    ///
    /// Returns the rule that the text violates.
    pub fn parse(text: &str) -> Result<Self, UsernameError> {
        // NFKC can lengthen a text 18 times, so a text that is far too long is rejected without normalising it.
        if text.chars().count() > Self::MAX * 4 {
            return Err(UsernameError::Length);
        }
        if text.chars().any(is_invisible) {
            return Err(UsernameError::Character);
        }
        let shown: String = text.nfkc().collect();
        let allowed = |c: char| {
            (c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '.' | '_' | '-')) && !is_invisible(c)
        };
        if !shown.chars().all(allowed) {
            return Err(UsernameError::Character);
        }
        if !(Self::MIN..=Self::MAX).contains(&shown.chars().count()) {
            return Err(UsernameError::Length);
        }
        if !shown.chars().next().is_some_and(char::is_alphanumeric) {
            return Err(UsernameError::Start);
        }
        let key: String = key_chars(&shown).collect();
        let skeleton = Self::skeleton_of(&key);
        Ok(Self { shown, key, skeleton })
    }

    /// Like [`Username::parse`] for the name of a new account, which must also stay within one script and not stack
    /// combining marks. Names that were registered before these rules, and imported names, are exempt.
    ///
    /// # Errors
    ///
    /// Returns the rule that the text violates.
    pub fn choose(text: &str) -> Result<Self, UsernameError> {
        let name = Self::parse(text)?;
        confusable::check_marks(&name.shown)?;
        if !confusable::is_one_script(&name.shown) {
            return Err(UsernameError::MixedScripts);
        }
        Ok(name)
    }

    /// The name as it is shown.
    pub fn as_str(&self) -> &str {
        &self.shown
    }

    /// The key under which the name is unique: two names with the same key are the same name.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The skeleton of the name, which represents its appearance. A new name is rejected if another name has the same
    /// skeleton. The skeleton of an ASCII name is its key.
    pub fn skeleton(&self) -> &str {
        &self.skeleton
    }

    /// The skeleton of the name with this key.
    pub fn skeleton_of(key: &str) -> String {
        confusable::skeleton(key)
    }

    /// Reports whether the name is reserved or looks like a reserved name.
    pub fn is_reserved(&self) -> bool {
        confusable::is_reserved(&self.shown, &self.key)
    }

    /// The key of a text that a client submits as a username at login, whether or not it is a valid username.
    pub fn key_of(text: &str) -> String {
        let text: String = text.chars().take(Self::MAX * 4).collect();
        key_chars(&text).collect()
    }
}

/// The characters of a text after NFKC and case folding. Full case folding does not preserve NFKC, and NFKC can produce
/// text that can be folded again: normalise, fold, normalise, fold, normalise.
pub(crate) fn key_chars(text: &str) -> impl Iterator<Item = char> {
    text.nfkc().default_case_fold().nfkc().default_case_fold().nfkc()
}

impl fmt::Display for Username {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Username {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Username({:?})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_has_the_same_key() {
        for (one, other) in [
            ("Mia", "mIA"),
            ("straße", "STRASSE"),
            ("ﬁnn", "Finn"),
            ("Ｍｉａ", "mia"),
            ("Ωmega", "Ωmega"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("e\u{301}mile", "Émile"),
        ] {
            let (one, other) = (Username::parse(one).unwrap(), Username::parse(other).unwrap());
            assert_eq!(one.key(), other.key(), "{one} {other}");
            assert_eq!(Username::key_of(one.as_str()), one.key());
        }
        assert_ne!(Username::parse("mia").unwrap().key(), Username::parse("mía").unwrap().key());
    }

    #[test]
    fn a_key_is_stable_under_folding() {
        for name in ["Straße", "ŉame", "İstanbul", "ΐota", "ﬃng", "ǰak"] {
            let name = Username::parse(name).unwrap();
            assert_eq!(key_chars(name.key()).collect::<String>(), name.key());
        }
    }

    #[test]
    fn refusals() {
        use UsernameError::{Character, Length, Start};
        for (text, error) in [
            ("ab", Length),
            (&"a".repeat(31)[..], Length),
            (&"a".repeat(5000)[..], Length),
            ("two words", Character),
            ("mi\u{200b}a", Character),
            ("mia\u{202e}", Character),
            ("mi\u{3164}a", Character),
            ("mia\0", Character),
            ("mia@home", Character),
            ("mia\u{e0041}", Character),
            ("_mia", Start),
            ("\u{301}mia", Start),
            ("", Length),
        ] {
            assert_eq!(Username::parse(text), Err(error), "{text:?}");
        }
        for name in ["नमस्ते", "日本語", "j.doe_9-x", "e\u{301}mile"] {
            assert!(Username::choose(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn new_names_stay_within_a_script_and_pile_up_no_marks() {
        for (text, error) in [
            ("m\u{456}a", UsernameError::MixedScripts),
            ("q\u{301}\u{302}\u{303}q", UsernameError::Marks(TooManyMarks)),
            ("ab", UsernameError::Length),
        ] {
            assert_eq!(Username::choose(text), Err(error), "{text:?}");
            assert_eq!(Username::parse(text).is_ok(), error != UsernameError::Length, "{text:?}");
        }
    }
}
