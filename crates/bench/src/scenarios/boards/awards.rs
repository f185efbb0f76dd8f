//! Durable awards of points: every response is sent after the commit is on disk.

use super::Board;
use crate::client::{Script, drive};
use crate::http;
use crate::numbers::median;
use crate::pgbench::PgBench;
use crate::raw::awards::{AMOUNT, AwardLoop, REASON};
use crate::report::{Figure, Quantity, Target};
use crate::rows::boards;
use crate::scenarios::posts::Seen;
use crate::scenarios::{Plan, for_each_fan, percentile, rate, shown};
use crate::server::{CRON_SECRET, Terrace};
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Result, ensure};
use serde_json::json;
use uuid::Uuid;

pub(super) const PATH: &str = "/api/cron/award-points";
const TARGET: Target = Target::AtLeast(0.5);

/// Returns the figures and the number of awards per second.
pub(super) fn run(
    ground: &Ground,
    plan: &Plan,
    (board, terrace): (&Board, &Terrace),
    copy: &World,
) -> Result<(Vec<Figure>, f64)> {
    log::info!("awards");
    let mut limit = match board.world.kind() {
        Kind::Sqlite => Limit::Raw(AwardLoop::open(&copy.file(), board.in_bulk())?),
        Kind::Postgres => {
            let season = copy.active_season()?;
            Limit::PgBench(PgBench::of_awards(ground.folder(), copy.url(), board.in_bulk(), &season)?)
        }
    };
    let (mut ours, mut groups, mut statements, mut bare) = (vec![], vec![], vec![], vec![]);
    let before = board.world.count_records()?;
    for run in 0..plan.runs {
        let unmeasured = terrace.metrics()?;
        let series = u64::try_from(run)?;
        let scripts = for_each_fan(|connection| Ok(awarding(board, series, connection)))?;
        ours.push(drive(&plan.load(terrace.served(), &[200]), scripts)?);
        let seen = Seen::between(&unmeasured, &terrace.metrics()?);
        groups.push(seen.group);
        statements.push(seen.statements);
        bare.push(match &mut limit {
            Limit::Raw(raw) => raw.run(seen.group, plan.warm_up, plan.duration)?,
            Limit::PgBench(pgbench) => pgbench.run(plan.warm_up, plan.duration)?,
        });
    }
    let written = board.world.count_records()? - before;
    let answered: u64 = ours.iter().map(|sample| sample.latency.count()).sum();
    ensure!(written >= answered, "{answered} awards were acknowledged and {written} are there");
    board.check(terrace)?;
    let details = json!({
        "ours": shown(&ours),
        "limitPerSecond": bare,
        "awardsPerCommit": groups,
        "statementsPerAward": statements,
        "plan": plan.to_json(),
    });
    let limit = match limit {
        Limit::Raw(_) => format!("raw loop, {:.1} to a commit", median(groups.iter().copied())),
        Limit::PgBench(_) => "pgbench".to_owned(),
    };
    let (what, database) = (format!("POST {PATH}, {FANS} connections, durable"), board.world.kind().name());
    let slow = Quantity::new(percentile(&ours, 990), "ms");
    let figures = vec![
        Figure::plain(what.clone(), database, Quantity::new(rate(&ours), "awards/s"))
            .against(limit, median(bare), TARGET)
            .with(details),
        Figure::plain(format!("{what}, p99"), database, slow),
    ];
    Ok((figures, rate(&ours)))
}

/// The bare limit of the database.
enum Limit {
    Raw(AwardLoop),
    PgBench(PgBench),
}

/// An endless sequence of awards to different fans, for facts that no other series or connection uses.
pub(super) fn awarding(board: &Board, series: u64, connection: usize) -> Script {
    let fans = board.in_bulk();
    let mut number = 0;
    Box::new(move |buffer| {
        number += 1;
        // Connections start far apart, so that they rarely award the same fan, as in a large crowd.
        let fan = (number * CONNECTIONS + u64::try_from(connection).unwrap_or(0)).wrapping_mul(boards::STEP);
        let fan = Uuid::from_u128(boards::fan(fan.wrapping_add(series), fans));
        let body = format!(
            "{{\"userId\":\"{fan}\",\"amount\":{AMOUNT},\"reason\":\"{REASON}\",\
             \"source\":\"import:bench/{series}/{connection}/{number}\"}}"
        );
        let secret = format!("Bearer {CRON_SECRET}");
        buffer.extend(http::request("POST", PATH, &[("Authorization", &secret)], Some(&body)));
    })
}

const CONNECTIONS: u64 = 32;
