//! Steps and visits of several fans at once.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::quests::progress::RunRow;
use crate::quests::visits::VisitsRow;
use crate::rows::named;
use crate::schema::{daily_visits, user_quest_status, user_step_status, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use chrono::NaiveDate;
use chrono_tz::Tz;
use diesel::prelude::*;
use diesel::sql_types::{Array, Integer, Nullable, Text};
use std::collections::{HashMap, HashSet};
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_quests::{Period, QuestBatch, QuestId, Run, StepDone, StepId, Visits, VisitsChange};

/// What is read of the fans is read later: other transactions may have changed it after this statement's snapshot.
const LOCK_FREE: &str = "SELECT id FROM users WHERE id = ANY (";
const LOCK_FREE_END: &str = ") AND status = 'active' FOR NO KEY UPDATE SKIP LOCKED";

/// The fans are locked, so that their visits do not change meanwhile.
const PUT_VISITS: &str = ") AS given (user_id, last_paid, zone, change_to, change_from, jumped, streak, longest, freezes, \
    before)) INSERT INTO daily_visits (user_id, last_paid, zone, change_to, change_from, jumped, streak, longest, freezes) \
    SELECT given.user_id, given.last_paid, given.zone, given.change_to, given.change_from, given.jumped, given.streak, \
        given.longest, given.freezes FROM given LEFT JOIN daily_visits AS stored ON stored.user_id = given.user_id \
    WHERE stored.last_paid IS NOT DISTINCT FROM given.before \
    ON CONFLICT (user_id) DO UPDATE SET last_paid = excluded.last_paid, zone = excluded.zone, \
        change_to = excluded.change_to, change_from = excluded.change_from, jumped = excluded.jumped, \
        streak = excluded.streak, longest = excluded.longest, freezes = excluded.freezes";

impl DieselTx<'_> {
    /// Locks the active accounts among `fans` that no other transaction holds.
    pub(crate) fn lock_free(&mut self, fans: &[UserId]) -> Result<Vec<Key>, StoreError> {
        let fail = broken("lock fans");
        let keys: Vec<Key> = fans.iter().copied().map(Key::of).collect();
        match &mut self.conn {
            Conn::Pg(conn) => Fixed::<_, Uid>::new(LOCK_FREE, keys.into_sql::<Array<Uid>>(), LOCK_FREE_END)
                .load(*conn)
                .map_err(fail),
            Conn::Sqlite(conn) => users::table
                .filter(users::id.eq_any(&keys))
                .filter(users::status.eq(ACTIVE))
                .select(users::id)
                .load(*conn)
                .map_err(fail),
        }
    }
}

impl QuestBatch for DieselTx<'_> {
    fn lock_fans(&mut self, fans: &[UserId]) -> Result<HashMap<UserId, (Tz, Option<Visits>)>, StoreError> {
        let keys = self.lock_free(fans)?;
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
            let (run, steps) = row.with_steps(fan, &mut done)?;
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

    fn put_all_visits(&mut self, changes: &[VisitsChange]) -> Result<usize, StoreError> {
        if changes.is_empty() {
            return Ok(0);
        }
        let Conn::Pg(conn) = &mut self.conn else {
            let mut written = 0;
            for VisitsChange { user, visits, before } in changes {
                written += usize::from(self.write_visits(*user, visits, *before)?);
            }
            return Ok(written);
        };
        let date = |date: Option<NaiveDate>| date.map(|date| date.to_string());
        let number = |number: fn(&Visits) -> u32| column(changes, |one| num::to_i32(number(&one.visits)));
        let values = (
            column(changes, |one| Key::of(one.user)).into_sql::<Array<Uid>>(),
            column(changes, |one| date(one.visits.last_paid)).into_sql::<Array<Nullable<Text>>>(),
            column(changes, |one| one.visits.zone.name()).into_sql::<Array<Text>>(),
            column(changes, |one| one.visits.change.map(|change| change.to.name()))
                .into_sql::<Array<Nullable<Text>>>(),
            column(changes, |one| one.visits.change.map(|change| At(change.from)))
                .into_sql::<Array<Nullable<Instant>>>(),
            column(changes, |one| one.visits.jumped.to_string()).into_sql::<Array<Text>>(),
            number(|visits| visits.streak).into_sql::<Array<Integer>>(),
            number(|visits| visits.longest).into_sql::<Array<Integer>>(),
            number(|visits| visits.freezes).into_sql::<Array<Integer>>(),
            column(changes, |one| date(one.before)).into_sql::<Array<Nullable<Text>>>(),
        );
        Fixed::<_>::new(GIVEN, values, PUT_VISITS).execute(*conn).map_err(broken("write the visits of fans"))
    }
}
