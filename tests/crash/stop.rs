//! Graceful stops, and restarts.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use terrace_testkit::{
    DatabaseKind, Invocation, Program, TestDatabase, on_each_database, read_some, wait_at_most,
};

on_each_database! {
    a_stop_lets_requests_in_flight_end,
    a_stop_does_not_wait_for_idle_connections,
    a_second_process_on_the_same_address_reports_it,
}

/// The longest that a stop may take.
const BOUND: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(20);

/// A request whose head the service has, and whose body it waits for.
struct Begun {
    stream: TcpStream,
    body: String,
}

impl Begun {
    fn post(program: &Program, cookie: &str, text: &str) -> Result<Self> {
        let body = json!({"body": text}).to_string();
        let mut stream = TcpStream::connect(program.address())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "POST /api/locker-room HTTP/1.1\r\nHost: {}\r\nCookie: session={cookie}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            program.address(),
            body.len()
        )?;
        let mut begun = Self { stream, body };
        let interim = begun.read_until("\r\n\r\n")?;
        ensure!(interim.starts_with("HTTP/1.1 100"), "{interim}");
        Ok(begun)
    }

    /// The head of the answer to the whole request.
    fn end(mut self) -> Result<String> {
        self.stream.write_all(self.body.as_bytes())?;
        self.read_until("\r\n\r\n")
    }

    fn read_until(&mut self, end: &str) -> Result<String> {
        let (mut read, mut byte) = (Vec::new(), [0]);
        while !read.ends_with(end.as_bytes()) {
            let count = read_some(&mut self.stream, &mut byte)?;
            ensure!(count == 1, "the connection ended after {:?}", String::from_utf8_lossy(&read));
            read.extend_from_slice(&byte);
        }
        Ok(String::from_utf8(read)?)
    }
}

fn a_stop_lets_requests_in_flight_end(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let mut program = invocation.serve()?;
    let client = program.client();
    client.register("mia");
    let cookie = client.cookie("session").context("no cookie")?;
    let begun: Vec<_> =
        (0..4).map(|nth| Begun::post(&program, &cookie, &format!("late {nth}"))).collect::<Result<_>>()?;

    let started = Instant::now();
    program.terminate()?;
    // New connections are refused as soon as the service has the signal.
    wait_at_most(BOUND, "connections are refused", || Ok(TcpStream::connect(program.address()).is_err()))?;
    for request in begun {
        let answer = request.end()?;
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
    let ended = program.wait(BOUND)?;
    ensure!(started.elapsed() < BOUND, "it stopped after {:?}", started.elapsed());
    assert_eq!(ended.code, Some(0));
    assert!(ended.log.contains("stopped"), "{}", ended.log);
    assert!(!ended.log.contains("panicked"), "{}", ended.log);

    let program = invocation.serve()?;
    let feed = program.client().get("/api/locker-room").expect(200);
    assert_eq!(feed.list("/posts").len(), 4);
    program.client().with_cookie("session", &cookie).create_post("and on it goes");
    invocation.args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

fn a_stop_does_not_wait_for_idle_connections(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let mut program = Invocation::on(database.url())?.serve()?;
    let kept = program.client();
    kept.get("/api/locker-room").expect(200);
    let silent = TcpStream::connect(program.address())?;
    // Answered after the silent connection was accepted: connections are accepted in order.
    program.client().get("/healthz").expect(200);
    let started = Instant::now();
    let ended = program.stop()?;
    assert_eq!(ended.code, Some(0));
    ensure!(started.elapsed() < BOUND, "it stopped after {:?}", started.elapsed());
    drop((kept, silent));
    Ok(())
}

fn a_second_process_on_the_same_address_reports_it(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let mut first = invocation.serve()?;
    let address = first.address().to_string();
    let second = invocation.args(["--listen", &address]).run()?;
    assert_eq!(second.code, Some(1));
    assert!(second.log.contains(&format!("cannot listen on {address} (--listen)")), "{}", second.log);
    assert!(!second.words().contains("Terrace listens"), "{}", second.said);
    first.client().get("/readyz").expect(200);
    assert_eq!(first.stop()?.code, Some(0));
    Ok(())
}
