//! What keeping the points in order needs from a store. It reads whole tables, in portions.

use crate::{Board, BoardEntry, BoardId, FanPoints, PointsRecord, RankKey, RecordId, SeasonId, TotalsRepair};
use terrace_kernel::{StoreError, TeamId, Timestamp, UserId};

/// A line of a board as the database sorts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankLine {
    /// Who stands there.
    pub key: RankKey,
    /// Their place, from 1.
    pub position: u64,
    /// 1 + the number of those with strictly more points.
    pub rank: u64,
}

/// How many fans a board has in a season.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardCount {
    /// The season.
    pub season: SeasonId,
    /// The board.
    pub board: BoardId,
    /// How many there are said to be.
    pub kept: i64,
    /// How many are listed.
    pub listed: i64,
}

/// Reads what is kept of points, to compare it.
pub trait PointsAudit {
    /// Up to `limit` accounts after `after`, in the order of their ids; deleted ones too.
    fn fans_after(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError>;

    /// What the tables hold of the accounts from `first` to `last`, both included, in four statements. Whoever writes
    /// meanwhile may be seen in some and not in others, but for accounts that are held ([`PointsRepair::hold_fans`]).
    fn points_between(&mut self, first: UserId, last: UserId) -> Result<Vec<FanPoints>, StoreError>;

    /// The same of these accounts, in the order of their ids: of whoever is between them nothing is read.
    fn points_of_each(&mut self, fans: &[UserId]) -> Result<Vec<FanPoints>, StoreError>;

    /// Every board of every season.
    fn every_board(&mut self) -> Result<Vec<Board>, StoreError>;

    /// A whole board as the database sorts it, in one statement, and so as of one moment.
    fn sorted_board(&mut self, season: SeasonId, board: BoardId) -> Result<Vec<RankLine>, StoreError>;

    /// The boards of which another number of fans is kept than is listed, in one statement.
    fn miscounted_boards(&mut self) -> Result<Vec<BoardCount>, StoreError>;

    /// A fan's entries, those that they left too, in the order of the boards.
    fn entries_of(&mut self, user: UserId) -> Result<Vec<BoardEntry>, StoreError>;
}

/// Mends what is kept beside the ledger.
pub trait PointsRepair: PointsAudit {
    /// Locks accounts in the order of their ids, until the transaction ends: nobody gets points meanwhile, nor joins,
    /// leaves or hides.
    fn hold_fans(&mut self, fans: &[UserId]) -> Result<(), StoreError>;

    /// Writes records of accounts that are held, with the team that each was for, their spendable points and the events that
    /// tell of them: those whose season is still theirs and whose fact has not paid, as far as the store gains by writing
    /// them at once. Says which it wrote; what it left is for [`crate::PointsWrite::award`], which says why. Totals are not
    /// touched: they are to be mended afterwards.
    fn record_held(
        &mut self,
        records: &[(PointsRecord, Option<TeamId>)],
        at: Timestamp,
    ) -> Result<Vec<RecordId>, StoreError>;

    /// Writes what makes the rows of accounts that are held right, and tells of each fan's totals that changed.
    fn mend_points(&mut self, mends: &[TotalsRepair], at: Timestamp) -> Result<(), StoreError>;

    /// Lets nobody come to a board or leave one until the transaction ends.
    fn hold_counts(&mut self) -> Result<(), StoreError>;

    /// Writes how many fans are listed on a board. To be called while counts are held.
    fn put_count(&mut self, count: &BoardCount) -> Result<(), StoreError>;
}
