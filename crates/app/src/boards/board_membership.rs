//! Joins a board, or leaves it. Points are counted either way; what changes is whether the board shows the fan.

use crate::store::Command;
use crate::store::{ReadTx, Tx};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, TeamId, UserId};
use terrace_scoring::{Board, BoardId, BoardScope, Membership, Season};

/// Which board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoardChoice {
    /// The global one of the season that is looked at.
    Global,
    /// The one of this id.
    Board(BoardId),
    /// A team's, which is made when it is first asked for.
    Team(TeamId),
}

/// Puts a fan on a board, with what it already holds of theirs, or takes them off it. Who is there already, or is not,
/// stays so.
#[derive(Debug, Clone)]
pub struct ChangeBoardMembership {
    /// The fan.
    pub user: UserId,
    /// The board.
    pub board: BoardChoice,
    /// Whether they join.
    pub joins: bool,
}

/// The board that was joined or left, and the season that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardJoined {
    /// The board.
    pub board: Board,
    /// The season.
    pub season: Season,
}

/// Why nobody joined or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MembershipRefusal {
    /// There is no such board.
    UnknownBoard,
    /// No team has this id.
    UnknownTeam,
    /// The board is that of a season that is over: it stays as it is.
    SeasonClosed,
    /// No season has begun.
    NoSeason,
    /// The account was deleted or suspended meanwhile.
    NotActive,
}

impl Command for ChangeBoardMembership {
    const NAME: &'static str = "change_board_membership";
    type Output = BoardJoined;
    type Refusal = MembershipRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<BoardJoined, MembershipRefusal> {
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

/// A team's board, made now if there is none; nothing where there is no such team.
pub(crate) fn ensure_team_board(
    tx: &mut dyn Tx,
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

/// Makes a team's board when it is first asked for (spec §4 "Leaderboard").
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnsureTeamBoard(pub(crate) TeamId);

impl Command for EnsureTeamBoard {
    const NAME: &'static str = "ensure_team_board";
    /// Nothing where there is no such team.
    type Output = Option<Board>;
    type Refusal = std::convert::Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        Ok(ensure_team_board(tx, ctx, self.0)?)
    }
}

/// What a board is called: its team's name, or the season's.
pub(crate) fn board_name(tx: &mut dyn ReadTx, board: &Board) -> Result<String, StoreError> {
    match board.scope {
        BoardScope::Global(_) => Ok("Global".to_owned()),
        BoardScope::Team(team) => Ok(tx.team(team)?.map_or_else(String::new, |team| team.name)),
    }
}
