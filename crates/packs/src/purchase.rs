//! Purchases, copies of packs and owned collectibles.

use crate::{
    CollectibleId, Digest, MintedToken, OwnedId, PackId, PurchaseId, PurchaseState, Quantity, UserPackId,
    UserPackState,
};
use terrace_kernel::PricePart;
use terrace_kernel::{GrantId, Timestamp, UserId};

/// A purchase of one or more copies of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// Id of the purchase.
    pub id: PurchaseId,
    /// The account that buys.
    pub user: UserId,
    /// The pack that is bought.
    pub pack: PackId,
    /// How many copies are bought.
    pub quantity: Quantity,
    /// Price of one copy at the time of purchase; see [`PricePart::total`] for all copies.
    pub price: PricePart,
    /// Current state.
    pub state: PurchaseState,
    /// Address of the checkout page, while the purchase waits for a payment in money.
    pub checkout_url: Option<String>,
    /// When the purchase was started.
    pub created_at: Timestamp,
    /// The instant at which the purchase stops waiting for its payment; `None` for what is paid at once.
    pub expires_at: Option<Timestamp>,
    /// When the state last changed.
    pub changed_at: Timestamp,
}

impl Purchase {
    /// The price of all copies: in points or coins, or in minor units of the currency.
    pub fn total(&self) -> i64 {
        self.price.total(self.quantity.copies())
    }
}

/// Where a copy of a pack came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CopyOrigin {
    /// The fan bought it.
    Purchase(PurchaseId),
    /// The fan was given it for something else, such as an order of the shop.
    Grant(GrantId),
}

impl CopyOrigin {
    /// The purchase, if the fan bought it.
    pub const fn purchase(self) -> Option<PurchaseId> {
        match self {
            Self::Purchase(id) => Some(id),
            Self::Grant(_) => None,
        }
    }

    /// The grant, if the fan was given it.
    pub const fn grant(self) -> Option<GrantId> {
        match self {
            Self::Purchase(_) => None,
            Self::Grant(id) => Some(id),
        }
    }
}

/// A copy of a pack that a fan bought or was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPack {
    /// Id of the copy.
    pub id: UserPackId,
    /// The account that owns it.
    pub user: UserId,
    /// The pack that it is a copy of.
    pub pack: PackId,
    /// The purchase or the grant that it belongs to.
    pub origin: CopyOrigin,
    /// Position among the copies of its purchase or grant, from 1. It is the nonce of the draw, so that, like the server seed,
    /// it is fixed before the client seed is given.
    pub nonce: u32,
    /// Current state.
    pub state: UserPackState,
    /// Hash of its server seed, published when the copy is bought.
    pub seed_hash: Digest,
    /// When the fan received it.
    pub bought_at: Timestamp,
    /// When it was opened, if it was.
    pub opened_at: Option<Timestamp>,
}

/// A copy of a collectible that a fan owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// Id of the owned copy.
    pub id: OwnedId,
    /// The account that owns it.
    pub user: UserId,
    /// The collectible that it is a copy of.
    pub collectible: CollectibleId,
    /// Serial within a limited edition, from 1; `None` for an open edition.
    pub serial: Option<u32>,
    /// When the fan received it.
    pub acquired_at: Timestamp,
    /// Where it came from.
    pub source: OwnedSource,
    /// The token that the minter made for it, until it is burned.
    pub token: Option<MintedToken>,
}

/// Where a copy of a collectible came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnedSource {
    /// An opened pack.
    Pack {
        /// Id of the copy of the pack.
        copy: UserPackId,
        /// The slot that it was drawn for, from 0.
        slot: u32,
    },
    /// A grant, without a pack.
    Grant {
        /// Id of the grant.
        grant: GrantId,
        /// Its number among the collectibles of the grant, from 0.
        number: u32,
    },
}

impl OwnedSource {
    /// The stable name of the kind, as stored in tables and responses.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pack { .. } => "pack",
            Self::Grant { .. } => "grant",
        }
    }

    /// The copy of a pack, if it came from one.
    pub const fn copy(&self) -> Option<UserPackId> {
        match self {
            Self::Pack { copy, .. } => Some(*copy),
            Self::Grant { .. } => None,
        }
    }

    /// The grant, if it came from one.
    pub const fn grant(&self) -> Option<GrantId> {
        match self {
            Self::Pack { .. } => None,
            Self::Grant { grant, .. } => Some(*grant),
        }
    }

    /// Its number among the collectibles of the same copy or grant, from 0: the slot of a copy.
    pub const fn number(&self) -> u32 {
        match self {
            Self::Pack { slot, .. } => *slot,
            Self::Grant { number, .. } => *number,
        }
    }
}
