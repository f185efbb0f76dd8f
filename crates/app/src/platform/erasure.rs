//! The step of the platform in the erasure of an account.

use crate::account_data::ErasureStep;
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, StoreError, UserId, num};

pub(crate) const ERASURE: &[ErasureStep] = &[keys];

fn keys(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    tx.remove_keys_of(user, limit).map(num::to_u32)
}
