//! Minting: a fan who opens a pack owns its contents at once, and an external minter may be notified afterwards (spec
//! §1 rule 10).
//!
//! A message for the minter is written in the transaction of the event it reports, and sent after the commit: at
//! least once, and in order for each fan. A message that cannot be delivered delays only the same fan's later
//! messages. No opening waits for the minter.

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

/// How long delivered messages are kept for inspection.
pub(crate) const TOLD_STAYS: Duration = Duration::from_hours(7 * 24);

impl App {
    /// Sets the minter, which is notified from now on. Either all processes on a database have one or none: openings
    /// in a process without a minter are not reported automatically.
    #[must_use]
    pub fn with_minter(self, minter: Arc<dyn Minter>) -> Self {
        Self { minter: Some(minter), ..self }
    }

    /// Whether a minter is set.
    pub(crate) fn tells_minter(&self) -> bool {
        self.minter.is_some()
    }
}
