//! Size of maintenance transactions.

use std::time::Duration;

/// Target duration of a transaction: far below what a reader notices, so that a slow disk does not make it
/// noticeable.
const WANTED: Duration = Duration::from_millis(50);
/// Size of the first transaction.
const FIRST: usize = 25;

/// Adapts the number of suspects per transaction to the target duration on any machine and database.
#[derive(Debug)]
pub(crate) struct AdaptiveBatch {
    most: usize,
    now: usize,
}

impl AdaptiveBatch {
    /// Creates a batch size of at most `most`.
    pub(crate) const fn up_to(most: usize) -> Self {
        Self { most, now: if FIRST < most { FIRST } else { most } }
    }

    /// Splits off the next batch.
    pub(crate) fn step<'a, T>(&self, of: &'a [T]) -> (&'a [T], &'a [T]) {
        of.split_at(self.now.clamp(1, of.len().max(1)).min(of.len()))
    }

    /// Adapts the size to the duration of a transaction.
    pub(crate) fn took(&mut self, took: Duration) {
        if took > WANTED {
            self.now = (self.now / 2).max(1);
        } else if took < WANTED / 2 {
            self.now = self.now.saturating_mul(2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_as_large_as_others_can_bear() {
        let mut batch = AdaptiveBatch::up_to(100);
        let held = |batch: &AdaptiveBatch| batch.step(&[0; 1_000]).0.len();
        assert_eq!(held(&batch), FIRST);
        for wanted in [50, 100, 100] {
            batch.took(Duration::from_millis(1));
            assert_eq!(held(&batch), wanted);
        }
        batch.took(WANTED);
        assert_eq!(held(&batch), 100);
        for _ in 0..10 {
            batch.took(Duration::from_secs(1));
        }
        assert_eq!(held(&batch), 1);
        assert_eq!(batch.step(&[1, 2]), (&[1][..], &[2][..]));
        assert_eq!(AdaptiveBatch::up_to(3).step(&[0; 2]), (&[0; 2][..], &[][..]));
        assert_eq!(batch.step::<u8>(&[]), (&[][..], &[][..]));
    }
}
