//! A club's own content: `terrace content`, and `serve --content` (contract part 2 §10).

use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs::{self, File};
use std::path::PathBuf;
use terrace_testkit::{Client, DatabaseKind, Invocation, TestDatabase, on_each_database, wait_until};

on_each_database! {
    a_new_folder_passes_its_check_and_serves,
    forty_faults_are_named_with_file_and_line_and_change_nothing,
    a_load_beside_a_server_keeps_progress_and_retires_by_key,
    servers_with_different_folders_do_not_replace_each_others_content,
}

/// A folder that `content new` made.
pub(super) struct Folder {
    pub(super) terrace: Invocation,
    pub(super) name: &'static str,
}

impl Folder {
    pub(super) fn new(terrace: &Invocation, name: &'static str) -> Result<Self> {
        terrace.clone().args(["content", "new", name]).run()?.succeeded()?;
        Ok(Self { terrace: terrace.clone(), name })
    }

    fn path(&self, file: &str) -> PathBuf {
        self.terrace.folder().join(self.name).join(file)
    }

    /// Replaces the only occurrence of `old` in a file.
    pub(super) fn edit(&self, file: &str, old: &str, new: &str) -> Result<()> {
        let text = fs::read_to_string(self.path(file))?;
        ensure!(text.matches(old).count() == 1, "{file} has {} of {old:?}", text.matches(old).count());
        Ok(fs::write(self.path(file), text.replace(old, new))?)
    }

    pub(super) fn append(&self, file: &str, lines: &str) -> Result<()> {
        let text = fs::read_to_string(self.path(file)).unwrap_or_default();
        Ok(fs::write(self.path(file), format!("{text}{lines}"))?)
    }

    pub(super) fn version(&self, version: u32) -> Result<()> {
        let text = fs::read_to_string(self.path("club.toml"))?;
        let set = |line: &str| match line.strip_prefix("version = ") {
            Some(_) => format!("version = {version}\n"),
            None => format!("{line}\n"),
        };
        Ok(fs::write(self.path("club.toml"), text.lines().map(set).collect::<String>())?)
    }

    fn check(&self) -> Result<terrace_testkit::Ended> {
        self.terrace.clone().args(["content", "check", self.name]).run()
    }

    pub(super) fn load(&self) -> Result<terrace_testkit::Ended> {
        self.terrace.clone().args(["content", "load", self.name, "--yes"]).run()
    }

    pub(super) fn served(&self) -> Invocation {
        self.terrace.clone().args(["serve", "--content", self.name])
    }
}

pub(super) fn terrace(database: &TestDatabase) -> Result<Invocation> {
    Invocation::on(database.url())
}

pub(super) fn teams(client: &Client) -> Vec<String> {
    let teams = client.get("/api/teams").expect(200).list("/teams");
    teams.iter().filter_map(|team| Some(team["key"].as_str()?.to_owned())).collect()
}

fn a_new_folder_passes_its_check_and_serves(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    let said = folder.check()?.succeeded()?;
    assert!(said.starts_with("no faults: Port Aldham, version 1: 2 teams, 2 quests, 1 packs, "), "{said}");
    let again = folder.terrace.clone().args(["content", "new", "club"]).run()?;
    assert!(again.code == Some(1) && again.log.contains("club is not empty"), "{}", again.words());
    let server = folder.served().serve()?;
    let mia = server.client();
    mia.register("mia");
    assert_eq!(teams(&mia), ["first-team", "women"]);
    let crest = mia.get("/api/teams").at("/teams/0/crestUrl");
    let crest = mia.get(crest.as_str().context("no crest")?).expect(200);
    assert_eq!(crest.header("content-type"), Some("image/svg+xml"));
    let policy = crest.header("content-security-policy").unwrap_or_default().to_owned();
    assert_eq!(policy, "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    assert!(crest.text().starts_with("<svg ") && crest.text().contains("#fbb03b"), "{}", crest.text());
    assert_eq!(mia.get("/manifest.webmanifest").expect(200).json()["name"], "Port Aldham");
    mia.get("/theme.css").expect(200);
    let packs = mia.get("/api/packs").expect(200).list("/packs");
    let pack = packs.first().context("no pack")?;
    let art = mia.get(pack["imageUrl"].as_str().context("no picture")?).expect(200).text();
    assert!(art.contains("MATCH DAY") && art.contains("3 cards, 1 rare or better"), "{art}");
    for unknown in
        ["/content/packs/0/none.svg", "/content/collectibles/0/none.svg", "/content/crests/none.svg"]
    {
        mia.get(unknown).problem(404, "not_found");
    }
    mia.get("/content/collectibles/0/lighthouse.svg").expect(200);
    folder.terrace.clone().args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

/// Faults of every kind: syntax, unknown fields, wrong types, broken rules, cycles, pictures that are none, sizes.
fn forty_faults_are_named_with_file_and_line_and_change_nothing(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    folder.load()?.succeeded()?;
    let mut planted: Vec<String> = Vec::new();
    // Each appended entry begins one line after the end of the file.
    let mut plant = |file: &str, entry: &str, line: usize| -> Result<()> {
        let text = fs::read_to_string(folder.path(file)).unwrap_or_default();
        let at = text.lines().count() + line;
        folder.append(file, entry)?;
        planted.push(format!("{file}:{at}: "));
        Ok(())
    };
    let league = |key: &str, rest: &str| format!("[[league]]\nkey = \"{key}\"\n{rest}");
    let whole_league = "name = \"L\"\ncountry = \"GB\"\nsport = \"football\"\n";
    plant("leagues.toml", &league("l 1", whole_league), 1)?;
    plant("leagues.toml", &league("l2", "name = \"\"\ncountry = \"GB\"\nsport = \"s\"\n"), 1)?;
    plant("leagues.toml", &league("l3", "name = \"L\"\ncountry = \"gb\"\nsport = \"s\"\n"), 1)?;
    plant("leagues.toml", &league("county-league", whole_league), 1)?;
    plant("leagues.toml", &league("l5", "name = \"L\"\ncountry = \"GB\"\n"), 1)?;
    plant("leagues.toml", &league("l6", &format!("{whole_league}color = 1\n")), 6)?;
    plant("leagues.toml", "[[ligue]]\nkey = \"x\"\n", 1)?;
    let team =
        |key: &str, rest: &str| format!("[[team]]\nkey = \"{key}\"\nleague = \"county-league\"\n{rest}");
    let whole_team = "name = \"T\"\nshort_name = \"TT\"\ncolors = [\"#000000\", \"#ffffff\"]\n";
    plant("teams.toml", &team("First", whole_team), 1)?;
    plant("teams.toml", &team("women", whole_team), 1)?;
    plant(
        "teams.toml",
        &team("t3", "name = \"T\"\nshort_name = \"T\"\ncolors = [\"#000000\", \"#ffffff\"]\n"),
        1,
    )?;
    plant(
        "teams.toml",
        &team("t4", "name = \"T\"\nshort_name = \"TT\"\ncolors = [\"black\", \"#ffffff\"]\n"),
        1,
    )?;
    plant("teams.toml", &team("t5", "name = \"T\"\nshort_name = \"TT\"\ncolors = [\"#000000\"]\n"), 6)?;
    plant("teams.toml", &team("t6", &format!("{whole_team}crest = \"images/none.png\"\n")), 1)?;
    plant("teams.toml", &team("t7", &format!("{whole_team}size = 7\n")), 7)?;
    plant("teams.toml", &team("t8", whole_team).replace("county-league", "nowhere"), 1)?;
    let quest = |key: &str, rest: &str, step: &str| {
        format!("[[quest]]\nkey = \"{key}\"\ntitle = \"Q\"\ncadence = \"once\"\n{rest}step = [{step}]\n")
    };
    let step = "{ key = \"s\", title = \"S\", points = 1 }";
    plant("quests.toml", &quest("q 1", "", step), 1)?;
    plant("quests.toml", &quest("q2", "", "{ key = \"s\", title = \"\", points = 1 }"), 1)?;
    plant("quests.toml", &quest("q3", "", "{ key = \"s\", title = \"S\", points = -1 }"), 1)?;
    plant("quests.toml", &quest("q4", "requires = [\"nothing\"]\n", step), 1)?;
    plant("quests.toml", &quest("q5", "requires = [\"q6\"]\n", step), 1)?;
    plant("quests.toml", &quest("q6", "requires = [\"q5\"]\n", step), 1)?;
    plant("quests.toml", &quest("q7", "team = \"nobody\"\n", step), 1)?;
    plant("quests.toml", &quest("q8", "opens = \"soon\"\n", step), 1)?;
    plant("quests.toml", &quest("q9", "bonus = \"much\"\n", step), 5)?;
    plant("quests.toml", &quest("q10", "", "{ key = \"s\", title = \"S\", check = { kind = \"fly\" } }"), 1)?;
    plant("quests.toml", &quest("matchday", "", step), 1)?;
    plant("quests.toml", &quest("q11", "oepns = \"2027-01-01T00:00:00Z\"\n", step), 5)?;
    let achievement = |key: &str, goal: &str| {
        format!("[[achievement]]\nkey = \"{key}\"\ntitle = \"A\"\ndescription = \"\"\ngoal = \"{goal}\"\n")
    };
    plant("achievements.toml", &achievement("a1", "wins:3"), 1)?;
    plant("achievements.toml", &achievement("a 2", "followers:3"), 1)?;
    plant("levels.toml", "[[level]]\nname = \"\"\nfrom = 90000\n", 1)?;
    plant("levels.toml", "[[level]]\nname = \"Back\"\nfrom = 5\n", 1)?;
    let item = |key: &str, rest: &str| format!("[[collectible]]\nkey = \"{key}\"\nname = \"C\"\n{rest}");
    plant("packs.toml", &item("c1", "rarity = \"shiny\"\n"), 1)?;
    plant("packs.toml", &item("c2", "rarity = \"common\"\nedition = 0\n"), 1)?;
    plant("packs.toml", &item("c3", "rarity = \"common\"\nimage = \"images/none.png\"\n"), 1)?;
    plant("packs.toml", &item("scarf", "rarity = \"common\"\n"), 1)?;
    plant("packs.toml", &item("c4", "rarity = \"common\"\ntaem = \"women\"\n"), 5)?;
    folder.edit("club.toml", "\"#11161d\"]", "\"ink\"]\nmotto = \"x\"")?;
    planted.push("club.toml:7: ".to_owned());
    fs::write(folder.path("images/fake.png"), "<svg/>")?;
    planted.push("images/fake.png: ".to_owned());
    File::create(folder.path("images/huge.png"))?.set_len(100 << 20)?;
    planted.push("images/huge.png: is larger than 10 MiB".to_owned());
    fs::write(folder.path("quest.toml"), "")?;
    planted.push("quest.toml: is no file of a content folder".to_owned());
    assert!(planted.len() >= 40, "{}", planted.len());

    for refused in [folder.check()?, folder.load()?] {
        assert_eq!(refused.code, Some(1), "{}", refused.words());
        for fault in &planted {
            let named = refused.said.lines().any(|line| line.starts_with(fault.as_str()));
            ensure!(named, "{fault} is not in\n{}", refused.said);
        }
        assert!(refused.said.contains("faults; nothing was changed"), "{}", refused.said);
    }
    let refused = folder.served().run()?;
    assert!(refused.code == Some(1) && refused.log.contains("has faults"), "{}", refused.words());
    let server = folder.terrace.serve()?;
    assert_eq!(teams(&server.client()), ["first-team", "women"]);
    Ok(())
}

fn a_load_beside_a_server_keeps_progress_and_retires_by_key(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    let server = folder.served().serve()?;
    let mia = server.client();
    mia.register("mia");
    let matchday = |client: &Client| -> Result<serde_json::Value> {
        let quests = client.get("/api/quests").expect(200).list("/quests");
        quests.into_iter().find(|quest| quest["cadence"] == "daily").context("no daily quest")
    };
    let before = matchday(&mia)?;
    let step = before["steps"][0]["id"].as_str().context("no step")?.to_owned();
    mia.post("/api/quests/start", &json!({"questId": before["id"]})).expect(200);
    mia.post("/api/quests/complete-step", &json!({"stepId": step})).expect(200);
    let women = mia.get("/api/teams").at("/teams/1/id");
    let women = women.as_str().context("no team")?.to_owned();

    folder.edit("quests.toml", "title = \"Match day\"", "title = \"The day of the match\"")?;
    let text = fs::read_to_string(folder.path("teams.toml"))?;
    let (kept, _) = text.rsplit_once("[[team]]").context("one team")?;
    fs::write(folder.path("teams.toml"), kept)?;
    folder.version(2)?;
    let said = folder.load()?.succeeded()?;
    for line in ["change quest matchday\n", "retire team women\n", "0 added, 2 changed, 1 retired\n"] {
        assert!(said.contains(line), "{said}");
    }
    wait_until("the server shows the new content", || {
        Ok(matchday(&mia)?["title"] == "The day of the match" && teams(&mia) == ["first-team"])
    })?;
    let after = matchday(&mia)?;
    assert_eq!(after["id"], before["id"]);
    assert_eq!(after["steps"][0]["id"].as_str(), Some(step.as_str()));
    // Progress stays, and the step pays no second time.
    let again = mia.post("/api/quests/complete-step", &json!({"stepId": step})).expect(200);
    assert_eq!(again.at("/pointsAwarded"), json!(0), "{}", again.text());
    // A retired team still has its page, and gets no new followers.
    mia.get(&format!("/api/teams/{women}")).expect(200);
    mia.post("/api/user/follow", &json!({"teamId": women})).expect(404);
    mia.patch("/api/user", &json!({"favoriteTeamId": women})).expect(422);
    folder.terrace.clone().args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

fn servers_with_different_folders_do_not_replace_each_others_content(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = terrace(&database)?;
    let (one, other) = (Folder::new(&terrace, "one")?, Folder::new(&terrace, "other")?);
    one.version(2)?;
    other.edit("quests.toml", "title = \"Match day\"", "title = \"Another\"")?;
    let titles = |client: &Client| client.get("/api/quests").expect(200).text();
    let first = one.served().serve()?;
    // Its version is lower.
    let second = other.served().serve()?;
    let log = second.log()?;
    assert!(log.contains("was not loaded: its version is 1, and version 2 is loaded"), "{log}");
    assert!(titles(&first.client()).contains("Match day"));
    drop(second);
    // A higher version that retires something is loaded only on request.
    other.version(3)?;
    other.edit("teams.toml", "key = \"women\"", "key = \"ladies\"")?;
    let second = other.served().serve()?;
    let log = second.log()?;
    assert!(log.contains("was not loaded: it retires team women; run `terrace content load"), "{log}");
    drop(second);
    // A higher version that retires nothing is loaded.
    other.edit("teams.toml", "key = \"ladies\"", "key = \"women\"")?;
    let second = other.served().serve()?;
    wait_until("both servers show the higher version", || {
        Ok([&first, &second].iter().all(|server| titles(&server.client()).contains("Another")))
    })
}
