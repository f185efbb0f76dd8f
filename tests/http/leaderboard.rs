//! The contract under "Leaderboard" and the leaderboard scoring rules of spec §1, over HTTP (spec §4).

use super::sample::UNKNOWN;
use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use terrace_testkit::kernel::Uuid;
use terrace_testkit::{Answer, CRON_SECRET, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    the_global_board_shows_points_at_once,
    ties_share_a_rank_and_are_listed_by_time,
    a_fact_pays_once_however_often_it_is_sent,
    spec_1_rules_2_to_4_a_record_counts_on_its_teams_board_and_globally,
    a_teams_board_is_made_when_it_is_first_asked_for,
    joining_lists_with_zero_and_leaving_closes_the_ranks,
    hidden_fans_leave_the_list_at_once,
    a_block_hides_the_name_and_nothing_else,
    a_cursor_does_not_reveal_a_hidden_fan,
    pages_go_to_the_end_and_around,
    own_points_are_listed_with_their_sums,
    a_page_that_did_not_change_is_304,
    a_past_season_stays_readable,
    boards_are_listed_own_teams_first,
    invalid_requests_are_refused,
}

const BOARD: &str = "/api/leaderboard";
const JOIN: &str = "/api/leaderboard/join";
const AWARD: &str = "/api/cron/award-points";

fn joined(service: &TestService, name: &str) -> (Client, String) {
    let client = service.client();
    let id = client.register(name);
    (client, id)
}

fn award(service: &TestService, body: &Value) -> Answer {
    service.client().with_bearer(CRON_SECRET).post(AWARD, body)
}

/// Awards points for a fact of that name.
fn give(service: &TestService, user: &str, amount: i64, fact: &str) -> Answer {
    let body =
        json!({"userId": user, "amount": amount, "reason": "A ticket", "source": format!("import:{fact}")});
    award(service, &body).expect(200)
}

fn give_for_team(service: &TestService, user: &str, amount: i64, fact: &str, team: &str) -> Answer {
    let body = json!({
        "userId": user, "amount": amount, "reason": "A game", "source": format!("import:{fact}"), "teamId": team,
    });
    award(service, &body).expect(200)
}

/// Rank, points and name of each line.
fn lines(answer: &Answer) -> Vec<(i64, i64, String)> {
    let json = answer.json();
    let entries = json["entries"].as_array().expect("entries").clone();
    entries
        .iter()
        .map(|entry| {
            let name = entry["user"]["username"].as_str().unwrap_or("-").to_owned();
            (entry["rank"].as_i64().expect("a rank"), entry["points"].as_i64().expect("points"), name)
        })
        .collect()
}

fn line(rank: i64, points: i64, name: &str) -> (i64, i64, String) {
    (rank, points, name.to_owned())
}

fn first_team(service: &TestService) -> String {
    service.client().get("/api/teams").expect(200).str_at("/teams/0/id")
}

fn the_global_board_shows_points_at_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let empty = service.client().get(BOARD).expect(200);
    assert_eq!(empty.at("/leaderboard/kind"), "global");
    assert_eq!(empty.at("/season/name"), "Season 0.5");
    assert_eq!(
        [empty.at("/entries"), empty.at("/me"), empty.at("/total")],
        [json!([]), Value::Null, json!(0)]
    );
    let (mia, mia_id) = joined(&service, "mia");
    let (_, bo_id) = joined(&service, "bo_");
    for round in 1..=5 {
        give(&service, &mia_id, 10, &format!("mia/{round}"));
        let board = mia.get(BOARD).expect(200);
        assert_eq!(lines(&board).first(), Some(&line(1, 10 * round, "mia")));
        assert_eq!(board.at("/me/points"), 10 * round);
    }
    give(&service, &bo_id, 70, "bo/1");
    let board = mia.get(BOARD).expect(200);
    assert_eq!(lines(&board), [line(1, 70, "bo_"), line(2, 50, "mia")]);
    assert_eq!(board.at("/me"), json!({"rank": 2, "points": 50, "percentile": 50.0, "toNext": 20}));
    assert_eq!(board.at("/total"), 2);
    assert!(board.at("/version").as_i64() <= board.at("/streamPosition").as_i64());
    assert_eq!(board.at("/nextCursor"), Value::Null);
    Ok(())
}

fn ties_share_a_rank_and_are_listed_by_time(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    for name in ["late", "early", "last"] {
        joined(&service, name);
    }
    let id = |name: &str| service.client().login(name).str_at("/user/id");
    let at = |seconds: u64| {
        service.clock().advance(std::time::Duration::from_secs(seconds));
    };
    give(&service, &id("early"), 10, "1");
    at(1);
    give(&service, &id("late"), 10, "1");
    at(1);
    give(&service, &id("last"), 5, "1");
    let board = service.client().get(BOARD).expect(200);
    assert_eq!(lines(&board), [line(1, 10, "early"), line(1, 10, "late"), line(3, 5, "last")]);
    Ok(())
}

fn a_fact_pays_once_however_often_it_is_sent(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, mia_id) = joined(&service, "mia");
    let paid: i64 = std::thread::scope(|scope| {
        let awards: Vec<_> = (0..100)
            .map(|_| scope.spawn(|| give(&service, &mia_id, 7, "once").at("/pointsAwarded").as_i64()))
            .collect();
        awards.into_iter().map(|award| award.join().expect("an answer").expect("a number")).sum()
    });
    assert_eq!(paid, 7);
    assert_eq!(give(&service, &mia_id, 7, "once").at("/alreadyAwarded"), true);
    let points = mia.get("/api/user/points").expect(200);
    assert_eq!([points.at("/total"), points.at("/seasonTotal")], [json!(7), json!(7)]);
    assert_eq!(points.at("/history").as_array().map(Vec::len), Some(1));
    assert_eq!(lines(&mia.get(BOARD).expect(200)), [line(1, 7, "mia")]);
    Ok(())
}

fn spec_1_rules_2_to_4_a_record_counts_on_its_teams_board_and_globally(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, mia_id) = joined(&service, "mia");
    let teams = service.client().get("/api/teams").expect(200);
    let (one, other) = (teams.str_at("/teams/0/id"), teams.str_at("/teams/1/id"));
    // No team: globally only.
    assert_eq!(give(&service, &mia_id, 1, "none").at("/leaderboardId"), Value::Null);
    // The activity's team precedes the favourite.
    mia.patch("/api/user", &json!({"favoriteTeamId": one})).expect(200);
    let own = give(&service, &mia_id, 10, "favorite");
    let activity = give_for_team(&service, &mia_id, 100, "activity", &other);
    let board = |team: &str| mia.get(&format!("{BOARD}?teamId={team}")).expect(200);
    assert_eq!(lines(&board(&one)), [line(1, 10, "mia")]);
    assert_eq!(lines(&board(&other)), [line(1, 100, "mia")]);
    assert_eq!(lines(&mia.get(BOARD).expect(200)), [line(1, 111, "mia")]);
    assert_eq!(board(&one).at("/leaderboard/id"), own.at("/leaderboardId"));
    assert_eq!(board(&other).at("/leaderboard/id"), activity.at("/leaderboardId"));
    // Awards before the first season are kept, and never count (rule 6).
    let old = json!({
        "userId": mia_id, "amount": 5000, "reason": "Long ago", "source": "import:old", "at": "2001-01-01T00:00:00Z",
    });
    let old = award(&service, &old).expect(200);
    assert_eq!([old.at("/seasonId"), old.at("/leaderboardId")], [Value::Null, Value::Null]);
    assert_eq!(lines(&mia.get(BOARD).expect(200)), [line(1, 111, "mia")]);
    let points = mia.get("/api/user/points").expect(200);
    assert_eq!([points.at("/total"), points.at("/seasonTotal")], [json!(5111), json!(111)]);
    Ok(())
}

fn a_teams_board_is_made_when_it_is_first_asked_for(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let path = format!("{BOARD}?teamId={}", first_team(&service));
    let boards = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| service.client().get(&path).expect(200))).collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect::<Vec<_>>()
    });
    let ids: std::collections::BTreeSet<String> =
        boards.iter().map(|board| board.str_at("/leaderboard/id")).collect();
    assert_eq!(ids.len(), 1, "two at once make one");
    let first = boards.first().expect("a board");
    assert_eq!(first.at("/leaderboard/kind"), "team");
    assert_eq!(first.at("/leaderboard/name"), "Anchors of the Bay");
    let by_id = service.client().get(&format!("{BOARD}?leaderboardId={}", first.str_at("/leaderboard/id")));
    assert_eq!(by_id.expect(200).at("/leaderboard"), first.at("/leaderboard"));
    Ok(())
}

fn joining_lists_with_zero_and_leaving_closes_the_ranks(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, mia_id) = joined(&service, "mia");
    let (bo, bo_id) = joined(&service, "bo_");
    let team = first_team(&service);
    let path = format!("{BOARD}?teamId={team}");
    let body = json!({"teamId": team});
    for _ in 0..2 {
        let joined = mia.post(JOIN, &body).expect(200);
        assert_eq!(joined.at("/me"), json!({"rank": 1, "points": 0, "percentile": 100.0, "toNext": null}));
    }
    assert_eq!(lines(&mia.get(&path).expect(200)), [line(1, 0, "mia")]);
    give_for_team(&service, &mia_id, 5, "1", &team);
    give_for_team(&service, &bo_id, 3, "1", &team);
    assert_eq!(lines(&mia.get(&path).expect(200)), [line(1, 5, "mia"), line(2, 3, "bo_")]);
    let board = mia.get(&path).expect(200).str_at("/leaderboard/id");
    for _ in 0..2 {
        let left = mia.ask("DELETE", JOIN).json(&json!({"leaderboardId": board})).send().expect(200);
        assert_eq!(left.at("/me"), Value::Null);
    }
    assert_eq!(lines(&bo.get(&path).expect(200)), [line(1, 3, "bo_")]);
    // A fan who left stays off the board although points come, and returns with all of them.
    give_for_team(&service, &mia_id, 2, "2", &team);
    assert_eq!(lines(&bo.get(&path).expect(200)), [line(1, 3, "bo_")]);
    assert_eq!(lines(&bo.get(BOARD).expect(200)), [line(1, 7, "mia"), line(2, 3, "bo_")]);
    assert_eq!(mia.post(JOIN, &body).expect(200).at("/me/points"), 7);
    assert_eq!(lines(&bo.get(&path).expect(200)), [line(1, 7, "mia"), line(2, 3, "bo_")]);
    Ok(())
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

fn own_points_are_listed_with_their_sums(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, mia_id) = joined(&service, "mia");
    let empty = mia.get("/api/user/points").expect(200);
    assert_eq!(empty.json(), json!({"total": 0, "seasonTotal": 0, "history": [], "nextCursor": null}));
    for n in 1..=5 {
        give(&service, &mia_id, n, &n.to_string());
        service.clock().advance(std::time::Duration::from_secs(1));
    }
    let page = mia.get("/api/user/points?limit=3").expect(200);
    let amounts = |page: &Answer| -> Vec<i64> {
        let json = page.json();
        json["history"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|entry| entry["amount"].as_i64())
            .collect()
    };
    assert_eq!((amounts(&page), page.at("/total")), (vec![5, 4, 3], json!(15)));
    assert_eq!(
        [page.at("/history/0/source"), page.at("/history/0/reason")],
        [json!("import"), json!("A ticket")]
    );
    let next =
        mia.get(&format!("/api/user/points?limit=3&cursor={}", page.str_at("/nextCursor"))).expect(200);
    assert_eq!((amounts(&next), next.at("/nextCursor")), (vec![2, 1], Value::Null));
    service.client().get("/api/user/points").problem(401, "authentication_required");
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

fn boards_are_listed_own_teams_first(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, _) = joined(&service, "mia");
    let teams = service.client().get("/api/teams").expect(200);
    for n in 0..3 {
        service
            .client()
            .get(&format!("{BOARD}?teamId={}", teams.str_at(&format!("/teams/{n}/id"))))
            .expect(200);
    }
    mia.post(JOIN, &json!({"teamId": teams.str_at("/teams/2/id")})).expect(200);
    let kinds = |client: &Client| -> Vec<Value> {
        let json = client.get("/api/leaderboards").expect(200).json();
        json["leaderboards"].as_array().expect("a list").iter().map(|board| board["teamId"].clone()).collect()
    };
    let team = |n: usize| json!(teams.str_at(&format!("/teams/{n}/id")));
    assert_eq!(kinds(&service.client()), [Value::Null, team(0), team(1), team(2)]);
    assert_eq!(kinds(&mia), [team(2), Value::Null, team(0), team(1)]);
    Ok(())
}

fn invalid_requests_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, mia_id) = joined(&service, "mia");
    let team = first_team(&service);
    for (query, pointer) in [
        (format!("leaderboardId={UNKNOWN}&teamId={team}"), "/teamId"),
        ("leaderboardId=x".to_owned(), "/leaderboardId"),
        ("teamId=".to_owned(), "/teamId"),
        ("seasonId=0.5".to_owned(), "/seasonId"),
        ("around=you".to_owned(), "/around"),
        ("cursor=AAAA".to_owned(), "/cursor"),
        ("board=1".to_owned(), "/board"),
    ] {
        let refused = mia.get(&format!("{BOARD}?{query}"));
        assert_eq!(refused.problem(400, "invalid_request").at("/errors/0/pointer"), pointer, "{query}");
    }
    for limit in [0, 101] {
        mia.get(&format!("{BOARD}?limit={limit}")).problem(422, "validation_failed");
    }
    for query in ["leaderboardId", "teamId", "seasonId"] {
        mia.get(&format!("{BOARD}?{query}={UNKNOWN}")).problem(404, "not_found");
    }
    for body in [json!({}), json!({"teamId": team, "leaderboardId": UNKNOWN})] {
        mia.post(JOIN, &body).problem(400, "invalid_request");
    }
    mia.post(JOIN, &json!({"teamId": UNKNOWN})).problem(404, "not_found");
    mia.post(JOIN, &json!({"leaderboardId": UNKNOWN})).problem(404, "not_found");
    service.client().post(JOIN, &json!({"teamId": team})).problem(401, "authentication_required");
    let good = json!({"userId": mia_id, "amount": 5, "reason": "A ticket", "source": "import:1"});
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    for (name, value) in [
        ("amount", json!(-1)),
        ("amount", json!(1_000_000_001)),
        ("reason", json!("")),
        ("source", json!("quest:0190a6f2-7c1e-7000-8000-000000000000")),
        ("source", json!("import:")),
        ("teamId", json!(UNKNOWN)),
        ("at", json!("2999-01-01T00:00:00Z")),
    ] {
        let refused = award(&service, &with(name, value.clone())).problem(422, "validation_failed");
        assert_eq!(refused.at("/errors/0/pointer"), format!("/{name}"), "{value}");
    }
    award(&service, &with("userId", json!(UNKNOWN))).problem(404, "not_found");
    award(&service, &with("at", json!("yesterday"))).problem(400, "invalid_request");
    mia.post(AWARD, &good).problem(401, "authentication_required");
    assert_eq!(mia.get("/api/user/points").expect(200).at("/total"), 0);
    Ok(())
}
