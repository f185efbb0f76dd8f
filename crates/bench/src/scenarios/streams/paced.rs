//! Posts at a constant rate, with the times of requests and responses by the clock that readers share.

use crate::scenarios::posts;
use crate::world::FANS;
use crate::{clock, http, rows};
use anyhow::{Context, Result, anyhow, ensure};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// A post whose creation was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posted {
    /// The number in its text.
    pub(super) number: u64,
    /// When it was due, which is when it was sent unless the previous response was late.
    pub(super) sent: u64,
    pub(super) answered: u64,
}

/// Creates `rate` posts per second for this duration, on one connection per fan.
pub(super) fn post(
    address: SocketAddr,
    cookies: &[&str],
    rate: u32,
    duration: Duration,
) -> Result<Vec<Posted>> {
    ensure!(cookies.len() == FANS, "each connection is another fan's");
    let step = Duration::from_secs(1) / rate;
    let begun = (Instant::now(), clock::now());
    let turns = u64::try_from(duration.as_nanos() / step.as_nanos().max(1))?;
    let posted = thread::scope(|scope| {
        let post_in_turn = |(place, cookie)| {
            scope.spawn(move || {
                let numbers = (place..turns).step_by(FANS);
                connection(address, cookie, numbers, begun, step)
            })
        };
        let threads: Vec<_> = (0..).zip(cookies.iter().copied()).map(post_in_turn).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Result<Vec<Posted>>>| {
            thread.join().map_err(|_| anyhow!("a connection's thread failed"))?
        };
        threads.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    Ok(posted.into_iter().flatten().collect())
}

fn connection(
    address: SocketAddr,
    cookie: &str,
    numbers: impl Iterator<Item = u64>,
    begun: (Instant, u64),
    step: Duration,
) -> Result<Vec<Posted>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let (mut posted, mut answer, mut piece) = (Vec::new(), Vec::new(), vec![0; 16 * 1024]);
    for number in numbers {
        let due = step.saturating_mul(u32::try_from(number)?);
        let body = format!("{{\"body\":\"{}\"}}", rows::new_body(number));
        let request = http::request("POST", posts::PATH, &[("Cookie", cookie)], Some(&body));
        thread::sleep((begun.0 + due).saturating_duration_since(Instant::now()));
        stream.write_all(&request)?;
        let extent = loop {
            if let Some(extent) = http::measure(&answer)? {
                break extent;
            }
            let length = stream.read(&mut piece)?;
            ensure!(length > 0, "the server closed the connection in mid-answer");
            answer.extend_from_slice(piece.get(..length).unwrap_or_default());
        };
        ensure!(extent.status == 201, "answered {}", extent.status);
        answer.clear();
        let sent = begun.1 + u64::try_from(due.as_nanos()).context("a run is short")?;
        posted.push(Posted { number, sent, answered: clock::now() });
    }
    Ok(posted)
}
