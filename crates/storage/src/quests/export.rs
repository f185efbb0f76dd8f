//! The complete quest data of one fan, page by page.

use crate::conn::on;
use crate::error::broken;
use crate::quests::progress::RunRow;
use crate::rows::{keyset, named};
use crate::schema::{user_quest_status, user_step_status};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, UserId};
use terrace_quests::{OwnQuestRead, OwnStep, Period, QuestId, Run, StepId};

impl OwnQuestRead for DieselTx<'_> {
    fn own_runs(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<(QuestId, Period)>,
    ) -> Result<Vec<Run>, StoreError> {
        let rows: Vec<RunRow> = on!(self.conn, |conn| {
            let mut query = user_quest_status::table
                .filter(user_quest_status::user_id.eq(Key::of(user)))
                .select(RunRow::as_select())
                .into_boxed();
            if let Some((quest, period)) = after {
                let (quest, period) = (Key::of(quest), period.to_string());
                query =
                    keyset!(query, user_quest_status::quest_id > quest, user_quest_status::period > period);
            }
            query
                .order((user_quest_status::quest_id, user_quest_status::period))
                .limit(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("read all of a fan's quests"))?;
        rows.into_iter().map(RunRow::into_run).collect()
    }

    fn own_steps(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<(StepId, Period)>,
    ) -> Result<Vec<OwnStep>, StoreError> {
        let rows: Vec<(Key, String, At)> = on!(self.conn, |conn| {
            let mut query = user_step_status::table
                .filter(user_step_status::user_id.eq(Key::of(user)))
                .select((user_step_status::step_id, user_step_status::period, user_step_status::completed_at))
                .into_boxed();
            if let Some((step, period)) = after {
                let (step, period) = (Key::of(step), period.to_string());
                query = keyset!(query, user_step_status::step_id > step, user_step_status::period > period);
            }
            query
                .order((user_step_status::step_id, user_step_status::period))
                .limit(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("read all the steps that a fan did"))?;
        let own = |(step, period, at): (Key, String, At)| {
            let period = named("user_step_status", "period", &period)?;
            Ok(OwnStep { step: step.id(), period, at: at.0 })
        };
        rows.into_iter().map(own).collect()
    }
}
