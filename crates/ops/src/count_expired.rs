//! Counts what a sweep would remove.

use std::convert::Infallible;
use terrace_kernel::{Outcome, Timestamp};
use terrace_store::{Query, Retention, SweepRead};

/// Counts the rows of a kind that expired before an instant.
pub(crate) struct CountExpired {
    pub(crate) what: Retention,
    pub(crate) before: Timestamp,
}

impl Query for CountExpired {
    const NAME: &'static str = "count_past_its_time";
    type Ports = dyn SweepRead;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SweepRead, _now: Timestamp) -> Outcome<u64, Infallible> {
        Ok(tx.past_its_time(self.what, self.before)?)
    }
}
