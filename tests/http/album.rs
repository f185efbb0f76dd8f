//! The contract under "Packs and collectibles" (spec §4): the album, sealed copies, and collections of other fans.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use terrace_testkit::{Answer, CRON_SECRET, Client, DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    the_album_has_every_collectible_of_packs_that_were_on_sale,
    the_album_counts_the_readers_copies,
    pages_of_the_album_go_to_the_end,
    copies_are_listed_by_their_state,
    the_collection_of_a_fan_can_be_hidden,
    a_collection_is_hidden_with_its_fan,
    invalid_requests_for_collections_are_refused,
}

const ALBUM: &str = "/api/collectibles";

/// A fan with points for ten copies of the pack `day`.
fn collector(service: &TestService, name: &str) -> (Client, String) {
    let client = service.client();
    let id = client.register(name);
    let award = json!({"userId": id, "amount": 100, "reason": "A ticket", "source": "import:ticket"});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
    (client, id)
}

fn pack(client: &Client, key: &str) -> String {
    let packs = client.get("/api/packs").expect(200).list("/packs");
    let pack = packs.iter().find(|pack| pack["key"] == key).expect("the pack");
    pack["id"].as_str().expect("an id").to_owned()
}

fn buy(client: &Client, quantity: u32) {
    let path = format!("/api/packs/{}/purchase", pack(client, "day"));
    client
        .ask("POST", &path)
        .header("idempotency-key", "buy")
        .json(&json!({"quantity": quantity}))
        .send()
        .expect(201);
}

fn open(client: &Client, key: &str) -> Answer {
    let path = format!("/api/packs/{}/open", pack(client, "day"));
    client.ask("POST", &path).header("idempotency-key", key).send().expect(200)
}

fn keys(answer: &Answer) -> Vec<String> {
    let entries = answer.list("/collectibles");
    entries.iter().map(|entry| entry["collectible"]["key"].as_str().expect("a key").to_owned()).collect()
}

fn the_album_has_every_collectible_of_packs_that_were_on_sale(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let visitor = service.client();
    let album = visitor.get(ALBUM).expect(200);
    assert_eq!(keys(&album), ["scarf", "rattle", "pennant", "badge", "cup", "medal"]);
    for entry in album.list("/collectibles") {
        assert_eq!([&entry["owned"], &entry["firstAcquiredAt"]], [&Value::Null, &Value::Null]);
    }
    let medal = &album.list("/collectibles")[5];
    assert_eq!([&medal["edition"], &medal["collectible"]["rarity"]], [&json!(5), &json!("legendary")]);
    let of = |query: &str| keys(&visitor.get(&format!("{ALBUM}?{query}")).expect(200));
    let (day, over) = (pack(&visitor, "day"), pack(&visitor, "cups"));
    assert_eq!(of(&format!("packId={day}")), ["scarf", "rattle", "pennant", "badge"]);
    assert_eq!(of(&format!("packId={over}")), ["scarf", "cup"]);
    assert_eq!(of("rarity=legendary"), ["cup", "medal"]);
    assert_eq!(of(&format!("packId={day}&rarity=legendary")), Vec::<String>::new());
    for unknown in [format!("packId={UNKNOWN}"), format!("teamId={UNKNOWN}")] {
        assert_eq!(of(&unknown), Vec::<String>::new());
    }
    let teams = visitor.get("/api/teams").expect(200).list("/teams");
    for team in teams {
        let of_team =
            visitor.get(&format!("{ALBUM}?teamId={}", team["id"].as_str().expect("an id"))).expect(200);
        assert!(
            of_team.list("/collectibles").iter().all(|entry| entry["collectible"]["teamId"] == team["id"])
        );
    }
    // A pack that was not on sale yet reveals nothing.
    let book = service.run(service.app().pack_book())?;
    let early = book.packs().iter().find(|pack| pack.key.as_str() == "early").expect("the pack").id;
    assert_eq!(of(&format!("packId={early}")), Vec::<String>::new());
    Ok(())
}

fn the_album_counts_the_readers_copies(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, _), (bo, _)) = (collector(&service, "mia"), collector(&service, "bo_"));
    let empty = mia.get(ALBUM).expect(200);
    assert!(empty.list("/collectibles").iter().all(|entry| entry["owned"] == 0));
    buy(&mia, 5);
    let mut owned: BTreeMap<String, (i64, String)> = BTreeMap::new();
    for n in 0..5 {
        let opened = open(&mia, &n.to_string());
        for one in opened.list("/collectibles") {
            let name = one["collectible"]["key"].as_str().expect("a key").to_owned();
            let at = one["acquiredAt"].as_str().expect("a time").to_owned();
            owned.entry(name).or_insert((0, at)).0 += 1;
        }
    }
    let album = mia.get(ALBUM).expect(200);
    for entry in album.list("/collectibles") {
        let known = owned.get(entry["collectible"]["key"].as_str().expect("a key"));
        let expected = known.map_or([json!(0), Value::Null], |(count, first)| [json!(count), json!(first)]);
        assert_eq!([entry["owned"].clone(), entry["firstAcquiredAt"].clone()], expected);
    }
    assert!(bo.get(ALBUM).expect(200).list("/collectibles").iter().all(|entry| entry["owned"] == 0));
    let tag = album.header("etag").expect("a tag").to_owned();
    mia.ask("GET", ALBUM).header("if-none-match", &tag).send().expect(304);
    bo.ask("GET", ALBUM).header("if-none-match", &tag).send().expect(200);
    Ok(())
}

fn pages_of_the_album_go_to_the_end(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let visitor = service.client();
    let whole = keys(&visitor.get(ALBUM).expect(200));
    for limit in [1, 2, 5, 6] {
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = visitor.get(&format!("{ALBUM}?limit={limit}{cursor}")).expect(200);
            paged.extend(keys(&page));
            let Some(next) = page.at("/nextCursor").as_str().map(str::to_owned) else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(paged, whole, "limit {limit}");
    }
    let next = visitor.get(&format!("{ALBUM}?limit=1")).expect(200).str_at("/nextCursor");
    visitor.get(&format!("{ALBUM}?rarity=common&cursor={next}")).problem(400, "invalid_request");
    Ok(())
}

fn copies_are_listed_by_their_state(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, _) = collector(&service, "mia");
    buy(&mia, 3);
    let opened = open(&mia, "one").at("/userPack/id");
    let of = |query: &str| -> Vec<Value> {
        let list = mia.get(&format!("/api/user/packs{query}")).expect(200).list("/packs");
        list.into_iter().map(|copy| copy["id"].clone()).collect()
    };
    let all = of("");
    assert_eq!((all.len(), of("?status=opened"), of("?status=revoked").len()), (3, vec![opened.clone()], 0));
    let sealed: Vec<Value> = all.iter().filter(|id| **id != opened).cloned().collect();
    assert_eq!(of("?status=sealed"), sealed);
    let first = mia.get("/api/user/packs?status=sealed&limit=1").expect(200);
    let cursor = first.str_at("/nextCursor");
    assert_eq!(of(&format!("?status=sealed&limit=1&cursor={cursor}")), sealed[1..]);
    mia.get(&format!("/api/user/packs?cursor={cursor}")).problem(400, "invalid_request");
    for wrong in ["shut", "", "Sealed", "sealed&status=opened"] {
        mia.get(&format!("/api/user/packs?status={wrong}")).problem(400, "invalid_request");
    }
    Ok(())
}

fn the_collection_of_a_fan_can_be_hidden(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, id), bo, visitor) = (collector(&service, "mia"), service.fan("bo_"), service.client());
    let path = format!("/api/users/{id}/collectibles");
    assert_eq!(visitor.get(&path).expect(200).json(), json!({"collectibles": [], "nextCursor": null}));
    buy(&mia, 2);
    for key in ["one", "two"] {
        open(&mia, key);
    }
    assert_eq!(mia.get("/api/user").expect(200).at("/collectionVisible"), true);
    let own = mia.get("/api/user/collectibles").expect(200).list("/collectibles");
    for client in [&mia, &bo, &visitor] {
        let shown = client.get(&path).expect(200).list("/collectibles");
        assert_eq!(shown.len(), own.len());
        for (shown, own) in shown.iter().zip(&own) {
            for name in ["id", "collectible", "serial", "edition", "acquiredAt", "source"] {
                assert_eq!(shown[name], own[name], "{name}");
            }
            // The copy that it came from stays the owner's.
            assert_eq!(shown.get("userPackId"), None);
        }
        let first = client.get(&format!("{path}?limit=3")).expect(200);
        let rest = client.get(&format!("{path}?limit=3&cursor={}", first.str_at("/nextCursor"))).expect(200);
        assert_eq!(rest.list("/collectibles"), shown[3..]);
    }
    let changed = mia.patch("/api/user", &json!({"collectionVisible": false})).expect(200);
    assert_eq!(changed.at("/collectionVisible"), false);
    mia.get(&path).expect(200);
    for client in [&bo, &visitor] {
        let hidden = client.get(&path).problem(404, "not_found");
        let unknown = client.get(&format!("/api/users/{UNKNOWN}/collectibles")).problem(404, "not_found");
        assert_eq!(hidden.at("/detail"), unknown.at("/detail"), "as if there were no such fan");
        // The rest of the profile stays visible.
        client.get(&format!("/api/users/{id}")).expect(200);
    }
    assert_eq!(mia.get("/api/user/export").expect(200).at("/profile/collectionVisible"), false);
    mia.patch("/api/user", &json!({"bio": "Row 14."})).expect(200);
    visitor.get(&path).problem(404, "not_found");
    mia.patch("/api/user", &json!({"collectionVisible": true})).expect(200);
    visitor.get(&path).expect(200);
    for wrong in [json!("no"), Value::Null, json!(0)] {
        let refused =
            mia.patch("/api/user", &json!({"collectionVisible": wrong})).problem(400, "invalid_request");
        assert_eq!(refused.pointers(), ["/collectionVisible"]);
    }
    Ok(())
}

fn a_collection_is_hidden_with_its_fan(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, id), bo) = (collector(&service, "mia"), service.fan("bo_"));
    let path = format!("/api/users/{id}/collectibles");
    let other = bo.get("/api/user").expect(200).str_at("/id");
    mia.post("/api/user/block", &json!({"userId": other})).expect(200);
    bo.get(&path).problem(404, "not_found");
    mia.get(&format!("/api/users/{other}/collectibles")).problem(404, "not_found");
    service.client().get(&path).expect(200);
    mia.ask("DELETE", "/api/user/block").json(&json!({"userId": other})).send().expect(200);
    bo.get(&path).expect(200);
    mia.ask("DELETE", "/api/user").json(&json!({"password": PASSWORD})).send().expect(204);
    bo.get(&path).problem(404, "not_found");
    Ok(())
}

fn invalid_requests_for_collections_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let visitor = service.client();
    for query in [
        "rarity=mythic",
        "packId=x",
        "teamId=x",
        "limit=x",
        "cursor=x",
        "owned=1",
        "rarity=common&rarity=rare",
    ] {
        visitor.get(&format!("{ALBUM}?{query}")).problem(400, "invalid_request");
    }
    visitor.get(&format!("{ALBUM}?limit=101")).problem(422, "validation_failed");
    visitor.get("/api/users/mia/collectibles").problem(400, "invalid_request");
    visitor.get(&format!("/api/users/{UNKNOWN}/collectibles?rarity=rare")).problem(400, "invalid_request");
    visitor.get("/api/user/packs?status=sealed").problem(401, "authentication_required");
    Ok(())
}
