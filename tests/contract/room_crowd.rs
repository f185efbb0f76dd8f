//! Posts and reactions of many fans at once (spec §1 rules 1 and 2): each has the result that it has alone, and counters
//! always equal the rows.

use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::Arc;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::graph::BlockUser;
use terrace_testkit::app::room::{
    CreateComment, CreateCommentRefusal, CreatePost, CreatePostRefusal, DeletePost, FeedScope, GetPost,
    React, ReactRefusal, ReadFeed, ReadTagged,
};
use terrace_testkit::app::store::{IdempotencyScope, StoredAnswer};
use terrace_testkit::app::{KeyedRequest, OnceRefusal};
use terrace_testkit::kernel::{EventKind, Failure, Limit, PostId, TeamId, UserId, Uuid};
use terrace_testkit::ops::Verify;
use terrace_testkit::social::{ReactionKind, Tag};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_1_posts_at_once_that_fail_affect_no_other,
    posts_at_once_under_keys_keep_their_answers,
    spec_1_rule_2_reactions_at_once_are_counted_exactly,
    reactions_at_once_that_fail_affect_no_other,
    spec_1_rule_2_comments_at_once_are_counted_exactly,
}

fn post(author: UserId, body: &str) -> CreatePost {
    CreatePost { author, team: None, body: body.to_owned(), media: None }
}

fn limit() -> Limit {
    Limit::new(100).expect("a limit")
}

fn feed(service: &TestApp) -> BTreeSet<PostId> {
    let feed = ReadFeed { scope: FeedScope::All, reader: None, limit: limit(), after: None };
    service.found(feed).page.items.into_iter().map(|view| view.post.id).collect()
}

fn spec_1_rule_1_posts_at_once_that_fail_affect_no_other(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 20);
    let suspended = service.fan("suspended").id;
    service.done(SuspendAccount { username: "suspended".to_owned() });
    let (team, unknown) = (service.team("foxes"), TeamId::from_uuid(Uuid::from_u128(1)));
    let before = service.settled();
    let posts = fans.iter().enumerate().flat_map(|(n, fan)| {
        let other = match n % 4 {
            0 => post(suspended, "I am back"),
            1 => CreatePost { team: Some(unknown), ..post(*fan, "Where is this?") },
            2 => post(*fan, "Thanks, @fan0"),
            _ => CreatePost { team: Some(team), ..post(*fan, "Up the #foxes") },
        };
        [post(*fan, "What a #derby"), other]
    });
    let created = service.together(posts.map(|post| {
        let app = Arc::clone(service.app());
        async move { app.execute(post).await }
    }));
    let mut ids = BTreeSet::new();
    for (n, pair) in created.chunks(2).enumerate() {
        let [kept, other] = pair else { panic!("an even number of posts") };
        ids.insert(kept.as_ref().expect("a post").post.id);
        match (n % 4, other) {
            (0, Err(Failure::Refused(CreatePostRefusal::NotActive)))
            | (1, Err(Failure::Refused(CreatePostRefusal::UnknownTeam))) => {}
            (2, Ok(view)) => {
                assert_eq!(view.post.mentions.len(), 1);
                ids.insert(view.post.id);
            }
            (3, Ok(view)) => {
                assert_eq!(view.team.as_ref().map(|team| team.id), Some(team));
                assert_eq!(view.my_reaction, None);
                ids.insert(view.post.id);
            }
            _ => panic!("post {n}: {other:?}"),
        }
    }
    assert_eq!(ids.len(), 30);
    assert_eq!(feed(&service), ids);
    let events = service.log(before);
    assert_eq!(events.iter().filter(|event| event.what.kind == EventKind::PostCreated).count(), 30);
    let derby =
        ReadTagged { tag: Tag::named("derby").expect("a topic"), reader: None, limit: limit(), after: None };
    assert_eq!(service.found(derby).page.items.len(), 20);
    Ok(())
}

/// The key of a refused post is free, and that of another is kept with its answer.
fn posts_at_once_under_keys_keep_their_answers(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 20);
    let unknown = TeamId::from_uuid(Uuid::from_u128(1));
    let round = |team: fn(usize) -> bool, print: u8| {
        service.together(fans.iter().enumerate().flat_map(|(n, fan)| {
            [service.app(), other.app()].map(|app| {
                let app = Arc::clone(app);
                let scope = IdempotencyScope { account: Some(*fan), operation: "POST /api/locker-room" };
                let request = KeyedRequest { scope, key: "goal".to_owned(), fingerprint: [print; 32] };
                let post = CreatePost { team: team(n).then_some(unknown), ..post(*fan, "We score") };
                async move {
                    let render = |view: &_| {
                        let view: &terrace_testkit::social::PostView<_> = view;
                        StoredAnswer { created: None, body: view.post.id.to_string() }
                    };
                    app.execute_once(post, Some(request), render).await
                }
            })
        }))
    };
    let refused = round(|n| n % 2 == 0, 1);
    for (n, pair) in refused.chunks(2).enumerate() {
        for answer in pair {
            let is_refused =
                matches!(answer, Err(Failure::Refused(OnceRefusal::Refused(CreatePostRefusal::UnknownTeam))));
            assert_eq!(is_refused, n % 2 == 0, "{answer:?}");
        }
    }
    assert_eq!(feed(&service).len(), 10);
    let answered = round(|_| false, 1);
    let bodies: BTreeSet<String> =
        answered.iter().map(|answer| answer.as_ref().expect("an answer").answer.body.clone()).collect();
    let ids: BTreeSet<String> = feed(&service).iter().map(ToString::to_string).collect();
    assert_eq!(bodies.len(), 20, "each fan has one post");
    assert_eq!(bodies, ids);
    let other_request = round(|_| false, 2);
    assert!(
        other_request.iter().all(|answer| matches!(answer, Err(Failure::Refused(OnceRefusal::KeyReused))))
    );
    assert_eq!(feed(&service).len(), 20);
    Ok(())
}

/// Forty fans in two processes change their reactions to three posts.
fn spec_1_rule_2_reactions_at_once_are_counted_exactly(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let other = service.another()?;
    let (author, fans) = (service.fan("mia").id, service.crowd("fan", 40));
    let posts = ["one", "two", "three"].map(|body| service.done(post(author, body)).post.id);
    let last = service.together(fans.iter().enumerate().map(|(n, fan)| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let fan = *fan;
        async move {
            let mut last = [None; 3];
            for turn in 0..30 {
                let place = (turn + n) % 3;
                let kind = ReactionKind::ALL.get((turn * 5 + n) % 7).copied();
                let view = app.execute(React { fan, post: posts[place], kind }).await.expect("a reaction");
                assert_eq!(view.my_reaction, kind);
                last[place] = kind;
            }
            last
        }
    }));
    for (place, post) in posts.into_iter().enumerate() {
        let counts = service.found(GetPost { post, reader: None }).post.reactions;
        for kind in ReactionKind::ALL {
            let expected = last.iter().filter(|last| last[place] == Some(kind)).count();
            assert_eq!(counts.of(kind), i64::try_from(expected)?, "{kind:?}");
        }
    }
    let wrong: Vec<_> = service.found(Verify).into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    Ok(())
}

fn reactions_at_once_that_fail_affect_no_other(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (author, fans) = (service.fan("mia").id, service.crowd("fan", 20));
    let (suspended, blocked) = (service.fan("suspended").id, service.fan("blocked").id);
    service.done(BlockUser { fan: author, other: blocked });
    let [seen, gone] = ["seen", "gone"].map(|body| service.done(post(author, body)).post.id);
    service.done(DeletePost { user: author, post: gone });
    service.done(SuspendAccount { username: "suspended".to_owned() });
    let before = service.settled();
    let like = |fan: UserId, post: PostId| React { fan, post, kind: Some(ReactionKind::Like) };
    let reactions = fans.iter().enumerate().flat_map(|(n, fan)| {
        let other = match n % 4 {
            0 => like(suspended, seen),
            1 => like(blocked, seen),
            2 => like(*fan, gone),
            _ => like(*fan, seen),
        };
        [like(*fan, seen), other]
    });
    let given = service.together(reactions.map(|reaction| {
        let app = Arc::clone(service.app());
        async move { app.execute(reaction).await }
    }));
    for (n, pair) in given.chunks(2).enumerate() {
        let [kept, other] = pair else { panic!("an even number of reactions") };
        assert_eq!(kept.as_ref().expect("a reaction").my_reaction, Some(ReactionKind::Like));
        match (n % 4, other) {
            (0, Err(Failure::Refused(ReactRefusal::NotActive)))
            | (1 | 2, Err(Failure::Refused(ReactRefusal::PostNotFound)))
            | (3, Ok(_)) => {}
            _ => panic!("reaction {n}: {other:?}"),
        }
    }
    let counts = service.found(GetPost { post: seen, reader: None }).post.reactions;
    assert_eq!((counts.like, counts.total()), (20, 20));
    let events = service.log(before);
    assert_eq!(events.iter().filter(|event| event.what.kind == EventKind::ReactionChanged).count(), 20);
    Ok(())
}

/// Some comments mention a fan, are on a deleted post, or are by fans who may not write.
fn spec_1_rule_2_comments_at_once_are_counted_exactly(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (author, fans) = (service.fan("mia").id, service.crowd("fan", 20));
    let (suspended, blocked) = (service.fan("suspended").id, service.fan("blocked").id);
    service.done(BlockUser { fan: author, other: blocked });
    let [seen, gone] = ["seen", "gone"].map(|body| service.done(post(author, body)).post.id);
    service.done(DeletePost { user: author, post: gone });
    service.done(SuspendAccount { username: "suspended".to_owned() });
    let before = service.settled();
    let comment =
        |author: UserId, post: PostId, body: &str| CreateComment { author, post, body: body.to_owned() };
    let comments = fans.iter().enumerate().flat_map(|(n, fan)| {
        let other = match n % 4 {
            0 => comment(suspended, seen, "I am back"),
            1 => comment(blocked, seen, "Look at me"),
            2 => comment(*fan, gone, "Where is it?"),
            _ => comment(*fan, seen, "Well said, @mia"),
        };
        [comment(*fan, seen, "Olé"), other]
    });
    let created = service.together(comments.enumerate().map(|(n, comment)| {
        let app = Arc::clone(if n % 4 < 2 { service.app() } else { other.app() });
        async move { app.execute(comment).await }
    }));
    let mut counts = Vec::new();
    for (n, pair) in created.chunks(2).enumerate() {
        let [kept, other] = pair else { panic!("an even number of comments") };
        counts.push(kept.as_ref().expect("a comment").comment_count);
        match (n % 4, other) {
            (0, Err(Failure::Refused(CreateCommentRefusal::NotActive)))
            | (1 | 2, Err(Failure::Refused(CreateCommentRefusal::PostNotFound))) => {}
            (3, Ok(created)) => {
                assert_eq!(created.comment.mentions.len(), 1);
                counts.push(created.comment_count);
            }
            _ => panic!("comment {n}: {other:?}"),
        }
    }
    counts.sort_unstable();
    assert_eq!(counts, (1..=25).collect::<Vec<i64>>(), "each comment counts once");
    assert_eq!(service.found(GetPost { post: seen, reader: None }).post.comment_count, 25);
    let events = service.log(before);
    assert_eq!(events.iter().filter(|event| event.what.kind == EventKind::CommentCreated).count(), 25);
    let wrong: Vec<_> = service.found(Verify).into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    Ok(())
}
