//! Payments, the notices that providers sent about them, and the checkouts of the sandbox.

pub(crate) mod schema;

use crate::conn::on;
use crate::error::broken;
use crate::packs::{PurchaseRow, count};
use crate::rows::{keyset, named};
use crate::schema::{pack_purchases, payment_notices, payments, sandbox_checkouts};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::Money;
use terrace_kernel::{StoreError, Timestamp, num};
use terrace_packs::{Purchase, PurchaseId, PurchaseState};
use terrace_store::payments::{
    NoticeOutcome, Payment, PaymentNotice, PaymentRead, PaymentWrite, RefundState, SandboxCheckout,
    SandboxState, SandboxWrite,
};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = payments, treat_none_as_default_value = false, treat_none_as_null = true)]
struct PaymentRow {
    purchase_id: Key,
    provider: String,
    reference: Option<String>,
    refund: Option<String>,
    due_at: Option<At>,
    attempts: i32,
}

impl PaymentRow {
    fn of(payment: &Payment) -> Self {
        Self {
            purchase_id: Key::of(payment.purchase),
            provider: payment.provider.clone(),
            reference: payment.reference.clone(),
            refund: payment.refund.map(|refund| refund.as_str().to_owned()),
            due_at: payment.due_at.map(At),
            attempts: num::to_i32(payment.attempts),
        }
    }

    fn into_payment(self) -> Result<Payment, StoreError> {
        const TABLE: &str = "payments";
        let refund = self.refund.map(|refund| named::<RefundState>(TABLE, "refund", &refund)).transpose()?;
        Ok(Payment {
            purchase: self.purchase_id.id(),
            provider: self.provider,
            reference: self.reference,
            refund,
            due_at: self.due_at.map(|at| at.0),
            attempts: count(TABLE, "attempts", self.attempts)?,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = payment_notices)]
struct NoticeRow {
    event_id: String,
    purchase_id: Key,
    kind: String,
    amount: i64,
    currency: String,
    reference: String,
    occurred_at: At,
    outcome: String,
}

impl NoticeRow {
    fn into_notice(self) -> Result<(PaymentNotice, NoticeOutcome), StoreError> {
        const TABLE: &str = "payment_notices";
        let notice = PaymentNotice {
            event_id: self.event_id,
            purchase: self.purchase_id.id(),
            kind: named(TABLE, "kind", &self.kind)?,
            money: Money { amount: self.amount, currency: named(TABLE, "currency", &self.currency)? },
            reference: self.reference,
            occurred_at: self.occurred_at.0,
        };
        Ok((notice, named(TABLE, "outcome", &self.outcome)?))
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = sandbox_checkouts)]
struct SandboxRow {
    purchase_id: Key,
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
            purchase: self.purchase_id.id(),
            price: Money { amount: self.amount, currency: named(TABLE, "currency", &self.currency)? },
            description: self.description,
            expires_at: self.expires_at.0,
            state: named(TABLE, "state", &self.state)?,
            changed_at: self.changed_at.0,
        })
    }
}

impl PaymentRead for DieselTx<'_> {
    fn payment(&mut self, purchase: PurchaseId) -> Result<Option<Payment>, StoreError> {
        let row: Option<PaymentRow> = on!(self.conn, |conn| {
            payments::table.find(Key::of(purchase)).select(PaymentRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a payment"))?;
        row.map(PaymentRow::into_payment).transpose()
    }

    fn any_purchase(&mut self, id: PurchaseId) -> Result<Option<Purchase>, StoreError> {
        let row: Option<PurchaseRow> = on!(self.conn, |conn| {
            pack_purchases::table.find(Key::of(id)).select(PurchaseRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a purchase"))?;
        row.map(PurchaseRow::into_purchase).transpose()
    }

    fn due_payments(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, PurchaseId)>,
    ) -> Result<Vec<(Purchase, Payment)>, StoreError> {
        let rows: Vec<(PurchaseRow, PaymentRow)> = on!(self.conn, |conn| {
            let mut query = payments::table
                .inner_join(pack_purchases::table)
                .filter(payments::due_at.le(At(by)))
                .select((PurchaseRow::as_select(), PaymentRow::as_select()))
                .into_boxed();
            if let Some((at, id)) = after {
                query = keyset!(query, payments::due_at > At(at), payments::purchase_id > Key::of(id));
            }
            query.order((payments::due_at, payments::purchase_id)).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("read payments that are due"))?;
        rows.into_iter()
            .map(|(purchase, payment)| Ok((purchase.into_purchase()?, payment.into_payment()?)))
            .collect()
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
        let (own, row) = (payments::table.find(Key::of(payment.purchase)), PaymentRow::of(payment));
        on!(self.conn, |conn| diesel::update(own).set(row).execute(conn))
            .map(drop)
            .map_err(broken("change a payment"))
    }

    fn set_checkout(&mut self, purchase: PurchaseId, url: &str) -> Result<bool, StoreError> {
        let waiting = pack_purchases::table
            .find(Key::of(purchase))
            .filter(pack_purchases::state.eq(PurchaseState::Pending.as_str()))
            .filter(pack_purchases::checkout_url.is_null());
        on!(self.conn, |conn| {
            diesel::update(waiting).set(pack_purchases::checkout_url.eq(Some(url))).execute(conn)
        })
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
            payment_notices::purchase_id.eq(Key::of(notice.purchase)),
            payment_notices::kind.eq(notice.kind.as_str()),
            payment_notices::amount.eq(notice.money.amount),
            payment_notices::currency.eq(notice.money.currency.to_string()),
            payment_notices::reference.eq(&notice.reference),
            payment_notices::occurred_at.eq(At(notice.occurred_at)),
            payment_notices::received_at.eq(At(at)),
            payment_notices::outcome.eq(outcome.as_str()),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(payment_notices::table).values(row).on_conflict_do_nothing().execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("keep a notice"))
    }
}

impl SandboxWrite for DieselTx<'_> {
    fn insert_sandbox(&mut self, checkout: &SandboxCheckout) -> Result<bool, StoreError> {
        let row = SandboxRow {
            purchase_id: Key::of(checkout.purchase),
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

    fn sandbox_checkout(&mut self, purchase: PurchaseId) -> Result<Option<SandboxCheckout>, StoreError> {
        let row: Option<SandboxRow> = on!(self.conn, |conn| {
            sandbox_checkouts::table
                .find(Key::of(purchase))
                .select(SandboxRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a checkout of the sandbox"))?;
        row.map(SandboxRow::into_checkout).transpose()
    }

    fn move_sandbox(
        &mut self,
        purchase: PurchaseId,
        from: SandboxState,
        to: SandboxState,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let standing = sandbox_checkouts::table
            .find(Key::of(purchase))
            .filter(sandbox_checkouts::state.eq(from.as_str()));
        let values = (sandbox_checkouts::state.eq(to.as_str()), sandbox_checkouts::changed_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(standing).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("change a checkout of the sandbox"))
    }
}
