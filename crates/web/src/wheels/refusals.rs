//! Refusals of the area as errors.

use crate::error::{ApiError, Code};
use crate::platform::no_longer;
use terrace_app::wheels::SpinWheelRefusal;
use terrace_games::SpinRefusal;

pub(super) fn no_wheel() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such wheel")
}

impl From<SpinWheelRefusal> for ApiError {
    fn from(refusal: SpinWheelRefusal) -> Self {
        match refusal {
            SpinWheelRefusal::UnknownWheel => no_wheel(),
            SpinWheelRefusal::Rule(rule) => match rule {
                SpinRefusal::Closed => Code::WheelClosed.into(),
                SpinRefusal::AccountTooNew => Self::new(
                    Code::AccountTooNew,
                    "a wheel with limited grants cannot be spun by an account that is less than a day old",
                ),
                SpinRefusal::NoFreeSpin => Code::NoFreeSpin.into(),
                SpinRefusal::NoPrice => {
                    Self::new(Code::WheelClosed, "the wheel has free spins only, and no price")
                }
                SpinRefusal::LimitReached => {
                    Self::new(Code::LimitReached, "you had all spins of this wheel for today")
                }
            },
            SpinWheelRefusal::SeedChanged => {
                Self::new(Code::SeedChanged, "another spin came first: read the wheel again")
            }
            SpinWheelRefusal::Insufficient { has } => {
                Self::new(Code::InsufficientBalance, format!("you have {has}"))
            }
            SpinWheelRefusal::NotActive => no_longer(),
        }
    }
}
