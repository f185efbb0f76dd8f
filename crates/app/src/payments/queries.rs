//! Queries for payments.

use crate::payments::{Charge, Payable, Payment};
use crate::store::Query;
use crate::store::payments::PaymentRead;
use std::convert::Infallible;
use terrace_kernel::{Outcome, StoreError, Timestamp, Uuid};

/// Reads a payment with what it is for, of any fan; `None` if there is none.
pub struct FindPayment {
    /// What is paid for.
    pub payable: Payable,
}

impl Query for FindPayment {
    const NAME: &'static str = "find_payment";
    type Ports = dyn PaymentRead;
    type Output = Option<(Charge, Payment)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Some(payment) = tx.payment(self.payable)? else { return Ok(None) };
        let gone = || StoreError::defect("find a payment", "what it is for is gone");
        let charge = tx.charge(self.payable)?.ok_or_else(gone)?;
        Ok(Some((charge, payment)))
    }
}

/// Reads a portion of the payments that are due at `by`, longest due first.
pub struct DuePayments {
    /// The time by which they are due.
    pub by: Timestamp,
    /// Maximum number of payments.
    pub limit: u32,
    /// Key of the last payment of the previous portion.
    pub after: Option<(Timestamp, Uuid)>,
}

impl Query for DuePayments {
    const NAME: &'static str = "due_payments";
    type Ports = dyn PaymentRead;
    type Output = Vec<(Charge, Payment)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.due_payments(self.by, self.limit, self.after)?)
    }
}
