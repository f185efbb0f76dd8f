//! The step of push messages in the erasure of an account.

use crate::account_data::ErasureStep;
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, StoreError, UserId};

pub(crate) const ERASURE: &[ErasureStep] = &[subscriptions];

/// Most are gone with the sessions. An account has few.
fn subscriptions(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, _limit: u32) -> Result<u32, StoreError> {
    tx.erase_push(user)?;
    Ok(0)
}
