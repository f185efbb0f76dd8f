//! Compares derived data with its source.

use std::convert::Infallible;
use terrace_kernel::{Outcome, Timestamp};
use terrace_store::{Audit, CounterCheck, Query};

/// Compares every counter with the rows that it counts. Reads whole tables.
#[derive(Debug, Clone)]
pub struct Verify;

impl Query for Verify {
    const NAME: &'static str = "verify";
    type Ports = dyn Audit;
    type Output = Vec<CounterCheck>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Audit, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.audit_counters()?)
    }
}
