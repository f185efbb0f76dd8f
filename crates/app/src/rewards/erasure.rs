//! The step of rewards in the erasure of an account.

use crate::account_data::ErasureStep;
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, StoreError, UserId};

pub(crate) const ERASURE: &[ErasureStep] = &[codes];

/// Claims stay, because the stock and the journal count them; their codes go, and can no longer be used.
fn codes(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, _limit: u32) -> Result<u32, StoreError> {
    tx.erase_claims(user)?;
    Ok(0)
}
