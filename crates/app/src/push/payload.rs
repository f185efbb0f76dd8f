//! The content of a message.

use crate::App;
use crate::push::Urgency;
use crate::store::BoxFuture;
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;
use terrace_kernel::{StoreError, Timestamp, UserId, Uuid};

/// The longest payload in bytes: with the header and the tag of the encryption, the body of the request has 3,000 bytes.
pub const LONGEST_PAYLOAD: usize = 2897;
/// The longest text in characters.
const LONGEST_TEXT: usize = 500;

/// What a browser shows: a notification as it is when the message is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushPayload {
    /// Id of the notification.
    pub id: Uuid,
    pub kind: String,
    pub title: String,
    pub text: String,
    /// The path of the page that it leads to.
    pub url: String,
    /// A shown notification is replaced by a later one with the same tag.
    pub tag: String,
    /// The number of unread notifications.
    pub unread: u64,
}

/// What is to be done with a message that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushDecision {
    Send(PushPayload),
    /// Not before this time: the fan's quiet hours.
    Hold(Timestamp),
    /// The notification was read, is gone or hidden by now, or the fan does not want messages of its kind.
    Drop,
}

/// Notifications, each of one fan.
pub type PushGroups = Vec<(UserId, Uuid)>;
/// What is to be done with the messages about notifications. A message about one that is not among them is dropped.
pub type PushDecisions = HashMap<(UserId, Uuid), PushDecision>;

/// Renders notifications as they are now.
pub type PushRender = fn(&App, PushGroups) -> BoxFuture<'_, Result<PushDecisions, StoreError>>;

impl PushPayload {
    /// The JSON text, of at most [`LONGEST_PAYLOAD`] bytes: a long text is shortened. `None` if it is too long even
    /// without a text.
    pub(super) fn encode(mut self) -> Option<Vec<u8>> {
        let mut letters = self.text.chars().count();
        loop {
            let most = letters.min(LONGEST_TEXT);
            if most < self.text.chars().count() {
                let shown = self.text.chars().take(most.saturating_sub(1));
                self.text = if most == 0 { String::new() } else { shown.chain(['…']).collect() };
            }
            let encoded = serde_json::to_vec(&self).ok()?;
            if encoded.len() <= LONGEST_PAYLOAD {
                return Some(encoded);
            }
            if most == 0 {
                return None;
            }
            letters = most / 2;
        }
    }

    /// How important the message is, and how long it is of interest.
    pub(crate) fn class(&self) -> (Urgency, Duration) {
        const DAY: Duration = Duration::from_hours(24);
        match self.kind.as_str() {
            "trivia_soon" => (Urgency::High, Duration::from_mins(10)),
            "streak_at_risk" => (Urgency::Normal, Duration::from_hours(6)),
            "follow" | "reaction" | "rank_lost" | "season" => (Urgency::Low, DAY),
            _ => (Urgency::Normal, DAY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(text: &str, title: &str) -> PushPayload {
        PushPayload {
            id: Uuid::nil(),
            kind: "comment".to_owned(),
            title: title.to_owned(),
            text: text.to_owned(),
            url: "/posts/1".to_owned(),
            tag: "a".to_owned(),
            unread: 3,
        }
    }

    #[test]
    fn a_payload_fits_into_a_message_however_long_its_text_is() {
        let short = payload("What a save!", "Mia").encode().unwrap();
        let read: serde_json::Value = serde_json::from_slice(&short).unwrap();
        assert_eq!((&read["text"], &read["unread"]), (&"What a save!".into(), &3.into()));
        // Control characters take six bytes each in JSON.
        for letter in ["x", "é", "🎉", "\u{1}", "\""] {
            let long = payload(&letter.repeat(5000), "Mia").encode().unwrap();
            assert!(long.len() <= LONGEST_PAYLOAD, "{letter:?}: {}", long.len());
            let read: serde_json::Value = serde_json::from_slice(&long).unwrap();
            assert!(read["text"].as_str().unwrap().ends_with('…'), "{letter:?}");
        }
        assert_eq!(payload("Hi", &"x".repeat(LONGEST_PAYLOAD)).encode(), None);
    }
}
