//! An operator revokes a claim.

use crate::grants::{Giver, GrantSource, take_back};
use crate::rewards::claim_reward::account_of;
use crate::rewards::publish_claim;
use crate::store::{ClaimTx, Command, TransferTx};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError};
use terrace_ledger::{Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_rewards::{Claim, ClaimId, ClaimRead, ClaimStatus, UseRefusal};

/// The reason of transfers that return something.
const RETURN: &str = "A revoked claim";

/// Revokes a claim whose code was not used. The fan has the cost back unless the operator keeps it, and a claim whose cost
/// was returned does not count towards the limit of the fan. What was used has been had: it is not revoked.
#[derive(Debug, Clone)]
pub struct RevokeClaim {
    pub claim: ClaimId,
    /// Whether the fan has the cost back.
    pub returns: bool,
}

/// Why a claim is not revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RevokeClaimRefusal {
    /// No claim has this id.
    #[error("there is no such claim")]
    UnknownClaim,
    /// Its state does not allow it.
    #[error("{0}")]
    Rule(UseRefusal),
}

impl Command for RevokeClaim {
    const NAME: &'static str = "revoke_claim";
    type Ports = dyn ClaimTx;
    type Output = Claim;
    type Refusal = RevokeClaimRefusal;

    fn run(&self, tx: &mut dyn ClaimTx, ctx: &mut Ctx) -> Outcome<Claim, RevokeClaimRefusal> {
        let refused = Failure::Refused;
        let unknown = || refused(RevokeClaimRefusal::UnknownClaim);
        let mut claim = ClaimRead::claim(tx, self.claim)?.ok_or_else(unknown)?;
        // Locked before the balance and the claim, as by a claim. An account that is gone has nothing back.
        let is_active = tx.lock_fan(claim.user)?.is_some();
        let is_returned = self.returns && (is_active || claim.cost.is_none());
        if !tx.revoke_claim(claim.id, is_returned, ctx.now())? {
            // A till may have used it just now, so it is read again.
            let claim = ClaimRead::claim(tx, self.claim)?.ok_or_else(unknown)?;
            return match claim.check_use(ctx.now()) {
                Err(rule) => Err(refused(RevokeClaimRefusal::Rule(rule))),
                Ok(()) => Err(Failure::Broken(StoreError::defect("revoke a claim", "it was not revoked"))),
            };
        }
        (claim.status, claim.is_returned) = (ClaimStatus::Revoked, is_returned);
        if is_returned && !return_cost(tx, ctx, &claim)? {
            return Err(Failure::Broken(StoreError::defect("revoke a claim", "the cost was not returned")));
        }
        let source = GrantSource { giver: Giver::Claim, id: claim.id.as_uuid() };
        take_back(tx, ctx, claim.user, &[source], RETURN)?;
        publish_claim(tx, claim.user, claim.id, claim.status, ctx.now())?;
        Ok(claim)
    }
}

/// Returns the cost of a claim to its fan, once; `false` if the account is gone.
pub fn return_cost(tx: &mut dyn TransferTx, ctx: &mut Ctx, claim: &Claim) -> Result<bool, StoreError> {
    let Some(cost) = claim.cost else { return Ok(true) };
    let due = Transfer {
        id: ctx.new_id(),
        kind: account_of(cost.kind),
        debit: Holder::House(House::Revenue),
        credit: Holder::Fan(claim.user),
        amount: Amount::new(cost.amount).map_err(|error| StoreError::defect("return a cost", error))?,
        reason: RETURN.to_owned(),
        source: TransferSource::of("claim_return", claim.id),
        at: ctx.now(),
    };
    match crate::balances::transfer(tx, &due)? {
        TransferOutcome::Now { .. } | TransferOutcome::Before => Ok(true),
        TransferOutcome::NoFan => Ok(false),
        TransferOutcome::Insufficient { .. } => {
            Err(StoreError::defect("return a cost", "the service has no limit"))
        }
    }
}
