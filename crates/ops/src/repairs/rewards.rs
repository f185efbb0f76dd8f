//! Repair of claims, and of the stock of rewards.

use crate::maintenance::{
    Category, Derived, Looked, Page, Portion, Settled, Task, TaskFailure, WalkReport, Work,
};
use std::collections::BTreeSet;
use std::convert::Infallible;
use terrace_app::rewards::{publish_claim, return_cost};
use terrace_kernel::{Ctx, StoreError, UserId, num};
use terrace_rewards::{Claim, ClaimId, ClaimStatus, RewardId};
use terrace_store::OpsTx;
use terrace_store::repair::ClaimFault;

/// Repairs claims that disagree with their codes or the journal, and the stock of rewards.
pub(crate) fn rewards() -> Task {
    let about = "Repairs the stock of rewards from claims and codes, returns costs that are owed, revokes claims without a code, \
                 and removes costs that the journal does not have";
    Task::new("repair-rewards", Category::Repair, about, |work: Work| async move {
        work.walk(Claims).await?;
        work.walk(Stocks).await?;
        Ok::<(), TaskFailure>(())
    })
}

#[derive(Clone, Copy)]
struct Claims;

impl Derived for Claims {
    const NAME: &'static str = "repair_claims";
    const PAGE: u32 = 500;
    const HELD: usize = 50;
    type Key = ClaimId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, limit, .. }: Page<'_, ClaimId>) -> Looked<ClaimId> {
        let ids = tx.claims_after(after, limit)?;
        let Some(last) = ids.last().copied() else { return Ok(None) };
        let faulty = tx.faulty_claims(&ids)?.into_iter().map(|(id, _)| id).collect();
        Ok(Some(Portion::new(num::to_u64(ids.len()), last, faulty)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[ClaimId]) -> Settled {
        let mut report = WalkReport::default();
        let mut fans: BTreeSet<UserId> = BTreeSet::new();
        for id in suspects {
            fans.extend(tx.claim(*id)?.map(|claim| claim.user));
        }
        tx.hold_fans(&fans.into_iter().collect::<Vec<_>>())?;
        for (id, fault) in tx.faulty_claims(suspects)? {
            let Some(claim) = tx.claim(id)? else { continue };
            if let Some(what) = repair(tx, ctx, claim, fault)? {
                report.wrote(what, 1);
            }
        }
        Ok(report)
    }
}

/// Repairs a claim whose fan is locked; returns what was repaired.
fn repair(
    tx: &mut dyn OpsTx,
    ctx: &mut Ctx,
    mut claim: Claim,
    fault: ClaimFault,
) -> Result<Option<&'static str>, StoreError> {
    match fault {
        // The journal is right: nothing was paid.
        ClaimFault::Unpaid => {
            tx.put_claim_cost(claim.id, None, claim.is_returned)?;
            Ok(Some("claims that were not paid"))
        }
        ClaimFault::NotReturned => {
            if !return_cost(tx, ctx, &claim)? {
                tx.put_claim_cost(claim.id, claim.cost, false)?;
            }
            Ok(Some("costs of revoked claims"))
        }
        ClaimFault::WithoutCode => {
            // The job records a claim that has expired meanwhile.
            if !tx.revoke_claim(claim.id, true, ctx.now())? {
                return Ok(None);
            }
            claim.status = ClaimStatus::Revoked;
            if !return_cost(tx, ctx, &claim)? {
                tx.put_claim_cost(claim.id, claim.cost, false)?;
            }
            publish_claim(tx, claim.user, claim.id, claim.status, ctx.now())?;
            Ok(Some("claims without a code"))
        }
    }
}

#[derive(Clone, Copy)]
struct Stocks;

impl Derived for Stocks {
    const NAME: &'static str = "repair_reward_stock";
    /// Every claimant of a reward waits for the lock on its stock.
    const HELD: usize = 1;
    type Key = RewardId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, .. }: Page<'_, RewardId>) -> Looked<RewardId> {
        // There are few of them: all are on one page.
        if after.is_some() {
            return Ok(None);
        }
        Ok(Portion::of_suspects(tx.misstocked_rewards()?))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[RewardId]) -> Settled {
        let mut report = WalkReport::default();
        for reward in suspects {
            report.wrote("stocks of rewards", u64::from(tx.restock_reward(*reward)?));
        }
        Ok(report)
    }
}
