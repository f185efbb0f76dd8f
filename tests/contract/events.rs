//! Events are appended in the transaction of their command, exactly once, or not at all
//! (docs/architecture.md, invariant 1; docs/events.md).

use anyhow::Result;
use terrace_testkit::app::accounts::ChangeProfile;
use terrace_testkit::app::room::{CreateComment, CreatePost, DeleteComment, DeletePost, React, ReportPost};
use terrace_testkit::app::store::Tx;
use terrace_testkit::app::{Command, Grant};
use terrace_testkit::identity::{Password, ProfileChange};
use terrace_testkit::kernel::{
    Ctx, EventKind, Failure, NewEvent, Position, PostId, StoreError, TeamId, Topic, UserId,
};
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, TestRefusal, body, on_each_database, registration};

on_each_database! {
    each_command_appends_its_events,
    a_command_that_changes_nothing_appends_nothing,
    signing_in_and_out_appends_nothing,
    a_command_that_fails_appends_nothing,
    events_outlive_their_sweep_in_their_positions,
}

/// The events appended since `before`, in order.
fn since(service: &TestApp, before: Position) -> Vec<NewEvent> {
    service.log(before).into_iter().map(|event| event.what).collect()
}

fn about_post(kind: EventKind, actor: UserId, team: Option<TeamId>, post: PostId) -> NewEvent {
    let (topic, subject) = (Topic::LockerRoom, post.as_uuid());
    NewEvent { topic, kind, actor: Some(actor), team, subject, object: None }
}

fn about_account(kind: EventKind, account: UserId) -> NewEvent {
    let (topic, subject) = (Topic::Account, account.as_uuid());
    NewEvent { topic, kind, actor: Some(account), team: None, subject, object: None }
}

/// Each command appends exactly its events, with actor, team and subject.
fn each_command_appends_its_events(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let team = service.team("foxes");
    let mia = service.fan("mia").id;
    assert_eq!(since(&service, Position::START), [about_account(EventKind::AccountRegistered, mia)]);
    let bo = service.fan("bo_").id;

    let before = service.settled();
    let change = ProfileChange { bio: Some("Since 1904".to_owned()), ..ProfileChange::default() };
    service.done(ChangeProfile { user: mia, change });
    assert_eq!(since(&service, before), [about_account(EventKind::ProfileChanged, mia)]);

    for team in [None, Some(team)] {
        let before = service.settled();
        service.clock().advance(std::time::Duration::from_millis(5));
        let post =
            service.done(CreatePost { author: mia, team, body: "A post".to_owned(), media: None }).post.id;
        let comment =
            service.done(CreateComment { author: bo, post, body: "A comment".to_owned() }).comment.id;
        service.done(React { fan: bo, post, kind: Some(ReactionKind::Like) });
        service.done(React { fan: bo, post, kind: Some(ReactionKind::Love) });
        service.done(React { fan: bo, post, kind: None });
        service.done(DeleteComment { user: bo, post, comment });
        service.done(DeletePost { user: mia, post });
        let object = Some(comment.as_uuid());
        let reacted = about_post(EventKind::ReactionChanged, bo, team, post);
        let expected = [
            about_post(EventKind::PostCreated, mia, team, post),
            NewEvent { object, ..about_post(EventKind::CommentCreated, bo, team, post) },
            reacted,
            reacted,
            reacted,
            NewEvent { object, ..about_post(EventKind::CommentDeleted, bo, team, post) },
            about_post(EventKind::PostDeleted, mia, team, post),
        ];
        assert_eq!(since(&service, before), expected);
        let now = service.app().now();
        assert!(service.log(before).iter().all(|event| event.at == now), "an event bears its command's time");
    }
    Ok(())
}

/// A command that changes nothing appends no event: the same reaction, an empty change, a report.
fn a_command_that_changes_nothing_appends_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post =
        service.done(CreatePost { author: mia, team: None, body: "A post".to_owned(), media: None }).post.id;
    service.done(React { fan: bo, post, kind: Some(ReactionKind::Like) });
    let before = service.settled();
    service.done(React { fan: bo, post, kind: Some(ReactionKind::Like) });
    service.done(React { fan: mia, post, kind: None });
    service.done(ChangeProfile { user: mia, change: ProfileChange::default() });
    service.done(ReportPost { fan: bo, post, reason: "Spam".to_owned() });
    // Nor does a command that is refused.
    service.refused(DeletePost { user: bo, post });
    service.refused(CreatePost {
        author: bo,
        team: Some(TeamId::from_uuid(bo.as_uuid())),
        body: "?".to_owned(),
        media: None,
    });
    let nowhere = PostId::from_uuid(bo.as_uuid());
    service.refused(CreateComment { author: bo, post: nowhere, body: "?".to_owned() });
    service.refused(React { fan: bo, post: nowhere, kind: Some(ReactionKind::Like) });
    let taken = service.run(service.app().register(registration("mia", PASSWORD), None));
    assert!(taken.is_err());
    assert_eq!(since(&service, before), []);
    Ok(())
}

/// Sessions are private.
fn signing_in_and_out_appends_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia");
    let before = service.settled();
    let password = || Password::offer(PASSWORD.to_owned());
    service.run(service.app().login("mia", password())).expect("signed in");
    let mobile = service.run(service.app().mobile_login("mia", password(), None)).expect("signed in");
    let Grant::Bearer { refresh, .. } = mobile.grant else { panic!("a native client gets a pair") };
    for _ in 0..2 {
        drop(service.run(service.app().refresh(refresh.expose())));
    }
    let viewer = service.viewer(fan.cookie).expect("signed in");
    let new = Password::choose("another password".to_owned())?;
    service.run(service.app().change_password(&viewer, password(), new)).expect("the right password");
    assert_eq!(service.end_session(fan.id, viewer.session_id), Ok(()));
    assert_eq!(since(&service, before), []);
    Ok(())
}

/// Events commit with their command or not at all, and no position is used up (docs/architecture.md,
/// invariants 1 and 15).
fn a_command_that_fails_appends_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let post = CreatePost { author: fan, team: None, body: "A post".to_owned(), media: None };
    let before = service.settled();
    let failing = |how: fn() -> Failure<TestRefusal>| {
        let post = post.clone();
        service.run(service.app().execute(body(move |tx: &mut dyn Tx, ctx: &mut Ctx| {
            for _ in 0..3 {
                post.run(tx, ctx).map_err(|failure| failure.map(|_| TestRefusal))?;
            }
            Err::<(), _>(how())
        })))
    };
    for how in [
        || Failure::Refused(TestRefusal),
        || Failure::Broken(StoreError::Unavailable("on purpose".to_owned())),
        || panic!("on purpose"),
    ] as [fn() -> Failure<TestRefusal>; 3]
    {
        assert!(failing(how).is_err());
    }
    service.done(post);
    let kinds: Vec<_> = since(&service, before).into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::PostCreated]);
    let positions: Vec<_> = service.log(before).iter().map(|event| event.position.get()).collect();
    assert_eq!(positions, [before.get() + 1]);
    Ok(())
}

/// Clients hold positions: they never start again, not even when every event is swept.
fn events_outlive_their_sweep_in_their_positions(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let post = CreatePost { author: fan, team: None, body: "A post".to_owned(), media: None };
    service.done(post.clone());
    let head = service.settled();
    service.clock().advance(service.app().config().event_life + std::time::Duration::from_secs(1));
    // Events that a durable consumer has not processed yet stay.
    let consumer = "a-slow-consumer";
    service.write(move |tx, _| {
        tx.lock_consumer(consumer)?;
        Ok(())
    });
    assert_eq!(service.run(service.app().sweep())?.events, 0);
    service.write(move |tx, _| Ok(tx.set_consumer_position(consumer, head)?));
    let swept = service.run(service.app().sweep())?.events;
    assert_eq!(i64::try_from(swept)?, head.get());
    assert_eq!(service.ask(|tx| tx.events_after(Position::START, 10)), []);
    assert_eq!(service.ask(|tx| tx.head()), head);
    service.done(post);
    let events = service.log(Position::START);
    assert_eq!(events.iter().map(|event| event.position.get()).collect::<Vec<_>>(), [head.get() + 1]);
    Ok(())
}
