//! The contract under "Leaderboard" and the leaderboard scoring rules of spec §1, over HTTP (spec §4).

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Answer, CRON_SECRET, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    the_global_board_shows_points_at_once,
    ties_share_a_rank_and_are_listed_by_time,
    a_fact_pays_once_however_often_it_is_sent,
    scoring_rules_2_to_4_a_record_counts_on_its_teams_board_and_globally,
    a_teams_board_is_made_when_it_is_first_asked_for,
    joining_lists_with_zero_and_leaving_closes_the_ranks,
    own_points_are_listed_with_their_sums,
    boards_are_listed_own_teams_first,
    invalid_requests_are_refused,
}

pub(super) const BOARD: &str = "/api/leaderboard";
pub(super) const JOIN: &str = "/api/leaderboard/join";
const AWARD: &str = "/api/cron/award-points";

pub(super) fn joined(service: &TestService, name: &str) -> (Client, String) {
    let client = service.client();
    let id = client.register(name);
    (client, id)
}

pub(super) fn award(service: &TestService, body: &Value) -> Answer {
    service.client().with_bearer(CRON_SECRET).post(AWARD, body)
}

/// Awards points for a fact of that name.
pub(super) fn give(service: &TestService, user: &str, amount: i64, fact: &str) -> Answer {
    let body =
        json!({"userId": user, "amount": amount, "reason": "A ticket", "source": format!("import:{fact}")});
    award(service, &body).expect(200)
}

pub(super) fn give_for_team(
    service: &TestService,
    user: &str,
    amount: i64,
    fact: &str,
    team: &str,
) -> Answer {
    let body = json!({
        "userId": user, "amount": amount, "reason": "A game", "source": format!("import:{fact}"), "teamId": team,
    });
    award(service, &body).expect(200)
}

/// Rank, points and name of each line.
pub(super) fn lines(answer: &Answer) -> Vec<(i64, i64, String)> {
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

pub(super) fn line(rank: i64, points: i64, name: &str) -> (i64, i64, String) {
    (rank, points, name.to_owned())
}

pub(super) fn first_team(service: &TestService) -> String {
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

fn scoring_rules_2_to_4_a_record_counts_on_its_teams_board_and_globally(kind: DatabaseKind) -> Result<()> {
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

fn boards_are_listed_own_teams_first(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, _) = joined(&service, "mia");
    let teams = service.client().get("/api/teams").expect(200);
    let mut created: Vec<(String, Value)> = (0..3)
        .map(|n| {
            let team = teams.str_at(&format!("/teams/{n}/id"));
            let board = service.client().get(&format!("{BOARD}?teamId={team}")).expect(200);
            (board.str_at("/leaderboard/id"), json!(team))
        })
        .collect();
    // The order of creation, if no two were created in the same millisecond.
    created.sort_by(|one, other| one.0.cmp(&other.0));
    mia.post(JOIN, &json!({"teamId": created[2].1})).expect(200);
    let kinds = |client: &Client| -> Vec<Value> {
        let json = client.get("/api/leaderboards").expect(200).json();
        json["leaderboards"].as_array().expect("a list").iter().map(|board| board["teamId"].clone()).collect()
    };
    let team = |n: usize| created[n].1.clone();
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
