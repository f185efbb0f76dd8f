//! Points.

use std::fmt;
use std::ops::Neg;

/// A number of points: an amount, which may be negative, or a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Points(i64);

impl Points {
    /// No points.
    pub const ZERO: Self = Self(0);
    /// The most that one record may add or subtract. Nine million records of this size sum to an integer that a JSON
    /// number represents exactly (RFC 8259 §6).
    pub const MAX_AWARD: Self = Self(1_000_000_000);

    /// Wraps a number of points.
    pub const fn new(points: i64) -> Self {
        Self(points)
    }

    /// The number that is stored in tables and responses.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The sum; it saturates at the bounds of the type.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference; it saturates at the bounds of the type.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Points {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
