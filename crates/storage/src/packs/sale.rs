//! Purchases and the copies that they create.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Between, Fixed, column};
use crate::numbered::Numbered;
use crate::packs::catalogue::stock;
use crate::packs::{PurchaseRow, count};
use crate::schema::{pack_purchases, pack_stock, user_packs};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Integer, Nullable, Text};
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_packs::{
    Bought, PackId, Purchase, PurchaseId, PurchaseState, SaleWrite, SealedSeed, Stock, StockChange,
    Transition, UserPack,
};

/// Each number is read from an index made for it.
const BOUGHT: &str = "\
    SELECT CAST((SELECT coalesce(sum(quantity), 0) FROM pack_purchases \
            WHERE user_id = $1 AND pack_id = $2 AND state IN ('pending', 'completed')) AS integer) AS copies, \
        CAST((SELECT count(*) FROM pack_purchases WHERE user_id = $1 AND state = 'pending') \
            + (SELECT count(*) FROM orders WHERE user_id = $1 AND state = 'pending') AS integer) AS pending";

/// The abandoned purchases of an account. A purchase that is cancelled without a reference was rejected by the provider
/// and does not count.
const ABANDONED: &str = "\
    SELECT created_at FROM pack_purchases \
    WHERE user_id = $1 AND created_at > $2 AND price_kind = 'money' AND state IN ('expired', 'cancelled') \
        AND EXISTS (SELECT 1 FROM pack_stock WHERE pack_stock.pack_id = pack_purchases.pack_id) \
        AND (state = 'expired' OR EXISTS (SELECT 1 FROM payments \
            WHERE payments.payable_id = pack_purchases.id AND payments.reference IS NOT NULL)) \
    ORDER BY created_at DESC LIMIT $3";

const INSERT_COPIES: &str = "INSERT INTO user_packs (id, user_id, pack_id, purchase_id, grant_id, nonce, state, seed_hash, \
    sealed_seed, bought_at, changed_at) SELECT * FROM unnest(";

const PENDING_HOLDS: &str = "\
    SELECT CAST(count(*) AS integer) AS number FROM pack_purchases WHERE user_id = $1 AND state = 'pending' \
        AND EXISTS (SELECT 1 FROM pack_stock WHERE pack_stock.pack_id = pack_purchases.pack_id)";

const NEW_ACCOUNT_HOLDS: &str = "\
    SELECT CAST((SELECT coalesce(sum(pack_purchases.quantity), 0) FROM pack_purchases \
        JOIN users ON users.id = pack_purchases.user_id \
        WHERE pack_purchases.pack_id = $1 AND pack_purchases.state = 'pending' AND users.created_at > $2) \
    + (SELECT coalesce(sum(order_line_grants.amount), 0) FROM order_line_grants \
        JOIN order_lines ON order_lines.id = order_line_grants.line_id \
        JOIN orders ON orders.id = order_lines.order_id JOIN users ON users.id = orders.user_id \
        WHERE order_line_grants.item_id = $1 AND order_line_grants.kind = 'pack' AND orders.state = 'pending' \
            AND users.created_at > $2) AS integer) AS number";

#[derive(QueryableByName)]
struct BoughtRow {
    #[diesel(sql_type = Integer)]
    copies: i32,
    #[diesel(sql_type = Integer)]
    pending: i32,
}

#[derive(Insertable)]
#[diesel(table_name = user_packs, treat_none_as_default_value = false)]
struct NewCopyRow<'a> {
    id: Key,
    user_id: Key,
    pack_id: Key,
    purchase_id: Option<Key>,
    grant_id: Option<Key>,
    nonce: i32,
    state: &'a str,
    seed_hash: &'a [u8],
    sealed_seed: &'a [u8],
    bought_at: At,
    changed_at: At,
}

impl<'a> NewCopyRow<'a> {
    fn of((copy, seed): &'a (UserPack, SealedSeed)) -> Self {
        Self {
            id: Key::of(copy.id),
            user_id: Key::of(copy.user),
            pack_id: Key::of(copy.pack),
            purchase_id: copy.origin.purchase().map(Key::of),
            grant_id: copy.origin.grant().map(Key::of),
            nonce: num::to_i32(copy.nonce),
            state: copy.state.as_str(),
            seed_hash: copy.seed_hash.as_bytes(),
            sealed_seed: seed.as_bytes(),
            bought_at: At(copy.bought_at),
            changed_at: At(copy.bought_at),
        }
    }
}

impl SaleWrite for DieselTx<'_> {
    fn bought(&mut self, user: UserId, pack: PackId) -> Result<Bought, StoreError> {
        let row: BoughtRow = on!(self.conn, |conn| {
            Numbered::new(BOUGHT, (Key::of(user).into_sql::<Uid>(), Key::of(pack).into_sql::<Uid>()))
                .get_result(conn)
        })
        .map_err(broken("count what a fan bought"))?;
        let number = |number| count("pack_purchases", "quantity", number);
        Ok(Bought { copies: number(row.copies)?, pending: number(row.pending)? })
    }

    fn abandoned(
        &mut self,
        user: UserId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Timestamp>, StoreError> {
        self.times_since(ABANDONED, user, since, limit).map_err(broken("read abandoned purchases"))
    }

    fn pending_holds(&mut self, user: UserId) -> Result<u32, StoreError> {
        let number: i32 = on!(self.conn, |conn| {
            Numbered::<_, Integer>::typed(PENDING_HOLDS, (Key::of(user).into_sql::<Uid>(),)).get_result(conn)
        })
        .map_err(broken("count the unpaid purchases of a fan"))?;
        count("pack_purchases", "id", number)
    }

    fn new_account_holds(&mut self, pack: PackId, since: Timestamp) -> Result<u32, StoreError> {
        let number: i32 = on!(self.conn, |conn| {
            Numbered::<_, Integer>::typed(
                NEW_ACCOUNT_HOLDS,
                (Key::of(pack).into_sql::<Uid>(), At(since).into_sql::<Instant>()),
            )
            .get_result(conn)
        })
        .map_err(broken("count the copies that new accounts hold"))?;
        count("pack_purchases", "quantity", number)
    }

    fn lock_stock(&mut self, pack: PackId) -> Result<Stock, StoreError> {
        let own = pack_stock::table.find(Key::of(pack)).select((pack_stock::sold, pack_stock::sealed));
        let row: Option<(i32, i32)> = match &mut self.conn {
            Conn::Pg(conn) => own.for_no_key_update().first(*conn).optional(),
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(conn) => own.first(*conn).optional(),
        }
        .map_err(broken("lock what stands of a pack"))?;
        let (sold, sealed) = row.ok_or_else(changed)?;
        stock(sold, sealed)
    }

    fn count_stock(&mut self, pack: PackId, change: StockChange) -> Result<(), StoreError> {
        let (sold, sealed) = (change.sold.into_sql::<Integer>(), change.sealed.into_sql::<Integer>());
        let values = Between(
            sold,
            ", sealed = sealed + ",
            Between(sealed, " WHERE pack_id = ", Key::of(pack).into_sql::<Uid>()),
        );
        let count = Fixed::<_>::new("UPDATE pack_stock SET sold = sold + ", values, "");
        let written =
            on!(self.conn, |conn| count.execute(conn)).map_err(broken("count what stands of a pack"))?;
        if written == 1 { Ok(()) } else { Err(changed()) }
    }

    fn insert_purchase(&mut self, purchase: &Purchase) -> Result<(), StoreError> {
        let row = PurchaseRow::of(purchase);
        on!(self.conn, |conn| diesel::insert_into(pack_purchases::table).values(row).execute(conn))
            .map(drop)
            .map_err(broken("write a purchase"))
    }

    fn insert_copies(&mut self, copies: &[(UserPack, SealedSeed)]) -> Result<(), StoreError> {
        let rows: Vec<_> = copies.iter().map(NewCopyRow::of).collect();
        match &mut self.conn {
            Conn::Pg(conn) => {
                let values = (
                    column(&rows, |row| row.id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.user_id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.pack_id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.purchase_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |row| row.grant_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |row| row.nonce).into_sql::<Array<Integer>>(),
                    column(&rows, |row| row.state).into_sql::<Array<Text>>(),
                    column(&rows, |row| row.seed_hash).into_sql::<Array<Binary>>(),
                    column(&rows, |row| row.sealed_seed).into_sql::<Array<Binary>>(),
                    column(&rows, |row| row.bought_at).into_sql::<Array<Instant>>(),
                    column(&rows, |row| row.changed_at).into_sql::<Array<Instant>>(),
                );
                Fixed::<_>::new(INSERT_COPIES, values, ")").execute(*conn).map(drop)
            }
            // One by one: a statement with a constant number of values is prepared once.
            Conn::Sqlite(conn) => rows.into_iter().try_for_each(|row| {
                diesel::insert_into(user_packs::table).values(row).execute(*conn).map(drop)
            }),
        }
        .map_err(broken("write copies of a pack"))
    }

    fn lock_purchase(&mut self, id: PurchaseId) -> Result<Option<Purchase>, StoreError> {
        let row: Option<PurchaseRow> = match &mut self.conn {
            Conn::Pg(conn) => pack_purchases::table
                .find(Key::of(id))
                .select(PurchaseRow::as_select())
                .for_no_key_update()
                .first(*conn)
                .optional(),
            Conn::Sqlite(conn) => pack_purchases::table
                .find(Key::of(id))
                .select(PurchaseRow::as_select())
                .first(*conn)
                .optional(),
        }
        .map_err(broken("lock a purchase"))?;
        row.map(PurchaseRow::into_purchase).transpose()
    }

    fn move_purchase(
        &mut self,
        id: PurchaseId,
        change: Transition<PurchaseState>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let standing =
            pack_purchases::table.find(Key::of(id)).filter(pack_purchases::state.eq(change.from().as_str()));
        let values = (
            pack_purchases::state.eq(change.to().as_str()),
            pack_purchases::checkout_url.eq(None::<String>),
            pack_purchases::changed_at.eq(At(at)),
        );
        on!(self.conn, |conn| diesel::update(standing).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("change the state of a purchase"))
    }
}

/// Content was reloaded a moment ago and changed whether the pack is counted.
pub(crate) fn changed() -> StoreError {
    StoreError::Contended("whether the pack is counted has just changed".to_owned())
}
