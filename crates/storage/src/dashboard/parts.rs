//! The queries of a dashboard.

use crate::accounts::ACTIVE;
use crate::boards::{all_points, season_points};
use crate::nested::SqlQuery;
use crate::notifications::UNREAD;
use crate::schema::{
    daily_visits, leaderboards, owned_collectibles, quest_steps, reward_claims, spin_states, teams,
    user_packs, user_quest_status, user_step_status, users,
};
use crate::types::{At, Instant, Key, Uid};
use diesel::allow_tables_to_appear_in_same_query;
use diesel::dsl::{AsExprOf, auto_type};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use std::time::Duration;
use terrace_kernel::Timestamp;
use terrace_packs::UserPackState;
use terrace_rewards::ClaimStatus;
use terrace_store::dashboard::DashboardRows;

pub(super) const ORDERS: &str = "orders";
pub(super) const ROUNDS: &str = "trivia_rounds";

/// A live round is shown before others from this time before its start on.
const SOON: Duration = Duration::from_hours(24);

/// The columns between all points of the fan and the points of the season, [`UNREAD`] and those of [`ROUND`].
const NUMBERS: &str = "\
    held.point_balance, held.coin_balance, \
        (SELECT count(*) FROM user_packs WHERE user_id = $1 AND state = 'sealed'), \
        (SELECT count(*) FROM user_packs WHERE user_id = $1 AND state <> 'revoked'), \
        owned.collectibles, owned.distinct_collectibles, \
        (SELECT count(*) FROM reward_claims WHERE user_id = $1 AND status = 'issued' \
            AND (expires_at IS NULL OR expires_at > $2)), \
        placed.orders, placed.pending_orders, placed.paid_orders";

/// The columns of the round that the fan can play next; all are null if there is none.
const ROUND: &str = "\
    next_round.id, next_round.title, next_round.mode, \
        next_round.starts_at, next_round.closes_at, \
        next_round.question_count, next_round.joined_at";

/// Each table with rows of the fan is read once, from an index that begins with the fan; only copies of packs are counted
/// twice, each time in an index of its own, without reading their rows.
///
/// The time of rounds is hidden in a subquery. Otherwise, once there are many rounds, PostgreSQL expects enough of a plan for
/// the given time to plan the whole statement each time, which takes longer than to execute it.
const OF_FAN: &str = "\
    FROM (SELECT coalesce(max(CASE WHEN unit = 'points' THEN balance END), 0) AS point_balance, \
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
        WHERE NOT t.is_cancelled AND t.closes_at > (SELECT $2) AND p.paid_at IS NULL \
        ORDER BY CASE WHEN t.mode = 'live' AND t.starts_at <= $3 THEN 0 WHEN t.starts_at <= $2 THEN 1 ELSE 2 END, \
            t.starts_at, t.id LIMIT 1) AS next_round ON TRUE";

const ORDER: &str = "\
    id, state, points, coins, balance + card, currency, checkout_url, expires_at, created_at, \
    (SELECT CAST(coalesce(sum(quantity), 0) AS bigint) FROM order_lines WHERE order_id = orders.id), \
    coalesce((SELECT name FROM order_lines WHERE order_id = orders.id ORDER BY place LIMIT 1), '')";

const NEWEST_ORDERS: &str = "FROM orders WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2";

const TOPIC: &str = "begun_at, rank, tag, score, post_count";

/// One row without a topic if the ranking has none.
const TOPICS: &str = "\
    FROM (SELECT id, begun_at FROM trend_epochs WHERE published_at IS NOT NULL ORDER BY id DESC LIMIT 1) AS latest \
    LEFT JOIN trend_topics ON trend_topics.epoch = latest.id ORDER BY rank LIMIT $1";

allow_tables_to_appear_in_same_query!(daily_visits, leaderboards);
allow_tables_to_appear_in_same_query!(daily_visits, teams);
allow_tables_to_appear_in_same_query!(leaderboards, teams);
allow_tables_to_appear_in_same_query!(leaderboards, users);

const NEWEST: i64 = DashboardRows::NEWEST;

/// The columns of [`super::rows::NumbersRow`].
type NumbersColumns = (
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    Nullable<Uid>,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Instant>,
    Nullable<Instant>,
    Nullable<Integer>,
    Nullable<Instant>,
);

/// The columns of [`super::rows::SummaryRow`].
type SummaryColumns = (
    Uid,
    Text,
    BigInt,
    BigInt,
    BigInt,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Instant>,
    Instant,
    BigInt,
    Text,
);

/// The columns of [`super::rows::TopicRow`].
type TopicColumns = (Instant, Nullable<BigInt>, Nullable<Text>, Nullable<BigInt>, Nullable<BigInt>);

type IdValue = AsExprOf<Key, Uid>;
type InstantValue = AsExprOf<At, Instant>;
type NumberValue = AsExprOf<i64, BigInt>;

/// The numbers of a fan. Without `facts`, the points of the season are 0.
pub(super) fn numbers(
    user: Key,
    facts: bool,
    now: Timestamp,
) -> SqlQuery<(IdValue, InstantValue, InstantValue), NumbersColumns> {
    let season_points = if facts { season_points("$1") } else { "0".to_owned() };
    SqlQuery::new(
        format!("{}, {NUMBERS}, CAST({season_points} AS bigint), {UNREAD}, {ROUND}", all_points("$1")),
        OF_FAN,
        (user.into_sql::<Uid>(), At(now).into_sql::<Instant>(), At(now.plus(SOON)).into_sql::<Instant>()),
    )
}

pub(super) fn newest_orders(user: Key) -> SqlQuery<(IdValue, NumberValue), SummaryColumns> {
    SqlQuery::new(ORDER, NEWEST_ORDERS, (user.into_sql::<Uid>(), NEWEST.into_sql::<BigInt>()))
}

pub(super) fn topics() -> SqlQuery<(NumberValue,), TopicColumns> {
    SqlQuery::new(TOPIC, TOPICS, (DashboardRows::TOPICS.into_sql::<BigInt>(),))
}

/// An active account beside its favourite team, the board of that team, and its visits.
#[auto_type(no_type_alias)]
pub(super) fn account(user: Key) -> _ {
    let active: &'static str = ACTIVE;
    users::table
        .left_join(teams::table.on(users::favorite_team_id.eq(teams::id.nullable())))
        .left_join(leaderboards::table.on(leaderboards::team_id.eq(users::favorite_team_id)))
        .left_join(daily_visits::table.on(daily_visits::user_id.eq(users::id)))
        .filter(users::id.eq(user))
        .filter(users::status.eq(active))
}

#[auto_type(no_type_alias)]
pub(super) fn runs(user: Key, periods: Vec<String>) -> _ {
    user_quest_status::table
        .filter(user_quest_status::user_id.eq(user))
        .filter(user_quest_status::period.eq_any(periods))
        .order((user_quest_status::quest_id, user_quest_status::period))
}

/// The completed steps of [`runs`].
#[auto_type(no_type_alias)]
pub(super) fn done_steps(user: Key, periods: Vec<String>) -> _ {
    user_step_status::table
        .inner_join(quest_steps::table.on(quest_steps::id.eq(user_step_status::step_id)))
        .filter(user_step_status::user_id.eq(user))
        .filter(user_step_status::period.eq_any(periods))
        .order((quest_steps::place, quest_steps::key))
}

#[auto_type(no_type_alias)]
pub(super) fn sealed_packs(user: Key) -> _ {
    let (sealed, newest): (&'static str, i64) = (UserPackState::Sealed.as_str(), NEWEST);
    user_packs::table
        .filter(user_packs::user_id.eq(user))
        .filter(user_packs::state.eq(sealed))
        .order((user_packs::bought_at.desc(), user_packs::id.desc()))
        .limit(newest)
}

#[auto_type(no_type_alias)]
pub(super) fn collectibles(user: Key) -> _ {
    let newest: i64 = NEWEST;
    owned_collectibles::table
        .filter(owned_collectibles::user_id.eq(user))
        .filter(owned_collectibles::revoked_at.is_null())
        .order((owned_collectibles::acquired_at.desc(), owned_collectibles::id.desc()))
        .limit(newest)
}

#[auto_type(no_type_alias)]
pub(super) fn usable_claims(user: Key, now: At) -> _ {
    let issued: &'static str = ClaimStatus::Issued.as_str();
    let newest: i64 = NEWEST;
    reward_claims::table
        .filter(reward_claims::user_id.eq(user))
        .filter(reward_claims::status.eq(issued))
        .filter(reward_claims::expires_at.is_null().or(reward_claims::expires_at.gt(now)))
        .order((reward_claims::created_at.desc(), reward_claims::id.desc()))
        .limit(newest)
}

#[auto_type(no_type_alias)]
pub(super) fn spins(user: Key) -> _ {
    spin_states::table.filter(spin_states::user_id.eq(user))
}
