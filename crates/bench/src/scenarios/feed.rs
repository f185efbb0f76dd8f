//! Reading the locker room.

use super::contest::Read;
use super::{Plan, for_each_fan, mean, memory, shown};
use crate::client::{Caller, Sample, drive, in_turn};
use crate::http;
use crate::report::{Figure, Quantity, Target};
use crate::server::Terrace;
use crate::world::{Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::Duration;

const PATH: &str = "/api/locker-room";
/// Posts of a page that is measured.
const PAGE: u64 = 25;
/// How many cursors each part of the feed is read at.
const CURSORS: usize = 300;
/// How much slower the large database may be than the small one.
const GROWTH: Target = Target::AtMost(1.3);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let small = Side::start(ground, kind, "small", plan.small)?;
    let mut figures = Vec::new();
    for viewer in [Viewer::SignedOut, Viewer::SignedIn] {
        figures.extend(against_bare(ground, plan, &small, viewer)?);
    }
    figures.push(memory(&small.terrace, "these runs", kind.name())?);
    let large = Side::start(ground, kind, "large", plan.large)?;
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

    /// At least so much of the bare handler's rate.
    const fn target(self) -> Target {
        match self {
            Self::SignedOut => Target::AtLeast(0.30),
            Self::SignedIn => Target::AtLeast(0.15),
        }
    }
}

/// One of the two databases, served.
struct Side {
    world: World,
    terrace: Terrace,
    posts: u64,
    cursors: Vec<String>,
}

impl Side {
    fn start(ground: &Ground, kind: Kind, name: &str, posts: u64) -> Result<Self> {
        let world = ground.world(kind, &format!("feed_{name}"), posts)?;
        let terrace = world.serve()?;
        let cursors = page_through(&mut terrace.caller()?, posts)?;
        Ok(Self { world, terrace, posts, cursors })
    }

    fn request(&self, viewer: Viewer, fan: usize, target: &str) -> Result<Vec<u8>> {
        let headers = match viewer {
            Viewer::SignedOut => vec![],
            Viewer::SignedIn => vec![("Cookie", self.world.cookie(fan)?)],
        };
        Ok(http::request("GET", target, &headers, None))
    }

    /// Requests for one page behind each cursor of a part of the feed, as one fan reads them.
    fn pages(&self, viewer: Viewer, depth: Depth) -> Result<Vec<Vec<u8>>> {
        let page = |cursor: &String| self.request(viewer, 0, &format!("{PATH}?limit={PAGE}&cursor={cursor}"));
        depth.of(&self.cursors).iter().map(page).collect()
    }
}

fn against_bare(ground: &Ground, plan: &Plan, side: &Side, viewer: Viewer) -> Result<Vec<Figure>> {
    let target = format!("{PATH}?limit={PAGE}");
    let read = Read {
        what: format!("GET {target}, {}", viewer.name()),
        database: side.world.kind().name(),
        path: PATH,
        requests: &for_each_fan(|fan| side.request(viewer, fan, &target))?,
        status: 200,
        target: viewer.target(),
    };
    read.run(ground, plan, &side.terrace)
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

    /// The part's cursors, of all.
    fn of<T>(self, cursors: &[T]) -> &[T] {
        let count = CURSORS.min(cursors.len());
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

/// Reads the whole feed and keeps the cursors that a whole page follows. Fails when it does not hold every post.
fn page_through(caller: &mut Caller, posts: u64) -> Result<Vec<String>> {
    // Enough pages for all parts, and never more requests than needed.
    let limit = if posts > 50_000 { 100 } else { 10 };
    let (mut cursors, mut seen) = (Vec::new(), 0);
    let mut target = format!("{PATH}?limit={limit}");
    loop {
        let answer = caller.get(&target, &[])?;
        let page: FeedPage = serde_json::from_slice(&answer.body).context("not a page of the feed")?;
        seen += u64::try_from(page.posts.len())?;
        let Some(cursor) = page.next_cursor else { break };
        target = format!("{PATH}?limit={limit}&cursor={cursor}");
        if seen + PAGE <= posts {
            cursors.push(cursor);
        }
    }
    ensure!(seen == posts, "the feed holds {seen} of {posts} posts");
    Ok(cursors)
}

/// The time of a page for one connection that reads ever other pages: nothing but a page cache could make the
/// two databases alike, and distinct cursors defeat that. All parts of both take turns.
fn at_any_depth(plan: &Plan, small: &Side, large: &Side, viewer: Viewer) -> Result<Vec<Figure>> {
    eprintln!("  a page at any depth, {}", viewer.name());
    let mut parts = Vec::new();
    for depth in Depth::ALL {
        let pages = [small.pages(viewer, depth)?, large.pages(viewer, depth)?];
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
    /// The large database against the small one, and against its own start.
    fn figures(&self, small: &Side, large: &Side, viewer: Viewer, at_start: f64) -> Vec<Figure> {
        let what = format!("a page of {} posts {}, {}", large.posts, self.depth.name(), viewer.name());
        let cost = Quantity::new(mean(&self.on_large), "ms");
        let figure = Figure::plain(what, small.world.kind().name(), cost);
        let details = json!({
            "large": shown(&self.on_large),
            "small": shown(&self.on_small),
            "cursors": self.pages.each_ref().map(Vec::len),
        });
        let by_depth = figure.clone().against("at its start", at_start, GROWTH);
        let by_size =
            figure.against(format!("of {} posts", small.posts), mean(&self.on_small), GROWTH).with(details);
        if self.depth == Depth::Start { vec![by_size] } else { vec![by_size, by_depth] }
    }
}

fn one_reader(plan: &Plan, side: &Side, pages: Vec<Vec<u8>>) -> Result<Sample> {
    let mut load = plan.load(side.terrace.address(), side.terrace.pid(), &[200]);
    // One connection needs no long runs: the pages are many, and every one is a measurement.
    load.warm_up = load.warm_up.min(Duration::from_secs(1));
    load.duration = load.duration.min(Duration::from_secs(4));
    drive(&load, vec![in_turn(pages)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_lie_at_both_ends_and_between() {
        let cursors: Vec<usize> = (0..1000).collect();
        let ends = |depth: Depth| {
            let part = depth.of(&cursors);
            (part[0], part[part.len() - 1])
        };
        assert_eq!(ends(Depth::Start), (0, 299));
        assert_eq!(ends(Depth::Middle), (350, 649));
        assert_eq!(ends(Depth::End), (700, 999));
        assert_eq!(Depth::End.of(&[1, 2]), [1, 2]);
        assert_eq!(Depth::Middle.of::<u8>(&[]), [0; 0]);
    }
}
