//! Actions that fulfil the check of a step or an achievement complete it without a request (spec §1 rule 5,
//! and §4; `crates/app/src/quests/mod.rs`): a test for each kind, while the consumers of the event log run.

use super::pictures;
use super::streams::{Consumers, OWN, lasting};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::QuestContent;
use terrace_testkit::{CRON_SECRET, Client, DatabaseKind, EventStream, TestService, on_each_database};

on_each_database! {
    spec_1_rule_5_a_follow_is_noticed_on_both_sides,
    spec_1_rule_5_a_picture_and_a_complete_profile_are_noticed,
    spec_1_rule_5_a_board_that_is_joined_or_played_for_is_noticed,
    spec_1_rule_5_points_that_reach_a_threshold_are_noticed,
    spec_1_rule_5_a_rank_reached_by_own_points_is_noticed,
    spec_1_rule_5_a_condition_that_held_before_the_start_is_noticed,
    spec_1_rule_5_a_condition_that_holds_when_its_turn_comes_is_noticed,
    a_completed_quest_and_a_streak_unlock_achievements_at_once,
    followers_and_points_unlock_achievements,
}

/// A quest for each check, and one in which a check comes second.
const QUESTS: &str = r#"
quest = [
    { key = "follow", title = "F", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "follow_user", count = 1 } }] },
    { key = "followed", title = "F", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "get_followers", count = 1 } }] },
    { key = "picture", title = "P", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "upload_profile_picture" } }] },
    { key = "team", title = "T", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "choose_favorite_team" } }] },
    { key = "profile", title = "P", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "complete_profile" } }] },
    { key = "board", title = "B", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "join_leaderboard" } }] },
    { key = "points", title = "P", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "points_threshold", points = 50 } }] },
    { key = "rank", title = "R", cadence = "once", step = [{ key = "s", title = "S", points = 1, check = { kind = "rank_threshold", rank = 2 } }] },
    { key = "turn", title = "T", cadence = "once", sequential = true, step = [
        { key = "one", title = "One", points = 1 },
        { key = "s", title = "S", points = 1, check = { kind = "follow_user", count = 1 } },
    ] },
    { key = "plain", title = "P", cadence = "once", step = [{ key = "one", title = "One", points = 1 }] },
]
"#;

/// A service whose consumers run.
struct Watched {
    service: TestService,
    _consumers: Consumers,
}

impl Watched {
    fn start(kind: DatabaseKind) -> Result<Self> {
        let service = lasting(kind)?;
        let loaded = service.run(service.app().load_quests(QuestContent::parse(QUESTS)?));
        assert!(loaded.is_ok(), "{loaded:?}");
        let consumers = Consumers::of(&service)?;
        Ok(Self { service, _consumers: consumers })
    }

    /// A new fan who has started the quest with this key and reads their own stream.
    fn fan(&self, name: &str, quest: &str) -> Fan {
        let client = self.service.client();
        let id = client.register(name);
        client.post("/api/quests/start", &json!({"questId": self::quest(&client, quest)["id"]})).expect(200);
        let stream = client.stream(OWN).begun();
        Fan { client, id, stream }
    }

    fn award(&self, fan: &str, points: i64, fact: &str, team: Option<&str>) {
        let mut body = json!({"userId": fan, "amount": points, "reason": "A ticket", "source": format!("import:{fact}")});
        if let Some(team) = team {
            body["teamId"] = json!(team);
        }
        self.service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &body).expect(200);
    }

    fn team(&self) -> String {
        self.service.client().get("/api/teams").expect(200).str_at("/teams/0/id")
    }
}

struct Fan {
    client: Client,
    id: String,
    stream: EventStream,
}

fn quest(client: &Client, key: &str) -> Value {
    let quests = client.get("/api/quests").expect(200).list("/quests");
    quests.into_iter().find(|quest| quest["key"] == key).expect("the quest")
}

impl Fan {
    /// Waits until the own stream reports that the step of the quest is completed; then asserts that it is in
    /// the list, and was paid once.
    fn completes(&mut self, key: &str) {
        let steps = quest(&self.client, key)["steps"].clone();
        let step = steps.as_array().and_then(|steps| steps.last()).expect("a step");
        self.receives("step.completed", |data| data["stepId"] == step["id"]);
        let shown = quest(&self.client, key);
        assert_eq!(shown["status"], "completed", "{shown}");
        let history = self.client.get("/api/user/points?limit=100").expect(200).list("/history");
        let paid =
            history.iter().filter(|record| record["source"] == "quest_step" && record["reason"] == "S");
        assert_eq!(paid.count(), 1, "{history:?}");
        let checked = self.client.post("/api/quests/check-progress", &json!({})).expect(200);
        assert_eq!(checked.at("/pointsAwarded"), 0);
    }

    fn unlocks(&mut self, key: &str) {
        self.receives("achievement.unlocked", |data| data["key"] == key);
        assert!(self.unlocked_at(key).is_string());
    }

    /// When an achievement was unlocked, according to the list.
    fn unlocked_at(&self, key: &str) -> Value {
        let list = self.client.get("/api/user/achievements").expect(200).list("/achievements");
        list.iter().find(|one| one["key"] == key).map_or(Value::Null, |one| one["unlockedAt"].clone())
    }

    /// Waits for an event of the own stream, up to the stream's time limit.
    fn receives(&mut self, name: &str, is_it: impl Fn(&Value) -> bool) {
        loop {
            let event = self.stream.one();
            if event.name == name && is_it(&event.data) {
                return;
            }
        }
    }

    fn shows_face(&self) {
        let picture = pictures::png(1);
        self.client.ask("PUT", "/api/user/picture").body("image/png", picture).send().expect(200);
    }
}

fn spec_1_rule_5_a_follow_is_noticed_on_both_sides(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let (mut mia, mut tom) = (watched.fan("mia", "follow"), watched.fan("tom", "followed"));
    mia.client.post("/api/user/follow", &json!({"userId": tom.id})).expect(200);
    mia.completes("follow");
    tom.completes("followed");
    Ok(())
}

fn spec_1_rule_5_a_picture_and_a_complete_profile_are_noticed(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let mut mia = watched.fan("mia", "picture");
    mia.shows_face();
    mia.completes("picture");
    let mut tom = watched.fan("tom", "team");
    let team = watched.team();
    tom.client.patch("/api/user", &json!({"favoriteTeamId": team})).expect(200);
    tom.completes("team");
    let mut ida = watched.fan("ida", "profile");
    let profile = json!({"displayName": "Ida", "bio": "Since ever", "favoriteTeamId": team});
    ida.client.patch("/api/user", &profile).expect(200);
    ida.shows_face();
    ida.completes("profile");
    Ok(())
}

fn spec_1_rule_5_a_board_that_is_joined_or_played_for_is_noticed(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let team = watched.team();
    let mut mia = watched.fan("mia", "board");
    mia.client.post("/api/leaderboard/join", &json!({"teamId": team})).expect(200);
    mia.completes("board");
    let mut tom = watched.fan("tom", "board");
    watched.award(&tom.id, 3, "game", Some(&team));
    tom.completes("board");
    Ok(())
}

fn spec_1_rule_5_points_that_reach_a_threshold_are_noticed(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let mut mia = watched.fan("mia", "points");
    watched.award(&mia.id, 49, "one", None);
    watched.award(&mia.id, 1, "two", None);
    mia.completes("points");
    Ok(())
}

fn spec_1_rule_5_a_rank_reached_by_own_points_is_noticed(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    for (n, points) in [30, 20, 10].into_iter().enumerate() {
        let other = watched.service.client().register(&format!("other{n}"));
        watched.award(&other, points, "one", None);
    }
    let mut mia = watched.fan("mia", "rank");
    watched.award(&mia.id, 19, "one", None);
    watched.award(&mia.id, 2, "two", None);
    mia.completes("rank");
    let steps = |event: &Value| event["reason"] == "S";
    let history = mia.client.get("/api/user/points").expect(200).list("/history");
    assert!(steps(&history[1]) || steps(&history[0]), "not before the rank was reached: {history:?}");
    Ok(())
}

fn spec_1_rule_5_a_condition_that_held_before_the_start_is_noticed(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let tom = watched.service.client().register("tom");
    let mut mia = watched.fan("mia", "plain");
    mia.client.post("/api/user/follow", &json!({"userId": tom})).expect(200);
    let start = json!({"questId": quest(&mia.client, "follow")["id"]});
    mia.client.post("/api/quests/start", &start).expect(200);
    mia.completes("follow");
    Ok(())
}

fn spec_1_rule_5_a_condition_that_holds_when_its_turn_comes_is_noticed(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let tom = watched.service.client().register("tom");
    let mut mia = watched.fan("mia", "turn");
    mia.client.post("/api/user/follow", &json!({"userId": tom})).expect(200);
    let step = quest(&mia.client, "turn")["steps"][0]["id"].clone();
    mia.client.post("/api/quests/complete-step", &json!({"stepId": step})).expect(200);
    mia.completes("turn");
    Ok(())
}

/// In the transaction of the last step, and of the visit: the next answer shows it.
fn a_completed_quest_and_a_streak_unlock_achievements_at_once(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let mut mia = watched.fan("mia", "plain");
    let step = quest(&mia.client, "plain")["steps"][0]["id"].clone();
    mia.client.post("/api/quests/complete-step", &json!({"stepId": step})).expect(200);
    assert!(mia.unlocked_at("first-quest").is_string());
    mia.unlocks("first-quest");
    for day in 1..=7 {
        assert_eq!(mia.unlocked_at("week"), Value::Null);
        let visit = mia.client.post("/api/quests/daily-visit", &json!({})).expect(200);
        assert_eq!(visit.at("/streak"), day);
        if day < 7 {
            watched.service.clock().advance(Duration::from_hours(24));
        }
    }
    assert!(mia.unlocked_at("week").is_string());
    mia.unlocks("week");
    Ok(())
}

fn followers_and_points_unlock_achievements(kind: DatabaseKind) -> Result<()> {
    let watched = Watched::start(kind)?;
    let mut mia = watched.fan("mia", "plain");
    for n in 0..10 {
        let fan = watched.service.fan(&format!("fan{n}"));
        fan.post("/api/user/follow", &json!({"userId": mia.id})).expect(200);
    }
    mia.unlocks("voice");
    watched.award(&mia.id, 999, "one", None);
    watched.award(&mia.id, 1, "two", None);
    mia.unlocks("thousand");
    let list = mia.client.get("/api/user/achievements").expect(200).list("/achievements");
    let unlocked = list.iter().filter(|one| one["unlockedAt"].is_string()).count();
    assert_eq!(unlocked, 2, "{list:?}");
    Ok(())
}
