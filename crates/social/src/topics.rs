//! Topics: the hashtags in the text of a post.
//!
//! A topic is `#` and 1 to 50 letters, marks, digits or underscores of any script, at least one of them a letter. The
//! text is normalised (NFKC, case folded) before it is searched, so that `＃Goal`, `#GOAL` and `#goal` are one topic and
//! every tag found is its own key.

use crate::NewPost;
use caseless::default_case_fold_str;
use std::fmt;
use terrace_kernel::TimeKey;
use terrace_kernel::text::is_invisible;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The maximum length of a tag in characters, after NFKC and case folding, without the `#`.
pub const TAG_LENGTH: usize = 50;
/// The maximum number of tags per post; further ones are ignored.
pub const TAGS_OF_POST: usize = 5;

/// `#` and the characters that NFKC turns into it.
const SIGNS: [char; 3] = ['#', '\u{fe5f}', '\u{ff03}'];
/// Joiners, which only affect how letters are rendered. They are removed from tags before comparison.
pub(crate) const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// A normalised tag without its `#`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(String);

impl Tag {
    /// Wraps a tag that was found by [`tags`] and then stored.
    pub fn stored(key: String) -> Self {
        Self(key)
    }

    /// The tag that a client names, in any case, with or without a `#`; `None` if no post can have it.
    pub fn named(text: &str) -> Option<Self> {
        let key = fold(text.strip_prefix(SIGNS).unwrap_or(text));
        if key.chars().all(belongs) { tag(key.chars()) } else { None }
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl NewPost {
    /// The tags of the post, paired with its sort key.
    pub fn tags(&self) -> Vec<(TimeKey, Tag)> {
        let key = TimeKey { at: self.created_at, id: self.id.as_uuid() };
        tags(&self.body).into_iter().map(|tag| (key, tag)).collect()
    }
}

/// The tags of a text, without duplicates, in order of first appearance, at most [`TAGS_OF_POST`].
///
/// A `#` inside a word starts no tag (`a#b`), nor does one in an address (`https://a.example/#b`, `a.example/#b`) or
/// one after a character that it belongs to (`##b`, `&#39;`). A run of characters longer than [`TAG_LENGTH`] is not a
/// tag.
pub fn tags(text: &str) -> Vec<Tag> {
    // Most posts have no tag and need no normalisation.
    if !text.contains(SIGNS) {
        return Vec::new();
    }
    let text = fold(text);
    let mut found: Vec<Tag> = Vec::new();
    for word in text.split_whitespace() {
        // In the same word, everything after `://` is part of an address.
        let end = word.find("://").unwrap_or(word.len());
        let before = word.get(..end).unwrap_or(word);
        if before.starts_with("www.") {
            continue;
        }
        for tag in of_word(before) {
            if found.len() == TAGS_OF_POST {
                return found;
            }
            if !found.contains(&tag) {
                found.push(tag);
            }
        }
    }
    found
}

/// Full case folding does not preserve NFKC, and NFKC can create characters that fold: fold, normalise, fold.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let normal: String = text.nfkc().collect();
    let folded: String = default_case_fold_str(&normal).nfkc().collect();
    default_case_fold_str(&folded).nfkc().collect()
}

/// The tags in a text without whitespace.
fn of_word(word: &str) -> impl Iterator<Item = Tag> {
    let mut previous = None;
    word.char_indices().filter_map(move |(at, c)| {
        let before = previous.replace(c);
        let begins = c == '#' && before.is_none_or(|before| !clings(before));
        let run = word.get(at + c.len_utf8()..).filter(|_| begins)?;
        tag(run.chars().take_while(|c| belongs(*c)))
    })
}

/// Whether a `#` directly after this character is part of something else.
fn clings(before: char) -> bool {
    belongs(before) || matches!(before, '#' | '/' | '&' | '=' | '?' | '@')
}

/// Whether a character can be part of a tag.
fn belongs(c: char) -> bool {
    JOINERS.contains(&c) || ((c.is_alphanumeric() || is_combining_mark(c) || c == '_') && !is_invisible(c))
}

fn tag(run: impl Iterator<Item = char>) -> Option<Tag> {
    // One more than the maximum: a run may be as long as the post.
    let key: String = run.filter(|c| !JOINERS.contains(c)).take(TAG_LENGTH + 1).collect();
    let first = key.chars().next()?;
    let fits = key.chars().count() <= TAG_LENGTH && !is_combining_mark(first);
    // Removing joiners can make adjacent characters composable.
    let key = fold(&key);
    (fits && key.chars().count() <= TAG_LENGTH && key.chars().any(is_letter)).then_some(Tag(key))
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        tags(text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn ascii_is_folded_as_beside_other_characters() {
        let text: String = (0..=u8::MAX).filter(u8::is_ascii).map(char::from).collect();
        assert_eq!(fold(&text) + "é", fold(&(text + "É")));
    }

    /// Rule 12 ranks topics; this tests what a topic is.
    #[test]
    fn topics_are_the_hashtags_of_a_text() {
        for (text, expected) in [
            ("What a save! #Matchday", &["matchday"][..]),
            ("#Matchday #matchday ＃MATCHDAY ﹟MatchDay", &["matchday"]),
            ("(#one), #two. \"#three\"!#four", &["one", "two", "three", "four"]),
            ("#fußball #FUSSBALL #Straße", &["fussball", "strasse"]),
            ("#サッカー #عالمية #футбол #हिन्दी", &["サッカー", "عالمية", "футбол", "हिन्दी"]),
            ("#می\u{200c}خواهم #میخواهم", &["میخواهم"]),
            ("#snake_case #_a #row14 #4ever", &["snake_case", "_a", "row14", "4ever"]),
            ("#goal's #goal-line #goal…", &["goal"]),
            ("#2026 #14 #_ #__ # #! #", &[]),
            ("a#b ö#b 1#b _#b ##b &#39; &#b", &[]),
            ("#a#b", &["a"]),
            ("https://a.example/x#b http://a.example/#b www.a.example#b a.example/#b ?x=#b @#b", &[]),
            ("(see https://a.example/#b) #c", &["c"]),
            ("#️⃣ #\u{308}a #\u{3164}", &[]),
            ("nothing here", &[]),
            ("", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn a_tag_has_1_to_50_characters_and_a_post_five_tags() {
        assert_eq!(found(&format!("#{}", "é".repeat(50))), ["é".repeat(50)]);
        assert_eq!(found(&format!("#{}", "é".repeat(51))), [""; 0]);
        // Fifty characters that fold to a hundred.
        assert_eq!(found(&format!("#{}", "ß".repeat(50))), [""; 0]);
        assert_eq!(found("#a #b #a #c #d #e #f"), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn a_tag_is_named_as_it_is_written() {
        for (text, expected) in [
            ("Goal", Some("goal")),
            ("#GOAL", Some("goal")),
            ("＃Goal", Some("goal")),
            ("Straße", Some("strasse")),
            ("می\u{200c}خواهم", Some("میخواهم")),
            ("##goal", None),
            ("goal!", None),
            ("goal save", None),
            (" goal", None),
            ("2026", None),
            ("#", None),
            ("", None),
        ] {
            assert_eq!(Tag::named(text).as_ref().map(Tag::as_str), expected, "{text}");
        }
        assert_eq!(Tag::named(&"a".repeat(51)), None);
    }

    proptest! {
        #[test]
        fn every_tag_is_its_own_key(text in "[#＃ a-zß_\u{200c}\u{300}-\u{345}İŉﷺ\\PC]{0,80}") {
            let found = tags(&text);
            prop_assert!(found.len() <= TAGS_OF_POST);
            for tag in found {
                prop_assert!((1..=TAG_LENGTH).contains(&tag.as_str().chars().count()));
                prop_assert!(tag.as_str().chars().all(belongs), "{:?}", tag);
                prop_assert_eq!(Tag::named(tag.as_str()), Some(tag.clone()));
                prop_assert_eq!(tags(&format!("#{tag}")), [tag]);
            }
        }

        #[test]
        fn any_text_is_searched_without_a_panic(text in any::<String>()) {
            tags(&text);
        }

        #[test]
        fn a_tag_is_found_among_other_words(tag in "[a-z][a-z0-9_]{0,49}", before in "[a-z ,.]{0,9}", after in "[ ,.!]") {
            let text = format!("{before} #{}{after}", tag.to_uppercase());
            prop_assert_eq!(found(&text), [tag]);
        }
    }
}
