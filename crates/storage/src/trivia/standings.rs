//! The ranking of a round, and the awards that are due.

use crate::accounts::ACTIVE;
use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::rows::overfull;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};
use terrace_games::{CLOSING_DELAY, DuePlayer, Round, Standing, StandingKey};
use terrace_kernel::{Limit, StoreError, Timestamp, UserId, num};

/// All players of a round with their places. One statement computes the scores of all of them.
const RANKED: &str = "\
    WITH totals AS (\
        SELECT p.user_id, p.joined_at, CAST(COALESCE(SUM(a.points), 0) AS bigint) AS score, \
            CAST(COALESCE(SUM(a.taken - $1), 0) AS bigint) AS saved, CAST(COUNT(a.place) AS integer) AS answered \
        FROM trivia_players AS p JOIN users AS u ON u.id = p.user_id AND u.status = $2 \
        LEFT JOIN trivia_answers AS a ON a.round_id = p.round_id AND a.user_id = p.user_id \
            AND a.place < $3 AND a.option_id IS NOT NULL \
        WHERE p.round_id = $4 GROUP BY p.user_id, p.joined_at), \
    ranked AS (\
        SELECT user_id, joined_at, score, saved, answered, \
            ROW_NUMBER() OVER (ORDER BY score DESC, saved, joined_at, user_id) AS place \
        FROM totals) \
    SELECT user_id, joined_at, score, saved, answered, place FROM ranked";

const PAGE: &str = " \
    WHERE score < $5 OR (score = $5 AND (saved > $6 OR (saved = $6 AND (joined_at > $7 \
        OR (joined_at = $7 AND user_id > $8))))) ORDER BY place LIMIT $9";

const DUE: &str = "\
    SELECT p.round_id, p.user_id FROM trivia_rounds AS r JOIN trivia_players AS p ON p.round_id = r.id \
    JOIN users AS u ON u.id = p.user_id \
    WHERE r.closes_at > $1 AND NOT r.is_cancelled AND p.paid_at IS NULL AND u.status = $2 AND (\
        (r.mode = 'live' AND r.closes_at <= $3) OR (r.mode = 'solo' AND EXISTS (\
            SELECT 1 FROM trivia_answers AS a WHERE a.round_id = p.round_id AND a.user_id = p.user_id \
                AND a.place = r.question_count - 1 AND (a.option_id IS NOT NULL OR a.ends_at <= $4)))) \
    ORDER BY p.round_id, p.user_id LIMIT $5";

#[derive(QueryableByName)]
struct StandingRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Instant)]
    joined_at: At,
    #[diesel(sql_type = BigInt)]
    score: i64,
    #[diesel(sql_type = BigInt)]
    saved: i64,
    #[diesel(sql_type = Integer)]
    answered: i32,
    #[diesel(sql_type = BigInt)]
    place: i64,
}

impl StandingRow {
    fn into_standing(self) -> Result<Standing, StoreError> {
        Ok(Standing {
            key: StandingKey {
                score: self.score,
                saved: self.saved,
                joined_at: self.joined_at.0,
                user: self.user_id.id(),
            },
            rank: num::to_u64(self.place),
            answered: count("trivia_answers", "place", self.answered)?,
        })
    }
}

#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = Uid)]
    round_id: Key,
    #[diesel(sql_type = Uid)]
    user_id: Key,
}

impl DieselTx<'_> {
    pub(super) fn read_standings(
        &mut self,
        round: &Round,
        counted: u32,
        limit: Limit,
        after: Option<StandingKey>,
    ) -> Result<Vec<Standing>, StoreError> {
        // Before the first place.
        let after = after.unwrap_or(StandingKey {
            score: i64::MAX,
            saved: 0,
            joined_at: Timestamp::from_micros(0),
            user: UserId::from_uuid(terrace_kernel::Uuid::nil()),
        });
        let rows: Vec<StandingRow> = on!(self.conn, |conn| {
            Numbered::new(
                format!("{RANKED}{PAGE}"),
                (
                    num::to_i32(round.length_ms()).into_sql::<Integer>(),
                    ACTIVE.into_sql::<Text>(),
                    num::to_i32(counted).into_sql::<Integer>(),
                    Key::of(round.id).into_sql::<Uid>(),
                    after.score.into_sql::<BigInt>(),
                    after.saved.into_sql::<BigInt>(),
                    At(after.joined_at).into_sql::<Instant>(),
                    Key::of(after.user).into_sql::<Uid>(),
                    overfull(limit).into_sql::<BigInt>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("read the standings of a round"))?;
        rows.into_iter().map(StandingRow::into_standing).collect()
    }

    pub(super) fn read_standing(
        &mut self,
        round: &Round,
        counted: u32,
        user: UserId,
    ) -> Result<Option<Standing>, StoreError> {
        let row: Option<StandingRow> = on!(self.conn, |conn| {
            Numbered::new(
                format!("{RANKED} WHERE user_id = $5"),
                (
                    num::to_i32(round.length_ms()).into_sql::<Integer>(),
                    ACTIVE.into_sql::<Text>(),
                    num::to_i32(counted).into_sql::<Integer>(),
                    Key::of(round.id).into_sql::<Uid>(),
                    Key::of(user).into_sql::<Uid>(),
                ),
            )
            .get_result(conn)
            .optional()
        })
        .map_err(broken("read a fan's standing in a round"))?;
        row.map(StandingRow::into_standing).transpose()
    }

    pub(super) fn read_due_players(
        &mut self,
        now: Timestamp,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DuePlayer>, StoreError> {
        let rows: Vec<DueRow> = on!(self.conn, |conn| {
            Numbered::new(
                DUE,
                (
                    At(since).into_sql::<Instant>(),
                    ACTIVE.into_sql::<Text>(),
                    At(now).into_sql::<Instant>(),
                    At(now.minus(CLOSING_DELAY)).into_sql::<Instant>(),
                    i64::from(limit).into_sql::<BigInt>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("find fans whose award for a round is due"))?;
        Ok(rows
            .into_iter()
            .map(|row| DuePlayer { round: row.round_id.id(), user: row.user_id.id() })
            .collect())
    }
}
