//! The delay of deliveries: after the response to the commit, and after the request that caused it. On PostgreSQL also
//! with one process that commits and another that delivers.

use super::PATH;
use super::paced::{self, Posted};
use crate::clock;
use crate::histogram::{Histogram, millis};
use crate::numbers::{float, whole};
use crate::process;
use crate::readers::{Delivery, Readers};
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::{Plan, for_each_fan};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::HashMap;
use terrace_kernel::num;

/// Events per second, and the bound on the 99th percentile of the delay, in milliseconds.
const IN_ONE: (u32, f64) = (1000, 50.0);
const IN_TWO: (u32, f64) = (500, 60.0);
const READERS: usize = 100;
/// The share of a rate that must be reached for it to count as sustained; otherwise the figure states the actual rate.
const ENOUGH: f64 = 0.97;
const WITHIN: Target = Target::AtMost(1.0);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "streams_late", plan.small)?;
    let terrace = world.serve()?;
    let mut figures = measure(ground, plan, &world, (&terrace, &terrace), IN_ONE)?;
    if kind == Kind::Postgres {
        let other = world.serve_beside()?;
        figures.extend(measure(ground, plan, &world, (&terrace, &other), IN_TWO)?);
    }
    Ok(figures)
}

/// Posts in one process, reads in the other, which may be the same.
fn measure(
    ground: &Ground,
    plan: &Plan,
    world: &World,
    (writing, reading): (&Terrace, &Terrace),
    (rate, budget): (u32, f64),
) -> Result<Vec<Figure>> {
    let is_one = writing.pid() == reading.pid();
    let place = if is_one { "" } else { " to another process" };
    log::info!("{rate} posts a second to {READERS} readers{place}");
    // A process that has just started also publishes earlier events.
    process::until_quiet(&[reading.pid()])?;
    let mut readers = Readers::of(reading.address(), PATH, READERS)?;
    let cookies = for_each_fan(|fan| world.cookie(fan))?;
    let runs = u32::try_from(super::runs(plan))?;
    let posted =
        paced::post(writing.address(), &cookies, rate, plan.warm_up + plan.duration.saturating_mul(runs))?;
    readers.settle(u64::try_from(posted.len())?)?;
    let deliveries = readers.journal(&ground.folder().join("journal"))?;
    let first = whole(f64::from(rate) * plan.warm_up.as_secs_f64());
    let Delays { of_commit, of_request, answer } = delays(&posted, &deliveries, first)?;
    let kept = pace(&posted, first);
    let asked = f64::from(rate);
    let pace_shown = if kept >= ENOUGH * asked { format!("{rate}") } else { format!("{kept:.0} of {rate}") };
    let what = format!("delivery{place} at {pace_shown} events/s to {READERS} readers, p99");
    let database = world.kind().name();
    let milliseconds = |histogram: &Histogram| Quantity::new(millis(histogram.percentile(990)), "ms");
    let details = json!({
        "eventsPerSecond": kept,
        "deliveries": of_commit.count(),
        "connections": FANS,
        "p50Millis": millis(of_commit.percentile(500)),
        "maxMillis": millis(of_commit.max()),
        "fromRequestP50Millis": millis(of_request.percentile(500)),
        "fromRequestMaxMillis": millis(of_request.max()),
        "answerP50Millis": millis(answer.percentile(500)),
        "answerP99Millis": millis(answer.percentile(990)),
    });
    Ok(vec![
        Figure::plain(what.clone(), database, milliseconds(&of_commit))
            .against("budget", budget, WITHIN)
            .with(details),
        Figure::plain(format!("{what}, from the request on"), database, milliseconds(&of_request)).against(
            "the answer alone",
            millis(answer.percentile(990)),
            Target::Unset,
        ),
    ])
}

#[derive(Default)]
struct Delays {
    /// From the response, which is sent after the commit, to the delivery; zero if the delivery came first.
    of_commit: Histogram,
    /// From the time at which the request was due.
    of_request: Histogram,
    /// From that time to the response.
    answer: Histogram,
}

/// Posts per second among those from this number on, from the first request to the last response.
fn pace(posted: &[Posted], first: u64) -> f64 {
    let counted = || posted.iter().filter(|posted| posted.number >= first);
    let begun = counted().map(|posted| posted.sent).min().unwrap_or(0);
    let done = counted().map(|posted| posted.answered).max().unwrap_or(0);
    let count = num::to_u64(counted().count());
    float(count) / clock::between(begun, done).as_secs_f64().max(f64::EPSILON)
}

/// The delays of the posts from this number on.
fn delays(posted: &[Posted], deliveries: &[Delivery], first: u64) -> Result<Delays> {
    let mut delays = Delays::default();
    let known: HashMap<u64, &Posted> = posted.iter().map(|posted| (posted.number, posted)).collect();
    for posted in posted.iter().filter(|posted| posted.number >= first) {
        delays.answer.record(clock::between(posted.sent, posted.answered));
    }
    for delivery in deliveries.iter().filter(|delivery| delivery.number >= first) {
        let posted = known.get(&delivery.number).context("an unknown post was delivered")?;
        delays.of_commit.record(clock::between(posted.answered, delivery.at));
        delays.of_request.record(clock::between(posted.sent, delivery.at));
    }
    Ok(delays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_pace_is_that_which_was_kept() {
        let second = 1_000_000_000;
        let posted: Vec<Posted> = (0..10)
            .map(|number| Posted { number, sent: number * second, answered: (number + 1) * second })
            .collect();
        for (first, kept) in [(0, 1.0), (5, 1.0), (10, 0.0)] {
            assert!((pace(&posted, first) - kept).abs() < 1e-9, "{first}");
        }
    }

    #[test]
    fn delays_are_those_of_each_delivery() {
        let posted =
            [Posted { number: 0, sent: 1, answered: 2 }, Posted { number: 1, sent: 1_000, answered: 3_000 }];
        let deliveries = [(0, 900), (1, 2_500), (1, 7_000)].map(|(number, at)| Delivery { number, at });
        let Delays { of_commit, of_request, answer } = delays(&posted, &deliveries, 1).unwrap();
        assert_eq!([of_commit.count(), of_request.count(), answer.count()], [2, 2, 1]);
        assert_eq!([of_commit.max(), of_request.max()], [4_000, 6_000].map(Duration::from_nanos));
        assert_eq!(of_commit.percentile(500), Duration::ZERO);
        assert_eq!(answer.mean(), Duration::from_micros(2));
        assert!(delays(&posted, &[Delivery { number: 9, at: 1 }], 0).is_err());
    }
}
