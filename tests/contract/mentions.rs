//! The HTTP contract, part 2, section 1: mentions of fans in posts and comments.

use super::counters::post;
use anyhow::Result;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::graph::BlockUser;
use terrace_testkit::app::room::{CreateComment, CreatePost, EditComment, EditPost, GetComment, GetPost};
use terrace_testkit::kernel::{PostId, UserId};
use terrace_testkit::social::Mention;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    texts_mention_existing_fans,
    an_edit_replaces_the_mentions,
    who_is_hidden_or_not_active_is_not_mentioned,
}

fn mention(username: &str, start: u32, end: u32) -> Mention {
    Mention { username: username.to_owned(), start, end }
}

fn mentions(service: &TestApp, author: UserId, body: &str) -> Vec<Mention> {
    let created = service.done(CreatePost { author, team: None, body: body.to_owned(), media: None }).post;
    let read = service.found(GetPost { post: created.id, reader: None }).post;
    assert_eq!(read.mentions, created.mentions);
    read.mentions
}

fn texts_mention_existing_fans(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, ..] = ["mia", "Bo.Carter", "bo.c", "zoé"].map(|name| service.fan(name).id);
    assert_eq!(
        mentions(&service, mia, "⚽ @MIA! @bo.carter, @bo.cart. @Zoé- @unknown a@mia"),
        [mention("mia", 2, 6), mention("Bo.Carter", 8, 18), mention("bo.c", 20, 25), mention("zoé", 30, 34)]
    );
    assert_eq!(mentions(&service, mia, "Nothing to see"), []);
    let six = "@mia ".repeat(6);
    assert_eq!(mentions(&service, mia, &six).len(), 5);

    let post = post(&service, mia);
    let body = "Thanks, @bo.carter".to_owned();
    let created = service.done(CreateComment { author: mia, post, body }).comment;
    assert_eq!(created.mentions, [mention("Bo.Carter", 8, 18)]);
    assert_eq!(service.found(GetComment { post, comment: created.id, reader: None }), created);
    Ok(())
}

fn an_edit_replaces_the_mentions(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, _] = ["mia", "kim"].map(|name| service.fan(name).id);
    let of_post = |post: PostId| service.found(GetPost { post, reader: None }).post.mentions;
    let post =
        service.done(CreatePost { author: mia, team: None, body: "@mia".to_owned(), media: None }).post.id;
    for (body, expected) in
        [("So @kim", vec![mention("kim", 3, 7)]), ("So", vec![]), ("@mia", vec![mention("mia", 0, 4)])]
    {
        let edited = service.done(EditPost { user: mia, post, body: body.to_owned() }).post;
        assert_eq!((&edited.mentions, of_post(post)), (&expected, expected.clone()), "{body}");
    }
    let comment = service.done(CreateComment { author: mia, post, body: "@mia".to_owned() }).comment.id;
    let edit = EditComment { user: mia, post, comment, body: "@kim @mia".to_owned() };
    assert_eq!(service.done(edit).mentions, [mention("kim", 0, 4), mention("mia", 5, 9)]);
    Ok(())
}

fn who_is_hidden_or_not_active_is_not_mentioned(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, _, ana] = ["mia", "bo_1", "kim", "ana"].map(|name| service.fan(name).id);
    let text = "@bo_1 @kim @ana";
    let all = [mention("bo_1", 0, 5), mention("kim", 6, 10), mention("ana", 11, 15)];
    assert_eq!(mentions(&service, mia, text), all);
    let kept = post(&service, mia);
    service.done(EditPost { user: mia, post: kept, body: text.to_owned() });

    service.done(BlockUser { fan: bo, other: mia });
    service.done(BlockUser { fan: mia, other: ana });
    assert_eq!(mentions(&service, mia, text), all[1..2]);
    assert_eq!(mentions(&service, ana, text), all);
    service.done(SuspendAccount { username: "kim".to_owned() });
    assert_eq!(mentions(&service, mia, text), []);
    // A text that was written before keeps its mentions.
    assert_eq!(service.found(GetPost { post: kept, reader: None }).post.mentions, all);
    Ok(())
}
