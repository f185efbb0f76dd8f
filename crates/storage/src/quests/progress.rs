//! The progress of fans.

use crate::boards::season_points;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::named;
use crate::schema::{quest_steps, user_achievements, user_quest_status, user_step_status};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use chrono::NaiveDate;
use chrono_tz::Tz;
use diesel::dsl::{auto_type, exists, not};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use std::collections::{HashMap, HashSet};
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_quests::{
    AchievementKey, Facts, FanLock, FanProgress, Period, Quest, QuestId, QuestRead, Run, RunStatus, StepDone,
    StepId, Visits,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = user_quest_status)]
pub(crate) struct RunRow {
    quest_id: Key,
    period: String,
    status: String,
    started_at: At,
    completed_at: Option<At>,
}

impl RunRow {
    /// The run, with its completed steps, which are taken.
    pub(crate) fn with_steps(
        self,
        fan: Key,
        done: &mut DoneSteps,
    ) -> Result<(Run, Vec<StepDone>), StoreError> {
        let steps = done.remove(&(fan, self.quest_id, self.period.clone())).unwrap_or_default();
        Ok((self.into_run()?, steps))
    }

    pub(crate) fn into_run(self) -> Result<Run, StoreError> {
        Ok(Run {
            quest: self.quest_id.id(),
            period: named("user_quest_status", "period", &self.period)?,
            status: named("user_quest_status", "status", &self.status)?,
            started_at: self.started_at.0,
            completed_at: self.completed_at.map(|at| at.0),
        })
    }
}

/// A fan, a run's quest and period, the step, and the time.
pub(crate) type DoneRow = (Key, Key, String, Key, At);

/// The columns of [`DoneRow`].
#[auto_type(no_type_alias)]
pub(crate) fn done_step() -> _ {
    (
        user_step_status::user_id,
        quest_steps::quest_id,
        user_step_status::period,
        user_step_status::step_id,
        user_step_status::completed_at,
    )
}

#[auto_type(no_type_alias)]
pub(crate) fn completed_quests(user: Key, among: Vec<Key>) -> _ {
    let completed: &'static str = RunStatus::Completed.as_str();
    user_quest_status::table
        .filter(user_quest_status::user_id.eq(user))
        .filter(user_quest_status::quest_id.eq_any(among))
        .filter(user_quest_status::status.eq(completed))
        .distinct()
}

/// The key of an achievement, and when it was unlocked.
pub(crate) type AchievementRow = (String, At);

pub(crate) fn into_achievement((key, at): AchievementRow) -> Result<(AchievementKey, Timestamp), StoreError> {
    Ok((named("user_achievements", "achievement_key", &key)?, at.0))
}

#[auto_type(no_type_alias)]
pub(crate) fn achievements(user: Key) -> _ {
    user_achievements::table.filter(user_achievements::user_id.eq(user))
}

/// The columns of [`AchievementRow`].
#[auto_type(no_type_alias)]
pub(crate) fn achievement() -> _ {
    (user_achievements::achievement_key, user_achievements::unlocked_at)
}

/// Completed steps by fan, quest and period.
pub(crate) type DoneSteps = HashMap<(Key, Key, String), Vec<StepDone>>;

/// Completed steps by their runs, each run's in the order of these rows.
pub(crate) fn by_run(rows: Vec<DoneRow>) -> DoneSteps {
    let mut done = DoneSteps::new();
    for (fan, quest, period, step, at) in rows {
        done.entry((fan, quest, period)).or_default().push(StepDone { step: step.id(), at: at.0 });
    }
    done
}

/// All facts about a fan in one statement. Counts only distinct, current rows: existing edges, and boards that the fan
/// has not left.
pub(crate) fn facts(aggregate: &str, whom: &str) -> String {
    let season_points = season_points("users.id");
    format!(
        "SELECT users.id AS user_id, users.picture IS NOT NULL AS has_picture, users.favorite_team_id IS NOT NULL AS has_favorite_team, \
            users.display_name <> '' AS has_display_name, users.bio <> '' AS has_bio, \
            users.follower_count AS followers, users.following_count AS follows, \
            (SELECT COUNT(*) FROM leaderboard_entries e JOIN leaderboards b ON b.id = e.leaderboard_id \
                WHERE e.user_id = users.id AND e.left_at IS NULL AND b.team_id IS NOT NULL) AS boards_joined, \
            {season_points} AS season_points, \
            (SELECT COUNT(*) FROM user_quest_status q WHERE q.user_id = users.id AND q.status = 'completed') \
                AS quests_completed, \
            coalesce((SELECT {aggregate}(a.achievement_key, ' ') FROM user_achievements a \
                WHERE a.user_id = users.id), '') AS achievements \
         FROM users WHERE {whom}"
    )
}

#[derive(QueryableByName)]
#[expect(clippy::struct_excessive_bools, reason = "each field is an independent fact")]
pub(crate) struct FactsRow {
    #[diesel(sql_type = Uid)]
    pub(crate) user_id: Key,
    #[diesel(sql_type = Bool)]
    has_picture: bool,
    #[diesel(sql_type = Bool)]
    has_favorite_team: bool,
    #[diesel(sql_type = Bool)]
    has_display_name: bool,
    #[diesel(sql_type = Bool)]
    has_bio: bool,
    #[diesel(sql_type = BigInt)]
    followers: i64,
    #[diesel(sql_type = BigInt)]
    follows: i64,
    #[diesel(sql_type = BigInt)]
    boards_joined: i64,
    #[diesel(sql_type = BigInt)]
    season_points: i64,
    #[diesel(sql_type = BigInt)]
    quests_completed: i64,
    #[diesel(sql_type = Text)]
    achievements: String,
}

impl FactsRow {
    /// Combines the facts with the visits into the input of checks and achievements.
    pub(crate) fn into_progress(self, zone: Tz, visits: Option<Visits>) -> Result<FanProgress, StoreError> {
        let achievements = self.achievements.split_whitespace();
        Ok(FanProgress {
            zone,
            visits,
            quests_completed: num::to_u64(self.quests_completed),
            achievements: achievements
                .map(|key| named("user_achievements", "achievement_key", key))
                .collect::<Result<_, _>>()?,
            facts: self.into_facts(),
        })
    }

    fn into_facts(self) -> Facts {
        Facts {
            follows: num::to_u64(self.follows),
            followers: num::to_u64(self.followers),
            has_picture: self.has_picture,
            has_favorite_team: self.has_favorite_team,
            has_display_name: self.has_display_name,
            has_bio: self.has_bio,
            boards_joined: num::to_u64(self.boards_joined),
            season_points: self.season_points,
            rank: None,
        }
    }
}

impl DieselTx<'_> {
    /// The SQL function that concatenates texts.
    pub(crate) fn aggregate(&self) -> &'static str {
        match &self.conn {
            Conn::Pg(_) => "string_agg",
            Conn::Sqlite(_) => "group_concat",
        }
    }

    fn facts_row(&mut self, user: UserId) -> Result<Option<FactsRow>, StoreError> {
        let facts = facts(self.aggregate(), "users.id = $1");
        on!(self.conn, |conn| {
            Numbered::new(facts, (Key::of(user).into_sql::<Uid>(),)).get_result(conn).optional()
        })
        .map_err(broken("read what is known of a fan"))
    }

    /// Adds the completed steps of a fan to these runs.
    pub(super) fn with_steps(
        &mut self,
        user: UserId,
        runs: Vec<RunRow>,
    ) -> Result<Vec<(Run, Vec<StepDone>)>, StoreError> {
        let quests: Vec<Key> = runs.iter().map(|run| run.quest_id).collect();
        let mut done =
            if quests.is_empty() { HashMap::new() } else { self.done_steps(&[Key::of(user)], &quests)? };
        runs.into_iter().map(|row| row.with_steps(Key::of(user), &mut done)).collect()
    }

    /// The completed steps of these fans in these quests, in the order of the steps, by fan, quest and period.
    pub(crate) fn done_steps(&mut self, fans: &[Key], quests: &[Key]) -> Result<DoneSteps, StoreError> {
        let rows: Vec<DoneRow> = on!(self.conn, |conn| {
            user_step_status::table
                .inner_join(quest_steps::table.on(quest_steps::id.eq(user_step_status::step_id)))
                .filter(user_step_status::user_id.eq_any(fans))
                .filter(quest_steps::quest_id.eq_any(quests))
                .order((quest_steps::place, quest_steps::key))
                .select(done_step())
                .load(conn)
        })
        .map_err(broken("read the completed steps of fans"))?;
        Ok(by_run(rows))
    }
}

impl QuestRead for DieselTx<'_> {
    fn quests(&mut self) -> Result<Vec<Quest>, StoreError> {
        self.all_quests()
    }

    fn runs(
        &mut self,
        user: UserId,
        of: &[(QuestId, Period)],
    ) -> Result<Vec<(Run, Vec<StepDone>)>, StoreError> {
        let quests: Vec<Key> = of.iter().map(|(quest, _)| Key::of(*quest)).collect();
        let periods: Vec<String> = of.iter().map(|(_, period)| period.to_string()).collect();
        let rows: Vec<RunRow> = on!(self.conn, |conn| {
            user_quest_status::table
                .filter(user_quest_status::user_id.eq(Key::of(user)))
                .filter(user_quest_status::quest_id.eq_any(quests))
                .filter(user_quest_status::period.eq_any(periods))
                .select(RunRow::as_select())
                .load(conn)
        })
        .map_err(broken("read a fan's quests"))?;
        let mut runs = self.with_steps(user, rows)?;
        runs.retain(|(run, _)| of.contains(&(run.quest, run.period)));
        Ok(runs)
    }

    fn open_runs(&mut self, user: UserId, today: NaiveDate) -> Result<Vec<(Run, Vec<StepDone>)>, StoreError> {
        let periods = [Period::Once.to_string(), Period::Day(today).to_string()];
        // A run is returned once for each step of its quest, together with the completed steps.
        let rows: Vec<(RunRow, Option<(Key, At)>)> = on!(self.conn, |conn| {
            user_quest_status::table
                .left_join(quest_steps::table.on(quest_steps::quest_id.eq(user_quest_status::quest_id)))
                .left_join(
                    user_step_status::table.on(user_step_status::step_id
                        .nullable()
                        .eq(quest_steps::id.nullable())
                        .and(user_step_status::user_id.eq(user_quest_status::user_id))
                        .and(user_step_status::period.eq(user_quest_status::period))),
                )
                .filter(user_quest_status::user_id.eq(Key::of(user)))
                .filter(user_quest_status::period.eq_any(periods))
                .order((
                    user_quest_status::quest_id,
                    user_quest_status::period,
                    quest_steps::place,
                    quest_steps::key,
                ))
                .select((
                    RunRow::as_select(),
                    (user_step_status::step_id, user_step_status::completed_at).nullable(),
                ))
                .load(conn)
        })
        .map_err(broken("read a fan's quests"))?;
        let mut runs: Vec<(Run, Vec<StepDone>)> = Vec::new();
        for (row, step) in rows {
            let run = row.into_run()?;
            let step = step.map(|(step, at)| StepDone { step: step.id(), at: at.0 });
            match runs.last_mut() {
                Some((last, done)) if (last.quest, last.period) == (run.quest, run.period) => {
                    done.extend(step);
                }
                Some(_) | None => runs.push((run, step.into_iter().collect())),
            }
        }
        Ok(runs)
    }

    fn facts(&mut self, user: UserId) -> Result<Facts, StoreError> {
        Ok(self.facts_row(user)?.map_or_else(Facts::default, FactsRow::into_facts))
    }

    fn visits_and_zone(&mut self, user: UserId) -> Result<Option<(Tz, Option<Visits>)>, StoreError> {
        self.read_visits(user, false)
    }

    fn progress_of(&mut self, user: UserId) -> Result<Option<FanProgress>, StoreError> {
        let Some((zone, visits)) = self.read_visits(user, false)? else { return Ok(None) };
        let Some(row) = self.facts_row(user)? else { return Ok(None) };
        Ok(Some(row.into_progress(zone, visits)?))
    }

    fn completed_among(&mut self, user: UserId, quests: &[QuestId]) -> Result<Vec<QuestId>, StoreError> {
        if quests.is_empty() {
            return Ok(Vec::new());
        }
        let quests: Vec<Key> = quests.iter().copied().map(Key::of).collect();
        let rows: Vec<Key> = on!(self.conn, |conn| {
            completed_quests(Key::of(user), quests).select(user_quest_status::quest_id).load(conn)
        })
        .map_err(broken("find which quests a fan completed"))?;
        Ok(rows.into_iter().map(Key::id).collect())
    }

    fn active_among(&mut self, users: &[UserId], quests: &[QuestId]) -> Result<Vec<UserId>, StoreError> {
        let users = users.iter().copied().map(Key::of);
        let quests = quests.iter().copied().map(Key::of);
        let rows: Vec<Key> = on!(self.conn, |conn| {
            user_quest_status::table
                .filter(user_quest_status::user_id.eq_any(users))
                .filter(user_quest_status::quest_id.eq_any(quests))
                .filter(user_quest_status::status.eq(RunStatus::Active.as_str()))
                .select(user_quest_status::user_id)
                .distinct()
                .load(conn)
        })
        .map_err(broken("find the fans in a quest"))?;
        Ok(rows.into_iter().map(Key::id).collect())
    }

    fn undone_among(
        &mut self,
        users: &[UserId],
        steps: &[StepId],
        since: Timestamp,
    ) -> Result<Vec<(UserId, StepId)>, StoreError> {
        let users = users.iter().copied().map(Key::of);
        let steps = steps.iter().copied().map(Key::of);
        let rows: Vec<(Key, Key)> = on!(self.conn, |conn| {
            let done = user_step_status::table
                .filter(user_step_status::user_id.eq(user_quest_status::user_id))
                .filter(user_step_status::step_id.eq(quest_steps::id))
                .filter(user_step_status::period.eq(user_quest_status::period));
            let is_recent = user_quest_status::started_at.ge(At(since));
            user_quest_status::table
                .inner_join(quest_steps::table.on(quest_steps::quest_id.eq(user_quest_status::quest_id)))
                .filter(user_quest_status::user_id.eq_any(users))
                .filter(quest_steps::id.eq_any(steps))
                .filter(user_quest_status::period.eq(Period::Once.to_string()).or(is_recent))
                .filter(not(exists(done)))
                .select((user_quest_status::user_id, quest_steps::id))
                .load(conn)
        })
        .map_err(broken("find the fans who have not completed a step"))?;
        Ok(rows.into_iter().map(|(user, step)| (user.id(), step.id())).collect())
    }

    fn achieved_among(
        &mut self,
        users: &[UserId],
        keys: &[AchievementKey],
    ) -> Result<Vec<(UserId, AchievementKey)>, StoreError> {
        let users = users.iter().copied().map(Key::of);
        let keys = keys.iter().map(AchievementKey::as_str);
        let rows: Vec<(Key, String)> = on!(self.conn, |conn| {
            user_achievements::table
                .filter(user_achievements::user_id.eq_any(users))
                .filter(user_achievements::achievement_key.eq_any(keys))
                .select((user_achievements::user_id, user_achievements::achievement_key))
                .load(conn)
        })
        .map_err(broken("find the fans with an achievement"))?;
        rows.into_iter()
            .map(|(user, key)| Ok((user.id(), named("user_achievements", "achievement_key", &key)?)))
            .collect()
    }

    fn achievements_of(&mut self, user: UserId) -> Result<Vec<(AchievementKey, Timestamp)>, StoreError> {
        let own = achievements(Key::of(user)).select(achievement());
        let rows: Vec<AchievementRow> =
            on!(self.conn, |conn| own.load(conn)).map_err(broken("read a fan's achievements"))?;
        rows.into_iter().map(into_achievement).collect()
    }
}

impl FanLock for DieselTx<'_> {
    fn lock_fan(&mut self, user: UserId) -> Result<Option<(Tz, Option<Visits>)>, StoreError> {
        self.read_visits(user, true)
    }

    fn lock_free_fans(&mut self, users: &[UserId]) -> Result<HashSet<UserId>, StoreError> {
        Ok(self.lock_free(users)?.into_iter().map(Key::id).collect())
    }
}
