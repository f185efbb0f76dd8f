//! Deterministic pseudo-random numbers for generated data and requests.

use crate::numbers::float;

/// A deterministic pseudo-random generator (`SplitMix64`; Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to 1, exclusive.
    pub(crate) fn share(&mut self) -> f64 {
        float(self.next() >> 11) / float(1 << 53)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * u128::try_from(bound).unwrap_or(0);
        usize::try_from(product >> 64).unwrap_or(0)
    }

    pub(crate) fn one_of<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.get(self.below(list.len())).copied()
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }

    /// A number between two bounds, distributed by a power law.
    pub(crate) fn power_law(&mut self, least: f64, most: f64, exponent: f64) -> f64 {
        let (a, b) = (least.powf(1.0 - exponent), most.powf(1.0 - exponent));
        (a + (b - a) * self.share()).powf(1.0 / (1.0 - exponent))
    }
}
