//! When a pack may be sold: only while every sealed copy can be filled, whatever its slots turn out to give.

use crate::holds::MAX_ABANDONED;
use crate::{Bought, CollectibleId, Minted, Pack, Quantity, Rarity};
use std::time::Duration;
use terrace_kernel::Timestamp;
use terrace_kernel::{PriceKind, num};

/// The stock of a counted pack. Purchases that wait for their payment are included in both numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stock {
    /// Copies that count against the supply. A copy that is revoked while sealed no longer counts; an opened copy
    /// counts even if it is revoked.
    pub sold: u32,
    /// Copies that are sealed, including those of unpaid purchases.
    pub sealed: u32,
}

impl Stock {
    /// The stock after a change.
    #[must_use]
    pub const fn after(self, change: StockChange) -> Self {
        Self {
            sold: self.sold.saturating_add_signed(change.sold),
            sealed: self.sealed.saturating_add_signed(change.sealed),
        }
    }
}

/// A change of the stock of a counted pack, caused by a sale, an opening or a revocation and written in its
/// transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StockChange {
    /// Added to [`Stock::sold`].
    pub sold: i32,
    /// Added to [`Stock::sealed`].
    pub sealed: i32,
}

impl StockChange {
    /// A sealed copy is opened.
    pub const OPENED: Self = Self { sold: 0, sealed: -1 };
    /// A sealed copy is revoked. Revoking an opened copy changes nothing: the editions that it took are not returned.
    pub const UNSOLD: Self = Self { sold: -1, sealed: -1 };

    /// Both changes together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { sold: self.sold.saturating_add(other.sold), sealed: self.sealed.saturating_add(other.sealed) }
    }

    /// A purchase is started, whether or not it is paid at once.
    pub fn purchased(quantity: Quantity) -> Self {
        let copies = num::to_i32(quantity.copies());
        Self { sold: copies, sealed: copies }
    }

    /// A purchase that waited for its payment ends unpaid.
    pub fn released(quantity: Quantity) -> Self {
        let Self { sold, sealed } = Self::purchased(quantity);
        Self { sold: sold.saturating_neg(), sealed: sealed.saturating_neg() }
    }
}

/// A rarity of a pack whose collectibles are all limited, so that it may run out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPool {
    /// The rarity that may run out.
    pub rarity: Rarity,
    /// The number of slots that may give it: the most that one copy can take.
    pub slots: u32,
}

impl ClosedPool {
    /// How many copies of collectibles are left in the pool.
    fn left(&self, pack: &Pack, minted: &Minted) -> u32 {
        let left = pack.contents_of(self.rarity).filter_map(|content| minted.left(content));
        left.fold(0, u32::saturating_add)
    }
}

impl Pack {
    /// The closed pools of the pack, from the most frequent rarity to the rarest.
    pub fn closed_pools(&self) -> impl Iterator<Item = ClosedPool> {
        Rarity::ALL.into_iter().filter_map(|rarity| {
            let is_open = self.contents_of(rarity).any(|content| content.edition.is_none());
            let slots = self.slots.iter().filter(|slot| slot.can_give(rarity)).count();
            let slots = num::to_u32(slots);
            (slots > 0 && !is_open).then_some(ClosedPool { rarity, slots })
        })
    }

    /// Whether the pack can sell out, so that a sale must check its stock and openings must update it. Sales of a pack
    /// that cannot sell out write no shared row.
    pub fn is_counted(&self) -> bool {
        self.supply.is_some() || self.closed_pools().next().is_some()
    }

    /// Whether a closed pool of the pack has this collectible.
    pub fn pools(&self, collectible: CollectibleId) -> bool {
        self.closed_pools()
            .any(|pool| self.contents_of(pool.rarity).any(|content| content.collectible == collectible))
    }

    /// Whether so many sealed copies can be filled, whatever their slots turn out to give.
    pub fn can_fill(&self, sealed: u32, minted: &Minted) -> bool {
        self.closed_pools()
            .all(|pool| u64::from(pool.slots) * u64::from(sealed) <= u64::from(pool.left(self, minted)))
    }

    /// How many more copies can be sold, whether or not the pack is on sale; `None`: no limit.
    pub fn remaining(&self, stock: Stock, minted: &Minted) -> Option<u32> {
        let of_supply = self.supply.map(|supply| supply.saturating_sub(stock.sold));
        // A pool has at least one slot.
        let of_pool = |pool: ClosedPool| {
            let copies = pool.left(self, minted).checked_div(pool.slots).unwrap_or(0);
            copies.saturating_sub(stock.sealed)
        };
        of_supply.into_iter().chain(self.closed_pools().map(of_pool)).min()
    }
}

/// Why a pack is not sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SaleRefusal {
    /// The pack is not on sale yet, or no longer.
    #[error("the pack is not on sale")]
    PackClosed,
    /// The fan would exceed the limit of the pack.
    #[error("no fan may buy more than {limit} copies")]
    LimitReached {
        /// How many copies a fan may buy.
        limit: u32,
    },
    /// The fan has too many purchases that wait for their payment.
    #[error("at most {MOST_PENDING} purchases may wait for their payment")]
    TooManyPending,
    /// Fewer copies are left than requested.
    #[error("{remaining} copies are left")]
    SoldOut {
        /// How many copies are left.
        remaining: u32,
    },
    /// The account started too many purchases and did not pay them.
    #[error("{MAX_ABANDONED} purchases of limited packs were not paid within a day")]
    TooManyAbandoned {
        /// How long until the account may start another.
        wait: Duration,
    },
    /// The account is too new to reserve this much unpaid stock.
    #[error(
        "the account is new: it may have one unpaid copy of a limited pack while there are enough, and more from {until}"
    )]
    AccountTooNew {
        /// When the account stops counting as new.
        until: Timestamp,
    },
}

/// How many purchases of a fan may wait for their payment at once.
pub const MOST_PENDING: u32 = 3;

/// How long a purchase waits for its payment and reserves its stock.
pub const PAYMENT_LIFE: Duration = Duration::from_mins(30);

/// Whether `quantity` more copies of a pack may be sold to a fan with these earlier purchases (`docs/spec.md` §1, rules
/// 7, 8 and 11). A sold copy can always be filled: no sealed copy takes more of a closed pool than it has slots for it,
/// and that many are reserved for each.
pub fn can_sell(
    pack: &Pack,
    quantity: Quantity,
    now: Timestamp,
    bought: Bought,
    stock: Stock,
    minted: &Minted,
) -> Result<(), SaleRefusal> {
    if !pack.is_on_sale(now) {
        return Err(SaleRefusal::PackClosed);
    }
    if let Some(limit) = pack.per_user_limit
        && bought.copies.saturating_add(quantity.copies()) > limit
    {
        return Err(SaleRefusal::LimitReached { limit });
    }
    if pack.price.kind() == PriceKind::Money && bought.pending >= MOST_PENDING {
        return Err(SaleRefusal::TooManyPending);
    }
    match pack.remaining(stock, minted) {
        Some(remaining) if remaining < quantity.copies() => Err(SaleRefusal::SoldOut { remaining }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
