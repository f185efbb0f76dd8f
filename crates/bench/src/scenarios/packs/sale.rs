//! Durable buying and opening: every response is sent after the commit is on disk.

use crate::client::Script;
use crate::commands::{Work, done};
use crate::http;
use crate::limit::Limit;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::rows::packs::Offer;
use crate::rows::{boards, quests};
use crate::scenarios::trial::Trial;
use crate::scenarios::{Plan, for_each_fan};
use crate::server::Terrace;
use crate::world::{FANS, Ground, World};
use crate::writes::{Bare, Unit, Write};
use anyhow::{Result, anyhow, ensure};
use std::sync::{Arc, OnceLock};
use terrace_app::packs::{OpenPackRequest, PackOpened, PackPurchased};
use terrace_app::store::{IdempotencyScope, StoredAnswer};
use terrace_app::{App, KeyedRequest};
use terrace_kernel::UserId;
use terrace_packs::{self as packs, ClientSeed, PackId};
use uuid::Uuid;

/// The minimum share of the rate of the bare statements.
const TARGET: Target = Target::AtLeast(0.6);
/// The number of rows that buying and opening insert.
const ROWS: &str = "SELECT (SELECT count(*) FROM idempotency_keys) + (SELECT count(*) FROM ledger_transfers) \
    + (SELECT count(*) FROM pack_purchases) + (SELECT count(*) FROM user_packs) + (SELECT count(*) FROM pack_openings) \
    + (SELECT count(*) FROM owned_collectibles)";
/// The routes of the two requests, as keys are stored for them.
const ROUTES: [&str; 2] = ["POST /api/packs/{id}/purchase", "POST /api/packs/{id}/open"];
/// The service's answers to a purchase and an opening, which the bare limit on SQLite stores under the keys.
static ANSWERS: OnceLock<[String; 2]> = OnceLock::new();

pub(super) fn run(
    ground: &Ground,
    plan: &Plan,
    (world, terrace): (&World, &Terrace),
    copy: &World,
) -> Result<Vec<Figure>> {
    let mut fixed = Limit::new(ground, world.kind(), "packs", plan.buyers)?;
    let answers = answers(world, terrace)?;
    ANSWERS.get_or_init(|| answers);
    let mut figures = Vec::new();
    for offer in [Offer::Plain, Offer::Counted] {
        log::info!("buying and opening {}", offer.name());
        let limit = bare(copy.clone(), plan.buyers, offer)?;
        figures.extend(sell(plan, (world, terrace), offer, (limit, &mut fixed))?);
    }
    Ok(figures)
}

/// Buys and opens one copy.
fn answers(world: &World, terrace: &Terrace) -> Result<[String; 2]> {
    let mut caller = terrace.caller()?;
    let headers = [("Cookie", world.cookie(0)?), ("Idempotency-Key", "example")];
    let mut ask = |what: &str, status: u16| -> Result<String> {
        let path = format!("/api/packs/{}/{what}", Offer::Plain.id());
        Ok(caller.expect(status, &http::request("POST", &path, &headers, Some("{}")))?.text())
    };
    Ok([ask("purchase", 201)?, ask("open", 200)?])
}

fn sell(
    plan: &Plan,
    (world, terrace): (&World, &Terrace),
    offer: Offer,
    (bare, fixed): (Bare, &mut Limit),
) -> Result<Vec<Figure>> {
    let mut trial = Trial::new(bare);
    let sold = || world.number("SELECT count(*) FROM pack_openings");
    let before = [sold()?, world.number(ROWS)?];
    for run in 0..plan.runs {
        let scripts = for_each_fan(|connection| Ok(shopping(plan.buyers, offer, run, connection)))?;
        trial.run(plan, terrace, fixed, &[200, 201], scripts)?;
    }
    let [opened, rows] = [sold()? - before[0], world.number(ROWS)? - before[1]];
    let answered = trial.ours.iter().filter_map(|sample| sample.statuses.get(&200)).sum::<u64>();
    ensure!(opened >= answered, "{answered} openings were acknowledged; {opened} are there");
    let database = world.kind().name();
    let what = format!("buying and opening {}, {FANS} connections, durable", offer.name());
    let per_pack = format!("buying and opening {}", offer.name());
    let rate = Quantity::new(trial.rate() / 2.0, "packs/s");
    Ok(vec![
        trial.against_bare(plan, (&what, database), rate, TARGET),
        fixed.figure(&format!("{what}, requests"), trial.rate(), "requests/s", Target::Unset),
        Figure::plain(format!("{what}, p99 of each request"), database, trial.p99()),
        Figure::plain(format!("{per_pack}: statements in two transactions"), database, trial.statements(2)),
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

/// Buying and opening, for the bare limit.
fn bare(copy: World, buyers: u64, offer: Offer) -> Result<Bare> {
    let ids = move |fan, key| vec![Uuid::from_u128(boards::fan(fan, buyers)), key];
    let unit = |number| {
        let (fan, key) = (fan_of(buyers, 0, number), key_of(offer, RECORDED, 0, number));
        Unit { requests: requests(offer, fan, key).to_vec(), varies: ids(fan, key) }
    };
    let vary = Arc::new(move |run, connection, number| {
        ids(fan_of(buyers, connection, number), key_of(offer, run, connection, number))
    });
    let work: Work = Arc::new(move |app, ids| Box::pin(buy_and_open(app, ids, offer)));
    Bare::new(
        copy,
        Write { units: [unit(0), unit(1)], vary, work, rows: "SELECT count(*) FROM pack_openings" },
    )
}

/// Executes the commands of both requests.
async fn buy_and_open(app: Arc<App>, ids: Vec<Uuid>, offer: Offer) -> Result<()> {
    let [fan, key] = ids.try_into().map_err(|_| anyhow!("a fan buys and opens with a key"))?;
    let (user, pack, key) = (UserId::from_uuid(fan), PackId::from_uuid(offer.id()), key.to_string());
    let [buys, opens] = ROUTES.map(|route| KeyedRequest {
        scope: IdempotencyScope { account: Some(user), operation: route },
        key: key.clone(),
        fingerprint: [7; 32],
    });
    let purchase = app.purchase_pack(user, pack, packs::Quantity::ONE).await?;
    done(app.execute_once(purchase, Some(buys), bought).await)?;
    let client_seed = Some(format!("goal {key}").parse::<ClientSeed>()?);
    let opening = app.open_pack(user, OpenPackRequest { pack, copy: None, client_seed }).await?;
    done(app.execute_once(opening, Some(opens), opened).await).map(drop)
}

fn bought(purchased: &PackPurchased) -> StoredAnswer {
    let created = Some(format!("/api/user/purchases/{}", purchased.purchase.id));
    StoredAnswer { created, body: answer(|[purchase, _]| purchase) }
}

fn opened(_: &PackOpened) -> StoredAnswer {
    StoredAnswer { created: None, body: answer(|[_, opening]| opening) }
}

fn answer(which: fn(&[String; 2]) -> &String) -> String {
    ANSWERS.get().map(which).cloned().unwrap_or_default()
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
