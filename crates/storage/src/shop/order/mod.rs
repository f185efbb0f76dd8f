//! Orders with their lines, and the stock that they take.

mod rows;

pub(crate) use rows::OrderRow;

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::grants::grant_of;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::rows::{corrupt, keyset, limited, named};
use crate::schema::{order_line_grants, order_lines, orders, variant_stock};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use rows::{LINES, LineGrantRow, LineRow, ORDERS};
use std::collections::HashMap;
use terrace_kernel::{Grant, Limit, Money, Page, StoreError, TimeKey, Timestamp, UserId, num};
use terrace_shop::{
    Bought, HeldByOrders, LineState, Order, OrderId, OrderLine, OrderLineId, OrderRead, OrderState,
    OrderWrite, PendingOrder, RefundId, Shipment, Taken, VariantId,
};

const BOUGHT: &str = "\
    SELECT order_lines.variant_id, CAST(sum(order_lines.quantity) AS integer) AS units, \
        CAST(sum(CASE WHEN orders.state = 'pending' THEN order_lines.quantity ELSE 0 END) AS integer) AS held \
    FROM orders JOIN order_lines ON order_lines.order_id = orders.id \
    WHERE orders.user_id = $1 AND orders.state IN ('pending', 'paid', 'completed') AND order_lines.state <> 'revoked' \
    GROUP BY order_lines.variant_id";

const TAKE: &str = "\
    UPDATE variant_stock SET taken = taken + $1 WHERE variant_id = $2 AND supply - taken >= $1 \
    RETURNING supply - taken AS number";

const RELEASE: &str = "UPDATE variant_stock SET taken = taken - $1 WHERE variant_id = $2";

const PENDING: &str = "\
    SELECT CAST((SELECT count(*) FROM orders WHERE user_id = $1 AND state = 'pending') \
        + (SELECT count(*) FROM pack_purchases WHERE user_id = $1 AND state = 'pending') AS integer) AS number";

const HELD: &str = "\
    SELECT currency, CAST(sum(points) AS bigint) AS points, CAST(sum(coins) AS bigint) AS coins, \
        CAST(sum(balance) AS bigint) AS balance \
    FROM orders WHERE user_id = $1 AND state = 'pending' GROUP BY currency";

/// An order that is cancelled without a reference was rejected by the provider and does not count.
const ABANDONED: &str = "\
    SELECT created_at FROM orders WHERE user_id = $1 AND created_at > $2 AND card > 0 \
        AND (state = 'expired' OR state = 'cancelled' AND EXISTS (SELECT 1 FROM payments \
            WHERE payments.payable_id = orders.id AND payments.reference IS NOT NULL)) \
    ORDER BY created_at DESC LIMIT $3";

const NEW_ACCOUNT_UNITS: &str = "\
    SELECT CAST(coalesce(sum(order_lines.quantity), 0) AS integer) AS number FROM order_lines \
    JOIN orders ON orders.id = order_lines.order_id JOIN users ON users.id = orders.user_id \
    WHERE order_lines.variant_id = $1 AND orders.state = 'pending' AND users.created_at > $2";

#[derive(QueryableByName)]
struct HeldRow {
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = BigInt)]
    coins: i64,
    #[diesel(sql_type = BigInt)]
    balance: i64,
}

#[derive(QueryableByName)]
struct BoughtRow {
    #[diesel(sql_type = Uid)]
    variant_id: Key,
    #[diesel(sql_type = Integer)]
    units: i32,
    #[diesel(sql_type = Integer)]
    held: i32,
}

impl OrderRead for DieselTx<'_> {
    fn order(&mut self, id: OrderId) -> Result<Option<Order>, StoreError> {
        let row: Option<OrderRow> = on!(self.conn, |conn| {
            orders::table.find(Key::of(id)).select(OrderRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read an order"))?;
        Ok(self.with_lines(row.into_iter().collect())?.pop())
    }

    fn orders(
        &mut self,
        user: UserId,
        state: Option<OrderState>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Order>, StoreError> {
        self.list(Some(user), state, limit, after)
    }

    fn all_orders(
        &mut self,
        state: Option<OrderState>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Order>, StoreError> {
        self.list(None, state, limit, after)
    }

    fn held_by_orders(&mut self, user: UserId) -> Result<HeldByOrders, StoreError> {
        let rows: Vec<HeldRow> =
            on!(self.conn, |conn| Numbered::new(HELD, (Key::of(user).into_sql::<Uid>(),)).load(conn))
                .map_err(broken("read what a fan's orders hold"))?;
        let mut held = HeldByOrders::default();
        for row in rows {
            held.points = held.points.saturating_add(row.points);
            held.coins = held.coins.saturating_add(row.coins);
            if let Some(currency) = row.currency.filter(|_| row.balance > 0) {
                let currency = named(ORDERS, "currency", &currency)?;
                held.money.push(Money { amount: row.balance, currency });
            }
        }
        Ok(held)
    }

    fn pending_order(&mut self, user: UserId) -> Result<Option<PendingOrder>, StoreError> {
        let row: Option<(Key, Option<String>, Option<At>)> = on!(self.conn, |conn| {
            orders::table
                .filter(orders::user_id.eq(Key::of(user)))
                .filter(orders::state.eq(OrderState::Pending.as_str()))
                .order((orders::created_at.desc(), orders::id.desc()))
                .select((orders::id, orders::checkout_url, orders::expires_at))
                .first(conn)
                .optional()
        })
        .map_err(broken("read the pending order of a fan"))?;
        Ok(row.map(|(id, checkout_url, expires_at)| PendingOrder {
            id: id.id(),
            checkout_url,
            expires_at: expires_at.map(|at| at.0),
        }))
    }

    fn bought_units(&mut self, user: UserId) -> Result<Vec<(VariantId, Bought)>, StoreError> {
        let rows: Vec<BoughtRow> =
            on!(self.conn, |conn| Numbered::new(BOUGHT, (Key::of(user).into_sql::<Uid>(),)).load(conn))
                .map_err(broken("count what a fan ordered"))?;
        let bought = |row: BoughtRow| {
            let number = |number| count(LINES, "quantity", number);
            Ok((row.variant_id.id(), Bought { units: number(row.units)?, held: number(row.held)? }))
        };
        rows.into_iter().map(bought).collect()
    }
}

impl OrderWrite for DieselTx<'_> {
    fn lock_order(&mut self, id: OrderId) -> Result<Option<Order>, StoreError> {
        let row: Option<OrderRow> = match &mut self.conn {
            Conn::Pg(conn) => orders::table
                .find(Key::of(id))
                .select(OrderRow::as_select())
                .for_no_key_update()
                .first(*conn)
                .optional(),
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(conn) => {
                orders::table.find(Key::of(id)).select(OrderRow::as_select()).first(*conn).optional()
            }
        }
        .map_err(broken("lock an order"))?;
        Ok(self.with_lines(row.into_iter().collect())?.pop())
    }

    fn insert_order(&mut self, order: &Order) -> Result<(), StoreError> {
        let row = OrderRow::of(order);
        on!(self.conn, |conn| diesel::insert_into(orders::table).values(row).execute(conn))
            .map_err(broken("write an order"))?;
        let lines = order.lines.iter().enumerate();
        let rows: Vec<_> = lines.map(|(place, line)| LineRow::of(order, place, line)).collect();
        on!(self.conn, |conn| diesel::insert_into(order_lines::table).values(&rows).execute(conn))
            .map_err(broken("write the lines of an order"))?;
        let rows: Vec<_> = order
            .lines
            .iter()
            .flat_map(|line| {
                (0..).zip(&line.grants).map(|(place, grant)| LineGrantRow::of(line, place, *grant))
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        on!(self.conn, |conn| diesel::insert_into(order_line_grants::table).values(&rows).execute(conn))
            .map(drop)
            .map_err(broken("write what the lines of an order grant"))
    }

    fn move_order(
        &mut self,
        id: OrderId,
        from: OrderState,
        to: OrderState,
        paid_at: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let standing = orders::table.find(Key::of(id)).filter(orders::state.eq(from.as_str()));
        let values = (
            orders::state.eq(to.as_str()),
            orders::checkout_url.eq(None::<String>),
            orders::paid_at.eq(paid_at.map(At)),
            orders::changed_at.eq(At(at)),
        );
        on!(self.conn, |conn| diesel::update(standing).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("change the state of an order"))
    }

    fn move_lines(
        &mut self,
        lines: &[OrderLineId],
        to: LineState,
        shipment: Option<&Shipment>,
    ) -> Result<(), StoreError> {
        let fail = broken("change lines of an order");
        let ids: Vec<_> = lines.iter().map(|id| Key::of(*id)).collect();
        let own = order_lines::table.filter(order_lines::id.eq_any(&ids));
        on!(self.conn, |conn| diesel::update(own).set(order_lines::state.eq(to.as_str())).execute(conn))
            .map_err(&fail)?;
        let Some(Shipment { carrier, tracking, at }) = shipment else { return Ok(()) };
        let values = (
            order_lines::carrier.eq(carrier),
            order_lines::tracking.eq(tracking),
            order_lines::shipped_at.eq(Some(At(*at))),
        );
        let own = order_lines::table.filter(order_lines::id.eq_any(&ids));
        on!(self.conn, |conn| diesel::update(own).set(values).execute(conn)).map(drop).map_err(fail)
    }

    fn revoke_lines(&mut self, lines: &[OrderLineId], refund: RefundId) -> Result<(), StoreError> {
        let ids: Vec<_> = lines.iter().map(|id| Key::of(*id)).collect();
        let own = order_lines::table.filter(order_lines::id.eq_any(&ids));
        let values = (
            order_lines::state.eq(LineState::Revoked.as_str()),
            order_lines::refund_id.eq(Some(Key::of(refund))),
        );
        on!(self.conn, |conn| diesel::update(own).set(values).execute(conn))
            .map(drop)
            .map_err(broken("revoke lines of an order"))
    }

    fn take_stock(&mut self, variant: VariantId, units: u32) -> Result<Taken, StoreError> {
        let fail = broken("take from the stock of a variant");
        let left: Option<i32> = on!(self.conn, |conn| {
            Numbered::<_, Integer>::typed(
                TAKE,
                (num::to_i32(units).into_sql::<Integer>(), Key::of(variant).into_sql::<Uid>()),
            )
            .get_result(conn)
            .optional()
        })
        .map_err(&fail)?;
        if let Some(number) = left {
            return Ok(Taken::Left(count("variant_stock", "taken", number)?));
        }
        let own = variant_stock::table.find(Key::of(variant)).count();
        let limited: i64 = on!(self.conn, |conn| own.get_result(conn)).map_err(fail)?;
        Ok(if limited == 0 { Taken::Unlimited } else { Taken::SoldOut })
    }

    fn release_stock(&mut self, variant: VariantId, units: u32) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(
                RELEASE,
                (num::to_i32(units).into_sql::<Integer>(), Key::of(variant).into_sql::<Uid>()),
            )
            .execute(conn)
        })
        .map(drop)
        .map_err(broken("return units to the stock of a variant"))
    }

    fn erase_addresses(&mut self, user: UserId) -> Result<u64, StoreError> {
        let own =
            orders::table.filter(orders::user_id.eq(Key::of(user))).filter(orders::country.is_not_null());
        let none = None::<String>;
        let values = (
            orders::method.eq(&none),
            orders::name.eq(&none),
            orders::line1.eq(&none),
            orders::line2.eq(&none),
            orders::postal_code.eq(&none),
            orders::city.eq(&none),
            orders::region.eq(&none),
            orders::country.eq(&none),
        );
        on!(self.conn, |conn| diesel::update(own).set(values).execute(conn))
            .map(num::to_u64)
            .map_err(broken("remove the addresses of orders"))
    }

    fn pending_payments(&mut self, user: UserId) -> Result<u32, StoreError> {
        let number: i32 =
            on!(self.conn, |conn| Numbered::<_, Integer>::typed(PENDING, (Key::of(user).into_sql::<Uid>(),))
                .get_result(conn))
            .map_err(broken("count what a fan has not paid"))?;
        count(ORDERS, "id", number)
    }

    fn abandoned_orders(
        &mut self,
        user: UserId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Timestamp>, StoreError> {
        self.times_since(ABANDONED, user, since, limit).map_err(broken("read abandoned orders"))
    }

    fn new_account_units(&mut self, variant: VariantId, since: Timestamp) -> Result<u32, StoreError> {
        let number: i32 = on!(self.conn, |conn| {
            Numbered::<_, Integer>::typed(
                NEW_ACCOUNT_UNITS,
                (Key::of(variant).into_sql::<Uid>(), At(since).into_sql::<Instant>()),
            )
            .get_result(conn)
        })
        .map_err(broken("count the units that new accounts hold"))?;
        count(LINES, "quantity", number)
    }
}

impl DieselTx<'_> {
    fn list(
        &mut self,
        user: Option<UserId>,
        state: Option<OrderState>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Order>, StoreError> {
        let rows: Vec<OrderRow> = on!(self.conn, |conn| {
            let mut query = orders::table.select(OrderRow::as_select()).into_boxed();
            if let Some(user) = user {
                query = query.filter(orders::user_id.eq(Key::of(user)));
            }
            if let Some(state) = state {
                query = query.filter(orders::state.eq(state.as_str()));
            }
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, orders::created_at < At(at), orders::id < Key(id));
            }
            limited(query.order((orders::created_at.desc(), orders::id.desc())), limit).load(conn)
        })
        .map_err(broken("list orders"))?;
        let orders = self.with_lines(rows)?;
        Ok(Page::from_overfull(orders, limit, |order| TimeKey {
            at: order.created_at,
            id: order.id.as_uuid(),
        }))
    }

    /// What these lines grant, in one statement.
    fn grants_of_lines(&mut self, lines: Vec<Key>) -> Result<HashMap<Key, Vec<Grant>>, StoreError> {
        let rows: Vec<LineGrantRow> = on!(self.conn, |conn| {
            order_line_grants::table
                .filter(order_line_grants::line_id.eq_any(lines))
                .order((order_line_grants::line_id, order_line_grants::place))
                .select(LineGrantRow::as_select())
                .load(conn)
        })
        .map_err(broken("read what lines of orders grant"))?;
        let mut grants: HashMap<Key, Vec<Grant>> = HashMap::new();
        for row in rows {
            let grant = grant_of("order_line_grants", (&row.kind, row.amount, row.item_id))?;
            grants.entry(row.line_id).or_default().push(grant);
        }
        Ok(grants)
    }

    /// Adds the lines of orders, with what they grant, in two statements.
    pub(crate) fn with_lines(&mut self, rows: Vec<OrderRow>) -> Result<Vec<Order>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let lines: Vec<LineRow> = on!(self.conn, |conn| {
            order_lines::table
                .filter(order_lines::order_id.eq_any(&ids))
                .order((order_lines::order_id, order_lines::place))
                .select(LineRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the lines of orders"))?;
        let mut grants = self.grants_of_lines(lines.iter().map(|line| line.id).collect())?;
        let mut of: HashMap<Key, Vec<OrderLine>> = HashMap::new();
        for row in lines {
            let grants = grants.remove(&row.id).unwrap_or_default();
            of.entry(row.order_id).or_default().push(row.into_line(grants)?);
        }
        rows.into_iter()
            .map(|row| {
                let lines = of.remove(&row.id).ok_or_else(|| corrupt(LINES, "order_id", &"no line"))?;
                row.into_order(lines)
            })
            .collect()
    }
}
