//! Going along the edges from one person, within a bound.

use super::damping::{Unit, scaled, times};
use super::graph::{FollowGraph, Person, Team, at};
use super::scratch::{Length, Scratch};
use std::cmp::Reverse;

/// Somebody who may be suggested, with a score in fixed point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) score: u64,
    pub(super) node: u32,
}

/// From where to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Person(u32),
    Team(u32),
}

/// Going on from somewhere along all its edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) place: Place,
    /// What each of its edges carries.
    pub(super) weight: u64,
    /// How many edges that are.
    pub(super) cost: usize,
}

/// Each doubling of the weight is cut into this many classes (as a power of two).
const CUT: u32 = 4;
const CLASSES: usize = (64 - 4 + 1) << CUT;

impl FollowGraph {
    /// Leaves the candidates for `viewer` in `scratch`, in no order. Returns along how many edges it went, at
    /// most `work`.
    pub(super) fn explore(&self, viewer: u32, work: u64, scratch: &mut Scratch) -> u64 {
        scratch.candidates.clear();
        let Some(person) = self.person(viewer) else { return 0 };
        let quarter = work / 4;

        // Who follows the same: u → v ← w.
        scratch.begin();
        let mut steps = std::mem::take(&mut scratch.steps);
        steps.clear();
        steps.extend(person.follows().iter().filter_map(|node| {
            let cost = self.person(*node)?.followers().len();
            Some(Step { place: Place::Person(*node), weight: self.damping().of(cost), cost })
        }));
        steps.extend(person.teams().iter().filter_map(|team| {
            let cost = self.team(*team)?.supporters().len();
            Some(Step { place: Place::Team(*team), weight: self.damping().of(cost), cost })
        }));
        let mut used = self.afford(&mut steps, quarter, scratch);
        for step in &steps {
            let alike = match step.place {
                Place::Person(node) => self.person(node).map(Person::followers),
                Place::Team(team) => self.team(team).map(Team::supporters),
            };
            for node in alike.unwrap_or_default() {
                scratch.reach(*node, Length::Near, step.weight);
            }
        }
        // Where these go on to, once it is known how much is left.
        let mut further = std::mem::take(&mut scratch.further);
        further.clear();
        further.extend(scratch.reached.iter().filter(|node| **node != viewer).filter_map(|node| {
            let cost = self.person(*node)?.follows().len();
            let weight = times(scratch.sums(*node).0, self.damping().of(cost));
            (cost > 0).then_some(Step { place: Place::Person(*node), weight, cost })
        }));

        // Whom the followed follow: u → v → x.
        scratch.begin();
        scratch.exclude(viewer);
        person.follows().iter().for_each(|node| scratch.exclude(*node));
        steps.clear();
        steps.extend(person.follows().iter().filter_map(|node| {
            let cost = self.person(*node)?.follows().len();
            Some(Step { place: Place::Person(*node), weight: self.damping().of(cost), cost })
        }));
        used += self.afford(&mut steps, quarter, scratch);
        self.follow_on(&steps, Length::Near, scratch);

        // And u → v ← w → x.
        used += self.afford(&mut further, work.saturating_sub(used), scratch);
        self.follow_on(&further, Length::Far, scratch);
        scratch.steps = steps;
        scratch.further = further;
        fuse(scratch);
        used
    }

    /// Carries the weights of these steps to whom their people follow.
    fn follow_on(&self, steps: &[Step], length: Length, scratch: &mut Scratch) {
        for step in steps {
            if let Place::Person(node) = step.place {
                for next in self.person(node).map(Person::follows).unwrap_or_default() {
                    scratch.reach(*next, length, step.weight);
                }
            }
        }
    }

    /// Keeps those steps that `work` suffices for, in the order of their weights, greatest first, then of ids.
    /// The first for which it does not ends it. Returns what the rest costs.
    fn afford(&self, steps: &mut Vec<Step>, work: u64, scratch: &mut Scratch) -> u64 {
        let cost = |step: &Step| u64::try_from(step.cost).unwrap_or(u64::MAX);
        let total = steps.iter().map(cost).fold(0, u64::saturating_add);
        if total <= work {
            return total;
        }
        // Only the class at the edge has to be ordered, not everybody.
        scratch.costs.clear();
        scratch.costs.resize(CLASSES, 0);
        for step in &*steps {
            if let Some(sum) = scratch.costs.get_mut(class(step.weight)) {
                *sum = sum.saturating_add(cost(step));
            }
        }
        let (mut used, mut edge) = (0_u64, 0);
        for (class, sum) in scratch.costs.iter().enumerate().rev() {
            if used.saturating_add(*sum) > work {
                edge = class;
                break;
            }
            used += sum;
        }
        let mut at_edge: Vec<Step> =
            steps.iter().filter(|step| class(step.weight) == edge).copied().collect();
        steps.retain(|step| class(step.weight) > edge);
        at_edge.sort_unstable_by_key(|step| (Reverse(step.weight), self.name(step.place)));
        for step in at_edge {
            if used.saturating_add(cost(&step)) > work {
                break;
            }
            used += cost(&step);
            steps.push(step);
        }
        used
    }
}

/// Adds up both lists of sums, each of unit length.
fn fuse(scratch: &mut Scratch) {
    let (mut near_unit, mut far_unit) = (Unit::default(), Unit::default());
    for node in &scratch.reached {
        let (near, far) = scratch.sums(*node);
        near_unit.take_in(near);
        far_unit.take_in(far);
    }
    let (near_factor, far_factor) = (near_unit.factor(), far_unit.factor());
    let mut candidates = std::mem::take(&mut scratch.candidates);
    candidates.extend(scratch.reached.iter().map(|node| {
        let (near, far) = scratch.sums(*node);
        Candidate { score: scaled(near, near_factor) + scaled(far, far_factor), node: *node }
    }));
    scratch.candidates = candidates;
}

/// Weights of one class differ by at most a sixteenth, and greater weights have no lesser class.
fn class(weight: u64) -> usize {
    let shift = weight.max(1).ilog2().saturating_sub(CUT);
    (at(shift) << CUT) + usize::try_from(weight >> shift).unwrap_or(0)
}
