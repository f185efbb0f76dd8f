//! Overview of background work for operators.

use crate::demo::DEMO_FAN;
use crate::minting::MintingStanding;
use crate::schedule::CONSUMERS;
use crate::store::{JobRecord, OverviewReadTx, Query};
use std::convert::Infallible;
use terrace_identity::{PushStanding, Username};
use terrace_kernel::{Outcome, Position, Timestamp};
use terrace_ledger::WalletStanding;

/// Reads the state of background work.
#[derive(Debug, Clone)]
pub struct Overview;

/// State of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewOf {
    /// Position of the newest public event.
    pub head: Position,
    /// Each durable consumer with the last event that it has processed.
    pub consumers: Vec<(&'static str, Position)>,
    /// Records of the jobs.
    pub jobs: Vec<JobRecord>,
    /// Whether the demo account exists, whose password is published with the demo content.
    pub demo_fan: bool,
    /// State of the minting outbox.
    pub minting: MintingStanding,
    /// Wallets that are not ready.
    pub wallets: WalletStanding,
    /// Push messages that are due.
    pub push: PushStanding,
}

impl Query for Overview {
    const NAME: &'static str = "overview";
    type Ports = dyn OverviewReadTx;
    type Output = OverviewOf;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OverviewReadTx, now: Timestamp) -> Outcome<OverviewOf, Infallible> {
        let head = tx.head()?;
        let mut consumers = Vec::new();
        for consumer in CONSUMERS {
            consumers.push((consumer.name, tx.consumer_position(consumer.name)?));
        }
        let jobs = tx.jobs()?;
        let demo_fan = tx.credentials_by_key(&Username::key_of(DEMO_FAN))?.is_some();
        let minting = tx.minting_standing()?;
        let wallets = tx.wallet_standing()?;
        let push = tx.push_standing(now)?;
        Ok(OverviewOf { head, consumers, jobs, demo_fan, minting, wallets, push })
    }
}
