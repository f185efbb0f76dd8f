//! Push messages about notifications: what they say when they are sent, and whether they are sent at all.

use crate::App;
use crate::notifications::read::{Shown, Titles};
use crate::notifications::{gather, render};
use crate::push::{PushDecision, PushDecisions, PushGroups, PushPayload};
use crate::store::{BoxFuture, NotificationReadTx, Query, into_infallible};
use chrono::Timelike;
use std::convert::Infallible;
use std::time::Duration;
use terrace_games::RoundId;
use terrace_identity::TimeZone;
use terrace_kernel::{Outcome, StoreError, Timestamp, UserId, num};
use terrace_social::notifications::{
    LocalTime, Notification, NotificationId, NotificationKind, Preferences, QuietHours,
};

/// The title of messages where the club has no name.
const NO_CLUB: &str = "Terrace";

/// A notification that a message is about, and its fan.
struct Pushed {
    user: UserId,
    notification: Notification,
    preferences: Preferences,
    time_zone: TimeZone,
    unread: i64,
}

struct ReadPushed {
    groups: PushGroups,
}

impl Query for ReadPushed {
    const NAME: &'static str = "read_pushed_notifications";
    type Ports = dyn NotificationReadTx;
    type Output = (Vec<Pushed>, Shown);
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn NotificationReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let mut pushed = Vec::new();
        for (user, group) in self.groups.iter().copied() {
            let Some(notification) = tx.pushed_notification(user, NotificationId::from_uuid(group))? else {
                continue;
            };
            let Some(account) = tx.account(user)? else { continue };
            pushed.push(Pushed {
                user,
                notification,
                preferences: tx.notification_preferences(user)?,
                time_zone: account.time_zone,
                unread: tx.unread_notifications(user)?,
            });
        }
        let rows: Vec<Notification> = pushed.iter().map(|pushed| pushed.notification.clone()).collect();
        let shown = gather(tx, &rows)?;
        Ok((pushed, shown))
    }
}

/// For how long the quiet hours last, if they are on.
fn quiet_for(hours: Option<QuietHours>, zone: TimeZone, now: Timestamp) -> Option<Duration> {
    let local = now.to_chrono().with_timezone(&zone.tz()).time();
    let minutes = local.hour().saturating_mul(60).saturating_add(local.minute());
    let left = hours?.left(LocalTime::from_minutes(u16::try_from(minutes).ok()?)?)?;
    let seconds = u64::from(left).saturating_mul(60);
    Some(Duration::from_secs(seconds.saturating_sub(u64::from(local.second()))))
}

impl Pushed {
    fn decide(&self, shown: &Shown, titles: &Titles, now: Timestamp) -> PushDecision {
        let row = &self.notification;
        if row.read_at.is_some() || !self.preferences.of(row.kind).push {
            return PushDecision::Drop;
        }
        // A round that has begun does not begin soon.
        let has_begun = shown
            .rounds
            .get(&RoundId::from_uuid(row.subject))
            .is_some_and(|round| round.starts_at.is_over(now));
        if row.kind == NotificationKind::TriviaSoon && has_begun {
            return PushDecision::Drop;
        }
        let Some(said) = render(row, shown, titles) else { return PushDecision::Drop };
        let club = &titles.club.club.name;
        let payload = PushPayload {
            id: row.id.as_uuid(),
            kind: row.kind.as_str().to_owned(),
            title: if club.is_empty() { NO_CLUB.to_owned() } else { club.clone() },
            text: said.text,
            url: said.url,
            tag: row.id.to_string(),
            unread: num::to_u64(self.unread),
        };
        match quiet_for(self.preferences.quiet_hours, self.time_zone, now) {
            None => PushDecision::Send(payload),
            // What is no longer of interest in the morning is not sent then.
            Some(left) if left > payload.class().1 => PushDecision::Drop,
            Some(left) => PushDecision::Hold(now.plus(left)),
        }
    }
}

/// Renders notifications as they are now. A message is dropped if its notification was read, cannot be shown any more, or is
/// of a kind that the fan does not want to be pushed, and held back in the fan's quiet hours.
pub fn render_pushes(app: &App, groups: PushGroups) -> BoxFuture<'_, Result<PushDecisions, StoreError>> {
    Box::pin(async move {
        let (pushed, shown) = into_infallible(app.query(ReadPushed { groups }).await)?;
        let titles = app.notification_titles().await?;
        let now = app.now();
        let decision = |pushed: &Pushed| {
            ((pushed.user, pushed.notification.id.as_uuid()), pushed.decide(&shown, &titles, now))
        };
        Ok(pushed.iter().map(decision).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_6_quiet_hours_are_those_of_the_fans_time_zone() {
        let time = |text: &str| text.parse::<LocalTime>().unwrap();
        let hours = QuietHours::new(time("22:00"), time("07:30")).unwrap();
        let zone: TimeZone = "Asia/Kolkata".parse().unwrap();
        for (at, minutes) in [
            // 21:59 and 22:00 in India.
            ("2026-05-01T16:29:59Z", None),
            ("2026-05-01T16:30:00Z", Some(570)),
            ("2026-05-02T01:59:00Z", Some(1)),
            ("2026-05-02T02:00:00Z", None),
        ] {
            let left = quiet_for(Some(hours), zone, at.parse().unwrap());
            assert_eq!(left, minutes.map(Duration::from_mins), "{at}");
        }
        let left = quiet_for(Some(hours), zone, "2026-05-02T01:59:30Z".parse().unwrap());
        assert_eq!(left, Some(Duration::from_secs(30)));
        assert_eq!(quiet_for(None, zone, "2026-05-02T01:59:30Z".parse().unwrap()), None);
    }
}
