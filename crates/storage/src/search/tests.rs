//! The search index and the statements that read it.

use super::*;
use crate::conn::on;
use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, post, run, team, uuid};
use crate::schema::search_words;
use diesel::prelude::*;
use terrace_kernel::{PostId, TimeKey, Timestamp};
use terrace_social::search::{NewestWords, PostTextRead, SearchText, SearchWrite};
use terrace_social::{GraphWrite, PostWrite, TopicWrite, tags};

on_each_database! {
    an_indexed_post_follows_its_text,
    a_removed_post_is_no_longer_counted,
    names_are_compared_byte_by_byte,
    rare_and_common_words_in_memory_or_not_lead_to_the_same_pages,
    what_memory_says_is_compared_with_the_index,
}

/// No posts are known.
struct Unknown;

impl NewestPosts for Unknown {
    fn containing(&self, _: &Words, _: Option<Timestamp>) -> Option<Vec<PostId>> {
        None
    }
}

fn words(text: &str) -> Words {
    SearchText::parse(text).unwrap().words()
}

fn found(tx: &mut DieselTx<'_>, text: &str) -> Vec<PostId> {
    let page = tx.posts_with(&words(text), None, Limit::MAX, None, &Unknown).unwrap();
    page.items.into_iter().map(|view| view.post.id).collect()
}

fn an_indexed_post_follows_its_text(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let ids = [10, 11, 12].map(|n| post(tx, n, ana, None, i64::try_from(n).unwrap()));
    assert_eq!(tx.index_posts(&ids).unwrap(), 3);
    assert_eq!(tx.index_posts(&ids).unwrap(), 0);
    assert_eq!(found(tx, "post"), [ids[2], ids[1], ids[0]]);
    run(tx, "UPDATE posts SET body = 'Poster 77' WHERE body = 'post 11'");
    assert_eq!(tx.index_posts(&ids).unwrap(), 1);
    assert_eq!(
        (found(tx, "post"), found(tx, "11"), found(tx, "77 poster")),
        (vec![ids[2], ids[0]], vec![], vec![ids[1]])
    );
}

fn a_removed_post_is_no_longer_counted(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let ids = [10, 11, 12].map(|n| post(tx, n, ana, None, 0));
    tx.index_posts(&ids).unwrap();
    assert!(tx.mark_post_deleted(ids[0], at(1)).unwrap());
    assert!(tx.mark_post_deleted(ids[1], at(1)).unwrap());
    assert_eq!(found(tx, "post"), [ids[2]]);
    assert!(tx.remove_deleted_post(ids[0], 100).unwrap());
    assert_eq!(tx.index_posts(&ids).unwrap(), 1, "the other deleted one");
    assert!(tx.remove_deleted_post(ids[1], 100).unwrap());
    let counted: Vec<(String, i64)> = on!(tx.conn, |conn| {
        let counts = search_words::table.filter(search_words::posts.ne(0)).order(search_words::word);
        counts.select((search_words::word, search_words::posts)).load(conn)
    })
    .unwrap();
    assert_eq!(counted, [("12".to_owned(), 1), ("post".to_owned(), 1)]);
    assert_eq!(found(tx, "post"), [ids[2]]);
}

fn names_are_compared_byte_by_byte(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ids = [1, 2, 3].map(|n| fan(tx, n));
    team(tx, 9);
    assert_eq!(tx.index_users(&ids).unwrap(), 3);
    assert_eq!(tx.index_users(&ids).unwrap(), 0);
    let name = SearchText::parse("fan").unwrap().name().unwrap();
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = tx.users_named(&name, None, Limit::new(1).unwrap(), after.as_ref()).unwrap();
        all.extend(page.items.into_iter().map(|card| card.username));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    // By the display names "Fan 1" to "Fan 3", which come before the usernames.
    assert_eq!(all, ["fan1", "fan2", "fan3"]);
    let team = SearchText::parse("team").unwrap().name().unwrap();
    assert_eq!(tx.teams_named(&team, Limit::MAX, None).unwrap().items.len(), 1);
}

/// Makes every word common.
fn make_common(tx: &mut DieselTx<'_>) {
    run(tx, "UPDATE search_words SET posts = 10001");
}

/// What the memory of a process would hold.
fn in_memory(tx: &mut DieselTx<'_>) -> NewestWords {
    let mut newest = NewestWords::default();
    for (post, text) in tx.newest_texts(NewestWords::FIRST).unwrap() {
        newest.put(post, &terrace_social::search::words(&text.unwrap()));
    }
    newest
}

/// The posts of each page.
fn pages(
    tx: &mut DieselTx<'_>,
    text: &str,
    reader: Option<UserId>,
    newest: &dyn NewestPosts,
) -> Vec<Vec<PostId>> {
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = tx.posts_with(&words(text), reader, Limit::new(3).unwrap(), after, newest).unwrap();
        pages.push(page.items.into_iter().map(|view| view.post.id).collect());
        after = page.next;
        if after.is_none() {
            return pages;
        }
    }
}

fn rare_and_common_words_in_memory_or_not_lead_to_the_same_pages(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [ana, ben, eve] = [1, 2, 3].map(|n| fan(tx, n));
    let authors = [ana, ben, eve].into_iter().cycle();
    // Several of a millisecond, and more than a millisecond has numbers.
    let ids: Vec<PostId> = (100..190_u32)
        .zip(authors)
        .map(|(n, author)| post(tx, n.into(), author, None, i64::from(n / 90) * 1_000))
        .collect();
    run(tx, "UPDATE posts SET body = 'goal ' || body WHERE body LIKE '%3' OR body LIKE '%7'");
    run(tx, "UPDATE posts SET body = 'away ' || body WHERE body LIKE '%7'");
    tx.index_posts(&ids).unwrap();
    tx.insert_block(ana, ben, at(5)).unwrap();
    run(tx, "UPDATE users SET status = 'suspended' WHERE username = 'fan3'");
    for deleted in ids.iter().step_by(11) {
        assert!(tx.mark_post_deleted(*deleted, at(5)).unwrap());
    }
    let newest = in_memory(tx);
    let searches = [
        ("post", None, 9),
        ("goal", None, 3),
        ("away goal", Some(ben), 1),
        ("goal", Some(ana), 2),
        ("goal", Some(ben), 2),
        ("post", Some(eve), 9),
    ];
    let while_rare = searches.map(|(text, reader, _)| pages(tx, text, reader, &Unknown));
    make_common(tx);
    for ((text, reader, at_least), expected) in searches.into_iter().zip(while_rare) {
        assert!(expected.len() >= at_least, "{text} {reader:?}: {expected:?}");
        assert_eq!(pages(tx, text, reader, &Unknown), expected, "{text} {reader:?}");
        assert_eq!(pages(tx, text, reader, &newest), expected, "{text} {reader:?}");
    }
    assert_eq!(pages(tx, "goal nowhere", None, &newest), [[]]);
}

fn what_memory_says_is_compared_with_the_index(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let ids = [10, 11, 12, 13].map(|n| post(tx, n, ana, None, i64::try_from(n).unwrap()));
    tx.index_posts(&ids).unwrap();
    let newest = in_memory(tx);
    // Memory has not heard of either yet.
    run(tx, "UPDATE posts SET body = 'another text' WHERE body = 'post 11'");
    tx.index_posts(&ids).unwrap();
    assert!(tx.mark_post_deleted(ids[2], at(50)).unwrap());
    make_common(tx);
    assert_eq!(pages(tx, "post", None, &newest), [[ids[3], ids[0]]]);
    let texts = tx.texts_of(&[ids[1], ids[2], PostId::from(uuid(99))]).unwrap();
    let mut texts: Vec<_> = texts.into_iter().map(|(key, text)| (key.id, text)).collect();
    texts.sort_unstable();
    assert_eq!(texts, [(uuid(11), Some("another text".to_owned())), (uuid(12), None)]);
}

#[test]
fn a_search_walks_its_index_and_sorts_nothing() {
    let mut database = Database::sqlite();
    {
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let id = post(tx, 10, ana, None, 0);
        let key = TimeKey { at: at(0), id: id.as_uuid() };
        tx.insert_tags(&tags("#goal").into_iter().map(|tag| (key, tag)).collect::<Vec<_>>()).unwrap();
        tx.index_users(&[ana]).unwrap();
        tx.index_posts(&[id]).unwrap();
        run(tx, "ANALYZE");
    }
    let reader = Some(UserId::from(uuid(1)));
    let text = SearchText::parse("go").unwrap();
    let (name, tag) = (text.name().unwrap(), text.tag().unwrap());
    let plans = plans_of(&mut database, |tx| {
        tx.users_named(&name, reader, Limit::default(), None).unwrap();
        tx.tags_named(&tag, reader, Limit::default(), None).unwrap();
        tx.posts_with(&words("post 10"), reader, Limit::default(), None, &Unknown).unwrap();
        run(tx, "UPDATE search_words SET posts = 10001");
        let newest = tx.posts_with(&words("post 10"), reader, Limit::default(), None, &Unknown).unwrap();
        assert_eq!(newest.items.len(), 1);
    });
    for (expected, plan) in [
        "SEARCH n USING COVERING INDEX search_names_by_name (kind=? AND name>? AND name<?)",
        "SEARCH t USING COVERING INDEX post_topics_newest (tag>?)",
        "SCAN i VIRTUAL TABLE INDEX",
        "CO-ROUTINE s",
    ]
    .into_iter()
    .map(|expected| (expected, plans.iter().find(|plan| plan.contains(expected))))
    {
        let plan = plan.unwrap_or_else(|| panic!("no {expected} in {plans:?}"));
        assert!(
            !plan.contains("TEMP B-TREE") && !plan.contains("SCAN p") && !plan.contains("SCAN u"),
            "{plan}"
        );
    }
}
