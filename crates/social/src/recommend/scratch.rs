//! Memory that a list is made in, kept for the next one: it is as large as the graph has people, and what is in
//! it counts only under the number of the current step, so that nothing has to be cleared.

use super::walk::{Candidate, Step};
use std::sync::{Mutex, PoisonError};

/// What is known of one person in one step.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The step for which the rest holds.
    step: u32,
    near: u64,
    far: u64,
}

/// Which of its sums a weight adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    Near,
    Far,
}

/// The memory for one list at a time.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    step: u32,
    cells: Vec<Cell>,
    /// Who was reached in this step, once each.
    pub(super) reached: Vec<u32>,
    pub(super) steps: Vec<Step>,
    /// Those of the last step, which wait for the others.
    pub(super) further: Vec<Step>,
    /// What the steps of similar weight would cost.
    pub(super) costs: Vec<u64>,
    pub(super) candidates: Vec<Candidate>,
}

impl Scratch {
    fn fit(&mut self, people: usize) {
        if self.cells.len() < people {
            self.cells.resize(people, Cell::default());
        }
    }

    /// Forgets what was reached.
    pub(super) fn begin(&mut self) {
        self.reached.clear();
        self.step = self.step.checked_add(1).unwrap_or_else(|| {
            self.cells.fill(Cell::default());
            1
        });
    }

    /// Keeps somebody from being reached in this step.
    pub(super) fn exclude(&mut self, node: u32) {
        if let Some(cell) = cell(&mut self.cells, node) {
            *cell = Cell { step: self.step, ..Cell::default() };
        }
    }

    /// Adds to what is known of somebody.
    pub(super) fn reach(&mut self, node: u32, length: Length, weight: u64) {
        let Some(cell) = cell(&mut self.cells, node) else { return };
        if cell.step != self.step {
            *cell = Cell { step: self.step, ..Cell::default() };
            self.reached.push(node);
        }
        let sum = match length {
            Length::Near => &mut cell.near,
            Length::Far => &mut cell.far,
        };
        *sum = sum.saturating_add(weight);
    }

    /// The sums of somebody who was reached in this step.
    pub(super) fn sums(&self, node: u32) -> (u64, u64) {
        let cell = usize::try_from(node).ok().and_then(|node| self.cells.get(node));
        cell.filter(|cell| cell.step == self.step).map_or((0, 0), |cell| (cell.near, cell.far))
    }

    pub(super) fn candidates(&mut self) -> &mut [Candidate] {
        &mut self.candidates
    }
}

fn cell(cells: &mut [Cell], node: u32) -> Option<&mut Cell> {
    cells.get_mut(usize::try_from(node).ok()?)
}

/// How much memory waits for its next use: more lists than this at once make their own.
const WAITING: usize = 8;

/// Memory that is not in use.
#[derive(Debug, Default)]
pub(super) struct Pool {
    waiting: Mutex<Vec<Scratch>>,
}

impl Pool {
    /// Memory for a graph of so many people.
    pub(super) fn take(&self, people: usize) -> Scratch {
        // Whatever a panic left behind counts for nothing in the next step.
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

    #[test]
    fn what_was_known_in_one_step_is_not_in_the_next() {
        let pool = Pool::default();
        let mut scratch = pool.take(3);
        // The number of the step comes round while this is used.
        scratch.step = u32::MAX - 2;
        for _ in 0..5 {
            scratch.begin();
            scratch.exclude(2);
            for (node, weight) in [(0, 5), (1, 1), (0, 2), (2, 9), (7, 1)] {
                scratch.reach(node, Length::Near, weight);
            }
            scratch.reach(1, Length::Far, 4);
            assert_eq!(scratch.reached, [0, 1]);
            assert_eq!([0, 1, 7].map(|node| scratch.sums(node)), [(7, 0), (1, 4), (0, 0)]);
        }
        pool.give_back(scratch);
        let mut again = pool.take(10);
        again.begin();
        assert_eq!(again.sums(0), (0, 0));
        again.reach(9, Length::Far, 1);
        assert_eq!(again.reached, [9]);
    }
}
