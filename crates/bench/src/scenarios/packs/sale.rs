//! Durable buying and opening: every response is sent after the commit is on disk.

use crate::client::{Script, drive};
use crate::http;
use crate::limit;
use crate::numbers::{float, median};
use crate::raw::packs::PackLoop;
use crate::replay::{Replay, Unit};
use crate::report::{Figure, Quantity, Target};
use crate::rows::packs::{Example, Offer};
use crate::rows::{boards, quests};
use crate::scenarios::posts::Seen;
use crate::scenarios::{Plan, for_each_fan, percentile, rate, shown};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// The minimum share of the rate of the bare statements.
const TARGET: Target = Target::AtLeast(0.4);
/// The number of rows that buying and opening insert.
const ROWS: &str = "SELECT (SELECT count(*) FROM idempotency_keys) + (SELECT count(*) FROM ledger_transfers) \
    + (SELECT count(*) FROM pack_purchases) + (SELECT count(*) FROM user_packs) + (SELECT count(*) FROM pack_openings) \
    + (SELECT count(*) FROM owned_collectibles)";
/// The distance between the number ranges of the packs for purchases by the bare limits on one database.
const APART: u64 = 100_000_000;

pub(super) fn run(
    ground: &Ground,
    plan: &Plan,
    (world, terrace): (&World, &Terrace),
    raw: &World,
) -> Result<Vec<Figure>> {
    let mut fixed = limit::Limit::new(ground, world.kind(), "packs", plan.buyers)?;
    let mut figures = Vec::new();
    for (offer, first) in [(Offer::Plain, 0), (Offer::Counted, APART)] {
        log::info!("buying and opening {}", offer.name());
        let example = example(world, terrace, offer)?;
        let limit = match world.kind() {
            Kind::Sqlite => Limit::Raw(Box::new(PackLoop::open(&raw.file(), plan.buyers, first, example)?)),
            Kind::Postgres => Limit::Replay(replay(raw.clone(), plan.buyers, offer)?),
        };
        figures.extend(sell(plan, (world, terrace), offer, (limit, &mut fixed))?);
    }
    Ok(figures)
}

/// The bare limit of the database.
enum Limit {
    Raw(Box<PackLoop>),
    Replay(Replay),
}

impl Limit {
    /// Packs bought and opened per second, with `group` commands per commit on average if commits are grouped.
    fn run(&mut self, plan: &Plan, group: f64) -> Result<f64> {
        match self {
            Self::Raw(raw) => Ok(raw.run(group, plan.warm_up, plan.duration)? / 2.0),
            Self::Replay(replay) => replay.run(plan),
        }
    }

    fn name(&self, groups: &[f64]) -> String {
        match self {
            Self::Raw(_) => format!("raw loop, {:.1} to a commit", median(groups.iter().copied())),
            Self::Replay(_) => "replay".to_owned(),
        }
    }
}

/// Buys and opens one copy, to record what is written.
fn example(world: &World, terrace: &Terrace, offer: Offer) -> Result<Example> {
    let mut caller = terrace.caller()?;
    let mut ask = |what: &str, status: u16| -> Result<String> {
        let path = format!("/api/packs/{}/{what}", offer.id());
        let headers = [("Cookie", world.cookie(0)?), ("Idempotency-Key", offer.key())];
        Ok(caller.expect(status, &http::request("POST", &path, &headers, Some("{}")))?.text())
    };
    let (purchase, opening) = (ask("purchase", 201)?, ask("open", 200)?);
    let answer: Value = serde_json::from_str(&opening)?;
    let id = |pointer: String| -> Result<Uuid> {
        Ok(answer.pointer(&pointer).and_then(Value::as_str).context("an id is missing")?.parse()?)
    };
    let given = |slot| id(format!("/collectibles/{slot}/collectible/id"));
    let feed = match world.kind() {
        Kind::Sqlite => "char(10)",
        Kind::Postgres => "chr(10)",
    };
    let copy = world.quoted(id("/userPack/id".to_owned())?);
    let tables =
        format!("SELECT replace(tables, {feed}, '|') AS line FROM pack_openings WHERE copy_id = {copy}");
    let tables = world.lines(&tables)?.first().context("there is no such opening")?.replace('|', "\n");
    Ok(Example { offer, purchase, opening, tables, collectibles: [given(0)?, given(1)?, given(2)?] })
}

fn sell(
    plan: &Plan,
    (world, terrace): (&World, &Terrace),
    offer: Offer,
    (mut limit, fixed): (Limit, &mut limit::Limit),
) -> Result<Vec<Figure>> {
    let (mut ours, mut groups, mut statements, mut bare) = (vec![], vec![], vec![], vec![]);
    let sold = || world.number("SELECT count(*) FROM pack_openings");
    let before = [sold()?, world.number(ROWS)?];
    for run in 0..plan.runs {
        let unmeasured = terrace.metrics()?;
        let scripts = for_each_fan(|connection| Ok(shopping(plan.buyers, offer, run, connection)))?;
        ours.push(drive(&plan.load(terrace.served(), &[200, 201]), scripts)?);
        let seen = Seen::between(&unmeasured, &terrace.metrics()?);
        groups.push(seen.group);
        statements.push(2.0 * seen.statements);
        bare.push(limit.run(plan, seen.group)?);
        fixed.run(plan, seen.group)?;
    }
    let [opened, rows] = [sold()? - before[0], world.number(ROWS)? - before[1]];
    let answered = |status| ours.iter().filter_map(|sample| sample.statuses.get(&status)).sum::<u64>();
    ensure!(opened >= answered(200), "{} openings were acknowledged; {opened} are there", answered(200));
    let details = json!({
        "ours": shown(&ours),
        "limitPerSecond": bare,
        "commandsPerCommit": groups,
        "statementsPerPack": statements,
        "recorded": match &limit {
            Limit::Raw(_) => Value::Null,
            Limit::Replay(replay) => replay.shown(),
        },
        "plan": plan.to_json(),
    });
    let database = world.kind().name();
    let what = format!("buying and opening {}, {FANS} connections, durable", offer.name());
    let per_pack = format!("buying and opening {}", offer.name());
    Ok(vec![
        Figure::plain(what.clone(), database, Quantity::new(rate(&ours) / 2.0, "packs/s"))
            .against(limit.name(&groups), median(bare), TARGET)
            .with(details),
        fixed.figure(&format!("{what}, requests"), rate(&ours), "requests/s", Target::Unset),
        Figure::plain(
            format!("{what}, p99 of each request"),
            database,
            Quantity::new(percentile(&ours, 990), "ms"),
        ),
        Figure::plain(
            format!("{per_pack}: statements in two transactions"),
            database,
            Quantity::new(median(statements), "statements"),
        ),
        Figure::plain(
            format!("{per_pack}: rows that are inserted"),
            database,
            Quantity::new(float(rows) / float(opened.max(1)), "rows"),
        ),
    ])
}

/// A sequence of fans who each buy and open a copy; connections share no fan.
fn shopping(buyers: u64, offer: Offer, run: usize, connection: usize) -> Script {
    let (run, connection) = (u64::try_from(run).unwrap_or(0), u64::try_from(connection).unwrap_or(0));
    let (mut next, mut opening) = (0, None);
    Box::new(move |buffer| {
        buffer.extend(opening.take().unwrap_or_else(|| {
            let fan = fan_of(buyers, connection, next);
            let [purchase, open] = requests(offer, fan, key_of(offer, run, connection, next));
            next += 1;
            opening = Some(open);
            purchase
        }));
    })
}

/// The number of the fan who buys the pack with this number on a connection.
const fn fan_of(buyers: u64, connection: u64, number: u64) -> u64 {
    (number * CONNECTIONS + connection) % buyers
}

/// The key of both requests.
const fn key_of(offer: Offer, run: u64, connection: u64, number: u64) -> Uuid {
    Uuid::from_u64_pair(run, (offer.number() << 60) | (connection << 40) | number)
}

/// A purchase, and the opening of the copy.
fn requests(offer: Offer, fan: u64, key: Uuid) -> [Vec<u8>; 2] {
    let (cookie, key) = (quests::cookie(fan), key.to_string());
    let headers = [("Cookie", cookie.as_str()), ("Idempotency-Key", &key)];
    let seed = format!("{{\"clientSeed\":\"goal {key}\"}}");
    [("purchase", "{}"), ("open", &seed)].map(|(what, body)| {
        http::request("POST", &format!("/api/packs/{}/{what}", offer.id()), &headers, Some(body))
    })
}

const CONNECTIONS: u64 = 32;
/// A run whose keys the measured service does not use.
const RECORDED: u64 = 1 << 32;

/// Records what two fans buy and open, and replays it for the others.
fn replay(raw: World, buyers: u64, offer: Offer) -> Result<Replay> {
    let ids = move |fan, key| vec![Uuid::from_u128(boards::fan(fan, buyers)), key];
    let unit = |number| {
        let (fan, key) = (fan_of(buyers, 0, number), key_of(offer, RECORDED, 0, number));
        Unit { requests: requests(offer, fan, key).to_vec(), varies: ids(fan, key) }
    };
    let vary = move |run, connection, number| {
        ids(fan_of(buyers, connection, number), key_of(offer, run, connection, number))
    };
    Replay::record(raw, [unit(0), unit(1)], Arc::new(vary), "SELECT count(*) FROM pack_openings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bought_is_opened_next() {
        let mut script = shopping(10_000, Offer::Plain, 1, 2);
        let mut requests = Vec::new();
        for _ in 0..4 {
            let mut request = Vec::new();
            script(&mut request);
            requests.push(String::from_utf8(request).unwrap());
        }
        let line = |place: usize, name: &str| {
            let found = requests[place].lines().find(|line| line.starts_with(name));
            found.unwrap().to_owned()
        };
        assert!(line(0, "POST").contains("/purchase ") && line(1, "POST").contains("/open "));
        assert_eq!((line(0, "Cookie"), line(0, "Idem")), (line(1, "Cookie"), line(1, "Idem")));
        assert_ne!((line(0, "Cookie"), line(0, "Idem")), (line(2, "Cookie"), line(2, "Idem")));
        assert!(line(2, "POST").contains("/purchase "));
    }
}
