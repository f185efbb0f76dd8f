//! Points, seasons and boards: the season and the board that a record of points belongs to, the totals that it counts
//! for, and the ranks of fans. Pure functions and one data structure: no database, no web framework, no runtime.
//!
//! [`Seasons`] turns a [`NewAward`] into a [`PointsRecord`] with a season. [`PointsRecord::totals`] lists the totals
//! that a record counts for. A [`RankIndex`] orders the [`Total`]s of fans.

mod board;
mod change;
mod ids;
mod points;
mod ports;
mod rank;
mod record;
mod season;
mod seasons;
mod source;
mod total;
mod upkeep;
mod upkeep_ports;

pub use board::{Board, BoardScope, FavoriteAsOf, board_team};
pub use change::{MalformedChanges, TotalChange, TotalChanges};
pub use ids::{BoardId, RecordId, SeasonId, TeamBoardId};
pub use points::Points;
pub use ports::{
    AwardOrder, Awarding, BoardOrder, BoardRead, BoardWrite, Membership, PointsRead, PointsWrite, TotalsSpan,
};
pub use rank::{Percentile, RankIndex, RankIndexBuilder, RankKey, Ranked, Standing};
pub use record::{AwardRefusal, NewAward, PointsRecord, ReversalRefusal, Writer, reason};
pub use season::{MalformedSeasonKey, Season, SeasonKey, SeasonStatus, season_name};
pub use seasons::{NewSeason, SeasonRefusal, Seasons, SeasonsError, Stamp};
pub use source::{MalformedSourceKey, SourceKey, SourceKind};
pub use total::{Total, TotalKey};
pub use upkeep::{BoardEntry, Books, FanAudit, FanPoints, Fault, LedgerSum, PointsCheck, TotalsRepair};
pub use upkeep_ports::{BoardCount, PointsAudit, PointsRepair, RankLine};
