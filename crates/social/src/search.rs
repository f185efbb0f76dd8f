//! Search: what is stored about names and posts to find them, and what a search text is compared with.
//!
//! All texts are normalised and case folded here, so that both databases hold and compare the same words. Posts are
//! found by words: runs of letters, digits and marks. Scripts that are written without spaces have no such words:
//! each of their characters and each pair of neighbours is a word, and a search text means its pairs. Fans and teams
//! are found by names that begin with the search text, at any word of the name.

mod names;
mod newest;
mod ports;
mod words;

pub use names::{NameEntry, NameKey, name_entries};
pub use newest::{NewestPosts, NewestWords};
pub use ports::{NamePlace, PostPlace, PostText, PostTextRead, SearchAudit, SearchRead, SearchWrite};
pub use words::{Words, words};

use crate::Tag;
use crate::topics::fold;

/// A word is common if more posts contain it. A search of nothing but common words looks at this many posts for each
/// page.
pub const COMMON: u32 = 10_000;

/// A validated search text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchText {
    folded: String,
}

/// Why a text is rejected as a search text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must hold 2 to 64 characters, or one of a script that is written without spaces")]
pub struct SearchTextLength;

impl SearchText {
    /// The minimum number of characters, unless the only one is of a script that is written without spaces.
    pub const MIN: usize = 2;
    /// The maximum number of characters.
    pub const MAX: usize = 64;

    /// Normalises a text (NFKC, case folded, white space collapsed) and validates its length.
    ///
    /// # Errors
    ///
    /// Returns the rule that the text violates.
    pub fn parse(text: &str) -> Result<Self, SearchTextLength> {
        // Normalisation can lengthen a text 18 times, so a text that is far too long is rejected without it.
        if text.chars().count() > Self::MAX * 4 {
            return Err(SearchTextLength);
        }
        let folded = fold(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let is_one_character = folded.chars().count() == 1 && folded.chars().all(words::is_unspaced);
        if is_one_character || (Self::MIN..=Self::MAX).contains(&folded.chars().count()) {
            Ok(Self { folded })
        } else {
            Err(SearchTextLength)
        }
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.folded
    }

    /// The words that a post must contain; none if the text has only signs.
    pub fn words(&self) -> Words {
        words::searched(&self.folded)
    }

    /// The beginning of the names that the text finds; `None` if it has only signs.
    pub fn name(&self) -> Option<NameKey> {
        NameKey::of(&self.folded)
    }

    /// The beginning of the tags that the text finds; `None` if it has only signs.
    pub fn tag(&self) -> Option<Tag> {
        let key: String = self.folded.chars().filter(|c| words::is_part(*c) || *c == '_').collect();
        (!key.is_empty()).then(|| Tag::stored(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_search_text_has_2_to_64_characters_after_normalisation() {
        let longest = "x".repeat(64);
        for (text, expected) in [
            ("  Derby\t DAY ", Some("derby day")),
            ("ＡＢ", Some("ab")),
            ("ﬁ", Some("fi")),
            ("ß", Some("ss")),
            ("球", Some("球")),
            ("ｶ", Some("カ")),
            ("한", Some("한")),
            ("a", None),
            (" a ", None),
            ("e\u{301}", None),
            ("⚽", None),
            ("", None),
            (" \n ", None),
            (&longest[..], Some(&longest[..])),
            (&"x".repeat(65)[..], None),
            (&"ﷺ".repeat(4)[..], None),
            (&"x".repeat(100_000)[..], None),
        ] {
            let parsed = SearchText::parse(text).map(|text| text.folded);
            assert_eq!(parsed.as_deref().ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn operators_of_query_languages_are_signs() {
        for text in ["\"\"", "**", "&!|", "'; --", "(:)", "⚽⚽", "\\\\", "\0\0"] {
            let text = SearchText::parse(text).unwrap();
            assert!(text.words().is_empty() && text.name().is_none() && text.tag().is_none(), "{text:?}");
        }
        let text = SearchText::parse("\"goal*\" NEAR(derby) & !x:*").unwrap();
        assert_eq!(text.words().iter().collect::<Vec<_>>(), ["derby", "goal", "near", "x"]);
    }

    #[test]
    fn a_tag_is_found_with_and_without_its_sign() {
        for text in ["#match", "match", "＃ＭATCH"] {
            assert_eq!(SearchText::parse(text).unwrap().tag().unwrap().as_str(), "match", "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_normalised_text_is_its_own_normal_form(text in "[ a-zA-ZßİŉﷺＡ-Ｚ一-三カｶ가-나\u{300}-\u{345}\\PC]{0,70}") {
            if let Ok(parsed) = SearchText::parse(&text) {
                prop_assert_eq!(SearchText::parse(parsed.as_str()), Ok(parsed.clone()));
                prop_assert!(parsed.words().iter().count() <= SearchText::MAX);
            }
        }

        #[test]
        fn any_text_is_accepted_or_refused_without_a_panic(text in any::<String>()) {
            if let Ok(parsed) = SearchText::parse(&text) {
                drop((parsed.words(), parsed.name(), parsed.tag()));
            }
        }
    }
}
