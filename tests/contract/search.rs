//! Contract, second part, §1 "Navigation", `GET /api/search`: fans, teams, posts and topics are found by their present
//! rows, on both databases alike, and the index is kept, filled and repaired.

use super::jobs::attempt;
use super::live::Living;
use super::recording_store::Decision;
use super::repairs::{damage, run, stored};
use super::trends::{post, watched};
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::{ChangeProfile, NotFound, RestoreAccount, SuspendAccount};
use terrace_testkit::app::graph::{BlockUser, UnblockUser};
use terrace_testkit::app::room::{DeletePost, EditPost};
use terrace_testkit::app::search::{FindUser, Found, Search, SearchIn};
use terrace_testkit::app::{App, Grant, Turn};
use terrace_testkit::identity::{Password, ProfileChange, Token, TokenKind, Username};
use terrace_testkit::kernel::{Limit, PostId, UserId};
use terrace_testkit::ops;
use terrace_testkit::social::search::{COMMON, PostPlace, SearchText};
use terrace_testkit::social::{NewPost, Tag};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, jobs, on_each_database};

on_each_database! {
    fans_are_found_by_names_exact_ones_first,
    teams_are_found_by_any_word_of_their_names,
    posts_are_found_by_all_words_newest_first,
    text_without_spaces_is_found_by_its_parts,
    topics_are_found_while_a_post_has_them,
    operators_are_plain_text,
    blocks_suspensions_and_deletions_apply_at_once,
    the_index_follows_profiles_and_deletions,
    pages_neither_repeat_nor_skip,
    the_most_frequent_word_finds_the_newest_posts,
    posts_of_one_instant_have_an_order,
    what_is_older_than_the_index_is_indexed_once_and_resumes,
    a_damaged_index_is_found_and_repaired,
    damaged_topics_and_names_of_teams_are_found_and_repaired,
    a_username_finds_its_account,
}

/// Runs the consumers on everything that was committed before.
fn index(service: &TestApp) {
    service.settled();
    service.run(service.app().catch_up_consumers()).expect("working consumers");
}

fn find(service: &TestApp, text: &str, kind: SearchIn, reader: Option<UserId>, rows: i64) -> Found {
    let text = SearchText::parse(text).expect("a search text");
    let limit = Limit::new(rows).expect("a limit");
    service.run(service.app().search(Search { text, kinds: vec![kind], reader, limit })).expect("results")
}

fn names(service: &TestApp, text: &str, reader: Option<UserId>) -> Vec<String> {
    let page = find(service, text, SearchIn::Users(None), reader, 100).users.expect("fans");
    assert_eq!(page.next, None);
    page.items.into_iter().map(|card| card.username).collect()
}

fn posts(service: &TestApp, text: &str, reader: Option<UserId>) -> Vec<PostId> {
    let page = find(service, text, SearchIn::Posts(None), reader, 100).posts.expect("posts");
    page.items.into_iter().map(|view| view.post.id).collect()
}

fn tags(service: &TestApp, text: &str, reader: Option<UserId>) -> Vec<String> {
    let page = find(service, text, SearchIn::Topics(None), reader, 100).topics.expect("topics");
    page.items.iter().map(Tag::to_string).collect()
}

fn rename(service: &TestApp, user: UserId, name: &str) {
    let change = ProfileChange { display_name: Some(name.to_owned()), ..ProfileChange::default() };
    service.done(ChangeProfile { user, change });
}

fn fans_are_found_by_names_exact_ones_first(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    for name in ["anabel", "ana_b", "ana", "the-ana", "bea", "Zoë"] {
        service.fan(name);
    }
    let carter = service.fan("mia").id;
    rename(&service, carter, "Ana Carter");
    index(&service);
    // Exact names come first, whole ones before words of others; then longer ones, in their order.
    assert_eq!(names(&service, "ana", None), ["ana", "the-ana", "mia", "ana_b", "anabel"]);
    assert_eq!(names(&service, " ANA_B ", None), ["ana_b"]);
    assert_eq!(names(&service, "ana c", None), ["mia"]);
    assert_eq!(names(&service, "car", None), ["mia"]);
    assert_eq!(names(&service, "ZOË", None), ["Zoë"]);
    assert_eq!(names(&service, "ter", None), [""; 0]);
    Ok(())
}

fn teams_are_found_by_any_word_of_their_names(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (foxes, fox) = (service.team("foxes"), service.team("fox"));
    let teams = |text: &str| {
        let page = find(&service, text, SearchIn::Teams(None), None, 100).teams.expect("teams");
        page.items.into_iter().map(|team| team.id).collect::<Vec<_>>()
    };
    assert_eq!(teams("fox"), [fox, foxes]);
    assert_eq!(teams("foxe"), [foxes]);
    assert_eq!(teams("the f"), [fox, foxes]);
    assert_eq!(teams("owls"), []);
    Ok(())
}

fn posts_are_found_by_all_words_newest_first(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let write = |body: &str| {
        service.clock().advance(Duration::from_secs(1));
        post(&service, mia, None, body)
    };
    let (one, two) = (write("What a SAVE, what a save! #Derby"), write("The derby was a bore"));
    let three = write("Straße, Fußball & ﬁne saves");
    index(&service);
    assert_eq!(posts(&service, "derby", None), [two, one]);
    assert_eq!(posts(&service, "save derby", None), [one]);
    assert_eq!(posts(&service, "#DERBY", None), [two, one]);
    assert_eq!(posts(&service, "STRASSE fine", Some(mia)), [three]);
    for text in ["sav", "derby saves", "nothing"] {
        assert_eq!(posts(&service, text, None), [], "{text}");
    }
    Ok(())
}

fn text_without_spaces_is_found_by_its_parts(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let match_day = post(&service, mia, None, "今日は足球の試合だ");
    service.clock().advance(Duration::from_secs(1));
    let ball = post(&service, mia, None, "球場");
    index(&service);
    for (text, expected) in [
        ("球", vec![ball, match_day]),
        ("足球", vec![match_day]),
        ("試合", vec![match_day]),
        ("球足", vec![]),
        ("ｻｻ", vec![]),
    ] {
        assert_eq!(posts(&service, text, None), expected, "{text}");
    }
    Ok(())
}

fn topics_are_found_while_a_post_has_them(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let first = post(&service, mia, None, "#Match #matchday");
    post(&service, bo, None, "#Matchday #match_of_the_day #other");
    let all = ["match", "match_of_the_day", "matchday"];
    assert_eq!(tags(&service, "match", None), all);
    assert_eq!(tags(&service, "#Match", Some(bo)), all);
    assert_eq!(tags(&service, "matchd", None), ["matchday"]);
    assert_eq!(tags(&service, "mat", None), all);
    service.done(DeletePost { user: mia, post: first });
    assert_eq!(tags(&service, "match", None), ["match_of_the_day", "matchday"]);
    service.done(BlockUser { fan: bo, other: mia });
    assert_eq!(tags(&service, "match", Some(mia)), [""; 0]);
    assert_eq!(tags(&service, "match", Some(bo)), ["match_of_the_day", "matchday"]);
    Ok(())
}

fn operators_are_plain_text(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let near = post(&service, mia, None, "near and or not goal");
    index(&service);
    for text in ["goal NEAR", "NOT goal", "goal AND \"near", "goal*:^", "'goal' & !near |", "goal OR near"] {
        assert_eq!(posts(&service, text, None), [near], "{text}");
    }
    for text in ["\"\"", "**", "''", "&!", "(((", "⚽⚽", "\\'", "\0\0", "%_", "-- ;"] {
        assert_eq!(posts(&service, text, None), [], "{text}");
        assert_eq!((names(&service, text, None), tags(&service, text, None)), (vec![], vec![]), "{text}");
    }
    Ok(())
}

fn blocks_suspensions_and_deletions_apply_at_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, zoe] = ["mia", "bob", "zoe"].map(|name| service.fan(name));
    let his = post(&service, bo.id, None, "goal");
    service.clock().advance(Duration::from_secs(1));
    let hers = post(&service, mia.id, None, "goal");
    index(&service);
    service.done(BlockUser { fan: mia.id, other: bo.id });
    for (reader, fan, expected) in [
        (None, vec!["bob"], vec![hers, his]),
        (Some(zoe.id), vec!["bob"], vec![hers, his]),
        (Some(mia.id), vec![], vec![hers]),
        (Some(bo.id), vec!["bob"], vec![his]),
    ] {
        assert_eq!(
            (names(&service, "bob", reader), posts(&service, "goal", reader)),
            (fan.into_iter().map(str::to_owned).collect::<Vec<_>>(), expected)
        );
    }
    assert_eq!(names(&service, "mia", Some(bo.id)), [""; 0]);
    service.done(UnblockUser { fan: mia.id, other: bo.id });
    assert_eq!(names(&service, "bob", Some(mia.id)), ["bob"]);

    service.done(SuspendAccount { username: "bob".to_owned() });
    assert_eq!((names(&service, "bob", None), posts(&service, "goal", None)), (vec![], vec![hers]));
    service.done(RestoreAccount { username: "bob".to_owned() });
    assert_eq!(posts(&service, "goal", None), [hers, his]);

    service.done(DeletePost { user: mia.id, post: hers });
    assert_eq!(posts(&service, "goal", None), [his]);
    // The suspension ended the session that began with the account.
    let password = || Password::offer(PASSWORD.to_owned());
    let again = service.run(service.app().login("bob", password())).expect("signed in");
    let Grant::Cookie(secret) = again.grant else { panic!("a browser gets a cookie") };
    let cookie = Token::present(TokenKind::Cookie, secret.expose()).expect("a cookie is a token");
    let viewer = service.viewer(cookie).expect("signed in");
    assert!(service.run(service.app().delete_account(&viewer, password())).is_ok());
    assert_eq!((names(&service, "bob", None), posts(&service, "goal", None)), (vec![], vec![]));
    for _ in 0..2 {
        index(&service);
    }
    let left = stored(&service, &[]);
    assert_eq!((left["search_posts"].len(), left["search_names"].len()), (0, 2), "{left:?}");
    Ok(())
}

fn the_index_follows_profiles_and_deletions(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    index(&service);
    rename(&service, mia, "Maria Silva");
    assert_eq!(names(&service, "silva", None), [""; 0]);
    index(&service);
    assert_eq!(
        (names(&service, "silva", None), names(&service, "mia", None)),
        (vec!["mia".into()], vec!["mia".into()])
    );
    rename(&service, mia, "M.");
    index(&service);
    assert_eq!(names(&service, "silva", None), [""; 0]);
    // An event that is processed twice changes nothing.
    let before = stored(&service, &[]);
    service.write(move |tx, _| {
        assert_eq!(tx.index_users(&[mia])?, 0);
        Ok(())
    });
    assert_eq!(stored(&service, &[]), before);
    Ok(())
}

/// All pages of a search for posts.
fn pages(service: &TestApp, text: &str, rows: i64) -> Vec<Vec<PostId>> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = find(service, text, SearchIn::Posts(after), None, rows).posts.expect("posts");
        all.push(page.items.into_iter().map(|view| view.post.id).collect());
        let Some(next) = page.next else { return all };
        assert!(after.is_none_or(|after: PostPlace| next < after));
        after = Some(next);
    }
}

fn pages_neither_repeat_nor_skip(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 12);
    for (n, fan) in fans.iter().enumerate() {
        service.clock().advance(Duration::from_secs(u64::try_from(n % 3)?));
        post(&service, *fan, None, &format!("goal #tag{n:02}"));
    }
    index(&service);
    let first = find(&service, "goal", SearchIn::Posts(None), None, 5).posts.expect("posts");
    let rest = pages(&service, "goal", 5).concat();
    assert_eq!(rest.len(), 12);
    // What is posted or deleted meanwhile moves nothing else.
    let late = post(&service, fans[0], None, "goal");
    service.done(DeletePost { user: fans[11], post: first.items[0].post.id });
    index(&service);
    let second = find(&service, "goal", SearchIn::Posts(first.next), None, 100).posts.expect("posts");
    assert_eq!(second.items.iter().map(|view| view.post.id).collect::<Vec<_>>(), rest[5..]);
    assert_eq!(posts(&service, "goal", None)[0], late);

    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = find(&service, "fan", SearchIn::Users(after), None, 5).users.expect("fans");
        found.extend(page.items.iter().map(|card| card.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    found.sort_unstable();
    let mut expected = fans;
    expected.sort_unstable();
    assert_eq!(found, expected);

    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = find(&service, "tag", SearchIn::Topics(after), None, 5).topics.expect("topics");
        found.extend(page.items.iter().map(Tag::to_string));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, (0..12).map(|n| format!("tag{n:02}")).filter(|tag| tag != "tag11").collect::<Vec<_>>());
    Ok(())
}

/// Posts of one author, a millisecond apart, written and indexed without events; returns their ids, oldest first.
fn many(service: &TestApp, author: UserId, count: u32, body: fn(u32) -> String) -> Vec<PostId> {
    let mut all = Vec::new();
    for from in (0..count).step_by(500) {
        all.extend(service.write(move |tx, ctx| {
            let mut posts = Vec::new();
            for n in from..count.min(from + 500) {
                let at = ctx.now().minus(Duration::from_millis(u64::from(count - n)));
                let id = ctx.new_id_at(at);
                tx.insert_post(&NewPost {
                    id,
                    author,
                    team: None,
                    body: body(n),
                    image: None,
                    created_at: at,
                })?;
                posts.push(id);
            }
            tx.index_posts(&posts)?;
            Ok(posts)
        }));
    }
    all
}

fn the_most_frequent_word_finds_the_newest_posts(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let mia = service.crowd("mia", 1)[0];
    let body = |n: u32| match n {
        7 => "goal old needle".to_owned(),
        n if n < 90 || n == COMMON + 50 => "goal old".to_owned(),
        _ => "goal hay".to_owned(),
    };
    let all = many(&service, mia, COMMON + 100, body);
    let newest: Vec<PostId> = all.iter().rev().copied().collect();
    let ids = |found: Found| {
        let page = found.posts.expect("posts");
        (page.items.iter().map(|view| view.post.id).collect::<Vec<_>>(), page.next)
    };
    let two_pages = |service: &TestApp| {
        let (first, next) = ids(find(service, "goal", SearchIn::Posts(None), None, 25));
        let (second, _) = ids(find(service, "goal", SearchIn::Posts(next), None, 25));
        [first, second].concat()
    };
    assert_eq!(two_pages(&service), newest[..50]);
    // A rarer word is found in any post, also beside a common one.
    for text in ["needle", "goal needle", "needle old goal"] {
        assert_eq!(posts(&service, text, None), [all[7]], "{text}");
    }
    assert_eq!(posts(&service, "old goal", None).len(), 91);

    // As if the other word were in as many posts: a page is what ten thousand posts contain.
    damage(&service, &["UPDATE search_words SET posts = 20000 WHERE word = 'old'"]);
    let among_newest = all[usize::try_from(COMMON + 50)?];
    for text in ["old", "goal old"] {
        assert_eq!(posts(&service, text, None), [among_newest], "{text}");
    }
    assert_eq!(posts(&service, "needle old", None), [all[7]]);

    // With the newest words in memory, which follow what happens.
    let living = Living::on(service);
    living.catch_up();
    let service = living.service();
    assert_eq!(two_pages(service), newest[..50]);
    assert_eq!(posts(service, "old goal", None), [among_newest]);
    assert_eq!(posts(service, "needle old", None), [all[7]]);
    let now = |texts: &[PostId]| {
        index(service);
        living.catch_up();
        assert_eq!(posts(service, "old goal", None), texts);
    };
    let [one, other] = ["an old goal", "the old goal"].map(|body| post(service, mia, None, body));
    now(&[other, one, among_newest]);
    service.done(EditPost { user: mia, post: one, body: "an old gate".to_owned() });
    service.done(DeletePost { user: mia, post: other });
    now(&[among_newest]);
    // It is asked: it does not know what has no event.
    let unheard = many(service, mia, 1, |_| "goal old".to_owned());
    now(&[among_newest]);
    assert_eq!(posts(living.again().service(), "old goal", None), [unheard[0], among_newest]);
    Ok(())
}

fn posts_of_one_instant_have_an_order(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let mia = service.crowd("mia", 1)[0];
    let ids = service.write(move |tx, ctx| {
        let created_at = ctx.now();
        let mut posts = Vec::new();
        for _ in 0..200 {
            let id = ctx.new_id();
            tx.insert_post(&NewPost {
                id,
                author: mia,
                team: None,
                body: "goal".into(),
                image: None,
                created_at,
            })?;
            posts.push(id);
        }
        tx.index_posts(&posts)?;
        Ok(posts)
    });
    let mut newest = ids;
    newest.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(pages(&service, "goal", 7).concat(), newest);
    Ok(())
}

/// Accounts and posts as an older version wrote them, without an index.
fn unindexed(service: &TestApp, count: u32) -> Vec<PostId> {
    let author = service.fan("mia").id;
    service.write(move |tx, ctx| {
        let mut posts = Vec::new();
        for n in 0..count {
            let created_at = ctx.now().minus(Duration::from_mins(u64::from(n)));
            let (id, body) = (ctx.new_id_at(created_at), format!("Old goal number{n}"));
            tx.insert_post(&NewPost { id, author, team: None, body, image: None, created_at })?;
            posts.push(id);
        }
        Ok(posts)
    })
}

fn what_is_older_than_the_index_is_indexed_once_and_resumes(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let old = unindexed(&service, 450);
    assert_eq!(names(&service, "mia", None), [""; 0]);
    let job =
        || jobs().into_iter().find(|job| job.name() == "backfill-search").expect("it is on the schedule");
    let turn = |app: &Arc<App>| service.run(attempt(Arc::clone(app), job()));

    let (store, app) = watched(&service, 93);
    let mut portions = 0;
    store.let_be(move |name| {
        let is_portion = name == "index_portion";
        portions += usize::from(is_portion);
        // One of accounts, one that finds no more, and two of posts.
        if is_portion && portions == 4 { Decision::Failed } else { Decision::Done }
    });
    assert_eq!(turn(&app), Turn::Failed);
    assert_eq!(names(&service, "mia", None), ["mia"]);
    assert_eq!(
        (posts(&service, "number449", None), posts(&service, "number0", None)),
        (vec![old[449]], vec![])
    );
    store.let_be(|_| Decision::Done);
    service.clock().advance(Duration::from_mins(1));
    assert_eq!(turn(&app), Turn::Done);
    assert_eq!(posts(&service, "number0", None), [old[0]]);
    assert_eq!(pages(&service, "goal", 100).concat(), old);
    let done = store.count("index_portion");
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(turn(&app), Turn::Done);
    assert_eq!(store.count("index_portion"), done, "it is done");
    Ok(())
}

/// The counts of the dry run of `repair-search`.
fn wrong(service: &TestApp) -> BTreeMap<&'static str, u64> {
    let ran = service.run(ops::tasks::verify_rows(service.app())).expect("a working store");
    ran.into_iter().find(|ran| ran.task == "repair-search").expect("it is verified").counts
}

fn a_damaged_index_is_found_and_repaired(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let old = unindexed(&service, 3);
    assert_eq!(wrong(&service), BTreeMap::new(), "what was never indexed is left to the backfill");
    index(&service);
    run(&service, &["backfill-search"], false);
    let whole = stored(&service, &[]);
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(wrong(&service), BTreeMap::new());

    let words = if kind == DatabaseKind::Postgres { "array_to_tsvector(ARRAY['gaol'])" } else { "'gaol'" };
    damage(
        &service,
        &[
            "DELETE FROM search_names WHERE name = 'mia'",
            &format!(
                "UPDATE search_posts SET words = {words} WHERE number = (SELECT min(number) FROM search_posts)"
            ),
        ],
    );
    let expected = BTreeMap::from([("names of fans in the search", 1), ("posts in the search", 1)]);
    assert_eq!(wrong(&service), expected);
    assert_eq!(posts(&service, "number2", None), []);
    run(&service, &["repair-search"], false);
    assert_eq!(wrong(&service), BTreeMap::new());
    assert_eq!(
        (posts(&service, "number2", None), names(&service, "mia", None)),
        (vec![old[2]], vec!["mia".into()])
    );
    let after = stored(&service, &["search_words", "backfills"]);
    for table in ["search_names", "search_posts"] {
        assert_eq!(after[table], whole[table]);
    }
    // What changed just now may be on its way to the index.
    let zoe = service.fan("zoe").id;
    rename(&service, zoe, "Zoe");
    assert_eq!(wrong(&service), BTreeMap::new());
    Ok(())
}

/// Topics and names of teams are written with their rows: each difference is wrong.
fn damaged_topics_and_names_of_teams_are_found_and_repaired(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    for team in ["foxes", "owls"] {
        service.team(team);
    }
    for body in ["Away with #tifo and #drums", "#tifo again", "no topic"] {
        post(&service, mia, None, body);
    }
    run(&service, &["backfill-topics"], false);
    assert_eq!(wrong(&service), BTreeMap::new());
    let whole = stored(&service, &[]);
    damage(
        &service,
        &[
            "DELETE FROM post_topics WHERE tag = 'drums'",
            "INSERT INTO post_topics (post_id, tag, created_at) \
                SELECT id, 'invented', created_at FROM posts WHERE body = 'no topic'",
            "DELETE FROM search_names WHERE kind = 'team' AND name = 'foxes'",
        ],
    );
    assert_eq!(
        (tags(&service, "drums", None), tags(&service, "inv", None)),
        (vec![], vec!["invented".into()])
    );
    let expected = BTreeMap::from([("posts with other topics", 2), ("names of teams in the search", 1)]);
    assert_eq!(wrong(&service), expected);
    run(&service, &["repair-search"], false);
    assert_eq!(wrong(&service), BTreeMap::new());
    let after = stored(&service, &[]);
    for table in ["post_topics", "search_names"] {
        assert_eq!(after[table], whole[table]);
    }
    Ok(())
}

fn a_username_finds_its_account(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("Mia").id;
    let username = |name: &str| Username::parse(name).expect("a username");
    for name in ["Mia", "mia", "ＭＩＡ"] {
        assert_eq!(service.found(FindUser { username: username(name) }), mia);
    }
    assert_eq!(service.not_found(FindUser { username: username("miaa") }), NotFound);
    service.done(SuspendAccount { username: "mia".to_owned() });
    assert_eq!(service.not_found(FindUser { username: username("mia") }), NotFound);
    Ok(())
}
