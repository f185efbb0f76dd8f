//! Ends what is not paid.

use crate::packs::PackBook;
use crate::payments::{ChargeState, Locked, Payable, can_own};
use crate::store::{Command, PaymentTx};
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
    type Ports = dyn PaymentTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        // The end of an order changes the fan's cart and balances; the fan's account is locked before them.
        let can_own = match (self.payable, tx.charge(self.payable)?) {
            (Payable::Order(_), Some(charge)) => can_own(tx, charge.user)?,
            (Payable::Order(_) | Payable::Purchase(_), _) => true,
        };
        let Some(mut locked) = Locked::lock(tx, self.payable)? else { return Ok(false) };
        let Some(mut payment) = tx.payment(self.payable)? else { return Ok(false) };
        let charge = locked.charge();
        let is_over = charge.expires_at.is_none_or(|at| at.is_over(ctx.now()));
        if charge.state != ChargeState::Pending || (self.how == CloseReason::Expired && !is_over) {
            return Ok(false);
        }
        match self.how {
            CloseReason::Expired => locked.expire(tx, ctx, &mut payment, &self.book, can_own)?,
            CloseReason::Cancelled => locked.cancel(tx, ctx, &mut payment, &self.book, can_own)?,
        }
        Ok(true)
    }
}
