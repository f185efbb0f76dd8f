//! A fan's standings on the boards of the season that is shown, all as of one position of the event log.

use super::{BoardChoice, BoardRefusal, BoardSnapshot, PAUSE, PUBLISHING, Ranks, ShownBoard, queries};
use crate::App;
use crate::store::PointsReadTx;
use std::sync::Arc;
use std::time::Instant;
use terrace_kernel::{Failure, Position, StoreError, UserId};
use terrace_scoring::{BoardId, SeasonId, Standing};

/// A fan's standings on all boards that list the fan.
#[derive(Debug, Clone)]
pub(crate) struct OwnRanks {
    /// The standings are exact as of this position.
    pub(crate) position: Position,
    standings: Vec<(BoardId, Standing)>,
}

impl OwnRanks {
    /// The standing on a board; `None` if the board does not list the fan.
    pub(crate) fn on(&self, board: BoardId) -> Option<Standing> {
        self.standings.iter().find(|(id, _)| *id == board).map(|(_, standing)| *standing)
    }

    /// Reads the standings on these boards from the tables. The caller's statements must see one state of the database.
    /// `None` if some of the boards' events have no position yet.
    pub(crate) fn read(
        tx: &mut dyn PointsReadTx,
        user: UserId,
        season: Option<SeasonId>,
        boards: &[BoardId],
    ) -> Result<Option<Self>, StoreError> {
        let position = tx.head()?;
        let mut standings = Vec::new();
        for (season, board) in
            season.into_iter().flat_map(|season| boards.iter().map(move |board| (season, *board)))
        {
            if !tx.is_published(season, board)? {
                return Ok(None);
            }
            let total = tx.count_listed(season, board)?;
            let standing = queries::standing(tx, (season, board), user, total)?;
            standings.extend(standing.map(|standing| (board, standing)));
        }
        Ok(Some(Self { position, standings }))
    }
}

impl Ranks {
    /// A fan's standings, and the position of the last change of any board.
    fn standings(&self, user: UserId) -> (Position, Vec<(BoardId, Standing)>) {
        let on = |(board, ranking): (&BoardId, &super::ranks::Ranking)| {
            ranking.index.standing(user).map(|standing| (*board, standing))
        };
        let changed = self.boards.values().map(|ranking| ranking.version).max();
        (changed.unwrap_or(self.begun), self.boards.iter().filter_map(on).collect())
    }
}

impl App {
    /// The global board of the season that is shown; `None` before the first season.
    pub(crate) async fn shown_board(
        &self,
        now: BoardSnapshot,
    ) -> Result<Option<Arc<ShownBoard>>, StoreError> {
        match self.find_board(now, BoardChoice::Global, None).await {
            Ok(shown) => Ok(Some(shown)),
            Err(Failure::Refused(
                BoardRefusal::UnknownBoard | BoardRefusal::UnknownSeason | BoardRefusal::UnknownTeam,
            )) => Ok(None),
            Err(Failure::Broken(error)) => Err(error),
        }
    }

    /// A fan's standings by the boards in memory; `None` if the tables must be read, because the boards are not in
    /// memory or the season is closed.
    pub(crate) fn own_ranks(
        &self,
        now: BoardSnapshot,
        shown: Option<&ShownBoard>,
        user: UserId,
    ) -> Option<OwnRanks> {
        let (known, season) = (now.known?, shown?.season.id);
        let read = |ranks: &Ranks| (ranks.season() == Some(season)).then(|| ranks.standings(user));
        let (changed, standings) = self.ranks.read(read).flatten()?;
        Some(OwnRanks { position: known.max(changed), standings })
    }

    /// Whether standings from the tables may be served as of `position`: not if the boards in memory have become
    /// available meanwhile.
    pub(crate) fn serves_tables(&self, shown: Option<&ShownBoard>, position: Position) -> bool {
        let Some(shown) = shown.filter(|shown| shown.season.is_active()) else { return true };
        self.ranks.is_replaced_at(position, |ranks| ranks.season() == Some(shown.season.id))
    }

    /// Waits until the boards in memory may have become available. Returns whether a read of the tables, which began at
    /// `begun`, has waited for positions of events for long enough.
    pub(crate) async fn waits_for_boards(&self, begun: Instant) -> bool {
        self.ranks.changes_within(PAUSE).await;
        begun.elapsed() > PUBLISHING
    }
}
