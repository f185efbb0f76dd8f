//! The load of a match day: most fans read, some react and comment, a few complete steps and visit, fewer buy and open
//! packs, and two thousand watch the locker room. The rate rises until responses become too slow; the limit is then
//! narrowed down between the last two rates.

use super::{Plan, streams};
use crate::chart::{Axes, Chart, Line};
use crate::client::{Load, Sample, Script, drive};
use crate::dice::Numbers;
use crate::handles;
use crate::histogram::millis;
use crate::http;
use crate::process;
use crate::readers::Readers;
use crate::report::{Figure, Quantity};
use crate::rows::packs::Offer;
use crate::rows::quests;
use crate::server::Terrace;
use crate::world::{Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use uuid::Uuid;

/// The number of signed-in fans; any of them may send the next request.
pub(super) const CROWD: u64 = 20_000;
/// The number of shared connections.
pub(super) const CONNECTIONS: usize = 256;
/// The number of fans who watch the locker room meanwhile.
pub(super) const WATCHING: usize = 2_000;
/// The first rate, in requests per second, and the factor between rates.
const FIRST: f64 = 250.0;
const RISE: f64 = 1.4;
/// The number of rates tried between the highest sustained one and the lowest that was not.
const FINER: usize = 2;
/// The bound on the 99th percentile of the latency.
const BOUND: Duration = Duration::from_millis(250);
/// The minimum share of due requests that must be answered in time for a rate to count as sustained.
const KEPT: f64 = 0.95;
/// The duration of each rate, as a multiple of an ordinary run.
const LONG: u32 = 3;

/// The actions of fans, with their frequency per thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Read(&'static str),
    React,
    Comment,
    Step,
    Visit,
    Buy,
    Open,
}

const DEEDS: [(Deed, usize); 13] = [
    (Deed::Read("/api/locker-room?limit=25"), 300),
    (Deed::Read("/api/locker-room?scope=following&limit=25"), 100),
    (Deed::Read("/api/leaderboard?limit=100"), 200),
    (Deed::Read("/api/leaderboard?around=me&limit=20"), 100),
    (Deed::Read("/api/quests"), 100),
    (Deed::Read("/api/user/points"), 50),
    (Deed::Read("/api/trends"), 50),
    (Deed::React, 40),
    (Deed::Comment, 20),
    (Deed::Step, 20),
    (Deed::Visit, 10),
    (Deed::Buy, 5),
    (Deed::Open, 5),
];

/// The action for a number below a thousand.
fn deed(mut chance: usize) -> Deed {
    for (deed, often) in DEEDS {
        match chance.checked_sub(often) {
            Some(rest) => chance = rest,
            None => return deed,
        }
    }
    Deed::Visit
}

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let mut day = Day::begin(ground, plan, kind, "match_day")?;
    let (mut steps, mut climb) = (Vec::new(), Climb::default());
    for number in 0..plan.rates {
        let Some(rate) = climb.next() else { break };
        log::info!("{rate:.0} requests a second");
        // The backlog of a rate that was too high must not affect the next one.
        process::until_quiet(&[day.terrace.pid()])?;
        let step = RateResult { rate, sample: day.play(plan, rate, plan.duration * LONG, number)? };
        climb.went(rate, step.is_kept());
        steps.push(step);
    }
    steps.sort_by(|one, other| one.rate.total_cmp(&other.rate));
    day.end()?;
    figures(&day.terrace, kind, &steps, plan)
}

/// Chooses the next rate to try.
#[derive(Debug, Default)]
struct Climb {
    kept: Option<f64>,
    lost: Option<f64>,
    between: usize,
}

impl Climb {
    fn next(&self) -> Option<f64> {
        match (self.kept, self.lost) {
            (None, None) => Some(FIRST),
            (Some(kept), None) => Some(kept * RISE),
            (Some(kept), Some(lost)) if self.between < FINER => Some((kept * lost).sqrt()),
            (Some(_) | None, Some(_)) => None,
        }
    }

    fn went(&mut self, rate: f64, is_kept: bool) {
        self.between += usize::from(self.lost.is_some());
        *if is_kept { &mut self.kept } else { &mut self.lost } = Some(rate);
    }
}

/// A service with many fans and all the data that they use.
pub(super) struct Day {
    pub(super) terrace: Terrace,
    readers: Readers,
    deeds: Deeds,
}

impl Day {
    /// Creates all data, and starts the watching readers.
    pub(super) fn begin(ground: &Ground, plan: &Plan, kind: Kind, name: &str) -> Result<Self> {
        handles::raise()?;
        let world = ground.world(kind, name, plan.crowded)?;
        let regulars = u64::try_from(world.fans.len())?;
        world.fill_boards(CROWD + regulars)?;
        world.fill_packs(CROWD)?;
        world.fill_quest_of_packs(CROWD)?;
        let (is_well, said) = world.maintain(&["repair"])?;
        ensure!(is_well, "terrace maintain repair: {said}");
        let terrace = world.serve()?;
        terrace.until_read("ranks")?;
        let deeds = Deeds { posts: newest(&world, &terrace)?, steps: Arc::default() };
        let readers = Readers::of(terrace.address(), streams::PATH, WATCHING)?;
        Ok(Self { terrace, readers, deeds })
    }

    /// Applies a load at this rate for this duration. Any unexpected status fails the run.
    pub(super) fn play(&self, plan: &Plan, rate: f64, duration: Duration, number: usize) -> Result<Sample> {
        let load = Load { pace: Some(rate), duration, ..plan.load(self.terrace.served(), &[200, 201]) };
        drive(&load, (0..CONNECTIONS).map(|connection| self.deeds.script(number, connection)).collect())
    }

    /// Replaces the watching readers, because streams have a limited life.
    pub(super) fn watch_anew(&mut self) -> Result<()> {
        self.end()?;
        self.readers = Readers::of(self.terrace.address(), streams::PATH, WATCHING)?;
        Ok(())
    }

    /// Fails if a stream was faulty or received no event.
    pub(super) fn end(&mut self) -> Result<()> {
        let seen = self.readers.look()?;
        ensure!(
            seen.wrong == 0 && seen.resyncs == 0 && seen.ended == 0,
            "streams went wrong: {} ids do not grow, {} lost their place, {} ended",
            seen.wrong,
            seen.resyncs,
            seen.ended
        );
        ensure!(seen.events > 0, "no reader received an event");
        Ok(())
    }
}

/// The data for generating actions.
struct Deeds {
    /// The newest posts, as targets of reactions.
    posts: Vec<String>,
    /// The number of completed steps so far.
    steps: Arc<AtomicU64>,
}

fn newest(world: &World, terrace: &Terrace) -> Result<Vec<String>> {
    let page = terrace.caller()?.get("/api/locker-room?limit=100", &[("Cookie", world.cookie(0)?)])?;
    let page: Value = serde_json::from_slice(&page.body)?;
    let posts = page.get("posts").and_then(Value::as_array).context("a page has posts")?;
    let id = |post: &Value| Some(post.get("id")?.as_str()?.to_owned());
    posts.iter().map(|post| id(post).context("a post has an id")).collect()
}

/// The result of one rate.
struct RateResult {
    rate: f64,
    sample: Sample,
}

impl RateResult {
    fn slow(&self) -> Duration {
        self.sample.latency.percentile(990)
    }

    fn is_kept(&self) -> bool {
        self.slow() <= BOUND && self.sample.rate() >= KEPT * self.rate
    }

    fn to_json(&self) -> Value {
        json!({
            "rate": self.rate,
            "answered": self.sample.rate(),
            "p50Millis": millis(self.sample.latency.percentile(500)),
            "p99Millis": millis(self.slow()),
            "maxMillis": millis(self.sample.latency.max()),
            "cpuMicrosPerRequest": self.sample.cpu_per_request(),
            "databaseCpuMicrosPerRequest": self.sample.database_cpu_per_request(),
            "kept": self.is_kept(),
        })
    }
}

impl Deeds {
    /// The script of one connection: each request is sent by another fan.
    fn script(&self, number: usize, connection: usize) -> Script {
        let (posts, steps) = (self.posts.clone(), Arc::clone(&self.steps));
        let place = u64::try_from(number * CONNECTIONS + connection).unwrap_or(0);
        let (mut chances, mut count) = (Numbers::new(place), 0_u64);
        // A fan who bought a pack opens it.
        let mut bought: Vec<u64> = Vec::new();
        Box::new(move |buffer| {
            count += 1;
            let fan = u64::try_from(chances.below(usize::try_from(CROWD).unwrap_or(1))).unwrap_or(0);
            let mut deed = deed(chances.below(1_000));
            if deed == Deed::Open && bought.is_empty() {
                deed = Deed::Buy;
            }
            let post = posts.get(chances.below(posts.len())).map_or("", String::as_str);
            let write = |fan: u64, path: &str, key: Option<&str>, body: &str| {
                let cookie = quests::cookie(fan);
                let mut headers = vec![("Cookie", cookie.as_str())];
                headers.extend(key.map(|key| ("Idempotency-Key", key)));
                http::request("POST", path, &headers, Some(body))
            };
            let key = format!("match-day-{place}-{count}");
            let pack = |what: &str| format!("/api/packs/{}/{what}", Offer::Plain.id());
            buffer.extend(match deed {
                Deed::Read(target) => http::request("GET", target, &[("Cookie", &quests::cookie(fan))], None),
                Deed::React => {
                    let kind = chances.one_of(&["like", "love", "fire", "clap"]).unwrap_or("like");
                    write(
                        fan,
                        &format!("/api/locker-room/{post}/react"),
                        None,
                        &format!("{{\"kind\":\"{kind}\"}}"),
                    )
                }
                Deed::Comment => write(
                    fan,
                    &format!("/api/locker-room/{post}/comments"),
                    None,
                    &format!("{{\"body\":\"What a save, number {place}-{count}\"}}"),
                ),
                Deed::Step => {
                    let done = steps.fetch_add(1, Ordering::Relaxed);
                    let step = Uuid::from_u128(quests::step(done));
                    let fan = (done / quests::STEPS) % CROWD;
                    write(fan, "/api/quests/complete-step", None, &format!("{{\"stepId\":\"{step}\"}}"))
                }
                Deed::Visit => write(fan, "/api/quests/daily-visit", None, "{}"),
                Deed::Buy => {
                    bought.push(fan);
                    write(fan, &pack("purchase"), Some(&key), "{}")
                }
                Deed::Open => {
                    let fan = bought.pop().unwrap_or(fan);
                    write(fan, &pack("open"), Some(&key), "{}")
                }
            });
        })
    }
}

fn figures(terrace: &Terrace, kind: Kind, steps: &[RateResult], plan: &Plan) -> Result<Vec<Figure>> {
    let database = kind.name();
    let kept = steps.iter().rev().find(|step| step.is_kept());
    let sustained = kept.map_or(0.0, |step| step.sample.rate());
    let half = steps.iter().rev().find(|step| step.rate <= sustained / 2.0);
    let details = json!({
        "posts": plan.crowded,
        "fans": CROWD,
        "watching": WATCHING,
        "connections": CONNECTIONS,
        "rates": steps.iter().map(RateResult::to_json).collect::<Vec<_>>(),
    });
    let what = "match day, 2,000 watching";
    let bound = BOUND.as_millis();
    let mut figures = vec![
        Figure::plain(
            format!("{what}: sustained with a p99 within {bound} ms"),
            database,
            Quantity::new(sustained, "requests/s"),
        )
        .with(details),
    ];
    if let Some(step) = half {
        let rate = step.rate;
        figures.push(Figure::plain(
            format!("{what}: p99 at {rate:.0} requests/s, no more than half of that"),
            database,
            Quantity::new(millis(step.slow()), "ms"),
        ));
        figures.push(Figure::plain(
            format!("{what}: CPU time of the server for one request, at that rate"),
            database,
            Quantity::new(step.sample.cpu_per_request(), "µs"),
        ));
        if let Some(spent) = step.sample.database_cpu_per_request() {
            let what = format!("{what}: CPU time of the database for one request, at that rate");
            figures.push(Figure::plain(what, database, Quantity::new(spent, "µs")));
        }
    }
    let resident = process::resident(terrace.pid())?;
    figures.push(Figure::plain(
        format!("{what}: memory (RSS) afterwards"),
        database,
        Quantity::new(resident, "MiB"),
    ));
    Ok(figures)
}

/// The 99th percentile of the latency at each rate.
pub(super) fn chart(figures: &[Figure]) -> Option<Chart> {
    let lines = Line::of_each(figures, "rates", "rate", "p99Millis");
    (!lines.is_empty()).then(|| Chart {
        axes: Axes::PowersOfTen,
        title: "Match day: how long 99 of 100 requests take at most".to_owned(),
        across: "requests a second".to_owned(),
        up: "milliseconds".to_owned(),
        lines,
        bound: Some((format!("{} ms", BOUND.as_millis()), millis(BOUND))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_deeds_are_shared_out() {
        assert_eq!(DEEDS.iter().map(|(_, often)| often).sum::<usize>(), 1_000);
        let share = |is: fn(&Deed) -> bool| (0..1_000).filter(|chance| is(&deed(*chance))).count();
        assert_eq!(share(|deed| matches!(deed, Deed::Read(_))), 900);
        assert_eq!(share(|deed| matches!(deed, Deed::React | Deed::Comment)), 60);
        assert_eq!(share(|deed| matches!(deed, Deed::Step | Deed::Visit)), 30);
        assert_eq!(share(|deed| matches!(deed, Deed::Buy | Deed::Open)), 10);
    }

    #[test]
    fn the_rate_rises_and_is_then_looked_for_between() {
        let tried = |bound: f64| {
            let (mut climb, mut tried) = (Climb::default(), Vec::new());
            while let Some(rate) = climb.next() {
                tried.push(rate.round());
                climb.went(rate, rate <= bound);
            }
            (tried, climb.kept.map(f64::round))
        };
        assert_eq!(tried(900.0), (vec![250.0, 350.0, 490.0, 686.0, 960.0, 812.0, 883.0], Some(883.0)));
        assert_eq!(tried(800.0), (vec![250.0, 350.0, 490.0, 686.0, 960.0, 812.0, 746.0], Some(746.0)));
        assert_eq!(tried(100.0), (vec![250.0], None));
    }

    #[test]
    fn a_copy_is_opened_by_the_fan_who_bought_it() {
        let deeds = Deeds { posts: vec!["a".to_owned()], steps: Arc::default() };
        let mut script = deeds.script(0, 3);
        let (mut bought, mut opened) = (Vec::new(), 0);
        for _ in 0..5_000 {
            let mut request = Vec::new();
            script(&mut request);
            let request = String::from_utf8(request).unwrap();
            let cookie = request.lines().find(|line| line.starts_with("Cookie")).unwrap().to_owned();
            if request.contains("/purchase ") {
                bought.push(cookie);
            } else if request.contains("/open ") {
                let place = bought.iter().position(|buyer| *buyer == cookie).unwrap();
                bought.remove(place);
                opened += 1;
            }
        }
        assert!(opened > 0);
    }

    #[test]
    fn the_chart_shows_every_rate() {
        let details =
            json!({"rates": [{"rate": 250.0, "p99Millis": 3.0}, {"rate": 350.0, "p99Millis": 9.0}]});
        let figure = Figure::plain("x", "SQLite", Quantity::new(1.0, "requests/s")).with(details);
        let chart = chart(&[figure.clone(), Figure { details: Value::Null, ..figure }]).unwrap();
        assert_eq!(chart.lines.len(), 1);
        assert_eq!(chart.lines[0].points, [(250.0, 3.0), (350.0, 9.0)]);
    }
}
