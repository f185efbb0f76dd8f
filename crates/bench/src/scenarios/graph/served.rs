//! Recommendations as a client gets them, on a graph that was brought in, and what bringing it in takes.

use super::Plan;
use super::generated;
use crate::client::{drive, in_turn};
use crate::dice::Numbers;
use crate::http;
use crate::numbers::{float, median};
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::{for_each_fan, mean, memory, percentile, rate, shown};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const PATH: &str = "/api/user/recommended";
/// A list may take so long, for one request in a hundred.
const BUDGET_MILLIS: f64 = 10.0;
/// So many mutual follows may take so long to be brought in.
const IMPORTED: u64 = 300_000;
const IMPORT_SECONDS: f64 = 30.0;
const WITHIN: Target = Target::AtMost(1.0);
/// Of each person when they came.
const EACH: usize = 10;
/// How long the graph may take to be read.
const PATIENCE: Duration = Duration::from_mins(2);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if kind == Kind::Sqlite {
        figures.push(import(ground, plan)?);
    }
    figures.extend(lists(ground, plan, kind)?);
    Ok(figures)
}

/// A list of so many mutual follows, each of which was made by preference.
fn edge_list(ground: &Ground, name: &str, edges: u64) -> Result<(PathBuf, Vec<(u32, u32)>)> {
    let people = u32::try_from(edges)? / u32::try_from(EACH)?;
    let pairs = generated::preferential(people, EACH);
    let mut text = "from,to\n".to_owned();
    for (from, to) in &pairs {
        writeln!(text, "{from},{to}")?;
    }
    let file = ground.folder().join(name);
    fs::write(&file, text)?;
    Ok((file, pairs))
}

/// Bringing a graph into an empty database.
fn import(ground: &Ground, plan: &Plan) -> Result<Figure> {
    let edges = IMPORTED.min(plan.large);
    log::info!("bringing {edges} mutual follows in");
    let (file, pairs) = edge_list(ground, "import.csv", edges)?;
    let mut seconds = Vec::new();
    for run in 0..plan.runs.min(3) {
        let world = ground.world(Kind::Sqlite, &format!("import{run}"), 0)?;
        seconds.push(world.bring_in(&file)?.as_secs_f64());
    }
    let details = json!({"lines": pairs.len(), "allRuns": seconds});
    let what = format!("bringing {edges} mutual follows in");
    Ok(Figure::plain(what, Kind::Sqlite.name(), Quantity::new(median(seconds), "s"))
        .against("budget", IMPORT_SECONDS * float(edges) / float(IMPORTED), WITHIN)
        .with(details))
}

fn lists(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    // Two follows for each line.
    let (file, pairs) = edge_list(ground, &format!("graph-{kind:?}.csv"), plan.large / 2)?;
    let world = ground.world(kind, "graph_served", 0)?;
    log::info!("bringing {} mutual follows in", pairs.len());
    world.bring_in(&file)?;
    let terrace = world.serve()?;
    follow(plan.follows, &world, &terrace, &pairs)?;
    terrace.stop()?;

    // Begun anew, so that the graph is read as a whole.
    let terrace = world.serve()?;
    let people = until_known(&world, &terrace)?;
    let loaded = terrace.metrics()?.total("terrace_live_load_seconds_sum");
    let requests =
        for_each_fan(|fan| Ok(http::request("GET", PATH, &[("Cookie", world.cookie(fan)?)], None)))?;
    let load = plan.load(terrace.served(), &[200]);
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        alone.push(drive(&load, vec![in_turn(requests.clone())])?);
        together.push(drive(&load, (0..FANS).map(|_| in_turn(requests.clone())).collect())?);
    }
    let follows = pairs.len() * 2;
    let figure =
        |what: String, value: f64, unit| Figure::plain(what, kind.name(), Quantity::new(value, unit));
    let details = json!({
        "people": people,
        "oneReader": shown(&alone),
        "allReaders": shown(&together),
        "plan": plan.to_json(),
    });
    Ok(vec![
        figure(
            format!("GET {PATH}, {} follows of one's own among {follows}, p99", plan.follows),
            percentile(&alone, 990),
            "ms",
        )
        .against("budget", BUDGET_MILLIS, WITHIN)
        .with(details),
        figure("the same, mean".to_owned(), mean(&alone), "ms"),
        figure(format!("the same for {FANS} at once"), rate(&together), "requests/s"),
        figure("reading that graph at the start".to_owned(), loaded, "s"),
        memory(&terrace, "these runs", kind.name())?,
    ])
}

/// The identifier of a fan who was brought in.
fn imported(number: u32) -> String {
    format!("016f5e66-e800-7000-8000-{number:012x}")
}

/// Everybody who is signed in follows that many, and the more likely whom more follow.
fn follow(many: usize, world: &World, terrace: &Terrace, pairs: &[(u32, u32)]) -> Result<()> {
    let mut numbers = Numbers::new(99);
    let mut caller = terrace.caller()?;
    for fan in 0..FANS {
        let mut own = BTreeSet::new();
        while own.len() < many {
            own.extend(numbers.one_of(pairs).map(|(_, followed)| followed));
        }
        let headers = [("Cookie", world.cookie(fan)?)];
        for followed in own {
            let body = json!({"userId": imported(followed)}).to_string();
            caller.expect(200, &http::request("POST", "/api/user/follow", &headers, Some(&body)))?;
        }
    }
    Ok(())
}

/// Waits until recommendations come from the graph, and says how many there are.
fn until_known(world: &World, terrace: &Terrace) -> Result<usize> {
    let deadline = Instant::now() + PATIENCE;
    let request = http::request("GET", PATH, &[("Cookie", world.cookie(0)?)], None);
    let mut caller = terrace.caller()?;
    loop {
        let list: Value = serde_json::from_slice(&caller.expect(200, &request)?.body)?;
        let people = list.pointer("/users").and_then(Value::as_array).context("no list")?;
        let known =
            people.iter().filter(|person| person.pointer("/reasonKind") == Some(&json!("followed_by")));
        if known.count() > people.len() / 2 {
            return Ok(people.len());
        }
        ensure!(Instant::now() < deadline, "the graph is not read after {PATIENCE:?}: {list}");
    }
}
