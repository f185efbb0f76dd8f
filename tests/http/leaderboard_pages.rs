//! The contract under "Leaderboard" over HTTP (spec §4): pages, cursors, conditional reads, and what they hide.

use super::leaderboard::{BOARD, JOIN, award, first_team, give, give_for_team, joined, line, lines};
use super::sample::UNKNOWN;
use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use terrace_testkit::kernel::Uuid;
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    hidden_fans_leave_the_list_at_once,
    a_block_hides_the_name_and_nothing_else,
    a_cursor_does_not_reveal_a_hidden_fan,
    pages_go_to_the_end_and_around,
    pages_around_a_fan_go_on_in_both_directions,
    a_page_shows_each_reader_their_own_standing,
    a_page_that_did_not_change_is_304,
    a_past_season_stays_readable,
}

fn hidden_fans_leave_the_list_at_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let team = first_team(&service);
    let mut fans = Vec::new();
    for (name, amount) in [("top", 30), ("middle", 20), ("low", 10)] {
        let (client, id) = joined(&service, name);
        give_for_team(&service, &id, amount, "1", &team);
        fans.push((client, id));
    }
    let reader = service.client();
    let boards = [BOARD.to_owned(), format!("{BOARD}?teamId={team}")];
    let expect = |expected: &[(i64, i64, String)]| {
        for board in &boards {
            assert_eq!(lines(&reader.get(board).expect(200)), expected, "{board}");
        }
    };
    let whole = [line(1, 30, "top"), line(2, 20, "middle"), line(3, 10, "low")];
    let closed = [line(1, 30, "top"), line(2, 10, "low")];
    expect(&whole);
    let middle = &fans[1].0;
    middle.patch("/api/user", &json!({"leaderboardVisible": false})).expect(200);
    expect(&closed);
    assert_eq!(middle.get(BOARD).expect(200).at("/me"), Value::Null);
    // Points that they get meanwhile are there when they are listed again.
    give_for_team(&service, &fans[1].1, 5, "2", &team);
    expect(&closed);
    middle.patch("/api/user", &json!({"leaderboardVisible": true})).expect(200);
    expect(&[line(1, 30, "top"), line(2, 25, "middle"), line(3, 10, "low")]);
    let suspend = terrace_testkit::app::accounts::SuspendAccount { username: "middle".to_owned() };
    service.run(service.app().execute(suspend)).expect("suspended");
    expect(&closed);
    let restore = terrace_testkit::app::accounts::RestoreAccount { username: "middle".to_owned() };
    service.run(service.app().execute(restore)).expect("restored");
    expect(&[line(1, 30, "top"), line(2, 25, "middle"), line(3, 10, "low")]);
    let password = json!({"password": terrace_testkit::PASSWORD});
    fans[0].0.ask("DELETE", "/api/user").json(&password).send().expect(204);
    expect(&[line(1, 25, "middle"), line(2, 10, "low")]);
    Ok(())
}

fn a_block_hides_the_name_and_nothing_else(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, mia_id), (bo, bo_id)) = (joined(&service, "mia"), joined(&service, "bo_"));
    give(&service, &mia_id, 20, "1");
    give(&service, &bo_id, 10, "1");
    let around = |client: &Client, id: &str| client.get(&format!("{BOARD}?around={id}")).expect(200);
    assert_eq!(lines(&around(&mia, &bo_id)).len(), 2);
    mia.post("/api/user/block", &json!({"userId": bo_id})).expect(200);
    assert_eq!(lines(&mia.get(BOARD).expect(200)), [line(1, 20, "mia"), line(2, 10, "-")]);
    assert_eq!(lines(&bo.get(BOARD).expect(200)), [line(1, 20, "-"), line(2, 10, "bo_")]);
    assert_eq!(lines(&service.client().get(BOARD).expect(200)).len(), 2);
    assert_eq!(lines(&around(&bo, &mia_id)), []);
    mia.ask("DELETE", "/api/user/block").json(&json!({"userId": bo_id})).send().expect(200);
    assert_eq!(lines(&bo.get(BOARD).expect(200)), [line(1, 20, "mia"), line(2, 10, "bo_")]);
    Ok(())
}

/// The last line of a page is a fan who is hidden from the reader: the cursor after it does not reveal who
/// that is.
fn a_cursor_does_not_reveal_a_hidden_fan(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, mia_id), (_tom, tom_id), (_ida, ida_id)) =
        (joined(&service, "mia"), joined(&service, "tom"), joined(&service, "ida"));
    for (fan, points) in [(&mia_id, 30), (&tom_id, 20), (&ida_id, 10)] {
        give(&service, fan, points, "one");
    }
    mia.post("/api/user/block", &json!({"userId": tom_id})).expect(200);
    let page = mia.get(&format!("{BOARD}?limit=2")).expect(200);
    assert_eq!(lines(&page), [line(1, 30, "mia"), line(2, 20, "-")]);
    let cursor = page.str_at("/nextCursor");
    let bytes = URL_SAFE_NO_PAD.decode(&cursor)?;
    let id: Uuid = tom_id.parse()?;
    let forms = [
        id.hyphenated().to_string().into_bytes(),
        id.simple().to_string().into_bytes(),
        id.as_bytes()[..6].to_vec(),
        id.as_bytes()[10..].to_vec(),
        URL_SAFE_NO_PAD.encode(id.as_bytes()).into_bytes(),
        STANDARD.encode(id.as_bytes()).into_bytes(),
    ];
    for form in &forms {
        for place in [bytes.as_slice(), cursor.as_bytes(), &page.json().to_string().into_bytes()] {
            assert!(!place.windows(form.len()).any(|part| part == form), "{form:?}");
        }
    }
    let rest = mia.get(&format!("{BOARD}?limit=2&cursor={cursor}")).expect(200);
    assert_eq!(lines(&rest), [line(3, 10, "ida")]);
    Ok(())
}

fn pages_go_to_the_end_and_around(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mut ids = Vec::new();
    for n in 0..23_i64 {
        let (_, id) = joined(&service, &format!("fan{n:02}"));
        // Pairs share their points.
        give(&service, &id, 100 - n / 2, "1");
        ids.push(id);
    }
    let reader = service.client();
    let whole = lines(&reader.get(&format!("{BOARD}?limit=100")).expect(200));
    assert_eq!(whole.len(), 23);
    let ranks: Vec<i64> = whole.iter().map(|(rank, ..)| *rank).collect();
    assert_eq!(ranks, (0..23).map(|n| n / 2 * 2 + 1).collect::<Vec<_>>());
    for limit in [1, 4, 7, 22, 23] {
        let (mut paged, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let after = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let page = reader.get(&format!("{BOARD}?limit={limit}{after}")).expect(200);
            paged.extend(lines(&page));
            let Some(next) = page.at("/nextCursor").as_str().map(str::to_owned) else { break };
            cursor = Some(next);
        }
        assert_eq!(paged, whole, "limit {limit}");
    }
    let middle = service.client();
    middle.login("fan11");
    for (client, path) in [
        (&middle, format!("{BOARD}?around=me&limit=5")),
        (&reader, format!("{BOARD}?around={}&limit=5", ids[11])),
    ] {
        assert_eq!(lines(&client.get(&path).expect(200)), whole[9..14]);
    }
    assert_eq!(lines(&reader.get(&format!("{BOARD}?around={UNKNOWN}")).expect(200)), []);
    reader.get(&format!("{BOARD}?around=me")).problem(401, "authentication_required");
    Ok(())
}

/// Walks from a page in one direction; returns the pages in the order in which they were read.
fn walk(client: &Client, from: &Answer, name: &str, limit: usize) -> Vec<Vec<(i64, i64, String)>> {
    let mut pages = Vec::new();
    let mut cursor = from.at(name).as_str().map(str::to_owned);
    while let Some(place) = cursor {
        let page = client.get(&format!("{BOARD}?limit={limit}&cursor={place}")).expect(200);
        assert!(pages.len() < 30, "a walk without an end");
        cursor = page.at(name).as_str().map(str::to_owned);
        pages.push(lines(&page));
    }
    pages
}

fn pages_around_a_fan_go_on_in_both_directions(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mut ids = Vec::new();
    for n in 0..13_i64 {
        let (_, id) = joined(&service, &format!("fan{n:02}"));
        give(&service, &id, 100 - n / 2, "1");
        ids.push(id);
    }
    let reader = service.client();
    let whole = lines(&reader.get(&format!("{BOARD}?limit=100")).expect(200));
    for (place, limit) in [(0, 3), (1, 3), (6, 1), (6, 3), (6, 4), (12, 3), (12, 100)] {
        let around = reader.get(&format!("{BOARD}?around={}&limit={limit}", ids[place])).expect(200);
        let before = walk(&reader, &around, "/previousCursor", limit);
        let after = walk(&reader, &around, "/nextCursor", limit);
        let all: Vec<_> =
            before.iter().rev().chain([&lines(&around)]).chain(&after).flatten().cloned().collect();
        assert_eq!(all, whole, "around {place}, limit {limit}");
        let full = before.split_last().map_or(&[][..], |(_, full)| full);
        assert!(full.iter().all(|page| page.len() == limit), "only the first page may be short");
    }
    // Pages that were reached by a cursor go back as well.
    let first = reader.get(&format!("{BOARD}?limit=5")).expect(200);
    assert_eq!(first.at("/previousCursor"), Value::Null);
    let second = reader.get(&format!("{BOARD}?limit=5&cursor={}", first.str_at("/nextCursor"))).expect(200);
    assert_eq!(walk(&reader, &second, "/previousCursor", 5), [lines(&first)]);
    // A fan who is not listed has no page, and no cursors.
    let nothing = reader.get(&format!("{BOARD}?around={UNKNOWN}")).expect(200);
    assert_eq!([nothing.at("/nextCursor"), nothing.at("/previousCursor")], [Value::Null, Value::Null]);
    // A cursor belongs to its board, and goes without `around`.
    let (previous, team) = (second.str_at("/previousCursor"), first_team(&service));
    reader.get(&format!("{BOARD}?teamId={team}&cursor={previous}")).problem(400, "invalid_request");
    reader.get(&format!("{BOARD}?around={}&cursor={previous}", ids[1])).problem(400, "invalid_request");
    Ok(())
}

/// Pages are kept in memory: what is personal on them must be the reader's own.
fn a_page_shows_each_reader_their_own_standing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let team = first_team(&service);
    let ((mia, mia_id), (bo, bo_id)) = (joined(&service, "mia"), joined(&service, "bo_"));
    give_for_team(&service, &mia_id, 20, "1", &team);
    give_for_team(&service, &bo_id, 10, "1", &team);
    let visitor = service.client();
    for _ in 0..2 {
        for path in [
            BOARD.to_owned(),
            format!("{BOARD}?teamId={team}"),
            format!("{BOARD}?limit=1"),
            format!("{BOARD}?around={mia_id}"),
        ] {
            let shown = [&mia, &bo, &visitor].map(|client| client.get(&path).expect(200));
            let me = shown.each_ref().map(|page| page.at("/me/points"));
            assert_eq!(me, [json!(20), json!(10), Value::Null], "{path}");
            let entries = shown.each_ref().map(|page| page.at("/entries"));
            assert!(entries.iter().all(|own| own == &entries[0]), "{path}");
        }
        for path in ["/api/leaderboards", "/api/seasons"] {
            let tags = [&mia, &bo, &visitor].map(|client| client.get(path).expect(200));
            let tags = tags.each_ref().map(|page| page.header("etag").expect("a tag"));
            assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{path}");
        }
    }
    // The list of boards begins with the reader's own.
    let first = |client: &Client| client.get("/api/leaderboards").expect(200).at("/leaderboards/0/kind");
    assert_eq!([first(&mia), first(&visitor)], [json!("team"), json!("global")]);
    Ok(())
}

fn a_page_that_did_not_change_is_304(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, mia_id) = joined(&service, "mia");
    give(&service, &mia_id, 20, "1");
    for client in [&mia, &service.client()] {
        let first = client.get(BOARD).expect(200);
        let tag = first.header("etag").expect("a tag").to_owned();
        let again = || client.ask("GET", BOARD).header("if-none-match", &tag).send();
        again().expect(304);
        // An unrelated change happens.
        mia.create_post("What a save!");
        again().expect(304);
        let private = first.header("cache-control").is_some_and(|value| value.starts_with("private"));
        assert_eq!(private, client.cookie("session").is_some());
    }
    let tag = mia.get(BOARD).expect(200).header("etag").expect("a tag").to_owned();
    let again = || mia.ask("GET", BOARD).header("if-none-match", &tag).send();
    mia.patch("/api/user", &json!({"displayName": "Mia the Great"})).expect(200);
    assert_eq!(again().expect(200).at("/entries/0/user/displayName"), "Mia the Great");
    give(&service, &mia_id, 1, "2");
    assert_eq!(again().expect(200).at("/me/points"), 21);
    Ok(())
}

fn a_past_season_stays_readable(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, mia_id) = joined(&service, "mia");
    let team = first_team(&service);
    service.clock().advance(std::time::Duration::from_secs(1));
    give_for_team(&service, &mia_id, 20, "1", &team);
    let past = mia.get(BOARD).expect(200);
    let past_season = past.str_at("/season/id");
    service.clock().advance(std::time::Duration::from_mins(1));
    let start = terrace_testkit::app::boards::StartSeason {
        key: "1".parse()?,
        name: "Season 1".to_owned(),
        starts_at: None,
        ends_at: None,
    };
    service.run(service.app().execute(start)).expect("a season");
    // Reset is by a new key; nothing is deleted (scoring rule 7).
    let fresh = mia.get(BOARD).expect(200);
    assert_eq!((fresh.at("/season/name"), lines(&fresh)), (json!("Season 1"), vec![]));
    give_for_team(&service, &mia_id, 3, "2", &team);
    assert_eq!(lines(&mia.get(BOARD).expect(200)), [line(1, 3, "mia")]);
    for board in
        [format!("{BOARD}?seasonId={past_season}"), format!("{BOARD}?teamId={team}&seasonId={past_season}")]
    {
        let page = mia.get(&board).expect(200);
        assert_eq!((page.at("/season/id"), lines(&page)), (json!(past_season), vec![line(1, 20, "mia")]));
        assert_eq!(page.at("/me"), json!({"rank": 1, "points": 20, "percentile": 100.0, "toNext": null}));
    }
    assert_eq!(
        mia.get(&format!("{BOARD}?leaderboardId={}", past.str_at("/leaderboard/id")))
            .expect(200)
            .at("/season/id"),
        past_season.as_str()
    );
    let points = mia.get("/api/user/points").expect(200);
    assert_eq!([points.at("/total"), points.at("/seasonTotal")], [json!(23), json!(3)]);
    // Points with a time in the closed season do not count any more, and are refused.
    let late = json!({
        "userId": mia_id, "amount": 5, "reason": "Late", "source": "import:late", "at": past.str_at("/entries/0/reachedAt"),
    });
    let late = award(&service, &late);
    late.problem(409, "season_closed");
    mia.post(JOIN, &json!({"leaderboardId": past.str_at("/leaderboard/id")})).problem(409, "season_closed");
    Ok(())
}
