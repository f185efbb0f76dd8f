//! What purchases and copies of packs go through. A change of state is a value that only a legal change can make, and it
//! is what the ports take: storage writes `to` where `from` still stands, and says whether it took.

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
    /// The state that must still stand when the change is written.
    pub const fn from(&self) -> S {
        self.from
    }

    /// The state that stands afterwards.
    pub const fn to(&self) -> S {
        self.to
    }
}

/// There is no such change from this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such change of what is {from}")]
pub struct IllegalTransition<S: fmt::Display> {
    /// The state as it is.
    pub from: S,
}

/// Where a purchase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PurchaseState {
    /// Waits for its payment; it holds stock, and there are no copies yet.
    Pending,
    /// Paid; the copies are the fan's.
    Completed,
    /// The payment did not come in time.
    Expired,
    /// The payment was declined, or given up.
    Cancelled,
    /// What was paid was given back, and the goods were taken back.
    Refunded,
}

type PurchaseChange = Result<Transition<PurchaseState>, IllegalTransition<PurchaseState>>;

impl PurchaseState {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Completed, Self::Expired, Self::Cancelled, Self::Refunded];

    /// The stable name, as tables and answers hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
        }
    }

    /// The payment came.
    pub const fn complete(self) -> PurchaseChange {
        self.change(Self::Completed)
    }

    /// The payment did not come in time.
    pub const fn expire(self) -> PurchaseChange {
        self.change(Self::Expired)
    }

    /// The payment was declined, or given up.
    pub const fn cancel(self) -> PurchaseChange {
        self.change(Self::Cancelled)
    }

    /// What was paid is given back: of a completed purchase, or of one whose payment came too late.
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

/// Where a copy of a pack stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UserPackState {
    /// Nobody knows yet what it holds.
    Sealed,
    /// What it held is the fan's.
    Opened,
    /// Taken back with what it held.
    Revoked,
}

type UserPackChange = Result<Transition<UserPackState>, IllegalTransition<UserPackState>>;

impl UserPackState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Sealed, Self::Opened, Self::Revoked];

    /// The stable name, as tables and answers hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sealed => "sealed",
            Self::Opened => "opened",
            Self::Revoked => "revoked",
        }
    }

    /// The fan opens it.
    pub const fn open(self) -> UserPackChange {
        match self {
            Self::Sealed => Ok(Transition { from: self, to: Self::Opened }),
            Self::Opened | Self::Revoked => Err(IllegalTransition { from: self }),
        }
    }

    /// It is taken back.
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

    /// `docs/spec.md` §3 leaves the states open; those of `docs/http-api.md` are these and no others.
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
