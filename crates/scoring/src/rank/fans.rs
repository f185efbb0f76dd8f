//! The state of each fan in the index, looked up by the fan's id.

use super::directory::Directory;
use super::key::RankKey;
use crate::{Points, Total};
use terrace_kernel::{Timestamp, UserId, num};

/// Fans per chunk. Chunks do not move when more are added, so that no large buffer is ever copied.
const CHUNK: usize = 1024;

/// Slots per table of the directory: 7/8 of 1,024.
const TABLE: usize = 896;

/// The state of a fan, 40 bytes. It is kept after a fan left; otherwise an older update would list the fan again.
#[derive(Debug, Clone)]
struct Fan {
    key: RankKey,
    /// Twice the version, plus one if the fan is listed.
    stamp: u64,
}

impl Fan {
    fn new(user: UserId, total: Option<&Total>, version: u64) -> Self {
        let nowhere = RankKey { points: Points::ZERO, reached_at: Timestamp::from_micros(0), user };
        let key = total.map_or(nowhere, |total| RankKey::new(user, total));
        Self { key, stamp: version << 1 | u64::from(total.is_some()) }
    }

    const fn version(&self) -> u64 {
        self.stamp >> 1
    }

    fn listed(&self) -> Option<&RankKey> {
        (self.stamp & 1 == 1).then_some(&self.key)
    }
}

/// A fan's old and new position, where listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) from: Option<RankKey>,
    pub(super) to: Option<RankKey>,
}

/// Every fan that the index received an update for, in the order of the first updates.
#[derive(Debug, Clone)]
pub(super) struct Fans {
    chunks: Vec<Vec<Fan>>,
    directory: Directory<TABLE>,
}

impl Fans {
    pub(super) fn for_about(len: usize) -> Self {
        Self { chunks: Vec::with_capacity(len.div_ceil(CHUNK)), directory: Directory::for_about(len) }
    }

    /// The key of a fan, if listed.
    pub(super) fn listed(&self, user: UserId) -> Option<&RankKey> {
        self.get(self.find(user)?)?.listed()
    }

    /// The latest version received for a fan, whether listed or not.
    pub(super) fn version(&self, user: UserId) -> Option<u64> {
        Some(self.get(self.find(user)?)?.version())
    }

    /// Every listed fan's key, in the order of [`Fans`].
    pub(super) fn keys(&self) -> impl Iterator<Item = RankKey> {
        self.chunks.iter().flatten().filter_map(|fan| fan.listed().copied())
    }

    /// Applies an update of a fan: their total, or `None` if they are not listed. Returns `None` if the version is not
    /// higher than the stored one, or if there are 2^32 fans already.
    pub(super) fn hear(&mut self, user: UserId, total: Option<&Total>, version: u64) -> Option<Change> {
        let new = Fan::new(user, total, version);
        let to = new.listed().copied();
        if let Some(fan) = self.find(user).and_then(|slot| self.get_mut(slot)) {
            if new.version() <= fan.version() {
                return None;
            }
            let from = fan.listed().copied();
            *fan = new;
            return Some(Change { from, to });
        }
        let slot = self.push(new)?;
        let Self { chunks, directory } = self;
        directory.insert(hash(user), slot, |slot| get(chunks, slot).map_or(0, |fan| hash(fan.key.user)));
        Some(Change { from: None, to })
    }

    /// The bytes that it has allocated. O(n / [`CHUNK`]).
    pub(super) fn heap_bytes(&self) -> usize {
        self.directory.heap_bytes()
            + self.chunks.capacity() * size_of::<Vec<Fan>>()
            + self.chunks.iter().map(|chunk| chunk.capacity() * size_of::<Fan>()).sum::<usize>()
    }

    fn find(&self, user: UserId) -> Option<u32> {
        self.directory.find(hash(user), |slot| self.get(slot).is_some_and(|fan| fan.key.user == user))
    }

    fn get(&self, slot: u32) -> Option<&Fan> {
        get(&self.chunks, slot)
    }

    fn get_mut(&mut self, slot: u32) -> Option<&mut Fan> {
        let (chunk, within) = place(slot);
        self.chunks.get_mut(chunk)?.get_mut(within)
    }

    fn push(&mut self, fan: Fan) -> Option<u32> {
        let full = self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK);
        let chunk = self.chunks.len() - usize::from(!full);
        let within = if full { 0 } else { self.chunks.last().map_or(0, Vec::len) };
        let slot = u32::try_from(chunk * CHUNK + within).ok()?;
        if full {
            // The first chunk grows on demand, because most boards are small.
            let capacity = if chunk == 0 { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        self.chunks.last_mut()?.push(fan);
        Some(slot)
    }
}

fn get(chunks: &[Vec<Fan>], slot: u32) -> Option<&Fan> {
    let (chunk, within) = place(slot);
    chunks.get(chunk)?.get(within)
}

fn place(slot: u32) -> (usize, usize) {
    let slot = num::to_usize(slot);
    (slot / CHUNK, slot % CHUNK)
}

/// A hash of an id: both halves are multiplied, and the halves of the product are combined. The service generates the
/// ids, mostly at random, so an attacker cannot choose colliding ones.
fn hash(user: UserId) -> u64 {
    let (high, low) = user.as_uuid().as_u64_pair();
    let (product, carry) = (high ^ 0x2D35_8DCC_AA6C_78A5).carrying_mul(low ^ 0x8BB8_4B93_962E_ACC9, 0);
    product ^ carry
}
