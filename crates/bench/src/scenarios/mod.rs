//! The scenarios: one file each.

mod accounts;
mod boards;
mod contest;
mod dashboard;
mod feed;
mod games;
mod graph;
mod maintain;
mod match_day;
mod packs;
mod posts;
mod push;
mod quests;
mod reactions;
mod search;
mod shop;
mod soak;
mod streams;
mod trial;

use crate::chart::Chart;
use crate::client::{Load, Sample, Served};
use crate::histogram::millis;
use crate::http;
use crate::numbers::{float, median};
use crate::process;
use crate::report::{Figure, Quantity, Target};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scenario {
    /// Reading the locker room: its share of the bare limit, and its cost at any size and depth.
    Feed,
    /// Creating posts and reacting to them, durably.
    Posts,
    /// What a session costs, sign-ins, and what a flood of them does to readers.
    Accounts,
    /// Recommendations from the follow graph: their quality, latency and memory.
    Graph,
    /// Boards: reading them, awards, starting with them, their memory, and what Redis does.
    Leaderboard,
    /// Searches of posts and fans, of frequent and of rare words.
    Search,
    /// Quests: steps that are completed durably, the list, and a check that finds nothing.
    Quests,
    /// Packs: the odds of draws, buying and opening durably, and a crowd that races for numbered editions.
    Packs,
    /// The shop: the list of products, carts, checkouts of three lines, durably, and unpaid orders.
    Shop,
    /// Games: a live round of trivia with a crowd of readers and players, and spins of a wheel, durably.
    Games,
    /// Push messages: encrypting and signing them, on one core, and what sending them costs writes.
    Push,
    /// The dashboard: its share of the bare limit, its statements, and what it saves.
    Dashboard,
    /// Streams: deliveries to many readers beside nginx, their delay, memory, and what they cost commands.
    Streams,
    /// Maintenance of millions of records: beside one statement, its memory, its batches, and what readers pay.
    Maintain,
    /// The requests of a match day, at rates that rise until requests are delayed.
    MatchDay,
    /// An hour of a match day, on all databases concurrently: whether memory or handles grow.
    Soak,
}

impl Scenario {
    pub(crate) const ALL: [Self; 16] = [
        Self::Feed,
        Self::Posts,
        Self::Accounts,
        Self::Graph,
        Self::Leaderboard,
        Self::Search,
        Self::Quests,
        Self::Packs,
        Self::Shop,
        Self::Games,
        Self::Push,
        Self::Dashboard,
        Self::Streams,
        Self::Maintain,
        Self::MatchDay,
        Self::Soak,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Feed => "feed",
            Self::Posts => "posts",
            Self::Accounts => "accounts",
            Self::Graph => "graph",
            Self::Leaderboard => "leaderboard",
            Self::Search => "search",
            Self::Quests => "quests",
            Self::Packs => "packs",
            Self::Shop => "shop",
            Self::Games => "games",
            Self::Push => "push",
            Self::Dashboard => "dashboard",
            Self::Streams => "streams",
            Self::Maintain => "maintain",
            Self::MatchDay => "match-day",
            Self::Soak => "soak",
        }
    }

    /// The chart of its figures, if it has one.
    pub(crate) fn chart(self, figures: &[Figure]) -> Option<Chart> {
        let draw = match self {
            Self::MatchDay => match_day::chart,
            Self::Soak => soak::chart,
            Self::Feed
            | Self::Posts
            | Self::Accounts
            | Self::Graph
            | Self::Leaderboard
            | Self::Search
            | Self::Quests
            | Self::Packs
            | Self::Shop
            | Self::Games
            | Self::Push
            | Self::Dashboard
            | Self::Streams
            | Self::Maintain => return None,
        };
        draw(figures)
    }

    pub(crate) fn run(self, ground: &Ground, plan: &Plan, inputs: &Inputs) -> Result<Vec<Figure>> {
        let on_database: fn(&Ground, &Plan, Kind) -> Result<Vec<Figure>> = match self {
            Self::Feed => feed::run,
            Self::Posts => posts::run,
            Self::Accounts => accounts::run,
            Self::Search => search::run,
            Self::Quests => quests::run,
            Self::Packs => packs::run,
            Self::Shop => shop::run,
            Self::Games => games::run,
            Self::Dashboard => dashboard::run,
            Self::MatchDay => match_day::run,
            Self::Graph => return graph::run(ground, plan, inputs),
            Self::Leaderboard => return boards::run(ground, plan, inputs),
            Self::Push => return push::run(ground, plan, inputs),
            Self::Streams => return streams::run(ground, plan, inputs),
            Self::Maintain => return maintain::run(ground, plan, inputs),
            Self::Soak => return soak::run(ground, plan, inputs),
        };
        let mut figures = Vec::new();
        for &kind in ground.kinds() {
            log::info!("{} on {}", self.name(), kind.name());
            figures.extend(on_database(ground, plan, kind)?);
        }
        Ok(figures)
    }
}

/// What is measured besides what the harness makes itself.
#[derive(Debug, Args)]
pub(crate) struct Inputs {
    /// Mutual follows to judge recommendations on: a header line, then two numbers `from,to` on each.
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,
    /// Fans of the large leaderboard; by default 1,000,000, and fewer in a quick run.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(10_000..=100_000_000))]
    pub(crate) fans: Option<u64>,
    /// Of streams: only these parts. The documentation is left alone.
    #[arg(long, value_name = "PART")]
    pub(crate) part: Vec<streams::Part>,
    /// Records of points to maintain, ten for each fan; by default 10,000,000, and fewer in a quick run.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(10_000..=100_000_000))]
    pub(crate) records: Option<u64>,
    /// How long the soak lasts; by default 60, and ten seconds in a quick run.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) minutes: Option<u64>,
}

/// The size and number of runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// The number of runs whose median is reported.
    pub(crate) runs: usize,
    pub(crate) warm_up: Duration,
    pub(crate) duration: Duration,
    /// Posts of the small and of the large database.
    pub(crate) small: u64,
    pub(crate) large: u64,
    /// Posts in the database of a match day.
    pub(crate) crowded: u64,
    /// Records of points to maintain.
    pub(crate) records: u64,
    /// The duration of the soak.
    pub(crate) soak: Duration,
    /// The number of authors, a thousand of which each of two readers follows, and the number of follows of each fan
    /// who gets recommendations over HTTP.
    pub(crate) writers: u64,
    pub(crate) follows: usize,
    /// Fans in the quest whose steps are measured, and fans who buy packs.
    pub(crate) questers: u64,
    pub(crate) buyers: u64,
    /// The maximum number of rates on a match day, even if all are sustained.
    pub(crate) rates: usize,
    /// The numbers of readers of streams: with events, and idle.
    pub(crate) crowds: &'static [usize],
    pub(crate) idle: &'static [usize],
}

impl Plan {
    pub(crate) const FULL: Self = Self {
        runs: 5,
        warm_up: Duration::from_secs(1),
        duration: Duration::from_secs(3),
        small: 10_000,
        large: 1_000_000,
        crowded: 100_000,
        records: 10_000_000,
        soak: Duration::from_hours(1),
        writers: 100_000,
        follows: 500,
        questers: 96_000,
        buyers: 10_000,
        rates: 20,
        crowds: &[100, 1_000, 10_000],
        idle: &[1_000, 5_000, 10_000, 15_000],
    };

    /// A plan to check that everything works; its figures are not meaningful.
    pub(crate) const QUICK: Self = Self {
        runs: 1,
        warm_up: Duration::from_millis(100),
        duration: Duration::from_millis(300),
        // Fewer posts do not give enough different pages of every part.
        small: 3_000,
        // Nor enough people who follow five hundred. Steps through rows are coprime to it.
        large: 40_000,
        crowded: 2_000,
        records: 20_000,
        soak: Duration::from_secs(10),
        writers: 10_000,
        follows: 50,
        questers: 10_000,
        buyers: 1_000,
        rates: 2,
        crowds: &[100, 1_000],
        idle: &[1_000],
    };

    pub(crate) fn load<'a>(&self, server: Served, statuses: &'a [u16]) -> Load<'a> {
        let Self { warm_up, duration, .. } = *self;
        Load { server, warm_up, duration, statuses, measure: http::measure, pace: None }
    }

    fn to_json(self) -> Value {
        json!({
            "runs": self.runs,
            "warmUpSeconds": self.warm_up.as_secs_f64(),
            "seconds": self.duration.as_secs_f64(),
            "connections": FANS,
        })
    }
}

/// A value for each connection, made from its fan's number.
pub(crate) fn for_each_fan<T>(make: impl Fn(usize) -> Result<T>) -> Result<Vec<T>> {
    (0..FANS).map(make).collect()
}

fn rate(samples: &[Sample]) -> f64 {
    median(samples.iter().map(Sample::rate))
}

fn cpu(samples: &[Sample]) -> f64 {
    median(samples.iter().map(Sample::cpu_per_request))
}

/// The same for the database, if it is a separate server.
fn database_cpu(samples: &[Sample]) -> Option<f64> {
    let each: Option<Vec<f64>> = samples.iter().map(Sample::database_cpu_per_request).collect();
    each.map(median)
}

/// The median over the runs of a percentile, in milliseconds.
fn percentile(samples: &[Sample], per_mille: u64) -> f64 {
    median(samples.iter().map(|sample| millis(sample.latency.percentile(per_mille))))
}

/// The mean latency of a request, in milliseconds.
fn mean(samples: &[Sample]) -> f64 {
    median(samples.iter().map(|sample| millis(sample.latency.mean())))
}

fn shown(samples: &[Sample]) -> Value {
    json!({
        "requestsPerSecond": rate(samples),
        "allRuns": samples.iter().map(Sample::rate).collect::<Vec<_>>(),
        "cpuMicrosPerRequest": cpu(samples),
        "databaseCpuMicrosPerRequest": database_cpu(samples),
        "p50Millis": percentile(samples, 500),
        "p99Millis": percentile(samples, 990),
        "maxMillis": samples.iter().map(|sample| millis(sample.latency.max())).fold(0.0, f64::max),
        "requests": samples.iter().map(|sample| float(sample.latency.count())).sum::<f64>(),
    })
}

/// A row that compares a value with a budget of the same unit, which it must not exceed.
fn budget(what: impl Into<String>, database: &'static str, measured: Quantity, most: f64) -> Figure {
    Figure::plain(what, database, measured).against("budget", most, Target::AtMost(1.0))
}

/// The memory of a server after a workload.
fn memory(terrace: &Terrace, what: &str, database: &'static str) -> Result<Figure> {
    let resident = process::resident(terrace.pid())?;
    Ok(Figure::plain(format!("memory (RSS) after {what}"), database, Quantity::new(resident, "MiB")))
}
