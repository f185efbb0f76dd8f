//! The contract under "Quests", and spec §1 rule 5, §3 and §4, over HTTP.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    quests_are_listed_without_a_session,
    spec_3_rule_2_a_step_pays_at_once_and_once,
    spec_3_rule_3_a_quest_is_complete_with_its_last_required_step,
    steps_of_a_sequential_quest_come_in_order,
    a_step_with_a_condition_is_not_taken_on_trust,
    a_quest_can_need_another,
    a_daily_quest_starts_again_each_day,
    spec_1_rule_5_social_actions_bring_quests_forward,
    facts_count_that_held_before_the_start,
    a_daily_visit_pays_once_a_day,
    a_streak_grows_and_a_change_of_zone_does_not_double_a_day,
    completed_quests_are_derived_from_points,
    achievements_show_progress_and_unlock,
    invalid_requests_are_refused,
    a_list_that_did_not_change_is_304,
    progress_is_deleted_with_its_account,
}

const QUESTS: &str = "/api/quests";
const START: &str = "/api/quests/start";
const STEP: &str = "/api/quests/complete-step";
const CHECK: &str = "/api/quests/check-progress";
const VISIT: &str = "/api/quests/daily-visit";
const DONE: &str = "/api/user/completed-quests";

/// The quest with this key as the client sees it.
fn quest(client: &Client, key: &str) -> Value {
    let list = client.get(QUESTS).expect(200).json();
    let quests = list["quests"].as_array().expect("quests");
    quests.iter().find(|quest| quest["key"] == key).expect("the quest").clone()
}

fn step_id(client: &Client, key: &str, step: &str) -> String {
    let quest = quest(client, key);
    let steps = quest["steps"].as_array().expect("steps");
    let step = steps.iter().find(|one| one["key"] == step).expect("the step");
    step["id"].as_str().expect("an id").to_owned()
}

fn start(client: &Client, key: &str) -> Answer {
    client.post(START, &json!({"questId": quest(client, key)["id"]}))
}

fn complete(client: &Client, key: &str, step: &str) -> Answer {
    client.post(STEP, &json!({"stepId": step_id(client, key, step)}))
}

fn check(client: &Client) -> Answer {
    client.post(CHECK, &json!({})).expect(200)
}

fn total(client: &Client) -> i64 {
    client.get("/api/user/points").expect(200).at("/total").as_i64().expect("a number")
}

fn quests_are_listed_without_a_session(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let visitor = service.client();
    let list = visitor.get(QUESTS).expect(200).json();
    let keys: Vec<_> =
        list["quests"].as_array().expect("quests").iter().map(|quest| quest["key"].clone()).collect();
    // A quest that is not open yet is not listed.
    assert_eq!(keys, ["welcome", "matchday", "ladder", "after"]);
    let welcome = quest(&visitor, "welcome");
    assert_eq!(
        [&welcome["status"], &welcome["bonus"], &welcome["totalPoints"]],
        [&json!("available"), &json!(50), &json!(85)]
    );
    assert_eq!(welcome["steps"][1]["check"], json!({"kind": "follow_user", "count": 1}));
    assert_eq!(welcome["steps"][0]["status"], "available");
    assert!(quest(&visitor, "ladder")["teamId"].is_string());
    // The onboarding quest starts by itself.
    let mia = service.fan("mia");
    assert_eq!(quest(&mia, "welcome")["status"], "active");
    assert_eq!(quest(&mia, "ladder")["status"], "available");
    Ok(())
}

fn spec_3_rule_2_a_step_pays_at_once_and_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    complete(&mia, "ladder", "one").problem(409, "quest_not_started");
    for _ in 0..2 {
        assert_eq!(start(&mia, "ladder").expect(200).at("/quest/status"), "active");
    }
    let step = json!({"stepId": step_id(&mia, "ladder", "one")});
    let paid: i64 = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..50)
            .map(|_| scope.spawn(|| mia.post(STEP, &step).expect(200).at("/pointsAwarded").as_i64()))
            .collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer").expect("a number")).sum()
    });
    assert_eq!((paid, total(&mia)), (1, 1));
    let again = complete(&mia, "ladder", "one").expect(200);
    assert_eq!([again.at("/pointsAwarded"), again.at("/step/status")], [json!(0), json!("completed")]);
    // It counts on the board of the quest's team.
    let team = quest(&mia, "ladder")["teamId"].as_str().expect("a team").to_owned();
    let board = mia.get(&format!("/api/leaderboard?teamId={team}")).expect(200);
    assert_eq!(board.at("/entries/0/points"), 1);
    Ok(())
}

fn spec_3_rule_3_a_quest_is_complete_with_its_last_required_step(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    start(&mia, "ladder").expect(200);
    assert_eq!(complete(&mia, "ladder", "one").expect(200).at("/questCompleted"), false);
    let last = complete(&mia, "ladder", "two").expect(200);
    assert_eq!([last.at("/questCompleted"), last.at("/pointsAwarded")], [json!(true), json!(2)]);
    assert_eq!(last.at("/quest/status"), "completed");
    // Completing always writes a record, also of zero points.
    let history = mia.get("/api/user/points").expect(200).json();
    let records = history["history"].as_array().expect("records");
    let quest_record = records.iter().find(|record| record["source"] == "quest").expect("a record");
    assert_eq!(quest_record["amount"], 0);
    // The points of the ladder put them on its team's board, which is an optional step of the welcome quest.
    service.fan("bo_");
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.patch("/api/user", &json!({"favoriteTeamId": team})).expect(200);
    let bo = service.client().login("bo_").str_at("/user/id");
    mia.post("/api/user/follow", &json!({"userId": bo})).expect(200);
    check(&mia);
    assert_eq!(quest(&mia, "welcome")["status"], "completed");
    assert_eq!(total(&mia), 3 + 20 + 10 + 5 + 50);
    Ok(())
}

fn steps_of_a_sequential_quest_come_in_order(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    start(&mia, "ladder").expect(200);
    complete(&mia, "ladder", "two").problem(409, "step_out_of_order");
    assert_eq!(total(&mia), 0);
    complete(&mia, "ladder", "one").expect(200);
    complete(&mia, "ladder", "two").expect(200);
    Ok(())
}

fn a_step_with_a_condition_is_not_taken_on_trust(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    complete(&mia, "welcome", "team").problem(409, "step_condition_not_met");
    assert_eq!(check(&mia).json(), json!({"completedSteps": [], "completedQuests": [], "pointsAwarded": 0}));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.patch("/api/user", &json!({"favoriteTeamId": team})).expect(200);
    assert_eq!(complete(&mia, "welcome", "team").expect(200).at("/pointsAwarded"), 20);
    Ok(())
}

fn a_quest_can_need_another(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    start(&mia, "after").problem(409, "quest_locked");
    start(&mia, "ladder").expect(200);
    complete(&mia, "ladder", "one").expect(200);
    complete(&mia, "ladder", "two").expect(200);
    assert_eq!(start(&mia, "after").expect(200).at("/quest/status"), "active");
    Ok(())
}

fn a_daily_quest_starts_again_each_day(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    for day in 1..=2_i64 {
        start(&mia, "matchday").expect(200);
        complete(&mia, "matchday", "read").expect(200);
        let last = complete(&mia, "matchday", "shout").expect(200);
        assert_eq!([last.at("/questCompleted"), last.at("/pointsAwarded")], [json!(true), json!(5)]);
        assert_eq!(total(&mia), day * 10);
        assert_eq!(quest(&mia, "matchday")["status"], "completed");
        service.clock().advance(Duration::from_hours(24));
        assert_eq!(quest(&mia, "matchday")["status"], "available");
        complete(&mia, "matchday", "read").problem(409, "quest_not_started");
    }
    Ok(())
}

fn spec_1_rule_5_social_actions_bring_quests_forward(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.client());
    let bo_id = bo.register("bo_");
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.post("/api/user/follow", &json!({"userId": bo_id})).expect(200);
    mia.patch("/api/user", &json!({"favoriteTeamId": team})).expect(200);
    mia.post("/api/leaderboard/join", &json!({"teamId": team})).expect(200);
    // Without a request: the consumer of the event log does it.
    service.run(async {
        let settled = terrace_testkit::app::store::Store::settled(service.storage()).await;
        service.app().live_models_reach(settled.expect("a working relay")).await;
        service.app().catch_up_consumers().await
    })?;
    let welcome = quest(&mia, "welcome");
    let steps: Vec<_> = (0..3).map(|n| welcome["steps"][n]["status"].clone()).collect();
    assert_eq!((steps, &welcome["status"]), (vec![json!("completed"); 3], &json!("completed")));
    assert_eq!(total(&mia), 20 + 10 + 5 + 50);
    assert_eq!(check(&mia).at("/pointsAwarded"), 0);
    // Unfollow and follow again counts as one.
    mia.ask("DELETE", "/api/user/follow").json(&json!({"userId": bo_id})).send().expect(200);
    mia.post("/api/user/follow", &json!({"userId": bo_id})).expect(200);
    service.run(service.app().catch_up_consumers())?;
    assert_eq!(total(&mia), 85);
    Ok(())
}

fn facts_count_that_held_before_the_start(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.client();
    let id = mia.register("mia");
    let award = json!({"userId": id, "amount": 150, "reason": "A ticket", "source": "import:1"});
    let timer = service.client().with_bearer(terrace_testkit::CRON_SECRET);
    timer.post("/api/cron/award-points", &award).expect(200);
    start(&mia, "ladder").expect(200);
    complete(&mia, "ladder", "one").expect(200);
    complete(&mia, "ladder", "two").expect(200);
    start(&mia, "after").expect(200);
    let checked = check(&mia);
    let json = checked.json();
    let keys: Vec<_> =
        json["completedSteps"].as_array().expect("steps").iter().map(|step| &step["key"]).collect();
    assert!(keys.contains(&&json!("rich")), "{keys:?}");
    // In addition, the welcome's step of being on a board, because the points of the ladder are on one.
    assert_eq!(
        [checked.at("/completedQuests/0/key"), checked.at("/pointsAwarded")],
        [json!("after"), json!(15)]
    );
    assert_eq!(check(&mia).at("/pointsAwarded"), 0);
    Ok(())
}

fn a_daily_visit_pays_once_a_day(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let visits: Vec<Answer> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..20).map(|_| scope.spawn(|| mia.post(VISIT, &json!({})).expect(200))).collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect()
    });
    let paid: i64 = visits.iter().filter_map(|visit| visit.at("/pointsAwarded").as_i64()).sum();
    assert_eq!((paid, total(&mia)), (10, 10));
    assert_eq!(visits.iter().filter(|visit| visit.at("/alreadyCompleted") == false).count(), 1);
    assert!(visits.iter().all(|visit| visit.at("/streak") == 1 && visit.at("/nextVisitAt").is_string()));
    Ok(())
}

fn a_streak_grows_and_a_change_of_zone_does_not_double_a_day(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let visit = || mia.post(VISIT, &json!({})).expect(200);
    assert_eq!(visit().at("/streak"), 1);
    // In another time zone it may be tomorrow already, and that counts from the next midnight only.
    mia.patch("/api/user", &json!({"timeZone": "Pacific/Kiritimati"})).expect(200);
    assert_eq!(visit().at("/alreadyCompleted"), true);
    mia.patch("/api/user", &json!({"timeZone": "Pacific/Pago_Pago"})).expect(200);
    assert_eq!(visit().at("/alreadyCompleted"), true);
    mia.patch("/api/user", &json!({"timeZone": "UTC"})).expect(200);
    for day in 2..=7_i64 {
        service.clock().advance(Duration::from_hours(24));
        let visited = visit();
        assert_eq!(visited.at("/streak"), day);
        assert_eq!(
            visited.at("/pointsAwarded"),
            if day == 7 { 60 } else { 10 },
            "the seventh is a milestone"
        );
    }
    Ok(())
}

fn completed_quests_are_derived_from_points(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    assert_eq!(mia.get(DONE).expect(200).json(), json!({"quests": [], "nextCursor": null}));
    start(&mia, "ladder").expect(200);
    complete(&mia, "ladder", "one").expect(200);
    complete(&mia, "ladder", "two").expect(200);
    service.clock().advance(Duration::from_secs(1));
    start(&mia, "matchday").expect(200);
    complete(&mia, "matchday", "read").expect(200);
    complete(&mia, "matchday", "shout").expect(200);
    let first = mia.get(&format!("{DONE}?limit=1")).expect(200);
    assert_eq!(
        [first.at("/quests/0/title"), first.at("/quests/0/pointsEarned")],
        [json!("Match day"), json!(10)]
    );
    let next = mia.get(&format!("{DONE}?limit=1&cursor={}", first.str_at("/nextCursor"))).expect(200);
    assert_eq!(
        [next.at("/quests/0/title"), next.at("/quests/0/pointsEarned")],
        [json!("Up the ladder"), json!(3)]
    );
    assert_eq!(next.at("/nextCursor"), Value::Null);
    Ok(())
}

fn achievements_show_progress_and_unlock(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let find = |key: &str| -> Option<Value> {
        let list = mia.get("/api/user/achievements").expect(200).json();
        list["achievements"].as_array().expect("a list").iter().find(|one| one["key"] == key).cloned()
    };
    let first = find("first-quest").expect("shown");
    assert_eq!(
        [&first["progress"], &first["target"], &first["unlockedAt"]],
        [&json!(0), &json!(1), &Value::Null]
    );
    assert_eq!(find("thousand"), None, "a secret");
    start(&mia, "ladder").expect(200);
    complete(&mia, "ladder", "one").expect(200);
    complete(&mia, "ladder", "two").expect(200);
    check(&mia);
    let first = find("first-quest").expect("shown");
    assert_eq!(first["progress"], 1);
    assert!(first["unlockedAt"].is_string());
    Ok(())
}

fn invalid_requests_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    mia.post(START, &json!({"questId": UNKNOWN})).problem(404, "not_found");
    mia.post(STEP, &json!({"stepId": UNKNOWN})).problem(404, "not_found");
    mia.post(START, &json!({"questId": "x"})).problem(400, "invalid_request");
    mia.post(START, &json!({})).problem(400, "invalid_request");
    mia.post(CHECK, &json!({"all": true})).problem(400, "invalid_request");
    // A step's id is not the id of a quest.
    let step = step_id(&mia, "ladder", "one");
    mia.post(START, &json!({"questId": step})).problem(404, "not_found");
    let visitor = service.client();
    for path in [START, STEP, CHECK, VISIT] {
        visitor.post(path, &json!({})).problem(401, "authentication_required");
    }
    for path in [DONE, "/api/user/achievements"] {
        visitor.get(path).problem(401, "authentication_required");
    }
    assert_eq!(total(&mia), 0);
    Ok(())
}

fn a_list_that_did_not_change_is_304(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    for client in [&mia, &service.client()] {
        let tag = client.get(QUESTS).expect(200).header("etag").expect("a tag").to_owned();
        client.ask("GET", QUESTS).header("if-none-match", &tag).send().expect(304);
    }
    let tag = mia.get(QUESTS).expect(200).header("etag").expect("a tag").to_owned();
    start(&mia, "ladder").expect(200);
    mia.ask("GET", QUESTS).header("if-none-match", &tag).send().expect(200);
    Ok(())
}

fn progress_is_deleted_with_its_account(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.client();
    let id: terrace_testkit::kernel::UserId = mia.register("mia").parse()?;
    start(&mia, "ladder").expect(200);
    complete(&mia, "ladder", "one").expect(200);
    mia.post(VISIT, &json!({})).expect(200);
    let password = json!({"password": terrace_testkit::PASSWORD});
    mia.ask("DELETE", "/api/user").json(&password).send().expect(204);
    let today = "2026-05-01".parse()?;
    let left = terrace_testkit::question(move |tx| tx.open_runs(id, today));
    assert_eq!(service.run(service.app().query(left)).map_err(|_| anyhow::anyhow!("no answer"))?, []);
    Ok(())
}
