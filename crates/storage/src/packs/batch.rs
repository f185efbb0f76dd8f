//! Purchases and openings of several fans at once. On PostgreSQL each method is one statement, or two where the second
//! refers to rows of the first.

use crate::conn::Conn;
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::packs::catalogue::stock;
use crate::packs::opening::NewOwnedRow;
use crate::packs::sale::changed;
use crate::packs::{CopyRow, PurchaseRow, count};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Integer, Nullable, Text};
use std::collections::HashMap;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_packs::{
    CollectibleId, CopyWanted, Opening, OpeningWrite, PackBatch, PackId, Purchase, SaleWrite, SealedSeed,
    Stock, StockChange, UserPack, UserPackId, UserPackState,
};

const BOUGHT: &str = "SELECT given.user_id, CAST(coalesce((SELECT sum(quantity) FROM pack_purchases AS p \
    WHERE p.user_id = given.user_id AND p.pack_id = given.pack_id AND p.state IN ('pending', 'completed')), 0) \
    AS integer) FROM unnest(";
const BOUGHT_END: &str = ") AS given (user_id, pack_id)";

const LOCK_STOCKS: &str = "SELECT pack_id, sold, sealed FROM pack_stock WHERE pack_id = ANY (";
const LOCK_STOCKS_END: &str = ") ORDER BY pack_id FOR NO KEY UPDATE";

/// Rows are set from their locked versions: PostgreSQL first evaluates an update against the version at the start of the
/// statement, which may violate a check that the current version satisfies.
const COUNT_STOCKS: &str = ") AS given (pack_id, sold, sealed)), held AS MATERIALIZED ( \
    SELECT pack_id, sold, sealed FROM pack_stock WHERE pack_id = ANY ($1) ORDER BY pack_id FOR NO KEY UPDATE) \
    UPDATE pack_stock SET sold = held.sold + given.sold, sealed = held.sealed + given.sealed \
    FROM held JOIN given USING (pack_id) WHERE pack_stock.pack_id = held.pack_id";

const INSERT_PURCHASES: &str = "INSERT INTO pack_purchases (id, user_id, pack_id, quantity, price_kind, price_amount, \
    price_currency, state, checkout_url, created_at, expires_at, changed_at) SELECT * FROM unnest(";

/// A copy that is named, or the oldest sealed one.
const COPIES: &str = "SELECT found.id, found.user_id, found.pack_id, purchase_id, grant_id, nonce, state, seed_hash, bought_at, \
    opened_at, sealed_seed FROM unnest(";
const COPIES_END: &str = ") AS given (user_id, pack_id, copy_id) CROSS JOIN LATERAL ( \
    (SELECT * FROM user_packs AS u WHERE given.copy_id IS NULL AND u.user_id = given.user_id \
        AND u.pack_id = given.pack_id AND u.state = 'sealed' ORDER BY u.bought_at, u.nonce, u.id LIMIT 1) \
    UNION ALL \
    (SELECT * FROM user_packs AS u WHERE u.id = given.copy_id AND u.user_id = given.user_id \
        AND u.pack_id = given.pack_id)) AS found";

const MINT: &str = ") AS given (id, copies)), held AS MATERIALIZED ( \
    SELECT id, minted, edition FROM collectibles WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE) \
    UPDATE collectibles SET minted = held.minted + given.copies FROM held JOIN given USING (id) \
    WHERE collectibles.id = held.id AND held.minted + given.copies <= held.edition \
    RETURNING collectibles.id, collectibles.minted";

const OPEN: &str = ") AS given (copy_id, opened_at, algorithm, server_seed, client_seed, client_seed_source, tables, \
    table_hash)), moved AS ( \
    UPDATE user_packs SET state = 'opened', sealed_seed = NULL, opened_at = given.opened_at, \
        changed_at = given.opened_at FROM given WHERE id = given.copy_id AND state = 'sealed' RETURNING id) \
    INSERT INTO pack_openings (copy_id, algorithm, server_seed, client_seed, client_seed_source, tables, table_hash) \
    SELECT copy_id, algorithm, server_seed, client_seed, client_seed_source, tables, table_hash \
    FROM given JOIN moved ON moved.id = given.copy_id";

const INSERT_OWNED: &str = "INSERT INTO owned_collectibles (id, user_id, collectible_id, serial, acquired_at, copy_id, \
    slot) SELECT * FROM unnest(";

type CopyColumns = (
    (Uid, Uid, Uid, Nullable<Uid>, Nullable<Uid>, Integer, Text, Binary, Instant, Nullable<Instant>),
    Nullable<Binary>,
);

impl PackBatch for DieselTx<'_> {
    fn copies_bought(&mut self, of: &[(UserId, PackId)]) -> Result<HashMap<UserId, u32>, StoreError> {
        if of.is_empty() {
            return Ok(HashMap::new());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            return of.iter().map(|(fan, pack)| Ok((*fan, self.bought(*fan, *pack)?.copies))).collect();
        };
        let (fans, packs): (Vec<Key>, Vec<Key>) =
            of.iter().map(|(fan, pack)| (Key::of(*fan), Key::of(*pack))).unzip();
        let values = (fans.into_sql::<Array<Uid>>(), packs.into_sql::<Array<Uid>>());
        let rows: Vec<(Key, i32)> = Fixed::<_, (Uid, Integer)>::new(BOUGHT, values, BOUGHT_END)
            .load(*conn)
            .map_err(broken("count what fans bought"))?;
        let number = |number| count("pack_purchases", "quantity", number);
        rows.into_iter().map(|(fan, copies)| Ok((fan.id(), number(copies)?))).collect()
    }

    fn lock_stocks(&mut self, packs: &[PackId]) -> Result<HashMap<PackId, Stock>, StoreError> {
        if packs.is_empty() {
            return Ok(HashMap::new());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            return packs.iter().map(|pack| Ok((*pack, self.lock_stock(*pack)?))).collect();
        };
        let packs: Vec<Key> = packs.iter().map(|pack| Key::of(*pack)).collect();
        let statement = Fixed::<_, (Uid, Integer, Integer)>::new(
            LOCK_STOCKS,
            packs.into_sql::<Array<Uid>>(),
            LOCK_STOCKS_END,
        );
        let rows: Vec<(Key, i32, i32)> =
            statement.load(*conn).map_err(broken("lock what stands of packs"))?;
        rows.into_iter().map(|(pack, sold, sealed)| Ok((pack.id(), stock(sold, sealed)?))).collect()
    }

    fn count_stocks(&mut self, changes: &[(PackId, StockChange)]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            return changes.iter().try_for_each(|(pack, change)| self.count_stock(*pack, *change));
        };
        let packs: Vec<Key> = changes.iter().map(|(pack, _)| Key::of(*pack)).collect();
        let sold: Vec<i32> = changes.iter().map(|(_, change)| change.sold).collect();
        let sealed: Vec<i32> = changes.iter().map(|(_, change)| change.sealed).collect();
        let values = (
            packs.into_sql::<Array<Uid>>(),
            sold.into_sql::<Array<Integer>>(),
            sealed.into_sql::<Array<Integer>>(),
        );
        let written = Fixed::<_>::new(GIVEN, values, COUNT_STOCKS)
            .execute(*conn)
            .map_err(broken("count what stands of packs"))?;
        if written == changes.len() { Ok(()) } else { Err(changed()) }
    }

    fn insert_purchases(&mut self, purchases: &[Purchase]) -> Result<(), StoreError> {
        if purchases.is_empty() {
            return Ok(());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            return purchases.iter().try_for_each(|purchase| self.insert_purchase(purchase));
        };
        let rows: Vec<_> = purchases.iter().map(PurchaseRow::of).collect();
        let values = (
            column(&rows, |row| row.id).into_sql::<Array<Uid>>(),
            column(&rows, |row| row.user_id).into_sql::<Array<Uid>>(),
            column(&rows, |row| row.pack_id).into_sql::<Array<Uid>>(),
            column(&rows, |row| row.quantity).into_sql::<Array<Integer>>(),
            column(&rows, |row| row.price_kind.as_str()).into_sql::<Array<Text>>(),
            column(&rows, |row| row.price_amount).into_sql::<Array<BigInt>>(),
            column(&rows, |row| row.price_currency.as_deref()).into_sql::<Array<Nullable<Text>>>(),
            column(&rows, |row| row.state.as_str()).into_sql::<Array<Text>>(),
            column(&rows, |row| row.checkout_url.as_deref()).into_sql::<Array<Nullable<Text>>>(),
            column(&rows, |row| row.created_at).into_sql::<Array<Instant>>(),
            column(&rows, |row| row.expires_at).into_sql::<Array<Nullable<Instant>>>(),
            column(&rows, |row| row.changed_at).into_sql::<Array<Instant>>(),
        );
        Fixed::<_>::new(INSERT_PURCHASES, values, ")")
            .execute(*conn)
            .map(drop)
            .map_err(broken("write purchases"))
    }

    fn copies_to_open(
        &mut self,
        wanted: &[CopyWanted],
    ) -> Result<HashMap<UserId, (UserPack, Option<SealedSeed>)>, StoreError> {
        let mut found = HashMap::new();
        if wanted.is_empty() {
            return Ok(found);
        }
        let Conn::Pg(conn) = &mut self.conn else {
            for (fan, pack, copy) in wanted {
                let one = match copy {
                    Some(copy) => self.lock_copy(*fan, *copy)?.filter(|(copy, _)| copy.pack == *pack),
                    None => self.lock_oldest_sealed(*fan, *pack)?,
                };
                found.extend(one.map(|one| (*fan, one)));
            }
            return Ok(found);
        };
        let fans: Vec<Key> = wanted.iter().map(|(fan, ..)| Key::of(*fan)).collect();
        let packs: Vec<Key> = wanted.iter().map(|(_, pack, _)| Key::of(*pack)).collect();
        let copies: Vec<Option<Key>> = wanted.iter().map(|(.., copy)| copy.map(Key::of)).collect();
        let values = (
            fans.into_sql::<Array<Uid>>(),
            packs.into_sql::<Array<Uid>>(),
            copies.into_sql::<Array<Nullable<Uid>>>(),
        );
        let rows: Vec<(CopyRow, Option<Vec<u8>>)> = Fixed::<_, CopyColumns>::new(COPIES, values, COPIES_END)
            .load(*conn)
            .map_err(broken("find copies to open"))?;
        for (copy, seed) in rows {
            let copy = copy.into_copy()?;
            found.insert(copy.user, (copy, seed.map(SealedSeed::from_bytes)));
        }
        Ok(found)
    }

    fn mint_all(
        &mut self,
        wanted: &[(CollectibleId, u32)],
    ) -> Result<HashMap<CollectibleId, u32>, StoreError> {
        let Conn::Pg(conn) = &mut self.conn else {
            let mut last = HashMap::new();
            for (collectible, copies) in wanted {
                last.extend(self.mint_so_many(*collectible, *copies)?.map(|serial| (*collectible, serial)));
            }
            return Ok(last);
        };
        let changes = wanted.iter().map(|(id, copies)| (Key::of(*id), num::to_i32(*copies)));
        change_minted(conn, changes.unzip())
    }

    fn unmint_all(&mut self, taken: &[(CollectibleId, u32)]) -> Result<(), StoreError> {
        let Conn::Pg(conn) = &mut self.conn else {
            return taken
                .iter()
                .flat_map(|(collectible, copies)| (0..*copies).map(|_| *collectible))
                .try_for_each(|collectible| self.unmint(collectible));
        };
        let changes = taken.iter().map(|(id, copies)| (Key::of(*id), num::to_i32(*copies).saturating_neg()));
        change_minted(conn, changes.unzip()).map(drop)
    }

    fn open_copies(&mut self, opened: &[(UserPackId, Timestamp, &Opening)]) -> Result<usize, StoreError> {
        if opened.is_empty() {
            return Ok(0);
        }
        let fail = broken("write what copies gave");
        let Conn::Pg(conn) = &mut self.conn else {
            let mut moved = 0;
            for (copy, at, opening) in opened {
                let Ok(change) = UserPackState::Sealed.open() else { continue };
                if self.move_copy(*copy, change, *at)? {
                    self.insert_opening(*copy, opening)?;
                    moved += 1;
                }
            }
            return Ok(moved);
        };
        let tables: Vec<String> =
            opened.iter().map(|(_, _, opening)| opening.proof.tables.canonical()).collect();
        let values = (
            column(opened, |(copy, ..)| Key::of(*copy)).into_sql::<Array<Uid>>(),
            column(opened, |(_, at, _)| At(*at)).into_sql::<Array<Instant>>(),
            column(opened, |(.., opening)| opening.proof.algorithm.as_str()).into_sql::<Array<Text>>(),
            column(opened, |(.., opening)| &opening.proof.server_seed.as_bytes()[..])
                .into_sql::<Array<Binary>>(),
            column(opened, |(.., opening)| opening.proof.client_seed.as_str()).into_sql::<Array<Text>>(),
            column(opened, |(.., opening)| opening.proof.client_seed_source.as_str())
                .into_sql::<Array<Text>>(),
            tables.into_sql::<Array<Text>>(),
            column(opened, |(.., opening)| &opening.proof.table_hash.as_bytes()[..])
                .into_sql::<Array<Binary>>(),
        );
        let moved = Fixed::<_>::new(GIVEN, values, OPEN).execute(*conn).map_err(&fail)?;
        if moved < opened.len() {
            return Ok(moved);
        }
        let rows: Vec<_> =
            opened.iter().flat_map(|(.., opening)| &opening.owned).map(NewOwnedRow::of).collect();
        let values = (
            column(&rows, |row| row.id).into_sql::<Array<Uid>>(),
            column(&rows, |row| row.user_id).into_sql::<Array<Uid>>(),
            column(&rows, |row| row.collectible_id).into_sql::<Array<Uid>>(),
            column(&rows, |row| row.serial).into_sql::<Array<Nullable<Integer>>>(),
            column(&rows, |row| row.acquired_at).into_sql::<Array<Instant>>(),
            column(&rows, |row| row.copy_id).into_sql::<Array<Nullable<Uid>>>(),
            column(&rows, |row| row.slot).into_sql::<Array<Integer>>(),
        );
        Fixed::<_>::new(INSERT_OWNED, values, ")").execute(*conn).map_err(fail)?;
        Ok(moved)
    }
}

impl DieselTx<'_> {
    /// The last of so many serials of a limited edition; `None`, without serials taken, if fewer are left.
    fn mint_so_many(&mut self, collectible: CollectibleId, copies: u32) -> Result<Option<u32>, StoreError> {
        let mut last = None;
        for taken in 0..copies {
            last = self.mint(collectible)?;
            if last.is_none() {
                (0..taken).try_for_each(|_| self.unmint(collectible))?;
                break;
            }
        }
        Ok(last)
    }
}

/// Adds to the numbers of minted copies, or subtracts from them. Returns the new numbers of the editions that are not
/// exceeded; the others do not change.
fn change_minted(
    conn: &mut PgConnection,
    (ids, copies): (Vec<Key>, Vec<i32>),
) -> Result<HashMap<CollectibleId, u32>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let values = (ids.into_sql::<Array<Uid>>(), copies.into_sql::<Array<Integer>>());
    let rows: Vec<(Key, i32)> = Fixed::<_, (Uid, Integer)>::new(GIVEN, values, MINT)
        .load(conn)
        .map_err(broken("mint collectibles"))?;
    rows.into_iter().map(|(id, last)| Ok((id.id(), count("collectibles", "minted", last)?))).collect()
}
