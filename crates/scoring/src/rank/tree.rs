//! A counted B+-tree of keys: sorted leaves of up to `LEAF` keys under nodes of up to `FANOUT` children. Each child is
//! stored with its number of keys, so that the rank of a key and the n-th key each take one descent.
//!
//! Full nodes are split and thin nodes refilled during the descent, so that no change propagates back up. `LEAF` and
//! `FANOUT` are powers of two, at least 4: vectors that double in capacity end at exactly that size.

use super::key::RankKey;
use super::node::{Inner, Node, count_before, packed};
use std::mem;

#[derive(Debug, Clone)]
pub(super) struct Tree<const LEAF: usize, const FANOUT: usize> {
    root: Node<LEAF, FANOUT>,
    len: usize,
}

impl<const LEAF: usize, const FANOUT: usize> Tree<LEAF, FANOUT> {
    pub(super) const fn new() -> Self {
        Self { root: Node::Leaf(Vec::new()), len: 0 }
    }

    /// Packs `len` unique, ascending keys into nodes that are seven eighths full. O(n).
    pub(super) fn from_ascending(keys: impl Iterator<Item = RankKey>, len: usize) -> Self {
        let mut nodes: Vec<_> = packed(keys, len, LEAF).into_iter().map(Node::Leaf).collect();
        while nodes.len() > 1 {
            let groups = nodes.len();
            let groups = packed(nodes.into_iter(), groups, FANOUT);
            nodes = groups.into_iter().map(|group| Node::Inner(Inner::over(group))).collect();
        }
        nodes.pop().map_or_else(Self::new, |root| Self { root, len })
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Adds a new key.
    pub(super) fn insert(&mut self, key: RankKey) {
        if self.root.is_full() {
            let old = mem::replace(&mut self.root, Node::Leaf(Vec::new()));
            self.root = Node::Inner(Inner::over(vec![old]));
        }
        self.len += 1;
        let mut node = &mut self.root;
        loop {
            match node {
                Node::Leaf(keys) => {
                    keys.insert(count_before(keys, |other| *other < key), key);
                    return;
                }
                Node::Inner(inner) => match inner.child_to_grow(&key) {
                    Some(child) => node = child,
                    None => return,
                },
            }
        }
    }

    /// Removes a key; `false` if it is missing.
    pub(super) fn remove(&mut self, key: &RankKey) -> bool {
        let removed = self.root.remove(key);
        if removed {
            self.len -= 1;
        }
        if let Node::Inner(inner) = &mut self.root
            && let Some(only) = inner.take_only_child()
        {
            self.root = only;
        }
        removed
    }

    /// The number of keys before the first one for which `is_before` is false. `is_before` must be true for a prefix of
    /// the keys.
    pub(super) fn count_while(&self, is_before: impl Fn(&RankKey) -> bool) -> usize {
        let (mut node, mut count) = (&self.root, 0);
        loop {
            match node {
                Node::Leaf(keys) => return count + count_before(keys, &is_before),
                Node::Inner(inner) => {
                    let (before, child) = inner.child_where(&is_before);
                    count += before;
                    let Some(child) = child else { return count };
                    node = child;
                }
            }
        }
    }

    /// The key at position `index`, from 0.
    pub(super) fn get(&self, index: usize) -> Option<&RankKey> {
        let (mut node, mut index) = (&self.root, index);
        loop {
            match node {
                Node::Leaf(keys) => return keys.get(index),
                Node::Inner(inner) => (index, node) = inner.child_at(index)?,
            }
        }
    }

    /// Calls `take` with up to `limit` keys, skipping the first `skip`. O(log n + limit).
    pub(super) fn range(&self, skip: usize, limit: usize, mut take: impl FnMut(&RankKey)) {
        let mut left = limit;
        self.root.range(skip, &mut left, &mut take);
    }

    /// The number of bytes allocated by its nodes. O(n / `LEAF`).
    pub(super) fn heap_bytes(&self) -> usize {
        self.root.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use terrace_kernel::{Timestamp, UserId};
    use uuid::Uuid;

    type Small = Tree<4, 4>;

    fn key(n: u16) -> RankKey {
        // Adjacent numbers share points, and some of them the time.
        let reached_at = Timestamp::from_micros(i64::from(n / 3));
        RankKey {
            points: Points::new(i64::from(n / 8)),
            reached_at,
            user: UserId::from_uuid(Uuid::from_u128(n.into())),
        }
    }

    impl Small {
        /// Asserts the bounds that descents rely on; returns the height.
        fn check(&self) -> usize {
            let (count, height) = self.root.check(None, None);
            assert_eq!(count, self.len);
            height
        }
    }

    fn keys(tree: &Small) -> Vec<RankKey> {
        let mut keys = Vec::new();
        tree.range(0, usize::MAX, |key| keys.push(*key));
        keys
    }

    fn agree(tree: &Small, naive: &BTreeSet<RankKey>) {
        tree.check();
        assert!(keys(tree).iter().eq(naive), "{:?}", keys(tree));
        for (index, key) in naive.iter().enumerate() {
            assert_eq!(tree.count_while(|other| other < key), index);
            assert_eq!(tree.get(index), Some(key));
        }
        assert_eq!(tree.get(naive.len()), None);
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_set_after_every_change(
            start in 0_u16..100,
            changes in proptest::collection::vec(0_u16..120, 0..150),
        ) {
            let mut naive: BTreeSet<RankKey> = (0..start).map(key).collect();
            let mut tree = Small::from_ascending(naive.iter().copied(), naive.len());
            agree(&tree, &naive);
            for n in changes {
                let key = key(n);
                if naive.remove(&key) {
                    assert!(tree.remove(&key));
                } else {
                    assert!(!tree.remove(&key));
                    tree.insert(key);
                    naive.insert(key);
                }
                agree(&tree, &naive);
            }
        }
    }

    #[test]
    fn it_grows_and_shrinks_from_either_end() {
        for (inserted, removed) in [(false, false), (false, true), (true, false), (true, true)] {
            let order = |backwards: bool| -> Vec<u16> {
                if backwards { (0..1000).rev().collect() } else { (0..1000).collect() }
            };
            let (mut tree, mut naive) = (Small::new(), BTreeSet::new());
            for n in order(inserted) {
                tree.insert(key(n));
                naive.insert(key(n));
                tree.check();
            }
            agree(&tree, &naive);
            assert!(tree.check() < 8);
            for n in order(removed) {
                assert!(tree.remove(&key(n)));
                tree.check();
            }
            agree(&tree, &BTreeSet::new());
            assert_eq!(tree.check(), 0, "the last key leaves a leaf behind");
        }
    }

    #[test]
    fn nodes_stay_well_filled() {
        type Real = Tree<64, 32>;
        let mut tree = Real::new();
        let mut order: Vec<u16> = (0..20_000).collect();
        for (index, n) in order.clone().into_iter().enumerate() {
            // A deterministic shuffle.
            let other = usize::from(n) * 7919 % (index + 1);
            order.swap(index, other);
        }
        for n in &order {
            tree.insert(key(*n));
        }
        let filled = |tree: &Real| tree.len() * size_of::<RankKey>() * 100 / tree.heap_bytes();
        assert!(filled(&tree) >= 70, "{} %", filled(&tree));
        for n in order.iter().filter(|n| *n % 4 != 0) {
            assert!(tree.remove(&key(*n)));
        }
        assert!(filled(&tree) >= 40, "{} %", filled(&tree));
    }
}
