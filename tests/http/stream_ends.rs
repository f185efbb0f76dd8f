//! The contract under "Streams", over HTTP (spec §6 and §8): streams are short-lived, bounded in number and
//! in cost, and end in order.

use super::streams::{BOARD, OWN, ROOM, lasting, since};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use terrace_testkit::web::LimitConfig;
use terrace_testkit::{Client, DatabaseKind, EventStream, TestService, raw, read_some, wait_until};

/// A combined stream.
const ALL: &str = "/api/stream?channels=room,board,me";
/// Longer than anything here may take.
const PATIENCE: Duration = Duration::from_secs(30);

fn short(life: Duration, heartbeat: Duration) -> Result<TestService> {
    TestService::builder(DatabaseKind::Sqlite)
        .web(|web| {
            web.streams.life = life;
            web.streams.heartbeat = heartbeat;
        })
        .start()
}

#[test]
fn a_stream_sends_heartbeats_and_ends_in_order() -> Result<()> {
    let service = short(Duration::from_millis(400), Duration::from_millis(20))?;
    let mia = service.fan("mia");
    for path in [ROOM, BOARD, OWN, ALL] {
        let begun = Instant::now();
        let mut stream = mia.stream(path);
        assert!(stream.rest().is_empty(), "{path}");
        assert!(begun.elapsed() >= Duration::from_millis(400), "{path} ended after {:?}", begun.elapsed());
        assert!(stream.beats >= 3, "{path}: {} beats", stream.beats);
        let retry = stream.retry.context("no retry time was sent")?;
        assert!((1000..2000).contains(&retry), "{retry}");
        // A client that received no event has a position, too.
        let last = stream.last_id.context("no position")?;
        assert!(last.parse::<i64>()? > 0);
        let post = mia.create_post("Meanwhile.");
        if [ROOM, ALL].contains(&path) {
            let event = mia.stream_after(path, Some(&last)).one();
            assert_eq!(event.data["post"]["id"], json!(post));
        }
    }
    Ok(())
}

#[test]
fn streams_that_began_together_do_not_end_together() -> Result<()> {
    let service = short(Duration::from_secs(1), Duration::from_secs(15))?;
    let visitor = service.client();
    let mut streams: Vec<EventStream> = (0..12).map(|_| visitor.stream(ROOM)).collect();
    let begun = Instant::now();
    let ends: Vec<Duration> = std::thread::scope(|scope| {
        let ends: Vec<_> = streams
            .iter_mut()
            .map(|stream| {
                scope.spawn(move || {
                    stream.rest();
                    begun.elapsed()
                })
            })
            .collect();
        ends.into_iter().map(|end| end.join().expect("a thread")).collect()
    });
    let retries: std::collections::BTreeSet<_> = streams.iter().map(|stream| stream.retry).collect();
    assert!(retries.len() > 6, "{retries:?}");
    assert!(ends.iter().max() > ends.iter().min(), "{ends:?}");
    Ok(())
}

#[test]
fn a_stream_has_headers_for_proxies_and_is_not_compressed() -> Result<()> {
    let service = lasting(DatabaseKind::Sqlite)?;
    let stream = service.client().stream(ROOM);
    for line in ["content-type: text/event-stream", "cache-control: no-store", "x-accel-buffering: no"] {
        assert!(stream.head.contains(&format!("\r\n{line}\r\n")), "{}", stream.head);
    }
    for absent in ["content-encoding", "content-length", "etag"] {
        assert!(!stream.head.contains(absent), "{}", stream.head);
    }
    let begun = Instant::now();
    for path in [ROOM, BOARD] {
        let head = service.client().ask("HEAD", path).send().expect(200);
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert!(head.body.is_empty());
    }
    let mia = service.fan("mia");
    for path in [OWN, ALL] {
        mia.ask("HEAD", path).send().expect(200);
    }
    ensure!(begun.elapsed() < PATIENCE, "a head waits for a stream");
    Ok(())
}

#[test]
fn a_stream_request_with_a_body_is_served() -> Result<()> {
    let service = lasting(DatabaseKind::Sqlite)?;
    let mia = service.fan("mia");
    let mut connection = TcpStream::connect(service.address())?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let head = format!("GET {ROOM} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nunread");
    connection.write_all(head.as_bytes())?;
    let mut read = Vec::new();
    let mut wait_for = |words: &str| -> Result<()> {
        while !String::from_utf8_lossy(&read).contains(words) {
            let mut part = [0; 4096];
            let count = read_some(&mut connection, &mut part)?;
            ensure!(count > 0, "{}", String::from_utf8_lossy(&read));
            read.extend_from_slice(&part[..count]);
        }
        Ok(())
    };
    wait_for("\nid: ")?;
    let post = mia.create_post("Hello.");
    wait_for(&post)?;
    let other = b"POST /api/locker-room/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(raw(service.address(), other)?.map(|answer| answer.status), Some(405));
    Ok(())
}

fn capped(account: u32, address: u32) -> Result<TestService> {
    let limits = LimitConfig { enabled: true, ..LimitConfig::off() };
    TestService::builder(DatabaseKind::Sqlite)
        .limits(limits)
        .web(|web| {
            web.streams.life = Duration::from_mins(10);
            web.streams.per_account = account;
            web.streams.per_address = address;
        })
        .start()
}

/// Opens a stream as soon as one more is allowed.
fn opens(client: &Client, path: &str) -> Result<EventStream> {
    let mut opened = None;
    wait_until("one more stream is allowed", || {
        opened = client.try_stream(path, None).ok();
        Ok(opened.is_some())
    })?;
    opened.context("a stream")
}

#[test]
fn the_number_of_streams_is_bounded() -> Result<()> {
    let service = capped(2, 3)?;
    let (mia, bo, visitor) = (service.fan("mia"), service.fan("bo_"), service.client());
    let of_mia = [mia.stream(ROOM).begun(), mia.stream(ALL).begun()];
    let refused = mia.get(BOARD).problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    // Each has a separate allowance: a signed-in fan that of their account, whatever the address.
    let _of_bo = [bo.stream(ROOM).begun(), bo.stream(ROOM).begun()];
    let _of_visitor: Vec<_> = (0..3).map(|_| visitor.stream(ROOM).begun()).collect();
    visitor.get(ROOM).problem(429, "rate_limited");
    // A client that disconnects makes room, although its stream had minutes left.
    let [gone, _stays] = of_mia;
    drop(gone);
    let _again = opens(&mia, BOARD)?;
    mia.get(ALL).problem(429, "rate_limited");
    Ok(())
}

#[test]
fn stream_limits_are_lifted_with_the_rate_limits() -> Result<()> {
    let service = TestService::builder(DatabaseKind::Sqlite)
        .web(|web| {
            web.streams.life = Duration::from_mins(10);
            web.streams.per_account = 1;
            web.streams.per_address = 1;
        })
        .start()?;
    let visitor = service.client();
    let streams: Vec<_> = (0..40).map(|_| visitor.stream(ROOM).begun()).collect();
    assert_eq!(streams.len(), 40);
    Ok(())
}

/// A reader that reads nothing costs no more than the buffers of the kernel and the connection, and is cut
/// off; missed events are sent when it reconnects.
#[test]
fn a_reader_that_reads_nothing_is_cut_off_and_resumes() -> Result<()> {
    let limits = LimitConfig { enabled: true, ..LimitConfig::off() };
    let generous = terrace_testkit::web::Rate::new(1_000_000, 1);
    let limits = LimitConfig {
        account_writes: generous,
        account_reads: generous,
        anonymous_reads: generous,
        ..limits
    };
    let service = TestService::builder(DatabaseKind::Sqlite)
        .limits(limits)
        .without_dry_run()
        .web(|web| {
            web.streams.life = Duration::from_mins(10);
            web.streams.per_address = 1;
            web.streams.write_timeout = Duration::from_millis(300);
        })
        .start()?;
    let (mia, visitor) = (service.fan("mia"), service.client());
    let start = service.client().get("/api/locker-room").expect(200).at("/streamPosition").as_i64();
    let path = since(ROOM, start.context("a position")?);
    let mut stalled = visitor.stream(&path);
    let text = "ö".repeat(2000);
    let posts: Vec<String> = (0..700).map(|_| mia.create_post(&text)).collect();
    // It is closed, or there would be no room for another.
    let mut back = opens(&visitor, &path)?;
    let all: Vec<_> =
        back.take(posts.len()).into_iter().map(|event| event.data["post"]["id"].clone()).collect();
    assert_eq!(all, posts.iter().map(|post| json!(post)).collect::<Vec<_>>());
    let mut got = Vec::new();
    while let Ok(Some(event)) = stalled.try_next() {
        got.push(event.data["post"]["id"].clone());
    }
    assert!(got.len() < posts.len(), "nothing was held back");
    assert_eq!(got[..], all[..got.len()], "what it got is the beginning");
    Ok(())
}

#[test]
fn a_stop_ends_streams_at_once_and_their_clients_reconnect() -> Result<()> {
    let service = lasting(DatabaseKind::Sqlite)?;
    let mia = service.fan("mia");
    let mut streams: Vec<_> =
        (0..200).map(|nth| mia.stream([ROOM, BOARD, OWN, ALL][nth % 4]).begun()).collect();
    let other = service.beside(|web| web.streams.life = Duration::from_mins(10))?;
    let begun = Instant::now();
    service.stop()?;
    ensure!(begun.elapsed() < Duration::from_secs(5), "it stopped after {:?}", begun.elapsed());
    for stream in &mut streams {
        assert!(stream.rest().is_empty());
        assert!(stream.retry.is_some() && stream.last_id.is_some());
    }
    let last = streams[0].last_id.clone();
    let bo = other.fan("bo_");
    let post = bo.create_post("Elsewhere.");
    let event = other.client().stream_after(ROOM, last.as_deref()).one();
    assert_eq!(event.data["post"]["id"], json!(post));
    Ok(())
}

#[test]
fn a_stop_does_not_wait_for_readers_that_read_nothing() -> Result<()> {
    let service = TestService::builder(DatabaseKind::Sqlite)
        .without_dry_run()
        .web(|web| {
            web.streams.life = Duration::from_mins(10);
            web.streams.write_timeout = Duration::from_mins(10);
            web.shutdown_timeout = Duration::from_mins(1);
        })
        .start()?;
    let (mia, visitor) = (service.fan("mia"), service.client());
    let stalled = visitor.stream(ROOM).begun();
    let mut reads = visitor.stream(ROOM).begun();
    let text = "ö".repeat(2000);
    for _ in 0..600 {
        mia.create_post(&text);
    }
    // What was sent to one of them was sent to the other, as far as it was read.
    assert_eq!(reads.take(600).len(), 600);
    let begun = Instant::now();
    service.stop()?;
    ensure!(begun.elapsed() < Duration::from_secs(5), "it stopped after {:?}", begun.elapsed());
    assert!(reads.rest().is_empty() && reads.retry.is_some());
    drop(stalled);
    Ok(())
}
