//! Refusals of the area as errors.

use crate::error::{ApiError, Code};
use crate::platform::no_longer;
use terrace_app::wallets::{RequestWalletRefusal, UnknownWallet};

impl From<RequestWalletRefusal> for ApiError {
    fn from(refusal: RequestWalletRefusal) -> Self {
        match refusal {
            RequestWalletRefusal::NotActive => no_longer(),
        }
    }
}

impl From<UnknownWallet> for ApiError {
    fn from(_: UnknownWallet) -> Self {
        Self::new(Code::NotFound, "you have no such wallet")
    }
}
