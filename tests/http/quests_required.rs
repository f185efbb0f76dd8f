//! The contract under "Quests" (spec §4) and spec §3, rule 5: required quests, and progress towards the target of a check.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::app::QuestContent;
use terrace_testkit::kernel::Failure;
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_quest_names_what_it_requires_and_whether_it_is_locked,
    a_step_whose_check_counts_has_progress,
    a_quest_is_read_by_its_id,
    answers_of_commands_have_requirements_and_progress,
    a_quest_that_cannot_be_read_is_refused,
}

const QUESTS: &str = "/api/quests";

const CONTENT: &str = r#"
[[quest]]
key = "before"
title = "Before"
cadence = "once"
step = [{ key = "only", title = "Only", points = 1 }]

[[quest]]
key = "after"
title = "After"
cadence = "once"
requires = ["before"]
step = [
    { key = "plain", title = "Plain" },
    { key = "three", title = "Follow three", check = { kind = "follow_user", count = 3 } },
    { key = "profile", title = "Complete the profile", check = { kind = "complete_profile" } },
    { key = "points", title = "Earn fifty", check = { kind = "points_threshold", points = 50 } },
    { key = "picture", title = "Show your face", check = { kind = "upload_profile_picture" } },
    { key = "rank", title = "Be the first", check = { kind = "rank_threshold", rank = 1 } },
]

[[quest]]
key = "later"
title = "Not open yet"
cadence = "once"
opens = "2100-01-01T00:00:00Z"
step = [{ key = "only", title = "Only" }]
"#;

fn load(service: &TestService, content: &str) {
    let content = QuestContent::parse(content).expect("quests");
    match service.run(service.app().load_quests(content)) {
        Ok(_) => {}
        Err(Failure::Refused(error)) => panic!("{error}"),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

fn service(kind: DatabaseKind) -> Result<TestService> {
    let service = TestService::start(kind)?;
    load(&service, CONTENT);
    Ok(service)
}

fn quest(client: &Client, key: &str) -> Value {
    let quests = client.get(QUESTS).expect(200).list("/quests");
    let quest = quests.into_iter().find(|quest| quest["key"] == key).expect("the quest");
    let path = format!("{QUESTS}/{}", quest["id"].as_str().expect("an id"));
    assert_eq!(client.get(&path).expect(200).at("/quest"), quest, "alone as in the list");
    quest
}

fn requirement(quest: &Value) -> [Value; 3] {
    let required = &quest["requires"][0];
    [required["title"].clone(), required["completed"].clone(), quest["locked"].clone()]
}

fn progress(quest: &Value, step: &str) -> Value {
    let steps = quest["steps"].as_array().expect("steps");
    steps.iter().find(|one| one["key"] == step).expect("the step")["progress"].clone()
}

fn start(client: &Client, key: &str) -> Value {
    client.post("/api/quests/start", &json!({"questId": quest(client, key)["id"]})).expect(200).at("/quest")
}

fn complete(client: &Client, key: &str, step: usize) -> terrace_testkit::Answer {
    client.post("/api/quests/complete-step", &json!({"stepId": quest(client, key)["steps"][step]["id"]}))
}

fn a_quest_names_what_it_requires_and_whether_it_is_locked(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    for client in [&visitor, &mia] {
        let before = quest(client, "before");
        assert_eq!([&before["requires"], &before["locked"]], [&json!([]), &json!(false)]);
        let after = quest(client, "after");
        assert_eq!(after["requires"][0]["questId"], before["id"]);
        assert_eq!(requirement(&after), [json!("Before"), json!(false), json!(true)]);
    }
    let tag = mia.get(QUESTS).expect(200).header("etag").expect("a tag").to_owned();
    start(&mia, "before");
    complete(&mia, "before", 0).expect(200);
    assert_eq!(requirement(&quest(&mia, "after")), [json!("Before"), json!(true), json!(false)]);
    assert_eq!(requirement(&quest(&visitor, "after")), [json!("Before"), json!(false), json!(true)]);
    mia.ask("GET", QUESTS).header("if-none-match", tag).send().expect(200);
    start(&mia, "after");
    Ok(())
}

fn a_step_whose_check_counts_has_progress(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    let bo = service.client().register("bo_");
    mia.post("/api/user/follow", &json!({"userId": bo})).expect(200);
    mia.patch("/api/user", &json!({"bio": "Row 14."})).expect(200);
    mia.post("/api/quests/daily-visit", &json!({})).expect(200);
    let of = |client: &Client| {
        let quest = quest(client, "after");
        ["plain", "three", "profile", "points", "picture", "rank"].map(|step| progress(&quest, step))
    };
    let counted = |value: u64, target: u64| json!({"value": value, "target": target});
    let none = Value::Null;
    let expected = [&none, &counted(1, 3), &counted(2, 4), &counted(10, 50), &none, &none];
    assert_eq!(of(&mia).each_ref(), expected);
    let expected = [&none, &counted(0, 3), &counted(0, 4), &counted(0, 50), &none, &none];
    assert_eq!(of(&visitor).each_ref(), expected);
    Ok(())
}

fn a_quest_is_read_by_its_id(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    let id = start(&mia, "before")["id"].as_str().expect("an id").to_owned();
    let path = format!("{QUESTS}/{id}");
    assert_eq!(mia.get(&path).expect(200).at("/quest/status"), "active");
    for (client, caching) in [(&visitor, "public, no-cache"), (&mia, "private, no-cache")] {
        let answer = client.get(&path).expect(200);
        assert_eq!(answer.header("cache-control"), Some(caching));
        let tag = answer.header("etag").expect("a tag").to_owned();
        client.ask("GET", &path).header("if-none-match", tag).send().expect(304);
    }
    // A quest that the content no longer has is still read by the links of those who completed it.
    complete(&mia, "before", 0).expect(200);
    load(
        &service,
        "[[quest]]\nkey = \"other\"\ntitle = \"Other\"\ncadence = \"once\"\nstep = [{ key = \"a\", title = \"A\" }]",
    );
    assert_eq!(mia.get(&path).expect(200).at("/quest/status"), "completed");
    assert!(mia.get(QUESTS).expect(200).list("/quests").iter().all(|quest| quest["id"] != id));
    Ok(())
}

fn answers_of_commands_have_requirements_and_progress(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = service.fan("mia");
    start(&mia, "before");
    complete(&mia, "before", 0).expect(200);
    let started = start(&mia, "after");
    assert_eq!(requirement(&started), [json!("Before"), json!(true), json!(false)]);
    assert_eq!(progress(&started, "three"), json!({"value": 0, "target": 3}));
    let completed = complete(&mia, "after", 0).expect(200);
    assert_eq!(requirement(&completed.at("/quest")), [json!("Before"), json!(true), json!(false)]);
    assert_eq!(completed.at("/step/progress"), Value::Null);
    assert_eq!(completed.at("/quest"), quest(&mia, "after"));
    for name in ["cleo", "dan", "eve"] {
        let other = service.client().register(name);
        mia.post("/api/user/follow", &json!({"userId": other})).expect(200);
    }
    complete(&mia, "after", 1).expect(200);
    // A completed step stays complete.
    let following = mia.get("/api/user/following").expect(200).str_at("/following/0/user/id");
    mia.ask("DELETE", "/api/user/follow").json(&json!({"userId": following})).send().expect(200);
    assert_eq!(progress(&quest(&mia, "after"), "three"), json!({"value": 3, "target": 3}));
    Ok(())
}

fn a_quest_that_cannot_be_read_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let visitor = service.client();
    visitor.get(&format!("{QUESTS}/{UNKNOWN}")).problem(404, "not_found");
    visitor.get(&format!("{QUESTS}/after")).problem(400, "invalid_request");
    let book = service.run(service.app().quest_book())?;
    let later = book.quests().iter().find(|quest| quest.key.as_str() == "later").expect("the quest").id;
    visitor.get(&format!("{QUESTS}/{later}")).problem(404, "not_found");
    visitor.get(&format!("{QUESTS}/{later}?limit=1")).problem(400, "invalid_request");
    Ok(())
}
