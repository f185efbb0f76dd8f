//! Writes of quests and of the progress of fans.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::quests::progress::RunRow;
use crate::schema::{daily_visits, user_achievements, user_quest_status, user_step_status};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use chrono::NaiveDate;
use diesel::prelude::*;
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_quests::{
    AchievementKey, Period, Quest, QuestId, QuestKey, QuestWrite, Run, RunStatus, StepDone, StepId, Visits,
};

impl QuestWrite for DieselTx<'_> {
    fn put_quests(&mut self, quests: &[Quest]) -> Result<(), StoreError> {
        for (place, quest) in quests.iter().enumerate() {
            self.write_quest(quest, place)?;
        }
        for quest in quests {
            self.write_prerequisites(quest.id, &quest.prerequisites)?;
        }
        Ok(())
    }

    fn retire_quests(&mut self, keep: &[QuestKey]) -> Result<u64, StoreError> {
        self.retire(keep)
    }

    fn start_run(&mut self, user: UserId, run: &Run) -> Result<bool, StoreError> {
        let row = (
            user_quest_status::user_id.eq(Key::of(user)),
            user_quest_status::quest_id.eq(Key::of(run.quest)),
            user_quest_status::period.eq(run.period.to_string()),
            user_quest_status::status.eq(run.status.as_str()),
            user_quest_status::started_at.eq(At(run.started_at)),
            user_quest_status::completed_at.eq(run.completed_at.map(At)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(user_quest_status::table)
                .values(row)
                .on_conflict((
                    user_quest_status::user_id,
                    user_quest_status::quest_id,
                    user_quest_status::period,
                ))
                .do_nothing()
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("start a quest"))
    }

    fn start_run_by(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let later = user_quest_status::table
            .find((Key::of(user), Key::of(quest), period.to_string()))
            .filter(user_quest_status::started_at.gt(At(at)));
        let earlier = user_quest_status::started_at.eq(At(at));
        on!(self.conn, |conn| diesel::update(later).set(earlier).execute(conn))
            .map(drop)
            .map_err(broken("move the beginning of a quest back"))
    }

    fn lock_run(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
    ) -> Result<Option<(Run, Vec<StepDone>)>, StoreError> {
        let run = user_quest_status::table
            .find((Key::of(user), Key::of(quest), period.to_string()))
            .select(RunRow::as_select());
        let row: Option<RunRow> = match &mut self.conn {
            Conn::Pg(conn) => run.for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => user_quest_status::table
                .find((Key::of(user), Key::of(quest), period.to_string()))
                .select(RunRow::as_select())
                .first(*conn)
                .optional(),
        }
        .map_err(broken("lock a fan's quest"))?;
        Ok(self.with_steps(user, row.into_iter().collect())?.pop())
    }

    fn complete_step(
        &mut self,
        user: UserId,
        step: StepId,
        period: Period,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let row = (
            user_step_status::user_id.eq(Key::of(user)),
            user_step_status::step_id.eq(Key::of(step)),
            user_step_status::period.eq(period.to_string()),
            user_step_status::completed_at.eq(At(at)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(user_step_status::table)
                .values(row)
                .on_conflict((user_step_status::user_id, user_step_status::step_id, user_step_status::period))
                .do_nothing()
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("complete a step"))
    }

    fn complete_run(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let active = user_quest_status::table
            .find((Key::of(user), Key::of(quest), period.to_string()))
            .filter(user_quest_status::status.eq(RunStatus::Active.as_str()));
        let completed = (
            user_quest_status::status.eq(RunStatus::Completed.as_str()),
            user_quest_status::completed_at.eq(Some(At(at))),
        );
        on!(self.conn, |conn| diesel::update(active).set(completed).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("complete a quest"))
    }

    fn put_visits(
        &mut self,
        user: UserId,
        visits: &Visits,
        expected_last: Option<NaiveDate>,
    ) -> Result<bool, StoreError> {
        self.write_visits(user, visits, expected_last)
    }

    fn remove_progress_of(&mut self, user: UserId) -> Result<(), StoreError> {
        let user = Key::of(user);
        on!(self.conn, |conn| {
            diesel::delete(user_step_status::table.filter(user_step_status::user_id.eq(user)))
                .execute(conn)
                .and_then(|_| {
                    let runs = user_quest_status::table.filter(user_quest_status::user_id.eq(user));
                    diesel::delete(runs).execute(conn)
                })
                .and_then(|_| diesel::delete(daily_visits::table.find(user)).execute(conn))
                .and_then(|_| {
                    let achievements = user_achievements::table.filter(user_achievements::user_id.eq(user));
                    diesel::delete(achievements).execute(conn)
                })
        })
        .map(drop)
        .map_err(broken("remove what a fan did in quests"))
    }

    fn unlock_achievement(
        &mut self,
        user: UserId,
        key: &AchievementKey,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let row = (
            user_achievements::user_id.eq(Key::of(user)),
            user_achievements::achievement_key.eq(key.as_str()),
            user_achievements::unlocked_at.eq(At(at)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(user_achievements::table)
                .values(row)
                .on_conflict((user_achievements::user_id, user_achievements::achievement_key))
                .do_nothing()
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("unlock an achievement"))
    }
}
