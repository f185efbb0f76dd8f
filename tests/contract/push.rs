//! Contract part 2 §6, push: a subscription lives as long as its session, a notification is pushed once an hour at most,
//! and no message is lost, whatever the push service answers and whenever a process is killed.

use super::accounts::{chosen, mobile, offered};
use super::deletion::{catch_up, delete};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::App;
use terrace_testkit::app::accounts::{ReadExport, SuspendAccount};
use terrace_testkit::app::notifications::{MarkRead, SetPreferences, render_pushes};
use terrace_testkit::app::push::export::subscriptions;
use terrace_testkit::app::push::{
    DeletePushSubscription, PAUSE, PushDecision, PushDecisions, PushFault, PushGroups, PutPushSubscription,
    SessionEnded, enqueue, enqueue_shared,
};
use terrace_testkit::app::room::{CreateComment, CreatePost};
use terrace_testkit::app::store::BoxFuture;
use terrace_testkit::identity::{NewSession, PushSettlement, Role, SessionKind, Viewer};
use terrace_testkit::kernel::{Clock, PostId, StoreError, Timestamp, UserId, Uuid};
use terrace_testkit::social::notifications::{
    KindPreference, NotificationId, NotificationKind, Preferences, QuietHours, ReadMark,
};
use terrace_testkit::{
    DatabaseKind, Fan, PASSWORD, PUSH_ENDPOINT, PushReply, RecordingPush, StandInPush, TestApp, body,
    on_each_database, ops, push_subscription, render_every_push,
};

on_each_database! {
    spec_6_a_notification_is_pushed_once_an_hour_to_each_device,
    spec_6_news_during_an_attempt_are_pushed_after_the_pause,
    spec_6_quiet_hours_hold_messages_back,
    spec_6_what_no_longer_concerns_the_fan_is_dropped,
    spec_6_a_busy_push_service_gets_the_message_again_when_it_wants,
    spec_6_a_refused_message_is_dropped_and_the_next_one_is_sent,
    spec_6_a_subscription_that_is_gone_is_deleted,
    spec_6_a_killed_process_sends_at_most_twice_and_never_loses_a_message,
    spec_6_two_processes_send_each_message_once,
    spec_6_shared_notifications_are_paced_and_pushed_once,
    spec_6_a_subscription_dies_with_its_session,
    spec_6_an_endpoint_belongs_to_the_session_that_stored_it_last,
    spec_6_a_message_expires_after_a_day_and_is_swept,
    spec_6_an_export_names_the_hosts_of_subscriptions_only,
    spec_6_a_comment_reaches_the_device_of_the_author,
    spec_6_preferences_and_quiet_hours_of_the_fan_are_respected,
}

const MINUTE: Duration = Duration::from_mins(1);

fn group(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn viewer(service: &TestApp, fan: &Fan) -> Viewer {
    service.viewer(fan.cookie).expect("signed in")
}

fn endpoint(name: &str) -> String {
    format!("{PUSH_ENDPOINT}/{name}")
}

fn subscribe(service: &TestApp, fan: &Fan, name: &str) {
    service.done(PutPushSubscription(push_subscription(&viewer(service, fan), &endpoint(name))));
}

fn notify(service: &TestApp, user: UserId, number: u128) {
    service.done(body(move |tx, ctx| Ok(enqueue(tx, user, group(number), ctx.now())?)));
}

fn deliver(service: &TestApp) -> u64 {
    service.run(service.app().deliver_pushes()).expect("a working store")
}

fn hosts(service: &TestApp, user: UserId) -> Vec<String> {
    let list = service.found(ReadExport { user, list: subscriptions, after: None });
    list.items.into_iter().map(|kept| kept.host).collect()
}

/// A service whose sender gives these replies, and a fan with a subscription.
fn pushing(kind: DatabaseKind, replies: Vec<PushReply>) -> Result<(TestApp, Arc<RecordingPush>, Fan)> {
    let sender = RecordingPush::new(replies);
    let plain = TestApp::start(kind)?;
    let service = plain.with_push(Arc::<RecordingPush>::clone(&sender), render_every_push)?;
    let mia = service.fan("mia");
    subscribe(&service, &mia, "mia");
    Ok((service, sender, mia))
}

fn spec_6_a_notification_is_pushed_once_an_hour_to_each_device(kind: DatabaseKind) -> Result<()> {
    let (service, sender, mia) = pushing(kind, vec![])?;
    let other = service.fan("bo_");
    subscribe(&service, &other, "bo");
    for number in [1, 1, 2] {
        notify(&service, mia.id, number);
    }
    assert_eq!(deliver(&service), 2, "the second message of a notification joins the first");
    let texts = [group(1), group(2)].map(|group| group.to_string());
    assert_eq!(sender.texts(), texts);
    let first = sender.messages().remove(0);
    assert_eq!(first.endpoint.as_str(), endpoint("mia"));
    assert_eq!((first.topic.len(), first.urgency.as_str()), (32, "normal"));
    assert_eq!(first.ttl, Duration::from_hours(24));
    // Within the hour nothing is sent, and after it once, whatever the number of events.
    for _ in 0..5 {
        notify(&service, mia.id, 1);
        assert_eq!(deliver(&service), 0);
        service.clock().advance(MINUTE);
    }
    service.clock().advance(PAUSE.saturating_sub(MINUTE * 6));
    assert_eq!(deliver(&service), 0);
    service.clock().advance(MINUTE);
    assert_eq!((deliver(&service), sender.messages().len()), (1, 3));
    service.clock().advance(PAUSE * 2);
    assert_eq!(deliver(&service), 0, "nothing has happened since");
    notify(&service, mia.id, 1);
    assert_eq!((deliver(&service), sender.messages().len()), (1, 4));
    Ok(())
}

fn spec_6_news_during_an_attempt_are_pushed_after_the_pause(kind: DatabaseKind) -> Result<()> {
    let (service, _, mia) = pushing(kind, vec![])?;
    notify(&service, mia.id, 1);
    let take = body(|tx, ctx| Ok(tx.take_pushes(ctx.now(), ctx.now().plus(MINUTE), 10)?));
    let taken = service.done(take).remove(0);
    // It may have been rendered before this.
    notify(&service, mia.id, 1);
    let settle = move |settlement| {
        let taken = taken.clone();
        body(move |tx, _| Ok(tx.settle_push(&taken, settlement)?))
    };
    let free_at = service.clock().now().plus(PAUSE);
    assert!(service.done(settle(PushSettlement::Sent(free_at))));
    service.clock().advance(PAUSE.saturating_sub(MINUTE));
    assert_eq!(deliver(&service), 0);
    service.clock().advance(MINUTE);
    assert_eq!((deliver(&service), deliver(&service)), (1, 0));
    // The outcome of the first attempt comes too late.
    assert!(!service.done(settle(PushSettlement::Failed(free_at))));
    assert_eq!(deliver(&service), 0);
    Ok(())
}

const QUIET_UNTIL: Timestamp = Timestamp::from_micros(4_000_000_000_000_000);

fn hold(_: &App, groups: PushGroups) -> BoxFuture<'_, Result<PushDecisions, StoreError>> {
    let held = groups.into_iter().map(|key| (key, PushDecision::Hold(QUIET_UNTIL))).collect();
    Box::pin(async { Ok(held) })
}

fn drop_all(_: &App, groups: PushGroups) -> BoxFuture<'_, Result<PushDecisions, StoreError>> {
    let dropped = groups.into_iter().map(|key| (key, PushDecision::Drop)).collect();
    Box::pin(async { Ok(dropped) })
}

fn spec_6_quiet_hours_hold_messages_back(kind: DatabaseKind) -> Result<()> {
    let sender = RecordingPush::new([]);
    let plain = TestApp::start(kind)?;
    plain.clock().set(QUIET_UNTIL.minus(Duration::from_hours(8)));
    let quiet = plain.with_push(Arc::<RecordingPush>::clone(&sender), hold)?;
    let loud = plain.with_push(Arc::<RecordingPush>::clone(&sender), render_every_push)?;
    let mia = plain.fan("mia");
    subscribe(&plain, &mia, "mia");
    notify(&plain, mia.id, 1);
    assert_eq!(deliver(&quiet), 0);
    // It is held in every process, and takes up what happens meanwhile.
    plain.clock().advance(Duration::from_hours(7));
    notify(&plain, mia.id, 1);
    assert_eq!((deliver(&loud), deliver(&quiet)), (0, 0));
    plain.clock().set(QUIET_UNTIL);
    assert_eq!((deliver(&loud), deliver(&loud)), (1, 0));
    assert_eq!(sender.messages().len(), 1);
    Ok(())
}

fn spec_6_what_no_longer_concerns_the_fan_is_dropped(kind: DatabaseKind) -> Result<()> {
    let (service, sender, mia) = pushing(kind, vec![])?;
    let reading = service.with_push(Arc::<RecordingPush>::clone(&sender), drop_all)?;
    notify(&service, mia.id, 1);
    assert_eq!((deliver(&reading), deliver(&service)), (0, 0), "it was read before it was sent");
    // Nothing was sent, so the next one need not wait.
    notify(&service, mia.id, 1);
    assert_eq!(deliver(&service), 1);
    Ok(())
}

fn busy(after: Option<Duration>) -> PushReply {
    PushReply::Fails(PushFault::Busy { words: "answered 429".to_owned(), after })
}

fn spec_6_a_busy_push_service_gets_the_message_again_when_it_wants(kind: DatabaseKind) -> Result<()> {
    let unreached = PushReply::Fails(PushFault::Unreached("no answer".to_owned()));
    let replies = vec![
        busy(Some(MINUTE * 5)),
        busy(Some(Duration::from_hours(10_000))),
        busy(Some(Duration::ZERO)),
        busy(None),
        unreached,
    ];
    let (service, sender, mia) = pushing(kind, replies)?;
    notify(&service, mia.id, 1);
    assert_eq!(deliver(&service), 0);
    service.clock().advance(Duration::from_secs(299));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 1), "Retry-After");
    service.clock().advance(Duration::from_secs(1));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 2));
    // A pause of a year is cut to six hours, and one of no time is one of half a minute.
    service.clock().advance(Duration::from_hours(6));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 3));
    service.clock().advance(Duration::from_secs(29));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 3));
    service.clock().advance(Duration::from_secs(1));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 4));
    // From here on the pauses double.
    service.clock().advance(MINUTE * 4);
    assert_eq!((deliver(&service), sender.messages().len()), (0, 5));
    service.clock().advance(MINUTE * 8);
    assert_eq!((deliver(&service), sender.messages().len()), (1, 6));
    // Each attempt is encrypted anew, and has less time left.
    let messages = sender.messages();
    assert!(messages[0].salt != messages[5].salt && messages[0].ttl > messages[5].ttl);
    Ok(())
}

fn spec_6_a_refused_message_is_dropped_and_the_next_one_is_sent(kind: DatabaseKind) -> Result<()> {
    let (service, sender, mia) =
        pushing(kind, vec![PushReply::Fails(PushFault::Refused("answered 413".to_owned()))])?;
    notify(&service, mia.id, 1);
    assert_eq!((deliver(&service), deliver(&service)), (0, 0));
    service.clock().advance(Duration::from_hours(2));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 1));
    notify(&service, mia.id, 1);
    assert_eq!((deliver(&service), sender.messages().len()), (1, 2));
    Ok(())
}

fn spec_6_a_subscription_that_is_gone_is_deleted(kind: DatabaseKind) -> Result<()> {
    let (service, sender, mia) =
        pushing(kind, vec![PushReply::Fails(PushFault::Gone("answered 410".to_owned()))])?;
    notify(&service, mia.id, 1);
    assert_eq!(hosts(&service, mia.id), ["fcm.googleapis.com"]);
    assert_eq!((deliver(&service), hosts(&service, mia.id).len()), (0, 0));
    notify(&service, mia.id, 2);
    assert_eq!((deliver(&service), sender.messages().len()), (0, 1));
    subscribe(&service, &mia, "again");
    notify(&service, mia.id, 3);
    assert_eq!((deliver(&service), sender.messages().len()), (1, 2));
    Ok(())
}

fn spec_6_a_killed_process_sends_at_most_twice_and_never_loses_a_message(kind: DatabaseKind) -> Result<()> {
    let (service, sender, mia) = pushing(kind, vec![PushReply::Hangs])?;
    notify(&service, mia.id, 1);
    service.run(sender.kill_when_called(service.app().deliver_pushes()));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 1), "another process waits for the lease");
    service.clock().advance(MINUTE + Duration::from_secs(1));
    assert_eq!((deliver(&service), sender.messages().len()), (1, 2));
    service.clock().advance(PAUSE * 2);
    assert_eq!((deliver(&service), sender.messages().len()), (0, 2));
    Ok(())
}

fn spec_6_two_processes_send_each_message_once(kind: DatabaseKind) -> Result<()> {
    let sender = RecordingPush::new([]);
    let plain = TestApp::without_dry_run(kind)?;
    let [one, two] =
        [(); 2].map(|()| plain.with_push(Arc::<RecordingPush>::clone(&sender), render_every_push));
    let (one, two) = (one?, two?);
    let mia = one.fan("mia");
    subscribe(&one, &mia, "mia");
    for number in 0..150 {
        notify(&one, mia.id, number);
    }
    let rounds = [&one, &two].map(|service| {
        let app = Arc::clone(service.app());
        async move { app.deliver_pushes().await }
    });
    let sent: u64 = one.together(rounds).into_iter().map(|sent| sent.expect("a working store")).sum();
    assert_eq!(sent, 150);
    let mut texts = sender.texts();
    texts.dedup();
    assert_eq!((texts.len(), sender.messages().len()), (150, 150));
    Ok(())
}

fn spec_6_shared_notifications_are_paced_and_pushed_once(kind: DatabaseKind) -> Result<()> {
    let (service, sender, _) = pushing(kind, vec![])?;
    // 250 in a second.
    let users = service.crowd("fan", 300);
    let at = service.clock().now();
    service.done(body(move |tx, ctx| {
        for (number, user) in users.iter().enumerate() {
            let session = NewSession {
                id: ctx.new_id(),
                user_id: *user,
                kind: SessionKind::Browser,
                device_name: None,
                created_at: at,
                expires_at: at.plus(Duration::from_hours(24)),
            };
            tx.insert_session(&session)?;
            let viewer = Viewer {
                user_id: *user,
                session_id: session.id,
                role: Role::Fan,
                last_seen_at: at,
                expires_at: at,
            };
            let subscription = push_subscription(&viewer, &endpoint(&number.to_string()));
            assert!(tx.put_push_subscription(ctx.new_id(), &subscription, at)?);
        }
        Ok(())
    }));
    service.clock().advance(Duration::from_millis(1));
    let share = || service.done(body(|tx, ctx| Ok(enqueue_shared(tx, group(9), ctx.now())?)));
    share();
    assert_eq!((deliver(&service), deliver(&service)), (250, 0));
    // A browser that subscribes later does not get it.
    let late = service.fan("late");
    service.clock().advance(Duration::from_millis(1));
    subscribe(&service, &late, "late");
    service.clock().advance(Duration::from_secs(1));
    assert_eq!((deliver(&service), deliver(&service)), (51, 0));
    share();
    service.clock().advance(Duration::from_hours(2));
    assert_eq!((deliver(&service), sender.messages().len()), (0, 301), "once");
    Ok(())
}

fn spec_6_a_subscription_dies_with_its_session(kind: DatabaseKind) -> Result<()> {
    type End = fn(&TestApp, &Fan);
    let ends: [(&str, End); 6] = [
        ("logout", |service, fan| {
            let viewer = viewer(service, fan);
            service.end_session(viewer.user_id, viewer.session_id).expect("a session");
        }),
        ("password", |service, _| {
            // Another device changes it.
            let (_, other) = mobile(service, "password");
            let viewer = service.viewer(other).expect("signed in");
            let changed =
                service.app().change_password(&viewer, offered(PASSWORD), chosen("another password"));
            service.run(changed).expect("the right password");
        }),
        ("suspended", |service, _| {
            service.done(SuspendAccount { username: "suspended".to_owned() });
        }),
        ("leaver", |service, fan| {
            assert_eq!(delete(service, fan.cookie, PASSWORD), None);
            catch_up(service);
        }),
        ("expired", |service, _| service.clock().advance(Duration::from_hours(366 * 24))),
        ("unsubscribed", |service, fan| {
            let session = viewer(service, fan).session_id;
            assert!(service.done(DeletePushSubscription(session)));
            assert!(!service.done(DeletePushSubscription(session)));
        }),
    ];
    for (name, end) in ends {
        let (service, sender, _) = pushing(kind, vec![])?;
        let fan = service.fan(name);
        subscribe(&service, &fan, name);
        let last = viewer(&service, &fan);
        notify(&service, fan.id, 1);
        end(&service, &fan);
        notify(&service, fan.id, 2);
        assert_eq!(deliver(&service), 0, "{name}: a dead session gets nothing");
        assert!(sender.messages().is_empty(), "{name}");
        service.run(ops::sweep(service.app()))?;
        let left =
            "SELECT CAST(count(*) AS TEXT) AS text FROM push_subscriptions WHERE endpoint LIKE '%/NAME'";
        let left = service.storage().read_by_hand(&left.replace("NAME", name))?;
        assert_eq!(left, ["0"], "{name}");
        if name != "unsubscribed" {
            let late = PutPushSubscription(push_subscription(&last, &endpoint("late")));
            assert_eq!(service.refused(late), SessionEnded, "{name}");
        }
    }
    Ok(())
}

fn spec_6_an_endpoint_belongs_to_the_session_that_stored_it_last(kind: DatabaseKind) -> Result<()> {
    let (service, sender, mia) = pushing(kind, vec![])?;
    let bo = service.fan("bo_");
    notify(&service, mia.id, 1);
    // The same browser, in which another fan has signed in.
    subscribe(&service, &bo, "mia");
    notify(&service, mia.id, 2);
    assert_eq!((deliver(&service), hosts(&service, mia.id).len()), (0, 0));
    notify(&service, bo.id, 3);
    assert_eq!(deliver(&service), 1);
    // A browser that renews its subscription has one, and its queue goes on if the endpoint is the same.
    notify(&service, bo.id, 3);
    subscribe(&service, &bo, "mia");
    assert_eq!((deliver(&service), hosts(&service, bo.id).len()), (0, 1), "within the hour");
    subscribe(&service, &bo, "new");
    assert_eq!(hosts(&service, bo.id).len(), 1);
    notify(&service, bo.id, 4);
    assert_eq!(deliver(&service), 1);
    assert_eq!(sender.messages()[1].endpoint.as_str(), endpoint("new"));
    Ok(())
}

fn spec_6_a_message_expires_after_a_day_and_is_swept(kind: DatabaseKind) -> Result<()> {
    let (service, sender, mia) = pushing(kind, vec![])?;
    notify(&service, mia.id, 1);
    service.done(body(|tx, ctx| Ok(enqueue_shared(tx, group(9), ctx.now())?)));
    service.clock().advance(Duration::from_hours(24));
    assert_eq!(deliver(&service), 0, "no process has sent it for a day");
    assert!(sender.messages().is_empty());
    service.clock().advance(MINUTE);
    assert_eq!(service.run(ops::sweep(service.app()))?.push, 2);
    assert_eq!(service.run(ops::sweep(service.app()))?.push, 0);
    assert_eq!(hosts(&service, mia.id).len(), 1);
    Ok(())
}

fn spec_6_an_export_names_the_hosts_of_subscriptions_only(kind: DatabaseKind) -> Result<()> {
    let (service, _, mia) = pushing(kind, vec![])?;
    let list = service.found(ReadExport { user: mia.id, list: subscriptions, after: None });
    let kept = list.items.first().expect("a subscription");
    assert_eq!((kept.host.as_str(), kept.session), ("fcm.googleapis.com", viewer(&service, &mia).session_id));
    assert!(!format!("{kept:?}").contains("/fcm/send"));
    Ok(())
}

fn post(service: &TestApp, author: &Fan) -> PostId {
    let create = CreatePost { author: author.id, team: None, media: None, body: "What a save!".to_owned() };
    service.done(create).post.id
}

fn comment(service: &TestApp, author: &Fan, post: PostId) {
    service.done(CreateComment { author: author.id, post, body: "And the rebound!".to_owned() });
    catch_up(service);
}

/// Notifications, the queue and the transport together: the payload is what the browser decrypts.
fn spec_6_a_comment_reaches_the_device_of_the_author(kind: DatabaseKind) -> Result<()> {
    let push = StandInPush::start(&[]);
    let plain = TestApp::start(kind)?;
    let service = plain.with_push(Arc::new(push.sender()), render_pushes)?;
    let [mia, bo] = [service.fan("mia"), service.fan("bo_")];
    subscribe(&service, &mia, "mia");
    let first = post(&service, &mia);
    comment(&service, &bo, first);
    assert_eq!((deliver(&service), deliver(&service)), (1, 0));
    let payload: serde_json::Value = serde_json::from_slice(&push.received()[0].decrypt())?;
    let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
    assert_eq!((text("kind").as_str(), text("tag")), ("comment", text("id")));
    assert!(text("text").contains("bo_") && text("url").contains(&first.to_string()), "{payload}");
    assert!(payload["unread"].as_u64() >= Some(1) && !text("title").is_empty(), "{payload}");
    // Another comment within the hour is pushed at its end, unless it was read by then.
    comment(&service, &bo, first);
    assert_eq!(deliver(&service), 0);
    service.clock().advance(PAUSE);
    assert_eq!(deliver(&service), 1);
    comment(&service, &bo, first);
    let id: NotificationId = text("id").parse()?;
    service.done(MarkRead { user: mia.id, mark: ReadMark::Ids(vec![id]) });
    service.clock().advance(PAUSE);
    assert_eq!((deliver(&service), push.received().len()), (0, 2));
    Ok(())
}

fn spec_6_preferences_and_quiet_hours_of_the_fan_are_respected(kind: DatabaseKind) -> Result<()> {
    let sender = RecordingPush::new([]);
    let plain = TestApp::start(kind)?;
    plain.clock().set("2090-01-01T12:00:00Z".parse()?);
    let service = plain.with_push(Arc::<RecordingPush>::clone(&sender), render_pushes)?;
    let [mia, bo] = [service.fan("mia"), service.fan("bo_")];
    subscribe(&service, &mia, "mia");
    let prefer = |push: bool, quiet_hours: Option<QuietHours>| {
        let mut preferences = Preferences::default();
        preferences.set(NotificationKind::Comment, KindPreference { in_app: true, push });
        preferences.quiet_hours = quiet_hours;
        service.done(SetPreferences { user: mia.id, preferences });
    };
    prefer(false, None);
    let posts = [post(&service, &mia), post(&service, &mia), post(&service, &mia)];
    comment(&service, &bo, posts[0]);
    assert_eq!(deliver(&service), 0);
    // What was enqueued before the fan changed the preference is not sent either.
    prefer(true, None);
    comment(&service, &bo, posts[1]);
    prefer(false, None);
    assert_eq!(deliver(&service), 0);
    // All day, except the hour after midnight.
    prefer(true, Some(QuietHours::new("01:00".parse()?, "00:00".parse()?)?));
    comment(&service, &bo, posts[2]);
    assert_eq!(deliver(&service), 0);
    let mut half_hours = 0;
    while deliver(&service) == 0 {
        half_hours += 1;
        assert!(half_hours < 48, "the message is not held for more than a day");
        service.clock().advance(MINUTE * 30);
    }
    assert!(half_hours > 1);
    assert_eq!(sender.messages().len(), 1);
    Ok(())
}
