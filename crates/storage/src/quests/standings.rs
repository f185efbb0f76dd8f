//! The progress of all fans.

use crate::accounts::ACTIVE;
use crate::conn::on;
use crate::error::broken;
use crate::quests::progress::{FactsRow, RunRow, facts};
use crate::quests::visits::VisitsRow;
use crate::rows::named;
use crate::schema::{daily_visits, quest_steps, user_quest_status, user_step_status, users};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use chrono::NaiveDate;
use chrono_tz::Tz;
use diesel::prelude::*;
use std::collections::HashMap;
use terrace_kernel::{StoreError, UserId, Uuid};
use terrace_quests::{FanStanding, Period, QuestId, Run, StandingsRead, StepDone, Visits};

/// A fan, the time zone, and the visits.
type VisitorRow = (Key, String, Option<VisitsRow>);
/// A fan, the step's quest, the period of the run, the step, and the time.
type DoneRow = (Key, Key, String, Key, At);

impl StandingsRead for DieselTx<'_> {
    fn standings_between(
        &mut self,
        first: UserId,
        last: UserId,
        dates: &[NaiveDate],
    ) -> Result<Vec<FanStanding>, StoreError> {
        let fail = broken("read how far fans are");
        let (from, to) = (Key::of(first), Key::of(last));
        let mut periods: Vec<String> = dates.iter().map(|date| Period::Day(*date).to_string()).collect();
        periods.push(Period::Once.to_string());
        let visitors: Vec<VisitorRow> = on!(self.conn, |conn| {
            users::table
                .left_join(daily_visits::table.on(daily_visits::user_id.eq(users::id)))
                .filter(users::id.between(from, to))
                .filter(users::status.eq(ACTIVE))
                .order(users::id)
                .select((users::id, users::time_zone, Option::<VisitsRow>::as_select()))
                .load(conn)
        })
        .map_err(&fail)?;
        let facts = facts(self.aggregate(), "users.id BETWEEN $1 AND $2 AND users.status = 'active'");
        let facts: Vec<FactsRow> = on!(self.conn, |conn| {
            diesel::sql_query(facts).bind::<Uid, _>(from).bind::<Uid, _>(to).load(conn)
        })
        .map_err(&fail)?;
        let runs: Vec<(Key, RunRow)> = on!(self.conn, |conn| {
            user_quest_status::table
                .filter(user_quest_status::user_id.between(from, to))
                .filter(user_quest_status::period.eq_any(&periods))
                .select((user_quest_status::user_id, RunRow::as_select()))
                .load(conn)
        })
        .map_err(&fail)?;
        let done: Vec<DoneRow> = on!(self.conn, |conn| {
            user_step_status::table
                .inner_join(quest_steps::table.on(quest_steps::id.eq(user_step_status::step_id)))
                .filter(user_step_status::user_id.between(from, to))
                .filter(user_step_status::period.eq_any(&periods))
                .select((
                    user_step_status::user_id,
                    quest_steps::quest_id,
                    user_step_status::period,
                    user_step_status::step_id,
                    user_step_status::completed_at,
                ))
                .load(conn)
        })
        .map_err(&fail)?;
        put_together(visitors, facts, runs, done)
    }

    fn streaks_after(
        &mut self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<(UserId, Tz, Visits)>, StoreError> {
        let after = after.map_or(Key(Uuid::nil()), Key::of);
        let rows: Vec<(Key, String, VisitsRow)> = on!(self.conn, |conn| {
            users::table
                .inner_join(daily_visits::table.on(daily_visits::user_id.eq(users::id)))
                .filter(daily_visits::user_id.gt(after))
                .filter(daily_visits::streak.ge(2))
                .filter(daily_visits::freezes.eq(0))
                .filter(users::status.eq(ACTIVE))
                .order(daily_visits::user_id)
                .limit(i64::from(limit))
                .select((users::id, users::time_zone, VisitsRow::as_select()))
                .load(conn)
        })
        .map_err(broken("read streaks"))?;
        let streak = |(user, zone, visits): (Key, String, VisitsRow)| {
            Ok((user.id(), named("users", "time_zone", &zone)?, visits.into_visits()?))
        };
        rows.into_iter().map(streak).collect()
    }
}

fn put_together(
    visitors: Vec<VisitorRow>,
    facts: Vec<FactsRow>,
    runs: Vec<(Key, RunRow)>,
    done: Vec<DoneRow>,
) -> Result<Vec<FanStanding>, StoreError> {
    let mut facts: HashMap<Key, FactsRow> = facts.into_iter().map(|row| (row.user_id, row)).collect();
    let mut done_in: HashMap<(Key, QuestId, Period), Vec<StepDone>> = HashMap::new();
    for (user, quest, period, step, at) in done {
        let period = named("user_step_status", "period", &period)?;
        let steps = done_in.entry((user, quest.id(), period)).or_default();
        steps.push(StepDone { step: step.id(), at: at.0 });
    }
    let mut runs_of: HashMap<Key, Vec<(Run, Vec<StepDone>)>> = HashMap::new();
    for (user, row) in runs {
        let run = row.into_run()?;
        let steps = done_in.remove(&(user, run.quest, run.period)).unwrap_or_default();
        runs_of.entry(user).or_default().push((run, steps));
    }
    let mut standings = Vec::with_capacity(visitors.len());
    for (user, zone, visits) in visitors {
        // An account that was deleted or suspended between the statements is missing here.
        let Some(row) = facts.remove(&user) else { continue };
        let zone = named("users", "time_zone", &zone)?;
        let visits = visits.map(VisitsRow::into_visits).transpose()?;
        standings.push(FanStanding {
            user: user.id(),
            progress: row.into_progress(zone, visits)?,
            runs: runs_of.remove(&user).unwrap_or_default(),
        });
    }
    Ok(standings)
}
