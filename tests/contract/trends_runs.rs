//! Spec §1 rule 12: trends are refreshed by sync routes and by the schedule, once for all concurrent
//! requests, in small transactions, and a run that fails or is stopped leaves what was published.

use super::jobs::attempt;
use super::recording_store::Decision;
use super::trends::{kept, order, post, synced, topics, trends, watched};
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::jobs;
use terrace_testkit::app::{App, Job, Turn};
use terrace_testkit::kernel::Clock;
use terrace_testkit::social::{NewPost, TrendsKept};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    one_of_two_concurrent_requests_in_two_processes_does_the_work,
    requests_that_wait_for_a_failing_run_get_an_error,
    a_run_that_is_stopped_leaves_what_was_published,
    a_run_that_lost_its_lease_leaves_no_rows,
    no_transaction_of_a_run_is_long,
    the_schedule_refreshes_by_itself,
}

/// POST /api/cron/sync-trends: "two at once do the work once".
fn one_of_two_concurrent_requests_in_two_processes_does_the_work(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    post(&service, service.fan("mia").id, None, "Hello #terrace");
    let ((one, first), (two, second)) = (watched(&service, 51), watched(&service, 52));
    one.let_be(|name| if name == "publish_trends" { Decision::Held } else { Decision::Done });
    let ask = |app: &Arc<App>| {
        let app = Arc::clone(app);
        service.spawn(async move { app.sync_trends().await })
    };
    let first = ask(&first);
    service.run(one.saw("publish_trends"));
    // One in another process, and one in the same.
    let (others, same) = (ask(&second), ask(service.app()));
    service.run(two.saw("find_run"));
    assert!(!others.is_finished());
    one.release();
    let first = service.join(first)?;
    let others = [service.join(others)?, service.join(same)?];
    assert!(first.refreshed);
    for other in others {
        // A request before the end joined the run; no other can have come before the release.
        assert!(!other.refreshed || other.refreshed_at >= first.refreshed_at);
    }
    assert!(!others[0].refreshed, "it saw the run of the first");
    assert_eq!(two.count("begin_trends"), 0);
    // Afterwards each call does the work again, due or not.
    assert!(synced(&service).refreshed && synced(&service).refreshed);
    Ok(())
}

fn requests_that_wait_for_a_failing_run_get_an_error(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    post(&service, service.fan("mia").id, None, "Hello #terrace");
    let ((one, first), (two, second)) = (watched(&service, 51), watched(&service, 52));
    one.let_be(|name| if name == "publish_trends" { Decision::Held } else { Decision::Done });
    let ask = |app: Arc<App>| service.spawn(async move { app.sync_trends().await });
    let (first, second) = (ask(first), {
        service.run(one.saw("publish_trends"));
        ask(second)
    });
    service.run(two.saw("find_run"));
    one.fail();
    assert!(service.join(first).is_err());
    assert!(service.join(second).is_err());
    assert_eq!(trends(&service).refreshed_at, None);
    assert!(synced(&service).refreshed, "who asks next does not wait for the pause after a failure");
    Ok(())
}

/// A run may lack any of its parts, above all its end: readers see the ranking before, and the next run
/// removes the rows.
fn a_run_that_is_stopped_leaves_what_was_published(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let old = post(&service, fan, None, "Hello #terrace");
    synced(&service);
    let published = kept(&service);
    for (number, stopped_at) in [(61, "add_trends"), (62, "publish_trends"), (63, "end_job")] {
        let newer = post(&service, fan, None, "Another one #terrace");
        service.clock().advance(Duration::from_hours(1));
        let (store, app) = watched(&service, number);
        let mut portions = 0;
        store.let_be(move |name| {
            portions += usize::from(name == "add_trends");
            // The last batch of it, so that there is something to remove.
            let here = name == stopped_at && (name != "add_trends" || portions == 2);
            if here { Decision::Held } else { Decision::Done }
        });
        let run = service.spawn(attempt(Arc::clone(&app), sync_job()));
        service.run(store.saw_times(stopped_at, if stopped_at == "add_trends" { 2 } else { 1 }));
        run.abort();
        assert!(service.run(run).is_err_and(|end| end.is_cancelled()));
        drop(store);

        let is_done = stopped_at == "end_job";
        assert_eq!(order(&service).contains(&newer), is_done, "{stopped_at}");
        assert!(order(&service).contains(&old));
        assert!(kept(&service).ranked > published.ranked);
        assert_eq!(service.run(attempt(Arc::clone(service.app()), sync_job())), Turn::HeldElsewhere);
        service.clock().advance(service.app().config().job_lease);
        assert_eq!(service.run(attempt(Arc::clone(service.app()), sync_job())), Turn::Done);
        assert!(order(&service).contains(&newer));
    }
    // Only rankings that can still be paged through are left, and nothing once that time is over.
    service.clock().advance(Duration::from_hours(1));
    synced(&service);
    synced(&service);
    let four_posts_and_a_topic = 5;
    assert_eq!(kept(&service), TrendsKept { epochs: 3, ranked: 3 * four_posts_and_a_topic });
    Ok(())
}

/// A process that was suspended for longer than its lease continues with rows that another has removed.
fn a_run_that_lost_its_lease_leaves_no_rows(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    post(&service, service.fan("mia").id, None, "Hello #terrace");
    for (number, asleep_at) in [(71, "add_trends"), (72, "publish_trends")] {
        let (store, app) = watched(&service, number);
        store.let_be(move |name| if name == asleep_at { Decision::Held } else { Decision::Done });
        service.clock().advance(Duration::from_hours(1));
        let asleep = service.spawn(attempt(app, sync_job()));
        service.run(store.saw(asleep_at));
        service.clock().advance(service.app().config().job_lease);
        synced(&service);
        let after = (trends(&service).refreshed_at, kept(&service));
        store.let_be(|_| Decision::Done);
        store.release();
        assert!(matches!(service.join(asleep), Turn::Failed | Turn::TakenOver));
        assert_eq!((trends(&service).refreshed_at, kept(&service)), after, "{asleep_at}");
    }
    Ok(())
}

/// On SQLite all writers of the process wait for one: no transaction of a run writes more than a batch, and
/// only those transactions write, however much there is to rank and to remove.
fn no_transaction_of_a_run_is_long(kind: DatabaseKind) -> Result<()> {
    const POSTS: usize = 20_000;
    let service = TestApp::without_dry_run(kind)?;
    let fans = service.crowd("fan", 50);
    let teams = [service.team("foxes"), service.team("owls"), service.team("rovers")];
    for thousand in 0..POSTS / 1000 {
        let fans = fans.clone();
        service.write(move |tx, ctx| {
            for n in 0..1000 {
                let nth = thousand * 1000 + n;
                let at = ctx.now().minus(Duration::from_secs(u64::try_from(nth).expect("small")));
                let post = NewPost {
                    id: ctx.new_id_at(at),
                    author: fans[nth % 50],
                    team: (nth > 10_000).then_some(teams[nth % 3]),
                    body: format!("Post {nth} #topic{}", nth % 300),
                    image: None,
                    created_at: at,
                };
                tx.insert_post(&post)?;
                tx.insert_tags(&post.tags())?;
            }
            Ok(())
        });
    }
    let (store, app) = watched(&service, 81);
    for _ in 0..2 {
        assert!(service.run(app.sync_trends())?.refreshed);
    }
    // 1000 of all fans, 100 of each room, 50 topics.
    assert_eq!(kept(&service), TrendsKept { epochs: 2, ranked: 2 * 1350 });
    service.clock().advance(Duration::from_hours(1));
    service.run(app.sync_trends())?;
    service.run(app.sync_trends())?;
    assert_eq!(kept(&service).epochs, 3, "one is current, one was replaced just now, one is swept next");
    let mut changed: BTreeMap<&str, i64> = BTreeMap::new();
    for (name, rows) in store.changes() {
        assert!(rows.abs() <= 200, "{name} changed {rows} rows");
        *changed.entry(name).or_default() += rows;
    }
    assert_eq!(changed.get("add_trends"), Some(&(4 * 1350)));
    assert_eq!(changed.get("sweep_trends"), Some(&-1350));
    assert!(changed.iter().all(|(name, rows)| *rows == 0 || name.ends_with("_trends")), "{changed:?}");
    assert!(store.count("add_trends") >= 4 * 7);
    assert_eq!(store.count("read_trend_candidates"), 4 * (POSTS / 500 + 1));
    Ok(())
}

fn the_schedule_refreshes_by_itself(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    post(&service, service.fan("mia").id, None, "Hello #terrace");
    let turn = || service.run(attempt(Arc::clone(service.app()), sync_job()));
    assert_eq!(turn(), Turn::Done);
    assert_eq!(topics(&service).len(), 1);
    let period = service.app().config().trend_period;
    let due = service.clock().now().plus(period);
    assert_eq!(turn(), Turn::NotDue(due));
    // A refresh on request counts.
    service.clock().advance(period / 2);
    synced(&service);
    assert_eq!(turn(), Turn::NotDue(due.plus(period / 2)));
    service.clock().advance(period);
    assert_eq!(turn(), Turn::Done);
    Ok(())
}

fn sync_job() -> Job {
    jobs().into_iter().find(|job| job.name() == "sync-trends").expect("it is on the schedule")
}
