//! Compares all purchases with the journal, and repairs differences.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::packs::catalogue::STOCK;
use crate::packs::{CopyRow, PurchaseRow, count};
use crate::rows::IdRow;
use crate::schema::{
    ledger_transfers, owned_collectibles, pack_openings, pack_purchases, pack_stock, payments, user_packs,
};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use std::collections::{HashMap, HashSet};
use terrace_kernel::{StoreError, Timestamp, Uuid, num};
use terrace_ledger::TransferSource;
use terrace_packs::{
    CollectibleId, CopyStanding, Owned, PackId, PaymentFollowUp, PurchaseId, PurchaseStanding, PurchaseState,
    Settlement, UserPackId, UserPackState,
};
use terrace_store::repair::{PacksAudit, PacksRepair};

const AFTER: &str = "SELECT id FROM pack_purchases WHERE id > $1 ORDER BY id LIMIT $2";
/// Serials beyond the size of an edition are not counted: content may have reduced the size since they were assigned.
const UNDERMINTED: &str = "\
    SELECT c.id FROM collectibles c WHERE c.edition IS NOT NULL AND c.minted < \
        (SELECT coalesce(max(o.serial), 0) FROM owned_collectibles o \
            WHERE o.collectible_id = c.id AND o.serial <= c.edition) ORDER BY c.id";
const RAISE: &str = "\
    UPDATE collectibles SET minted = (SELECT max(o.serial) FROM owned_collectibles o \
        WHERE o.collectible_id = $1 AND o.serial <= collectibles.edition) \
    WHERE id = $1 AND edition IS NOT NULL AND minted < (SELECT coalesce(max(o.serial), 0) \
        FROM owned_collectibles o WHERE o.collectible_id = $1 AND o.serial <= collectibles.edition)";
const WAKE: &str = "\
    UPDATE payments SET due_at = $1 WHERE payable_id = $2 AND due_at IS NULL \
        AND EXISTS (SELECT 1 FROM pack_purchases p WHERE p.id = payments.payable_id AND p.state = 'pending')";

#[derive(QueryableByName)]
struct StockRow {
    #[diesel(sql_type = Integer)]
    sold: i32,
    #[diesel(sql_type = Integer)]
    sealed: i32,
}

/// The related rows of purchases, by purchase or copy.
#[derive(Default)]
struct RelatedRows {
    journal: HashSet<String>,
    /// Whether each payment is due at some time.
    payments: HashMap<Key, bool>,
    copies: HashMap<Key, Vec<CopyRow>>,
    proved: HashSet<Key>,
    owned: HashMap<Key, Vec<(i32, At)>>,
}

impl RelatedRows {
    fn standing(&mut self, row: PurchaseRow) -> Result<PurchaseStanding, StoreError> {
        let id = row.id;
        let purchase = row.into_purchase()?;
        let moved = |kind| self.journal.contains(TransferSource::of(kind, purchase.id).as_str());
        let settlement = match (moved("purchase") || moved("payment"), moved("refund")) {
            (false, _) => Settlement::Unpaid,
            (true, false) => Settlement::Paid,
            (true, true) => Settlement::GivenBack,
        };
        let awaited = match self.payments.remove(&id) {
            None => PaymentFollowUp::Nothing,
            Some(false) if purchase.state == PurchaseState::Pending => PaymentFollowUp::Asleep,
            Some(_) => PaymentFollowUp::InHand,
        };
        let copies = self.copies.remove(&id).unwrap_or_default();
        let copies = copies.into_iter().map(|copy| self.copy(copy)).collect::<Result<_, StoreError>>()?;
        Ok(PurchaseStanding { purchase, settlement, awaited, copies })
    }

    fn copy(&mut self, row: CopyRow) -> Result<CopyStanding, StoreError> {
        let id = row.id;
        let owned = self.owned.remove(&id).unwrap_or_default();
        let slots = owned.iter().map(|(slot, _)| count("owned_collectibles", "slot", *slot));
        Ok(CopyStanding {
            copy: row.into_copy()?,
            is_proved: self.proved.contains(&id),
            slots: slots.collect::<Result<_, _>>()?,
            given_at: owned.iter().map(|(_, at)| at.0).min(),
        })
    }
}

impl DieselTx<'_> {
    fn related(&mut self, ids: &[Key]) -> Result<RelatedRows, StoreError> {
        let fail = broken("read what belongs to purchases");
        let sources: Vec<String> = ["purchase", "payment", "refund"]
            .into_iter()
            .flat_map(|kind| ids.iter().map(move |id| TransferSource::of(kind, id.0).to_string()))
            .collect();
        let journal: Vec<String> = on!(self.conn, |conn| {
            ledger_transfers::table
                .filter(ledger_transfers::source_key.eq_any(sources))
                .select(ledger_transfers::source_key)
                .load(conn)
        })
        .map_err(&fail)?;
        let of_payments: Vec<(Key, bool)> = on!(self.conn, |conn| {
            payments::table
                .filter(payments::payable_id.eq_any(ids))
                .select((payments::payable_id, payments::due_at.is_not_null()))
                .load(conn)
        })
        .map_err(&fail)?;
        let rows: Vec<(Option<Key>, CopyRow)> = on!(self.conn, |conn| {
            user_packs::table
                .filter(user_packs::purchase_id.eq_any(ids))
                .order((user_packs::purchase_id, user_packs::nonce))
                .select((user_packs::purchase_id, CopyRow::as_select()))
                .load(conn)
        })
        .map_err(&fail)?;
        let of_copies: Vec<Key> = rows.iter().map(|(_, copy)| copy.id).collect();
        let proved: Vec<Key> = on!(self.conn, |conn| {
            pack_openings::table
                .filter(pack_openings::copy_id.eq_any(&of_copies))
                .select(pack_openings::copy_id)
                .load(conn)
        })
        .map_err(&fail)?;
        let given: Vec<(Option<Key>, i32, At)> = on!(self.conn, |conn| {
            owned_collectibles::table
                .filter(owned_collectibles::copy_id.eq_any(&of_copies))
                .order((owned_collectibles::copy_id, owned_collectibles::slot))
                .select((
                    owned_collectibles::copy_id,
                    owned_collectibles::slot,
                    owned_collectibles::acquired_at,
                ))
                .load(conn)
        })
        .map_err(&fail)?;
        let mut related = RelatedRows {
            journal: journal.into_iter().collect(),
            payments: of_payments.into_iter().collect(),
            proved: proved.into_iter().collect(),
            ..RelatedRows::default()
        };
        for (purchase, copy) in rows {
            let Some(purchase) = purchase else { continue };
            related.copies.entry(purchase).or_default().push(copy);
        }
        for (copy, slot, at) in given {
            let Some(copy) = copy else { continue };
            related.owned.entry(copy).or_default().push((slot, at));
        }
        Ok(related)
    }

    /// The stock that results from the purchases and copies of a pack.
    fn stock_due(&mut self, pack: Key) -> Result<(i32, i32), StoreError> {
        let due: StockRow =
            on!(self.conn, |conn| diesel::sql_query(STOCK).bind::<Uid, _>(pack).get_result(conn))
                .map_err(broken("count what was bought of a pack"))?;
        Ok((due.sold, due.sealed))
    }
}

impl PacksAudit for DieselTx<'_> {
    fn purchases_after(
        &mut self,
        after: Option<PurchaseId>,
        limit: u32,
    ) -> Result<Vec<PurchaseId>, StoreError> {
        let after = Key(after.map_or(Uuid::nil(), PurchaseId::as_uuid));
        let rows: Vec<IdRow> = on!(self.conn, |conn| {
            diesel::sql_query(AFTER).bind::<Uid, _>(after).bind::<BigInt, _>(i64::from(limit)).load(conn)
        })
        .map_err(broken("walk the purchases"))?;
        Ok(rows.into_iter().map(|row| row.id.id()).collect())
    }

    fn standings_of(&mut self, purchases: &[PurchaseId]) -> Result<Vec<PurchaseStanding>, StoreError> {
        let ids: Vec<Key> = purchases.iter().map(|id| Key::of(*id)).collect();
        let rows: Vec<PurchaseRow> = on!(self.conn, |conn| {
            pack_purchases::table
                .filter(pack_purchases::id.eq_any(&ids))
                .order(pack_purchases::id)
                .select(PurchaseRow::as_select())
                .load(conn)
        })
        .map_err(broken("read purchases"))?;
        let mut related = self.related(&ids)?;
        rows.into_iter().map(|row| related.standing(row)).collect()
    }

    fn misstocked(&mut self) -> Result<Vec<PackId>, StoreError> {
        let kept: Vec<(Key, i32, i32)> =
            on!(self.conn, |conn| pack_stock::table.order(pack_stock::pack_id).load(conn))
                .map_err(broken("read what stands of packs"))?;
        let mut wrong = Vec::new();
        for (pack, sold, sealed) in kept {
            if self.stock_due(pack)? != (sold, sealed) {
                wrong.push(pack.id());
            }
        }
        Ok(wrong)
    }

    fn underminted(&mut self) -> Result<Vec<CollectibleId>, StoreError> {
        let rows: Vec<IdRow> = on!(self.conn, |conn| diesel::sql_query(UNDERMINTED).load(conn))
            .map_err(broken("hold editions against serials"))?;
        Ok(rows.into_iter().map(|row| row.id.id()).collect())
    }
}

impl PacksRepair for DieselTx<'_> {
    fn put_purchase_state(
        &mut self,
        purchase: PurchaseId,
        state: PurchaseState,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let values = (
            pack_purchases::state.eq(state.as_str()),
            pack_purchases::checkout_url.eq(None::<String>),
            pack_purchases::changed_at.eq(At(at)),
        );
        let own = pack_purchases::table.find(Key::of(purchase));
        on!(self.conn, |conn| diesel::update(own).set(values).execute(conn))
            .map(drop)
            .map_err(broken("repair the state of a purchase"))
    }

    fn put_copy_opened(
        &mut self,
        copy: UserPackId,
        opened_at: Timestamp,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let sealed = user_packs::table
            .find(Key::of(copy))
            .filter(user_packs::state.eq(UserPackState::Sealed.as_str()));
        let values = (
            user_packs::state.eq(UserPackState::Opened.as_str()),
            user_packs::sealed_seed.eq(None::<Vec<u8>>),
            user_packs::opened_at.eq(Some(At(opened_at))),
            user_packs::changed_at.eq(At(at)),
        );
        on!(self.conn, |conn| diesel::update(sealed).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("repair the state of a copy"))
    }

    fn lost_serials(&mut self, collectible: CollectibleId) -> Result<Vec<u32>, StoreError> {
        let fail = broken("find unassigned serials");
        let id = Key::of(collectible);
        let own = crate::schema::collectibles::table.find(id);
        let minted = own.select(crate::schema::collectibles::minted);
        let minted: Option<i32> = match &mut self.conn {
            // Locked, so that concurrent minting waits and does not assign the same serials.
            Conn::Pg(conn) => minted.for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => minted.first(*conn).optional(),
        }
        .map_err(&fail)?;
        let given: Vec<Option<i32>> = on!(self.conn, |conn| {
            owned_collectibles::table
                .filter(owned_collectibles::collectible_id.eq(id))
                .select(owned_collectibles::serial)
                .load(conn)
        })
        .map_err(&fail)?;
        let given: HashSet<i32> = given.into_iter().flatten().collect();
        let lost = (1..=minted.unwrap_or(0)).filter(|serial| !given.contains(serial));
        lost.map(|serial| count("owned_collectibles", "serial", serial)).collect()
    }

    fn insert_owned(&mut self, owned: &Owned) -> Result<bool, StoreError> {
        let row = (
            owned_collectibles::id.eq(Key::of(owned.id)),
            owned_collectibles::user_id.eq(Key::of(owned.user)),
            owned_collectibles::collectible_id.eq(Key::of(owned.collectible)),
            owned_collectibles::serial.eq(owned.serial.map(num::to_i32)),
            owned_collectibles::acquired_at.eq(At(owned.acquired_at)),
            owned_collectibles::copy_id.eq(owned.source.copy().map(Key::of)),
            owned_collectibles::slot.eq(num::to_i32(owned.source.number())),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(owned_collectibles::table)
                .values(row)
                .on_conflict((owned_collectibles::copy_id, owned_collectibles::slot))
                .do_nothing()
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("write what a copy gave"))
    }

    fn restock(&mut self, pack: PackId) -> Result<bool, StoreError> {
        let fail = broken("repair the stock of a pack");
        let id = Key::of(pack);
        let own = pack_stock::table.find(id).select((pack_stock::sold, pack_stock::sealed));
        let kept: Option<(i32, i32)> = match &mut self.conn {
            Conn::Pg(conn) => own.for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => own.first(*conn).optional(),
        }
        .map_err(&fail)?;
        // In a statement after the lock: a transaction that has bought or opened but not counted yet counts it after
        // this one ends.
        let due = self.stock_due(id)?;
        if kept.is_none_or(|kept| kept == due) {
            return Ok(false);
        }
        let values = (pack_stock::sold.eq(due.0), pack_stock::sealed.eq(due.1));
        on!(self.conn, |conn| diesel::update(pack_stock::table.find(id)).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(fail)
    }

    fn raise_minted(&mut self, collectible: CollectibleId) -> Result<bool, StoreError> {
        on!(self.conn, |conn| diesel::sql_query(RAISE).bind::<Uid, _>(Key::of(collectible)).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("repair the minted count of an edition"))
    }

    fn wake_payment(&mut self, purchase: PurchaseId, at: Timestamp) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            diesel::sql_query(WAKE).bind::<Instant, _>(At(at)).bind::<Uid, _>(Key::of(purchase)).execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("have a payment looked at"))
    }
}
