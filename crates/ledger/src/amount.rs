//! Amounts of transfers.

use std::fmt;

/// The amount of one transfer: whole points or coins, or minor units of money; from 1 to [`Amount::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(i64);

/// The amount is not between 1 and [`Amount::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {}", Amount::MAX.0)]
pub struct AmountOutOfRange;

impl Amount {
    /// The largest amount of one transfer. Nine thousand such transfers sum to a number that JSON represents exactly
    /// (RFC 8259 §6), and nine million to one that fits in a column.
    pub const MAX: Self = Self(1_000_000_000_000);

    /// Creates an amount of 1 to [`Amount::MAX`].
    pub fn new(amount: i64) -> Result<Self, AmountOutOfRange> {
        if (1..=Self::MAX.0).contains(&amount) { Ok(Self(amount)) } else { Err(AmountOutOfRange) }
    }

    /// The number that tables and responses use.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_more_than_nothing_and_bounded() {
        let most = Amount::MAX.get();
        for wrong in [i64::MIN, -1, 0, most + 1, i64::MAX] {
            assert_eq!(Amount::new(wrong), Err(AmountOutOfRange), "{wrong}");
        }
        assert_eq!([1, most].map(|right| Amount::new(right).map(Amount::get)), [Ok(1), Ok(most)]);
    }
}
