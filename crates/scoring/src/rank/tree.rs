//! A counted B+-tree of keys: sorted leaves of up to `LEAF` keys under nodes of up to `FANOUT` children, each child
//! with its number of keys, so that "how many before" and "which is the n-th" are one way down.
//!
//! Room is made and thin nodes are filled on the way down, so that nothing has to be carried back up. A full node
//! first gives to a sibling and splits only when both are nearly full, which keeps the nodes about four fifths full
//! under random changes. `LEAF` and `FANOUT` are powers of two from 4 on: vectors that double end at just that size.

use super::key::RankKey;
use std::mem;

#[derive(Debug, Clone)]
pub(super) struct Tree<const LEAF: usize, const FANOUT: usize> {
    root: Node<LEAF, FANOUT>,
    len: usize,
}

#[derive(Debug, Clone)]
enum Node<const LEAF: usize, const FANOUT: usize> {
    Leaf(Vec<RankKey>),
    Inner(Vec<Child<LEAF, FANOUT>>),
}

#[derive(Debug, Clone)]
struct Child<const LEAF: usize, const FANOUT: usize> {
    /// No key here is below it, and every key of the siblings before is. The key itself may be gone.
    first: RankKey,
    /// How many keys are below.
    count: usize,
    node: Node<LEAF, FANOUT>,
}

impl<const LEAF: usize, const FANOUT: usize> Tree<LEAF, FANOUT> {
    pub(super) const fn new() -> Self {
        Self { root: Node::Leaf(Vec::new()), len: 0 }
    }

    /// Packs `len` keys, ascending and each once, into nodes that are seven eighths full. O(n).
    pub(super) fn from_ascending(keys: impl Iterator<Item = RankKey>, len: usize) -> Self {
        let mut nodes: Vec<_> = packed(keys, len, LEAF).into_iter().map(Node::Leaf).collect();
        while nodes.len() > 1 {
            let groups = nodes.len();
            let children = nodes.into_iter().filter_map(Child::new);
            nodes = packed(children, groups, FANOUT).into_iter().map(Node::Inner).collect();
        }
        nodes.pop().map_or_else(Self::new, |root| Self { root, len })
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Adds a key that is not here.
    pub(super) fn insert(&mut self, key: RankKey) {
        if self.root.is_full() {
            let old = mem::replace(&mut self.root, Node::Inner(Vec::with_capacity(FANOUT)));
            if let Node::Inner(children) = &mut self.root {
                children.extend(Child::new(old));
            }
        }
        self.len += 1;
        let mut node = &mut self.root;
        loop {
            match node {
                Node::Leaf(keys) => {
                    keys.insert(keys.partition_point(|other| *other < key), key);
                    return;
                }
                Node::Inner(children) => {
                    let mut at = child_for(children, |first| *first <= key);
                    if children.get(at).is_some_and(|child| child.node.is_full()) {
                        make_room(children, at);
                        at = child_for(children, |first| *first <= key);
                    }
                    let Some(child) = children.get_mut(at) else { return };
                    child.count += 1;
                    child.first = child.first.min(key);
                    node = &mut child.node;
                }
            }
        }
    }

    /// Takes a key out; `false` when it is not here.
    pub(super) fn remove(&mut self, key: &RankKey) -> bool {
        let removed = self.root.remove(key);
        if removed {
            self.len -= 1;
        }
        if let Node::Inner(children) = &mut self.root
            && children.len() == 1
            && let Some(only) = children.pop()
        {
            self.root = only.node;
        }
        removed
    }

    /// How many keys come before the first of which `is_before` does not hold; it must hold of all before one of
    /// which it holds.
    pub(super) fn count_while(&self, is_before: impl Fn(&RankKey) -> bool) -> usize {
        let (mut node, mut count) = (&self.root, 0);
        loop {
            match node {
                Node::Leaf(keys) => return count + keys.partition_point(&is_before),
                Node::Inner(children) => {
                    let at = child_for(children, &is_before);
                    count += children.iter().take(at).map(|child| child.count).sum::<usize>();
                    let Some(child) = children.get(at) else { return count };
                    node = &child.node;
                }
            }
        }
    }

    /// The key with `index` keys before it.
    pub(super) fn get(&self, index: usize) -> Option<&RankKey> {
        let (mut node, mut left) = (&self.root, index);
        loop {
            match node {
                Node::Leaf(keys) => return keys.get(left),
                Node::Inner(children) => {
                    node = &children
                        .iter()
                        .find(|child| {
                            let here = left < child.count;
                            left -= if here { 0 } else { child.count };
                            here
                        })?
                        .node;
                }
            }
        }
    }

    /// Calls `take` with up to `limit` keys from the one with `skip` keys before it on. O(log n + limit).
    pub(super) fn range(&self, skip: usize, limit: usize, mut take: impl FnMut(&RankKey)) {
        let mut left = limit;
        self.root.range(skip, &mut left, &mut take);
    }

    /// The bytes that its nodes have allocated. O(n / `LEAF`).
    pub(super) fn heap_bytes(&self) -> usize {
        self.root.heap_bytes()
    }
}

impl<const LEAF: usize, const FANOUT: usize> Node<LEAF, FANOUT> {
    const fn len(&self) -> usize {
        match self {
            Self::Leaf(keys) => keys.len(),
            Self::Inner(children) => children.len(),
        }
    }

    const fn capacity(&self) -> usize {
        match self {
            Self::Leaf(_) => LEAF,
            Self::Inner(_) => FANOUT,
        }
    }

    const fn is_full(&self) -> bool {
        self.len() >= self.capacity()
    }

    fn first(&self) -> Option<RankKey> {
        match self {
            Self::Leaf(keys) => keys.first().copied(),
            Self::Inner(children) => children.first().map(|child| child.first),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Leaf(keys) => keys.len(),
            Self::Inner(children) => children.iter().map(|child| child.count).sum(),
        }
    }

    fn remove(&mut self, key: &RankKey) -> bool {
        match self {
            Self::Leaf(keys) => match keys.binary_search(key) {
                Ok(at) => {
                    keys.remove(at);
                    true
                }
                Err(_) => false,
            },
            Self::Inner(children) => {
                let at = child_for(children, |first| first <= key);
                fill(children, at);
                let at = child_for(children, |first| first <= key);
                let Some(child) = children.get_mut(at) else { return false };
                let removed = child.node.remove(key);
                if removed {
                    child.count -= 1;
                }
                removed
            }
        }
    }

    fn range(&self, mut skip: usize, left: &mut usize, take: &mut impl FnMut(&RankKey)) {
        match self {
            Self::Leaf(keys) => {
                let keys = keys.iter().skip(skip).take(*left);
                *left -= keys.len();
                keys.for_each(take);
            }
            Self::Inner(children) => {
                for child in children {
                    if *left == 0 {
                        return;
                    }
                    if skip < child.count {
                        child.node.range(skip, left, take);
                    }
                    skip = skip.saturating_sub(child.count);
                }
            }
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::Leaf(keys) => keys.capacity() * size_of::<RankKey>(),
            Self::Inner(children) => {
                children.capacity() * size_of::<Child<LEAF, FANOUT>>()
                    + children.iter().map(|child| child.node.heap_bytes()).sum::<usize>()
            }
        }
    }
}

impl<const LEAF: usize, const FANOUT: usize> Child<LEAF, FANOUT> {
    fn new(node: Node<LEAF, FANOUT>) -> Option<Self> {
        Some(Self { first: node.first()?, count: node.count(), node })
    }

    /// Makes what it says of its node true again.
    fn refresh(&mut self) {
        self.first = self.node.first().unwrap_or(self.first);
        self.count = self.node.count();
    }

    /// Splits the upper half off.
    fn split(&mut self) -> Option<Self> {
        let right = match &mut self.node {
            Node::Leaf(keys) => Node::Leaf(upper_half(keys, LEAF)),
            Node::Inner(children) => Node::Inner(upper_half(children, FANOUT)),
        };
        self.count = self.node.count();
        Self::new(right)
    }

    /// Moves items between neighbours until the left one has `len` of them.
    fn divide(left: &mut Self, right: &mut Self, len: usize) {
        match (&mut left.node, &mut right.node) {
            (Node::Leaf(left), Node::Leaf(right)) => divide(left, right, len),
            (Node::Inner(left), Node::Inner(right)) => divide(left, right, len),
            // Siblings are of one height.
            (Node::Leaf(_), Node::Inner(_)) | (Node::Inner(_), Node::Leaf(_)) => {}
        }
        left.count = left.node.count();
        right.refresh();
    }
}

/// Deals `len` items out evenly to as few vectors as hold them at seven eighths of `capacity`.
fn packed<T>(mut items: impl Iterator<Item = T>, len: usize, capacity: usize) -> Vec<Vec<T>> {
    let groups = len.div_ceil(capacity - capacity / 8);
    (0..groups)
        .map(|group| {
            let mut packed = Vec::with_capacity(capacity);
            packed.extend(items.by_ref().take(len / groups + usize::from(group < len % groups)));
            packed
        })
        .collect()
}

fn upper_half<T>(items: &mut Vec<T>, capacity: usize) -> Vec<T> {
    let mut upper = Vec::with_capacity(capacity);
    upper.extend(items.drain(items.len() / 2..));
    upper
}

fn divide<T>(left: &mut Vec<T>, right: &mut Vec<T>, len: usize) {
    if left.len() > len {
        right.splice(0..0, left.drain(len..));
    } else {
        let missing = (len - left.len()).min(right.len());
        left.extend(right.drain(..missing));
    }
}

/// The last child whose first key is before; the first one when none is.
fn child_for<const LEAF: usize, const FANOUT: usize>(
    children: &[Child<LEAF, FANOUT>],
    is_before: impl Fn(&RankKey) -> bool,
) -> usize {
    children.partition_point(|child| is_before(&child.first)).saturating_sub(1)
}

fn neighbours<const LEAF: usize, const FANOUT: usize>(
    children: &mut [Child<LEAF, FANOUT>],
    left: usize,
) -> Option<(&mut Child<LEAF, FANOUT>, &mut Child<LEAF, FANOUT>)> {
    match children.get_mut(left..left + 2)? {
        [left, right] => Some((left, right)),
        _ => None,
    }
}

/// Makes room in a full child: half of what a sibling still takes goes there, when that is worth moving; else the
/// child is split.
fn make_room<const LEAF: usize, const FANOUT: usize>(children: &mut Vec<Child<LEAF, FANOUT>>, at: usize) {
    let worth = |room: usize, capacity: usize| room >= (capacity / 8).max(2);
    if at > 0
        && let Some((left, full)) = neighbours(children, at - 1)
    {
        let (capacity, len) = (left.node.capacity(), left.node.len());
        if worth(capacity - len, capacity) {
            return Child::divide(left, full, len.midpoint(capacity));
        }
    }
    if let Some((full, right)) = neighbours(children, at) {
        let (capacity, len) = (right.node.capacity(), right.node.len());
        if worth(capacity - len, capacity) {
            return Child::divide(full, right, capacity - (capacity - len) / 2);
        }
    }
    let split = children.get_mut(at).and_then(Child::split);
    children.splice(at + 1..at + 1, split);
}

/// Looks after a child that is at most half full: it is joined with a sibling when both fit into one with some room
/// left, and has at least a quarter otherwise, so that no key can be taken from an empty one.
fn fill<const LEAF: usize, const FANOUT: usize>(children: &mut Vec<Child<LEAF, FANOUT>>, at: usize) {
    let Some(thin) = children.get(at) else { return };
    let (capacity, len) = (thin.node.capacity(), thin.node.len());
    if len > capacity / 2 {
        return;
    }
    for left in [Some(at), at.checked_sub(1)].into_iter().flatten() {
        let Some((first, second)) = neighbours(children, left) else { continue };
        let both = first.node.len() + second.node.len();
        if both <= capacity - capacity / 8 {
            Child::divide(first, second, both);
            children.remove(left + 1);
            return;
        }
        if len <= capacity / 4 {
            return Child::divide(first, second, both / 2);
        }
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
        // Neighbours in number share their points, and some their time.
        let reached_at = Timestamp::from_micros(i64::from(n / 3));
        RankKey {
            points: Points::new(i64::from(n / 8)),
            reached_at,
            user: UserId::from_uuid(Uuid::from_u128(n.into())),
        }
    }

    impl Small {
        /// The bounds that the way down relies on; gives back the height.
        fn check(&self) -> usize {
            let (count, height) = self.root.check(None, None);
            assert_eq!(count, self.len);
            height
        }
    }

    impl Node<4, 4> {
        fn check(&self, low: Option<RankKey>, high: Option<RankKey>) -> (usize, usize) {
            assert!(self.len() <= 4);
            match self {
                Node::Leaf(keys) => {
                    assert!(keys.capacity() <= 4);
                    assert!(keys.is_sorted_by(|a, b| a < b));
                    assert!(keys.iter().all(|key| low.is_none_or(|low| low <= *key)));
                    assert!(keys.iter().all(|key| high.is_none_or(|high| *key < high)));
                    assert!(low.is_none() || !keys.is_empty(), "only the root may be empty");
                    (keys.len(), 0)
                }
                Node::Inner(children) => {
                    assert!(children.capacity() <= 4 && !children.is_empty());
                    let mut heights = BTreeSet::new();
                    let mut count = 0;
                    for (index, child) in children.iter().enumerate() {
                        let high = children.get(index + 1).map_or(high, |next| Some(next.first));
                        let (keys, height) = child.node.check(Some(child.first), high);
                        assert_eq!(child.count, keys);
                        count += keys;
                        heights.insert(height);
                    }
                    assert_eq!(heights.len(), 1, "leaves are equally deep");
                    (count, heights.into_iter().sum::<usize>() + 1)
                }
            }
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
            // A fixed shuffle.
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
