//! A comparison with a sorted set of the same size in Redis: bare commands over loopback, without persistence, compared
//! with complete HTTP responses of the service. There is no target.

use super::awards::{self, awarding};
use super::{AROUND, Board, PATH, TOP, around, read, top};
use crate::client::{Caller, Load, Sample, Script, Served, always, drive};
use crate::http::Extent;
use crate::process;
use crate::report::{Figure, Quantity, Target};
use crate::rows::boards;
use crate::scenarios::{Plan, for_each_fan, percentile, rate, shown};
use crate::server::Terrace;
use crate::world::{FANS, Ground};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use uuid::Uuid;

const PROGRAM: &str = "redis-server";
const SET: &str = "board";
/// The number of members that one command adds during the load.
const PORTION: u64 = 1_000;
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// The status for a response that is not an error; errors are [`REFUSED`].
const FINE: u16 = 200;
const REFUSED: u16 = 400;

/// Returns the figures; none if Redis is not installed, which is logged.
pub(super) fn run(ground: &Ground, plan: &Plan, board: &Board, terrace: &Terrace) -> Result<Vec<Figure>> {
    let Some(redis) = Redis::start(ground)? else {
        log::info!("{PROGRAM} is not installed: there is no comparison with it");
        return Ok(Vec::new());
    };
    log::info!("{}: {} fans", redis.version, board.fans);
    redis.load(board.fans)?;
    let fans = board.fans;
    let page = command(&["ZREVRANGE", SET, "0", &(TOP - 1).to_string(), "WITHSCORES"]);
    let own = for_each_fan(|fan| Ok(read(&around("me"), &[("Cookie", board.world.cookie(fan)?)])))?;
    let contests: [(String, &str, Sides<'_>); 3] = [
        (
            format!("GET {PATH}?limit={TOP}, whole answer"),
            "ZREVRANGE 0 99 WITHSCORES",
            (&|_, _| Ok(always(read(&top(), &[]))), &|_, _| Ok(always(page.clone()))),
        ),
        (
            format!("GET {PATH}?around=me&limit={AROUND}, whole answer"),
            "ZREVRANK",
            (
                &|_, connection| {
                    Ok(always(own.get(connection).context("fewer fans than connections")?.clone()))
                },
                &|run, connection| Ok(ranking(fans, run, connection)),
            ),
        ),
        (
            format!("POST {}, durable", awards::PATH),
            "ZADD, in memory only",
            (
                &|run, connection| {
                    Ok(awarding(board.in_bulk(), FIRST_SERIES + u64::try_from(run)?, connection))
                },
                &|run, connection| Ok(adding(fans, run, connection)),
            ),
        ),
    ];
    let mut figures = Vec::new();
    for (what, theirs, sides) in contests {
        figures.push(redis.contest(plan, board, terrace, (what, theirs), sides)?);
    }
    let resident = process::resident(redis.child.id())?;
    let what = format!("memory (RSS) of {} with {fans} members", redis.version);
    figures.push(Figure::plain(what, board.world.kind().name(), Quantity::new(resident, "MiB")));
    Ok(figures)
}

/// The first series of awards in this comparison.
const FIRST_SERIES: u64 = 20_000;

/// Creates the script of a connection in a run.
type Side<'a> = &'a dyn Fn(usize, usize) -> Result<Script>;
/// The scripts of the service and of Redis.
type Sides<'a> = (Side<'a>, Side<'a>);

/// A running server. It ends with this value.
struct Redis {
    child: Child,
    address: SocketAddr,
    version: String,
}

impl Redis {
    /// Starts a server without persistence; `None` if the program is not installed.
    fn start(ground: &Ground) -> Result<Option<Self>> {
        let version = match Command::new(PROGRAM).arg("--version").output() {
            Ok(output) => version(&String::from_utf8_lossy(&output.stdout)),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context("cannot run redis-server"),
        };
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new(PROGRAM)
            .args(["--bind", "127.0.0.1", "--port", &address.port().to_string()])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            .arg("--dir")
            .arg(ground.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let redis = Self { child, address, version };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            ensure!(begun.elapsed() < PATIENCE, "{PROGRAM} cannot be reached after {PATIENCE:?}");
            thread::sleep(POLL);
        }
        Ok(Some(redis))
    }

    /// Adds as many members as there are fans, with the same distribution of points.
    fn load(&self, fans: u64) -> Result<()> {
        let mut caller = Caller::speaking(self.address, measure)?;
        let mut from = 0;
        while from < fans {
            let until = fans.min(from + PORTION);
            let mut words = vec!["ZADD".to_owned(), SET.to_owned()];
            words.extend((from..until).flat_map(|n| [(10 * (1 + n / 4)).to_string(), member(n, fans)]));
            caller.expect(FINE, &command(&words.iter().map(String::as_str).collect::<Vec<_>>()))?;
            from = until;
        }
        let count = caller.expect(FINE, &command(&["ZCARD", SET]))?.text();
        ensure!(count.trim() == format!(":{fans}"), "{PROGRAM} holds {count} of {fans} members");
        Ok(())
    }

    fn served(&self) -> Served {
        Served { address: self.address, pid: self.child.id(), database: None }
    }

    /// Measures the service and Redis in turn, with the same loop.
    fn contest(
        &self,
        plan: &Plan,
        board: &Board,
        terrace: &Terrace,
        (what, theirs): (String, &str),
        (our_side, their_side): Sides<'_>,
    ) -> Result<Figure> {
        log::info!("{what}, and {theirs}");
        let ours = plan.load(terrace.served(), &[200]);
        let load = Load { measure, ..plan.load(self.served(), &[FINE]) };
        let (mut our_samples, mut their_samples): (Vec<Sample>, Vec<Sample>) = (Vec::new(), Vec::new());
        for run in 0..plan.runs {
            our_samples.push(drive(&ours, for_each_fan(|connection| our_side(run, connection))?)?);
            their_samples.push(drive(&load, for_each_fan(|connection| their_side(run, connection))?)?);
        }
        let details = json!({
            "ours": shown(&our_samples),
            "redis": shown(&their_samples),
            "version": self.version,
            "p99Millis": [percentile(&our_samples, 990), percentile(&their_samples, 990)],
            "connections": FANS,
        });
        let measured = Quantity::new(rate(&our_samples), "requests/s");
        Ok(Figure::plain(what, board.world.kind().name(), measured)
            .against(format!("Redis, {theirs}"), rate(&their_samples), Target::Unset)
            .with(details))
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // The process has no state to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `Redis server v=7.0.15 sha=…` → `Redis 7.0.15`.
fn version(text: &str) -> String {
    let number = text.split(' ').find_map(|word| word.strip_prefix("v="));
    format!("Redis {}", number.unwrap_or("of an unknown version"))
}

fn member(number: u64, fans: u64) -> String {
    Uuid::from_u128(boards::fan(number.wrapping_mul(boards::STEP), fans)).to_string()
}

/// Queries the ranks of different members.
fn ranking(fans: u64, run: usize, connection: usize) -> Script {
    let mut number = first(run, connection);
    Box::new(move |buffer| {
        number += 1;
        buffer.extend(command(&["ZREVRANK", SET, &member(number, fans)]));
    })
}

/// Changes the points of different members.
fn adding(fans: u64, run: usize, connection: usize) -> Script {
    let mut number = first(run, connection);
    Box::new(move |buffer| {
        number += 1;
        let points = (number % fans * 10 + 7).to_string();
        buffer.extend(command(&["ZADD", SET, &points, &member(number, fans)]));
    })
}

fn first(run: usize, connection: usize) -> u64 {
    u64::try_from(run * FANS + connection).unwrap_or(0) * 10_000_019
}

/// A command in the protocol of Redis (RESP 2).
fn command(words: &[&str]) -> Vec<u8> {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text.extend(["$", &word.len().to_string(), "\r\n", word, "\r\n"]);
    }
    text.into_bytes()
}

/// Measures the response at the start of `bytes`; `None` if it is incomplete.
fn measure(bytes: &[u8]) -> Result<Option<Extent>> {
    let status = if bytes.first() == Some(&b'-') { REFUSED } else { FINE };
    Ok(end_of(bytes, 0)?.map(|end| Extent::bare(status, end)))
}

/// The end of the value that starts at `start`.
fn end_of(bytes: &[u8], start: usize) -> Result<Option<usize>> {
    let rest = bytes.get(start..).unwrap_or_default();
    let Some(line) = rest.windows(2).position(|window| window == b"\r\n") else { return Ok(None) };
    let (kind, number) = rest.get(..line).and_then(<[u8]>::split_first).context("an empty line")?;
    let end = start + line + 2;
    let count = || -> Result<i64> { Ok(std::str::from_utf8(number)?.parse()?) };
    match kind {
        b'+' | b'-' | b':' => Ok(Some(end)),
        b'$' => {
            // A negative length means null, which has neither content nor line end.
            let end = usize::try_from(count()?).map_or(end, |length| end + length + 2);
            Ok((bytes.len() >= end).then_some(end))
        }
        b'*' => {
            let mut end = end;
            for _ in 0..count()? {
                let Some(next) = end_of(bytes, end)? else { return Ok(None) };
                end = next;
            }
            Ok(Some(end))
        }
        other => bail!("not an answer of Redis: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_with_its_last_byte_and_not_before() {
        for whole in [
            &b"+OK\r\n"[..],
            b":12\r\n",
            b"$-1\r\n",
            b"$3\r\na\r\n\r\n",
            b"*2\r\n$2\r\nab\r\n$1\r\n7\r\n",
            b"*0\r\n",
        ] {
            for cut in 0..whole.len() {
                assert_eq!(measure(&whole[..cut]).unwrap(), None, "{cut} of {whole:?}");
            }
            assert_eq!(measure(whole).unwrap(), Some(Extent::bare(FINE, whole.len())));
        }
        assert_eq!(measure(b"-ERR no\r\n").unwrap(), Some(Extent::bare(REFUSED, 9)));
        assert!(measure(b"HTTP/1.1 200 OK\r\n").is_err());
    }

    #[test]
    fn a_command_says_how_long_its_words_are() {
        assert_eq!(command(&["ZREVRANK", "b"]), b"*2\r\n$8\r\nZREVRANK\r\n$1\r\nb\r\n");
        assert_eq!(version("Redis server v=7.0.15 sha=0"), "Redis 7.0.15");
    }
}
