//! The store interface of the audit and repair of points. It reads whole tables, in batches.

use crate::{Board, BoardEntry, BoardId, FanPoints, PointsRecord, RankKey, RecordId, SeasonId, TotalsRepair};
use terrace_kernel::{StoreError, TeamId, Timestamp, UserId};

/// A line of a board, as sorted by the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankLine {
    /// The sort key of the fan.
    pub key: RankKey,
    /// Position in the list, from 1.
    pub position: u64,
    /// 1 + the number of fans with strictly more points.
    pub rank: u64,
}

/// The number of fans of a board in a season.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardCount {
    /// Id of the season.
    pub season: SeasonId,
    /// Id of the board.
    pub board: BoardId,
    /// The stored count.
    pub kept: i64,
    /// The number of listed fans.
    pub listed: i64,
}

/// Reads derived rows of points for comparison.
pub trait PointsAudit {
    /// Up to `limit` accounts after `after`, ordered by id, including deleted ones.
    fn fans_after(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError>;

    /// The stored rows of the accounts from `first` to `last`, both included, in four statements. Concurrent writes may
    /// be visible in some statements and not in others, except for accounts that are locked
    /// ([`PointsRepair::hold_fans`]).
    fn points_between(&mut self, first: UserId, last: UserId) -> Result<Vec<FanPoints>, StoreError>;

    /// The same for exactly these accounts, ordered by id; accounts between them are not read.
    fn points_of_each(&mut self, fans: &[UserId]) -> Result<Vec<FanPoints>, StoreError>;

    /// All boards of all seasons.
    fn every_board(&mut self) -> Result<Vec<Board>, StoreError>;

    /// A whole board, as sorted by the database, read in one statement and therefore from one snapshot.
    fn sorted_board(&mut self, season: SeasonId, board: BoardId) -> Result<Vec<RankLine>, StoreError>;

    /// The boards whose stored count differs from the number of listed fans, read in one statement.
    fn miscounted_boards(&mut self) -> Result<Vec<BoardCount>, StoreError>;

    /// A fan's entries, including boards that the fan left, ordered by board.
    fn entries_of(&mut self, user: UserId) -> Result<Vec<BoardEntry>, StoreError>;
}

/// Repairs the rows that are derived from the ledger.
pub trait PointsRepair: PointsAudit {
    /// Locks accounts, ordered by id, until the transaction ends. Meanwhile no other transaction can award points to
    /// these fans, and they cannot join, leave or hide.
    fn hold_fans(&mut self, fans: &[UserId]) -> Result<(), StoreError>;

    /// Writes records of locked accounts in bulk, with the team of each, their spendable points and their events. Only
    /// records whose season is still valid and whose fact has not paid are written, as far as the bulk write is
    /// efficient. Returns the ids of the written ones; the caller passes the rest to [`crate::PointsWrite::award`],
    /// which returns the reason. Totals are not updated and must be repaired afterwards.
    fn record_held(
        &mut self,
        records: &[(PointsRecord, Option<TeamId>)],
        at: Timestamp,
    ) -> Result<Vec<RecordId>, StoreError>;

    /// Writes repairs of locked accounts, and publishes the changed totals of each fan.
    fn write_points_repairs(&mut self, repairs: &[TotalsRepair], at: Timestamp) -> Result<(), StoreError>;

    /// Prevents fans from joining or leaving boards until the transaction ends.
    fn hold_counts(&mut self) -> Result<(), StoreError>;

    /// Writes the number of listed fans of a board. The caller must have called [`PointsRepair::hold_counts`].
    fn put_count(&mut self, count: &BoardCount) -> Result<(), StoreError>;
}
