//! The total order of a board.

use crate::{Points, Total};
use std::cmp::Ordering;
use terrace_kernel::{Timestamp, UserId};

/// A fan's sort key on a board: more points first, then the earlier time, then the lower id. No two fans have equal
/// keys, so that keyset pages neither repeat nor skip a fan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RankKey {
    /// The fan's points.
    pub points: Points,
    /// When they reached these points.
    pub reached_at: Timestamp,
    /// Id of the fan.
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
