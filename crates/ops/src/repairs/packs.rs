//! Repair of purchases, copies and collectibles according to the journal and the proofs of draws (spec §3 rule 4).

use crate::maintenance::{Category, Derived, Looked, Need, Page, Portion, Settled, Task, WalkReport, Work};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_app::packs::{PackBook, SeedCipher, new_copy, publish_purchase};
use terrace_kernel::{Ctx, StoreError, UserId, num};
use terrace_packs::{
    CollectibleId, CopyOrigin, CopyRepair, CopyStanding, Opening, Owned, OwnedSource, PurchaseId,
    PurchaseStanding, SlotOutcome, UserPack, UserPackId, UserPackState, outcomes,
};
use terrace_store::{OpsReadTx, OpsTx};

/// Repairs the states of purchases, copies and payments.
pub(crate) fn purchases() -> Task {
    let about = "Repairs the states of purchases and copies from the journal and the draws";
    Task::new(
        "repair-purchases",
        Category::Repair,
        about,
        |work: Work| async move { work.walk(Purchases).await },
    )
}

/// Restores missing copies and collectibles.
pub(crate) fn packs() -> Task {
    let about = "Adds missing copies that fans paid for, and missing collectibles that they drew";
    Task::new("backfill-packs", Category::Backfill, about, |work: Work| async move {
        let (book, safe) = (work.app().pack_book().await?, work.app().seed_cipher()?);
        work.walk(Packs { book, safe }).await
    })
    // What belongs to a purchase or a copy is known only once the purchase is completed and the copy opened.
    .after(&["repair-purchases"])
    .needs(Need::Payments)
}

/// Checks the next purchases; `is_suspect` selects the suspects.
fn check_purchases(
    Page { tx, after, limit, .. }: Page<'_, PurchaseId>,
    is_suspect: impl Fn(&mut dyn OpsReadTx, &PurchaseStanding) -> Result<bool, StoreError>,
) -> Looked<PurchaseId> {
    let ids = tx.purchases_after(after, limit)?;
    let Some(last) = ids.last().copied() else { return Ok(None) };
    let mut suspects = Vec::new();
    for standing in tx.standings_of(&ids)? {
        if is_suspect(tx, &standing)? {
            suspects.push(standing.purchase.id);
        }
    }
    Ok(Some(Portion::new(num::to_u64(ids.len()), last, suspects)))
}

/// Locks the fans of the suspects, then the suspects, and returns their current state.
fn locked(tx: &mut dyn OpsTx, ids: &[PurchaseId]) -> Result<Vec<PurchaseStanding>, StoreError> {
    let fans: BTreeSet<UserId> = tx.standings_of(ids)?.iter().map(|one| one.purchase.user).collect();
    tx.hold_fans(&fans.into_iter().collect::<Vec<_>>())?;
    for id in ids {
        tx.lock_purchase(*id)?;
    }
    tx.standings_of(ids)
}

#[derive(Clone)]
struct Purchases;

impl Derived for Purchases {
    const NAME: &'static str = "repair_purchases";
    const PAGE: u32 = 500;
    const HELD: usize = 50;
    type Key = PurchaseId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, PurchaseId>) -> Looked<PurchaseId> {
        let now = page.now;
        check_purchases(page, |_, standing| Ok(standing.is_out_of_state(now)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[PurchaseId]) -> Settled {
        let mut report = WalkReport::default();
        for standing in locked(tx, suspects)? {
            let purchase = &standing.purchase;
            let state = standing.right_state(ctx.now());
            if state != purchase.state {
                tx.put_purchase_state(purchase.id, state, ctx.now())?;
                publish_purchase(tx, purchase.user, purchase.id, state, ctx.now())?;
                report.wrote("states of purchases", 1);
            }
            for repair in standing.right_copies(ctx.now()) {
                let repaired = settle_copy(tx, ctx, &standing, repair)?;
                report.wrote("states of copies", u64::from(repaired));
            }
            report.wrote("payments woken", u64::from(tx.wake_payment(purchase.id, ctx.now())?));
        }
        Ok(report)
    }
}

/// Repairs the state of one copy.
fn settle_copy(
    tx: &mut dyn OpsTx,
    ctx: &Ctx,
    standing: &PurchaseStanding,
    repair: CopyRepair,
) -> Result<bool, StoreError> {
    let now = ctx.now();
    match repair {
        CopyRepair::Opened(id) => {
            let given_at = find(standing, id).and_then(|copy| copy.given_at);
            tx.put_copy_opened(id, given_at.unwrap_or(now), now)
        }
        CopyRepair::Revoked(id) => {
            let Some((copy, _)) = tx.lock_copy(standing.purchase.user, id)? else { return Ok(false) };
            let Ok(change) = copy.state.revoke() else { return Ok(false) };
            let moved = tx.move_copy(id, change, now)?;
            tx.revoke_owned(id, now)?;
            Ok(moved)
        }
    }
}

fn find(standing: &PurchaseStanding, id: UserPackId) -> Option<&CopyStanding> {
    standing.copies.iter().find(|copy| copy.copy.id == id)
}

#[derive(Clone)]
struct Packs {
    book: Arc<PackBook>,
    safe: Arc<SeedCipher>,
}

impl Packs {
    /// The opened copies that do not have as many collectibles as their pack has slots. The content may have changed
    /// since, so the proof, which contains the actual number, is read for these suspects only.
    fn may_lack<'s>(&self, standing: &'s PurchaseStanding) -> impl Iterator<Item = &'s CopyStanding> {
        let slots = self.book.pack(standing.purchase.pack).map_or(0, |pack| pack.slots.len());
        let is_opened = |copy: &&CopyStanding| copy.copy.state == UserPackState::Opened && copy.is_proved;
        standing.copies.iter().filter(is_opened).filter(move |copy| copy.slots.len() != slots)
    }

    fn lacks_something(
        &self,
        tx: &mut dyn OpsReadTx,
        standing: &PurchaseStanding,
    ) -> Result<bool, StoreError> {
        for copy in self.may_lack(standing) {
            if let Some(opening) = tx.opening(copy.copy.id)?
                && !lacking(&opening)?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Derived for Packs {
    const NAME: &'static str = "backfill_packs";
    const PAGE: u32 = 500;
    const HELD: usize = 50;
    type Key = PurchaseId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, PurchaseId>) -> Looked<PurchaseId> {
        check_purchases(page, |tx, standing| {
            Ok(!standing.missing_copies().is_empty() || self.lacks_something(tx, standing)?)
        })
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[PurchaseId]) -> Settled {
        let mut report = WalkReport::default();
        // Limited ones last, in ascending order of collectible over all copies: the lock order in which opening a
        // copy takes them.
        let mut limited: Vec<(CollectibleId, Owned)> = Vec::new();
        for standing in locked(tx, suspects)? {
            let mut copies = Vec::new();
            let purchase = &standing.purchase;
            let of = (purchase.user, purchase.pack, CopyOrigin::Purchase(purchase.id));
            for nonce in standing.missing_copies() {
                let (copy, seed) = new_copy(of, nonce, &self.safe, ctx)?;
                // The time from which the fan has been entitled to it.
                copies.push((UserPack { bought_at: standing.purchase.changed_at, ..copy }, seed));
            }
            if !copies.is_empty() {
                tx.insert_copies(&copies)?;
                report.wrote("copies", num::to_u64(copies.len()));
            }
            for copy in self.may_lack(&standing) {
                let Some(opening) = tx.opening(copy.copy.id)? else { continue };
                for outcome in lacking(&opening)? {
                    let owned = given(ctx, copy, &outcome);
                    let is_limited = self
                        .book
                        .collectible(outcome.collectible)
                        .is_some_and(|collectible| collectible.edition.is_some());
                    if is_limited {
                        limited.push((outcome.collectible, owned));
                    } else {
                        report.wrote("collectibles", u64::from(tx.insert_owned(&owned)?));
                    }
                }
            }
        }
        limited.sort_by_key(|(collectible, owned)| (*collectible, owned.acquired_at, owned.id));
        let mut lost: HashMap<CollectibleId, std::vec::IntoIter<u32>> = HashMap::new();
        for (collectible, mut owned) in limited {
            let serials = match lost.entry(collectible) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(tx.lost_serials(collectible)?.into_iter())
                }
            };
            // A serial that was assigned and has no owner; if there is none, the next one.
            owned.serial = match serials.next() {
                Some(serial) => Some(serial),
                None => tx.mint(collectible)?,
            };
            if owned.serial.is_none() {
                report.wrote("collectibles of which none is left", 1);
            } else {
                report.wrote("collectibles", u64::from(tx.insert_owned(&owned)?));
            }
        }
        Ok(report)
    }
}

/// The slots of an opened copy whose drawn collectible is missing.
fn lacking(opening: &Opening) -> Result<Vec<SlotOutcome>, StoreError> {
    let drawn = outcomes(&opening.proof).map_err(|error| StoreError::defect("draw a copy again", error))?;
    let has = |slot: u32| opening.owned.iter().any(|owned| owned.source.number() == slot);
    Ok(drawn.into_iter().filter(|outcome| !has(outcome.slot)).collect())
}

fn given(ctx: &mut Ctx, copy: &CopyStanding, outcome: &SlotOutcome) -> Owned {
    Owned {
        id: ctx.new_id(),
        user: copy.copy.user,
        collectible: outcome.collectible,
        serial: None,
        acquired_at: copy.copy.opened_at.unwrap_or(ctx.now()),
        source: OwnedSource::Pack { copy: copy.copy.id, slot: outcome.slot },
        token: None,
    }
}
