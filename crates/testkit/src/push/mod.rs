//! Push messages of tests: a sender that records them, and a push service that is reached over TLS.

mod service;

pub use service::{PushReceived, StandInPush};

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use terrace_app::App;
use terrace_app::push::{
    NewPushSubscription, PushDecision, PushDecisions, PushEndpoint, PushFault, PushGroups, PushKeys,
    PushMessage, PushPayload, PushRejection, PushSender, ServerKey,
};
use terrace_app::store::BoxFuture;
use terrace_identity::Viewer;
use terrace_kernel::{StoreError, Timestamp};
use terrace_outbound::{PUSH_HOSTS, PushNetwork, VapidKeys, WebPush};
use tokio::sync::Notify;

/// The endpoint of a subscription at one of the listed push services.
pub const PUSH_ENDPOINT: &str = "https://fcm.googleapis.com/fcm/send/test";

/// Keys: the base64url of 32 sevens.
const KEYS: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";
/// The browser of RFC 8291, appendix A.
const P256DH: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

fn keys() -> VapidKeys {
    KEYS.parse().expect("a key")
}

/// A sender with the keys of tests.
///
/// # Panics
///
/// Never: the keys and hosts are valid.
pub fn push_sender(network: PushNetwork) -> WebPush {
    let hosts = PUSH_HOSTS.split(',').map(|host| host.parse().expect("a host")).collect();
    WebPush::new(keys(), "mailto:club@example.org".to_owned(), hosts, network)
}

/// The body of `PUT /api/push/subscription` of the browser of RFC 8291, appendix A.
pub fn push_body(endpoint: &str, key_id: &Value) -> Value {
    json!({"endpoint": endpoint, "keys": {"p256dh": P256DH, "auth": AUTH}, "keyId": key_id})
}

/// The same as a subscription of a session.
///
/// # Panics
///
/// Panics if the endpoint is malformed.
pub fn push_subscription(viewer: &Viewer, endpoint: &str) -> NewPushSubscription {
    NewPushSubscription {
        session: viewer.session_id,
        user: viewer.user_id,
        endpoint: endpoint.parse::<PushEndpoint>().expect("an endpoint"),
        keys: PushKeys {
            p256dh: PushKeys::parse_p256dh(P256DH).expect("a key"),
            auth: PushKeys::parse_auth(AUTH).expect("a secret"),
        },
        key_id: keys().current().id,
    }
}

/// Renders every notification, with its id as the text.
pub fn render_every_push(_: &App, groups: PushGroups) -> BoxFuture<'_, Result<PushDecisions, StoreError>> {
    let rendered = groups.into_iter().map(|(user, group)| {
        let payload = PushPayload {
            id: group,
            kind: "comment".to_owned(),
            title: "Terrace".to_owned(),
            text: group.to_string(),
            url: "/".to_owned(),
            tag: group.to_string(),
            unread: 1,
        };
        ((user, group), PushDecision::Send(payload))
    });
    let rendered = rendered.collect();
    Box::pin(async { Ok(rendered) })
}

/// How the recording sender answers one message.
#[derive(Debug, Clone)]
pub enum PushReply {
    Sent,
    Fails(PushFault),
    /// It has the message, and does not answer.
    Hangs,
}

#[derive(Default)]
struct Book {
    messages: Vec<PushMessage>,
    replies: VecDeque<PushReply>,
}

/// A sender that records messages, and answers with replies in their order, then with [`PushReply::Sent`].
#[derive(Default)]
pub struct RecordingPush {
    book: Mutex<Book>,
    called: Notify,
}

impl RecordingPush {
    /// A sender whose first replies are these.
    pub fn new(replies: impl IntoIterator<Item = PushReply>) -> Arc<Self> {
        let book = Book { replies: replies.into_iter().collect(), ..Book::default() };
        Arc::new(Self { book: Mutex::new(book), called: Notify::new() })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The messages, in the order in which they came.
    pub fn messages(&self) -> Vec<PushMessage> {
        self.book().messages.clone()
    }

    /// The texts of the messages, sorted.
    ///
    /// # Panics
    ///
    /// Panics if a payload is not JSON.
    pub fn texts(&self) -> Vec<String> {
        let text = |message: PushMessage| {
            let payload: Value = serde_json::from_slice(&message.payload).expect("JSON");
            payload.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let mut texts: Vec<String> = self.messages().into_iter().map(text).collect();
        texts.sort();
        texts
    }

    /// Runs a delivery until a message came, then drops it, as if the process were killed before the answer.
    ///
    /// # Panics
    ///
    /// Panics if the delivery ends before.
    pub async fn kill_when_called<T>(&self, delivery: impl Future<Output = T>) {
        tokio::select! {
            _ = delivery => panic!("nothing was sent"),
            () = self.called.notified() => {}
        }
    }
}

impl PushSender for RecordingPush {
    fn key(&self) -> ServerKey {
        keys().current()
    }

    fn check(&self, _: &NewPushSubscription) -> Result<(), PushRejection> {
        Ok(())
    }

    fn send(&self, message: PushMessage, _now: Timestamp) -> BoxFuture<'_, Result<(), PushFault>> {
        let reply = {
            let mut book = self.book();
            book.messages.push(message);
            book.replies.pop_front().unwrap_or(PushReply::Sent)
        };
        self.called.notify_one();
        Box::pin(async move {
            match reply {
                PushReply::Sent => Ok(()),
                PushReply::Fails(fault) => Err(fault),
                PushReply::Hangs => pending().await,
            }
        })
    }
}
