//! What fans are given for what they pay or do.

/// Something that a fan is given. Nothing that is sold grants points, because boards would be for sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// Coins, 1 to 1,000,000,000.
    Coins(i64),
}
