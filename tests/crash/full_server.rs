//! A PostgreSQL server whose disk has no room (docs/architecture.md, invariant 10). First its tables cannot
//! grow, which it reports; then its log cannot, which ends it. Writes are refused with `Retry-After`, nothing
//! that was acknowledged is lost, and service resumes by itself once there is room again, and a server.

use super::crowd::{BOUND, Crowd, Reply, await_replies, ends_well};
use super::dice::Dice;
use super::world::World;
use crate::disk::{Disk, needs_mount};
use anyhow::{Context, Result, ensure};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use terrace_testkit::pgtemp::{self, Options};
use terrace_testkit::{CRON_SECRET, Client, DatabaseKind, Invocation, Program, ThrowawayPostgres, on};

needs_mount! { a_server_whose_disk_has_no_room_is_survived }

/// Several times the size of an empty server, in MiB.
const ROOM: u32 = 192;
/// How soon writes are accepted again once there is room.
const RECOVERY: Duration = Duration::from_secs(20);
/// How often the test checks meanwhile whether the server runs.
const LOOK: Duration = Duration::from_secs(1);

fn a_server_whose_disk_has_no_room_is_survived() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let place = Invocation::new()?;
        // The server may have to run under another account.
        fs::set_permissions(place.folder(), Permissions::from_mode(0o755))?;
        let disk = Disk::mount(place.folder(), ROOM)?;
        let mut server = ThrowawayPostgres::start_in(disk.folder(), Options::default())?;
        let url = server.create_database("terrace")?;
        let invocation = place.clone().env("DATABASE_URL", &url).env("TERRACE_CRON_SECRET", CRON_SECRET);
        World::furnish(&invocation, &url)?;
        let program = invocation.serve()?;
        let mut dice = Dice::new()?;
        let mut crowd = Crowd::register(&program, 6, &mut dice)?;
        let client = program.client();
        for is_log_full in [false, true] {
            crowd.weather(&client, &mut dice, |replies, dice| {
                await_replies(replies, Reply::Done, 30 + dice.below(60), &[])?;
                disk.leave(0)?;
                if is_log_full {
                    // The next write needs another segment of the log. The server may end before it answers.
                    let _ = pgtemp::execute(&url, &["SELECT pg_switch_wal()"]);
                }
                await_replies(replies, Reply::Later, 30, &[Reply::Done])?;
                reads_are_answered_or_announced(&client)?;
                disk.clear()?;
                let had_ended = recover(&mut server, &program)?;
                println!("there is room again; the server had ended by itself: {had_ended}");
                await_replies(replies, Reply::Done, 50, &[Reply::Later])
            })?;
        }
        ends_well(program, invocation)
    })
}

/// Starts the server again if it has ended, and waits until the program serves; returns whether it had ended.
fn recover(server: &mut ThrowawayPostgres, program: &Program) -> Result<bool> {
    let (cleared, mut had_ended) = (Instant::now(), false);
    loop {
        had_ended |= server.revive_server()?;
        match program.wait_until_ready(LOOK) {
            Ok(_) => return Ok(had_ended),
            Err(error) => ensure!(cleared.elapsed() < RECOVERY, "{error:#}"),
        }
    }
}

/// Reads need no room, but a server.
fn reads_are_answered_or_announced(client: &Client) -> Result<()> {
    client.get("/healthz").expect(200);
    for path in ["/api/locker-room?limit=5", "/api/teams", "/readyz"] {
        let asked = Instant::now();
        let answer = client.ask("GET", path).may_break().send();
        ensure!(asked.elapsed() < BOUND, "{path} took {:?}", asked.elapsed());
        if answer.status != 200 {
            answer.problem(503, "unavailable").header("retry-after").context("no Retry-After")?;
        }
    }
    Ok(())
}
