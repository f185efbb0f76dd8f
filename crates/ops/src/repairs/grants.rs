//! Repair of grants: what the lines of orders gave, and the goods of each grant.

use crate::maintenance::{
    Category, Derived, Looked, Page, Portion, Settled, Task, TaskFailure, WalkReport, Work,
};
use crate::repairs::orders::hold_buyers;
use std::collections::BTreeSet;
use std::convert::Infallible;
use terrace_app::grants::{GivenGrant, Grant, GrantId, GrantKind, Granter, pay_coins, take_back};
use terrace_app::packs::new_copy;
use terrace_kernel::{Ctx, StoreError, Uuid, num};
use terrace_packs::{CollectibleId, CopyOrigin, Owned, OwnedSource, PackId, UserPack};
use terrace_shop::{LineState, Order, OrderId, OrderLine};
use terrace_store::OpsTx;
use terrace_store::grants::GrantWrite;

/// Repairs what lines of orders gave, and the goods of grants. Copies get new seeds, which needs the service's secret; a
/// run without it leaves them out.
pub(crate) fn grants() -> Task {
    let about = "Gives what delivered lines of orders lack, takes back what revoked ones left, and completes granted goods";
    Task::new("repair-grants", Category::Repair, about, |work: Work| async move {
        let granter = match work.app().seed_cipher() {
            Ok(_) => Some(work.app().granter().await?),
            Err(_) => None,
        };
        work.walk(Lines).await?;
        work.walk(Goods { granter }).await?;
        Ok::<(), TaskFailure>(())
    })
}

/// Orders whose lines and grants differ. What is missing is recorded here, and given by [`Goods`].
#[derive(Clone, Copy)]
struct Lines;

impl Derived for Lines {
    const NAME: &'static str = "repair_order_grants";
    const PAGE: u32 = 500;
    const HELD: usize = 50;
    type Key = OrderId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, limit, .. }: Page<'_, OrderId>) -> Looked<OrderId> {
        let ids = tx.orders_after(after, limit)?;
        let Some(last) = ids.last().copied() else { return Ok(None) };
        let suspects = tx.misgranted_orders(&ids)?;
        Ok(Some(Portion::new(num::to_u64(ids.len()), last, suspects)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[OrderId]) -> Settled {
        let mut report = WalkReport::default();
        hold_buyers(tx, suspects)?;
        for id in suspects {
            let Some(order) = tx.lock_order(*id)? else { continue };
            for line in order.granting() {
                match line.state {
                    LineState::Delivered => {
                        report.wrote("grants of delivered lines", record(tx, ctx, &order, line)?);
                    }
                    LineState::Revoked => {
                        let reason = order.description();
                        let taken = take_back(tx, ctx, order.user, &[line.source()], &reason)?;
                        report.wrote("grants of revoked lines", num::to_u64(taken.len()));
                    }
                    LineState::Waiting | LineState::Shipped => {}
                }
            }
        }
        Ok(report)
    }
}

/// Records the grants of a delivered line that are not recorded. Coins that the journal has are not given again.
fn record(tx: &mut dyn OpsTx, ctx: &mut Ctx, order: &Order, line: &OrderLine) -> Result<u64, StoreError> {
    let known = tx.grants_of(order.user, &[line.source()])?;
    let mut written = 0;
    for (place, grant) in (0_u32..).zip(&line.grants) {
        if known.iter().any(|one| one.place == place) {
            continue;
        }
        let is_coins = grant.kind() == GrantKind::Coins;
        let paid = if is_coins { tx.unrecorded_coins(order.user, grant.amount())? } else { None };
        let row = GivenGrant {
            id: paid.unwrap_or_else(|| ctx.new_id()),
            source: line.source(),
            user: order.user,
            place,
            grant: *grant,
            given_at: order.paid_at.unwrap_or(order.changed_at),
            taken_back_at: None,
        };
        written += num::to_u64(GrantWrite::insert_grants(tx, &[row])?.len());
    }
    Ok(written)
}

/// Grants whose goods are not there, or are still there although they were taken back. The stock of packs is left to
/// `repair-pack-stock`.
#[derive(Clone)]
struct Goods {
    granter: Option<Granter>,
}

impl Derived for Goods {
    const NAME: &'static str = "repair_granted_goods";
    const PAGE: u32 = 500;
    const HELD: usize = 50;
    type Key = GrantId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, limit, .. }: Page<'_, GrantId>) -> Looked<GrantId> {
        let ids = tx.grants_after(after, limit)?;
        let Some(last) = ids.last().copied() else { return Ok(None) };
        let suspects = tx.incomplete_grants(&ids)?.into_iter().map(|one| one.id).collect();
        Ok(Some(Portion::new(num::to_u64(ids.len()), last, suspects)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[GrantId]) -> Settled {
        let mut report = WalkReport::default();
        let fans: BTreeSet<_> = tx.incomplete_grants(suspects)?.iter().map(|one| one.user).collect();
        tx.hold_fans(&fans.into_iter().collect::<Vec<_>>())?;
        let mut wrong = tx.incomplete_grants(suspects)?;
        // Limited editions are locked in the order of the collectibles.
        wrong.sort_unstable_by_key(|one| (one.grant.id(), one.id));
        for one in &wrong {
            match one.grant {
                _ if one.taken_back_at.is_some() => {
                    report.wrote("goods of grants that were taken back", revoke(tx, ctx, one)?);
                }
                Grant::Coins(amount) => {
                    pay_coins(tx, ctx, one, (amount, "A missing grant"))?;
                    report.wrote("granted coins", 1);
                }
                Grant::Pack(pack, copies) => {
                    let added = self.seal(tx, ctx, one, (pack, copies))?;
                    report.wrote("granted copies", added);
                }
                Grant::Collectible(id, copies) => {
                    let (added, none_left) = self.give(tx, ctx, one, (id, copies))?;
                    report.wrote("granted collectibles", added);
                    report.wrote("granted collectibles of which none is left", none_left);
                }
                Grant::Points(_) | Grant::Code(_) | Grant::Product(..) | Grant::Nothing => {}
            }
        }
        Ok(report)
    }
}

/// Revokes copies and collectibles of a grant that was taken back.
fn revoke(tx: &mut dyn OpsTx, ctx: &Ctx, of: &GivenGrant) -> Result<u64, StoreError> {
    let mut revoked = tx.revoke_granted(of.id, ctx.now())?;
    for copy in tx.granted_copies(&[of.id])? {
        let Some((copy, _)) = tx.lock_copy(of.user, copy.id)? else { continue };
        let Ok(change) = copy.state.revoke() else { continue };
        revoked += u64::from(tx.move_copy(copy.id, change, ctx.now())?);
        tx.revoke_owned(copy.id, ctx.now())?;
    }
    Ok(revoked)
}

impl Goods {
    /// Creates the copies that a grant lacks; without the service's secret, it only counts them.
    fn seal(
        &self,
        tx: &mut dyn OpsTx,
        ctx: &mut Ctx,
        of: &GivenGrant,
        (pack, copies): (Uuid, u32),
    ) -> Result<u64, StoreError> {
        let there: BTreeSet<u32> = tx.granted_copies(&[of.id])?.iter().map(|copy| copy.nonce).collect();
        let missing: Vec<u32> = (1..=copies).filter(|nonce| !there.contains(nonce)).collect();
        let Some(granter) = &self.granter else { return Ok(num::to_u64(missing.len())) };
        let mut added = Vec::new();
        for nonce in missing {
            let origin = (of.user, PackId::from_uuid(pack), CopyOrigin::Grant(of.id));
            let (copy, seed) = new_copy(origin, nonce, &granter.safe, ctx)?;
            added.push((UserPack { bought_at: of.given_at, ..copy }, seed));
        }
        tx.insert_copies(&added)?;
        Ok(num::to_u64(added.len()))
    }

    /// Gives the collectibles that a grant lacks, with serials that were assigned and have no owner, or the next ones. Returns
    /// how many were given, and of how many none is left.
    fn give(
        &self,
        tx: &mut dyn OpsTx,
        ctx: &mut Ctx,
        of: &GivenGrant,
        (id, copies): (Uuid, u32),
    ) -> Result<(u64, u64), StoreError> {
        let collectible = CollectibleId::from_uuid(id);
        let known = tx.collectibles()?.into_iter().find(|one| one.id == collectible);
        let is_limited = known.is_some_and(|one| one.edition.is_some());
        let lost = if is_limited { tx.lost_serials(collectible)? } else { Vec::new() };
        let mut lost = lost.into_iter();
        let there: BTreeSet<u32> = tx.granted_numbers(of.id)?.into_iter().collect();
        let (mut owned, mut none_left) = (Vec::new(), 0);
        for number in (0..copies).filter(|number| !there.contains(number)) {
            let serial = match (is_limited, lost.next()) {
                (true, None) => tx.mint(collectible)?,
                (_, serial) => serial,
            };
            if is_limited && serial.is_none() {
                none_left += 1;
                continue;
            }
            owned.push(Owned {
                id: ctx.new_id(),
                user: of.user,
                collectible,
                serial,
                acquired_at: of.given_at,
                source: OwnedSource::Grant { grant: of.id, number },
                token: None,
            });
        }
        let has_minter = self.granter.as_ref().is_some_and(|granter| granter.has_minter);
        tx.insert_granted(&owned, has_minter, ctx.now())?;
        Ok((num::to_u64(owned.len()), none_left))
    }
}
