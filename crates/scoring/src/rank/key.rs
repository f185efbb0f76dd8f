//! The total order of a board.

use crate::{Points, Total};
use std::cmp::Ordering;
use terrace_kernel::{Timestamp, UserId};

/// A fan's sort values on a board: more points come first, then who had them first, then the lower id. No two
/// fans share all three, so that pages by key neither repeat nor skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RankKey {
    /// The fan's points.
    pub points: Points,
    /// Since when they have them.
    pub reached_at: Timestamp,
    /// The fan.
    pub user: UserId,
}

impl RankKey {
    pub(super) const fn new(user: UserId, total: &Total) -> Self {
        Self { points: total.points, reached_at: total.reached_at, user }
    }
}

impl Ord for RankKey {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .points
            .cmp(&self.points)
            .then_with(|| self.reached_at.cmp(&other.reached_at))
            .then_with(|| self.user.cmp(&other.user))
    }
}

impl PartialOrd for RankKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
