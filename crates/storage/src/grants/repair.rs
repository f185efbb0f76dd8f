//! Compares what was given with the goods, and with the lines of orders.

use super::GrantRow;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::packs::count;
use crate::rows::IdRow;
use crate::schema::{grants, ledger_transfers, owned_collectibles};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use terrace_kernel::{GrantId, StoreError, UserId, Uuid};
use terrace_shop::OrderId;
use terrace_store::grants::GivenGrant;
use terrace_store::repair::GrantsAudit;

/// The source of the transfer of granted coins, without the id of the grant.
const COINS: &str = "grant:";

/// Whether the goods of a grant are not those that it should have. `{hex}` is its id as sources contain it.
const IS_INCOMPLETE: &str = "CASE WHEN taken_back_at IS NULL THEN CASE kind \
        WHEN 'coins' THEN NOT EXISTS (SELECT 1 FROM ledger_transfers WHERE source_key = 'grant:' || {hex}) \
        WHEN 'pack' THEN (SELECT count(*) FROM user_packs WHERE grant_id = grants.id) < amount \
        WHEN 'collectible' THEN (SELECT count(*) FROM owned_collectibles WHERE grant_id = grants.id) < amount \
        ELSE 1 = 0 END \
    ELSE EXISTS (SELECT 1 FROM user_packs WHERE grant_id = grants.id AND state <> 'revoked') \
        OR EXISTS (SELECT 1 FROM owned_collectibles WHERE grant_id = grants.id AND revoked_at IS NULL) END";

/// Orders with a line that was delivered without all of its grants, or revoked with one that was not taken back.
const MISGRANTED: &str = "\
    SELECT DISTINCT order_lines.order_id AS id FROM order_lines \
    JOIN order_line_grants ON order_line_grants.line_id = order_lines.id \
    LEFT JOIN grants ON grants.giver = 'order' AND grants.source_id = order_lines.id \
        AND grants.place = order_line_grants.place \
    WHERE order_lines.order_id = $1 AND (order_lines.state = 'delivered' AND grants.id IS NULL \
        OR order_lines.state = 'revoked' AND grants.id IS NOT NULL AND grants.taken_back_at IS NULL)";

impl GrantsAudit for DieselTx<'_> {
    fn grants_after(&mut self, after: Option<GrantId>, limit: u32) -> Result<Vec<GrantId>, StoreError> {
        let after = Key(after.map_or(Uuid::nil(), GrantId::as_uuid));
        let ids: Vec<Key> = on!(self.conn, |conn| {
            grants::table
                .filter(grants::id.gt(after))
                .order(grants::id)
                .limit(i64::from(limit))
                .select(grants::id)
                .load(conn)
        })
        .map_err(broken("walk the grants"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }

    fn incomplete_grants(&mut self, of: &[GrantId]) -> Result<Vec<GivenGrant>, StoreError> {
        let hex = match self.conn {
            Conn::Pg(_) => "replace(CAST(grants.id AS text), '-', '')",
            Conn::Sqlite(_) => "lower(hex(grants.id))",
        };
        let is_incomplete = IS_INCOMPLETE.replace("{hex}", hex);
        let ids: Vec<Key> = of.iter().map(|id| Key::of(*id)).collect();
        let rows: Vec<GrantRow> = on!(self.conn, |conn| {
            grants::table
                .filter(grants::id.eq_any(&ids))
                .filter(diesel::dsl::sql::<Bool>(&is_incomplete))
                .order(grants::id)
                .select(GrantRow::as_select())
                .load(conn)
        })
        .map_err(broken("compare grants with their goods"))?;
        rows.into_iter().map(GrantRow::into_grant).collect()
    }

    fn misgranted_orders(&mut self, of: &[OrderId]) -> Result<Vec<OrderId>, StoreError> {
        let mut found = Vec::new();
        for order in of {
            let rows: Vec<IdRow> = on!(self.conn, |conn| {
                diesel::sql_query(MISGRANTED).bind::<Uid, _>(Key::of(*order)).load(conn)
            })
            .map_err(broken("compare orders with their grants"))?;
            found.extend(rows.into_iter().map(|row| row.id.id::<OrderId>()));
        }
        Ok(found)
    }

    fn granted_numbers(&mut self, grant: GrantId) -> Result<Vec<u32>, StoreError> {
        let slots: Vec<i32> = on!(self.conn, |conn| {
            owned_collectibles::table
                .filter(owned_collectibles::grant_id.eq(Some(Key::of(grant))))
                .select(owned_collectibles::slot)
                .load(conn)
        })
        .map_err(broken("read the collectibles of a grant"))?;
        slots.into_iter().map(|slot| count("owned_collectibles", "slot", slot)).collect()
    }

    fn unrecorded_coins(&mut self, user: UserId, amount: i64) -> Result<Option<GrantId>, StoreError> {
        let fail = broken("find coins that were given without a record");
        let sources: Vec<String> = on!(self.conn, |conn| {
            ledger_transfers::table
                .filter(ledger_transfers::credit_user.eq(Some(Key::of(user))))
                .filter(ledger_transfers::amount.eq(amount))
                .filter(ledger_transfers::source_key.like("grant:%"))
                .order(ledger_transfers::source_key)
                .select(ledger_transfers::source_key)
                .load(conn)
        })
        .map_err(&fail)?;
        for source in sources {
            let id = source.strip_prefix(COINS).and_then(|id| Uuid::try_parse(id).ok());
            let Some(id) = id else { continue };
            let own = grants::table.find(Key(id)).count();
            let known: i64 = on!(self.conn, |conn| own.get_result(conn)).map_err(&fail)?;
            if known == 0 {
                return Ok(Some(GrantId::from_uuid(id)));
            }
        }
        Ok(None)
    }
}
