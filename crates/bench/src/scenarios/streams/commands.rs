//! What commands pay for being told of: two services on two databases that were the same, the one without a reader,
//! the other one with some.

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

/// Of the commands without a reader.
const UNTOLD: Target = Target::AtLeast(0.9);
/// Of their time.
const BESIDE: Target = Target::AtMost(2.0);
/// Commands a second, while many read.
const PACE: f64 = 100.0;
/// How many times fewer readers there are than in the largest crowd.
const SHARE: usize = 5;

/// A service, and the database that it has.
struct Side {
    world: World,
    terrace: Terrace,
    /// How many runs there were, so that no two posts are alike.
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
    let (mut told, mut untold) = (side(world)?, side(copy)?);
    let mut readers = Readers::start(told.terrace.address(), PATH)?;
    let figures = [
        throughput(plan, (&mut told, &mut untold), &mut readers)?,
        beside_many(plan, (&mut told, &mut untold), &mut readers)?,
    ];
    Ok(figures.into())
}

/// As many commands as there can be: for nobody, and for one reader.
fn throughput(plan: &Plan, (told, untold): (&mut Side, &mut Side), readers: &mut Readers) -> Result<Figure> {
    log::info!("posts, for nobody and for a reader");
    readers.open(1)?;
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..runs(plan) {
        alone.push(untold.post(plan, None)?);
        ours.push(told.post(plan, None)?);
    }
    readers.settle(ours.iter().map(|sample| sample.answered).sum())?;
    let what = format!("POST {}, {FANS} connections, told to a reader", posts::PATH);
    Ok(Figure::plain(what, told.world.kind().name(), Quantity::new(rate(&ours), "posts/s"))
        .against("told to nobody", rate(&alone), UNTOLD)
        .with(json!({"told": shown(&ours), "untold": shown(&alone)})))
}

/// A pace that is easily kept: for nobody, and for many.
fn beside_many(plan: &Plan, (told, untold): (&mut Side, &mut Side), readers: &mut Readers) -> Result<Figure> {
    let many = plan.crowds.last().context("somebody reads")? / SHARE;
    log::info!("{PACE} posts a second, for nobody and for {many} readers");
    // Those who were told something before are others: everybody begins here.
    *readers = Readers::of(told.terrace.address(), PATH, many)?;
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..runs(plan) {
        alone.push(untold.post(plan, Some(PACE))?);
        ours.push(told.post(plan, Some(PACE))?);
    }
    readers.settle(ours.iter().map(|sample| sample.answered).sum())?;
    let what = format!("POST {}, {PACE} posts/s told to {many} readers, p99", posts::PATH);
    // There are few in one run: all together.
    Ok(Figure::plain(what, told.world.kind().name(), Quantity::new(slow(&ours), "ms"))
        .against("told to nobody", slow(&alone), BESIDE)
        .with(json!({"told": shown(&ours), "untold": shown(&alone)})))
}

fn slow(samples: &[Sample]) -> f64 {
    let mut all = Histogram::default();
    for sample in samples {
        all.merge(&sample.latency);
    }
    millis(all.percentile(990))
}
