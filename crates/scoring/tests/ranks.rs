//! Compares the rank index with a list that is sorted again for every question.

#![expect(clippy::indexing_slicing, reason = "a naive list is asked by index")]

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use terrace_kernel::{Timestamp, UserId};
use terrace_scoring::{Points, RankIndex, RankIndexBuilder, RankKey, Ranked, Standing, Total};
use uuid::Uuid;

/// An update of a fan: a total, or that they are not listed.
#[derive(Debug, Clone, Copy)]
struct Word {
    user: UserId,
    total: Option<(i64, i64)>,
    version: u64,
}

impl Word {
    fn total(&self) -> Option<Total> {
        self.total.map(|(points, at)| Total {
            points: Points::new(points),
            reached_at: Timestamp::from_micros(at),
            version: self.version,
        })
    }

    fn apply(&self, index: &mut RankIndex) -> bool {
        match self.total() {
            Some(total) => index.apply(self.user, &total),
            None => index.remove(self.user, self.version),
        }
    }
}

/// A direct implementation of the rules: the highest version of each fan applies, and a fan with a total is listed.
#[derive(Default)]
struct Naive(BTreeMap<UserId, Word>);

impl Naive {
    fn apply(&mut self, word: &Word) -> bool {
        let newer = self.0.get(&word.user).is_none_or(|known| known.version < word.version);
        if newer {
            self.0.insert(word.user, *word);
        }
        newer
    }

    fn rows(&self) -> Vec<Ranked> {
        let listed = self.0.values().filter_map(|word| Some((word.total?, word.user)));
        let mut rows: Vec<_> = listed.map(|((points, at), user)| (-points, at, user)).collect();
        rows.sort_unstable();
        let rank = |points| 1 + rows.iter().filter(|row| row.0 < points).count();
        let row = |(index, &(points, at, user)): (usize, &(i64, i64, UserId))| Ranked {
            position: index + 1,
            rank: rank(points),
            user,
            points: Points::new(-points),
            reached_at: Timestamp::from_micros(at),
        };
        rows.iter().enumerate().map(row).collect()
    }
}

fn user(n: u8) -> UserId {
    UserId::from_uuid(Uuid::from_u128(n.into()))
}

/// Few fans, points, times and versions, so that ties, redeliveries and reversals are frequent.
fn words(fans: u8) -> impl Strategy<Value = Vec<Word>> {
    let total = proptest::option::weighted(0.8, (-3_i64..8, 0_i64..4));
    let word =
        (0..fans, total, 0_u64..12).prop_map(|(n, total, version)| Word { user: user(n), total, version });
    proptest::collection::vec(word, 0..60)
}

/// Makes updates consistent: later updates of the same fan and version repeat the first.
fn consistent(words: Vec<Word>) -> Vec<Word> {
    let mut said = BTreeMap::new();
    words.into_iter().map(|word| *said.entry((word.user, word.version)).or_insert(word)).collect()
}

fn agree(index: &RankIndex, naive: &Naive) {
    let rows = naive.rows();
    assert_eq!(index.len(), rows.len());
    assert_eq!(index.is_empty(), rows.is_empty());
    assert_eq!(index.page(0, usize::MAX), rows);
    for offset in 0..rows.len() + 2 {
        let rest = rows.get(offset..).unwrap_or_default();
        assert_eq!(index.page(offset, 3), rest[..rest.len().min(3)]);
    }
    for (at, row) in rows.iter().enumerate() {
        let above: Vec<_> = rows.iter().filter(|other| other.points > row.points).collect();
        let standing = index.standing(row.user).expect("a listed fan has a standing");
        assert_eq!(standing.ranked, *row);
        assert_eq!(standing.to_next, above.last().map(|next| next.points.minus(row.points)));
        let at_most = rows.len() - above.len();
        assert_eq!(usize::from(standing.percentile.hundredths()), at_most * 10_000 / rows.len());
        assert_eq!(index.count_above(row.points), above.len());
        assert_eq!(index.page_after(&row.key(), 2), rows[at + 1..rows.len().min(at + 3)]);
        let around = rows[at.saturating_sub(2)..rows.len().min(at + 3)].to_vec();
        assert_eq!(index.around(row.user, 2), Some(around));
    }
    for word in naive.0.values() {
        assert_eq!(index.version(word.user), Some(word.version));
        if word.total.is_none() {
            assert_eq!((index.standing(word.user), index.around(word.user, 1)), (None, None));
        }
    }
}

proptest! {
    #[test]
    fn it_agrees_with_a_sort_after_every_word(words in words(12)) {
        let (mut index, mut naive) = (RankIndex::new(), Naive::default());
        for word in words {
            assert_eq!(word.apply(&mut index), naive.apply(&word));
            agree(&index, &naive);
        }
    }

    #[test]
    fn any_order_of_delivery_gives_the_same_index(words in words(6), seed in any::<u64>()) {
        let words = consistent(words);
        let mut shuffled: Vec<Word> = words.iter().chain(&words).copied().collect();
        shuffled.shuffle(&mut StdRng::seed_from_u64(seed));
        let (mut index, mut other, mut naive) = (RankIndex::new(), RankIndex::new(), Naive::default());
        for word in &words {
            word.apply(&mut index);
            naive.apply(word);
        }
        for word in &shuffled {
            word.apply(&mut other);
        }
        agree(&index, &naive);
        agree(&other, &naive);
    }

    #[test]
    fn a_built_index_equals_an_updated_one(words in words(40), sorted in any::<bool>(), later in words(40)) {
        let mut naive = Naive::default();
        for word in &words {
            naive.apply(word);
        }
        let mut words = if sorted { naive.0.values().copied().collect() } else { words };
        if sorted {
            words.sort_by_key(|word| word.total.map(|(points, at)| (-points, at, word.user)));
        }
        let mut builder = RankIndexBuilder::for_about(words.len() / 2);
        for word in &words {
            match word.total() {
                Some(total) => builder.apply(word.user, &total),
                None => builder.remove(word.user, word.version),
            };
        }
        let mut index = builder.finish();
        agree(&index, &naive);
        for word in later {
            assert_eq!(word.apply(&mut index), naive.apply(&word));
        }
        agree(&index, &naive);
    }

    #[test]
    fn pages_by_key_neither_repeat_nor_skip_who_stays(words in words(30), moved in words(30), size in 1_usize..5) {
        let mut index = RankIndex::new();
        for word in &words {
            word.apply(&mut index);
        }
        page_through(&mut index, moved, size);
    }
}

/// Pages through the whole board while a fan moves between any two pages. Fans who stayed are those whose position
/// never changed; a fan who left and returned to the same position did not stay.
fn page_through(index: &mut RankIndex, moved: Vec<Word>, size: usize) -> Vec<RankKey> {
    let all =
        |index: &RankIndex| -> Vec<RankKey> { index.page(0, usize::MAX).iter().map(Ranked::key).collect() };
    let mut stayed = all(index);
    let mut seen = Vec::new();
    let mut page = index.page(0, size);
    let mut moved = moved.into_iter();
    while let Some(last) = page.last().map(Ranked::key) {
        seen.extend(page.iter().map(Ranked::key));
        if let Some(word) = moved.next() {
            word.apply(index);
            let now = all(index);
            stayed.retain(|key| now.contains(key));
        }
        page = index.page_after(&last, size);
    }
    assert!(seen.is_sorted_by(|a, b| a < b));
    assert!(stayed.iter().all(|key| seen.contains(key)));
    seen
}

/// A fan leaves and returns to the same position after the pages have passed it: the pages may miss this fan, and only
/// this one.
#[test]
fn who_left_and_came_back_to_their_place_between_pages_did_not_stay() {
    let word = |n, total, version| Word { user: user(n), total, version };
    let mut index = RankIndex::new();
    for n in 1..=3 {
        word(n, Some((10 - i64::from(n), 0)), 1).apply(&mut index);
    }
    // The second fan leaves while the first page is read, and returns while the second is read.
    let moved = vec![word(2, None, 2), word(2, Some((8, 0)), 3)];
    let seen = page_through(&mut index, moved, 1);
    assert_eq!(seen.iter().map(|key| key.user).collect::<Vec<_>>(), [user(1), user(3)]);
    assert_eq!(index.standing(user(2)).map(|standing| standing.ranked.position), Some(2));
}

#[test]
fn ties_share_a_rank_and_are_listed_by_who_was_first() {
    let at = |points, micros| Total {
        points: Points::new(points),
        reached_at: Timestamp::from_micros(micros),
        version: 1,
    };
    let totals = [(user(1), at(10, 9)), (user(2), at(30, 5)), (user(4), at(10, 3)), (user(3), at(10, 9))];
    let index: RankIndex = totals.into_iter().collect();
    let lines: Vec<_> = index.page(0, 9).iter().map(|row| (row.position, row.rank, row.user)).collect();
    assert_eq!(lines, [(1, 1, user(2)), (2, 2, user(4)), (3, 2, user(1)), (4, 2, user(3))]);
    let standing = |n| {
        let Standing { percentile, to_next, .. } = index.standing(user(n)).unwrap();
        (percentile.hundredths(), to_next.map(Points::get))
    };
    assert_eq!(standing(2), (10_000, None));
    assert_eq!(standing(3), (7_500, Some(20)));
    assert_eq!(index.count_above(Points::new(10)), 1);
    assert_eq!(index.count_above(Points::new(i64::MIN)), 4);
}

#[test]
fn an_empty_index_answers() {
    let mut index = RankIndex::default();
    let nothing = RankKey { points: Points::ZERO, reached_at: Timestamp::from_micros(0), user: user(1) };
    assert!(index.page(0, 10).is_empty() && index.page_after(&nothing, 10).is_empty());
    assert_eq!((index.standing(user(1)), index.around(user(1), 5)), (None, None));
    assert_eq!((index.count_above(Points::ZERO), index.version(user(1))), (0, None));
    // An outdated update does not list a fan who left.
    assert!(index.remove(user(1), 3));
    let old = Total { points: Points::new(5), reached_at: Timestamp::from_micros(0), version: 3 };
    assert!(!index.apply(user(1), &old));
    assert!(index.is_empty());
}

/// A board with nodes of production size, compared with a sort several times; its memory stays below 110 bytes per fan
/// after all changes.
#[test]
fn a_large_board_stays_right_and_small() {
    const FANS: u64 = 30_000;
    let mut rng = StdRng::seed_from_u64(5);
    let fan = |n: u64| UserId::from_uuid(Uuid::from_u64_pair(n, n.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let mut naive = BTreeMap::new();
    let mut total = |version| Total {
        points: Points::new(rng.random_range(0..5_000)),
        reached_at: Timestamp::from_micros(rng.random_range(0..1_000)),
        version,
    };
    for n in 0..FANS {
        naive.insert(fan(n), total(1));
    }
    let mut index: RankIndex = naive.iter().map(|(user, total)| (*user, *total)).collect();
    let mut rng = StdRng::seed_from_u64(6);
    for round in 2..8 {
        for _ in 0..FANS / 2 {
            let user = fan(rng.random_range(0..FANS));
            let moved = total(round);
            if index.apply(user, &moved) {
                naive.insert(user, moved);
            }
        }
        let mut keys: Vec<_> =
            naive.iter().map(|(user, total)| (-total.points.get(), total.reached_at, *user)).collect();
        keys.sort_unstable();
        let served = index.page(0, usize::MAX);
        assert!(served.iter().map(|row| (-row.points.get(), row.reached_at, row.user)).eq(keys));
        for row in served.iter().step_by(97) {
            assert_eq!(index.standing(row.user).map(|standing| standing.ranked), Some(*row));
            assert_eq!(index.page(row.position - 1, 1), [*row]);
        }
        let bytes = index.heap_bytes() / index.len();
        assert!(bytes <= 110, "{bytes} bytes a fan");
    }
}
