//! Mentions of fans in texts: `@` and a username.
//!
//! An `@` inside a word or an address mentions no one. The characters after it can be those of a longer word, so every
//! beginning of them may be the name: the longest one counts that belongs to a fan and does not end in `.`, `-` or `_`.

use terrace_kernel::num;
use terrace_kernel::text::is_invisible;
use terrace_kernel::{CommentId, PostId, StoreError, UserId};
use unicode_normalization::char::is_combining_mark;

/// The maximum number of mentions in a text; further ones are ignored.
pub const MENTIONS: usize = 5;
/// The maximum number of characters in a name.
const NAME_LENGTH: usize = 30;
/// The maximum number of places in a text that are searched for names.
const SITES: usize = 20;

/// A mention of a fan. Positions are in Unicode scalar values; the range includes the `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Username of the fan.
    pub username: String,
    /// Position of the `@`.
    pub start: u32,
    /// Position after the name.
    pub end: u32,
}

/// A place in a text where a fan may be mentioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionSite<'t> {
    /// Position of the `@` in Unicode scalar values.
    start: usize,
    /// The characters after the `@` that can be in a name.
    run: &'t str,
}

impl<'t> MentionSite<'t> {
    /// The texts that may be the name, with their lengths in Unicode scalar values, longest first.
    pub fn names(&self) -> impl Iterator<Item = (usize, &'t str)> {
        let run = self.run;
        let ends = run.char_indices().enumerate().map(|(nth, (at, c))| (nth + 1, at + c.len_utf8(), c));
        let mut ends: Vec<_> = ends.filter(|(.., c)| !matches!(c, '.' | '-' | '_')).collect();
        ends.reverse();
        ends.into_iter().filter_map(move |(length, end, _)| Some((length, run.get(..end)?)))
    }
}

/// The places in a text where fans may be mentioned.
pub fn mention_sites(text: &str) -> Vec<MentionSite<'_>> {
    let mut before = None;
    let mut sites = Vec::new();
    for (start, (at, c)) in text.char_indices().enumerate() {
        let begins = c == '@' && before.is_none_or(|before| !clings(before));
        before = Some(c);
        if !begins {
            continue;
        }
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let ends = rest.char_indices().enumerate().find(|(nth, (_, c))| *nth == NAME_LENGTH || !belongs(*c));
        let run = ends.and_then(|(_, (end, _))| rest.get(..end)).unwrap_or(rest);
        if !run.is_empty() {
            sites.push(MentionSite { start, run });
        }
        if sites.len() == SITES {
            break;
        }
    }
    sites
}

/// The first mentions at these places, at most [`MENTIONS`]. `username` returns the username of the fan with a name.
pub fn mentions(sites: &[MentionSite<'_>], username: impl Fn(&str) -> Option<String>) -> Vec<Mention> {
    let mention = |site: &MentionSite<'_>| {
        let (length, username) = site.names().find_map(|(length, name)| Some((length, username(name)?)))?;
        let end = site.start + 1 + length;
        Some(Mention { username, start: num::to_u32(site.start), end: num::to_u32(end) })
    };
    sites.iter().filter_map(mention).take(MENTIONS).collect()
}

/// Whether an `@` directly after this character is part of something else.
fn clings(before: char) -> bool {
    belongs(before) || matches!(before, '@' | '/')
}

/// Whether a character can be part of a name.
fn belongs(c: char) -> bool {
    (c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '.' | '_' | '-')) && !is_invisible(c)
}

/// Stores who is mentioned.
pub trait MentionWrite {
    /// The usernames of the active accounts with one of these keys that are not hidden from `author`, each after its
    /// key.
    fn mentionable(&mut self, keys: &[String], author: UserId) -> Result<Vec<(String, String)>, StoreError>;

    /// Replaces the mentions of a post. The caller holds the lock on its text, or has inserted it.
    fn set_post_mentions(&mut self, post: PostId, mentions: &[Mention]) -> Result<(), StoreError>;

    /// Replaces the mentions of a comment. The caller holds the lock on its post.
    fn set_comment_mentions(&mut self, comment: CommentId, mentions: &[Mention]) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FANS: [&str; 6] = ["mia", "mia.carter", "bo_", "Ána", "ends.", "サポーター"];

    fn found(text: &str) -> Vec<(String, u32, u32)> {
        let username =
            |name: &str| FANS.iter().find(|fan| fan.eq_ignore_ascii_case(name)).map(ToString::to_string);
        let mentions = mentions(&mention_sites(text), username);
        mentions.into_iter().map(|mention| (mention.username, mention.start, mention.end)).collect()
    }

    #[test]
    fn a_mention_is_an_at_sign_and_the_longest_existing_name() {
        for (text, expected) in [
            ("@mia", &[("mia", 0, 4)][..]),
            ("Hello @MIA, @mia!", &[("mia", 6, 10), ("mia", 12, 16)]),
            ("@mia.carter @mia.cart @mia.", &[("mia.carter", 0, 11), ("mia", 12, 16), ("mia", 22, 26)]),
            ("(@miasma)", &[("mia", 1, 5)]),
            // A name that ends in a mark is mentioned by none of its beginnings.
            ("@bo_ @ends.", &[]),
            ("⚽\u{fe0f} @Ána", &[("Ána", 3, 7)]),
            ("@サポーター！", &[("サポーター", 0, 6)]),
            ("a@mia mia@mia @@mia /@mia .@mia -@mia _@mia é@mia", &[]),
            ("https://a.example/@mia", &[]),
            ("@ mia @", &[]),
            ("@unknown @mi", &[]),
            ("", &[]),
        ] {
            let expected: Vec<_> =
                expected.iter().map(|(name, start, end)| ((*name).to_owned(), *start, *end)).collect();
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn five_mentions_count() {
        let text = "@unknown ".repeat(3) + &"@mia ".repeat(7);
        let starts: Vec<_> = found(&text).into_iter().map(|(_, start, _)| start).collect();
        assert_eq!(starts, [27, 32, 37, 42, 47]);
        assert_eq!(mention_sites(&"@mia ".repeat(400)).len(), SITES);
    }

    #[test]
    fn a_name_has_at_most_thirty_characters() {
        let text = format!("@{}", "é".repeat(40));
        let names: Vec<_> = mention_sites(&text).iter().flat_map(MentionSite::names).collect();
        assert_eq!((names.len(), names[0].0), (30, 30));
    }

    proptest! {
        #[test]
        fn any_text_is_searched_and_ranges_are_those_of_names(text in "[@mia.carter_Á \\PC]{0,60}") {
            let chars: Vec<char> = text.chars().collect();
            for (name, start, end) in found(&text) {
                let (start, end) = (usize::try_from(start).unwrap(), usize::try_from(end).unwrap());
                prop_assert_eq!(chars[start], '@');
                let written: String = chars[start + 1..end].iter().collect();
                prop_assert!(written.eq_ignore_ascii_case(&name));
            }
        }
    }
}
