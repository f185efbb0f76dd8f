//! The rank index of a board.

mod directory;
mod fans;
mod key;
mod node;
mod tree;

pub use key::RankKey;

use crate::{Points, Total};
use fans::{Change, Fans};
use terrace_kernel::{Timestamp, UserId};
use tree::Tree;

/// Keys per leaf (4 KiB) and children per node of the order.
type Order = Tree<128, 64>;

/// The fans of one board in their order ([`RankKey`]), updated as their totals change.
///
/// Building aside, every operation is O(log n), and a page is O(log n + k). The index holds a counted B+-tree of keys
/// and a table of fans: about 90 bytes per fan in total. It holds at most 2^32 fans, including those who left.
///
/// **Versions.** For each fan, only an update with a higher version is applied, so that updates may be delivered
/// repeatedly and in any order: the index reflects the highest versions. The version is that of the stored total; every
/// change increases it, including one that removes the fan from the board. Versions stay below 2^63.
///
/// **Readers and writers.** The index is designed to be behind a read-write lock. Snapshots for readers would require
/// shared nodes that are copied on each change, about ten kilobytes for thirty-two bytes; instead every call is short.
/// A change moves at most a few nodes or one small table, at any size, so that a writer holds the lock for about a
/// microsecond. Pages are copied out, and a board is built outside the lock and swapped in.
#[derive(Debug, Clone)]
pub struct RankIndex {
    fans: Fans,
    order: Order,
}

/// A fan's line on a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Position in the list, from 1; unique.
    pub position: usize,
    /// 1 + the number of fans with strictly more points: ties share a rank.
    pub rank: usize,
    /// Id of the fan.
    pub user: UserId,
    /// Their points.
    pub points: Points,
    /// When they reached these points.
    pub reached_at: Timestamp,
}

impl Ranked {
    /// The sort key, which is the cursor of the next page.
    pub const fn key(&self) -> RankKey {
        RankKey { points: self.points, reached_at: self.reached_at, user: self.user }
    }
}

/// The share of a board's fans that have at most as many points as a given fan, including that fan, in hundredths of a
/// percent, rounded down: 10,000 for the leaders. Ties share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentile(u16);

impl Percentile {
    /// The percentile of a rank on a board with `fans` fans.
    pub fn of(rank: usize, fans: usize) -> Self {
        let at_most = (fans + 1).saturating_sub(rank);
        let hundredths = at_most.saturating_mul(10_000).checked_div(fans).unwrap_or(0);
        Self(u16::try_from(hundredths).unwrap_or(10_000).min(10_000))
    }

    /// Hundredths of a percent, 0 to 10,000.
    pub const fn hundredths(self) -> u16 {
        self.0
    }
}

/// The position of one fan on a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The fan's line.
    pub ranked: Ranked,
    /// The share of fans that this fan ties with or is ahead of.
    pub percentile: Percentile,
    /// How many points are missing to share the next better rank; `None` at the top.
    pub to_next: Option<Points>,
}

impl Default for RankIndex {
    fn default() -> Self {
        Self::new()
    }
}

impl RankIndex {
    /// An empty board.
    pub fn new() -> Self {
        Self { fans: Fans::for_about(0), order: Tree::new() }
    }

    /// Lists a fan with their total, or moves them. Returns `false` and changes nothing if the version is not higher
    /// than the stored one.
    pub fn apply(&mut self, user: UserId, total: &Total) -> bool {
        self.hear(user, Some(total), total.version)
    }

    /// Removes a fan from the board (they left, opted out, were suspended or deleted). Returns `false` if the version
    /// is not higher than the stored one. An update with a later version lists them again.
    pub fn remove(&mut self, user: UserId, version: u64) -> bool {
        self.hear(user, None, version)
    }

    fn hear(&mut self, user: UserId, total: Option<&Total>, version: u64) -> bool {
        let Some(Change { from, to }) = self.fans.hear(user, total, version) else { return false };
        if from != to {
            if let Some(from) = from {
                self.order.remove(&from);
            }
            if let Some(to) = to {
                self.order.insert(to);
            }
        }
        true
    }

    /// The number of listed fans.
    pub const fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether no fan is listed.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The latest version received for a fan, whether listed or not.
    pub fn version(&self, user: UserId) -> Option<u64> {
        self.fans.version(user)
    }

    /// How many fans have strictly more points.
    pub fn count_above(&self, points: Points) -> usize {
        self.order.count_while(|key| key.points > points)
    }

    /// A fan's position; `None` if they are not listed.
    pub fn standing(&self, user: UserId) -> Option<Standing> {
        let key = self.fans.listed(user)?;
        let before = self.order.count_while(|other| other < key);
        let (above, next) = match self.before(before) {
            Some(level) if level.points == key.points => {
                let above = self.count_above(key.points);
                (above, self.before(above))
            }
            next => (before, next),
        };
        Some(Standing {
            ranked: ranked(key, before + 1, above + 1),
            percentile: Percentile::of(above + 1, self.len()),
            to_next: next.map(|next| next.points.minus(key.points)),
        })
    }

    /// The last of the first `count` fans.
    fn before(&self, count: usize) -> Option<&RankKey> {
        count.checked_sub(1).and_then(|last| self.order.get(last))
    }

    /// Up to `limit` fans, skipping the first `offset`.
    pub fn page(&self, offset: usize, limit: usize) -> Vec<Ranked> {
        let Some(first) = self.order.get(offset) else { return Vec::new() };
        let mut page = Vec::with_capacity(limit.min(self.len() - offset));
        let mut position = offset;
        let mut points = first.points;
        let mut rank = match self.before(offset) {
            Some(last) if last.points == points => self.count_above(points) + 1,
            Some(_) | None => offset + 1,
        };
        self.order.range(offset, limit, |key| {
            position += 1;
            if key.points != points {
                (points, rank) = (key.points, position);
            }
            page.push(ranked(key, position, rank));
        });
        page
    }

    /// Up to `limit` fans after `key`, whether or not a fan has that key now.
    pub fn page_after(&self, key: &RankKey, limit: usize) -> Vec<Ranked> {
        self.page(self.order.count_while(|other| other <= key), limit)
    }

    /// Up to `limit` fans before `key`, the nearest ones, in the order of the board; whether or not a fan has that key
    /// now.
    pub fn page_before(&self, key: &RankKey, limit: usize) -> Vec<Ranked> {
        let end = self.order.count_while(|other| other < key);
        let offset = end.saturating_sub(limit);
        self.page(offset, end - offset)
    }

    /// A fan with up to `each_way` fans before and after them; `None` if they are not listed.
    pub fn around(&self, user: UserId, each_way: usize) -> Option<Vec<Ranked>> {
        let key = self.fans.listed(user)?;
        let before = self.order.count_while(|other| other < key);
        let offset = before.saturating_sub(each_way);
        Some(self.page(offset, (before - offset).saturating_add(each_way).saturating_add(1)))
    }

    /// The number of allocated bytes, including spare capacity. Visits the nodes: O(n / 128).
    pub fn heap_bytes(&self) -> usize {
        self.fans.heap_bytes() + self.order.heap_bytes()
    }
}

const fn ranked(key: &RankKey, position: usize, rank: usize) -> Ranked {
    Ranked { position, rank, user: key.user, points: key.points, reached_at: key.reached_at }
}

/// Builds the index from many fans at once. Fastest if they are added in the board's order; any order works. Updates
/// that arrive during the load can be applied to the builder or to the finished index, before or after the stored
/// totals.
#[derive(Debug, Clone)]
pub struct RankIndexBuilder {
    fans: Fans,
    /// The last key, while keys are ascending and no fan was updated twice.
    ascending: Result<Option<RankKey>, OutOfOrder>,
}

#[derive(Debug, Clone)]
struct OutOfOrder;

impl RankIndexBuilder {
    /// Starts an index for about `fans` fans; a wrong estimate only costs time or memory.
    pub fn for_about(fans: usize) -> Self {
        Self { fans: Fans::for_about(fans), ascending: Ok(None) }
    }

    /// Same as [`RankIndex::apply`].
    pub fn apply(&mut self, user: UserId, total: &Total) -> bool {
        self.hear(user, Some(total), total.version)
    }

    /// Same as [`RankIndex::remove`].
    pub fn remove(&mut self, user: UserId, version: u64) -> bool {
        self.hear(user, None, version)
    }

    fn hear(&mut self, user: UserId, total: Option<&Total>, version: u64) -> bool {
        let Some(Change { from, to }) = self.fans.hear(user, total, version) else { return false };
        self.ascending = match (&self.ascending, from, to) {
            (Ok(last), None, Some(to)) if last.is_none_or(|last| last < to) => Ok(Some(to)),
            (Ok(last), None, None) => Ok(*last),
            (Ok(_) | Err(OutOfOrder), _, _) => Err(OutOfOrder),
        };
        true
    }

    /// Builds the index. O(n), or O(n log n) if the fans were not added in order.
    pub fn finish(self) -> RankIndex {
        let len = self.fans.keys().count();
        let order = if self.ascending.is_ok() {
            Tree::from_ascending(self.fans.keys(), len)
        } else {
            Tree::from_ascending(ascending(&self.fans, len), len)
        };
        RankIndex { fans: self.fans, order }
    }
}

/// Approximate number of keys per sorted band: 4 MiB.
const BAND: usize = 131_072;
/// Number of keys that are sampled to choose the boundaries of bands.
const SAMPLE: usize = 4096;

/// The keys of `len` listed fans, sorted. They are sorted in bands, each collected in a pass over all fans, so that
/// memory never holds a second copy of all keys.
fn ascending(fans: &Fans, len: usize) -> impl Iterator<Item = RankKey> {
    let bands = len.div_ceil(BAND);
    let mut sample: Vec<RankKey> = fans.keys().step_by((len / SAMPLE).max(1)).collect();
    sample.sort_unstable();
    let width = sample.len().div_ceil(bands.max(1)).max(1);
    let bounds: Vec<RankKey> = sample.into_iter().step_by(width).skip(1).collect();
    (0..=bounds.len()).flat_map(move |band| {
        let (from, to) = (band.checked_sub(1).and_then(|band| bounds.get(band)), bounds.get(band));
        let is_in = |key: &RankKey| from.is_none_or(|from| key >= from) && to.is_none_or(|to| key < to);
        let mut keys: Vec<RankKey> = fans.keys().filter(is_in).collect();
        keys.sort_unstable();
        keys
    })
}

impl FromIterator<(UserId, Total)> for RankIndex {
    fn from_iter<I: IntoIterator<Item = (UserId, Total)>>(fans: I) -> Self {
        let fans = fans.into_iter();
        let mut builder = RankIndexBuilder::for_about(fans.size_hint().0);
        for (user, total) in fans {
            builder.apply(user, &total);
        }
        builder.finish()
    }
}
