//! Purchases of several fans, completed in one transaction with a fixed number of statements.

use crate::balances::balance_events;
use crate::packs::purchase_pack::account_of;
use crate::packs::settle::purchase_event;
use crate::packs::{PackPurchased, PurchasePack, PurchasePackRefusal, limited, sealed_copies};
use crate::store::{Batched, PaymentTx};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use terrace_kernel::{Ctx, StoreError, Timestamp, UserId, num};
use terrace_ledger::{AccountKind, Transfer};
use terrace_packs::{
    Bought, Minted, Pack, PackId, Purchase, SealedSeed, Stock, StockChange, UserPack, can_sell,
};

/// A purchase that the rules for the pack and the fan permit, apart from those of the stock and the balance.
struct Wanted<'a> {
    command: &'a PurchasePack,
    pack: &'a Pack,
    account: AccountKind,
    bought: Bought,
}

/// The purchases for which there is stock and balance, in the order of the batch.
#[derive(Default)]
struct Sales {
    places: Vec<usize>,
    purchases: Vec<Purchase>,
    dues: Vec<Transfer>,
    /// The copies of the purchases, by purchase and nonce.
    copies: Vec<(UserPack, SealedSeed)>,
    /// The changes of the stock of counted packs.
    stocks: BTreeMap<PackId, StockChange>,
}

type Results = BTreeMap<usize, Result<PackPurchased, PurchasePackRefusal>>;

/// Sells packs as [`PurchasePack`] does for each, in the order of the batch. There is no result for a further purchase of
/// the same fan, and for a fan whose account is not active or is held by another transaction: these run again.
pub(super) fn purchase_packs(
    batch: &mut [(&PurchasePack, &mut Ctx)],
    tx: &mut dyn PaymentTx,
) -> Result<Batched<PurchasePack>, StoreError> {
    let mut results = Results::new();
    let wanted = sort(batch, tx, &mut results)?;
    let sales = sell(batch, tx, wanted, &mut results)?;
    sales.write(tx)?;
    let mut copies = sales.copies.into_iter().map(|(copy, _)| copy);
    for (place, purchase) in sales.places.into_iter().zip(sales.purchases) {
        let Some((command, _)) = batch.get(place) else { continue };
        let copies = copies.by_ref().take(num::to_usize(purchase.quantity.copies())).collect();
        results.insert(place, Ok(PackPurchased { purchase, copies, book: Arc::clone(&command.book) }));
    }
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}

/// Locks the fans and applies the rules that do not depend on the stock.
fn sort<'a>(
    batch: &[(&'a PurchasePack, &mut Ctx)],
    tx: &mut dyn PaymentTx,
    results: &mut Results,
) -> Result<BTreeMap<usize, Wanted<'a>>, StoreError> {
    let mut wanted: BTreeMap<usize, (Wanted<'a>, Timestamp)> = BTreeMap::new();
    let mut users = HashSet::new();
    for (place, (command, ctx)) in batch.iter().enumerate() {
        let command: &'a PurchasePack = command;
        let Some(pack) = command.known_pack(ctx.now()) else {
            results.insert(place, Err(PurchasePackRefusal::UnknownPack));
            continue;
        };
        let Some(account) = account_of(pack) else { continue };
        if users.insert(command.user) {
            let bought = Bought::default();
            wanted.insert(place, (Wanted { command, pack, account, bought }, ctx.now()));
        }
    }
    let free = tx.lock_free_fans(&users.into_iter().collect::<Vec<_>>())?;
    wanted.retain(|_, (one, _)| free.contains(&one.command.user));
    let has_limit = |one: &Wanted<'_>| one.pack.per_user_limit.is_some();
    let limited: Vec<(UserId, PackId)> = wanted
        .values()
        .filter(|(one, _)| has_limit(one))
        .map(|(one, _)| (one.command.user, one.pack.id))
        .collect();
    let mut bought = tx.copies_bought(&limited)?;
    let mut permitted = BTreeMap::new();
    for (place, (one, now)) in wanted {
        let copies = bought.remove(&one.command.user).unwrap_or(0);
        let one = Wanted { bought: Bought { copies, pending: 0 }, ..one };
        match one.may_have(now, Stock::default(), &Minted::default()) {
            Ok(()) => drop(permitted.insert(place, one)),
            Err(refusal) => drop(results.insert(place, Err(refusal))),
        }
    }
    Ok(permitted)
}

/// Locks the balances, and then the stocks, because every buyer waits for these; distributes what is left in the order of
/// the batch.
fn sell(
    batch: &mut [(&PurchasePack, &mut Ctx)],
    tx: &mut dyn PaymentTx,
    mut wanted: BTreeMap<usize, Wanted<'_>>,
    results: &mut Results,
) -> Result<Sales, StoreError> {
    let accounts: Vec<_> = wanted.values().map(|one| (one.command.user, one.account)).collect();
    let balances = tx.lock_balances_of(&accounts)?;
    let counted: BTreeMap<PackId, &Pack> =
        wanted.values().filter(|one| one.pack.is_counted()).map(|one| (one.pack.id, one.pack)).collect();
    let mut stocks = tx.lock_stocks(&counted.keys().copied().collect::<Vec<_>>())?;
    let minted = tx.minted(&limited(counted.into_values()))?;
    let mut sales = Sales::default();
    for (place, (_, ctx)) in batch.iter_mut().enumerate() {
        let Some(one) = wanted.remove(&place) else { continue };
        let stock = stocks.get_mut(&one.pack.id);
        if stock.is_none() && one.pack.is_counted() {
            // Content was reloaded a moment ago.
            continue;
        }
        let left = stock.as_deref().copied().unwrap_or_default();
        if let Err(refusal) = one.may_have(ctx.now(), left, &minted) {
            results.insert(place, Err(refusal));
            continue;
        }
        let purchase = one.command.purchase(one.pack, ctx);
        // An error is that of this command alone: it runs again, by itself.
        let Ok(due) = one.command.due(ctx, one.pack, one.account, &purchase) else { continue };
        let has = balances.get(&one.command.user).copied().unwrap_or(0);
        if has < due.amount.get() {
            results.insert(place, Err(PurchasePackRefusal::Insufficient { has }));
            continue;
        }
        let Ok(copies) = sealed_copies(&purchase, &one.command.safe, ctx) else { continue };
        if let Some(stock) = stock {
            let change = StockChange::purchased(one.command.quantity);
            *stock = stock.after(change);
            let changes = sales.stocks.entry(one.pack.id).or_default();
            *changes = changes.and(change);
        }
        sales.places.push(place);
        sales.purchases.push(purchase);
        sales.dues.push(due);
        sales.copies.extend(copies);
    }
    Ok(sales)
}

impl Wanted<'_> {
    fn may_have(&self, now: Timestamp, stock: Stock, minted: &Minted) -> Result<(), PurchasePackRefusal> {
        can_sell(self.pack, self.command.quantity, now, self.bought, stock, minted)
            .map_err(PurchasePackRefusal::Rule)
    }
}

impl Sales {
    fn write(&self, tx: &mut dyn PaymentTx) -> Result<(), StoreError> {
        let paid = tx.pay_all(&self.dues)?;
        let mut events = balance_events(&self.dues, &paid)?;
        events.extend(self.purchases.iter().map(|purchase| {
            let event = purchase_event(purchase.user, purchase.id);
            (event, purchase.state.as_str().to_owned(), purchase.created_at)
        }));
        tx.insert_purchases(&self.purchases)?;
        tx.insert_copies(&self.copies)?;
        tx.append_all_with_details(&events)?;
        tx.count_stocks(&self.stocks.iter().map(|(pack, change)| (*pack, *change)).collect::<Vec<_>>())
    }
}
