//! Money: who takes it, what they tell of it, and what comes of that. A purchase for money is started in one transaction,
//! its checkout is begun at the [`PaymentProvider`] between transactions, and it ends in another one: completed by a
//! [`PaymentNotice`], or given up. Whatever is lost on the way, [`App::reconcile`](crate::App::reconcile) finds by [`Payment::due_at`].

mod asking;
mod notice;
mod ports;
mod provider;
mod reconcile;
mod sandbox;
pub(crate) mod settle;

pub(crate) use asking::CLAIM;
pub use asking::{CheckoutRefusal, Payments};
pub(crate) use notice::{Decision, is_name};
pub use notice::{Mismatch, NoticeKind, NoticeOutcome, PaymentNotice};
pub use ports::{Payment, PaymentRead, PaymentWrite, RefundState, SandboxWrite};
pub use provider::{
    BegunCheckout, Checkout, CheckoutOrder, Header, Money, NoticeFault, PaymentProvider, PaymentState,
    ProviderFault,
};
pub(crate) use reconcile::job;
pub use reconcile::{PurchasesReconciled, ReconcileReport};
pub use sandbox::{NoticePost, Sandbox, SandboxCheckout, SandboxDecision, SandboxRefusal, SandboxState};
