//! The feed of followed authors, compared with the global feed: of a thousand prolific authors, and of a thousand quiet
//! ones.

use super::super::{Plan, mean, shown};
use crate::client::{Sample, drive, in_turn};
use crate::http;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::rows::followed::FOLLOWED;
use crate::server::Terrace;
use crate::world::{Fan, Ground, Kind};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use terrace_kernel::Timestamp;

const PATH: &str = "/api/locker-room";
/// The number of posts on a measured page.
const PAGE: usize = 25;
/// The maximum number of cursors at which each feed is read.
const CURSORS: usize = 3_000;
/// The lengths of pages. Together with the cursors they give so many different pages of the global feed that no page is
/// requested again while the service caches it. Pages of followed authors are never cached.
const LENGTHS: [usize; 5] = [PAGE, PAGE - 1, PAGE + 1, PAGE - 2, PAGE + 2];
/// A page of the global feed read from the database takes two statements; a page of followed authors takes four or
/// five. With fewer on average, some pages came from a cache.
const FEWEST_STATEMENTS: [f64; 3] = [1.8, 3.8, 3.8];
/// The maximum cost of a page, relative to the global feed: of prolific authors, and of quiet ones.
const TARGETS: [Target; 2] = [Target::AtMost(3.0), Target::AtMost(10.0)];

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let (posts, deep) = (plan.large, plan.large / 2);
    let world = ground.world(kind, "followed", 0)?;
    log::info!("{}: {posts} posts by {} authors", kind.name(), plan.writers);
    let [popular, quiet] = [world.fans.first(), world.fans.get(1)].map(|fan| fan.context("two readers"));
    let (popular, quiet) = (popular?, quiet?);
    world.fill_followed(plan.writers, (posts, deep), [popular, quiet])?;
    let terrace = world.serve()?;
    let mut feeds = [
        Feed::of(&terrace, popular, "all")?,
        Feed::of(&terrace, popular, "following")?,
        Feed::of(&terrace, quiet, "following")?,
    ];
    let newer = feeds[0].newest.since(feeds[2].newest);
    // Posts are one second apart.
    ensure!(newer >= Duration::from_secs(deep), "the quiet ones posted {newer:?} before the newest post");
    log::info!("pages of the global feed and of followed authors");
    for _ in 0..plan.runs {
        for (feed, fewest) in feeds.iter_mut().zip(FEWEST_STATEMENTS) {
            feed.read(plan, &terrace, fewest)?;
        }
    }
    let [global, popular, quiet] = feeds;
    let what = [
        format!("a page of {FOLLOWED} followed authors by how much they write, {posts} posts"),
        format!("a page of {FOLLOWED} followed quiet authors, {deep} posts deep"),
    ];
    let figures = [popular, quiet].into_iter().zip(what).zip(TARGETS).map(|((feed, what), target)| {
        let cost = Quantity::new(mean(&feed.samples), "ms");
        let details = json!({
            "followed": shown(&feed.samples),
            "everybody": shown(&global.samples),
            "differentPages": [feed.pages.len(), global.pages.len()],
        });
        Figure::plain(what, kind.name(), cost)
            .against("of everybody's posts", mean(&global.samples), target)
            .with(details)
    });
    Ok(figures.collect())
}

/// A feed as read by one reader.
struct Feed {
    /// When its newest post was created.
    newest: Timestamp,
    pages: Vec<Vec<u8>>,
    samples: Vec<Sample>,
}

impl Feed {
    /// Collects its cursors by paging through its beginning.
    fn of(terrace: &Terrace, reader: &Fan, scope: &str) -> Result<Self> {
        let cookie = [("Cookie", reader.cookie.as_str())];
        let mut caller = terrace.caller()?;
        let (mut cursors, mut newest) = (Vec::new(), None);
        let first = format!("{PATH}?scope={scope}&limit={}", PAGE / 4);
        let mut target = first.clone();
        while cursors.len() < CURSORS {
            let answer = caller.get(&target, &cookie)?;
            let page: FeedPage = serde_json::from_slice(&answer.body).context("not a page of the feed")?;
            ensure!(page.fallback.is_none(), "{} follows no one", reader.name);
            if newest.is_none() {
                newest = page.posts.first().map(|post| post.created_at.parse::<Timestamp>()).transpose()?;
            }
            let Some(cursor) = page.next_cursor else { break };
            target = format!("{first}&cursor={cursor}");
            cursors.push(cursor);
        }
        // The last cursors are not followed by a full page.
        cursors.truncate(cursors.len().saturating_sub(PAGE / 4 + 2));
        let newest = newest.with_context(|| format!("the feed {scope} of {} is empty", reader.name))?;
        ensure!(cursors.len() > PAGE, "the feed {scope} of {} has {} places", reader.name, cursors.len());
        let pages = LENGTHS.iter().flat_map(|length| {
            let targets = cursors
                .iter()
                .map(move |cursor| format!("{PATH}?scope={scope}&limit={length}&cursor={cursor}"));
            targets.map(|target| http::request("GET", &target, &cookie, None))
        });
        Ok(Self { newest, pages: pages.collect(), samples: Vec::new() })
    }

    /// Fails if the pages did not come from the database.
    fn read(&mut self, plan: &Plan, terrace: &Terrace, fewest: f64) -> Result<()> {
        let mut load = plan.load(terrace.served(), &[200]);
        // One connection needs no long runs: there are many pages, and each is a measurement.
        load.warm_up = load.warm_up.min(Duration::from_secs(1));
        load.duration = load.duration.min(Duration::from_secs(4));
        let statements =
            || Ok::<_, anyhow::Error>(terrace.metrics()?.total("terrace_store_statement_seconds_count"));
        let before = statements()?;
        let sample = drive(&load, vec![in_turn(self.pages.clone())])?;
        let taken = (statements()? - before) / float(sample.answered.max(1));
        ensure!(taken >= fewest, "a page took {taken:.2} statements: some came from elsewhere");
        self.samples.push(sample);
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FeedPage {
    posts: Vec<Post>,
    next_cursor: Option<String>,
    fallback: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Post {
    created_at: String,
}
