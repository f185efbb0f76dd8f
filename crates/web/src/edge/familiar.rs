//! From where people sign in.
//!
//! Logins under one name are limited wherever they come from, or a password could be guessed from many addresses
//! at once. That alone would let anybody lock anybody out: a flood of wrong passwords uses the name's allowance
//! up. So an address from which the name was signed in to before has an allowance of its own, which nobody else
//! can use up. Its owner gets in from home while the flood goes on; from a new place they wait until it ebbs, and
//! sessions that are open stay open throughout.
//!
//! The memory is this process's and bounded. After a restart everybody is a stranger again, which matters only
//! while a flood goes on.

use std::collections::HashSet;
use std::hash::Hash;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// How many pairs are remembered at least; twice as many at most.
const REMEMBERED: usize = 50_000;

/// Remembers the latest of what it is told, in two generations: when the young one is full, the old one goes.
pub(crate) struct KnownOrigins<K> {
    limit: usize,
    generations: Mutex<Generations<K>>,
}

struct Generations<K> {
    young: HashSet<K>,
    old: HashSet<K>,
}

impl<K: Eq + Hash + Copy> KnownOrigins<K> {
    pub(crate) fn new() -> Self {
        Self::of(REMEMBERED)
    }

    fn of(limit: usize) -> Self {
        let generations = Generations { young: HashSet::new(), old: HashSet::new() };
        Self { limit, generations: Mutex::new(generations) }
    }

    pub(crate) fn remember(&self, key: K) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if generations.young.insert(key) && generations.young.len() >= self.limit {
            generations.old = mem::take(&mut generations.young);
        }
    }

    pub(crate) fn knows(&self, key: &K) -> bool {
        let generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.young.contains(key) || generations.old.contains(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_and_no_more() {
        let familiar = KnownOrigins::of(10);
        (0..100).for_each(|key| familiar.remember(key));
        assert!((90..100).all(|key| familiar.knows(&key)));
        assert_eq!((0..100).filter(|key| familiar.knows(key)).count(), 10);
        familiar.remember(95);
        (100..109).for_each(|key| familiar.remember(key));
        assert!(familiar.knows(&95), "who comes again is young again");
    }
}
