//! The unit of work, whatever its body does and whatever runs beside it (docs/architecture.md, invariants 1,
//! 2, 4, 5 and 11).

use anyhow::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use terrace_testkit::app::Command;
use terrace_testkit::app::room::{CreateComment, CreatePost, FeedScope, GetPost, ReadFeed};
use terrace_testkit::app::store::Tx;
use terrace_testkit::kernel::{Clock, Ctx, Failure, Limit, Outcome, PostId, StoreError, Timestamp, UserId};
use terrace_testkit::social::ReactionCounts;
use terrace_testkit::{DatabaseKind, Gate, TestApp, TestRefusal, body, on_each_database, question};

on_each_database! {
    a_body_that_panics_leaves_nothing_and_affects_no_other,
    a_body_that_fails_after_its_writes_leaves_nothing,
    a_query_that_panics_affects_no_other,
    a_body_that_runs_again_decides_the_same,
    nothing_is_seen_before_its_commit,
    two_commands_that_lock_in_opposite_order_both_finish,
    increments_of_many_at_once_all_count,
    a_lease_has_one_holder_at_a_time,
    one_of_many_concurrent_lease_attempts_succeeds,
}

fn post(author: UserId) -> CreatePost {
    CreatePost { author, team: None, body: "A post".to_owned(), media: None }
}

fn posts(service: &TestApp) -> usize {
    let limit = Limit::new(100).expect("a limit");
    service.found(ReadFeed { scope: FeedScope::All, reader: None, limit, after: None }).page.items.len()
}

/// A command that writes a post, and then ends as `how` says.
fn writes_and_then(
    author: UserId,
    how: fn() -> Failure<TestRefusal>,
) -> impl Command<Output = (), Refusal = TestRefusal> {
    body(move |tx: &mut dyn Tx, ctx: &mut Ctx| {
        post(author).run(tx, ctx).map_err(|failure| failure.map(|_| TestRefusal))?;
        Err::<(), _>(how())
    })
}

/// A panic in a body is that command's defect. Commands beside it, on the same connection and in the same
/// commit, are not affected.
fn a_body_that_panics_leaves_nothing_and_affects_no_other(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let outcomes = service.together((0..40).map(|n| {
        let app = Arc::clone(service.app());
        async move {
            if n % 4 == 0 {
                app.execute(writes_and_then(fan, || panic!("on purpose"))).await
            } else {
                app.execute(post(fan)).await.map(drop).map_err(|failure| failure.map(|_| TestRefusal))
            }
        }
    }));
    for (n, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(()) => assert_ne!(n % 4, 0),
            Err(Failure::Broken(StoreError::Defect { .. })) => assert_eq!(n % 4, 0),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(posts(&service), 30);
    Ok(())
}

/// A transaction commits whole or not at all, whether the body was refused or failed.
fn a_body_that_fails_after_its_writes_leaves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let refused = service.run(service.app().execute(writes_and_then(fan, || Failure::Refused(TestRefusal))));
    assert!(matches!(refused, Err(Failure::Refused(TestRefusal))));
    let corrupt = || {
        let detail = "on purpose".to_owned();
        Failure::Broken(StoreError::Corrupt { table: "posts", column: "body", detail })
    };
    let broken = service.run(service.app().execute(writes_and_then(fan, corrupt)));
    assert!(matches!(broken, Err(Failure::Broken(StoreError::Corrupt { .. }))));
    assert_eq!(posts(&service), 0);
    service.done(post(fan));
    assert_eq!(posts(&service), 1);
    Ok(())
}

/// A panic in a query is returned to its caller, and ends no reader thread.
fn a_query_that_panics_affects_no_other(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let outcomes: Vec<Outcome<(), TestRefusal>> = service.together((0..20).map(|_| {
        let app = Arc::clone(service.app());
        async move { app.query(question(|_| panic!("on purpose"))).await }
    }));
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Failure::Broken(_)))));
    assert!(service.ask(move |tx| tx.account(fan)).is_some());
    Ok(())
}

/// A body that runs again after a rollback sees the same time, ids and randomness, and so decides the same;
/// its first writes are not there.
fn a_body_that_runs_again_decides_the_same(kind: DatabaseKind) -> Result<()> {
    type Run = (Timestamp, PostId, [u8; 16], usize);
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let runs = Arc::new(Mutex::new(Vec::<Run>::new()));
    let (seen, clock) = (Arc::clone(&runs), service.clock().clone());
    let id = service.write(move |tx, ctx| {
        let before =
            tx.feed(terrace_testkit::social::FeedFilter::All, None, Limit::default(), None)?.items.len();
        let post = post(fan).run(tx, ctx).map_err(|failure| failure.map(|_| TestRefusal))?;
        let run = (ctx.now(), post.post.id, ctx.random_bytes(), before);
        seen.lock().expect("sound").push(run);
        // Time goes on meanwhile, but not for the command.
        clock.advance(Duration::from_secs(1));
        Ok(post.post.id)
    });
    let runs = runs.lock().expect("sound");
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0], runs[1]);
    assert_eq!((runs[1].1, runs[1].3), (id, 0));
    assert_eq!(service.clock().now(), runs[0].0.plus(Duration::from_secs(2)));
    Ok(())
}

/// Uncommitted writes are not visible to others.
fn nothing_is_seen_before_its_commit(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia").id;
    let (written, commit) = (Gate::default(), Gate::default());
    let writing = {
        let (app, written, commit) = (Arc::clone(service.app()), written.clone(), commit.clone());
        service.spawn(async move {
            let slow = body(move |tx: &mut dyn Tx, ctx: &mut Ctx| {
                post(fan).run(tx, ctx).map_err(|failure| failure.map(|_| TestRefusal))?;
                written.open();
                commit.pass();
                Ok(())
            });
            app.execute(slow).await
        })
    };
    written.pass();
    assert_eq!((posts(&service), posts(&other)), (0, 0), "and reading waits for no writer");
    commit.open();
    assert!(service.join(writing).is_ok());
    assert_eq!((posts(&service), posts(&other)), (1, 1));
    Ok(())
}

/// Two commands lock two posts in opposite order: on PostgreSQL one of them is a deadlock's victim and is run
/// again. Both finish.
fn two_commands_that_lock_in_opposite_order_both_finish(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let fan = service.fan("mia").id;
    let [a, b] = [0, 1].map(|_| service.done(post(fan)).post.id);
    let gates = [Gate::default(), Gate::default()];
    let runs = Arc::new(AtomicUsize::new(0));
    let outcomes = service.together([(0, a, b), (1, b, a)].map(|(mine, first, second)| {
        let (app, gates, runs) = (Arc::clone(service.app()), gates.clone(), Arc::clone(&runs));
        let lock_both = body(move |tx: &mut dyn Tx, _: &mut Ctx| {
            runs.fetch_add(1, Ordering::SeqCst);
            let one = ReactionCounts { like: 1, ..ReactionCounts::default() };
            assert!(tx.lock_post(first, None)?.is_some());
            if kind == DatabaseKind::Postgres {
                // SQLite's writers come one after another: there the other gate could not be opened.
                gates[mine].open();
                gates[1 - mine].pass();
            }
            assert!(tx.lock_post(second, None)?.is_some());
            tx.add_to_reaction_counts(first, &one)?;
            tx.add_to_reaction_counts(second, &one)?;
            Ok(())
        });
        async move { app.execute(lock_both).await }
    }));
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    // On PostgreSQL one of them was the victim of a deadlock and ran again; it may have been so once more.
    let runs = runs.load(Ordering::SeqCst);
    assert!(if kind == DatabaseKind::Postgres { runs >= 3 } else { runs == 2 }, "{runs} runs");
    for post in [a, b] {
        assert_eq!(service.found(GetPost { post, reader: None }).post.reactions.like, 2);
    }
    Ok(())
}

/// Counters are changed by an increment, not from a value that was read: eighty comments in two processes.
fn increments_of_many_at_once_all_count(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia").id;
    let post = service.done(post(fan)).post.id;
    let mut counts: Vec<_> = service
        .together((0..80).map(|n| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let comment = CreateComment { author: fan, post, body: format!("{n}") };
            async move { app.execute(comment).await.expect("a comment").comment_count }
        }))
        .into_iter()
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, (1..=80).collect::<Vec<i64>>());
    Ok(())
}

const LEASE: Duration = Duration::from_secs(10);

fn take(service: &TestApp, holder: UserId) -> bool {
    service.write(move |tx, ctx| {
        Ok(tx.take_lease("a-job", holder.as_uuid(), ctx.now(), ctx.now().plus(LEASE))?)
    })
}

/// A lease is prolonged by its holder, kept from others until its very end, and released.
fn a_lease_has_one_holder_at_a_time(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let crowd = service.crowd("holder", 2);
    let (mine, theirs) = (crowd[0], crowd[1]);
    assert!(take(&service, mine) && !take(&other, theirs));
    service.clock().advance(Duration::from_secs(9));
    assert!(take(&service, mine), "prolonged");
    let over = service.clock().now().plus(LEASE);
    service.clock().set(over.minus(Duration::from_micros(1)));
    assert!(!take(&other, theirs), "not over yet");
    service.clock().set(over);
    assert!(take(&other, theirs), "over from its very instant on");
    assert!(!take(&service, mine));

    let release = |service: &TestApp, holder: UserId| {
        service.write(move |tx, _| Ok(tx.release_lease("a-job", holder.as_uuid())?));
    };
    release(&service, mine);
    assert!(!take(&service, mine), "only the holder can release it");
    release(&other, theirs);
    assert!(take(&service, mine));
    let another = service.write(move |tx, ctx| {
        Ok(tx.take_lease("another-job", theirs.as_uuid(), ctx.now(), ctx.now().plus(LEASE))?)
    });
    assert!(another, "leases are apart by name");
    Ok(())
}

/// Sixteen try at once in two processes, while it is free and after it expired: two never hold it.
fn one_of_many_concurrent_lease_attempts_succeeds(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let holders = service.crowd("holder", 16);
    for round in 0..5 {
        let taken = service.together(holders.iter().enumerate().map(|(n, holder)| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let holder = holder.as_uuid();
            async move {
                let take = body(move |tx: &mut dyn Tx, ctx: &mut Ctx| {
                    Ok(tx.take_lease("a-job", holder, ctx.now(), ctx.now().plus(LEASE))?)
                });
                app.execute(take).await.expect("nothing is in the way")
            }
        }));
        assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1, "round {round}");
        service.clock().advance(LEASE);
    }
    Ok(())
}
