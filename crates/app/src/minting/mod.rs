//! Minting: whoever opens a pack owns what it gave at once, and a minter outside may be told of it afterwards (spec §1 rule
//! 10).
//!
//! What the minter is to hear is written in the transaction in which it happens, and sent after it: at least once, a fan's
//! messages one after the other in their order. A message that does not get through holds back only those of its fan. No
//! opening waits for the minter.

mod deliver;
mod notice;
mod upkeep;

pub use crate::store::minting::{
    MintKind, MintNotice, MintTries, MintingDelivery, MintingRead, MintingStanding, MintingUpkeep,
    MintingWrite,
};
pub use notice::{MintFault, Minter};
pub use upkeep::MintingRetried;

use crate::App;
use std::sync::Arc;
use std::time::Duration;

/// How long messages stay whose receipt is there, for who asks what was told.
pub(crate) const TOLD_STAYS: Duration = Duration::from_hours(7 * 24);

impl App {
    /// Gives it a minter that is told from now on. Every process on a database has one, or none has: what was opened in a
    /// process without one is not told by itself.
    #[must_use]
    pub fn with_minter(self, minter: Arc<dyn Minter>) -> Self {
        Self { minter: Some(minter), ..self }
    }

    /// Whether there is a minter to be told.
    pub(crate) fn tells_minter(&self) -> bool {
        self.minter.is_some()
    }
}
