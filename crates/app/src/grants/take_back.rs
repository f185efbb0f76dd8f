//! Takes grants back.

use super::give::{defect, move_coins};
use super::stock::return_copies;
use crate::store::GrantTx;
use crate::store::grants::GivenGrant;
use std::collections::BTreeMap;
use terrace_kernel::{Ctx, GrantId, GrantKind, GrantSource, StoreError, UserId};
use terrace_ledger::{AccountKind, Holder, House, LedgerRead, LedgerWrite, TransferSource};
use terrace_packs::{PackId, UserPackState};

/// Takes back what these sources gave a fan, whose account the caller has locked, as far as it was not taken back before.
/// Coins that the fan no longer has are written off; copies and collectibles are revoked. Returns what was taken back now.
pub fn take_back(
    tx: &mut dyn GrantTx,
    ctx: &mut Ctx,
    fan: UserId,
    sources: &[GrantSource],
    reason: &str,
) -> Result<Vec<GivenGrant>, StoreError> {
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let taken = tx.mark_taken_back(fan, sources, ctx.now())?;
    if taken.iter().any(|one| one.grant.kind() == GrantKind::Points) {
        return Err(defect("points are reversed by their record"));
    }
    take_coins(tx, ctx, fan, &taken, reason)?;
    let packs = ids_of(&taken, GrantKind::Pack);
    let unopened = if packs.is_empty() { BTreeMap::new() } else { revoke_copies(tx, ctx, fan, &packs)? };
    for grant in ids_of(&taken, GrantKind::Collectible) {
        tx.revoke_granted(grant, ctx.now())?;
    }
    return_copies(tx, &unopened)?;
    Ok(taken)
}

fn ids_of(grants: &[GivenGrant], kind: GrantKind) -> Vec<GrantId> {
    grants.iter().filter(|one| one.grant.kind() == kind).map(|one| one.id).collect()
}

/// Takes coins as far as the fan has them; the rest is written off.
fn take_coins(
    tx: &mut dyn GrantTx,
    ctx: &mut Ctx,
    fan: UserId,
    taken: &[GivenGrant],
    reason: &str,
) -> Result<(), StoreError> {
    let coins = taken.iter().filter(|one| one.grant.kind() == GrantKind::Coins);
    let coins: Vec<(GrantId, i64)> = coins.map(|one| (one.id, one.grant.amount())).collect();
    if coins.is_empty() {
        return Ok(());
    }
    let balances = LedgerWrite::lock_balances(tx, fan)?;
    let has = balances.iter().find(|balance| balance.kind == AccountKind::Coins);
    let mut has = has.map_or(0, |balance| balance.amount);
    let issuance = Holder::House(House::Issuance);
    for (id, amount) in coins {
        let own = has.clamp(0, amount);
        has = has.saturating_sub(own);
        let parts = [
            (own, Holder::Fan(fan), "ungrant"),
            (amount.saturating_sub(own), Holder::House(House::WrittenOff), "ungrant_spent"),
        ];
        for (amount, from, source) in parts.into_iter().filter(|(amount, ..)| *amount > 0) {
            move_coins(tx, ctx, (amount, reason), (from, issuance), TransferSource::of(source, id))?;
        }
    }
    Ok(())
}

/// Revokes the copies of these grants, opened ones with their collectibles. Returns how many of each pack were sealed.
fn revoke_copies(
    tx: &mut dyn GrantTx,
    ctx: &Ctx,
    fan: UserId,
    grants: &[GrantId],
) -> Result<BTreeMap<PackId, u32>, StoreError> {
    let mut unopened: BTreeMap<PackId, u32> = BTreeMap::new();
    for copy in tx.granted_copies(grants)? {
        // Read again under its lock: it may be in the process of being opened.
        let (copy, _) = tx.lock_copy(fan, copy.id)?.ok_or_else(|| defect("a granted copy is gone"))?;
        let Ok(change) = copy.state.revoke() else { continue };
        if !tx.move_copy(copy.id, change, ctx.now())? {
            return Err(defect("a copy changed under a lock"));
        }
        if copy.state == UserPackState::Sealed {
            let sum = unopened.entry(copy.pack).or_default();
            *sum = sum.saturating_add(1);
        } else {
            tx.revoke_owned(copy.id, ctx.now())?;
        }
    }
    Ok(unopened)
}

/// Whether a fan, whose account the caller has locked, has used what these sources gave: opened a copy of a pack, or spent
/// coins.
pub fn is_used(tx: &mut dyn GrantTx, fan: UserId, sources: &[GrantSource]) -> Result<bool, StoreError> {
    let mut grants = tx.grants_of(fan, sources)?;
    grants.retain(|one| one.taken_back_at.is_none());
    let coins = grants.iter().filter(|one| one.grant.kind() == GrantKind::Coins);
    let coins = coins.fold(0_i64, |sum, one| sum.saturating_add(one.grant.amount()));
    if coins > 0 {
        let balances = LedgerRead::balances(tx, fan)?;
        let has = balances.iter().find(|balance| balance.kind == AccountKind::Coins);
        if has.map_or(0, |balance| balance.amount) < coins {
            return Ok(true);
        }
    }
    let packs = ids_of(&grants, GrantKind::Pack);
    if packs.is_empty() {
        return Ok(false);
    }
    Ok(tx.granted_copies(&packs)?.iter().any(|copy| copy.state == UserPackState::Opened))
}
