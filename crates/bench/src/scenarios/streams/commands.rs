//! The cost that publishing adds to commands: two services on two copies of a database, one without a reader, the other
//! with some.

use super::{PATH, runs};
use crate::client::{Load, Sample, drive};
use crate::histogram::{Histogram, millis};
use crate::readers::Readers;
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::posts::{self, posting};
use crate::scenarios::{Plan, for_each_fan, rate, shown};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Context, Result};
use serde_json::json;

/// The minimum ratio of the rate of commands to that without a reader.
const UNOBSERVED: Target = Target::AtLeast(0.9);
/// The maximum ratio of their latency.
const BESIDE: Target = Target::AtMost(2.0);
/// Commands per second, with many readers.
const PACE: f64 = 100.0;
/// The number of readers, as a fraction of the largest crowd.
const SHARE: usize = 5;

/// A service and its database.
struct Side {
    world: World,
    terrace: Terrace,
    /// The number of runs so far, so that no two posts are equal.
    series: u64,
}

impl Side {
    fn post(&mut self, plan: &Plan, pace: Option<f64>) -> Result<Sample> {
        let fans = u64::try_from(FANS)?;
        let series = self.series * fans;
        self.series += 1;
        let scripts = for_each_fan(|fan| Ok(posting(self.world.cookie(fan)?, series + u64::try_from(fan)?)))?;
        let load = plan.load(self.terrace.served(), &[201]);
        drive(&Load { pace, ..load }, scripts)
    }
}

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "streams_told", plan.small)?;
    let copy = ground.copy(&world, "streams_untold")?;
    let side = |world: World| Ok::<_, anyhow::Error>(Side { terrace: world.serve()?, world, series: 0 });
    let (mut observed, mut unobserved) = (side(world)?, side(copy)?);
    let mut readers = Readers::start(observed.terrace.address(), PATH)?;
    let figures = [
        throughput(plan, (&mut observed, &mut unobserved), &mut readers)?,
        beside_many(plan, (&mut observed, &mut unobserved), &mut readers)?,
    ];
    Ok(figures.into())
}

/// The maximum rate of commands, without readers and with one.
fn throughput(
    plan: &Plan,
    (observed, unobserved): (&mut Side, &mut Side),
    readers: &mut Readers,
) -> Result<Figure> {
    log::info!("posts, without a reader and with one");
    readers.open(1)?;
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..runs(plan) {
        alone.push(unobserved.post(plan, None)?);
        ours.push(observed.post(plan, None)?);
    }
    readers.settle(ours.iter().map(|sample| sample.answered).sum())?;
    let what = format!("POST {}, {FANS} connections, published to a reader", posts::PATH);
    Ok(Figure::plain(what, observed.world.kind().name(), Quantity::new(rate(&ours), "posts/s"))
        .against("without readers", rate(&alone), UNOBSERVED)
        .with(json!({"published": shown(&ours), "unobserved": shown(&alone)})))
}

/// A rate that is easily sustained, without readers and with many.
fn beside_many(
    plan: &Plan,
    (observed, unobserved): (&mut Side, &mut Side),
    readers: &mut Readers,
) -> Result<Figure> {
    let many = plan.crowds.last().context("a crowd of readers")? / SHARE;
    log::info!("{PACE} posts a second, without readers and with {many}");
    // Earlier readers have missed events, so all readers start anew here.
    *readers = Readers::of(observed.terrace.address(), PATH, many)?;
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..runs(plan) {
        alone.push(unobserved.post(plan, Some(PACE))?);
        ours.push(observed.post(plan, Some(PACE))?);
    }
    readers.settle(ours.iter().map(|sample| sample.answered).sum())?;
    let what = format!("POST {}, {PACE} posts/s published to {many} readers, p99", posts::PATH);
    // A single run has few samples, so all runs are merged.
    Ok(Figure::plain(what, observed.world.kind().name(), Quantity::new(slow(&ours), "ms"))
        .against("without readers", slow(&alone), BESIDE)
        .with(json!({"published": shown(&ours), "unobserved": shown(&alone)})))
}

fn slow(samples: &[Sample]) -> f64 {
    let mut all = Histogram::default();
    for sample in samples {
        all.merge(&sample.latency);
    }
    millis(all.percentile(990))
}
