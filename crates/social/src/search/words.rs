//! The words of a text.

use crate::topics::{JOINERS, fold};
use std::collections::BTreeSet;
use terrace_kernel::text::is_invisible;
use unicode_normalization::char::is_combining_mark;

/// The maximum length of a word in characters; the rest of a longer one is ignored.
const LENGTH: usize = 64;

/// Distinct words in the order of their characters. No word contains a space, a quote or any other sign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(BTreeSet<String>);

impl Words {
    /// Parses the form of [`Words::joined`].
    pub fn stored(text: &str) -> Self {
        Self(text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect())
    }

    /// The words with a space between each two.
    pub fn joined(&self) -> String {
        self.iter().collect::<Vec<_>>().join(" ")
    }

    /// The words, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Reports whether all of `others` are among them.
    pub fn contain(&self, others: &Self) -> bool {
        others.0.is_subset(&self.0)
    }

    /// Reports whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<String> for Words {
    fn from_iter<I: IntoIterator<Item = String>>(words: I) -> Self {
        Self(words.into_iter().collect())
    }
}

/// The words by which a text is found.
pub fn words(text: &str) -> Words {
    let mut found = BTreeSet::new();
    for run in runs(&fold(text)) {
        match run {
            Run::Word(word) => found.extend([word]),
            Run::Unspaced(characters) => {
                found.extend(characters.iter().map(char::to_string));
                found.extend(pairs(&characters));
            }
        }
    }
    Words(found)
}

/// The words that a text must contain to be found by a search text, which is folded already.
pub(super) fn searched(folded: &str) -> Words {
    let mut found = BTreeSet::new();
    for run in runs(folded) {
        match run {
            Run::Word(word) => found.extend([word]),
            Run::Unspaced(characters) => match characters.as_slice() {
                [only] => found.extend([only.to_string()]),
                all => found.extend(pairs(all)),
            },
        }
    }
    Words(found)
}

/// A part of a text without spaces and signs, of one kind of script.
enum Run {
    Word(String),
    Unspaced(Vec<char>),
}

fn pairs(characters: &[char]) -> impl Iterator<Item = String> {
    characters.iter().zip(characters.iter().skip(1)).map(|(one, other)| [*one, *other].iter().collect())
}

fn runs(folded: &str) -> Vec<Run> {
    let (mut all, mut word, mut length) = (Vec::new(), String::new(), 0);
    let mut previous_is_unspaced = false;
    for c in folded.chars().filter(|c| !JOINERS.contains(c)) {
        // A mark that normalisation could not compose with an unspaced character is not searched for.
        let is_stray_mark = is_combining_mark(c) && word.is_empty();
        let unspaced = is_unspaced(c);
        if unspaced || !is_part(c) {
            end_word(&mut all, &mut word, &mut length);
        }
        if unspaced {
            match all.last_mut() {
                Some(Run::Unspaced(characters)) if previous_is_unspaced => characters.push(c),
                _ => all.push(Run::Unspaced(vec![c])),
            }
        } else if is_part(c) && !is_stray_mark {
            length += 1;
            if length <= LENGTH {
                word.push(c);
            }
        }
        previous_is_unspaced = unspaced || (previous_is_unspaced && is_stray_mark);
    }
    end_word(&mut all, &mut word, &mut length);
    all
}

fn end_word(all: &mut Vec<Run>, word: &mut String, length: &mut usize) {
    if !word.is_empty() {
        all.push(Run::Word(std::mem::take(word)));
    }
    *length = 0;
}

/// Whether a character can be part of a word.
pub(super) fn is_part(c: char) -> bool {
    (c.is_alphanumeric() || is_combining_mark(c)) && !is_invisible(c)
}

/// Whether a character is a letter of a script that is written without spaces, or with spaces between groups of words:
/// Han, kana, Bopomofo, Hangul.
pub(super) fn is_unspaced(c: char) -> bool {
    is_part(c)
        && matches!(c,
            '\u{1100}'..='\u{11ff}' | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{3035}' | '\u{303b}'..='\u{303c}'
            | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30ff}' | '\u{3105}'..='\u{318e}'
            | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> String {
        words(text).joined()
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_marks() {
        for (text, expected) in [
            ("What a SAVE! What…", "a save what"),
            ("#Matchday snake_case o'neil 4-2", "2 4 case matchday neil o snake"),
            ("Straße STRASSE", "strasse"),
            ("ｆｕｌｌ ﬁnn", "finn full"),
            ("e\u{301}té été", "été"),
            ("ФУТБОЛ", "футбол"),
            ("हिन्दी हिन्दी", "हिन्दी"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("\u{301} a\u{301}\u{323}", "\u{1ea1}\u{301}"),
            ("⚽🔥 !!", ""),
            ("", ""),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn text_without_spaces_is_found_by_its_characters_and_pairs() {
        assert_eq!(found("足球"), "球 足 足球");
        assert_eq!(found("ｶﾞﾝ"), "ガ ガン ン");
        assert_eq!(found("J1第3節"), "3 j1 第 節");
        assert_eq!(found("축구 팀"), "구 축 축구 팀");
        assert_eq!(searched("足球場").joined(), "球場 足球");
        assert_eq!(searched("球").joined(), "球");
        assert_eq!(searched("go足球 x").joined(), "go x 足球");
    }

    #[test]
    fn a_long_word_is_cut() {
        let long = "x".repeat(LENGTH);
        assert_eq!(found(&format!("{long}yz a")), format!("a {long}"));
    }

    /// What a search text asks for is in every text that contains it between spaces.
    fn contains_all(text: &str, part: &str) -> bool {
        let all = words(text);
        searched(&fold(part)).iter().all(|word| all.0.contains(word))
    }

    proptest! {
        #[test]
        fn a_text_is_found_by_its_parts(before in "\\PC{0,20}", part in "[a-zA-Zß一-丈カｶ가-갈éA 0-9]{1,30}", after in "\\PC{0,20}") {
            let text = format!("{before} {part} {after}");
            prop_assert!(contains_all(&text, &part));
        }

        #[test]
        fn part_of_an_unspaced_text_is_found(text in "[一-丈カキク가-갈]{1,30}", from in 0_usize..30, length in 1_usize..10) {
            let part: String = text.chars().skip(from).take(length).collect();
            prop_assert!(contains_all(&text, &part));
        }

        #[test]
        fn words_are_plain_and_stable(text in any::<String>()) {
            let all = words(&text);
            for word in all.iter() {
                prop_assert!((1..=LENGTH).contains(&word.chars().count()));
                prop_assert!(word.chars().all(is_part), "{:?}", word);
            }
            prop_assert_eq!(Words::stored(&all.joined()), all);
        }
    }
}
