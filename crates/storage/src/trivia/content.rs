//! Rounds, as content files describe them.

use crate::conn::on;
use crate::error::broken;
use crate::packs::count;
use crate::rows::{keyset, limited, named};
use crate::schema::trivia_rounds;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use terrace_games::{Round, RoundId, RoundKey, RoundList, RoundMode, RoundProgress, Script};
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, num};

const ROUNDS: &str = "trivia_rounds";

/// Live rounds that begin after a time, at another one at the latest, and were not announced. A macro, because the type of
/// the query depends on its parts.
macro_rules! unannounced {
    ($now:expr, $until:expr) => {
        trivia_rounds::table
            .filter(trivia_rounds::starts_at.gt(At($now)))
            .filter(trivia_rounds::starts_at.le(At($until)))
            .filter(trivia_rounds::mode.eq(RoundMode::Live.as_str()))
            .filter(not(trivia_rounds::is_cancelled))
            .filter(not(trivia_rounds::is_announced))
    };
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = trivia_rounds, treat_none_as_default_value = false, treat_none_as_null = true)]
struct RoundRow {
    id: Key,
    key: String,
    title: String,
    mode: String,
    team_id: Option<Key>,
    starts_at: At,
    closes_at: At,
    seconds: i32,
    reveal: i32,
    max_points: i32,
    question_count: i32,
    award: i32,
    script: String,
    is_cancelled: bool,
}

impl RoundRow {
    fn of(round: &Round) -> Self {
        Self {
            id: Key::of(round.id),
            key: round.key.to_string(),
            title: round.title.clone(),
            mode: round.mode.to_string(),
            team_id: round.team.map(Key::of),
            starts_at: At(round.starts_at),
            closes_at: At(round.closes_at),
            seconds: num::to_i32(round.seconds),
            reveal: num::to_i32(round.reveal),
            max_points: num::to_i32(round.max_points),
            question_count: num::to_i32(round.question_count),
            award: num::to_i32(round.award),
            script: round.script.canonical(),
            is_cancelled: round.is_cancelled,
        }
    }

    fn into_round(self) -> Result<Round, StoreError> {
        Ok(Round {
            id: self.id.id(),
            key: named(ROUNDS, "key", &self.key)?,
            title: self.title,
            mode: named(ROUNDS, "mode", &self.mode)?,
            team: self.team_id.map(Key::id),
            starts_at: self.starts_at.0,
            closes_at: self.closes_at.0,
            seconds: count(ROUNDS, "seconds", self.seconds)?,
            reveal: count(ROUNDS, "reveal", self.reveal)?,
            max_points: count(ROUNDS, "max_points", self.max_points)?,
            question_count: count(ROUNDS, "question_count", self.question_count)?,
            award: count(ROUNDS, "award", self.award)?,
            script: named::<Script>(ROUNDS, "script", &self.script)?,
            is_cancelled: self.is_cancelled,
        })
    }
}

fn rounds(rows: Vec<RoundRow>) -> Result<Vec<Round>, StoreError> {
    rows.into_iter().map(RoundRow::into_round).collect()
}

impl DieselTx<'_> {
    pub(super) fn read_rounds(&mut self) -> Result<Vec<Round>, StoreError> {
        on!(self.conn, |conn| {
            trivia_rounds::table
                .order((trivia_rounds::starts_at, trivia_rounds::id))
                .select(RoundRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the rounds"))
        .and_then(rounds)
    }

    pub(super) fn read_rounds_with(&mut self, ids: &[RoundId]) -> Result<Vec<Round>, StoreError> {
        let keys: Vec<Key> = ids.iter().map(|id| Key::of(*id)).collect();
        on!(self.conn, |conn| {
            trivia_rounds::table
                .filter(trivia_rounds::id.eq_any(&keys))
                .select(RoundRow::as_select())
                .load(conn)
        })
        .map_err(broken("read rounds"))
        .and_then(rounds)
    }

    pub(super) fn read_round_list(
        &mut self,
        list: RoundList,
        now: Timestamp,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Round>, StoreError> {
        use trivia_rounds as rows;
        let found = on!(self.conn, |conn| match list {
            RoundList::Current => {
                let mut query = rows::table
                    .filter(rows::is_cancelled.eq(false))
                    .filter(rows::closes_at.gt(At(now)))
                    .select(RoundRow::as_select())
                    .into_boxed();
                if let Some(TimeKey { at, id }) = after {
                    query = keyset!(query, rows::starts_at > At(at), rows::id > Key(id));
                }
                limited(query.order((rows::starts_at.asc(), rows::id.asc())), limit).load(conn)
            }
            RoundList::Past => {
                let mut query = rows::table
                    .filter(rows::is_cancelled.eq(true).or(rows::closes_at.le(At(now))))
                    .select(RoundRow::as_select())
                    .into_boxed();
                if let Some(TimeKey { at, id }) = after {
                    query = keyset!(query, rows::closes_at < At(at), rows::id < Key(id));
                }
                limited(query.order((rows::closes_at.desc(), rows::id.desc())), limit).load(conn)
            }
        })
        .map_err(broken("list rounds"))
        .and_then(rounds)?;
        Ok(Page::from_overfull(found, limit, |round| TimeKey {
            at: match list {
                RoundList::Current => round.starts_at,
                RoundList::Past => round.closes_at,
            },
            id: round.id.as_uuid(),
        }))
    }

    pub(super) fn write_rounds(&mut self, all: &[Round]) -> Result<(), StoreError> {
        for round in all {
            let row = RoundRow::of(round);
            let new = (
                trivia_rounds::published.eq(0),
                trivia_rounds::is_finished.eq(false),
                trivia_rounds::is_announced.eq(false),
            );
            on!(self.conn, |conn| {
                diesel::insert_into(trivia_rounds::table)
                    .values((&row, new))
                    .on_conflict(trivia_rounds::id)
                    .do_update()
                    .set(&row)
                    .execute(conn)
            })
            .map_err(broken("write a round"))?;
        }
        Ok(())
    }

    pub(super) fn cancel_other_rounds(
        &mut self,
        keep: &[RoundKey],
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let keep: Vec<&str> = keep.iter().map(RoundKey::as_str).collect();
        let others = trivia_rounds::table
            .filter(trivia_rounds::key.ne_all(keep))
            .filter(trivia_rounds::is_cancelled.eq(false))
            .filter(trivia_rounds::closes_at.gt(At(now)));
        on!(self.conn, |conn| {
            diesel::update(others).set(trivia_rounds::is_cancelled.eq(true)).execute(conn)
        })
        .map(num::to_u64)
        .map_err(broken("cancel rounds"))
    }

    pub(super) fn read_unfinished(&mut self, now: Timestamp) -> Result<Vec<RoundProgress>, StoreError> {
        let rows: Vec<(Key, i32)> = on!(self.conn, |conn| {
            trivia_rounds::table
                // Without a parameter, so that the partial index serves it.
                .filter(not(trivia_rounds::is_finished))
                .filter(trivia_rounds::starts_at.le(At(now)).or(trivia_rounds::is_cancelled.eq(true)))
                .order((trivia_rounds::starts_at, trivia_rounds::id))
                .select((trivia_rounds::id, trivia_rounds::published))
                .load(conn)
        })
        .map_err(broken("find unfinished rounds"))?;
        let progress = |(id, published): (Key, i32)| {
            Ok(RoundProgress { round: id.id(), published: count(ROUNDS, "published", published)? })
        };
        rows.into_iter().map(progress).collect()
    }

    pub(super) fn read_next_start(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let start: Option<At> = on!(self.conn, |conn| {
            trivia_rounds::table
                .filter(trivia_rounds::starts_at.gt(At(now)))
                .filter(trivia_rounds::is_cancelled.eq(false))
                .order(trivia_rounds::starts_at)
                .select(trivia_rounds::starts_at)
                .first(conn)
                .optional()
        })
        .map_err(broken("find the next round"))?;
        Ok(start.map(|start| start.0))
    }

    pub(super) fn has_unannounced(&mut self, now: Timestamp, until: Timestamp) -> Result<bool, StoreError> {
        on!(self.conn, |conn| diesel::select(exists(unannounced!(now, until))).get_result(conn))
            .map_err(broken("look for rounds that begin soon"))
    }

    pub(super) fn write_announced(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<(RoundId, Option<TeamId>)>, StoreError> {
        let rows: Vec<(Key, Option<Key>)> = on!(self.conn, |conn| {
            diesel::update(unannounced!(now, until))
                .set(trivia_rounds::is_announced.eq(true))
                .returning((trivia_rounds::id, trivia_rounds::team_id))
                .get_results(conn)
        })
        .map_err(broken("announce rounds"))?;
        Ok(rows.into_iter().map(|(round, team)| (round.id(), team.map(Key::id))).collect())
    }

    pub(super) fn write_progress(
        &mut self,
        before: RoundProgress,
        published: u32,
        is_finished: bool,
    ) -> Result<bool, StoreError> {
        let same = trivia_rounds::table
            .find(Key::of(before.round))
            .filter(trivia_rounds::published.eq(num::to_i32(before.published)))
            .filter(trivia_rounds::is_finished.eq(false));
        let after =
            (trivia_rounds::published.eq(num::to_i32(published)), trivia_rounds::is_finished.eq(is_finished));
        on!(self.conn, |conn| diesel::update(same).set(after).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("record the milestones of a round"))
    }
}
