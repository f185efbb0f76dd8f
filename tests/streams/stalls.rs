//! Readers who read nothing are cut off in time and cost little until then (spec §8).

use super::connections::RawConnection;
use super::readers::ROOM;
use anyhow::{Context, Result, ensure};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::{Client, DatabaseKind, Invocation, Program, TestDatabase, on};

const STALLED: usize = 200;
const WRITERS: usize = 8;
/// How many posts each of them writes; each is of some 4 KB. Together they are several times what the kernel
/// buffers for a client that reads nothing.
const POSTS: usize = 250;
/// How soon a reader who reads nothing is cut off.
const GONE: Duration = Duration::from_secs(30);
/// What all of it may cost, in KiB: the events that are kept for clients that reconnect, and no more than a
/// few events for each client that reads nothing. All events together would be some 8 MiB for each of them.
const COST: u64 = 120 * 1024;

/// The value of a metric; `None` if it is not listed, like a counter that was never increased.
fn metric(client: &Client, name: &str) -> Result<Option<u64>> {
    let text = client.get("/metrics").expect(200).text();
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    Ok(value.map(|value| value.trim().parse()).transpose()?)
}

/// Writes `POSTS` posts, and returns the most memory that the service held meanwhile.
fn write(program: &Program, client: &Client) -> Option<u64> {
    let text = "ö".repeat(2000);
    let resident = (0..POSTS).map(|_| {
        client.create_post(&text);
        program.resident_kib()
    });
    resident.max().flatten()
}

#[test]
fn readers_who_read_nothing_cost_little_and_are_cut_off_in_time() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let database = TestDatabase::empty(kind)?;
        let program = Invocation::on(database.url())?.env("TERRACE_STREAM_HEARTBEAT", "1").serve()?;
        let writers: Vec<Client> = (0..WRITERS)
            .map(|nth| {
                let client = program.client();
                client.register(&format!("fan{nth}"));
                client
            })
            .collect();
        let mut reads = RawConnection::get(program.address(), ROOM, "")?;
        reads.head()?;
        let mut stalled = Vec::new();
        for _ in 0..STALLED {
            let mut asked = RawConnection::get(program.address(), ROOM, "")?;
            asked.until("\nid: ")?;
            stalled.push(asked);
        }
        let open = || {
            let open = metric(&writers[0], "terrace_streams_open{stream=\"locker-room\"}")?;
            open.context("the open streams are not counted")
        };
        ensure!(open()? == u64::try_from(STALLED + 1)?, "{} streams are open", open()?);
        let before = program.resident_kib();
        let most = thread::scope(|scope| {
            let reading = scope.spawn(|| reads.until("The last."));
            let program = &program;
            let writing: Vec<_> =
                writers.iter().map(|client| scope.spawn(move || write(program, client))).collect();
            let most = writing.into_iter().filter_map(|writer| writer.join().expect("a writer")).max();
            writers[0].create_post("The last.");
            // Readers are not delayed by those who read nothing.
            reading.join().expect("a reader").map(|_| most)
        })?;
        let written = Instant::now();
        eprintln!("{STALLED} who take nothing: from {before:?} to {most:?} KiB");
        if let (Some(before), Some(most)) = (before, most) {
            ensure!(most < before + COST, "from {before} to {most} KiB");
        }
        let cut = || -> Result<u64> {
            Ok(metric(&writers[0], "http_connections_cut_total{waited_for=\"answer\"}")?.unwrap_or(0))
        };
        // Each heartbeat is a moment to check. A stream whose next events have left the memory ends before its
        // connection is cut off.
        while open()? > 1 || cut()? < u64::try_from(STALLED)? {
            let (open, cut) = (open()?, cut()?);
            let elapsed = written.elapsed();
            ensure!(elapsed < GONE, "{open} streams are open and {cut} were cut off after {elapsed:?}");
            ensure!(reads.more()? > 0, "the one who reads is cut off");
        }
        ensure!(cut()? == u64::try_from(STALLED)?, "{} were cut off", cut()?);
        drop(stalled);
        Ok(())
    })
}

/// As much as a client may send while it reads.
const SENT: usize = 64 * 1024 * 1024;

/// Bytes that a client sends after a request without a body are neither read nor kept.
#[test]
fn a_reader_that_sends_without_end_costs_nothing() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let database = TestDatabase::empty(kind)?;
        let program = Invocation::on(database.url())?.serve()?;
        let mia = program.client();
        mia.register("mia");
        let before = program.resident_kib();
        let mut asked = RawConnection::get(program.address(), ROOM, "Transfer-Encoding: chunked\r\n")?;
        asked.until("\nid: ")?;
        let sent = asked.send_chunks(SENT)?;
        let after = program.resident_kib();
        eprintln!("{sent} bytes were sent: from {before:?} to {after:?} KiB");
        if let (Some(before), Some(after)) = (before, after) {
            ensure!(after < before + 16 * 1024, "{sent} bytes were sent: from {before} to {after} KiB");
        }
        let post = mia.create_post("What was that?");
        asked.until(&post).map(drop)
    })
}
