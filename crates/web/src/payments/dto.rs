//! What is told of payments, and what a timer is told of purchases that were reconciled.

use crate::dto::{IdText, Time};
use serde::{Deserialize, Serialize};
use terrace_app::PurchasesReconciled;
use terrace_packs::PurchaseId;
use utoipa::ToSchema;
use uuid::Uuid;

/// Which purchase was paid.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompleteBody {
    /// The purchase.
    #[schema(value_type = Uuid)]
    pub(crate) purchase_id: IdText<PurchaseId>,
}

/// What happened to a payment.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "documents a message that the use cases read, after its signature")]
pub(crate) enum PaymentNoticeKind {
    /// It was paid.
    Paid,
    /// It was tried, and came to nothing.
    Failed,
    /// It was given up, or out of time.
    Cancelled,
    /// All of it was given back.
    Refunded,
}

/// What the sandbox tells of a payment. Fields that are not named here are not looked at.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents a message that the use cases read, after its signature")]
pub(crate) struct PaymentNoticeBody {
    /// The provider's name for the event, the same each time it is told: 1 to 255 visible ASCII characters.
    #[schema(example = "sandbox_paid_0190a6f27c1e7abc8def0123456789ab", min_length = 1, max_length = 255)]
    event_id: String,
    /// The purchase.
    purchase_id: Uuid,
    /// What happened.
    kind: PaymentNoticeKind,
    /// All that was moved, in minor units of the currency.
    #[schema(example = 499)]
    amount: i64,
    /// The currency by its ISO 4217 code.
    #[schema(example = "EUR")]
    currency: String,
    /// The provider's name for the checkout: 1 to 255 visible ASCII characters.
    #[schema(min_length = 1, max_length = 255)]
    reference: String,
    /// When it happened.
    occurred_at: Time,
}

/// What a wish for reconciled purchases came to. Counts are null when another did the work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseReconcileReport {
    /// Whether this call did the work; false when another was at it, whose end was waited for.
    refreshed: bool,
    /// How long that took, in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// How many payments were due to be looked at.
    #[schema(example = 7)]
    looked_at: Option<u64>,
    /// How many purchases were found to be paid, and are completed.
    #[schema(example = 1)]
    completed: Option<u64>,
    /// How many ran out of time; what they held can be bought by others.
    #[schema(example = 2)]
    expired: Option<u64>,
    /// How many were declined, or given up.
    #[schema(example = 1)]
    cancelled: Option<u64>,
    /// How many payments were given back.
    #[schema(example = 1)]
    refunded: Option<u64>,
    /// How many are left for later: not paid yet, or their provider did not answer.
    #[schema(example = 2)]
    left: Option<u64>,
}

impl From<PurchasesReconciled> for PurchaseReconcileReport {
    fn from(reconciled: PurchasesReconciled) -> Self {
        let PurchasesReconciled { refreshed, took, report } = reconciled;
        Self {
            refreshed,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            looked_at: report.map(|report| report.looked_at),
            completed: report.map(|report| report.completed),
            expired: report.map(|report| report.expired),
            cancelled: report.map(|report| report.cancelled),
            refunded: report.map(|report| report.refunded),
            left: report.map(|report| report.left),
        }
    }
}
