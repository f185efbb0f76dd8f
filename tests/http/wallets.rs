//! Balances over HTTP (spec §4, wallets and cash balance): the balances of a fan, and their entries.

use anyhow::Result;
use serde_json::json;
use terrace_testkit::kernel::Currency;
use terrace_testkit::kernel::UserId;
use terrace_testkit::ledger::{AccountKind, Amount, Holder, House, Transfer, TransferSource};
use terrace_testkit::{CRON_SECRET, Client, DatabaseKind, PASSWORD, TestService, body, on_each_database};

on_each_database! {
    awards_can_be_spent_and_are_published,
    remaining_money_is_reported_before_a_deletion,
}

const WALLETS: &str = "/api/wallets";
const CASH: &str = "/api/cash-balance";

fn award(service: &TestService, user: &str, amount: i64, fact: &str) {
    let award =
        json!({"userId": user, "amount": amount, "reason": "A ticket", "source": format!("import:{fact}")});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
}

pub(super) fn transfer(
    service: &TestService,
    kind: AccountKind,
    (debit, credit): (Holder, Holder),
    amount: i64,
    key: &'static str,
) {
    let moved = service.run(service.app().execute(body(move |tx, ctx| {
        Ok(tx.transfer(&Transfer {
            id: ctx.new_id(),
            kind,
            debit,
            credit,
            amount: Amount::new(amount).expect("an amount"),
            reason: "A pack".to_owned(),
            source: TransferSource::operator(key).expect("a key"),
            at: ctx.now(),
        })?)
    })));
    assert!(moved.is_ok());
}

fn accounts(client: &Client) -> Vec<(String, Option<String>, i64)> {
    let accounts = client.get(WALLETS).expect(200);
    let account = |account: &serde_json::Value| {
        let text = |name: &str| account[name].as_str().map(str::to_owned);
        assert_eq!(text("id"), text("currency").or(text("kind")));
        assert_eq!(account["held"], 0);
        (text("kind").unwrap_or_default(), text("currency"), account["balance"].as_i64().unwrap_or(-1))
    };
    accounts.list("/accounts").iter().map(account).collect()
}

fn awards_can_be_spent_and_are_published(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.client(), service.fan("bo_"));
    let id = mia.register("mia");
    let user = Holder::Fan(id.parse::<UserId>()?);
    assert_eq!(accounts(&mia), [("points".to_owned(), None, 0), ("coins".to_owned(), None, 0)]);
    assert_eq!(mia.get(WALLETS).expect(200).list("/entries").len(), 0);
    assert_eq!(mia.get(CASH).expect(200).json(), json!({"amount": 0, "held": 0, "currency": "EUR"}));
    award(&service, &id, 50, "one");
    award(&service, &id, 20, "two");
    transfer(&service, AccountKind::Points, (user, Holder::House(House::Revenue)), 30, "spent");
    let euros = AccountKind::Money(Currency::EUR);
    transfer(&service, euros, (Holder::House(House::Payments), user), 1250, "in");

    // Spent points leave the account and stay on the boards.
    let euro = ("money".to_owned(), Some("EUR".to_owned()), 1250);
    assert_eq!(accounts(&mia), [("points".to_owned(), None, 40), ("coins".to_owned(), None, 0), euro]);
    assert_eq!(mia.get(CASH).expect(200).json(), json!({"amount": 1250, "held": 0, "currency": "EUR"}));
    assert_eq!(mia.get("/api/user/points").expect(200).at("/total"), 70);
    assert_eq!(mia.get("/api/leaderboard").expect(200).at("/me/points"), 70);
    assert_eq!(accounts(&bo)[0].2, 0);

    let whole = mia.get(WALLETS).expect(200);
    let listed: Vec<_> = whole
        .list("/entries")
        .iter()
        .map(|entry| {
            (
                entry["account"].as_str().unwrap_or_default().to_owned(),
                entry["amount"].as_i64(),
                entry["balanceAfter"].as_i64(),
            )
        })
        .collect();
    for expected in [("EUR", 1250, 1250), ("points", -30, 40), ("points", 20, 70), ("points", 50, 50)] {
        assert!(listed.contains(&(expected.0.to_owned(), Some(expected.1), Some(expected.2))), "{listed:?}");
    }
    // Pages of one entry each show the same.
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = mia.get(&format!("{WALLETS}?limit=1{cursor}")).expect(200);
        paged.extend(page.list("/entries"));
        match page.at("/nextCursor").as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, whole.list("/entries"));
    let next = mia.get(&format!("{WALLETS}?limit=1")).expect(200).str_at("/nextCursor");
    bo.get(&format!("{WALLETS}?cursor={next}")).problem(400, "invalid_request");
    for path in [WALLETS, CASH] {
        service.client().get(path).problem(401, "authentication_required");
    }

    let export = mia.get("/api/user/export").expect(200);
    assert_eq!((export.list("/accounts").len(), export.list("/entries").len()), (2, 4));
    Ok(())
}

fn remaining_money_is_reported_before_a_deletion(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.client();
    let fan = Holder::Fan(mia.register("mia").parse::<UserId>()?);
    let (euros, payments) = (AccountKind::Money(Currency::EUR), Holder::House(House::Payments));
    transfer(&service, euros, (payments, fan), 5, "in");
    let delete = || mia.ask("DELETE", "/api/user").json(&json!({"password": PASSWORD})).send();
    delete().problem(409, "balance_left");
    assert_eq!(mia.get(CASH).expect(200).at("/amount"), 5);
    transfer(&service, euros, (fan, payments), 5, "out");
    delete().expect(204);
    Ok(())
}
