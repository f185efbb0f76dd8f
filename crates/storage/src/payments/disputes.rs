//! Disputes of payments.

use super::payable;
use crate::conn::on;
use crate::error::broken;
use crate::rows::named;
use crate::schema::payment_disputes;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{Money, StoreError};
use terrace_store::payments::{Dispute, DisputeState, Payable};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = payment_disputes)]
struct DisputeRow {
    provider: String,
    reference: String,
    payable_id: Key,
    payable_kind: String,
    state: String,
    amount: i64,
    currency: String,
    opened_at: At,
    changed_at: At,
}

impl DisputeRow {
    fn into_dispute(self) -> Result<Dispute, StoreError> {
        const TABLE: &str = "payment_disputes";
        Ok(Dispute {
            payable: payable(TABLE, &self.payable_kind, self.payable_id)?,
            state: named(TABLE, "state", &self.state)?,
            money: Money { amount: self.amount, currency: named(TABLE, "currency", &self.currency)? },
            opened_at: self.opened_at.0,
            changed_at: self.changed_at.0,
            provider: self.provider,
            reference: self.reference,
        })
    }
}

impl DieselTx<'_> {
    pub(super) fn list_disputes(&mut self, of: &[Payable]) -> Result<Vec<Dispute>, StoreError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = of.iter().map(|payable| Key::of(payable.id())).collect();
        let rows: Vec<DisputeRow> = on!(self.conn, |conn| {
            payment_disputes::table
                .filter(payment_disputes::payable_id.eq_any(&ids))
                .order((payment_disputes::opened_at, payment_disputes::reference))
                .select(DisputeRow::as_select())
                .load(conn)
        })
        .map_err(broken("read disputes"))?;
        rows.into_iter().map(DisputeRow::into_dispute).collect()
    }

    pub(super) fn list_open_disputes(&mut self, limit: u32) -> Result<Vec<Dispute>, StoreError> {
        let rows: Vec<DisputeRow> = on!(self.conn, |conn| {
            payment_disputes::table
                .filter(payment_disputes::state.eq(DisputeState::Open.as_str()))
                .order((payment_disputes::opened_at, payment_disputes::reference))
                .limit(i64::from(limit))
                .select(DisputeRow::as_select())
                .load(conn)
        })
        .map_err(broken("read open disputes"))?;
        rows.into_iter().map(DisputeRow::into_dispute).collect()
    }

    pub(super) fn write_dispute(&mut self, dispute: &Dispute) -> Result<(), StoreError> {
        let row = DisputeRow {
            provider: dispute.provider.clone(),
            reference: dispute.reference.clone(),
            payable_id: Key::of(dispute.payable.id()),
            payable_kind: dispute.payable.kind().to_owned(),
            state: dispute.state.to_string(),
            amount: dispute.money.amount,
            currency: dispute.money.currency.to_string(),
            opened_at: At(dispute.opened_at),
            changed_at: At(dispute.changed_at),
        };
        let changes =
            (payment_disputes::state.eq(row.state.clone()), payment_disputes::changed_at.eq(row.changed_at));
        on!(self.conn, |conn| {
            diesel::insert_into(payment_disputes::table)
                .values(row)
                .on_conflict((payment_disputes::provider, payment_disputes::reference))
                .do_update()
                .set(changes)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a dispute"))
    }
}
