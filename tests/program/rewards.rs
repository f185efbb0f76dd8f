//! `terrace claim` and `terrace till`, beside a server that runs on the same database (docs/operations/rewards.md); no code
//! reaches the log, whatever its level.

use anyhow::Result;
use serde_json::json;
use std::fs;
use terrace_testkit::{Client, DatabaseKind, Ended, Invocation, TestDatabase, on_each_database};

on_each_database! {
    spec_5_codes_are_loaded_claimed_and_redeemed_and_are_in_no_log,
    impossible_commands_give_a_reason_and_change_nothing,
}

const REWARDS: &str = r#"
[[reward]]
key = "drink"
name = "Drink"
limit = 5
grant = { kind = "code", codes = "generated" }

[[reward]]
key = "seat"
name = "Seat"
limit = 5
grant = { kind = "code", codes = "pool" }
"#;

/// A new folder of content with these rewards.
fn with_rewards(database: &TestDatabase) -> Result<Invocation> {
    let invocation = Invocation::on(database.url())?.env("RUST_LOG", "trace");
    let folder = invocation.folder().join("club");
    let new = invocation.clone().args(["content", "new"]).args([folder.as_os_str()]);
    new.run()?.succeeded()?;
    fs::write(folder.join("rewards.toml"), REWARDS)?;
    Ok(invocation.env("TERRACE_CONTENT", folder.into_os_string()))
}

fn run(invocation: &Invocation, arguments: &[&str]) -> Result<Ended> {
    invocation.clone().args(arguments.iter().copied()).run()
}

fn claim(client: &Client, key: &str) -> [String; 2] {
    let rewards = client.get("/api/rewards").expect(200).list("/rewards");
    let reward = rewards.iter().find(|reward| reward["key"] == key).expect("a reward");
    let target = format!("/api/rewards/{}/claim", reward["id"].as_str().expect("an id"));
    let claimed = client.ask("POST", &target).header("idempotency-key", key).send().expect(201);
    [claimed.str_at("/claim/id"), claimed.str_at("/claim/code")]
}

fn spec_5_codes_are_loaded_claimed_and_redeemed_and_are_in_no_log(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = with_rewards(&database)?;
    let mut program = terrace.serve()?;
    let file = terrace.folder().join("codes.txt");
    fs::write(&file, "SEAT-ROW14-A1\n\nSEAT-ROW14-A2\nseat row14 a1\n")?;
    let file = file.display().to_string();
    let added = run(&terrace, &["claim", "add-codes", "seat", &file])?;
    let words = added.words();
    assert_eq!(added.succeeded()?, "seat: 2 codes added, 1 skipped that exist\n");
    let token = run(&terrace, &["till", "add", "kiosk"])?.succeeded()?.trim().to_owned();
    let mia = program.client();
    mia.register("mia");
    let ([drink, drink_code], [seat, seat_code]) = (claim(&mia, "drink"), claim(&mia, "seat"));
    let kiosk = program.client().with_bearer(&token);
    let redeemed = kiosk.post("/api/redemptions", &json!({"code": seat_code})).expect(200);
    assert_eq!((redeemed.at("/redeemed"), redeemed.str_at("/claimId")), (json!(true), seat.clone()));
    let listed = run(&terrace, &["claim", "list"])?.succeeded()?;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains(&format!("{seat} seat used by ")), "{listed}");
    let of_state =
        run(&terrace, &["claim", "list", "--reward", "drink", "--status", "issued"])?.succeeded()?;
    assert!(of_state.starts_with(&drink) && of_state.lines().count() == 1, "{of_state}");
    assert_eq!(run(&terrace, &["claim", "revoke", &drink])?.succeeded()?, format!("{drink}: revoked\n"));
    kiosk.post("/api/redemptions", &json!({"code": drink_code})).problem(409, "claim_revoked");
    let tills = run(&terrace, &["till", "list"])?.succeeded()?;
    assert!(tills.starts_with("kiosk, added at "), "{tills}");
    assert_eq!(run(&terrace, &["till", "revoke", "kiosk"])?.succeeded()?, "kiosk: revoked\n");
    kiosk.post("/api/redemptions", &json!({"code": seat_code})).problem(401, "invalid_token");
    let verified = run(&terrace, &["maintain", "verify"])?.succeeded()?;
    assert!(verified.contains("repair-rewards"), "{verified}");
    let metrics = program.client().get("/metrics").expect(200).text();
    assert!(metrics.contains("terrace_redemptions_total{outcome=\"redeemed\"} 1"), "{metrics}");
    program.stop()?;
    let log = program.log()?;
    assert!(log.contains("TRACE"), "the log has all levels");
    for code in [drink_code.as_str(), &seat_code, "SEAT-ROW14-A1", "SEAT-ROW14-A2"] {
        for text in [&log, &words, &listed, &metrics, &verified] {
            assert!(!text.contains(code) && !text.contains(&code.replace('-', "")), "{code} is shown");
        }
    }
    Ok(())
}

fn impossible_commands_give_a_reason_and_change_nothing(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = with_rewards(&database)?;
    let mut program = terrace.serve()?;
    program.stop()?;
    let good = terrace.folder().join("good.txt");
    fs::write(&good, "SEAT-A1\n")?;
    let bad = terrace.folder().join("bad.txt");
    fs::write(&bad, "SEAT-A1\nABC\n")?;
    let (good, bad) = (good.display().to_string(), bad.display().to_string());
    let unknown = "0190a6f2-7c1e-7abc-8def-0123456789ab";
    run(&terrace, &["till", "add", "kiosk"])?.succeeded()?;
    let missing = "no-such-file";
    for (arguments, reason) in [
        (vec!["claim", "add-codes", "seat", &bad], "bad.txt:2: a code has 4 to 64 visible ASCII characters"),
        (vec!["claim", "add-codes", "seat", missing], "cannot read no-such-file"),
        (vec!["claim", "add-codes", "drink", &good], "its codes do not come from a pool"),
        (vec!["claim", "add-codes", "nothing", &good], "there is no such reward"),
        (vec!["claim", "revoke", unknown], "there is no such claim"),
        (vec!["claim", "list", "--reward", "nothing"], "there is no such reward"),
        (vec!["till", "add", "kiosk"], "there is a till with this name"),
        (vec!["till", "revoke", "gate"], "there is no till with this name"),
    ] {
        let ended = run(&terrace, &arguments)?;
        assert_eq!(ended.code, Some(1), "{arguments:?}");
        assert!(ended.words().contains(reason), "{arguments:?}: {}", ended.words());
        assert!(!ended.words().contains("SEAT-A1"), "{arguments:?}");
    }
    let added = run(&terrace, &["claim", "add-codes", "seat", &good])?.succeeded()?;
    assert_eq!(added, "seat: 1 codes added, 0 skipped that exist\n");
    Ok(())
}
