//! Working memory for computing a list, proportional to the number of people in the graph, and reused.

use super::damping::Unit;
use super::walk::{Candidate, WalkStep};
use std::sync::{Mutex, PoisonError};
use terrace_kernel::num;

/// If a walk may reach more than one in this many people, the result is found by scanning all people instead of keeping
/// a list of the reached ones.
const SPARSE: u64 = 16;

/// The weight accumulated for each person.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// By node; all zero between two walks.
    by_node: Vec<u64>,
    /// The nodes with a sum, once each; unused in dense mode.
    reached: Vec<u32>,
    is_dense: bool,
}

impl Sums {
    /// Prepares for a walk along at most `edges` edges.
    pub(super) fn begin(&mut self, edges: u64) {
        let people = num::to_u64(self.by_node.len());
        self.is_dense = edges > people / SPARSE;
    }

    /// Adds a weight to each of these nodes.
    pub(super) fn reach(&mut self, nodes: &[u32], weight: u64) {
        if self.is_dense {
            for node in nodes {
                if let Some(sum) = sum(&mut self.by_node, *node) {
                    *sum = sum.saturating_add(weight);
                }
            }
            return;
        }
        for node in nodes {
            if let Some(sum) = sum(&mut self.by_node, *node) {
                if *sum == 0 {
                    self.reached.push(*node);
                }
                *sum = sum.saturating_add(weight);
            }
        }
    }

    /// Calls `visit` for every reached node.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, u64)) {
        if self.is_dense {
            (0..).zip(&self.by_node).filter(|(_, sum)| **sum > 0).for_each(|(node, sum)| visit(node, *sum));
        } else {
            self.reached.iter().for_each(|node| visit(*node, self.of(*node)));
        }
    }

    /// The sum of a node.
    fn of(&self, node: u32) -> u64 {
        usize::try_from(node).ok().and_then(|node| self.by_node.get(node)).copied().unwrap_or(0)
    }

    /// Resets the sum of a node.
    pub(super) fn forget(&mut self, node: u32) {
        if let Some(sum) = sum(&mut self.by_node, node) {
            *sum = 0;
        }
    }

    /// Resets all sums.
    pub(super) fn clear(&mut self) {
        if self.is_dense {
            self.by_node.fill(0);
        } else {
            for node in &self.reached {
                if let Some(sum) = sum(&mut self.by_node, *node) {
                    *sum = 0;
                }
            }
        }
        self.reached.clear();
    }
}

fn sum(sums: &mut [u64], node: u32) -> Option<&mut u64> {
    sums.get_mut(usize::try_from(node).ok()?)
}

/// The working memory of one list at a time.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) near: Sums,
    pub(super) far: Sums,
    pub(super) steps: Vec<WalkStep>,
    /// The steps of the last walk, kept until the others are done.
    pub(super) further: Vec<WalkStep>,
    /// The total cost of the steps of each weight class.
    pub(super) costs: Vec<u64>,
    pub(super) candidates: Vec<Candidate>,
}

impl Scratch {
    fn fit(&mut self, people: usize) {
        for sums in [&mut self.near, &mut self.far] {
            sums.by_node.resize(people, 0);
        }
    }

    /// Turns the reached nodes that are not `known` into candidates: adds up both sums, each normalised to unit length.
    pub(super) fn fuse(&mut self, known: &[u32]) {
        let (mut near_unit, mut far_unit) = (Unit::default(), Unit::default());
        for node in known {
            self.near.forget(*node);
            self.far.forget(*node);
        }
        self.near.each(|_, sum| near_unit.take_in(sum));
        self.far.each(|_, sum| far_unit.take_in(sum));
        let (near_scale, far_scale) = (near_unit.scale(), far_unit.scale());
        let Self { near, far, candidates, .. } = self;
        candidates.clear();
        let mut add = |node, near, far| {
            let score = near_scale.of(near) + far_scale.of(far);
            if score > 0 {
                candidates.push(Candidate { score, node });
            }
        };
        near.each(|node, sum| add(node, sum, far.of(node)));
        far.each(|node, sum| {
            if near.of(node) == 0 {
                add(node, 0, sum);
            }
        });
        near.clear();
        far.clear();
    }
}

/// How many buffers are kept for reuse; further concurrent lists allocate their own.
const WAITING: usize = 8;

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub(super) struct Pool {
    waiting: Mutex<Vec<Scratch>>,
}

impl Pool {
    /// A buffer for a graph of this many people.
    pub(super) fn take(&self, people: usize) -> Scratch {
        // A buffer in use during a panic was never returned.
        let mut scratch =
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        scratch.fit(people);
        scratch
    }

    pub(super) fn give_back(&self, scratch: Scratch) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WAITING {
            waiting.push(scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(sums: &Sums) -> Vec<(u32, u64)> {
        let mut found = Vec::new();
        sums.each(|node, sum| found.push((node, sum)));
        found.sort_unstable();
        found
    }

    #[test]
    fn what_was_carried_is_the_same_few_or_many_and_forgotten_then() {
        let pool = Pool::default();
        for people in [3, 200] {
            let mut scratch = pool.take(people);
            for edges in [1, 1000] {
                scratch.near.begin(edges);
                assert_eq!(reached(&scratch.near), []);
                scratch.near.reach(&[0, 1, 2, 777], 5);
                scratch.near.reach(&[2], 3);
                assert_eq!(reached(&scratch.near), [(0, 5), (1, 5), (2, 8)]);
                scratch.near.clear();
            }
            pool.give_back(scratch);
        }
    }

    #[test]
    fn candidates_are_who_was_reached_and_is_not_known() {
        let mut scratch = Pool::default().take(100);
        for edges in [1, 1000] {
            scratch.near.begin(edges);
            scratch.far.begin(1);
            scratch.near.reach(&[1, 2, 3], 3 << 20);
            scratch.near.reach(&[4], 4 << 20);
            scratch.far.reach(&[4, 5], 1 << 20);
            scratch.fuse(&[1, 2]);
            scratch.candidates.sort_unstable_by_key(|candidate| candidate.node);
            let scores =
                scratch.candidates.iter().map(|candidate| super::super::damping::shown(candidate.score));
            let nodes: Vec<u32> = scratch.candidates.iter().map(|candidate| candidate.node).collect();
            assert_eq!(nodes, [3, 4, 5]);
            for (score, exact) in scores.zip([0.6, 0.8 + 0.5_f64.sqrt(), 0.5_f64.sqrt()]) {
                assert!((score - exact).abs() < 1e-6, "{score} {exact}");
            }
        }
    }
}
