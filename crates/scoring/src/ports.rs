//! What the rules of this crate need from a store. One call is one round trip to the database; a call that writes
//! reports whether it took.

use crate::{
    Board, BoardId, Points, PointsRecord, RankKey, RecordId, Season, SeasonId, Seasons, SourceKey,
    TeamBoardId, Total, TotalChange, TotalChanges, Writer,
};
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// A record of points that is to be written, by what is known before the store is asked: its season is that of `seasons`
/// as this process knows them, and its board is to be found by the store.
#[derive(Debug, Clone)]
pub struct AwardOrder<'a> {
    /// The record. Its board is ignored where `board` says that one is to be found.
    pub record: &'a PointsRecord,
    /// The board.
    pub board: BoardOrder,
    /// Who writes.
    pub by: Writer,
    /// The time of the writing.
    pub now: Timestamp,
}

/// Which board a record gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardOrder {
    /// The one that the record names, or none.
    AsRecorded,
    /// That of the team of the activity, or else of the fan's favourite team as it is now ([`crate::board_team`]).
    Of(Option<TeamId>),
}

/// What became of an award.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awarding {
    /// It was written, and the totals are what they are now.
    Written {
        /// The board that the record got.
        board: Option<TeamBoardId>,
        /// The totals that it changed.
        changes: TotalChanges,
    },
    /// The fact has paid the fan before.
    AlreadyThere,
    /// Another season covers the time of the event now, or the one that does was closed: nothing was written, and the
    /// seasons are to be read anew.
    Stale,
    /// The team has no board yet: nothing was written.
    NoBoard(TeamId),
    /// There is no such fan, or not one who gets points: the account was deleted, or the service writes and it is
    /// suspended.
    NotActive,
}

/// Writes the ledger of points, and with each record the totals that it counts for, the legacy entries that mirror them,
/// and the event that tells of them.
pub trait PointsWrite {
    /// Writes a record unless its fact has paid the fan before. One round trip.
    fn award(&mut self, order: &AwardOrder<'_>) -> Result<Awarding, StoreError>;

    /// Brings what boards show of a fan in line with the account as it is now: whoever is not active or does not want to
    /// be seen is listed nowhere. Says what changed, and tells of it. The caller has locked or written the account.
    fn relist(&mut self, user: UserId, at: Timestamp) -> Result<TotalChanges, StoreError>;

    /// Puts a fan on a board, or takes them off it, in the season that is given: a total of zero is made where there is
    /// none. Says what changed, and tells of it. Nothing where there is no such fan who is active.
    fn set_membership(&mut self, change: &Membership) -> Result<Option<TotalChanges>, StoreError>;
}

/// A fan joins a board, or leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The fan.
    pub user: UserId,
    /// The board.
    pub board: BoardId,
    /// The season whose total of theirs is to be listed, or not.
    pub season: Season,
    /// Whether they join.
    pub joins: bool,
    /// When.
    pub at: Timestamp,
}

/// Reads the ledger of points.
pub trait PointsRead {
    /// A fan's record of a fact.
    fn record(&mut self, user: UserId, source: &SourceKey) -> Result<Option<PointsRecord>, StoreError>;

    /// A fan's records, the newest first.
    fn records(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PointsRecord, TimeKey>, StoreError>;

    /// A fan's records of completed quests, the newest first.
    fn quest_records(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PointsRecord, TimeKey>, StoreError>;

    /// Those of a fan's records that are of these facts, in no order.
    fn records_among(&mut self, user: UserId, facts: &[SourceKey]) -> Result<Vec<PointsRecord>, StoreError>;

    /// Those of a fan's records that have these ids, in no order.
    fn records_with(&mut self, user: UserId, ids: &[RecordId]) -> Result<Vec<PointsRecord>, StoreError>;

    /// The sum of all of a fan's records, whatever their season.
    fn points_of(&mut self, user: UserId) -> Result<Points, StoreError>;

    /// A fan's totals on boards in a season.
    fn totals_of(&mut self, user: UserId, season: SeasonId) -> Result<Vec<TotalChange>, StoreError>;
}

/// Reads seasons and boards, and boards as the tables have them.
pub trait BoardRead {
    /// Every season.
    fn seasons(&mut self) -> Result<Seasons, StoreError>;

    /// A board.
    fn board(&mut self, id: BoardId) -> Result<Option<Board>, StoreError>;

    /// A team's board.
    fn board_of_team(&mut self, team: TeamId) -> Result<Option<Board>, StoreError>;

    /// A season's global board.
    fn global_board(&mut self, season: SeasonId) -> Result<Option<Board>, StoreError>;

    /// Every board of a team, and the global one of that season.
    fn boards(&mut self, season: SeasonId) -> Result<Vec<Board>, StoreError>;

    /// The boards that a fan was put on, or got points on, and did not leave.
    fn boards_joined(&mut self, user: UserId) -> Result<Vec<BoardId>, StoreError>;

    /// Up to `limit` of those who are listed, in the order of the board, after `after`.
    fn ranked(
        &mut self,
        season: SeasonId,
        board: BoardId,
        limit: u32,
        after: Option<&RankKey>,
    ) -> Result<Vec<RankKey>, StoreError>;

    /// Up to `limit` of those who are listed before `before`, the nearest first.
    fn ranked_before(
        &mut self,
        season: SeasonId,
        board: BoardId,
        limit: u32,
        before: &RankKey,
    ) -> Result<Vec<RankKey>, StoreError>;

    /// Whether the event log tells of every change of the board that this transaction sees: only then are rows that were
    /// read in one state of the database those as of the head of the log.
    fn is_told(&mut self, season: SeasonId, board: BoardId) -> Result<bool, StoreError>;

    /// How many are listed.
    fn count_listed(&mut self, season: SeasonId, board: BoardId) -> Result<u64, StoreError>;

    /// How many are listed with strictly more points.
    fn count_above(&mut self, season: SeasonId, board: BoardId, points: Points) -> Result<u64, StoreError>;

    /// The same, counted to `most` at most.
    fn count_above_within(
        &mut self,
        season: SeasonId,
        board: BoardId,
        points: Points,
        most: u32,
    ) -> Result<u64, StoreError>;

    /// How many are listed before `key` in the order of the board, whether or not somebody stands there.
    fn count_before(&mut self, season: SeasonId, board: BoardId, key: &RankKey) -> Result<u64, StoreError>;

    /// The fewest points that somebody listed has beyond these.
    fn next_above(
        &mut self,
        season: SeasonId,
        board: BoardId,
        points: Points,
    ) -> Result<Option<Points>, StoreError>;

    /// A fan's line, if they are listed.
    fn listed(
        &mut self,
        season: SeasonId,
        board: BoardId,
        user: UserId,
    ) -> Result<Option<RankKey>, StoreError>;

    /// Up to `limit` totals of a season that are listed, in the order of (board, fan), from one end of `span` on.
    fn listed_totals(
        &mut self,
        season: SeasonId,
        limit: u32,
        span: &TotalsSpan,
    ) -> Result<Vec<(BoardId, UserId, Total)>, StoreError>;
}

/// Which of a season's totals are asked for, both ends left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TotalsSpan {
    /// Those after this one.
    pub after: Option<(BoardId, UserId)>,
    /// Those before this one.
    pub before: Option<(BoardId, UserId)>,
    /// Whether they are read from the end towards the beginning.
    pub backwards: bool,
}

/// Writes seasons and boards.
pub trait BoardWrite: BoardRead {
    /// Writes seasons and the global boards of those that are new; each is told of. `boards` are the ids for new ones,
    /// as many as there are seasons.
    fn put_seasons(&mut self, seasons: &[(Season, BoardId)], at: Timestamp) -> Result<(), StoreError>;

    /// Writes a season unless its key is taken, and its global board; `false` when it was.
    fn add_season(&mut self, season: &Season, board: BoardId, at: Timestamp) -> Result<bool, StoreError>;

    /// Makes a team's board unless it has one; `false` when there is no such team.
    fn ensure_board(&mut self, team: TeamId, id: BoardId, at: Timestamp) -> Result<bool, StoreError>;

    /// Waits for whoever is changing the seasons, and lets nobody else until the transaction ends.
    fn lock_seasons(&mut self) -> Result<(), StoreError>;
}
