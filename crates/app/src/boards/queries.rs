//! Reads boards from the tables, and the data shown next to their lines.

use crate::boards::{BoardChoice, GLOBAL, ReadBoard, Rows, board_name};
use crate::store::{BoardReadTx, GraphReadTx, PointsReadTx, Query};
use std::collections::HashMap;
use std::convert::Infallible;
use terrace_identity::{AccountSpan, AuthorCard, CardRead};
use terrace_kernel::{Outcome, Position, StoreError, TeamId, Timestamp, UserId, num};
use terrace_scoring::{
    Board, BoardId, BoardRead, BoardScope, Percentile, RankKey, Ranked, SeasonId, Seasons, Standing,
};

/// Reads all seasons.
pub(crate) struct ReadSeasons;

impl Query for ReadSeasons {
    const NAME: &'static str = "read_seasons";
    type Ports = dyn BoardRead;
    type Output = Seasons;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BoardRead, _now: Timestamp) -> Outcome<Seasons, Infallible> {
        Ok(tx.seasons()?)
    }
}

/// Finds a board and its name.
pub(crate) struct FindBoard {
    pub(crate) choice: BoardChoice,
    pub(crate) season: SeasonId,
}

impl Query for FindBoard {
    const NAME: &'static str = "find_board";
    type Ports = dyn BoardReadTx;
    type Output = Option<(Board, String)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BoardReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let board = match self.choice {
            BoardChoice::Global => tx.global_board(self.season)?,
            BoardChoice::Board(id) => tx.board(id)?,
            BoardChoice::Team(team) => tx.board_of_team(team)?,
        };
        let Some(board) = board else { return Ok(None) };
        let name = board_name(tx, &board)?;
        Ok(Some((board, name)))
    }
}

/// Reads the author cards of these users.
pub(crate) struct ReadCards(pub(crate) Vec<UserId>);

impl Query for ReadCards {
    const NAME: &'static str = "read_cards";
    type Ports = dyn CardRead;
    type Output = Vec<AuthorCard>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn CardRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(if self.0.is_empty() { Vec::new() } else { tx.cards(&self.0)? })
    }
}

/// Reads the author cards of the next active accounts from one end of the span.
pub(crate) struct ReadNextCards {
    pub(crate) span: AccountSpan,
    pub(crate) limit: u32,
}

impl Query for ReadNextCards {
    const NAME: &'static str = "read_next_cards";
    type Ports = dyn CardRead;
    type Output = Vec<AuthorCard>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn CardRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.next_cards(self.limit, &self.span)?)
    }
}

/// Returns which of `others` a block hides from the reader.
pub(crate) struct HiddenAmong {
    pub(crate) reader: UserId,
    pub(crate) others: Vec<UserId>,
}

impl Query for HiddenAmong {
    const NAME: &'static str = "hidden_among";
    type Ports = dyn GraphReadTx;
    type Output = Vec<UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn GraphReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.hidden_among(self.reader, &self.others)?)
    }
}

/// Returns all users that a block hides from this reader.
pub(crate) struct HiddenFrom(pub(crate) UserId);

impl Query for HiddenFrom {
    const NAME: &'static str = "hidden_from";
    type Ports = dyn GraphReadTx;
    type Output = Vec<UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn GraphReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.hidden_from(self.0)?)
    }
}

/// Lists the boards of a season, those that the reader joined first, without those of retired teams.
pub(crate) struct ListBoards {
    pub(crate) season: SeasonId,
    pub(crate) reader: Option<UserId>,
}

impl Query for ListBoards {
    const NAME: &'static str = "list_boards";
    type Ports = dyn BoardReadTx;
    type Output = Vec<(Board, String)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BoardReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let joined = match self.reader {
            Some(reader) => tx.boards_joined(reader)?,
            None => Vec::new(),
        };
        let mut boards = tx.boards(self.season)?;
        let is_team = |board: &Board| matches!(board.scope, BoardScope::Team(_));
        boards.sort_by_key(|board| (!(is_team(board) && joined.contains(&board.id)), is_team(board)));
        let teams = tx.all_teams()?.into_iter().filter(|team| !team.is_retired);
        let teams: HashMap<TeamId, String> = teams.map(|team| (team.id, team.name)).collect();
        let name = |board: &Board| match board.scope {
            BoardScope::Team(team) => teams.get(&team).cloned(),
            BoardScope::Global(_) => Some(GLOBAL.to_owned()),
        };
        Ok(boards.into_iter().filter_map(|board| Some((board, name(&board)?))).collect())
    }
}

/// Reads a fan's standing on a board from the tables.
pub(crate) struct ReadStanding {
    pub(crate) season: SeasonId,
    pub(crate) board: BoardId,
    pub(crate) user: UserId,
}

impl Query for ReadStanding {
    const NAME: &'static str = "read_standing";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn BoardRead;
    type Output = Option<Standing>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BoardRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let total = tx.count_listed(self.season, self.board)?;
        Ok(standing(tx, (self.season, self.board), self.user, total)?)
    }
}

pub(super) fn standing(
    tx: &mut dyn BoardRead,
    (season, board): (SeasonId, BoardId),
    user: UserId,
    total: u64,
) -> Result<Option<Standing>, StoreError> {
    let Some(key) = tx.listed(season, board, user)? else { return Ok(None) };
    let before = tx.count_before(season, board, &key)?;
    let above = tx.count_above(season, board, key.points)?;
    let next = tx.next_above(season, board, key.points)?;
    Ok(Some(Standing {
        ranked: ranked(&key, before, above),
        percentile: Percentile::of(num::to_usize(above) + 1, num::to_usize(total)),
        to_next: next.map(|next| next.minus(key.points)),
    }))
}

fn ranked(key: &RankKey, before: u64, above: u64) -> Ranked {
    Ranked {
        position: num::to_usize(before) + 1,
        rank: num::to_usize(above) + 1,
        user: key.user,
        points: key.points,
        reached_at: key.reached_at,
    }
}

/// Reads a page from the tables: the same rows that [`Rows::of`] reads from the index.
pub(crate) struct ReadRows {
    pub(crate) season: SeasonId,
    pub(crate) board: BoardId,
    pub(crate) asked: ReadBoard,
}

impl Query for ReadRows {
    const NAME: &'static str = "read_board_rows";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn PointsReadTx;
    /// `None` if the rows do not correspond to any position in the event log, because some of their events have no
    /// position yet.
    type Output = Option<(Rows, Position)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PointsReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let head = tx.head()?;
        if !tx.is_published(self.season, self.board)? {
            return Ok(None);
        }
        let (season, board) = (self.season, self.board);
        let keys = keys(tx, (season, board), &self.asked)?;
        let total = tx.count_listed(season, board)?;
        let mut lines: Vec<Ranked> = Vec::with_capacity(keys.len());
        for key in &keys {
            let line = match lines.last() {
                None => {
                    let before = tx.count_before(season, board, key)?;
                    ranked(key, before, tx.count_above(season, board, key.points)?)
                }
                Some(last) if last.points == key.points => Ranked {
                    position: last.position + 1,
                    user: key.user,
                    reached_at: key.reached_at,
                    ..*last
                },
                Some(last) => {
                    let before = num::to_u64(last.position);
                    ranked(key, before, before)
                }
            };
            lines.push(line);
        }
        let me = match self.asked.reader {
            Some(reader) => standing(tx, (season, board), reader, total)?,
            None => None,
        };
        Ok(Some((Rows { lines, me, total }, head)))
    }
}

/// The keys of a page, in the order of the board.
fn keys(
    tx: &mut dyn PointsReadTx,
    (season, board): (SeasonId, BoardId),
    asked: &ReadBoard,
) -> Result<Vec<RankKey>, StoreError> {
    let limit = u32::from(asked.limit.rows());
    if let Some(user) = asked.around {
        let Some(key) = tx.listed(season, board, user)? else { return Ok(Vec::new()) };
        let mut keys = tx.ranked_before(season, board, limit / 2, &key)?;
        keys.reverse();
        keys.push(key);
        let rest = limit.saturating_sub(u32::try_from(keys.len()).unwrap_or(limit));
        keys.extend(tx.ranked(season, board, rest, Some(&key))?);
        return Ok(keys);
    }
    match (&asked.after, &asked.before) {
        (None, Some(key)) => {
            let mut keys = tx.ranked_before(season, board, limit, key)?;
            keys.reverse();
            Ok(keys)
        }
        (after, _) => tx.ranked(season, board, limit, after.as_ref()),
    }
}

/// [`ReadRows`] in a transaction that first assigns positions to pending events. For times when there are pending
/// events continuously.
pub(crate) struct Published(pub(crate) ReadRows);

impl Query for Published {
    const NAME: &'static str = "read_published_board_rows";
    const PUBLISHES: bool = true;
    type Ports = dyn PointsReadTx;
    type Output = Option<(Rows, Position)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PointsReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        self.0.run(tx, now)
    }
}
