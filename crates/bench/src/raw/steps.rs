//! The statements that completing a step executes on SQLite, in the order of the service: the fan, the run, its
//! completed steps, the step, its event, and its award.

use super::awards::{Given, active_season, give};
use super::{connect, in_groups, now};
use crate::rows::{boards, quests};
use anyhow::{Context, Result, ensure};
use diesel::prelude::*;
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

diesel::table! {
    users (id) {
        id -> Binary,
        time_zone -> Text,
        status -> Text,
    }
}

diesel::table! {
    daily_visits (user_id) {
        user_id -> Binary,
        last_paid -> Nullable<Text>,
        zone -> Text,
        change_to -> Nullable<Text>,
        change_from -> Nullable<BigInt>,
        jumped -> Text,
        streak -> Integer,
        longest -> Integer,
        freezes -> Integer,
    }
}

diesel::table! {
    user_quest_status (user_id, quest_id, period) {
        user_id -> Binary,
        quest_id -> Binary,
        period -> Text,
        status -> Text,
        started_at -> BigInt,
        completed_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    quest_steps (id) {
        id -> Binary,
        quest_id -> Binary,
        key -> Text,
        place -> Integer,
    }
}

diesel::table! {
    user_step_status (user_id, step_id, period) {
        user_id -> Binary,
        step_id -> Binary,
        period -> Text,
        completed_at -> BigInt,
    }
}

diesel::allow_tables_to_appear_in_same_query!(users, daily_visits);
diesel::allow_tables_to_appear_in_same_query!(quest_steps, user_step_status);

#[derive(Insertable)]
#[diesel(table_name = super::events, treat_none_as_default_value = false)]
struct NewEvent<'a> {
    topic: &'a str,
    kind: &'a str,
    actor_id: Option<&'a [u8]>,
    team_id: Option<&'a [u8]>,
    subject_id: &'a [u8],
    object_id: Option<&'a [u8]>,
    created_at: i64,
}

/// The stored state of visits.
type VisitsRow = (Option<String>, String, Option<String>, Option<i64>, String, i32, i32, i32);
/// Quest, period, status, start, completion.
type RunRow = (Vec<u8>, String, String, i64, Option<i64>);
/// Quest, period, step, time.
type DoneRow = (Vec<u8>, String, Vec<u8>, i64);

/// The loop on one database. Numbers continue from run to run, so that no step is repeated.
pub(crate) struct StepLoop {
    conn: SqliteConnection,
    next: u64,
    fans: u64,
    season: Vec<u8>,
}

impl StepLoop {
    /// Opens the database with the pragmas of the service's writer; `fans` is the number of bulk fans in the quest.
    pub(crate) fn open(file: &Path, fans: u64) -> Result<Self> {
        let mut conn = connect(file)?;
        let season = active_season(&mut conn)?;
        Ok(Self { conn, next: 0, fans, season })
    }

    /// Steps per second over `duration`, after `warm_up`, with `group` steps per commit on average.
    pub(crate) fn run(&mut self, group: f64, warm_up: Duration, duration: Duration) -> Result<f64> {
        let Self { conn, next, fans, season } = self;
        let rate = in_groups(conn, group, warm_up, duration, |conn| {
            *next += 1;
            complete(conn, *next - 1, *fans, season)
        })?;
        ensure!(*next < *fans * quests::STEPS, "there are more steps in a second than fans for them");
        Ok(rate)
    }
}

/// Reads an active fan and their visits.
pub(super) fn read_fan(conn: &mut SqliteConnection, user: &[u8]) -> Result<()> {
    let visits = (
        daily_visits::last_paid,
        daily_visits::zone,
        daily_visits::change_to,
        daily_visits::change_from,
        daily_visits::jumped,
        daily_visits::streak,
        daily_visits::longest,
        daily_visits::freezes,
    );
    let _fan: (String, Option<VisitsRow>) = users::table
        .left_join(daily_visits::table.on(daily_visits::user_id.eq(users::id)))
        .filter(users::id.eq(user))
        .filter(users::status.eq("active"))
        .select((users::time_zone, visits.nullable()))
        .first(conn)
        .context("no such fan")?;
    Ok(())
}

fn complete(conn: &mut SqliteConnection, number: u64, fans: u64, season: &[u8]) -> Result<()> {
    let at = now()?;
    // The steps of a fan are far apart, so that consecutive steps belong to different fans.
    let fan = Uuid::from_u128(boards::fan(number % fans, fans));
    let step = Uuid::from_u128(quests::step(number / fans));
    let quest = Uuid::from_u128(quests::quest());
    let (user, step_id, quest) =
        (fan.as_bytes().as_slice(), step.as_bytes().as_slice(), quest.as_bytes().as_slice());

    read_fan(conn, user)?;
    let run: RunRow = user_quest_status::table
        .find((user, quest, ""))
        .select((
            user_quest_status::quest_id,
            user_quest_status::period,
            user_quest_status::status,
            user_quest_status::started_at,
            user_quest_status::completed_at,
        ))
        .first(conn)
        .context("the fan is not in the quest")?;
    let _done: Vec<DoneRow> = user_step_status::table
        .inner_join(quest_steps::table.on(quest_steps::id.eq(user_step_status::step_id)))
        .filter(user_step_status::user_id.eq(user))
        .filter(quest_steps::quest_id.eq_any([run.0]))
        .order((quest_steps::place, quest_steps::key))
        .select((
            quest_steps::quest_id,
            user_step_status::period,
            user_step_status::step_id,
            user_step_status::completed_at,
        ))
        .load(conn)?;
    let written = diesel::insert_into(user_step_status::table)
        .values((
            user_step_status::user_id.eq(user),
            user_step_status::step_id.eq(step_id),
            user_step_status::period.eq(""),
            user_step_status::completed_at.eq(at),
        ))
        .on_conflict((user_step_status::user_id, user_step_status::step_id, user_step_status::period))
        .do_nothing()
        .execute(conn)?;
    ensure!(written == 1, "the step was done before");
    let event = NewEvent {
        topic: "quests",
        kind: "step.completed",
        actor_id: Some(user),
        team_id: None,
        subject_id: step_id,
        object_id: None,
        created_at: at,
    };
    diesel::insert_into(super::events::table).values(&event).execute(conn)?;
    let source = format!("quest_step:{step}");
    let given = Given {
        user: fan,
        record: Uuid::from_u128(boards::record(number)),
        source: &source,
        amount: quests::POINTS,
        reason: quests::TITLE,
    };
    give(conn, &given, season)
}
