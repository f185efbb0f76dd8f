//! A hash table of slots with bounded work for each insertion: an extendible hash (Fagin et al., 1979) of small tables.
//! A full table is split in two. A single large table would rehash a million entries at once while readers wait; this
//! one moves at most `FULL`.

use hashbrown::HashTable;
use terrace_kernel::num;

/// `FULL` is how many slots a table takes before it is split: the capacity of a `hashbrown` table, 7/8 of a power of
/// two.
#[derive(Debug, Clone)]
pub(super) struct Directory<const FULL: usize> {
    /// The index of the table for each value of the lowest `depth` bits that select a table.
    places: Vec<u32>,
    depth: u32,
    tables: Vec<Table>,
}

#[derive(Debug, Clone)]
struct Table {
    /// The number of selecting bits that all slots of the table share.
    depth: u32,
    slots: HashTable<u32>,
}

/// The number of bits that select a table. Tables that would need more bits grow instead.
const DEEPEST: u32 = 24;

/// The bits of a hash that select a table. Each table uses the other bits for its own slots.
fn choosing(hash: u64) -> usize {
    num::to_usize((hash >> 32) & ((1 << DEEPEST) - 1))
}

impl<const FULL: usize> Directory<FULL> {
    /// A directory with room for about `len` slots before the first split.
    pub(super) fn for_about(len: usize) -> Self {
        let groups = len.div_ceil(FULL - FULL / 8).next_power_of_two();
        let depth = groups.ilog2().min(DEEPEST);
        let capacity = if depth == 0 { len } else { FULL };
        let places: Vec<u32> = (0..1 << depth).collect();
        let table = |_: &u32| Table { depth, slots: HashTable::with_capacity(capacity) };
        Self { depth, tables: places.iter().map(table).collect(), places }
    }

    fn table_of(&self, hash: u64) -> Option<usize> {
        let mask = (1 << self.depth) - 1;
        self.places.get(choosing(hash) & mask).copied().map(num::to_usize)
    }

    /// The slot with this hash for which `is_it` returns true.
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.tables.get(self.table_of(hash)?)?.slots.find(hash, |slot| is_it(*slot)).copied()
    }

    /// Adds a new slot; `hash_of` returns the hashes of existing slots.
    pub(super) fn insert(&mut self, hash: u64, slot: u32, hash_of: impl Fn(u32) -> u64) {
        while let Some(index) = self.table_of(hash) {
            let Some(table) = self.tables.get_mut(index) else { return };
            if table.slots.len() < FULL || table.depth >= DEEPEST {
                table.slots.insert_unique(hash, slot, |slot| hash_of(*slot));
                return;
            }
            self.split(index, hash, &hash_of);
        }
    }

    /// Moves the slots of the table of `hash` whose next bit is set into a new table.
    fn split(&mut self, index: usize, hash: u64, hash_of: impl Fn(u32) -> u64) {
        let Ok(new) = u32::try_from(self.tables.len()) else { return };
        let Some(table) = self.tables.get_mut(index) else { return };
        let bit = 1 << table.depth;
        table.depth += 1;
        let depth = table.depth;
        let mut slots = HashTable::with_capacity(FULL);
        for slot in table.slots.extract_if(|slot| choosing(hash_of(*slot)) & bit != 0) {
            slots.insert_unique(hash_of(slot), slot, |slot| hash_of(*slot));
        }
        self.tables.push(Table { depth, slots });
        if self.depth < depth {
            self.places.extend_from_within(..);
            self.depth = depth;
        }
        let first = choosing(hash) & (bit - 1) | bit;
        self.places.iter_mut().skip(first).step_by(bit << 1).for_each(|table| *table = new);
    }

    /// The bytes that it has allocated. O(n / `FULL`).
    pub(super) fn heap_bytes(&self) -> usize {
        self.places.capacity() * size_of::<u32>()
            + self.tables.capacity() * size_of::<Table>()
            + self.tables.iter().map(|table| table.slots.allocation_size()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mixes bits well enough for a test.
    fn hash(slot: u32) -> u64 {
        let (low, high) = (u64::from(slot) ^ 0x9E37_79B9_7F4A_7C15).carrying_mul(0xD6E8_FEB8_6659_FD93, 0);
        low ^ high
    }

    fn grown(start: usize) -> Directory<7> {
        let mut directory = Directory::for_about(start);
        for slot in 0..5000 {
            assert_eq!(directory.find(hash(slot), |other| other == slot), None);
            directory.insert(hash(slot), slot, hash);
            assert_eq!(directory.find(hash(slot), |other| other == slot), Some(slot));
        }
        directory
    }

    #[test]
    fn what_went_in_is_found_however_the_tables_split() {
        for start in [0, 1, 100, 5000, 20_000] {
            let directory = grown(start);
            for slot in 0..5000 {
                assert_eq!(directory.find(hash(slot), |other| other == slot), Some(slot));
            }
            assert!(directory.tables.iter().all(|table| table.slots.len() <= 7));
            assert_eq!(directory.tables.iter().map(|table| table.slots.len()).sum::<usize>(), 5000);
        }
    }

    #[test]
    fn hashes_that_are_all_alike_end_in_one_table() {
        let mut directory = Directory::<7>::for_about(0);
        for slot in 0..50 {
            directory.insert(5, slot, |_| 5);
        }
        assert!((0..50).all(|slot| directory.find(5, |other| other == slot) == Some(slot)));
        assert_eq!(directory.find(5, |other| other == 50), None);
    }
}
