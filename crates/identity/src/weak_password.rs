//! Checks for passwords that attackers try first: common ones, runs of characters, and the username of the account.

use crate::username::key_chars;
use zeroize::Zeroizing;

/// Common passwords of at least 8 characters that are not runs, one per line, normalised as by [`Folded`].
const COMMON: &str = include_str!("common_passwords.txt");

/// Rows and other paths of keyboards. They are matched in both directions.
const ROWS: [&str; 19] = [
    "`1234567890-=",
    "!@#$%^&*()_+",
    "qwertyuiop[]\\",
    "asdfghjkl;'",
    "zxcvbnm,./",
    "qwertzuiop",
    "yxcvbnm",
    "azertyuiop",
    "qsdfghjklm",
    "wxcvbn",
    "147258369",
    "159357",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "zaq1xsw2cde3vfr4bgt5nhy6mju7",
    "qazwsxedcrfvtgbyhnujm",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "a1s2d3f4g5h6",
    "1a2s3d4f5g6h",
];

/// The longest unit whose repetition makes a password weak.
const UNIT: usize = 4;
/// The shortest part of a row or sequence that counts as a run.
const SHORTEST_RUN: usize = 3;
/// The maximum number of characters outside runs with which a password still is weak.
const BESIDE_RUNS: usize = 2;

/// A password after NFKC and case folding. It is wiped from memory when dropped.
pub(crate) struct Folded(Zeroizing<Vec<char>>);

impl Folded {
    pub(crate) fn new(password: &str) -> Self {
        // NFKC can lengthen a text 18 times. With that capacity, no reallocation leaves a copy behind.
        let mut chars = Zeroizing::new(Vec::with_capacity(password.len().saturating_mul(18)));
        chars.extend(key_chars(password));
        Self(chars)
    }

    /// Reports whether it is on the list of common passwords, once or repeated.
    pub(crate) fn is_common(&self) -> bool {
        let chars = &self.0;
        COMMON.lines().any(|common| {
            let length = common.chars().count();
            chars.len().is_multiple_of(length)
                && chars.iter().copied().eq(common.chars().cycle().take(chars.len()))
        })
    }

    /// Reports whether it repeats a short unit, or consists of repeated characters, sequences and rows of keys with at
    /// most two other characters.
    pub(crate) fn is_run(&self) -> bool {
        let chars = self.0.as_slice();
        let repeats =
            |unit: usize| chars.iter().zip(chars.iter().skip(unit)).all(|(one, other)| one == other);
        if (1..=UNIT).any(repeats) {
            return true;
        }
        let (mut rest, mut beside) = (chars, 0);
        while !rest.is_empty() {
            let run = longest_run(rest);
            let taken = if run < SHORTEST_RUN { 1 } else { run };
            beside += usize::from(run < SHORTEST_RUN);
            rest = rest.get(taken..).unwrap_or_default();
        }
        beside <= BESIDE_RUNS
    }

    /// Reports whether it is the username with this key, with only digits, punctuation and spaces around it.
    pub(crate) fn is_username(&self, key: &str) -> bool {
        let key: Vec<char> = key.chars().collect();
        let is_padding = |chars: &[char]| {
            chars.iter().all(|c| c.is_numeric() || c.is_ascii_punctuation() || c.is_whitespace())
        };
        !key.is_empty()
            && self.0.windows(key.len()).enumerate().any(|(start, window)| {
                let (before, rest) = self.0.split_at(start);
                window == key && is_padding(before) && rest.get(key.len()..).is_some_and(is_padding)
            })
    }
}

/// The length of the longest run at the beginning of `chars`: a sequence with equal steps between neighbours, or a part
/// of a keyboard row.
fn longest_run(chars: &[char]) -> usize {
    let sequences = [-1, 0, 1].into_iter().map(|step| {
        let follows = |(one, other): &(&char, &char)| {
            i64::from(u32::from(**other)) - i64::from(u32::from(**one)) == step
        };
        1 + chars.iter().zip(chars.iter().skip(1)).take_while(follows).count()
    });
    let rows = ROWS.iter().map(|row| along(&row.chars(), chars).max(along(&row.chars().rev(), chars)));
    sequences.chain(rows).max().unwrap_or(0)
}

/// The length of the longest beginning of `chars` that is a part of `row`.
fn along(row: &(impl Iterator<Item = char> + Clone), chars: &[char]) -> usize {
    let from = |start| row.clone().skip(start).zip(chars).take_while(|(key, c)| key == *c).count();
    (0..row.clone().count()).map(from).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_folded_and_holds_only_what_could_be_chosen_otherwise() {
        let lines: Vec<&str> = COMMON.lines().collect();
        assert!(lines.len() > 300);
        assert!(lines.is_sorted_by(|one, other| one < other), "sorted, each once");
        for line in lines {
            assert!((8..=128).contains(&line.chars().count()), "{line}");
            assert_eq!(key_chars(line).collect::<String>(), line);
            assert!(!Folded::new(line).is_run(), "{line} is a run already");
        }
    }

    #[test]
    fn common_passwords_are_found_in_any_spelling() {
        for (password, expected) in [
            ("password", true),
            ("PassWord1", true),
            ("ｐａｓｓｗｏｒｄ", true),
            ("iloveyou", true),
            ("passwordpassword", true),
            ("liverpool1liverpool1", true),
            ("password of mine", false),
            ("passwordpasswor", false),
            ("up the terrace", false),
            ("terrace-demo", false),
            ("", false),
        ] {
            assert_eq!(password.len() >= 8 && Folded::new(password).is_common(), expected, "{password}");
        }
    }

    #[test]
    fn runs_are_found() {
        for (password, expected) in [
            ("aaaaaaaa", true),
            ("éééééééé", true),
            ("abcabcabc", true),
            ("abcabcab", true),
            ("20262026", true),
            ("12345678", true),
            ("1234567890", true),
            ("0987654321", true),
            ("hgfedcba", true),
            ("QWERTYUIOP", true),
            ("poiuytrewq", true),
            ("qwertz123", true),
            ("1qaz2wsx", true),
            ("!@#$%^&*", true),
            ("abc12345", true),
            ("qwerty1!", true),
            ("12345678a", true),
            ("aaaa1111", true),
            ("up the terrace", false),
            ("terrace-demo", false),
            ("another password", false),
            ("Ohngah4u has a brass band", false),
            ("qwerty and more", false),
            ("abcdeabcdx", true),
            ("8f3k-q02m", false),
            ("日本語のパスワード", false),
        ] {
            assert_eq!(Folded::new(password).is_run(), expected, "{password}");
        }
    }

    #[test]
    fn a_username_with_padding_is_found() {
        for (username, password, expected) in [
            ("mia.carter", "mia.carter", true),
            ("mia.carter", "MIA.Carter", true),
            ("mia", "mia20262", true),
            ("mia", "!!12 mia", true),
            ("mia", "2026-MIA-2026", true),
            ("mia9", "99mia99!", true),
            ("straße", "STRASSE1", true),
            ("日本語", "日本語12345", true),
            ("mia", "miamia26", false),
            ("mia", "mia likes tea", false),
            ("mia", "amiable1", false),
            ("mia", "up the terrace", false),
            ("mia.carter", "mia", false),
        ] {
            let key = crate::Username::key_of(username);
            assert_eq!(Folded::new(password).is_username(&key), expected, "{username} {password}");
        }
    }
}
