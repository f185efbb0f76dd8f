//! The cost of a list on a graph of a million follows, and the cost of storing and changing that graph.

use super::{IN_MEMORY, Plan, generated, graph, user};
use crate::dice::Numbers;
use crate::histogram::{Histogram, millis};
use crate::numbers::{float, median};
use crate::process;
use crate::report::{Figure, Quantity, Target};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Instant;
use terrace_social::recommend::{FollowGraph, Options};

/// The bound on computing a list; a request may take twice as long, including its database queries.
const BUDGET_MILLIS: f64 = 5.0;
/// The bound on bytes per follow, including its share of the people.
const AIM_BYTES: f64 = 24.0;
const WITHIN: Target = Target::AtMost(1.0);
/// The number of follows of each person on joining.
const FOLLOWS: usize = 10;
/// The number of viewers that lists are computed for, and the number of their follows.
const VIEWERS: u32 = 100;
const VIEWER_FOLLOWS: usize = 500;
/// The number of lists per viewer in one run.
const ROUNDS: usize = 10;
const CHANGES: u32 = 10_000;

pub(super) fn run(plan: &Plan) -> Result<Vec<Figure>> {
    let mut figures = measure(plan, "one way", false)?;
    figures.extend(measure(plan, "mutual", true)?);
    Ok(figures)
}

fn measure(plan: &Plan, name: &str, are_mutual: bool) -> Result<Vec<Figure>> {
    let follows = u32::try_from(plan.large)?;
    log::info!("lists on a graph of {follows} follows, {name}");
    let each = u32::try_from(FOLLOWS)? * if are_mutual { 2 } else { 1 };
    let people = follows / each;
    let pairs = generated::preferential(people, FOLLOWS);

    let before = process::resident(std::process::id()).unwrap_or(0.0);
    let begun = Instant::now();
    let mut graph = graph(&pairs, are_mutual);
    let load = millis(begun.elapsed());
    let after = process::resident(std::process::id()).unwrap_or(0.0);
    let bytes = float(u64::try_from(graph.bytes() / graph.len().max(1))?);
    let hub = (0..people).max_by_key(|one| graph.degrees(user(*one)).1).context("there are no people")?;
    let hub_followers = graph.degrees(user(hub)).1;

    let viewers = enter(&mut graph, people, &pairs, are_mutual);
    let runs: Vec<Histogram> = (0..plan.runs).map(|_| lists(&graph, &viewers)).collect();
    let of = |per_mille: u64| median(runs.iter().map(|run| millis(run.percentile(per_mille))));
    let change = changes(&mut graph, people, hub);
    let details = json!({
        "people": people,
        "follows": graph.len(),
        "hubFollowers": hub_followers,
        "work": Options::default().work,
        "p50Millis": of(500),
        "maxMillis": runs.iter().map(|run| millis(run.max())).fold(0.0, f64::max),
        "residentMibOfGraphAndLoading": after - before,
    });
    let figure = |what: &str, value: f64, unit: &'static str| {
        Figure::plain(format!("{what}, {name}"), IN_MEMORY, Quantity::new(value, unit))
    };
    Ok(vec![
        figure("a list of 20 for a person with 500 follows, p99", of(990), "ms")
            .against("budget", BUDGET_MILLIS, WITHIN)
            .with(details),
        figure("the same, p50", of(500), "ms"),
        figure("a follow of the most followed, and its end", change, "µs"),
        figure("loading the graph", load, "ms"),
        figure("memory for a follow, people included", bytes, "bytes").against("aim", AIM_BYTES, WITHIN),
    ])
}

/// Adds viewers who follow many people, preferring those with many followers; if follows are mutual, the viewers are
/// followed as well.
fn enter(graph: &mut FollowGraph, people: u32, pairs: &[(u32, u32)], are_mutual: bool) -> Vec<u32> {
    let mut numbers = Numbers::new(99);
    let viewers: Vec<u32> = (people..).take(usize::try_from(VIEWERS).unwrap_or(0)).collect();
    for viewer in &viewers {
        let mut own = BTreeSet::new();
        while own.len() < VIEWER_FOLLOWS {
            own.extend(numbers.one_of(pairs).map(|(_, followed)| followed));
        }
        for followed in own {
            graph.follow(user(*viewer), user(followed));
            if are_mutual {
                graph.follow(user(followed), user(*viewer));
            }
        }
    }
    viewers
}

fn lists(graph: &FollowGraph, viewers: &[u32]) -> Histogram {
    let mut histogram = Histogram::default();
    for viewer in viewers.iter().cycle().take(viewers.len() * ROUNDS) {
        let begun = Instant::now();
        let list = graph.recommend(user(*viewer), 20, &Options::default(), |_| false);
        histogram.record(begun.elapsed());
        assert_eq!(list.len(), 20, "there are people enough");
    }
    histogram
}

/// The mean time of a change in microseconds, for the most expensive changes.
fn changes(graph: &mut FollowGraph, people: u32, hub: u32) -> f64 {
    let followers: Vec<u32> = (0..people).filter(|one| !graph.follows(user(*one), user(hub))).collect();
    let some = followers.len().div_ceil(usize::try_from(CHANGES).unwrap_or(1)).max(1);
    let followers: Vec<u32> = followers.into_iter().step_by(some).filter(|one| *one != hub).collect();
    let begun = Instant::now();
    for one in &followers {
        graph.follow(user(*one), user(hub));
    }
    for one in &followers {
        graph.unfollow(user(*one), user(hub));
    }
    begun.elapsed().as_secs_f64() * 1e6 / float(u64::try_from(2 * followers.len()).unwrap_or(1).max(1))
}
