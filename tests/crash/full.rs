//! A disk without room (docs/architecture.md, invariant 10): writes are refused with `Retry-After`, reads are
//! answered, nothing that was acknowledged is lost, and service resumes by itself once there is room again.

use super::crowd::{Crowd, Reply, await_replies, ends_well};
use super::dice::Dice;
use crate::disk::{Disk, needs_mount};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};
use terrace_testkit::{Client, DatabaseKind, Invocation, on};

needs_mount! { a_disk_without_room_is_survived }

/// The size of the disk, in MiB: a few times that of an empty database.
const ROOM: u32 = 12;
/// How soon writes are accepted again once there is room.
const RECOVERY: Duration = Duration::from_secs(10);

fn a_disk_without_room_is_survived() -> Result<()> {
    on(DatabaseKind::Sqlite, |_| {
        let place = Invocation::new()?;
        let disk = Disk::mount(place.folder(), ROOM)?;
        let data = disk.folder().join("data");
        let invocation = place.clone().args([Path::new("--data-dir"), &data]);
        let program = invocation.serve()?;
        let mut dice = Dice::new()?;
        let mut crowd = Crowd::register(&program, 4, &mut dice)?;
        let client = program.client();
        for round in 1..=2 {
            crowd.weather(&client, &mut dice, |replies, dice| {
                await_replies(replies, Reply::Done, 30 + dice.below(60), &[])?;
                disk.leave(0)?;
                await_replies(replies, Reply::Later, 40, &[Reply::Done])?;
                reads_go_on(&client)?;
                disk.clear()?;
                let cleared = Instant::now();
                await_replies(replies, Reply::Done, 40, &[Reply::Later])?;
                ensure!(cleared.elapsed() < RECOVERY, "writes were taken after {:?}", cleared.elapsed());
                println!("round {round}: writes are taken again; 40 within {:?}", cleared.elapsed());
                Ok(())
            })?;
        }
        ends_well(program, invocation)
    })
}

/// Requests that need no room are answered, and those that need some get the documented refusal.
fn reads_go_on(client: &Client) -> Result<()> {
    client.get("/healthz").expect(200);
    client.get("/api/locker-room?limit=5").expect(200);
    let register = json!({"username": "late", "password": "up the terrace"});
    let answer = client.ask("POST", "/api/register").json(&register).may_break().send();
    answer.problem(503, "unavailable").header("retry-after").context("no Retry-After").map(drop)
}
