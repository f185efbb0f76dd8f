//! A clock that is put back by an hour, forward by a day, and right again: no fan is paid twice or signed
//! out, nothing is listed twice or left out, and nothing waits for a time that a wrong clock has written.

use super::accounts::{mobile, refresh};
use super::ledger::{balance, in_order};
use super::packs::{buy, give_coins, open, pack, prove, shop};
use super::points::{active, award, founded, ledger, start_season};
use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::app::room::{CreatePost, FeedScope, ReadFeed};
use terrace_testkit::app::store::{IdempotencyScope, StoredAnswer};
use terrace_testkit::app::{Job, KeyedRequest, Turn};
use terrace_testkit::identity::SessionKind;
use terrace_testkit::kernel::{Clock, EventKind, Limit, UserId};
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::ops;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};
use tokio::sync::watch;

on_each_database! {
    sessions_and_tokens_outlive_clock_steps,
    each_date_is_paid_once,
    lists_positions_and_keys_stay_correct,
    packs_are_paid_and_opened_once,
    awards_count_in_the_season_that_has_begun,
    jobs_and_leases_do_not_wait_for_a_time_that_was_wrong,
}

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// Puts the clock back by `span`.
fn back(service: &TestApp, span: Duration) {
    service.clock().set(service.clock().now().minus(span));
}

/// The steps of the clock, in their order: an hour back, right again, a day forward, right again.
const STEPS: [fn(&TestApp); 4] = [
    |service| back(service, HOUR),
    |service| service.clock().advance(HOUR),
    |service| service.clock().advance(DAY),
    |service| back(service, DAY),
];

/// Asserts that boards and balances agree with the records of points.
fn agrees(service: &TestApp) {
    in_order(service);
    let points = service.run(ops::verify_points(service.app())).expect("a working store");
    assert_eq!(points.wrong(), 0, "{points:?}");
    let balances = service.run(ops::verify_ledger(service.app())).expect("a working store");
    assert_eq!(balances.wrong(), 0, "{balances:?}");
}

fn sessions_and_tokens_outlive_clock_steps(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia");
    let (mut secret, mut access) = mobile(&service, "mia");
    assert!(service.viewer(access).is_some());
    for step in STEPS {
        step(&service);
        assert!(service.viewer(mia.cookie).is_some(), "signed out");
        (secret, access) = refresh(&service, &secret).expect("a live token");
        assert!(service.viewer(access).is_some());
    }
    // Its quarter of an hour is over.
    service.clock().advance(HOUR);
    assert!(service.viewer(access).is_none());
    let kinds = [SessionKind::Browser, SessionKind::Mobile];
    assert_eq!(kinds.map(|kind| service.sessions_of(mia.id, kind)), [1, 1]);
    Ok(())
}

fn visit(service: &TestApp, user: UserId) -> (bool, u32) {
    let visit = service.done(VisitDaily { user, awards: service.app().awards() });
    (visit.already_completed, visit.status.streak)
}

fn each_date_is_paid_once(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia").id;
    // Half past midnight: an hour earlier it is another date.
    service.clock().advance(HOUR * 12 + HOUR / 2);
    assert_eq!(visit(&service, mia), (false, 1));
    back(&service, HOUR);
    assert_eq!(visit(&service, mia), (true, 1));
    service.clock().advance(HOUR);
    assert_eq!(visit(&service, mia), (true, 1));
    service.clock().advance(DAY);
    assert_eq!(visit(&service, mia), (false, 2));
    back(&service, DAY);
    assert_eq!(visit(&service, mia), (true, 2));
    service.clock().advance(DAY);
    assert_eq!(visit(&service, mia), (true, 2), "the date was paid by a clock that was wrong");
    service.clock().advance(DAY);
    assert_eq!(visit(&service, mia), (false, 3));
    assert_eq!(service.ask(move |tx| tx.points_of(mia)).get(), 30);
    agrees(&service);
    Ok(())
}

fn lists_positions_and_keys_stay_correct(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let before = service.settled();
    let post = || CreatePost { author: mia, team: None, body: "What time is it?".to_owned(), media: None };
    let under_key = |service: &TestApp| {
        let scope = IdempotencyScope { account: Some(mia), operation: "POST /api/locker-room" };
        let request = KeyedRequest { scope, key: "late".to_owned(), fingerprint: [1; 32] };
        let answer = service.app().execute_once(post(), Some(request), |written| {
            let id = written.post.id;
            StoredAnswer { created: Some(format!("/api/locker-room/{id}")), body: id.to_string() }
        });
        service.run(answer).expect("an answer")
    };
    let first = under_key(&service);
    let mut written = vec![first.answer.body.clone()];
    for step in STEPS {
        step(&service);
        for process in [&service, &other, &service] {
            written.push(process.done(post()).post.id.to_string());
        }
        if service.clock().now() < active(&service).starts_at.plus(DAY) {
            let again = under_key(&other);
            assert_eq!((again.replayed, again.answer), (true, first.answer.clone()));
        }
    }
    // Positions are in the order of commits, whatever their times.
    let events = service.log(before);
    assert!(events.windows(2).all(|two| two[0].position < two[1].position));
    let posts = events.iter().filter(|event| event.what.kind == EventKind::PostCreated);
    assert_eq!(posts.map(|event| event.what.subject.to_string()).collect::<Vec<_>>(), written);
    // The pages contain each post once, and nothing else.
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let limit = Limit::new(2).expect("a limit");
        let feed = ReadFeed { scope: FeedScope::All, reader: Some(mia), limit, after };
        let page = service.found(feed).page;
        listed.extend(page.items.iter().map(|view| view.post.id.to_string()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed.len(), written.len());
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), written.into_iter().collect());
    Ok(())
}

fn packs_are_paid_and_opened_once(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 25);
    let cups = pack(&service, "cups").id;
    service.done(buy(&service, mia, cups, 1));
    let mut opened = BTreeSet::new();
    for step in STEPS {
        step(&service);
        service.done(buy(&service, mia, cups, 1));
        let opening = service.done(open(&service, mia, cups, None));
        prove(&opening);
        assert!(opened.insert(opening.copy.id), "a copy was opened twice");
    }
    assert_eq!(balance(&service, mia, AccountKind::Coins), 0);
    agrees(&service);
    Ok(())
}

fn awards_count_in_the_season_that_has_begun(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let [mia, bo, kim] = [service.fan("mia").id, service.fan("bo_").id, service.fan("kim").id];
    let counts = |fan: UserId| {
        assert_eq!(visit(&service, fan), (false, 1));
        let [record] = &ledger(&service, fan)[..] else { panic!("one record") };
        let season = active(&service);
        assert_eq!((record.season, record.at >= season.starts_at), (Some(season.id), true));
    };
    counts(mia);
    start_season(&service, "1", Some(service.clock().now().plus(HOUR)));
    service.clock().advance(DAY);
    assert_eq!(service.run(service.app().turn_seasons())?.len(), 2);
    assert_eq!(active(&service).key.as_str(), "1");
    counts(bo);
    // Before the start of the active season: the season before it is closed.
    back(&service, DAY);
    assert_eq!(service.run(service.app().turn_seasons())?, []);
    assert_eq!(active(&service).key.as_str(), "1");
    counts(kim);
    service.done(award(&service, kim, 5, "a-game"));
    service.done(award(&service, kim, 5, "a-game"));
    assert_eq!(service.ask(move |tx| tx.points_of(kim)).get(), 15);
    agrees(&service);
    Ok(())
}

fn jobs_and_leases_do_not_wait_for_a_time_that_was_wrong(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let period = Duration::from_mins(10);
    let job = Job::new("count", period, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    });
    let (_keep, stop) = watch::channel(false);
    let turn = |service: &TestApp| service.run(service.app().try_job(&job, &mut stop.clone()));
    let began = service.clock().now();
    assert_eq!(turn(&service)?, Turn::Done);
    // Correcting the clock by a small step changes nothing: the run is not repeated.
    back(&service, HOUR / 2);
    assert_eq!(turn(&other)?, Turn::NotDue(began.plus(period)));
    service.clock().advance(HOUR / 2 + DAY);
    assert_eq!(turn(&service)?, Turn::Done);
    let crowd = service.crowd("holder", 2);
    let take = |service: &TestApp, holder: UserId| {
        let holder = holder.as_uuid();
        service.write(move |tx, ctx| Ok(tx.take_lease("a-job", holder, ctx.now(), ctx.now().plus(period))?))
    };
    assert!(take(&service, crowd[0]));
    back(&service, HOUR / 2);
    assert!(!take(&other, crowd[1]), "it is held");
    service.clock().set(began);
    assert!(take(&other, crowd[1]), "it would be held for a day");
    assert_eq!(turn(&other)?, Turn::Done, "it would be due in a day");
    assert_eq!(turn(&service)?, Turn::NotDue(began.plus(period)));
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    Ok(())
}
