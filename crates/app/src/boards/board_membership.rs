//! Joins or leaves a board. Points are counted either way; membership decides whether the board lists the fan.

use crate::store::{BoardTx, Command};
use terrace_identity::TeamRead;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, TeamId, UserId};
use terrace_scoring::{Board, BoardId, BoardScope, BoardWrite, Membership, Season};

/// Selects a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoardChoice {
    /// The global board of the requested season.
    Global,
    /// The board with this id.
    Board(BoardId),
    /// The board of a team, created on first use.
    Team(TeamId),
}

/// Adds a fan to a board, with the points already counted there, or removes them from it. No effect if the fan
/// already is, or is not, a member.
#[derive(Debug, Clone)]
pub struct ChangeBoardMembership {
    /// The fan.
    pub user: UserId,
    pub board: BoardChoice,
    /// `true` to join, `false` to leave.
    pub joins: bool,
}

/// The board that was joined or left, and the season that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardJoined {
    pub board: Board,
    pub season: Season,
}

/// Why a membership was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MembershipRefusal {
    /// No such board exists.
    UnknownBoard,
    /// No team has this id.
    UnknownTeam,
    /// The board belongs to a closed season and cannot change.
    SeasonClosed,
    /// No season is active.
    NoSeason,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for ChangeBoardMembership {
    const NAME: &'static str = "change_board_membership";
    type Ports = dyn BoardTx;
    type Output = BoardJoined;
    type Refusal = MembershipRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn BoardTx, ctx: &mut Ctx) -> Outcome<BoardJoined, MembershipRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let seasons = tx.seasons()?;
        let season = seasons.active().ok_or(refused(MembershipRefusal::NoSeason))?.clone();
        let board = match self.board {
            BoardChoice::Global => {
                tx.global_board(season.id)?.ok_or(refused(MembershipRefusal::UnknownBoard))?
            }
            BoardChoice::Board(id) => tx.board(id)?.ok_or(refused(MembershipRefusal::UnknownBoard))?,
            BoardChoice::Team(team) => {
                ensure_team_board(tx, ctx, team)?.ok_or(refused(MembershipRefusal::UnknownTeam))?
            }
        };
        if board.scored_in(season.id).is_none() {
            return Err(refused(MembershipRefusal::SeasonClosed));
        }
        let change = Membership {
            user: self.user,
            board: board.id,
            season: season.clone(),
            joins: self.joins,
            at: ctx.now(),
        };
        tx.set_membership(&change)?.ok_or(refused(MembershipRefusal::NotActive))?;
        Ok(BoardJoined { board, season })
    }
}

/// The board of a team, created if missing; `None` if the team does not exist.
pub(crate) fn ensure_team_board(
    tx: &mut dyn BoardWrite,
    ctx: &mut Ctx,
    team: TeamId,
) -> Result<Option<Board>, StoreError> {
    if let Some(board) = tx.board_of_team(team)? {
        return Ok(Some(board));
    }
    if !tx.ensure_board(team, ctx.new_id(), ctx.now())? {
        return Ok(None);
    }
    tx.board_of_team(team)
}

/// Creates a team's board on first use (spec §4 "Leaderboard").
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnsureTeamBoard(pub(crate) TeamId);

impl Command for EnsureTeamBoard {
    const NAME: &'static str = "ensure_team_board";
    type Ports = dyn BoardWrite;
    /// `None` if the team does not exist.
    type Output = Option<Board>;
    type Refusal = std::convert::Infallible;

    fn run(&self, tx: &mut dyn BoardWrite, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        Ok(ensure_team_board(tx, ctx, self.0)?)
    }
}

/// The name of the board of all fans.
pub(crate) const GLOBAL: &str = "Global";

/// The name of a board: its team's name, or "Global".
pub(crate) fn board_name(tx: &mut dyn TeamRead, board: &Board) -> Result<String, StoreError> {
    match board.scope {
        BoardScope::Global(_) => Ok(GLOBAL.to_owned()),
        BoardScope::Team(team) => Ok(tx.team(team)?.map_or_else(String::new, |team| team.name)),
    }
}
