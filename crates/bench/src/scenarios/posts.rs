//! Durable creation of posts, and reactions: every response is sent after the commit is on disk.

use super::reactions;
use super::{Plan, for_each_fan, memory, percentile, rate, shown};
use crate::client::{Sample, Script, drive};
use crate::commands::{Work, done};
use crate::http;
use crate::limit::Limit;
use crate::numbers::{float, median};
use crate::report::{Figure, Quantity, Target};
use crate::rows;
use crate::server::{Metrics, Terrace};
use crate::world::{FANS, Ground, Kind, World};
use crate::writes::{Bare, Unit, Write};
use anyhow::{Result, anyhow, ensure};
use serde_json::json;
use std::sync::Arc;
use terrace_app::room::CreatePost;
use terrace_kernel::UserId;
use uuid::Uuid;

pub(super) const PATH: &str = "/api/locker-room";
const TARGET: Target = Target::AtLeast(0.5);
/// The minimum share of the rate of the fixed limit.
const AGAINST_LIMIT: Target = Target::AtLeast(0.35);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "posts", plan.small)?;
    let copy = ground.copy(&world, "posts_bare")?;
    let mut limit = bare(copy)?;
    let mut fixed = Limit::new(ground, kind, "posts", rows::AUTHORS)?;
    let terrace = world.serve()?;
    let (mut ours, mut groups, mut statements, mut bare) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let before = world.count_posts()?;
    for run in 0..plan.runs {
        let (sample, seen) = create(plan, &world, &terrace, run)?;
        ours.push(sample);
        groups.push(seen.group);
        statements.push(seen.statements);
        bare.push(limit.run(plan)?);
        fixed.run(plan, seen.group)?;
    }
    let written = world.count_posts()? - before;
    let answered: u64 = ours.iter().map(|sample| sample.latency.count()).sum();
    ensure!(written >= answered, "{answered} posts were acknowledged and {written} are there");
    let what = format!("POST {PATH}, {FANS} connections, durable");
    let details = json!({
        "ours": shown(&ours),
        "limitPerSecond": bare,
        "postsPerCommit": groups,
        "statementsPerPost": statements,
        "recorded": limit.recorded(),
        "plan": plan.to_json(),
    });
    let database = kind.name();
    let figure = Figure::plain(what.clone(), database, Quantity::new(rate(&ours), "posts/s"))
        .against(limit.name(), median(bare), TARGET)
        .with(details);
    let slow = Quantity::new(percentile(&ours, 990), "ms");
    let mut figures = vec![
        figure,
        fixed.figure(&what, rate(&ours), "posts/s", AGAINST_LIMIT),
        Figure::plain(format!("{what}, p99"), database, slow),
    ];
    figures.extend(reactions::run(plan, &world, &terrace, &mut fixed)?);
    figures.push(memory(&terrace, "these runs", database)?);
    Ok(figures)
}

/// Posts of the fan of each connection, for the bare limit.
fn bare(copy: World) -> Result<Bare> {
    let fans: Result<Vec<Uuid>, _> = copy.fans.iter().map(|fan| fan.id.parse::<Uuid>()).collect();
    let fans = fans?;
    let fan =
        move |connection: u64| fans.iter().cycle().nth(usize::try_from(connection).unwrap_or(0)).copied();
    let unit = |number: usize| {
        let mut request = Vec::new();
        posting(copy.cookie(number)?, RECORDED)(&mut request);
        anyhow::Ok(Unit { requests: vec![request], varies: Vec::from_iter(fan(u64::try_from(number)?)) })
    };
    let units = [unit(0)?, unit(1)?];
    let work: Work = Arc::new(|app, ids| {
        Box::pin(async move {
            let [author] = ids.try_into().map_err(|_| anyhow!("a post has an author"))?;
            let (author, body) = (UserId::from_uuid(author), rows::new_body(0));
            done(app.execute(CreatePost { author, team: None, body, media: None }).await).map(drop)
        })
    });
    let vary = Arc::new(move |_, connection, _| Vec::from_iter(fan(connection)));
    Bare::new(copy, Write { units, vary, work, rows: "SELECT count(*) FROM posts" })
}

/// A series of posts that the measured service does not use.
const RECORDED: u64 = 1_000;

/// Server metrics of a run.
pub(super) struct Seen {
    /// Commands per commit on average; 1 if commits are not grouped.
    pub(super) group: f64,
    /// Statements per command, including those of the requests' queries.
    pub(super) statements: f64,
}

fn create(plan: &Plan, world: &World, terrace: &Terrace, run: usize) -> Result<(Sample, Seen)> {
    let before = terrace.metrics()?;
    let scripts = for_each_fan(|fan| Ok(posting(world.cookie(fan)?, u64::try_from(run * FANS + fan)?)))?;
    let sample = drive(&plan.load(terrace.served(), &[201]), scripts)?;
    let seen = Seen::between(&before, &terrace.metrics()?);
    Ok((sample, seen))
}

/// Creates an endless sequence of distinct posts by one fan.
pub(super) fn posting(cookie: &str, series: u64) -> Script {
    let cookie = cookie.to_owned();
    let mut number = series * 100_000_000;
    Box::new(move |buffer| {
        number += 1;
        let body = format!("{{\"body\":\"{}\"}}", rows::new_body(number));
        buffer.extend(http::request("POST", PATH, &[("Cookie", &cookie)], Some(&body)));
    })
}

impl Seen {
    pub(super) fn between(before: &Metrics, after: &Metrics) -> Self {
        let grown = |name: &str| after.total(name) - before.total(name);
        let average = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 1.0 };
        Self {
            group: average(grown("terrace_store_group_size_sum"), grown("terrace_store_group_size_count")),
            statements: average(
                grown("terrace_store_statement_seconds_count"),
                grown("terrace_store_command_seconds_count").max(float(1)),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_posts_are_alike() {
        let (mut one, mut two) = (posting("session=a", 0), posting("session=b", 1));
        let mut sent = std::collections::BTreeSet::new();
        for _ in 0..3 {
            for script in [&mut one, &mut two] {
                let mut request = Vec::new();
                script(&mut request);
                assert!(sent.insert(request));
            }
        }
        let text = String::from_utf8(sent.pop_first().unwrap()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /api/locker-room HTTP/1.1\r\n") && head.contains("Cookie: session="));
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(body["body"].as_str().is_some_and(|text| text.starts_with("What a save")));
    }
}
