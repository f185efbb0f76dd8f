//! Maps the refusals of packs to error codes.

use crate::error::{ApiError, Code};
use crate::platform::no_longer;
use terrace_app::packs::{OpenPackRefusal, PurchasePackRefusal};
use terrace_packs::SaleRefusal;

impl From<PurchasePackRefusal> for ApiError {
    fn from(refusal: PurchasePackRefusal) -> Self {
        match refusal {
            PurchasePackRefusal::UnknownPack => Self::new(Code::NotFound, "there is no such pack"),
            PurchasePackRefusal::Rule(rule) => {
                let code = match rule {
                    SaleRefusal::PackClosed => Code::PackClosed,
                    SaleRefusal::LimitReached { .. } | SaleRefusal::TooManyPending => Code::LimitReached,
                    SaleRefusal::SoldOut { .. } => Code::SoldOut,
                    SaleRefusal::AccountTooNew { .. } => Code::AccountTooNew,
                    SaleRefusal::TooManyAbandoned { wait } => {
                        let wait = wait.as_secs().saturating_add(1);
                        return Self::new(Code::TooManyAbandoned, rule.to_string()).retry_after(wait);
                    }
                };
                Self::new(code, rule.to_string())
            }
            PurchasePackRefusal::Insufficient { has } => {
                Self::new(Code::InsufficientBalance, format!("you have {has}"))
            }
            PurchasePackRefusal::PaymentUnavailable => Code::PaymentUnavailable.into(),
            PurchasePackRefusal::NotActive => no_longer(),
        }
    }
}

impl From<OpenPackRefusal> for ApiError {
    fn from(refusal: OpenPackRefusal) -> Self {
        match refusal {
            OpenPackRefusal::UnknownCopy => Self::new(Code::NotFound, "you have no such copy of this pack"),
            OpenPackRefusal::NothingSealed => {
                Self::new(Code::NotFound, "you have no sealed copy of this pack")
            }
            OpenPackRefusal::Revoked => Self::new(Code::Conflict, "the copy was taken back"),
            OpenPackRefusal::NotActive => no_longer(),
        }
    }
}
