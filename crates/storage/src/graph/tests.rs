//! Tests of follows, blocks and their lists.

use super::*;
use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, run, uuid};

on_each_database! {
    an_edge_is_there_once_and_never_beside_a_block,
    a_pair_is_returned_with_both_accounts,
    lists_page_newest_first_through_one_instant_and_stay_full,
    an_edge_says_whether_it_is_mutual_and_whether_the_reader_follows,
    blocks_are_listed_for_who_blocks,
}

fn id(n: u128) -> UserId {
    UserId::from(uuid(n))
}

fn follow(tx: &mut DieselTx<'_>, from: UserId, to: UserId, micros: i64) {
    assert!(tx.insert_follow(from, to, at(micros)).unwrap());
    tx.add_to_follow_counts(from, to, 1).unwrap();
}

fn counts(tx: &mut DieselTx<'_>, of: UserId) -> (i64, i64) {
    let profile = tx.lock_pair(of, of).unwrap().map(|pair| pair.other_followers).unwrap();
    let following: i64 =
        on!(tx.conn, |conn| users::table.find(Key::of(of)).select(users::following_count).first(conn))
            .unwrap();
    (profile, following)
}

type List = fn(
    &mut DieselTx<'_>,
    UserId,
    UserId,
    Limit,
    Option<TimeKey>,
) -> Result<Page<FollowEdge<AuthorCard>>, StoreError>;

/// Both lists, with the indexes that they scan.
const LISTS: [(&str, List); 2] = [
    ("follows_newest_of_followee", |tx, of, reader, limit, after| {
        tx.list_followers(of, reader, limit, after)
    }),
    ("follows_newest_of_follower", |tx, of, reader, limit, after| tx.list_followed(of, reader, limit, after)),
];

/// Reads a whole list in pages of two and returns its ids. All pages except the last must be full.
fn read_through(tx: &mut DieselTx<'_>, list: List, of: UserId, reader: UserId) -> Vec<u128> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = list(tx, of, reader, Limit::new(2).unwrap(), after).unwrap();
        assert!(page.items.len() == 2 || page.next.is_none());
        seen.extend(page.items.iter().map(|edge| edge.id.as_uuid().as_u128()));
        match page.next {
            Some(key) => after = Some(key),
            None => return seen,
        }
    }
}

fn an_edge_is_there_once_and_never_beside_a_block(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [ana, bea] = [1, 2].map(|n| fan(tx, n));
    follow(tx, ana, bea, 1);
    assert!(!tx.insert_follow(ana, bea, at(2)).unwrap());
    follow(tx, bea, ana, 2);
    assert_eq!([ana, bea].map(|of| counts(tx, of)), [(1, 1), (1, 1)]);
    let both = Relationship { following: true, follows_you: true, hidden: false };
    assert_eq!(tx.ties(ana, bea).unwrap(), both);
    for (from, to) in [(ana, bea), (bea, ana)] {
        assert!(tx.delete_follow(from, to).unwrap());
        assert!(!tx.delete_follow(from, to).unwrap());
        tx.add_to_follow_counts(from, to, -1).unwrap();
    }
    assert_eq!([ana, bea].map(|of| counts(tx, of)), [(0, 0), (0, 0)]);

    assert!(tx.insert_block(ana, bea, at(3)).unwrap());
    assert!(!tx.insert_block(ana, bea, at(4)).unwrap());
    for (from, to) in [(ana, bea), (bea, ana)] {
        assert!(!tx.insert_follow(from, to, at(5)).unwrap());
        assert_eq!(tx.ties(from, to).unwrap(), Relationship { hidden: true, ..Relationship::default() });
    }
    assert!(!tx.delete_block(bea, ana).unwrap());
    assert!(tx.delete_block(ana, bea).unwrap());
    follow(tx, bea, ana, 6);
    assert_eq!(tx.ties(bea, ana).unwrap(), Relationship { following: true, ..Relationship::default() });
}

fn a_pair_is_returned_with_both_accounts(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [ana, bea, zoe] = [1, 2, 3].map(|n| fan(tx, n));
    follow(tx, zoe, bea, 1);
    run(tx, "UPDATE users SET status = 'suspended' WHERE username = 'fan1'");
    let pair = LockedPair { actor_active: false, other_active: true, other_followers: 1 };
    assert_eq!(tx.lock_pair(ana, bea).unwrap(), Some(pair));
    let pair = LockedPair { actor_active: true, other_active: false, other_followers: 0 };
    assert_eq!(tx.lock_pair(bea, ana).unwrap(), Some(pair));
    assert_eq!(tx.lock_pair(ana, id(9)).unwrap(), None);
    assert_eq!(tx.lock_pair(id(9), ana).unwrap(), None);
}

fn lists_page_newest_first_through_one_instant_and_stay_full(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    for (n, micros) in [(14, 5), (10, 5), (12, 5), (11, 5), (13, 5), (20, 4), (9, 6), (15, 5), (16, 5)] {
        let other = fan(tx, n);
        follow(tx, other, ana, micros);
        follow(tx, ana, other, micros);
    }
    let reader = fan(tx, 2);
    assert!(tx.insert_block(reader, id(15), at(7)).unwrap());
    assert!(tx.insert_block(id(13), reader, at(7)).unwrap());
    run(tx, "UPDATE users SET status = 'suspended' WHERE username = 'fan16'");
    for (_, list) in LISTS {
        assert_eq!(read_through(tx, list, ana, reader), [9, 14, 12, 11, 10, 20]);
        assert_eq!(read_through(tx, list, ana, ana), [9, 15, 14, 13, 12, 11, 10, 20]);
        assert_eq!(read_through(tx, list, reader, reader), [0; 0]);
    }
}

fn an_edge_says_whether_it_is_mutual_and_whether_the_reader_follows(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [ana, bea, zoe, reader] = [1, 2, 3, 4].map(|n| fan(tx, n));
    follow(tx, bea, ana, 1);
    follow(tx, zoe, ana, 2);
    follow(tx, ana, zoe, 3);
    follow(tx, ana, reader, 4);
    follow(tx, reader, bea, 5);
    let summary = |page: Page<FollowEdge<AuthorCard>>| {
        page.items.into_iter().map(|edge| (edge.id, edge.mutual, edge.following)).collect::<Vec<_>>()
    };
    let followers = summary(tx.list_followers(ana, reader, Limit::default(), None).unwrap());
    assert_eq!(followers, [(zoe, true, false), (bea, false, true)]);
    let followed = summary(tx.list_followed(ana, reader, Limit::default(), None).unwrap());
    assert_eq!(followed, [(reader, false, false), (zoe, true, false)]);
}

fn blocks_are_listed_for_who_blocks(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    for n in [5, 3, 4, 6] {
        let other = fan(tx, n);
        assert!(tx.insert_block(ana, other, at(7)).unwrap());
    }
    let other = fan(tx, 7);
    assert!(tx.insert_block(other, ana, at(7)).unwrap());
    run(tx, "UPDATE users SET status = 'suspended' WHERE username = 'fan4'");
    let limit = Limit::new(2).unwrap();
    let first = tx.list_blocked(ana, limit, None).unwrap();
    assert_eq!(first.items.iter().map(|blocked| blocked.id).collect::<Vec<_>>(), [id(3), id(5)]);
    let second = tx.list_blocked(ana, limit, first.next).unwrap();
    assert_eq!(
        second.items.iter().map(|blocked| (blocked.id, blocked.since)).collect::<Vec<_>>(),
        [(id(6), at(7))]
    );
    assert_eq!(second.next, None);
}

#[test]
fn a_page_is_one_statement_that_walks_its_index() {
    let mut database = Database::sqlite();
    {
        let tx = &mut database.tx();
        let fans: Vec<_> = (1..=40).map(|n| fan(tx, n)).collect();
        for (n, from) in fans.iter().enumerate() {
            for to in fans.iter().filter(|to| *to != from) {
                follow(tx, *from, *to, i64::try_from(n).unwrap());
            }
        }
        run(tx, "ANALYZE");
    }
    let (of, reader) = (id(1), id(2));
    for after in [None, Some(TimeKey { at: at(9), id: uuid(1) })] {
        for (index, list) in LISTS {
            let plans = plans_of(&mut database, |tx| {
                drop(list(tx, of, reader, Limit::default(), after).unwrap());
            });
            let [plan] = plans.as_slice() else { panic!("one statement: {plans:?}") };
            assert!(plan.contains(&format!("INDEX {index} ")), "{plan}");
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN"), "{plan}");
            assert!(plan.find(" follows ") < plan.find(" users "), "{plan}");
        }
    }
    for after in [None, Some(id(7))] {
        let plans = plans_of(&mut database, |tx| drop(tx.list_blocked(of, Limit::default(), after).unwrap()));
        let [plan] = plans.as_slice() else { panic!("one statement: {plans:?}") };
        assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN"), "{plan}");
    }
    let plans = plans_of(&mut database, |tx| {
        tx.ties(of, reader).unwrap();
    });
    assert!(plans.iter().all(|plan| plan.matches("SEARCH").count() == 4), "{plans:?}");
}
