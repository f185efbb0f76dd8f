//! Queries for packs, purchases, copies and collectibles.

use crate::accounts::NotFound;
use crate::packs::{PackBook, limited};
use crate::store::{CollectionReadTx, Query};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Failure, Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_packs::{
    CatalogueRead, Collected, CollectibleId, CopyList, Held, Minted, Owned, OwnedFilter, Pack, PackId,
    Purchase, PurchaseId, SaleRead, Stock, UserPack,
};

/// Reads all packs and collectibles.
pub(crate) struct ReadPackBook;

impl Query for ReadPackBook {
    const NAME: &'static str = "read_packs";
    /// Content may be loaded between the two statements; then a pack could refer to a collectible that was not read.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn CatalogueRead;
    type Output = PackBook;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn CatalogueRead, _now: Timestamp) -> Outcome<PackBook, Infallible> {
        Ok(PackBook::new(tx.packs()?, tx.collectibles()?))
    }
}

/// Reads the stock of packs, and the minted editions of their limited collectibles.
#[derive(Debug, Clone)]
pub struct ReadSupply {
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
    /// The packs to read.
    pub packs: Vec<PackId>,
}

/// Stock and minted editions of some packs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Supply {
    stocks: Vec<(PackId, Stock)>,
    /// Number of minted editions of each limited collectible.
    pub minted: Minted,
}

impl Supply {
    /// How many more copies of a pack can be sold, whether or not it is on sale; `None` if unlimited.
    pub fn remaining(&self, pack: &Pack) -> Option<u32> {
        let stock = self.stocks.iter().find(|(id, _)| *id == pack.id).map(|(_, stock)| *stock);
        pack.remaining(stock.unwrap_or_default(), &self.minted)
    }
}

impl Query for ReadSupply {
    const NAME: &'static str = "read_supply";
    /// An opening moves a unit from the sealed count to the minted count; both must be read in the same state.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn CatalogueRead;
    type Output = Supply;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn CatalogueRead, _now: Timestamp) -> Outcome<Supply, Infallible> {
        let packs: Vec<_> = self.packs.iter().filter_map(|id| self.book.pack(*id)).collect();
        let counted: Vec<_> = packs.iter().filter(|pack| pack.is_counted()).map(|pack| pack.id).collect();
        Ok(Supply { stocks: tx.stocks(&counted)?, minted: tx.minted(&limited(packs))? })
    }
}

/// Reads a fan's purchase with its copies.
#[derive(Debug, Clone, Copy)]
pub struct GetPurchase {
    /// The buyer.
    pub user: UserId,
    /// Id of the purchase.
    pub purchase: PurchaseId,
}

impl Query for GetPurchase {
    const NAME: &'static str = "get_purchase";
    type Ports = dyn SaleRead;
    type Output = (Purchase, Vec<UserPack>);
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn SaleRead, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        let purchase = tx.purchase(self.user, self.purchase)?.ok_or(Failure::Refused(NotFound))?;
        let copies = tx.copies_of(purchase.id)?;
        Ok((purchase, copies))
    }
}

/// Reads a page of a fan's purchases, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListPurchases {
    /// The buyer.
    pub user: UserId,
    /// Maximum number of purchases.
    pub limit: Limit,
    /// Keyset position after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ListPurchases {
    const NAME: &'static str = "list_purchases";
    type Ports = dyn SaleRead;
    type Output = Page<Purchase>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SaleRead, _now: Timestamp) -> Outcome<Page<Purchase>, Infallible> {
        Ok(tx.purchases(self.user, self.limit, self.after)?)
    }
}

/// Reads a page of a fan's pack copies.
#[derive(Debug, Clone, Copy)]
pub struct ListCopies {
    /// The fan.
    pub user: UserId,
    /// Selection and order of the copies.
    pub list: CopyList,
    /// Maximum number of copies.
    pub limit: Limit,
    /// Keyset position after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ListCopies {
    const NAME: &'static str = "list_copies";
    type Ports = dyn SaleRead;
    type Output = Page<UserPack>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SaleRead, _now: Timestamp) -> Outcome<Page<UserPack>, Infallible> {
        Ok(tx.copies(self.user, self.list, self.limit, self.after)?)
    }
}

/// Reads what a fan has of each pack.
#[derive(Debug, Clone, Copy)]
pub struct ReadHeld {
    /// The fan.
    pub user: UserId,
}

impl Query for ReadHeld {
    const NAME: &'static str = "read_held_packs";
    type Ports = dyn SaleRead;
    type Output = HashMap<PackId, Held>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SaleRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.held(self.user)?.into_iter().collect())
    }
}

/// Reads what a fan has of each collectible.
#[derive(Debug, Clone, Copy)]
pub struct ReadCollected {
    /// The fan.
    pub user: UserId,
}

impl Query for ReadCollected {
    const NAME: &'static str = "read_collected";
    type Ports = dyn SaleRead;
    type Output = HashMap<CollectibleId, Collected>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SaleRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.collected(self.user)?.into_iter().map(|one| (one.collectible, one)).collect())
    }
}

/// Reads a page of a fan's collectibles as another reader sees them. Refused if the reader may not see the fan, or if
/// the fan hides the collection from others.
#[derive(Debug, Clone, Copy)]
pub struct ListOwnedOf {
    /// The page of the fan's collectibles.
    pub list: ListOwned,
    /// The reader; `None` if signed out.
    pub reader: Option<UserId>,
}

impl Query for ListOwnedOf {
    const NAME: &'static str = "list_collectibles_of";
    type Ports = dyn CollectionReadTx;
    type Output = Page<Owned>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn CollectionReadTx, _now: Timestamp) -> Outcome<Page<Owned>, NotFound> {
        let user = self.list.user;
        let profile = tx.public_profile(user)?.ok_or(Failure::Refused(NotFound))?;
        let is_own = self.reader == Some(user);
        let is_hidden = match self.reader {
            Some(reader) if !is_own => tx.ties(reader, user)?.hidden,
            Some(_) | None => false,
        };
        if is_hidden || !(profile.collection_visible || is_own) {
            return Err(Failure::Refused(NotFound));
        }
        let ListOwned { filter, limit, after, .. } = self.list;
        Ok(tx.owned(user, filter, limit, after)?)
    }
}

/// Reads a page of a fan's collectibles, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListOwned {
    /// The fan.
    pub user: UserId,
    /// Selection of collectibles.
    pub filter: OwnedFilter,
    /// Maximum number of collectibles.
    pub limit: Limit,
    /// Keyset position after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ListOwned {
    const NAME: &'static str = "list_collectibles";
    type Ports = dyn SaleRead;
    type Output = Page<Owned>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SaleRead, _now: Timestamp) -> Outcome<Page<Owned>, Infallible> {
        Ok(tx.owned(self.user, self.filter, self.limit, self.after)?)
    }
}
