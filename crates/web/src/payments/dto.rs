//! Requests and responses of payments, and the result of reconciling purchases.

use crate::dto::{IdText, Time};
use serde::{Deserialize, Serialize};
use terrace_app::PurchasesReconciled;
use terrace_kernel::num;
use terrace_packs::PurchaseId;
use utoipa::ToSchema;
use uuid::Uuid;

/// The purchase that a payment belongs to.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompleteBody {
    /// The id of the purchase.
    #[schema(value_type = Uuid)]
    pub(crate) purchase_id: IdText<PurchaseId>,
}

/// The kind of a payment event.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "documents a message that the use cases read, after its signature")]
pub(crate) enum PaymentNoticeKind {
    /// The payment succeeded.
    Paid,
    /// The payment failed.
    Failed,
    /// The payment was abandoned or expired.
    Cancelled,
    /// The payment was refunded in full.
    Refunded,
}

/// A payment event of the sandbox. Other fields are ignored.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents a message that the use cases read, after its signature")]
pub(crate) struct PaymentNoticeBody {
    /// The provider's id of the event, the same for every delivery: 1 to 255 visible ASCII characters.
    #[schema(example = "sandbox_paid_0190a6f27c1e7abc8def0123456789ab", min_length = 1, max_length = 255)]
    event_id: String,
    /// The purchase; exactly one of `purchaseId` and `orderId` is there.
    #[schema(nullable = false)]
    purchase_id: Option<Uuid>,
    /// The order.
    #[schema(nullable = false)]
    order_id: Option<Uuid>,
    /// The kind of event.
    kind: PaymentNoticeKind,
    /// The amount in minor units of the currency.
    #[schema(example = 499)]
    amount: i64,
    /// The ISO 4217 code of the currency.
    #[schema(example = "EUR")]
    currency: String,
    /// The provider's id of the checkout: 1 to 255 visible ASCII characters.
    #[schema(min_length = 1, max_length = 255)]
    reference: String,
    /// When the event happened.
    occurred_at: Time,
}

/// The result of reconciling purchases. Counts are null if another call did the work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseReconcileReport {
    /// Whether this call did the work; false if it waited for another call that did.
    refreshed: bool,
    /// The duration in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// The number of payments that were due for a check.
    #[schema(example = 7, required)]
    looked_at: Option<u64>,
    /// The number of purchases that were found to be paid and were completed.
    #[schema(example = 1, required)]
    completed: Option<u64>,
    /// The number of purchases that expired; their reserved stock can be sold again.
    #[schema(example = 2, required)]
    expired: Option<u64>,
    /// The number of purchases that were declined or abandoned.
    #[schema(example = 1, required)]
    cancelled: Option<u64>,
    /// The number of refunded payments.
    #[schema(example = 1, required)]
    refunded: Option<u64>,
    /// The number of purchases left for later: not paid yet, or without an answer of the provider.
    #[schema(example = 2, required)]
    left: Option<u64>,
}

impl From<PurchasesReconciled> for PurchaseReconcileReport {
    fn from(reconciled: PurchasesReconciled) -> Self {
        let PurchasesReconciled { refreshed, took, report } = reconciled;
        Self {
            refreshed,
            duration_ms: num::to_u64(took.as_millis()),
            looked_at: report.map(|report| report.looked_at),
            completed: report.map(|report| report.completed),
            expired: report.map(|report| report.expired),
            cancelled: report.map(|report| report.cancelled),
            refunded: report.map(|report| report.refunded),
            left: report.map(|report| report.left),
        }
    }
}
