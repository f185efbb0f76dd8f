//! Claims that were not used in time.

use crate::App;
use crate::platform::Job;
use crate::rewards::publish_claim;
use crate::store::{ClaimTx, Command, into_infallible};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, StoreError, num};
use terrace_rewards::ClaimStatus;

/// Period of the job.
const EVERY: Duration = Duration::from_mins(1);
/// Maximum number of claims in one transaction.
const PORTION: u32 = 200;

/// The job that records which claims have expired.
pub(crate) fn job() -> Job {
    Job::new("expire-claims", EVERY, |app| async move {
        let expired = expire_claims(&app).await?;
        if expired > 0 {
            log::info!("{expired} claims of rewards have expired");
        }
        Ok(())
    })
}

/// Records all claims whose time is over as expired; returns how many.
pub async fn expire_claims(app: &App) -> Result<u64, StoreError> {
    let mut all = 0;
    loop {
        let expired = into_infallible(app.execute_background(ExpireClaims).await)?;
        all += expired;
        if expired < u64::from(PORTION) {
            return Ok(all);
        }
    }
}

struct ExpireClaims;

impl Command for ExpireClaims {
    const NAME: &'static str = "expire_claims";
    type Ports = dyn ClaimTx;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ClaimTx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        let expired = tx.expire_claims(ctx.now(), PORTION)?;
        for (claim, user) in &expired {
            publish_claim(tx, *user, *claim, ClaimStatus::Expired, ctx.now())?;
        }
        Ok(num::to_u64(expired.len()))
    }
}
