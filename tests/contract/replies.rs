//! The HTTP contract, part 2, section 1: replies to comments, and likes and reports of comments.

use super::counters::post;
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::graph::BlockUser;
use terrace_testkit::app::room::{
    CreateComment, CreateCommentRefusal, CreateReply, CreateReplyRefusal, DeleteComment, DeletePost,
    GetComment, GetPost, LikeComment, LikeCommentRefusal, ListComments, ReportComment, ReportCommentRefusal,
};
use terrace_testkit::app::{App, accounts::SuspendAccount};
use terrace_testkit::identity::{AuthorCard, Password};
use terrace_testkit::kernel::{CommentId, EventKind, Failure, Limit, PostId, UserId};
use terrace_testkit::ops::Verify;
use terrace_testkit::social::Comment;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    replies_have_one_level,
    a_reply_needs_a_visible_comment_of_the_same_post,
    replies_to_a_deleted_comment_stay,
    a_fan_likes_a_comment_once,
    likes_of_many_fans_are_counted_exactly,
    a_comment_deleted_among_likes_leaves_none,
    what_is_deleted_or_hidden_cannot_be_liked_or_reported,
    a_report_of_a_comment_is_recorded_once,
    likes_and_reports_of_a_deleted_account_are_removed,
}

fn comment(service: &TestApp, author: UserId, post: PostId) -> CommentId {
    service.done(CreateComment { author, post, body: "And the rebound!".to_owned() }).comment.id
}

fn reply(author: UserId, post: PostId, reply_to: CommentId) -> CreateReply {
    CreateReply { comment: CreateComment { author, post, body: "Yes!".to_owned() }, reply_to }
}

fn like(fan: UserId, post: PostId, comment: CommentId) -> LikeComment {
    LikeComment { fan, post, comment, likes: true }
}

fn unlike(fan: UserId, post: PostId, comment: CommentId) -> LikeComment {
    LikeComment { fan, post, comment, likes: false }
}

fn comments(service: &TestApp, post: PostId, reader: Option<UserId>) -> Vec<Comment<AuthorCard>> {
    service.found(ListComments { post, reader, limit: Limit::default(), after: None }).items
}

fn assert_counters_fit(service: &TestApp) {
    let checks = service.found(Verify);
    assert!(checks.iter().any(|check| check.counter == "comments.like_count"));
    assert!(checks.iter().all(|check| check.wrong == 0), "{checks:?}");
}

fn replies_have_one_level(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let first = comment(&service, mia, post);
    let created = service.done(reply(bo, post, first));
    assert_eq!((created.comment.reply_to, created.comment_count), (Some(first), 2));
    let second = service.done(reply(mia, post, created.comment.id)).comment;
    assert_eq!(second.reply_to, Some(first), "a reply to a reply");
    let parents: Vec<_> = comments(&service, post, None).iter().map(|comment| comment.reply_to).collect();
    assert_eq!(parents, [None, Some(first), Some(first)]);
    assert_eq!(service.found(GetComment { post, comment: second.id, reader: None }), second);
    assert_counters_fit(&service);
    Ok(())
}

fn a_reply_needs_a_visible_comment_of_the_same_post(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let (first, other) = (post(&service, mia), post(&service, mia));
    let [elsewhere, deleted, hidden, suspended] =
        [(mia, other), (mia, first), (bo, first), (kim, first)].map(|(by, post)| comment(&service, by, post));
    service.done(DeleteComment { user: mia, post: first, comment: deleted });
    service.done(BlockUser { fan: bo, other: mia });
    service.done(SuspendAccount { username: "kim".to_owned() });
    let unknown = CommentId::from_uuid(mia.as_uuid());
    let before = service.settled();
    for parent in [elsewhere, deleted, hidden, suspended, unknown] {
        assert_eq!(service.refused(reply(mia, first, parent)), CreateReplyRefusal::UnknownComment);
    }
    assert_eq!(service.log(before), []);
    assert_eq!(service.found(GetPost { post: first, reader: None }).post.comment_count, 2);
    service.done(DeletePost { user: mia, post: first });
    let gone = CreateReplyRefusal::Comment(CreateCommentRefusal::PostNotFound);
    assert_eq!(service.refused(reply(mia, first, hidden)), gone);
    Ok(())
}

fn replies_to_a_deleted_comment_stay(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let first = comment(&service, mia, post);
    let second = service.done(reply(bo, post, first)).comment.id;
    service.done(DeleteComment { user: mia, post, comment: first });
    let left = comments(&service, post, Some(mia));
    assert_eq!(
        left.iter().map(|comment| (comment.id, comment.reply_to)).collect::<Vec<_>>(),
        [(second, None)]
    );
    // It can be replied to itself now.
    assert_eq!(service.done(reply(mia, post, second)).comment.reply_to, Some(second));
    assert_counters_fit(&service);
    Ok(())
}

/// A change, and only a change, is an event.
fn a_fan_likes_a_comment_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let comment = comment(&service, mia, post);
    let steps =
        [(bo, false, 0), (bo, true, 1), (bo, true, 1), (mia, true, 2), (bo, false, 1), (bo, false, 1)];
    let mut likes_before = [(mia, false), (bo, false)];
    for (nth, (fan, likes, count)) in steps.into_iter().enumerate() {
        let before = service.settled();
        let known = likes_before.iter_mut().find(|known| known.0 == fan).expect("a fan");
        let changes = known.1 != likes;
        known.1 = likes;
        let answer = service.done(LikeComment { fan, post, comment, likes });
        assert_eq!((answer.like_count, answer.is_liked), (count, likes), "step {nth}");
        let log = service.log(before);
        let events: Vec<_> = log.iter().map(|event| (event.what.kind, event.what.object)).collect();
        let expected = [(EventKind::CommentLiked, Some(comment.as_uuid()))];
        assert_eq!(events, expected[..usize::from(changes)], "step {nth}");
        for (reader, likes) in likes_before {
            let read = service.found(GetComment { post, comment, reader: Some(reader) });
            assert_eq!((read.like_count, read.is_liked), (count, likes), "step {nth}");
            assert_eq!(comments(&service, post, Some(reader)), [read]);
        }
    }
    assert!(!service.found(GetComment { post, comment, reader: None }).is_liked);
    assert_counters_fit(&service);
    Ok(())
}

async fn like_in_turns(app: Arc<App>, fan: UserId, post: PostId, comments: [CommentId; 2]) {
    for turn in 0..9 {
        // Each change is requested twice at once.
        let change = LikeComment { fan, post, comment: comments[turn % 2], likes: turn % 3 != 1 };
        let (first, second) = tokio::join!(app.execute(change.clone()), app.execute(change));
        assert_eq!(first.expect("a like").is_liked, second.expect("a like").is_liked);
    }
}

fn likes_of_many_fans_are_counted_exactly(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 16);
    let post = post(&service, fans[0]);
    let comments = [comment(&service, fans[0], post), comment(&service, fans[1], post)];
    service.together(fans.iter().enumerate().map(|(n, fan)| {
        let app = if n % 2 == 0 { service.app() } else { other.app() };
        like_in_turns(Arc::clone(app), *fan, post, comments)
    }));
    // The last changes are those of turns 8 and 7: a like of the first comment, no like of the second.
    for (comment, likes) in comments.into_iter().zip([true, false]) {
        for fan in &fans {
            let read = service.found(GetComment { post, comment, reader: Some(*fan) });
            assert_eq!((read.like_count, read.is_liked), (if likes { 16 } else { 0 }, likes));
        }
    }
    assert_counters_fit(&service);
    Ok(())
}

fn a_comment_deleted_among_likes_leaves_none(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 12);
    let post = post(&service, fans[0]);
    let comment = comment(&service, fans[0], post);
    service.done(like(fans[1], post, comment));
    let outcomes = service.together(fans.iter().enumerate().map(|(n, fan)| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let fan = *fan;
        async move {
            if n == 0 {
                app.execute(DeleteComment { user: fan, post, comment }).await.expect("one's own comment");
                return None;
            }
            match app.execute(like(fan, post, comment)).await {
                Ok(_) => None,
                Err(Failure::Refused(refusal)) => Some(refusal),
                Err(Failure::Broken(error)) => panic!("{error}"),
            }
        }
    }));
    assert!(outcomes.into_iter().flatten().all(|refusal| refusal == LikeCommentRefusal::NotFound));
    for fan in fans {
        assert_eq!(service.ask(move |tx| tx.likes_of(fan, 10, None)), []);
    }
    assert_counters_fit(&service);
    Ok(())
}

fn what_is_deleted_or_hidden_cannot_be_liked_or_reported(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let (first, other) = (post(&service, mia), post(&service, kim));
    let [elsewhere, deleted, hidden] =
        [(mia, other), (mia, first), (bo, first)].map(|(by, post)| comment(&service, by, post));
    service.done(DeleteComment { user: mia, post: first, comment: deleted });
    service.done(BlockUser { fan: bo, other: kim });
    let refused = |comment| {
        assert_eq!(service.refused(like(kim, first, comment)), LikeCommentRefusal::NotFound);
        assert_eq!(service.refused(unlike(kim, first, comment)), LikeCommentRefusal::NotFound);
        let report = ReportComment { fan: kim, post: first, comment, reason: "Spam".to_owned() };
        assert_eq!(service.refused(report), ReportCommentRefusal::NotFound);
    };
    let before = service.settled();
    for comment in [elsewhere, deleted, hidden, CommentId::from_uuid(mia.as_uuid())] {
        refused(comment);
    }
    assert_eq!(service.log(before), []);
    let kept = comment(&service, mia, first);
    service.done(DeletePost { user: mia, post: first });
    refused(kept);
    Ok(())
}

fn a_report_of_a_comment_is_recorded_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let comment = comment(&service, mia, post);
    let before = service.settled();
    for reason in ["Spam", "Still spam"] {
        for fan in [mia, bo] {
            service.done(ReportComment { fan, post, comment, reason: reason.to_owned() });
        }
    }
    assert_eq!(service.log(before), []);
    for fan in [mia, bo] {
        let reports = service.ask(move |tx| tx.comment_reports_of(fan, 10, None));
        let [report] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!((report.post, report.comment, report.reason.as_str()), (post, comment, "Spam"));
    }
    // An undecided report stays.
    service.done(DeleteComment { user: mia, post, comment });
    assert_eq!(service.ask(move |tx| tx.comment_reports_of(bo, 10, None)).len(), 1);
    Ok(())
}

/// Each like that is removed is an event, so that clients show the new number.
fn likes_and_reports_of_a_deleted_account_are_removed(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_").id);
    let post = post(&service, bo);
    let comments = [comment(&service, bo, post), comment(&service, bo, post)];
    for comment in comments {
        service.done(like(mia.id, post, comment));
        service.done(like(bo, post, comment));
        service.done(ReportComment { fan: mia.id, post, comment, reason: "Spam".to_owned() });
    }
    let own = comment(&service, mia.id, post);
    service.done(like(bo, post, own));
    let left = service.done(reply(bo, post, own)).comment.id;
    let before = service.settled();
    let viewer = service.viewer(mia.cookie).expect("a session");
    let password = Password::offer(PASSWORD.to_owned());
    service.run(service.app().delete_account(&viewer, password)).expect("an end");
    for _ in 0..2 {
        service.settled();
        service.run(service.app().catch_up_consumers())?;
    }
    let user = mia.id;
    assert_eq!(service.ask(move |tx| tx.likes_of(user, 10, None)), []);
    assert_eq!(service.ask(move |tx| tx.comment_reports_of(user, 10, None)), []);
    for comment in comments {
        assert_eq!(service.found(GetComment { post, comment, reader: None }).like_count, 1);
    }
    assert_eq!(service.found(GetComment { post, comment: left, reader: None }).reply_to, None);
    let log = service.log(before);
    let mut liked: Vec<_> = log
        .iter()
        .filter(|event| event.what.kind == EventKind::CommentLiked)
        .filter_map(|event| event.what.object)
        .collect();
    liked.sort_unstable();
    let mut expected = comments.map(CommentId::as_uuid);
    expected.sort_unstable();
    assert_eq!(liked, expected);
    assert_counters_fit(&service);
    Ok(())
}
