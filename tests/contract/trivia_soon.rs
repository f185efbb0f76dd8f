//! Contract part 2 §6, `trivia_soon`: the fans who have joined a live round are notified once that it begins soon, whatever
//! happens to the processes.

use super::deletion::catch_up;
use super::notifications::{inbox, notified, unread, verify};
use super::packs::shop_of;
use super::trivia::{MILLI, join, load, round};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::notifications::{MarkRead, SetPreferences, render_pushes};
use terrace_testkit::app::push::PutPushSubscription;
use terrace_testkit::app::trivia::advance_trivia;
use terrace_testkit::games::Round;
use terrace_testkit::kernel::{Clock, EventKind, NewEvent, Position, Topic, UserId};
use terrace_testkit::social::notifications::{
    KindPreference, NotificationKind, Preferences, QuietHours, ReadMark,
};
use terrace_testkit::{
    DatabaseKind, Fan, PUSH_ENDPOINT, RecordingPush, TestApp, on_each_database, push_subscription, trivia,
};

on_each_database! {
    spec_6_fans_who_joined_a_live_round_are_notified_once_that_it_begins_soon,
    spec_6_processes_at_once_announce_a_round_once,
    spec_6_a_cancelled_round_is_not_announced,
    spec_6_a_round_that_has_begun_and_a_solo_round_are_not_announced,
    spec_6_preferences_and_quiet_hours_hold_for_rounds_too,
}

const MINUTE: Duration = Duration::from_mins(1);
/// How long before its start a round is announced.
const SOON: Duration = Duration::from_mins(5);

/// Loads a live and a solo round that begin in ten minutes.
fn scheduled(service: &TestApp) -> Round {
    load(service, &trivia(service.clock().now().plus(MINUTE * 10), |number| number));
    round(service, "live")
}

fn advance(service: &TestApp) {
    service.run(advance_trivia(service.app())).expect("a working store");
}

/// The notifications of rounds, and how many of the inbox are unread.
fn soon(service: &TestApp, fan: UserId) -> (Vec<String>, i64) {
    let shown = notified(service, fan).into_iter();
    let rounds = shown.filter(|shown| shown.kind == NotificationKind::TriviaSoon);
    (rounds.map(|shown| shown.text).collect(), unread(service, fan))
}

fn announced() -> (Vec<String>, i64) {
    (vec!["Live begins soon".to_owned()], 1)
}

fn nothing() -> (Vec<String>, i64) {
    (Vec::new(), 0)
}

fn announcements(service: &TestApp) -> usize {
    service.settled();
    let log = service.ask(|tx| tx.events_after(Position::START, 1_000_000));
    log.into_iter().filter(|event| event.what.kind == EventKind::RoundSoon).count()
}

fn spec_6_fans_who_joined_a_live_round_are_notified_once_that_it_begins_soon(
    kind: DatabaseKind,
) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let live = scheduled(&service);
    join(&service, &live, &[mia, bo]);
    service.clock().set(live.starts_at.minus(SOON + MILLI));
    advance(&service);
    assert_eq!(soon(&service, mia), nothing());
    service.clock().advance(MILLI);
    // As often as the job runs.
    advance(&service);
    advance(&service);
    for fan in [mia, bo] {
        assert_eq!(soon(&service, fan), announced());
    }
    let shown = inbox(&service, mia).page.items.remove(0);
    let id = live.id.to_string();
    assert_eq!((shown.subject.kind, &shown.subject.id), ("round", &id));
    assert_eq!((shown.subject.title.as_deref(), shown.url), (Some("Live"), format!("/trivia/{id}")));
    // One who joins later knows it, and one who did not join is not asked.
    service.clock().advance(MINUTE);
    join(&service, &live, &[kim]);
    advance(&service);
    assert_eq!(soon(&service, kim), nothing());
    // Each fan reads it alone.
    service.done(MarkRead { user: mia, mark: ReadMark::Ids(vec![shown.id]) });
    assert_eq!((soon(&service, mia).1, soon(&service, bo).1), (0, 1));
    service.clock().set(live.closes_at);
    advance(&service);
    assert_eq!((soon(&service, bo), announcements(&service)), (announced(), 1));
    verify(&service);
    Ok(())
}

fn spec_6_processes_at_once_announce_a_round_once(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let live = scheduled(&service);
    join(&service, &live, &[mia]);
    service.clock().set(live.starts_at.minus(SOON));
    std::thread::scope(|scope| {
        for process in [&service, &other] {
            scope.spawn(move || advance(process));
        }
    });
    assert_eq!(announcements(&service), 1);
    // A process that was killed has committed the event, or none: the next one has nothing to add. Content that moves the
    // start announces nothing again.
    advance(&service.another()?);
    load(&service, &trivia(live.starts_at.plus(MINUTE), |number| number));
    advance(&service);
    assert_eq!(announcements(&service), 1);
    // Not even a second event would notify again.
    let subject = live.id.as_uuid();
    service.write(move |tx, ctx| {
        let event = NewEvent {
            topic: Topic::Notifications,
            kind: EventKind::RoundSoon,
            actor: None,
            team: None,
            subject,
            object: None,
        };
        Ok(tx.append(&event, ctx.now())?)
    });
    assert_eq!(soon(&service, mia), announced());
    Ok(())
}

fn spec_6_a_cancelled_round_is_not_announced(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?)?;
    let mia = service.fan("mia").id;
    let live = scheduled(&service);
    join(&service, &live, &[mia]);
    load(&service, "");
    service.clock().set(live.starts_at.minus(SOON));
    advance(&service);
    assert_eq!((soon(&service, mia), announcements(&service)), (nothing(), 0));
    // One that is cancelled afterwards is gone from the inbox, and counts no more.
    let text = trivia(service.clock().now().plus(SOON), |number| number).replace("\"live\"", "\"second\"");
    load(&service, &text.replace("\"solo\"\ntitle", "\"alone\"\ntitle"));
    join(&service, &round(&service, "second"), &[mia]);
    advance(&service);
    assert_eq!(soon(&service, mia), announced());
    load(&service, "");
    assert_eq!(soon(&service, mia), nothing());
    Ok(())
}

fn spec_6_a_round_that_has_begun_and_a_solo_round_are_not_announced(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?)?;
    let mia = service.fan("mia").id;
    let live = scheduled(&service);
    join(&service, &live, &[mia]);
    join(&service, &round(&service, "solo"), &[mia]);
    // No process has run its job before the start.
    service.clock().set(live.starts_at);
    advance(&service);
    assert_eq!((soon(&service, mia), announcements(&service)), (nothing(), 0));
    Ok(())
}

fn subscribed(service: &TestApp, name: &str) -> UserId {
    let fan: Fan = service.fan(name);
    let viewer = service.viewer(fan.cookie).expect("signed in");
    let subscription = push_subscription(&viewer, &format!("{PUSH_ENDPOINT}/{name}"));
    service.done(PutPushSubscription(subscription));
    fan.id
}

fn spec_6_preferences_and_quiet_hours_hold_for_rounds_too(kind: DatabaseKind) -> Result<()> {
    let sender = RecordingPush::new([]);
    let plain = shop_of(TestApp::start(kind)?)?;
    plain.clock().set("2090-01-01T12:00:00Z".parse()?);
    let service = plain.with_push(Arc::<RecordingPush>::clone(&sender), render_pushes)?;
    let live = scheduled(&service);
    let fans = ["mia", "bo_", "kim", "ada"].map(|name| subscribed(&service, name));
    let [mia, bo, kim, ada] = fans;
    // All but ada join. Bo wants no messages, and kim none at this time.
    join(&service, &live, &[mia, bo, kim]);
    let mut quiet = Preferences::default();
    quiet.set(NotificationKind::TriviaSoon, KindPreference { in_app: false, push: false });
    service.done(SetPreferences { user: bo, preferences: quiet });
    let mut held = Preferences::default();
    held.quiet_hours = Some(QuietHours::new("01:00".parse()?, "00:00".parse()?)?);
    service.done(SetPreferences { user: kim, preferences: held });
    service.clock().set(live.starts_at.minus(SOON));
    advance(&service);
    assert_eq!([mia, bo, kim, ada].map(|fan| soon(&service, fan).1), [1, 0, 1, 0]);
    catch_up(&service);
    let deliver = || service.run(service.app().deliver_pushes()).expect("a working store");
    assert_eq!(deliver(), 1);
    let sent = sender.messages();
    assert_eq!(sent[0].endpoint.as_str(), format!("{PUSH_ENDPOINT}/mia"));
    assert_eq!((sent[0].urgency.as_str(), sent[0].ttl), ("high", MINUTE * 10));
    // Quiet hours that last longer than the message is of interest drop it.
    service.clock().advance(Duration::from_hours(13));
    assert_eq!((deliver(), sender.messages().len()), (0, 1));
    Ok(())
}
