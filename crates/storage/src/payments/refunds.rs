//! Refunds of what was paid for.

use super::payable;
use crate::conn::on;
use crate::error::broken;
use crate::packs::count;
use crate::rows::{keyset, named};
use crate::schema::refunds;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, Timestamp, Uuid, num};
use terrace_shop::{PaidBy, RefundId};
use terrace_store::payments::{Payable, Refund};

const TABLE: &str = "refunds";

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = refunds, treat_none_as_default_value = false)]
struct RefundRow {
    id: Key,
    payable_id: Key,
    payable_kind: String,
    points: i64,
    coins: i64,
    balance: i64,
    card: i64,
    currency: Option<String>,
    with_shipping: bool,
    state: String,
    reference: Option<String>,
    attempt: i32,
    asked_at: Option<At>,
    due_at: Option<At>,
    tries: i32,
    created_at: At,
}

impl RefundRow {
    fn of(refund: &Refund) -> Self {
        let PaidBy { points, coins, balance, card } = refund.parts;
        Self {
            id: Key::of(refund.id),
            payable_id: Key::of(refund.payable.id()),
            payable_kind: refund.payable.kind().to_owned(),
            points,
            coins,
            balance,
            card,
            currency: refund.currency.map(|currency| currency.to_string()),
            with_shipping: refund.with_shipping,
            state: refund.state.to_string(),
            reference: refund.reference.clone(),
            attempt: num::to_i32(refund.attempt),
            asked_at: refund.asked_at.map(At),
            due_at: refund.due_at.map(At),
            tries: num::to_i32(refund.tries),
            created_at: At(refund.created_at),
        }
    }

    fn into_refund(self) -> Result<Refund, StoreError> {
        let Self { points, coins, balance, card, .. } = self;
        Ok(Refund {
            id: self.id.id(),
            payable: payable(TABLE, &self.payable_kind, self.payable_id)?,
            parts: PaidBy { points, coins, balance, card },
            currency: self.currency.map(|code| named(TABLE, "currency", &code)).transpose()?,
            with_shipping: self.with_shipping,
            state: named(TABLE, "state", &self.state)?,
            reference: self.reference,
            attempt: count(TABLE, "attempt", self.attempt)?,
            asked_at: self.asked_at.map(|at| at.0),
            due_at: self.due_at.map(|at| at.0),
            tries: count(TABLE, "tries", self.tries)?,
            created_at: self.created_at.0,
        })
    }
}

impl DieselTx<'_> {
    pub(super) fn list_refunds(&mut self, of: &[Payable]) -> Result<Vec<Refund>, StoreError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = of.iter().map(|payable| Key::of(payable.id())).collect();
        let rows: Vec<RefundRow> = on!(self.conn, |conn| {
            refunds::table
                .filter(refunds::payable_id.eq_any(&ids))
                .order((refunds::payable_id, refunds::created_at, refunds::id))
                .select(RefundRow::as_select())
                .load(conn)
        })
        .map_err(broken("read refunds"))?;
        rows.into_iter().map(RefundRow::into_refund).collect()
    }

    pub(super) fn find_refund(&mut self, id: RefundId) -> Result<Option<Refund>, StoreError> {
        let row: Option<RefundRow> = on!(self.conn, |conn| {
            refunds::table.find(Key::of(id)).select(RefundRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a refund"))?;
        row.map(RefundRow::into_refund).transpose()
    }

    pub(super) fn list_due_refunds(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, Uuid)>,
    ) -> Result<Vec<Refund>, StoreError> {
        let rows: Vec<RefundRow> = on!(self.conn, |conn| {
            let mut query =
                refunds::table.filter(refunds::due_at.le(At(by))).select(RefundRow::as_select()).into_boxed();
            if let Some((at, id)) = after {
                query = keyset!(query, refunds::due_at > At(at), refunds::id > Key(id));
            }
            query.order((refunds::due_at, refunds::id)).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("read refunds that are due"))?;
        rows.into_iter().map(RefundRow::into_refund).collect()
    }

    pub(super) fn write_refund(&mut self, refund: &Refund) -> Result<(), StoreError> {
        let row = RefundRow::of(refund);
        on!(self.conn, |conn| diesel::insert_into(refunds::table).values(row).execute(conn))
            .map(drop)
            .map_err(broken("write a refund"))
    }

    pub(super) fn change_refund(&mut self, refund: &Refund) -> Result<(), StoreError> {
        let row = RefundRow::of(refund);
        let values = (
            refunds::state.eq(row.state),
            refunds::reference.eq(row.reference),
            refunds::attempt.eq(row.attempt),
            refunds::asked_at.eq(row.asked_at),
            refunds::due_at.eq(row.due_at),
            refunds::tries.eq(row.tries),
        );
        on!(self.conn, |conn| diesel::update(refunds::table.find(row.id)).set(values).execute(conn))
            .map(drop)
            .map_err(broken("change a refund"))
    }
}
