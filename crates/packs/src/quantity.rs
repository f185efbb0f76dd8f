//! The number of copies in a purchase.

/// The number of copies in one purchase: 1 to 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(u32);

/// A purchase is of 1 to 20 copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("quantity must be 1 to {}", Quantity::MOST)]
pub struct QuantityOutOfRange;

impl Quantity {
    /// One copy.
    pub const ONE: Self = Self(1);
    /// The most copies in one purchase.
    pub const MOST: u32 = 20;

    /// Creates a quantity; refuses numbers outside 1 to 20.
    pub fn new(copies: i64) -> Result<Self, QuantityOutOfRange> {
        match u32::try_from(copies) {
            Ok(copies) if (1..=Self::MOST).contains(&copies) => Ok(Self(copies)),
            _ => Err(QuantityOutOfRange),
        }
    }

    /// The number of copies.
    pub const fn copies(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purchase_is_of_1_to_20_copies() {
        assert_eq!(Quantity::new(20).map(Quantity::copies), Ok(20));
        assert!(Quantity::new(0).is_err() && Quantity::new(21).is_err() && Quantity::new(-1).is_err());
    }
}
