//! Contract part 2 §6, notifications: whom events notify, how they are grouped, and what is read.

use super::counters::post;
use super::deletion::{catch_up, delete};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::{GetOwnProfile, SuspendAccount};
use terrace_testkit::app::graph::{BlockUser, FollowUser, UnfollowUser};
use terrace_testkit::app::notifications::{
    InboxPage, MarkRead, ReadPreferences, SetPreferences, ShownNotification,
};
use terrace_testkit::app::room::{
    CreateComment, CreatePost, CreateReply, DeleteComment, DeletePost, LikeComment, React,
};
use terrace_testkit::kernel::{Clock, CommentId, EventKind, Limit, Position, PostId, TimeKey, UserId};
use terrace_testkit::ops::Verify;
use terrace_testkit::social::ReactionKind;
use terrace_testkit::social::notifications::{
    KindPreference, NotificationKind, Preferences, QuietHours, ReadMark,
};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    spec_6_what_others_do_notifies_whom_it_concerns,
    spec_6_an_event_notifies_a_fan_once_whatever_is_repeated,
    spec_6_events_of_a_day_are_one_group_also_over_midnight,
    spec_6_a_group_that_changed_is_unread_again_in_its_place,
    spec_6_a_reaction_follow_or_like_that_is_toggled_counts_once,
    spec_6_no_one_is_notified_of_a_fan_who_is_hidden,
    spec_6_a_block_removes_what_was_before,
    spec_6_what_is_deleted_is_dropped_and_counts_no_more,
    spec_6_pages_neither_repeat_nor_skip_when_more_arrives,
    spec_6_a_mark_reads_what_the_inbox_contained,
    spec_6_preferences_exclude_kinds,
    spec_6_a_closed_account_leaves_nothing,
}

pub(super) const HOUR: Duration = Duration::from_hours(1);

pub(super) fn inbox(service: &TestApp, user: UserId) -> InboxPage {
    page(service, user, Limit::MAX, None)
}

pub(super) fn page(service: &TestApp, user: UserId, limit: Limit, after: Option<TimeKey>) -> InboxPage {
    service.run(service.app().read_inbox(user, limit, after)).expect("a working store")
}

/// Runs the consumers, then reads the inbox.
pub(super) fn notified(service: &TestApp, user: UserId) -> Vec<ShownNotification> {
    catch_up(service);
    inbox(service, user).page.items
}

pub(super) fn texts(service: &TestApp, user: UserId) -> Vec<String> {
    notified(service, user).into_iter().map(|shown| shown.text).collect()
}

pub(super) fn unread(service: &TestApp, user: UserId) -> i64 {
    let own = service.found(GetOwnProfile { user }).unread;
    assert_eq!(own, inbox(service, user).unread);
    own
}

pub(super) fn react(service: &TestApp, fan: UserId, post: PostId, kind: Option<ReactionKind>) {
    service.done(React { fan, post, kind });
}

pub(super) fn comment(service: &TestApp, author: UserId, post: PostId, body: &str) -> CommentId {
    service.done(CreateComment { author, post, body: body.to_owned() }).comment.id
}

fn reply(service: &TestApp, author: UserId, post: PostId, reply_to: CommentId, body: &str) -> CommentId {
    let comment = CreateComment { author, post, body: body.to_owned() };
    service.done(CreateReply { comment, reply_to }).comment.id
}

pub(super) fn write(service: &TestApp, author: UserId, body: &str) -> PostId {
    service.done(CreatePost { author, team: None, body: body.to_owned(), media: None }).post.id
}

pub(super) fn suspend(service: &TestApp, username: &str) {
    service.done(SuspendAccount { username: username.to_owned() });
}

/// Every counter equals its rows.
pub(super) fn verify(service: &TestApp) {
    let checks = service.found(Verify);
    let wrong: Vec<_> = checks.iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn spec_6_what_others_do_notifies_whom_it_concerns(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let post = write(&service, mia, "What a save!");
    service.clock().advance(HOUR);
    service.done(FollowUser { fan: bo, other: mia });
    react(&service, bo, post, Some(ReactionKind::Fire));
    service.clock().advance(HOUR);
    react(&service, kim, post, Some(ReactionKind::Like));
    let said = comment(&service, bo, post, "Indeed, @kim");
    service.clock().advance(HOUR);
    reply(&service, kim, post, said, "No, @mia @bo_");
    service.done(LikeComment { fan: mia, post, comment: said, likes: true });
    let of_mia = notified(&service, mia);
    let seen: Vec<_> = of_mia.iter().map(|it| (it.kind, it.text.as_str(), it.url.clone())).collect();
    let path = format!("/posts/{post}");
    // The reply of kim mentions mia: that goes before the comment on her post.
    let expected = [
        (NotificationKind::Mention, "kim mentioned you in a comment", path.clone()),
        (NotificationKind::Comment, "bo_ commented on your post", path.clone()),
        (NotificationKind::Reaction, "kim and bo_ reacted to your post", path.clone()),
        (NotificationKind::Follow, "bo_ followed you", "/fans".to_owned()),
    ];
    assert_eq!(seen.len(), 4, "{seen:?}");
    for row in expected {
        assert!(seen.contains(&row), "{row:?} in {seen:?}");
    }
    let reaction = of_mia.iter().find(|it| it.kind == NotificationKind::Reaction).expect("one");
    let actors: Vec<_> = reaction.actors.iter().map(|card| card.id).collect();
    assert_eq!((actors, reaction.actor_count), (vec![kim, bo], 2));
    assert_eq!(reaction.subject.title.as_deref(), Some("What a save!"));
    // A reply goes before a mention; a like is a reaction to a comment.
    let of_bo: Vec<_> = notified(&service, bo).into_iter().map(|it| it.kind).collect();
    assert_eq!(of_bo.len(), 2);
    assert!(of_bo.contains(&NotificationKind::Reply) && of_bo.contains(&NotificationKind::Reaction));
    assert_eq!(texts(&service, kim), ["bo_ mentioned you in a comment"]);
    assert_eq!(unread(&service, mia), 4);
    verify(&service);
    Ok(())
}

/// The test kit runs every transaction twice; here consumers of two processes run at once, and one starts over.
fn spec_6_an_event_notifies_a_fan_once_whatever_is_repeated(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let fans = service.crowd("fan", 30);
    let posts: Vec<PostId> = (0..4).map(|n| write(&service, mia, &format!("Post {n}"))).collect();
    for (n, fan) in fans.iter().enumerate() {
        comment(&service, *fan, posts[n % 4], "Olé");
        react(&service, *fan, posts[n % 4], Some(ReactionKind::Like));
    }
    service.settled();
    let apps = [service.app(), other.app(), service.app(), other.app()].map(Arc::clone);
    for done in service.together(apps.map(|app| async move { app.catch_up_consumers().await })) {
        done.expect("working consumers");
    }
    catch_up(&service);
    let events = service.log(Position::START).into_iter();
    let made = events.filter(|event| event.what.kind == EventKind::NotificationCreated).count();
    assert!(made >= 8, "{made}");
    let shown = inbox(&service, mia);
    assert_eq!(shown.page.items.len(), 8, "a group of comments and one of reactions for each post");
    let count = |kind| {
        let of_kind = shown.page.items.iter().filter(|it| it.kind == kind);
        of_kind.map(|it| it.actor_count).sum::<i64>()
    };
    assert_eq!((count(NotificationKind::Comment), count(NotificationKind::Reaction)), (30, 30));
    assert_eq!(unread(&service, mia), 8);
    verify(&service);
    Ok(())
}

fn spec_6_events_of_a_day_are_one_group_also_over_midnight(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let [ana, bea, cai] = ["ana", "bea", "cai"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    service.clock().set("2026-05-01T23:59:00Z".parse()?);
    react(&service, ana, post, Some(ReactionKind::Like));
    service.clock().set("2026-05-02T23:58:00Z".parse()?);
    react(&service, bea, post, Some(ReactionKind::Like));
    service.clock().set("2026-05-02T23:59:00Z".parse()?);
    react(&service, cai, post, Some(ReactionKind::Like));
    let counts: Vec<_> = notified(&service, mia).iter().map(|it| it.actor_count).collect();
    assert_eq!(counts, [1, 2], "a day after its first event, a new group begins");
    Ok(())
}

fn spec_6_a_group_that_changed_is_unread_again_in_its_place(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let [ana, bea] = ["ana", "bea"].map(|name| service.fan(name).id);
    let [first, second] = [(); 2].map(|()| post(&service, mia));
    react(&service, ana, first, Some(ReactionKind::Like));
    service.clock().advance(HOUR);
    react(&service, ana, second, Some(ReactionKind::Like));
    let before = notified(&service, mia);
    let position = inbox(&service, mia).position;
    let at = service.clock().now();
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::UpTo(position) }), 0);
    assert!(inbox(&service, mia).page.items.iter().all(|it| it.read_at == Some(at)));
    service.clock().advance(HOUR);
    react(&service, bea, first, Some(ReactionKind::Fire));
    let after = notified(&service, mia);
    let ids = |list: &[ShownNotification]| list.iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(&after), ids(&before), "the order is that of the first event");
    assert_eq!((after[0].read_at, after[1].read_at), (Some(at), None));
    assert_eq!((unread(&service, mia), after[1].actor_count), (1, 2));
    // The same fan comments twice: the group is unread again, and counts the fan once.
    comment(&service, ana, second, "One");
    catch_up(&service);
    let position = inbox(&service, mia).position;
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::UpTo(position) }), 0);
    comment(&service, ana, second, "Two");
    let comments = notified(&service, mia).into_iter().find(|it| it.kind == NotificationKind::Comment);
    let comments = comments.expect("the group");
    assert_eq!((comments.actor_count, comments.read_at), (1, None));
    verify(&service);
    Ok(())
}

fn spec_6_a_reaction_follow_or_like_that_is_toggled_counts_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let said = comment(&service, mia, post, "Mine");
    let toggle = || {
        service.done(FollowUser { fan: bo, other: mia });
        react(&service, bo, post, Some(ReactionKind::Like));
        react(&service, bo, post, Some(ReactionKind::Fire));
        service.done(LikeComment { fan: bo, post, comment: said, likes: true });
        catch_up(&service);
        service.done(UnfollowUser { fan: bo, other: mia });
        react(&service, bo, post, None);
        service.done(LikeComment { fan: bo, post, comment: said, likes: false });
        catch_up(&service);
    };
    toggle();
    assert_eq!(inbox(&service, mia).page.items.len(), 3);
    let position = inbox(&service, mia).position;
    service.done(MarkRead { user: mia, mark: ReadMark::UpTo(position) });
    toggle();
    // Also after a day, when a new group would begin.
    service.clock().advance(HOUR * 30);
    toggle();
    let shown = inbox(&service, mia);
    assert_eq!((shown.page.items.len(), shown.unread), (3, 0));
    assert!(shown.page.items.iter().all(|it| it.actor_count == 1));
    // What was taken back before the consumer came by notifies no one.
    let quick = service.fan("quick").id;
    service.done(FollowUser { fan: quick, other: mia });
    service.done(UnfollowUser { fan: quick, other: mia });
    react(&service, quick, post, Some(ReactionKind::Like));
    react(&service, quick, post, None);
    assert_eq!(notified(&service, mia).len(), 3);
    Ok(())
}

fn spec_6_no_one_is_notified_of_a_fan_who_is_hidden(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, blocked, blocking, gone] =
        ["mia", "blocked", "blocking", "gone"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let said = comment(&service, mia, post, "Mine");
    for fan in [blocked, blocking, gone] {
        service.done(FollowUser { fan, other: mia });
        react(&service, fan, post, Some(ReactionKind::Like));
        comment(&service, fan, post, "Olé @mia");
        reply(&service, fan, post, said, "So");
        service.done(LikeComment { fan, post, comment: said, likes: true });
    }
    // All of it is in the log, but the consumer has not come by yet.
    service.done(BlockUser { fan: mia, other: blocked });
    service.done(BlockUser { fan: blocking, other: mia });
    suspend(&service, "gone");
    assert_eq!(texts(&service, mia), Vec::<String>::new());
    assert_eq!(unread(&service, mia), 0);
    // An account that is not active gets none.
    let other = service.fan("other").id;
    suspend(&service, "mia");
    service.done(FollowUser { fan: other, other: blocked });
    catch_up(&service);
    assert_eq!(inbox(&service, mia).page.items.len(), 0);
    assert_eq!(texts(&service, blocked), ["other followed you"]);
    Ok(())
}

fn spec_6_a_block_removes_what_was_before(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    for fan in [bo, kim] {
        react(&service, fan, post, Some(ReactionKind::Like));
    }
    service.done(FollowUser { fan: bo, other: mia });
    assert_eq!((notified(&service, mia).len(), unread(&service, mia)), (2, 2));
    service.done(BlockUser { fan: bo, other: mia });
    // At once, and in the counters when the consumer has come by.
    let shown = inbox(&service, mia).page.items;
    assert_eq!(shown.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(), ["kim reacted to your post"]);
    assert_eq!((texts(&service, mia).len(), unread(&service, mia)), (1, 1));
    verify(&service);
    Ok(())
}

fn spec_6_what_is_deleted_is_dropped_and_counts_no_more(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let [gone, stays] = [(); 2].map(|()| post(&service, mia));
    react(&service, bo, gone, Some(ReactionKind::Like));
    let said = comment(&service, bo, stays, "One");
    let other = comment(&service, kim, stays, "Two");
    let mention = write(&service, kim, "Thanks @mia");
    assert_eq!((notified(&service, mia).len(), unread(&service, mia)), (3, 3));
    service.done(DeletePost { user: mia, post: gone });
    service.done(DeletePost { user: kim, post: mention });
    service.done(DeleteComment { user: bo, post: stays, comment: said });
    let shown = inbox(&service, mia);
    let texts: Vec<_> = shown.page.items.iter().map(|it| it.text.as_str()).collect();
    assert_eq!((texts, shown.unread), (vec!["kim commented on your post"], 1));
    assert_eq!(unread(&service, mia), 1);
    service.done(DeleteComment { user: kim, post: stays, comment: other });
    assert_eq!((inbox(&service, mia).page.items.len(), unread(&service, mia)), (0, 0));
    // The group of the day takes up the next comment, and is in the inbox again.
    comment(&service, bo, stays, "Three");
    assert_eq!((notified(&service, mia).len(), unread(&service, mia)), (1, 1));
    verify(&service);
    Ok(())
}

fn spec_6_pages_neither_repeat_nor_skip_when_more_arrives(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let posts: Vec<PostId> = (0..7).map(|_| post(&service, mia)).collect();
    for post in &posts[..5] {
        react(&service, bo, *post, Some(ReactionKind::Like));
        service.clock().advance(HOUR);
    }
    catch_up(&service);
    let all: Vec<_> = inbox(&service, mia).page.items.iter().map(|it| it.id).collect();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let shown = page(&service, mia, Limit::new(2)?, after).page;
        seen.extend(shown.items.iter().map(|it| it.id));
        after = shown.next;
        if after.is_none() {
            break;
        }
        let arrived = posts[4 + seen.len() / 2];
        react(&service, bo, arrived, Some(ReactionKind::Like));
        comment(&service, bo, posts[0], "A change");
        catch_up(&service);
    }
    assert_eq!(seen, all);
    assert_eq!(inbox(&service, mia).page.items.len(), 8);
    Ok(())
}

fn spec_6_a_mark_reads_what_the_inbox_contained(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let [first, second, third] = [(); 3].map(|()| post(&service, mia));
    react(&service, bo, first, Some(ReactionKind::Like));
    catch_up(&service);
    let shown = inbox(&service, mia);
    // In the log when the inbox is read, but not in the inbox yet.
    react(&service, bo, second, Some(ReactionKind::Like));
    service.settled();
    let position = inbox(&service, mia).position;
    assert!(position >= shown.position);
    catch_up(&service);
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::UpTo(position) }), 1);
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::UpTo(position) }), 1, "again");
    react(&service, bo, third, Some(ReactionKind::Like));
    let unread_ids: Vec<_> =
        notified(&service, mia).into_iter().filter(|it| it.read_at.is_none()).map(|it| it.id).collect();
    assert_eq!(unread_ids.len(), 2);
    let others = service.fan("kim").id;
    assert_eq!(service.done(MarkRead { user: others, mark: ReadMark::Ids(unread_ids.clone()) }), 0);
    assert_eq!(unread(&service, mia), 2, "another fan cannot mark them");
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::Ids(unread_ids[..1].to_vec()) }), 1);
    assert_eq!(unread(&service, mia), 1);
    let log = service.log(Position::START).into_iter();
    let marks = log.filter(|event| event.what.kind == EventKind::NotificationRead);
    let marks: Vec<_> = marks.map(|event| event.detail.unwrap_or_default().to_string()).collect();
    assert_eq!(
        marks,
        [position.to_string(), unread_ids[0].to_string()],
        "a mark without effect has no event"
    );
    verify(&service);
    Ok(())
}

fn spec_6_preferences_exclude_kinds(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    assert_eq!(service.found(ReadPreferences { user: mia }), Preferences::default());
    let mut preferences = Preferences::default();
    preferences.set(NotificationKind::Follow, KindPreference { in_app: false, push: false });
    preferences.set(NotificationKind::Reaction, KindPreference { in_app: false, push: true });
    preferences.set(NotificationKind::Mention, KindPreference { in_app: false, push: false });
    preferences.quiet_hours = Some(QuietHours::new("22:00".parse()?, "07:00".parse()?)?);
    service.done(SetPreferences { user: mia, preferences: preferences.clone() });
    assert_eq!(service.found(ReadPreferences { user: mia }), preferences);
    let post = post(&service, mia);
    service.done(FollowUser { fan: bo, other: mia });
    react(&service, bo, post, Some(ReactionKind::Like));
    // A mention that is not wanted leaves the comment on the post.
    comment(&service, bo, post, "Yes @mia");
    assert_eq!(texts(&service, mia), ["bo_ commented on your post"]);
    assert_eq!(unread(&service, mia), 1);
    service.done(SetPreferences { user: mia, preferences: Preferences::default() });
    assert_eq!(service.found(ReadPreferences { user: mia }), Preferences::default());
    verify(&service);
    let gone = service.fan("gone").id;
    suspend(&service, "gone");
    service.refused(SetPreferences { user: gone, preferences });
    Ok(())
}

fn spec_6_a_closed_account_leaves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let kim = service.fan("kim").id;
    let [of_mia, of_bo] = [mia.id, bo.id].map(|author| post(&service, author));
    for fan in [kim, bo.id] {
        react(&service, fan, of_mia, Some(ReactionKind::Like));
    }
    react(&service, mia.id, of_bo, Some(ReactionKind::Like));
    service.done(FollowUser { fan: bo.id, other: mia.id });
    assert_eq!(notified(&service, mia.id).len(), 2);
    let mut preferences = Preferences::default();
    preferences.set(NotificationKind::Follow, KindPreference { in_app: true, push: false });
    service.done(SetPreferences { user: bo.id, preferences });
    assert_eq!(delete(&service, bo.cookie, PASSWORD), None);
    catch_up(&service);
    let shown = inbox(&service, mia.id);
    assert_eq!((shown.page.items.len(), shown.unread, shown.page.items[0].actor_count), (1, 1, 1));
    for (table, column) in [
        ("notifications", "user_id"),
        ("notification_actors", "user_id"),
        ("notification_actors", "actor_id"),
        ("notification_quotas", "user_id"),
        ("notification_quotas", "actor_id"),
        ("notification_preferences", "user_id"),
        ("notification_inboxes", "user_id"),
    ] {
        let user = match kind {
            DatabaseKind::Postgres => format!("'{}'", bo.id),
            DatabaseKind::Sqlite => format!("X'{}'", bo.id.as_uuid().simple()),
        };
        let rows = format!("SELECT CAST(count(*) AS text) AS text FROM {table} WHERE {column} = {user}");
        assert_eq!(service.storage().read_by_hand(&rows)?, ["0"], "{table}.{column}");
    }
    verify(&service);
    Ok(())
}
