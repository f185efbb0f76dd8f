//! Erases what a deleted account left behind. Nothing of it is shown in the meantime.

use crate::account_data::ErasureStep;
use crate::platform::{PORTION, Progress};
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, Event, StoreError, UserId, num};

/// The step of accounts.
pub(crate) const ERASURE: &[ErasureStep] = &[sessions];

/// Removes one portion of the account's data.
pub(crate) fn erase_account(
    tx: &mut dyn ErasureTx,
    ctx: &mut Ctx,
    event: &Event,
) -> Result<Progress, StoreError> {
    let user = UserId::from_uuid(event.what.subject);
    Ok(if erase_left(tx, ctx, user)? { Progress::Done } else { Progress::More })
}

/// Removes one portion of a deleted account's data; returns whether nothing is left.
pub fn erase_left(tx: &mut dyn ErasureTx, ctx: &mut Ctx, user: UserId) -> Result<bool, StoreError> {
    let mut left = PORTION;
    for step in crate::ERASURE.iter().copied().flatten() {
        left = left.saturating_sub(step(tx, ctx, user, left)?);
        // If the limit is reached, there may be more rows of this kind.
        if left == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sessions(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    tx.remove_sessions_of(user, limit).map(num::to_u32)
}
