//! Spec §1 rule 13: counters are recounted, and rows that should have been removed are removed, once, also
//! beside fans who are active.

use super::counters::{be_busy, post};
use super::deletion::catch_up;
use super::payments::{begin, notice, paid_shop, send_notice};
use super::repairs::{damage, differences, id, repair_counts, run, stored, verified};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::graph::{BlockUser, FollowTeam, FollowUser};
use terrace_testkit::app::payments::NoticeKind;
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::app::room::{CreateComment, DeletePost, LikeComment, React, ReportComment};
use terrace_testkit::identity::Password;
use terrace_testkit::kernel::{EventKind, UserId};
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_13_counters_are_recounted,
    counters_are_recounted_beside_active_fans,
    spec_1_rule_13_no_follow_exists_beside_a_block,
    spec_1_rule_13_leftover_rows_of_deleted_accounts_are_removed,
    spec_1_rule_13_deleted_posts_are_removed,
    spec_1_rule_13_old_notices_are_removed_unless_something_is_open,
}

fn follow(service: &TestApp, fan: UserId, other: UserId) {
    service.done(FollowUser { fan, other });
}

/// Fans who follow each other and a team, write and react.
fn lively(service: &TestApp) -> Vec<UserId> {
    let (fans, team) = (service.crowd("fan", 8), service.team("foxes"));
    for (n, fan) in fans.iter().enumerate() {
        for other in fans.iter().skip(n + 1) {
            follow(service, *fan, *other);
        }
        service.done(FollowTeam { fan: *fan, team });
        let post = post(service, *fan);
        for other in fans.iter().take(n) {
            let comment = CreateComment { author: *other, post, body: "Yes".to_owned() };
            let comment = service.done(comment).comment.id;
            service.done(LikeComment { fan: *fan, post, comment, likes: true });
            let kind = ReactionKind::ALL.get(n % 6).copied();
            service.done(React { fan: *other, post, kind });
        }
    }
    fans
}

fn spec_1_rule_13_counters_are_recounted(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = lively(&service);
    let deleted = post(&service, fans[0]);
    service.done(DeletePost { user: fans[0], post: deleted });
    // Their consumers fill the inboxes.
    catch_up(&service);
    let right = stored(&service, &[]);
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(repair_counts(&service, "repair-counters"), nothing);
    let (mia, gone) = (id(&service, fans[3]), id(&service, deleted));
    damage(
        &service,
        &[
            &format!("UPDATE posts SET comment_count = comment_count + 3, love_count = 7 WHERE id <> {gone}"),
            "UPDATE comments SET like_count = like_count + 4",
            "UPDATE users SET follower_count = 0",
            &format!("UPDATE users SET following_count = 99 WHERE id = {mia}"),
            "UPDATE teams SET follower_count = follower_count + 1",
            // Each of the two right numbers would contradict the other wrong one.
            "UPDATE notification_inboxes SET listed = 900, unread = 800",
            "UPDATE notifications SET actor_count = actor_count + 1 WHERE listed",
        ],
    );
    let off: u64 = service.found(terrace_testkit::ops::Verify).iter().map(|check| check.wrong).sum();
    let repaired = repair_counts(&service, "repair-counters");
    assert_eq!(
        repaired.iter().map(|(_, rows)| rows).sum::<u64>(),
        off,
        "what verification finds: {repaired:?}"
    );
    let names: Vec<_> = repaired.iter().map(|(name, _)| *name).collect();
    let expected = [
        "comments.like_count",
        "notification_inboxes.listed",
        "notification_inboxes.unread",
        "notifications.actor_count",
        "posts.comment_count",
        "posts.love_count",
        "teams.follower_count",
        "users.follower_count",
        "users.following_count",
    ];
    assert_eq!(names, expected);
    assert_eq!(differences(&right, &stored(&service, &[])), Vec::<String>::new());
    verified(&service);
    Ok(())
}

/// Sixteen writers in two processes, continuous damage and two processes that recount: in the end every
/// counter is right.
fn counters_are_recounted_beside_active_fans(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (other, third) = (service.another()?, service.another()?);
    let fans = service.crowd("fan", 16);
    let posts = [post(&service, fans[0]), post(&service, fans[1])];
    let works: Vec<_> = fans
        .iter()
        .enumerate()
        .map(|(n, fan)| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let (fan, followed) = (*fan, fans[(n + 1) % fans.len()]);
            service.spawn(async move {
                app.execute(FollowUser { fan, other: followed }).await.expect("a follow");
                be_busy(app, fan, posts).await
            })
        })
        .collect();
    while works.iter().any(|work| !work.is_finished()) {
        // Upwards: active fans lower the counter by one, so it must not reach zero.
        // One post at a time: writes of fans lock several posts in the order of their ids.
        for post in posts.map(|post| id(&service, post)) {
            let higher = format!(
                "UPDATE posts SET comment_count = comment_count + 1, fire_count = fire_count + 2 WHERE id = {post}"
            );
            damage(&service, &[&higher]);
        }
        run(&third, &["repair-counters"], false);
    }
    for work in works {
        service.join(work);
    }
    run(&third, &["repair-counters"], false);
    verified(&service);
    Ok(())
}

fn spec_1_rule_13_no_follow_exists_beside_a_block(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = service.crowd("fan", 3)[..] else { panic!("three fans") };
    service.done(BlockUser { fan: mia, other: bo });
    service.done(BlockUser { fan: kim, other: mia });
    follow(&service, bo, kim);
    let right = stored(&service, &[]);
    let edge = |from, to| {
        let (from, to) = (id(&service, from), id(&service, to));
        format!(
            "INSERT INTO follows (follower_id, followee_id, created_at) SELECT {from}, {to}, created_at FROM users WHERE id = {from}"
        )
    };
    damage(&service, &[&edge(mia, bo), &edge(bo, mia), &edge(mia, kim)]);
    // As if the edges had been counted.
    run(&service, &["repair-counters"], false);
    let before = service.settled();
    assert_eq!(repair_counts(&service, "sweep-blocked-follows"), [("follows", 3)]);
    let kinds: Vec<_> = service.log(before).into_iter().map(|event| event.what.kind).collect();
    assert_eq!(kinds, [EventKind::UserUnfollowed; 3]);
    assert_eq!(differences(&right, &stored(&service, &[])), Vec::<String>::new());
    verified(&service);
    Ok(())
}

fn spec_1_rule_13_leftover_rows_of_deleted_accounts_are_removed(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    service.run(service.app().found_seasons())?;
    let mia = service.fan("mia");
    let others = lively(&service);
    let (own, theirs) = (post(&service, mia.id), post(&service, others[0]));
    service.done(CreateComment { author: mia.id, post: theirs, body: "Mine".to_owned() });
    let comment = CreateComment { author: others[1], post: own, body: "Theirs".to_owned() };
    let comment = service.done(comment).comment.id;
    service.done(LikeComment { fan: mia.id, post: own, comment, likes: true });
    let reason = "Spam".to_owned();
    service.done(ReportComment { fan: mia.id, post: own, comment, reason });
    service.done(LikeComment { fan: others[0], post: own, comment, likes: true });
    service.done(React { fan: mia.id, post: theirs, kind: Some(ReactionKind::Fire) });
    follow(&service, mia.id, others[0]);
    follow(&service, others[1], mia.id);
    service.done(BlockUser { fan: mia.id, other: others[2] });
    service.done(FollowTeam { fan: mia.id, team: service.team("foxes") });
    service.done(VisitDaily { user: mia.id, awards: service.app().awards() });
    let viewer = service.viewer(mia.cookie).expect("a session");
    service.run(service.app().delete_account(&viewer, Password::offer(PASSWORD.to_owned()))).expect("an end");
    // The event that would start the removal is lost with the log, and what was removed at once is there
    // again.
    service.settled();
    let user = id(&service, mia.id);
    let unlocked = format!(
        "INSERT INTO user_achievements (user_id, achievement_key, unlocked_at) \
         SELECT id, 'voice', created_at FROM users WHERE id = {user}"
    );
    damage(&service, &["DELETE FROM events", &unlocked]);
    let before = service.settled();
    let repaired = repair_counts(&service, "sweep-deleted-accounts");
    for (kind, rows) in [
        ("blocks", 1),
        ("comment_likes", 1),
        ("reports", 1),
        ("comments", 1),
        ("followers", 1),
        ("follows", 1),
        ("posts", 1),
        ("reactions", 1),
        ("team_follows", 1),
        ("user_achievements", 1),
    ] {
        assert!(repaired.contains(&(kind, rows)), "{kind}: {repaired:?}");
    }
    let kinds: Vec<_> = service.log(before).into_iter().map(|event| event.what.kind).collect();
    assert!(
        kinds.contains(&EventKind::PostDeleted) && kinds.contains(&EventKind::CommentDeleted),
        "{kinds:?}"
    );
    verified(&service);
    // The posts that it marked are removed as any deleted post is, by the consumer or, later, by the next
    // task.
    service.clock().advance(Duration::from_hours(2));
    let expected = [("comment_likes", 1), ("comments", 1), ("posts", 1)];
    assert_eq!(repair_counts(&service, "sweep-deleted-posts"), expected);
    verified(&service);
    Ok(())
}

fn spec_1_rule_13_deleted_posts_are_removed(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 4);
    let kept = post(&service, fans[0]);
    service.done(CreateComment { author: fans[1], post: kept, body: "Stays".to_owned() });
    let right = stored(&service, &[]);
    let posts = [post(&service, fans[0]), post(&service, fans[1])];
    for post in posts {
        for fan in &fans {
            service.done(CreateComment { author: *fan, post, body: "Goes #along".to_owned() });
            service.done(React { fan: *fan, post, kind: Some(ReactionKind::Like) });
        }
    }
    for (post, author) in posts.into_iter().zip(&fans) {
        service.done(DeletePost { user: *author, post });
    }
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(repair_counts(&service, "sweep-deleted-posts"), nothing, "the consumer has its time");
    service.clock().advance(Duration::from_hours(2));
    assert_eq!(
        repair_counts(&service, "sweep-deleted-posts"),
        [("comments", 8), ("posts", 2), ("reactions", 8)]
    );
    assert_eq!(differences(&right, &stored(&service, &[])), Vec::<String>::new());
    // The consumer, late, finds nothing to do.
    service.settled();
    service.run(service.app().catch_up_consumers())?;
    verified(&service);
    Ok(())
}

fn spec_1_rule_13_old_notices_are_removed_unless_something_is_open(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let paid = super::packs::pack(&service, "paid").id;
    let [settled, open, new] = [1, 2, 3].map(|copies| begin(&service, mia, paid, copies));
    send_notice(&service, notice(NoticeKind::Paid, &settled));
    let mut other = notice(NoticeKind::Paid, &open);
    other.money.amount += 1;
    send_notice(&service, other);
    service.clock().advance(Duration::from_hours(401 * 24));
    send_notice(&service, notice(NoticeKind::Cancelled, &new));
    assert_eq!(repair_counts(&service, "sweep-notices"), [("notices", 1)]);
    let left = service.storage().read_by_hand("SELECT kind AS text FROM payment_notices ORDER BY kind")?;
    assert_eq!(left, ["cancelled", "paid"]);
    Ok(())
}
