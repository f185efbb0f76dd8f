//! The load client: connections over plain sockets, each of which sends its next request after the previous response
//! arrived. It shares no code with the service, so that it cannot share its errors.

pub(crate) mod crowd;

use crate::histogram::Histogram;
use crate::http::{self, Extent, Response};
use crate::numbers::float;
use crate::process;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use terrace_kernel::num;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// How long a response may take before a run fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes the next request of one connection into an empty buffer.
pub(crate) type Script = Box<dyn FnMut(&mut Vec<u8>) + Send>;

/// Finds the end and the status of a response: [`http::measure`], or the function of another protocol.
pub(crate) type Measure = fn(&[u8]) -> Result<Option<Extent>>;

/// A script that repeats one request.
pub(crate) fn always(request: Vec<u8>) -> Script {
    Box::new(move |buffer| buffer.extend_from_slice(&request))
}

/// A script that repeats these requests in order.
pub(crate) fn in_turn(requests: Vec<Vec<u8>>) -> Script {
    let mut next = 0;
    Box::new(move |buffer| {
        if let Some(request) = requests.get(next) {
            buffer.extend_from_slice(request);
        }
        next = (next + 1) % requests.len().max(1);
    })
}

/// A server under test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    /// The process whose CPU time is counted.
    pub(crate) pid: u32,
    /// The main process of its database, if that is a separate server; its CPU time is counted separately.
    pub(crate) database: Option<u32>,
}

/// The parameters of a run against one server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) server: Served,
    /// How long requests run before they are counted.
    pub(crate) warm_up: Duration,
    /// How long requests are counted.
    pub(crate) duration: Duration,
    /// The accepted statuses; any other fails the run.
    pub(crate) statuses: &'a [u16],
    /// The protocol of the server.
    pub(crate) measure: Measure,
    /// The total requests per second of all connections, sent whether or not responses arrive; `None`: each connection
    /// sends its next request after the previous response.
    pub(crate) pace: Option<f64>,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) latency: Histogram,
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// All responses, including those during the warm-up and after the end.
    pub(crate) answered: u64,
    pub(crate) elapsed: Duration,
    /// CPU time of the server; `None` if the system does not report it.
    pub(crate) cpu: Option<Duration>,
    /// CPU time of its database; `None` if the system does not report it or the database is embedded in the server.
    pub(crate) database_cpu: Option<Duration>,
}

impl Sample {
    /// Requests per second.
    pub(crate) fn rate(&self) -> f64 {
        float(self.latency.count()) / self.elapsed.as_secs_f64()
    }

    /// Responses with this status per second.
    pub(crate) fn rate_of(&self, status: u16) -> f64 {
        float(self.statuses.get(&status).copied().unwrap_or(0)) / self.elapsed.as_secs_f64()
    }

    /// CPU time of the server per request, in microseconds; zero if the system does not report it.
    pub(crate) fn cpu_per_request(&self) -> f64 {
        self.cpu.map_or(0.0, |cpu| self.per_request(cpu))
    }

    /// CPU time of the database per request, in microseconds, if it is a separate server.
    pub(crate) fn database_cpu_per_request(&self) -> Option<f64> {
        self.database_cpu.map(|cpu| self.per_request(cpu))
    }

    fn per_request(&self, cpu: Duration) -> f64 {
        cpu.as_secs_f64() * 1e6 / float(self.latency.count().max(1))
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
        connections.push((Connection::open(load.server.address, load.measure).await?, script));
    }
    let begun = Instant::now();
    let from = begun + load.warm_up;
    let until = from + load.duration;
    let interval = load.pace.map(|pace| Duration::from_secs_f64(1.0 / pace.max(0.001)));
    let mut pacers = Pacer::for_each(begun, interval, connections.len());
    let mut tasks = JoinSet::new();
    for (connection, script) in connections {
        let pacer = pacers.next().flatten();
        tasks.spawn(repeat(connection, script, pacer, load.statuses.to_vec(), (from, until)));
    }
    let meter = async {
        sleep_until(from).await;
        let before = spent(load.server);
        sleep_until(until).await;
        let after = spent(load.server);
        let since = |after: Option<Duration>, before| Some(after?.saturating_sub(before?));
        Ok::<_, anyhow::Error>((since(after.0, before.0), since(after.1, before.1)))
    };
    let counts = async {
        let (mut latency, mut statuses, mut answered) = (Histogram::default(), BTreeMap::new(), 0);
        while let Some(counted) = tasks.join_next().await {
            let counted = counted.context("a connection's task failed")??;
            latency.merge(&counted.latency);
            answered += counted.answered;
            for (status, count) in counted.statuses {
                *statuses.entry(status).or_default() += count;
            }
        }
        Ok((latency, statuses, answered))
    };
    // The first failure ends the run; dropping the task set aborts the other tasks.
    let ((cpu, database_cpu), (latency, statuses, answered)) = tokio::try_join!(meter, counts)?;
    ensure!(latency.count() > 0, "nothing was answered within {:?}", load.duration);
    Ok(Sample { latency, statuses, answered, elapsed: load.duration, cpu, database_cpu })
}

/// The CPU time that the server and its database have used so far, as far as the system reports it.
fn spent(server: Served) -> (Option<Duration>, Option<Duration>) {
    let database = server.database.and_then(|first| process::cpu_of_family(first).ok());
    (process::cpu(server.pid).ok(), database)
}

#[derive(Default)]
struct Counted {
    latency: Histogram,
    statuses: BTreeMap<u16, u64>,
    answered: u64,
}

/// Schedules the requests of one of several connections that share a rate.
struct Pacer {
    next: Instant,
    step: Duration,
}

impl Pacer {
    /// A pacer for each connection, with evenly staggered turns; `None` for each if there is no rate.
    fn for_each(
        begun: Instant,
        interval: Option<Duration>,
        connections: usize,
    ) -> impl Iterator<Item = Option<Self>> {
        let count = num::to_u32(connections);
        (0..count).map(move |place| {
            interval.map(|interval| Self {
                next: begun + interval.saturating_mul(place),
                step: interval.saturating_mul(count),
            })
        })
    }

    /// Waits for the next turn, unless it has passed; returns when it was due.
    async fn turn(&mut self) -> Instant {
        let due = self.next;
        self.next += self.step;
        sleep_until(due).await;
        due
    }
}

/// Counts the responses between `from` and `until`. The latency of a request that was delayed by an earlier response is
/// measured from when it was due.
async fn repeat(
    mut connection: Connection,
    mut script: Script,
    mut pacer: Option<Pacer>,
    statuses: Vec<u16>,
    (from, until): (Instant, Instant),
) -> Result<Counted> {
    let mut counted = Counted::default();
    let mut request = Vec::new();
    loop {
        request.clear();
        script(&mut request);
        let sent = match &mut pacer {
            Some(pacer) => pacer.turn().await,
            None => Instant::now(),
        };
        let Ok(answer) = timeout_at(until + PATIENCE, connection.exchange(&request)).await else {
            bail!("no answer within {PATIENCE:?} after the run");
        };
        let extent = answer?;
        if !statuses.contains(&extent.status) {
            let answer = connection.response(extent)?;
            bail!("answered {} {}", answer.status, answer.text().chars().take(300).collect::<String>());
        }
        let answered = Instant::now();
        counted.answered += 1;
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
    /// The last response.
    answer: Vec<u8>,
    measure: Measure,
}

impl Connection {
    async fn open(address: SocketAddr, measure: Measure) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("cannot reach {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, answer: Vec::with_capacity(64 * 1024), measure })
    }

    /// Sends a request and reads its complete response.
    async fn exchange(&mut self, request: &[u8]) -> Result<Extent> {
        self.stream.write_all(request).await?;
        self.answer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.answer).await?;
            ensure!(read > 0, "the server closed the connection in mid-answer");
            if let Some(extent) = (self.measure)(&self.answer)? {
                ensure!(extent.total == self.answer.len(), "more was answered than was asked");
                return Ok(extent);
            }
        }
    }

    fn response(&self, extent: Extent) -> Result<Response> {
        Response::read(&self.answer, extent)
    }
}

/// A single connection for requests whose responses are inspected.
pub(crate) struct Caller {
    connection: Connection,
    runtime: Runtime,
}

impl Caller {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        Self::speaking(address, http::measure)
    }

    /// A connection of another protocol.
    pub(crate) fn speaking(address: SocketAddr, measure: Measure) -> Result<Self> {
        let runtime = runtime()?;
        let connection = runtime.block_on(Connection::open(address, measure))?;
        Ok(Self { connection, runtime })
    }

    /// Sends a request and returns the response, whatever its status.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Response> {
        let Self { connection, runtime } = self;
        let exchange = async { timeout(PATIENCE, connection.exchange(request)).await };
        let extent = runtime.block_on(exchange).context("no answer in time")??;
        connection.response(extent)
    }

    /// Sends a request that must return `status`.
    pub(crate) fn expect(&mut self, status: u16, request: &[u8]) -> Result<Response> {
        let response = self.ask(request)?;
        ensure!(response.status == status, "answered {} {}", response.status, response.text());
        Ok(response)
    }

    /// Sends a GET request that must succeed.
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

    /// Serves the requests of one connection with these bytes, each in one piece.
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
            server: Served { address, pid: std::process::id(), database: Some(std::process::id()) },
            warm_up: Duration::from_millis(1),
            duration: Duration::from_millis(50),
            statuses: &[200],
            measure: http::measure,
            pace: None,
        }
    }

    #[test]
    fn answers_are_counted() {
        let address = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        let sample = drive(&load(address), vec![always(http::request("GET", "/", &[], None))]).unwrap();
        assert_eq!(sample.statuses.get(&200), Some(&sample.latency.count()));
        assert!(sample.answered > sample.latency.count());
        assert!(sample.database_cpu >= sample.cpu && sample.database_cpu_per_request().is_some());
        assert!(sample.rate() > 0.0 && (sample.rate() - sample.rate_of(200)).abs() < 1e-9);
    }

    #[test]
    fn a_pace_is_kept_by_all_connections_together() {
        let address = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        let paced = Load { pace: Some(100.0), duration: Duration::from_millis(200), ..load(address) };
        let sample = drive(&paced, vec![always(http::request("GET", "/", &[], None))]).unwrap();
        // At most as many as were due, plus the one that is answered after the end.
        assert!(sample.answered <= 22, "{}", sample.answered);
        let turns: Vec<_> = Pacer::for_each(Instant::now(), Some(Duration::from_secs(1)), 4).collect();
        let steps: Vec<_> = turns.iter().flatten().map(|pacer| pacer.step.as_secs()).collect();
        assert_eq!(steps, [4; 4]);
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
