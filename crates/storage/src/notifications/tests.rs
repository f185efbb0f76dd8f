//! Statements on notifications. What they do together is tested in `tests/contract/notifications.rs`.

use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, uuid};
use std::collections::{HashMap, HashSet};
use terrace_kernel::{Limit, Position, UserId};
use terrace_social::notifications::{
    GroupActor, GroupChange, InboxChange, KindPreference, NOTIFICATION_LIFE, NewGroup, Notice,
    NotificationId, NotificationKind, NotificationRead, NotificationWrite, Preferences, QuietHours, Quota,
    ReadMark,
};
use terrace_store::Audit;

on_each_database! {
    a_group_counts_its_actors_and_its_inbox_counts_it,
    inboxes_change_each_by_its_own,
    a_shared_row_is_read_by_each_fan,
    preferences_are_stored_as_they_were_set,
    rows_of_a_closed_account_and_expired_ones_are_removed,
}

fn reaction(recipient: UserId, actor: UserId, subject: u128, micros: i64) -> Notice {
    Notice {
        recipient,
        kind: NotificationKind::Reaction,
        actor: Some(actor),
        subject: uuid(subject),
        object: None,
        detail: None,
        at: at(micros),
        position: Position::new(micros).unwrap(),
    }
}

fn actor(group: NotificationId, last: &Notice) -> GroupActor<'_> {
    GroupActor { group, actor: last.actor.unwrap(), last }
}

fn insert(tx: &mut crate::tx::DieselTx<'_>, id: u128, notice: &Notice) -> NotificationId {
    let id = NotificationId::from(uuid(id));
    tx.lock_inboxes(&[notice.recipient]).unwrap();
    tx.insert_groups(&[NewGroup { id, first: notice, last: notice, actors: 1, in_app: true }]).unwrap();
    assert_eq!(tx.put_actors(&[actor(id, notice)]).unwrap(), [id]);
    tx.change_inboxes(&[InboxChange { user: notice.recipient, listed: 1, unread: 1, level: Some(2) }])
        .unwrap();
    id
}

fn counters_agree(tx: &mut crate::tx::DieselTx<'_>) {
    let wrong: Vec<_> = tx.audit_counters().unwrap().into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn inboxes_change_each_by_its_own(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let fans = [1, 2, 3].map(|n| fan(tx, n));
    let [mia, bo, kim] = fans;
    tx.lock_inboxes(&fans).unwrap();
    let change = |user, listed, unread, level| InboxChange { user, listed, unread, level };
    tx.change_inboxes(&[change(kim, 2, 1, Some(4)), change(mia, 1, 1, None)]).unwrap();
    tx.change_inboxes(&[change(bo, 3, 2, Some(1)), change(kim, -1, -1, None)]).unwrap();
    tx.change_inboxes(&[]).unwrap();
    assert_eq!(fans.map(|fan| tx.unread_notifications(fan).unwrap()), [1, 2, 0]);
    let inboxes = tx.lock_inboxes(&fans).unwrap();
    let inboxes: Vec<_> = inboxes.iter().map(|it| (it.user, it.listed, it.level)).collect();
    assert_eq!(inboxes, [(mia, 1, None), (bo, 3, Some(1)), (kim, 1, Some(4))]);
}

fn a_group_counts_its_actors_and_its_inbox_counts_it(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [mia, bo, kim] = [1, 2, 3].map(|n| fan(tx, n));
    let first = reaction(mia, bo, 9, 1);
    let id = insert(tx, 20, &first);
    let inbox = tx.lock_inboxes(&[kim, mia]).unwrap();
    assert_eq!(
        inbox.iter().map(|it| (it.user, it.listed, it.level)).collect::<Vec<_>>(),
        [(mia, 1, Some(2)), (kim, 0, None)]
    );
    let second = reaction(mia, kim, 9, 2);
    let group = tx.newest_groups(&[second.key(), reaction(mia, bo, 99, 1).key()]).unwrap();
    let [(key, group)] = group.into_iter().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(
        (key, group.created_at, group.expires_at),
        (first.key(), at(1), at(1).plus(NOTIFICATION_LIFE))
    );
    assert_eq!((group.id, group.in_app, group.is_listed, group.is_read), (id, true, true, false));
    let among = tx.actors_among(&[(second.key(), kim), (second.key(), bo)]).unwrap();
    assert_eq!(among, HashSet::from([(second.key(), bo)]));
    assert_eq!(tx.put_actors(&[actor(id, &second), actor(id, &first)]).unwrap(), [id]);
    assert_eq!(tx.put_actors(&[actor(id, &second)]).unwrap(), []);
    tx.change_groups(&[GroupChange { id, last: &second, actors: 1 }]).unwrap();
    let [one, other] = [6, 7].map(|day| Quota { recipient: mia, actor: bo, day });
    tx.use_quotas(&[(one, 2), (other, 1)]).unwrap();
    tx.use_quotas(&[(other, 3)]).unwrap();
    let none = Quota { recipient: bo, ..one };
    assert_eq!(tx.used_quotas(&[one, none, other]).unwrap(), HashMap::from([(one, 2), (other, 4)]));
    let page = tx.inbox(mia, Limit::default(), None).unwrap();
    let [shown] = &page[..] else { panic!("one group") };
    assert_eq!((shown.actors.clone(), shown.actor_count, shown.read_at), (vec![kim, bo], 2, None));
    assert_eq!(tx.inbox(mia, Limit::default(), Some(shown.key())).unwrap(), []);
    assert_eq!(tx.notification(mia, id).unwrap().as_ref(), Some(shown));
    assert_eq!(tx.notification(bo, id).unwrap(), None);
    assert_eq!(tx.own_notifications(mia, 9, None).unwrap(), page);
    assert_eq!(tx.unread_notifications(mia).unwrap(), 1);
    counters_agree(tx);

    let up_to = |position| ReadMark::UpTo(Position::new(position).unwrap());
    assert!(!tx.mark_read(mia, &up_to(1), at(3)).unwrap(), "the last event is later");
    assert!(tx.mark_read(mia, &up_to(2), at(3)).unwrap() && !tx.mark_read(mia, &up_to(2), at(4)).unwrap());
    assert_eq!(tx.unread_notifications(mia).unwrap(), 0);
    tx.forget_actor(mia, kim).unwrap();
    assert_eq!(tx.notification(mia, id).unwrap().unwrap().actors, [bo]);
    tx.forget_actor(mia, bo).unwrap();
    assert_eq!(tx.inbox(mia, Limit::default(), None).unwrap(), []);
    counters_agree(tx);
    let other = insert(tx, 21, &reaction(mia, bo, 10, 5));
    assert_eq!(tx.drop_oldest(mia, at(6)).unwrap(), Some(true));
    tx.change_inboxes(&[InboxChange { listed: -1, unread: -1, ..InboxChange::none(mia) }]).unwrap();
    assert_eq!((tx.drop_oldest(mia, at(6)).unwrap(), tx.notification(mia, other).unwrap()), (None, None));
    counters_agree(tx);
}

fn a_shared_row_is_read_by_each_fan(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [mia, bo] = [1, 2].map(|n| fan(tx, n));
    let season = NotificationKind::Season;
    let id = NotificationId::from(uuid(30));
    let late = at(1_000_000_000);
    assert!(tx.insert_shared(id, season, uuid(5), "active", late, Position::new(3).unwrap()).unwrap());
    let again = NotificationId::from(uuid(31));
    assert!(!tx.insert_shared(again, season, uuid(5), "active", late, Position::new(4).unwrap()).unwrap());
    assert_eq!(tx.shared_inbox(mia, Limit::default(), None).unwrap().len(), 1);
    assert!(tx.mark_read(mia, &ReadMark::Ids(vec![id]), late).unwrap());
    assert_eq!([mia, bo].map(|fan| tx.unread_notifications(fan).unwrap()), [0, 1]);
    let mut preferences = Preferences::default();
    preferences.set(season, KindPreference { in_app: false, push: true });
    assert!(tx.set_notification_preferences(bo, &preferences).unwrap());
    assert_eq!(
        (tx.unread_notifications(bo).unwrap(), tx.shared_inbox(bo, Limit::MAX, None).unwrap()),
        (0, vec![])
    );
}

fn preferences_are_stored_as_they_were_set(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let mia = fan(tx, 1);
    let mut preferences = Preferences::default();
    preferences.set(NotificationKind::Follow, KindPreference { in_app: false, push: false });
    preferences.quiet_hours =
        Some(QuietHours::new("22:00".parse().unwrap(), "07:00".parse().unwrap()).unwrap());
    for set in [&preferences, &Preferences::default()] {
        assert!(tx.set_notification_preferences(mia, set).unwrap());
        assert_eq!(&tx.notification_preferences(mia).unwrap(), set);
        assert_eq!(&tx.lock_inboxes(&[mia]).unwrap()[0].preferences, set);
    }
    assert!(tx.note_streak_warning(mia, "2026-05-01").unwrap());
    assert!(!tx.note_streak_warning(mia, "2026-05-01").unwrap());
    assert!(tx.note_streak_warning(mia, "2026-05-02").unwrap());
}

fn rows_of_a_closed_account_and_expired_ones_are_removed(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [mia, bo] = [1, 2].map(|n| fan(tx, n));
    insert(tx, 20, &reaction(mia, bo, 9, 1));
    insert(tx, 21, &reaction(bo, mia, 9, 1));
    tx.use_quotas(&[(Quota { recipient: mia, actor: bo, day: 1 }, 1)]).unwrap();
    // A group, its actor, an inbox and a count of the day; then bo is no actor of mia any more.
    assert_eq!(tx.erase_notifications(bo, 100).unwrap(), 4);
    assert_eq!(tx.erase_notifications(bo, 100).unwrap(), 0);
    assert_eq!(tx.inbox(mia, Limit::default(), None).unwrap(), []);
    counters_agree(tx);
    let kim = fan(tx, 3);
    insert(tx, 22, &reaction(mia, kim, 9, 2));
    let far = at(2).plus(terrace_social::notifications::NOTIFICATION_LIFE);
    assert_eq!(tx.unread_notifications(mia).unwrap(), 1);
    assert_eq!(tx.sweep_notifications(far, 100).unwrap(), 3, "two groups, one of them with an actor");
    assert_eq!(tx.unread_notifications(mia).unwrap(), 0);
    counters_agree(tx);
}

/// No statement reads a whole table, so the work for an event does not grow with a group, and that for a page only with
/// the page.
#[test]
fn every_statement_uses_an_index() {
    let mut database = Database::sqlite();
    let (mia, bo) = {
        let tx = &mut database.tx();
        (fan(tx, 1), fan(tx, 2))
    };
    let id = NotificationId::from(uuid(9));
    let notice = Notice {
        recipient: mia,
        kind: NotificationKind::Reaction,
        actor: Some(bo),
        subject: uuid(3),
        object: None,
        detail: None,
        at: at(1),
        position: Position::START,
    };
    let quota = Quota { recipient: mia, actor: bo, day: 1 };
    let plans = plans_of(&mut database, |tx| {
        tx.lock_inboxes(&[mia, bo]).unwrap();
        tx.insert_groups(&[NewGroup { id, first: &notice, last: &notice, actors: 1, in_app: true }]).unwrap();
        tx.actors_among(&[(notice.key(), bo)]).unwrap();
        tx.use_quotas(&[(quota, 1)]).unwrap();
        tx.used_quotas(&[quota]).unwrap();
        tx.newest_groups(&[notice.key()]).unwrap();
        tx.put_actors(&[actor(id, &notice)]).unwrap();
        tx.put_actors(&[actor(id, &notice)]).unwrap();
        tx.change_groups(&[GroupChange { id, last: &notice, actors: 0 }]).unwrap();
        tx.change_inboxes(&[InboxChange { listed: 1, unread: 1, ..InboxChange::none(mia) }]).unwrap();
        tx.mentioned_in(uuid(3)).unwrap();
        tx.unread_notifications(mia).unwrap();
        tx.inbox(mia, Limit::default(), None).unwrap();
        tx.notification(mia, id).unwrap();
        tx.own_notifications(mia, 9, None).unwrap();
        tx.notification_preferences(mia).unwrap();
        tx.mark_read(mia, &ReadMark::UpTo(Position::START), at(2)).unwrap();
        tx.mark_read(mia, &ReadMark::Ids(vec![id]), at(2)).unwrap();
        tx.drop_oldest(mia, at(2)).unwrap();
        tx.forget_actor(mia, bo).unwrap();
        tx.unlist(mia, &[id]).unwrap();
        tx.sweep_notifications(at(3), 5).unwrap();
        tx.erase_notifications(UserId::from(uuid(2)), 5).unwrap();
    });
    for plan in &plans {
        for table in ["notifications", "notification_actors", "notification_inboxes", "notification_quotas"] {
            assert!(!plan.contains(&format!("SCAN {table}")), "{plan}");
        }
        for alias in ["SCAN n\n", "SCAN a\n", "SCAN u\n", "SCAN b\n", "SCAN c\n"] {
            assert!(!format!("{plan}\n").contains(alias), "{plan}");
        }
    }
}
