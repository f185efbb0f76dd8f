//! The load client: connections of its own over plain sockets, each sending its next request when the answer
//! to the one before is in. It shares nothing with the service, so it cannot share its mistakes.

use crate::histogram::Histogram;
use crate::http::{self, Extent, Response};
use crate::numbers::float;
use crate::process;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// How long one answer may take before a run is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes the next request of one connection into an empty buffer.
pub(crate) type Script = Box<dyn FnMut(&mut Vec<u8>) + Send>;

/// The same request over and over.
pub(crate) fn always(request: Vec<u8>) -> Script {
    Box::new(move |buffer| buffer.extend_from_slice(&request))
}

/// These requests in turn, over and over.
pub(crate) fn in_turn(requests: Vec<Vec<u8>>) -> Script {
    let mut next = 0;
    Box::new(move |buffer| {
        if let Some(request) = requests.get(next) {
            buffer.extend_from_slice(request);
        }
        next = (next + 1) % requests.len().max(1);
    })
}

/// A run against one server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) address: SocketAddr,
    /// The server's process, whose CPU time is counted.
    pub(crate) pid: u32,
    /// Before anything is counted.
    pub(crate) warm_up: Duration,
    /// While it is counted.
    pub(crate) duration: Duration,
    /// Any other status fails the run.
    pub(crate) statuses: &'a [u16],
}

/// What a run came to.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) latency: Histogram,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) elapsed: Duration,
    /// CPU time of the server; `None` where the system does not tell.
    pub(crate) cpu: Option<Duration>,
}

impl Sample {
    /// Requests a second.
    pub(crate) fn rate(&self) -> f64 {
        float(self.latency.count()) / self.elapsed.as_secs_f64()
    }

    /// Answers a second that had this status.
    pub(crate) fn rate_of(&self, status: u16) -> f64 {
        float(self.statuses.get(&status).copied().unwrap_or(0)) / self.elapsed.as_secs_f64()
    }

    /// CPU time of the server for one request, in microseconds; zero where the system does not tell.
    pub(crate) fn cpu_per_request(&self) -> f64 {
        self.cpu.map_or(0.0, |cpu| cpu.as_secs_f64() * 1e6 / float(self.latency.count().max(1)))
    }
}

/// Runs one connection for each script, on one thread.
pub(crate) fn drive(load: &Load<'_>, scripts: Vec<Script>) -> Result<Sample> {
    runtime()?.block_on(run(load, scripts))
}

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("cannot start the client's runtime")
}

async fn run(load: &Load<'_>, scripts: Vec<Script>) -> Result<Sample> {
    let mut connections = Vec::with_capacity(scripts.len());
    for script in scripts {
        connections.push((Connection::open(load.address).await?, script));
    }
    let from = Instant::now() + load.warm_up;
    let until = from + load.duration;
    let mut tasks = JoinSet::new();
    for (connection, script) in connections {
        tasks.spawn(repeat(connection, script, load.statuses.to_vec(), from, until));
    }
    let meter = async {
        sleep_until(from).await;
        let before = process::cpu(load.pid).ok();
        sleep_until(until).await;
        let after = process::cpu(load.pid).ok();
        Ok::<_, anyhow::Error>(after.zip(before).map(|(after, before)| after.saturating_sub(before)))
    };
    let counts = async {
        let (mut latency, mut statuses) = (Histogram::default(), BTreeMap::new());
        while let Some(counted) = tasks.join_next().await {
            let counted = counted.context("a connection's task failed")??;
            latency.merge(&counted.latency);
            for (status, count) in counted.statuses {
                *statuses.entry(status).or_default() += count;
            }
        }
        Ok((latency, statuses))
    };
    // The first failure ends the run; a task that is not waited for goes with its set.
    let (cpu, (latency, statuses)) = tokio::try_join!(meter, counts)?;
    ensure!(latency.count() > 0, "nothing was answered within {:?}", load.duration);
    Ok(Sample { latency, statuses, elapsed: load.duration, cpu })
}

#[derive(Default)]
struct Counted {
    latency: Histogram,
    statuses: BTreeMap<u16, u64>,
}

/// Counts what is answered between `from` and `until`.
async fn repeat(
    mut connection: Connection,
    mut script: Script,
    statuses: Vec<u16>,
    from: Instant,
    until: Instant,
) -> Result<Counted> {
    let mut counted = Counted::default();
    let mut request = Vec::new();
    loop {
        request.clear();
        script(&mut request);
        let sent = Instant::now();
        let Ok(answer) = timeout_at(until + PATIENCE, connection.exchange(&request)).await else {
            bail!("no answer within {PATIENCE:?} after the run");
        };
        let extent = answer?;
        if !statuses.contains(&extent.status) {
            let answer = connection.response(extent)?;
            bail!("answered {} {}", answer.status, answer.text().chars().take(300).collect::<String>());
        }
        let answered = Instant::now();
        if answered >= until {
            return Ok(counted);
        }
        if answered >= from {
            counted.latency.record(answered - sent);
            *counted.statuses.entry(extent.status).or_default() += 1;
        }
    }
}

struct Connection {
    stream: TcpStream,
    /// The last answer.
    answer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("cannot reach {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, answer: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request and takes in its whole answer.
    async fn exchange(&mut self, request: &[u8]) -> Result<Extent> {
        self.stream.write_all(request).await?;
        self.answer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.answer).await?;
            ensure!(read > 0, "the server closed the connection in mid-answer");
            if let Some(extent) = http::measure(&self.answer)? {
                ensure!(extent.total == self.answer.len(), "more was answered than was asked");
                return Ok(extent);
            }
        }
    }

    fn response(&self, extent: Extent) -> Result<Response> {
        Response::read(&self.answer, extent)
    }
}

/// One connection for requests whose answers are looked at.
pub(crate) struct Caller {
    connection: Connection,
    runtime: Runtime,
}

impl Caller {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let runtime = runtime()?;
        let connection = runtime.block_on(Connection::open(address))?;
        Ok(Self { connection, runtime })
    }

    /// Asks and returns the answer, whatever its status.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Response> {
        let Self { connection, runtime } = self;
        let exchange = async { timeout(PATIENCE, connection.exchange(request)).await };
        let extent = runtime.block_on(exchange).context("no answer in time")??;
        connection.response(extent)
    }

    /// Asks for something that is answered with `status`.
    pub(crate) fn expect(&mut self, status: u16, request: &[u8]) -> Result<Response> {
        let response = self.ask(request)?;
        ensure!(response.status == status, "answered {} {}", response.status, response.text());
        Ok(response)
    }

    /// Reads something.
    pub(crate) fn get(&mut self, target: &str, headers: &[(&str, &str)]) -> Result<Response> {
        self.expect(200, &http::request("GET", target, headers, None))
            .with_context(|| format!("GET {target}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    /// Answers one connection's requests with these bytes, in one piece each.
    fn serve(answer: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 4096];
            while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
                if stream.write_all(answer).is_err() {
                    return;
                }
            }
        });
        address
    }

    fn load(address: SocketAddr) -> Load<'static> {
        Load {
            address,
            pid: std::process::id(),
            warm_up: Duration::from_millis(1),
            duration: Duration::from_millis(50),
            statuses: &[200],
        }
    }

    #[test]
    fn answers_are_counted() {
        let address = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        let sample = drive(&load(address), vec![always(http::request("GET", "/", &[], None))]).unwrap();
        assert_eq!(sample.statuses.get(&200), Some(&sample.latency.count()));
        assert!(sample.rate() > 0.0 && (sample.rate() - sample.rate_of(200)).abs() < 1e-9);
    }

    #[test]
    fn another_status_fails_the_run_and_is_shown() {
        let address = serve(b"HTTP/1.1 503 X\r\ncontent-length: 4\r\n\r\nbusy");
        let failed = drive(&load(address), vec![always(http::request("GET", "/", &[], None))]).unwrap_err();
        assert!(failed.to_string().contains("503 busy"), "{failed:#}");
    }

    #[test]
    fn a_connection_that_ends_fails_the_run() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || drop(listener.accept()));
        assert!(drive(&load(address), vec![always(http::request("GET", "/", &[], None))]).is_err());
    }

    #[test]
    fn requests_take_turns() {
        let mut script = in_turn(vec![b"a".to_vec(), b"b".to_vec()]);
        let mut sent = Vec::new();
        (0..5).for_each(|_| script(&mut sent));
        assert_eq!(sent, b"ababa");
    }
}
