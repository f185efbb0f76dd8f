//! Searches over as many posts and fans: of words in every post and in one, of names, and of the beginnings of names.

use super::{Plan, budget, percentile, shown};
use crate::client::{Script, drive, in_turn};
use crate::http;
use crate::report::{Figure, Quantity};
use crate::rows::search::{MIDDLING, NAME, SELDOM};
use crate::world::{Ground, Kind, World};
use anyhow::{Result, ensure};
use serde_json::Value;

/// The number of connections.
const CONNECTIONS: usize = 8;
/// The maximum p99 in milliseconds.
const P99_MILLIS: f64 = 20.0;
/// Two words of half of the posts each, which no post has in common.
const APART: &str = "even+odd";
/// The number of different searches of a kind.
const DIFFERENT: u64 = 1_000;

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let size = plan.large;
    let world = ground.world(kind, "search", 0)?;
    world.fill_search(size, size)?;
    let terrace = world.serve()?;
    let mut figures = Vec::new();
    for (what, queries) in queries(size) {
        log::info!("{what}");
        if let Some(first) = queries.first().filter(|first| !first.contains(APART)) {
            let found: Value = serde_json::from_slice(&terrace.caller()?.get(&target(first), &[])?.body)?;
            let lists =
                ["users", "posts"].map(|list| found.get(list).and_then(Value::as_array).map(Vec::len));
            ensure!(lists.iter().flatten().any(|rows| *rows > 0), "{first} finds nothing: {found}");
        }
        let load = plan.load(terrace.served(), &[200]);
        let mut samples = Vec::new();
        for _ in 0..plan.runs {
            samples.push(drive(&load, scripts(&world, &queries)?)?);
        }
        let measured = Quantity::new(percentile(&samples, 990), "ms");
        let what = format!("{what}, {size} posts and fans, {CONNECTIONS} connections, p99");
        figures.push(budget(what, kind.name(), measured, P99_MILLIS).with(shown(&samples)));
    }
    Ok(figures)
}

/// The kinds of searches.
fn queries(size: u64) -> Vec<(&'static str, Vec<String>)> {
    let each =
        |query: &dyn Fn(u64) -> String| (0..DIFFERENT).map(|n| query(n * 7919 % size)).collect::<Vec<_>>();
    let posts = |words: &str| format!("q={words}&kind=posts");
    let users = |name: String| format!("q={name}&kind=users");
    vec![
        ("the most frequent word", vec![posts("goal")]),
        ("frequent words", ["goal", "even", "the+whole+terrace", "odd+goal", "singing"].map(posts).to_vec()),
        ("frequent words that are never together", vec![posts(APART)]),
        ("a word in one of a hundred posts", each(&|n| posts(&format!("mid{}", n % MIDDLING)))),
        ("a word in a hundred posts", each(&|n| posts(&format!("some{}", n % SELDOM)))),
        ("a word in one post", each(&|n| posts(&format!("rare{n}")))),
        ("a frequent and a rare word", each(&|n| posts(&format!("goal+rare{n}")))),
        ("the beginning of every name", vec![users(NAME.to_owned())]),
        ("the beginning of some names", each(&|n| users(format!("{NAME}{}", n % 100)))),
        ("a name", each(&|n| users(format!("{NAME}{n}")))),
        ("all kinds", vec![format!("q={NAME}"), "q=goal".to_owned()]),
    ]
}

fn target(query: &str) -> String {
    format!("/api/search?{query}")
}

/// Each connection is that of another fan, and starts with another search.
fn scripts(world: &World, queries: &[String]) -> Result<Vec<Script>> {
    let script = |fan: usize| {
        let cookie = world.cookie(fan)?;
        let request = |query: &String| http::request("GET", &target(query), &[("Cookie", cookie)], None);
        let skipped = fan * queries.len() / CONNECTIONS;
        let requests = queries.iter().cycle().skip(skipped).take(queries.len()).map(request);
        Ok(in_turn(requests.collect()))
    };
    (0..CONNECTIONS).map(script).collect()
}
