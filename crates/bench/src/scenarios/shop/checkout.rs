//! Durable checkouts of three lines, paid with points: every response is sent after the commit is on disk.

use super::{Shop, carts};
use crate::client::Script;
use crate::commands::{Work, done};
use crate::http;
use crate::limit::Limit;
use crate::report::{Figure, Quantity, Target};
use crate::rows::{boards, quests};
use crate::scenarios::trial::Trial;
use crate::scenarios::{Plan, for_each_fan};
use crate::server::Terrace;
use crate::world::{FANS, Ground, World};
use crate::writes::{Bare, Unit, Write};
use anyhow::{Result, anyhow, ensure};
use std::sync::Arc;
use terrace_app::shop::ShownOrder;
use terrace_app::store::{IdempotencyScope, StoredAnswer};
use terrace_app::{App, KeyedRequest};
use terrace_kernel::UserId;
use uuid::Uuid;

const PATH: &str = "/api/checkout";
/// The route, as keys are stored for it.
const ROUTE: &str = "POST /api/checkout";
/// The minimum share of the rate of the bare statements.
const TARGET: Target = Target::AtLeast(0.6);
const ORDERS: &str = "SELECT count(*) FROM orders";
/// The size of the service's answer, which the bare limit on SQLite stores under the keys.
const ANSWER: usize = 1_600;
const CONNECTIONS: u64 = 32;

pub(super) fn run(
    ground: &Ground,
    plan: &Plan,
    (world, terrace): (&World, &Terrace),
    copy: World,
) -> Result<Vec<Figure>> {
    log::info!("checkouts");
    let runs = u64::try_from(plan.runs)?;
    let shop = Arc::new(Shop::new()?);
    let fans = carts(plan);
    let mut trial = Trial::new(bare(copy, fans, runs, &shop)?);
    let mut fixed = Limit::new(ground, world.kind(), "checkouts", fans)?;
    let (before, block) = (world.number(ORDERS)?, fans / runs);
    for run in 0..runs {
        let scripts = for_each_fan(|connection| Ok(ordering(fans, run * block, block, connection, &shop)))?;
        trial.run(plan, terrace, &mut fixed, &[201], scripts)?;
    }
    ensure!(
        trial.ours.iter().all(|sample| sample.answered < block),
        "there are more checkouts in a second than fans for them"
    );
    let (answered, written) = (trial.counted(), world.number(ORDERS)? - before);
    ensure!(written >= answered, "{answered} orders were acknowledged; {written} are there");
    let (what, database) =
        (format!("POST {PATH}, three lines, {FANS} connections, durable"), world.kind().name());
    let rate = Quantity::new(trial.rate(), "orders/s");
    Ok(vec![
        trial.against_bare(plan, (&what, database), rate, TARGET),
        fixed.figure(&what, trial.rate(), "orders/s", Target::Unset),
        Figure::plain(format!("{what}, p99"), database, trial.p99()),
        Figure::plain(format!("POST {PATH}, three lines: statements"), database, trial.statements(1)),
    ])
}

/// The number of the fan who orders with this number on a connection: a cart is ordered once.
const fn fan_of(connection: u64, number: u64) -> u64 {
    number * CONNECTIONS + connection
}

fn user(fan: u64, fans: u64) -> Uuid {
    Uuid::from_u128(boards::fan(fan, fans))
}

/// Checkouts of distinct fans from `first` on; connections share no fan.
fn ordering(fans: u64, first: u64, block: u64, connection: usize, shop: &Arc<Shop>) -> Script {
    let connection = u64::try_from(connection).unwrap_or(0);
    let (mut next, shop) = (0, Arc::clone(shop));
    Box::new(move |buffer| {
        let fan = first + fan_of(connection, next) % block;
        buffer.extend(request(&shop, fan, fans));
        next += 1;
    })
}

fn request(shop: &Shop, fan: u64, fans: u64) -> Vec<u8> {
    let user = user(fan, fans);
    let (cookie, key) = (quests::cookie(fan), user.to_string());
    let headers = [("Cookie", cookie.as_str()), ("Idempotency-Key", &key)];
    // Without a quote the request is refused, which the client reports.
    let quote = shop.quote(UserId::from_uuid(user)).unwrap_or_default();
    http::request("POST", PATH, &headers, Some(&format!("{{\"quote\":\"{quote}\"}}")))
}

/// Checkouts, for the bare limit. Those of the last two fans are recorded. Keys are the fans' ids.
fn bare(copy: World, fans: u64, runs: u64, shop: &Arc<Shop>) -> Result<Bare> {
    let block = (fans - 2) / runs;
    let unit = |fan| Unit { requests: vec![request(shop, fan, fans)], varies: vec![user(fan, fans)] };
    let units = [unit(fans - 2), unit(fans - 1)];
    let vary = Arc::new(move |run, connection, number| {
        vec![user(run * block + fan_of(connection, number) % block, fans)]
    });
    let quotes = Arc::clone(shop);
    let work: Work = Arc::new(move |app, ids| Box::pin(order(app, ids, Arc::clone(&quotes))));
    Bare::new(copy, Write { units, vary, work, rows: ORDERS })
}

async fn order(app: Arc<App>, ids: Vec<Uuid>, shop: Arc<Shop>) -> Result<()> {
    let [fan] = ids.try_into().map_err(|_| anyhow!("a fan orders"))?;
    let user = UserId::from_uuid(fan);
    let request = KeyedRequest {
        scope: IdempotencyScope { account: Some(user), operation: ROUTE },
        key: fan.to_string(),
        fingerprint: [7; 32],
    };
    done(app.place_order(user, shop.quote(user)?, false, Some(request), ordered).await).map(drop)
}

fn ordered(shown: &ShownOrder) -> StoredAnswer {
    let created = Some(format!("/api/user/orders/{}", shown.order.id));
    StoredAnswer { created, body: "x".repeat(ANSWER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cart_is_ordered_twice() {
        let shop = Arc::new(Shop::new().unwrap());
        let script = |connection| ordering(640, 0, 320, connection, &shop);
        let mut scripts: Vec<Script> = (0..FANS).map(script).collect();
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
