//! A database that stands still: it keeps its connections, accepts new ones, and answers no statement.
//! Requests are answered in time with `Retry-After`, and service resumes by itself (docs/architecture.md,
//! invariant 10).

use super::crowd::{Crowd, Reply, await_replies, ends_well};
use super::dice::Dice;
use super::outage::is_away;
use super::world::World;
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};
use terrace_testkit::{CRON_SECRET, DatabaseKind, Invocation, ThrowawayPostgres, on};

/// How soon the service serves again once its database does.
const RECOVERY: Duration = Duration::from_secs(15);

/// How often a slow server stands still, and for how long each time.
const STALLS: usize = 6;
const STALL: Duration = Duration::from_millis(300);

#[test]
fn a_frozen_server_is_survived() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let server = ThrowawayPostgres::start()?;
        let url = server.create_database("terrace")?;
        let invocation =
            Invocation::on(&url)?.env("TERRACE_CRON_SECRET", CRON_SECRET).env("TERRACE_ANSWER_TIMEOUT", "4");
        World::furnish(&invocation, &url)?;
        let program = invocation.serve()?;
        let mut dice = Dice::new()?;
        let mut crowd = Crowd::register(&program, 8, &mut dice)?;
        for round in 1..=2 {
            crowd.weather(&program.client(), &mut dice, |replies, dice| {
                let acknowledged = 30 + dice.below(100);
                await_replies(replies, Reply::Done, acknowledged, &[])?;
                server.freeze_server()?;
                await_replies(replies, Reply::Later, 12, &[Reply::Done])?;
                is_away(&program)?;
                server.thaw_server()?;
                let recovery = program.wait_until_ready(RECOVERY)?;
                println!("round {round}: frozen after {acknowledged} writes, ready again after {recovery:?}");
                await_replies(replies, Reply::Done, 50, &[Reply::Later])
            })?;
        }
        ends_well(program, invocation)
    })
}

/// A slow disk, as the service sees one: its server stands still again and again, and does little in between.
/// The test does not slow a disk; it stops and continues processes. The cost is time.
#[test]
fn a_slow_server_is_survived() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let server = ThrowawayPostgres::start()?;
        let url = server.create_database("terrace")?;
        let invocation = Invocation::on(&url)?.env("TERRACE_CRON_SECRET", CRON_SECRET);
        World::furnish(&invocation, &url)?;
        let program = invocation.serve()?;
        let mut dice = Dice::new()?;
        let mut crowd = Crowd::register(&program, 8, &mut dice)?;
        let begun = Instant::now();
        crowd.weather(&program.client(), &mut dice, |replies, _| {
            for _ in 0..STALLS {
                server.freeze_server()?;
                let stalled = Instant::now();
                while let Some(left) = STALL.checked_sub(stalled.elapsed()) {
                    let Ok(what) = replies.recv_timeout(left) else { break };
                    ensure!(what != Reply::Nothing, "a request was not answered");
                }
                server.thaw_server()?;
                await_replies(replies, Reply::Done, 4, &[Reply::Later])?;
            }
            await_replies(replies, Reply::Done, 30, &[Reply::Later])
        })?;
        println!("{STALLS} times for {STALL:?} within {:?}", begun.elapsed());
        ends_well(program, invocation)
    })
}
