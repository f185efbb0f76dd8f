//! Maps the refusals of accounts to error codes.

use crate::error::{ApiError, Code, Invalid};
use crate::platform::{no_longer, unknown_team};
use terrace_app::accounts::{ChangeProfileRefusal, EndSessionRefusal, NotFound};
use terrace_app::{
    ChangePasswordRefusal, DeleteAccountRefusal, LoginRefusal, OnceRefusal, RefreshRefusal, RegisterRefusal,
};

fn busy() -> ApiError {
    ApiError::unavailable("too many passwords wait to be checked", 1)
}

impl From<NotFound> for ApiError {
    fn from(NotFound: NotFound) -> Self {
        Code::NotFound.into()
    }
}

impl From<RegisterRefusal> for ApiError {
    fn from(refusal: RegisterRefusal) -> Self {
        match refusal {
            RegisterRefusal::WeakPassword(error) => Invalid::at("/password", error.to_string()),
            RegisterRefusal::UsernameTaken => Code::UsernameTaken.into(),
            RegisterRefusal::KeyReused => Code::IdempotencyKeyReused.into(),
            RegisterRefusal::Suspended => Code::AccountSuspended.into(),
            RegisterRefusal::Busy => busy(),
        }
    }
}

impl From<LoginRefusal> for ApiError {
    fn from(refusal: LoginRefusal) -> Self {
        match refusal {
            LoginRefusal::InvalidCredentials => Code::InvalidCredentials.into(),
            LoginRefusal::Suspended => Code::AccountSuspended.into(),
            LoginRefusal::Busy => busy(),
        }
    }
}

impl From<ChangePasswordRefusal> for ApiError {
    fn from(refusal: ChangePasswordRefusal) -> Self {
        match refusal {
            ChangePasswordRefusal::WeakPassword(error) => Invalid::at("/newPassword", error.to_string()),
            // The session is valid, so the status is not 401, which would make clients discard it.
            ChangePasswordRefusal::WrongPassword => Code::WrongPassword.into(),
            ChangePasswordRefusal::Busy => busy(),
        }
    }
}

impl From<RefreshRefusal> for ApiError {
    fn from(refusal: RefreshRefusal) -> Self {
        match refusal {
            RefreshRefusal::InvalidToken => Code::InvalidToken.into(),
            RefreshRefusal::TokenReused => Code::TokenReused.into(),
        }
    }
}

impl<R: Into<Self>> From<OnceRefusal<R>> for ApiError {
    fn from(refusal: OnceRefusal<R>) -> Self {
        match refusal {
            OnceRefusal::KeyReused => Code::IdempotencyKeyReused.into(),
            OnceRefusal::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<ChangeProfileRefusal> for ApiError {
    fn from(refusal: ChangeProfileRefusal) -> Self {
        match refusal {
            ChangeProfileRefusal::UnknownTeam => unknown_team("/favoriteTeamId"),
            ChangeProfileRefusal::NoAccount => no_longer(),
        }
    }
}

impl From<DeleteAccountRefusal> for ApiError {
    fn from(refusal: DeleteAccountRefusal) -> Self {
        match refusal {
            DeleteAccountRefusal::NotActive => no_longer(),
            // The session is valid, so the status is not 401, which would make clients discard it.
            DeleteAccountRefusal::WrongPassword => Code::WrongPassword.into(),
            DeleteAccountRefusal::BalanceLeft => {
                Self::new(Code::BalanceLeft, "money is left on an account of yours")
            }
            DeleteAccountRefusal::OrderOpen => {
                Self::new(Code::OrderOpen, "an order of yours is still to be sent or on its way")
            }
            DeleteAccountRefusal::Busy => busy(),
        }
    }
}

impl From<EndSessionRefusal> for ApiError {
    fn from(refusal: EndSessionRefusal) -> Self {
        match refusal {
            EndSessionRefusal::NotFound => Self::new(Code::NotFound, "you have no such session"),
        }
    }
}
