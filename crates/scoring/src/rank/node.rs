//! The nodes of the tree, and how they share their items.
//!
//! A full node first moves items to a sibling, and splits only if both are nearly full. This keeps nodes about four
//! fifths full under random changes.

use super::key::RankKey;

#[derive(Debug, Clone)]
pub(super) enum Node<const LEAF: usize, const FANOUT: usize> {
    Leaf(Vec<RankKey>),
    Inner(Inner<LEAF, FANOUT>),
}

/// Children of equal height. The counts are stored contiguously, because every visit sums them.
#[derive(Debug, Clone)]
pub(super) struct Inner<const LEAF: usize, const FANOUT: usize> {
    counts: Vec<usize>,
    children: Vec<Child<LEAF, FANOUT>>,
}

#[derive(Debug, Clone)]
struct Child<const LEAF: usize, const FANOUT: usize> {
    /// A lower bound of the node's keys that is above every key of the preceding siblings. The key itself may have been
    /// removed.
    first: RankKey,
    node: Node<LEAF, FANOUT>,
}

impl<const LEAF: usize, const FANOUT: usize> Node<LEAF, FANOUT> {
    const fn len(&self) -> usize {
        match self {
            Self::Leaf(keys) => keys.len(),
            Self::Inner(inner) => inner.children.len(),
        }
    }

    const fn capacity(&self) -> usize {
        match self {
            Self::Leaf(_) => LEAF,
            Self::Inner(_) => FANOUT,
        }
    }

    pub(super) const fn is_full(&self) -> bool {
        self.len() >= self.capacity()
    }

    fn first(&self) -> Option<RankKey> {
        match self {
            Self::Leaf(keys) => keys.first().copied(),
            Self::Inner(inner) => inner.children.first().map(|child| child.first),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Leaf(keys) => keys.len(),
            Self::Inner(inner) => inner.counts.iter().sum(),
        }
    }

    pub(super) fn remove(&mut self, key: &RankKey) -> bool {
        match self {
            Self::Leaf(keys) => {
                let at = count_before(keys, |other| other < key);
                let found = keys.get(at) == Some(key);
                if found {
                    keys.remove(at);
                }
                found
            }
            Self::Inner(inner) => inner.remove(key),
        }
    }

    pub(super) fn range(&self, mut skip: usize, left: &mut usize, take: &mut impl FnMut(&RankKey)) {
        match self {
            Self::Leaf(keys) => {
                let keys = keys.iter().skip(skip).take(*left);
                *left -= keys.len();
                keys.for_each(take);
            }
            Self::Inner(inner) => {
                for (child, count) in inner.children.iter().zip(&inner.counts) {
                    if *left == 0 {
                        return;
                    }
                    if skip < *count {
                        child.node.range(skip, left, take);
                    }
                    skip = skip.saturating_sub(*count);
                }
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::Leaf(keys) => keys.capacity() * size_of::<RankKey>(),
            Self::Inner(Inner { counts, children }) => {
                counts.capacity() * size_of::<usize>()
                    + children.capacity() * size_of::<Child<LEAF, FANOUT>>()
                    + children.iter().map(|child| child.node.heap_bytes()).sum::<usize>()
            }
        }
    }

    /// Splits off the upper half.
    fn split(&mut self) -> Self {
        match self {
            Self::Leaf(keys) => Self::Leaf(upper_half(keys, LEAF)),
            Self::Inner(inner) => Self::Inner(Inner {
                counts: upper_half(&mut inner.counts, FANOUT),
                children: upper_half(&mut inner.children, FANOUT),
            }),
        }
    }

    /// Moves items between neighbours until the left one has `len` items.
    fn divide(left: &mut Self, right: &mut Self, len: usize) {
        match (left, right) {
            (Self::Leaf(left), Self::Leaf(right)) => divide(left, right, len),
            (Self::Inner(left), Self::Inner(right)) => {
                divide(&mut left.counts, &mut right.counts, len);
                divide(&mut left.children, &mut right.children, len);
            }
            // Siblings have equal height.
            (Self::Leaf(_), Self::Inner(_)) | (Self::Inner(_), Self::Leaf(_)) => {}
        }
    }
}

impl<const LEAF: usize, const FANOUT: usize> Inner<LEAF, FANOUT> {
    /// A parent node over these nodes, which are not empty and in order.
    pub(super) fn over(nodes: Vec<Node<LEAF, FANOUT>>) -> Self {
        let mut counts = Vec::with_capacity(FANOUT);
        let mut children = Vec::with_capacity(FANOUT);
        for node in nodes {
            if let Some(first) = node.first() {
                counts.push(node.count());
                children.push(Child { first, node });
            }
        }
        Self { counts, children }
    }

    /// The last child whose first key satisfies `is_before`; the first child if none does.
    fn position(&self, is_before: impl Fn(&RankKey) -> bool) -> usize {
        count_before(&self.children, |child| is_before(&child.first)).saturating_sub(1)
    }

    /// The child that contains the boundary of `is_before`, and how many keys the preceding children have.
    pub(super) fn child_where(
        &self,
        is_before: impl Fn(&RankKey) -> bool,
    ) -> (usize, Option<&Node<LEAF, FANOUT>>) {
        let at = self.position(is_before);
        (self.counts.iter().take(at).sum(), self.children.get(at).map(|child| &child.node))
    }

    /// The child that contains the key at `index`, and the index within that child.
    pub(super) fn child_at(&self, mut index: usize) -> Option<(usize, &Node<LEAF, FANOUT>)> {
        for (count, child) in self.counts.iter().zip(&self.children) {
            if index < *count {
                return Some((index, &child.node));
            }
            index -= count;
        }
        None
    }

    /// The child that a new key belongs to. Makes room in it and increments its count.
    pub(super) fn child_to_grow(&mut self, key: &RankKey) -> Option<&mut Node<LEAF, FANOUT>> {
        let mut at = self.position(|first| first <= key);
        if self.children.get(at)?.node.is_full() {
            self.make_room(at);
            at = self.position(|first| first <= key);
        }
        *self.counts.get_mut(at)? += 1;
        let child = self.children.get_mut(at)?;
        child.first = child.first.min(*key);
        Some(&mut child.node)
    }

    fn remove(&mut self, key: &RankKey) -> bool {
        self.fill(self.position(|first| first <= key));
        let at = self.position(|first| first <= key);
        let (Some(child), Some(count)) = (self.children.get_mut(at), self.counts.get_mut(at)) else {
            return false;
        };
        let removed = child.node.remove(key);
        *count -= usize::from(removed);
        removed
    }

    /// The only child, if there is exactly one.
    pub(super) fn take_only_child(&mut self) -> Option<Node<LEAF, FANOUT>> {
        if self.children.len() > 1 { None } else { self.children.pop().map(|child| child.node) }
    }

    /// The numbers of items of the child at `left` and of the next one.
    fn neighbours(&self, left: usize) -> Option<(usize, usize)> {
        let right = self.children.get(left + 1)?.node.len();
        Some((self.children.get(left)?.node.len(), right))
    }

    /// Moves items between the child at `left` and the next one until the left one has `len` items.
    fn divide(&mut self, left: usize, len: usize) {
        if let Some([first, second]) = self.children.get_mut(left..left + 2) {
            Node::divide(&mut first.node, &mut second.node, len);
            second.first = second.node.first().unwrap_or(second.first);
            if let Some([in_first, in_second]) = self.counts.get_mut(left..left + 2) {
                (*in_first, *in_second) = (first.node.count(), second.node.count());
            }
        }
    }

    /// Makes room in a full child: fills half of a sibling's free space with items of the child if that is worthwhile;
    /// otherwise splits the child.
    fn make_room(&mut self, at: usize) {
        let Some(full) = self.children.get(at) else { return };
        let capacity = full.node.capacity();
        let worth = (capacity / 8).max(2);
        if let Some(left) = at.checked_sub(1)
            && let Some((len, _)) = self.neighbours(left)
            && capacity - len >= worth
        {
            return self.divide(left, len.midpoint(capacity));
        }
        if let Some((_, len)) = self.neighbours(at)
            && capacity - len >= worth
        {
            return self.divide(at, capacity - (capacity - len) / 2);
        }
        let (Some(full), Some(count)) = (self.children.get_mut(at), self.counts.get_mut(at)) else { return };
        let node = full.node.split();
        *count = full.node.count();
        if let Some(first) = node.first() {
            self.counts.insert(at + 1, node.count());
            self.children.insert(at + 1, Child { first, node });
        }
    }

    /// Refills a child that is at most half full: merges it with a sibling if both fit into one with some room left;
    /// otherwise rebalances it to at least a quarter, so that no key is ever removed from an empty node.
    fn fill(&mut self, at: usize) {
        let Some(thin) = self.children.get(at) else { return };
        let (capacity, len) = (thin.node.capacity(), thin.node.len());
        if len > capacity / 2 {
            return;
        }
        for left in [Some(at), at.checked_sub(1)].into_iter().flatten() {
            let Some((first, second)) = self.neighbours(left) else { continue };
            let both = first + second;
            if both <= capacity - capacity / 8 {
                self.divide(left, both);
                self.counts.remove(left + 1);
                self.children.remove(left + 1);
                return;
            }
            if len <= capacity / 4 {
                return self.divide(left, both / 2);
            }
        }
    }
}

/// The number of items before the first one for which `is_before` is false. It searches in two steps of about ten items
/// each: in a node that is in no cache, a binary search would wait for six cache lines in sequence, and this waits for
/// two.
pub(super) fn count_before<T>(items: &[T], is_before: impl Fn(&T) -> bool) -> usize {
    const STEP: usize = 12;
    let steps = items.iter().step_by(STEP).filter(|item| is_before(item)).count();
    let start = steps.saturating_sub(1) * STEP;
    let last = items.get(start..items.len().min(start + STEP)).unwrap_or_default();
    start + last.iter().filter(|item| is_before(item)).count()
}

/// Distributes `len` items evenly into the fewest vectors that are at most seven eighths of `capacity` full.
pub(super) fn packed<T>(mut items: impl Iterator<Item = T>, len: usize, capacity: usize) -> Vec<Vec<T>> {
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

#[cfg(test)]
impl Node<4, 4> {
    /// Asserts the bounds that descents rely on; returns the number of keys and the height.
    pub(super) fn check(&self, low: Option<RankKey>, high: Option<RankKey>) -> (usize, usize) {
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
            Node::Inner(Inner { counts, children }) => {
                assert!(children.capacity() <= 4 && counts.capacity() <= 4 && !children.is_empty());
                let mut heights = std::collections::BTreeSet::new();
                for (index, child) in children.iter().enumerate() {
                    let high = children.get(index + 1).map_or(high, |next| Some(next.first));
                    let (keys, height) = child.node.check(Some(child.first), high);
                    assert_eq!(counts.get(index), Some(&keys));
                    heights.insert(height);
                }
                assert_eq!(heights.len(), 1, "leaves are equally deep");
                (self.count(), heights.into_iter().sum::<usize>() + 1)
            }
        }
    }
}
