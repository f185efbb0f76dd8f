//! Small arithmetic of measurements.

/// A count as a number to divide by; exact up to 2⁵³.
#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "std offers no other way")]
pub(crate) const fn float(count: u64) -> f64 {
    count as f64
}

/// A number as a count: what lies behind the point is cut off, and what is no count is the nearest one.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "std offers no other way"
)]
pub(crate) const fn whole(number: f64) -> u64 {
    number as u64
}

/// The middle value, or the mean of the two in the middle; zero of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2).copied().unwrap_or(0.0);
    let lower = values.len().checked_sub(1).and_then(|last| values.get(last / 2)).copied().unwrap_or(0.0);
    f64::midpoint(lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle() {
        for (values, middle) in [
            (&[][..], 0.0),
            (&[3.0], 3.0),
            (&[3.0, 1.0], 2.0),
            (&[9.0, 1.0, 2.0], 2.0),
            (&[4.0, 1.0, 2.0, 8.0], 3.0),
        ] {
            assert!((median(values.iter().copied()) - middle).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn counts_are_cut_and_never_negative() {
        assert_eq!((whole(2.9), whole(-1.0), whole(f64::NAN)), (2, 0, 0));
    }
}
