//! The checkouts of the sandbox provider. Only the use cases of the sandbox access them.

use crate::payments::Payable;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Money, StoreError, Timestamp, UnknownName, Uuid};

/// State of a sandbox checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxState {
    /// The buyer has not decided yet.
    Open,
    /// The buyer has paid.
    Approved,
    /// The buyer has declined.
    Declined,
    /// It can no longer be paid.
    Closed,
    /// The buyer has been refunded.
    Refunded,
}

impl SandboxState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Open, Self::Approved, Self::Declined, Self::Closed, Self::Refunded];

    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Closed => "closed",
            Self::Refunded => "refunded",
        }
    }
}

impl fmt::Display for SandboxState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SandboxState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A checkout of the sandbox provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxCheckout {
    /// What is to be paid.
    pub payable: Payable,
    /// Amount to be paid.
    pub price: Money,
    /// Description shown to the buyer.
    pub description: String,
    /// First instant at which it can no longer be paid.
    pub expires_at: Timestamp,
    /// Current state.
    pub state: SandboxState,
    /// Time of the last state change.
    pub changed_at: Timestamp,
}

/// Storage of the sandbox provider. Only the use cases of the sandbox access it.
pub trait SandboxWrite {
    /// Inserts a checkout unless there is one for the same payable; returns whether it was inserted.
    fn insert_sandbox(&mut self, checkout: &SandboxCheckout) -> Result<bool, StoreError>;

    /// Returns the checkout of the payable with this id.
    fn sandbox_checkout(&mut self, payable: Uuid) -> Result<Option<SandboxCheckout>, StoreError>;

    /// Changes the state of a checkout from `from` to `to`; returns `false` if its state is not `from`.
    fn move_sandbox(
        &mut self,
        payable: Uuid,
        from: SandboxState,
        to: SandboxState,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
