//! Spec §1 rule 12 and the contract under "Platform": a refresh ranks posts and topics, and a reader
//! pages through one ranking.

use super::jobs::attempt;
use super::recording_store::{Decision, RecordingStore};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::room::{CreateComment, CreatePost, DeletePost, React};
use terrace_testkit::app::trends::{TrendingRefusal, TrendingScope, Trends};
use terrace_testkit::app::{App, AppConfig, Synced, Turn};
use terrace_testkit::identity::{AuthorCard, Password};
use terrace_testkit::kernel::{Clock, Failure, Limit, Outcome, PostId, TeamId, UserId};
use terrace_testkit::ops;
use terrace_testkit::social::{NewPost, ReactionKind, TrendKey, TrendRead, TrendsKept};
use terrace_testkit::{DatabaseKind, PASSWORD, SeededEntropy, TestApp, jobs, on_each_database};

on_each_database! {
    discussed_posts_come_first_and_fade,
    pages_of_one_ranking_neither_repeat_nor_skip_when_a_newer_one_comes,
    a_removed_ranking_is_reported,
    hidden_and_deleted_posts_are_skipped_and_pages_stay_full,
    topics_are_removed_with_their_post_and_with_their_author,
    topics_of_older_posts_are_found_once_and_the_work_resumes_where_it_stopped,
    a_page_costs_three_statements,
}

pub(super) fn post(service: &TestApp, author: UserId, team: Option<TeamId>, body: &str) -> PostId {
    service.done(CreatePost { author, team, media: None, body: body.to_owned() }).post.id
}

fn react(service: &TestApp, fans: &[UserId], post: PostId) {
    for fan in fans {
        service.done(React { fan: *fan, post, kind: Some(ReactionKind::Fire) });
    }
}

pub(super) fn synced(service: &TestApp) -> Synced {
    service.run(service.app().sync_trends()).expect("the trends are refreshed")
}

pub(super) fn trends(service: &TestApp) -> Trends {
    service.run(service.app().trends(None)).expect("trends are read")
}

pub(super) fn topics(service: &TestApp) -> Vec<(String, i64, i64)> {
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
pub(super) fn order(service: &TestApp) -> Vec<PostId> {
    let (posts, next) = page(service, TrendingScope::All, None, 100, None).expect("a page");
    assert_eq!(next, None);
    posts
}

pub(super) fn kept(service: &TestApp) -> TrendsKept {
    service.ask(|tx| TrendRead::<AuthorCard>::trends_kept(tx))
}

/// A separate process on the database of `service`, with a store that records every command and query.
pub(super) fn watched(service: &TestApp, number: u64) -> (Arc<RecordingStore>, Arc<App>) {
    let store = Arc::new(RecordingStore::on(service.storage().clone()));
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
        if finds && portions == 2 { Decision::Failed } else { Decision::Done }
    });
    assert_eq!(turn(&app), Turn::Failed);
    assert_eq!((tags_of(&service, posts[0]), tags_of(&service, posts[1199])), (vec!["tag0".into()], vec![]));
    store.let_be(|_| Decision::Done);
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
    assert_eq!(service.run(ops::backfill_topics(service.app()))?, 1201);
    assert_eq!(tags_of(&service, late[0]), ["tag0"]);
    Ok(())
}

fn a_page_costs_three_statements(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
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
