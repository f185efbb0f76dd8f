//! Maps the refusals of the shop to error codes.

use crate::error::{ApiError, Code, Invalid};
use crate::platform::no_longer;
use crate::shop::cart_dto::Cart;
use crate::shop::order_dto::PendingOrder;
use terrace_app::shop::{
    CancelOrderRefusal, CartRefusal, CompleteOrderRefusal, PlaceOrderRefusal, ReorderRefusal,
};
use terrace_shop::{OrderState, Problem};

pub(crate) fn no_order() -> ApiError {
    ApiError::new(Code::NotFound, "you have no such order")
}

impl From<CartRefusal> for ApiError {
    fn from(refusal: CartRefusal) -> Self {
        match refusal {
            CartRefusal::UnknownVariant => Self::new(Code::NotFound, "there is no such variant"),
            CartRefusal::UnknownPrice => Invalid::at("/priceId", "the variant has no such price"),
            CartRefusal::TooManyLines => Self::new(Code::LimitReached, "a cart has at most 50 lines"),
            CartRefusal::UnknownMethod => Invalid::at("/method", "no such method reaches the country"),
            CartRefusal::NotActive => no_longer(),
        }
    }
}

impl From<PlaceOrderRefusal> for ApiError {
    fn from(refusal: PlaceOrderRefusal) -> Self {
        match refusal {
            PlaceOrderRefusal::StaleBook => Self::unavailable("the catalogue is changing", 1),
            PlaceOrderRefusal::Empty { pending } => {
                let pending = pending.as_ref().map(PendingOrder::from);
                Self::from(Code::CartEmpty).with_pending_order(pending)
            }
            PlaceOrderRefusal::QuoteChanged(shown) => {
                Self::from(Code::QuoteChanged).with_cart(&Cart::new(&shown))
            }
            PlaceOrderRefusal::Problem(problem) => match problem {
                Problem::Unavailable => Code::ProductClosed.into(),
                Problem::SoldOut => Self::new(Code::SoldOut, "fewer units are left"),
                Problem::LimitReached => Code::LimitReached.into(),
                // A line whose price has changed is shown at another price, so that the quote has changed as well.
                Problem::PriceChanged => Code::QuoteChanged.into(),
                Problem::AddressMissing => Code::AddressMissing.into(),
                Problem::InsufficientBalance => Code::InsufficientBalance.into(),
            },
            PlaceOrderRefusal::TooManyPending => {
                Self::new(Code::LimitReached, "three orders and purchases wait for their payment")
            }
            PlaceOrderRefusal::TooManyAbandoned { wait } => {
                let wait = wait.as_secs().saturating_add(1);
                Self::from(Code::TooManyAbandoned).retry_after(wait)
            }
            PlaceOrderRefusal::AccountTooNew { until } => {
                Self::new(Code::AccountTooNew, format!("the account is new until {until}"))
            }
            PlaceOrderRefusal::PaymentUnavailable => Code::PaymentUnavailable.into(),
            PlaceOrderRefusal::NotActive => no_longer(),
        }
    }
}

impl From<CompleteOrderRefusal> for ApiError {
    fn from(refusal: CompleteOrderRefusal) -> Self {
        match refusal {
            CompleteOrderRefusal::UnknownOrder => no_order(),
            CompleteOrderRefusal::NotPaid(OrderState::Expired) => Code::PurchaseExpired.into(),
            CompleteOrderRefusal::NotPaid(OrderState::Cancelled) => Code::PurchaseCancelled.into(),
            CompleteOrderRefusal::NotPaid(OrderState::Refunded) => Code::PurchaseRefunded.into(),
            CompleteOrderRefusal::NotPaid(OrderState::Pending | OrderState::Paid | OrderState::Completed) => {
                Code::PaymentPending.into()
            }
        }
    }
}

impl From<CancelOrderRefusal> for ApiError {
    fn from(refusal: CancelOrderRefusal) -> Self {
        match refusal {
            CancelOrderRefusal::UnknownOrder => no_order(),
            CancelOrderRefusal::AlreadyPaid => Code::AlreadyPaid.into(),
            CancelOrderRefusal::NotCancellable => Code::OrderNotCancellable.into(),
            CancelOrderRefusal::Used => Self::new(Code::GoodsUsed, "coins of this order were spent"),
            CancelOrderRefusal::BeingPaid => Code::PaymentPending.into(),
            CancelOrderRefusal::NotNow => Self::unavailable("the payment provider does not answer", 5),
            CancelOrderRefusal::NotActive => no_longer(),
        }
    }
}

impl From<ReorderRefusal> for ApiError {
    fn from(refusal: ReorderRefusal) -> Self {
        match refusal {
            ReorderRefusal::UnknownOrder => no_order(),
            ReorderRefusal::NotActive => no_longer(),
        }
    }
}
