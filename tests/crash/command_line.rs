//! The command line of the program: its commands, its output, and the secrets that it must not print.

use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use terrace_testkit::pgtemp::with_database;
use terrace_testkit::{DatabaseKind, Invocation, PASSWORD, TestDatabase, on, on_each_database};

on_each_database! {
    the_schema_goes_up_and_down,
    the_catalogue_and_the_demo_content_are_loaded_once,
    data_is_maintained_by_commands,
}

/// Runs a command that succeeds, and returns its output.
fn run(invocation: &Invocation, arguments: &[&str]) -> Result<String> {
    invocation.clone().args(arguments).run()?.succeeded().context(arguments.join(" "))
}

fn the_schema_goes_up_and_down(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    let applied = run(&terrace, &["migrate"])?;
    assert!(applied.lines().count() >= 3 && applied.lines().all(|line| line.starts_with("applied ")));
    assert_eq!(run(&terrace, &["migrate"])?, "the database is up to date\n");
    let mut expected: Vec<_> = applied.lines().map(|line| line.replace("applied", "reverted")).collect();
    expected.reverse();
    let reverted = run(&terrace, &["migrate", "--revert-all"])?;
    assert_eq!(reverted.lines().collect::<Vec<_>>(), expected);
    let unready = terrace.clone().args(["maintain", "verify"]).run()?;
    assert_eq!(unready.code, Some(1));
    assert!(unready.log.contains("`terrace migrate` brings it up to date"), "{}", unready.log);
    assert_eq!(run(&terrace, &["migrate"])?, applied);
    assert_eq!(terrace.serve()?.stop()?.code, Some(0));
    Ok(())
}

fn the_catalogue_and_the_demo_content_are_loaded_once(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    let seeded = run(&terrace, &["seed"])?;
    assert!(seeded.ends_with(" packs are up to date\n"), "{seeded}");
    assert_eq!(run(&terrace, &["seed"])?, seeded);
    let first = run(&terrace, &["seed", "--demo", "always"])?;
    assert!(first.starts_with(&seeded) && first.contains("loaded demo content: "), "{first}");
    let again = run(&terrace, &["seed", "--demo", "always"])?;
    assert!(again.starts_with(&seeded) && again.contains(" is there\n"), "{again}");
    run(&terrace, &["maintain", "verify"])?;

    let program = terrace.serve()?;
    let counts = first.split_once("loaded demo content: ").context("no counts")?.1;
    let posts = super::crowd::read_all(&program.client(), "/api/locker-room", "posts")?;
    assert!(counts.contains(&format!(" {} posts,", posts.len())), "{counts}");
    let leagues = super::crowd::read_all(&program.client(), "/api/leagues", "leagues")?;
    let teams = super::crowd::read_all(&program.client(), "/api/teams", "teams")?;
    let quests = program.client().get("/api/quests").expect(200).json();
    let quests = quests["quests"].as_array().map_or(0, Vec::len);
    let packs = program.client().get("/api/packs").expect(200).list("/packs").len();
    let (leagues, teams) = (leagues.len(), teams.len());
    let up_to_date =
        format!("{leagues} leagues, {teams} teams, {quests} quests and {packs} packs are up to date\n");
    assert_eq!(seeded, up_to_date);
    Ok(())
}

fn data_is_maintained_by_commands(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    run(&terrace, &["seed", "--demo", "always"])?;
    let verified = run(&terrace, &["maintain", "verify"])?;
    assert!(verified.lines().count() > 1, "{verified}");
    assert!(verified.ends_with("every counter agrees with what it counts\n"), "{verified}");
    let give = [
        "maintain",
        "coins",
        "give",
        "--user",
        "mia",
        "--amount",
        "5",
        "--reason",
        "Well done",
        "--key",
        "t/1",
    ];
    assert_eq!(run(&terrace, &give)?, "mia has 25 coins now\n");
    assert_eq!(run(&terrace, &give)?, "this was done before under the same key; nothing was changed\n");
    let more =
        ["maintain", "coins", "take", "--user", "mia", "--amount", "26", "--reason", "Sorry", "--key", "t/2"];
    let more = terrace.clone().args(more).run()?;
    assert!(more.code == Some(1) && more.log.contains("mia has only 25 coins"), "{}", more.log);
    let repaired = run(&terrace, &["maintain", "repair"])?;
    assert!(
        repaired.contains("ledger.balances: ") && repaired.ends_with("nothing needs repair\n"),
        "{repaired}"
    );
    let looked_at = run(&terrace, &["maintain", "backfill-topics"])?;
    assert!(
        looked_at.starts_with("looked for the topics of ") && !looked_at.contains(" 0 posts"),
        "{looked_at}"
    );
    let swept = run(&terrace, &["maintain", "sweep"])?;
    let nothing = "removed 0 idempotency keys, 0 sessions and tokens, 0 events, 0 messages to the minter, 0 reports, \
        0 uploads, 0 pictures, 0 stray files of pictures\n";
    assert_eq!(swept, nothing);
    Ok(())
}

#[test]
fn the_document_that_is_printed_is_the_one_that_is_served() -> Result<()> {
    on(DatabaseKind::Sqlite, |_| {
        let terrace = Invocation::new()?;
        let printed: Value = serde_json::from_str(&run(&terrace, &["openapi"])?)?;
        assert!(!terrace.folder().join("data").exists(), "printing needs no database");
        assert_eq!(printed["openapi"].as_str().map(|version| &version[..3]), Some("3.1"));
        let program = terrace.serve()?;
        assert_eq!(program.client().get("/api/openapi.json").expect(200).json(), printed);
        Ok(())
    })
}

/// The names that scripts and unit files rely on.
const NAMES: [(&str, &str); 12] = [
    ("--listen", "TERRACE_LISTEN"),
    ("--database-url", "DATABASE_URL"),
    ("--database-url-file", "DATABASE_URL_FILE"),
    ("--listen-database-url", "LISTEN_DATABASE_URL"),
    ("--listen-database-url-file", "LISTEN_DATABASE_URL_FILE"),
    ("--read-database-url-file", "READ_DATABASE_URL_FILE"),
    ("--data-dir", "TERRACE_DATA_DIR"),
    ("--public-url", "TERRACE_PUBLIC_URL"),
    ("--cron-secret", "TERRACE_CRON_SECRET"),
    ("--cron-secret-file", "TERRACE_CRON_SECRET_FILE"),
    ("--demo", "TERRACE_DEMO"),
    ("--rate-limits", "TERRACE_RATE_LIMITS"),
];

#[test]
fn help_names_every_setting_and_no_secret() -> Result<()> {
    let terrace = Invocation::new()?
        .env("DATABASE_URL", "postgres://fan:s3cret@db/terrace")
        .env("LISTEN_DATABASE_URL", "postgres://fan:s3cret@db/terrace")
        .env("TERRACE_CRON_SECRET", "s3cret".repeat(8));
    for arguments in [&["--help"][..], &["serve", "--help"], &["maintain", "sweep", "--help"]] {
        let help = run(&terrace, arguments)?;
        assert!(!help.contains("s3cret"), "{help}");
        for (flag, variable) in NAMES {
            assert!(help.contains(&format!("{flag} <")), "{arguments:?} leaves out {flag}");
            assert!(help.contains(&format!("[env: {variable}")), "{arguments:?} leaves out {variable}");
        }
        // One variable for each flag that takes a value.
        let flags = help.lines().filter(|line| line.trim_start().starts_with("--") && line.contains('<'));
        assert_eq!(flags.count(), help.matches("[env: ").count(), "{help}");
    }
    for command in ["serve", "migrate", "seed", "maintain", "openapi"] {
        assert!(run(&terrace, &["--help"])?.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(run(&terrace, &["--version"])?.starts_with("terrace "));
    Ok(())
}

/// Asserts that the command fails in time, with these words, and without the secret in its output.
fn is_refused(terrace: &Invocation, arguments: &[&str], words: &str) -> Result<()> {
    let ended = terrace.clone().args(arguments).run()?;
    let said = ended.words();
    assert!(matches!(ended.code, Some(1 | 2)), "{arguments:?} ended with {:?}:\n{said}", ended.code);
    assert!(said.contains(words), "{arguments:?} does not say {words:?}:\n{said}");
    assert!(!said.contains("s3cret"), "{arguments:?} tells a secret:\n{said}");
    assert!(!said.contains("panicked"), "{arguments:?} panics:\n{said}");
    Ok(())
}

#[test]
fn wrong_settings_are_named_and_secrets_are_not() -> Result<()> {
    let terrace = Invocation::new()?;
    let folder = terrace.folder();
    fs::write(folder.join("short"), "s3cret\n")?;
    fs::write(folder.join("binary"), [0xff, 0xfe])?;
    fs::write(folder.join("url"), "mysql://fan:s3cret@db/terrace\n")?;
    let closed = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let unreachable_url = format!("postgres://fan:s3cret@{closed}/terrace");
    for (arguments, words) in [
        (&["--database-url", "mysql://fan:s3cret@db/terrace"][..], "not a database URL"),
        (&["--database-url", "postgress://fan:s3cret@db/terrace"], "not a database URL"),
        (&["--database-url", "fan:s3cret@db/terrace"], "not a database URL"),
        (&["--database-url", ""], "not a database URL"),
        (&["--database-url", "sqlite:"], "sqlite: needs the path of a file"),
        (&["--database-url", "sqlite::memory:"], "cannot be shared"),
        (&["--database-url", "sqlite:url/terrace.db"], "url"),
        (&["--database-url", "sqlite:binary"], "binary"),
        (&["--database-url", "postgres://fan:s3cret@db:port/terrace"], "cannot open the database"),
        (&["--database-url", &unreachable_url], "cannot open the database"),
        (&["--database-url-file", "url"], "not a database URL"),
        (&["--database-url-file", "absent"], "cannot read absent"),
        (&["--listen-database-url-file", "absent"], "cannot read absent"),
        (&["--read-database-url-file", "absent"], "cannot read absent"),
        (&["--database-url-file", "."], "cannot read ."),
        (&["--database-url-file", "binary"], "cannot read binary"),
        (&["--database-url", "sqlite:a.db", "--database-url-file", "url"], "cannot be used with"),
        (&["--cron-secret", "s3cret"], "it needs 32 or more"),
        (&["--cron-secret", "s3cret"], "in the process list: give the secret as"),
        (&["--cron-secret", ""], "it needs 32 or more"),
        (&["--cron-secret-file", "short"], "it needs 32 or more"),
        (&["--cron-secret-file", "absent"], "cannot read absent"),
        (&["--public-url", "fans.example.org"], "--public-url"),
        (&["--listen", "localhost"], "--listen"),
        (&["--metrics-listen", "3004"], "--metrics-listen"),
        (&["--demo", "perhaps"], "[possible values: auto, always, never]"),
        (&["--rate-limits", "lifted"], "[possible values: on, off]"),
        (&["--limit-register", "many"], "COUNT/SECONDS"),
        (&["--read-connections", "0"], "--read-connections"),
        (&["--unknown-flag"], "--unknown-flag"),
        (&["unknown-command"], "unknown-command"),
        (&["maintain"], "verify"),
        (&["maintain", "everything"], "everything"),
    ] {
        is_refused(&terrace, arguments, words)?;
    }
    let wrong = terrace.clone().env("TERRACE_LISTEN", "nowhere");
    is_refused(&wrong, &[], "nowhere")?;
    // The reason why the program ended is printed whatever the log leaves out.
    is_refused(&terrace.clone().env("RUST_LOG", "off"), &["--cron-secret", "s3cret"], "it needs 32 or more")?;
    assert!(!folder.join("data").exists(), "nothing was begun");
    Ok(())
}

/// The URL with an account and a password before the server's name. The server accepts every client without a
/// password.
fn with_password(url: &str) -> Result<String> {
    let (scheme, rest) = url.split_once("://").context("no URL")?;
    let (account, server) = rest.split_once('@').context("no account")?;
    let account = account.split(':').next().unwrap_or_default();
    Ok(format!("{scheme}://{account}:s3cret%21@{server}"))
}

#[test]
fn no_log_however_detailed_contains_a_secret() -> Result<()> {
    on(DatabaseKind::Postgres, |kind| {
        let database = TestDatabase::empty(kind)?;
        let url = with_password(database.url())?;
        let terrace = Invocation::on(&url)?
            .env("LISTEN_DATABASE_URL", &url)
            .env("TERRACE_CRON_SECRET", "c".repeat(40))
            .env("RUST_LOG", "trace");
        let mut said = run(&terrace, &["migrate"])?;
        let mut program = terrace.serve()?;
        let client = program.client();
        client.register("mia");
        let phone = client.mobile_login("mia");
        phone.create_post("Nothing to see.");
        let secrets = [
            "s3cret".to_owned(),
            "c".repeat(40),
            PASSWORD.to_owned(),
            client.cookie("session").context("no cookie")?,
            phone.bearer().context("no token")?.to_owned(),
        ];
        said.push_str(&program.stop()?.words());
        said.push_str(&terrace.clone().args(["maintain", "sweep"]).run()?.words());
        let absent = terrace.env("DATABASE_URL", with_database(&url, "absent")?);
        let ended = absent.run()?;
        assert_eq!(ended.code, Some(1));
        said.push_str(&ended.words());
        assert!(said.contains("TRACE") || said.contains("DEBUG"), "{said}");
        for secret in secrets {
            let line = said.lines().find(|line| line.contains(&secret));
            assert_eq!(line, None, "{secret} is in the log");
        }
        Ok(())
    })
}

/// The text after `before` in one of the lines.
fn line<'t>(text: &'t str, before: &str) -> Result<&'t str> {
    let found = text.lines().find_map(|line| line.strip_prefix(before));
    found.with_context(|| format!("no line begins with {before:?}:\n{text}"))
}

#[test]
fn a_first_start_prints_where_everything_is_and_how_to_sign_in() -> Result<()> {
    on(DatabaseKind::Sqlite, |_| {
        let terrace = Invocation::new()?.without_env("TERRACE_DEMO");
        for first in [true, false] {
            let mut program = terrace.serve()?;
            let said = program.said()?;
            assert_eq!(
                line(&said, "Terrace listens on ")?,
                format!("http://localhost:{}", program.address().port())
            );
            let path = Path::new(line(&said, "its data lies in ")?);
            assert_eq!(path.canonicalize()?, terrace.folder().join("data/terrace.db").canonicalize()?);
            let words = if first { "sign in as " } else { "sign in with an account of yours" };
            let how = line(&said, words)?;
            let how = how.split_once("sign in as ").map_or(how, |(_, how)| how);
            let (name, password) = how.split_once(" with the password ").context("no password")?;
            let client = program.client();
            let login = serde_json::json!({"username": name, "password": password});
            client.post("/api/login", &login).expect(200);
            assert_eq!(client.get("/api/user").expect(200).str_at("/username"), name);
            assert!(!client.get("/api/locker-room").expect(200).list("/posts").is_empty());
            let trends = client.get("/api/trends").expect(200);
            assert!(!trends.list("/topics").is_empty() && !trends.list("/posts").is_empty());
            assert_eq!(program.stop()?.code, Some(0));
        }
        Ok(())
    })
}
