//! Queries for payments.

use crate::App;
use crate::payments::{Charge, Dispute, Payable, Payment, RefundState};
use crate::store::payments::{PaymentCount, PaymentFigures, PaymentRead};
use crate::store::{Query, into_infallible};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Outcome, StoreError, Timestamp, Uuid, num};
use terrace_shop::OrderState;

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

/// Reads the disputes that are not decided, the oldest first.
pub struct OpenDisputes {
    /// The most that are read.
    pub limit: u32,
}

impl Query for OpenDisputes {
    const NAME: &'static str = "open_disputes";
    type Ports = dyn PaymentRead;
    type Output = Vec<Dispute>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentRead, _now: Timestamp) -> Outcome<Vec<Dispute>, Infallible> {
        Ok(tx.open_disputes(self.limit)?)
    }
}

/// Counts orders, refunds and disputes.
struct CountPayments;

impl Query for CountPayments {
    const NAME: &'static str = "count_payments";
    type Ports = dyn PaymentCount;
    type Output = PaymentFigures;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentCount, _now: Timestamp) -> Outcome<PaymentFigures, Infallible> {
        Ok(tx.payment_figures()?)
    }
}

impl App {
    /// Updates the metrics of orders, refunds and disputes.
    ///
    /// # Errors
    ///
    /// When the database is unavailable.
    pub async fn measure_payments(&self) -> Result<(), StoreError> {
        let figures = into_infallible(self.query(CountPayments).await)?;
        for state in OrderState::ALL {
            let found = figures.orders.iter().find(|(of, _)| *of == state);
            let number = found.map_or(0, |(_, number)| *number);
            metrics::gauge!("terrace_orders", "state" => state.as_str()).set(num::to_f64(number));
        }
        let held = figures.held;
        for (kind, amount) in [("points", held.points), ("coins", held.coins), ("balance", held.balance)] {
            metrics::gauge!("terrace_orders_held", "kind" => kind).set(num::to_f64(num::to_u64(amount)));
        }
        for (state, number) in [(RefundState::Owed, figures.owed), (RefundState::Failed, figures.failed)] {
            metrics::gauge!("terrace_refunds", "state" => state.as_str()).set(num::to_f64(number));
        }
        let age = figures.oldest_owed.map_or(Duration::ZERO, |oldest| self.now().since(oldest));
        metrics::gauge!("terrace_refunds_oldest_owed_age_seconds").set(age.as_secs_f64());
        metrics::gauge!("terrace_disputes_open").set(num::to_f64(figures.disputes));
        Ok(())
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
