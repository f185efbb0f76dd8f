//! `terrace account`, beside a server that runs on the same database.

use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use terrace_testkit::{
    Client, DatabaseKind, Ended, Invocation, PASSWORD, TestDatabase, on_each_database, wait_at_most,
};

on_each_database! {
    an_account_is_suspended_and_restored_beside_a_server,
    a_password_is_reset_from_a_file_or_drawn_and_shown_once,
    a_role_is_granted,
    impossible_commands_give_a_reason_and_change_nothing,
}

/// How long the server may cache a session that another process ended.
const MEMORY: std::time::Duration = std::time::Duration::from_secs(1);

fn account(invocation: &Invocation, arguments: &[&str]) -> Result<Ended> {
    invocation.clone().args(["account"]).args(arguments.iter().copied()).run()
}

/// Repeats the request until the session is dead, which must be within a second.
fn is_out(client: &Client) -> Result<()> {
    wait_at_most(MEMORY, "the ended session is refused", || Ok(client.get("/api/user").status != 200))
}

fn login(client: &Client, password: &str) -> u16 {
    client.post("/api/login", &json!({"username": "mia", "password": password})).status
}

fn an_account_is_suspended_and_restored_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let program = invocation.serve()?;
    let mia = program.client();
    mia.register("Mia");
    let phone = program.client().mobile_login("mia");
    let post = mia.create_post("What a save!");
    phone.get("/api/user").expect(200);

    let suspended = account(&invocation, &["suspend", "mia"])?;
    assert!(suspended.log.contains("was suspended"), "{}", suspended.log);
    assert_eq!(suspended.succeeded()?, "mia is suspended; 2 sessions ended\n");
    // At once, whatever session the server has cached.
    mia.post("/api/locker-room", &json!({"body": "Me again"})).problem(401, "authentication_required");
    is_out(&phone)?;
    mia.get("/api/user").problem(401, "authentication_required");
    let program_client = program.client();
    program_client.get(&format!("/api/locker-room/{post}")).problem(404, "not_found");
    assert_eq!((login(&program_client, PASSWORD), login(&program_client, "a guess")), (403, 401));
    let again = account(&invocation, &["suspend", "MIA"])?.succeeded()?;
    assert_eq!(again, "MIA was suspended already; 0 sessions ended\n");

    assert_eq!(account(&invocation, &["restore", "mia"])?.succeeded()?, "mia is restored\n");
    assert_eq!(account(&invocation, &["restore", "mia"])?.succeeded()?, "mia was not suspended\n");
    program_client.get(&format!("/api/locker-room/{post}")).expect(200);
    assert_eq!(login(&program_client, PASSWORD), 200);
    Ok(())
}

fn a_password_is_reset_from_a_file_or_drawn_and_shown_once(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let program = invocation.serve()?;
    let mia = program.client();
    mia.register("mia");
    fs::write(invocation.folder().join("password"), "chosen by the club\n")?;
    let reset = account(&invocation, &["reset-password", "mia", "--password-file", "password"])?;
    assert!(!reset.words().contains("chosen by the club"), "{}", reset.words());
    assert_eq!(reset.succeeded()?, "mia has a new password; 1 session ended\n");
    is_out(&mia)?;
    let client = program.client();
    assert_eq!((login(&client, PASSWORD), login(&client, "chosen by the club")), (401, 200));

    let reset = account(&invocation, &["reset-password", "mia"])?;
    let log = reset.log.clone();
    let said = reset.succeeded()?;
    let drawn = said.trim_end().rsplit_once("\nit is ").context("no password")?.1.to_owned();
    assert!(!log.contains(&drawn), "{log}");
    assert_eq!((login(&client, "chosen by the club"), login(&client, &drawn)), (401, 200));
    let other = account(&invocation, &["reset-password", "mia"])?.succeeded()?;
    assert!(!other.contains(&drawn));

    for (password, words) in [
        ("short", "must hold 8 to 128 characters"),
        ("Password1", "must not be a common password"),
        ("Mia-2026!", "must not be the username"),
    ] {
        fs::write(invocation.folder().join("password"), format!("{password}\n"))?;
        let refused = account(&invocation, &["reset-password", "mia", "--password-file", "password"])?;
        assert!(refused.words().contains(words), "{}", refused.words());
        assert!(!refused.words().contains(password), "{}", refused.words());
        assert_eq!(refused.code, Some(1));
    }
    let missing = account(&invocation, &["reset-password", "mia", "--password-file", "nowhere"])?;
    assert!(missing.words().contains("nowhere"), "{}", missing.words());
    assert_eq!(missing.code, Some(1));
    Ok(())
}

fn a_role_is_granted(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let program = invocation.serve()?;
    let mia = program.client();
    mia.register("mia");
    for role in ["team_manager", "admin", "super_admin", "fan"] {
        let granted = account(&invocation, &["grant", "mia", role])?.succeeded()?;
        assert_eq!(granted, format!("mia has the role {role}\n"));
        assert_eq!(mia.get("/api/user/export").expect(200).str_at("/role"), role);
    }
    Ok(())
}

fn impossible_commands_give_a_reason_and_change_nothing(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let unready = account(&invocation, &["suspend", "mia"])?;
    assert!(unready.words().contains("terrace migrate"), "{}", unready.words());
    assert_eq!(unready.code, Some(1));
    invocation.clone().args(["migrate"]).run()?.succeeded()?;
    for arguments in [
        &["suspend", "nobody"][..],
        &["restore", "nobody"],
        &["reset-password", "nobody"],
        &["grant", "nobody", "admin"],
    ] {
        let refused = account(&invocation, arguments)?;
        let words = refused.words();
        assert!(words.contains("there is no account \"nobody\""), "{arguments:?}: {words}");
        assert_eq!((refused.code, refused.said.as_str()), (Some(1), ""), "{arguments:?}");
    }
    for arguments in [&[][..], &["grant", "mia", "owner"], &["suspend"], &["forget", "mia"]] {
        assert_eq!(account(&invocation, arguments)?.code, Some(2), "{arguments:?}");
    }
    Ok(())
}
