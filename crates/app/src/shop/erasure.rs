//! The steps of the shop in the erasure of an account.

use crate::account_data::ErasureStep;
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, StoreError, UserId};

pub(crate) const ERASURE: &[ErasureStep] = &[cart, addresses];

fn cart(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, _limit: u32) -> Result<u32, StoreError> {
    tx.remove_cart(user)?;
    Ok(0)
}

/// Orders stay, as records of payments; where they were sent does not.
fn addresses(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, _limit: u32) -> Result<u32, StoreError> {
    tx.erase_addresses(user)?;
    Ok(0)
}
