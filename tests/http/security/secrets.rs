//! Secrets are only with the client that they were issued to: in no log, error or metric, and in the database
//! at most as a hash (docs/operations/proxy.md, "Security summary").

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use terrace_testkit::app::platform::webhooks::WebhookSecret;
use terrace_testkit::app::{SecretKey, SeedCipher};
use terrace_testkit::identity::{Password, PasswordHash, Token, TokenHash, TokenKind};
use terrace_testkit::kernel::{CtxSeed, Timestamp};
use terrace_testkit::packs::ServerSeed;
use terrace_testkit::pgtemp::execute;
use terrace_testkit::storage::StorageConfig;
use terrace_testkit::web::CronSecret;
use terrace_testkit::{Answer, Client, DatabaseKind, Invocation, Program, TestDatabase, on_each_database};

on_each_database! { secrets_are_stored_and_logged_nowhere }

const CRON: &str = "Zuz6quohKieSh1ohThaeWie3eeNgai4u";
const MINTER: &str = "aeJ0Ohx7ohch8aiPhah1Iexeit3Quae6";
const DATABASE_PASSWORD: &str = "ahQu5eex3Aepo7fi";
const PASSWORD: &str = "Ohngah4u has a brass band";
const NEXT_PASSWORD: &str = "Wei9ohth has a bigger one";
const WRONG_PASSWORD: &str = "Eep1ahng was never used";
/// A text that is not secret, to check that the search covers the right places.
const BIO: &str = "Row 14, seat 7, since 1987.";

/// The secrets that were issued or typed in, each with a name for failure messages.
#[derive(Default)]
struct Secrets(Vec<(&'static str, Vec<u8>)>);

impl Secrets {
    fn add(&mut self, name: &'static str, text: &str) {
        assert!(text.len() >= 16, "{name} is too short to be looked for");
        self.0.push((name, text.as_bytes().to_vec()));
        if let Some(bits) = text.get(4..).filter(|_| text.starts_with("ts")).and_then(decode) {
            self.0.push((name, bits));
        }
    }

    /// Asserts that no secret is in these bytes, neither as it is nor in hexadecimal.
    fn are_not_in(&self, place: &str, bytes: &[u8]) {
        let lower = bytes.to_ascii_lowercase();
        for (name, secret) in &self.0 {
            let mut hex = String::new();
            for byte in secret {
                hex.extend(
                    [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])),
                );
            }
            assert!(!holds(bytes, secret) && !holds(&lower, hex.as_bytes()), "{place} holds {name}");
        }
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|part| part == wanted)
}

/// The bytes that an unpadded base64url text encodes.
fn decode(text: &str) -> Option<Vec<u8>> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes() {
        let value = LETTERS.iter().position(|known| *known == letter)?;
        bits = (bits << 6) | u32::try_from(value).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// The same database by a URL with a password, which the server does not check.
fn with_password(url: &str) -> String {
    match url.split_once('@') {
        Some((account, rest)) => format!("{account}:{DATABASE_PASSWORD}@{rest}"),
        None => url.to_owned(),
    }
}

/// Every stored byte: the files of the folder, or every row of every table.
fn kept(url: &str, data: &Path) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    collect(data, &mut all)?;
    if let Some(file) = url.strip_prefix("sqlite:") {
        collect(Path::new(file).parent().context("no folder")?, &mut all)?;
        return Ok(all);
    }
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'";
    for table in execute(url, &[tables])?.lines() {
        all.extend(execute(url, &[&format!("SELECT t::text FROM \"{table}\" t")])?.into_bytes());
    }
    Ok(all)
}

/// The bytes of a folder's files, without those that contain the service's own secrets and the program's
/// output.
fn collect(folder: &Path, all: &mut Vec<u8>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, all)?;
        } else if path.file_name().is_some_and(|name| name != "secret") {
            all.extend(fs::read(&path)?);
        }
    }
    Ok(())
}

/// A fan's requests with secrets, valid and invalid. Returns every answer that must not contain one.
fn live(program: &Program, secrets: &mut Secrets) -> Result<Vec<Answer>> {
    let (browser, visitor) = (program.client(), program.client());
    let mut answers = Vec::new();
    let credentials = |password: &str| json!({"username": "mia", "password": password});
    let register = browser.ask("POST", "/api/register").header("idempotency-key", "a-first-visit");
    answers.push(register.json(&credentials(PASSWORD)).send().expect(201));
    let cookie = browser.cookie("session").context("no cookie")?;
    let first = visitor.post("/api/mobile-auth/login", &credentials(PASSWORD)).expect(200);
    let refresh = json!({"refreshToken": first.str_at("/refreshToken")});
    let next = visitor.post("/api/mobile-auth/refresh", &refresh).expect(200);
    secrets.add("the cookie's token", &cookie);
    for pair in [&first, &next] {
        secrets.add("an access token", &pair.str_at("/accessToken"));
        secrets.add("a refresh token", &pair.str_at("/refreshToken"));
    }
    let access = next.str_at("/accessToken");
    let phone = visitor.with_bearer(&access);
    answers.push(browser.patch("/api/user", &json!({"bio": BIO})).expect(200));
    answers.push(phone.post("/api/locker-room", &json!({"body": "What a save!"})).expect(201));
    answers.push(visitor.post("/api/login", &credentials(WRONG_PASSWORD)).expect(401));
    let change = |from: &str| json!({"currentPassword": from, "newPassword": NEXT_PASSWORD});
    answers.push(browser.put("/api/user/password", &change(WRONG_PASSWORD)).expect(403));
    answers.extend(mistakes(&visitor, &browser, (&access, &cookie)));
    answers.push(visitor.post("/api/mobile-auth/refresh", &refresh).expect(401));
    answers.push(browser.put("/api/user/password", &change(PASSWORD)).expect(204));
    for path in ["/api/user", "/api/user/sessions", "/api/user/export", "/api/quests", "/metrics"] {
        answers.push(browser.get(path).expect(200));
    }
    let timer = visitor.with_bearer(CRON);
    answers.push(timer.ask("POST", "/api/cron/sync-trends").send().expect(200));
    Ok(answers)
}

/// Secrets in the wrong places: the service repeats none of them.
fn mistakes(visitor: &Client, browser: &Client, (access, cookie): (&str, &str)) -> Vec<Answer> {
    let almost = |token: &str| format!("{token}A");
    let long = format!("{{\"username\":\"mia\",\"password\":\"{PASSWORD}\",\"extra\":1}}");
    let cut = format!("{{\"username\":\"mia\",\"password\":\"{PASSWORD}");
    let swapped = json!({"username": PASSWORD, "password": PASSWORD});
    let typed = json!({"username": "mia", "password": [PASSWORD]});
    let kind = json!({"kind": access});
    let post = |path: &str, body: &Value| visitor.post(path, body);
    vec![
        visitor.with_bearer(&almost(access)).get("/api/user").expect(401),
        visitor.with_bearer(cookie).get("/api/user").expect(401),
        visitor.with_cookie("session", access).get("/api/user").expect(401),
        visitor.with_bearer(&almost(CRON)).ask("POST", "/api/cron/sync-trends").send().expect(401),
        visitor.with_bearer(access).ask("POST", "/api/cron/sync-trends").send().expect(401),
        visitor.ask("POST", "/api/login").body("application/json", long).send().expect(400),
        visitor.ask("POST", "/api/login").body("application/json", cut).send().expect(400),
        post("/api/login", &typed).expect(400),
        post("/api/register", &swapped).expect(422),
        post("/api/mobile-auth/refresh", &json!({"refreshToken": almost(access)})).expect(401),
        visitor.with_bearer(access).post("/api/locker-room/x/react", &kind).expect(400),
        browser.get(&format!("/api/teams/{cookie}")).expect(400),
    ]
}

fn secrets_are_stored_and_logged_nowhere(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(&with_password(database.url()))?
        .env("TERRACE_CRON_SECRET", CRON)
        .env("TERRACE_MINTER_URL", "http://127.0.0.1:9/")
        .env("TERRACE_MINTER_SECRET", MINTER)
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "1");
    let mut program = invocation.serve()?;
    let mut secrets = Secrets::default();
    for (name, text) in [
        ("the cron secret", CRON),
        ("the minter's secret", MINTER),
        ("the database's password", DATABASE_PASSWORD),
        ("the password", PASSWORD),
        ("the next password", NEXT_PASSWORD),
        ("a wrong password", WRONG_PASSWORD),
    ] {
        secrets.add(name, text);
    }
    let data = invocation.folder().join("data");
    let own = fs::read_to_string(data.join("secret"))?;
    secrets.add("the service's secret", own.trim());
    let answers = live(&program, &mut secrets)?;
    for answer in &answers {
        let head: Vec<_> = answer.headers.iter().filter(|(name, _)| *name != "set-cookie").collect();
        // The path of a request is repeated to its sender.
        let mut body = answer.text();
        if answer.status >= 400 {
            let instance = answer.str_at("/instance");
            body = body.replace(&instance, "");
        }
        secrets.are_not_in(&format!("an answer ({})", answer.status), format!("{head:?}{body}").as_bytes());
        assert!(!answer.text().contains("argon2"), "{}", answer.text());
    }
    let ended = program.stop()?;
    ensure!(ended.log.contains("TRACE") && ended.log.lines().count() > 100, "nothing was logged");
    let mut words = ended.words();
    for chore in [&["doctor"][..], &["maintain", "verify"], &["--help"], &["account", "--help"]] {
        words += &invocation.clone().args(chore).run()?.words();
    }
    secrets.are_not_in("the log", words.as_bytes());
    let kept = kept(database.url(), &data)?;
    ensure!(holds(&kept, BIO.as_bytes()) && holds(&kept, b"$argon2id$"), "one looks in the wrong place");
    secrets.are_not_in("the database", &kept);
    println!(
        "{kind:?}: {} secrets are neither in {} answers, nor in {} lines of output, nor in {} bytes of data",
        secrets.0.len(),
        answers.len(),
        words.lines().count(),
        kept.len()
    );
    Ok(())
}

/// `{:?}` output reaches logs and panics.
#[test]
fn debug_output_holds_no_secret() -> Result<()> {
    let mut ctx = CtxSeed::new(Timestamp::from_micros(0), [9; 32]).open();
    let (secret, token) = Token::draw(TokenKind::Access, &mut ctx);
    let key: SecretKey = "5e".repeat(32).parse()?;
    let hash = TokenHash::from_bytes([0x5e; 32]);
    for shown in [
        format!("{:?}", Password::offer(PASSWORD.to_owned())),
        format!("{:?}", PasswordHash::from_phc("$argon2id$Ohngah4u".to_owned())),
        format!("{secret:?} {token:?} {hash:?}"),
        format!("{:?} {:?}", CronSecret::new(CRON), WebhookSecret::new(MINTER)?),
        format!("{key:?} {:?}", SeedCipher::new(&key)),
        format!("{:?}", ServerSeed::from_bytes([0x5e; 32])),
        format!("{:?}", StorageConfig::new(format!("postgres://terrace:{DATABASE_PASSWORD}@db/terrace"))),
    ] {
        for part in ["Ohngah4u", CRON, MINTER, DATABASE_PASSWORD, secret.expose(), "5e5e", "94, 94"] {
            assert!(!shown.contains(part), "{shown}");
        }
    }
    Ok(())
}
