//! The ledger of points, and the totals that are stored beside it.

mod award;
mod history;
mod membership;
mod record;
mod repair;
pub(crate) mod schema;
mod tables;
mod upkeep;

pub(crate) use history::{all_points, season_points};

use crate::rows::corrupt;
use crate::schema::board_totals;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, num};
use terrace_scoring::{Points, SeasonId, Total, TotalChange};

/// A total after a change.
#[derive(Queryable, Selectable)]
#[diesel(table_name = board_totals)]
pub(crate) struct TotalRow {
    season_id: Key,
    leaderboard_id: Key,
    points: i64,
    reached_at: At,
    version: i64,
    listed: bool,
}

impl TotalRow {
    pub(crate) fn into_change(self) -> Result<TotalChange, StoreError> {
        Ok(TotalChange {
            season: SeasonId::from_uuid(self.season_id.0),
            board: self.leaderboard_id.id(),
            total: total(self.points, self.reached_at, self.version)?,
            is_listed: self.listed,
        })
    }
}

/// Creates a total from its columns.
pub(crate) fn total(points: i64, reached_at: At, version: i64) -> Result<Total, StoreError> {
    let version = u64::try_from(version).map_err(|_| corrupt("board_totals", "version", &version))?;
    Ok(Total { points: Points::new(points), reached_at: reached_at.0, version })
}

/// Converts a version to its column.
pub(crate) fn version(total: &Total) -> i64 {
    num::to_i64(total.version)
}
