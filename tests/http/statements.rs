//! Contract part 2 §4, statements over HTTP: pages of JSON, one file of CSV, and what is refused.

use super::wallets::transfer;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::kernel::{Currency, UserId};
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    spec_4_a_statement_is_paged_from_its_opening_to_its_closing_balance,
    spec_4_a_statement_is_also_one_csv_file,
    spec_4_what_is_no_statement_is_refused,
}

const STATEMENT: &str = "/api/cash-balance/statement";
const EUROS: AccountKind = AccountKind::Money(Currency::EUR);

/// A fan with four entries of money: 1250, -499, 100 and -51.
fn rich(service: &TestService) -> Result<Client> {
    let mia = service.client();
    let fan = Holder::Fan(mia.register("mia").parse::<UserId>()?);
    let house = Holder::House(House::Payments);
    transfer(service, EUROS, (house, fan), 1250, "one");
    transfer(service, EUROS, (fan, house), 499, "two");
    transfer(service, EUROS, (house, fan), 100, "three");
    transfer(service, EUROS, (fan, house), 51, "four");
    transfer(service, AccountKind::Coins, (Holder::House(House::Issuance), fan), 7, "coins");
    Ok(mia)
}

fn numbers(page: &Value) -> Vec<[i64; 3]> {
    let number = |entry: &Value, name: &str| entry[name].as_i64().unwrap_or(i64::MIN);
    let entries = page["entries"].as_array().into_iter().flatten();
    entries.map(|entry| ["seq", "amount", "balanceAfter"].map(|name| number(entry, name))).collect()
}

fn spec_4_a_statement_is_paged_from_its_opening_to_its_closing_balance(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let empty = json!({"currency": "EUR", "opening": 0, "closing": 0, "entries": [], "nextCursor": null});
    assert_eq!(service.fan("bo_").get(STATEMENT).expect(200).json(), empty);
    let mia = rich(&service)?;
    let whole = mia.get(STATEMENT).expect(200).json();
    let all = [[1, 1250, 1250], [2, -499, 751], [3, 100, 851], [4, -51, 800]];
    assert_eq!(
        (numbers(&whole), &whole["opening"], &whole["closing"]),
        (all.to_vec(), &json!(0), &json!(800))
    );
    assert_eq!(whole["nextCursor"], Value::Null);
    // The entries are those of the wallet.
    let listed = mia.get("/api/wallets").expect(200).list("/entries");
    for entry in whole["entries"].as_array().expect("entries") {
        let same = listed.iter().find(|listed| listed["id"] == entry["id"]).expect("an entry");
        for name in ["amount", "balanceAfter", "reason", "createdAt"] {
            assert_eq!(same[name], entry[name], "{name}");
        }
    }
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = mia.get(&format!("{STATEMENT}?limit=3{cursor}")).expect(200);
        assert_eq!((page.at("/opening"), page.at("/closing")), (json!(0), json!(800)));
        paged.extend(numbers(&page.json()));
        let Some(next) = page.at("/nextCursor").as_str().map(str::to_owned) else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(paged, all);
    // A period begins with what came before it.
    let at = |nth: usize| whole["entries"][nth]["createdAt"].as_str().unwrap_or_default().to_owned();
    let later = mia.get(&format!("{STATEMENT}?from={}&to={}", at(0), at(0))).expect(200).json();
    assert_eq!((numbers(&later), later["opening"] == later["closing"]), (vec![], true));
    let none = mia.get(&format!("{STATEMENT}?to=2000-01-01T00:00:00Z")).expect(200).json();
    assert_eq!(none, empty);
    let after = mia.get(&format!("{STATEMENT}?from=2199-01-01T00:00:00Z")).expect(200).json();
    assert_eq!((&after["opening"], &after["closing"], numbers(&after)), (&json!(800), &json!(800), vec![]));
    let dollars = mia.get(&format!("{STATEMENT}?currency=USD")).expect(200).json();
    assert_eq!((&dollars["currency"], &dollars["closing"]), (&json!("USD"), &json!(0)));
    Ok(())
}

fn spec_4_a_statement_is_also_one_csv_file(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service)?;
    let csv = |target: &str| mia.ask("GET", target).header("Accept", "text/csv").send();
    let file = csv(STATEMENT).expect(200);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(file.header("content-disposition").is_some_and(|text| text.contains("terrace-statement.csv")));
    let text = file.text();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["seq", "id", "createdAt", "amount", "balanceAfter", "currency", "reason"]);
    assert_eq!(rows[1], ["", "", "", "", "0", "EUR", "Opening balance"]);
    let shown: Vec<_> = rows[2..6].iter().map(|row| [row[0], row[3], row[4], row[6]]).collect();
    assert_eq!(
        shown,
        [
            ["1", "1250", "1250", "\"A pack\""],
            ["2", "-499", "751", "\"A pack\""],
            ["3", "100", "851", "\"A pack\""],
            ["4", "-51", "800", "\"A pack\""],
        ]
    );
    assert_eq!((rows[6].clone(), rows.len()), (vec!["", "", "", "", "800", "EUR", "Closing balance"], 7));
    csv(&format!("{STATEMENT}?limit=2")).problem(400, "invalid_request");
    csv(&format!("{STATEMENT}?currency=ABC")).problem(422, "validation_failed");
    Ok(())
}

fn spec_4_what_is_no_statement_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service)?;
    service.client().get(STATEMENT).problem(401, "authentication_required");
    for (query, status, code, pointer) in [
        ("from=yesterday", 400, "invalid_request", "/from"),
        ("to=2026-05-01", 400, "invalid_request", "/to"),
        ("from=", 400, "invalid_request", "/from"),
        ("from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z", 422, "validation_failed", "/to"),
        ("currency=eur", 400, "invalid_request", "/currency"),
        ("currency=EURO", 400, "invalid_request", "/currency"),
        ("currency=XXX", 422, "validation_failed", "/currency"),
        ("limit=0", 422, "validation_failed", "/limit"),
        ("cursor=abc", 400, "invalid_request", "/cursor"),
        ("page=2", 400, "invalid_request", "/page"),
    ] {
        let problem = mia.get(&format!("{STATEMENT}?{query}")).problem(status, code);
        assert_eq!(problem.at("/errors/0/pointer"), pointer, "{query}");
    }
    // A cursor belongs to a fan, a currency and a period.
    let cursor = mia.get(&format!("{STATEMENT}?limit=1")).expect(200).str_at("/nextCursor");
    let bo = service.fan("bo_");
    bo.get(&format!("{STATEMENT}?cursor={cursor}")).problem(400, "invalid_request");
    for other in ["currency=USD", "from=2026-01-01T00:00:00Z"] {
        mia.get(&format!("{STATEMENT}?{other}&cursor={cursor}")).problem(400, "invalid_request");
    }
    let wallets = mia.get("/api/wallets?limit=1").expect(200).str_at("/nextCursor");
    mia.get(&format!("{STATEMENT}?cursor={wallets}")).problem(400, "invalid_request");
    Ok(())
}
