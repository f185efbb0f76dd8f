//! The port of push services.

use crate::store::BoxFuture;
use std::time::Duration;
use terrace_identity::{NewPushSubscription, PushEndpoint, PushKeys};
use terrace_kernel::Timestamp;

/// The key with which the service identifies itself to push services (RFC 8292).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerKey {
    /// The public key: the base64url of an uncompressed point of P-256.
    pub public: String,
    /// The name of the key, which is derived from it.
    pub id: String,
}

/// How important a message is to a device that saves energy (RFC 8030 §5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    Low,
    Normal,
    High,
}

impl Urgency {
    /// The value of the header.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

/// A message to one subscription.
#[derive(Debug, Clone)]
pub struct PushMessage {
    pub endpoint: PushEndpoint,
    pub keys: PushKeys,
    /// The service's key that the browser subscribed with.
    pub key_id: String,
    /// What is encrypted, at most [`super::LONGEST_PAYLOAD`] bytes.
    pub payload: Vec<u8>,
    /// How long the push service keeps the message for a device that is not reached.
    pub ttl: Duration,
    pub urgency: Urgency,
    /// A message that was not delivered yet is replaced by a later one with the same topic: up to 32 characters of
    /// base64url.
    pub topic: String,
    /// Random bytes for the encryption, of this attempt alone.
    pub salt: [u8; 16],
}

/// Why no messages can be sent to a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushRejection {
    /// Its push service is not one that the service sends to.
    Host,
    /// The key is no point of the curve.
    Key,
    /// The browser subscribed with a key that the service does not have.
    KeyId,
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PushFault {
    /// The push service no longer has the subscription, or the service no longer has its key.
    #[error("the subscription has ended: {0}")]
    Gone(String),
    /// The push service wants the message later, after this time if it names one.
    #[error("the push service is busy: {words}")]
    Busy { words: String, after: Option<Duration> },
    /// No answer.
    #[error("the push service was not reached: {0}")]
    Unreached(String),
    /// The message or its address is wrong.
    #[error("the message was refused: {0}")]
    Refused(String),
}

/// Sends messages to push services.
pub trait PushSender: Send + Sync {
    /// The key that browsers subscribe with.
    fn key(&self) -> ServerKey;

    /// Whether messages can be sent to a subscription, without a call.
    fn check(&self, subscription: &NewPushSubscription) -> Result<(), PushRejection>;

    /// Encrypts a message and sends it.
    fn send(&self, message: PushMessage, now: Timestamp) -> BoxFuture<'_, Result<(), PushFault>>;
}
