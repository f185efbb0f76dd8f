//! Dashboards: those that are kept and those of ever other fans compared with a bare handler, the statements of one, and its
//! CPU time beside that of the requests that it replaces.

use super::contest::Read;
use super::{Plan, cpu, database_cpu, for_each_fan, memory, shown};
use crate::client::{Sample, drive, in_turn};
use crate::http;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::rows::packs::Offer;
use crate::rows::quests;
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

const DASHBOARD: &str = "/api/dashboard";
/// The requests that a client would send instead.
const REPLACED: [&str; 14] = [
    "/api/user",
    "/api/leaderboard?limit=1",
    "/api/quests/daily-visit",
    "/api/quests",
    "/api/user/achievements",
    "/api/wallets?limit=1",
    "/api/user/packs?status=sealed&limit=3",
    "/api/user/collectibles?limit=3",
    "/api/user/orders?limit=3",
    "/api/user/purchases?limit=3",
    "/api/user/rewards?limit=3",
    "/api/wheel",
    "/api/trivia?limit=1",
    "/api/trends",
];
/// The fans of each connection whose dashboards are replaced.
const REPLACED_OF: usize = 100;
/// The minimum share of the rate of the bare handler.
const OF_BARE: Target = Target::AtLeast(0.05);
/// The maximum share of the CPU time of the requests that it replaces.
const OF_REPLACED: Target = Target::AtMost(0.6);
/// The maximum number of statements.
const STATEMENTS: f64 = 14.0;
/// For how long the service is observed without requests.
const IDLE: Duration = Duration::from_secs(2);
/// The packs that each fan has, and how many of them are opened.
const PACKS: usize = 6;
const OPENED: usize = 3;

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "dashboard", plan.crowded)?;
    let regulars = u64::try_from(world.fans.len())?;
    let fans = plan.questers;
    world.fill_boards(fans + regulars)?;
    world.fill_packs(fans)?;
    world.fill_shop(fans)?;
    let terrace = world.serve()?;
    for fan in 0..FANS {
        furnish(&terrace, &cookie(fan)?)?;
    }
    let get = |path: &str, fan: usize| -> Result<Vec<u8>> {
        Ok(http::request("GET", path, &[("Cookie", &cookie(fan)?)], None))
    };
    let kept = for_each_fan(|fan| Ok(vec![get(DASHBOARD, fan)?]))?;
    // The fans of each connection take more than the second for which a dashboard is kept.
    let fans = usize::try_from(fans)?;
    let others = |connection: usize| (FANS + connection..fans).step_by(FANS);
    let not_kept =
        for_each_fan(|connection| others(connection).map(|fan| get(DASHBOARD, fan)).collect::<Result<_>>())?;
    let mut figures = Vec::new();
    for (which, requests) in [("", kept), (", ever other fans", not_kept.clone())] {
        let read = Read {
            what: format!("GET {DASHBOARD}{which}"),
            database: kind.name(),
            path: DASHBOARD,
            requests: &requests,
            status: 200,
            target: OF_BARE,
        };
        figures.extend(read.run(ground, plan, &terrace)?);
    }
    figures.push(statements(&world, &terrace)?);
    let all = for_each_fan(|connection| {
        let all = others(connection).take(REPLACED_OF).flat_map(|fan| REPLACED.map(|path| get(path, fan)));
        all.collect::<Result<Vec<_>>>()
    })?;
    let (mut ours, mut replaced): (Vec<Sample>, Vec<Sample>) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        for (samples, requests) in [(&mut ours, &not_kept), (&mut replaced, &all)] {
            let scripts = requests.iter().cloned().map(in_turn).collect();
            samples.push(drive(&plan.load(terrace.served(), &[200]), scripts)?);
        }
    }
    // With the database, if it is a separate server.
    let spent = |samples: &[Sample]| cpu(samples) + database_cpu(samples).unwrap_or(0.0);
    let count = float(u64::try_from(REPLACED.len())?);
    let measured = Quantity::new(spent(&ours), "µs of CPU a request");
    figures.push(
        Figure::plain(format!("GET {DASHBOARD}, CPU time with the database"), kind.name(), measured)
            .against(format!("the {count} requests that it replaces"), spent(&replaced) * count, OF_REPLACED)
            .with(json!({"ours": shown(&ours), "replaced": shown(&replaced), "requests": REPLACED})),
    );
    figures.push(memory(&terrace, "these runs", kind.name())?);
    terrace.stop()?;
    Ok(figures)
}

fn cookie(fan: usize) -> Result<String> {
    Ok(quests::cookie(u64::try_from(fan)?))
}

/// Gives a fan packs, collectibles and an order.
fn furnish(terrace: &Terrace, cookie: &str) -> Result<()> {
    let mut caller = terrace.caller()?;
    let mut send = |method: &str, path: &str, key: &str, body: &str, status: u16| -> Result<Value> {
        let headers = [("Cookie", cookie), ("Idempotency-Key", key)];
        let answer = caller.expect(status, &http::request(method, path, &headers, Some(body)))?;
        Ok(serde_json::from_slice(&answer.body)?)
    };
    let pack = Offer::Plain.id();
    send(
        "POST",
        &format!("/api/packs/{pack}/purchase"),
        "packs",
        &json!({"quantity": PACKS}).to_string(),
        201,
    )?;
    for number in 0..OPENED {
        send("POST", &format!("/api/packs/{pack}/open"), &format!("open-{number}"), "{}", 200)?;
    }
    let cart: Value = serde_json::from_slice(
        &terrace.caller()?.expect(200, &http::request("GET", "/api/cart", &[("Cookie", cookie)], None))?.body,
    )?;
    let quote = cart.pointer("/cart/quote").and_then(Value::as_str).context("a cart without a quote")?;
    send("POST", "/api/checkout", "order", &json!({"quote": quote}).to_string(), 201)?;
    let read = http::request("GET", DASHBOARD, &[("Cookie", cookie)], None);
    let shown: Value = serde_json::from_slice(&terrace.caller()?.expect(200, &read)?.body)?;
    let has = |part: &str| shown.pointer(part).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    ensure!(["/packs/latest", "/collectibles/latest", "/orders/latest"].into_iter().all(has), "{shown}");
    Ok(())
}

/// The statements of a dashboard that is not kept, including the look-ups of the session and of content. What the service
/// executes without any request is subtracted.
fn statements(world: &World, terrace: &Terrace) -> Result<Figure> {
    let count = || terrace.metrics().map(|metrics| metrics.total("terrace_store_statement_seconds_count"));
    let start = count()?;
    thread::sleep(IDLE);
    let (before, begun) = (count()?, Instant::now());
    let mut caller = terrace.caller()?;
    for fan in 0..FANS {
        caller.expect(200, &http::request("GET", DASHBOARD, &[("Cookie", &cookie(fan)?)], None))?;
    }
    let idle = (before - start) * begun.elapsed().div_duration_f64(IDLE);
    let statements = (count()? - before - idle) / float(u64::try_from(FANS)?);
    let what = format!("statements of GET {DASHBOARD}");
    Ok(Figure::plain(
        what,
        world.kind().name(),
        Quantity::new((statements * 100.0).round() / 100.0, "statements"),
    )
    .against("bound", STATEMENTS, Target::AtMost(1.0))
    .with(json!({"dashboards": FANS})))
}
