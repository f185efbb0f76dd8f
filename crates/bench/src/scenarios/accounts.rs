//! The cost of a session per request, the rate of sign-ins, and the effect of a flood of sign-ins on readers.

use super::contest::Read;
use super::{Plan, cpu, for_each_fan, memory, percentile, rate, shown};
use crate::client::{Sample, Script, always, drive};
use crate::http;
use crate::numbers::median;
use crate::report::{Figure, Quantity, Target};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, PASSWORD, World};
use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use std::thread;

/// The maximum ratio of the cost of a request with a session to that of one without.
const SESSION: Target = Target::AtMost(1.10);
const TEAMS: &str = "/api/teams";
/// Connections of the flood: more sign-ins than may be queued at once.
const FLOOD: usize = 100;

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "accounts", 0)?;
    let terrace = world.serve()?;
    let team = a_team(&terrace)?;
    let mut figures = vec![session(plan, &world, &terrace, &team)?];
    figures.extend(conditional(ground, plan, &terrace, kind)?);
    figures.push(sign_ins(plan, &world, &terrace)?);
    figures.extend(flood(plan, &world, &terrace, &team)?);
    figures.push(memory(&terrace, "the flood", kind.name())?);
    Ok(figures)
}

fn a_team(terrace: &Terrace) -> Result<String> {
    let teams: Value = serde_json::from_slice(&terrace.caller()?.get(TEAMS, &[])?.body)?;
    let id = teams.pointer("/teams/0/id").and_then(Value::as_str).context("the catalogue has no team")?;
    Ok(format!("{TEAMS}/{id}"))
}

/// The same cheap read with and without a session, each connection with its own fan.
fn session(plan: &Plan, world: &World, terrace: &Terrace, target: &str) -> Result<Figure> {
    log::info!("what a session costs");
    let out = for_each_fan(|_| Ok(http::request("GET", target, &[], None)))?;
    let with = for_each_fan(|fan| Ok(http::request("GET", target, &[("Cookie", world.cookie(fan)?)], None)))?;
    let load = plan.load(terrace.served(), &[200]);
    let (mut without_session, mut with_session) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        without_session.push(drive(&load, out.iter().cloned().map(always).collect())?);
        with_session.push(drive(&load, with.iter().cloned().map(always).collect())?);
    }
    // The time between two responses: the machine time of one request.
    let micros = |samples: &[Sample]| 1e6 / rate(samples);
    let details = json!({
        "with": shown(&with_session),
        "without": shown(&without_session),
        "ratioByCpu": cpu(&with_session) / cpu(&without_session),
        "plan": plan.to_json(),
    });
    let what = format!("GET {TEAMS}/{{id}} with a session");
    Ok(Figure::plain(what, world.kind().name(), Quantity::new(micros(&with_session), "µs a request"))
        .against("without", micros(&without_session), SESSION)
        .with(details))
}

/// A list that did or did not change since the client's copy, each compared with a bare handler that returns the same.
fn conditional(ground: &Ground, plan: &Plan, terrace: &Terrace, kind: Kind) -> Result<Vec<Figure>> {
    let first = terrace.caller()?.get(TEAMS, &[])?;
    let tag = first.header("etag").context("the teams carry no ETag")?;
    let mut figures = Vec::new();
    for (status, headers) in [(200, vec![]), (304, vec![("If-None-Match", tag)])] {
        let read = Read {
            what: format!("GET {TEAMS}, answered {status}"),
            database: kind.name(),
            path: TEAMS,
            requests: &for_each_fan(|_| Ok(vec![http::request("GET", TEAMS, &headers, None)]))?,
            status,
            target: Target::Unset,
        };
        figures.extend(read.run(ground, plan, terrace)?);
    }
    Ok(figures)
}

fn login(world: &World, fan: usize) -> Result<Vec<u8>> {
    let fan = world.fans.get(fan % FANS).context("fewer fans than there should be")?;
    let body = json!({"username": fan.name, "password": PASSWORD}).to_string();
    Ok(http::request("POST", "/api/login", &[], Some(&body)))
}

/// Successful sign-ins of many fans, with one connection per fan.
fn sign_ins(plan: &Plan, world: &World, terrace: &Terrace) -> Result<Figure> {
    log::info!("sign-ins");
    let load = plan.load(terrace.served(), &[200]);
    let requests = for_each_fan(|fan| login(world, fan))?;
    let mut samples = Vec::new();
    for _ in 0..plan.runs {
        samples.push(drive(&load, requests.iter().cloned().map(always).collect())?);
    }
    let measured = Quantity::new(rate(&samples), "sign-ins/s");
    let what = format!("POST /api/login, {FANS} connections, Argon2id as configured by default");
    Ok(Figure::plain(what, world.kind().name(), measured).with(shown(&samples)))
}

/// Readers alone, and readers during more sign-ins than can be served, some of which may be refused with a retry delay.
fn flood(plan: &Plan, world: &World, terrace: &Terrace, target: &str) -> Result<Vec<Figure>> {
    log::info!("reading during a flood of sign-ins");
    let reads = plan.load(terrace.served(), &[200]);
    let logins = plan.load(terrace.served(), &[200, 503]);
    let read = http::request("GET", target, &[], None);
    let readers = || -> Vec<Script> { (0..FANS).map(|_| always(read.clone())).collect() };
    let requests = (0..FLOOD).map(|fan| login(world, fan)).collect::<Result<Vec<_>>>()?;
    let (mut alone, mut beset, mut flooding) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        alone.push(drive(&reads, readers())?);
        let scripts: Vec<Script> = requests.iter().cloned().map(always).collect();
        let (reading, flooded) = thread::scope(|scope| {
            let flood = scope.spawn(|| drive(&logins, scripts));
            (drive(&reads, readers()), flood.join())
        });
        beset.push(reading?);
        flooding.push(flooded.map_err(|_| anyhow!("the flood's thread panicked"))??);
    }
    let database = world.kind().name();
    let of = |status: u16| median(flooding.iter().map(|sample| sample.rate_of(status)));
    let details = json!({
        "alone": shown(&alone),
        "during": shown(&beset),
        "signInsPerSecond": of(200),
        "turnedAwayPerSecond": of(503),
        "floodConnections": FLOOD,
    });
    let during = "while sign-ins flood in";
    let slow = Quantity::new(percentile(&beset, 990), "ms");
    let many = Quantity::new(rate(&beset), "requests/s");
    Ok(vec![
        Figure::plain(format!("GET {TEAMS}/{{id}} {during}, p99"), database, slow)
            .against("alone", percentile(&alone, 990), Target::Unset)
            .with(details),
        Figure::plain(format!("GET {TEAMS}/{{id}} {during}"), database, many).against(
            "alone",
            rate(&alone),
            Target::Unset,
        ),
    ])
}
