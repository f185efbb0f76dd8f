//! The locker room under concurrency: counters that always equal the rows they count, and children that do
//! not outlive their post.

use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::App;
use terrace_testkit::app::accounts::NotFound;
use terrace_testkit::app::room::{
    CreateComment, CreateCommentRefusal, CreatePost, DeleteComment, DeletePost, GetPost, ListComments, React,
};
use terrace_testkit::app::store::CounterCheck;
use terrace_testkit::kernel::{CommentId, Failure, Limit, PostId, UserId};
use terrace_testkit::ops::Verify;
use terrace_testkit::social::{NewComment, ReactionCounts, ReactionKind};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    counters_equal_rows_under_sixteen_writers,
    a_counter_that_is_wrong_is_found,
    the_rows_of_a_deleted_post_are_removed_in_batches,
    a_post_deleted_during_writes_leaves_no_rows,
}

pub(super) fn post(service: &TestApp, author: UserId) -> PostId {
    service.done(CreatePost { author, team: None, body: "Who was best?".to_owned(), media: None }).post.id
}

fn wrong(checks: &[CounterCheck]) -> Vec<(&'static str, u64)> {
    let wrong = checks.iter().filter(|check| check.wrong > 0);
    wrong.map(|check| (check.counter, check.wrong)).collect()
}

/// A fan who comments, deletes some of the comments, and changes reactions.
pub(super) async fn be_busy(app: Arc<App>, fan: UserId, posts: [PostId; 2]) -> Vec<(PostId, CommentId)> {
    let mut mine = Vec::new();
    for turn in 0..12 {
        let post = posts[turn % 2];
        let comment = CreateComment { author: fan, post, body: format!("Turn {turn}") };
        mine.push((post, app.execute(comment).await.expect("a comment").comment.id));
        let kind = ReactionKind::ALL.get(turn % 7).copied();
        app.execute(React { fan, post: posts[turn % 3 % 2], kind }).await.expect("a reaction");
        if turn % 3 == 2 {
            let (post, comment) = mine.remove(turn % mine.len());
            app.execute(DeleteComment { user: fan, post, comment }).await.expect("one's own comment");
        }
    }
    mine
}

/// Counters are written in the transaction of what they count (docs/architecture.md, invariants 1 and 12):
/// after sixteen writers in two processes, every counter is the sum of its rows.
fn counters_equal_rows_under_sixteen_writers(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 16);
    let posts = [post(&service, fans[0]), post(&service, fans[1])];
    let left = service.together(fans.iter().enumerate().map(|(n, fan)| {
        let app = if n % 2 == 0 { service.app() } else { other.app() };
        be_busy(Arc::clone(app), *fan, posts)
    }));

    let left: Vec<_> = left.into_iter().flatten().collect();
    assert_eq!(left.len(), 16 * 8);
    for post in posts {
        let view = service.found(GetPost { post, reader: None });
        let comments = left.iter().filter(|(of, _)| *of == post).count();
        assert_eq!(usize::try_from(view.post.comment_count)?, comments);
        let reactions = {
            let fans = fans.clone();
            service.write(move |tx, _| {
                fans.iter().map(|fan| Ok(tx.reaction(post, *fan)?)).collect::<Result<Vec<_>, _>>()
            })
        };
        for kind in ReactionKind::ALL {
            let rows = reactions.iter().filter(|reaction| **reaction == Some(kind)).count();
            assert_eq!(usize::try_from(view.post.reactions.of(kind))?, rows, "{kind}");
        }
    }
    let checks = service.found(Verify);
    assert_eq!(wrong(&checks), []);
    let of_posts: Vec<_> = checks.iter().filter(|check| check.counter.starts_with("posts.")).collect();
    assert!(of_posts.len() == 7 && of_posts.iter().all(|check| check.checked == 2), "{checks:?}");
    Ok(())
}

/// `maintain verify` names each counter that is wrong, and by how much.
fn a_counter_that_is_wrong_is_found(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let (right, uncounted, overcounted) = (post(&service, fan), post(&service, fan), post(&service, fan));
    service.done(CreateComment { author: fan, post: right, body: "Counted".to_owned() });
    service.write(move |tx, ctx| {
        let comment = NewComment {
            id: ctx.new_id(),
            post: uncounted,
            author: fan,
            reply_to: None,
            body: "Not counted".to_owned(),
            created_at: ctx.now(),
        };
        tx.insert_comment(&comment)?;
        tx.add_to_reaction_counts(overcounted, &ReactionCounts { fire: 3, ..ReactionCounts::default() })?;
        Ok(())
    });
    let checks = service.found(Verify);
    assert_eq!(wrong(&checks), [("posts.comment_count", 1), ("posts.fire_count", 1)]);
    let found: Vec<_> = checks
        .iter()
        .flat_map(|check| &check.examples)
        .map(|example| (PostId::from_uuid(example.row), example.stored, example.counted))
        .collect();
    assert_eq!(found, [(uncounted, 0, 1), (overcounted, 3, 0)]);
    Ok(())
}

/// What must follow an event is done by a durable consumer (docs/events.md, "Durable consumers"). It removes
/// 1,200 children in transactions of bounded size, and then the post.
fn the_rows_of_a_deleted_post_are_removed_in_batches(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 200);
    let author = fans[0];
    let (kept, post) = (post(&service, author), post(&service, author));
    let writers = fans.clone();
    service.write(move |tx, ctx| {
        for n in 0..1000 {
            let id = ctx.new_id();
            let created_at = ctx.now();
            tx.count_comment(post, author)?;
            let body = format!("{n}");
            tx.insert_comment(&NewComment { id, post, author, reply_to: None, body, created_at })?;
        }
        for fan in &writers {
            tx.set_reaction(post, *fan, Some(ReactionKind::Love), ctx.now())?;
        }
        let love = i64::try_from(writers.len()).expect("few");
        tx.add_to_reaction_counts(post, &ReactionCounts { love, ..ReactionCounts::default() })?;
        Ok(())
    });
    assert_eq!(wrong(&service.found(Verify)), []);
    for post in [post, kept] {
        service.done(CreateComment { author, post, body: "One more".to_owned() });
    }
    service.done(DeletePost { user: author, post });
    service.settled();
    assert_eq!(service.not_found(GetPost { post, reader: None }), NotFound);
    assert_eq!(rows_of(&service, post, &fans), 1201, "they are hidden first and removed afterwards");

    // One batch removes at most as many rows as it may.
    assert!(!service.write(move |tx, _| Ok(tx.remove_deleted_post(post, 300)?)));
    assert_eq!(rows_of(&service, post, &fans), 901);
    service.run(service.app().catch_up_consumers())?;
    assert_eq!(rows_of(&service, post, &fans), 0);
    assert!(service.write(move |tx, _| Ok(tx.remove_deleted_post(post, 1)?)), "the post is gone too");
    assert_eq!(service.found(GetPost { post: kept, reader: None }).post.comment_count, 1);
    let checks = service.found(Verify);
    assert_eq!((wrong(&checks), checks[0].checked), (vec![], 1));
    Ok(())
}

/// How many comments and reactions are stored for a post, hidden or not.
fn rows_of(service: &TestApp, post: PostId, fans: &[UserId]) -> usize {
    let fans = fans.to_vec();
    service.write(move |tx, _| {
        let (mut rows, mut after) = (0, None);
        loop {
            let page = tx.comments(post, None, Limit::new(100).expect("a limit"), after)?;
            rows += page.items.len();
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        for fan in &fans {
            rows += usize::from(tx.reaction(post, *fan)?.is_some());
        }
        Ok(rows)
    })
}

/// A comment that races with the deletion of its post either commits before and is removed with it, or is
/// refused.
fn a_post_deleted_during_writes_leaves_no_rows(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 9);
    let (author, others) = (fans[0], fans[1..].to_vec());
    for _ in 0..8 {
        let post = post(&service, author);
        let deletion = {
            let app = Arc::clone(service.app());
            service.spawn(async move { app.execute(DeletePost { user: author, post }).await })
        };
        let removal = {
            let app = Arc::clone(other.app());
            service.spawn(async move { app.catch_up_consumers().await })
        };
        let outcomes = other.together(others.iter().map(|fan| {
            let (app, fan) = (Arc::clone(other.app()), *fan);
            async move {
                let comment = CreateComment { author: fan, post, body: "Wait!".to_owned() };
                let commented = app.execute(comment).await;
                let reacted = app.execute(React { fan, post, kind: Some(ReactionKind::Sad) }).await;
                (commented, reacted)
            }
        }));
        assert!(service.join(deletion).is_ok() && service.join(removal).is_ok());
        for (commented, reacted) in outcomes {
            let refused = |broken: bool| assert!(!broken, "neither done nor refused");
            refused(matches!(&commented, Err(Failure::Broken(_))));
            refused(matches!(&reacted, Err(Failure::Broken(_))));
            if let Err(Failure::Refused(refusal)) = commented {
                assert_eq!(refusal, CreateCommentRefusal::PostNotFound);
                assert!(reacted.is_err(), "a post does not come back");
            }
        }
        service.settled();
        service.run(service.app().catch_up_consumers())?;
        assert_eq!(rows_of(&service, post, &fans), 0);
        assert!(service.write(move |tx, _| Ok(tx.remove_deleted_post(post, 1)?)));
        let list = ListComments { post, reader: None, limit: Limit::default(), after: None };
        assert_eq!(service.not_found(list), NotFound);
    }
    assert_eq!(wrong(&service.found(Verify)), []);
    Ok(())
}
