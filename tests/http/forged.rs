//! Cursors are opaque: their values cannot be read (`docs/http-api.md`, "Lists"). Whatever values a cursor
//! contains that was sealed with the service's secret, perhaps by another version, the answer is a page or a
//! refusal.

use super::sample::Sample;
use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use terrace_testkit::{Client, DatabaseKind, cursor_seal, on_each_database};

on_each_database! {
    forged_cursors_are_a_page_or_a_refusal,
}

/// The first byte of the service's cursors.
const VERSION: u8 = 3;

/// A list, and the context that its cursors are sealed for.
struct List {
    target: String,
    name: &'static str,
    filter: String,
}

fn lists(sample: &Sample, client: &Client) -> Vec<List> {
    let own = [
        ("/api/user/sessions", "sessions"),
        ("/api/user/followers", "followers"),
        ("/api/user/following", "following"),
        ("/api/user/blocks", "blocks"),
        ("/api/user/points", "points"),
        ("/api/user/packs", "user-packs"),
        ("/api/user/packs/opened", "opened-packs"),
        ("/api/user/purchases", "purchases"),
        ("/api/user/completed-quests", "completed-quests"),
        ("/api/wallets", "wallets"),
    ]
    .map(|(target, name)| (target.to_owned(), name, sample.user.clone()));
    let board = client.get("/api/leaderboard").expect(200);
    let board = format!("{}/{}", board.str_at("/season/id"), board.str_at("/leaderboard/id"));
    let collectibles = format!("{} None None", sample.user);
    let statement = format!("{} EUR None None", sample.user);
    let others = [
        ("/api/cash-balance/statement".to_owned(), "cash statement", statement),
        ("/api/locker-room".to_owned(), "feed", "all".to_owned()),
        (format!("/api/locker-room/{}/comments", sample.post), "comments", sample.post.clone()),
        ("/api/user/collectibles".to_owned(), "collectibles", collectibles),
        ("/api/leaderboard".to_owned(), "leaderboard", board),
        ("/api/leagues".to_owned(), "leagues", String::new()),
        ("/api/teams".to_owned(), "teams", String::new()),
        ("/api/packs".to_owned(), "packs", String::new()),
        ("/api/seasons".to_owned(), "seasons", String::new()),
        ("/api/collectibles".to_owned(), "album", "None None None".to_owned()),
        (format!("/api/users/{}/collectibles", sample.user), "collectibles-of-fan", sample.user.clone()),
    ];
    own.into_iter().chain(others).map(|(target, name, filter)| List { target, name, filter }).collect()
}

/// The context that a list's cursors are sealed for.
fn context(list: &List) -> Vec<u8> {
    [list.name.as_bytes(), &[0], list.filter.as_bytes()].concat()
}

/// A cursor of these values, as the service would make it.
fn forge(list: &List, values: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode([[VERSION].as_slice(), &cursor_seal().seal(&context(list), values)].concat())
}

/// Numbers, instants and ids at their limits and beyond, texts, and bytes of any kind.
fn values() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        any::<i64>(),
        prop::sample::select(vec![
            0,
            1,
            -1,
            i64::MAX,
            i64::MIN,
            // The first and the last microsecond that can be written.
            -62_135_596_800_000_000,
            253_402_300_799_999_999,
        ]),
    ]
    .prop_map(|number| number.to_be_bytes().to_vec());
    let id = prop_oneof![Just([0; 16]), Just([255; 16]), any::<[u8; 16]>()].prop_map(|id| id.to_vec());
    let text =
        prop_oneof![".{0,40}".boxed(), Just("\u{10ffff}".repeat(150)).boxed(), Just(String::new()).boxed()];
    prop_oneof![
        3 => (number.clone(), id.clone()).prop_map(|(at, id)| [at, id].concat()),
        1 => vec(number.clone(), 5).prop_map(|numbers| numbers.concat()),
        2 => vec(number.clone(), 2).prop_map(|numbers| numbers.concat()),
        2 => (vec(number, 2), id.clone()).prop_map(|(numbers, id)| [numbers.concat(), id].concat()),
        1 => id,
        2 => text.prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..60),
    ]
}

fn forged_cursors_are_a_page_or_a_refusal(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    sample.mia.create_post("a second one");
    let comments = format!("/api/locker-room/{}/comments", sample.post);
    sample.mia.post(&comments, &serde_json::json!({"body": "two"})).expect(201);
    let lists = lists(&sample, &sample.mia);
    for list in &lists {
        // Otherwise nothing would be tested: forged cursors must have the form of the service's own.
        let genuine = sample.mia.get(&format!("{}?limit=1", list.target)).expect(200).str_at("/nextCursor");
        let bytes = URL_SAFE_NO_PAD.decode(&genuine)?;
        let values = cursor_seal().open(&context(list), &bytes[1..]).expect("a cursor of the service");
        assert_eq!(forge(list, &values), genuine, "{}", list.target);
        assert!(values.windows(6).all(|part| bytes.windows(6).all(|other| other != part)), "{}", list.target);
    }
    let before = sample.dump();
    let pages = Cell::new(0);
    let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&values(), |values| {
        for list in &lists {
            let answer = sample.mia.get(&format!("{}?limit=2&cursor={}", list.target, forge(list, &values)));
            match answer.status {
                200 => pages.set(pages.get() + 1),
                400 => prop_assert_eq!(answer.pointers(), ["/cursor"]),
                _ => prop_assert!(false, "{}: {} {}", list.target, answer.status, answer.text()),
            }
        }
        Ok(())
    })?;
    assert!(pages.get() > 20, "only {} were pages", pages.get());
    assert_eq!(sample.dump(), before);
    Ok(())
}
