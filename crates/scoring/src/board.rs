//! Boards, and which of them a record of points gets.

use crate::{BoardId, SeasonId, TeamBoardId, TotalKey};
use terrace_kernel::{TeamId, Timestamp};

/// What a board ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoardScope {
    /// Everybody, in one season. Each season has a board of its own.
    Global(SeasonId),
    /// The fans of a team, in whichever season is looked at. A team has one board, created when it is first
    /// asked for.
    Team(TeamId),
}

/// A board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    /// Its id.
    pub id: BoardId,
    /// What it ranks.
    pub scope: BoardScope,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Board {
    /// The id under which records name this board; a global board's id is never in a record.
    pub fn team_board(&self) -> Option<TeamBoardId> {
        match self.scope {
            BoardScope::Global(_) => None,
            BoardScope::Team(_) => Some(TeamBoardId::from_uuid(self.id.as_uuid())),
        }
    }

    /// Which totals the board shows in a season (`docs/spec.md`, scoring rules 2 and 3); `None` when the season
    /// is not this global board's. With the active season it is also what the legacy `LeaderboardEntry.points` of
    /// the board mirror (rule 7).
    pub fn scored_in(&self, season: SeasonId) -> Option<TotalKey> {
        match self.scope {
            BoardScope::Global(own) => (own == season).then_some(TotalKey::Global(season)),
            BoardScope::Team(_) => self.team_board().map(|board| TotalKey::Team(season, board)),
        }
    }
}

/// The team whose board a record gets (`docs/spec.md`, scoring rules 4 and 5): the quest's or game's, else the
/// fan's favourite at the time of the event, else none. A backfill passes what can be known.
pub fn board_team(activity: Option<TeamId>, favorite_then: Option<TeamId>) -> Option<TeamId> {
    activity.or(favorite_then)
}

/// What is known of the favourite team that a fan had: the one that they have, for as long as nothing of their account has
/// changed. What it was before that is kept nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FavoriteAsOf {
    /// The team that they have now.
    pub team: Option<TeamId>,
    /// When something of their account last changed.
    pub since: Timestamp,
}

impl FavoriteAsOf {
    /// The favourite at `at`, where that is known. Of the instant of a change itself it is not: which of the two came first
    /// nobody can say.
    pub fn at(&self, at: Timestamp) -> Option<TeamId> {
        self.team.filter(|_| self.since < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn rule_5_the_favorite_of_then_is_known_since_the_last_change_alone() {
        let team = Some(TeamId::from_uuid(Uuid::from_u128(1)));
        let at = Timestamp::from_micros;
        let known = FavoriteAsOf { team, since: at(10) };
        assert_eq!([9, 10, 11].map(|micros| known.at(at(micros))), [None, None, team]);
        assert_eq!(FavoriteAsOf { team: None, ..known }.at(at(11)), None);
    }

    #[test]
    fn rules_4_and_5_the_activitys_team_goes_before_the_favorite() {
        let team = |n| TeamId::from_uuid(Uuid::from_u128(n));
        assert_eq!(board_team(Some(team(1)), Some(team(2))), Some(team(1)));
        assert_eq!(board_team(Some(team(1)), None), Some(team(1)));
        assert_eq!(board_team(None, Some(team(2))), Some(team(2)));
        assert_eq!(board_team(None, None), None);
    }

    #[test]
    fn rules_2_and_3_what_a_board_shows_in_a_season() {
        let (now, past) = (SeasonId::from_uuid(Uuid::from_u128(1)), SeasonId::from_uuid(Uuid::from_u128(2)));
        let board = |scope| Board {
            id: BoardId::from_uuid(Uuid::from_u128(9)),
            scope,
            created_at: Timestamp::from_micros(0),
        };
        let team = board(BoardScope::Team(TeamId::from_uuid(Uuid::from_u128(3))));
        let id = team.team_board().unwrap();
        assert_eq!(BoardId::from(id), team.id);
        assert_eq!(team.scored_in(now), Some(TotalKey::Team(now, id)));
        assert_eq!(team.scored_in(past), Some(TotalKey::Team(past, id)));
        let global = board(BoardScope::Global(now));
        assert_eq!(global.team_board(), None);
        assert_eq!(global.scored_in(now), Some(TotalKey::Global(now)));
        assert_eq!(global.scored_in(past), None);
    }
}
