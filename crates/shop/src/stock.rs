//! The stock of limited variants.

/// How many of a limited variant there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stock {
    /// How many there are in all.
    pub supply: u32,
    /// How many are taken: those of lines of pending, paid and completed orders that are not revoked, and of lines that
    /// were revoked after they had been sent.
    pub taken: u32,
}

impl Stock {
    /// How many more can be sold.
    pub fn remaining(self) -> u32 {
        self.supply.saturating_sub(self.taken)
    }
}

/// Why a stock is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StockRefusal {
    /// No variant has this key.
    #[error("there is no such variant")]
    UnknownVariant,
    /// The variant is not limited, so that nothing can be added to its stock.
    #[error("the variant is not limited; set its stock first")]
    Unlimited,
    /// The stock would be less than nothing, or more than 1,000,000,000.
    #[error("the stock would not be 0 to 1000000000")]
    OutOfRange,
}
