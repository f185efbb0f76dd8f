//! An HTTP client for tests. It returns responses of any status, and checks each against the API contract; see
//! [`Contract`].
#![expect(clippy::missing_panics_doc, reason = "a request that gets no answer fails its test")]

use crate::answer::Answer;
use crate::contract::Contract;
use crate::service::PASSWORD;
use crate::stream::EventStream;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{self, HeaderName, HeaderValue, Method};

/// Longer than any response may take, shorter than the timeout of a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// A client with a cookie jar. It can send a bearer token, and the headers that browsers send.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    contract: Arc<Contract>,
    jar: Arc<Mutex<BTreeMap<String, String>>>,
    bearer: Option<String>,
    origin: Option<String>,
}

impl Client {
    /// A client of the service at `url`, an origin without a path.
    pub fn new(url: String, contract: Arc<Contract>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .allow_non_standard_methods(true)
            .timeout_global(Some(PATIENCE))
            .proxy(None)
            .build();
        Self { agent: config.new_agent(), url, contract, jar: Arc::default(), bearer: None, origin: None }
    }

    /// A fork of this client that sends its requests to another address, such as a load balancer.
    #[must_use]
    pub fn by_way_of(&self, address: SocketAddr) -> Self {
        Self { url: format!("http://{address}"), ..self.fork() }
    }

    /// This client, sending the headers of a browser on the service's own pages.
    #[must_use]
    pub fn browsing(mut self) -> Self {
        self.origin = Some(self.url.clone());
        self
    }

    /// An independent client with a copy of the cookies.
    #[must_use]
    pub fn fork(&self) -> Self {
        let jar = self.jar().clone();
        Self { jar: Arc::new(Mutex::new(jar)), ..self.clone() }
    }

    /// A fork that also sends this bearer token.
    #[must_use]
    pub fn with_bearer(&self, token: &str) -> Self {
        Self { bearer: Some(token.to_owned()), ..self.fork() }
    }

    /// A fork with this cookie in its jar.
    #[must_use]
    pub fn with_cookie(&self, name: &str, value: &str) -> Self {
        let client = self.fork();
        client.jar().insert(name.to_owned(), value.to_owned());
        client
    }

    /// The value of a cookie in the jar.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.jar().get(name).cloned()
    }

    /// The bearer token, if any.
    pub fn bearer(&self) -> Option<&str> {
        self.bearer.as_deref()
    }

    fn jar(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.jar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers an account, which puts the session cookie into the jar, and returns the account's id.
    #[track_caller]
    pub fn register(&self, name: &str) -> String {
        let body = json!({"username": name, "password": PASSWORD});
        self.post("/api/register", &body).expect(201).str_at("/user/id")
    }

    /// Signs in, which puts the session cookie into the jar.
    #[track_caller]
    pub fn login(&self, name: &str) -> Answer {
        self.post("/api/login", &json!({"username": name, "password": PASSWORD})).expect(200)
    }

    /// A fork with the access token of a native client that signed in.
    #[track_caller]
    #[must_use]
    pub fn mobile_login(&self, name: &str) -> Self {
        let body = json!({"username": name, "password": PASSWORD});
        self.with_bearer(&self.post("/api/mobile-auth/login", &body).expect(200).str_at("/accessToken"))
    }

    /// Creates a post and returns its id.
    #[track_caller]
    pub fn create_post(&self, body: &str) -> String {
        self.post("/api/locker-room", &json!({"body": body})).expect(201).str_at("/post/id")
    }

    /// Sends a GET request.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path).send()
    }

    /// Sends a POST request with a JSON body.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path).json(body).send()
    }

    /// Sends a PUT request with a JSON body.
    #[track_caller]
    pub fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask("PUT", path).json(body).send()
    }

    /// Sends a PATCH request with a JSON body.
    #[track_caller]
    pub fn patch(&self, path: &str, body: &Value) -> Answer {
        self.ask("PATCH", path).json(body).send()
    }

    /// Sends a DELETE request.
    #[track_caller]
    pub fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path).send()
    }

    /// Opens a stream; panics if the response is not a stream.
    #[track_caller]
    pub fn stream(&self, path: &str) -> EventStream {
        self.stream_after(path, None)
    }

    /// Opens a stream as a reconnecting client does, with the last event id that it received.
    #[track_caller]
    pub fn stream_after(&self, path: &str, last: Option<&str>) -> EventStream {
        match self.try_stream(path, last) {
            Ok(stream) => stream,
            Err(error) => panic!("{path} is no stream: {error:#}"),
        }
    }

    /// Opens a stream of a service that may fail or be unreachable.
    ///
    /// # Errors
    ///
    /// Returns an error if no stream is opened.
    pub fn try_stream(&self, path: &str, last: Option<&str>) -> anyhow::Result<EventStream> {
        let mut head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n");
        for (name, value) in self.credentials(&Method::GET) {
            write!(head, "{name}: {}\r\n", value.to_str()?)?;
        }
        if let Some(last) = last {
            write!(head, "Last-Event-ID: {last}\r\n")?;
        }
        let address = self.url.strip_prefix("http://").unwrap_or(&self.url);
        let head = format!("{head}Accept-Encoding: br, gzip\r\n\r\n");
        EventStream::open(address, &head, Arc::clone(&self.contract), self.contract.events(path))
    }

    /// Builds a request.
    pub fn ask(&self, method: &str, path: &str) -> Request<'_> {
        Request {
            client: self,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            may_break: false,
        }
    }

    fn credentials(&self, method: &Method) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = Vec::new();
        let cookies: Vec<String> = self.jar().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            headers.push((http::header::COOKIE, value(cookies.join("; "))));
        }
        if let Some(token) = &self.bearer {
            headers.push((http::header::AUTHORIZATION, value(format!("Bearer {token}"))));
        }
        if let Some(origin) = &self.origin {
            headers
                .push((HeaderName::from_static("sec-fetch-site"), HeaderValue::from_static("same-origin")));
            if !matches!(*method, Method::GET | Method::HEAD) {
                headers.push((http::header::ORIGIN, value(origin)));
            }
        }
        headers
    }

    /// Updates the jar as browsers do: an expired or empty cookie is removed.
    fn keep_cookies(&self, answer: &Answer) {
        for set in answer.headers("set-cookie") {
            let (pair, attributes) = set.split_once(';').unwrap_or((set, ""));
            let Some((name, value)) = pair.split_once('=') else { continue };
            let ended = attributes.split(';').any(|attribute| attribute.trim() == "Max-Age=0");
            if ended || value.is_empty() {
                self.jar().remove(name);
            } else {
                self.jar().insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

fn value(text: impl AsRef<[u8]>) -> HeaderValue {
    HeaderValue::from_bytes(text.as_ref()).expect("a header's value")
}

/// A request that is being built.
#[must_use]
pub struct Request<'c> {
    client: &'c Client,
    method: String,
    path: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Vec<u8>,
    may_break: bool,
}

impl Request<'_> {
    /// Adds a header; repeating a name adds another line.
    pub fn header(mut self, name: &str, text: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.parse().expect("a header's name"), value(text)));
        self
    }

    /// Sets a JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// Sets a body of any type; sends no content type if `content_type` is empty.
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        if content_type.is_empty() { self } else { self.header("content-type", content_type) }
    }

    /// Accepts a 5xx response without failing the test.
    pub fn may_break(mut self) -> Self {
        self.may_break = true;
        self
    }

    /// Sends the request and checks the response against the contract.
    #[track_caller]
    pub fn send(self) -> Answer {
        let shown = format!("{} {}", self.method, self.path);
        let answer = self.exchange().expect(&shown);
        if answer.status >= 500 {
            assert!(self.may_break, "{shown}: {} {}", answer.status, answer.text());
        }
        self.hold(&answer);
        answer
    }

    /// Sends the request to a service that may fail or be unreachable, and returns the response, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if the response is missing or incomplete.
    #[track_caller]
    pub fn attempt(self) -> anyhow::Result<Answer> {
        let answer = self.exchange()?;
        self.hold(&answer);
        Ok(answer)
    }

    #[track_caller]
    fn hold(&self, answer: &Answer) {
        let broken = self.client.contract.broken_by(&self.method, &self.path, answer);
        assert!(broken.is_empty(), "{self:?} is answered against the contract: {broken:#?}\n{answer:?}");
        self.client.keep_cookies(answer);
    }

    fn exchange(&self) -> Result<Answer, ureq::Error> {
        let Self { client, method, path, body, .. } = self;
        let method: Method = method.parse().expect("a method");
        let mut request =
            http::Request::builder().method(method.clone()).uri(format!("{}{path}", client.url));
        for (name, value) in client.credentials(&method) {
            // Headers that the test sets replace the default ones.
            if !self.headers.iter().any(|(said, _)| *said == name) {
                request = request.header(name, value);
            }
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let takes_body = matches!(method, Method::POST | Method::PUT | Method::PATCH);
        let mut response = if body.is_empty() && !takes_body {
            client.agent.run(request.body(())?)?
        } else {
            client.agent.run(request.body(body.as_slice())?)?
        };
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.body_mut().with_config().limit(64 << 20).read_to_vec()?;
        Ok(Answer { status, headers, body })
    }
}

/// Shows the method and the path.
impl Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}
