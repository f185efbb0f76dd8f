//! Ranks that are right however the processes end (spec §1, scoring rules 2 and 3): every page that was
//! served is a sort of the ledger up to the `version` that it names, and no acknowledged award is lost or
//! counted twice.

use super::dice::Dice;
use crate::contract::published_totals::PublishedTotals;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use terrace_testkit::app::{App, AppConfig, PasswordCost};
use terrace_testkit::kernel::{Position, UserId};
use terrace_testkit::scoring::{PointsRecord, Ranked, SourceKind};
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{
    Answer, Client, DatabaseKind, Invocation, ManualClock, Program, SeededEntropy, TestDatabase,
    on_each_database, wait_until,
};
use tokio::runtime::Runtime;

on_each_database! { every_rank_that_was_served_is_a_sort_of_the_ledger_up_to_its_version }

const SECRET: &str = "a secret of operators that is long enough";
const BOARD: &str = "/api/leaderboard";
const WRITERS: usize = 16;
const READERS: usize = 4;
const FANS: usize = 24;
const KILLS: usize = 4;
/// Awards that are acknowledged, at least, before a kill, and on the remaining process after it.
const BEFORE: u64 = 150;
const AFTER: u64 = 30;

/// An award as it was sent: fan, source, points, team.
#[derive(Debug, Clone)]
struct Sent {
    fan: String,
    fact: String,
    amount: i64,
    team: Option<String>,
}

impl Sent {
    /// Sends it. `None` where no answer came, or a 503; else whether it was written now.
    fn send(&self, client: &Client) -> Result<Option<bool>> {
        let Self { fan, fact, amount, team } = self;
        let mut body = json!({"userId": fan, "amount": amount, "reason": "A ticket", "source": format!("import:{fact}")});
        if let Some(team) = team {
            body["teamId"] = json!(team);
        }
        let Ok(answer) = client.ask("POST", "/api/cron/award-points").json(&body).attempt() else {
            return Ok(None);
        };
        if answer.status == 503 {
            return Ok(None);
        }
        ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
        Ok(Some(answer.at("/alreadyAwarded") == json!(false)))
    }
}

/// A page of a board as it was served, and the parameters of its request.
struct Served {
    rows: usize,
    around: Option<String>,
    answer: Answer,
}

/// The fans and teams.
struct World {
    fans: Vec<String>,
    teams: Vec<String>,
}

impl World {
    fn new(program: &Program) -> Self {
        let fan = |n| program.client().register(&format!("fan{n}"));
        let teams = program.client().get("/api/teams").expect(200).list("/teams");
        let teams = teams.iter().take(2).filter_map(|team| team["id"].as_str().map(str::to_owned));
        Self { fans: (0..FANS).map(fan).collect(), teams: teams.collect() }
    }

    /// Awards until it is over or the process is gone. Returns what was sent, with whether it was
    /// acknowledged.
    fn write(
        &self,
        client: &Client,
        mut dice: Dice,
        over: &AtomicBool,
        acknowledged: &AtomicU64,
    ) -> Result<Vec<(Sent, bool)>> {
        let client = client.with_bearer(SECRET);
        let mut sent: Vec<(Sent, bool)> = Vec::new();
        while !over.load(Ordering::SeqCst) {
            let again = dice.below(8) == 0;
            let known = dice.pick(&sent).filter(|_| again).map(|(sent, _)| sent.clone());
            let award = match known {
                Some(known) => known,
                None => Sent {
                    fan: dice.pick(&self.fans).context("no fans")?.clone(),
                    fact: format!("{:016x}", dice.roll()),
                    amount: i64::try_from(dice.below(4))?,
                    team: if dice.below(2) == 0 { dice.pick(&self.teams).cloned() } else { None },
                },
            };
            let done = award.send(&client)?;
            if again
                && done == Some(true)
                && sent.iter().any(|(known, done)| known.fact == award.fact && *done)
            {
                anyhow::bail!("{award:?} was written twice");
            }
            sent.push((award, done.is_some()));
            acknowledged.fetch_add(u64::from(done.is_some()), Ordering::SeqCst);
            if done.is_none() && client.get_or_gone().is_none() {
                break;
            }
        }
        Ok(sent)
    }

    /// Reads until it is over or the process is gone. For each board the version never goes back, and it is
    /// at most the page's stream position: a cached page has the position of the time at which it was made.
    fn read(&self, client: &Client, mut dice: Dice, over: &AtomicBool) -> Result<Vec<Served>> {
        let mut served = Vec::new();
        let mut last: BTreeMap<String, i64> = BTreeMap::new();
        while !over.load(Ordering::SeqCst) {
            let board = match dice.pick(&self.teams).cloned() {
                Some(team) if dice.below(2) == 0 => format!("&teamId={team}"),
                _ => String::new(),
            };
            let around = if dice.below(2) == 0 { dice.pick(&self.fans).cloned() } else { None };
            let rows = 1 + usize::try_from(dice.below(40))?;
            let around_query = around.as_ref().map(|fan| format!("&around={fan}")).unwrap_or_default();
            let Ok(answer) =
                client.ask("GET", &format!("{BOARD}?limit={rows}{board}{around_query}")).attempt()
            else {
                break;
            };
            if answer.status == 503 {
                continue;
            }
            ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
            let number = |name| answer.at(name).as_i64().context("no number");
            let (version, position) = (number("/version")?, number("/streamPosition")?);
            let before = last.insert(answer.str_at("/leaderboard/id"), version).unwrap_or_default();
            ensure!(version >= before && version <= position, "{version} up to {position} after {before}");
            served.push(Served { rows, around, answer });
        }
        Ok(served)
    }
}

/// Requests that a killed process may leave unanswered.
trait Gone {
    fn get_or_gone(&self) -> Option<Answer>;
}

impl Gone for Client {
    fn get_or_gone(&self) -> Option<Answer> {
        self.ask("GET", "/healthz").attempt().ok()
    }
}

fn wait_for(acknowledged: &AtomicU64, count: u64) -> Result<()> {
    wait_until("enough awards are acknowledged", || Ok(acknowledged.load(Ordering::SeqCst) >= count))
}

/// The lines of a page: rank, points, fan, time in milliseconds.
fn lines(page: &Value) -> Vec<(Value, Value, Value, Value)> {
    let entries = page["entries"].as_array().expect("entries");
    let line = |entry: &Value| {
        let field = |name: &str| entry[name].clone();
        (field("rank"), field("points"), entry["user"]["id"].clone(), field("reachedAt"))
    };
    entries.iter().map(line).collect()
}

fn expected(line: &Ranked) -> (Value, Value, Value, Value) {
    let Ranked { rank, points, user, reached_at, .. } = line;
    (json!(rank), json!(points.get()), json!(user.to_string()), json!(reached_at.to_string()))
}

impl Served {
    /// A page of a process that has processed everything up to `last`; events of other processes arrive soon.
    fn when_it_knows(client: &Client, board: &str, last: Position) -> Result<Self> {
        let read = || client.get(&format!("{BOARD}?limit=100{board}")).expect(200);
        let mut answer = read();
        wait_until("the process has read the newest event", || {
            let is_known = answer.at("/streamPosition").as_i64().is_some_and(|known| known >= last.get());
            if !is_known {
                answer = read();
            }
            Ok(is_known)
        })?;
        Ok(Self { rows: 100, around: None, answer })
    }

    /// Compares the page with the board as of `version`.
    fn check(&self, published: &PublishedTotals, version: Position) -> Result<()> {
        let page = self.answer.json();
        let (season, board) =
            (self.answer.str_at("/season/id").parse()?, self.answer.str_at("/leaderboard/id").parse()?);
        let whole = published.board(season, board, version);
        let first = match &self.around {
            Some(fan) => {
                let fan: UserId = fan.parse()?;
                let place = whole.iter().position(|line| line.user == fan);
                place.map_or(whole.len(), |place| place.saturating_sub(self.rows / 2))
            }
            None => 0,
        };
        let sorted: Vec<_> = whole.iter().skip(first).take(self.rows).map(expected).collect();
        assert_eq!(lines(&page), sorted, "as of {version}: {page}");
        assert_eq!(page["total"], whole.len(), "as of {version}");
        Ok(())
    }
}

/// Every record of the ledger is one that was sent, once, as it was sent; and no acknowledged award is
/// missing.
fn check_ledger(records: &[PointsRecord], sent: &[(Sent, bool)]) {
    let mut known: BTreeMap<String, &Sent> = BTreeMap::new();
    for (sent, _) in sent {
        known.insert(format!("import:{}", sent.fact), sent);
    }
    let mut there = BTreeSet::new();
    for record in records {
        let key = record.source.to_string();
        // The points of demo fans, and the ones that the service itself pays for steps that awards complete.
        let by_service = [SourceKind::DailyVisit, SourceKind::Quest, SourceKind::QuestStep];
        if key.starts_with("import:demo/") || by_service.contains(&record.source.kind()) {
            continue;
        }
        let sent = known.get(&key).unwrap_or_else(|| panic!("{record:?} was never sent"));
        assert_eq!((record.user.to_string(), record.amount.get()), (sent.fan.clone(), sent.amount));
        assert_eq!(record.board.is_some(), sent.team.is_some());
        assert!(there.insert(key), "{record:?} is there twice");
    }
    for (sent, acknowledged) in sent {
        assert!(!acknowledged || there.contains(&format!("import:{}", sent.fact)), "{sent:?} is lost");
    }
}

/// Reads the data directly, beside the program or before it runs.
pub(super) fn with_data<T>(url: &str, ask: impl AsyncFnOnce(&App) -> T) -> Result<T> {
    let (clock, entropy) = (Arc::new(ManualClock::default()), Arc::new(SeededEntropy::new(9)));
    let storage = Storage::open(StorageConfig::new(url), clock.clone(), entropy.clone())?;
    let cheap =
        AppConfig { password_cost: PasswordCost { memory_kib: 64, passes: 1 }, ..AppConfig::default() };
    let app = App::new(Arc::new(storage.clone()), clock, entropy, cheap);
    let answer = Runtime::new()?.block_on(ask(&app));
    storage.close();
    Ok(answer)
}

/// Sixteen writers and four readers, on one process or on two that share PostgreSQL; again and again one
/// process is killed in the middle and restarted, and is read from its start on.
fn every_rank_that_was_served_is_a_sort_of_the_ledger_up_to_its_version(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation =
        Invocation::on(database.url())?.env("TERRACE_CRON_SECRET", SECRET).env("TERRACE_DEMO", "auto");
    let mut dice = Dice::new()?;
    let mut programs = vec![invocation.serve()?];
    if kind == DatabaseKind::Postgres {
        programs.push(invocation.serve()?);
    }
    let world = World::new(&programs[0]);
    let (mut sent, mut served) = (Vec::new(), Vec::new());
    for round in 0..KILLS {
        let (over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
        let victim = round % programs.len();
        let clients: Vec<Client> = programs.iter().map(Program::client).collect();
        thread::scope(|scope| -> Result<()> {
            let (world, over, acknowledged) = (&world, &over, &acknowledged);
            let writers: Vec<_> = (0..WRITERS)
                .map(|n| {
                    let (client, dice) = (clients[n % clients.len()].fork(), dice.split());
                    scope.spawn(move || world.write(&client, dice, over, acknowledged))
                })
                .collect();
            let readers: Vec<_> = (0..READERS)
                .map(|n| {
                    let (client, dice) = (clients[n % clients.len()].fork(), dice.split());
                    scope.spawn(move || world.read(&client, dice, over))
                })
                .collect();
            let watched = wait_for(acknowledged, BEFORE + dice.below(BEFORE)).and_then(|()| {
                programs[victim].kill()?;
                let left = acknowledged.load(Ordering::SeqCst);
                if programs.len() > 1 { wait_for(acknowledged, left + AFTER) } else { Ok(()) }
            });
            over.store(true, Ordering::SeqCst);
            for writer in writers {
                sent.extend(writer.join().expect("a writer")?);
            }
            for reader in readers {
                served.extend(reader.join().expect("a reader")?);
            }
            watched
        })?;
        programs[victim] = invocation.serve()?;
    }
    // Unacknowledged awards are sent again, until they are acknowledged.
    let client = programs[0].client().with_bearer(SECRET);
    for (sent, acknowledged) in &mut sent {
        if !*acknowledged {
            *acknowledged = sent.send(&client)?.is_some();
            ensure!(*acknowledged, "{sent:?} is not taken");
        }
    }
    let boards =
        [String::new(), format!("&teamId={}", world.teams[0]), format!("&teamId={}", world.teams[1])];
    let published = with_data(database.url(), PublishedTotals::read)?;
    let mut at_rest = Vec::new();
    for program in &programs {
        for board in &boards {
            at_rest.push(Served::when_it_knows(&program.client(), board, published.last())?);
        }
    }
    // Meanwhile the service may have paid steps that awards completed.
    let published = with_data(database.url(), PublishedTotals::read)?;
    let records: Vec<PointsRecord> = published.records.values().cloned().collect();
    check_ledger(&records, &sent);
    for served in &served {
        let version = served.answer.at("/version").as_i64().and_then(Position::new).context("no version")?;
        served.check(&published, version)?;
    }
    for served in &at_rest {
        let known = served.answer.at("/streamPosition").as_i64().and_then(Position::new);
        served.check(&published, known.context("no position")?)?;
    }
    eprintln!("{} awards, {} pages", records.len(), served.len());
    ensure!(served.len() > KILLS * READERS, "only {} pages were served", served.len());
    Ok(())
}
