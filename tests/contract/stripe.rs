//! Contract part 2 §3, the Stripe adapter, against a server that behaves as Stripe's documents say (spec §1, shop): what is asked
//! for, what happens when an answer is lost or stored, and what its events change.

use super::carts::{put, ship_to};
use super::ledger::in_order;
use super::orders::{checkout, give_points, journal, now, refunds};
use super::packs::give_coins;
use super::products::{load_in, shop_of};
use anyhow::Result;
use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use terrace_testkit::app::App;
use terrace_testkit::app::payments::{
    BegunCheckout, Checkout, CheckoutOrder, CheckoutRefusal, Header, NoticeFault, NoticeTaken, Payable,
    PaymentNotice, PaymentProvider, PaymentState, ProviderFault, RefundAnswer, RefundOrder, RefundState,
    RetryRefunds, lock_charge,
};
use terrace_testkit::app::platform::webhooks::WebhookSecret;
use terrace_testkit::app::shop::{FulfilOrder, Fulfilment, PlaceOrder, ShownOrder};
use terrace_testkit::app::store::{BoxFuture, Command, PaymentTx, StoredAnswer};
use terrace_testkit::kernel::{Clock, Ctx, Failure, Outcome, Timestamp, UserId};
use terrace_testkit::ops;
use terrace_testkit::outbound::{Stripe, StripeKey};
use terrace_testkit::shop::{Order, OrderId, OrderState};
use terrace_testkit::{
    DatabaseKind, Movements, StripeEvent, StripeFault, StripeStandIn, TestApp, on_each_database,
};

on_each_database! {
    a_checkout_names_each_line_and_nothing_else_can_be_paid,
    a_checkout_of_another_amount_is_closed_and_never_shown,
    a_stored_error_gets_another_key_and_a_lost_answer_the_same,
    a_checkout_can_be_repeated_from_another_origin,
    a_refund_is_made_once_however_its_answers_are_lost,
    a_lost_dispute_ends_the_refunds_that_were_not_made_and_only_those,
    currencies_without_decimals_are_paid_and_refunded_exactly,
    events_count_once_in_any_order_and_others_are_acknowledged,
    a_provider_that_never_answers_leaves_the_order,
    no_transaction_is_open_while_the_provider_is_asked,
}

/// A service with products that is paid by Stripe's stand-in.
pub(super) fn stripe_shop(kind: DatabaseKind) -> Result<(TestApp, StripeStandIn)> {
    let stand_in = StripeStandIn::start()?;
    let service = shop_of(TestApp::paid_to(kind, stand_in.provider())?);
    stand_in.follow(service.clock().clone());
    Ok((service, stand_in))
}

fn shown(shown: &ShownOrder) -> StoredAnswer {
    StoredAnswer { created: None, body: shown.order.checkout_url.clone().unwrap_or_default() }
}

pub(super) fn begin_checkout(service: &TestApp, order: &Order) -> Result<String, CheckoutRefusal> {
    begin_checkout_at(service, order, None)
}

/// Begins the checkout of a buyer who came by this origin.
fn begin_checkout_at(
    service: &TestApp,
    order: &Order,
    site: Option<&str>,
) -> Result<String, CheckoutRefusal> {
    let site = site.map(str::to_owned);
    let begun = service.app().begin_order_checkout(order.user, order.id, site, None, shown);
    match service.run(begun) {
        Ok(answer) => Ok(answer.body),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// Orders a fan's cart.
pub(super) fn place(service: &TestApp, user: UserId) -> Order {
    service.done(PlaceOrder { provider: Some(Stripe::NAME), ..checkout(service, user) }).order
}

/// Orders a purse, up to its checkout.
pub(super) fn purse(service: &TestApp, name: &str) -> (Order, String) {
    let mia = service.fan(name).id;
    put(service, mia, "purse", 1);
    let order = place(service, mia);
    let url = begin_checkout(service, &order).expect("a checkout");
    (order, url)
}

/// Delivers an event, as the webhook does; `None` if it is about no payment.
pub(super) fn deliver(
    app: &Arc<App>,
    stand_in: &StripeStandIn,
    event: &StripeEvent,
) -> impl Future<Output = Result<Option<NoticeTaken>, NoticeFault>> + Send {
    let (signature, body) = (stand_in.sign(&event.body), event.body.clone());
    let app = Arc::clone(app);
    async move {
        let header = |name: &str| (name == "stripe-signature").then_some(signature.as_str());
        let reading = app.read_notice(&header, &body).expect("a provider");
        match reading.await? {
            Some(notice) => Ok(Some(app.take_own_notice(notice).await.expect("a working store"))),
            None => Ok(None),
        }
    }
}

pub(super) fn deliver_all(service: &TestApp, stand_in: &StripeStandIn) -> Vec<NoticeTaken> {
    let events = stand_in.take_events();
    let taken = events
        .iter()
        .filter_map(|event| service.run(deliver(service.app(), stand_in, event)).expect("an event"));
    taken.collect()
}

pub(super) fn movements(stand_in: &StripeStandIn, order: OrderId) -> Movements {
    stand_in.movements(&format!("order_{order}"))
}

pub(super) fn refund(service: &TestApp, order: OrderId) {
    service.done(FulfilOrder { order, line: None, fulfilment: Fulfilment::Refund });
}

pub(super) fn reconcile(service: &TestApp) -> u64 {
    service.run(ops::reconcile(service.app())).expect("a working store").refunded
}

fn a_checkout_names_each_line_and_nothing_else_can_be_paid(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    let mia = service.fan("mia").id;
    ship_to(&service, mia, "DE");
    put(&service, mia, "shirt/m", 2);
    service.clock().advance(Duration::from_millis(1));
    put(&service, mia, "purse", 1);
    let order = place(&service, mia);
    let url = begin_checkout(&service, &order).expect("a checkout");
    assert_eq!(now(&service, order.id).checkout_url.as_deref(), Some(url.as_str()));
    let form = stand_in.last_checkout();
    let field = |name: &str| form.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let reference = format!("order_{}", order.id);
    let page = format!("https://fans.example/orders/{}", order.id);
    for (name, value) in [
        ("mode", "payment"),
        ("client_reference_id", &reference),
        ("payment_method_types[0]", "card"),
        ("adaptive_pricing[enabled]", "false"),
        ("allow_promotion_codes", "false"),
        ("success_url", &page),
        ("cancel_url", &page),
        ("line_items[0][price_data][unit_amount]", "5000"),
        ("line_items[0][price_data][currency]", "eur"),
        ("line_items[0][price_data][product_data][name]", "2 × Shirt, Size M"),
        ("line_items[1][price_data][unit_amount]", "499"),
        ("line_items[2][price_data][unit_amount]", "490"),
        ("line_items[2][price_data][product_data][name]", "Post"),
    ] {
        assert_eq!(field(name), Some(value), "{name}");
    }
    assert_eq!(field("line_items[3][quantity]"), None);
    let expires: i64 = field("expires_at").expect("an end").parse()?;
    assert!(expires * 1_000_000 >= service.clock().now().plus(Duration::from_mins(31)).as_micros());
    assert_eq!(stand_in.keys(), [format!("checkout:{}:0", order.id)]);
    assert!(stand_in.pay(&url) && !stand_in.pay(&url));
    assert_eq!(deliver_all(&service, &stand_in), [NoticeTaken::Applied]);
    assert_eq!(now(&service, order.id).state, OrderState::Paid);
    assert_eq!(movements(&stand_in, order.id), Movements { paid: 5989, returned: 0, payments: 1 });
    in_order(&service);
    Ok(())
}

fn a_checkout_of_another_amount_is_closed_and_never_shown(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let order = place(&service, mia);
    stand_in.answer_another_amount();
    assert_eq!(begin_checkout(&service, &order), Err(CheckoutRefusal::Unavailable));
    let after = now(&service, order.id);
    assert_eq!((after.state, after.checkout_url), (OrderState::Cancelled, None));
    assert!(stand_in.requests().iter().any(|request| request.ends_with("/expire")));
    Ok(())
}

fn a_stored_error_gets_another_key_and_a_lost_answer_the_same(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let order = place(&service, mia);
    let faults = [
        StripeFault::Lost { after: false },
        StripeFault::Stored { after: true },
        StripeFault::Busy(429),
        StripeFault::Busy(409),
        StripeFault::Stored { after: false },
        // The last one: its answer is repeated under its key.
        StripeFault::Lost { after: true },
    ];
    for fault in faults {
        stand_in.fail_next(fault);
        let begun = begin_checkout(&service, &order);
        assert_eq!(begun, Err(CheckoutRefusal::NotNow), "{fault:?}");
        assert_eq!(now(&service, order.id).state, OrderState::Pending);
    }
    let url = begin_checkout(&service, &order).expect("a checkout");
    let attempts: Vec<String> =
        stand_in.keys().iter().map(|key| key.rsplit(':').next().unwrap_or_default().to_owned()).collect();
    assert_eq!(attempts, ["0", "0", "1", "1", "1", "2", "2"]);
    assert!(stand_in.pay(&url));
    deliver_all(&service, &stand_in);
    assert_eq!(now(&service, order.id).state, OrderState::Completed);
    assert_eq!(movements(&stand_in, order.id).payments, 1);
    Ok(())
}

fn a_checkout_can_be_repeated_from_another_origin(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let order = place(&service, mia);
    stand_in.fail_next(StripeFault::Lost { after: true });
    let begun = begin_checkout_at(&service, &order, Some("http://localhost:3004"));
    assert_eq!(begun, Err(CheckoutRefusal::NotNow), "the answer is lost");
    let begun = begin_checkout_at(&service, &order, Some("http://127.0.0.1:3004"));
    assert_eq!(begun, Err(CheckoutRefusal::NotNow), "the key is that of another request");
    assert_eq!(now(&service, order.id).state, OrderState::Pending);
    let url = begin_checkout_at(&service, &order, Some("http://127.0.0.1:3004")).expect("a checkout");
    assert!(stand_in.pay(&url));
    deliver_all(&service, &stand_in);
    assert_eq!(now(&service, order.id).state, OrderState::Completed);
    assert_eq!(movements(&stand_in, order.id).payments, 1);
    Ok(())
}

fn a_refund_is_made_once_however_its_answers_are_lost(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    for (nth, fault) in [
        StripeFault::Lost { after: true },
        StripeFault::Lost { after: false },
        StripeFault::Stored { after: true },
        StripeFault::Stored { after: false },
        StripeFault::Busy(409),
    ]
    .into_iter()
    .enumerate()
    {
        let (order, url) = purse(&service, &format!("mia{nth}"));
        assert!(stand_in.pay(&url));
        deliver_all(&service, &stand_in);
        refund(&service, order.id);
        stand_in.fail_next(fault);
        assert_eq!(reconcile(&service), 0, "{fault:?}");
        let mut given = 0;
        for _ in 0..30 {
            service.clock().advance(Duration::from_hours(1));
            given += reconcile(&service);
        }
        assert_eq!(given, 1, "{fault:?}");
        assert_eq!(
            movements(&stand_in, order.id),
            Movements { paid: 499, returned: 499, payments: 1 },
            "{fault:?}"
        );
        assert_eq!(refunds(&service, order.id)[0].state, RefundState::Given);
        // The events say what is known.
        assert!(
            deliver_all(&service, &stand_in).iter().all(|taken| *taken == NoticeTaken::Nothing),
            "{fault:?}"
        );
    }
    // One that comes back is made again under another key.
    let (order, url) = purse(&service, "bo_");
    assert!(stand_in.pay(&url));
    deliver_all(&service, &stand_in);
    refund(&service, order.id);
    assert_eq!(reconcile(&service), 1);
    assert!(stand_in.return_refund(&url));
    deliver_all(&service, &stand_in);
    assert_eq!(refunds(&service, order.id)[0].state, RefundState::Failed);
    service.done(RetryRefunds { payable: order.id.into() });
    assert_eq!((reconcile(&service), movements(&stand_in, order.id).returned), (1, 499));
    let id = refunds(&service, order.id)[0].id;
    assert_eq!(
        stand_in.keys().iter().rev().take(2).collect::<Vec<_>>(),
        [&format!("refund:{id}:1"), &format!("refund:{id}")]
    );
    // A full refund in Stripe's dashboard ends the order as well.
    let (order, url) = purse(&service, "kim");
    assert!(stand_in.pay(&url) && stand_in.refund_in_dashboard(&url));
    deliver_all(&service, &stand_in);
    assert_eq!(now(&service, order.id).state, OrderState::Refunded);
    assert_eq!(journal(&service, &order), [Some(499); 2]);
    in_order(&service);
    Ok(())
}

/// Two refunds were requested, and neither was answered: one was made before the dispute, the other one was not.
fn a_lost_dispute_ends_the_refunds_that_were_not_made_and_only_those(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    for made in [0, 1] {
        let mia = service.fan(&format!("mia{made}")).id;
        give_points(&service, mia, 5);
        give_coins(&service, mia, 5);
        put(&service, mia, "bundle", 1);
        put(&service, mia, "purse", 2);
        let order = place(&service, mia);
        let url = begin_checkout(&service, &order).expect("a checkout");
        assert!(stand_in.pay(&url));
        deliver_all(&service, &stand_in);
        for line in [made, 1 - made] {
            let line = Some(order.lines[line].id);
            service.done(FulfilOrder { order: order.id, line, fulfilment: Fulfilment::Refund });
            stand_in.fail_next(StripeFault::Lost { after: line == Some(order.lines[made].id) });
            assert_eq!(reconcile(&service), 0);
        }
        let late = stand_in.take_events();
        assert!(stand_in.dispute(&url) && stand_in.decide_dispute(&url, true));
        deliver_all(&service, &stand_in);
        let paid = order.paid_by.card;
        assert_eq!(movements(&stand_in, order.id), Movements { paid, returned: paid, payments: 1 });
        service.clock().advance(Duration::from_hours(1));
        assert_eq!(reconcile(&service), 2, "{made}");
        for event in &late {
            service.run(deliver(service.app(), &stand_in, event)).expect("an event");
        }
        let by_dispute = refunds(&service, order.id).into_iter().filter(|refund| {
            assert_eq!(refund.state, RefundState::Given, "{made}");
            refund.reference.as_ref().is_some_and(|reference| reference.starts_with("dp_"))
        });
        let by_dispute: Vec<_> = by_dispute.collect();
        let [unmade] = by_dispute.as_slice() else { panic!("{made}: {by_dispute:?}") };
        let (shares, _) = order.shares();
        assert_eq!(unmade.parts.card, shares[1 - made].card, "{made}");
        assert_eq!(journal(&service, &order), [Some(paid); 2], "{made}");
    }
    in_order(&service);
    Ok(())
}

fn currencies_without_decimals_are_paid_and_refunded_exactly(kind: DatabaseKind) -> Result<()> {
    for (code, price, at_stripe) in
        [("UGX", 3700, 370_000), ("ISK", 99, 9900), ("JPY", 499, 499), ("BHD", 1230, 1230)]
    {
        let (service, stand_in) = stripe_shop(kind)?;
        let content = format!(
            "[[product]]\nkey = \"pin\"\nname = \"Pin\"\nkind = \"digital\"\n[[product.variant]]\nkey = \"one\"\nname = \"One\"\n\
             prices = [[{{ kind = \"money\", amount = {price}, currency = \"EUR\" }}]]\n"
        );
        load_in(&service, &content, code);
        let mia = service.fan("mia").id;
        put(&service, mia, "pin", 1);
        let order = place(&service, mia);
        let url = begin_checkout(&service, &order).expect("a checkout");
        assert!(stand_in.pay(&url), "{code}");
        assert_eq!(deliver_all(&service, &stand_in), [NoticeTaken::Applied], "{code}");
        refund(&service, order.id);
        assert_eq!(reconcile(&service), 1, "{code}");
        let moved = Movements { paid: at_stripe, returned: at_stripe, payments: 1 };
        assert_eq!(movements(&stand_in, order.id), moved, "{code}");
        assert_eq!(journal(&service, &order), [Some(price); 2], "{code}");
        assert!(
            deliver_all(&service, &stand_in).iter().all(|taken| *taken == NoticeTaken::Nothing),
            "{code}"
        );
    }
    // What Stripe cannot take ends the order before anything is paid.
    let (service, _) = stripe_shop(kind)?;
    load_in(
        &service,
        "[[product]]\nkey = \"pin\"\nname = \"Pin\"\nkind = \"digital\"\n[[product.variant]]\nkey = \"one\"\nname = \"One\"\n\
         prices = [[{ kind = \"money\", amount = 1234, currency = \"EUR\" }]]\n",
        "BHD",
    );
    let mia = service.fan("mia").id;
    put(&service, mia, "pin", 1);
    let order = place(&service, mia);
    assert_eq!(begin_checkout(&service, &order), Err(CheckoutRefusal::Unavailable));
    Ok(())
}

fn events_count_once_in_any_order_and_others_are_acknowledged(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    let take = |event: &StripeEvent| service.run(deliver(service.app(), &stand_in, event));
    let changed = |event: &StripeEvent, from: &str, to: &str| {
        let text = String::from_utf8_lossy(&event.body).replace(from, to);
        StripeEvent { body: text.into_bytes() }
    };
    let (order, url) = purse(&service, "mia");
    assert!(stand_in.pay(&url));
    let [unknown, paid] = stand_in.take_events().try_into().expect("two events");
    assert_eq!(take(&unknown), Ok(None), "a kind that says nothing of a payment");
    for (from, to) in [
        ("\"livemode\":false", "\"livemode\":true"),
        (&*order.id.to_string(), "order-of-another-program"),
        ("\"payment_status\":\"paid\"", "\"payment_status\":\"unpaid\""),
        ("checkout.session.completed", "checkout.session.invented"),
    ] {
        assert_eq!(take(&changed(&paid, from, to)), Ok(None), "{from}");
    }
    let other = OrderId::from_uuid(order.user.as_uuid()).to_string();
    for (nth, (from, to)) in [
        ("\"amount_total\":499", "\"amount_total\":498"),
        ("\"currency\":\"eur\"", "\"currency\":\"usd\""),
        (&*order.id.to_string(), &*other),
        ("\"id\":\"cs_test", "\"id\":\"cs_another"),
    ]
    .into_iter()
    .enumerate()
    {
        let event = changed(&changed(&paid, from, to), "\"id\":\"evt_", &format!("\"id\":\"evt_{nth}_"));
        assert!(matches!(take(&event), Ok(Some(NoticeTaken::Mismatch(_)))), "{from}");
    }
    assert_eq!(now(&service, order.id).state, OrderState::Pending);
    assert_eq!([take(&paid), take(&paid)], [Ok(Some(NoticeTaken::Applied)), Ok(Some(NoticeTaken::Before))]);

    // Unsigned, forged, stale, and without a body that can be read.
    let read = |signature: Option<String>, body: &[u8]| {
        let header = |name: &str| signature.as_deref().filter(|_| name == "stripe-signature");
        service
            .run(service.app().read_notice(&header, body).expect("a provider"))
            .map(|notice| notice.is_some())
    };
    assert_eq!(read(None, &paid.body), Err(NoticeFault::Unsigned));
    let forged = WebhookSecret::new(&"x".repeat(40))?;
    assert!(matches!(
        read(Some(forged.sign(service.clock().now(), &paid.body)), &paid.body),
        Err(NoticeFault::Signature(_))
    ));
    let right = StripeStandIn::secret();
    for (age, is_fresh) in [(299, true), (301, false), (-299, true), (-301, false)] {
        let at = Timestamp::from_micros(service.clock().now().as_micros() - age * 1_000_000);
        assert_eq!(read(Some(right.sign(at, &paid.body)), &paid.body).is_ok(), is_fresh, "{age}");
    }
    // Any of several signatures counts, as while a secret is exchanged.
    let signature = right.sign(service.clock().now(), &paid.body);
    let (time, digits) = signature.split_once(',').expect("two parts");
    let both = format!("{time},v1={},{digits},v0=anything", "0".repeat(64));
    assert_eq!(read(Some(both), &paid.body), Ok(true));
    let garbage = b"{\"id\":1}";
    assert!(matches!(
        read(Some(right.sign(service.clock().now(), garbage)), garbage),
        Err(NoticeFault::Malformed(_))
    ));

    // Events of charges are looked up; while Stripe does not answer, they are to be sent again.
    assert!(stand_in.dispute(&url));
    let [opened] = stand_in.take_events().try_into().expect("one event");
    stand_in.fail(100, 7);
    assert!(matches!(take(&opened), Err(NoticeFault::NotNow(_))));
    stand_in.fail(0, 7);
    assert_eq!(take(&opened), Ok(Some(NoticeTaken::Applied)));
    assert!(stand_in.decide_dispute(&url, true));
    deliver_all(&service, &stand_in);
    assert_eq!(
        (now(&service, order.id).state, movements(&stand_in, order.id).returned),
        (OrderState::Refunded, 499)
    );
    assert_eq!(journal(&service, &order), [Some(499); 2]);
    in_order(&service);
    Ok(())
}

fn a_provider_that_never_answers_leaves_the_order(kind: DatabaseKind) -> Result<()> {
    // Connections are made and never read.
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let api = format!("http://{}", silent.local_addr()?).parse()?;
    let key = StripeKey::new(StripeStandIn::KEY)?;
    let stripe = Stripe::new(api, key, StripeStandIn::secret(), Duration::from_millis(200));
    let service = shop_of(TestApp::paid_to(kind, Arc::new(stripe))?);
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 5);
    put(&service, mia, "purse", 1);
    let order = place(&service, mia);
    let started = Instant::now();
    assert_eq!(begin_checkout(&service, &order), Err(CheckoutRefusal::NotNow));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(now(&service, order.id).state, OrderState::Pending);
    service.clock().advance(Duration::from_mins(36));
    reconcile(&service);
    assert_eq!(now(&service, order.id).state, OrderState::Expired, "its checkout never began");
    Ok(())
}

/// A provider that, before it answers, changes what it is asked about in a transaction of its own: that fails while another
/// transaction holds its locks.
struct Watching {
    inner: Arc<Stripe>,
    app: OnceLock<Arc<App>>,
}

struct Touch(Payable);

impl Command for Touch {
    const NAME: &'static str = "touch_order";
    type Ports = dyn PaymentTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentTx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        if let Some(charge) = lock_charge(tx, self.0)? {
            tx.lock_fan(charge.user)?;
        }
        if let Some(payment) = tx.payment(self.0)? {
            tx.put_payment(&payment)?;
        }
        Ok(())
    }
}

impl Watching {
    /// Locks the fan, the order and its payment.
    async fn look(&self, payable: Payable) {
        let app = self.app.get().expect("the service");
        let touch = Touch(payable);
        let locked = tokio::time::timeout(Duration::from_secs(20), app.execute(touch)).await;
        assert!(locked.is_ok_and(|done| done.is_ok()), "a transaction was open");
    }
}

impl PaymentProvider for Watching {
    fn name(&self) -> &'static str {
        Stripe::NAME
    }

    fn begin(&self, order: CheckoutOrder) -> BoxFuture<'_, Result<Checkout, ProviderFault>> {
        Box::pin(async move {
            self.look(order.payable).await;
            self.inner.begin(order).await
        })
    }

    fn look_up(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        Box::pin(async move {
            self.look(checkout.payable).await;
            self.inner.look_up(checkout).await
        })
    }

    fn close(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        Box::pin(async move {
            self.look(checkout.payable).await;
            self.inner.close(checkout).await
        })
    }

    fn refund(&self, refund: RefundOrder) -> BoxFuture<'_, Result<RefundAnswer, ProviderFault>> {
        Box::pin(async move {
            self.look(refund.checkout.payable).await;
            self.inner.refund(refund).await
        })
    }

    fn read_notice<'n>(
        &'n self,
        header: Header<'_>,
        body: &'n [u8],
        now: Timestamp,
    ) -> BoxFuture<'n, Result<Option<PaymentNotice>, NoticeFault>> {
        let reading = self.inner.read_notice(header, body, now);
        Box::pin(async move {
            let read = reading.await?;
            if let Some(notice) = &read {
                self.look(notice.payable).await;
            }
            Ok(read)
        })
    }
}

fn no_transaction_is_open_while_the_provider_is_asked(kind: DatabaseKind) -> Result<()> {
    let stand_in = StripeStandIn::start()?;
    let watching = Arc::new(Watching { inner: stand_in.provider(), app: OnceLock::new() });
    let provider: Arc<dyn PaymentProvider> = Arc::<Watching>::clone(&watching);
    let service = shop_of(TestApp::paid_to(kind, provider)?);
    stand_in.follow(service.clock().clone());
    assert!(watching.app.set(Arc::clone(service.app())).is_ok());
    // Every use case that asks: a checkout, a look-up, a cancellation, an expiry, a refund, and an event of a charge.
    let (order, url) = purse(&service, "mia");
    assert!(service.run(service.app().complete_order(order.user, order.id)).is_err());
    assert!(stand_in.pay(&url));
    assert!(service.run(service.app().complete_order(order.user, order.id)).is_ok());
    assert!(stand_in.dispute(&url) && stand_in.decide_dispute(&url, false));
    deliver_all(&service, &stand_in);
    refund(&service, order.id);
    assert_eq!(reconcile(&service), 1);
    let (order, _) = purse(&service, "bo_");
    assert!(service.run(service.app().cancel_order(order.user, order.id)).is_ok());
    let (order, _) = purse(&service, "kim");
    service.clock().advance(Duration::from_mins(36));
    reconcile(&service);
    assert_eq!(now(&service, order.id).state, OrderState::Expired);
    Ok(())
}
