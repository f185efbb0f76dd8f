//! Spec §1 rules 1 and 2, and the contract under "Locker room and social": who wrote what, who may change what.

use anyhow::Result;
use terrace_testkit::app::accounts::{ChangeProfile, NotFound};
use terrace_testkit::app::room::{
    CreateComment, CreateCommentRefusal, CreatePost, CreatePostRefusal, DeleteComment, DeleteCommentRefusal,
    DeletePost, DeletePostRefusal, FeedRefusal, FeedScope, GetComment, GetPost, ListComments, React,
    ReactRefusal, ReadFeed, ReportPost, ReportPostRefusal,
};
use terrace_testkit::identity::{AuthorCard, ProfileChange};
use terrace_testkit::kernel::{CommentId, Limit, PostId, TeamId, UserId};
use terrace_testkit::social::{PostView, ReactionKind};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    what_is_written_bears_the_identity_of_its_author,
    a_fan_has_one_reaction_to_a_post,
    a_room_holds_the_posts_of_its_team,
    ones_own_rooms_are_those_of_ones_teams,
    only_its_author_deletes_a_post_or_a_comment,
    a_deleted_post_is_gone_for_everybody_at_once,
    children_belong_to_one_post,
    a_report_is_noted_once,
}

fn post(house: &TestApp, author: UserId, team: Option<TeamId>, body: &str) -> PostId {
    house.done(CreatePost { author, team, body: body.to_owned(), media: None }).post.id
}

fn comment(house: &TestApp, author: UserId, post: PostId, body: &str) -> CommentId {
    house.done(CreateComment { author, post, body: body.to_owned() }).comment.id
}

fn feed(house: &TestApp, scope: FeedScope, reader: Option<UserId>) -> Vec<PostView<AuthorCard>> {
    house.found(ReadFeed { scope, reader, limit: Limit::default(), after: None }).page.items
}

fn ids(views: &[PostView<AuthorCard>]) -> Vec<PostId> {
    views.iter().map(|view| view.post.id).collect()
}

/// Spec §1 rule 1: the feed, a post by itself and a comment show who wrote them, as they are called now.
fn what_is_written_bears_the_identity_of_its_author(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let (mia, bo) = (house.fan("mia"), house.fan("bo_"));
    let created = house.done(CreatePost {
        author: mia.id,
        team: None,
        body: "What a match!\n⚽\u{fe0f}".to_owned(),
        media: None,
    });
    assert_eq!(created.author, mia.card);
    assert_eq!((created.post.author, created.post.created_at), (mia.id, house.app().now()));
    let id = created.post.id;
    let answer = house.done(CreateComment { author: bo.id, post: id, body: "Yes!".to_owned() });
    assert_eq!((&answer.comment.author, answer.comment_count), (&bo.card, 1));

    for reader in [None, Some(mia.id), Some(bo.id)] {
        let shown = feed(&house, FeedScope::All, reader);
        let expected = PostView {
            post: terrace_testkit::social::Post { comment_count: 1, ..created.post.clone() },
            ..created.clone()
        };
        assert_eq!(shown, std::slice::from_ref(&expected));
        assert_eq!(house.found(GetPost { post: id, reader }), expected);
        let page = house.found(ListComments { post: id, reader, limit: Limit::default(), after: None });
        assert_eq!(page.items, std::slice::from_ref(&answer.comment));
    }

    let change =
        ProfileChange { display_name: Some("Mia of the Kop".to_owned()), ..ProfileChange::default() };
    house.done(ChangeProfile { user: mia.id, change });
    let author = feed(&house, FeedScope::All, None).remove(0).author;
    assert_eq!((author.id, author.display_name.as_str()), (mia.id, "Mia of the Kop"));
    Ok(())
}

/// POST and DELETE /api/locker-room/{id}/react: the same kind again changes nothing, another replaces it, taking
/// back what is not there changes nothing. A change, and only a change, is an event.
fn a_fan_has_one_reaction_to_a_post(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| house.fan(name).id);
    let post = post(&house, mia, None, "What a match!");
    let mut own = std::collections::HashMap::<UserId, ReactionKind>::new();
    let steps = [
        (bo, None),
        (bo, Some(ReactionKind::Like)),
        (bo, Some(ReactionKind::Like)),
        (mia, Some(ReactionKind::Like)),
        (bo, Some(ReactionKind::Fire)),
        (bo, Some(ReactionKind::Fire)),
        (mia, Some(ReactionKind::Sad)),
        (bo, None),
        (bo, None),
        (bo, Some(ReactionKind::Sad)),
        (mia, None),
    ];
    for (nth, (fan, kind)) in steps.into_iter().enumerate() {
        let before = house.settled();
        let changes = own.get(&fan).copied() != kind;
        match kind {
            Some(kind) => own.insert(fan, kind),
            None => own.remove(&fan),
        };
        let answer = house.done(React { fan, post, kind });
        assert_eq!(answer.my_reaction, kind, "step {nth}");
        assert_eq!(house.log(before).len(), usize::from(changes), "step {nth}");
        for reader in [mia, bo] {
            let view = house.found(GetPost { post, reader: Some(reader) });
            assert_eq!(view.my_reaction, own.get(&reader).copied(), "step {nth}");
            for each in ReactionKind::ALL {
                let expected = own.values().filter(|kind| **kind == each).count();
                assert_eq!(usize::try_from(view.post.reactions.of(each))?, expected, "step {nth}: {each}");
            }
        }
    }
    assert_eq!(house.found(GetPost { post, reader: None }).my_reaction, None);
    Ok(())
}

/// GET /api/locker-room?scope=team: the posts of one team's room; `all` holds every room's.
fn a_room_holds_the_posts_of_its_team(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let (foxes, rovers, anchors) = (house.team("foxes"), house.team("rovers"), house.team("anchors"));
    let mia = house.fan("mia").id;
    let mut all = Vec::new();
    for (nth, team) in [None, Some(foxes), Some(rovers), Some(foxes)].into_iter().enumerate() {
        house.clock().advance(std::time::Duration::from_secs(1));
        all.push(post(&house, mia, team, &format!("Post {nth}")));
    }
    let [nobodys, first, rovers_post, second] = all[..] else { unreachable!("four posts") };
    let shown = |scope| ids(&feed(&house, scope, Some(mia)));
    assert_eq!(shown(FeedScope::All), [second, rovers_post, first, nobodys]);
    assert_eq!(shown(FeedScope::Team(foxes)), [second, first]);
    assert_eq!(shown(FeedScope::Team(rovers)), [rovers_post]);
    assert_eq!(shown(FeedScope::Team(anchors)), []);
    let nowhere = TeamId::from_uuid(mia.as_uuid());
    let limit = Limit::default();
    let read = ReadFeed { scope: FeedScope::Team(nowhere), reader: None, limit, after: None };
    assert_eq!(house.not_found(read), FeedRefusal::UnknownTeam);
    let wrong = CreatePost { author: mia, team: Some(nowhere), body: "Hello?".to_owned(), media: None };
    assert_eq!(house.refused(wrong), CreatePostRefusal::UnknownTeam);
    Ok(())
}

/// `team` without `teamId`: the reader's own teams', of whom a stranger has none.
fn ones_own_rooms_are_those_of_ones_teams(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let (foxes, rovers) = (house.team("foxes"), house.team("rovers"));
    let mia = house.fan("mia").id;
    let in_room = [foxes, rovers].map(|team| post(&house, mia, Some(team), "Hello!"));
    post(&house, mia, None, "Hello, everybody!");
    let own = || ids(&feed(&house, FeedScope::OwnTeams, Some(mia)));
    assert_eq!(own(), []);
    for (team, post) in [foxes, rovers].into_iter().zip(in_room) {
        let change = ProfileChange { favorite_team: Some(Some(team)), ..ProfileChange::default() };
        house.done(ChangeProfile { user: mia, change });
        assert_eq!(own(), [post]);
    }
    let limit = Limit::default();
    let stranger = ReadFeed { scope: FeedScope::OwnTeams, reader: None, limit, after: None };
    assert_eq!(house.not_found(stranger), FeedRefusal::SignInFirst);
    Ok(())
}

/// DELETE of a post and of a comment: one's own; the author of the post does not own its comments.
fn only_its_author_deletes_a_post_or_a_comment(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| house.fan(name).id);
    let post = post(&house, mia, None, "Mine");
    let comment = comment(&house, bo, post, "Not yours");
    let before = house.settled();
    assert_eq!(house.refused(DeletePost { user: bo, post }), DeletePostRefusal::NotYours);
    let theirs = house.refused(DeleteComment { user: mia, post, comment });
    assert_eq!(theirs, DeleteCommentRefusal::NotYours);
    assert_eq!(house.log(before), []);
    assert_eq!(house.found(GetPost { post, reader: None }).post.comment_count, 1);

    house.done(DeleteComment { user: bo, post, comment });
    let again = house.refused(DeleteComment { user: bo, post, comment });
    assert_eq!(again, DeleteCommentRefusal::NotFound);
    assert_eq!(house.found(GetPost { post, reader: None }).post.comment_count, 0);
    house.done(DeletePost { user: mia, post });
    for user in [mia, bo] {
        assert_eq!(house.refused(DeletePost { user, post }), DeletePostRefusal::NotFound);
    }
    Ok(())
}

/// DELETE /api/locker-room/{id}: from then on it is 404 to every route, though its children are still being
/// removed.
fn a_deleted_post_is_gone_for_everybody_at_once(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let other = house.another()?;
    let team = house.team("foxes");
    let [mia, bo] = ["mia", "bo_"].map(|name| house.fan(name).id);
    let kept = post(&house, mia, Some(team), "This one stays");
    let post = post(&house, mia, Some(team), "This one goes");
    let comment = comment(&house, bo, post, "Why?");
    house.done(React { fan: bo, post, kind: Some(ReactionKind::Sad) });
    house.done(DeletePost { user: mia, post });

    for scope in [FeedScope::All, FeedScope::Team(team)] {
        assert_eq!(ids(&feed(&other, scope, Some(mia))), [kept]);
    }
    assert_eq!(other.not_found(GetPost { post, reader: Some(mia) }), NotFound);
    let list = ListComments { post, reader: None, limit: Limit::default(), after: None };
    assert_eq!(other.not_found(list), NotFound);
    assert_eq!(other.not_found(GetComment { post, comment, reader: None }), NotFound);
    let more = CreateComment { author: bo, post, body: "Hello?".to_owned() };
    assert_eq!(other.refused(more), CreateCommentRefusal::PostNotFound);
    for kind in [Some(ReactionKind::Like), None] {
        assert_eq!(other.refused(React { fan: bo, post, kind }), ReactRefusal::PostNotFound);
    }
    let gone = other.refused(DeleteComment { user: bo, post, comment });
    assert_eq!(gone, DeleteCommentRefusal::NotFound);
    let report = ReportPost { fan: bo, post, reason: "Spam".to_owned() };
    assert_eq!(other.refused(report), ReportPostRefusal::PostNotFound);
    Ok(())
}

/// Spec §1 rule 2: comments and reactions are tied to a post's identifier; under another post's they are not
/// there.
fn children_belong_to_one_post(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let mia = house.fan("mia").id;
    let [first, second] = ["One", "Two"].map(|body| post(&house, mia, None, body));
    let comment = comment(&house, mia, first, "On the first");
    house.done(React { fan: mia, post: first, kind: Some(ReactionKind::Clap) });

    assert_eq!(house.not_found(GetComment { post: second, comment, reader: None }), NotFound);
    let wrong = house.refused(DeleteComment { user: mia, post: second, comment });
    assert_eq!(wrong, DeleteCommentRefusal::NotFound);
    let list = ListComments { post: second, reader: None, limit: Limit::default(), after: None };
    assert_eq!(house.found(list).items, []);
    let view = house.found(GetPost { post: second, reader: Some(mia) });
    assert_eq!((view.post.comment_count, view.post.reactions.total(), view.my_reaction), (0, 0, None));
    assert_eq!(house.found(GetComment { post: first, comment, reader: None }).post, first);
    Ok(())
}

/// POST /api/locker-room/{id}/report: once per user and post; again changes nothing and is no error.
fn a_report_is_noted_once(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| house.fan(name).id);
    let post = post(&house, mia, None, "Buy tickets here");
    for reason in ["Spam", "Still spam"] {
        for fan in [mia, bo] {
            house.done(ReportPost { fan, post, reason: reason.to_owned() });
        }
    }
    // Two reports are what is left to remove with the post: a portion of two takes them, and the next the post.
    house.done(DeletePost { user: mia, post });
    assert!(!house.write(move |tx, _| Ok(tx.remove_deleted_post(post, 2)?)));
    assert!(house.write(move |tx, _| Ok(tx.remove_deleted_post(post, 1)?)));
    Ok(())
}
