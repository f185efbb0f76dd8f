//! Backfill of boards: assigns a board to records of a season that have none, if it can be determined (scoring rules
//! 4 and 5). Totals and boards are updated in the same transaction. Records without a season stay as they are (rule
//! 6).

use crate::maintenance::{Category, Derived, Looked, Page, Settled, Task, UnassignedAward, WalkReport, hold};
use crate::points::reconcile;
use crate::repairs::facts::favorites;
use std::collections::HashMap;
use std::convert::Infallible;
use terrace_kernel::{Ctx, StoreError, TeamId, Timestamp, UserId, Uuid};
use terrace_scoring::{Board, FavoriteAsOf, SourceKey, SourceKind, TeamBoardId, board_team};
use terrace_store::OpsTx;

/// Assigns boards to records.
pub(crate) fn boards() -> Task {
    let about = "Assigns a leaderboard to records of points without one, where it can be determined";
    Task::new(
        "backfill-boards",
        Category::Backfill,
        about,
        |work| async move { work.walk_fans(Boards).await },
    )
    // Seasons determine which records count.
    .after(&["turn-seasons"])
}

/// The team whose board a record counts on, if it is known: the quest's, else the fan's favourite at that time.
/// Unknown for games and for imported records, which do not name their activity. `teams` maps the ids of quests and
/// steps to the quest's team.
fn team_of(
    source: &SourceKey,
    at: Timestamp,
    teams: &HashMap<Uuid, Option<TeamId>>,
    favorite: Option<&FavoriteAsOf>,
) -> Option<TeamId> {
    let then = favorite.and_then(|known| known.at(at));
    match source.kind() {
        SourceKind::Quest | SourceKind::QuestStep => {
            let activity = source.subject().and_then(|id| teams.get(&id).copied())?;
            board_team(activity, then)
        }
        SourceKind::DailyVisit => board_team(None, then),
        SourceKind::Game | SourceKind::Import | SourceKind::Reversal => None,
    }
}

#[derive(Clone)]
struct Boards;

impl Derived for Boards {
    const NAME: &'static str = "backfill_boards";
    const AFFECTS_LEADERBOARD: bool = true;
    type Key = UserId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId> {
        page.fans(|tx, first, last| {
            let awards = tx.unassigned_awards_between(first, last)?;
            if awards.is_empty() {
                return Ok(Vec::new());
            }
            let teams = tx.teams_of_quests()?.into_iter().collect();
            let known: HashMap<_, _> = tx.favorites_between(first, last)?.into_iter().collect();
            let may_have = |record: &&UnassignedAward| {
                record.source.kind() == SourceKind::Reversal
                    || team_of(&record.source, record.at, &teams, known.get(&record.user)).is_some()
            };
            Ok(awards.iter().filter(may_have).map(|record| record.user).collect())
        })
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[UserId]) -> Settled {
        let mut report = WalkReport::default();
        // The lock prevents awards and changes of the favourite team meanwhile.
        let Some(held) = hold(tx, suspects)? else { return Ok(report) };
        let teams = tx.teams_of_quests()?.into_iter().collect();
        let known = favorites(tx, &held)?;
        let (reversals, records): (Vec<_>, Vec<_>) = tx
            .unassigned_awards_between(held.first, held.last)?
            .into_iter()
            .filter(|record| held.contains(record.user))
            .partition(|record| record.source.kind() == SourceKind::Reversal);
        let mut concerned: Vec<UserId> = Vec::new();
        for UnassignedAward { user, source, at } in records {
            let Some(team) = team_of(&source, at, &teams, known.get(&user)) else { continue };
            let Some(board) = board_of(tx, ctx, team)? else { continue };
            if tx.name_board(user, &source, board)? {
                report.wrote("records", 1);
                concerned.push(user);
            }
        }
        // A reversal counts on the board on which the reversed record counts now.
        for UnassignedAward { user, source, .. } in reversals {
            let Some(reversed) = source.reversed() else { continue };
            let Some(board) = tx.record(user, &reversed)?.and_then(|record| record.board) else { continue };
            if tx.name_board(user, &source, board)? {
                report.wrote("records", 1);
                concerned.push(user);
            }
        }
        report.wrote("fans", reconcile(tx, concerned, ctx.now())?);
        Ok(report)
    }
}

/// Returns the board of a team; creates it on first use.
fn board_of(tx: &mut dyn OpsTx, ctx: &mut Ctx, team: TeamId) -> Result<Option<TeamBoardId>, StoreError> {
    if let Some(board) = tx.board_of_team(team)? {
        return Ok(board.team_board());
    }
    if !tx.ensure_board(team, ctx.new_id(), ctx.now())? {
        return Ok(None);
    }
    Ok(tx.board_of_team(team)?.as_ref().and_then(Board::team_board))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scoring_rules_4_and_5_a_board_is_named_where_it_can_be_known() {
        let team = |n| TeamId::from_uuid(Uuid::from_u128(n));
        let at = Timestamp::from_micros;
        let (of_team, of_none, unknown) = (Uuid::from_u128(10), Uuid::from_u128(11), Uuid::from_u128(12));
        let teams = HashMap::from([(of_team, Some(team(1))), (of_none, None)]);
        let favorite = FavoriteAsOf { team: Some(team(2)), since: at(50) };
        let day = "2026-05-01".parse().unwrap();
        for (source, then, expected) in [
            (SourceKey::quest(of_team, None), 10, Some(team(1))),
            (SourceKey::quest_step(of_team, None), 60, Some(team(1))),
            (SourceKey::quest_step(of_none, Some(day)), 60, Some(team(2))),
            (SourceKey::quest_step(of_none, None), 50, None),
            (SourceKey::quest_step(unknown, None), 60, None),
            (SourceKey::daily_visit(day), 60, Some(team(2))),
            (SourceKey::daily_visit(day), 40, None),
            (SourceKey::game(of_team), 60, None),
            (SourceKey::import("one").unwrap(), 60, None),
        ] {
            assert_eq!(team_of(&source, at(then), &teams, Some(&favorite)), expected, "{source}");
        }
    }
}
