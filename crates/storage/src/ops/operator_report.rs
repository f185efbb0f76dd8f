//! Figures of a period for operators, each in one statement that aggregates in the database.
//!
//! The parameters of all statements are the beginning of the period, its end, and the team or null.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::named;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use terrace_kernel::{StoreError, num};
use terrace_ledger::House;
use terrace_shop::OrderState;
use terrace_store::operator_report::{
    ClaimFigures, FanFigures, Flow, OperatorReportRead, PackFigures, ReportScope, SpinFigures, TriviaFigures,
};

const JOURNAL: &str = "ledger_transfers";
/// The name of the accounts of fans, beside those of the service.
const FANS: &str = "fans";

/// `{kind}` is the part of a source before its first `:`, `{id}` the id after it, `{fan}` the fan of a source that names
/// one first. A transfer between accounts of the service belongs to the fan of the order or purchase that it is for.
const FLOWS: &str = "\
    SELECT unit, debit, credit, source, payable, CAST(sum(earlier) AS bigint) AS earlier, \
        CAST(sum(during) AS bigint) AS during, CAST(sum(entries) AS bigint) AS entries FROM (\
        SELECT t.unit, coalesce(t.debit_house, 'fans') AS debit, coalesce(t.credit_house, 'fans') AS credit, \
            {kind} AS source, \
            CASE WHEN t.source_key LIKE 'payment:%' \
                    THEN CASE WHEN EXISTS (SELECT 1 FROM orders o WHERE o.id = {id}) THEN 'order' ELSE 'purchase' END \
                WHEN t.source_key LIKE 'refund:%' THEN (SELECT r.payable_kind FROM refunds r WHERE r.id = {id}) \
                END AS payable, \
            CASE WHEN t.created_at < $1 THEN t.amount ELSE 0 END AS earlier, \
            CASE WHEN t.created_at < $1 THEN 0 ELSE t.amount END AS during, \
            CASE WHEN t.created_at < $1 THEN 0 ELSE 1 END AS entries \
        FROM ledger_transfers t WHERE t.created_at < $2 AND ($3 IS NULL OR $3 = (\
            SELECT users.favorite_team_id FROM users WHERE users.id = coalesce(t.debit_user, t.credit_user, \
                CASE WHEN t.source_key LIKE 'payment:%' OR t.source_key LIKE 'settle%' \
                        THEN coalesce((SELECT o.user_id FROM orders o WHERE o.id = {id}), \
                            (SELECT p.user_id FROM pack_purchases p WHERE p.id = {id})) \
                    WHEN t.source_key LIKE 'refund:%' \
                        THEN (SELECT coalesce((SELECT o.user_id FROM orders o WHERE o.id = r.payable_id), \
                                (SELECT p.user_id FROM pack_purchases p WHERE p.id = r.payable_id)) \
                            FROM refunds r WHERE r.id = {id}) \
                    WHEN t.source_key LIKE 'ungrant%' \
                        THEN coalesce((SELECT g.user_id FROM grants g WHERE g.id = {id}), \
                            (SELECT o.user_id FROM refunds r JOIN orders o ON o.id = r.payable_id WHERE r.id = {id})) \
                    WHEN t.source_key LIKE 'forgiven:%' THEN {fan} END)))) AS journal \
    GROUP BY unit, debit, credit, source, payable ORDER BY unit, debit, credit, source, payable";

const FANS_OF_PERIOD: &str = "\
    SELECT (SELECT count(*) FROM users WHERE created_at >= $1 AND created_at < $2 \
            AND ($3 IS NULL OR favorite_team_id = $3)) AS new, \
        (SELECT count(*) FROM users WHERE created_at < $2 AND status <> 'deleted' \
            AND ($3 IS NULL OR favorite_team_id = $3)) AS registered, \
        (SELECT count(*) FROM users WHERE ($3 IS NULL OR favorite_team_id = $3) AND id IN (\
            SELECT debit_user FROM ledger_transfers \
                WHERE debit_user IS NOT NULL AND created_at >= $1 AND created_at < $2 \
            UNION SELECT credit_user FROM ledger_transfers \
                WHERE credit_user IS NOT NULL AND created_at >= $1 AND created_at < $2 \
            UNION SELECT author_id FROM posts WHERE deleted_at IS NULL AND created_at >= $1 AND created_at < $2 \
            UNION SELECT author_id FROM comments WHERE created_at >= $1 AND created_at < $2 \
            UNION SELECT user_id FROM reactions WHERE created_at >= $1 AND created_at < $2)) AS active";

const ORDERS: &str = "\
    SELECT orders.state, count(*) AS number FROM orders JOIN users ON users.id = orders.user_id \
    WHERE orders.created_at >= $1 AND orders.created_at < $2 AND ($3 IS NULL OR users.favorite_team_id = $3) \
    GROUP BY orders.state ORDER BY orders.state";

const PACKS: &str = "\
    SELECT CAST(coalesce(sum(CASE WHEN c.bought_at >= $1 AND c.bought_at < $2 THEN 1 ELSE 0 END), 0) AS bigint) AS sold, \
        CAST(coalesce(sum(CASE WHEN c.opened_at >= $1 AND c.opened_at < $2 THEN 1 ELSE 0 END), 0) AS bigint) AS opened, \
        CAST(coalesce(sum(CASE WHEN c.state = 'revoked' AND c.changed_at >= $1 AND c.changed_at < $2 \
            THEN 1 ELSE 0 END), 0) AS bigint) AS revoked \
    FROM user_packs c JOIN users ON users.id = c.user_id WHERE $3 IS NULL OR users.favorite_team_id = $3";

const CLAIMS: &str = "\
    SELECT CAST(coalesce(sum(CASE WHEN c.created_at >= $1 AND c.created_at < $2 THEN 1 ELSE 0 END), 0) AS bigint) AS claimed, \
        CAST(coalesce(sum(CASE WHEN c.used_at >= $1 AND c.used_at < $2 THEN 1 ELSE 0 END), 0) AS bigint) AS used \
    FROM reward_claims c JOIN users ON users.id = c.user_id WHERE $3 IS NULL OR users.favorite_team_id = $3";

const SPINS: &str = "\
    SELECT s.wheel_id, s.grant_kind, s.paid_kind, count(*) AS spins, CAST(sum(s.grant_amount) AS bigint) AS given, \
        CAST(coalesce(sum(s.paid_amount), 0) AS bigint) AS paid \
    FROM spins s JOIN users ON users.id = s.user_id \
    WHERE s.created_at >= $1 AND s.created_at < $2 AND ($3 IS NULL OR users.favorite_team_id = $3) \
    GROUP BY s.wheel_id, s.grant_kind, s.paid_kind ORDER BY s.wheel_id, s.grant_kind, s.paid_kind";

const TRIVIA: &str = "\
    SELECT CAST(coalesce(sum(CASE WHEN p.joined_at >= $1 AND p.joined_at < $2 THEN 1 ELSE 0 END), 0) AS bigint) AS joined, \
        (SELECT count(*) FROM trivia_answers a JOIN users ON users.id = a.user_id \
            WHERE a.arrived_at >= $1 AND a.arrived_at < $2 AND ($3 IS NULL OR users.favorite_team_id = $3)) AS answers, \
        CAST(coalesce(sum(CASE WHEN p.paid > 0 AND p.paid_at >= $1 AND p.paid_at < $2 \
            THEN 1 ELSE 0 END), 0) AS bigint) AS awards, \
        CAST(coalesce(sum(CASE WHEN p.paid_at >= $1 AND p.paid_at < $2 THEN p.paid ELSE 0 END), 0) AS bigint) AS points \
    FROM trivia_players p JOIN users ON users.id = p.user_id WHERE $3 IS NULL OR users.favorite_team_id = $3";

#[derive(QueryableByName)]
struct FlowRow {
    #[diesel(sql_type = Text)]
    unit: String,
    #[diesel(sql_type = Text)]
    debit: String,
    #[diesel(sql_type = Text)]
    credit: String,
    #[diesel(sql_type = Text)]
    source: String,
    #[diesel(sql_type = Nullable<Text>)]
    payable: Option<String>,
    #[diesel(sql_type = BigInt)]
    earlier: i64,
    #[diesel(sql_type = BigInt)]
    during: i64,
    #[diesel(sql_type = BigInt)]
    entries: i64,
}

/// The account of the service with this name; `None` for those of fans.
fn house(column: &'static str, name: &str) -> Result<Option<House>, StoreError> {
    if name == FANS { Ok(None) } else { named(JOURNAL, column, name).map(Some) }
}

impl FlowRow {
    fn into_flow(self) -> Result<Flow, StoreError> {
        Ok(Flow {
            unit: named(JOURNAL, "unit", &self.unit)?,
            debit: house("debit_house", &self.debit)?,
            credit: house("credit_house", &self.credit)?,
            source: self.source,
            is_of_order: self.payable.map(|kind| kind == "order"),
            earlier: self.earlier,
            during: self.during,
            entries: num::to_u64(self.entries),
        })
    }
}

#[derive(QueryableByName)]
struct FansRow {
    #[diesel(sql_type = BigInt)]
    registered: i64,
    #[diesel(sql_type = BigInt)]
    new: i64,
    #[diesel(sql_type = BigInt)]
    active: i64,
}

#[derive(QueryableByName)]
struct OrdersRow {
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct PacksRow {
    #[diesel(sql_type = BigInt)]
    sold: i64,
    #[diesel(sql_type = BigInt)]
    opened: i64,
    #[diesel(sql_type = BigInt)]
    revoked: i64,
}

#[derive(QueryableByName)]
struct ClaimsRow {
    #[diesel(sql_type = BigInt)]
    claimed: i64,
    #[diesel(sql_type = BigInt)]
    used: i64,
}

#[derive(QueryableByName)]
struct SpinsRow {
    #[diesel(sql_type = Uid)]
    wheel_id: Key,
    #[diesel(sql_type = Text)]
    grant_kind: String,
    #[diesel(sql_type = Nullable<Text>)]
    paid_kind: Option<String>,
    #[diesel(sql_type = BigInt)]
    spins: i64,
    #[diesel(sql_type = BigInt)]
    given: i64,
    #[diesel(sql_type = BigInt)]
    paid: i64,
}

#[derive(QueryableByName)]
struct TriviaRow {
    #[diesel(sql_type = BigInt)]
    joined: i64,
    #[diesel(sql_type = BigInt)]
    answers: i64,
    #[diesel(sql_type = BigInt)]
    awards: i64,
    #[diesel(sql_type = BigInt)]
    points: i64,
}

impl DieselTx<'_> {
    fn of_period<R>(&mut self, sql: &str, scope: &ReportScope) -> Result<Vec<R>, StoreError>
    where
        R: QueryableByName<diesel::pg::Pg> + QueryableByName<diesel::sqlite::Sqlite> + 'static,
    {
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Instant, _>(At(scope.from))
                .bind::<Instant, _>(At(scope.to))
                .bind::<Nullable<Uid>, _>(scope.team.map(Key::of))
                .load(conn)
        })
        .map_err(broken("read the figures of a period"))
    }

    fn one_of_period<R>(&mut self, sql: &str, scope: &ReportScope) -> Result<R, StoreError>
    where
        R: QueryableByName<diesel::pg::Pg> + QueryableByName<diesel::sqlite::Sqlite> + 'static,
    {
        let row = self.of_period(sql, scope)?.into_iter().next();
        row.ok_or_else(|| StoreError::defect("read the figures of a period", "an aggregate without a row"))
    }
}

impl OperatorReportRead for DieselTx<'_> {
    fn report_flows(&mut self, scope: &ReportScope) -> Result<Vec<Flow>, StoreError> {
        let (kind, id, fan) = match &self.conn {
            Conn::Pg(_) => (
                "split_part(t.source_key, ':', 1)",
                "CAST(split_part(t.source_key, ':', 2) AS uuid)",
                "CAST(split_part(t.source_key, ':', 2) AS uuid)",
            ),
            Conn::Sqlite(_) => (
                "substr(t.source_key, 1, instr(t.source_key, ':') - 1)",
                "unhex(substr(t.source_key, instr(t.source_key, ':') + 1))",
                "unhex(substr(t.source_key, instr(t.source_key, ':') + 1, 32))",
            ),
        };
        let sql = FLOWS.replace("{kind}", kind).replace("{id}", id).replace("{fan}", fan);
        self.of_period(&sql, scope)?.into_iter().map(FlowRow::into_flow).collect()
    }

    fn report_fans(&mut self, scope: &ReportScope) -> Result<FanFigures, StoreError> {
        let row: FansRow = self.one_of_period(FANS_OF_PERIOD, scope)?;
        let number = num::to_u64;
        Ok(FanFigures {
            registered: number(row.registered),
            new: number(row.new),
            active: number(row.active),
        })
    }

    fn report_orders(&mut self, scope: &ReportScope) -> Result<Vec<(OrderState, u64)>, StoreError> {
        let rows: Vec<OrdersRow> = self.of_period(ORDERS, scope)?;
        rows.into_iter()
            .map(|row| Ok((named("orders", "state", &row.state)?, num::to_u64(row.number))))
            .collect()
    }

    fn report_packs(&mut self, scope: &ReportScope) -> Result<PackFigures, StoreError> {
        let row: PacksRow = self.one_of_period(PACKS, scope)?;
        let number = num::to_u64;
        Ok(PackFigures { sold: number(row.sold), opened: number(row.opened), revoked: number(row.revoked) })
    }

    fn report_claims(&mut self, scope: &ReportScope) -> Result<ClaimFigures, StoreError> {
        let row: ClaimsRow = self.one_of_period(CLAIMS, scope)?;
        Ok(ClaimFigures { claimed: num::to_u64(row.claimed), used: num::to_u64(row.used) })
    }

    fn report_spins(&mut self, scope: &ReportScope) -> Result<Vec<SpinFigures>, StoreError> {
        let rows: Vec<SpinsRow> = self.of_period(SPINS, scope)?;
        let figures = |row: SpinsRow| {
            let price = row.paid_kind.map(|kind| named("spins", "paid_kind", &kind)).transpose()?;
            Ok(SpinFigures {
                wheel: row.wheel_id.id(),
                grant: named("spins", "grant_kind", &row.grant_kind)?,
                price,
                spins: num::to_u64(row.spins),
                given: row.given,
                paid: row.paid,
            })
        };
        rows.into_iter().map(figures).collect()
    }

    fn report_trivia(&mut self, scope: &ReportScope) -> Result<TriviaFigures, StoreError> {
        let row: TriviaRow = self.one_of_period(TRIVIA, scope)?;
        let number = num::to_u64;
        Ok(TriviaFigures {
            joined: number(row.joined),
            answers: number(row.answers),
            awards: number(row.awards),
            points: row.points,
        })
    }
}
