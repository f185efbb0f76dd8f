//! The HTTP contract, part 2, section 1: authors edit posts and comments within 15 minutes.

use super::trends::{synced, topics};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::graph::BlockUser;
use terrace_testkit::app::room::{
    CreateComment, CreatePost, DeleteComment, DeletePost, EditComment, EditCommentRefusal, EditPost,
    EditPostRefusal, GetComment, GetPost,
};
use terrace_testkit::identity::AuthorCard;
use terrace_testkit::kernel::{CommentId, EventKind, PostId, UserId};
use terrace_testkit::ops;
use terrace_testkit::social::{EDIT_WINDOW, TrendRead, tags};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    authors_edit_for_fifteen_minutes,
    the_same_text_again_changes_nothing,
    what_is_deleted_or_hidden_cannot_be_edited,
    an_edit_replaces_the_topics_of_a_post,
    simultaneous_edits_leave_one_text_and_its_topics,
    simultaneous_edits_of_a_comment_leave_one_text,
}

fn post(service: &TestApp, author: UserId, body: &str) -> PostId {
    service.done(CreatePost { author, team: None, body: body.to_owned(), media: None }).post.id
}

fn comment(service: &TestApp, author: UserId, post: PostId) -> CommentId {
    service.done(CreateComment { author, post, body: "And the rebound!".to_owned() }).comment.id
}

fn edit(user: UserId, post: PostId, body: &str) -> EditPost {
    EditPost { user, post, body: body.to_owned() }
}

fn edit_comment(user: UserId, post: PostId, comment: CommentId, body: &str) -> EditComment {
    EditComment { user, post, comment, body: body.to_owned() }
}

fn tags_of(service: &TestApp, post: PostId) -> Vec<String> {
    let tags = service.ask(move |tx| TrendRead::<AuthorCard>::tags_of(tx, &[post]));
    let mut tags: Vec<_> = tags.into_iter().map(|(_, tag)| tag.to_string()).collect();
    tags.sort();
    tags
}

fn authors_edit_for_fifteen_minutes(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia, "What a sav!");
    let comment = comment(&service, bo, post);
    assert_eq!(service.found(GetPost { post, reader: None }).post.edited_at, None);
    assert_eq!(service.found(GetComment { post, comment, reader: None }).edited_at, None);

    // The author of the post does not own its comments.
    let before = service.settled();
    assert_eq!(service.refused(edit(bo, post, "Mine")), EditPostRefusal::NotYours);
    let theirs = service.refused(edit_comment(mia, post, comment, "Mine"));
    assert_eq!(theirs, EditCommentRefusal::NotYours);
    assert_eq!(service.log(before), []);

    service.clock().advance(EDIT_WINDOW);
    let now = service.app().now();
    let edited = service.done(edit(mia, post, "What a save!")).post;
    assert_eq!((edited.body.as_str(), edited.edited_at), ("What a save!", Some(now)));
    let edited = service.done(edit_comment(bo, post, comment, "And the second!"));
    assert_eq!((edited.body.as_str(), edited.edited_at), ("And the second!", Some(now)));
    let read = service.found(GetPost { post, reader: Some(bo) }).post;
    assert_eq!((read.body.as_str(), read.edited_at, read.comment_count), ("What a save!", Some(now), 1));
    let read = service.found(GetComment { post, comment, reader: None });
    assert_eq!((read.body.as_str(), read.edited_at), ("And the second!", Some(now)));
    let log = service.log(before);
    let events: Vec<_> = log.iter().map(|event| (event.what.kind, event.what.actor)).collect();
    assert_eq!(events, [(EventKind::PostEdited, Some(mia)), (EventKind::CommentEdited, Some(bo))]);
    assert!(log.iter().all(|event| event.what.subject == post.as_uuid()));
    assert_eq!(log[1].what.object, Some(comment.as_uuid()));

    service.clock().advance(Duration::from_micros(1));
    let before = service.settled();
    assert_eq!(service.refused(edit(mia, post, "Later")), EditPostRefusal::TooLate);
    assert_eq!(service.refused(edit(bo, post, "Later")), EditPostRefusal::NotYours);
    let late = service.refused(edit_comment(bo, post, comment, "Later"));
    assert_eq!(late, EditCommentRefusal::TooLate);
    assert_eq!(service.log(before), []);
    assert_eq!(service.found(GetPost { post, reader: None }).post.body, "What a save!");
    Ok(())
}

fn the_same_text_again_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let post = post(&service, mia, "What a save!");
    let comment = comment(&service, mia, post);
    let before = service.settled();
    assert_eq!(service.done(edit(mia, post, "What a save!")).post.edited_at, None);
    let same = service.done(edit_comment(mia, post, comment, "And the rebound!"));
    assert_eq!((same.edited_at, service.log(before)), (None, vec![]));
    Ok(())
}

fn what_is_deleted_or_hidden_cannot_be_edited(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let [first, second] = ["One", "Two"].map(|body| post(&service, mia, body));
    let [gone, other] = [(); 2].map(|()| comment(&service, bo, first));
    let missing = EditCommentRefusal::NotFound;
    assert_eq!(service.refused(edit_comment(bo, second, gone, "Here?")), missing, "of another post");
    service.done(DeleteComment { user: bo, post: first, comment: gone });
    assert_eq!(service.refused(edit_comment(bo, first, gone, "Again")), missing);

    service.done(BlockUser { fan: mia, other: bo });
    assert_eq!(service.refused(edit_comment(bo, first, other, "Still here")), missing, "of a hidden post");
    assert_eq!(service.refused(edit(bo, first, "Mine")), EditPostRefusal::NotFound);

    service.done(DeletePost { user: mia, post: first });
    assert_eq!(service.refused(edit(mia, first, "Back")), EditPostRefusal::NotFound);
    assert_eq!(service.refused(edit_comment(bo, first, other, "Back")), missing);
    let unknown = PostId::from_uuid(mia.as_uuid());
    assert_eq!(service.refused(edit(mia, unknown, "?")), EditPostRefusal::NotFound);
    service.done(SuspendAccount { username: "mia".to_owned() });
    assert_eq!(service.refused(edit(mia, second, "Suspended")), EditPostRefusal::NotFound);
    Ok(())
}

fn an_edit_replaces_the_topics_of_a_post(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let first = post(&service, mia, "#derby #goal");
    post(&service, bo, "#derby");
    synced(&service);
    let counts = |service: &TestApp| {
        let mut counts: Vec<_> = topics(service).into_iter().map(|(tag, _, posts)| (tag, posts)).collect();
        counts.sort();
        counts
    };
    let count = |tag: &str, posts| (tag.to_owned(), posts);
    assert_eq!(counts(&service), [count("derby", 2), count("goal", 1)]);

    service.done(edit(mia, first, "#Goal #save"));
    assert_eq!(tags_of(&service, first), ["goal", "save"]);
    synced(&service);
    assert_eq!(counts(&service), [count("derby", 1), count("goal", 1), count("save", 1)]);

    service.done(edit(mia, first, "No topic"));
    assert_eq!(tags_of(&service, first), [""; 0]);
    // Finding the topics of all posts again brings none back.
    service.run(ops::backfill_topics(service.app()))?;
    assert_eq!(tags_of(&service, first), [""; 0]);
    Ok(())
}

/// Several processes edit one post while the topics of all posts are found again: afterwards the topics are those of the
/// text.
fn simultaneous_edits_leave_one_text_and_its_topics(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let post = post(&service, mia, "#start");
    let before = service.settled();
    let edits = (0..16).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        async move {
            if n % 4 == 3 {
                ops::backfill_topics(&app).await.expect("topics");
            }
            app.execute(edit(mia, post, &format!("Edit {n} #tag{n} #common"))).await.expect("an edit");
        }
    });
    service.together(edits);
    let body = service.found(GetPost { post, reader: None }).post.body;
    let mut expected: Vec<_> = tags(&body).iter().map(ToString::to_string).collect();
    expected.sort();
    assert_eq!(tags_of(&service, post), expected);
    assert_eq!(service.log(before).len(), 16);
    Ok(())
}

/// Several processes edit one comment: each edit is an event, and the text is that of one of them, for every reader.
fn simultaneous_edits_of_a_comment_leave_one_text(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia, "What a save!");
    let comment = comment(&service, bo, post);
    let before = service.settled();
    let edits =
        (0..16).map(|n| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            async move {
                app.execute(edit_comment(bo, post, comment, &format!("Edit {n}"))).await.expect("an edit")
            }
        });
    let edited = service.together(edits);
    let read = service.found(GetComment { post, comment, reader: None });
    assert!(edited.iter().any(|edited| edited.body == read.body), "{read:?}");
    assert_eq!(other.found(GetComment { post, comment, reader: Some(mia) }).body, read.body);
    let found = service.found(GetPost { post, reader: None }).post;
    assert_eq!((found.body.as_str(), found.edited_at, found.comment_count), ("What a save!", None, 1));
    let log = service.log(before);
    assert_eq!(log.len(), 16);
    assert!(log.iter().all(|event| {
        (event.what.kind, event.what.object) == (EventKind::CommentEdited, Some(comment.as_uuid()))
    }));
    Ok(())
}
