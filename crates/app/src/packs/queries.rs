//! Packs as fans see them, and what fans bought and own.

use crate::accounts::NotFound;
use crate::packs::{PackBook, limited};
use crate::store::Query;
use crate::store::ReadTx;
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Failure, Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_packs::{
    CopyList, Minted, Owned, OwnedFilter, Pack, PackId, Purchase, PurchaseId, Stock, UserPack,
};

/// Reads every pack and every collectible.
pub(crate) struct ReadPackBook;

impl Query for ReadPackBook {
    const NAME: &'static str = "read_packs";
    /// Between its statements content may be loaded, and a pack hold what it did not know.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Output = PackBook;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<PackBook, Infallible> {
        Ok(PackBook::new(tx.packs()?, tx.collectibles()?))
    }
}

/// Reads what stands of packs, and how many of their limited collectibles were minted.
#[derive(Debug, Clone)]
pub struct ReadSupply {
    /// The packs.
    pub book: Arc<PackBook>,
    /// Of which of them.
    pub packs: Vec<PackId>,
}

/// What stands of some packs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Supply {
    stocks: Vec<(PackId, Stock)>,
    /// How many of their limited collectibles were minted.
    pub minted: Minted,
}

impl Supply {
    /// How many more copies of a pack can be sold, whether or not it is on sale; `None`: any number.
    pub fn remaining(&self, pack: &Pack) -> Option<u32> {
        let stock = self.stocks.iter().find(|(id, _)| *id == pack.id).map(|(_, stock)| *stock);
        pack.remaining(stock.unwrap_or_default(), &self.minted)
    }
}

impl Query for ReadSupply {
    const NAME: &'static str = "read_supply";
    /// An opening moves what it minted out of what is sealed: one without the other would be another supply.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Output = Supply;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Supply, Infallible> {
        let packs: Vec<_> = self.packs.iter().filter_map(|id| self.book.pack(*id)).collect();
        let counted: Vec<_> = packs.iter().filter(|pack| pack.is_counted()).map(|pack| pack.id).collect();
        Ok(Supply { stocks: tx.stocks(&counted)?, minted: tx.minted(&limited(packs))? })
    }
}

/// Reads a purchase of a fan's, with the copies that came with it.
#[derive(Debug, Clone, Copy)]
pub struct GetPurchase {
    /// Whose.
    pub user: UserId,
    /// Which.
    pub purchase: PurchaseId,
}

impl Query for GetPurchase {
    const NAME: &'static str = "get_purchase";
    type Output = (Purchase, Vec<UserPack>);
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        let purchase = tx.purchase(self.user, self.purchase)?.ok_or(Failure::Refused(NotFound))?;
        let copies = tx.copies_of(purchase.id)?;
        Ok((purchase, copies))
    }
}

/// Reads a page of a fan's purchases, the newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListPurchases {
    /// Whose.
    pub user: UserId,
    /// How many.
    pub limit: Limit,
    /// After which.
    pub after: Option<TimeKey>,
}

impl Query for ListPurchases {
    const NAME: &'static str = "list_purchases";
    type Output = Page<Purchase>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Page<Purchase>, Infallible> {
        Ok(tx.purchases(self.user, self.limit, self.after)?)
    }
}

/// Reads a page of a fan's copies of packs.
#[derive(Debug, Clone, Copy)]
pub struct ListCopies {
    /// Whose.
    pub user: UserId,
    /// Which of them, and in which order.
    pub list: CopyList,
    /// How many.
    pub limit: Limit,
    /// After which.
    pub after: Option<TimeKey>,
}

impl Query for ListCopies {
    const NAME: &'static str = "list_copies";
    type Output = Page<UserPack>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Page<UserPack>, Infallible> {
        Ok(tx.copies(self.user, self.list, self.limit, self.after)?)
    }
}

/// Reads a page of a fan's collectibles, the newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListOwned {
    /// Whose.
    pub user: UserId,
    /// Which of them.
    pub filter: OwnedFilter,
    /// How many.
    pub limit: Limit,
    /// After which.
    pub after: Option<TimeKey>,
}

impl Query for ListOwned {
    const NAME: &'static str = "list_collectibles";
    type Output = Page<Owned>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Page<Owned>, Infallible> {
        Ok(tx.owned(self.user, self.filter, self.limit, self.after)?)
    }
}
