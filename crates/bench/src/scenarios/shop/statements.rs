//! Pages of a statement of money, of an account with few entries and of one with many.

use crate::client::{Sample, drive, in_turn};
use crate::http;
use crate::report::{Figure, Quantity, Target};
use crate::rows::{quests, shop as rows};
use crate::scenarios::{Plan, mean, shown};
use crate::server::Terrace;
use crate::world::World;
use anyhow::{Result, ensure};
use serde_json::{Value, json};

const PATH: &str = "/api/cash-balance/statement";
/// The number of entries on a measured page.
const PAGE: u64 = 50;
/// The number of different pages of an account. They begin at entries that are evenly spread over it.
const PAGES: u64 = 200;
/// The maximum ratio of the cost in the large account to that in the small one.
const GROWTH: Target = Target::AtMost(1.3);

pub(super) fn run(plan: &Plan, world: &World) -> Result<Vec<Figure>> {
    let (small, large) = (plan.small, plan.records);
    log::info!("statements of {small} and {large} entries");
    world.fill_statements([small, large])?;
    let terrace = world.serve()?;
    let pages = [pages(0, small), pages(1, large)];
    for (pages, entries) in pages.iter().zip([small, large]) {
        check(&terrace, pages, entries)?;
    }
    let mut samples: [Vec<Sample>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..plan.runs {
        for (pages, samples) in pages.iter().zip(&mut samples) {
            samples.push(drive(&plan.load(terrace.served(), &[200]), vec![in_turn(pages.clone())])?);
        }
    }
    terrace.stop()?;
    let [few, many] = samples;
    let what = format!("GET {PATH}, a page of {PAGE} of {large} entries");
    Ok(vec![
        Figure::plain(what, world.kind().name(), Quantity::new(mean(&many), "ms"))
            .against(format!("of {small} entries"), mean(&few), GROWTH)
            .with(json!({"large": shown(&many), "small": shown(&few), "differentPages": PAGES})),
    ])
}

/// Requests for pages of the account of this fan, which has this number of entries. All are full.
fn pages(fan: u64, entries: u64) -> Vec<Vec<u8>> {
    let cookie = quests::cookie(fan);
    let first = |page| page * (entries - PAGE) / PAGES;
    let request = |page| {
        let target = format!("{PATH}?currency=EUR&limit={PAGE}&from={}", rows::booked_at(first(page)));
        http::request("GET", &target, &[("Cookie", &cookie)], None)
    };
    (0..PAGES).map(request).collect()
}

/// Fails unless the first and the last page are full and the statement ends with the balance of the last entry.
fn check(terrace: &Terrace, pages: &[Vec<u8>], entries: u64) -> Result<()> {
    for page in [pages.first(), pages.last()].into_iter().flatten() {
        let statement: Value = serde_json::from_slice(&terrace.caller()?.expect(200, page)?.body)?;
        let listed = statement.pointer("/entries").and_then(Value::as_array).map_or(0, Vec::len);
        ensure!(u64::try_from(listed)? == PAGE, "{listed} entries are on a page: {statement}");
        let closing = statement.pointer("/closing").and_then(Value::as_u64);
        ensure!(closing == Some(entries), "another balance: {statement}");
    }
    Ok(())
}
