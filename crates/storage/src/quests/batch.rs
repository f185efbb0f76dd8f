//! Steps of several fans at once.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::quests::progress::RunRow;
use crate::quests::visits::VisitsRow;
use crate::rows::named;
use crate::schema::{daily_visits, user_quest_status, user_step_status, users};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use chrono_tz::Tz;
use diesel::prelude::*;
use std::collections::{HashMap, HashSet};
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_quests::{Period, QuestId, Run, StepBatch, StepDone, StepId, Visits};

impl StepBatch for DieselTx<'_> {
    fn lock_fans(&mut self, fans: &[UserId]) -> Result<HashMap<UserId, (Tz, Option<Visits>)>, StoreError> {
        let mut keys: Vec<Key> = fans.iter().copied().map(Key::of).collect();
        if let Conn::Pg(conn) = &mut self.conn {
            // A separate statement, because the nullable side of an outer join cannot be locked.
            keys = users::table
                .filter(users::id.eq_any(&keys))
                .filter(users::status.eq(ACTIVE))
                .select(users::id)
                .for_no_key_update()
                .skip_locked()
                .load(*conn)
                .map_err(broken("lock fans"))?;
        }
        let rows: Vec<(Key, String, Option<VisitsRow>)> = on!(self.conn, |conn| {
            users::table
                .left_join(daily_visits::table.on(daily_visits::user_id.eq(users::id)))
                .filter(users::id.eq_any(&keys))
                .filter(users::status.eq(ACTIVE))
                .select((users::id, users::time_zone, Option::<VisitsRow>::as_select()))
                .load(conn)
        })
        .map_err(broken("read the visits of fans"))?;
        rows.into_iter()
            .map(|(fan, zone, visits)| {
                let zone = named("users", "time_zone", &zone)?;
                Ok((fan.id(), (zone, visits.map(VisitsRow::into_visits).transpose()?)))
            })
            .collect()
    }

    fn lock_runs(
        &mut self,
        runs: &[(UserId, QuestId, Period)],
    ) -> Result<HashMap<UserId, (Run, Vec<StepDone>)>, StoreError> {
        let fans: Vec<Key> = runs.iter().map(|(fan, ..)| Key::of(*fan)).collect();
        let quests: HashSet<Key> = runs.iter().map(|(_, quest, _)| Key::of(*quest)).collect();
        let quests: Vec<Key> = quests.into_iter().collect();
        let theirs = user_quest_status::table
            .filter(user_quest_status::user_id.eq_any(&fans))
            .filter(user_quest_status::quest_id.eq_any(&quests));
        let rows: Vec<(Key, RunRow)> = match &mut self.conn {
            Conn::Pg(conn) => theirs
                .order(user_quest_status::user_id)
                .select((user_quest_status::user_id, RunRow::as_select()))
                .for_no_key_update()
                .load(*conn),
            Conn::Sqlite(conn) => {
                theirs.select((user_quest_status::user_id, RunRow::as_select())).load(*conn)
            }
        }
        .map_err(broken("lock the runs of fans"))?;
        let mut done = self.done_steps(&fans, &quests)?;
        let wanted: HashMap<UserId, (QuestId, Period)> =
            runs.iter().map(|(fan, quest, period)| (*fan, (*quest, *period))).collect();
        let mut found = HashMap::new();
        for (fan, row) in rows {
            let steps = row.steps_among(fan, &mut done);
            let run = row.into_run()?;
            let fan: UserId = fan.id();
            if wanted.get(&fan).is_some_and(|wanted| *wanted == (run.quest, run.period)) {
                found.insert(fan, (run, steps));
            }
        }
        Ok(found)
    }

    fn complete_steps(
        &mut self,
        steps: &[(UserId, StepId, Period, Timestamp)],
    ) -> Result<HashSet<UserId>, StoreError> {
        if steps.is_empty() {
            return Ok(HashSet::new());
        }
        let row = |(fan, step, period, at): &(UserId, StepId, Period, Timestamp)| {
            (
                user_step_status::user_id.eq(Key::of(*fan)),
                user_step_status::step_id.eq(Key::of(*step)),
                user_step_status::period.eq(period.to_string()),
                user_step_status::completed_at.eq(At(*at)),
            )
        };
        let rows: Vec<_> = steps.iter().map(row).collect();
        let written: Vec<Key> = on!(self.conn, |conn| {
            diesel::insert_into(user_step_status::table)
                .values(&rows)
                .on_conflict((user_step_status::user_id, user_step_status::step_id, user_step_status::period))
                .do_nothing()
                .returning(user_step_status::user_id)
                .get_results(conn)
        })
        .map_err(broken("complete steps"))?;
        Ok(written.into_iter().map(Key::id).collect())
    }
}
