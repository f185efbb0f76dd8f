//! A crowd that races for numbered editions: no more copies are sold than exist, each serial is given once, and every
//! fan has exactly what they paid for, even if the service is killed in the middle.

use crate::client::crowd::{OnResponse, send_each};
use crate::http::{self, Response};
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::rows::packs::{EDITIONS, Offer, numbered};
use crate::rows::quests;
use crate::scenarios::Plan;
use crate::server::{Terrace, kill};
use crate::world::{Kind, World};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

const CONNECTIONS: usize = 64;

/// The course of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    Undisturbed,
    /// The service is killed after half of the editions are sold, and again after half of them are opened. It is
    /// restarted, and all requests are repeated with the same idempotency keys.
    Killed,
}

impl Course {
    const fn name(self) -> &'static str {
        match self {
            Self::Undisturbed => "",
            Self::Killed => ", killed twice and asked again",
        }
    }

    /// The number of responses after which the service is killed.
    fn killed_after(self) -> Option<usize> {
        match self {
            Self::Undisturbed => None,
            Self::Killed => usize::try_from(EDITIONS / 2).ok(),
        }
    }
}

pub(super) fn run(plan: &Plan, world: &World, course: Course) -> Result<Vec<Figure>> {
    let buyers = plan.buyers;
    log::info!("{buyers} buyers race for {EDITIONS} editions{}", course.name());
    let terrace = world.serve()?;
    let begun = Instant::now();
    let all_buyers: Vec<u64> = (0..buyers).collect();
    let (terrace, bought) = ask(world, terrace, course, "purchase", &all_buyers)?;
    let seconds = begun.elapsed().as_secs_f64();
    let mut winners = Vec::new();
    for (buyer, answer) in all_buyers.into_iter().zip(&bought) {
        match answer.status {
            201 => winners.push(buyer),
            409 if answer.text().contains("\"sold_out\"") => {}
            status => anyhow::bail!("answered {status} {}", answer.text()),
        }
    }
    let (terrace, opened) = ask(world, terrace, course, "open", &winners)?;
    let serials: BTreeSet<u64> = opened.iter().map(serial).collect::<Result<_>>()?;
    terrace.stop()?;
    let chores = keep_house(world)?;
    let checked = check(world)?;
    let rightful = serials.iter().filter(|serial| (1..=EDITIONS).contains(*serial)).count();
    ensure!(winners.len() == opened.len(), "not everybody opened what they bought");
    let what = format!("{buyers} buyers race for {EDITIONS} editions{}", course.name());
    let database = world.kind().name();
    let figure = |name: &str, value, unit| {
        Figure::plain(format!("{what}: {name}"), database, Quantity::new(value, unit))
    };
    let editions = float(EDITIONS);
    let mut figures = vec![
        figure("sold", float(u64::try_from(winners.len())?), "copies")
            .against("editions", editions, Target::AtMost(1.0))
            .with(json!({"connections": CONNECTIONS, "chores": chores})),
        figure("serials given", float(u64::try_from(rightful)?), "serials").against(
            "editions",
            editions,
            Target::AtLeast(1.0),
        ),
        figure("wrong in balances, journal, stock and serials", float(checked.wrong), "checks")
            .with(json!(checked.words)),
    ];
    if course == Course::Undisturbed {
        figures.push(figure("until all had an answer", seconds, "s"));
    }
    ensure!(checked.wrong == 0 && rightful == opened.len(), "{what}: {:?}", checked.words);
    Ok(figures)
}

/// Sends the same request for each of these fans. After a kill all requests are repeated; requests that were answered
/// before must return the same response.
fn ask(
    world: &World,
    terrace: Terrace,
    course: Course,
    what: &str,
    fans: &[u64],
) -> Result<(Terrace, Vec<Response>)> {
    let path = format!("/api/packs/{}/{what}", Offer::Numbered.id());
    let request = |fan: &u64| {
        let (cookie, key) = (quests::cookie(*fan), format!("race-{fan}"));
        http::request("POST", &path, &[("Cookie", &cookie), ("Idempotency-Key", &key)], Some("{}"))
    };
    let requests: Arc<[_]> = fans.iter().map(request).collect();
    let (pid, killed_after) = (terrace.pid(), course.killed_after());
    let on_response: OnResponse =
        Arc::new(move |count| if Some(count) == killed_after { kill(pid) } else { Ok(()) });
    let first = send_each(terrace.address(), CONNECTIONS, &requests, &on_response)?;
    if course == Course::Undisturbed {
        let answers: Option<Vec<_>> = first.into_iter().collect();
        return Ok((terrace, answers.context("the service closed a connection")?));
    }
    let unanswered = first.iter().filter(|answer| answer.is_none()).count();
    ensure!(unanswered > 0, "it was not killed in the middle");
    log::info!("killed; {unanswered} had no answer");
    // Only the database survives.
    drop(terrace);
    let terrace = world.serve()?;
    let on_response: OnResponse = Arc::new(|_| Ok(()));
    let again = send_each(terrace.address(), CONNECTIONS, &requests, &on_response)?;
    let again: Option<Vec<Response>> = again.into_iter().collect();
    let again = again.context("the service closed a connection")?;
    for (before, now) in first.iter().zip(&again) {
        if let Some(before) = before.as_ref().filter(|before| before.status < 300) {
            let is_replayed = now.header("idempotency-replayed") == Some("true");
            ensure!(
                is_replayed && (before.status, &before.body) == (now.status, &now.body),
                "{} was acknowledged, and then answered {} {}",
                before.text(),
                now.status,
                now.text()
            );
        }
    }
    Ok((terrace, again))
}

/// The serial in the response to an opening.
fn serial(answer: &Response) -> Result<u64> {
    ensure!(answer.status == 200, "answered {} {}", answer.status, answer.text());
    let opened: Value = serde_json::from_slice(&answer.body)?;
    opened.pointer("/collectibles/0/serial").and_then(Value::as_u64).context("no serial")
}

/// Runs the operator's maintenance commands after a crash, and returns their output.
fn keep_house(world: &World) -> Result<Vec<String>> {
    let (_, known) = world.maintain(&["--help"])?;
    let mut output = Vec::new();
    for chore in ["reconcile", "verify"].into_iter().filter(|chore| known.contains(chore)) {
        let (is_well, said) = world.maintain(&[chore])?;
        ensure!(is_well, "terrace maintain {chore}: {said}");
        output.push(format!("{chore}: {}", said.trim_end()));
    }
    Ok(output)
}

/// The result of checking the database directly.
struct Checked {
    wrong: u64,
    /// Descriptions of the problems, or of the checks if there are none.
    words: Vec<String>,
}

fn check(world: &World) -> Result<Checked> {
    let mut checked = Checked { wrong: 0, words: Vec::new() };
    for (what, query, expected) in checks(world) {
        let found = world.lines(&format!("SELECT CAST(({query}) AS text) AS line"))?;
        let found = found.first().map_or("nothing", String::as_str);
        let is_wrong = found != expected.to_string();
        checked.wrong += u64::from(is_wrong);
        let mark = if is_wrong { "wrong: " } else { "" };
        checked.words.push(format!("{mark}{what}: {found} of {expected}"));
    }
    Ok(checked)
}

fn checks(world: &World) -> Vec<(&'static str, String, u64)> {
    let offer = Offer::Numbered;
    let (pack, collectible) = (world.quoted(offer.id()), world.quoted(numbered()));
    let digits = match world.kind() {
        Kind::Sqlite => "lower(hex(p.id))",
        Kind::Postgres => "replace(CAST(p.id AS text), '-', '')",
    };
    let of_pack = |table: &str| format!("SELECT count(*) FROM {table} WHERE pack_id = {pack}");
    let owned = format!("FROM owned_collectibles WHERE collectible_id = {collectible}");
    let sum = "SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE";
    vec![
        ("purchases", of_pack("pack_purchases"), EDITIONS),
        (
            "purchases that are complete",
            format!("{} AND state = 'completed' AND quantity = 1", of_pack("pack_purchases")),
            EDITIONS,
        ),
        (
            "buyers",
            format!("SELECT count(DISTINCT user_id) FROM pack_purchases WHERE pack_id = {pack}"),
            EDITIONS,
        ),
        ("copies", of_pack("user_packs"), EDITIONS),
        ("copies that are opened", format!("{} AND state = 'opened'", of_pack("user_packs")), EDITIONS),
        ("collectibles", format!("SELECT count(*) {owned}"), EDITIONS),
        (
            "serials, once each",
            format!("SELECT count(DISTINCT serial) {owned} AND serial BETWEEN 1 AND {EDITIONS}"),
            EDITIONS,
        ),
        ("minted", format!("SELECT minted FROM collectibles WHERE id = {collectible}"), EDITIONS),
        ("copies in stock's count", format!("SELECT sold FROM pack_stock WHERE pack_id = {pack}"), EDITIONS),
        ("sealed copies in it", format!("SELECT sealed FROM pack_stock WHERE pack_id = {pack}"), 0),
        (
            "transfers to the service",
            "SELECT count(*) FROM ledger_transfers WHERE credit_house = 'revenue'".to_owned(),
            EDITIONS,
        ),
        ("points that it took", format!("{sum} credit_house = 'revenue'"), EDITIONS * offer.price()),
        (
            "purchases that their buyer did not pay for once",
            format!(
                "SELECT count(*) FROM pack_purchases AS p WHERE (SELECT count(*) FROM ledger_transfers AS t \
                 WHERE t.source_key = 'purchase:' || {digits} AND t.debit_user = p.user_id \
                 AND t.credit_house = 'revenue' AND t.amount = {}) <> 1",
                offer.price()
            ),
            0,
        ),
        (
            "balances that the journal does not come to",
            format!(
                "SELECT count(*) FROM ledger_accounts AS a WHERE balance <> ({sum} credit_user = a.user_id \
                 AND unit = a.unit) - ({sum} debit_user = a.user_id AND unit = a.unit)"
            ),
            0,
        ),
        (
            "points of fans and house together",
            format!(
                "SELECT (SELECT sum(balance) FROM ledger_accounts) + ({sum} credit_house IS NOT NULL) \
                 - ({sum} debit_house IS NOT NULL)"
            ),
            0,
        ),
    ]
}
