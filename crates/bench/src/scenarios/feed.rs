//! Reads of the locker room.

use super::contest::Read;
use super::{Plan, for_each_fan, mean, memory, shown};
use crate::client::{Caller, Sample, drive, in_turn};
use crate::http;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::Duration;

const PATH: &str = "/api/locker-room";
/// The number of posts on a measured page.
const PAGE: u64 = 25;
/// The number of cursors at which each part of the feed is read.
const CURSORS: usize = 3_000;
/// The lengths of pages in sequence, 25 posts on average. Together with the cursors they give 15,000 different pages of
/// each part, so that no page is requested again while the service caches it.
const LENGTHS: [u64; 5] = [PAGE, PAGE - 1, PAGE + 1, PAGE - 2, PAGE + 2];
/// A page read from the database takes two statements. With fewer on average, some pages came from a cache.
const FEWEST_STATEMENTS: f64 = 1.8;
/// The maximum ratio of the cost of the large database to that of the small one.
const GROWTH: Target = Target::AtMost(1.3);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let small = Side::start(ground, plan, kind, "small", plan.small)?;
    let mut figures = Vec::new();
    for viewer in [Viewer::SignedOut, Viewer::SignedIn] {
        figures.extend(against_bare(ground, plan, &small, viewer)?);
    }
    figures.push(memory(&small.terrace, "these runs", kind.name())?);
    let small = small.without_kept_posts()?;
    let large = Side::start(ground, plan, kind, "large", plan.large)?.without_kept_posts()?;
    for viewer in [Viewer::SignedOut, Viewer::SignedIn] {
        figures.extend(at_any_depth(plan, &small, &large, viewer)?);
    }
    Ok(figures)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Viewer {
    SignedOut,
    SignedIn,
}

impl Viewer {
    const fn name(self) -> &'static str {
        match self {
            Self::SignedOut => "signed out",
            Self::SignedIn => "signed in",
        }
    }

    /// The minimum share of the bare handler's rate.
    const fn target(self) -> Target {
        match self {
            Self::SignedOut => Target::AtLeast(0.30),
            Self::SignedIn => Target::AtLeast(0.15),
        }
    }

    /// The same for pages that differ at each request.
    const fn target_of_other_pages(self) -> Target {
        match self {
            Self::SignedOut => Target::AtLeast(0.25),
            Self::SignedIn => Target::AtLeast(0.15),
        }
    }
}

/// One of the two databases, with a running service.
struct Side {
    world: World,
    terrace: Terrace,
    posts: u64,
    cursors: Vec<String>,
}

impl Side {
    fn start(ground: &Ground, plan: &Plan, kind: Kind, name: &str, posts: u64) -> Result<Self> {
        let world = ground.world(kind, &format!("feed_{name}"), posts)?;
        let terrace = world.serve()?;
        // Both sides have the same number of cursors: the small one has a cursor for each post.
        let cursors = page_through(&mut terrace.caller()?, posts, plan.small)?;
        Ok(Self { world, terrace, posts, cursors })
    }

    /// The same with a service that reads every post of a page from the database.
    fn without_kept_posts(self) -> Result<Self> {
        let Self { world, terrace, posts, cursors } = self;
        terrace.stop()?;
        let terrace = world.serve_without_kept_posts()?;
        Ok(Self { world, terrace, posts, cursors })
    }

    fn request(&self, viewer: Viewer, fan: usize, target: &str) -> Result<Vec<u8>> {
        let headers = match viewer {
            Viewer::SignedOut => vec![],
            Viewer::SignedIn => vec![("Cookie", self.world.cookie(fan)?)],
        };
        Ok(http::request("GET", target, &headers, None))
    }

    /// Requests for all pages of a part of the feed, as read by one fan.
    fn pages(&self, viewer: Viewer, fan: usize, depth: Depth) -> Result<Vec<Vec<u8>>> {
        let cursors = depth.of(&self.cursors);
        let targets = LENGTHS.iter().flat_map(|length| {
            cursors.iter().map(move |cursor| format!("{PATH}?limit={length}&cursor={cursor}"))
        });
        targets.map(|target| self.request(viewer, fan, &target)).collect()
    }

    fn statements(&self) -> Result<f64> {
        Ok(self.terrace.metrics()?.total("terrace_store_statement_seconds_count"))
    }
}

/// The newest page, which all fans read, and pages that were not read for a while.
fn against_bare(ground: &Ground, plan: &Plan, side: &Side, viewer: Viewer) -> Result<Vec<Figure>> {
    let target = format!("{PATH}?limit={PAGE}");
    let newest = Read {
        what: format!("GET {target}, {}", viewer.name()),
        database: side.world.kind().name(),
        path: PATH,
        requests: &for_each_fan(|fan| Ok(vec![side.request(viewer, fan, &target)?]))?,
        status: 200,
        target: viewer.target(),
    };
    let others = for_each_fan(|fan| {
        let pages = side.pages(viewer, fan, Depth::Middle)?;
        Ok(pages.into_iter().skip(fan).step_by(FANS).collect())
    })?;
    let other = Read {
        what: format!("GET {PATH}, ever other pages of some {PAGE}, {}", viewer.name()),
        requests: &others,
        target: viewer.target_of_other_pages(),
        ..newest.clone()
    };
    let mut figures = newest.run(ground, plan, &side.terrace)?;
    figures.extend(other.run(ground, plan, &side.terrace)?);
    Ok(figures)
}

/// A part of the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Start,
    Middle,
    End,
}

impl Depth {
    const ALL: [Self; 3] = [Self::Start, Self::Middle, Self::End];

    const fn name(self) -> &'static str {
        match self {
            Self::Start => "at its start",
            Self::Middle => "in its middle",
            Self::End => "at its end",
        }
    }

    /// The cursors of the part.
    fn of<T>(self, cursors: &[T]) -> &[T] {
        let count = CURSORS.min(cursors.len().div_ceil(Self::ALL.len()));
        let spare = cursors.len() - count;
        let from = match self {
            Self::Start => 0,
            Self::Middle => spare / 2,
            Self::End => spare,
        };
        cursors.get(from..from + count).unwrap_or_default()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FeedPage {
    posts: Vec<IgnoredAny>,
    next_cursor: Option<String>,
}

/// Reads the whole feed and collects about `count` cursors that are followed by a full page, however many posts there
/// are. Fails if the feed does not contain every post.
fn page_through(caller: &mut Caller, posts: u64, count: u64) -> Result<Vec<String>> {
    let limit = (posts / count).clamp(1, 100);
    let (mut cursors, mut seen) = (Vec::new(), 0);
    let mut target = format!("{PATH}?limit={limit}");
    loop {
        let answer = caller.get(&target, &[])?;
        let page: FeedPage = serde_json::from_slice(&answer.body).context("not a page of the feed")?;
        seen += u64::try_from(page.posts.len())?;
        let Some(cursor) = page.next_cursor else { break };
        target = format!("{PATH}?limit={limit}&cursor={cursor}");
        if seen + PAGE + 2 <= posts {
            cursors.push(cursor);
        }
    }
    ensure!(seen == posts, "the feed holds {seen} of {posts} posts");
    Ok(cursors)
}

/// The latency of a page for one connection that always reads other pages, each of which comes from the database. All
/// parts of both databases are measured in turn.
fn at_any_depth(plan: &Plan, small: &Side, large: &Side, viewer: Viewer) -> Result<Vec<Figure>> {
    log::info!("a page at any depth, {}", viewer.name());
    let mut parts = Vec::new();
    for depth in Depth::ALL {
        let pages = [small.pages(viewer, 0, depth)?, large.pages(viewer, 0, depth)?];
        parts.push(Part { depth, pages, on_small: Vec::new(), on_large: Vec::new() });
    }
    for _ in 0..plan.runs {
        for Part { pages: [few, many], on_small, on_large, .. } in &mut parts {
            on_small.push(one_reader(plan, small, few.clone())?);
            on_large.push(one_reader(plan, large, many.clone())?);
        }
    }
    let at_start = parts.first().map_or(0.0, |part| mean(&part.on_large));
    Ok(parts.iter().flat_map(|part| part.figures(small, large, viewer, at_start)).collect())
}

/// One part of the feed in both databases.
struct Part {
    depth: Depth,
    pages: [Vec<Vec<u8>>; 2],
    on_small: Vec<Sample>,
    on_large: Vec<Sample>,
}

impl Part {
    /// Compares the large database with the small one, and with its own first part.
    fn figures(&self, small: &Side, large: &Side, viewer: Viewer, at_start: f64) -> Vec<Figure> {
        let what = format!("a page of {} posts {}, {}", large.posts, self.depth.name(), viewer.name());
        let cost = Quantity::new(mean(&self.on_large), "ms");
        let figure = Figure::plain(what, small.world.kind().name(), cost);
        let details = json!({
            "large": shown(&self.on_large),
            "small": shown(&self.on_small),
            "differentPages": self.pages.each_ref().map(Vec::len),
        });
        let by_depth = figure.clone().against("at its start", at_start, GROWTH);
        let by_size =
            figure.against(format!("of {} posts", small.posts), mean(&self.on_small), GROWTH).with(details);
        if self.depth == Depth::Start { vec![by_size] } else { vec![by_size, by_depth] }
    }
}

/// Fails if the pages did not come from the database.
fn one_reader(plan: &Plan, side: &Side, pages: Vec<Vec<u8>>) -> Result<Sample> {
    let mut load = plan.load(side.terrace.served(), &[200]);
    // One connection needs no long runs: there are many pages, and each is a measurement.
    load.warm_up = load.warm_up.min(Duration::from_millis(500));
    load.duration = load.duration.min(Duration::from_secs(2));
    let before = side.statements()?;
    let sample = drive(&load, vec![in_turn(pages)])?;
    let statements = (side.statements()? - before) / float(sample.answered.max(1));
    ensure!(
        statements >= FEWEST_STATEMENTS,
        "a page took {statements:.2} statements: some came from a cache, so their time is not that of the database"
    );
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_lie_at_both_ends_and_between() {
        let cursors: Vec<usize> = (0..10_000).collect();
        let ends = |depth: Depth| {
            let part = depth.of(&cursors);
            (part[0], part[part.len() - 1])
        };
        assert_eq!(ends(Depth::Start), (0, 2999));
        assert_eq!(ends(Depth::Middle), (3500, 6499));
        assert_eq!(ends(Depth::End), (7000, 9999));
        assert_eq!(Depth::ALL.map(|depth| depth.of(&[1, 2, 3, 4, 5, 6])[0]), [1, 3, 5]);
        assert_eq!(Depth::End.of(&[1, 2]), [2]);
        assert_eq!(Depth::Middle.of::<u8>(&[]), [0; 0]);
    }
}
