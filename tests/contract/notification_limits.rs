//! Contract part 2 §6, notifications: their limits, and what a large group costs.

use super::counters::post;
use super::deletion::catch_up;
use super::notifications::{HOUR, comment, inbox, notified, page, react, unread, verify, write};
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::accounts::GetOwnProfile;
use terrace_testkit::app::graph::FollowUser;
use terrace_testkit::app::room::{EditPost, React};
use terrace_testkit::kernel::{Limit, Position, PostId, UserId};
use terrace_testkit::social::ReactionKind;
use terrace_testkit::social::notifications::{InboxChange, NewGroup, Notice, NotificationKind};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_6_a_text_notifies_five_fans_over_all_versions,
    spec_6_a_fan_causes_twenty_notifications_of_another_on_a_day,
    spec_6_an_inbox_keeps_a_thousand_and_notifications_live_for_ninety_days,
    spec_6_a_group_that_leaves_a_full_inbox_takes_up_no_later_event_of_the_same_transaction,
    spec_6_events_notify_the_same_one_by_one_and_together,
    spec_6_ten_thousand_reactions_are_one_group_with_bounded_work,
}

fn spec_6_a_text_notifies_five_fans_over_all_versions(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let fans = service.crowd("fan", 8);
    let names: Vec<String> = fans
        .iter()
        .map(|fan| format!("@{}", service.found(GetOwnProfile { user: *fan }).account.card.username))
        .collect();
    let post = write(&service, mia, &names[..3].join(" "));
    catch_up(&service);
    service.done(EditPost { user: mia, post, body: names[1..6].join(" ") });
    catch_up(&service);
    service.done(EditPost { user: mia, post, body: names[3..8].join(" ") });
    catch_up(&service);
    let counts: Vec<usize> = fans.iter().map(|fan| inbox(&service, *fan).page.items.len()).collect();
    // Fans whom a later version no longer mentions were notified of the post all the same.
    assert_eq!(counts, [1, 1, 1, 1, 1, 0, 0, 0]);
    Ok(())
}

fn spec_6_a_fan_causes_twenty_notifications_of_another_on_a_day(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    service.clock().set("2026-05-01T12:00:00Z".parse()?);
    let posts: Vec<PostId> = (0..25).map(|_| post(&service, mia)).collect();
    for post in &posts {
        react(&service, bo, *post, Some(ReactionKind::Like));
    }
    assert_eq!(notified(&service, mia).len(), 20);
    react(&service, kim, posts[24], Some(ReactionKind::Like));
    assert_eq!(notified(&service, mia).len(), 21);
    service.clock().set("2026-05-02T00:00:01Z".parse()?);
    comment(&service, bo, posts[0], "Another day");
    assert_eq!(notified(&service, mia).len(), 22);
    Ok(())
}

/// Puts notifications of orders into an inbox, from now on one in each millisecond.
fn fill(service: &TestApp, user: UserId, orders: u64) {
    service.write(move |tx, ctx| {
        tx.lock_inboxes(&[user])?;
        for n in 0..orders {
            let at = ctx.now().plus(Duration::from_millis(n + 1));
            let notice = Notice {
                recipient: user,
                kind: NotificationKind::Order,
                actor: None,
                subject: ctx.new_id(),
                object: None,
                detail: Some("paid".to_owned()),
                at,
                position: Position::START,
            };
            let id = ctx.new_id_at(at);
            tx.insert_groups(&[NewGroup { id, first: &notice, last: &notice, actors: 0, in_app: true }])?;
        }
        let added = orders.try_into().unwrap_or(i64::MAX);
        Ok(tx.change_inboxes(&[InboxChange { listed: added, unread: added, ..InboxChange::none(user) }])?)
    });
}

fn spec_6_an_inbox_keeps_a_thousand_and_notifications_live_for_ninety_days(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let mia = service.fan("mia").id;
    let bo = service.fan("bo_").id;
    let post = post(&service, mia);
    react(&service, bo, post, Some(ReactionKind::Like));
    let oldest = notified(&service, mia)[0].id;
    fill(&service, mia, 999);
    assert_eq!(unread(&service, mia), 1000);
    verify(&service);
    service.clock().advance(HOUR);
    comment(&service, bo, post, "One more");
    catch_up(&service);
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let shown = page(&service, mia, Limit::MAX, after).page;
        all.extend(shown.items.into_iter().map(|it| it.id));
        after = shown.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((all.len(), unread(&service, mia)), (1000, 1000));
    assert!(!all.contains(&oldest));
    verify(&service);
    // The one that had no room is removed by the next sweep, all others 90 days after their first events.
    let sweep =
        || service.run(terrace_testkit::ops::sweep(service.app())).expect("a working store").notifications;
    assert_eq!(sweep(), 2, "the notification and its actor");
    // A second after the last of them has its age, and long before that of the comment.
    service.clock().advance(HOUR * (24 * 90 - 1) + Duration::from_secs(1));
    assert_eq!((sweep(), unread(&service, mia)), (999, 1));
    service.clock().advance(HOUR);
    assert_eq!((sweep(), unread(&service, mia)), (2, 0));
    verify(&service);
    Ok(())
}

fn spec_6_a_group_that_leaves_a_full_inbox_takes_up_no_later_event_of_the_same_transaction(
    kind: DatabaseKind,
) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let [mia, bo, kim, lea] = ["mia", "bo_", "kim", "lea"].map(|name| service.fan(name).id);
    let [first, second] = [post(&service, mia), post(&service, mia)];
    react(&service, bo, first, Some(ReactionKind::Like));
    let oldest = notified(&service, mia)[0].id;
    fill(&service, mia, 999);
    service.clock().advance(HOUR);
    // The first of these belongs to the oldest group, and the second one makes that leave.
    react(&service, kim, first, Some(ReactionKind::Like));
    comment(&service, bo, second, "One more");
    react(&service, lea, first, Some(ReactionKind::Like));
    catch_up(&service);
    let newest = inbox(&service, mia).page.items;
    let reaction = newest.iter().find(|shown| shown.kind == NotificationKind::Reaction).expect("a group");
    assert_ne!(reaction.id, oldest);
    assert_eq!((reaction.text.as_str(), reaction.actor_count), ("lea reacted to your post", 1));
    assert_eq!(unread(&service, mia), 1000);
    verify(&service);
    Ok(())
}

/// What a fan sees of a notification, without ids and times, which differ between two services.
type Seen = (NotificationKind, String, i64, Vec<String>, bool);

fn spec_6_events_notify_the_same_one_by_one_and_together(kind: DatabaseKind) -> Result<()> {
    let seen = |is_one_by_one: bool| -> Result<Vec<(i64, Vec<Seen>)>> {
        let service = TestApp::without_dry_run(kind)?;
        service.clock().set("2026-05-01T20:00:00Z".parse()?);
        let names = ["ana", "bo_", "kim", "lea"];
        let fans = names.map(|name| service.fan(name).id);
        let posts = fans.map(|fan| write(&service, fan, "What a save!"));
        let mut dice = 0x00C0_FFEE_u32;
        let mut roll = |below: u32| {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            usize::try_from((dice >> 16) % below).unwrap_or_default()
        };
        for step in 0..240 {
            let (nth, post) = (roll(4), posts[roll(4)]);
            let (fan, other) = (fans[nth], fans[(nth + 1 + roll(3)) % 4]);
            match roll(8) {
                // Two of them reach the limit of a day.
                0..=3 => drop(comment(&service, fans[roll(2)], posts[roll(2)], &format!("Comment {step}"))),
                4 => drop(comment(&service, fan, post, &format!("Do you see, @{}?", names[roll(4)]))),
                5 => react(&service, fan, post, Some(ReactionKind::ALL[roll(6)])),
                6 => drop(service.done(FollowUser { fan, other })),
                _ => drop(write(&service, fan, &format!("@{} and @{}", names[roll(4)], names[roll(4)]))),
            }
            if step % 30 == 29 {
                service.clock().advance(HOUR * 7);
            }
            if is_one_by_one {
                catch_up(&service);
            }
        }
        catch_up(&service);
        verify(&service);
        let of_fan = |fan: UserId| {
            let shown = inbox(&service, fan).page.items.into_iter();
            let mut rows: Vec<Seen> = shown
                .map(|it| {
                    let actors = it.actors.into_iter().map(|card| card.username).collect();
                    (it.kind, it.text, it.actor_count, actors, it.read_at.is_some())
                })
                .collect();
            rows.sort();
            (unread(&service, fan), rows)
        };
        Ok(fans.into_iter().map(of_fan).collect())
    };
    let together = seen(false)?;
    assert!(together.iter().any(|(unread, rows)| *unread > 20 && rows.len() > 20), "{together:?}");
    assert_eq!(together, seen(true)?);
    Ok(())
}

/// The statements for a batch of events do not depend on the size of the group, and neither does a page.
fn spec_6_ten_thousand_reactions_are_one_group_with_bounded_work(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let mia = service.fan("mia").id;
    let post = post(&service, mia);
    let fans = service.crowd("fan", 10_000);
    let cost = |work: &dyn Fn()| {
        let before = service.storage().statements();
        work();
        service.storage().statements() - before
    };
    // The least of some reads: the process executes a statement now and then beside them.
    let cost_of_a_page = || (0..5).map(|_| cost(&|| drop(inbox(&service, mia)))).min();
    let react_all = |fans: &[UserId]| {
        for some in fans.chunks(500) {
            let reactions = some.iter().map(|fan| {
                let (app, fan) = (std::sync::Arc::clone(service.app()), *fan);
                async move { app.execute(React { fan, post, kind: Some(ReactionKind::Like) }).await.is_ok() }
            });
            assert!(service.together(reactions).into_iter().all(|done| done));
        }
        service.settled();
    };
    let consume = || service.run(service.app().catch_up_consumers()).expect("working consumers");
    react_all(&fans[..64]);
    let first = cost(&consume);
    let small = cost_of_a_page();
    react_all(&fans[64..9_936]);
    consume();
    react_all(&fans[9_936..]);
    let last = cost(&consume);
    // Other consumers also pass over what was skipped before.
    assert!(last < first + 150, "{last} statements for the last 64 reactions, {first} for the first");
    let read = cost_of_a_page();
    let shown = inbox(&service, mia);
    let [only] = &shown.page.items[..] else { panic!("one group: {:?}", shown.page.items.len()) };
    assert_eq!((only.actor_count, only.actors.len(), shown.unread), (10_000, 3, 1));
    assert!(only.text.ends_with("and 9998 others reacted to your post"), "{}", only.text);
    assert!(read <= small, "{read:?} statements for a page of a large group, {small:?} of a small one");
    verify(&service);
    Ok(())
}
