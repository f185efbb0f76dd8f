//! Points.

use std::fmt;
use std::ops::Neg;

/// A number of points: an amount, which may be negative, or a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Points(i64);

impl Points {
    /// No points.
    pub const ZERO: Self = Self(0);
    /// The most that one record may give or take: with it, nine million records sum to what a JSON number holds
    /// exactly (RFC 8259 §6).
    pub const MAX_AWARD: Self = Self(1_000_000_000);

    /// As many points.
    pub const fn new(points: i64) -> Self {
        Self(points)
    }

    /// The number that tables and answers hold.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The sum; at the ends of the type it stays there.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference; at the ends of the type it stays there.
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
