//! Arithmetic for measurements.

/// A count as a floating-point number; exact up to 2⁵³.
#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "std offers no other way")]
pub(crate) const fn float(count: u64) -> f64 {
    count as f64
}

/// A number as a count: truncated, and saturated to the range of the type.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "std offers no other way"
)]
pub(crate) const fn whole(number: f64) -> u64 {
    number as u64
}

/// The median: the middle value, or the mean of the two middle values; zero for an empty list.
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
