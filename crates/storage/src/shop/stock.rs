//! The stock of limited variants.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::schema::variant_stock;
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use terrace_kernel::{StoreError, num};
use terrace_shop::{Stock, StockWrite, VariantId};

/// Of a variant that has a stock already, only the supply changes; otherwise what is taken is counted ([`Stock::taken`]).
const SET: &str = "\
    INSERT INTO variant_stock (variant_id, supply, taken) \
    SELECT $1, $2, CAST(coalesce(sum(order_lines.quantity), 0) AS integer) FROM order_lines \
    JOIN orders ON orders.id = order_lines.order_id \
    WHERE order_lines.variant_id = $1 AND (order_lines.shipped_at IS NOT NULL \
        OR orders.state IN ('pending', 'paid', 'completed') AND order_lines.state <> 'revoked') \
    ON CONFLICT (variant_id) DO UPDATE SET supply = excluded.supply";

const ADD: &str = "\
    UPDATE variant_stock SET supply = supply + $1 \
    WHERE variant_id = $2 AND CAST(supply AS bigint) + $1 BETWEEN 0 AND 1000000000";

pub(super) fn stock(supply: i32, taken: i32) -> Result<Stock, StoreError> {
    const TABLE: &str = "variant_stock";
    Ok(Stock { supply: count(TABLE, "supply", supply)?, taken: count(TABLE, "taken", taken)? })
}

impl StockWrite for DieselTx<'_> {
    fn set_supply(&mut self, variant: VariantId, supply: Option<u32>) -> Result<(), StoreError> {
        let id = Key::of(variant);
        // An order of an unlimited variant takes nothing from a stock: none may be placed while the first one is counted.
        if let Conn::Pg(conn) = &mut self.conn {
            diesel::sql_query("LOCK TABLE order_lines IN SHARE ROW EXCLUSIVE MODE")
                .execute(*conn)
                .map_err(broken("lock the orders"))?;
        }
        match supply {
            Some(supply) => on!(self.conn, |conn| {
                Numbered::new(SET, (id.into_sql::<Uid>(), num::to_i32(supply).into_sql::<Integer>()))
                    .execute(conn)
            }),
            // From here on the row would not be updated.
            None => on!(self.conn, |conn| diesel::delete(variant_stock::table.find(id)).execute(conn)),
        }
        .map(drop)
        .map_err(broken("set the stock of a variant"))
    }

    fn add_supply(&mut self, variant: VariantId, change: i32) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(ADD, (change.into_sql::<Integer>(), Key::of(variant).into_sql::<Uid>()))
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("add to the stock of a variant"))
    }
}
