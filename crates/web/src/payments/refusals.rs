//! Maps the refusals of purchases to error codes.

use crate::error::{ApiError, Code};
use crate::platform::no_longer;
use terrace_app::payments::{
    CancelPurchaseRefusal, CheckoutRefusal, CompletePurchaseRefusal, ReturnPurchaseRefusal,
};
use terrace_packs::PurchaseState;

impl From<ReturnPurchaseRefusal> for ApiError {
    fn from(refusal: ReturnPurchaseRefusal) -> Self {
        match refusal {
            ReturnPurchaseRefusal::UnknownPurchase => Self::new(Code::NotFound, "you have no such purchase"),
            ReturnPurchaseRefusal::Used => {
                Self::new(Code::GoodsUsed, "a copy of this purchase was opened; it cannot be returned")
            }
            ReturnPurchaseRefusal::NotActive => no_longer(),
        }
    }
}

impl From<CancelPurchaseRefusal> for ApiError {
    fn from(refusal: CancelPurchaseRefusal) -> Self {
        match refusal {
            CancelPurchaseRefusal::UnknownPurchase => Self::new(Code::NotFound, "you have no such purchase"),
            CancelPurchaseRefusal::NotPending(PurchaseState::Completed) => Code::AlreadyPaid.into(),
            CancelPurchaseRefusal::NotPending(PurchaseState::Expired) => Code::PurchaseExpired.into(),
            CancelPurchaseRefusal::NotPending(PurchaseState::Cancelled) => Code::PurchaseCancelled.into(),
            CancelPurchaseRefusal::NotPending(PurchaseState::Refunded) => Code::PurchaseRefunded.into(),
            CancelPurchaseRefusal::NotPending(PurchaseState::Pending) | CancelPurchaseRefusal::BeingPaid => {
                Code::PaymentPending.into()
            }
            CancelPurchaseRefusal::NotNow => Self::unavailable("the payment provider does not answer", 5),
        }
    }
}

impl From<CheckoutRefusal> for ApiError {
    fn from(refusal: CheckoutRefusal) -> Self {
        match refusal {
            CheckoutRefusal::UnknownPurchase => Self::new(Code::NotFound, "you have no such purchase"),
            CheckoutRefusal::NotNow => Self::unavailable("the payment provider does not answer", 5),
            CheckoutRefusal::Unavailable => Code::PaymentUnavailable.into(),
        }
    }
}

impl From<CompletePurchaseRefusal> for ApiError {
    fn from(refusal: CompletePurchaseRefusal) -> Self {
        match refusal {
            CompletePurchaseRefusal::UnknownPurchase => {
                Self::new(Code::NotFound, "you have no such purchase of this pack")
            }
            CompletePurchaseRefusal::Pending => Code::PaymentPending.into(),
            CompletePurchaseRefusal::Expired => Code::PurchaseExpired.into(),
            CompletePurchaseRefusal::Cancelled => Code::PurchaseCancelled.into(),
            CompletePurchaseRefusal::Refunded => Code::PurchaseRefunded.into(),
        }
    }
}
