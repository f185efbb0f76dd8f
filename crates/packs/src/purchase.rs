//! What a fan bought, and what they own.

use crate::{
    CollectibleId, Digest, OwnedId, PackId, PurchaseId, PurchaseState, Quantity, UserPackId, UserPackState,
};
use terrace_kernel::Price;
use terrace_kernel::{Timestamp, UserId};

/// A purchase of one or more copies of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// Its id.
    pub id: PurchaseId,
    /// Who buys.
    pub user: UserId,
    /// What.
    pub pack: PackId,
    /// How many copies.
    pub quantity: Quantity,
    /// What one copy cost when it was bought; [`Price::total`] says what all of them did.
    pub price: Price,
    /// Where it stands.
    pub state: PurchaseState,
    /// Where it is paid, while it waits for money.
    pub checkout_url: Option<String>,
    /// When it was started.
    pub created_at: Timestamp,
    /// The first instant at which it does not wait for its payment any more; none for what is paid at once.
    pub expires_at: Option<Timestamp>,
    /// When it last went from one state to another.
    pub changed_at: Timestamp,
}

impl Purchase {
    /// What all copies cost together: points or coins, or minor units of the currency.
    pub fn total(&self) -> i64 {
        self.price.total(self.quantity.copies())
    }
}

/// A copy of a pack that a fan bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPack {
    /// Its id.
    pub id: UserPackId,
    /// Whose it is.
    pub user: UserId,
    /// Of which pack.
    pub pack: PackId,
    /// The purchase that it came with.
    pub purchase: PurchaseId,
    /// Its place among the copies of its purchase, from 1; the nonce of its draw, so that it is settled, as the server
    /// seed is, before the client seed is given.
    pub nonce: u32,
    /// Where it stands.
    pub state: UserPackState,
    /// The hash of its server seed, published when it is bought.
    pub seed_hash: Digest,
    /// When it became the fan's.
    pub bought_at: Timestamp,
    /// When it was opened.
    pub opened_at: Option<Timestamp>,
}

/// A copy of a collectible that a fan owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// Its id.
    pub id: OwnedId,
    /// Whose it is.
    pub user: UserId,
    /// Of which collectible.
    pub collectible: CollectibleId,
    /// Its number within a limited edition, from 1; none of an open one.
    pub serial: Option<u32>,
    /// When it became the fan's.
    pub acquired_at: Timestamp,
    /// Where it came from.
    pub source: OwnedSource,
}

/// Where a copy of a collectible came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnedSource {
    /// A pack that was opened.
    Pack {
        /// The copy of the pack.
        copy: UserPackId,
        /// The slot that it was drawn for, from 0.
        slot: u32,
    },
}

impl OwnedSource {
    /// The stable name of the kind, as tables and answers hold it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pack { .. } => "pack",
        }
    }
}
