//! Bounded walks along the edges, starting from one person.

use super::damping::times;
use super::graph::{FollowGraph, Team};
use super::scratch::{Scratch, Sums};
use std::cmp::Reverse;
use terrace_kernel::num;

/// A candidate for a list, with a score in fixed point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) score: u64,
    pub(super) node: u32,
}

/// A node from which a walk continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkNode {
    Person(u32),
    Team(u32),
}

/// A step of a walk: all edges of one node.
#[derive(Debug, Clone, Copy)]
pub(super) struct WalkStep {
    pub(super) place: WalkNode,
    /// The weight that each edge carries.
    pub(super) weight: u64,
    /// The number of edges.
    pub(super) cost: usize,
}

/// The number of classes that each doubling of the weight is divided into (as a power of two).
const CUT: u32 = 7;
const CLASSES: usize = (64 - 7 + 1) << CUT;

impl FollowGraph {
    /// Computes the candidates for `viewer` into `scratch`, in no order. Returns the number of traversed edges, at most
    /// `work`.
    pub(super) fn explore(&self, viewer: u32, work: u64, scratch: &mut Scratch) -> u64 {
        scratch.candidates.clear();
        let Some(person) = self.person(viewer) else { return 0 };
        let follows = self.followed_by(viewer);
        let quarter = work / 4;

        // People who follow the same: u → v ← w.
        let mut steps = std::mem::take(&mut scratch.steps);
        steps.clear();
        steps.extend(follows.iter().map(|node| self.step(WalkNode::Person(*node), self.followers_of(*node))));
        steps.extend(
            person
                .teams()
                .iter()
                .filter_map(|team| Some(self.step(WalkNode::Team(*team), self.team(*team)?.supporters()))),
        );
        let alike = self.afford(&mut steps, quarter, &mut scratch.costs);
        scratch.far.begin(alike);
        for step in &steps {
            let nodes = match step.place {
                WalkNode::Person(node) => self.followers_of(node),
                WalkNode::Team(team) => self.team(team).map(Team::supporters).unwrap_or_default(),
            };
            scratch.far.reach(nodes, step.weight);
        }
        // The walk continues to their follows once the remaining work is known.
        let mut further = std::mem::take(&mut scratch.further);
        further.clear();
        scratch.far.each(|node, weight| {
            let next = self.followed_by(node);
            if node != viewer && !next.is_empty() {
                let step = self.step(WalkNode::Person(node), next);
                further.push(WalkStep { weight: times(weight, step.weight), ..step });
            }
        });
        scratch.far.clear();

        // The follows of followed people: u → v → x.
        steps.clear();
        steps.extend(follows.iter().map(|node| self.step(WalkNode::Person(*node), self.followed_by(*node))));
        let near = self.afford(&mut steps, quarter, &mut scratch.costs);
        scratch.near.begin(near);
        self.go_on(&steps, &mut scratch.near);

        // The third step: u → v ← w → x.
        let far = self.afford(&mut further, work.saturating_sub(alike + near), &mut scratch.costs);
        scratch.far.begin(far);
        self.go_on(&further, &mut scratch.far);

        scratch.near.forget(viewer);
        scratch.far.forget(viewer);
        scratch.fuse(follows);
        scratch.steps = steps;
        scratch.further = further;
        alike + near + far
    }

    fn step(&self, place: WalkNode, edges: &[u32]) -> WalkStep {
        WalkStep { place, weight: self.damping().of(edges.len()), cost: edges.len() }
    }

    /// Adds the weights of these steps to the follows of their people.
    fn go_on(&self, steps: &[WalkStep], sums: &mut Sums) {
        for step in steps {
            if let WalkNode::Person(node) = step.place {
                sums.reach(self.followed_by(node), step.weight);
            }
        }
    }

    /// Keeps the steps that `work` suffices for, by descending weight, then by id; stops at the first step that exceeds
    /// it. Returns the total cost of the kept steps.
    fn afford(&self, steps: &mut Vec<WalkStep>, work: u64, costs: &mut Vec<u64>) -> u64 {
        let cost = |step: &WalkStep| num::to_u64(step.cost);
        let total = steps.iter().map(cost).fold(0, u64::saturating_add);
        if total <= work {
            return total;
        }
        // Only the class at the boundary has to be examined, by repeated halving until the boundary is found.
        costs.clear();
        costs.resize(CLASSES, 0);
        for step in &*steps {
            if let Some(sum) = costs.get_mut(class(step.weight)) {
                *sum = sum.saturating_add(cost(step));
            }
        }
        let (mut used, mut edge) = (0_u64, 0);
        for (class, sum) in costs.iter().enumerate().rev() {
            if used.saturating_add(*sum) > work {
                edge = class;
                break;
            }
            used += sum;
        }
        let at_edge = steps.iter().filter(|step| class(step.weight) == edge);
        let mut ordered: Vec<_> =
            at_edge.map(|step| ((Reverse(step.weight), self.name(step.place)), *step)).collect();
        steps.retain(|step| class(step.weight) > edge);
        let mut rest = &mut *ordered;
        while let Some(last) = rest.len().checked_sub(1) {
            let half = last / 2;
            rest.select_nth_unstable_by_key(half, |(key, _)| *key);
            let (first, others) = rest.split_at_mut(half + 1);
            let sum = first.iter().map(|(_, step)| cost(step)).fold(0, u64::saturating_add);
            if used.saturating_add(sum) <= work {
                used += sum;
                steps.extend(first.iter().map(|(_, step)| step));
                rest = others;
            } else if first.len() > 1 {
                rest = first;
            } else {
                break;
            }
        }
        used
    }
}

/// Weights of one class differ by less than one percent, and classes increase with weights.
fn class(weight: u64) -> usize {
    let shift = weight.max(1).ilog2().saturating_sub(CUT);
    (num::to_usize(shift) << CUT) + num::to_usize(weight >> shift)
}

#[cfg(test)]
mod tests {
    use super::super::reference::{Numbers, user};
    use super::*;

    #[test]
    fn classes_are_in_the_order_of_weights() {
        let mut weights: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, 3 << bit, u64::MAX >> bit]).collect();
        weights.sort_unstable();
        assert!(weights.is_sorted_by_key(|weight| class(*weight)));
        assert!(weights.iter().all(|weight| class(*weight) < CLASSES));
    }

    #[test]
    fn the_greatest_weights_are_gone_on_with_as_far_as_the_work_suffices() {
        let mut graph = FollowGraph::new();
        for number in 0..500 {
            graph.follow(user(number), user(number + 1));
        }
        let mut numbers = Numbers(1);
        for round in 0..200 {
            let mut steps: Vec<WalkStep> = (0..500)
                .map(|node| WalkStep {
                    place: WalkNode::Person(node),
                    // Many of equal weight, a few of the same class, and both.
                    weight: 1 + numbers.below([3, 1 << 40, 1000][round % 3]),
                    cost: usize::try_from(numbers.below(20)).unwrap(),
                })
                .collect();
            let work = numbers.below(6000);
            let mut expected = steps.clone();
            expected.sort_by_key(|step| (Reverse(step.weight), graph.name(step.place)));
            let mut used = 0;
            let mut left = work;
            let places: Vec<WalkNode> = expected
                .iter()
                .map_while(|step| {
                    left = left.checked_sub(u64::try_from(step.cost).unwrap())?;
                    used = work - left;
                    Some(step.place)
                })
                .collect();
            assert_eq!(graph.afford(&mut steps, work, &mut Vec::new()), used);
            steps.sort_by_key(|step| (Reverse(step.weight), graph.name(step.place)));
            assert_eq!(steps.iter().map(|step| step.place).collect::<Vec<_>>(), places);
        }
    }
}
