//! The dashboard over HTTP (spec §4): each part is what its own route answers, and nothing is sent twice.

use super::cart::{put, variant};
use super::leaderboard::{BOARD, JOIN};
use super::orders::message;
use super::payments::{fan, send_notice, service};
use super::trends::sync;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use terrace_testkit::kernel::Entropy;
use terrace_testkit::{
    Answer, CRON_SECRET, Client, DatabaseKind, SeededEntropy, TRIVIA_AFTER, TestService, on_each_database,
    wait_until,
};

on_each_database! {
    spec_4_each_part_equals_the_answer_of_its_own_route_after_any_history,
    an_unchanged_dashboard_is_304_and_a_position_elsewhere_does_not_change_it,
}

pub(super) const DASHBOARD: &str = "/api/dashboard";
/// The number of random actions between two comparisons, and of comparisons.
const ACTIONS: usize = 24;
const ROUNDS: usize = 3;

pub(super) struct World {
    pub(super) service: TestService,
    pub(super) fans: Vec<(Client, String)>,
    /// Orders that wait for their payment.
    pending: Vec<Answer>,
    dice: SeededEntropy,
    done: usize,
}

impl World {
    pub(super) fn new(kind: DatabaseKind) -> Result<Self> {
        let service = service(kind)?;
        let fans = ["mia", "bo_", "ada"].map(|name| {
            let client = fan(&service, name);
            let id = client.get("/api/user").expect(200).str_at("/id");
            (client, id)
        });
        Ok(Self { service, fans: fans.into(), pending: Vec::new(), dice: SeededEntropy::new(11), done: 0 })
    }

    fn below(&self, end: usize) -> usize {
        let number = self.dice.seed().first_chunk().copied().map(u64::from_le_bytes).expect("32 bytes");
        usize::try_from(number % u64::try_from(end).expect("small")).expect("small")
    }

    fn one_of<'v>(&self, values: &'v [Value]) -> Option<&'v Value> {
        if values.is_empty() { None } else { values.get(self.below(values.len())) }
    }

    fn cron(&self, path: &str, body: &Value) -> Answer {
        self.service.client().with_bearer(CRON_SECRET).post(path, body)
    }

    /// Does something that may change a dashboard. Many actions are refused, which changes nothing.
    pub(super) fn act(&mut self) {
        self.done += 1;
        let name = format!("act-{}", self.done);
        let (client, id) = &self.fans[self.below(self.fans.len())];
        let keyed = |path: &str, body: &Value| {
            client.ask("POST", path).header("idempotency-key", &name).json(body).send()
        };
        let team = self.one_of(&client.get("/api/teams").expect(200).list("/teams")).cloned();
        let team = team.map(|team| team["id"].clone()).unwrap_or_default();
        let pack = |key: &str| {
            let packs = client.get("/api/packs").expect(200).list("/packs");
            packs.iter().find(|pack| pack["key"] == key).expect("a pack")["id"].as_str().map(str::to_owned)
        };
        match self.below(18) {
            0 | 1 => drop(self.cron(
                "/api/cron/award-points",
                &json!({"userId": id, "amount": 40, "reason": "A ticket", "source": format!("import:{name}"), "teamId": team}),
            )),
            2 => {
                let path = format!("/api/packs/{}/purchase", pack("day").expect("an id"));
                keyed(&path, &json!({"quantity": 2}));
            }
            3 => {
                let path = format!("/api/packs/{}/open", pack("day").expect("an id"));
                keyed(&path, &json!({}));
            }
            4 | 5 => {
                let (of, _) = variant(client, if self.below(2) == 0 { "purse" } else { "badge" });
                put(client, &of, &json!({"quantity": 1 + self.below(2)}));
                let quote = client.get("/api/cart").expect(200).at("/cart/quote");
                let placed = keyed("/api/checkout", &json!({"quote": quote}));
                if placed.status == 201 && placed.at("/order/status") == "pending" {
                    self.pending.push(placed);
                }
            }
            6 => {
                if let Some(placed) = self.pending.pop() {
                    send_notice(&self.service, &message(&placed, "paid", &name)).expect(204);
                }
            }
            7 => {
                let quests = client.get("/api/quests").expect(200).list("/quests");
                let quest = self.one_of(&quests).cloned().unwrap_or_default();
                client.post("/api/quests/start", &json!({"questId": quest["id"]}));
                for step in quest["steps"].as_array().into_iter().flatten() {
                    client.post("/api/quests/complete-step", &json!({"stepId": step["id"]}));
                }
            }
            8 => drop(client.post("/api/quests/daily-visit", &json!({})).expect(200)),
            9 => {
                let favorite = if self.below(4) == 0 { Value::Null } else { team };
                client.patch("/api/user", &json!({"favoriteTeamId": favorite})).expect(200);
            }
            10 => {
                client.create_post(&format!("What a game #{} #terrace", ["derby", "cup"][self.below(2)]));
                sync(&self.service);
            }
            11 => drop(client.post(JOIN, &json!({"teamId": team})).expect(200)),
            12 => drop(client.ask("DELETE", JOIN).json(&json!({"teamId": team})).send().expect(200)),
            13 => {
                let rewards = client.get("/api/rewards").expect(200).list("/rewards");
                if let Some(id) = self.one_of(&rewards).and_then(|reward| reward["id"].as_str()) {
                    keyed(&format!("/api/rewards/{id}/claim"), &json!({}));
                }
            }
            14 => {
                let claims = client.get("/api/user/rewards?status=issued").expect(200).list("/claims");
                if let Some(id) = self.one_of(&claims).and_then(|claim| claim["id"].as_str()) {
                    client.post(&format!("/api/user/rewards/{id}/use"), &json!({}));
                }
            }
            15 => {
                let wheels = client.get("/api/wheel").expect(200).list("/wheels");
                if let Some(wheel) = self.one_of(&wheels) {
                    let path = format!("/api/wheel/{}/spin", wheel["id"].as_str().expect("an id"));
                    let hash = &wheel["me"]["serverSeedHash"];
                    keyed(&path, &json!({"pay": "free", "serverSeedHash": hash, "clientSeed": "kop"}));
                }
            }
            16 => {
                let rounds = client.get("/api/trivia").expect(200).list("/rounds");
                let round = self.one_of(&rounds).and_then(|round| round["id"].as_str());
                let path = format!("/api/trivia/{}", round.expect("a round"));
                client.post(&format!("{path}/join"), &json!({}));
                let next = client.post(&format!("{path}/next"), &json!({}));
                if next.status == 200 {
                    let option = next.at("/question/options/0/id");
                    let body = json!({"questionId": next.at("/question/id"), "optionId": option});
                    client.post(&format!("{path}/answers"), &body).expect(201);
                }
            }
            _ => {
                let (_, other) = &self.fans[self.below(self.fans.len())];
                client.post(&format!("/api/users/{other}/follow"), &json!({}));
            }
        }
    }
}

/// The members of a value.
fn only(value: &Value, names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| ((*name).to_owned(), value[*name].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn first(list: Vec<Value>, count: usize) -> Value {
    list.into_iter().take(count).collect()
}

fn whole(client: &Client, path: &str, list: &str) -> Vec<Value> {
    let answer = client.get(path).expect(200);
    assert_eq!(answer.at("/nextCursor"), Value::Null, "{path} has more than a page");
    answer.list(list)
}

fn quests(client: &Client) -> Value {
    let all = client.get("/api/quests").expect(200).list("/quests");
    let with = |status: &'static str| {
        let all = all.clone();
        all.into_iter().filter(move |quest| quest["status"] == status && quest["locked"] == false)
    };
    let summary = |quest: Value| {
        let mut shown = only(&quest, &["id", "key", "title", "cadence", "status", "totalPoints", "closesAt"]);
        let steps = quest["steps"].as_array().cloned().unwrap_or_default();
        let (done, open): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step["status"] == "completed");
        shown["completedSteps"] = json!(done.len());
        shown["steps"] = json!(steps.len());
        shown["nextStep"] = open.first().map_or(Value::Null, |step| (*step).clone());
        shown
    };
    with("active").chain(with("available")).take(5).map(summary).collect()
}

fn orders(client: &Client) -> Value {
    let all = whole(client, "/api/user/orders?limit=100", "/orders");
    let count = |status: &str| all.iter().filter(|order| order["status"] == status).count();
    let summary = |order: &Value| {
        let mut shown = only(order, &["id", "status", "totals", "checkoutUrl", "expiresAt", "createdAt"]);
        let lines = order["lines"].as_array().cloned().unwrap_or_default();
        shown["units"] = lines.iter().filter_map(|line| line["quantity"].as_u64()).sum::<u64>().into();
        shown["name"] = lines[0]["name"].clone();
        shown
    };
    let latest: Vec<Value> = all.iter().take(3).map(summary).collect();
    json!({"pending": count("pending"), "paid": count("paid"), "latest": latest})
}

fn rewards(client: &Client) -> Value {
    let all = whole(client, "/api/user/rewards?status=issued&limit=100", "/claims");
    let summary = |claim: &Value| only(claim, &["id", "rewardId", "reward", "createdAt", "expiresAt"]);
    json!({"usable": all.len(), "latest": all.iter().take(3).map(summary).collect::<Vec<_>>()})
}

/// The first wheel with a free spin, otherwise the first one.
fn wheel(client: &Client) -> Value {
    let wheels = whole(client, "/api/wheel", "/wheels");
    let free = wheels.iter().find(|wheel| wheel["me"]["freeSpin"] == true).or(wheels.first());
    free.map_or(Value::Null, |wheel| {
        let mut shown = only(wheel, &["id", "key", "name"]);
        for field in ["freeSpin", "nextFreeSpinAt"] {
            shown[field] = wheel["me"][field].clone();
        }
        shown
    })
}

/// The first round that was not awarded: a live one before an open one, and that before one to come. All live rounds of
/// the test begin within a day.
fn trivia(client: &Client) -> Value {
    let mut rounds = whole(client, "/api/trivia?limit=100", "/rounds");
    rounds.retain(|round| round["me"]["award"].is_null());
    rounds.sort_by_key(|round| {
        let place = if round["mode"] == "live" { 0 } else { 1 + u8::from(round["status"] != "open") };
        (place, round["startsAt"].to_string())
    });
    rounds.first().map_or(Value::Null, |round| {
        let fields = ["id", "title", "mode", "status", "startsAt", "closesAt", "questionCount"];
        let mut shown = only(round, &fields);
        shown["joined"] = json!(round["me"].is_object());
        shown
    })
}

/// The dashboard, put together from the other routes.
fn parts(client: &Client) -> Value {
    let user = client.get("/api/user").expect(200).json();
    let mine = |query: &str| client.get(&format!("{BOARD}?limit=1{query}")).expect(200).at("/me");
    let team = user["favoriteTeam"]["id"].as_str().map(|team| mine(&format!("&teamId={team}")));
    let sealed = whole(client, "/api/user/packs?status=sealed&limit=100", "/packs");
    let opened = whole(client, "/api/user/packs?status=opened&limit=100", "/packs");
    let owned = whole(client, "/api/user/collectibles?limit=100", "/collectibles");
    let distinct: BTreeSet<String> = owned.iter().map(|one| one["collectible"]["id"].to_string()).collect();
    let mut achievements = client.get("/api/user/achievements").expect(200).list("/achievements");
    let total = achievements.len();
    achievements.retain(|one| one["unlockedAt"].is_string());
    achievements
        .sort_by_key(|one| (std::cmp::Reverse(one["unlockedAt"].to_string()), one["key"].to_string()));
    let unlocked = achievements.len();
    let trends = client.get("/api/trends").expect(200).json();
    let topics = trends["topics"].as_array().cloned().unwrap_or_default();
    let shown = [
        "id",
        "username",
        "displayName",
        "pictureUrl",
        "favoriteTeam",
        "followerCount",
        "followingCount",
        "points",
    ];
    json!({
        "user": only(&user, &shown),
        "level": user["level"],
        "balances": user["balances"],
        "rank": {"global": mine(""), "team": team},
        "streak": client.get("/api/quests/daily-visit").expect(200).json(),
        "quests": quests(client),
        "achievements": {"unlocked": unlocked, "total": total, "latest": first(achievements, 3)},
        "packs": {"sealed": sealed.len(), "owned": sealed.len() + opened.len(), "latest": first(sealed, 3)},
        "collectibles": {"owned": owned.len(), "distinct": distinct.len(), "latest": first(owned, 3)},
        "rewards": rewards(client),
        "notifications": {"unread": client.get("/api/notifications").expect(200).at("/unread")},
        "orders": orders(client),
        "wheel": wheel(client),
        "trivia": trivia(client),
        "trends": {"topics": first(topics, 5), "refreshedAt": trends["refreshedAt"]},
    })
}

/// A dashboard without its position, with achievements of one millisecond in the order of their keys.
pub(super) fn read(client: &Client) -> Value {
    let mut shown = client.get(DASHBOARD).expect(200).json();
    assert!(shown.as_object_mut().expect("an object").remove("streamPosition").is_some_and(|at| at.is_u64()));
    if let Some(latest) = shown["achievements"]["latest"].as_array_mut() {
        latest.sort_by_key(|one| (std::cmp::Reverse(one["unlockedAt"].to_string()), one["key"].to_string()));
    }
    shown
}

fn spec_4_each_part_equals_the_answer_of_its_own_route_after_any_history(kind: DatabaseKind) -> Result<()> {
    let mut world = World::new(kind)?;
    for _ in 0..ROUNDS {
        for _ in 0..ACTIONS {
            world.act();
        }
        // The rounds begin, the live one ends, and then the solo round as well.
        world.service.clock().advance(TRIVIA_AFTER * 2);
        // Otherwise a dashboard may be kept for a second of the real time.
        world.service.app().changes().note_unknown();
        for (client, _) in &world.fans {
            // Consumers may complete steps meanwhile: what is compared is a state that did not change between two reads.
            let (mut shown, mut expected) = (Value::Null, Value::Null);
            wait_until("the dashboard stays as it is", || {
                shown = read(client);
                expected = parts(client);
                Ok(read(client) == shown)
            })?;
            for (part, value) in expected.as_object().expect("parts") {
                assert_eq!(&shown[part], value, "{part}");
            }
            assert_eq!(
                shown.as_object().map(serde_json::Map::len),
                expected.as_object().map(serde_json::Map::len)
            );
        }
    }
    Ok(())
}

fn an_unchanged_dashboard_is_304_and_a_position_elsewhere_does_not_change_it(
    kind: DatabaseKind,
) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    service.client().get(DASHBOARD).problem(401, "authentication_required");
    let mut tag = String::new();
    wait_until("the dashboard stays as it is", || {
        let before = std::mem::replace(
            &mut tag,
            mia.get(DASHBOARD).expect(200).header("etag").unwrap_or_default().to_owned(),
        );
        Ok(before == tag)
    })?;
    let unchanged = || mia.ask("GET", DASHBOARD).header("if-none-match", &tag).send();
    let first = mia.get(DASHBOARD).expect(200);
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));
    bo.create_post("Not about Mia");
    assert!(unchanged().expect(304).body.is_empty());
    // Another fan's dashboard has another tag, and a change of one's own is shown at once.
    assert_ne!(bo.get(DASHBOARD).expect(200).header("etag"), Some(tag.as_str()));
    mia.patch("/api/user", &json!({"displayName": "Mia Carter"})).expect(200);
    assert_eq!(unchanged().expect(200).at("/user/displayName"), "Mia Carter");
    Ok(())
}
