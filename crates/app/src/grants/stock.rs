//! The stock of packs that grants take.

use super::GrantRefusal;
use super::give::stale;
use crate::packs::{PackBook, limited};
use crate::store::GrantTx;
use std::collections::{BTreeMap, HashMap};
use terrace_kernel::{Failure, Grant, Outcome, StoreError, Timestamp, num};
use terrace_packs::{CatalogueRead, CollectibleId, Pack, PackId, SaleWrite, Stock, StockChange};

/// What grants take of packs and editions, in the order of the ids.
pub(super) struct Wanted<'a> {
    /// So many copies of each pack.
    pub(super) packs: &'a BTreeMap<PackId, u32>,
    /// So many serials of each limited edition; they are taken already.
    pub(super) minted: &'a BTreeMap<CollectibleId, u32>,
}

/// Locks the stocks of counted packs in the order of their ids, and takes copies from them, or refuses and takes nothing.
/// The stock of a pack whose pool the serials were taken from is checked as well: its sealed copies must be fillable.
pub(super) fn take_stock(
    tx: &mut dyn GrantTx,
    now: Timestamp,
    wanted: &Wanted<'_>,
    book: &PackBook,
) -> Outcome<Vec<Reserved>, GrantRefusal> {
    let mut counted: BTreeMap<PackId, (&Pack, u32)> = BTreeMap::new();
    for (id, copies) in wanted.packs {
        let pack = book.pack(*id).ok_or_else(stale)?;
        if !pack.was_on_sale(now) {
            return Err(Failure::Refused(GrantRefusal::NotOnSale));
        }
        if pack.is_counted() {
            counted.insert(*id, (pack, *copies));
        }
    }
    for pack in book.packs().iter().filter(|pack| wanted.minted.keys().any(|one| pack.pools(*one))) {
        counted.entry(pack.id).or_insert((pack, 0));
    }
    if counted.is_empty() {
        return Ok(Vec::new());
    }
    let stocks: HashMap<PackId, Stock> = tx.lock_stocks(&counted.keys().copied().collect::<Vec<_>>())?;
    let minted = tx.minted(&limited(counted.values().map(|(pack, _)| *pack)))?;
    let (mut changes, mut taken) = (Vec::new(), Vec::new());
    for (id, (pack, copies)) in counted {
        let stock = stocks.get(&id).copied().ok_or_else(|| {
            StoreError::Contended("whether the pack is counted has just changed".to_owned())
        })?;
        let left = pack.remaining(stock, &minted).unwrap_or(u32::MAX);
        if left < copies || !pack.can_fill(stock.sealed, &minted) {
            return Err(Failure::Refused(GrantRefusal::SoldOut));
        }
        if copies > 0 {
            let number = num::to_i32(copies);
            changes.push((id, StockChange { sold: number, sealed: number }));
            taken.push(Reserved { pack: id, copies, left: left.saturating_sub(copies) });
        }
    }
    tx.count_stocks(&changes)?;
    Ok(taken)
}

/// Why a grant could not be given at the moment; reads without a lock.
pub(crate) fn check(
    tx: &mut dyn CatalogueRead,
    now: Timestamp,
    grant: Grant,
    book: &PackBook,
) -> Result<Option<GrantRefusal>, StoreError> {
    match grant {
        Grant::Pack(id, copies) => {
            let Some(pack) = book.pack(PackId::from_uuid(id)).filter(|pack| pack.was_on_sale(now)) else {
                return Ok(Some(GrantRefusal::NotOnSale));
            };
            if !pack.is_counted() {
                return Ok(None);
            }
            let stock = tx.stocks(&[pack.id])?.first().map(|(_, stock)| *stock).unwrap_or_default();
            let minted = tx.minted(&limited([pack]))?;
            let left = pack.remaining(stock, &minted).unwrap_or(u32::MAX);
            let fits = left >= copies && pack.can_fill(stock.sealed, &minted);
            Ok((!fits).then_some(GrantRefusal::SoldOut))
        }
        Grant::Collectible(id, copies) => {
            let id = CollectibleId::from_uuid(id);
            let Some(edition) = book.collectible(id).and_then(|known| known.edition) else { return Ok(None) };
            let minted = tx.minted(&[id])?.count(id);
            let left = edition.saturating_sub(minted);
            Ok((left < copies).then_some(GrantRefusal::SoldOut))
        }
        Grant::Points(_) | Grant::Coins(_) | Grant::Code(_) | Grant::Product(..) | Grant::Nothing => Ok(None),
    }
}

/// Copies of a counted pack that were taken from its stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserved {
    pub pack: PackId,
    /// How many were taken.
    pub copies: u32,
    /// How many are left.
    pub left: u32,
}

/// The packs of grants, in the order of their ids.
fn packs_of(grants: &[Grant]) -> BTreeMap<PackId, u32> {
    let mut packs: BTreeMap<PackId, u32> = BTreeMap::new();
    for grant in grants {
        if let Grant::Pack(id, copies) = grant {
            let sum = packs.entry(PackId::from_uuid(*id)).or_default();
            *sum = sum.saturating_add(*copies);
        }
    }
    packs
}

/// Takes the packs of these grants from the stock before they are given, because a payment decides whether they are.
/// Returns those that are counted.
pub fn reserve(
    tx: &mut dyn GrantTx,
    now: Timestamp,
    grants: &[Grant],
    book: &PackBook,
) -> Outcome<Vec<Reserved>, GrantRefusal> {
    let packs = packs_of(grants);
    if packs.is_empty() {
        return Ok(Vec::new());
    }
    take_stock(tx, now, &Wanted { packs: &packs, minted: &BTreeMap::new() }, book)
}

/// Returns packs that were reserved.
pub fn release(tx: &mut dyn GrantTx, grants: &[Grant]) -> Result<(), StoreError> {
    return_copies(tx, &packs_of(grants))
}

/// Returns so many sealed copies to the stocks of the packs that are counted.
pub(super) fn return_copies(tx: &mut dyn GrantTx, packs: &BTreeMap<PackId, u32>) -> Result<(), StoreError> {
    if packs.is_empty() {
        return Ok(());
    }
    let mut counted = CatalogueRead::stocks(tx, &packs.keys().copied().collect::<Vec<_>>())?;
    counted.sort_unstable_by_key(|(pack, _)| *pack);
    for (pack, _) in counted {
        let copies = num::to_i32(packs.get(&pack).copied().unwrap_or(0)).saturating_neg();
        SaleWrite::count_stock(tx, pack, StockChange { sold: copies, sealed: copies })?;
    }
    Ok(())
}
