//! Signed-in fans who receive push messages, each with a notification, and messages that become due one after the other.

use super::{AUTHORS, Dialect, EPOCH, boards};
use std::time::Duration;
use terrace_app::push::PushKeys;
use terrace_kernel::{Timestamp, hex};

/// The times of the subscriptions and notifications, which make their identifiers distinct.
const SUBSCRIPTIONS_AT: u64 = EPOCH + 50;
const NOTIFICATIONS_AT: u64 = EPOCH + 51;

/// Counts the messages that were sent at the first attempt.
pub(crate) const SENT: &str =
    "SELECT count(*) FROM push_deliveries WHERE due_at IS NULL AND attempts = 1 AND failures = 0";

impl Dialect {
    /// Statements that sign in `fans` bulk fans with a browser that has subscribed with the key `key_id` of the service.
    /// Each fan has the notification that one of the authors follows them. Subscriptions are of tomorrow: what the service
    /// announces to all fans, such as the start of a season, is sent to earlier ones only.
    pub(crate) fn subscribers(&self, fans: u64, keys: &PushKeys, key_id: &str) -> Vec<String> {
        let seq = self.seq.replace("{count}", &fans.to_string());
        let fan = boards::bulk_fan(self, "n");
        let author = self.id_of(&EPOCH.to_string(), &format!("n % {AUTHORS}"));
        let (subscription, notification) = (self.subscription(), self.notification());
        let bytes = |bytes: &[u8]| self.bytes.replace("{hex}", &hex::encode(bytes));
        let (p256dh, auth) = (bytes(&keys.p256dh), bytes(&keys.auth));
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.extend(self.sessions(fans));
        statements.extend([
            format!(
                "INSERT INTO push_subscriptions (id, session_id, user_id, endpoint, p256dh, auth, key_id, created_at) \
                 {seq} SELECT {subscription}, {}, {fan}, 'https://fcm.googleapis.com/fcm/send/bench-' || n, {p256dh}, \
                 {auth}, '{key_id}', {} FROM seq",
                self.session("n"),
                self.tomorrow
            ),
            format!(
                "INSERT INTO notification_inboxes (user_id, listed, unread) {seq} SELECT {fan}, 1, 1 FROM seq"
            ),
            format!(
                "INSERT INTO notifications (id, user_id, kind, subject_id, actor_count, in_app, listed, position, \
                 created_at, expires_at) {seq} \
                 SELECT {notification}, {fan}, 'follow', {fan}, 1, TRUE, TRUE, 1, {}, {} FROM seq",
                self.now, self.tomorrow
            ),
            format!(
                "INSERT INTO notification_actors (actor_id, user_id, notification_id, position) {seq} \
                 SELECT {author}, {fan}, {notification}, 1 FROM seq"
            ),
        ]);
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    /// Statements that enqueue a message to each of the first `count` of these fans, in place of all earlier ones. The
    /// first is due at `first_at`, and the next ones at this interval.
    pub(crate) fn messages(&self, count: u64, first_at: Timestamp, interval: Duration) -> Vec<String> {
        let seq = self.seq.replace("{count}", &count.to_string());
        let (first_at, interval) = (first_at.as_micros() / 1_000, interval.as_millis());
        let due_at = self.at_of(&format!("{first_at} + n * {interval}"));
        vec![
            "DELETE FROM push_deliveries".to_owned(),
            format!(
                "INSERT INTO push_deliveries (subscription_id, group_id, user_id, due_at, expires_at, version, attempts, \
                 failures) {seq} SELECT {}, {}, {}, {due_at}, {}, 1, 0, 0 FROM seq",
                self.subscription(),
                self.notification(),
                boards::bulk_fan(self, "n"),
                self.tomorrow
            ),
        ]
    }

    fn subscription(&self) -> String {
        self.id_of(&SUBSCRIPTIONS_AT.to_string(), "n")
    }

    fn notification(&self) -> String {
        self.id_of(&NOTIFICATIONS_AT.to_string(), "n")
    }
}
