//! The store interface that the rules of this crate need. One call is one round trip to the database; a call that
//! writes conditionally returns whether it wrote.

use crate::{
    Board, BoardId, Points, PointsRecord, RankKey, RecordId, Season, SeasonId, Seasons, SourceKey,
    TeamBoardId, Total, TotalChange, TotalChanges, Writer,
};
use std::collections::HashMap;
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// A record of points to be written, as prepared before the store is read: its season comes from the [`Seasons`] that
/// this process has cached, and the store may look up its board.
#[derive(Debug, Clone)]
pub struct AwardOrder<'a> {
    /// The record. Its board is ignored if the store looks up the board, as `board` specifies.
    pub record: &'a PointsRecord,
    /// How the board is determined.
    pub board: BoardOrder,
    /// Who writes the record.
    pub by: Writer,
    /// The time of the writing.
    pub now: Timestamp,
}

/// How the board of a record is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardOrder {
    /// The board of the record, if any.
    AsRecorded,
    /// The board of the team of the activity, or else of the fan's current favourite team ([`crate::board_team`]).
    Of(Option<TeamId>),
}

/// The result of an award.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awarding {
    /// The record was written, and the totals were updated.
    Written {
        /// The board of the record.
        board: Option<TeamBoardId>,
        /// The totals that changed.
        changes: TotalChanges,
    },
    /// The fan was already paid for this fact.
    AlreadyThere,
    /// Nothing was written: another season now covers the time of the event, or that season was closed. The caller must
    /// reload the seasons.
    Stale,
    /// Nothing was written: the team has no board yet.
    NoBoard(TeamId),
    /// Nothing was written: the account does not exist or was deleted, or the service writes and the account is
    /// suspended.
    NotActive,
}

/// Writes the ledger of points. With each record it updates the totals that the record counts for and the legacy
/// entries that mirror them, and publishes the event.
pub trait PointsWrite {
    /// Writes a record unless the fan was already paid for its fact. One round trip.
    fn award(&mut self, order: &AwardOrder<'_>) -> Result<Awarding, StoreError>;

    /// Writes records of different fans, each unless its fan was already paid for its fact, and returns the results in
    /// the order of the orders. Does not wait for fans whose accounts other transactions hold: `None` for these, for
    /// whom nothing is written. It may be `None` instead of [`Awarding::NotActive`] too. One round trip.
    fn award_all(&mut self, orders: &[AwardOrder<'_>]) -> Result<Vec<Option<Awarding>>, StoreError>;

    /// Updates the listing of a fan on all boards to match the account: an account that is not active, or that opted
    /// out, is not listed. Returns the changes and publishes them. The caller must have locked or written the account.
    fn relist(&mut self, user: UserId, at: Timestamp) -> Result<TotalChanges, StoreError>;

    /// Adds a fan to a board or removes them from it, in the given season; creates a total of zero if there is none.
    /// Returns the change and publishes it; `None` if there is no such active fan.
    fn set_membership(&mut self, change: &Membership) -> Result<Option<TotalChanges>, StoreError>;
}

/// A request of a fan to join a board or to leave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Id of the fan.
    pub user: UserId,
    /// Id of the board.
    pub board: BoardId,
    /// The season whose total is to be listed or hidden.
    pub season: Season,
    /// Whether the fan joins; otherwise the fan leaves.
    pub joins: bool,
    /// When the change happens.
    pub at: Timestamp,
}

/// Reads the ledger of points.
pub trait PointsRead {
    /// A fan's record for a fact.
    fn record(&mut self, user: UserId, source: &SourceKey) -> Result<Option<PointsRecord>, StoreError>;

    /// A page of a fan's records, newest first.
    fn records(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PointsRecord, TimeKey>, StoreError>;

    /// A page of a fan's records of completed quests, newest first.
    fn quest_records(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PointsRecord, TimeKey>, StoreError>;

    /// The fan's records for these facts, in no order.
    fn records_among(&mut self, user: UserId, facts: &[SourceKey]) -> Result<Vec<PointsRecord>, StoreError>;

    /// The records of these fans with these ids, in no order.
    fn records_with(&mut self, fans: &[UserId], ids: &[RecordId]) -> Result<Vec<PointsRecord>, StoreError>;

    /// The sum of all of a fan's records, over all seasons.
    fn points_of(&mut self, user: UserId) -> Result<Points, StoreError>;

    /// The same for each of these fans.
    fn points_of_all(&mut self, fans: &[UserId]) -> Result<HashMap<UserId, Points>, StoreError>;

    /// A fan's totals on boards in a season.
    fn totals_of(&mut self, user: UserId, season: SeasonId) -> Result<Vec<TotalChange>, StoreError>;
}

/// Reads seasons and boards, and the ranking of boards from the tables.
pub trait BoardRead {
    /// All seasons.
    fn seasons(&mut self) -> Result<Seasons, StoreError>;

    /// The board with this id.
    fn board(&mut self, id: BoardId) -> Result<Option<Board>, StoreError>;

    /// The board of a team; `None` until it was first requested.
    fn board_of_team(&mut self, team: TeamId) -> Result<Option<Board>, StoreError>;

    /// The global board of a season.
    fn global_board(&mut self, season: SeasonId) -> Result<Option<Board>, StoreError>;

    /// All team boards, and the global board of this season.
    fn boards(&mut self, season: SeasonId) -> Result<Vec<Board>, StoreError>;

    /// The boards that a fan joined or got points on, and did not leave.
    fn boards_joined(&mut self, user: UserId) -> Result<Vec<BoardId>, StoreError>;

    /// Up to `limit` listed fans after `after`, in the order of the board.
    fn ranked(
        &mut self,
        season: SeasonId,
        board: BoardId,
        limit: u32,
        after: Option<&RankKey>,
    ) -> Result<Vec<RankKey>, StoreError>;

    /// Up to `limit` listed fans before `before`, nearest first.
    fn ranked_before(
        &mut self,
        season: SeasonId,
        board: BoardId,
        limit: u32,
        before: &RankKey,
    ) -> Result<Vec<RankKey>, StoreError>;

    /// Whether every change of the board that this transaction sees is in the event log. Only then do rows read in one
    /// database snapshot match the head of the log.
    fn is_published(&mut self, season: SeasonId, board: BoardId) -> Result<bool, StoreError>;

    /// The number of listed fans.
    fn count_listed(&mut self, season: SeasonId, board: BoardId) -> Result<u64, StoreError>;

    /// The number of listed fans with strictly more points.
    fn count_above(&mut self, season: SeasonId, board: BoardId, points: Points) -> Result<u64, StoreError>;

    /// The number of listed fans with more points than `low` and at most `high`.
    fn count_between(
        &mut self,
        season: SeasonId,
        board: BoardId,
        low: Points,
        high: Points,
    ) -> Result<u64, StoreError>;

    /// The number of listed fans with strictly more points, capped at `most`.
    fn count_above_within(
        &mut self,
        season: SeasonId,
        board: BoardId,
        points: Points,
        most: u32,
    ) -> Result<u64, StoreError>;

    /// The number of listed fans before `key` in the order of the board, whether or not a fan has that key.
    fn count_before(&mut self, season: SeasonId, board: BoardId, key: &RankKey) -> Result<u64, StoreError>;

    /// The lowest points above these that a listed fan has.
    fn next_above(
        &mut self,
        season: SeasonId,
        board: BoardId,
        points: Points,
    ) -> Result<Option<Points>, StoreError>;

    /// A fan's line, if the fan is listed.
    fn listed(
        &mut self,
        season: SeasonId,
        board: BoardId,
        user: UserId,
    ) -> Result<Option<RankKey>, StoreError>;

    /// Up to `limit` listed totals of a season, ordered by board and fan, starting from one end of `span`.
    fn listed_totals(
        &mut self,
        season: SeasonId,
        limit: u32,
        span: &TotalsSpan,
    ) -> Result<Vec<(BoardId, UserId, Total)>, StoreError>;
}

/// A range of a season's totals; both bounds are exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TotalsSpan {
    /// The lower bound.
    pub after: Option<(BoardId, UserId)>,
    /// The upper bound.
    pub before: Option<(BoardId, UserId)>,
    /// Whether the range is read in descending order.
    pub backwards: bool,
}

/// Writes seasons and boards.
pub trait BoardWrite: BoardRead {
    /// Writes seasons and the global boards of the new ones, and publishes each. Each season comes with the id for its
    /// global board, which is used if the season is new.
    fn put_seasons(&mut self, seasons: &[(Season, BoardId)], at: Timestamp) -> Result<(), StoreError>;

    /// Inserts a season and its global board; `false` if the key is taken.
    fn add_season(&mut self, season: &Season, board: BoardId, at: Timestamp) -> Result<bool, StoreError>;

    /// Creates the board of a team unless it has one; `false` if there is no such team.
    fn ensure_board(&mut self, team: TeamId, id: BoardId, at: Timestamp) -> Result<bool, StoreError>;

    /// Waits for other transactions that change the seasons, and excludes them until this transaction ends.
    fn lock_seasons(&mut self) -> Result<(), StoreError>;
}
