//! Checks for names that are hard to distinguish or to read: look-alikes, mixed scripts, stacked combining marks,
//! reserved names.

use crate::username::key_chars;
use terrace_kernel::text::is_invisible;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::MixedScript;
use unicode_security::mixed_script::AugmentedScriptSet;

/// The maximum number of combining marks on one base character.
const MARKS: usize = 2;
/// The number of folding rounds after which a skeleton no longer changes.
const ROUNDS: usize = 4;

/// Names that cannot be registered, because they would impersonate the service or have a meaning in an address.
const RESERVED: [&str; 21] = [
    "admin",
    "administrator",
    "all",
    "anonymous",
    "api",
    "by-name",
    "deleted",
    "everyone",
    "help",
    "here",
    "mod",
    "moderator",
    "null",
    "official",
    "root",
    "security",
    "staff",
    "support",
    "system",
    "terrace",
    "undefined",
];

/// A base character has more than two combining marks, or the text begins with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must not begin with a combining mark or hold more than 2 of them on one character")]
pub struct TooManyMarks;

/// The skeleton of a name key: each non-ASCII character is replaced by its UTS 39 prototype. ASCII characters are kept,
/// so that two plain names such as `mia1` and `mial` remain different.
pub(crate) fn skeleton(key: &str) -> String {
    let mut now = key.to_owned();
    for _ in 0..ROUNDS {
        if now.is_ascii() {
            break;
        }
        let next: String = now.nfd().map(prototype).collect();
        let next: String = key_chars(&next).collect();
        if next == now {
            break;
        }
        now = next;
    }
    now
}

/// The UTS 39 prototype of `c`, except that `m` is kept, whose prototype in UTS 39 is `rn`.
fn prototype(c: char) -> String {
    if c.is_ascii() {
        return c.to_string();
    }
    let prototype: String = unicode_security::skeleton(c.encode_utf8(&mut [0; 4])).collect();
    if prototype == "rn" { "m".to_owned() } else { prototype }
}

/// Reports whether the name is reserved or looks like a reserved name. ASCII look-alikes such as `he1p` and `adrnin`
/// count.
pub(crate) fn is_reserved(shown: &str, key: &str) -> bool {
    let full =
        |text: &str| -> String { key_chars(&unicode_security::skeleton(text).collect::<String>()).collect() };
    let forms = [full(shown), full(key), full(&skeleton(key))];
    RESERVED.iter().any(|reserved| forms.contains(&full(reserved)))
}

/// Reports whether all characters belong to one script, or to Latin and one of the writing systems of Chinese, Japanese
/// and Korean (UTS 39, section 5.2, "highly restrictive").
pub(crate) fn is_one_script(text: &str) -> bool {
    if text.is_single_script() {
        return true;
    }
    let mut rest = AugmentedScriptSet::default();
    for c in text.chars() {
        let scripts = AugmentedScriptSet::for_char(c);
        let mut latin = AugmentedScriptSet::for_char('a');
        latin.intersect_with(scripts);
        if latin.is_empty() {
            rest.intersect_with(scripts);
        }
    }
    rest.hanb || rest.jpan || rest.kore
}

/// Checks the combining marks of a text after NFKC. Invisible characters do not count as base characters.
///
/// # Errors
///
/// Fails if a base character has too many marks, or if a mark has no base.
pub(crate) fn check_marks(text: &str) -> Result<(), TooManyMarks> {
    // No mark is allowed before the first base character.
    let mut marks = MARKS;
    for c in text.nfkc() {
        if is_combining_mark(c) {
            marks += 1;
            if marks > MARKS {
                return Err(TooManyMarks);
            }
        } else if !is_invisible(c) {
            marks = 0;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(text: &str) -> String {
        key_chars(text).collect()
    }

    #[test]
    fn look_alikes_have_one_skeleton() {
        for (one, other) in [
            ("mia", "m\u{456}a"),
            ("mia1", "mi\u{430}1"),
            ("paypal", "\u{440}\u{430}\u{443}\u{440}\u{430}l"),
            ("scope", "\u{455}\u{441}\u{43e}\u{440}\u{435}"),
            ("omega", "\u{3bf}mega"),
            ("aida", "a\u{131}da"),
            ("\u{441}\u{430}\u{434}", "c\u{430}\u{434}"),
        ] {
            assert_eq!(skeleton(&fold(one)), skeleton(&fold(other)), "{one} {other}");
        }
        for (one, other) in [
            ("mia1", "mial"),
            ("fan0", "fano"),
            ("modern", "modem"),
            ("jose", "jos\u{e9}"),
            ("ana", "an\u{e3}"),
            ("\u{65e5}\u{672c}\u{8a9e}", "\u{65e5}\u{672c}\u{4eba}"),
        ] {
            assert_ne!(skeleton(&fold(one)), skeleton(&fold(other)), "{one} {other}");
        }
    }

    #[test]
    fn a_skeleton_does_not_change_again() {
        for c in (0x80..=0x2_ffff).filter_map(char::from_u32).filter(|c| c.is_alphanumeric()) {
            let name = format!("a{c}b");
            let once = skeleton(&fold(&name));
            assert_eq!(skeleton(&once), once, "{name} {:x}", u32::from(c));
        }
    }

    #[test]
    fn reserved_names_and_what_looks_like_them() {
        for name in
            ["admin", "ADMIN", "he1p", "heIp", "adrnin", "\u{430}dmin", "Supp\u{3bf}rt", "by-name", "R00t"]
        {
            let shown: String = name.nfkc().collect();
            assert!(is_reserved(&shown, &fold(&shown)), "{name}");
        }
        for name in ["mia", "admins", "the.admin", "allan", "teresa", "rooted"] {
            assert!(!is_reserved(name, &fold(name)), "{name}");
        }
    }

    #[test]
    fn scripts_that_are_written_together() {
        for name in [
            "mia_9",
            "Jos\u{e9}",
            "日本語",
            "ひらがなカナ漢字",
            "abcカナ",
            "한글漢字x",
            "नमस्ते",
            "Ωμέγα",
            "мяч-9",
        ] {
            assert!(is_one_script(name), "{name}");
        }
        for name in ["m\u{456}a", "Ωmega", "мячball", "ひらа", "नमaste", "カナ한글"] {
            assert!(!is_one_script(name), "{name}");
        }
    }

    #[test]
    fn marks_are_bounded_for_each_base_character() {
        for text in [
            "mia",
            "e\u{301}mile",
            "ế",
            "a\u{323}\u{302}b\u{323}\u{302}",
            "नमस्ते",
            "ที่",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "",
        ] {
            assert_eq!(check_marks(text), Ok(()), "{text}");
        }
        for text in
            ["\u{301}mia", "q\u{301}\u{302}\u{303}", "q\u{301}\u{302}\u{200d}\u{303}", "\u{200d}\u{301}a"]
        {
            assert_eq!(check_marks(text), Err(TooManyMarks), "{text:?}");
        }
    }
}
