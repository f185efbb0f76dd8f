//! The step of wheels in the erasure of an account.

use crate::account_data::ErasureStep;
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, StoreError, UserId};

pub(crate) const ERASURE: &[ErasureStep] = &[spins];

/// A seed is a text that the fan has written.
fn spins(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, _limit: u32) -> Result<u32, StoreError> {
    tx.erase_spins(user)?;
    Ok(0)
}
