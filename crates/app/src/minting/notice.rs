//! The interface to an external minter.

use crate::payments::{Header, NoticeFault};
use crate::store::BoxFuture;
use crate::store::minting::{MintNotice, MintReport};
use terrace_kernel::Timestamp;

/// Why a minter returned no receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MintFault {
    /// The minter was unreachable or temporarily failed; the same message may succeed later.
    #[error("{0}")]
    Passing(String),
    /// The minter rejected the message as invalid.
    #[error("{0}")]
    Refused(String),
}

/// An external service that mints what fans own, on a chain or in its own register. Ownership does not depend on it.
pub trait Minter: Send + Sync + 'static {
    /// Delivers one message. `Ok` is the receipt; a minter also returns it for a message it has already received, by
    /// [`MintNotice::id`]. Times out within some seconds. Called outside of any transaction; one process never calls
    /// it concurrently for the same fan.
    fn send<'m>(&'m self, notice: &'m MintNotice, now: Timestamp) -> BoxFuture<'m, Result<(), MintFault>>;

    /// Parses a message of the minter after verifying its signature; `None` if its status is not known. A minter that
    /// reports nothing refuses every message.
    fn read_report(
        &self,
        _header: Header<'_>,
        _body: &[u8],
        _now: Timestamp,
    ) -> Result<Option<MintReport>, NoticeFault> {
        Err(NoticeFault::Unsigned)
    }
}
