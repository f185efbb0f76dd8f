//! Maintenance of millions of records of points: missing records are added and wrong totals repaired, compared with one
//! SQL statement that does the same. Measures memory, the length of transactions, the effect on readers, and the time
//! to verify all data.

use super::{Inputs, Plan, for_each_fan};
use crate::client::{Load, Sample, Script, drive, in_turn};
use crate::histogram::{Histogram, millis};
use crate::http;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::rows::maintain as rows;
use crate::server::{Chore, Terrace};
use crate::world::{Ground, Kind, World};
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use std::thread;

/// The minimum share of the speed of one statement.
const SPEED: Target = Target::AtLeast(0.5);
/// The maximum ratio to a bound.
const WITHIN: Target = Target::AtMost(1.0);
/// The maximum ratio of the 99th percentile of reads during maintenance to that without.
const BESIDE: Target = Target::AtMost(2.0);
/// The memory bound of the maintenance process, in MiB (200 MB).
const MEMORY: f64 = 190.7;
/// The bound on the longest transaction, in milliseconds.
const BATCH: f64 = 200.0;
/// The bound on verifying 10,000,000 records on SQLite, in seconds.
const VERIFY: f64 = 60.0;
/// Requests of readers per second, sent whether or not responses arrive.
const PACE: f64 = 200.0;
const BOARD: &str = "/api/leaderboard?limit=100";
const FEED: &str = "/api/locker-room?limit=25";

/// The measured tasks, in the order in which they run.
const TASKS: [&str; 2] = ["repair-points", "backfill-quest-points"];

pub(super) fn run(ground: &Ground, plan: &Plan, inputs: &Inputs) -> Result<Vec<Figure>> {
    let records = inputs.records.unwrap_or(plan.records);
    let mut figures = Vec::new();
    for &kind in ground.kinds() {
        log::info!("maintenance of {records} records on {}", kind.name());
        figures.extend(on_database(ground, plan, kind, records)?);
    }
    Ok(figures)
}

fn on_database(ground: &Ground, plan: &Plan, kind: Kind, records: u64) -> Result<Vec<Figure>> {
    let stock = Stock::make(ground, plan, kind, records)?;
    let raw = Raw::measure(ground, &stock)?;
    let alone = ground.copy(&stock.world, "maintained_alone")?;
    let chores = one_after_the_other(|task| {
        log::info!("{task}");
        alone.watch(&["run", task, "--only"])
    })?;
    stock.check(&alone, raw.sum)?;
    log::info!("verify");
    let verified = alone.watch(&["verify"])?;
    ground.discard(&alone)?;
    let live = TaskUnderLoad::measure(plan, &stock)?;
    stock.check(&stock.world, raw.sum)?;
    let mut figures = Vec::new();
    for (((task, chore), raw), live) in TASKS.into_iter().zip(chores).zip(raw.seconds).zip(&live) {
        figures.extend(stock.figures(task, &chore, raw, live)?);
    }
    figures.extend(stock.verified(&verified));
    Ok(figures)
}

/// Runs each task in turn; stops at the first failure.
fn one_after_the_other<T>(run: impl FnMut(&'static str) -> Result<T>) -> Result<Vec<T>> {
    TASKS.into_iter().map(run).collect()
}

/// A database with many records, of which some are missing, and with totals of which some are wrong.
struct Stock {
    world: World,
    /// The number of bulk fans, with ten records each.
    bulk: u64,
    /// The number of all fans with points.
    fans: u64,
}

impl Stock {
    fn make(ground: &Ground, plan: &Plan, kind: Kind, records: u64) -> Result<Self> {
        let world = ground.world(kind, "maintained", plan.small)?;
        let regulars = u64::try_from(world.fans.len())?;
        let bulk = records / rows::RECORDS;
        let fans = bulk + regulars;
        // Marked as done, so that each of the two tasks can be run and measured alone.
        world.watch(&["run", "repair-quest-runs", "turn-seasons"])?;
        log::info!("{}: {bulk} fans with {} records each", kind.name(), rows::RECORDS);
        world.fill_boards(fans)?;
        world.fill_maintained(bulk)?;
        // Rows that were written as statements are not in the search yet.
        world.watch(&["run", "repair-search", "--only"])?;
        let stock = Self { world, bulk, fans };
        let there = stock.world.count_records()?;
        ensure!(there + rows::lacking(bulk) == stock.records(), "{there} of {} records", stock.records());
        Ok(stock)
    }

    /// The number of records once none is missing.
    const fn records(&self) -> u64 {
        // Signed-in fans have one record each.
        self.bulk * rows::RECORDS + (self.fans - self.bulk)
    }

    /// Fails if maintenance missed something: `sum` is the sum of the totals after the single statement.
    fn check(&self, world: &World, sum: u64) -> Result<()> {
        let there = world.count_records()?;
        ensure!(there == self.records(), "{there} of {} records are there afterwards", self.records());
        let (total, wanted) =
            (world.number(rows::SUM_OF_TOTALS)?, sum + rows::POINTS * rows::lacking(self.bulk));
        ensure!(total == wanted, "totals come to {total} and not to {wanted}");
        Ok(())
    }

    fn figures(&self, task: &str, alone: &Chore, raw: f64, live: &TaskUnderLoad) -> Result<Vec<Figure>> {
        let database = self.world.kind().name();
        let speed = |seconds: f64| float(self.records()) / seconds;
        let longest = longest_batch(&alone.said)?.max(longest_batch(&live.chore.said)?);
        let what = format!("{task}, {} records", self.records());
        let details = json!({
            "fans": self.fans,
            "lacking": rows::lacking(self.bulk),
            "wrong": rows::wrong(self.bulk),
            "alone": details_of(alone)?,
            "beside": details_of(&live.chore)?,
            "rawSeconds": raw,
        });
        let plain = |of: &str, value, unit| {
            Figure::plain(format!("{what}: {of}"), database, Quantity::new(value, unit))
        };
        let peak = alone.peak.max(live.chore.peak);
        Ok(vec![
            plain("speed", speed(alone.took.as_secs_f64()), "records/s")
                .against("one statement", speed(raw), SPEED)
                .with(details),
            plain("memory at its most", peak, "MiB").against("bound", MEMORY, WITHIN),
            plain("its longest transaction", longest, "ms").against("bound", BATCH, WITHIN),
            plain(&format!("reads beside it, {PACE:.0} a second, p99"), slow(&live.during), "ms")
                .against("before it", slow(&live.before), BESIDE)
                .with(json!({"before": spread(&live.before), "beside": spread(&live.during)})),
        ])
    }

    /// The bound is for SQLite and 10,000,000 records; with fewer records it is proportionally lower.
    fn verified(&self, chore: &Chore) -> [Figure; 2] {
        let database = self.world.kind().name();
        let what = format!("verify, {} records", self.records());
        let took = Figure::plain(what.clone(), database, Quantity::new(chore.took.as_secs_f64(), "s"))
            .with(json!({"said": chore.said}));
        let bound = VERIFY * (float(self.records()) / 1e7).max(LEAST);
        let target = if self.world.kind() == Kind::Sqlite { WITHIN } else { Target::Unset };
        let memory =
            Figure::plain(format!("{what}: memory at its most"), database, Quantity::new(chore.peak, "MiB"));
        [took.against("bound", bound, target), memory]
    }
}

/// The minimum share of the bound, however few records there are: a process has to start.
const LEAST: f64 = 0.1;

/// The times of the single statement for each task.
struct Raw {
    seconds: [f64; 2],
    /// The sum of the totals before the missing records are added, which the statement does not count.
    sum: u64,
}

impl Raw {
    fn measure(ground: &Ground, stock: &Stock) -> Result<Self> {
        log::info!("one statement for each task");
        let copy = ground.copy(&stock.world, "maintained_raw")?;
        let repaired = copy.time(rows::REPAIR)?.as_secs_f64();
        let sum = copy.number(rows::SUM_OF_TOTALS)?;
        let filled = copy.time(&copy.backfill())?.as_secs_f64();
        let there = copy.count_records()?;
        ensure!(there == stock.records(), "one statement makes {there} of {} records", stock.records());
        ground.discard(&copy)?;
        Ok(Self { seconds: [repaired, filled], sum })
    }
}

/// A task that ran while a server handled requests.
struct TaskUnderLoad {
    chore: Chore,
    before: Histogram,
    during: Histogram,
}

impl TaskUnderLoad {
    /// Each task in turn, with reads before it and while it runs.
    fn measure(plan: &Plan, stock: &Stock) -> Result<Vec<Self>> {
        let terrace = stock.world.serve()?;
        terrace.until_read("ranks")?;
        let measured = one_after_the_other(|task| {
            log::info!("{task} beside readers");
            Self::of(plan, &terrace, &stock.world, task)
        })?;
        terrace.stop()?;
        Ok(measured)
    }

    fn of(plan: &Plan, terrace: &Terrace, world: &World, task: &str) -> Result<Self> {
        let load = Load { pace: Some(PACE), ..plan.load(terrace.served(), &[200]) };
        let read = || drive(&load, reading()?);
        let before: Vec<Sample> = (0..plan.runs).map(|_| read()).collect::<Result<_>>()?;
        let (during, chore) = thread::scope(|scope| {
            let chore = scope.spawn(|| world.watch(&["run", task, "--only"]));
            let mut samples = Vec::new();
            let reads = loop {
                match read() {
                    // A sample that ended after the task measured partly without it.
                    Ok(sample) if !chore.is_finished() || samples.is_empty() => samples.push(sample),
                    Ok(_) => break Ok(samples),
                    Err(error) => break Err(error),
                }
                if chore.is_finished() {
                    break Ok(samples);
                }
            };
            (reads, chore.join())
        });
        let chore = chore.map_err(|_| anyhow!("the thread of {task} panicked"))??;
        Ok(Self { chore, before: merged(&before), during: merged(&during?) })
    }
}

/// The first page of the board and the first page of the feed, alternating.
fn reading() -> Result<Vec<Script>> {
    for_each_fan(|_| Ok(in_turn([BOARD, FEED].map(|target| http::request("GET", target, &[], None)).into())))
}

fn merged(samples: &[Sample]) -> Histogram {
    let mut all = Histogram::default();
    for sample in samples {
        all.merge(&sample.latency);
    }
    all
}

fn slow(latency: &Histogram) -> f64 {
    millis(latency.percentile(990))
}

fn spread(latency: &Histogram) -> Value {
    json!({
        "requests": latency.count(),
        "p50Millis": millis(latency.percentile(500)),
        "p99Millis": slow(latency),
        "maxMillis": millis(latency.max()),
    })
}

fn details_of(chore: &Chore) -> Result<Value> {
    Ok(json!({
        "seconds": chore.took.as_secs_f64(),
        "peakMebibytes": chore.peak,
        "longestBatchMillis": longest_batch(&chore.said)?,
        "said": chore.said,
    }))
}

/// The duration of the longest batch in milliseconds, as reported by the last task.
pub(super) fn longest_batch(said: &str) -> Result<f64> {
    let (_, rest) = said.rsplit_once("longest batch ").with_context(|| format!("no batch: {said}"))?;
    let (number, _) = rest.split_once(" ms").with_context(|| format!("no time: {said}"))?;
    Ok(number.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_batch_is_read_from_what_a_task_says() {
        let said = "seasons    no rows (0.1 s, longest batch 2 ms)\nrepair-points  rows: 3 (1.0 s, longest batch 71 ms)\n";
        assert!((longest_batch(said).unwrap() - 71.0).abs() < 1e-9);
        assert!(longest_batch("repair-points  no rows (1.0 s)\n").is_err());
    }
}
