//! Counts of orders, refunds and disputes.

use crate::conn::on;
use crate::error::broken;
use crate::rows::named;
use crate::tx::DieselTx;
use crate::types::{At, Instant};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use terrace_kernel::{StoreError, num};
use terrace_shop::PaidBy;
use terrace_store::payments::{PaymentCount, PaymentFigures};

const ORDERS: &str =
    "SELECT state, CAST(count(*) AS bigint) AS number FROM orders GROUP BY state ORDER BY state";
const HELD: &str = "\
    SELECT CAST(coalesce(sum(points), 0) AS bigint) AS points, CAST(coalesce(sum(coins), 0) AS bigint) AS coins, \
        CAST(coalesce(sum(balance), 0) AS bigint) AS balance FROM orders WHERE state = 'pending'";
const OWED: &str = "\
    SELECT CAST(count(*) AS bigint) AS number, min(created_at) AS oldest FROM refunds WHERE due_at IS NOT NULL";
const REST: &str = "\
    SELECT CAST((SELECT count(*) FROM refunds WHERE state = 'failed') AS bigint) AS failed, \
        CAST((SELECT count(*) FROM payment_disputes WHERE state = 'open') AS bigint) AS disputes";

#[derive(QueryableByName)]
struct StateRow {
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct HeldRow {
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = BigInt)]
    coins: i64,
    #[diesel(sql_type = BigInt)]
    balance: i64,
}

#[derive(QueryableByName)]
struct OwedRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Nullable<Instant>)]
    oldest: Option<At>,
}

#[derive(QueryableByName)]
struct RestRow {
    #[diesel(sql_type = BigInt)]
    failed: i64,
    #[diesel(sql_type = BigInt)]
    disputes: i64,
}

impl PaymentCount for DieselTx<'_> {
    fn payment_figures(&mut self) -> Result<PaymentFigures, StoreError> {
        let fail = broken("count payments");
        let states: Vec<StateRow> =
            on!(self.conn, |conn| diesel::sql_query(ORDERS).load(conn)).map_err(&fail)?;
        let held: HeldRow = on!(self.conn, |conn| diesel::sql_query(HELD).get_result(conn)).map_err(&fail)?;
        let owed: OwedRow = on!(self.conn, |conn| diesel::sql_query(OWED).get_result(conn)).map_err(&fail)?;
        let rest: RestRow = on!(self.conn, |conn| diesel::sql_query(REST).get_result(conn)).map_err(&fail)?;
        let orders = states
            .into_iter()
            .map(|StateRow { state, number }| Ok((named("orders", "state", &state)?, num::to_u64(number))));
        Ok(PaymentFigures {
            orders: orders.collect::<Result<_, StoreError>>()?,
            held: PaidBy { points: held.points, coins: held.coins, balance: held.balance, card: 0 },
            owed: num::to_u64(owed.number),
            oldest_owed: owed.oldest.map(|at| at.0),
            failed: num::to_u64(rest.failed),
            disputes: num::to_u64(rest.disputes),
        })
    }
}
