//! Delivery of push messages to push services (RFC 8030).

mod encrypt;
mod network;
mod vapid;

pub use network::{MalformedPushHost, PUSH_HOSTS, PushHost, PushNetwork};
pub use vapid::{MalformedVapidKeys, VapidKeys};

use chrono::DateTime;
use encrypt::encrypt;
use network::NoPublicAddress;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use terrace_app::push::{NewPushSubscription, PushFault, PushMessage, PushRejection, PushSender, ServerKey};
use terrace_app::store::BoxFuture;
use terrace_kernel::Timestamp;
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::TlsConfig;
use ureq::unversioned::transport::DefaultConnector;
use vapid::Signatory;

/// How long a call may take. A stopping service waits for calls in flight.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of an answer is read, so that the connection can be used again.
const READ: u64 = 4096;

/// Sends messages to push services.
#[derive(Clone)]
pub struct WebPush(Arc<Inner>);

struct Inner {
    agent: Agent,
    signatory: Signatory,
    hosts: Vec<PushHost>,
}

impl WebPush {
    /// A sender with these keys, for these hosts. `subject` is how push services reach the operator: a `mailto:` or
    /// `https:` URL.
    pub fn new(keys: VapidKeys, subject: String, hosts: Vec<PushHost>, network: PushNetwork) -> Self {
        let tls = TlsConfig::builder().root_certs(network.roots.clone()).build();
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .https_only(true)
            // A proxy would connect to addresses that are not checked here.
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .tls_config(tls)
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::new(), network);
        Self(Arc::new(Inner { agent, signatory: Signatory::new(keys, subject), hosts }))
    }
}

/// The body and the `Authorization` of a message, without a call: what the encryption of a message costs.
///
/// # Errors
///
/// If the subscription has another key, or none that messages can be encrypted for.
#[doc(hidden)]
pub fn sealed(
    sender: &WebPush,
    message: &PushMessage,
    now: Timestamp,
) -> Result<(Vec<u8>, Arc<str>), PushFault> {
    sender.0.seal(message, now)
}

impl Inner {
    fn seal(&self, message: &PushMessage, now: Timestamp) -> Result<(Vec<u8>, Arc<str>), PushFault> {
        let host = message.endpoint.host();
        let Some(authorization) = self.signatory.authorization(&message.key_id, host, now) else {
            return Err(PushFault::Gone("it was made with a key that the service no longer has".to_owned()));
        };
        let body = encrypt(&message.payload, &message.keys, message.salt)
            .map_err(|error| PushFault::Refused(error.to_string()))?;
        Ok((body, authorization))
    }

    fn send(&self, message: &PushMessage, now: Timestamp) -> Result<(), PushFault> {
        if !self.hosts.iter().any(|listed| listed.has(message.endpoint.host())) {
            return Err(PushFault::Refused("the push service is not listed".to_owned()));
        }
        let (body, authorization) = self.seal(message, now)?;
        let sent = self
            .agent
            .post(message.endpoint.as_str())
            .header("authorization", &*authorization)
            .header("content-encoding", "aes128gcm")
            .header("content-type", "application/octet-stream")
            .header("ttl", message.ttl.as_secs().to_string())
            .header("urgency", message.urgency.as_str())
            .header("topic", &message.topic)
            .send(body.as_slice());
        match sent {
            Ok(mut answer) => {
                let outcome = outcome(&answer, now);
                // What is left of it does not matter.
                let _ = answer.body_mut().as_reader().take(READ).read_to_end(&mut Vec::new());
                outcome
            }
            Err(ureq::Error::Other(cause)) if cause.is::<NoPublicAddress>() => {
                Err(PushFault::Refused(cause.to_string()))
            }
            Err(error) => Err(PushFault::Unreached(error.to_string())),
        }
    }
}

/// What an answer means (RFC 8030 §5 and §8).
fn outcome(answer: &Response<ureq::Body>, now: Timestamp) -> Result<(), PushFault> {
    let words = format!("answered {}", answer.status().as_u16());
    match answer.status().as_u16() {
        200..300 => Ok(()),
        404 | 410 => Err(PushFault::Gone(words)),
        408 | 425 | 429 | 500.. => {
            let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
            Err(PushFault::Busy { words, after: after.and_then(|after| retry_after(after, now)) })
        }
        _ => Err(PushFault::Refused(words)),
    }
}

/// A number of seconds, or a date (RFC 9110 §10.2.3).
fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTime::parse_from_rfc2822(text.trim()).ok()?;
    Some(Timestamp::from_chrono(date.to_utc()).since(now))
}

impl PushSender for WebPush {
    fn key(&self) -> ServerKey {
        self.0.signatory.keys.current()
    }

    fn check(&self, subscription: &NewPushSubscription) -> Result<(), PushRejection> {
        if !self.0.hosts.iter().any(|listed| listed.has(subscription.endpoint.host())) {
            return Err(PushRejection::Host);
        }
        if !self.0.signatory.keys.has(&subscription.key_id) {
            return Err(PushRejection::KeyId);
        }
        match p256::PublicKey::from_sec1_bytes(&subscription.keys.p256dh) {
            Ok(_) => Ok(()),
            Err(_) => Err(PushRejection::Key),
        }
    }

    fn send(&self, message: PushMessage, now: Timestamp) -> BoxFuture<'_, Result<(), PushFault>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let call = tokio::task::spawn_blocking(move || inner.send(&message, now));
            call.await.unwrap_or_else(|error| Err(PushFault::Unreached(error.to_string())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        for (text, seconds) in [
            ("120", Some(120)),
            ("Tue, 14 Nov 2023 22:14:20 GMT", Some(60)),
            ("Tue, 14 Nov 2023 22:00:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ] {
            assert_eq!(retry_after(text, now), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
