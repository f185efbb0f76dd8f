//! Spec §1 rules 1 and 2, and the contract under "Locker room and social": authors, and who may change what.

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
    posts_and_comments_show_the_identity_of_their_author,
    a_fan_has_one_reaction_to_a_post,
    a_room_holds_the_posts_of_its_team,
    own_rooms_are_those_of_own_teams,
    only_its_author_deletes_a_post_or_a_comment,
    a_deleted_post_is_gone_for_all_at_once,
    children_belong_to_one_post,
    a_report_is_recorded_once,
}

fn post(service: &TestApp, author: UserId, team: Option<TeamId>, body: &str) -> PostId {
    service.done(CreatePost { author, team, body: body.to_owned(), media: None }).post.id
}

fn comment(service: &TestApp, author: UserId, post: PostId, body: &str) -> CommentId {
    service.done(CreateComment { author, post, body: body.to_owned() }).comment.id
}

fn feed(service: &TestApp, scope: FeedScope, reader: Option<UserId>) -> Vec<PostView<AuthorCard>> {
    service.found(ReadFeed { scope, reader, limit: Limit::default(), after: None }).page.items
}

fn ids(views: &[PostView<AuthorCard>]) -> Vec<PostId> {
    views.iter().map(|view| view.post.id).collect()
}

/// Spec §1 rule 1: the feed, a post by itself and a comment show their author, with the author's current
/// name.
fn posts_and_comments_show_the_identity_of_their_author(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let created = service.done(CreatePost {
        author: mia.id,
        team: None,
        body: "What a match!\n⚽\u{fe0f}".to_owned(),
        media: None,
    });
    assert_eq!(created.author, mia.card);
    assert_eq!((created.post.author, created.post.created_at), (mia.id, service.app().now()));
    let id = created.post.id;
    let answer = service.done(CreateComment { author: bo.id, post: id, body: "Yes!".to_owned() });
    assert_eq!((&answer.comment.author, answer.comment_count), (&bo.card, 1));

    for reader in [None, Some(mia.id), Some(bo.id)] {
        let shown = feed(&service, FeedScope::All, reader);
        let expected = PostView {
            post: terrace_testkit::social::Post { comment_count: 1, ..created.post.clone() },
            ..created.clone()
        };
        assert_eq!(shown, std::slice::from_ref(&expected));
        assert_eq!(service.found(GetPost { post: id, reader }), expected);
        let page = service.found(ListComments { post: id, reader, limit: Limit::default(), after: None });
        assert_eq!(page.items, std::slice::from_ref(&answer.comment));
    }

    let change =
        ProfileChange { display_name: Some("Mia of the Kop".to_owned()), ..ProfileChange::default() };
    service.done(ChangeProfile { user: mia.id, change });
    let author = feed(&service, FeedScope::All, None).remove(0).author;
    assert_eq!((author.id, author.display_name.as_str()), (mia.id, "Mia of the Kop"));
    Ok(())
}

/// POST and DELETE /api/locker-room/{id}/react: the same kind again changes nothing, another replaces it,
/// removing a reaction that does not exist changes nothing. A change, and only a change, is an event.
fn a_fan_has_one_reaction_to_a_post(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia, None, "What a match!");
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
        let before = service.settled();
        let changes = own.get(&fan).copied() != kind;
        match kind {
            Some(kind) => own.insert(fan, kind),
            None => own.remove(&fan),
        };
        let answer = service.done(React { fan, post, kind });
        assert_eq!(answer.my_reaction, kind, "step {nth}");
        assert_eq!(service.log(before).len(), usize::from(changes), "step {nth}");
        for reader in [mia, bo] {
            let view = service.found(GetPost { post, reader: Some(reader) });
            assert_eq!(view.my_reaction, own.get(&reader).copied(), "step {nth}");
            for each in ReactionKind::ALL {
                let expected = own.values().filter(|kind| **kind == each).count();
                assert_eq!(usize::try_from(view.post.reactions.of(each))?, expected, "step {nth}: {each}");
            }
        }
    }
    assert_eq!(service.found(GetPost { post, reader: None }).my_reaction, None);
    Ok(())
}

/// GET /api/locker-room?scope=team: the posts of one team's room; `all` contains those of every room.
fn a_room_holds_the_posts_of_its_team(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (foxes, rovers, anchors) = (service.team("foxes"), service.team("rovers"), service.team("anchors"));
    let mia = service.fan("mia").id;
    let mut all = Vec::new();
    for (nth, team) in [None, Some(foxes), Some(rovers), Some(foxes)].into_iter().enumerate() {
        service.clock().advance(std::time::Duration::from_secs(1));
        all.push(post(&service, mia, team, &format!("Post {nth}")));
    }
    let [teamless, first, rovers_post, second] = all[..] else { unreachable!("four posts") };
    let shown = |scope| ids(&feed(&service, scope, Some(mia)));
    assert_eq!(shown(FeedScope::All), [second, rovers_post, first, teamless]);
    assert_eq!(shown(FeedScope::Team(foxes)), [second, first]);
    assert_eq!(shown(FeedScope::Team(rovers)), [rovers_post]);
    assert_eq!(shown(FeedScope::Team(anchors)), []);
    let nowhere = TeamId::from_uuid(mia.as_uuid());
    let limit = Limit::default();
    let read = ReadFeed { scope: FeedScope::Team(nowhere), reader: None, limit, after: None };
    assert_eq!(service.not_found(read), FeedRefusal::UnknownTeam);
    let wrong = CreatePost { author: mia, team: Some(nowhere), body: "Hello?".to_owned(), media: None };
    assert_eq!(service.refused(wrong), CreatePostRefusal::UnknownTeam);
    Ok(())
}

/// `team` without `teamId`: the rooms of the reader's own teams; a stranger has none.
fn own_rooms_are_those_of_own_teams(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (foxes, rovers) = (service.team("foxes"), service.team("rovers"));
    let mia = service.fan("mia").id;
    let in_room = [foxes, rovers].map(|team| post(&service, mia, Some(team), "Hello!"));
    post(&service, mia, None, "Hello, everybody!");
    let own = || ids(&feed(&service, FeedScope::OwnTeams, Some(mia)));
    assert_eq!(own(), []);
    for (team, post) in [foxes, rovers].into_iter().zip(in_room) {
        let change = ProfileChange { favorite_team: Some(Some(team)), ..ProfileChange::default() };
        service.done(ChangeProfile { user: mia, change });
        assert_eq!(own(), [post]);
    }
    let limit = Limit::default();
    let stranger = ReadFeed { scope: FeedScope::OwnTeams, reader: None, limit, after: None };
    assert_eq!(service.not_found(stranger), FeedRefusal::SignInFirst);
    Ok(())
}

/// DELETE of a post and of a comment: only its author may; the author of the post does not own its comments.
fn only_its_author_deletes_a_post_or_a_comment(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia, None, "Mine");
    let comment = comment(&service, bo, post, "Not yours");
    let before = service.settled();
    assert_eq!(service.refused(DeletePost { user: bo, post }), DeletePostRefusal::NotYours);
    let theirs = service.refused(DeleteComment { user: mia, post, comment });
    assert_eq!(theirs, DeleteCommentRefusal::NotYours);
    assert_eq!(service.log(before), []);
    assert_eq!(service.found(GetPost { post, reader: None }).post.comment_count, 1);

    service.done(DeleteComment { user: bo, post, comment });
    let again = service.refused(DeleteComment { user: bo, post, comment });
    assert_eq!(again, DeleteCommentRefusal::NotFound);
    assert_eq!(service.found(GetPost { post, reader: None }).post.comment_count, 0);
    service.done(DeletePost { user: mia, post });
    for user in [mia, bo] {
        assert_eq!(service.refused(DeletePost { user, post }), DeletePostRefusal::NotFound);
    }
    Ok(())
}

/// DELETE /api/locker-room/{id}: from then on it is 404 to every route, though its children are still being
/// removed.
fn a_deleted_post_is_gone_for_all_at_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let team = service.team("foxes");
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let kept = post(&service, mia, Some(team), "This one stays");
    let post = post(&service, mia, Some(team), "This one goes");
    let comment = comment(&service, bo, post, "Why?");
    service.done(React { fan: bo, post, kind: Some(ReactionKind::Sad) });
    service.done(DeletePost { user: mia, post });

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

/// Spec §1 rule 2: comments and reactions are tied to a post's identifier; under another post's identifier
/// they are not found.
fn children_belong_to_one_post(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let [first, second] = ["One", "Two"].map(|body| post(&service, mia, None, body));
    let comment = comment(&service, mia, first, "On the first");
    service.done(React { fan: mia, post: first, kind: Some(ReactionKind::Clap) });

    assert_eq!(service.not_found(GetComment { post: second, comment, reader: None }), NotFound);
    let wrong = service.refused(DeleteComment { user: mia, post: second, comment });
    assert_eq!(wrong, DeleteCommentRefusal::NotFound);
    let list = ListComments { post: second, reader: None, limit: Limit::default(), after: None };
    assert_eq!(service.found(list).items, []);
    let view = service.found(GetPost { post: second, reader: Some(mia) });
    assert_eq!((view.post.comment_count, view.post.reactions.total(), view.my_reaction), (0, 0, None));
    assert_eq!(service.found(GetComment { post: first, comment, reader: None }).post, first);
    Ok(())
}

/// POST /api/locker-room/{id}/report: once per user and post; again changes nothing and is no error.
fn a_report_is_recorded_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia, None, "Buy tickets here");
    for reason in ["Spam", "Still spam"] {
        for fan in [mia, bo] {
            service.done(ReportPost { fan, post, reason: reason.to_owned() });
        }
    }
    for fan in [mia, bo] {
        let reports = service.ask(move |tx| tx.reports_of(fan, 10, None));
        let [report] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!((report.post, report.reason.as_str()), (post, "Spam"));
    }
    Ok(())
}
