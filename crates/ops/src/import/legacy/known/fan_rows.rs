//! Interpretation of the rows that belong to fans.

use crate::import::legacy::known::{Board, KnownStep, Read, ReadState, id, named, wrong};
use crate::import::legacy::records::{Bad, Row};
use crate::import::legacy::rows::id_of;
use crate::import::legacy::seasons::Means;
use crate::import::legacy::table::LegacyTable;
use terrace_identity::TimeZone;
use terrace_kernel::{TeamId, Timestamp, UserId};
use terrace_quests::{Cadence, Period, today};
use terrace_scoring::{Points, SourceKey, reason};
use terrace_store::legacy::{
    LegacyEntry, LegacyFollow, LegacyPoints, LegacyRow, LegacyRun, LegacyStep, LegacyTeamFollow,
};

/// Greatest total on a board: a thousand times the greatest award. Totals are only added up and compared, but without
/// a bound a single row could overflow the sum in the database.
const MOST_TOTAL: Points = Points::new(1_000_000_000_000);

impl ReadState {
    pub(super) fn points(&self, row: &Row<'_>) -> Result<Read, Bad> {
        let id = id(row, "id")?;
        let source = SourceKey::import(&format!("{}/{id}", LegacyTable::PointsHistory));
        let source = source.map_err(|_| {
            Bad::new("has an id that is not 1 to 50 letters, digits, '.', '_', '/' or '-'", &id)
        })?;
        let (user, _) = self.fan(row, "userId")?;
        let amount = points(row, "amount")?;
        let most = Points::MAX_AWARD;
        if amount > most || amount < -most {
            return Err(Bad::new("amount is out of bounds", row.get("amount")));
        }
        let reason = reason(row.get("reason")).map_err(|error| wrong("reason", &error))?;
        let at = self.past(row, "createdAt")?;
        let season = row.filled("seasonId");
        let means =
            season.map(|season| named(&self.meant, season, "names a season that Season.csv does not have"));
        let means = means.transpose()?.copied();
        let board = row.filled("leaderboardId");
        let board =
            board.map(|board| named(&self.boards, board, "names a board that Leaderboard.csv does not have"));
        let board = board.transpose()?.copied();
        let team = match board {
            // Rows from before the first counted season have neither.
            Some(Board::Team(team)) if means != Some(Means::Uncounted) => team,
            Some(Board::Team(_) | Board::Global(_)) | None => None,
        };
        let lost = matches!(board, Some(Board::Team(None)));
        let remark = lost.then(|| Bad::new("the team of its board did not match: it has no board", &id));
        let (season, id) = (means.and_then(Means::season), id_of("PointsHistory", &id));
        let row = LegacyPoints { id, user, amount, reason, source, season, team, at };
        Ok(Read { rows: vec![LegacyRow::Points(row)], remark })
    }

    pub(super) fn run(&self, row: &Row<'_>) -> Result<Read, Bad> {
        let (user, zone) = self.fan(row, "userId")?;
        let (place, title) =
            named(&self.quests, row.get("questId"), "names a quest that Quest.csv does not have")?;
        let started_at = self.past(row, "startedAt")?;
        let completed_at = match (row.get("status").to_lowercase().as_str(), row.filled("completedAt")) {
            ("completed", Some(_)) => Some(self.past(row, "completedAt")?),
            ("active", None) => None,
            ("completed", None) => return Err(Bad::new("is completed without a time", title)),
            ("active", Some(_)) => return Err(Bad::new("is active and has a time of completion", title)),
            (other, _) => return Err(Bad::new("status is neither active nor completed", other)),
        };
        let Some(quest) = place.and_then(|place| self.here.quests.get(place)) else {
            return Ok(Read::left_out("its quest did not match", title));
        };
        let period = period(quest.cadence, zone, completed_at.unwrap_or(started_at));
        let run = LegacyRow::Run(LegacyRun { user, quest: quest.id, period, started_at, completed_at });
        // This record makes the quest appear among the fan's completed quests. It does not count on any board.
        let record = completed_at.map(|at| {
            let source = SourceKey::quest(quest.id.as_uuid(), period.local_date());
            let id = id_of("quest", &format!("{user}/{source}"));
            let (amount, reason) = (Points::ZERO, quest.title.clone());
            LegacyRow::Points(LegacyPoints { id, user, amount, reason, source, season: None, team: None, at })
        });
        Ok(Read { rows: [Some(run), record].into_iter().flatten().collect(), remark: None })
    }

    pub(super) fn step_done(&self, row: &Row<'_>) -> Result<Read, Bad> {
        let (user, zone) = self.fan(row, "userId")?;
        let old = row.get("questStepId");
        let step = named(&self.steps, old, "names a step that QuestStep.csv does not have")?;
        let at = self.past(row, "completedAt")?;
        let Some(KnownStep { quest, cadence, step }) = *step else {
            return Ok(Read::left_out("its step did not match", old));
        };
        let period = period(cadence, zone, at);
        Ok(Read::of(LegacyRow::Step(LegacyStep { user, quest, step, period, at })))
    }

    pub(super) fn entry(&self, row: &Row<'_>) -> Result<Read, Bad> {
        let (user, _) = self.fan(row, "userId")?;
        let old = row.get("leaderboardId");
        let board = named(&self.boards, old, "names a board that Leaderboard.csv does not have")?;
        let (points, at) = (points(row, "points")?, self.past(row, "createdAt")?);
        if points > MOST_TOTAL || points < -MOST_TOTAL {
            return Err(Bad::new("points are out of bounds", row.get("points")));
        }
        let scope = match *board {
            Board::Team(team) => team.map(TeamId::as_uuid),
            Board::Global(season) => season,
        };
        Ok(match scope {
            Some(scope) => Read::of(LegacyRow::Entry(LegacyEntry { user, scope, points, at })),
            None => Read::left_out("its board has no team or counted season here", old),
        })
    }

    pub(super) fn follow(&self, row: &Row<'_>) -> Result<Read, Bad> {
        let (user, _) = self.fan(row, "followerId")?;
        let at = self.past(row, "createdAt")?;
        match (row.filled("followedId"), row.filled("teamId")) {
            (Some(old), None) => {
                let (other, _) = self.fan(row, "followedId")?;
                if other == user {
                    return Ok(Read::left_out("a fan who follows themselves", old));
                }
                Ok(Read::of(LegacyRow::Follow(LegacyFollow { follower: user, followee: other, at })))
            }
            (None, Some(old)) => {
                Ok(match *named(&self.teams, old, "names a team that Team.csv does not have")? {
                    Some(team) => Read::of(LegacyRow::TeamFollow(LegacyTeamFollow { user, team, at })),
                    None => Read::left_out("its team did not match", old),
                })
            }
            (Some(_), Some(_)) | (None, None) => {
                Err(Bad::new("names not one of a fan and a team", row.get("followerId")))
            }
        }
    }

    fn fan(&self, row: &Row<'_>, column: &str) -> Result<(UserId, TimeZone), Bad> {
        let old = row.get(column);
        let id: UserId = id_of("User", old);
        match self.users.get(&id) {
            Some(zone) => Ok((id, *zone)),
            None => Err(Bad::new("names a fan that is not in User.csv", old)),
        }
    }

    /// A time that is not in the future.
    pub(super) fn past(&self, row: &Row<'_>, column: &'static str) -> Result<Timestamp, Bad> {
        let text = row.get(column);
        let at: Timestamp = text.parse().map_err(|error| wrong(column, &error))?;
        if at > self.here.now { Err(Bad::new("has a time that has not come", text)) } else { Ok(at) }
    }
}

fn points(row: &Row<'_>, column: &'static str) -> Result<Points, Bad> {
    let text = row.get(column);
    text.parse().map(Points::new).map_err(|_| Bad::new("has points that are no whole number", text))
}

fn period(cadence: Cadence, zone: TimeZone, at: Timestamp) -> Period {
    match cadence {
        Cadence::Once => Period::Once,
        Cadence::Daily => Period::Day(today(zone.tz(), None, at)),
    }
}
