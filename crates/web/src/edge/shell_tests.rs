//! Tests of the whole shell, with test routes and without a store.

use crate::edge::config::WebConfig;
use crate::edge::etag::conditional_json;
use crate::edge::limits::{LimitConfig, Rate};
use crate::edge::shell::Shell;
use crate::error::{ApiError, Code, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, MaybeSignedIn, PathId, SignedIn};
use crate::register::Routes;
use crate::server::{Listeners, run};
use crate::test_support::{FakeBackend, service, viewer};
use actix_web::body::MessageBody;
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::test::{TestRequest, init_service, read_body, try_call_service};
use actix_web::web::Data;
use actix_web::{HttpResponse, get, post};
use serde::Deserialize;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use terrace_kernel::PostId;

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    body: String,
}

#[utoipa::path]
#[get("/api/notes")]
async fn read_notes(MaybeSignedIn(viewer): MaybeSignedIn) -> Result<HttpResponse, ApiError> {
    conditional_json(
        viewer.as_ref(),
        &serde_json::json!({"signedIn": viewer.is_some(), "pad": "x".repeat(500)}),
    )
}

#[utoipa::path(request_body = Note)]
#[post("/api/notes")]
async fn write_note(_: SignedIn, _: IdempotencyKey, body: JsonBody<Note>) -> Result<HttpResponse, ApiError> {
    assert_ne!(body.fingerprint(), [0; 32]);
    match body.into_inner().body.as_str() {
        "" => Err(Invalid::at("/body", "must not be empty")),
        "taken" => Err(Code::Conflict.into()),
        "broken" => Err(ApiError::internal("secret cause")),
        _ => Ok(HttpResponse::Created().finish()),
    }
}

#[utoipa::path]
#[get("/api/notes/{id}")]
async fn read_note(PathId(id): PathId<PostId>) -> String {
    id.to_string()
}

#[utoipa::path]
#[get("/api/panic")]
async fn fall_over() -> HttpResponse {
    panic!("secret words")
}

#[utoipa::path]
#[get("/api/never")]
async fn never_answer() -> HttpResponse {
    std::future::pending().await
}

#[utoipa::path]
#[get("/api/foreign")]
async fn fail_strangely() -> Result<HttpResponse, actix_web::Error> {
    Err(actix_web::error::ErrorInternalServerError("secret cause"))
}

fn routes(config: &mut Routes<'_>) {
    config
        .service(read_notes)
        .service(write_note)
        .service(read_note)
        .service(fall_over)
        .service(never_answer)
        .service(fail_strangely);
}

/// The parts of a response that tests check.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Asserts that it is a complete problem document with this status and code.
    #[track_caller]
    fn is_problem(&self, status: u16, code: &str) -> Value {
        let document = self.json();
        assert_eq!((self.status, document["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(document["status"], status);
        assert_eq!(document["type"], format!("/problems/{code}"));
        assert_eq!(document["requestId"].as_str(), self.header("x-request-id"));
        assert!(
            document["title"].is_string()
                && document["detail"].is_string()
                && document["instance"].is_string()
        );
        assert!(self.header("content-security-policy").is_some());
        assert_eq!(self.header("content-encoding"), None);
        assert_eq!(self.header("cache-control"), Some("no-store"));
        assert!(!String::from_utf8_lossy(&self.body).contains("secret"), "{self:?}");
        document
    }
}

async fn taken<B: MessageBody + 'static>(res: Result<ServiceResponse<B>, actix_web::Error>) -> Answer {
    let res = match res {
        Ok(res) => res.map_into_boxed_body(),
        Err(error) => {
            let request = TestRequest::default().to_http_request();
            ServiceResponse::new(request, error.error_response())
        }
    };
    let text = |value: &actix_web::http::header::HeaderValue| value.to_str().unwrap().to_owned();
    let headers = res.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    Answer { status: res.status().as_u16(), headers, body: read_body(res).await.to_vec() }
}

/// A service for tests, with its backend and shell.
macro_rules! service {
    ($config:expr) => {
        service!($config, false)
    };
    ($config:expr, $broken:expr) => {{
        let backend = Arc::new(FakeBackend::new($broken));
        let service = service(backend.clone(), $config, routes);
        let shell = service.shell.clone();
        (init_service(service.build()).await, backend, shell)
    }};
}

macro_rules! ask {
    ($app:expr, $req:expr) => {
        taken(try_call_service(&$app, $req.to_request()).await).await
    };
}

fn post_note(body: &str) -> TestRequest {
    TestRequest::post()
        .uri("/api/notes")
        .insert_header(("content-type", "application/json"))
        .set_payload(body.to_owned())
}

fn open() -> WebConfig {
    WebConfig { limits: LimitConfig::off(), ..WebConfig::default() }
}

#[actix_web::test]
async fn a_missing_session_is_reported_before_errors_in_the_body() {
    let (app, backend, _) = service!(open());
    for body in ["", "{", r#"{"nope":1}"#] {
        let answer = ask!(app, post_note(body));
        answer.is_problem(401, "authentication_required");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let plain = TestRequest::post().uri("/api/notes").insert_header(("idempotency-key", "")).set_payload("x");
    ask!(app, plain).is_problem(401, "authentication_required");
    assert_eq!(backend.look_ups.load(Ordering::Relaxed), 0);
}

#[actix_web::test]
async fn requests_that_wait_too_long_are_refused() {
    let config = WebConfig { answer_timeout: std::time::Duration::from_millis(20), ..open() };
    let (app, ..) = service!(config);
    let answer = ask!(app, TestRequest::get().uri("/api/never"));
    answer.is_problem(503, "unavailable");
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    assert_eq!(ask!(app, TestRequest::get().uri("/api/notes")).status, 200);
}

#[actix_web::test]
async fn refused_bodies_point_to_the_invalid_part() {
    let (app, backend, _) = service!(open());
    let bearer = format!("Bearer {}", backend.access.0.expose());
    let send = |body: &str| post_note(body).insert_header(("authorization", bearer.clone()));
    for (body, status, code, pointer) in [
        ("", 400, "invalid_request", Some("")),
        ("{", 400, "invalid_request", Some("")),
        ("{}", 400, "invalid_request", Some("/body")),
        (r#"{"body":1}"#, 400, "invalid_request", Some("/body")),
        (r#"{"body":"a","body":"b"}"#, 400, "invalid_request", Some("/body")),
        (r#"{"body":"a","nope":1}"#, 400, "invalid_request", Some("/nope")),
        (r#"{"body":""}"#, 422, "validation_failed", Some("/body")),
        (r#"{"body":"taken"}"#, 409, "conflict", None),
        (r#"{"body":"broken"}"#, 500, "internal", None),
    ] {
        let document = ask!(app, send(body)).is_problem(status, code);
        assert_eq!(document["errors"][0]["pointer"].as_str(), pointer, "{body}");
        assert_eq!(document["instance"], "/api/notes");
    }
    assert_eq!(ask!(app, send(r#"{"body":"a"}"#)).status, 201);
    let json = |value: &'static str| send(r#"{"body":"a"}"#).insert_header(("content-type", value));
    assert_eq!(ask!(app, json("Application/JSON; charset=UTF-8")).status, 201);
    for other in ["text/plain", "application/json; charset=latin1", "application/jsonx", ""] {
        ask!(app, json(other)).is_problem(415, "unsupported_media_type");
    }
    let coded = send(r#"{"body":"a"}"#).insert_header(("content-encoding", "gzip"));
    ask!(app, coded).is_problem(415, "unsupported_media_type");
    ask!(app, send(&format!(r#"{{"body":"{}"}}"#, "a".repeat(70_000)))).is_problem(413, "payload_too_large");
    ask!(app, send("{}").insert_header(("content-length", "10485760"))).is_problem(413, "payload_too_large");
    let key = send(r#"{"body":"a"}"#).insert_header(("idempotency-key", "a b"));
    ask!(app, key).is_problem(400, "invalid_request");
}

#[actix_web::test]
async fn what_a_fan_sends_may_change_what_the_fan_has() {
    let (app, backend, _) = service!(open());
    let bearer = ("authorization", format!("Bearer {}", backend.access.0.expose()));
    let noted = || std::mem::take(&mut *backend.noted.lock().unwrap());
    assert_eq!(ask!(app, post_note(r#"{"body":"a"}"#)).status, 401);
    assert_eq!(ask!(app, TestRequest::get().uri("/api/notes").insert_header(bearer.clone())).status, 200);
    assert_eq!(noted(), []);
    for (body, status) in [("a", 201), ("taken", 409), ("broken", 500)] {
        let written = ask!(app, post_note(&format!(r#"{{"body":"{body}"}}"#)).insert_header(bearer.clone()));
        assert_eq!((written.status, noted()), (status, vec![viewer().user_id]));
    }
}

#[actix_web::test]
async fn credentials_do_not_interchange_and_bearer_wins() {
    let (app, backend, _) = service!(open());
    let (cookie, access) = (backend.cookie.0.expose(), backend.access.0.expose());
    let wrong = access.chars().rev().collect::<String>();
    let stale = format!("tsc_{}", "A".repeat(43));
    for (bearer, given, signed_in, cleared) in [
        (None, None, Some(false), false),
        (None, Some(cookie), Some(true), false),
        (Some(access), None, Some(true), false),
        (Some(access), Some("junk"), Some(true), false),
        (None, Some(access), Some(false), true),
        (None, Some("junk"), Some(false), true),
        (None, Some(stale.as_str()), Some(false), true),
        (Some(cookie), None, None, false),
        (Some(cookie), Some(cookie), None, false),
        (Some(wrong.as_str()), Some(cookie), None, false),
        (Some(""), None, None, false),
    ] {
        let mut req = TestRequest::get().uri("/api/notes");
        if let Some(token) = bearer {
            req = req.insert_header(("authorization", format!("bearer {token}")));
        }
        if let Some(value) = given {
            req = req.insert_header(("cookie", format!("session={value}")));
        }
        let answer = ask!(app, req);
        if let Some(signed_in) = signed_in {
            assert_eq!(answer.json()["signedIn"], signed_in, "{answer:?}");
        } else {
            answer.is_problem(401, "invalid_token");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
        }
        let caching = if signed_in == Some(true) { "private, no-cache" } else { "public, no-cache" };
        assert_eq!(answer.header("cache-control"), signed_in.map(|_| caching).or(Some("no-store")));
        let set = answer.header("set-cookie").unwrap_or_default();
        assert_eq!(set.starts_with("session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0"), cleared, "{set}");
    }
}

#[actix_web::test]
async fn the_cookie_is_bound_to_the_host_under_https() {
    let config = WebConfig { public_url: "https://fans.example".parse().ok(), ..open() };
    let (app, backend, shell) = service!(config);
    let cookie = shell.session_cookie(&backend.cookie.0).to_string();
    assert!(cookie.starts_with("__Host-session=tsc_"), "{cookie}");
    for part in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/", "Max-Age=7776000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let sent = cookie.split(';').next().unwrap().to_owned();
    let answer = ask!(app, TestRequest::get().uri("/api/notes").insert_header(("cookie", sent)));
    assert_eq!(answer.json()["signedIn"], true);
    let plain = format!("session={}", backend.cookie.0.expose());
    let answer = ask!(app, TestRequest::get().uri("/api/notes").insert_header(("cookie", plain)));
    assert_eq!(answer.json()["signedIn"], false);
}

#[actix_web::test]
async fn other_sites_do_not_write() {
    let (app, _, _) = service!(open());
    let cross = post_note("{}").insert_header(("sec-fetch-site", "cross-site"));
    ask!(app, cross).is_problem(403, "cross_site_request");
    let own = post_note("{}").insert_header(("host", "127.0.0.1:3004"));
    ask!(app, own.insert_header(("origin", "http://127.0.0.1:3004")))
        .is_problem(401, "authentication_required");
    let read = TestRequest::get().uri("/api/notes").insert_header(("origin", "https://evil.example"));
    assert_eq!(ask!(app, read).status, 200);
}

#[actix_web::test]
async fn paths_and_methods_that_do_not_exist_are_problems() {
    let (app, _, _) = service!(open());
    for (method, path, status, code, allow) in [
        (Method::GET, "/index.html", 404, "not_found", None),
        (Method::POST, "/", 405, "method_not_allowed", Some("GET, HEAD, OPTIONS")),
        (Method::GET, "/api/nope", 404, "not_found", None),
        (Method::GET, "/api/notes/", 404, "not_found", None),
        (Method::DELETE, "/api/notes", 405, "method_not_allowed", Some("GET, HEAD, POST, OPTIONS")),
        (Method::POST, "/api/notes/7", 405, "method_not_allowed", Some("GET, HEAD, OPTIONS")),
        (Method::POST, "/healthz", 405, "method_not_allowed", Some("GET, HEAD, OPTIONS")),
        (Method::PUT, "/api/docs", 405, "method_not_allowed", Some("GET, HEAD, OPTIONS")),
        (Method::GET, "/api/notes/7", 400, "invalid_request", None),
        (Method::GET, "/api/notes/%FF%00", 400, "invalid_request", None),
        (Method::GET, "/api/docs/nope.js", 404, "not_found", None),
        (Method::GET, "/problems/nope", 404, "not_found", None),
    ] {
        let answer = ask!(app, TestRequest::default().method(method.clone()).uri(path));
        answer.is_problem(status, code);
        assert_eq!(answer.header("allow"), allow, "{method} {path}");
    }
    let answer = ask!(app, TestRequest::default().method(Method::OPTIONS).uri("/api/notes"));
    assert_eq!((answer.status, answer.header("allow")), (204, Some("GET, HEAD, POST, OPTIONS")));
    let answer = ask!(app, TestRequest::default().method(Method::HEAD).uri("/api/notes"));
    assert_eq!(answer.status, 200);
    for code in Code::ALL {
        assert_eq!(ask!(app, TestRequest::get().uri(&format!("/problems/{}", code.as_str()))).status, 200);
    }
}

#[actix_web::test]
async fn failures_have_constant_texts() {
    let (app, _, _) = service!(open());
    let first = ask!(app, TestRequest::get().uri("/api/panic")).is_problem(500, "internal");
    assert_eq!(first["instance"], "/api/panic");
    ask!(app, TestRequest::get().uri("/api/foreign")).is_problem(500, "internal");
    assert_eq!(ask!(app, TestRequest::get().uri("/api/notes")).status, 200);
    let picky =
        TestRequest::get().uri("/api/notes").insert_header(("accept-encoding", "identity;q=0, *;q=0"));
    ask!(app, picky).is_problem(406, "not_acceptable");
}

#[actix_web::test]
async fn an_unavailable_store_is_503_with_retry_after() {
    let (app, backend, _) = service!(open(), true);
    let cookie = format!("session={}", backend.cookie.0.expose());
    let answer = ask!(app, TestRequest::get().uri("/api/notes").insert_header(("cookie", cookie)));
    answer.is_problem(503, "unavailable");
    assert_eq!(answer.header("retry-after"), Some("2"));
    assert_eq!(answer.header("set-cookie"), None);
    ask!(app, TestRequest::get().uri("/readyz")).is_problem(503, "unavailable");
    assert_eq!(ask!(app, TestRequest::get().uri("/healthz")).json()["status"], "ok");
}

#[actix_web::test]
async fn a_process_that_stops_is_not_ready() {
    let (app, _, shell) = service!(open());
    assert_eq!(ask!(app, TestRequest::get().uri("/readyz")).status, 200);
    shell.drain();
    ask!(app, TestRequest::get().uri("/readyz")).is_problem(503, "unavailable");
    assert_eq!(ask!(app, TestRequest::get().uri("/api/notes")).status, 200);
}

#[actix_web::test]
async fn too_much_is_429() {
    let limits = LimitConfig { anonymous_reads: Rate::new(2, 3600), ..LimitConfig::default() };
    let (app, backend, _) = service!(WebConfig { limits, ..WebConfig::default() });
    let get = || TestRequest::get().uri("/api/notes").peer_addr("10.0.0.1:999".parse().unwrap());
    assert_eq!(ask!(app, get()).status, 200);
    assert_eq!(ask!(app, get()).status, 200);
    let answer = ask!(app, get());
    answer.is_problem(429, "rate_limited");
    assert!(answer.header("retry-after").is_some());
    let bearer = format!("Bearer {}", backend.access.0.expose());
    assert_eq!(ask!(app, get().insert_header(("authorization", bearer))).status, 200);
    assert_eq!(ask!(app, TestRequest::get().uri("/healthz")).status, 200);
}

#[actix_web::test]
async fn the_contract_and_its_page_come_from_the_binary() {
    let (app, _, _) = service!(open());
    let answer = ask!(app, TestRequest::get().uri("/api/openapi.json"));
    assert_eq!(answer.json()["openapi"], "3.1.0");
    assert!(answer.json()["paths"]["/api/notes"]["post"].is_object());
    let page = ask!(app, TestRequest::get().uri("/api/docs"));
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
    for name in ["", "swagger-ui.css", "swagger-ui-bundle.js", "swagger-initializer.js", "favicon-32x32.png"]
    {
        assert!(text.contains(&format!("/api/docs/{name}")) || name.is_empty(), "{name}");
        assert_eq!(ask!(app, TestRequest::get().uri(&format!("/api/docs/{name}"))).status, 200, "{name}");
    }
    let start = ask!(app, TestRequest::get().uri("/api/docs/swagger-initializer.js"));
    assert!(String::from_utf8_lossy(&start.body).contains("/api/openapi.json"));
    assert!(!text.contains("http://") && !text.contains("https://"));
}

/// A server on a port of its own; runs until `stop`.
struct Running {
    address: std::net::SocketAddr,
    shell: Data<Shell>,
    stop: tokio::sync::oneshot::Sender<()>,
    thread: std::thread::JoinHandle<std::io::Result<()>>,
}

impl Running {
    fn start() -> Self {
        let main = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = main.local_addr().unwrap();
        let config = WebConfig { workers: Some(1), ..open() };
        let service = service(Arc::new(FakeBackend::new(false)), config, routes);
        let shell = service.shell.clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            let listeners = Listeners { main: vec![main], metrics: None };
            runtime.unwrap().block_on(run(listeners, service, async {
                stopped.await.unwrap();
            }))
        });
        Self { address, shell, stop, thread }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Sends a request on a new connection and returns everything received until the server closes it.
    fn say(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn stop(self) {
        self.stop.send(()).unwrap();
        self.thread.join().unwrap().unwrap();
    }
}

const CLOSE: &str = "host: localhost\r\nconnection: close\r\n";

#[test]
fn over_a_connection_head_has_no_body_and_a_panic_leaves_the_worker_alive() {
    let server = Running::start();
    let head = server.say(&format!("HEAD /api/notes HTTP/1.1\r\n{CLOSE}\r\n"));
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("content-length: 5"), "{head}");
    let panic = server.say(&format!("GET /api/panic HTTP/1.1\r\n{CLOSE}\r\n"));
    assert!(panic.starts_with("HTTP/1.1 500 ") && panic.contains("\"code\":\"internal\""), "{panic}");
    assert!(panic.to_ascii_lowercase().contains("x-request-id: "), "{panic}");
    let after = server.say(&format!("GET /healthz HTTP/1.1\r\n{CLOSE}\r\n"));
    assert!(after.ends_with("{\"status\":\"ok\"}"), "{after}");
    // The framework refuses it before the middleware runs, in plain text.
    let odd = server.say("GET /api/notes HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n");
    assert!(odd.starts_with("HTTP/1.1 400 "), "{odd}");
    server.stop();
}

#[test]
fn the_sender_of_a_large_body_receives_the_refusal() {
    let server = Running::start();
    let length = 10 * 1024 * 1024;
    let head = format!(
        "POST /api/notes HTTP/1.1\r\n{CLOSE}content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    let answer = server.say(&(head + &"a".repeat(length)));
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    server.stop();
}

#[test]
fn an_idle_connection_does_not_delay_the_shutdown() {
    let server = Running::start();
    let mut idle = server.connect();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 16];
    idle.read_exact(&mut first).unwrap();
    let shell = server.shell.clone();
    let started = std::time::Instant::now();
    server.stop();
    assert!(shell.is_draining());
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
}
