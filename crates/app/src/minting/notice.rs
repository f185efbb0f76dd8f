//! What a minter is told, and how.

use crate::store::BoxFuture;
use crate::store::minting::MintNotice;
use terrace_kernel::Timestamp;

/// Why a minter gave no receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MintFault {
    /// It was not reached, or could not just then: the same message may be taken later.
    #[error("{0}")]
    Passing(String),
    /// It says that the message itself is wrong.
    #[error("{0}")]
    Refused(String),
}

/// Somebody else who mints what fans own, on a chain or in a register of their own. What a fan owns does not depend on it.
pub trait Minter: Send + Sync + 'static {
    /// Hands one message over; `Ok` is the receipt, and may mean that it had come before ([`MintNotice::id`]). Gives up
    /// within some seconds. Called outside of any transaction, for one fan never twice at a time by the same process.
    fn tell<'m>(&'m self, notice: &'m MintNotice, now: Timestamp) -> BoxFuture<'m, Result<(), MintFault>>;
}
