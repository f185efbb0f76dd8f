//! Latency histograms with buckets of at most a thirty-second relative width, so that memory does not depend on the
//! length of a run.

use crate::numbers::float;
use std::time::Duration;
use terrace_kernel::num;

/// The number of buckets per power of two (as a power of two).
const CUT: u32 = 5;
const PER_POWER: usize = 1 << CUT;
const BUCKETS: usize = (64 - 5 + 1) * PER_POWER;

/// A histogram of latencies in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0, sum: 0, max: 0 }
    }
}

impl Histogram {
    pub(crate) fn record(&mut self, latency: Duration) {
        let nanos = num::to_u64(latency.as_nanos());
        if let Some(bucket) = self.buckets.get_mut(bucket(nanos)) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(nanos);
        self.max = self.max.max(nanos);
    }

    /// Adds the counts of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, others) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += others;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The latency that `per_mille` of 1000 requests do not exceed, at most a thirty-second too high; zero if nothing
    /// was counted.
    pub(crate) fn percentile(&self, per_mille: u64) -> Duration {
        let rank = u128::from(self.count) * u128::from(per_mille);
        let rank = num::to_u64(rank.div_ceil(1000)).max(1);
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Duration::from_nanos(highest(index).min(self.max));
            }
        }
        Duration::from_nanos(self.max)
    }

    /// The exact mean; zero if nothing was counted.
    pub(crate) fn mean(&self) -> Duration {
        Duration::from_nanos(self.sum.checked_div(self.count).unwrap_or(0))
    }

    /// The exact maximum.
    pub(crate) const fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }
}

/// A duration in milliseconds, for reports.
pub(crate) fn millis(duration: Duration) -> f64 {
    float(num::to_u64(duration.as_nanos())) / 1e6
}

/// The bucket of a value: values below 64 have one each, then each power of two is divided into 32.
fn bucket(nanos: u64) -> usize {
    let shift = nanos.max(1).ilog2().saturating_sub(CUT);
    let (power, part) = (usize::try_from(shift), usize::try_from(nanos >> shift));
    power.unwrap_or(0) * PER_POWER + part.unwrap_or(0)
}

/// The highest value of a bucket.
fn highest(bucket: usize) -> u64 {
    let power = (bucket / PER_POWER).saturating_sub(1);
    let part = u128::try_from(bucket - power * PER_POWER).unwrap_or(0);
    num::to_u64(((part + 1) << power) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket() {
        for power in 0..64 {
            for near in [0_u64, 1, 2, 3, 1 << (power / 2)] {
                for value in [(1_u64 << power).saturating_add(near), (1_u64 << power).saturating_sub(near)] {
                    let index = bucket(value);
                    let above = highest(index);
                    assert!(above >= value, "{value} {above}");
                    assert!(index == 0 || highest(index - 1) < value, "{value}");
                    assert!(above - value <= value / 32, "{value} {above}");
                }
            }
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn percentiles_of_one_to_a_thousand() {
        let mut histogram = Histogram::default();
        for millis in 1..=1000 {
            histogram.record(Duration::from_millis(millis));
        }
        for (per_mille, exact) in [(1, 1.0), (500, 500.0), (990, 990.0), (1000, 1000.0)] {
            let found = super::millis(histogram.percentile(per_mille));
            assert!((exact..=exact * 1.04).contains(&found), "{per_mille}: {found}");
        }
        assert_eq!(histogram.max(), Duration::from_secs(1));
        assert_eq!(histogram.mean(), Duration::from_micros(500_500));
    }

    #[test]
    fn merged_counts_are_those_of_one_histogram() {
        let (mut one, mut two, mut both) = (Histogram::default(), Histogram::default(), Histogram::default());
        for nanos in [5_u64, 70, 1_000, 90_000] {
            one.record(Duration::from_nanos(nanos));
            two.record(Duration::from_nanos(nanos * 3));
            both.record(Duration::from_nanos(nanos));
            both.record(Duration::from_nanos(nanos * 3));
        }
        one.merge(&two);
        assert_eq!((one.count(), one.mean(), one.max()), (8, both.mean(), both.max()));
        assert_eq!(one.percentile(500), both.percentile(500));
    }

    #[test]
    fn nothing_counted_is_no_time() {
        let histogram = Histogram::default();
        assert_eq!((histogram.percentile(990), histogram.mean()), (Duration::ZERO, Duration::ZERO));
    }
}
