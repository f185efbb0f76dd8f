//! Outbound HTTP calls of the service: signed messages to webhooks, documents to fetch, the payment provider, and push
//! services. Every call is bounded in
//! time and size, and redirects are not followed, so that a message reaches only the address that the operator
//! configured.
//!
//! The calls block; [`Caller`] runs them outside the async threads.

mod minting;
mod payments;
mod push;
mod stripe;
mod wallets;

pub use minting::MintingWebhook;
pub use payments::PostTo;
pub use push::{
    MalformedPushHost, MalformedVapidKeys, PUSH_HOSTS, PushHost, PushNetwork, VapidKeys, WebPush, sealed,
};
pub use stripe::{MalformedStripeKey, Stripe, StripeKey};
pub use wallets::WalletWebhook;

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use terrace_app::platform::webhooks::{SIGNATURE_HEADER, WebhookSecret};
use terrace_kernel::Timestamp;
use ureq::Agent;
use ureq::http::{Response, StatusCode, Uri};

/// An absolute http or https URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Uri);

/// The text is no absolute http or https URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an absolute http:// or https:// URL is wanted")]
pub struct MalformedEndpoint;

impl std::str::FromStr for Endpoint {
    type Err = MalformedEndpoint;

    fn from_str(text: &str) -> Result<Self, MalformedEndpoint> {
        let url: Uri = text.parse().map_err(|_| MalformedEndpoint)?;
        let is_http = matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some();
        if is_http { Ok(Self(url)) } else { Err(MalformedEndpoint) }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallFault {
    /// No response: the server was not reached, or the connection was closed, or the call timed out.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// A response with a status other than 2xx.
    #[error("answered {0}")]
    Refused(u16),
    /// The response is longer than allowed.
    #[error("the answer is longer than {0} bytes")]
    TooLong(u64),
}

impl CallFault {
    /// Whether the same call may succeed later: true for every failure except an oversized response and a status that
    /// rejects the message itself.
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::NoAnswer(_) => true,
            Self::Refused(status) => *status >= 500 || matches!(status, 408 | 409 | 425 | 429),
            Self::TooLong(_) => false,
        }
    }
}

/// An HTTP client. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Caller {
    agent: Arc<Agent>,
}

impl Caller {
    /// A client whose calls end after `patience`, measured from the DNS lookup to the last byte of the
    /// response.
    pub fn new(patience: Duration) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(patience))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .build();
        Self { agent: Arc::new(config.into()) }
    }

    /// Posts a JSON text, signed with the secret and the time `at`. Succeeds if the response is 2xx.
    pub async fn post_signed(
        &self,
        to: Endpoint,
        secret: &WebhookSecret,
        at: Timestamp,
        body: Vec<u8>,
    ) -> Result<(), CallFault> {
        self.post(to, secret, at, None, body, 0).await.map(drop)
    }

    /// Like [`Self::post_signed`], with `name`, which must be visible ASCII, in the header `Idempotency-Key`. The
    /// receiver uses it to recognize a repeated message.
    pub async fn post_signed_once(
        &self,
        to: Endpoint,
        secret: &WebhookSecret,
        at: Timestamp,
        name: String,
        body: Vec<u8>,
    ) -> Result<(), CallFault> {
        self.post(to, secret, at, Some(name), body, 0).await.map(drop)
    }

    /// Like [`Self::post_signed_once`], and returns the body of the response, of at most `most` bytes.
    pub async fn ask_signed(
        &self,
        to: Endpoint,
        secret: &WebhookSecret,
        at: Timestamp,
        name: String,
        body: Vec<u8>,
        most: u64,
    ) -> Result<Vec<u8>, CallFault> {
        self.post(to, secret, at, Some(name), body, most).await
    }

    async fn post(
        &self,
        to: Endpoint,
        secret: &WebhookSecret,
        at: Timestamp,
        name: Option<String>,
        body: Vec<u8>,
        most: u64,
    ) -> Result<Vec<u8>, CallFault> {
        let signature = secret.sign(at, &body);
        let agent = Arc::clone(&self.agent);
        run_blocking(move || {
            let mut call = agent
                .post(&to.0)
                .header("content-type", "application/json")
                .header(SIGNATURE_HEADER, signature);
            if let Some(name) = name {
                call = call.header("idempotency-key", name);
            }
            let mut answer =
                call.send(body.as_slice()).map_err(|error| CallFault::NoAnswer(error.to_string()))?;
            receipt(answer.status())?;
            // The body of a receipt is not read.
            if most == 0 { Ok(Vec::new()) } else { bounded(&mut answer, most) }
        })
        .await
    }

    /// Posts a form, or gets a document if there is none, and returns the response whatever its status. The values of the
    /// headers are not logged here.
    pub(crate) async fn call(
        &self,
        to: Endpoint,
        headers: Vec<(&'static str, String)>,
        form: Option<String>,
    ) -> Result<Answer, CallFault> {
        let agent = Arc::clone(&self.agent);
        run_blocking(move || {
            let no_answer = |error: ureq::Error| CallFault::NoAnswer(error.to_string());
            let mut answer = if let Some(form) = form {
                let mut call = agent.post(&to.0).content_type("application/x-www-form-urlencoded");
                for (name, value) in headers {
                    call = call.header(name, value);
                }
                call.send(form.as_bytes()).map_err(no_answer)?
            } else {
                let mut call = agent.get(&to.0);
                for (name, value) in headers {
                    call = call.header(name, value);
                }
                call.call().map_err(no_answer)?
            };
            let status = answer.status().as_u16();
            Ok(Answer { status, body: bounded(&mut answer, LONGEST_ANSWER)? })
        })
        .await
    }

    /// The body of the document at a URL, of at most `most` bytes.
    pub async fn fetch(&self, from: Endpoint, most: u64) -> Result<Vec<u8>, CallFault> {
        let agent = Arc::clone(&self.agent);
        run_blocking(move || {
            let mut answer =
                agent.get(&from.0).call().map_err(|error| CallFault::NoAnswer(error.to_string()))?;
            receipt(answer.status())?;
            bounded(&mut answer, most)
        })
        .await
    }
}

/// A response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// The longest response to [`Caller::call`] in bytes.
const LONGEST_ANSWER: u64 = 1 << 20;

/// The body of a response, of at most `most` bytes.
fn bounded(answer: &mut Response<ureq::Body>, most: u64) -> Result<Vec<u8>, CallFault> {
    let mut body = Vec::new();
    let mut reader = answer.body_mut().as_reader().take(most.saturating_add(1));
    reader.read_to_end(&mut body).map_err(|error| CallFault::NoAnswer(error.to_string()))?;
    if u64::try_from(body.len()).is_ok_and(|length| length <= most) {
        Ok(body)
    } else {
        Err(CallFault::TooLong(most))
    }
}

fn receipt(status: StatusCode) -> Result<(), CallFault> {
    if status.is_success() { Ok(()) } else { Err(CallFault::Refused(status.as_u16())) }
}

async fn run_blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, CallFault> + Send + 'static,
) -> Result<T, CallFault> {
    match tokio::task::spawn_blocking(call).await {
        Ok(outcome) => outcome,
        Err(error) => Err(CallFault::NoAnswer(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    /// Answers one call with these bytes and returns the received request.
    pub(crate) fn once(answer: &'static [u8]) -> (Endpoint, thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = format!("http://{}/hook", listener.local_addr().unwrap()).parse().unwrap();
        let received = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = Vec::new();
            let mut part = [0; 1024];
            // The bodies of these tests end with a brace, and only a POST has one.
            while !received.ends_with(b"}")
                && (received.starts_with(b"POST") || !received.ends_with(b"\r\n\r\n"))
            {
                let read = stream.read(&mut part).unwrap();
                received.extend_from_slice(&part[..read]);
                if read == 0 {
                    break;
                }
            }
            stream.write_all(answer).unwrap();
            String::from_utf8(received).unwrap()
        });
        (to, received)
    }

    fn caller() -> Caller {
        Caller::new(Duration::from_secs(10))
    }

    #[tokio::test]
    async fn a_message_arrives_with_a_signature_that_its_receiver_can_check() {
        let (to, received) = once(b"HTTP/1.1 204 No Content\r\n\r\n");
        let secret = WebhookSecret::new(&"s".repeat(32)).unwrap();
        let at = Timestamp::from_micros(1_700_000_000_000_000);
        caller().post_signed(to, &secret, at, b"{}".to_vec()).await.unwrap();
        let received = received.join().unwrap();
        let line = received.lines().find_map(|line| line.strip_prefix("terrace-signature: ")).unwrap();
        assert_eq!(secret.verify(line, b"{}", at), Ok(()));
    }

    #[tokio::test]
    async fn redirects_refusals_and_long_answers_are_no_success() {
        let secret = WebhookSecret::new(&"s".repeat(32)).unwrap();
        for (answer, passes) in [
            (&b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"[..], false),
            (b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", false),
            (b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", true),
            (b"", true),
        ] {
            let (to, received) = once(answer);
            let fault = caller()
                .post_signed(to, &secret, Timestamp::from_micros(1_700_000_000_000_000), b"{}".to_vec())
                .await
                .unwrap_err();
            assert_eq!(fault.is_passing(), passes, "{fault}");
            received.join().unwrap();
        }
        let (from, received) = once(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde");
        assert!(matches!(caller().fetch(from, 4).await, Err(CallFault::TooLong(4))));
        received.join().unwrap();
        let (from, received) = once(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde");
        assert_eq!(caller().fetch(from, 5).await.unwrap(), b"abcde");
        received.join().unwrap();
    }

    #[test]
    fn only_absolute_web_addresses_are_called() {
        for wrong in
            ["", "/hook", "example.test/hook", "ftp://example.test/", "file:///etc/passwd", "http://"]
        {
            assert!(wrong.parse::<Endpoint>().is_err(), "{wrong}");
        }
        assert_eq!(
            "https://example.test/a?b".parse::<Endpoint>().unwrap().to_string(),
            "https://example.test/a?b"
        );
    }
}
