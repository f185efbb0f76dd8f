//! Compares orders with the journal, and the stock of variants with orders; repairs differences.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::packs::count;
use crate::rows::IdRow;
use crate::schema::{ledger_transfers, orders, payments, variant_stock};
use crate::tx::DieselTx;
use crate::types::{Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use std::collections::HashSet;
use terrace_kernel::{StoreError, Timestamp, Uuid};
use terrace_ledger::TransferSource;
use terrace_shop::{OrderId, OrderState, VariantId};
use terrace_store::repair::{ShopAudit, ShopRepair};

const AFTER: &str = "SELECT id FROM orders WHERE id > $1 ORDER BY id LIMIT $2";

/// What is taken of a variant: [`terrace_shop::Stock::taken`].
pub(super) const TAKEN: &str = "\
    SELECT CAST(coalesce(sum(order_lines.quantity), 0) AS integer) AS taken FROM order_lines \
    JOIN orders ON orders.id = order_lines.order_id \
    WHERE order_lines.variant_id = $1 AND (order_lines.shipped_at IS NOT NULL \
        OR orders.state IN ('pending', 'paid', 'completed') AND order_lines.state <> 'revoked')";

const WAKE: &str = "\
    UPDATE payments SET due_at = $1 WHERE payable_id = $2 AND due_at IS NULL \
        AND EXISTS (SELECT 1 FROM orders WHERE orders.id = payments.payable_id AND orders.state = 'pending')";

/// The transfers that hold and settle each kind of value.
const HOLDS: [(&str, &str); 3] =
    [("hold_points", "settle_points"), ("hold_coins", "settle_coins"), ("hold_balance", "settle_balance")];

#[derive(QueryableByName)]
struct TakenRow {
    #[diesel(sql_type = Integer)]
    taken: i32,
}

impl DieselTx<'_> {
    fn taken_of(&mut self, variant: Key) -> Result<i32, StoreError> {
        let row: TakenRow =
            on!(self.conn, |conn| diesel::sql_query(TAKEN).bind::<Uid, _>(variant).get_result(conn))
                .map_err(broken("count what is taken of a variant"))?;
        Ok(row.taken)
    }
}

impl ShopAudit for DieselTx<'_> {
    fn orders_after(&mut self, after: Option<OrderId>, limit: u32) -> Result<Vec<OrderId>, StoreError> {
        let after = Key(after.map_or(Uuid::nil(), OrderId::as_uuid));
        let rows: Vec<IdRow> = on!(self.conn, |conn| {
            diesel::sql_query(AFTER).bind::<Uid, _>(after).bind::<BigInt, _>(i64::from(limit)).load(conn)
        })
        .map_err(broken("walk the orders"))?;
        Ok(rows.into_iter().map(|row| row.id.id()).collect())
    }

    fn stuck_orders(&mut self, of: &[OrderId]) -> Result<Vec<OrderId>, StoreError> {
        let fail = broken("compare orders with the journal");
        let ids: Vec<Key> = of.iter().map(|id| Key::of(*id)).collect();
        let states: Vec<(Key, String)> = on!(self.conn, |conn| {
            orders::table.filter(orders::id.eq_any(&ids)).select((orders::id, orders::state)).load(conn)
        })
        .map_err(&fail)?;
        let asleep: Vec<Key> = on!(self.conn, |conn| {
            payments::table
                .filter(payments::payable_id.eq_any(&ids))
                .filter(payments::due_at.is_null())
                .select(payments::payable_id)
                .load(conn)
        })
        .map_err(&fail)?;
        let source = |kind, id: Key| TransferSource::of(kind, id.0).to_string();
        let sources: Vec<String> = ids
            .iter()
            .flat_map(|id| HOLDS.iter().flat_map(|(hold, settle)| [source(hold, *id), source(settle, *id)]))
            .collect();
        let journal: Vec<String> = on!(self.conn, |conn| {
            ledger_transfers::table
                .filter(ledger_transfers::source_key.eq_any(&sources))
                .select(ledger_transfers::source_key)
                .load(conn)
        })
        .map_err(&fail)?;
        let journal: HashSet<String> = journal.into_iter().collect();
        let is_stuck = |id: Key, state: &str| {
            let is_pending = state == OrderState::Pending.as_str();
            let holds = HOLDS.iter().any(|(hold, settle)| {
                journal.contains(&source(hold, id)) && !journal.contains(&source(settle, id))
            });
            let sleeps = is_pending && asleep.contains(&id);
            sleeps || (holds && !is_pending)
        };
        let mut stuck: Vec<OrderId> =
            states.into_iter().filter(|(id, state)| is_stuck(*id, state)).map(|(id, _)| id.id()).collect();
        stuck.sort_unstable();
        Ok(stuck)
    }

    fn misstocked_variants(&mut self) -> Result<Vec<VariantId>, StoreError> {
        let kept: Vec<(Key, i32)> = on!(self.conn, |conn| {
            variant_stock::table
                .order(variant_stock::variant_id)
                .select((variant_stock::variant_id, variant_stock::taken))
                .load(conn)
        })
        .map_err(broken("read the stock of variants"))?;
        let mut wrong = Vec::new();
        for (variant, taken) in kept {
            count("variant_stock", "taken", taken)?;
            if self.taken_of(variant)? != taken {
                wrong.push(variant.id());
            }
        }
        Ok(wrong)
    }
}

impl ShopRepair for DieselTx<'_> {
    fn restock_variant(&mut self, variant: VariantId) -> Result<bool, StoreError> {
        let fail = broken("repair the stock of a variant");
        let id = Key::of(variant);
        let own = variant_stock::table.find(id).select(variant_stock::taken);
        let kept: Option<i32> = match &mut self.conn {
            Conn::Pg(conn) => own.for_no_key_update().first(*conn).optional(),
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(conn) => own.first(*conn).optional(),
        }
        .map_err(&fail)?;
        // In a statement after the lock: a transaction that has changed an order but not the stock yet does so after
        // this one ends.
        let due = self.taken_of(id)?;
        if kept.is_none_or(|kept| kept == due) {
            return Ok(false);
        }
        on!(self.conn, |conn| {
            diesel::update(variant_stock::table.find(id)).set(variant_stock::taken.eq(due)).execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(fail)
    }

    fn wake_order(&mut self, order: OrderId, at: Timestamp) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            diesel::sql_query(WAKE)
                .bind::<Instant, _>(crate::types::At(at))
                .bind::<Uid, _>(Key::of(order))
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("wake the payment of an order"))
    }
}
