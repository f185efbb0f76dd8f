//! Acknowledged writes are there however the processes end (spec.md §1, rule 1; §3, rule 4; §6): a crowd uses
//! all features, round after round in which the program, PostgreSQL, or both are killed in the middle. The
//! suite plays three rounds; `cargo xtask prove crash` plays as many as requested.

use super::crowd::{Crowd, Extent, Reply, Tally, await_replies};
use super::dice::Dice;
use super::listener::{Listener, THE_END};
use super::world::World;
use crate::streams::balancer::Balancer;
use anyhow::{Context, Result, ensure};
use std::env;
use std::time::{Duration, Instant};
use terrace_testkit::{
    CRON_SECRET, DatabaseKind, Invocation, Program, TestDatabase, ThrowawayPostgres, on_each_database,
};

on_each_database! { no_acknowledged_write_is_lost_or_doubled_by_kills }

/// The variable with the number of rounds, where it differs from the suite's.
const ROUNDS: &str = "TERRACE_PROVE_ROUNDS";
const IN_THE_SUITE: usize = 3;
const FANS: u64 = 8;
/// How soon the service serves again once its database does.
const RECOVERY: Duration = Duration::from_secs(10);

/// The process that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Program,
    /// PostgreSQL, whose end the program has to notice by itself.
    Server,
    Both,
}

/// The course of a round, all of which follows from its seed.
#[derive(Debug)]
struct Round {
    victim: Victim,
    /// How many writes are acknowledged before the kill.
    acknowledged: u64,
    /// The time from then until the kill.
    moment: Duration,
    /// Whether a program is killed also while it starts, and when.
    false_start: Option<Duration>,
}

impl Round {
    fn of(dice: &mut Dice, kind: DatabaseKind) -> Self {
        let victim = match (kind, dice.below(4)) {
            (DatabaseKind::Postgres, 2) => Victim::Server,
            (DatabaseKind::Postgres, 3) => Victim::Both,
            _ => Victim::Program,
        };
        Self {
            victim,
            acknowledged: 30 + dice.below(200),
            moment: Duration::from_micros(dice.below(5_000)),
            false_start: (dice.below(3) == 0).then(|| Duration::from_millis(dice.below(150))),
        }
    }
}

/// The service and what it runs on.
struct Site {
    server: Option<ThrowawayPostgres>,
    _database: Option<TestDatabase>,
    url: String,
    invocation: Invocation,
    program: Program,
    balancer: Balancer,
}

impl Site {
    fn open(kind: DatabaseKind) -> Result<Self> {
        let (server, database, url) = match kind {
            DatabaseKind::Sqlite => {
                let database = TestDatabase::empty(kind)?;
                let url = database.url().to_owned();
                (None, Some(database), url)
            }
            DatabaseKind::Postgres => {
                let server = ThrowawayPostgres::start()?;
                let url = server.create_database("terrace")?;
                (Some(server), None, url)
            }
        };
        // Every killed process leaves its log to the output of the test; messages that the database is away
        // are left out.
        let invocation = Invocation::on(&url)?
            .env("TERRACE_CRON_SECRET", CRON_SECRET)
            .env("RUST_LOG", "error,terrace_web::edge::normalize=off");
        World::furnish(&invocation, &url)?;
        let program = invocation.serve()?;
        let balancer = Balancer::before(vec![program.address()])?;
        Ok(Self { server, _database: database, url, invocation, program, balancer })
    }

    /// Kills the round's victims while the crowd is active, and restarts them.
    fn strike(&mut self, round: &Round, crowd: &mut Crowd) -> Result<()> {
        let client = self.program.client();
        let (program, server) = (&mut self.program, &mut self.server);
        crowd.under_load(&client, |replies| {
            await_replies(replies, Reply::Done, round.acknowledged, &[])?;
            ensure!(!program.ends_within(round.moment)?, "the program ended by itself");
            if let Some(server) = server.as_mut().filter(|_| round.victim != Victim::Program) {
                server.kill_server()?;
            }
            if round.victim != Victim::Server {
                return program.kill();
            }
            await_replies(replies, Reply::Later, 5, &[Reply::Done])?;
            server.as_mut().context("no server")?.start_server()?;
            program.wait_until_ready(RECOVERY)?;
            // Each lost connection may cost one request.
            await_replies(replies, Reply::Done, 20, &[Reply::Later])
        })?;
        if round.victim == Victim::Server {
            return Ok(());
        }
        if let Some(server) = self.server.as_mut().filter(|_| round.victim == Victim::Both) {
            server.start_server()?;
        }
        if let Some(moment) = round.false_start {
            let mut false_start = self.invocation.begin()?;
            ensure!(!false_start.ends_within(moment)?, "the program ended while it started");
            false_start.kill()?;
        }
        let gone = self.program.address();
        self.program = self.invocation.serve()?;
        self.balancer.replace(gone, self.program.address());
        Ok(())
    }

    fn audit(&self, crowd: &mut Crowd, extent: Extent) -> Result<Tally> {
        let tally = crowd.check(&self.program.client(), extent)?;
        let verify = self.invocation.clone().args(["maintain", "verify"]);
        let verified = verify.run()?.succeeded()?;
        ensure!(verified.ends_with("every counter agrees with what it counts\n"), "{verified}");
        Ok(tally)
    }
}

fn rounds() -> Result<usize> {
    env::var(ROUNDS).map_or(Ok(IN_THE_SUITE), |rounds| rounds.parse().context(ROUNDS))
}

fn no_acknowledged_write_is_lost_or_doubled_by_kills(kind: DatabaseKind) -> Result<()> {
    let (rounds, seed) = (rounds()?, Dice::seed()?);
    println!("{kind:?}: {rounds} rounds of seed {seed}");
    let mut dice = Dice::of(seed);
    let mut site = Site::open(kind)?;
    let mut crowd = Crowd::register(&site.program, FANS, &mut dice)?;
    let reader = site.program.client().by_way_of(site.balancer.address());
    let listener = Listener::begin(reader)?;
    let lived = live(&mut site, &mut crowd, &mut dice, rounds);
    if lived.is_err() {
        listener.give_up();
        println!(
            "{kind:?}: FAILED; cargo xtask prove crash --rounds {rounds} --seed {seed} makes the same choices"
        );
        return lived;
    }
    let (events, connections) = listener.end(&site.url, &mut dice)?;
    println!(
        "{kind:?}: a stream sent all {events} events, in order and once, over {connections} connections"
    );
    Ok(())
}

fn live(site: &mut Site, crowd: &mut Crowd, dice: &mut Dice, rounds: usize) -> Result<()> {
    let (mut sent_again, mut had_been_done) = (0, 0);
    for number in 1..=rounds {
        let begun = Instant::now();
        let mut dice = dice.split();
        let round = Round::of(
            &mut dice,
            if site.server.is_some() { DatabaseKind::Postgres } else { DatabaseKind::Sqlite },
        );
        crowd.begin_round(&mut dice);
        let extent = if number == rounds { Extent::Everything } else { Extent::Round };
        let tally = site
            .strike(&round, crowd)
            .and_then(|()| site.audit(crowd, extent))
            .with_context(|| format!("in round {number}: {round:?}"))?;
        sent_again += tally.sent_again;
        had_been_done += tally.had_been_done;
        println!(
            "round {number:>4}: {:?} killed after {} writes; {} acknowledged writes are there; {sent_again} had no \
             answer, {had_been_done} of them were done already; verify agrees; {:.1} s",
            round.victim,
            round.acknowledged,
            tally.acknowledged,
            begun.elapsed().as_secs_f64(),
        );
    }
    crowd.say(&site.program.client(), THE_END)
}
