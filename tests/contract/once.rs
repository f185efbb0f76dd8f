//! The contract under "Conventions", Idempotency: one effect and one answer under a key, kept together.

use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::room::{CreatePost, CreatePostRefusal, FeedScope, ReadFeed};
use terrace_testkit::app::store::{IdempotencyScope, StoredAnswer};
use terrace_testkit::app::{Answered, Command, KeyedRequest, OnceRefusal, RegisterRefusal, SignedUp};
use terrace_testkit::identity::AuthorCard;
use terrace_testkit::kernel::{Clock, Failure, Limit, Outcome, Position, StoreError, TeamId, UserId};
use terrace_testkit::ops;
use terrace_testkit::social::PostView;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, TestRefusal, body, on_each_database, registration};

on_each_database! {
    a_hundred_at_once_have_one_effect_and_one_answer,
    another_body_under_a_key_is_refused,
    a_refusal_is_not_stored,
    a_key_is_free_again_after_a_day,
    accounts_and_routes_do_not_share_keys,
    effect_and_answer_are_rolled_back_together,
    an_answer_that_cannot_be_given_leaves_no_effect,
    without_a_key_nothing_is_stored,
    a_repeated_registration_proves_its_password,
    fifty_registrations_under_one_key_are_one_account,
}

const POSTS: &str = "POST /api/locker-room";

fn request(account: impl Into<Option<UserId>>, route: &'static str, key: &str, print: u8) -> KeyedRequest {
    let scope = IdempotencyScope { account: account.into(), operation: route };
    KeyedRequest { scope, key: key.to_owned(), fingerprint: [print; 32] }
}

fn post(author: UserId) -> CreatePost {
    CreatePost { author, team: None, body: "We score in the last minute.".to_owned(), media: None }
}

/// The answer contains the id that was created, so that two effects cannot look like one.
fn created(view: &PostView<AuthorCard>) -> StoredAnswer {
    let id = view.post.id;
    StoredAnswer { created: Some(format!("/api/locker-room/{id}")), body: id.to_string() }
}

fn once<C: Command>(
    service: &TestApp,
    command: C,
    request: KeyedRequest,
    render: fn(&C::Output) -> StoredAnswer,
) -> Outcome<Answered, OnceRefusal<C::Refusal>> {
    service.run(service.app().execute_once(command, Some(request), render))
}

fn answered<R: std::fmt::Debug>(outcome: Outcome<Answered, R>) -> Answered {
    outcome.expect("an answer")
}

fn posts(service: &TestApp) -> usize {
    let limit = Limit::new(100).expect("a limit");
    let feed = ReadFeed { scope: FeedScope::All, reader: None, limit, after: None };
    service.found(feed).page.items.len()
}

/// A second request while the first runs waits for it and gets its answer: a hundred in two processes.
fn a_hundred_at_once_have_one_effect_and_one_answer(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia").id;
    let before = service.settled();
    let answers = service.together((0..100).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let request = request(fan, POSTS, "goal", 1);
        async move { app.execute_once(post(fan), Some(request), created).await }
    }));
    let answers: Vec<_> = answers.into_iter().map(answered).collect();
    assert_eq!(answers.iter().filter(|answered| answered.replayed).count(), 99);
    assert!(answers.iter().all(|answered| answered.answer == answers[0].answer));
    assert_eq!(posts(&service), 1);
    assert_eq!(service.log(before).len(), 1);
    Ok(())
}

/// 422 `idempotency_key_reused`; and the first request still gets its answer.
fn another_body_under_a_key_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let first = answered(once(&service, post(fan), request(fan, POSTS, "goal", 1), created));
    let other = once(&service, post(fan), request(fan, POSTS, "goal", 2), created);
    assert!(matches!(other, Err(Failure::Refused(OnceRefusal::KeyReused))), "{other:?}");
    let again = answered(once(&service, post(fan), request(fan, POSTS, "goal", 1), created));
    assert_eq!((again.answer, again.replayed), (first.answer, true));
    assert_eq!(posts(&service), 1);
    Ok(())
}

/// Refusals are evaluated again.
fn a_refusal_is_not_stored(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let nowhere = CreatePost { team: Some(TeamId::from_uuid(fan.as_uuid())), ..post(fan) };
    for _ in 0..2 {
        let refused = once(&service, nowhere.clone(), request(fan, POSTS, "goal", 1), created);
        let unknown = OnceRefusal::Refused(CreatePostRefusal::UnknownTeam);
        assert!(matches!(refused, Err(Failure::Refused(refusal)) if refusal == unknown));
    }
    // The key is unused, also for another body.
    let answer = answered(once(&service, post(fan), request(fan, POSTS, "goal", 2), created));
    assert!(!answer.replayed);
    Ok(())
}

/// Kept for 24 h, to the instant, and then free for any body; the sweep only removes rows.
fn a_key_is_free_again_after_a_day(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let day = Duration::from_hours(24);
    let over = service.clock().now().plus(day);
    let first = answered(once(&service, post(fan), request(fan, POSTS, "goal", 1), created));
    service.clock().set(over.minus(Duration::from_micros(1)));
    assert_eq!(service.run(ops::sweep(service.app()))?.idempotency_keys, 0);
    let last = answered(once(&service, post(fan), request(fan, POSTS, "goal", 1), created));
    assert_eq!((last.answer, last.replayed), (first.answer.clone(), true));

    service.clock().set(over);
    let fresh = answered(once(&service, post(fan), request(fan, POSTS, "goal", 2), created));
    assert!(!fresh.replayed && fresh.answer != first.answer);
    let again = answered(once(&service, post(fan), request(fan, POSTS, "goal", 2), created));
    assert_eq!((again.answer, again.replayed), (fresh.answer, true));
    assert_eq!(posts(&service), 2);

    service.clock().advance(day);
    assert_eq!(service.run(ops::sweep(service.app()))?.idempotency_keys, 1);
    Ok(())
}

/// Scope: account and route.
fn accounts_and_routes_do_not_share_keys(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = [service.fan("mia").id, service.fan("bo_").id];
    let mut answers = Vec::new();
    for fan in fans {
        for route in [POSTS, "POST /api/locker-room/{id}/comments"] {
            let answer = answered(once(&service, post(fan), request(fan, route, "goal", 1), created));
            assert!(!answer.replayed);
            assert!(!answers.contains(&answer.answer));
            answers.push(answer.answer);
        }
        // Keys are compared as exact strings.
        assert!(!answered(once(&service, post(fan), request(fan, POSTS, "GOAL", 1), created)).replayed);
    }
    assert_eq!(posts(&service), 6);
    Ok(())
}

/// Stored in the transaction of its effect: a body that fails after its writes leaves neither.
fn effect_and_answer_are_rolled_back_together(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let before = service.settled();
    let failing = |how: fn() -> Failure<TestRefusal>| {
        let failing = body(move |tx, ctx| {
            post(fan).run(tx, ctx).map_err(|failure| failure.map(|_| TestRefusal))?;
            Err::<(), _>(how())
        });
        once(&service, failing, request(fan, POSTS, "goal", 1), |()| unreachable!("it failed"))
    };
    let refused = failing(|| Failure::Refused(TestRefusal));
    assert!(matches!(refused, Err(Failure::Refused(OnceRefusal::Refused(TestRefusal)))));
    let broken = failing(|| Failure::Broken(StoreError::Unavailable("on purpose".to_owned())));
    assert!(matches!(broken, Err(Failure::Broken(StoreError::Unavailable(_)))));
    let panicked = failing(|| panic!("on purpose"));
    assert!(matches!(panicked, Err(Failure::Broken(StoreError::Defect { .. }))));
    assert_eq!((posts(&service), service.log(before).len()), (0, 0));
    assert!(!answered(once(&service, post(fan), request(fan, POSTS, "goal", 2), created)).replayed);
    Ok(())
}

/// The same the other way round: without an answer to store, no effect is stored.
fn an_answer_that_cannot_be_given_leaves_no_effect(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let outcome = once(&service, post(fan), request(fan, POSTS, "goal", 1), |_| panic!("on purpose"));
    assert!(matches!(outcome, Err(Failure::Broken(StoreError::Defect { .. }))));
    assert_eq!(posts(&service), 0);
    assert!(!answered(once(&service, post(fan), request(fan, POSTS, "goal", 1), created)).replayed);
    assert_eq!(posts(&service), 1);
    Ok(())
}

/// The key is honoured, not required, on POSTs that create.
fn without_a_key_nothing_is_stored(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    for _ in 0..2 {
        let answer = answered(service.run(service.app().execute_once(post(fan), None, created)));
        assert!(!answer.replayed);
    }
    assert_eq!(posts(&service), 2);
    Ok(())
}

fn register(service: &TestApp, name: &str, password: &str, print: u8) -> Outcome<SignedUp, RegisterRefusal> {
    let request = request(None, "POST /api/register", "mine", print);
    service.run(service.app().register(registration(name, password), Some(request)))
}

/// POST /api/register: a session cannot be returned twice, so a repeated request signs in again, if it has
/// the password of the first.
fn a_repeated_registration_proves_its_password(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let first = register(&service, "mia", PASSWORD, 1).expect("a free name").profile;
    let again = register(&service, "mia", PASSWORD, 1).expect("the same request");
    assert_eq!(again.profile, first);
    let wrong = register(&service, "mia", "not the password", 1);
    assert!(matches!(wrong, Err(Failure::Refused(RegisterRefusal::KeyReused))), "{wrong:?}");
    let other = register(&service, "bo_", PASSWORD, 2);
    assert!(matches!(other, Err(Failure::Refused(RegisterRefusal::KeyReused))), "{other:?}");
    // A refusal is not stored here either.
    service.clock().advance(Duration::from_hours(24));
    for _ in 0..2 {
        let taken = register(&service, "mia", PASSWORD, 1);
        assert!(matches!(taken, Err(Failure::Refused(RegisterRefusal::UsernameTaken))), "{taken:?}");
    }
    assert!(register(&service, "bo_", PASSWORD, 2).is_ok());
    Ok(())
}

/// POST /api/register under one key, at once in two processes.
fn fifty_registrations_under_one_key_are_one_account(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let outcomes = service.together((0..50).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let request = request(None, "POST /api/register", "mine", 1);
        async move { app.register(registration("mia", PASSWORD), Some(request)).await }
    }));
    let profiles: Vec<_> =
        outcomes.into_iter().map(|outcome| outcome.expect("one and the same request").profile).collect();
    assert!(profiles.iter().all(|profile| *profile == profiles[0]));
    assert_eq!(service.log(Position::START).len(), 1);
    Ok(())
}
