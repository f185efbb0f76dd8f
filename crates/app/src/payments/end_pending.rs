//! Ends what is not paid.

use crate::packs::PackBook;
use crate::payments::{ChargeState, Locked, Payable};
use crate::store::{Command, SettlementTx};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Ctx, Outcome};

/// How something unpaid ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// It has expired. Ignored before its expiry.
    Expired,
    /// The provider rejects it.
    Cancelled,
}

/// Ends something that waits for its payment; returns whether this command ended it.
pub struct EndPending {
    /// What ends.
    pub payable: Payable,
    /// How it ends.
    pub how: CloseReason,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
}

impl Command for EndPending {
    const NAME: &'static str = "end_pending_purchase";
    type Ports = dyn SettlementTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SettlementTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        let Some(mut locked) = Locked::lock(tx, self.payable)? else { return Ok(false) };
        let Some(mut payment) = tx.payment(self.payable)? else { return Ok(false) };
        let charge = locked.charge();
        let is_over = charge.expires_at.is_none_or(|at| at.is_over(ctx.now()));
        if charge.state != ChargeState::Pending || (self.how == CloseReason::Expired && !is_over) {
            return Ok(false);
        }
        match self.how {
            CloseReason::Expired => locked.expire(tx, ctx, &mut payment, &self.book)?,
            CloseReason::Cancelled => locked.cancel(tx, ctx, &mut payment, &self.book)?,
        }
        Ok(true)
    }
}
