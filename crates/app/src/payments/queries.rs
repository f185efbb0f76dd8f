//! Queries for payments.

use crate::payments::Payment;
use crate::store::Query;
use crate::store::payments::PaymentRead;
use std::convert::Infallible;
use terrace_kernel::{Outcome, StoreError, Timestamp};
use terrace_packs::{Purchase, PurchaseId};

/// Reads a purchase for money with its payment, for any buyer; `None` if there is none.
pub(crate) struct FindPayment {
    pub(crate) purchase: PurchaseId,
}

impl Query for FindPayment {
    const NAME: &'static str = "find_payment";
    type Ports = dyn PaymentRead;
    type Output = Option<(Purchase, Payment)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Some(payment) = tx.payment(self.purchase)? else { return Ok(None) };
        let gone = || StoreError::defect("find a payment", "its purchase is gone");
        let purchase = tx.any_purchase(self.purchase)?.ok_or_else(gone)?;
        Ok(Some((purchase, payment)))
    }
}

/// Reads a portion of the payments that are due at `by`, longest due first.
pub struct DuePayments {
    /// The time by which they are due.
    pub by: Timestamp,
    /// Maximum number of payments.
    pub limit: u32,
    /// Key of the last payment of the previous portion.
    pub after: Option<(Timestamp, PurchaseId)>,
}

impl Query for DuePayments {
    const NAME: &'static str = "due_payments";
    type Ports = dyn PaymentRead;
    type Output = Vec<(Purchase, Payment)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.due_payments(self.by, self.limit, self.after)?)
    }
}
