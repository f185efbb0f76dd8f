//! Points, seasons and boards: the season and the board that a record of points belongs to, the totals that it counts
//! for, and the ranks of fans. Pure functions and one data structure: no database, no web framework, no runtime.
//!
//! [`Seasons`] turns a [`NewAward`] into a [`PointsRecord`] with a season. [`PointsRecord::totals`] lists the totals
//! that a record counts for. A [`RankIndex`] orders the [`Total`]s of fans.
//! ```
//! use terrace_kernel::{CtxSeed, UserId};
//! use terrace_scoring::{
//!     NewAward, Points, RankIndex, Season, SeasonStatus, Seasons, SourceKey, Total, Writer,
//! };
//!
//! let mut ctx = CtxSeed::new("2026-05-02T12:00:00Z".parse()?, [7; 32]).open();
//! let season = Season {
//!     id: ctx.new_id(),
//!     key: "0.5".parse()?,
//!     name: "Season 0.5".to_owned(),
//!     starts_at: "2026-05-01T00:00:00Z".parse()?,
//!     ends_at: None,
//!     status: SeasonStatus::Active,
//! };
//! let seasons = Seasons::new(vec![season.clone()])?;
//! let mia: UserId = ctx.new_id();
//! let award = NewAward {
//!     user: mia,
//!     amount: Points::new(10),
//!     reason: "Visited the dashboard".to_owned(),
//!     source: SourceKey::daily_visit("2026-05-02".parse()?),
//!     at: ctx.now(),
//! };
//! let record = award.record(ctx.new_id(), &seasons, None, Writer::Service).expect("an award of the service");
//! assert_eq!(record.season, Some(season.id));
//!
//! let mut total = Total::opening(&season);
//! total.add(&record);
//! let mut ranks = RankIndex::new();
//! ranks.apply(mia, &total);
//! assert_eq!(ranks.page(0, 10)[0].rank, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod board;
mod change;
mod ids;
mod level;
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
pub use level::{FanLevel, Level, Levels, LevelsError};
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
