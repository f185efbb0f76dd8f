//! Durable free spins of a wheel: every response is sent after the commit is on disk.

use crate::client::Script;
use crate::commands::{Work, done};
use crate::http;
use crate::limit::Limit;
use crate::report::{Figure, Quantity, Target};
use crate::rows::{boards, quests, wheels};
use crate::scenarios::trial::Trial;
use crate::scenarios::{Plan, for_each_fan};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use crate::writes::{Bare, Unit, Write};
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use terrace_app::store::{IdempotencyScope, StoredAnswer};
use terrace_app::wheels::{SpinWheelRequest, WheelSeeds, WheelSpun};
use terrace_app::{App, KeyedRequest};
use terrace_games::WheelId;
use terrace_kernel::UserId;
use uuid::Uuid;

/// The route, as keys are stored for it.
const ROUTE: &str = "POST /api/wheel/{id}/spin";
/// The minimum share of the rate of the bare statements.
const TARGET: Target = Target::AtLeast(0.6);
/// Counts of what each spin writes once: the spin, its number in the fan's standing, its fan, who spins once, and the
/// transfer of its coins.
const RECORDS: [&str; 4] = [
    SPINS,
    "SELECT sum(count) FROM spin_states",
    "SELECT count(DISTINCT user_id) FROM spins",
    "SELECT count(*) FROM ledger_transfers WHERE unit = 'coins'",
];
const SPINS: &str = "SELECT count(*) FROM spins";
const CONNECTIONS: u64 = 32;
/// The service's answer to a spin, which the bare limit on SQLite stores under the keys.
static ANSWER: OnceLock<String> = OnceLock::new();

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    log::info!("spins");
    let world = ground.world(kind, "spins", 0)?;
    let (regulars, fans) = (u64::try_from(world.fans.len())?, spinners(plan));
    world.fill_boards(fans + regulars)?;
    world.fill_wheel(fans)?;
    let copy = ground.copy(&world, "spins_bare")?;
    let seeds = Arc::new(WheelSeeds::new(&world.secret()?));
    let terrace = world.serve()?;
    let answer = example(&world, &terrace, &seeds)?;
    ANSWER.get_or_init(|| answer);
    let runs = u64::try_from(plan.runs)?;
    let mut trial = Trial::new(bare(copy, fans, runs, &seeds)?);
    let mut fixed = Limit::new(ground, kind, "spins", fans)?;
    let (before, block) = (world.number(SPINS)?, fans / runs);
    for run in 0..runs {
        let scripts = for_each_fan(|connection| Ok(spinning(fans, run * block, block, connection, &seeds)))?;
        trial.run(plan, &terrace, &mut fixed, &[201], scripts)?;
    }
    let answers = || trial.ours.iter().map(|sample| sample.answered);
    ensure!(answers().all(|number| number < block), "there are more spins in a second than fans for them");
    // Every request was answered, so that neither fewer nor more may be there.
    let expected = before + answers().sum::<u64>();
    let recorded = RECORDS.map(|query| world.number(query)).into_iter().collect::<Result<Vec<_>>>()?;
    ensure!(
        recorded.iter().all(|count| *count == expected),
        "{expected} spins were acknowledged; {recorded:?} are there"
    );
    let (what, database) = (format!("{ROUTE}, free, {FANS} connections, durable"), kind.name());
    let rate = Quantity::new(trial.rate(), "spins/s");
    Ok(vec![
        trial.against_bare(plan, (&what, database), rate, TARGET),
        fixed.figure(&what, trial.rate(), "spins/s", Target::Unset),
        Figure::plain(format!("{what}, p99"), database, trial.p99()),
        Figure::plain(format!("{ROUTE}, free: statements"), database, trial.statements(1)),
    ])
}

/// The number of fans. Each spins once, and the bare commands on SQLite may spin over 10,000 times a second.
const fn spinners(plan: &Plan) -> u64 {
    plan.questers * 4
}

/// Spins once with the hash that the service shows, and returns the answer. Fails unless the hash is the one that is
/// computed here.
fn example(world: &World, terrace: &Terrace, seeds: &WheelSeeds) -> Result<String> {
    let mut caller = terrace.caller()?;
    let (wheel, cookie) = (wheels::wheel(), world.cookie(0)?);
    let shown = caller.get(&format!("/api/wheel/{wheel}"), &[("Cookie", cookie)])?;
    let shown: Value = serde_json::from_slice(&shown.body)?;
    let hash =
        shown.pointer("/wheel/me/serverSeedHash").and_then(Value::as_str).context("no hash is shown")?;
    let fan: Uuid = world.fans.first().context("no fan is signed in")?.id.parse()?;
    ensure!(hash == seed_hash(seeds, fan), "another hash is shown: {shown}");
    Ok(caller.expect(201, &request(cookie, fan, hash))?.text())
}

/// The hash of the seed of a fan's first spin.
fn seed_hash(seeds: &WheelSeeds, fan: Uuid) -> String {
    seeds.seed(WheelId::from_uuid(wheels::wheel()), UserId::from_uuid(fan), 1).hash().to_string()
}

fn client_seed(fan: Uuid) -> String {
    format!("goal {fan}")
}

/// A free spin. Its key is the fan's id.
fn request(cookie: &str, fan: Uuid, seed_hash: &str) -> Vec<u8> {
    let (key, client_seed) = (fan.to_string(), client_seed(fan));
    let body = json!({"pay": "free", "serverSeedHash": seed_hash, "clientSeed": client_seed}).to_string();
    let headers = [("Cookie", cookie), ("Idempotency-Key", &key)];
    http::request("POST", &format!("/api/wheel/{}/spin", wheels::wheel()), &headers, Some(&body))
}

fn user(fan: u64, fans: u64) -> Uuid {
    Uuid::from_u128(boards::fan(fan, fans))
}

/// The number of the fan who spins with this number on a connection.
const fn fan_of(connection: u64, number: u64) -> u64 {
    number * CONNECTIONS + connection
}

/// Spins of distinct fans from `first` on; connections share no fan.
fn spinning(fans: u64, first: u64, block: u64, connection: usize, seeds: &Arc<WheelSeeds>) -> Script {
    let connection = u64::try_from(connection).unwrap_or(0);
    let (mut next, seeds) = (0, Arc::clone(seeds));
    Box::new(move |buffer| {
        buffer.extend(spin_of(first + fan_of(connection, next) % block, fans, &seeds));
        next += 1;
    })
}

/// The spin of the fan with this number.
fn spin_of(number: u64, fans: u64, seeds: &WheelSeeds) -> Vec<u8> {
    let fan = user(number, fans);
    request(&quests::cookie(number), fan, &seed_hash(seeds, fan))
}

/// Spins, for the bare limit. Those of the last two fans are recorded.
fn bare(copy: World, fans: u64, runs: u64, seeds: &WheelSeeds) -> Result<Bare> {
    let block = (fans - 2) / runs;
    let unit = |fan| Unit { requests: vec![spin_of(fan, fans, seeds)], varies: vec![user(fan, fans)] };
    let units = [unit(fans - 2), unit(fans - 1)];
    let vary = Arc::new(move |run, connection, number| {
        vec![user(run * block + fan_of(connection, number) % block, fans)]
    });
    let work: Work = Arc::new(|app, ids| Box::pin(spin(app, ids)));
    Bare::new(copy, Write { units, vary, work, rows: SPINS })
}

/// Executes the command of a request.
async fn spin(app: Arc<App>, ids: Vec<Uuid>) -> Result<()> {
    let [fan] = ids.try_into().map_err(|_| anyhow!("a fan spins"))?;
    let (user, wheel) = (UserId::from_uuid(fan), WheelId::from_uuid(wheels::wheel()));
    let keyed = KeyedRequest {
        scope: IdempotencyScope { account: Some(user), operation: ROUTE },
        key: fan.to_string(),
        fingerprint: [7; 32],
    };
    let asked = SpinWheelRequest {
        is_free: true,
        seed_hash: app.wheel_seeds()?.seed(wheel, user, 1).hash(),
        client_seed: client_seed(fan).parse()?,
    };
    let command = app.spin_wheel(user, wheel, asked).await?;
    done(app.execute_once(command, Some(keyed), spun).await).map(drop)
}

fn spun(_: &WheelSpun) -> StoredAnswer {
    let body = ANSWER.get().cloned().unwrap_or_default();
    StoredAnswer { created: Some("/api/user/spins".to_owned()), body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_app::platform::SecretKey;

    #[test]
    fn no_fan_spins_twice() {
        let seeds = Arc::new(WheelSeeds::new(&SecretKey::from_bytes([1; 32])));
        let script = |connection| spinning(640, 0, 320, connection, &seeds);
        let mut scripts: Vec<Script> = (0..FANS).map(script).collect();
        let mut sent = std::collections::BTreeSet::new();
        for _ in 0..8 {
            for script in &mut scripts {
                let mut request = Vec::new();
                script(&mut request);
                let text = String::from_utf8(request).unwrap();
                let cookie = text.lines().find(|line| line.starts_with("Cookie")).unwrap();
                assert!(sent.insert(cookie.to_owned()));
            }
        }
    }
}
