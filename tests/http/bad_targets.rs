//! Malformed and hostile paths and queries: each is a 4xx, and leaves nothing behind.

use super::sample::{Operation, Sample, UNKNOWN, keyed};
use anyhow::Result;
use serde_json::json;
use terrace_testkit::app::store::Store;
use terrace_testkit::{Answer, DatabaseKind, on_each_database};

on_each_database! {
    ids_of_another_form,
    ids_of_nothing,
    cursors_that_are_not_of_this_list,
    limits_that_are_none,
    unknown_parameters_are_refused,
}

/// The answer to an operation of the sample at another target.
fn ask(sample: &Sample, operation: &Operation, target: &str) -> Answer {
    let client = match operation {
        of_timers if of_timers.is_of_timers() => sample.client_for(of_timers),
        of_tills if of_tills.is_of_tills() => sample.client_for(of_tills),
        protected if protected.is_protected() => sample.mia.fork(),
        _ => sample.service.client(),
    };
    let request = keyed(client.ask(&operation.method, target), operation);
    if operation.has_body() { request.json(&sample.body(&operation.id)).send() } else { request.send() }
}

fn of_paths_with_ids(sample: &Sample) -> Vec<Operation> {
    let operations: Vec<_> =
        sample.operations().into_iter().filter(|operation| operation.template.contains("{id}")).collect();
    assert!(operations.len() > 10);
    operations
}

fn ids_of_another_form(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let before = sample.dump();
    let hyphenless = sample.post.replace('-', "");
    let braced = format!("%7B{}%7D", sample.post);
    let long = "7".repeat(4000);
    let wide = "%C3%A9".repeat(18);
    for operation in of_paths_with_ids(&sample) {
        for junk in [
            "1",
            "null",
            "undefined",
            "-1",
            "%00",
            "%0a",
            "%ff",
            "%c3%28",
            "%F0%9F%A7%A4",
            "%2e%2e",
            "..",
            ".",
            "%2F",
            "..%2f..%2fetc%2fpasswd",
            "%3f",
            "%23",
            "%25",
            "%",
            "%zz",
            "'%20or%201=1",
            "{id}",
            "*",
            &hyphenless,
            &braced,
            &long,
            &wide,
            "0190a6f2-7c1e-7abc-8def-0123456789ag",
            "0190a6f2-7c1e-7abc-8def-0123456789ab%20",
        ] {
            if junk.contains('{') {
                continue;
            }
            let first = operation.template.replacen("{id}", junk, 1).replace("{commentId}", &sample.comment);
            let answer = ask(&sample, &operation, &first);
            assert!([400, 404].contains(&answer.status), "{} {junk}: {}", operation.id, answer.text());
            if operation.template.contains("{commentId}") {
                let second = operation.template.replace("{id}", &sample.post).replace("{commentId}", junk);
                let answer = ask(&sample, &operation, &second);
                assert!([400, 404].contains(&answer.status), "{} {junk}: {}", operation.id, answer.text());
            }
        }
        let plain = operation.template.replace("{id}", "seven").replace("{commentId}", &sample.comment);
        let answer = ask(&sample, &operation, &plain).problem(400, "invalid_request");
        assert_eq!(answer.pointers(), ["/id"], "{}", operation.id);
    }
    assert_eq!(sample.dump(), before);
    Ok(())
}

fn ids_of_nothing(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let before = sample.dump();
    for operation in of_paths_with_ids(&sample) {
        for unknown in [
            UNKNOWN,
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "9b2f1f0e-52c1-4f0a-9d6f-1c2b3a4d5e6f",
        ] {
            let target =
                operation.template.replacen("{id}", unknown, 1).replace("{commentId}", &sample.comment);
            let answer = ask(&sample, &operation, &target);
            assert_eq!(answer.status, 404, "{} {unknown}: {}", operation.id, answer.text());
        }
        // An id of another kind of resource does not exist here.
        let target =
            operation.template.replacen("{id}", &sample.user, 1).replace("{commentId}", &sample.comment);
        if !operation.template.starts_with("/api/users/") {
            ask(&sample, &operation, &target).problem(404, "not_found");
        }
    }
    assert_eq!(sample.dump(), before);
    Ok(())
}

fn cursors_that_are_not_of_this_list(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    sample.mia.create_post("a second save");
    sample
        .mia
        .post(&format!("/api/locker-room/{}/comments", sample.post), &json!({"body": "two"}))
        .expect(201);
    let lists: Vec<_> = sample
        .operations()
        .into_iter()
        .filter(|operation| operation.parameters("query").contains(&"cursor".to_owned()))
        .collect();
    assert!(lists.len() >= 5);
    sample.service.run(async {
        sample.service.storage().settled().await.expect("a working relay");
        sample.service.app().catch_up_consumers().await.expect("working consumers");
    });
    let before = sample.dump();
    let good: Vec<String> = lists
        .iter()
        .map(|list| {
            let target = sample.target_with(list, "limit=1");
            ask(&sample, list, &target).expect(200).str_at("/nextCursor")
        })
        .collect();
    for (list, own) in lists.iter().zip(&good) {
        let page = |cursor: &str| sample.target_with(list, &format!("limit=1&cursor={cursor}"));
        let refused = |cursor: &str| {
            let answer = ask(&sample, list, &page(cursor));
            assert_eq!(answer.status, 400, "{} {cursor}: {}", list.id, answer.text());
            assert_eq!(answer.problem(400, "invalid_request").pointers(), ["/cursor"], "{}", list.id);
        };
        ask(&sample, list, &page(own)).expect(200);
        for other in good.iter().filter(|other| *other != own) {
            refused(other);
        }
        refused(&own[..own.len() - 1]);
        refused(&own[1..]);
        refused(&format!("{own}A"));
        refused(&format!("{own}%3D"));
        let flipped = if own.ends_with('A') { 'B' } else { 'A' };
        for at in [0, own.len() / 2, own.len() - 2] {
            let mut forged = own.clone();
            forged.replace_range(at..=at, if &own[at..=at] == "A" { "B" } else { "A" });
            refused(&forged);
        }
        for junk in
            [&flipped.to_string(), "x", "%00", "%ff", "e30", &"A".repeat(4000), UNKNOWN, "..", "%F0%9F%A7%A4"]
        {
            refused(junk);
        }
    }
    // The same list under another filter is another list.
    let room = "/api/locker-room";
    let team = sample.mia.get("/api/teams").expect(200);
    let cursor = sample.mia.get(&format!("{room}?limit=1")).expect(200).str_at("/nextCursor");
    let other = format!("{room}?scope=team&teamId={}&cursor={cursor}", team.str_at("/teams/0/id"));
    sample.mia.get(&other).problem(400, "invalid_request");
    let cursor = sample.mia.get("/api/teams?limit=1").expect(200).str_at("/nextCursor");
    let other = format!("/api/teams?leagueId={}&cursor={cursor}", team.str_at("/teams/1/leagueId"));
    sample.mia.get(&other).problem(400, "invalid_request");
    assert_eq!(sample.dump(), before);
    Ok(())
}

fn limits_that_are_none(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    for list in sample.operations() {
        if !list.parameters("query").contains(&"limit".to_owned()) {
            continue;
        }
        for (limit, status) in [
            ("1", 200),
            ("100", 200),
            ("0", 422),
            ("101", 422),
            ("-1", 422),
            ("9223372036854775807", 422),
            ("x", 400),
            ("1.5", 400),
            ("1e1", 400),
            ("%00", 400),
            ("", 400),
            ("99999999999999999999", 400),
            ("0x10", 400),
        ] {
            let answer = ask(&sample, &list, &sample.target_with(&list, &format!("limit={limit}")));
            assert_eq!(answer.status, status, "{} limit={limit}: {}", list.id, answer.text());
            if status != 200 {
                assert_eq!(answer.pointers(), ["/limit"], "{}", list.id);
            }
        }
    }
    Ok(())
}

/// "Names": unknown query parameters are refused, on every route.
fn unknown_parameters_are_refused(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let before = sample.dump();
    for operation in sample.operations() {
        let refused = |query: &str, pointer: Option<&str>| {
            let target = sample.target_with(&operation, query);
            let answer = ask(&sample, &operation, &target);
            assert_eq!(answer.status, 400, "{} {target}: {}", operation.method, answer.text());
            let answer = answer.problem(400, "invalid_request");
            if let Some(pointer) = pointer {
                assert_eq!(answer.pointers(), [pointer], "{}?{query}: {}", operation.id, answer.text());
            }
        };
        refused("noSuchParameter=1", Some("/noSuchParameter"));
        refused("Limit=1", Some("/Limit"));
        refused("%00=%00", None);
        refused("a%2Fb=1", None);
        for known in operation.parameters("query") {
            refused(&format!("{known}=1&{known}=1"), Some(&format!("/{known}")));
            refused(&format!("{known}[]=1"), None);
            // An empty string is not a value: a list without its filter would answer another question.
            refused(&format!("{known}="), Some(&format!("/{known}")));
            refused(&known, Some(&format!("/{known}")));
        }
    }
    for (target, pointer) in [
        ("/api/locker-room?scope=nobody", "/scope"),
        ("/api/locker-room?sort=random", "/sort"),
        ("/api/locker-room?teamId=7", "/teamId"),
        ("/api/locker-room?scope=team&teamId=%00", "/teamId"),
        ("/api/teams?leagueId=north", "/leagueId"),
    ] {
        let answer = sample.mia.get(target).problem(400, "invalid_request");
        assert_eq!(answer.pointers(), [pointer], "{target}");
    }
    let answer = sample.mia.get(&format!("/api/teams?leagueId={UNKNOWN}"));
    assert!(answer.status == 404 || answer.expect(200).list("/teams").is_empty());
    assert_eq!(sample.dump(), before);
    Ok(())
}
