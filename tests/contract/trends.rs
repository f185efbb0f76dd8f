//! Specification §1 rule 12 and the contract under "Platform": trends are refreshed by sync routes and by the
//! schedule, once for all concurrent requests, in small transactions; a reader pages through one ranking.

use super::watched::{Fate, Watched};
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::jobs;
use terrace_testkit::app::room::{CreateComment, CreatePost, DeletePost, React};
use terrace_testkit::app::trends::{TrendingRefusal, TrendingScope, Trends};
use terrace_testkit::app::{App, AppConfig, Job, Synced, Turn};
use terrace_testkit::identity::{AuthorCard, Password};
use terrace_testkit::kernel::{Clock, Failure, Limit, Outcome, PostId, TeamId, UserId};
use terrace_testkit::social::{NewPost, ReactionKind, TrendKey, TrendRead, TrendsKept};
use terrace_testkit::{DatabaseKind, PASSWORD, SeededEntropy, TestApp, on_each_database};
use tokio::sync::watch;

on_each_database! {
    discussed_posts_come_first_and_fade,
    pages_of_one_ranking_neither_repeat_nor_skip_when_a_newer_one_comes,
    a_removed_ranking_is_reported,
    hidden_and_deleted_posts_are_skipped_and_pages_stay_full,
    one_of_two_concurrent_requests_in_two_processes_does_the_work,
    requests_that_wait_for_a_failing_run_get_an_error,
    a_run_that_is_stopped_leaves_what_was_published,
    a_run_that_lost_its_lease_leaves_no_rows,
    no_transaction_of_a_run_is_long,
    the_schedule_refreshes_by_itself,
    topics_are_removed_with_their_post_and_with_their_author,
    topics_of_older_posts_are_found_once_and_the_work_resumes_where_it_stopped,
    a_page_costs_three_statements,
}

fn post(service: &TestApp, author: UserId, team: Option<TeamId>, body: &str) -> PostId {
    service.done(CreatePost { author, team, media: None, body: body.to_owned() }).post.id
}

fn react(service: &TestApp, fans: &[UserId], post: PostId) {
    for fan in fans {
        service.done(React { fan: *fan, post, kind: Some(ReactionKind::Fire) });
    }
}

fn synced(service: &TestApp) -> Synced {
    service.run(service.app().sync_trends()).expect("the trends are refreshed")
}

fn trends(service: &TestApp) -> Trends {
    service.run(service.app().trends(None)).expect("trends are read")
}

fn topics(service: &TestApp) -> Vec<(String, i64, i64)> {
    let topics = trends(service).topics.into_iter();
    topics.map(|topic| (topic.tag.to_string(), topic.score, topic.post_count)).collect()
}

type Read = (Vec<PostId>, Option<TrendKey>);

fn page(
    service: &TestApp,
    scope: TrendingScope,
    reader: Option<UserId>,
    rows: i64,
    after: Option<TrendKey>,
) -> Outcome<Read, TrendingRefusal> {
    let limit = Limit::new(rows).expect("a limit");
    let page = service.run(service.app().trending(scope, reader, limit, after))?.page;
    Ok((page.items.iter().map(|view| view.post.id).collect(), page.next))
}

/// The list of all fans, whole.
fn order(service: &TestApp) -> Vec<PostId> {
    let (posts, next) = page(service, TrendingScope::All, None, 100, None).expect("a page");
    assert_eq!(next, None);
    posts
}

fn kept(service: &TestApp) -> TrendsKept {
    service.ask(|tx| TrendRead::<AuthorCard>::trends_kept(tx))
}

/// A separate process on the database of `service`, with a store that records every command and query.
fn watched(service: &TestApp, number: u64) -> (Arc<Watched>, Arc<App>) {
    let store = Arc::new(Watched::on(service.storage().clone()));
    let (clock, entropy) = (service.clock().clone(), SeededEntropy::new(number));
    let store_of_app = Arc::clone(&store);
    let app = App::new(store_of_app, Arc::new(clock), Arc::new(entropy), AppConfig::default());
    (store, Arc::new(app))
}

fn discussed_posts_come_first_and_fade(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 6);
    assert_eq!(trends(&service), Trends { topics: vec![], posts: vec![], refreshed_at: None });
    assert_eq!(order(&service), []);
    let (foxes, owls) = (service.team("foxes"), service.team("owls"));

    let loud = post(&service, fans[0], None, "What a save! #Derby");
    react(&service, &fans[1..6], loud);
    service.clock().advance(Duration::from_hours(6));
    // A fan who comments on their own post adds no score.
    let lonely = post(&service, fans[1], Some(foxes), "Anyone? #Alone #alone");
    for _ in 0..3 {
        service.done(CreateComment { author: fans[1], post: lonely, body: "Hello?".to_owned() });
    }
    let answered = post(&service, fans[2], Some(foxes), "Who is there? #derby");
    service.done(CreateComment { author: fans[3], post: answered, body: "Me".to_owned() });
    service.done(CreateComment { author: fans[3], post: answered, body: "And me again".to_owned() });
    let began = service.clock().now();
    let Synced { refreshed, refreshed_at, .. } = synced(&service);
    assert_eq!((refreshed, refreshed_at), (true, Some(began)));

    // 1 + 3 for the commenter; 1 + 5 halved once; 1.
    assert_eq!(order(&service), [answered, loud, lonely]);
    let seen = trends(&service);
    assert_eq!(seen.refreshed_at, Some(began));
    assert_eq!(seen.posts.iter().map(|view| view.post.id).collect::<Vec<_>>(), [answered, loud, lonely]);
    assert_eq!(topics(&service), [("derby".to_owned(), 7000, 2), ("alone".to_owned(), 1000, 1)]);
    for (scope, expected) in [
        (TrendingScope::Team(foxes), vec![answered, lonely]),
        (TrendingScope::Team(owls), vec![]),
        (TrendingScope::OwnTeams, vec![]),
    ] {
        assert_eq!(page(&service, scope, Some(fans[0]), 10, None).expect("a page").0, expected);
    }
    assert_eq!(
        refused(page(&service, TrendingScope::OwnTeams, None, 10, None)),
        TrendingRefusal::SignInFirst
    );
    let unknown_team = service.write(|_, ctx| Ok(ctx.new_id::<TeamId>()));
    let unknown = page(&service, TrendingScope::Team(unknown_team), None, 10, None);
    assert_eq!(refused(unknown), TrendingRefusal::UnknownTeam);

    // After the window its score is zero, and newer posts are listed.
    service.clock().advance(service.app().config().trend_window.saturating_sub(Duration::from_hours(1)));
    let late = post(&service, fans[4], None, "Quiet here. #later");
    synced(&service);
    // With one time, and with a score of zero by now.
    assert_eq!(order(&service), [late, answered.max(lonely), answered.min(lonely)]);
    service.clock().advance(Duration::from_hours(2));
    synced(&service);
    assert_eq!(order(&service), [late]);
    assert_eq!(topics(&service).len(), 1);
    Ok(())
}

fn refused<T>(outcome: Outcome<T, TrendingRefusal>) -> TrendingRefusal {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal,
        Ok(_) => panic!("it was not refused"),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

fn pages_of_one_ranking_neither_repeat_nor_skip_when_a_newer_one_comes(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 8);
    let foxes = service.team("foxes");
    let write = |n: usize| {
        let id = post(&service, fans[n % 8], Some(foxes), &format!("Post {n}"));
        react(&service, &fans[..n % 5], id);
        id
    };
    let posts: Vec<_> = (0..23).map(write).collect();
    synced(&service);
    let first = order(&service);
    assert_eq!(first.len(), 23);
    for scope in [TrendingScope::All, TrendingScope::Team(foxes)] {
        let before = page(&service, scope, None, 100, None).expect("a page").0;
        let (mut seen, mut after, mut turn) = (Vec::new(), None, 0);
        loop {
            let (read, next) = page(&service, scope, Some(fans[1]), 4, after).expect("a page");
            seen.extend(read);
            if next.is_none() {
                break;
            }
            after = next;
            // The last one becomes the first of a newer ranking, each time.
            turn += 1;
            react(&service, &fans, posts[turn]);
            service.clock().advance(Duration::from_secs(30));
            post(&service, fans[0], Some(foxes), "Another one");
            synced(&service);
        }
        assert_eq!(seen, before, "the ranking of the first page, to its end");
        assert_ne!(page(&service, scope, None, 100, None).expect("a page").0, before);
    }
    Ok(())
}

fn a_removed_ranking_is_reported(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    for n in 0..5 {
        post(&service, fan, None, &format!("Post {n}"));
    }
    synced(&service);
    let (_, next) = page(&service, TrendingScope::All, None, 2, None).expect("a page");
    let read_on = || page(&service, TrendingScope::All, None, 2, next);
    // As long as there is no newer one, it is current however old.
    service.clock().advance(Duration::from_hours(5));
    assert_eq!(read_on().expect("a page").0.len(), 2);
    synced(&service);
    service.clock().advance(service.app().config().trend_keep.saturating_sub(Duration::from_micros(1)));
    assert_eq!(read_on().expect("a page").0.len(), 2);
    service.clock().advance(Duration::from_micros(1));
    assert_eq!(refused(read_on()), TrendingRefusal::Expired);
    // Its rows are kept for a moment longer, and are removed by the next run.
    synced(&service);
    assert_eq!(kept(&service), TrendsKept { epochs: 3, ranked: 15 });
    service.clock().advance(Duration::from_mins(1));
    synced(&service);
    assert_eq!(kept(&service), TrendsKept { epochs: 3, ranked: 15 });
    assert_eq!(refused(read_on()), TrendingRefusal::Expired);
    let never = TrendKey { epoch: terrace_testkit::social::EpochId(i64::MAX), rank: 1 };
    assert_eq!(refused(page(&service, TrendingScope::All, None, 2, Some(never))), TrendingRefusal::Expired);
    Ok(())
}

fn hidden_and_deleted_posts_are_skipped_and_pages_stay_full(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let posts: Vec<_> = (0..10)
        .map(|n| {
            let author = if n % 3 == 0 { bo.id } else { mia.id };
            service.clock().advance(Duration::from_secs(1));
            post(&service, author, None, &format!("Post {n} #{}", if n % 3 == 0 { "bo" } else { "mia" }))
        })
        .collect();
    synced(&service);
    service.done(DeletePost { user: mia.id, post: posts[8] });
    service.done(SuspendAccount { username: "bo_".to_owned() });
    let (first, next) = page(&service, TrendingScope::All, None, 3, None).expect("a page");
    assert_eq!(first, [posts[7], posts[5], posts[4]]);
    let (rest, next) = page(&service, TrendingScope::All, None, 3, next).expect("a page");
    assert_eq!((rest, next), (vec![posts[2], posts[1]], None));
    assert_eq!(trends(&service).posts.len(), 5);
    // Hidden posts are not ranked either.
    synced(&service);
    assert_eq!(topics(&service).iter().map(|topic| topic.0.as_str()).collect::<Vec<_>>(), ["mia"]);
    assert_eq!(kept(&service).ranked, (10 + 2) + (5 + 1));
    Ok(())
}

/// POST /api/cron/sync-trends: "two at once do the work once".
fn one_of_two_concurrent_requests_in_two_processes_does_the_work(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    post(&service, service.fan("mia").id, None, "Hello #terrace");
    let ((one, first), (two, second)) = (watched(&service, 51), watched(&service, 52));
    one.let_be(|name| if name == "publish_trends" { Fate::Held } else { Fate::Done });
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
    one.let_be(|name| if name == "publish_trends" { Fate::Held } else { Fate::Done });
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

fn sync_job() -> Job {
    jobs().into_iter().find(|job| job.name() == "sync-trends").expect("it is on the schedule")
}

async fn attempt(app: Arc<App>, job: Job) -> Turn {
    let (_keep, mut stop) = watch::channel(false);
    app.try_job(&job, &mut stop).await.expect("the database is there")
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
            if here { Fate::Held } else { Fate::Done }
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
        store.let_be(move |name| if name == asleep_at { Fate::Held } else { Fate::Done });
        service.clock().advance(Duration::from_hours(1));
        let asleep = service.spawn(attempt(app, sync_job()));
        service.run(store.saw(asleep_at));
        service.clock().advance(service.app().config().job_lease);
        synced(&service);
        let after = (trends(&service).refreshed_at, kept(&service));
        store.let_be(|_| Fate::Done);
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
    let service = TestApp::without_rehearsal(kind)?;
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

fn tags_of(service: &TestApp, post: PostId) -> Vec<String> {
    let tags = service.ask(move |tx| TrendRead::<AuthorCard>::tags_of(tx, &[post]));
    let mut tags: Vec<_> = tags.into_iter().map(|(_, tag)| tag.to_string()).collect();
    tags.sort();
    tags
}

fn topics_are_removed_with_their_post_and_with_their_author(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let [first, second] =
        [1, 2].map(|n| post(&service, mia.id, None, &format!("#One #two{n} https://a.example/#no")));
    let other = post(&service, bo.id, None, "#one");
    assert_eq!(tags_of(&service, first), ["one", "two1"]);
    let catch_up = || {
        for _ in 0..2 {
            service.settled();
            service.run(service.app().catch_up_consumers()).expect("working consumers");
        }
    };
    service.done(DeletePost { user: mia.id, post: first });
    catch_up();
    assert_eq!(
        (tags_of(&service, first), tags_of(&service, second)),
        (vec![], vec!["one".into(), "two2".into()])
    );
    let viewer = service.viewer(mia.cookie).expect("signed in");
    let password = Password::offer(PASSWORD.to_owned());
    assert!(service.run(service.app().delete_account(&viewer, password)).is_ok());
    catch_up();
    assert_eq!((tags_of(&service, second), tags_of(&service, other)), (vec![], vec!["one".into()]));
    synced(&service);
    assert_eq!(topics(&service), [("one".to_owned(), 1000, 1)]);
    Ok(())
}

/// Posts as they were written before topics existed.
fn untagged(service: &TestApp, author: UserId, count: usize) -> Vec<PostId> {
    service.write(move |tx, ctx| {
        let mut posts = Vec::new();
        for n in 0..count {
            let at = ctx.now().minus(Duration::from_mins(u64::try_from(n).expect("small")));
            let (id, body) = (ctx.new_id_at(at), format!("Old #tag{n}"));
            tx.insert_post(&NewPost { id, author, team: None, body, image: None, created_at: at })?;
            posts.push(id);
        }
        Ok(posts)
    })
}

fn topics_of_older_posts_are_found_once_and_the_work_resumes_where_it_stopped(
    kind: DatabaseKind,
) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let posts = untagged(&service, mia, 1200);
    let known = post(&service, mia, None, "New #tag");
    service.done(DeletePost { user: mia, post: posts[3] });
    let job =
        || jobs().into_iter().find(|job| job.name() == "backfill-topics").expect("it is on the schedule");
    let turn = |app: &Arc<App>| service.run(attempt(Arc::clone(app), job()));

    let (store, app) = watched(&service, 91);
    let mut portions = 0;
    store.let_be(move |name| {
        let finds = name == "find_topics";
        portions += usize::from(finds);
        if finds && portions == 2 { Fate::Failed } else { Fate::Done }
    });
    assert_eq!(turn(&app), Turn::Failed);
    assert_eq!((tags_of(&service, posts[0]), tags_of(&service, posts[1199])), (vec!["tag0".into()], vec![]));
    store.let_be(|_| Fate::Done);
    service.clock().advance(Duration::from_mins(1));
    assert_eq!(turn(&app), Turn::Done);
    // Done work is not repeated: two remaining batches, and one query that finds none.
    assert_eq!(store.count("find_topics"), 2 + 3);
    for (n, post) in posts.iter().enumerate() {
        let expected = if n == 3 { vec![] } else { vec![format!("tag{n}")] };
        if n % 97 == 3 || n == 1199 {
            assert_eq!(tags_of(&service, *post), expected);
        }
    }
    assert_eq!(tags_of(&service, known), ["tag"]);
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(turn(&app), Turn::Done);
    assert_eq!(store.count("find_topics"), 5, "it is done");

    // An operator may run it again, for example after an old version wrote beside a new one.
    let late = untagged(&service, mia, 1);
    assert_eq!(service.run(service.app().backfill_topics())?, 1201);
    assert_eq!(tags_of(&service, late[0]), ["tag0"]);
    Ok(())
}

fn a_page_costs_three_statements(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_rehearsal(kind)?;
    let fan = service.fan("mia").id;
    let foxes = service.team("foxes");
    for n in 0..60 {
        post(&service, fan, Some(foxes), &format!("Post {n} #tag{n}"));
    }
    synced(&service);
    let cost = |read: &dyn Fn()| {
        let before = service.storage().statements();
        read();
        service.storage().statements() - before
    };
    let (_, after) = page(&service, TrendingScope::All, None, 5, None).expect("a page");
    for scope in [TrendingScope::All, TrendingScope::Team(foxes)] {
        for (reader, rows, after) in [(None, 1, None), (Some(fan), 50, None), (Some(fan), 50, after)] {
            assert_eq!(cost(&|| drop(page(&service, scope, reader, rows, after).expect("a page"))), 3);
        }
    }
    assert_eq!(cost(&|| drop(trends(&service))), 3);
    Ok(())
}
