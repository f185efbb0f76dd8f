//! Totals: the sums of records that boards rank by.

use crate::{Points, PointsRecord, Season, SeasonId, TeamBoardId};
use terrace_kernel::Timestamp;

/// Identifies one of a fan's totals. See [`PointsRecord::totals`] for the totals that a record counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TotalKey {
    /// All records of a season, on any board (`docs/spec.md`, scoring rule 3).
    Global(SeasonId),
    /// The records of a season on a team's board (rule 2).
    Team(SeasonId, TeamBoardId),
}

impl TotalKey {
    /// The season of the total.
    pub const fn season(self) -> SeasonId {
        match self {
            Self::Global(season) | Self::Team(season, _) => season,
        }
    }
}

/// A fan's total. The order in which records are added does not matter, so that an incrementally updated total equals
/// one that is recomputed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    /// The sum of the amounts.
    pub points: Points,
    /// The time of the latest record that changed the sum. Before the first one: the start of the season, when every
    /// fan has zero points.
    pub reached_at: Timestamp,
    /// The number of added records. Of two totals of one fan, the one with the higher version is newer.
    pub version: u64,
}

impl Total {
    /// The total of a fan without records in the season.
    pub const fn opening(season: &Season) -> Self {
        Self { points: Points::ZERO, reached_at: season.starts_at, version: 0 }
    }

    /// Adds a record that counts for this total. A record of zero points does not change the time.
    pub fn add(&mut self, record: &PointsRecord) {
        self.count(record.amount, record.at);
    }

    /// Adds this amount at this time.
    pub fn count(&mut self, amount: Points, at: Timestamp) {
        self.points = self.points.plus(amount);
        if amount != Points::ZERO {
            self.reached_at = self.reached_at.max(at);
        }
        self.version = self.version.saturating_add(1);
    }
}
