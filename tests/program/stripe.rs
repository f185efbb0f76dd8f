//! `--payments stripe`: the program beside a server that stands in for Stripe, what it refuses to start without, and that it
//! shows no secret anywhere (spec §1, shop).

use anyhow::{Context, Result};
use serde_json::json;
use terrace_testkit::kernel::{Clock, Timestamp};
use terrace_testkit::{
    Client, DatabaseKind, Invocation, Request, StripeEvent, StripeFault, StripeStandIn, TestDatabase,
    on_each_database,
};

on_each_database! {
    orders_are_paid_at_stripe_and_no_secret_is_logged,
    disputes_are_listed_until_they_are_decided,
    stripe_needs_its_secrets_and_an_address_for_its_page,
}

/// The machine's clock, which the program uses.
struct Now;

impl Clock for Now {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the program beside it goes by this clock, too")]
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// The stand-in goes by the machine's clock, as the program does.
pub(crate) fn follow_the_machine(stand_in: &StripeStandIn) {
    stand_in.follow(Now);
}

/// The program with the demo's content, paid by the stand-in.
pub(crate) fn invocation(database: &TestDatabase, stand_in: &StripeStandIn) -> Result<Invocation> {
    let invocation = Invocation::on(database.url())?;
    let [key, secret] = ["key", "webhook"].map(|name| invocation.folder().join(format!("stripe-{name}")));
    std::fs::write(&key, format!("{}\n", StripeStandIn::KEY))?;
    std::fs::write(&secret, format!("{}\n", StripeStandIn::WEBHOOK_SECRET))?;
    Ok(invocation
        .env("TERRACE_DEMO", "always")
        // The command does what the job would do at its own time.
        .env("TERRACE_JOBS", "off")
        .env("TERRACE_PAYMENTS", "stripe")
        .env("TERRACE_PUBLIC_URL", "http://localhost:3004")
        .env("TERRACE_STRIPE_KEY_FILE", key.display().to_string())
        .env("TERRACE_STRIPE_WEBHOOK_SECRET_FILE", secret.display().to_string())
        .env("TERRACE_STRIPE_API", stand_in.api())
        .env("RUST_LOG", "trace"))
}

/// The request with an event, as Stripe sends it.
pub(crate) fn signed<'c>(client: &'c Client, stand_in: &StripeStandIn, event: &StripeEvent) -> Request<'c> {
    let request = client.ask("POST", "/api/webhooks/payments").body("application/json", event.body.clone());
    request.header("stripe-signature", stand_in.sign(&event.body))
}

/// Sends the events that have happened.
pub(crate) fn deliver(client: &Client, stand_in: &StripeStandIn) {
    for event in stand_in.take_events() {
        signed(client, stand_in, &event).send().expect(204);
    }
}

/// The id of a digital variant whose first price is in money.
pub(crate) fn for_money(client: &Client) -> Result<String> {
    let products = client.get("/api/products").expect(200).list("/products");
    let is_for_money = |product: &serde_json::Value| {
        product["kind"] == "digital" && product["variants"][0]["prices"][0]["parts"][0]["kind"] == "money"
    };
    let product = products.iter().find(|product| is_for_money(product)).context("nothing for money")?;
    product["variants"][0]["id"].as_str().map(str::to_owned).context("no id")
}

/// Orders something for money; returns the order, and its page if its checkout began.
fn order(client: &Client, key: &str) -> Result<(Option<String>, Option<String>)> {
    let variant = for_money(client)?;
    client.put(&format!("/api/cart/lines/{variant}"), &json!({"quantity": 1})).expect(200);
    let quote = client.get("/api/cart").expect(200).at("/cart/quote");
    let request = client.ask("POST", "/api/checkout").header("idempotency-key", key);
    // It may be 503.
    let answer = request.json(&json!({"quote": quote})).may_break().send().json();
    let text = |field: &str| answer["order"][field].as_str().map(str::to_owned);
    Ok((text("id"), text("checkoutUrl")))
}

fn orders_are_paid_at_stripe_and_no_secret_is_logged(kind: DatabaseKind) -> Result<()> {
    let stand_in = StripeStandIn::start()?;
    follow_the_machine(&stand_in);
    let database = TestDatabase::empty(kind)?;
    let invocation = invocation(&database, &stand_in)?;
    let mut program = invocation.serve()?;
    let mia = program.client();
    mia.register("at-stripe");
    stand_in.fail_next(StripeFault::Lost { after: false });
    assert_eq!(order(&mia, "one")?, (None, None), "503");
    let (id, page) = order(&mia, "one")?;
    let (id, page) = (id.context("no order")?, page.context("no page")?);
    assert!(stand_in.pay(&page));
    deliver(&program.client(), &stand_in);
    let status = || mia.get(&format!("/api/user/orders/{id}")).expect(200).str_at("/order/status");
    assert_eq!(status(), "completed");
    let refunded = invocation.clone().args(["order", "refund", &id, "--line", "1"]).run()?.succeeded()?;
    assert!(refunded.contains("of line 1: owed"), "{refunded}");
    let retried = invocation.clone().args(["order", "refund", &id, "--retry"]).run()?;
    assert!(retried.words().contains("none of its refunds has failed"), "{}", retried.words());
    let reconciled = invocation.clone().args(["maintain", "reconcile"]).run()?.succeeded()?;
    assert!(reconciled.contains("1 payments given back"), "{reconciled}");
    assert!(stand_in.return_refund(&page));
    deliver(&program.client(), &stand_in);
    let shown = invocation.clone().args(["order", "show", &id]).run()?.succeeded()?;
    assert!(shown.contains("of line 1: failed"), "{shown}");
    invocation.clone().args(["order", "refund", &id, "--retry"]).run()?.succeeded()?;
    invocation.clone().args(["maintain", "reconcile"]).run()?.succeeded()?;
    let shown_to_fan = mia.get(&format!("/api/user/orders/{id}")).expect(200);
    assert_eq!(shown_to_fan.at("/order/refunds/0/status"), json!("given"));
    let doctor = invocation.clone().args(["doctor"]).run()?.words();
    assert!(doctor.contains("go to Stripe with a test key"), "{doctor}");
    let metrics = program.client().get("/metrics").expect(200).text();
    assert!(metrics.contains("terrace_orders{state=\"refunded\"}"), "{metrics}");
    let log = program.log()?;
    assert!(log.contains("was not begun"), "the failed request is logged");
    for secret in [StripeStandIn::KEY, StripeStandIn::WEBHOOK_SECRET] {
        // A part of it as well: dumps of messages break their lines anywhere.
        for part in secret.as_bytes().windows(8).skip(8).filter_map(|part| std::str::from_utf8(part).ok()) {
            for text in [&log, &metrics, &doctor, &shown, &reconciled] {
                assert!(!text.contains(part), "{part:?} of a secret is shown");
            }
        }
    }
    program.stop()?;
    Ok(())
}

fn disputes_are_listed_until_they_are_decided(kind: DatabaseKind) -> Result<()> {
    let stand_in = StripeStandIn::start()?;
    follow_the_machine(&stand_in);
    let database = TestDatabase::empty(kind)?;
    let invocation = invocation(&database, &stand_in)?;
    let program = invocation.serve()?;
    let listed = || invocation.clone().args(["order", "list", "--disputed"]).run()?.succeeded();
    let mut pages = Vec::new();
    for name in ["first-buyer", "second-buyer"] {
        let fan = program.client();
        fan.register(name);
        let (id, page) = order(&fan, "one")?;
        let (id, page) = (id.context("no order")?, page.context("no page")?);
        assert!(stand_in.pay(&page) && stand_in.dispute(&page));
        deliver(&program.client(), &stand_in);
        pages.push((id, page));
    }
    let both = listed()?;
    let lines: Vec<&str> = both.lines().collect();
    for (line, (id, _)) in lines.iter().zip(&pages) {
        assert!(line.starts_with(&format!("{id} ")) && line.contains(" order, "), "{both}");
        assert!(line.contains(" EUR: stripe "), "{both}");
    }
    let one = invocation.clone().args(["order", "list", "--disputed", "--limit", "1"]).run()?.succeeded()?;
    assert_eq!((lines.len(), one), (2, format!("{}\nthere are more\n", lines[0])));
    let both_filters = ["order", "list", "--disputed", "--status", "paid"];
    assert_eq!(invocation.clone().args(both_filters).run()?.code, Some(2));
    for ((_, page), is_lost) in pages.iter().zip([true, false]) {
        assert!(stand_in.decide_dispute(page, is_lost));
    }
    deliver(&program.client(), &stand_in);
    assert_eq!(listed()?, "");
    Ok(())
}

fn stripe_needs_its_secrets_and_an_address_for_its_page(kind: DatabaseKind) -> Result<()> {
    let stand_in = StripeStandIn::start()?;
    let database = TestDatabase::empty(kind)?;
    let whole = invocation(&database, &stand_in)?;
    for (missing, words) in [
        ("TERRACE_STRIPE_KEY_FILE", "needs --stripe-key-file"),
        ("TERRACE_STRIPE_WEBHOOK_SECRET_FILE", "needs --stripe-webhook-secret-file"),
        ("TERRACE_PUBLIC_URL", "needs --public-url"),
    ] {
        let mut begun = whole.clone().without_env(missing).args(["serve"]).begin()?;
        let ended = begun.wait()?;
        assert!(ended.words().contains(words), "{missing}: {}", ended.words());
    }
    Ok(())
}
