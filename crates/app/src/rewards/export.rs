//! The list of rewards in the export of an account.

use crate::store::ExportReadTx;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_rewards::{Claim, ClaimFilter, CodeId, SealedCode};

/// A claim with its encrypted code.
#[derive(Debug, Clone)]
pub struct SealedClaim {
    pub claim: Claim,
    pub code: Option<(CodeId, SealedCode)>,
}

/// Claims, newest first.
pub fn claims(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<SealedClaim, TimeKey>, StoreError> {
    // Without a filter for the state the time has no effect.
    let filter = ClaimFilter { user: Some(user), reward: None, status: None, now: Timestamp::from_micros(0) };
    let page = tx.claims(&filter, Limit::MAX, after)?;
    let ids: Vec<_> = page.items.iter().map(|claim| claim.id).collect();
    let mut codes = tx.codes_of(&ids)?;
    let sealed = |claim: Claim| SealedClaim { code: codes.remove(&claim.id), claim };
    Ok(Page { items: page.items.into_iter().map(sealed).collect(), next: page.next })
}
