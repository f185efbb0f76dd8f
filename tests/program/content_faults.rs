//! Faults of a club's own content: `terrace content check` and `load`, and servers with a faulty folder (contract part 2
//! §10).

use super::content::{Folder, teams, terrace};
use anyhow::{Result, ensure};
use serde_json::json;
use std::fs::{self, File};
use terrace_testkit::{DatabaseKind, TestDatabase, on_each_database};

on_each_database! {
    forty_faults_are_named_with_file_and_line_and_change_nothing,
    all_faults_of_an_entry_are_named_and_no_others,
    what_cannot_be_read_is_not_missing,
    faulty_content_does_not_stop_a_server_that_has_content,
    the_club_sells_in_its_own_currency,
    what_is_new_does_not_close_in_the_past,
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
    plant("quests.toml", &quest("q8", "opens = \"soon\"\n", step), 5)?;
    plant("quests.toml", &quest("q9", "bonus = \"much\"\n", step), 5)?;
    plant("quests.toml", &quest("q10", "", "{ key = \"s\", title = \"S\", check = { kind = \"fly\" } }"), 1)?;
    plant("quests.toml", &quest("matchday", "", step), 1)?;
    plant("quests.toml", &quest("q11", "oepns = \"2027-01-01T00:00:00Z\"\n", step), 5)?;
    let achievement = |key: &str, goal: &str| {
        format!("[[achievement]]\nkey = \"{key}\"\ntitle = \"A\"\ndescription = \"\"\ngoal = \"{goal}\"\n")
    };
    plant("achievements.toml", &achievement("a1", "wins:3"), 1)?;
    plant("achievements.toml", &achievement("a 2", "followers:3"), 1)?;
    plant("levels.toml", "[[level]]\nname = \"\"\nfrom = 90000\n", 2)?;
    plant("levels.toml", "[[level]]\nname = \"Back\"\nfrom = 5\n", 1)?;
    let item = |key: &str, rest: &str| format!("[[collectible]]\nkey = \"{key}\"\nname = \"C\"\n{rest}");
    plant("packs.toml", &item("c1", "rarity = \"shiny\"\n"), 1)?;
    plant("packs.toml", &item("c2", "rarity = \"common\"\nedition = 0\n"), 1)?;
    plant("packs.toml", &item("c3", "rarity = \"common\"\nimage = \"images/none.png\"\n"), 1)?;
    plant("packs.toml", &item("amber-scarf", "rarity = \"common\"\n"), 1)?;
    plant("packs.toml", &item("c4", "rarity = \"common\"\ntaem = \"women\"\n"), 5)?;
    let method = "[[method]]\nkey = \"m1\"\nname = \"M\"\ndays = 1\ncountries = [\"DE\", \"ZZ\"]\n";
    plant("shipping.toml", method, 1)?;
    plant("shipping.toml", "[[tax]]\nclass = \"books\"\ncountry = \"XX\"\nbasis_points = 700\n", 1)?;
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
    let server = folder.served().serve()?;
    let log = server.log()?;
    assert!(log.contains("was not loaded: it has faults: achievements.toml:"), "{log}");
    assert_eq!(teams(&server.client()), ["first-team", "women"]);
    Ok(())
}

/// Every field of an entry, references to entries with faults, and a syntax error beside a good entry.
fn all_faults_of_an_entry_are_named_and_no_others(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    let lines = |file: &str| fs::read_to_string(folder.path(file)).map(|text| text.lines().count());
    let mut expected: Vec<(&str, usize, &str)> = Vec::new();
    let quests = lines("quests.toml")?;
    folder.append(
        "quests.toml",
        "[[quest]]\nkey = \"A quest\"\ntitle = \"\"\ncadence = \"weekly\"\nbonus = \"much\"\nteam = \"nowhere\"\n\
         requires = [\"nothing\"]\nopens = \"n\"\ncloses = 2027-03-01T00:00:00\nstep = 4\n\
         [[quest]]\nkey = \"fine\"\ntitle = \"Fine\"\ncadence = \"once\"\nteam = \"first-team\"\nrequires = [\"A quest\"]\n\
         step = [{ key = \"s\", title = \"S\" }]\n",
    )?;
    for (line, what) in [
        (1, "1 to 64 of a-z"),
        (1, "the title must hold"),
        (1, "the cadence must be"),
        (1, "there is no team \"nowhere\""),
        (1, "there is no quest \"nothing\""),
        (5, "`bonus`"),
        (8, "opens is no instant"),
        (9, "closes is no instant"),
        (10, "`step`"),
    ] {
        expected.push(("quests.toml", quests + line, what));
    }
    let packs = lines("packs.toml")?;
    folder.append(
        "packs.toml",
        "[[collectible]]\nkey = \"c\"\nname = 4\nrarity = \"shiny\"\nedition = 0\n\
         [[pack]]\nkey = \"A pack\"\nname = \"\"\nprice = 4\nslots = \"x\"\ncontents = { c = 1, d = 0 }\nopens = 4\n\
         closes = \"c\"\ncolour = 1\n",
    )?;
    for (line, what) in [
        (1, "\"shiny\" is no rarity"),
        (1, "the edition must be"),
        (3, "`name`"),
        (6, "1 to 64 of a-z"),
        (6, "the name must hold"),
        (6, "the weight of \"d\" must be"),
        (6, "there is no collectible \"d\""),
        (9, "`price`"),
        (10, "`slots`"),
        (12, "opens is no instant"),
        (13, "closes is no instant"),
        (14, "unknown field `colour`"),
    ] {
        expected.push(("packs.toml", packs + line, what));
    }
    fs::write(
        folder.path("club.toml"),
        "version = \"a\"\nname = 4\ncolors = [\"red\", \"ink\"]\nlogo = \"images/none.png\"\nzz = 1\n",
    )?;
    for (line, what) in [
        (1, "`version`"),
        (2, "`name`"),
        (3, "\"red\" is no colour"),
        (3, "\"ink\" is no colour"),
        (4, "there is no picture \"images/none.png\""),
        (5, "unknown field `zz`"),
    ] {
        expected.push(("club.toml", line, what));
    }
    // The team on which the quest above depends has a syntax error, and another one has faults.
    let team = lines("teams.toml")?;
    folder.edit("teams.toml", "short_name = \"First team\"", "short_name = \"First team")?;
    folder.append("teams.toml", "[[team]]\nkey = \"empty\"\ncolors = [\"black\", \"#ffffff\"]\n")?;
    expected.push(("teams.toml", 8, "invalid basic string"));
    for (line, what) in [
        (1, "missing field `league`"),
        (1, "missing field `name`"),
        (1, "missing field `short_name`"),
        (1, "colors are #rrggbb"),
    ] {
        expected.push(("teams.toml", team + line, what));
    }
    folder.append("levels.toml", "[[level]]\nname = \"\"\nfrom = -5\n")?;
    let levels = lines("levels.toml")? - 3;
    expected.push(("levels.toml", levels + 1, "a level begins at more points"));
    expected.push(("levels.toml", levels + 2, "the name must hold"));

    let refused = folder.check()?;
    assert_eq!(refused.code, Some(1), "{}", refused.words());
    for (file, line, what) in &expected {
        let at = format!("{file}:{line}: ");
        let named = refused.said.lines().any(|said| said.starts_with(&at) && said.contains(what));
        ensure!(named, "{at}{what} is not in\n{}", refused.said);
    }
    let count = format!("\n{} faults; nothing was changed", expected.len());
    ensure!(refused.said.contains(&count), "not {} faults:\n{}", expected.len(), refused.said);
    Ok(())
}

/// What cannot be read causes no other fault.
fn what_cannot_be_read_is_not_missing(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let other = Folder::new(&terrace(&database)?, "other")?;
    for file in ["club.toml", "leagues.toml"] {
        fs::write(other.path(file), b"version = 1\n\xff\n")?;
    }
    File::create(other.path("images/crest.png"))?.set_len(100 << 20)?;
    other.edit(
        "teams.toml",
        "short_name = \"Women\"",
        "short_name = \"Women\"\ncrest = \"images/crest.png\"",
    )?;
    let refused = other.check()?;
    let said: Vec<&str> = refused.said.lines().collect();
    assert_eq!(
        said,
        [
            "club.toml:2: is no UTF-8",
            "images/crest.png: is larger than 10 MiB",
            "leagues.toml:2: is no UTF-8",
            "3 faults; nothing was changed",
        ]
    );
    Ok(())
}

fn faulty_content_does_not_stop_a_server_that_has_content(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    folder.edit("quests.toml", "cadence = \"daily\"", "cadence = \"weekly\"")?;
    // There is nothing else to serve.
    let refused = folder.served().run()?;
    let why = "cannot be loaded: it has faults: quests.toml:";
    assert!(refused.code == Some(1) && refused.log.contains(why), "{}", refused.words());
    folder.edit("quests.toml", "cadence = \"weekly\"", "cadence = \"daily\"")?;
    folder.load()?.succeeded()?;

    folder.version(2)?;
    folder.edit("quests.toml", "title = \"Match day\"", "title = \"\"")?;
    let served = |why: &str| -> Result<()> {
        let server = folder.served().serve()?;
        let log = server.log()?;
        ensure!(log.contains(why) && log.contains("; run `terrace content load club`"), "{log}");
        let quests = server.client().get("/api/quests").expect(200).text();
        ensure!(quests.contains("Match day"), "{quests}");
        Ok(())
    };
    served("the content in club was not loaded: it has faults: quests.toml:")?;
    folder.edit("quests.toml", "title = \"\"", "title = \"Match day\"")?;
    // Rules that it breaks together with what was sold: all of them at once.
    folder.edit("packs.toml", "rarity = \"rare\"", "rarity = \"epic\"")?;
    folder.edit("packs.toml", "edition = 50", "edition = 60")?;
    folder.edit("packs.toml", "guarantee = \"rare\"", "guarantee = \"epic\"")?;
    let text = fs::read_to_string(folder.path("packs.toml"))?;
    fs::write(folder.path("packs.toml"), text.replace("rare = 1", "epic = 1"))?;
    served("it breaks rules together with what is loaded: packs.toml:")?;
    let refused = folder.load()?;
    for what in [
        "the rarity cannot change: it has been rare",
        "the edition cannot change: it has been 50",
        "slots, guarantee and contents cannot change",
        "3 faults; nothing was changed",
    ] {
        ensure!(refused.said.contains(what), "{what} is not in\n{}", refused.said);
    }
    // Without the folder, too.
    fs::remove_dir_all(folder.terrace.folder().join("club"))?;
    served("the content in club was not loaded: it is no folder")
}

fn the_club_sells_in_its_own_currency(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    let price = "price = { kind = \"coins\", amount = 10 }";
    folder.edit("packs.toml", price, "price = { kind = \"money\", amount = 499, currency = \"JPY\" }")?;
    let refused = folder.check()?;
    ensure!(
        refused.said.contains("the price is in JPY, and the currency of the club is EUR"),
        "{}",
        refused.said
    );
    folder.edit("club.toml", "name = \"Port Aldham\"", "name = \"Port Aldham\"\ncurrency = \"ZZZ\"")?;
    let refused = folder.check()?;
    ensure!(refused.said.contains("club.toml:5: ISO 4217 lists no currency \"ZZZ\""), "{}", refused.said);
    folder.edit("club.toml", "currency = \"ZZZ\"", "currency = \"JPY\"")?;
    let refused = folder.check()?;
    ensure!(
        refused.said.contains("a price is in EUR, and the currency of the club is JPY"),
        "{}",
        refused.said
    );
    for file in ["products.toml", "shipping.toml"] {
        let text = fs::read_to_string(folder.path(file))?;
        fs::write(folder.path(file), text.replace("\"EUR\"", "\"JPY\""))?;
    }
    let server = folder.served().serve()?;
    let mia = server.client();
    mia.register("mia");
    assert_eq!(mia.get("/api/club").expect(200).at("/currency"), json!("JPY"));
    let cash = mia.get("/api/cash-balance").expect(200);
    assert_eq!([cash.at("/amount"), cash.at("/currency")], [json!(0), json!("JPY")]);
    assert_eq!(mia.get("/api/packs").expect(200).at("/packs/0/price/currency"), json!("JPY"));
    Ok(())
}

fn what_is_new_does_not_close_in_the_past(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let folder = Folder::new(&terrace(&database)?, "club")?;
    let closed = |file: &str, key: &str, at: &str| {
        folder.edit(file, &format!("key = \"{key}\"\n"), &format!("key = \"{key}\"\ncloses = {at}\n"))
    };
    closed("packs.toml", "home-game", "2020-01-01T00:00:00Z")?;
    closed("quests.toml", "matchday", "\"2020-01-01T00:00:00Z\"")?;
    // A check does not know what is loaded.
    let said = folder.check()?.succeeded()?;
    for note in ["note: packs.toml:", "note: quests.toml:"] {
        ensure!(said.contains(note), "{said}");
    }
    let refused = folder.load()?;
    let faults: Vec<_> =
        refused.said.lines().filter(|line| line.ends_with("it is new, and closes in the past")).collect();
    assert!(faults.len() == 2 && refused.code == Some(1), "{}", refused.words());
    // What exists may be closed.
    folder.edit("packs.toml", "closes = 2020-01-01T00:00:00Z\n", "")?;
    folder.edit("quests.toml", "closes = \"2020-01-01T00:00:00Z\"\n", "")?;
    folder.load()?.succeeded()?;
    closed("packs.toml", "home-game", "2020-01-01T01:00:00+01:00")?;
    let said = folder.load()?.succeeded()?;
    ensure!(said.contains("change pack home-game"), "{said}");
    Ok(())
}
