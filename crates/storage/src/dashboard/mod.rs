//! The parts of a fan's dashboard that span areas, each in one statement.

use crate::conn::on;
use crate::error::broken;
use crate::notifications::UNREAD;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::rows::named;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use std::time::Duration;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_scoring::Points;
use terrace_shop::Amounts;
use terrace_social::{RankedTopic, Tag};
use terrace_store::dashboard::{DashboardNumbers, DashboardRead, OrderSummary, RoundSummary};

const ORDERS: &str = "orders";
const ROUNDS: &str = "trivia_rounds";

/// A live round is shown before others from this time before its start on.
const SOON: Duration = Duration::from_hours(24);

/// The columns before [`UNREAD`] and those of [`ROUND`].
const NUMBERS: &str = "\
    SELECT earned.points, held.point_balance, held.coin_balance, \
        (SELECT leaderboards.id FROM leaderboards WHERE leaderboards.team_id = users.favorite_team_id) AS team_board, \
        (SELECT count(*) FROM user_packs WHERE user_id = $1 AND state = 'sealed') AS sealed_packs, \
        (SELECT count(*) FROM user_packs WHERE user_id = $1 AND state <> 'revoked') AS owned_packs, \
        owned.collectibles, owned.distinct_collectibles, \
        (SELECT count(*) FROM reward_claims WHERE user_id = $1 AND status = 'issued' \
            AND (expires_at IS NULL OR expires_at > $2)) AS usable_claims, \
        placed.orders, placed.pending_orders, placed.paid_orders";

/// The columns of the round that the fan can play next; all are null if there is none.
const ROUND: &str = "\
    next_round.id AS round_id, next_round.title AS round_title, next_round.mode AS round_mode, \
        next_round.starts_at AS round_starts_at, next_round.closes_at AS round_closes_at, \
        next_round.question_count AS round_question_count, next_round.joined_at AS round_joined_at";

/// Each table with rows of the fan is read once, from an index that begins with the fan; only copies of packs are counted twice, each time in an
/// index of its own, without reading their rows.
const OF_FAN: &str = "\
    FROM users \
    CROSS JOIN (SELECT CAST(coalesce(sum(amount), 0) AS bigint) AS points \
        FROM points_history WHERE user_id = $1) AS earned \
    CROSS JOIN (SELECT coalesce(max(CASE WHEN unit = 'points' THEN balance END), 0) AS point_balance, \
            coalesce(max(CASE WHEN unit = 'coins' THEN balance END), 0) AS coin_balance \
        FROM ledger_accounts WHERE user_id = $1) AS held \
    CROSS JOIN (SELECT count(*) AS collectibles, count(DISTINCT collectible_id) AS distinct_collectibles \
        FROM owned_collectibles WHERE user_id = $1 AND revoked_at IS NULL) AS owned \
    CROSS JOIN (SELECT count(*) AS orders, count(CASE WHEN state = 'pending' THEN 1 END) AS pending_orders, \
            count(CASE WHEN state = 'paid' THEN 1 END) AS paid_orders \
        FROM orders WHERE user_id = $1) AS placed \
    LEFT JOIN (\
        SELECT t.id, t.title, t.mode, t.starts_at, t.closes_at, t.question_count, p.joined_at \
        FROM trivia_rounds AS t LEFT JOIN trivia_players AS p ON p.round_id = t.id AND p.user_id = $1 \
        WHERE NOT t.is_cancelled AND t.closes_at > $2 AND p.paid_at IS NULL \
        ORDER BY CASE WHEN t.mode = 'live' AND t.starts_at <= $3 THEN 0 WHEN t.starts_at <= $2 THEN 1 ELSE 2 END, \
            t.starts_at, t.id LIMIT 1) AS next_round ON TRUE \
    WHERE users.id = $1";

const NEWEST_ORDERS: &str = "\
    SELECT id, state, points, coins, balance + card AS money, currency, checkout_url, expires_at, created_at, \
        (SELECT CAST(coalesce(sum(quantity), 0) AS bigint) FROM order_lines WHERE order_id = orders.id) AS units, \
        coalesce((SELECT name FROM order_lines WHERE order_id = orders.id ORDER BY place LIMIT 1), '') AS name \
    FROM orders WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2";

/// One row without a topic if the ranking has none.
const TOPICS: &str = "\
    SELECT begun_at, rank, tag, score, post_count \
    FROM (SELECT id, begun_at FROM trend_epochs WHERE published_at IS NOT NULL ORDER BY id DESC LIMIT 1) AS latest \
    LEFT JOIN trend_topics ON trend_topics.epoch = latest.id ORDER BY rank LIMIT $1";

#[derive(QueryableByName)]
struct NumbersRow {
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = BigInt)]
    point_balance: i64,
    #[diesel(sql_type = BigInt)]
    coin_balance: i64,
    #[diesel(sql_type = Nullable<Uid>)]
    team_board: Option<Key>,
    #[diesel(sql_type = BigInt)]
    sealed_packs: i64,
    #[diesel(sql_type = BigInt)]
    owned_packs: i64,
    #[diesel(sql_type = BigInt)]
    collectibles: i64,
    #[diesel(sql_type = BigInt)]
    distinct_collectibles: i64,
    #[diesel(sql_type = BigInt)]
    usable_claims: i64,
    #[diesel(sql_type = BigInt)]
    orders: i64,
    #[diesel(sql_type = BigInt)]
    pending_orders: i64,
    #[diesel(sql_type = BigInt)]
    paid_orders: i64,
    #[diesel(sql_type = BigInt)]
    unread: i64,
    #[diesel(embed)]
    round: RoundRow,
}

#[derive(QueryableByName)]
#[expect(clippy::struct_field_names, reason = "the columns are beside others in one row")]
struct RoundRow {
    #[diesel(sql_type = Nullable<Uid>)]
    round_id: Option<Key>,
    #[diesel(sql_type = Nullable<Text>)]
    round_title: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    round_mode: Option<String>,
    #[diesel(sql_type = Nullable<Instant>)]
    round_starts_at: Option<At>,
    #[diesel(sql_type = Nullable<Instant>)]
    round_closes_at: Option<At>,
    #[diesel(sql_type = Nullable<Integer>)]
    round_question_count: Option<i32>,
    #[diesel(sql_type = Nullable<Instant>)]
    round_joined_at: Option<At>,
}

impl RoundRow {
    fn into_round(self) -> Result<Option<RoundSummary>, StoreError> {
        let (Some(id), Some(title), Some(mode), Some(starts_at), Some(closes_at), Some(questions)) = (
            self.round_id,
            self.round_title,
            self.round_mode,
            self.round_starts_at,
            self.round_closes_at,
            self.round_question_count,
        ) else {
            return Ok(None);
        };
        Ok(Some(RoundSummary {
            id: id.id(),
            title,
            mode: named(ROUNDS, "mode", &mode)?,
            starts_at: starts_at.0,
            closes_at: closes_at.0,
            question_count: count(ROUNDS, "question_count", questions)?,
            has_joined: self.round_joined_at.is_some(),
        }))
    }
}

#[derive(QueryableByName)]
struct SummaryRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = BigInt)]
    coins: i64,
    #[diesel(sql_type = BigInt)]
    money: i64,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    checkout_url: Option<String>,
    #[diesel(sql_type = Nullable<Instant>)]
    expires_at: Option<At>,
    #[diesel(sql_type = Instant)]
    created_at: At,
    #[diesel(sql_type = BigInt)]
    units: i64,
    #[diesel(sql_type = Text)]
    name: String,
}

impl SummaryRow {
    fn into_summary(self) -> Result<OrderSummary, StoreError> {
        Ok(OrderSummary {
            id: self.id.id(),
            state: named(ORDERS, "state", &self.state)?,
            name: self.name,
            units: num::to_u64(self.units),
            totals: Amounts { points: self.points, coins: self.coins, money: self.money },
            currency: self.currency.map(|code| named(ORDERS, "currency", &code)).transpose()?,
            checkout_url: self.checkout_url,
            expires_at: self.expires_at.map(|at| at.0),
            created_at: self.created_at.0,
        })
    }
}

#[derive(QueryableByName)]
struct TopicRow {
    #[diesel(sql_type = Instant)]
    begun_at: At,
    #[diesel(sql_type = Nullable<BigInt>)]
    rank: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    tag: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    score: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    post_count: Option<i64>,
}

impl TopicRow {
    fn into_topic(self) -> Option<RankedTopic> {
        Some(RankedTopic {
            rank: self.rank?,
            tag: Tag::stored(self.tag?),
            score: self.score?,
            post_count: self.post_count?,
        })
    }
}

impl DashboardRead for DieselTx<'_> {
    fn dashboard_numbers(
        &mut self,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<DashboardNumbers>, StoreError> {
        let row: Option<NumbersRow> = on!(self.conn, |conn| {
            Numbered::new(
                format!("{NUMBERS}, {UNREAD} AS unread, {ROUND} {OF_FAN}"),
                (
                    Key::of(user).into_sql::<Uid>(),
                    At(now).into_sql::<Instant>(),
                    At(now.plus(SOON)).into_sql::<Instant>(),
                ),
            )
            .get_result(conn)
            .optional()
        })
        .map_err(broken("count what a fan has"))?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(DashboardNumbers {
            points: Points::new(row.points),
            point_balance: row.point_balance,
            coin_balance: row.coin_balance,
            team_board: row.team_board.map(Key::id),
            sealed_packs: num::to_u64(row.sealed_packs),
            owned_packs: num::to_u64(row.owned_packs),
            collectibles: num::to_u64(row.collectibles),
            distinct_collectibles: num::to_u64(row.distinct_collectibles),
            usable_claims: num::to_u64(row.usable_claims),
            orders: num::to_u64(row.orders),
            pending_orders: num::to_u64(row.pending_orders),
            paid_orders: num::to_u64(row.paid_orders),
            unread: row.unread,
            round: row.round.into_round()?,
        }))
    }

    fn newest_orders(&mut self, user: UserId, limit: u32) -> Result<Vec<OrderSummary>, StoreError> {
        let rows: Vec<SummaryRow> = on!(self.conn, |conn| {
            Numbered::new(
                NEWEST_ORDERS,
                (Key::of(user).into_sql::<Uid>(), i64::from(limit).into_sql::<BigInt>()),
            )
            .load(conn)
        })
        .map_err(broken("list the newest orders of a fan"))?;
        rows.into_iter().map(SummaryRow::into_summary).collect()
    }

    fn current_topics(&mut self, limit: u32) -> Result<Option<(Timestamp, Vec<RankedTopic>)>, StoreError> {
        let rows: Vec<TopicRow> = on!(self.conn, |conn| {
            Numbered::new(TOPICS, (i64::from(limit).into_sql::<BigInt>(),)).load(conn)
        })
        .map_err(broken("read the topics of the current ranking"))?;
        let Some(begun_at) = rows.first().map(|row| row.begun_at.0) else { return Ok(None) };
        Ok(Some((begun_at, rows.into_iter().filter_map(TopicRow::into_topic).collect())))
    }
}
