//! `terrace verify`, also of rounds (contract part 2 §8), and the secret that seals packs.

use super::receiver::Listener;
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use terrace_testkit::{DatabaseKind, Invocation, TestDatabase, on_each_database};

on_each_database! {
    an_opening_is_verified_from_its_answer_and_a_changed_one_is_found,
    spec_8_the_proof_of_a_round_is_verified_and_a_changed_one_is_found,
    a_secret_is_created_once_and_another_one_is_refused,
}

/// Coins come from an operator; the demo fans may buy packs that cost coins.
fn an_opening_is_verified_from_its_answer_and_a_changed_one_is_found(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?.env("TERRACE_DEMO", "always");
    let program = terrace.serve()?;
    let mia = program.client();
    mia.register("fan");
    let gift = [
        "maintain", "coins", "give", "--user", "fan", "--amount", "100", "--reason", "A gift", "--key",
        "gift",
    ];
    terrace.clone().args(gift).run()?.succeeded()?;
    let packs = mia.get("/api/packs").expect(200).list("/packs");
    let pack = packs.iter().find(|pack| pack["key"] == "away-days").context("the pack")?;
    let path = format!("/api/packs/{}", pack["id"].as_str().context("an id")?);
    let buy = format!("{path}/purchase");
    let bought = mia.ask("POST", &buy).header("idempotency-key", "one").json(&json!({})).send().expect(201);
    let copy = bought.str_at("/userPacks/0/id");
    let opened =
        mia.post(&format!("{path}/open"), &json!({"userPackId": copy, "clientSeed": "kop"})).expect(200);

    let file = terrace.folder().join("opening.json");
    fs::write(&file, opened.text())?;
    let verify = terrace.clone().args(["verify".as_ref(), file.as_os_str()]);
    let said = verify.run()?.succeeded()?;
    let name = opened.str_at("/collectibles/3/collectible/name");
    assert!(said.contains("slot 3: ") && said.contains(&name), "{said}");

    // Wherever the fan has published it.
    let shelf = Listener::answering(200, &opened.text())?;
    let fetched = terrace.clone().args(["verify".to_owned(), shelf.url("/opening.json")]).run()?;
    assert_eq!(fetched.succeeded()?, said);
    let nothing = Listener::answering(404, &opened.text())?;
    let missing = terrace.clone().args(["verify".to_owned(), nothing.url("/opening.json")]).run()?;
    assert!(missing.code == Some(1) && missing.log.contains("answered 404"), "{}", missing.words());

    let mut changed = opened.json();
    changed["collectibles"][0]["collectible"]["id"] = json!("00000000-0000-7000-8000-000000000000");
    fs::write(&file, changed.to_string())?;
    let wrong = verify.run()?;
    assert_eq!(wrong.code, Some(1), "{}", wrong.words());
    assert!(wrong.said.starts_with("wrong: slot 0 gave "), "{}", wrong.said);
    fs::write(&file, "{}")?;
    let no_answer = verify.run()?;
    assert_eq!(no_answer.code, Some(1));
    assert!(no_answer.said.starts_with("wrong: this is not the answer of an opening"), "{}", no_answer.said);
    let missing = terrace.clone().args(["verify", "no-such-file"]).run()?;
    assert_eq!(missing.code, Some(1));
    assert!(missing.log.contains("no-such-file"), "{}", missing.log);
    Ok(())
}

/// The commitment was computed by another program from the text that `docs/fair-draws.md` describes.
fn spec_8_the_proof_of_a_round_is_verified_and_a_changed_one_is_found(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    let id = |number: u8| format!("00000000-0000-7000-8000-{number:012}");
    let proof = json!({
        "roundId": id(9),
        "commitment": "900630e7f9af2d14a9a1af0ff05e29d88140c27feaab82b8b00e5d610ec5c32d",
        "salt": "07".repeat(32),
        "questions": [{
            "id": id(1),
            "text": "Which year?",
            "imageUrl": null,
            "options": [{"id": id(2), "text": "1887"}, {"id": id(3), "text": "1892"}],
            "correctOptionId": id(3),
        }],
    });
    let file = terrace.folder().join("proof.json");
    let verify = |proof: &serde_json::Value| {
        fs::write(&file, proof.to_string())?;
        terrace.clone().args(["verify".as_ref(), file.as_os_str()]).run()
    };
    let said = verify(&proof)?.succeeded()?;
    assert!(said.starts_with("Which year? 1892\n") && said.contains("the proof is correct"), "{said}");
    for (pointer, value) in
        [("/questions/0/correctOptionId", id(2)), ("/questions/0/text", "Why?".to_owned())]
    {
        let mut changed = proof.clone();
        *changed.pointer_mut(pointer).context("a field")? = json!(value);
        let wrong = verify(&changed)?;
        assert_eq!(wrong.code, Some(1), "{}", wrong.words());
        assert!(wrong.said.starts_with("wrong: the questions do not have"), "{}", wrong.said);
    }
    Ok(())
}

fn a_secret_is_created_once_and_another_one_is_refused(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    terrace.serve()?.stop()?;
    let file = terrace.folder().join("data/secret");
    let made = fs::read_to_string(&file)?;
    assert_eq!((made.trim_end().len(), fs::metadata(&file)?.permissions().mode() & 0o777), (64, 0o600));
    terrace.serve()?.stop()?;
    assert_eq!(fs::read_to_string(&file)?, made);
    fs::write(&file, format!("{}\n", "0".repeat(64)))?;
    let refused = terrace.run()?;
    assert_eq!(refused.code, Some(1));
    assert!(refused.log.contains("is not the secret that this database is used with"), "{}", refused.log);
    // Another process is given the right one.
    let kept = terrace.folder().join("kept");
    fs::write(&kept, made)?;
    terrace.clone().env("TERRACE_SECRET_FILE", kept.as_os_str()).serve()?.stop()?;
    let missing = terrace.clone().env("TERRACE_SECRET_FILE", "no-such-file").run()?;
    assert!(missing.code == Some(1) && missing.log.contains("no-such-file"), "{}", missing.log);
    Ok(())
}
