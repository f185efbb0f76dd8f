//! What an operator wants to know of the work that goes on by itself.

use crate::demo::DEMO_FAN;
use crate::minting::MintingStanding;
use crate::schedule::CONSUMERS;
use crate::store::JobRecord;
use crate::store::Query;
use crate::store::ReadTx;
use std::convert::Infallible;
use terrace_identity::Username;
use terrace_kernel::{Outcome, Position, Timestamp};

/// Looks at what goes on by itself.
#[derive(Debug, Clone)]
pub struct Overview;

/// What goes on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewOf {
    /// The newest public event.
    pub head: Position,
    /// Each durable consumer, and the last event that it has dealt with.
    pub consumers: Vec<(&'static str, Position)>,
    /// What is stored of the jobs.
    pub jobs: Vec<JobRecord>,
    /// Whether the account is there whose password is published with the demo content.
    pub demo_fan: bool,
    /// What waits for the minter.
    pub minting: MintingStanding,
}

impl Query for Overview {
    const NAME: &'static str = "overview";
    type Output = OverviewOf;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<OverviewOf, Infallible> {
        let head = tx.head()?;
        let mut consumers = Vec::new();
        for consumer in CONSUMERS {
            consumers.push((consumer.name, tx.consumer_position(consumer.name)?));
        }
        let jobs = tx.jobs()?;
        let demo_fan = tx.credentials_by_key(&Username::key_of(DEMO_FAN))?.is_some();
        let minting = tx.minting_standing()?;
        Ok(OverviewOf { head, consumers, jobs, demo_fan, minting })
    }
}
