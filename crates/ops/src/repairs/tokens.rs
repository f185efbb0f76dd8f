//! Repair of the tokens of collectibles, from the reports of the minter.

use crate::maintenance::{Category, Derived, Looked, Page, Portion, Settled, Task, WalkReport};
use std::convert::Infallible;
use terrace_kernel::Ctx;
use terrace_packs::{OwnedId, reported};
use terrace_store::OpsTx;

/// Applies reports again whose effect is missing.
pub(crate) fn minted_tokens() -> Task {
    let about = "Gives collectibles the tokens that the minter reported, and takes those that were burned";
    Task::new("repair-minted-tokens", Category::Repair, about, |work| async move { work.walk(Tokens).await })
}

#[derive(Clone)]
struct Tokens;

impl Derived for Tokens {
    const NAME: &'static str = "repair_minted_tokens";
    const PAGE: u32 = 500;
    /// A refund locks the copies of a pack in no order.
    const HELD: usize = 1;
    type Key = OwnedId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, limit, .. }: Page<'_, OwnedId>) -> Looked<OwnedId> {
        Ok(Portion::of_suspects(tx.tokens_behind(after, limit)?))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, copies: &[OwnedId]) -> Settled {
        let mut report = WalkReport::default();
        for copy in copies {
            let Some(before) = tx.lock_token(*copy)? else { continue };
            let mut state = before.clone();
            for said in tx.reports_of(*copy)? {
                if let Ok(Some(next)) = reported(&state, said.status, said.token.as_ref()) {
                    state = next;
                }
            }
            if state != before {
                tx.put_token(*copy, &state)?;
                report.wrote("tokens", 1);
            }
        }
        Ok(report)
    }
}
