//! A club's own content: `terrace content`, and `serve --content` (contract part 2 §10).

use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use terrace_testkit::{Client, DatabaseKind, Invocation, TestDatabase, on_each_database, wait_until};

on_each_database! {
    a_new_folder_passes_its_check_and_serves,
    a_new_folder_replaces_the_demo_and_hides_what_it_retires,
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

    pub(super) fn path(&self, file: &str) -> PathBuf {
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

    pub(super) fn check(&self) -> Result<terrace_testkit::Ended> {
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
    assert!(art.contains("HOME GAME") && art.contains("3 cards, 1 rare or better"), "{art}");
    for unknown in
        ["/content/packs/0/none.svg", "/content/collectibles/0/none.svg", "/content/crests/none.svg"]
    {
        mia.get(unknown).problem(404, "not_found");
    }
    mia.get("/content/collectibles/0/lighthouse.svg").expect(200);
    folder.terrace.clone().args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

fn keys(client: &Client, path: &str, list: &str, key: &str) -> Vec<serde_json::Value> {
    let all = client.get(path).expect(200).list(list);
    all.iter().map(|one| one.pointer(key).cloned().unwrap_or_default()).collect()
}

fn a_new_folder_replaces_the_demo_and_hides_what_it_retires(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = terrace(&database)?;
    let server = terrace.clone().args(["serve", "--demo", "always"]).serve()?;
    let mia = server.client();
    mia.post("/api/login", &json!({"username": "mia", "password": "terrace-demo"})).expect(200);
    let teams_before = mia.get("/api/search?q=knicks&kind=teams").expect(200).list("/teams");
    assert!(!teams_before.is_empty() && keys(&mia, "/api/leaderboards", "/leaderboards", "/name").len() > 3);
    assert!(keys(&mia, "/api/leagues", "/leagues", "/key").len() > 3);
    let visitor = server.client();
    assert_eq!(keys(&visitor, "/api/collectibles", "/collectibles", "/owned").len(), 12);
    let owned = keys(&mia, "/api/user/collectibles", "/collectibles", "/collectible/key");
    assert!(!owned.is_empty());

    let folder = Folder::new(&terrace, "club")?;
    let said = folder.load()?.succeeded()?;
    // What fans buy and work on is named before teams, of which there are many.
    let retired: Vec<&str> = said.lines().filter(|line| line.starts_with("retire ")).collect();
    assert_eq!(&retired[..3], ["retire pack away-days", "retire pack match-day", "retire pack trophy-room"]);
    assert!(retired[3].starts_with("retire quest "), "{said}");
    assert!(retired.last().is_some_and(|line| line.ends_with(" more of the kind team")), "{said}");
    wait_until("the server shows the club", || {
        Ok(keys(&visitor, "/api/collectibles", "/collectibles", "/collectible/key").len() == 4
            && teams(&mia) == ["first-team", "women"])
    })?;
    assert_eq!(mia.get("/api/search?q=knicks&kind=teams").expect(200).list("/teams").len(), 0);
    let found = mia.get("/api/search?q=aldham&kind=teams").expect(200).list("/teams");
    assert_eq!(found.len(), 2);
    assert_eq!(keys(&mia, "/api/leagues", "/leagues", "/key"), ["county-league"]);
    assert_eq!(keys(&mia, "/api/leaderboards", "/leaderboards", "/name"), ["Global"]);
    // Retired collectibles stay with their owners.
    let album = mia.get("/api/collectibles").expect(200).list("/collectibles");
    let (own, others): (Vec<_>, Vec<_>) =
        album.iter().partition(|entry| owned.contains(&entry["collectible"]["key"]));
    assert!(own.iter().all(|entry| entry["owned"].as_i64() > Some(0)), "{own:?}");
    assert_eq!((own.is_empty(), others.len()), (false, 4), "{album:?}");
    folder.terrace.clone().args(["maintain", "verify"]).run()?.succeeded().map(drop)
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
