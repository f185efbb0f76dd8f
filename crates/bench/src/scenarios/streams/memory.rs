//! The memory per idle reader, including heartbeats.

use super::{COMBINED, NO_MORE, PATH, runs};
use crate::numbers::{float, median};
use crate::process;
use crate::readers::Readers;
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::Plan;
use crate::world::{Ground, Kind, World};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Instant;
use terrace_kernel::num;

/// The bound in kB per reader, with this many readers.
const EACH: f64 = 14.0;
const MANY: usize = 10_000;
/// The bound in MB for the largest crowd, which has fifteen thousand readers unless the run is quick.
const ALL: f64 = 250.0;
const WITHIN: Target = Target::AtMost(1.0);

/// The memory that is used for a crowd, in bytes.
#[derive(Debug, Clone, Copy)]
struct Held {
    readers: usize,
    /// Memory of the process.
    process: f64,
    /// Kernel memory for data in transit in both directions, at both ends.
    sockets: f64,
    /// Kernel memory for connections and their files, at both ends.
    records: f64,
}

impl Held {
    fn look(readers: usize, pid: u32) -> Result<Self> {
        Ok(Self {
            readers,
            process: process::resident(pid)? * 1024.0 * 1024.0,
            sockets: float(process::socket_memory()?),
            records: float(process::kernel_records()?),
        })
    }

    const fn all(&self) -> f64 {
        self.process + self.sockets
    }

    /// The three values per reader, less those without readers.
    fn each(&self, baseline: &Self) -> [f64; 3] {
        let count = float(num::to_u64(self.readers.max(1)));
        let grown = |now: f64, before: f64| (now - before).max(0.0) / count;
        [
            grown(self.process, baseline.process),
            grown(self.sockets, baseline.sockets),
            grown(self.records, baseline.records),
        ]
    }

    fn to_json(self) -> Value {
        json!({
            "readers": self.readers,
            "processBytes": self.process,
            "socketBytes": self.sockets,
            "kernelRecordBytes": self.records,
        })
    }
}

/// Readers who wait.
struct Waiting {
    baseline: Held,
    held: Vec<Held>,
    /// CPU time of the process per second, with all readers.
    busy: f64,
}

impl Waiting {
    /// Opens streams of a fresh process, up to each of `counts` in turn, by these fans in turn.
    fn measure(world: &World, path: &str, cookies: &[&str], counts: &[usize]) -> Result<Self> {
        let terrace = world.serve()?;
        let pid = terrace.pid();
        let mut readers = Readers::signed_in(terrace.address(), path, cookies)?;
        // The very first readers cause one-time allocations, which are not attributed to readers.
        readers.open(cookies.len().max(1))?;
        process::until_quiet(&[pid])?;
        let baseline = Held::look(0, pid)?;
        let (mut held, mut busy) = (Vec::new(), 0.0);
        for count in counts {
            log::info!("{count} readers of {path} who wait, past a sign of life");
            readers.open(*count)?;
            process::until_quiet(&[pid])?;
            let (from, cpu) = (Instant::now(), process::cpu(pid)?);
            // The start of a stream may look like a heartbeat.
            let beginning = readers.look()?.least_beats;
            readers.until_beats(beginning + 1)?;
            busy = process::cpu(pid)?.saturating_sub(cpu).as_secs_f64() / from.elapsed().as_secs_f64();
            held.push(Held::look(*count, pid)?);
        }
        drop(readers);
        terrace.stop()?;
        Ok(Self { baseline, held, busy })
    }

    /// The memory for each of the largest crowd, in kB.
    fn each(&self) -> f64 {
        let [process, sockets, _] =
            self.held.last().map_or([0.0; 3], |held| held.each(&self.baseline).map(|bytes| bytes / 1000.0));
        process + sockets
    }

    fn to_json(&self) -> Value {
        let held: Vec<Value> = self.held.iter().map(|held| held.to_json()).collect();
        json!({"held": held, "before": self.baseline.to_json(), "cpuPerSecond": self.busy})
    }
}

pub(super) fn run(ground: &Ground, plan: &Plan) -> Result<Vec<Figure>> {
    let world = ground.world(Kind::Sqlite, "streams_idle", plan.small)?;
    let Waiting { baseline, held, busy } = Waiting::measure(&world, PATH, &[], plan.idle)?;
    let most = held.last().context("waiting readers")?;
    let many = held.iter().find(|held| held.readers == MANY).unwrap_or(most);
    let mut figures = of_each(many, &baseline);
    figures.extend(of_all(&held, most, &baseline, busy));
    Ok(figures)
}

/// The memory and CPU time of readers of a combined stream, beside those of a single stream; the same fans read both. The
/// streams alternate, because what a process does beside its readers weighs as much as they do.
pub(super) fn beside_single(world: &World, plan: &Plan, cookies: &[&str]) -> Result<Vec<Figure>> {
    let most = plan.idle.iter().copied().filter(|count| *count <= MANY).max().context("readers")?;
    let (mut single, mut combined) = (Vec::new(), Vec::new());
    for _ in 0..runs(plan) {
        single.push(Waiting::measure(world, PATH, cookies, &[most])?);
        combined.push(Waiting::measure(world, COMBINED, cookies, &[most])?);
    }
    let figure = |what: String, unit, of: &dyn Fn(&Waiting) -> f64| {
        let [ours, theirs] = [&combined, &single].map(|runs| median(runs.iter().map(of)));
        Figure::plain(what, Kind::Sqlite.name(), Quantity::new(ours, unit)).against(
            "a single stream",
            theirs,
            NO_MORE,
        )
    };
    let [singles, combineds] =
        [&single, &combined].map(|runs| runs.iter().map(Waiting::to_json).collect::<Vec<_>>());
    let memory = format!("memory for one of {most} readers of a combined stream who wait");
    let busy = format!("CPU time of {most} readers of a combined stream who wait");
    Ok(vec![
        figure(memory, "kB", &Waiting::each).with(json!({"single": singles, "combined": combineds})),
        figure(busy, "ms a second", &|waiting| waiting.busy * 1000.0),
    ])
}

fn of_each(held: &Held, baseline: &Held) -> Vec<Figure> {
    let database = Kind::Sqlite.name();
    let [process, sockets, records] = held.each(baseline).map(|bytes| bytes / 1000.0);
    let what = format!("memory for one of {} readers who wait", held.readers);
    let plain =
        |part: &str, size| Figure::plain(format!("{what}, {part}"), database, Quantity::new(size, "kB"));
    vec![
        Figure::plain(what.clone(), database, Quantity::new(process + sockets, "kB"))
            .against("budget", EACH, WITHIN)
            .with(json!({"held": held.to_json(), "before": baseline.to_json()})),
        plain("of the process (RSS)", process),
        plain("of sockets' buffers (both ends)", sockets),
        plain("of the kernel's records (both ends)", records),
    ]
}

fn of_all(held: &[Held], most: &Held, baseline: &Held, busy: f64) -> Vec<Figure> {
    let database = Kind::Sqlite.name();
    let points: Vec<(f64, f64)> =
        held.iter().map(|held| (float(u64::try_from(held.readers).unwrap_or(0)), held.all())).collect();
    let (base, slope) = line(&points);
    let all = json!(held.iter().map(|held| held.to_json()).collect::<Vec<_>>());
    vec![
        Figure::plain(
            format!("memory with {} readers who wait, in all", most.readers),
            database,
            Quantity::new(most.all() / 1e6, "MB"),
        )
        .against("budget", ALL, WITHIN)
        .with(json!({"held": all, "before": baseline.to_json()})),
        Figure::plain(
            format!("CPU time of {} readers who wait", most.readers),
            database,
            Quantity::new(busy * 1000.0, "ms a second"),
        ),
        Figure::plain(
            "memory with 1000000 readers who wait, by the line through these",
            database,
            Quantity::new((base + slope * 1e6) / 1e9, "GB"),
        )
        .with(json!({"baseBytes": base, "bytesPerReader": slope})),
    ]
}

/// The least-squares line through these points: intercept and slope. The slope is zero for a single point.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = float(u64::try_from(points.len().max(1)).unwrap_or(1));
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (along, across) = points.iter().fold((0.0, 0.0), |(along, across), point| {
        (along + (point.0 - x).powi(2), across + (point.0 - x) * (point.1 - y))
    });
    let slope = if along > 0.0 { across / along } else { 0.0 };
    (y - slope * x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_points_that_lie_on_one() {
        let (base, slope) = line(&[(1_000.0, 13.0), (5_000.0, 53.0), (15_000.0, 153.0)]);
        assert!((base - 3.0).abs() < 1e-9 && (slope - 0.01).abs() < 1e-12, "{base} {slope}");
        let (base, slope) = line(&[(1_000.0, 13.0)]);
        assert!((base - 13.0).abs() < 1e-9 && slope.abs() < 1e-12);
    }

    #[test]
    fn a_reader_s_part_is_what_came_with_them() {
        let baseline = Held { readers: 0, process: 5e6, sockets: 4_096.0, records: 1e6 };
        let held = Held { readers: 1_000, process: 15e6, sockets: 4_096.0, records: 0.5e6 };
        let [process, sockets, records] = held.each(&baseline);
        assert!((process - 10_000.0).abs() < 1e-6 && sockets.abs() < 1e-9 && records.abs() < 1e-9);
    }
}
