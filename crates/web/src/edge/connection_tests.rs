//! Tests with slow clients on real connections. None of them measures time: each waits for an end that would
//! never come without the limit under test.

use crate::edge::config::WebConfig;
use crate::edge::limits::LimitConfig;
use crate::error::ApiError;
use crate::extract::JsonBody;
use crate::register::Routes;
use crate::server::{Listeners, run};
use crate::test_support::{FakeBackend, service};
use actix_web::body::{BodySize, MessageBody};
use actix_web::{HttpResponse, get, post};
use bytes::Bytes;
use serde::Deserialize;
use std::convert::Infallible;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Longer than any step here takes, even on a slow machine.
const EVER: Duration = Duration::from_secs(30);
/// A short limit for the service under test; the framework's own clock ticks twice a second.
const SHORT: Duration = Duration::from_secs(1);

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    #[expect(dead_code, reason = "only read from JSON")]
    body: String,
}

#[utoipa::path(request_body = Note)]
#[post("/api/notes")]
async fn write_note(_body: JsonBody<Note>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Created().finish())
}

#[utoipa::path]
#[get("/api/endless")]
async fn endless() -> HttpResponse {
    HttpResponse::Ok().insert_header(("content-encoding", "identity")).body(Endless)
}

#[utoipa::path]
#[get("/api/late")]
async fn late() -> HttpResponse {
    HttpResponse::Ok().insert_header(("content-encoding", "identity")).body(Late)
}

fn routes(config: &mut Routes<'_>) {
    config.service(write_note).service(endless).service(late);
}

/// Receives a message when an endless response is aborted.
static GIVEN_UP: Mutex<Option<Sender<()>>> = Mutex::new(None);

struct Endless;

impl MessageBody for Endless {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(Some(Ok(Bytes::from_static(&[b'x'; 16_000]))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        if let Some(tell) = GIVEN_UP.lock().unwrap_or_else(PoisonError::into_inner).take() {
            tell.send(()).ok();
        }
    }
}

/// State of the late response: whether it is released, and the waker of its task.
static LATE: Mutex<(bool, Option<Waker>)> = Mutex::new((false, None));

struct Late;

impl MessageBody for Late {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let mut state = LATE.lock().unwrap();
        if state.0 {
            return Poll::Ready(None);
        }
        state.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

struct Running {
    address: SocketAddr,
    stop: tokio::sync::oneshot::Sender<()>,
    thread: std::thread::JoinHandle<std::io::Result<()>>,
}

impl Running {
    fn start(config: WebConfig) -> Self {
        let main = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = main.local_addr().unwrap();
        let config = WebConfig { workers: Some(1), limits: LimitConfig::off(), ..config };
        let service = service(Arc::new(FakeBackend::new(false)), config, routes);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            let listeners = Listeners { main: vec![main], metrics: None };
            runtime.unwrap().block_on(run(listeners, service, async {
                stopped.await.unwrap();
            }))
        });
        Self { address, stop, thread }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(EVER)).unwrap();
        stream
    }

    /// A keep-alive connection that has received one response.
    fn kept(&self) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        read_until(&mut stream, "{\"status\":\"ok\"}");
        stream
    }

    fn is_well(&self) {
        drop(self.kept());
    }

    fn stop(self) {
        self.stop.send(()).unwrap();
        self.thread.join().unwrap().unwrap();
    }
}

fn read_until(stream: &mut TcpStream, end: &str) {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).ends_with(end) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        seen.extend(byte);
    }
}

/// Sends one byte at a time, reading in between; returns everything received until the server closed the
/// connection.
fn trickle(mut stream: TcpStream, bytes: impl Iterator<Item = u8>) -> String {
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut answer = Vec::new();
    for byte in bytes {
        if stream.write_all(&[byte]).is_err() {
            return String::from_utf8(answer).unwrap();
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(0) => return String::from_utf8(answer).unwrap(),
            Ok(length) => answer.extend_from_slice(&buffer[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return String::from_utf8(answer).unwrap(),
        }
    }
    panic!("still open: {}", String::from_utf8_lossy(&answer))
}

fn without_end(start: &str) -> impl Iterator<Item = u8> {
    // Outlasts every limit, but ends, so that a missing limit fails the test instead of hanging it.
    start.bytes().collect::<Vec<_>>().into_iter().chain(std::iter::repeat_n(b'a', 1500))
}

fn impatient() -> WebConfig {
    WebConfig { head_timeout: SHORT, body_timeout: SHORT, write_timeout: SHORT, ..WebConfig::default() }
}

#[test]
fn a_head_that_trickles_is_cut_off_the_first_and_every_further_one() {
    let server = Running::start(impatient());
    let answer =
        trickle(server.connect(), without_end("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: "));
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let answer = trickle(server.kept(), without_end("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: "));
    assert_eq!(answer, "", "an answer would be taken for the answer to the incomplete request");
    let mut silent = server.kept();
    silent.write_all(b"G").unwrap();
    assert!(matches!(silent.read(&mut [0; 16]), Ok(0)) || silent.read(&mut [0; 16]).is_err());
    server.is_well();
    server.stop();
}

#[test]
fn a_body_that_trickles_is_cut_off_wanted_or_not() {
    // Time spent waiting for a body does not count towards the response timeout.
    let server = Running::start(WebConfig { answer_timeout: SHORT / 4, ..impatient() });
    let head = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n"
        )
    };
    let answer = trickle_behind(&server, &head("/api/notes"));
    assert!(
        answer.starts_with("HTTP/1.1 408 ") && answer.contains("\"code\":\"request_timeout\""),
        "{answer}"
    );
    let answer = trickle_behind(&server, &head("/api/nowhere"));
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    let chunked =
        "POST /api/nowhere HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n";
    let answer = trickle_behind(&server, chunked);
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    server.is_well();
    server.stop();
}

fn trickle_behind(server: &Running, head: &str) -> String {
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    trickle(stream, without_end(""))
}

#[test]
fn a_client_that_stops_reading_is_cut_off() {
    let server = Running::start(impatient());
    let (tell, given_up): (_, Receiver<()>) = channel();
    *GIVEN_UP.lock().unwrap() = Some(tell);
    let mut stream = server.connect();
    stream.write_all(b"GET /api/endless HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    given_up.recv_timeout(EVER).expect("the service keeps a response that its client does not read");
    server.is_well();
    server.stop();
}

#[test]
fn a_slow_response_is_not_treated_as_idleness() {
    let config = WebConfig { keep_alive: SHORT, ..impatient() };
    let server = Running::start(config);
    let mut stream = server.connect();
    stream.write_all(b"GET /api/late HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    read_until(&mut stream, "\r\n\r\n");
    stream.set_read_timeout(Some(SHORT * 3)).unwrap();
    let waited = stream.read(&mut [0; 16]).unwrap_err();
    assert!(matches!(waited.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{waited}");
    let mut state = LATE.lock().unwrap();
    state.0 = true;
    state.1.take().unwrap().wake();
    drop(state);
    stream.set_read_timeout(Some(EVER)).unwrap();
    read_until(&mut stream, "0\r\n\r\n");
    // The connection is idle now, and is closed after the keep-alive time.
    assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0);
    server.stop();
}

#[test]
fn a_head_has_a_size_and_a_larger_one_costs_no_more() {
    let server = Running::start(WebConfig::default());
    let ask = |bytes: usize| {
        let mut stream = server.connect();
        let head = format!(
            "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-large: {}\r\n\r\n",
            "a".repeat(bytes)
        );
        // The service answers and closes before it has read the whole request: either side may notice first.
        let sent = stream.write_all(head.as_bytes());
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        let silent = read.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(!silent, "neither answered nor closed");
        (String::from_utf8(answer).unwrap(), sent.is_err() || read.is_err())
    };
    let (answer, _) = ask(40_000);
    assert!(
        answer.starts_with("HTTP/1.1 431 ") && answer.contains("\"code\":\"header_too_large\""),
        "{answer}"
    );
    let (answer, cut_off) = ask(1_000_000);
    assert!(answer.starts_with("HTTP/1.1 431 ") || cut_off, "{answer}");
    let many = "x: y\r\n".repeat(200);
    let mut stream = server.connect();
    stream.write_all(format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{many}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    server.is_well();
    server.stop();
}

#[test]
fn connections_beyond_the_limit_wait_until_one_closes() {
    let server = Running::start(WebConfig { max_connections: 2, ..WebConfig::default() });
    let (first, second) = (server.kept(), server.kept());
    let mut third = server.connect();
    third.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    third.set_read_timeout(Some(SHORT)).unwrap();
    assert!(third.read(&mut [0; 1]).is_err(), "served beyond the limit");
    drop(first);
    third.set_read_timeout(Some(EVER)).unwrap();
    read_until(&mut third, "{\"status\":\"ok\"}");
    drop((second, third));
    server.stop();
}
