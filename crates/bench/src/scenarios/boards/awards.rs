//! Durable awards of points: every response is sent after the commit is on disk.

use super::Board;
use crate::client::{Sample, Script, drive};
use crate::commands::{Work, done};
use crate::http;
use crate::limit::Limit;
use crate::report::{Figure, Quantity, Target};
use crate::rows::boards;
use crate::scenarios::trial::Trial;
use crate::scenarios::{Plan, budget, cpu, database_cpu, for_each_fan, rate, shown};
use crate::server::{CRON_SECRET, Terrace};
use crate::world::{FANS, Ground, Kind, World};
use crate::writes::{Bare, Unit, Write};
use anyhow::{Result, anyhow, ensure};
use serde_json::json;
use std::sync::Arc;
use terrace_app::boards::AwardPoints;
use terrace_kernel::UserId;
use terrace_scoring::{NewAward, Points, SourceKey, Writer};
use uuid::Uuid;

/// The number of points of an award, and the reason that fans see.
const AMOUNT: i64 = 7;
const REASON: &str = "A ticket that was used";
pub(in crate::scenarios) const PATH: &str = "/api/cron/award-points";
const TARGET: Target = Target::AtLeast(0.5);
/// The minimum share of the rate at ten thousand fans.
const AT_ANY_SIZE: Target = Target::AtLeast(0.77);
/// The maximum of the 99th percentile, in milliseconds.
const SLOW_MILLIS: f64 = 20.0;
/// The maximum CPU time of the service, in microseconds.
const CPU_MICROS: f64 = 90.0;

/// The minimum share of the rate of the fixed limit.
const fn against_limit(kind: Kind) -> Target {
    match kind {
        Kind::Sqlite => Target::AtLeast(0.5),
        Kind::Postgres => Target::AtLeast(0.75),
    }
}

/// Returns the figures and the number of awards per second.
pub(super) fn run(
    ground: &Ground,
    plan: &Plan,
    (few, small): (&Board, &Terrace),
    (board, terrace): (&Board, &Terrace),
    copy: World,
) -> Result<(Vec<Figure>, f64)> {
    log::info!("awards");
    let mut trial = Trial::new(bare(copy, board.in_bulk())?);
    let mut fixed = Limit::new(ground, board.world.kind(), "awards", board.fans)?;
    let mut of_few = vec![];
    let before = board.world.count_records()?;
    for run in 0..plan.runs {
        let series = u64::try_from(run)?;
        let scripts = for_each_fan(|connection| Ok(awarding(board.in_bulk(), series, connection)))?;
        trial.run(plan, terrace, &mut fixed, &[200], scripts)?;
        let scripts = for_each_fan(|connection| Ok(awarding(few.in_bulk(), series, connection)))?;
        of_few.push(drive(&plan.load(small.served(), &[200]), scripts)?);
    }
    let (answered, written) = (trial.counted(), board.world.count_records()? - before);
    ensure!(written >= answered, "{answered} awards were acknowledged and {written} are there");
    board.check(terrace)?;
    few.check(small)?;
    let (what, database) = (format!("POST {PATH}, {FANS} connections, durable"), board.world.kind().name());
    let ours = || Quantity::new(trial.rate(), "awards/s");
    let mut figures = vec![
        trial.against_bare(plan, (&what, database), ours(), TARGET),
        fixed.figure(&what, trial.rate(), "awards/s", against_limit(board.world.kind())),
        budget(format!("{what}, p99"), database, trial.p99(), SLOW_MILLIS),
        Figure::plain(format!("{what}, {} fans", board.fans), database, ours())
            .against(format!("{} fans", few.fans), rate(&of_few), AT_ANY_SIZE)
            .with(json!({"few": shown(&of_few)})),
    ];
    figures.extend(cpu_time(&trial.ours, database));
    Ok((figures, trial.rate()))
}

/// The CPU time of an award. SQLite works in the process of the service, so that there is no budget for the service
/// alone.
fn cpu_time(ours: &[Sample], database: &'static str) -> Vec<Figure> {
    let own = Quantity::new(cpu(ours), "µs");
    let Some(of_database) = database_cpu(ours) else {
        return vec![Figure::plain("CPU time of an award, service and database", database, own)];
    };
    vec![
        budget("CPU time of an award, service", database, own, CPU_MICROS),
        Figure::plain("CPU time of an award, database", database, Quantity::new(of_database, "µs")),
    ]
}

/// An endless sequence of awards to different ones of `fans` bulk fans, for facts that no other series or connection uses.
pub(in crate::scenarios) fn awarding(fans: u64, series: u64, connection: usize) -> Script {
    let connection = u64::try_from(connection).unwrap_or(0);
    let mut number = 0;
    Box::new(move |buffer| {
        number += 1;
        buffer.extend(award(&subjects(fans, series, connection, number)));
    })
}

/// A fan and a fact, which no other series, connection or number has.
fn subjects(fans: u64, series: u64, connection: u64, number: u64) -> [Uuid; 2] {
    // Connections start far apart, so that they rarely award the same fan, as in a large crowd.
    let fan = (number * CONNECTIONS + connection).wrapping_mul(boards::STEP);
    let fan = Uuid::from_u128(boards::fan(fan.wrapping_add(series), fans));
    [fan, Uuid::from_u64_pair(series, (connection << 40) | number)]
}

fn award([fan, fact]: &[Uuid; 2]) -> Vec<u8> {
    let body = format!(
        "{{\"userId\":\"{fan}\",\"amount\":{AMOUNT},\"reason\":\"{REASON}\",\"source\":\"import:bench/{fact}\"}}"
    );
    let secret = format!("Bearer {CRON_SECRET}");
    http::request("POST", PATH, &[("Authorization", &secret)], Some(&body))
}

/// A series that no run uses.
const RECORDED: u64 = 1 << 32;

/// Awards, for the bare limit.
fn bare(copy: World, fans: u64) -> Result<Bare> {
    let unit = |number| {
        let subjects = subjects(fans, RECORDED, 0, number);
        Unit { requests: vec![award(&subjects)], varies: subjects.to_vec() }
    };
    let work: Work = Arc::new(|app, ids| {
        Box::pin(async move {
            let [fan, fact] = ids.try_into().map_err(|_| anyhow!("an award has a fan and a fact"))?;
            let award = NewAward {
                user: UserId::from_uuid(fan),
                amount: Points::new(AMOUNT),
                reason: REASON.to_owned(),
                source: SourceKey::import(&format!("bench/{fact}"))?,
                at: app.now(),
            };
            let command = AwardPoints { awards: app.awards(), award, team: None, by: Writer::Service };
            done(app.execute(command).await).map(drop)
        })
    });
    let vary = Arc::new(move |run, connection, number| subjects(fans, run, connection, number).to_vec());
    Bare::new(
        copy,
        Write { units: [unit(1), unit(2)], vary, work, rows: "SELECT count(*) FROM points_history" },
    )
}

const CONNECTIONS: u64 = 32;
