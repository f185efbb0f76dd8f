//! Payments with money: providers, their notices and the settlement of purchases. A purchase for money is started in
//! one transaction, its checkout is begun at the [`PaymentProvider`] between transactions, and another transaction
//! completes it on a [`PaymentNotice`] or ends it. `terrace-ops` picks up whatever was
//! lost in between by [`Payment::due_at`].
//!
//! # A purchase for money
//!
//! 1. `POST /api/packs/{id}/purchase`: `PurchasePack` writes in one transaction the purchase (`pending`, 30 minutes),
//!    its payment (the provider, and when it is checked again), the reserved stock, the event `purchase.changed` and
//!    the answer under the request's key. There are no copies yet.
//! 2. Between transactions, `App::begin_checkout` asks the provider for a checkout, with the purchase as the provider's
//!    idempotency key. `RecordCheckout` stores the URL and replaces the stored answer by one that contains it. If the
//!    process dies in between, the stored answer has no `checkoutUrl`, and a repeated request continues from there.
//! 3. `POST /api/webhooks/payments`: `PaymentProvider::read_notice` verifies the signature before anything is parsed.
//!    `TakeNotice` locks the fan and the purchase, lets `decide` (`notice`) choose the outcome, stores the notice under
//!    (provider, event) and applies the outcome (`settle`), in one transaction. A paid purchase gets its copies there.
//! 4. `PUT /api/packs/{id}/purchase` returns the copies. If no notice has arrived, it asks the provider. The buyer
//!    cancels with `DELETE /api/user/purchases/{id}`: the checkout is closed at the provider between transactions,
//!    then `CancelPurchase` ends the purchase.
//! 5. `terrace-ops` (`purchases`) finds what was lost by `payments.due_at`: every minute as a job, by the cron route, or by
//!    `terrace maintain reconcile`. It asks the provider between transactions and settles in transactions that read the
//!    state again under their locks.
//!
//! A payment belongs to a [`Payable`], such as a purchase of a pack. What payments need to know of it is its [`Charge`];
//! `settle` passes a decision on to the area that it belongs to.
//!
//! No transaction contains a call to a provider. A [`Refund`] is owed from the transaction that decides on it until the
//! provider has made it. Money never becomes a balance of the fan: transfer `payment:<purchase>` moves it from the
//! service's account `payments` to its account `revenue`, and `refund:<refund>` moves it back. A lost [`Dispute`] is a
//! refund that the provider has made.

mod asking;
mod bookings;
mod cancel_purchase;
mod complete_purchase;
mod end_pending;
mod notice;
mod provider;
mod queries;
mod refunds;
mod return_purchase;
mod sandbox;
mod settle;
mod take_notice;

pub use cancel_purchase::{CancelPurchase, CancelPurchaseRefusal};
pub(crate) use complete_purchase::RecordCheckout;
pub use complete_purchase::{CompletePurchase, CompletePurchaseRefusal};
pub use end_pending::{CloseReason, EndPending};
pub use queries::{DuePayments, FindPayment, OpenDisputes};
pub use refunds::{
    ClaimRefund, DueRefunds, RecordDisputed, RecordRefund, RefundAttempt, RetryRefunds, RetryRefundsRefusal,
};
pub use return_purchase::{ReturnPurchase, ReturnPurchaseRefusal};
pub(crate) use take_notice::can_own;
pub use take_notice::{NoticeTaken, TakeNotice};

pub use crate::store::payments::{
    Charge, ChargeState, Dispute, DisputeState, NoticeDetail, NoticeKind, NoticeOutcome, Payable, Payment,
    PaymentNotice, PaymentRead, PaymentWrite, Refund, RefundState, SandboxCheckout, SandboxState,
    SandboxWrite,
};
pub use asking::{CheckoutRefusal, Payments};
pub(crate) use bookings::{awaited, close, record_refund, take_in};
pub use notice::Mismatch;
pub use notice::is_name;
pub(crate) use notice::{Decision, KnownPayment, can_be_confirmed, decide};
pub use provider::{
    BegunCheckout, Checkout, CheckoutLine, CheckoutOrder, Header, NoticeFault, PaymentProvider, PaymentState,
    ProviderFault, RefundAnswer, RefundOrder,
};
pub use sandbox::{NoticePost, Sandbox, SandboxDecision, SandboxRefusal};
pub(crate) use settle::Locked;
pub use settle::lock_charge;
