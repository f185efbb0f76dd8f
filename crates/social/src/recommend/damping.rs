//! Weights in fixed-point integers: sums do not depend on the order or the machine.

/// The number of fractional binary digits.
pub(super) const FRACTION: u32 = 32;

/// The number of degrees with precomputed damping.
use terrace_kernel::num;

const READY: usize = 4096;

/// `1/√degree` in fixed point; a degree of 0 counts as 1.
pub(super) fn damping(degree: usize) -> u64 {
    let degree = num::to_u64(degree.max(1));
    // √(2⁶⁴/k) = 2³²/√k.
    u64::try_from((u128::from(u64::MAX) + 1) / u128::from(degree)).map_or(1 << FRACTION, u64::isqrt)
}

/// [`damping`] with precomputed values for the degrees that most people have.
#[derive(Debug)]
pub(super) struct Damping {
    ready: Vec<u64>,
}

impl Default for Damping {
    fn default() -> Self {
        Self { ready: (0..READY).map(damping).collect() }
    }
}

impl Damping {
    pub(super) fn of(&self, degree: usize) -> u64 {
        self.ready.get(degree).copied().unwrap_or_else(|| damping(degree))
    }
}

/// The product of two weights.
pub(super) fn times(one: u64, other: u64) -> u64 {
    num::to_u64((u128::from(one) * u128::from(other)) >> FRACTION)
}

/// Normalises the weights of a list to unit Euclidean length.
#[derive(Debug, Default)]
pub(super) struct Unit {
    squares: u128,
}

impl Unit {
    pub(super) fn take_in(&mut self, weight: u64) {
        self.squares = self.squares.saturating_add(u128::from(weight) * u128::from(weight));
    }

    /// The scale that normalises the weights that were added.
    pub(super) fn scale(&self) -> Scale {
        let length = num::to_u64(self.squares.isqrt()).max(1);
        let shift = length.ilog2() + 64;
        let factor = num::to_u64((1 << shift) / u128::from(length));
        Scale { factor, shift: shift - FRACTION }
    }
}

/// A division by the length of a list, done as a multiplication because it is applied to every reached person.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    factor: u64,
    shift: u32,
}

impl Scale {
    /// The normalised weight: at most one, since no weight exceeds the length of its list.
    pub(super) fn of(self, weight: u64) -> u64 {
        num::to_u64((u128::from(weight) * u128::from(self.factor)) >> self.shift)
    }
}

/// A sum of such weights as a floating-point number.
pub(super) fn shown(score: u64) -> f64 {
    let part = |bits: u64| f64::from(num::to_u32(bits & u64::from(u32::MAX)));
    part(score >> FRACTION) + part(score) / 4_294_967_296.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damping_is_one_over_the_root_to_nine_digits() {
        let table = Damping::default();
        for degree in (0..5000).chain([10_000, 123_456, 10_000_000]) {
            let exact = 1.0 / f64::from(u32::try_from(degree.max(1)).unwrap()).sqrt();
            assert_eq!(table.of(degree), damping(degree));
            assert!((shown(damping(degree)) - exact).abs() < 1e-9, "{degree}");
        }
    }

    #[test]
    fn scaled_weights_have_unit_length() {
        for weights in [&[3_u64, 4][..], &[1], &[1 << 60, 1 << 60, 7], &[u64::MAX]] {
            let mut unit = Unit::default();
            for weight in weights {
                unit.take_in(*weight);
            }
            let scale = unit.scale();
            let squares: f64 = weights.iter().map(|weight| shown(scale.of(*weight)).powi(2)).sum();
            assert!((squares - 1.0).abs() < 1e-8, "{weights:?}: {squares}");
        }
        assert_eq!(Unit::default().scale().of(0), 0);
    }

    #[test]
    fn weights_are_multiplied() {
        assert_eq!(times(1 << FRACTION, 5), 5);
        assert_eq!(times(damping(4), damping(4)), damping(16));
        assert_eq!(times(u64::MAX, u64::MAX), u64::MAX);
    }
}
