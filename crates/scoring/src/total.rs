//! Totals: the sums of records that boards rank by.

use crate::{Points, PointsRecord, Season, SeasonId, TeamBoardId};
use terrace_kernel::Timestamp;

/// Which of a fan's totals. What a record counts for, [`PointsRecord::totals`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TotalKey {
    /// All records of a season, whatever their board (`docs/spec.md`, scoring rule 3).
    Global(SeasonId),
    /// The records of a season on a team's board (rule 2).
    Team(SeasonId, TeamBoardId),
}

impl TotalKey {
    /// The season that is counted.
    pub const fn season(self) -> SeasonId {
        match self {
            Self::Global(season) | Self::Team(season, _) => season,
        }
    }
}

/// A fan's total. The order in which records are added does not matter, so that a total that was kept equals one
/// that is summed anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    /// The sum of the amounts.
    pub points: Points,
    /// The time of the record that brought the sum: of the latest one that changed it. Everybody has had zero
    /// since the season's start.
    pub reached_at: Timestamp,
    /// How many records were added. Of two totals of one fan the one with the higher version is the newer.
    pub version: u64,
}

impl Total {
    /// The total of a fan of whom the season has no record.
    pub const fn opening(season: &Season) -> Self {
        Self { points: Points::ZERO, reached_at: season.starts_at, version: 0 }
    }

    /// Adds a record that counts for it. One of zero points brings no new total, and so no new time.
    pub fn add(&mut self, record: &PointsRecord) {
        self.count(record.amount, record.at);
    }

    /// Adds so many points of that time.
    pub fn count(&mut self, amount: Points, at: Timestamp) {
        self.points = self.points.plus(amount);
        if amount != Points::ZERO {
            self.reached_at = self.reached_at.max(at);
        }
        self.version = self.version.saturating_add(1);
    }
}
