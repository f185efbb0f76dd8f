//! The maximum rate of deliveries: of the service, of nginx with nchan, and of a bare loop. Readers, publishers and the
//! size of events are the same.

use super::publish::{Publisher, Reactions};
use super::{PATH, runs};
use crate::bare_send::BareSend;
use crate::nchan::Nchan;
use crate::numbers::{float, median, whole};
use crate::process;
use crate::readers::Readers;
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::Plan;
use crate::world::{Ground, Kind};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};
use terrace_kernel::num;

/// The minimum ratio to the rate of nchan, for the largest crowd.
const OF_ITS_RATE: Target = Target::AtLeast(2.0);
/// The maximum ratio to the CPU time of nchan.
const OF_ITS_COST: Target = Target::AtMost(0.5);
/// The maximum number of deliveries in transit, unless a single event exceeds it.
const UNDER_WAY: u64 = 320_000;
/// The minimum and maximum number of events in transit: how far a reader may be behind.
const AHEAD: (u64, u64) = (32, 512);
/// The polling interval for the progress of readers, per thousand readers.
const ASK: Duration = Duration::from_millis(1);

/// The result of one server with one crowd.
pub(super) struct Run {
    crowd: usize,
    /// Deliveries per second, of each run.
    rates: Vec<f64>,
    /// CPU seconds per million deliveries.
    costs: Vec<f64>,
    /// The same for the readers' process.
    read_costs: Vec<f64>,
    /// The size of an event in bytes.
    size: f64,
}

impl Run {
    fn rate(&self) -> f64 {
        median(self.rates.iter().copied())
    }

    pub(super) fn cost(&self) -> f64 {
        median(self.costs.iter().copied())
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "deliveriesPerSecond": self.rates,
            "cpuSecondsPerMillion": self.costs,
            "readersCpuSecondsPerMillion": self.read_costs,
            "bytesPerEvent": self.size,
        })
    }
}

/// The name of a server, and its results for each crowd.
struct Theirs {
    name: String,
    runs: Vec<Run>,
}

pub(super) fn run(ground: &Ground, plan: &Plan) -> Result<Vec<Figure>> {
    let world = ground.world(Kind::Sqlite, "streams", plan.small)?;
    world.cheer()?;
    let terrace = world.serve()?;
    let ours = for_crowds(plan, "ours", &mut Reactions::start(&world, &terrace)?)?;
    terrace.stop()?;
    let size = median(ours.iter().map(|run| run.size));
    let bytes = usize::try_from(whole(size.round()))?;
    let theirs = nchan(ground, plan, bytes)?;
    let bare = for_crowds(plan, "a bare loop", &mut BareSend::start(bytes)?)?;
    let mut figures = Vec::new();
    for (place, (run, bare)) in ours.iter().zip(&bare).enumerate() {
        let is_largest = place + 1 == plan.crowds.len();
        figures.extend(shown(run, bare, &at(&theirs, place), is_largest));
    }
    Ok(figures)
}

/// nchan with one worker and with two; none if it is not installed, which is logged.
fn nchan(ground: &Ground, plan: &Plan, size: usize) -> Result<Vec<Theirs>> {
    let Some(installed) = Nchan::installed()? else {
        log::info!("nginx with nchan is not installed: there is no comparison with it");
        return Ok(Vec::new());
    };
    let mut theirs = Vec::new();
    for workers in [1, 2] {
        let mut nchan = Nchan::start(&installed, ground.folder(), workers, size)?;
        let plural = if nchan.workers == 1 { "" } else { "s" };
        let name = format!("{} with nchan, {workers} worker{plural}", installed.version);
        let runs = for_crowds(plan, &name, &mut nchan)?;
        theirs.push(Theirs { name, runs });
    }
    Ok(theirs)
}

fn at(theirs: &[Theirs], place: usize) -> Vec<(String, &Run)> {
    theirs.iter().filter_map(|theirs| Some((theirs.name.clone(), theirs.runs.get(place)?))).collect()
}

fn for_crowds(plan: &Plan, name: &str, server: &mut impl Publisher) -> Result<Vec<Run>> {
    plan.crowds
        .iter()
        .map(|crowd| {
            log::info!("{crowd} readers: {name}");
            measure(plan, *crowd, server).with_context(|| format!("{crowd} readers of {name}"))
        })
        .collect()
}

/// Publishes to one crowd as fast as it reads, several times, and checks that every reader received everything.
pub(super) fn measure(plan: &Plan, crowd: usize, server: &mut impl Publisher) -> Result<Run> {
    let pids = server.pids()?;
    // The previous crowd may still be disconnecting.
    process::until_quiet(&pids)?;
    let mut readers = server.readers(crowd)?;
    let mut progress = Progress { published: 0, ahead: ahead(crowd), crowd: u64::try_from(crowd)? };
    progress.keep_up(server, &mut readers, plan.warm_up)?;
    let (mut rates, mut costs, mut read_costs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs(plan) {
        let (before, from) = (readers.look()?, Instant::now());
        let spent = [process::cpu_of(&pids)?, process::cpu(readers.pid())?];
        progress.keep_up(server, &mut readers, plan.duration)?;
        let (after, elapsed) = (readers.look()?, from.elapsed());
        let now = [process::cpu_of(&pids)?, process::cpu(readers.pid())?];
        let deliveries = float(after.events - before.events).max(1.0);
        rates.push(deliveries / elapsed.as_secs_f64());
        for ((list, now), spent) in [&mut costs, &mut read_costs].into_iter().zip(now).zip(spent) {
            list.push(now.saturating_sub(spent).as_secs_f64() * 1e6 / deliveries);
        }
    }
    let all = readers.settle(progress.published)?;
    let size = float(all.bytes) / float(all.events.max(1));
    Ok(Run { crowd, rates, costs, read_costs, size })
}

/// How many events may be in transit to a crowd: fewer to a larger one.
fn ahead(crowd: usize) -> u64 {
    let (least, most) = AHEAD;
    (UNDER_WAY / num::to_u64(crowd.max(1))).clamp(least, most)
}

struct Progress {
    published: u64,
    ahead: u64,
    crowd: u64,
}

impl Progress {
    /// Publishes so that the slowest reader always has events in transit, but never too many.
    fn keep_up(
        &mut self,
        server: &mut impl Publisher,
        readers: &mut Readers,
        duration: Duration,
    ) -> Result<()> {
        let pause = ASK.saturating_mul(u32::try_from(self.crowd / 1000)?.max(1));
        let begun = Instant::now();
        while begun.elapsed() < duration {
            let look = readers.look()?;
            anyhow::ensure!(look.ended == 0, "{} of {} streams have ended", look.ended, look.readers);
            let under_way = self.published - look.slowest.min(self.published);
            if under_way > self.ahead / 2 {
                thread::sleep(pause);
                continue;
            }
            let lot = self.ahead - under_way;
            server.publish(lot)?;
            self.published += lot;
        }
        Ok(())
    }
}

fn shown(ours: &Run, bare: &Run, theirs: &[(String, &Run)], is_largest: bool) -> Vec<Figure> {
    let crowd = ours.crowd;
    let database = Kind::Sqlite.name();
    let rate = |what: String| Figure::plain(what, database, Quantity::new(ours.rate(), "deliveries/s"));
    let cost =
        |what: String| Figure::plain(what, database, Quantity::new(ours.cost(), "s of CPU for a million"));
    let details = json!({
        "path": PATH,
        "ours": ours.to_json(),
        "bareLoop": bare.to_json(),
        "nchan": theirs.iter().map(|(name, run)| json!({"name": name, "run": run.to_json()})).collect::<Vec<_>>(),
        "eventsAhead": ahead(crowd),
    });
    let target = |target| if is_largest { target } else { Target::Unset };
    let mut figures = Vec::new();
    let better = theirs.iter().max_by(|one, other| one.1.rate().total_cmp(&other.1.rate()));
    if let Some((name, run)) = better {
        figures.push(
            rate(format!("deliveries to {crowd} readers"))
                .against(name, run.rate(), target(OF_ITS_RATE))
                .with(details.clone()),
        );
        figures.push(cost(format!("deliveries to {crowd} readers, CPU time")).against(
            name,
            run.cost(),
            target(OF_ITS_COST),
        ));
    }
    let name = "bare loop of sends";
    figures.push(
        rate(format!("deliveries to {crowd} readers, beside the limit"))
            .against(name, bare.rate(), Target::Unset)
            .with(details),
    );
    figures.push(cost(format!("deliveries to {crowd} readers, CPU time beside the limit")).against(
        name,
        bare.cost(),
        Target::Unset,
    ));
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rate: f64, cost: f64) -> Run {
        Run { crowd: 1000, rates: vec![rate], costs: vec![cost], read_costs: vec![1.0], size: 200.0 }
    }

    #[test]
    fn a_large_crowd_has_less_to_come() {
        assert_eq!([1, 100, 1_000, 10_000, 100_000].map(ahead), [512, 512, 320, 32, 32]);
    }

    #[test]
    fn the_better_one_of_theirs_is_what_counts_and_only_for_the_largest_crowd() {
        let (slow, quick) = (run(90.0, 8.0), run(100.0, 10.0));
        let theirs = [("slow".to_owned(), &slow), ("quick".to_owned(), &quick)];
        let figures = shown(&run(200.0, 5.0), &run(300.0, 3.0), &theirs, true);
        assert_eq!(figures.len(), 4);
        assert!(figures[..2].iter().all(|figure| figure.against.as_ref().unwrap().0 == "quick"));
        assert_eq!([figures[0].ratio, figures[1].ratio], [Some(2.0), Some(0.5)]);
        let figures = shown(&run(200.0, 5.0), &run(300.0, 3.0), &theirs, false);
        assert!(figures.iter().all(|figure| figure.target == Target::Unset));
        assert_eq!(shown(&run(200.0, 5.0), &run(300.0, 3.0), &[], true).len(), 2);
    }
}
