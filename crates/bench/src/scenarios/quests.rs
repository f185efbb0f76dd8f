//! Quests: durable completion of steps, compared with the bare database, with the fixed limit and with
//! awards; the list, compared with a bare handler; and the cost of a progress check that finds nothing.

use super::boards::awards::{self, awarding};
use super::contest::Read;
use super::trial::Trial;
use super::{Plan, budget, for_each_fan, memory, rate, shown};
use crate::client::{Script, always, drive};
use crate::commands::{Work, done};
use crate::http;
use crate::limit::Limit;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::rows::{boards, quests};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use crate::writes::{Bare, Unit, Write};
use anyhow::{Result, anyhow, ensure};
use serde_json::json;
use std::sync::Arc;
use terrace_kernel::UserId;
use terrace_quests::StepId;
use uuid::Uuid;

const LIST: &str = "/api/quests";
const STEP: &str = "/api/quests/complete-step";
const CHECK: &str = "/api/quests/check-progress";
/// The minimum share of the rate of the bare statements.
const STEPS: Target = Target::AtLeast(0.5);
/// The minimum share of the rate of awards.
const OF_AWARDS: Target = Target::AtLeast(0.5);
/// The maximum of the 99th percentile of steps, in milliseconds.
const SLOW_MILLIS: f64 = 30.0;
/// The minimum share of the rate of the bare handler.
const OF_BARE: Target = Target::AtLeast(0.6);
/// The maximum number of statements of a check that finds nothing.
const STATEMENTS: f64 = 4.0;
const WITHIN: Target = Target::AtMost(1.0);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "quests", 0)?;
    let regulars = u64::try_from(world.fans.len())?;
    world.fill_boards(plan.questers + regulars)?;
    world.fill_quests(plan.questers)?;
    let copy = ground.copy(&world, "quests_bare")?;
    let terrace = world.serve()?;
    let list = Read {
        what: format!("GET {LIST}, signed out"),
        database: kind.name(),
        path: LIST,
        requests: &for_each_fan(|_| Ok(vec![http::request("GET", LIST, &[], None)]))?,
        status: 200,
        target: OF_BARE,
    };
    let mut figures = list.run(ground, plan, &terrace)?;
    figures.push(checks(plan, &world, &terrace)?);
    figures.extend(steps(ground, plan, (&world, &terrace), copy)?);
    figures.push(memory(&terrace, "these runs", kind.name())?);
    Ok(figures)
}

/// The cost of a check that finds nothing, including all other queries of the service meanwhile: for authentication,
/// for the quests once a second, and for its own background checks.
fn checks(plan: &Plan, world: &World, terrace: &Terrace) -> Result<Figure> {
    log::info!("checks that find nothing");
    let check = http::request("POST", CHECK, &[("Cookie", world.cookie(0)?)], Some("{}"));
    terrace.caller()?.expect(200, &check)?;
    let count = || terrace.metrics().map(|metrics| metrics.total("terrace_store_statement_seconds_count"));
    let before = count()?;
    let sample = drive(&plan.load(terrace.served(), &[200]), vec![always(check)])?;
    let statements = (count()? - before) / float(sample.answered.max(1));
    let what = format!("statements of POST {CHECK} with nothing new");
    Ok(Figure::plain(what, world.kind().name(), Quantity::new(statements, "statements"))
        .against("bound", STATEMENTS, WITHIN)
        .with(json!({"checks": sample.answered, "sample": shown(&[sample])})))
}

fn steps(
    ground: &Ground,
    plan: &Plan,
    (world, terrace): (&World, &Terrace),
    copy: World,
) -> Result<Vec<Figure>> {
    log::info!("steps");
    let runs = u64::try_from(plan.runs)?;
    let mut trial = Trial::new(bare(copy, plan.questers, runs)?);
    let mut fixed = Limit::new(ground, world.kind(), "steps", plan.questers)?;
    let mut awarded = vec![];
    let before = [world.count_steps()?, world.count_records()?];
    let block = plan.questers / runs;
    for run in 0..runs {
        let scripts = for_each_fan(|connection| Ok(completing(run * block, block, connection)))?;
        trial.run(plan, terrace, &mut fixed, &[200], scripts)?;
        let scripts = for_each_fan(|connection| Ok(awarding(plan.questers, run, connection)))?;
        awarded.push(drive(&plan.load(terrace.served(), &[200]), scripts)?);
    }
    ensure!(
        trial.ours.iter().all(|sample| sample.answered < block * quests::STEPS),
        "there are more steps in a second than fans for them"
    );
    let awards_answered = awarded.iter().map(|sample| sample.latency.count()).sum::<u64>();
    let answered = [trial.counted(), trial.counted() + awards_answered];
    let written = [world.count_steps()? - before[0], world.count_records()? - before[1]];
    ensure!(
        written.iter().zip(answered).all(|(written, answered)| *written >= answered),
        "{answered:?} steps and records were acknowledged; {written:?} are there"
    );
    let (what, database) = (format!("POST {STEP}, {FANS} connections, durable"), world.kind().name());
    let ours = |unit| Quantity::new(trial.rate(), unit);
    Ok(vec![
        trial.against_bare(plan, (&what, database), ours("steps/s"), STEPS),
        fixed.figure(&what, trial.rate(), "steps/s", Target::Unset),
        Figure::plain(format!("{what}, against awards"), database, ours("requests/s"))
            .against(format!("POST {}", awards::PATH), rate(&awarded), OF_AWARDS)
            .with(json!({"awards": shown(&awarded)})),
        budget(format!("{what}, p99"), database, trial.p99(), SLOW_MILLIS),
    ])
}

/// Steps of distinct fans from `first` on; connections share no fan.
fn completing(first: u64, block: u64, connection: usize) -> Script {
    let connection = u64::try_from(connection).unwrap_or(0);
    let mut next = 0;
    Box::new(move |buffer| {
        let fan = first + fan_of(next, connection) % block;
        buffer.extend(complete(fan, step(next)));
        next += 1;
    })
}

/// The number of the fan who completes the step with this number on a connection.
const fn fan_of(number: u64, connection: u64) -> u64 {
    number / quests::STEPS * CONNECTIONS + connection
}

fn step(number: u64) -> Uuid {
    Uuid::from_u128(quests::step(number % quests::STEPS))
}

fn complete(fan: u64, step: Uuid) -> Vec<u8> {
    let (cookie, body) = (quests::cookie(fan), format!("{{\"stepId\":\"{step}\"}}"));
    http::request("POST", STEP, &[("Cookie", &cookie)], Some(&body))
}

const CONNECTIONS: u64 = 32;

/// Steps, for the bare limit. Those of the last two fans are recorded.
fn bare(copy: World, fans: u64, runs: u64) -> Result<Bare> {
    let block = (fans - 2) / runs;
    let ids = move |fan, number| vec![Uuid::from_u128(boards::fan(fan, fans)), step(number)];
    let unit = |fan| Unit { requests: vec![complete(fan, step(0))], varies: ids(fan, 0) };
    let work: Work = Arc::new(|app, ids| {
        Box::pin(async move {
            let [fan, step] = ids.try_into().map_err(|_| anyhow!("a fan completes a step"))?;
            done(app.complete_step(UserId::from_uuid(fan), StepId::from_uuid(step)).await).map(drop)
        })
    });
    let vary = Arc::new(move |run, connection, number| {
        ids(run * block + fan_of(number, connection) % block, number)
    });
    let units = [unit(fans - 2), unit(fans - 1)];
    Bare::new(copy, Write { units, vary, work, rows: "SELECT count(*) FROM user_step_status" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_is_asked_for_twice() {
        let mut scripts: Vec<Script> = (0..FANS).map(|connection| completing(0, 64, connection)).collect();
        let mut sent = std::collections::BTreeSet::new();
        for _ in 0..8 {
            for script in &mut scripts {
                let mut request = Vec::new();
                script(&mut request);
                assert!(sent.insert(request));
            }
        }
    }
}
