//! Payments, the notices that providers sent about them, and the checkouts of the sandbox.

mod disputes;
mod figures;
mod refunds;
pub(crate) mod schema;

use crate::conn::on;
use crate::error::broken;
use crate::packs::{PurchaseRow, count};
use crate::rows::{corrupt, keyset, named};
use crate::schema::{orders, pack_purchases, payment_notices, payments, sandbox_checkouts};
use crate::shop::OrderRow;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use std::collections::HashMap;
use terrace_kernel::Money;
use terrace_kernel::{StoreError, Timestamp, Uuid, num};
use terrace_packs::PurchaseState;
use terrace_shop::{OrderState, RefundId};
use terrace_store::payments::{
    Charge, Dispute, NoticeOutcome, Payable, Payment, PaymentNotice, PaymentRead, PaymentWrite, Refund,
    SandboxCheckout, SandboxState, SandboxWrite,
};

fn payable(table: &'static str, kind: &str, id: Key) -> Result<Payable, StoreError> {
    Payable::of(kind, id.id()).map_err(|error| corrupt(table, "payable_kind", &error))
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = payments, treat_none_as_default_value = false, treat_none_as_null = true)]
struct PaymentRow {
    payable_id: Key,
    payable_kind: String,
    provider: String,
    reference: Option<String>,
    due_at: Option<At>,
    attempts: i32,
    checkout_attempt: i32,
}

impl PaymentRow {
    fn of(payment: &Payment) -> Self {
        Self {
            payable_id: Key::of(payment.payable.id()),
            payable_kind: payment.payable.kind().to_owned(),
            provider: payment.provider.clone(),
            reference: payment.reference.clone(),
            due_at: payment.due_at.map(At),
            attempts: num::to_i32(payment.attempts),
            checkout_attempt: num::to_i32(payment.checkout_attempt),
        }
    }

    fn into_payment(self) -> Result<Payment, StoreError> {
        const TABLE: &str = "payments";
        Ok(Payment {
            payable: payable(TABLE, &self.payable_kind, self.payable_id)?,
            provider: self.provider,
            reference: self.reference,
            due_at: self.due_at.map(|at| at.0),
            attempts: count(TABLE, "attempts", self.attempts)?,
            checkout_attempt: count(TABLE, "checkout_attempt", self.checkout_attempt)?,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = payment_notices)]
struct NoticeRow {
    event_id: String,
    payable_id: Key,
    payable_kind: String,
    kind: String,
    amount: i64,
    currency: String,
    reference: String,
    occurred_at: At,
    outcome: String,
    detail: Option<String>,
}

impl NoticeRow {
    fn into_notice(self) -> Result<(PaymentNotice, NoticeOutcome), StoreError> {
        const TABLE: &str = "payment_notices";
        let notice = PaymentNotice {
            event_id: self.event_id,
            payable: payable(TABLE, &self.payable_kind, self.payable_id)?,
            kind: named(TABLE, "kind", &self.kind)?,
            money: Money { amount: self.amount, currency: named(TABLE, "currency", &self.currency)? },
            reference: self.reference,
            occurred_at: self.occurred_at.0,
            detail: self.detail.map(|detail| named(TABLE, "detail", &detail)).transpose()?,
        };
        Ok((notice, named(TABLE, "outcome", &self.outcome)?))
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = sandbox_checkouts)]
struct SandboxRow {
    payable_id: Key,
    payable_kind: String,
    amount: i64,
    currency: String,
    description: String,
    expires_at: At,
    state: String,
    changed_at: At,
}

impl SandboxRow {
    fn into_checkout(self) -> Result<SandboxCheckout, StoreError> {
        const TABLE: &str = "sandbox_checkouts";
        Ok(SandboxCheckout {
            payable: payable(TABLE, &self.payable_kind, self.payable_id)?,
            price: Money { amount: self.amount, currency: named(TABLE, "currency", &self.currency)? },
            description: self.description,
            expires_at: self.expires_at.0,
            state: named(TABLE, "state", &self.state)?,
            changed_at: self.changed_at.0,
        })
    }
}

impl PaymentRead for DieselTx<'_> {
    fn payment(&mut self, payable: Payable) -> Result<Option<Payment>, StoreError> {
        let row: Option<PaymentRow> = on!(self.conn, |conn| {
            payments::table.find(Key::of(payable.id())).select(PaymentRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a payment"))?;
        row.map(PaymentRow::into_payment).transpose()
    }

    fn charge(&mut self, payable: Payable) -> Result<Option<Charge>, StoreError> {
        Ok(self.charges(&[payable])?.remove(&payable))
    }

    fn due_payments(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, Uuid)>,
    ) -> Result<Vec<(Charge, Payment)>, StoreError> {
        let rows: Vec<PaymentRow> = on!(self.conn, |conn| {
            let mut query = payments::table
                .filter(payments::due_at.le(At(by)))
                .select(PaymentRow::as_select())
                .into_boxed();
            if let Some((at, id)) = after {
                query = keyset!(query, payments::due_at > At(at), payments::payable_id > Key(id));
            }
            query.order((payments::due_at, payments::payable_id)).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("read payments that are due"))?;
        let payments = rows.into_iter().map(PaymentRow::into_payment).collect::<Result<Vec<_>, _>>()?;
        let payables: Vec<_> = payments.iter().map(|payment| payment.payable).collect();
        let mut charges = self.charges(&payables)?;
        let gone = || StoreError::defect("read payments that are due", "what one is for is gone");
        payments
            .into_iter()
            .map(|payment| Ok((charges.remove(&payment.payable).ok_or_else(gone)?, payment)))
            .collect()
    }

    fn refunds(&mut self, of: &[Payable]) -> Result<Vec<Refund>, StoreError> {
        self.list_refunds(of)
    }

    fn refund(&mut self, id: RefundId) -> Result<Option<Refund>, StoreError> {
        self.find_refund(id)
    }

    fn due_refunds(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, Uuid)>,
    ) -> Result<Vec<Refund>, StoreError> {
        self.list_due_refunds(by, limit, after)
    }

    fn disputes(&mut self, of: &[Payable]) -> Result<Vec<Dispute>, StoreError> {
        self.list_disputes(of)
    }

    fn open_disputes(&mut self, limit: u32) -> Result<Vec<Dispute>, StoreError> {
        self.list_open_disputes(limit)
    }

    fn notice(
        &mut self,
        provider: &str,
        event_id: &str,
    ) -> Result<Option<(PaymentNotice, NoticeOutcome)>, StoreError> {
        let row: Option<NoticeRow> = on!(self.conn, |conn| {
            payment_notices::table
                .find((provider, event_id))
                .select(NoticeRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a notice"))?;
        row.map(NoticeRow::into_notice).transpose()
    }
}

impl PaymentWrite for DieselTx<'_> {
    fn insert_payment(&mut self, payment: &Payment) -> Result<(), StoreError> {
        let row = PaymentRow::of(payment);
        on!(self.conn, |conn| diesel::insert_into(payments::table).values(row).execute(conn))
            .map(drop)
            .map_err(broken("write a payment"))
    }

    fn put_payment(&mut self, payment: &Payment) -> Result<(), StoreError> {
        let (own, row) = (payments::table.find(Key::of(payment.payable.id())), PaymentRow::of(payment));
        on!(self.conn, |conn| diesel::update(own).set(row).execute(conn))
            .map(drop)
            .map_err(broken("change a payment"))
    }

    fn insert_refund(&mut self, refund: &Refund) -> Result<(), StoreError> {
        self.write_refund(refund)
    }

    fn put_refund(&mut self, refund: &Refund) -> Result<(), StoreError> {
        self.change_refund(refund)
    }

    fn put_dispute(&mut self, dispute: &Dispute) -> Result<(), StoreError> {
        self.write_dispute(dispute)
    }

    fn set_checkout(&mut self, payable: Payable, url: &str) -> Result<bool, StoreError> {
        match payable {
            Payable::Purchase(purchase) => {
                let waiting = pack_purchases::table
                    .find(Key::of(purchase))
                    .filter(pack_purchases::state.eq(PurchaseState::Pending.as_str()))
                    .filter(pack_purchases::checkout_url.is_null());
                on!(self.conn, |conn| {
                    diesel::update(waiting).set(pack_purchases::checkout_url.eq(Some(url))).execute(conn)
                })
            }
            Payable::Order(order) => {
                let waiting = orders::table
                    .find(Key::of(order))
                    .filter(orders::state.eq(OrderState::Pending.as_str()))
                    .filter(orders::checkout_url.is_null());
                on!(self.conn, |conn| {
                    diesel::update(waiting).set(orders::checkout_url.eq(Some(url))).execute(conn)
                })
            }
        }
        .map(|rows| rows == 1)
        .map_err(broken("note a checkout"))
    }

    fn insert_notice(
        &mut self,
        provider: &str,
        notice: &PaymentNotice,
        outcome: NoticeOutcome,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let row = (
            payment_notices::provider.eq(provider),
            payment_notices::event_id.eq(&notice.event_id),
            payment_notices::payable_id.eq(Key::of(notice.payable.id())),
            payment_notices::payable_kind.eq(notice.payable.kind()),
            payment_notices::kind.eq(notice.kind.as_str()),
            payment_notices::amount.eq(notice.money.amount),
            payment_notices::currency.eq(notice.money.currency.to_string()),
            payment_notices::reference.eq(&notice.reference),
            payment_notices::occurred_at.eq(At(notice.occurred_at)),
            payment_notices::received_at.eq(At(at)),
            payment_notices::outcome.eq(outcome.as_str()),
            payment_notices::detail.eq(notice.detail.as_ref().map(ToString::to_string)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(payment_notices::table).values(row).on_conflict_do_nothing().execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("keep a notice"))
    }
}

impl DieselTx<'_> {
    /// What these are, in one statement for each kind.
    fn charges(&mut self, of: &[Payable]) -> Result<HashMap<Payable, Charge>, StoreError> {
        let (mut purchases, mut placed) = (Vec::new(), Vec::new());
        for payable in of {
            match payable {
                Payable::Purchase(id) => purchases.push(Key::of(*id)),
                Payable::Order(id) => placed.push(Key::of(*id)),
            }
        }
        let mut charges = HashMap::new();
        if !purchases.is_empty() {
            let rows: Vec<PurchaseRow> = on!(self.conn, |conn| {
                pack_purchases::table
                    .filter(pack_purchases::id.eq_any(&purchases))
                    .select(PurchaseRow::as_select())
                    .load(conn)
            })
            .map_err(broken("read purchases"))?;
            for row in rows {
                let charge = Charge::from(&row.into_purchase()?);
                charges.insert(charge.payable, charge);
            }
        }
        if !placed.is_empty() {
            let rows: Vec<OrderRow> = on!(self.conn, |conn| {
                orders::table.filter(orders::id.eq_any(&placed)).select(OrderRow::as_select()).load(conn)
            })
            .map_err(broken("read orders"))?;
            for row in rows {
                let charge = Charge::from(&row.into_order(Vec::new())?);
                charges.insert(charge.payable, charge);
            }
        }
        Ok(charges)
    }
}

impl SandboxWrite for DieselTx<'_> {
    fn insert_sandbox(&mut self, checkout: &SandboxCheckout) -> Result<bool, StoreError> {
        let row = SandboxRow {
            payable_id: Key::of(checkout.payable.id()),
            payable_kind: checkout.payable.kind().to_owned(),
            amount: checkout.price.amount,
            currency: checkout.price.currency.to_string(),
            description: checkout.description.clone(),
            expires_at: At(checkout.expires_at),
            state: checkout.state.to_string(),
            changed_at: At(checkout.changed_at),
        };
        on!(self.conn, |conn| {
            diesel::insert_into(sandbox_checkouts::table).values(row).on_conflict_do_nothing().execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("begin a checkout of the sandbox"))
    }

    fn sandbox_checkout(&mut self, payable: Uuid) -> Result<Option<SandboxCheckout>, StoreError> {
        let row: Option<SandboxRow> = on!(self.conn, |conn| {
            sandbox_checkouts::table
                .find(Key::of(payable))
                .select(SandboxRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a checkout of the sandbox"))?;
        row.map(SandboxRow::into_checkout).transpose()
    }

    fn move_sandbox(
        &mut self,
        payable: Uuid,
        from: SandboxState,
        to: SandboxState,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let standing = sandbox_checkouts::table
            .find(Key::of(payable))
            .filter(sandbox_checkouts::state.eq(from.as_str()));
        let values = (sandbox_checkouts::state.eq(to.as_str()), sandbox_checkouts::changed_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(standing).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("change a checkout of the sandbox"))
    }
}
