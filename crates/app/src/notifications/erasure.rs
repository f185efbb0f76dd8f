//! The step of notifications in the erasure of an account.

use crate::account_data::ErasureStep;
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, StoreError, UserId};

pub(crate) const ERASURE: &[ErasureStep] = &[notifications];

fn notifications(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    tx.erase_notifications(user, limit)
}
