//! What may be sold: as much as every sealed copy can be filled with, whatever it will turn out to hold.

use crate::holds::MAX_ABANDONED;
use crate::{Bought, Minted, Pack, Quantity, Rarity};
use std::time::Duration;
use terrace_kernel::PriceKind;
use terrace_kernel::Timestamp;

/// What stands of a counted pack. Purchases that wait for their payment are in both numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stock {
    /// Copies that count against the supply. One that is taken back sealed does not count any more; one that was opened
    /// does.
    pub sold: u32,
    /// Copies that are sealed, and will be.
    pub sealed: u32,
}

/// What a sale, an opening or a copy that is taken back adds to the stock of a counted pack, in its own transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockChange {
    /// Added to [`Stock::sold`].
    pub sold: i32,
    /// Added to [`Stock::sealed`].
    pub sealed: i32,
}

impl StockChange {
    /// A sealed copy is opened.
    pub const OPENED: Self = Self { sold: 0, sealed: -1 };
    /// A sealed copy is taken back. Of an opened one nothing changes: what it took is gone.
    pub const UNSOLD: Self = Self { sold: -1, sealed: -1 };

    /// A purchase is started, whether or not it is paid at once.
    pub fn purchased(quantity: Quantity) -> Self {
        let copies = i32::try_from(quantity.copies()).unwrap_or(i32::MAX);
        Self { sold: copies, sealed: copies }
    }

    /// A purchase that waited for its payment is given up.
    pub fn released(quantity: Quantity) -> Self {
        let Self { sold, sealed } = Self::purchased(quantity);
        Self { sold: sold.saturating_neg(), sealed: sealed.saturating_neg() }
    }
}

/// A rarity of a pack whose collectibles are all limited, so that it may run out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPool {
    /// Which.
    pub rarity: Rarity,
    /// How many slots of a copy may give it: what a copy may take at most.
    pub slots: u32,
}

impl ClosedPool {
    /// How many collectibles are left in it.
    fn left(&self, pack: &Pack, minted: &Minted) -> u32 {
        let left = pack.contents_of(self.rarity).filter_map(|content| minted.left(content));
        left.fold(0, u32::saturating_add)
    }
}

impl Pack {
    /// Its closed pools, from the most frequent rarity to the rarest.
    pub fn closed_pools(&self) -> impl Iterator<Item = ClosedPool> {
        Rarity::ALL.into_iter().filter_map(|rarity| {
            let is_open = self.contents_of(rarity).any(|content| content.edition.is_none());
            let slots = self.slots.iter().filter(|slot| slot.can_give(rarity)).count();
            let slots = u32::try_from(slots).unwrap_or(u32::MAX);
            (slots > 0 && !is_open).then_some(ClosedPool { rarity, slots })
        })
    }

    /// Whether it may sell out, so that a sale has to look at its stock and its openings have to count. One that may not
    /// needs neither, and its sales write no row that they share.
    pub fn is_counted(&self) -> bool {
        self.supply.is_some() || self.closed_pools().next().is_some()
    }

    /// How many more copies can be sold, whether or not it is on sale; `None`: any number.
    pub fn remaining(&self, stock: Stock, minted: &Minted) -> Option<u32> {
        let of_supply = self.supply.map(|supply| supply.saturating_sub(stock.sold));
        // The slots of a pool are at least one.
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
    /// It is not on sale yet, or any more.
    #[error("the pack is not on sale")]
    PackClosed,
    /// The fan would have more copies than one may buy.
    #[error("no fan may buy more than {limit} copies")]
    LimitReached {
        /// How many one may buy.
        limit: u32,
    },
    /// The fan has too many purchases that wait for their payment.
    #[error("at most {MOST_PENDING} purchases may wait for their payment")]
    TooManyPending,
    /// There are not so many copies left.
    #[error("{remaining} copies are left")]
    SoldOut {
        /// How many are left.
        remaining: u32,
    },
    /// The account has started too many purchases that it did not pay.
    #[error("{MAX_ABANDONED} purchases of limited packs were not paid within a day")]
    TooManyAbandoned {
        /// When it may start another.
        wait: Duration,
    },
    /// The account is too new for so much stock that is not paid.
    #[error(
        "the account is new: it may have one unpaid copy of a limited pack while there are enough, and more from {until}"
    )]
    AccountTooNew {
        /// When it is new no longer.
        until: Timestamp,
    },
}

/// How many purchases of a fan may wait for their payment.
pub const MOST_PENDING: u32 = 3;

/// How long a purchase waits for its payment, with the stock that it holds.
pub const PAYMENT_LIFE: Duration = Duration::from_mins(30);

/// Whether so many more copies of a pack may be sold to a fan who bought these (`docs/spec.md` §1, rules 7, 8 and 11).
/// A sold copy can always be filled: whatever slots turn out to give, no sealed copy takes more of a closed pool than it
/// has slots for it, and so much is left for each.
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
