//! The contract under "Packs", and spec §1, rules 7 to 11, and §4, over HTTP.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use terrace_testkit::kernel::UserId;
use terrace_testkit::ledger::{AccountKind, Amount, Holder, House, Transfer, TransferSource};
use terrace_testkit::web::verify_opening;
use terrace_testkit::{
    Answer, CRON_SECRET, Client, DatabaseKind, PASSWORD, TestService, body, on_each_database,
};

on_each_database! {
    spec_1_rule_7_packs_that_are_available_are_listed_with_their_odds,
    a_pack_shows_its_contents_and_what_is_left,
    spec_1_rule_8_a_purchase_is_recorded_and_replayed,
    spec_1_rule_9_an_opening_is_proved_by_its_answer_and_stays,
    invalid_requests_are_refused_and_move_nothing,
    packs_that_did_not_change_are_304,
    visitors_without_a_session_see_each_sale_at_once,
    a_keyed_purchase_fifty_times_at_once_buys_once,
    purchases_are_exported_and_outlive_their_account,
}

const PACKS: &str = "/api/packs";
const COPIES: &str = "/api/user/packs";
const COLLECTIBLES: &str = "/api/user/collectibles";
const PURCHASES: &str = "/api/user/purchases";

/// A fan with a hundred points and a hundred coins.
fn rich(service: &TestService, name: &str) -> Client {
    let client = service.client();
    let id = client.register(name);
    let award = json!({"userId": id, "amount": 100, "reason": "A ticket", "source": "import:ticket"});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
    let fan: UserId = id.parse().expect("an id");
    let moved = service.run(service.app().execute(body(move |tx, ctx| {
        Ok(tx.transfer(&Transfer {
            id: ctx.new_id(),
            kind: AccountKind::Coins,
            debit: Holder::House(House::Issuance),
            credit: Holder::Fan(fan),
            amount: Amount::new(100).expect("an amount"),
            reason: "A gift".to_owned(),
            source: TransferSource::operator(&format!("gift/{}", fan.as_uuid())).expect("a key"),
            at: ctx.now(),
        })?)
    })));
    assert!(moved.is_ok());
    client
}

/// The pack with this key as the client sees it in the list.
fn pack(client: &Client, key: &str) -> Value {
    let packs = client.get(PACKS).expect(200).list("/packs");
    packs.into_iter().find(|pack| pack["key"] == key).expect("the pack")
}

fn path(client: &Client, key: &str, what: &str) -> String {
    format!("{PACKS}/{}{what}", pack(client, key)["id"].as_str().expect("an id"))
}

fn keyed(client: &Client, path: &str, key: &str, body: &Value) -> Answer {
    client.ask("POST", path).header("idempotency-key", key).json(body).send()
}

fn buy(client: &Client, key: &str, quantity: u32, request: &str) -> Answer {
    keyed(client, &path(client, key, "/purchase"), request, &json!({"quantity": quantity}))
}

fn open(client: &Client, key: &str, body: &Value) -> Answer {
    client.post(&path(client, key, "/open"), body)
}

fn balances(client: &Client) -> [i64; 2] {
    let wallets = client.get("/api/wallets").expect(200);
    ["/accounts/0/balance", "/accounts/1/balance"].map(|at| wallets.at(at).as_i64().expect("a number"))
}

fn sum(of: &[Value], name: &str) -> f64 {
    of.iter().map(|one| one[name].as_f64().expect("a number")).sum()
}

fn spec_1_rule_7_packs_that_are_available_are_listed_with_their_odds(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let visitor = service.client();
    let list = visitor.get(PACKS).expect(200);
    let keys: Vec<_> = list.list("/packs").iter().map(|pack| pack["key"].clone()).collect();
    // Packs whose sale is over, or not open yet, are not listed.
    assert_eq!(keys, ["day", "cups", "few", "single", "paid", "gala"]);
    for pack in list.list("/packs") {
        assert!((sum(pack["odds"].as_array().expect("odds"), "probability") - 1.0).abs() < 1e-9);
        assert_eq!(pack["available"], true);
    }
    let day = pack(&visitor, "day");
    assert_eq!(day["price"], json!({"kind": "points", "amount": 10, "currency": null}));
    assert_eq!(
        [&day["slots"], &day["remaining"], &day["guarantee"]],
        [&json!(2), &json!(null), &json!(null)]
    );
    let share = |odds: usize| day["odds"][odds]["probability"].as_f64().unwrap_or_default();
    assert!((share(0) - 0.7).abs() < 1e-9 && (share(1) - 0.3).abs() < 1e-9);
    // Every copy contains a cup, although the slot's weights alone would give it to every other one.
    let cups = pack(&visitor, "cups");
    assert_eq!([&cups["remaining"], &cups["guarantee"]], [&json!(25), &json!("legendary")]);
    assert_eq!(cups["odds"][1], json!({"rarity": "legendary", "probability": 0.5, "atLeastOne": 1.0}));
    let paid = pack(&visitor, "paid");
    assert_eq!(paid["price"], json!({"kind": "money", "amount": 499, "currency": "EUR"}));

    // A sold-out pack is listed, and not available.
    let mia = rich(&service, "mia");
    buy(&mia, "single", 1, "one").expect(201);
    let single = pack(&visitor, "single");
    assert_eq!([&single["available"], &single["remaining"]], [&json!(false), &json!(0)]);

    // Page by page it is the same list.
    let (mut paged, mut next) = (Vec::new(), Some(format!("{PACKS}?limit=2")));
    while let Some(path) = next {
        let page = visitor.get(&path).expect(200);
        paged.extend(page.list("/packs").into_iter().map(|pack| pack["key"].clone()));
        next = page.at("/nextCursor").as_str().map(|cursor| format!("{PACKS}?limit=2&cursor={cursor}"));
    }
    assert_eq!(paged, keys);
    Ok(())
}

fn a_pack_shows_its_contents_and_what_is_left(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service, "mia");
    let cups = path(&mia, "cups", "");
    let read = || mia.get(&cups).expect(200).at("/pack");
    let contents = read()["contents"].as_array().expect("contents").clone();
    let cup = |pack: &Value| {
        let contents = pack["contents"].as_array().expect("contents").clone();
        contents.into_iter().find(|content| content["collectible"]["key"] == "cup").expect("the cup")
    };
    assert_eq!(contents.len(), 2);
    assert_eq!(cup(&read())["probabilities"], json!([0.0, 1.0]));
    assert_eq!([&cup(&read())["edition"], &cup(&read())["left"]], [&json!(25), &json!(25)]);
    buy(&mia, "cups", 2, "two").expect(201);
    assert_eq!(read()["remaining"], 23);
    open(&mia, "cups", &json!({"userPackId": mia.get(COPIES).expect(200).str_at("/packs/0/id")})).expect(200);
    let now = read();
    assert_eq!(
        [&now["remaining"], &cup(&now)["minted"], &cup(&now)["left"]],
        [&json!(23), &json!(1), &json!(24)]
    );
    // A pack that was never on sale is not found, and one whose sale is over is.
    let packs = service.run(service.app().pack_book())?;
    let id = |key: &str| packs.packs().iter().find(|pack| pack.key.as_str() == key).expect("a pack").id;
    assert_eq!(mia.get(&format!("{PACKS}/{}", id("over"))).expect(200).at("/pack/available"), false);
    mia.get(&format!("{PACKS}/{}", id("early"))).problem(404, "not_found");
    mia.get(&format!("{PACKS}/{UNKNOWN}")).problem(404, "not_found");
    Ok(())
}

fn spec_1_rule_8_a_purchase_is_recorded_and_replayed(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service, "mia");
    let bought = buy(&mia, "day", 3, "three").expect(201);
    assert_eq!(bought.at("/purchase/status"), "completed");
    assert_eq!(bought.at("/purchase/price"), json!({"kind": "points", "amount": 30, "currency": null}));
    assert_eq!(
        [bought.at("/purchase/checkoutUrl"), bought.at("/purchase/expiresAt")],
        [json!(null), json!(null)]
    );
    assert_eq!(bought.list("/userPacks").len(), 3);
    assert_eq!(bought.str_at("/userPacks/0/serverSeedHash").len(), 64);
    assert_eq!(bought.at("/userPacks/0/status"), "sealed");
    let again = buy(&mia, "day", 3, "three").expect(201);
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), bought.json()));
    buy(&mia, "day", 2, "three").problem(422, "idempotency_key_reused");
    let location = bought.header("location").expect("where it is").to_owned();
    assert_eq!(mia.get(&location).expect(200).json(), bought.json());
    assert_eq!(mia.get(PURCHASES).expect(200).at("/purchases/0"), bought.at("/purchase"));
    assert_eq!(mia.get(COPIES).expect(200).list("/packs").len(), 3);
    assert_eq!(balances(&mia), [70, 100]);
    assert_eq!(mia.get("/api/wallets").expect(200).at("/entries/0/amount"), -30);
    service.fan("bo_").get(&location).problem(404, "not_found");
    Ok(())
}

fn spec_1_rule_9_an_opening_is_proved_by_its_answer_and_stays(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service, "mia");
    let bought = buy(&mia, "cups", 2, "two").expect(201);
    let copy = bought.str_at("/userPacks/1/id");
    let opened = open(&mia, "cups", &json!({"userPackId": copy, "clientSeed": "you'll never"})).expect(200);
    let slots = verify_opening(&opened.text())?;
    assert_eq!(slots.iter().map(|slot| slot.serial).collect::<Vec<_>>(), [None, Some(1)]);
    assert_eq!(opened.at("/proof/serverSeedHash"), bought.at("/userPacks/1/serverSeedHash"));
    assert_eq!(
        [opened.at("/proof/clientSeed"), opened.at("/proof/clientSeedSource")],
        [json!("you'll never"), json!("client")]
    );
    assert_eq!([opened.at("/userPack/status"), opened.at("/proof/nonce")], [json!("opened"), json!(2)]);
    assert_eq!(
        [opened.at("/collectibles/1/serial"), opened.at("/collectibles/1/edition")],
        [json!(1), json!(25)]
    );
    for seed in ["another", "you'll never"] {
        let again = open(&mia, "cups", &json!({"userPackId": copy, "clientSeed": seed})).expect(200);
        assert_eq!(again.json(), opened.json());
    }
    // The oldest sealed copy, which needs a key; the key gives the same copy again.
    let any = path(&mia, "cups", "/open");
    mia.post(&any, &json!({})).problem(400, "idempotency_key_required");
    let first = keyed(&mia, &any, "any", &json!({})).expect(200);
    assert_eq!(first.at("/userPack/id"), bought.at("/userPacks/0/id"));
    assert_eq!(first.at("/proof/clientSeedSource"), "server");
    verify_opening(&first.text())?;
    let again = keyed(&mia, &any, "any", &json!({})).expect(200);
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), first.json()));
    keyed(&mia, &any, "more", &json!({})).problem(404, "not_found");

    let opened = mia.get("/api/user/packs/opened").expect(200);
    assert_eq!(opened.list("/packs").len(), 2);
    assert_eq!(opened.at("/packs/0/pack/key"), "cups");
    let owned = |query: &str| mia.get(&format!("{COLLECTIBLES}{query}")).expect(200).list("/collectibles");
    assert_eq!(owned("").len(), 4);
    assert_eq!(owned("?rarity=legendary").len(), 2);
    assert_eq!(owned("?rarity=epic").len(), 0);
    let team = owned("?rarity=common")[0]["collectible"]["teamId"].clone();
    assert_eq!(owned(&format!("?teamId={}", team.as_str().expect("a team"))).len(), 2);
    assert_eq!(owned(&format!("?teamId={UNKNOWN}")).len(), 0);
    assert_eq!(owned("")[0]["source"], "pack");
    mia.get(&format!("{COLLECTIBLES}?rarity=shiny")).problem(400, "invalid_request");
    Ok(())
}

fn invalid_requests_are_refused_and_move_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (rich(&service, "mia"), service.fan("bo_"));
    let day = path(&mia, "day", "/purchase");
    service.client().post(&day, &json!({})).problem(401, "authentication_required");
    mia.post(&day, &json!({})).problem(400, "idempotency_key_required");
    buy(&bo, "day", 1, "a").problem(409, "insufficient_balance");
    buy(&mia, "day", 11, "a").problem(409, "insufficient_balance");
    buy(&mia, "few", 3, "a").problem(409, "limit_reached");
    buy(&mia, "single", 2, "a").problem(409, "sold_out");
    buy(&mia, "paid", 1, "a").problem(409, "payment_unavailable");
    let packs = service.run(service.app().pack_book())?;
    let over = packs.packs().iter().find(|pack| pack.key.as_str() == "over").expect("a pack").id;
    keyed(&mia, &format!("{PACKS}/{over}/purchase"), "a", &json!({})).problem(409, "pack_closed");
    keyed(&mia, &format!("{PACKS}/{UNKNOWN}/purchase"), "a", &json!({})).problem(404, "not_found");
    for quantity in [json!(0), json!(-1), json!(21)] {
        let refused = keyed(&mia, &day, "a", &json!({"quantity": quantity}));
        assert_eq!(refused.problem(422, "validation_failed").pointers(), ["/quantity"]);
    }
    keyed(&mia, &day, "a", &json!({"quantity": 1.5})).problem(400, "invalid_request");
    assert_eq!(balances(&mia), [100, 100]);
    assert_eq!(mia.get(COPIES).expect(200).list("/packs"), Vec::<Value>::new());
    // Refusals are not stored: the same key buys.
    let copy = buy(&mia, "day", 1, "a").expect(201).str_at("/userPacks/0/id");

    open(&bo, "day", &json!({"userPackId": copy})).problem(404, "not_found");
    open(&mia, "few", &json!({"userPackId": copy})).problem(404, "not_found");
    open(&mia, "day", &json!({"userPackId": UNKNOWN})).problem(404, "not_found");
    for seed in [String::new(), "x".repeat(65), "a\nb".to_owned()] {
        let refused = open(&mia, "day", &json!({"userPackId": copy, "clientSeed": seed}));
        assert_eq!(refused.problem(422, "validation_failed").pointers(), ["/clientSeed"]);
    }
    open(&mia, "day", &json!({"userPackId": copy, "clientSeed": "x".repeat(1 << 20)}))
        .problem(413, "payload_too_large");
    assert_eq!(mia.get(COPIES).expect(200).at("/packs/0/status"), "sealed");
    assert_eq!(mia.get(COLLECTIBLES).expect(200).list("/collectibles"), Vec::<Value>::new());
    Ok(())
}

fn packs_that_did_not_change_are_304(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service, "mia");
    for path in [PACKS.to_owned(), path(&mia, "cups", "")] {
        let mut tags = BTreeSet::new();
        for client in [&mia, &service.client()] {
            let tag = client.get(&path).expect(200).header("etag").expect("a tag").to_owned();
            client.ask("GET", &path).header("if-none-match", &tag).send().expect(304);
            tags.insert(tag);
        }
        assert_eq!(tags.len(), 2);
        let tag = tags.first().expect("a tag").clone();
        buy(&mia, "cups", 1, &path).expect(201);
        mia.ask("GET", &path).header("if-none-match", &tag).send().expect(200);
    }
    Ok(())
}

fn visitors_without_a_session_see_each_sale_at_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, visitor) = (rich(&service, "mia"), service.client());
    let mut tags = BTreeSet::new();
    for left in (20..=25).rev() {
        let list = visitor.get(PACKS).expect(200);
        let cups = list.list("/packs").into_iter().find(|pack| pack["key"] == "cups").expect("the pack");
        assert_eq!((&cups["remaining"], &cups["odds"][1]["atLeastOne"]), (&json!(left), &json!(1.0)));
        // Whatever other pages were requested in between.
        assert_eq!(visitor.get(&format!("{PACKS}?limit=1")).expect(200).list("/packs").len(), 1);
        let again = visitor.get(PACKS).expect(200);
        assert_eq!((again.text(), again.header("etag")), (list.text(), list.header("etag")));
        tags.insert(list.header("etag").expect("a tag").to_owned());
        buy(&mia, "cups", 1, &left.to_string()).expect(201);
    }
    assert_eq!(tags.len(), 6);
    // A pack whose sale is over is not listed any more, although nothing was sold.
    let shown = |packs: &[Value]| packs.iter().any(|pack| pack["key"] == "early");
    assert!(!shown(&visitor.get(PACKS).expect(200).list("/packs")));
    service.clock().advance(Duration::from_hours(24 * 365 * 1000));
    assert!(shown(&visitor.get(PACKS).expect(200).list("/packs")));
    Ok(())
}

fn a_keyed_purchase_fifty_times_at_once_buys_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service, "mia");
    let day = path(&mia, "day", "/purchase");
    let ids: BTreeSet<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..50)
            .map(|_| scope.spawn(|| keyed(&mia, &day, "once", &json!({})).expect(201).str_at("/purchase/id")))
            .collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect()
    });
    assert_eq!((ids.len(), balances(&mia)), (1, [90, 100]));
    Ok(())
}

fn purchases_are_exported_and_outlive_their_account(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = rich(&service, "mia");
    let copy = buy(&mia, "cups", 2, "two").expect(201).str_at("/userPacks/0/id");
    let opened = open(&mia, "cups", &json!({"userPackId": copy})).expect(200);
    let export = mia.get("/api/user/export").expect(200);
    let mut purchases = mia.get(PURCHASES).expect(200).list("/purchases");
    for purchase in &mut purchases {
        // The pack is content and not of the account.
        assert!(purchase.as_object_mut().expect("an object").remove("pack").is_some());
    }
    assert_eq!(export.list("/purchases"), purchases);
    let packs = export.list("/packs");
    let of = |status: &str| packs.iter().find(|pack| pack["status"] == status).expect("a copy");
    assert_eq!((packs.len(), &of("sealed")["clientSeed"]), (2, &json!(null)));
    let (proof, opened_copy) = (opened.at("/proof"), of("opened"));
    for name in ["clientSeed", "clientSeedSource", "serverSeedHash"] {
        assert_eq!(opened_copy[name], proof[name], "{name}");
    }
    assert_eq!(export.list("/collectibles").len(), 2);
    assert!(export.list("/collectibles").iter().any(|owned| owned["id"] == opened.at("/collectibles/1/id")));
    let cups = path(&mia, "cups", "");
    let before = service.client().get(&cups).expect(200).json();
    mia.ask("DELETE", "/api/user").json(&json!({"password": PASSWORD})).send().expect(204);
    // Serials and supply are unchanged.
    assert_eq!(service.client().get(&cups).expect(200).json(), before);
    mia.get(COLLECTIBLES).problem(401, "authentication_required");
    Ok(())
}
