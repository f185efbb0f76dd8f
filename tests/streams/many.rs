//! Crowds get the streams that their addresses are allowed, cost little, and do not affect others (spec §8).

use super::connections::{RawConnection, handles_for};
use super::readers::ROOM;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use terrace_testkit::web::StreamConfig;
use terrace_testkit::{Client, DatabaseKind, Invocation, PASSWORD, Program, TestDatabase, on, wait_at_most};

/// The connections of the crowd from one address.
const CONNECTIONS: usize = 10_000;
/// The connections of the crowd from many.
const MORE_CONNECTIONS: usize = 15_000;
const ADDRESSES: usize = 12;
/// How many of them send requests before the first of these is answered.
const AT_ONCE: usize = 500;
/// What one connection may cost the service, in KiB, whatever the answer.
const COST: u64 = 40;
/// The header in which a proxy names a client elsewhere.
const FORWARDED: &str = "x-forwarded-for";
const ELSEWHERE: &str = "203.0.113.7";
/// How soon the service has closed the connections of all clients that left.
const GONE: Duration = Duration::from_mins(1);
/// How many descriptors may come and go by themselves.
const A_FEW: usize = 40;

/// A service with its default limits, to which a proxy may name its clients.
fn limited(url: &str) -> Result<Program> {
    let invocation = Invocation::on(url)?.without_env("TERRACE_RATE_LIMITS");
    invocation.env("TERRACE_TRUSTED_PROXIES", "127.0.0.1").serve()
}

/// A stream that is read from another address.
fn elsewhere(program: &Program) -> Result<RawConnection> {
    let mut asked = RawConnection::get(program.address(), ROOM, &format!("{FORWARDED}: {ELSEWHERE}\r\n"))?;
    let head = asked.head()?;
    ensure!(head.starts_with("HTTP/1.1 200 "), "{head}");
    asked.until("\nid: ")?;
    Ok(asked)
}

fn ask_elsewhere(client: &Client, path: &str, body: &Value) -> Value {
    client.ask("POST", path).header(FORWARDED, ELSEWHERE).json(body).send().expect(201).json()
}

/// A crowd with these header lines: the connections that got a stream, and those that were refused as too
/// many.
fn crowd(
    program: &Program,
    connections: usize,
    headers: &str,
) -> Result<(Vec<RawConnection>, Vec<RawConnection>)> {
    let (mut opened, mut refused) = (Vec::new(), Vec::new());
    let mut left = connections;
    while left > 0 {
        let count = left.min(AT_ONCE);
        left -= count;
        let asked: Vec<RawConnection> = (0..count)
            .map(|_| RawConnection::get(program.address(), ROOM, headers))
            .collect::<Result<_>>()?;
        for mut asked in asked {
            let head = asked.head()?.to_ascii_lowercase();
            if head.starts_with("http/1.1 200 ") {
                opened.push(asked);
                continue;
            }
            ensure!(head.starts_with("http/1.1 429 "), "{head}");
            ensure!(head.contains("\r\ncontent-type: application/problem+json"), "{head}");
            ensure!(head.contains("\r\nretry-after: "), "{head}");
            let problem: Value = serde_json::from_str(&asked.until("}")?)?;
            ensure!(problem["code"] == "rate_limited" && problem["status"] == 429, "{problem}");
            refused.push(asked);
        }
    }
    Ok((opened, refused))
}

/// Compares what this many connections cost with what they may.
fn cost_little(program: &Program, before: Option<u64>, connections: usize) -> Result<()> {
    let after = program.resident_kib();
    eprintln!("{connections} connections: from {before:?} to {after:?} KiB");
    if let (Some(before), Some(after)) = (before, after) {
        let bound = before + COST * u64::try_from(connections)?;
        ensure!(after < bound, "{connections} connections: from {before} to {after} KiB");
    }
    Ok(())
}

#[test]
fn ten_thousand_connections_from_one_address_affect_no_other() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let (connections, _alone) = handles_for(CONNECTIONS)?;
        let most = usize::try_from(StreamConfig::default().per_address)?;
        ensure!(connections > most, "{connections} connections do not come to the bound");
        let database = TestDatabase::empty(kind)?;
        let program = limited(database.url())?;
        let before = program.resident_kib();
        let (mut opened, refused) = crowd(&program, connections, "")?;
        assert_eq!((opened.len(), refused.len()), (most, connections - most));
        cost_little(&program, before, connections)?;
        // A client at another address signs up, reads and writes; those who have a stream keep it.
        let mut reads = elsewhere(&program)?;
        let mia = program.client();
        ask_elsewhere(&mia, "/api/register", &json!({"username": "mia", "password": PASSWORD}));
        let post = ask_elsewhere(&mia, "/api/locker-room", &json!({"body": "Is anyone there?"}));
        let post = post["post"]["id"].as_str().context("a post")?;
        reads.until(post)?;
        for reader in &mut opened {
            reader.until(post)?;
        }
        // An account has its own limit, wherever it reads.
        let cookie = mia.cookie("session").context("a session")?;
        let headers = format!("{FORWARDED}: {ELSEWHERE}\r\nCookie: session={cookie}\r\n");
        let mut of_mia = Vec::new();
        for _ in 0..=StreamConfig::default().per_account {
            of_mia.push(RawConnection::get(program.address(), ROOM, &headers)?);
            let head = of_mia.last_mut().context("one")?.head()?;
            let is_over = of_mia.len() > usize::try_from(StreamConfig::default().per_account)?;
            ensure!(head.starts_with("HTTP/1.1 429 ") == is_over, "{}: {head}", of_mia.len());
        }
        drop((refused, reads));
        Ok(())
    })
}

#[test]
fn fifteen_thousand_connections_come_and_go() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let (connections, _alone) = handles_for(MORE_CONNECTIONS)?;
        let database = TestDatabase::empty(kind)?;
        let program = limited(database.url())?;
        let mia = program.client();
        ask_elsewhere(&mia, "/api/register", &json!({"username": "mia", "password": PASSWORD}));
        let (memory, descriptors) = (program.resident_kib(), program.descriptors());
        let from_each = connections / ADDRESSES;
        let may_have = from_each.min(usize::try_from(StreamConfig::default().per_address)?);
        let (mut opened, mut refused) = (Vec::new(), Vec::new());
        for address in 1..=ADDRESSES {
            let (some, others) =
                crowd(&program, from_each, &format!("{FORWARDED}: 198.51.100.{address}\r\n"))?;
            assert_eq!((some.len(), others.len()), (may_have, from_each - may_have));
            opened.extend(some);
            refused.extend(others);
        }
        println!("{} have a stream, {} were refused as too many", opened.len(), refused.len());
        cost_little(&program, memory, connections)?;
        // A client at another address is served, and every open stream receives its post.
        let post = ask_elsewhere(&mia, "/api/locker-room", &json!({"body": "So many!"}));
        let post = post["post"]["id"].as_str().context("a post")?;
        for reader in &mut opened {
            reader.until(post)?;
        }
        drop((opened, refused));
        let went = Instant::now();
        wait_at_most(GONE, "the descriptors of clients that are gone are closed", || {
            mia.ask("GET", "/healthz").header(FORWARDED, ELSEWHERE).send().expect(200);
            Ok(program.descriptors() <= descriptors.map(|before| before + A_FEW))
        })?;
        println!("everybody is let go after {:?}; {:?} KiB", went.elapsed(), program.resident_kib());
        Ok(())
    })
}
