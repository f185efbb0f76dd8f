//! Maps the refusals of purchases to error codes.

use crate::error::{ApiError, Code};
use crate::platform::no_longer;
use terrace_app::payments::{CheckoutRefusal, CompletePurchaseRefusal, ReturnPurchaseRefusal};

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
