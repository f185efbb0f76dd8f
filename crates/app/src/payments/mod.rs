//! Payments with money: providers, their notices and the settlement of purchases. A purchase for money is started in
//! one transaction, its checkout is begun at the [`PaymentProvider`] between transactions, and another transaction
//! completes it on a [`PaymentNotice`] or ends it. [`App::reconcile`](crate::App::reconcile) picks up whatever was
//! lost in between by [`Payment::due_at`].

mod asking;
mod complete_purchase;
mod notice;
mod provider;
mod queries;
mod reconcile;
mod return_purchase;
mod sandbox;
pub(crate) mod settle;
mod take_notice;

pub(crate) use complete_purchase::{CloseReason, EndPending, RecordCheckout};
pub use complete_purchase::{CompletePurchase, CompletePurchaseRefusal};
pub(crate) use queries::{DuePayments, FindPayment};
pub use return_purchase::{ReturnPurchase, ReturnPurchaseRefusal};
pub use take_notice::{NoticeTaken, TakeNotice};

pub use crate::store::payments::{
    NoticeKind, NoticeOutcome, Payment, PaymentNotice, PaymentRead, PaymentWrite, RefundState,
    SandboxCheckout, SandboxState, SandboxWrite,
};
pub use asking::{CheckoutRefusal, Payments};
pub use notice::Mismatch;
pub(crate) use notice::{Decision, decide, is_name};
pub use provider::{
    BegunCheckout, Checkout, CheckoutOrder, Header, NoticeFault, PaymentProvider, PaymentState, ProviderFault,
};
pub(crate) use reconcile::job;
pub use reconcile::{PurchasesReconciled, ReconcileReport};
pub use sandbox::{NoticePost, Sandbox, SandboxDecision, SandboxRefusal};
pub(crate) use settle::{CLAIM, publish_purchase};
