//! The states of purchases and of copies of packs. A [`Transition`] can only be created for a legal change; the ports
//! take it, write `to` if the stored state is `from`, and return whether they did.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::UnknownName;

/// A legal change from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition<S> {
    from: S,
    to: S,
}

impl<S: Copy> Transition<S> {
    /// The state that must be stored when the change is written.
    pub const fn from(&self) -> S {
        self.from
    }

    /// The state after the change.
    pub const fn to(&self) -> S {
        self.to
    }
}

/// The change is not legal from this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such change of what is {from}")]
pub struct IllegalTransition<S: fmt::Display> {
    /// The current state.
    pub from: S,
}

/// The state of a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PurchaseState {
    /// Waiting for its payment. Stock is reserved, and there are no copies yet.
    Pending,
    /// Paid; the fan owns the copies.
    Completed,
    /// The payment did not arrive in time.
    Expired,
    /// The payment was declined or abandoned.
    Cancelled,
    /// The payment was returned, and the copies were revoked.
    Refunded,
}

type PurchaseChange = Result<Transition<PurchaseState>, IllegalTransition<PurchaseState>>;

impl PurchaseState {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Completed, Self::Expired, Self::Cancelled, Self::Refunded];

    /// The stable name, as stored in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
        }
    }

    /// The payment arrived.
    pub const fn complete(self) -> PurchaseChange {
        self.change(Self::Completed)
    }

    /// The payment did not arrive in time.
    pub const fn expire(self) -> PurchaseChange {
        self.change(Self::Expired)
    }

    /// The payment was declined or abandoned.
    pub const fn cancel(self) -> PurchaseChange {
        self.change(Self::Cancelled)
    }

    /// The payment is returned: for a completed purchase, or for one whose payment came too late.
    pub const fn refund(self) -> PurchaseChange {
        self.change(Self::Refunded)
    }

    const fn change(self, to: Self) -> PurchaseChange {
        match (self, to) {
            (Self::Pending, Self::Completed | Self::Expired | Self::Cancelled)
            | (Self::Completed | Self::Expired | Self::Cancelled, Self::Refunded) => {
                Ok(Transition { from: self, to })
            }
            _ => Err(IllegalTransition { from: self }),
        }
    }
}

impl fmt::Display for PurchaseState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PurchaseState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The state of a copy of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UserPackState {
    /// Not opened; its contents are unknown to everyone.
    Sealed,
    /// Opened; the fan owns its contents.
    Opened,
    /// Revoked together with its contents.
    Revoked,
}

type UserPackChange = Result<Transition<UserPackState>, IllegalTransition<UserPackState>>;

impl UserPackState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Sealed, Self::Opened, Self::Revoked];

    /// The stable name, as stored in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sealed => "sealed",
            Self::Opened => "opened",
            Self::Revoked => "revoked",
        }
    }

    /// The fan opens the copy.
    pub const fn open(self) -> UserPackChange {
        match self {
            Self::Sealed => Ok(Transition { from: self, to: Self::Opened }),
            Self::Opened | Self::Revoked => Err(IllegalTransition { from: self }),
        }
    }

    /// The copy is revoked.
    pub const fn revoke(self) -> UserPackChange {
        match self {
            Self::Sealed | Self::Opened => Ok(Transition { from: self, to: Self::Revoked }),
            Self::Revoked => Err(IllegalTransition { from: self }),
        }
    }
}

impl fmt::Display for UserPackState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for UserPackState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PurchaseState::{Cancelled, Completed, Expired, Pending, Refunded};
    use UserPackState::{Opened, Revoked, Sealed};

    /// `docs/spec.md` §3 does not define the states; these are exactly those of `docs/http-api.md`.
    #[test]
    fn a_purchase_goes_only_where_it_may() {
        let legal: Vec<_> = PurchaseState::ALL
            .into_iter()
            .flat_map(|from| [from.complete(), from.expire(), from.cancel(), from.refund()])
            .filter_map(|change| change.ok().map(|change| (change.from(), change.to())))
            .collect();
        assert_eq!(
            legal,
            [
                (Pending, Completed),
                (Pending, Expired),
                (Pending, Cancelled),
                (Completed, Refunded),
                (Expired, Refunded),
                (Cancelled, Refunded),
            ]
        );
        assert_eq!(Refunded.complete().unwrap_err().to_string(), "no such change of what is refunded");
    }

    #[test]
    fn a_copy_goes_only_where_it_may() {
        let legal: Vec<_> = UserPackState::ALL
            .into_iter()
            .flat_map(|from| [from.open(), from.revoke()])
            .filter_map(|change| change.ok().map(|change| (change.from(), change.to())))
            .collect();
        assert_eq!(legal, [(Sealed, Opened), (Sealed, Revoked), (Opened, Revoked)]);
    }

    #[test]
    fn states_are_read_as_they_are_written() {
        for state in PurchaseState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        for state in UserPackState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        assert!("open".parse::<UserPackState>().is_err() && "".parse::<PurchaseState>().is_err());
    }
}
