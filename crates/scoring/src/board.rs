//! Boards, and the rule that assigns a record of points to one.

use crate::{BoardId, SeasonId, TeamBoardId, TotalKey};
use terrace_kernel::{TeamId, Timestamp};

/// The fans that a board ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoardScope {
    /// All fans, in one season. Each season has its own global board.
    Global(SeasonId),
    /// The fans of a team, in any season. A team has one board, created when it is first requested.
    Team(TeamId),
}

/// A ranking of fans by their points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    /// Id of the board.
    pub id: BoardId,
    /// The fans that the board ranks.
    pub scope: BoardScope,
    /// When the board was created.
    pub created_at: Timestamp,
}

impl Board {
    /// The id under which records name this board; `None` for a global board, which records never name.
    pub fn team_board(&self) -> Option<TeamBoardId> {
        match self.scope {
            BoardScope::Global(_) => None,
            BoardScope::Team(_) => Some(TeamBoardId::from_uuid(self.id.as_uuid())),
        }
    }

    /// The total that the board shows in a season (`docs/spec.md`, scoring rules 2 and 3); `None` if the season is not
    /// the season of this global board. For the active season it is also the value that the legacy
    /// `LeaderboardEntry.points` of the board mirrors (rule 7).
    pub fn scored_in(&self, season: SeasonId) -> Option<TotalKey> {
        match self.scope {
            BoardScope::Global(own) => (own == season).then_some(TotalKey::Global(season)),
            BoardScope::Team(_) => self.team_board().map(|board| TotalKey::Team(season, board)),
        }
    }
}

/// The team whose board a record is assigned to (`docs/spec.md`, scoring rules 4 and 5): the team of the quest or game,
/// or else the fan's favourite team at the time of the event, or none. A backfill passes the favourite only if it is
/// known.
pub fn board_team(activity: Option<TeamId>, favorite_then: Option<TeamId>) -> Option<TeamId> {
    activity.or(favorite_then)
}

/// The known history of a fan's favourite team: the current team, valid since the last change of the account. Earlier
/// favourites are not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FavoriteAsOf {
    /// The current favourite team.
    pub team: Option<TeamId>,
    /// When the account last changed.
    pub since: Timestamp,
}

impl FavoriteAsOf {
    /// The favourite at `at`, if it is known. At the exact instant of a change it is not known, because the order of
    /// the two events is undefined.
    pub fn at(&self, at: Timestamp) -> Option<TeamId> {
        self.team.filter(|_| self.since < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn scoring_rule_5_the_favorite_of_then_is_known_since_the_last_change_alone() {
        let team = Some(TeamId::from_uuid(Uuid::from_u128(1)));
        let at = Timestamp::from_micros;
        let known = FavoriteAsOf { team, since: at(10) };
        assert_eq!([9, 10, 11].map(|micros| known.at(at(micros))), [None, None, team]);
        assert_eq!(FavoriteAsOf { team: None, ..known }.at(at(11)), None);
    }

    #[test]
    fn scoring_rules_4_and_5_the_activitys_team_goes_before_the_favorite() {
        let team = |n| TeamId::from_uuid(Uuid::from_u128(n));
        assert_eq!(board_team(Some(team(1)), Some(team(2))), Some(team(1)));
        assert_eq!(board_team(Some(team(1)), None), Some(team(1)));
        assert_eq!(board_team(None, Some(team(2))), Some(team(2)));
        assert_eq!(board_team(None, None), None);
    }

    #[test]
    fn scoring_rules_2_and_3_what_a_board_shows_in_a_season() {
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
