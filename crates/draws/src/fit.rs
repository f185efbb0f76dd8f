//! Pearson's chi-squared test: compares the results of draws with their odds, to try a table before it is used.

use std::f64::consts::PI;
use terrace_kernel::num;

/// The minimum expected count of a cell. The test would be inexact below it, so smaller cells are merged.
const RARE: f64 = 5.0;
/// A statistic this far beyond its mean has a probability of practically 0, and its first term would underflow.
const BEYOND: f64 = 500.0;

/// The result of comparing counts with probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquareTest {
    /// Pearson's statistic: the sum over the cells of the squared deviation divided by the expected count.
    pub statistic: f64,
    /// The degrees of freedom: the number of cells, after merging, minus one.
    pub degrees: u32,
    /// The probability of a statistic at least this large if the probabilities hold; within 1e-12.
    pub p: f64,
}

impl ChiSquareTest {
    /// Compares counts of independent draws with probabilities that add up to 1. Cells with fewer than 5 expected draws
    /// are merged; if the merged cell still expects fewer than 5, the rarest of the other cells is merged into it as
    /// well. If a cell of probability 0 has a count, `p` is 0.
    pub fn of(cells: impl IntoIterator<Item = (u32, f64)>) -> Self {
        let cells: Vec<_> = cells.into_iter().map(|(seen, odds)| (f64::from(seen), odds)).collect();
        let draws: f64 = cells.iter().map(|(seen, _)| seen).sum();
        if cells.iter().any(|(seen, odds)| *odds <= 0.0 && *seen > 0.0) {
            return Self { statistic: f64::INFINITY, degrees: 1, p: 0.0 };
        }
        let expected = cells.into_iter().map(|(seen, odds)| (seen, odds * draws));
        let (rare, mut kept): (Vec<_>, Vec<_>) = expected.partition(|(_, expected)| *expected < RARE);
        let mut pooled =
            rare.into_iter().fold((0.0, 0.0), |sum, (seen, expected)| (sum.0 + seen, sum.1 + expected));
        if pooled.1 > 0.0 {
            kept.sort_by(|one, other| other.1.total_cmp(&one.1));
            if pooled.1 < RARE
                && let Some(rarest) = kept.pop()
            {
                pooled = (pooled.0 + rarest.0, pooled.1 + rarest.1);
            }
            kept.push(pooled);
        }
        let statistic = kept.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
        let degrees = num::to_u32(kept.len().saturating_sub(1));
        Self { statistic, degrees, p: exceeds(statistic, degrees) }
    }

    /// The statistic whose probability is `p` at the same degrees of freedom: the fit is rejected at level `p` if its
    /// own statistic is larger.
    pub fn critical(&self, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, f64::from(self.degrees) + BEYOND);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if exceeds(middle, self.degrees) > p {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }
}

/// The probability that a chi-squared variable with `degrees` degrees of freedom exceeds `statistic`: 1 minus the
/// regularised lower incomplete gamma function of `a`, half the degrees, at `x`, half the statistic. Computed by its
/// series of positive terms `x^a e^-x x^n / Γ(a + n + 1)` (NIST Digital Library of Mathematical Functions, 8.7.1).
fn exceeds(statistic: f64, degrees: u32) -> f64 {
    let (a, x) = (f64::from(degrees) / 2.0, statistic / 2.0);
    if degrees == 0 || x <= 0.0 {
        return 1.0;
    }
    if x > a + BEYOND {
        return 0.0;
    }
    // ln Γ(a + 1), by Γ(z + 1) = z Γ(z), starting from Γ(1) = 1 or Γ(1/2) = √π.
    let (mut z, mut ln_gamma) = if degrees.is_multiple_of(2) { (1.0, 0.0) } else { (0.5, PI.ln() / 2.0) };
    while z < a + 0.5 {
        ln_gamma += f64::ln(z);
        z += 1.0;
    }
    let mut term = (a * x.ln() - x - ln_gamma).exp();
    let (mut sum, mut n) = (term, a);
    while n < x || term > sum * f64::EPSILON {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    (1.0 - sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles from published tables of the distribution.
    #[test]
    fn the_distribution_is_the_chi_squared_one() {
        for (statistic, degrees, p) in [
            (3.841, 1, 0.05),
            (10.828, 1, 0.001),
            (5.991, 2, 0.05),
            (9.210, 2, 0.01),
            (16.266, 3, 0.001),
            (18.307, 10, 0.05),
            (29.588, 10, 0.001),
            (124.342, 100, 0.05),
        ] {
            assert!((exceeds(statistic, degrees) / p - 1.0).abs() < 1e-3, "{statistic} at {degrees}");
            let fit = ChiSquareTest { statistic, degrees, p };
            assert!((fit.critical(p) - statistic).abs() < 1e-3, "{p} at {degrees}: {}", fit.critical(p));
        }
        // With two degrees of freedom it is the exponential distribution.
        assert!((exceeds(14.0, 2) - (-7.0_f64).exp()).abs() < 1e-12);
        assert_eq!((exceeds(0.0, 5).to_bits(), exceeds(5_000.0, 5).to_bits()), (1.0_f64.to_bits(), 0));
        assert!(exceeds(900.0, 5) < 1e-12);
    }

    #[test]
    fn rare_cells_are_taken_together() {
        // Of 1,000 draws 2, 3 and 995 are expected: two cells after merging. Of 100 draws all cells merge into one,
        // which cannot deviate.
        let fit = ChiSquareTest::of([(2, 0.002), (3, 0.003), (995, 0.995)]);
        assert_eq!((fit.degrees, fit.statistic < 1e-9), (1, true));
        assert_eq!(ChiSquareTest::of([(0, 0.002), (0, 0.003), (100, 0.995)]).degrees, 0);
        assert_eq!(ChiSquareTest::of([(10, 0.1), (20, 0.2), (30, 0.3), (40, 0.4)]).degrees, 3);
        assert_eq!(ChiSquareTest::of([]).degrees, 0);
    }

    #[test]
    fn what_does_not_fit_is_found() {
        assert!(ChiSquareTest::of([(500, 0.5), (500, 0.5)]).p > 0.999);
        assert!(ChiSquareTest::of([(25_500, 0.5), (24_500, 0.5)]).p < 0.001);
        assert!(ChiSquareTest::of([(1, 0.0), (999, 1.0)]).p <= 0.0);
    }
}
