//! One's own points.

use crate::store::Query;
use crate::store::ReadTx;
use std::convert::Infallible;
use terrace_kernel::{Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_scoring::{Points, PointsRecord};

/// Reads a fan's sums and a page of their records, the newest first.
#[derive(Debug, Clone)]
pub struct ReadOwnPoints {
    /// Whose.
    pub user: UserId,
    /// How many records.
    pub limit: Limit,
    /// After which record.
    pub after: Option<TimeKey>,
}

/// A fan's points.
#[derive(Debug, Clone)]
pub struct OwnPoints {
    /// The sum of all records, whatever their season.
    pub total: Points,
    /// The sum of those of the season that is shown.
    pub season_total: Points,
    /// The records.
    pub page: Page<PointsRecord, TimeKey>,
}

impl Query for ReadOwnPoints {
    const NAME: &'static str = "read_own_points";
    type Output = OwnPoints;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<OwnPoints, Infallible> {
        let season_total = match tx.seasons()?.shown().map(|season| season.id) {
            Some(season) => match tx.global_board(season)? {
                Some(board) => {
                    let totals = tx.totals_of(self.user, season)?;
                    let own = totals.iter().find(|change| change.board == board.id);
                    own.map_or(Points::ZERO, |change| change.total.points)
                }
                None => Points::ZERO,
            },
            None => Points::ZERO,
        };
        Ok(OwnPoints {
            total: tx.points_of(self.user)?,
            season_total,
            page: tx.records(self.user, self.limit, self.after)?,
        })
    }
}
