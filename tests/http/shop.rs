//! The contract under "Packs and collectibles" over HTTP (spec §4, and §3, rule 6): what a reader has of a pack, purchases with their pack, and
//! giving up a pending purchase.

use super::payments::{buy, complete, fan, message, send_notice, service, status};
use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Answer, CRON_SECRET, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_pack_shows_what_the_reader_has_of_it,
    a_pack_of_many_readers_shows_nothing_of_them,
    purchases_carry_their_pack,
    a_pending_purchase_is_given_up,
    a_purchase_that_is_not_pending_or_not_ones_own_is_refused,
}

fn give_points(service: &TestService, client: &Client, amount: i64, fact: &str) {
    let id = client.get("/api/user").expect(200).str_at("/id");
    let source = format!("import:{fact}");
    let award = json!({"userId": id, "amount": amount, "reason": "A ticket", "source": source});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
}

fn pack(client: &Client, key: &str) -> Value {
    let packs = client.get("/api/packs").expect(200).list("/packs");
    let pack = packs.into_iter().find(|pack| pack["key"] == key).expect("the pack");
    let one = client.get(&format!("/api/packs/{}", pack["id"].as_str().expect("an id"))).expect(200);
    for name in ["owned", "bought", "perUserLimit"] {
        assert_eq!(one.at("/pack")[name], pack[name], "{name}, alone as in the list");
    }
    pack
}

fn has(client: &Client, key: &str) -> [Value; 2] {
    let pack = pack(client, key);
    [pack["owned"].clone(), pack["bought"].clone()]
}

fn cancel(client: &Client, purchase: &str) -> Answer {
    client.delete(&format!("/api/user/purchases/{purchase}"))
}

fn a_pack_shows_what_the_reader_has_of_it(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    give_points(&service, &mia, 30, "one");
    assert_eq!(has(&mia, "day"), [json!(0), json!(0)]);
    buy(&mia, "day", 3, "three").expect(201);
    assert_eq!(has(&mia, "day"), [json!(3), json!(3)]);
    let id = pack(&mia, "day")["id"].as_str().expect("an id").to_owned();
    mia.ask("POST", &format!("/api/packs/{id}/open")).header("idempotency-key", "one").send().expect(200);
    assert_eq!(has(&mia, "day"), [json!(3), json!(3)], "an opened copy is a copy");
    // An unpaid purchase counts towards the limit, and gives no copy yet; a refunded one counts for nothing.
    let bought = buy(&mia, "gala", 2, "gala").expect(201);
    assert_eq!(has(&mia, "gala"), [json!(0), json!(2)]);
    send_notice(&service, &message(&bought, "paid", "paid")).expect(204);
    assert_eq!(has(&mia, "gala"), [json!(2), json!(2)]);
    send_notice(&service, &message(&bought, "refunded", "refunded")).expect(204);
    assert_eq!(has(&mia, "gala"), [json!(0), json!(0)]);
    Ok(())
}

fn a_pack_of_many_readers_shows_nothing_of_them(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (mia, bo, visitor) = (fan(&service, "mia"), fan(&service, "bo_"), service.client());
    give_points(&service, &mia, 10, "one");
    let before = visitor.get("/api/packs").expect(200);
    buy(&mia, "day", 1, "one").expect(201);
    for _ in 0..2 {
        let seen = [&mia, &bo, &visitor].map(|client| has(client, "day"));
        let nothing = [Value::Null, Value::Null];
        assert_eq!(seen, [[json!(1), json!(1)], [json!(0), json!(0)], nothing]);
    }
    // A purchase of an unlimited pack does not change the page of signed-out readers.
    let tag = before.header("etag").expect("a tag").to_owned();
    visitor.ask("GET", "/api/packs").header("if-none-match", tag).send().expect(304);
    let tag = mia.get("/api/packs").expect(200).header("etag").expect("a tag").to_owned();
    let unchanged = || mia.ask("GET", "/api/packs").header("if-none-match", &tag).send();
    unchanged().expect(304);
    give_points(&service, &mia, 10, "two");
    buy(&mia, "day", 1, "two").expect(201);
    unchanged().expect(200);
    Ok(())
}

fn purchases_carry_their_pack(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let bought = buy(&mia, "gala", 1, "one").expect(201);
    let known = pack(&mia, "gala");
    let card = json!({
        "id": known["id"], "key": "gala", "name": known["name"], "imageUrl": known["imageUrl"],
    });
    assert_eq!(bought.at("/purchase/pack"), card);
    let id = bought.str_at("/purchase/id");
    assert_eq!(mia.get(&format!("/api/user/purchases/{id}")).expect(200).at("/purchase/pack"), card);
    assert_eq!(mia.get("/api/user/purchases").expect(200).at("/purchases/0/pack"), card);
    Ok(())
}

fn a_pending_purchase_is_given_up(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let remaining = || pack(&mia, "gala")["remaining"].clone();
    let free = remaining();
    let bought = buy(&mia, "gala", 2, "two").expect(201);
    let purchase = bought.str_at("/purchase/id");
    assert_ne!(remaining(), free);
    let page = bought.str_at("/purchase/checkoutUrl").replace(&service.url(), "");
    let cancelled = cancel(&mia, &purchase).expect(200);
    assert_eq!(
        [cancelled.at("/purchase/status"), cancelled.at("/purchase/checkoutUrl")],
        [json!("cancelled"), Value::Null]
    );
    assert_eq!(cancelled.at("/purchase/pack/key"), "gala");
    assert_eq!(
        cancelled.json(),
        json!({"purchase": mia.get(&format!("/api/user/purchases/{purchase}")).expect(200).at("/purchase")})
    );
    assert_eq!(remaining(), free);
    // The checkout is closed: the buyer can no longer pay.
    let approve = mia.ask("POST", &page).body("application/x-www-form-urlencoded", "decision=approve");
    approve.send().problem(409, "conflict");
    complete(&mia, "gala", &purchase).problem(409, "purchase_cancelled");
    cancel(&mia, &purchase).problem(409, "purchase_cancelled");
    // A payment that arrives nevertheless is refunded.
    send_notice(&service, &message(&bought, "paid", "late")).expect(204);
    assert_eq!(status(&mia, &purchase), "refunded");
    cancel(&mia, &purchase).problem(409, "purchase_refunded");
    Ok(())
}

fn a_purchase_that_is_not_pending_or_not_ones_own_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (mia, bo) = (fan(&service, "mia"), fan(&service, "bo_"));
    give_points(&service, &mia, 10, "one");
    let points = buy(&mia, "day", 1, "points").expect(201).str_at("/purchase/id");
    cancel(&mia, &points).problem(409, "already_paid");
    let bought = buy(&mia, "gala", 1, "one").expect(201);
    let purchase = bought.str_at("/purchase/id");
    cancel(&bo, &purchase).problem(404, "not_found");
    cancel(&service.browser(), &purchase).problem(401, "authentication_required");
    cancel(&mia, UNKNOWN).problem(404, "not_found");
    cancel(&mia, "seven").problem(400, "invalid_request");
    assert_eq!(status(&mia, &purchase), "pending");
    send_notice(&service, &message(&bought, "paid", "paid")).expect(204);
    cancel(&mia, &purchase).problem(409, "already_paid");
    assert_eq!(status(&mia, &purchase), "completed");
    Ok(())
}
