//! The words of the newest posts in memory. A search of nothing but common words looks at so many posts that reading them
//! from the database costs more than the rest of the search.

use crate::search::{COMMON, Words};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Bound;
use terrace_kernel::{PostId, TimeKey, Timestamp, Uuid, distinct, num};

/// Finds candidates among the newest posts.
pub trait NewestPosts {
    /// Of the [`COMMON`] newest posts up to `until`, those that contain all of `words`, newest first. A few others may be
    /// among them. `None` if fewer posts than that are known.
    fn containing(&self, words: &Words, until: Option<Timestamp>) -> Option<Vec<PostId>>;
}

/// The number of posts that are kept: after deletions and on later pages there are still enough to look at.
const KEPT: u32 = 2 * COMMON;

/// The words of the newest posts.
#[derive(Debug, Clone, Default)]
pub struct NewestWords {
    posts: BTreeMap<TimeKey, Marks>,
    /// Every post after this one is among them; `None` if every post is.
    from: Option<TimeKey>,
}

impl NewestWords {
    /// The number of newest posts to begin with.
    pub const FIRST: u32 = KEPT + 1;

    /// Puts a post with its present words in, unless it is older than all that are kept.
    pub fn put(&mut self, post: TimeKey, words: &Words) {
        if self.from.is_some_and(|from| post <= from) {
            return;
        }
        self.posts.insert(post, Marks::of(words));
        if num::to_u32(self.posts.len()) > KEPT {
            self.from = self.posts.pop_first().map(|(oldest, _)| oldest);
        }
    }

    /// Removes a post, if it is kept.
    pub fn remove(&mut self, post: TimeKey) {
        self.posts.remove(&post);
    }
}

impl NewestPosts for NewestWords {
    fn containing(&self, words: &Words, until: Option<Timestamp>) -> Option<Vec<PostId>> {
        let wanted = Marks::of(words);
        let end = until.map_or(Bound::Unbounded, |at| Bound::Included(TimeKey { at, id: Uuid::max() }));
        let (mut seen, mut found) = (0_u32, Vec::new());
        for (post, marks) in self.posts.range((Bound::Unbounded, end)).rev().take(num::to_usize(COMMON)) {
            seen += 1;
            if marks.contain(&wanted) {
                found.push(PostId::from_uuid(post.id));
            }
        }
        (seen == COMMON || self.from.is_none()).then_some(found)
    }
}

/// The words of a text as numbers, which a few words share.
#[derive(Debug, Clone)]
struct Marks {
    /// A bit for each word, of a few. Most posts differ from what is wanted in these already.
    bits: u64,
    /// Ascending, for a binary search.
    words: Box<[u32]>,
}

impl Marks {
    fn of(words: &Words) -> Self {
        let numbers = distinct(words.iter().map(number));
        let bits = numbers.iter().fold(0, |bits, number| bits | 1 << (number % u64::BITS));
        Self { bits, words: numbers.into() }
    }

    fn contain(&self, wanted: &Self) -> bool {
        self.bits & wanted.bits == wanted.bits
            && wanted.words.iter().all(|word| self.words.binary_search(word).is_ok())
    }
}

fn number(word: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    // Half of the bits: a word that shares its number only adds a candidate.
    u32::try_from(hasher.finish() >> u32::BITS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::words;

    fn key(n: u64) -> TimeKey {
        // Two posts of each time.
        let at = Timestamp::from_micros(num::to_i64(n / 2));
        TimeKey { at, id: Uuid::from_u128(u128::from(n)) }
    }

    fn found(newest: &NewestWords, text: &str, until: Option<u64>) -> Option<Vec<u128>> {
        let ids = newest.containing(&words(text), until.map(|n| key(n).at))?;
        Some(ids.into_iter().map(|id| id.as_uuid().as_u128()).collect())
    }

    fn filled(posts: u64) -> NewestWords {
        let mut newest = NewestWords::default();
        for n in (0..posts).rev() {
            let text = format!("goal {} number{n}", if n % 2 == 0 { "even" } else { "odd" });
            newest.put(key(n), &words(&text));
        }
        newest
    }

    #[test]
    fn the_newest_posts_with_all_words_are_found() {
        let mut newest = filled(9);
        assert_eq!(found(&newest, "goal even", None), Some(vec![8, 6, 4, 2, 0]));
        assert_eq!(found(&newest, "goal even", Some(5)), Some(vec![4, 2, 0]));
        assert_eq!(found(&newest, "even odd", None), Some(vec![]));
        assert_eq!(found(&newest, "number7 odd", None), Some(vec![7]));
        assert_eq!(found(&newest, "ever", None), Some(vec![]));
        newest.put(key(8), &words("changed"));
        newest.remove(key(6));
        newest.remove(key(600));
        assert_eq!(found(&newest, "goal even", None), Some(vec![4, 2, 0]));
        assert_eq!(found(&newest, "changed", None), Some(vec![8]));
    }

    #[test]
    fn without_as_many_posts_as_a_search_looks_at_nothing_is_known() {
        let kept = u64::from(KEPT);
        // Up to this one there are as many posts as a search looks at.
        let last = u64::from(COMMON) - 1;
        let mut newest = filled(kept);
        assert_eq!(found(&newest, "number0", Some(last)), Some(vec![0]), "every post is kept");
        newest.put(key(kept), &words("goal"));
        assert_eq!(found(&newest, "number0", Some(last)), None, "one of them is not kept");
        assert_eq!(found(&newest, "number2", Some(last + 2)), Some(vec![2]));
        assert_eq!(found(&newest, "number1", Some(last + 2)), Some(vec![]), "too far back");
        newest.put(key(0), &words("again"));
        assert_eq!(found(&newest, "again", None), Some(vec![]), "older than what is kept");
        assert_eq!(num::to_u32(newest.posts.len()), KEPT);
    }
}
