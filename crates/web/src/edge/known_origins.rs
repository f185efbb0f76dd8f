//! The addresses from which accounts have signed in.
//!
//! Logins under one name are limited across all addresses; otherwise a password could be guessed from many addresses
//! at once. That limit alone would allow denial of service: a flood of wrong passwords uses up the name's allowance.
//! An address from which the name has signed in before therefore has an allowance of its own. The account's owner can
//! sign in from a known address during a flood; from a new address they must wait until the flood ends. Open sessions
//! are not affected.
//!
//! The memory is local to this process and bounded. After a restart no address is known, which matters only during a
//! flood.

use std::collections::HashSet;
use std::hash::Hash;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// Minimum number of pairs that are remembered; the maximum is twice as many.
const REMEMBERED: usize = 50_000;

/// Remembers the latest keys in two generations: when the young one is full, it replaces the old one.
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
    fn the_latest_are_remembered_up_to_the_limit() {
        let origins = KnownOrigins::of(10);
        (0..100).for_each(|key| origins.remember(key));
        assert!((90..100).all(|key| origins.knows(&key)));
        assert_eq!((0..100).filter(|key| origins.knows(key)).count(), 10);
        origins.remember(95);
        (100..109).for_each(|key| origins.remember(key));
        assert!(origins.knows(&95), "a returning client is the newest again");
    }
}
