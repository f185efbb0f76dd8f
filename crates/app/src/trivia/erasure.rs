//! The step of trivia in the erasure of an account.

use crate::account_data::ErasureStep;
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, StoreError, UserId};

pub(crate) const ERASURE: &[ErasureStep] = &[rounds];

/// What rounds awarded stays in the ledger.
fn rounds(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, _limit: u32) -> Result<u32, StoreError> {
    tx.erase_rounds(user)?;
    Ok(0)
}
