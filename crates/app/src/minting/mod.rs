//! Minting: a fan who opens a pack owns its contents at once, and an external minter may be notified afterwards (spec
//! §1 rule 10).
//!
//! A message for the minter is written in the transaction of the event it reports, and sent after the commit: at
//! least once, and in order for each fan. A message that cannot be delivered delays only the same fan's later
//! messages. No opening waits for the minter.
//!
//! # Lanes
//!
//! `OpenPack` writes one message for each collectible to `mint_messages` and opens the fan's *lane* in `mint_lanes`, in
//! its own transaction. A revocation writes messages for the collectibles that were reported before
//! (`owned_collectibles.is_told`). A lane is a fan with pending messages.
//!
//! A deliverer takes lanes that are ready (`SKIP LOCKED`) and leases them for a minute; sends the first message of
//! each, outside of any transaction; and records the outcome under the lane's lock, which yields the next message or
//! closes the lane. A writer that adds a message locks the lane too, or opens it, so that no message is missed when a
//! lane closes. After a failure the lane becomes ready again after a pause.
//!
//! # Reports
//!
//! `POST /api/webhooks/minting`: the minter reports what became of a copy. The signature is verified before anything is parsed.
//! A report is stored under its event and applied in the same transaction (`report`), so that it counts once. The states of a
//! token are ordered (none, minted, burned), so the order of reports does not matter.
//!
//! The id of a message is derived from its content, so it stays the same after a restore. Messages are not events of
//! the log: each needs a state of its own, and messages of different fans must not wait for each other.

mod deliver;
mod notice;
mod report;

pub use crate::store::minting::{
    MintKind, MintNotice, MintReport, MintTries, MintingDelivery, MintingRead, MintingStanding,
    MintingUpkeep, MintingWrite,
};
pub use notice::{MintFault, Minter};
pub use report::{ReportTaken, read_signed_report};

use crate::App;
use std::sync::Arc;
use std::time::Duration;

/// How long delivered messages are kept for inspection.
pub const DELIVERED_STAY: Duration = Duration::from_hours(7 * 24);

impl App {
    /// Sets the minter, which is notified from now on. Either all processes on a database have one or none: openings
    /// in a process without a minter are not reported automatically.
    #[must_use]
    pub fn with_minter(self, minter: Arc<dyn Minter>) -> Self {
        Self { minter: Some(minter), ..self }
    }

    /// Whether a minter is set.
    pub fn has_minter(&self) -> bool {
        self.minter.is_some()
    }
}
