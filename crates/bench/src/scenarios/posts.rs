//! Durable creation of posts, and reactions: every response is sent after the commit is on disk.

use super::reactions;
use super::trial::Trial;
use super::{Plan, for_each_fan, memory};
use crate::client::Script;
use crate::commands::{Work, done};
use crate::http;
use crate::limit::Limit;
use crate::report::{Figure, Quantity, Target};
use crate::rows;
use crate::world::{FANS, Ground, Kind, World};
use crate::writes::{Bare, Unit, Write};
use anyhow::{Result, anyhow, ensure};
use std::sync::Arc;
use terrace_app::room::CreatePost;
use terrace_kernel::UserId;
use uuid::Uuid;

pub(super) const PATH: &str = "/api/locker-room";
const TARGET: Target = Target::AtLeast(0.5);
/// The minimum share of the rate of the fixed limit.
const AGAINST_LIMIT: Target = Target::AtLeast(0.35);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "posts", plan.small)?;
    let copy = ground.copy(&world, "posts_bare")?;
    let mut trial = Trial::new(bare(copy)?);
    let mut fixed = Limit::new(ground, kind, "posts", rows::AUTHORS)?;
    let terrace = world.serve()?;
    let before = world.count_posts()?;
    for run in 0..plan.runs {
        let series = |fan| u64::try_from(run * FANS + fan);
        let scripts = for_each_fan(|fan| Ok(posting(world.cookie(fan)?, series(fan)?)))?;
        trial.run(plan, &terrace, &mut fixed, &[201], scripts)?;
    }
    let (answered, written) = (trial.counted(), world.count_posts()? - before);
    ensure!(written >= answered, "{answered} posts were acknowledged and {written} are there");
    let (what, database) = (format!("POST {PATH}, {FANS} connections, durable"), kind.name());
    let rate = Quantity::new(trial.rate(), "posts/s");
    let mut figures = vec![
        trial.against_bare(plan, (&what, database), rate, TARGET),
        fixed.figure(&what, trial.rate(), "posts/s", AGAINST_LIMIT),
        Figure::plain(format!("{what}, p99"), database, trial.p99()),
    ];
    figures.extend(reactions::run(plan, &world, &terrace, &mut fixed)?);
    figures.push(memory(&terrace, "these runs", database)?);
    Ok(figures)
}

/// Posts of the fan of each connection, for the bare limit.
fn bare(copy: World) -> Result<Bare> {
    let fans: Result<Vec<Uuid>, _> = copy.fans.iter().map(|fan| fan.id.parse::<Uuid>()).collect();
    let fans = fans?;
    let fan =
        move |connection: u64| fans.iter().cycle().nth(usize::try_from(connection).unwrap_or(0)).copied();
    let unit = |number: usize| {
        let mut request = Vec::new();
        posting(copy.cookie(number)?, RECORDED)(&mut request);
        anyhow::Ok(Unit { requests: vec![request], varies: Vec::from_iter(fan(u64::try_from(number)?)) })
    };
    let units = [unit(0)?, unit(1)?];
    let work: Work = Arc::new(|app, ids| {
        Box::pin(async move {
            let [author] = ids.try_into().map_err(|_| anyhow!("a post has an author"))?;
            let (author, body) = (UserId::from_uuid(author), rows::new_body(0));
            done(app.execute(CreatePost { author, team: None, body, media: None }).await).map(drop)
        })
    });
    let vary = Arc::new(move |_, connection, _| Vec::from_iter(fan(connection)));
    Bare::new(copy, Write { units, vary, work, rows: "SELECT count(*) FROM posts" })
}

/// A series of posts that the measured service does not use.
const RECORDED: u64 = 1_000;

/// Creates an endless sequence of distinct posts by one fan.
pub(super) fn posting(cookie: &str, series: u64) -> Script {
    let cookie = cookie.to_owned();
    let mut number = series * 100_000_000;
    Box::new(move |buffer| {
        number += 1;
        let body = format!("{{\"body\":\"{}\"}}", rows::new_body(number));
        buffer.extend(http::request("POST", PATH, &[("Cookie", &cookie)], Some(&body)));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_posts_are_alike() {
        let (mut one, mut two) = (posting("session=a", 0), posting("session=b", 1));
        let mut sent = std::collections::BTreeSet::new();
        for _ in 0..3 {
            for script in [&mut one, &mut two] {
                let mut request = Vec::new();
                script(&mut request);
                assert!(sent.insert(request));
            }
        }
        let text = String::from_utf8(sent.pop_first().unwrap()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /api/locker-room HTTP/1.1\r\n") && head.contains("Cookie: session="));
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(body["body"].as_str().is_some_and(|text| text.starts_with("What a save")));
    }
}
