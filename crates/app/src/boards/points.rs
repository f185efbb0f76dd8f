//! A fan's own points.

use crate::store::{PointsReadTx, Query};
use std::convert::Infallible;
use terrace_kernel::{Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_scoring::{Points, PointsRecord};

/// Reads a fan's point totals and a page of the fan's records, newest first.
#[derive(Debug, Clone)]
pub struct ReadOwnPoints {
    /// The fan.
    pub user: UserId,
    /// Maximum number of records.
    pub limit: Limit,
    /// The record after which the page starts.
    pub after: Option<TimeKey>,
}

/// A fan's points.
#[derive(Debug, Clone)]
pub struct OwnPoints {
    /// Sum of all records, across all seasons.
    pub total: Points,
    /// Sum of the records of the season that is shown.
    pub season_total: Points,
    /// The page of records.
    pub page: Page<PointsRecord, TimeKey>,
}

impl Query for ReadOwnPoints {
    const NAME: &'static str = "read_own_points";
    type Ports = dyn PointsReadTx;
    type Output = OwnPoints;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PointsReadTx, _now: Timestamp) -> Outcome<OwnPoints, Infallible> {
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
