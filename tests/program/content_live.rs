//! A club's own content as its guide describes it, and beside servers that are busy (contract part 2 §10).

use super::content::{Folder, teams, terrace};
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::thread;
use terrace_testkit::{Client, DatabaseKind, TestDatabase, on_each_database, wait_until};

on_each_database! {
    the_examples_of_the_guide_add_a_team_a_quest_and_a_pack,
    loads_beside_busy_servers_lose_no_progress_and_sell_nothing_twice,
}

/// `docs/content.md`, each command and each example as it is printed there.
fn the_examples_of_the_guide_add_a_team_a_quest_and_a_pack(kind: DatabaseKind) -> Result<()> {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/content.md"))?;
    let blocks = |language: &str| -> Vec<String> {
        let fence = format!("```{language}\n");
        let parts = guide.split(&fence).skip(1);
        parts.filter_map(|part| Some(part.split_once("```")?.0.to_owned())).collect()
    };
    let commands = blocks("console").concat();
    let commands: Vec<_> = commands.lines().filter_map(|line| line.strip_prefix("terrace ")).collect();
    let [new, check, serve, load] = commands[..] else { anyhow::bail!("{commands:?}") };
    let database = TestDatabase::empty(kind)?;
    let terrace = terrace(&database)?;
    let run = |command: &str| -> Result<String> {
        terrace.clone().args(command.split(' ').map(str::to_owned)).run()?.succeeded()
    };
    run(new)?;
    let folder = Folder { terrace: terrace.clone(), name: "aldham" };
    let server = terrace.clone().args(serve.split(' ').map(str::to_owned)).serve()?;
    for example in blocks("toml") {
        let file = ["team", "quest", "collectible", "product", "reward", "wheel", "round"]
            .into_iter()
            .find(|one| example.contains(&format!("[[{one}]]")));
        let file = match file.context("an example of no file")? {
            "collectible" => "packs.toml".to_owned(),
            "round" => "trivia.toml".to_owned(),
            one => format!("{one}s.toml"),
        };
        folder.append(&file, &format!("\n{example}"))?;
    }
    assert!(run(check)?.starts_with("no faults: Port Aldham, version 1: 3 teams, 3 quests, 2 packs, "));
    let said = run(&format!("{load} --yes"))?;
    for line in [
        "add team under-21\n",
        "add quest first-away-day\n",
        "add pack stand\n",
        "add product scarf\n",
        "add product supporter-bundle\n",
        "add reward training-visit\n",
        "add wheel amber\n",
        "add round derby-quiz\n",
        ", 0 retired\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let mia = server.client();
    mia.register("mia");
    wait_until("the server shows the new content", || {
        let shows = |path: &str, key: &str| mia.get(path).expect(200).text().contains(key);
        Ok(teams(&mia).contains(&"under-21".to_owned())
            && shows("/api/quests", "first-away-day")
            && shows("/api/packs", "\"stand\""))
    })?;
    let quests = mia.get("/api/quests").expect(200).list("/quests");
    let quest = quests.iter().find(|quest| quest["key"] == "first-away-day").context("the quest")?;
    mia.post("/api/quests/start", &json!({"questId": quest["id"]})).expect(200);
    let done = mia.post("/api/quests/complete-step", &json!({"stepId": quest["steps"][0]["id"]})).expect(200);
    assert_eq!(done.at("/pointsAwarded"), 35);
    let gift = "maintain coins give --user mia --amount 15 --reason Welcome --key guide";
    run(gift)?;
    let packs = mia.get("/api/packs").expect(200).list("/packs");
    let pack = packs.iter().find(|pack| pack["key"] == "stand").context("the pack")?;
    let path = format!("/api/packs/{}", pack["id"].as_str().context("an id")?);
    let buy = format!("{path}/purchase");
    mia.ask("POST", &buy).header("idempotency-key", "one").json(&json!({})).send().expect(201);
    let open =
        mia.ask("POST", &format!("{path}/open")).header("idempotency-key", "two").json(&json!({})).send();
    assert_eq!(open.expect(200).list("/collectibles").len(), 2);
    Ok(())
}

/// What a fan got while content was loaded.
#[derive(Debug, PartialEq, Eq)]
struct Gained {
    points: i64,
    bought: usize,
}

/// Visits, completes the daily quest and buys, as often as the fan may.
fn gain(fan: &Client) -> Result<Gained> {
    let visited = fan.post("/api/quests/daily-visit", &json!({})).expect(200);
    let mut points = visited.at("/pointsAwarded").as_i64().context("points")?;
    let quests = fan.get("/api/quests").expect(200).list("/quests");
    let daily = quests.iter().find(|quest| quest["key"] == "matchday").context("the quest")?;
    fan.post("/api/quests/start", &json!({"questId": daily["id"]})).expect(200);
    for _ in 0..2 {
        let done =
            fan.post("/api/quests/complete-step", &json!({"stepId": daily["steps"][0]["id"]})).expect(200);
        points += done.at("/pointsAwarded").as_i64().context("points")?;
    }
    let packs = fan.get("/api/packs").expect(200).list("/packs");
    let pack = packs.iter().find(|pack| pack["key"] == "rush").context("the pack")?;
    let buy = format!("/api/packs/{}/purchase", pack["id"].as_str().context("an id")?);
    let mut bought = 0;
    for key in ["one", "one", "two", "three"] {
        let answer = fan.ask("POST", &buy).header("idempotency-key", key).json(&json!({})).send();
        match answer.status {
            // The same key again is the same purchase.
            201 => bought += usize::from(answer.header("idempotency-replayed").is_none()),
            _ => drop(answer.expect(409)),
        }
    }
    Ok(Gained { points, bought })
}

fn loads_beside_busy_servers_lose_no_progress_and_sell_nothing_twice(kind: DatabaseKind) -> Result<()> {
    const SUPPLY: usize = 8;
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    folder.edit("quests.toml", "\"Match day\"", "\"Match day 1\"")?;
    folder.append(
        "packs.toml",
        &format!(
            "\n[[pack]]\nkey = \"rush\"\nname = \"Rush 1\"\ndescription = \"\"\nsupply = {SUPPLY}\n\
             price = {{ kind = \"points\", amount = 10 }}\nslots = [{{ common = 1 }}]\ncontents = {{ amber-scarf = 1 }}\n"
        ),
    )?;
    let servers = [folder.served().serve()?, folder.served().serve()?];
    let fans = (0..12).zip(servers.iter().cycle()).map(|(number, server)| {
        let fan = server.client();
        fan.register(&format!("fan{number}"));
        fan
    });
    let fans: Vec<_> = fans.collect();
    let gained = thread::scope(|scope| -> Result<Vec<Gained>> {
        let busy: Vec<_> = fans.iter().map(|fan| scope.spawn(move || gain(fan))).collect();
        for version in 2..6 {
            let before = version - 1;
            folder.edit("packs.toml", &format!("Rush {before}"), &format!("Rush {version}"))?;
            folder.edit("quests.toml", &format!("Match day {before}"), &format!("Match day {version}"))?;
            folder.version(version)?;
            folder.load()?.succeeded()?;
        }
        busy.into_iter().map(|fan| fan.join().expect("no panic")).collect()
    })?;
    // 10 for the visit, 5 for the step, 5 for the quest.
    assert!(gained.iter().all(|gained| gained.points == 20), "{gained:?}");
    assert_eq!(gained.iter().map(|gained| gained.bought).sum::<usize>(), SUPPLY, "{gained:?}");
    for (fan, gained) in fans.iter().zip(&gained) {
        let copies = fan.get("/api/user/packs").expect(200).list("/packs");
        assert_eq!(copies.len(), gained.bought);
        let own = fan.get("/api/user").expect(200);
        let spent = i64::try_from(gained.bought)? * 10;
        assert_eq!([own.at("/points"), own.at("/balances/points")], [json!(20), json!(20 - spent)]);
        let quests = fan.get("/api/quests").expect(200).list("/quests");
        let daily = quests.iter().find(|quest| quest["key"] == "matchday").context("the quest")?;
        assert_eq!(daily["status"], "completed");
    }
    wait_until("both servers show the last version", || {
        let shows = |client: &Client| client.get("/api/packs").expect(200).text().contains("Rush 5");
        Ok(servers.iter().all(|server| shows(&server.client())))
    })?;
    folder.terrace.clone().args(["maintain", "verify"]).run()?.succeeded().map(drop)
}
