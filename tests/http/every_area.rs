//! Fans who do something in every area over HTTP, so that the tables of each have rows.

use super::cart::{address, put, variant};
use super::media::media_id;
use super::mint_reports;
use super::orders::{check_out, message, quote};
use super::payments::{RECONCILE, buy, complete, decide, fan, page, send_notice};
use super::rewards::{self, claim, redeem, till};
use super::streams::settled;
use super::trivia::{self, join};
use super::wallets::transfer;
use super::wheels::{spin, wheel};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::kernel::Currency;
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::ops;
use terrace_testkit::outbound::PushNetwork;
use terrace_testkit::{
    CRON_SECRET, Client, DatabaseKind, PUSH_ENDPOINT, StandInWallets, TRIVIA_AFTER, TestService, push_body,
    push_sender, render_every_push, sandbox_secret,
};

/// A fan with a session of a browser, and the id of the account.
struct Player {
    client: Client,
    id: String,
}

fn player(service: &TestService, name: &str) -> Player {
    let client = fan(service, name);
    let id = client.get("/api/user").expect(200).str_at("/id");
    Player { client, id }
}

/// A service on which `mia`, `bo_` and `ada` have done something in every area.
pub(super) fn played(kind: DatabaseKind) -> Result<TestService> {
    let wallets = StandInWallets::new(&[]);
    wallets.holds(Some(&[("usdc", "12.5")]));
    let push = Arc::new(push_sender(PushNetwork::default()));
    let builder = TestService::builder(kind).with_sandbox().with_minter();
    let service = builder.wallets(wallets).push(push, render_every_push).start()?;
    let [mia, bo, ada] = ["mia", "bo_", "ada"].map(|name| player(&service, name));
    talk(&mia, &bo, &ada)?;
    earn(&service, &mia, &bo)?;
    collect(&service, &mia.client);
    shop(&service, &mia.client);
    claim_and_spin(&service, &mia);
    answer_questions(&service, &mia.client, &bo.client);
    hold_tokens(&service, &mia.client);
    keep_up(&service)?;
    mia.client.post("/api/notifications/read", &json!({"upTo": settled(&service)})).expect(200);
    settled(&service);
    Ok(service)
}

/// The locker room, the graph, notices and reports.
fn talk(mia: &Player, bo: &Player, ada: &Player) -> Result<()> {
    let (mia_id, mia, bo_id, bo) = (&mia.id, &mia.client, &bo.id, &bo.client);
    let key = mia.get("/api/push/key").expect(200).at("/keyId");
    mia.put("/api/push/subscription", &push_body(PUSH_ENDPOINT, &key)).expect(204);
    let quiet = json!({"kinds": {"follow": {"inApp": true, "push": false}}, "quietHours": null});
    mia.put("/api/notifications/preferences", &quiet).expect(200);
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.post("/api/user/follow", &json!({"userId": bo_id})).expect(200);
    mia.post("/api/user/follow", &json!({"teamId": team})).expect(200);
    bo.post("/api/user/follow", &json!({"userId": mia_id})).expect(200);
    mia.post("/api/user/block", &json!({"userId": ada.id})).expect(200);
    bo.delete(&format!("/api/user/recommended/{}", ada.id)).expect(204);
    let profile = json!({"favoriteTeamId": team, "bio": "Since 1897.", "timeZone": "Europe/Lisbon"});
    mia.patch("/api/user", &profile).expect(200);
    let picture =
        json!({"body": "What a save, @bo_! #derby", "mediaId": media_id(mia, 1), "imageAlt": "A save"});
    let post = mia.post("/api/locker-room", &picture).expect(201);
    let post = post.header("location").context("no location")?;
    let comment = bo.post(&format!("{post}/comments"), &json!({"body": "And the rebound!"})).expect(201);
    let comment = comment.header("location").context("no location")?;
    bo.post(&format!("{post}/react"), &json!({"kind": "fire"})).expect(200);
    mia.ask("POST", &format!("{comment}/like")).send().expect(200);
    let reply = json!({"body": "It was in.", "replyTo": comment.rsplit('/').next()});
    mia.post(&format!("{post}/comments"), &reply).expect(201);
    bo.post(&format!("{post}/report"), &json!({"reason": "It is an advertisement."})).expect(204);
    // Uploaded, and not used yet.
    media_id(bo, 2);
    Ok(())
}

/// Points, boards, visits and quests.
fn earn(service: &TestService, mia: &Player, bo: &Player) -> Result<()> {
    let cron = service.client().with_bearer(CRON_SECRET);
    for (fan, amount, source) in [(mia, 500, "import:season-ticket"), (bo, 300, "import:ticket")] {
        let award = json!({"userId": fan.id, "amount": amount, "reason": "A ticket", "source": source});
        cron.post("/api/cron/award-points", &award).expect(200);
        fan.client.post("/api/quests/daily-visit", &json!({})).expect(200);
    }
    let quests = mia.client.get("/api/quests").expect(200).list("/quests");
    for key in ["welcome", "matchday"] {
        let quest = quests.iter().find(|quest| quest["key"] == key).context("no quest")?;
        mia.client.post("/api/quests/start", &json!({"questId": quest["id"]})).expect(200);
        if key == "matchday" {
            let step = json!({"stepId": quest["steps"][0]["id"]});
            mia.client.post("/api/quests/complete-step", &step).expect(200);
        }
    }
    Ok(())
}

/// Packs for points, for coins and for money, their contents, and a token.
fn collect(service: &TestService, mia: &Client) {
    let bought = buy(mia, "day", 2, "a-day").expect(201);
    let pack = bought.str_at("/purchase/pack/id");
    let open = mia.ask("POST", &format!("/api/packs/{pack}/open")).header("idempotency-key", "open");
    let opened = open.json(&json!({})).send().expect(200);
    let minted = mint_reports::report("minted", &opened.str_at("/collectibles/0/id"), "minted").to_string();
    mint_reports::post(service, &sandbox_secret(), &minted).expect(204);
    let paid = buy(mia, "paid", 1, "a-paid").expect(201);
    decide(mia, &page(service, &paid), "approve").expect(303);
    complete(mia, "paid", &paid.str_at("/purchase/id")).expect(200);
    buy(mia, "gala", 1, "a-gala").expect(201);
}

/// Orders that are paid, one of which is given back, and a cart that is to be sent.
fn shop(service: &TestService, mia: &Client) {
    let (purse, _) = variant(mia, "purse");
    let [_, returned] = ["kept", "returned"].map(|key| {
        put(mia, &purse, &json!({"quantity": 1})).expect(200);
        let order = check_out(mia, key, &quote(mia)).expect(201);
        send_notice(service, &message(&order, "paid", key)).expect(204);
        order.str_at("/order/id")
    });
    mia.post(&format!("/api/user/orders/{returned}/cancel"), &json!({})).expect(200);
    service.client().with_bearer(CRON_SECRET).post(RECONCILE, &json!({})).expect(200);
    put(mia, &variant(mia, "shirt").0, &json!({"quantity": 2})).expect(200);
    mia.put("/api/cart/shipping", &json!({"method": "post", "address": address()})).expect(200);
}

/// Claims with codes of both kinds, one of them redeemed; spins; and a balance in money.
fn claim_and_spin(service: &TestService, mia: &Player) {
    rewards::coins(service, &mia.id, 200, "a-gift");
    let parties = (Holder::House(House::Issuance), Holder::Fan(mia.id.parse().expect("an id")));
    transfer(service, AccountKind::Money(Currency::EUR), parties, 500, "a-refund");
    let mia = &mia.client;
    rewards::fill_pool(service, "ticket", &["KOP-1", "KOP-2"]);
    claim(mia, &rewards::id(mia, "ticket"), "a-ticket").expect(201);
    let voucher = claim(mia, &rewards::id(mia, "voucher"), "a-voucher").expect(201);
    redeem(&till(service, "The kiosk"), &voucher.str_at("/claim/code")).expect(200);
    spin(mia, &wheel(mia, "daily"), "free", "a-free-spin").expect(201);
    spin(mia, &wheel(mia, "once"), "free", "the-jackpot").expect(201);
    spin(mia, &wheel(mia, "lucky"), "price", "a-paid-spin").expect(201);
}

/// A live round with two players and one answer, and the first question of a solo round.
fn answer_questions(service: &TestService, mia: &Client, bo: &Client) {
    let (live, solo) = (trivia::path(mia, "live"), trivia::path(mia, "solo"));
    join(mia, &live);
    join(bo, &live);
    service.clock().advance(TRIVIA_AFTER);
    trivia::publish(service);
    let question: Value = mia.get(&live).expect(200).at("/current/question");
    trivia::answer(mia, &live, &question, "a").expect(201);
    join(mia, &solo);
    trivia::next(mia, &solo).expect(200);
}

fn hold_tokens(service: &TestService, mia: &Client) {
    let wallet = mia.post("/api/wallets", &json!({"network": "polygon"})).expect(201);
    service.run(service.app().provide_wallets()).expect("a working store");
    mia.get(&format!("/api/wallets/{}", wallet.str_at("/wallet/id"))).expect(200);
}

/// What runs in the background of a process. When it ends, every round is over.
fn keep_up(service: &TestService) -> Result<()> {
    service.run(ops::backfill_topics(service.app()))?;
    service.clock().advance(Duration::from_hours(2));
    trivia::publish(service);
    for _ in 0..2 {
        settled(service);
        service.run(service.app().catch_up_consumers())?;
    }
    let cron = service.client().with_bearer(CRON_SECRET);
    for job in ["sync-trends", "sync-leaderboards"] {
        cron.ask("POST", &format!("/api/cron/{job}")).send().expect(200);
    }
    Ok(())
}
