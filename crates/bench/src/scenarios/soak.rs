//! An hour of a match day at a moderate rate, on all databases concurrently: whether memory or descriptors grow, and
//! whether every response is as expected.

use super::match_day::{CONNECTIONS, CROWD, Day, WATCHING};
use super::{Inputs, Plan};
use crate::chart::{Axes, Chart, Line};
use crate::histogram::{Histogram, millis};
use crate::numbers::{float, median};
use crate::process;
use crate::report::{Figure, Quantity, Target};
use crate::world::{Ground, Kind};
use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

/// Requests per second, on each database.
const PACE: f64 = 100.0;
/// The number of samples in a run of five minutes or more, and in the shortest: taking a sample needs time.
const LOOKS: (usize, usize) = (60, 4);
/// The time between two samples, if the maximum number does not fit.
const BETWEEN: Duration = Duration::from_secs(5);
/// How long the same readers watch: the service ends no stream before five minutes.
const WATCH: Duration = Duration::from_mins(4);
/// The maximum ratio of the last quarter to the second one, by which time caches are full.
const MEMORY: Target = Target::AtMost(1.05);
const HANDLES: Target = Target::AtMost(1.0);

pub(super) fn run(ground: &Ground, plan: &Plan, inputs: &Inputs) -> Result<Vec<Figure>> {
    let length = inputs.minutes.map_or(plan.soak, Duration::from_mins);
    log::info!("{}, on all databases concurrently", named(length));
    thread::scope(|scope| {
        let runs: Vec<_> = ground
            .kinds()
            .iter()
            .map(|&kind| scope.spawn(move || on_database(ground, plan, kind, length)))
            .collect();
        let mut figures = Vec::new();
        for run in runs {
            figures.extend(run.join().map_err(|_| anyhow!("a thread of the soak panicked"))??);
        }
        Ok(figures)
    })
}

/// The label of the figures.
fn named(length: Duration) -> String {
    match length.as_secs() {
        seconds @ 0..60 => format!("{seconds} s of a match day"),
        seconds => format!("{} min of a match day", seconds / 60),
    }
}

/// The number of samples in a run of this length.
fn looks_in(length: Duration) -> usize {
    let (most, least) = LOOKS;
    usize::try_from(length.as_secs() / BETWEEN.as_secs()).unwrap_or(most).clamp(least, most)
}

/// A sample.
struct Look {
    minutes: f64,
    /// Memory that is not backed by files, in MiB.
    own: f64,
    handles: u64,
    p99: Duration,
}

impl Look {
    fn to_json(&self) -> Value {
        json!({
            "minutes": self.minutes,
            "ownMebibytes": self.own,
            "handles": self.handles,
            "p99Millis": millis(self.p99),
        })
    }
}

fn on_database(ground: &Ground, plan: &Plan, kind: Kind, length: Duration) -> Result<Vec<Figure>> {
    let mut day = Day::begin(ground, plan, kind, "soak")?;
    let plan = Plan { warm_up: Duration::ZERO, ..*plan };
    let (pid, count) = (day.terrace.pid(), looks_in(length));
    let each = length / u32::try_from(count)?;
    let (mut looks, mut latency) = (Vec::new(), Histogram::default());
    let mut since = Instant::now();
    for number in 1..=count {
        let sample = day.play(&plan, PACE, each, number)?;
        // The connections of the load are closed by now.
        process::until_quiet(&[pid])?;
        looks.push(Look {
            minutes: each.as_secs_f64() * float(u64::try_from(number)?) / 60.0,
            own: process::resident_own(pid)?,
            handles: process::handles(pid)?,
            p99: sample.latency.percentile(990),
        });
        latency.merge(&sample.latency);
        if since.elapsed() + each > WATCH {
            day.watch_anew()?;
            since = Instant::now();
        }
    }
    // Readers that connected just now may not have received an event yet.
    if since.elapsed() > each {
        day.end()?;
    }
    Ok(figures(kind, &looks, &latency, length))
}

fn figures(kind: Kind, looks: &[Look], latency: &Histogram, length: Duration) -> Vec<Figure> {
    let database = kind.name();
    let quarter = |number: usize| looks.iter().skip(number * looks.len() / 4).take(looks.len() / 4);
    let memory = |number| median(quarter(number).map(|look| look.own));
    let handles = |number| median(quarter(number).map(|look| float(look.handles)));
    let what = named(length);
    let before = "the second quarter";
    let details = json!({
        "pace": PACE,
        "fans": CROWD,
        "watching": WATCHING,
        "connections": CONNECTIONS,
        "requests": latency.count(),
        "p50Millis": millis(latency.percentile(500)),
        "maxMillis": millis(latency.max()),
        "looks": looks.iter().map(Look::to_json).collect::<Vec<_>>(),
    });
    vec![
        Figure::plain(
            format!("{what}: memory (RSS, no file's), the last quarter"),
            database,
            Quantity::new(memory(3), "MiB"),
        )
        .against(before, memory(1), MEMORY)
        .with(details),
        Figure::plain(
            format!("{what}: open handles, the last quarter"),
            database,
            Quantity::new(handles(3), ""),
        )
        .against(before, handles(1), HANDLES),
        Figure::plain(
            format!("{what}: requests, none answered but well"),
            database,
            Quantity::new(float(latency.count()), ""),
        ),
        Figure::plain(format!("{what}: p99"), database, Quantity::new(millis(latency.percentile(990)), "ms")),
    ]
}

/// The memory over time.
pub(super) fn chart(figures: &[Figure]) -> Option<Chart> {
    let lines = Line::of_each(figures, "looks", "minutes", "ownMebibytes");
    (!lines.is_empty()).then(|| Chart {
        axes: Axes::Even,
        title: "A long match day: memory of the server".to_owned(),
        across: "minutes".to_owned(),
        up: "MiB".to_owned(),
        lines,
        bound: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    fn looks(memory: impl Fn(usize) -> f64) -> Vec<Look> {
        let look = |number: usize| Look {
            minutes: float(u64::try_from(number).unwrap()),
            own: memory(number),
            handles: 40,
            p99: Duration::from_millis(3),
        };
        (1..=LOOKS.0).map(look).collect()
    }

    #[test]
    fn what_grows_falls_short() {
        let length = Duration::from_hours(1);
        let verdict = |looks: &[Look]| {
            figures(Kind::Sqlite, looks, &Histogram::default(), length).first().map(Figure::verdict)
        };
        assert_eq!(verdict(&looks(|_| 100.0)), Some(Verdict::Met));
        assert_eq!(verdict(&looks(|number| if number < 10 { 50.0 } else { 100.0 })), Some(Verdict::Met));
        assert_eq!(
            verdict(&looks(|number| 100.0 + float(u64::try_from(number).unwrap()))),
            Some(Verdict::FellShort)
        );
    }

    #[test]
    fn the_chart_has_a_point_for_every_look() {
        let figures =
            figures(Kind::Postgres, &looks(|_| 80.0), &Histogram::default(), Duration::from_mins(1));
        let chart = chart(&figures).unwrap();
        assert_eq!((chart.lines.len(), chart.lines[0].points.len()), (1, LOOKS.0));
    }

    #[test]
    fn a_short_run_is_looked_at_less_often() {
        for (seconds, count, name) in [
            (3_600, 60, "60 min of a match day"),
            (60, 12, "1 min of a match day"),
            (20, 4, "20 s of a match day"),
            (1, 4, "1 s of a match day"),
        ] {
            let length = Duration::from_secs(seconds);
            assert_eq!((looks_in(length), named(length)), (count, name.to_owned()));
        }
    }
}
