//! Web push (RFC 8030): the subscription of a session at a push service, and the messages that wait for it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{SessionId, StoreError, Timestamp, UserId, Uuid, typed_ids};

typed_ids! {
    /// Id of a subscription.
    PushSubscriptionId;
}

/// The longest endpoint in bytes.
pub const LONGEST_ENDPOINT: usize = 2048;

/// The URL of a subscription at a push service: https on port 443 of a named host.
#[derive(Clone, PartialEq, Eq)]
pub struct PushEndpoint {
    url: String,
    host_ends: usize,
}

/// The text is no URL that push messages are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an https URL of at most {LONGEST_ENDPOINT} characters on port 443 of a named host is wanted")]
pub struct MalformedEndpoint;

const SCHEME: &str = "https://";

/// Whether the text is a name of several labels, the last of which is no number, so that it is no address either.
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253
        && host.contains('.')
        && host.split('.').all(is_label)
        && last.starts_with(|letter: char| letter.is_ascii_lowercase())
}

impl FromStr for PushEndpoint {
    type Err = MalformedEndpoint;

    fn from_str(text: &str) -> Result<Self, MalformedEndpoint> {
        let rest = text.strip_prefix(SCHEME).ok_or(MalformedEndpoint)?;
        let (authority, path) = rest.split_at(rest.find('/').ok_or(MalformedEndpoint)?);
        let host = authority.strip_suffix(":443").unwrap_or(authority);
        let is_plain = path.bytes().all(|b| b.is_ascii_graphic() && !br#"#\"<>^`{|}"#.contains(&b));
        if text.len() > LONGEST_ENDPOINT || !is_name(host) || !is_plain {
            return Err(MalformedEndpoint);
        }
        Ok(Self { url: text.to_owned(), host_ends: SCHEME.len() + host.len() })
    }
}

impl PushEndpoint {
    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// The host, in lower case and without a port.
    pub fn host(&self) -> &str {
        self.url.get(SCHEME.len()..self.host_ends).unwrap_or_default()
    }
}

/// Only the host: the rest of the URL is what allows to send.
impl fmt::Debug for PushEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PushEndpoint({SCHEME}{}/…)", self.host())
    }
}

/// The keys that a browser made for a subscription (RFC 8291 §3.1).
#[derive(Clone, PartialEq, Eq)]
pub struct PushKeys {
    /// The public key: an uncompressed point of P-256.
    pub p256dh: [u8; 65],
    /// The secret that authenticates messages.
    pub auth: [u8; 16],
}

impl fmt::Debug for PushKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PushKeys(…)")
    }
}

/// The text is not of a key of that length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("base64url of {0} bytes is wanted")]
pub struct MalformedPushKey(usize);

fn decoded<const N: usize>(text: &str) -> Result<[u8; N], MalformedPushKey> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| MalformedPushKey(N))?;
    bytes.try_into().map_err(|_| MalformedPushKey(N))
}

impl PushKeys {
    /// Reads a public key from base64url. That it is a point of the curve is checked by the sender.
    ///
    /// # Errors
    ///
    /// If it is not the base64url of an uncompressed point.
    pub fn parse_p256dh(text: &str) -> Result<[u8; 65], MalformedPushKey> {
        let key = decoded::<65>(text)?;
        if key.first() == Some(&4) { Ok(key) } else { Err(MalformedPushKey(65)) }
    }

    /// Reads an authentication secret from base64url.
    ///
    /// # Errors
    ///
    /// If it is not the base64url of 16 bytes.
    pub fn parse_auth(text: &str) -> Result<[u8; 16], MalformedPushKey> {
        decoded(text)
    }
}

/// A subscription to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPushSubscription {
    /// The session that it belongs to, and ends with.
    pub session: SessionId,
    /// The account of the session.
    pub user: UserId,
    /// Where messages are sent to.
    pub endpoint: PushEndpoint,
    /// The keys that they are encrypted for.
    pub keys: PushKeys,
    /// The service's key that the browser subscribed with.
    pub key_id: String,
}

/// A subscription as its owner's export lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPushSubscription {
    /// The host of the push service.
    pub host: String,
    /// The session that it belongs to.
    pub session: SessionId,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A message that was taken from the queue to be sent to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushDelivery {
    /// Id of the subscription.
    pub id: PushSubscriptionId,
    /// Where the message goes, and the keys that it is encrypted for.
    pub subscription: NewPushSubscription,
    /// The notification that the message is about.
    pub group: Uuid,
    /// The number of this attempt.
    pub attempt: u32,
    /// The number of attempts that failed before.
    pub failures: u32,
    /// How often the message was enqueued.
    pub version: u32,
    /// From when on it is no longer sent.
    pub expires_at: Timestamp,
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushSettlement {
    /// The push service has it. The next message of this group may be sent at the time.
    Sent(Timestamp),
    /// It is not sent. The next message of this group may be sent at any time.
    Dropped,
    /// It is sent later, as nothing was sent yet.
    Held(Timestamp),
    /// The attempt failed; it is sent again at the time.
    Failed(Timestamp),
}

/// The state of push messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PushStanding {
    /// The number of subscriptions.
    pub subscriptions: u64,
    /// The number of messages that are due.
    pub due: u64,
    /// When the oldest of these became due.
    pub oldest: Option<Timestamp>,
}

/// Reads subscriptions and the queue.
pub trait PushRead {
    /// The subscriptions of an account, the oldest first.
    fn push_subscriptions(&mut self, user: UserId) -> Result<Vec<KeptPushSubscription>, StoreError>;

    /// Whether a message is to be sent, or a shared one to be enqueued for more subscriptions.
    fn is_push_due(&mut self, now: Timestamp) -> Result<bool, StoreError>;

    /// Counts subscriptions and messages that are due.
    fn push_standing(&mut self, now: Timestamp) -> Result<PushStanding, StoreError>;
}

/// Enqueues messages.
pub trait PushQueue {
    /// Enqueues a message about the notification `group` for every live subscription of the account. It joins one that waits
    /// already; otherwise it is due at `now`, or as soon as the last one of this group allows. One round trip.
    fn enqueue_push(
        &mut self,
        user: UserId,
        group: Uuid,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Enqueues a message about a notification that all accounts share, once. [`PushWrite::spread_push`] enqueues it for
    /// the subscriptions that exist at `now`.
    fn enqueue_shared_push(
        &mut self,
        group: Uuid,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// Writes subscriptions, and works on the queue.
pub trait PushWrite: PushRead + PushQueue {
    /// Makes this the only subscription of its session, and the session the only one with this endpoint; returns `false` if
    /// the session is not live. A subscription with the same endpoint keeps its queue.
    fn put_push_subscription(
        &mut self,
        id: PushSubscriptionId,
        subscription: &NewPushSubscription,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Deletes the subscription of a session, with its queue; returns whether there was one.
    fn delete_push_subscription(&mut self, session: SessionId) -> Result<bool, StoreError>;

    /// Deletes a subscription that its push service no longer has, unless it has another endpoint by now.
    fn drop_push_subscription(
        &mut self,
        id: PushSubscriptionId,
        endpoint: &PushEndpoint,
    ) -> Result<bool, StoreError>;

    /// Enqueues the shared message that is due for up to `limit` further subscriptions, and makes it due again at `next`;
    /// returns for how many, or `None` if none is due.
    fn spread_push(&mut self, now: Timestamp, next: Timestamp, limit: u32)
    -> Result<Option<u64>, StoreError>;

    /// Takes up to `limit` messages that are due, and makes them due again at `until`. Subscriptions among them whose
    /// session is no longer live are deleted, and their messages are not returned.
    fn take_pushes(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PushDelivery>, StoreError>;

    /// Records the outcome of an attempt; returns `false` if a later attempt was begun or the subscription is gone. What was
    /// enqueued during the attempt is sent when the outcome allows.
    fn settle_push(
        &mut self,
        delivery: &PushDelivery,
        settlement: PushSettlement,
    ) -> Result<bool, StoreError>;

    /// Deletes the subscriptions of an account; returns how many.
    fn erase_push(&mut self, user: UserId) -> Result<u64, StoreError>;

    /// Deletes up to `limit` messages that expired before the time, and subscriptions of sessions that expired
    /// before it.
    fn sweep_push(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_https_on_port_443_of_a_named_host() {
        for (right, host) in [
            ("https://fcm.googleapis.com/fcm/send/abc:DEF-1_2", "fcm.googleapis.com"),
            ("https://web.push.apple.com:443/Q?x=1", "web.push.apple.com"),
            ("https://a-1.notify.windows.com/w/?token=BQ%2b", "a-1.notify.windows.com"),
        ] {
            let endpoint: PushEndpoint = right.parse().unwrap();
            assert_eq!((endpoint.as_str(), endpoint.host()), (right, host));
            assert!(!format!("{endpoint:?}").contains(right), "{endpoint:?}");
        }
        let long = format!("https://push.example.org/{}", "x".repeat(LONGEST_ENDPOINT));
        for wrong in [
            "",
            "http://push.example.org/a",
            "https://push.example.org",
            "https://push.example.org:8443/a",
            "https://user@push.example.org/a",
            "https://push.example.org/a b",
            "https://push.example.org/a#b",
            "https://push.example.org/\u{e9}",
            "https://Push.example.org/a",
            "https://localhost/a",
            "https://127.0.0.1/a",
            "https://10.1/a",
            "https://push.0x7f/a",
            "https://[::1]/a",
            "https://push..org/a",
            "https://push.example.org./a",
            "https://-push.example.org/a",
            "https://push.example.org\\@evil.example/a",
            &long,
        ] {
            assert!(wrong.parse::<PushEndpoint>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn keys_are_base64url_of_their_lengths() {
        let point = [&[4][..], &[7; 64]].concat();
        let text = URL_SAFE_NO_PAD.encode(&point);
        assert_eq!(PushKeys::parse_p256dh(&text).unwrap().to_vec(), point);
        assert_eq!(PushKeys::parse_p256dh(&format!("{text}=")).unwrap().to_vec(), point);
        assert!(PushKeys::parse_p256dh(&URL_SAFE_NO_PAD.encode([2; 65])).is_err());
        assert!(PushKeys::parse_p256dh(&URL_SAFE_NO_PAD.encode([4; 64])).is_err());
        assert_eq!(PushKeys::parse_auth(&URL_SAFE_NO_PAD.encode([9; 16])), Ok([9; 16]));
        for wrong in ["", "AA", "+/+/", &URL_SAFE_NO_PAD.encode([9; 17])] {
            assert!(PushKeys::parse_auth(wrong).is_err(), "{wrong}");
        }
    }
}
