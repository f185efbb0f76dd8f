//! Spec §3, rule 4: `terrace maintain reconcile`, beside a server and after one that was killed; and the
//! services that offer the sandbox.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use terrace_testkit::{
    Answer, Client, DatabaseKind, Invocation, Program, TestDatabase, on_each_database, pgtemp,
};

on_each_database! {
    a_purchase_that_stopped_half_way_is_finished_after_a_kill,
    overdue_purchases_expire_beside_a_server,
    a_public_service_offers_the_sandbox_only_on_request,
}

fn maintain(invocation: &Invocation) -> Result<String> {
    invocation.clone().args(["maintain", "reconcile"]).run()?.succeeded()
}

/// The demo content's pack for money.
fn purchase_path(client: &Client) -> Result<String> {
    let packs = client.get("/api/packs").expect(200).list("/packs");
    let pack = packs.iter().find(|pack| pack["price"]["kind"] == "money").context("no pack for money")?;
    Ok(format!("/api/packs/{}/purchase", pack["id"].as_str().context("no id")?))
}

fn buy(client: &Client, key: &str) -> Result<Answer> {
    let path = purchase_path(client)?;
    Ok(client.ask("POST", &path).header("idempotency-key", key).json(&json!({})).send())
}

fn status(client: &Client, purchase: &str) -> Value {
    client.get(&format!("/api/user/purchases/{purchase}")).expect(200).at("/purchase/status")
}

fn page(bought: &Answer, program: &Program) -> Result<String> {
    let site = format!("http://{}", program.address());
    let url = bought.str_at("/purchase/checkoutUrl");
    Ok(url.strip_prefix(&site).with_context(|| url.clone())?.to_owned())
}

/// With demo content, and with jobs that leave purchases to the command.
fn invocation(database: &TestDatabase) -> Result<Invocation> {
    Ok(Invocation::on(database.url())?.env("TERRACE_DEMO", "always").env("TERRACE_JOBS", "off"))
}

fn a_purchase_that_stopped_half_way_is_finished_after_a_kill(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = invocation(&database)?;
    let mut program = invocation.serve()?;
    let mia = program.client();
    mia.register("half-way");
    let bought = buy(&mia, "one")?.expect(201);
    let (purchase, page) = (bought.str_at("/purchase/id"), page(&bought, &program)?);
    assert!(program.log()?.contains("no money moves"), "{}", program.log()?);
    let cookie = mia.cookie("session").context("no session")?;
    program.kill()?;
    if kind == DatabaseKind::Postgres {
        // As if it had been killed between the buyer's decision and the message about it.
        let decided = [
            "UPDATE sandbox_checkouts SET state = 'approved'",
            "UPDATE payments SET due_at = now() - interval '1 minute'",
        ];
        pgtemp::execute(database.url(), &decided)?;
        let said = maintain(&invocation)?;
        assert!(said.starts_with("looked at 1 payments: 1 purchases completed, 0 expired, "), "{said}");
    }
    assert!(maintain(&invocation)?.starts_with("looked at 0 payments: "));
    let program = invocation.serve()?;
    let mia = program.client().with_cookie("session", &cookie);
    if kind == DatabaseKind::Sqlite {
        let approve = mia.ask("POST", &page).body("application/x-www-form-urlencoded", "decision=approve");
        approve.send().expect(303);
    }
    assert_eq!(status(&mia, &purchase), "completed");
    let done = mia.put(&purchase_path(&mia)?, &json!({"purchaseId": purchase})).expect(200);
    assert_eq!(done.list("/userPacks").len(), 1);
    Ok(())
}

fn overdue_purchases_expire_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = invocation(&database)?;
    let unready = invocation.clone().args(["maintain", "reconcile"]).run()?;
    assert!(unready.words().contains("terrace migrate"), "{}", unready.words());
    assert_eq!(unready.code, Some(1));
    let program = invocation.serve()?;
    let mia = program.client();
    mia.register("late");
    let purchase = buy(&mia, "one")?.expect(201).str_at("/purchase/id");
    assert!(maintain(&invocation)?.starts_with("looked at 0 payments: "));
    if kind == DatabaseKind::Postgres {
        let past = [
            "UPDATE pack_purchases SET expires_at = now() - interval '1 minute' WHERE state = 'pending'",
            "UPDATE payments SET due_at = now() - interval '1 minute'",
        ];
        pgtemp::execute(database.url(), &past)?;
        let said = maintain(&invocation)?;
        assert!(said.starts_with("looked at 1 payments: 0 purchases completed, 1 expired, "), "{said}");
        assert_eq!(status(&mia, &purchase), "expired");
        assert!(maintain(&invocation)?.starts_with("looked at 0 payments: "));
    }
    Ok(())
}

fn a_public_service_offers_the_sandbox_only_on_request(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = invocation(&database)?;
    for (name, value) in [("TERRACE_PAYMENTS", "off"), ("TERRACE_PUBLIC_URL", "https://fans.example")] {
        let program = invocation.clone().env(name, value).serve()?;
        let phone = program.client();
        let body = json!({"username": format!("fan-{}", value.len()), "password": terrace_testkit::PASSWORD});
        phone.post("/api/register", &body).expect(201);
        buy(&phone, "one")?.problem(409, "payment_unavailable");
        assert!(!program.log()?.contains("no money moves"));
    }
    let program =
        invocation.args(["--payments", "sandbox", "--public-url", "https://fans.example"]).serve()?;
    let phone = program.client();
    phone.register("asked-for");
    let bought = buy(&phone, "one")?.expect(201);
    assert!(bought.str_at("/purchase/checkoutUrl").starts_with("https://fans.example/sandbox/checkout/"));
    assert!(program.log()?.contains("no money moves"));
    Ok(())
}
