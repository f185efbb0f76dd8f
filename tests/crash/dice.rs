//! Random choices that can be repeated from a seed.

use anyhow::{Context, Result};
use std::env;
use std::hash::{BuildHasher, RandomState};
use terrace_testkit::SeededEntropy;
use terrace_testkit::kernel::Entropy;

/// Sets the seed; without it each run takes another, and prints it.
const SEED: &str = "TERRACE_TEST_SEED";

/// Numbers that follow from a seed.
#[derive(Debug)]
pub(crate) struct Dice {
    entropy: SeededEntropy,
}

impl Dice {
    /// Dice with the given seed of this run, or with a new one.
    pub(crate) fn new() -> Result<Self> {
        let seed = Self::seed()?;
        eprintln!("{SEED}={seed}");
        Ok(Self::of(seed))
    }

    /// The given seed of this run, or a new one.
    pub(crate) fn seed() -> Result<u64> {
        match env::var(SEED) {
            Ok(seed) => seed.parse().context(SEED),
            Err(_) => Ok(RandomState::new().hash_one(())),
        }
    }

    /// Dice that follow from this seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self { entropy: SeededEntropy::new(seed) }
    }

    /// Independent dice, seeded by these.
    pub(crate) fn split(&mut self) -> Self {
        Self::of(self.roll())
    }

    /// Any number.
    pub(crate) fn roll(&mut self) -> u64 {
        let seed = self.entropy.seed();
        seed.first_chunk().copied().map(u64::from_le_bytes).expect("a seed has 32 bytes")
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    /// One of `items`, or `None` if there is none.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        let count = u64::try_from(items.len()).ok().filter(|count| *count > 0)?;
        items.get(usize::try_from(self.below(count)).ok()?)
    }
}
