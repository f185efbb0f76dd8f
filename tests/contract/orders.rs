//! Contract part 2 §3, checkout and orders (spec §1, shop): a cart becomes an order with its stock and its holds or nothing
//! happens, and what is paid is delivered or given back, once.

use super::carts::{cart, lines, put, put_priced, ship_to};
use super::deletion::{catch_up, delete};
use super::ledger::{balance, coins, in_order, moved};
use super::packs::give_coins;
use super::payments::{CASHIER, Cashier, reference};
use super::products::{load, shop_of, stock, variant};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::DeleteAccountRefusal;
use terrace_testkit::app::payments::{
    CloseReason, EndPending, NoticeKind, NoticeTaken, PaymentNotice, PaymentProvider, PaymentState,
    ProviderFault, Refund,
};
use terrace_testkit::app::shop::{
    CancelOrderRefusal, CompleteOrderRefusal, FindOrder, FulfilOrder, FulfilOrderRefusal, Fulfilment,
    PlaceOrder, PlaceOrderRefusal, ReadOrder, ShownOrder,
};
use terrace_testkit::app::store::StoredAnswer;
use terrace_testkit::kernel::{Clock, Failure, Money, PriceKind, UserId, Uuid};
use terrace_testkit::ledger::{AccountKind, Holder, House, TransferSource};
use terrace_testkit::ops;
use terrace_testkit::shop::{LineState, Order, OrderId, OrderState, PaidBy, Problem, Stock};
use terrace_testkit::{DatabaseKind, PASSWORD, PRODUCTS, TestApp, on_each_database};

on_each_database! {
    what_needs_no_card_is_paid_at_once,
    an_order_for_money_waits_and_a_paid_one_is_delivered,
    points_and_coins_are_held_and_given_back,
    a_quote_that_is_not_of_this_cart_moves_nothing,
    a_price_that_has_just_changed_moves_nothing,
    a_quote_of_yesterday_orders_only_what_is_still_sold,
    an_order_that_ends_returns_its_lines_and_its_stock,
    notices_in_any_order_end_in_one_state,
    late_money_is_given_back,
    a_paid_order_is_cancelled_within_its_time,
    operators_send_deliver_and_refund,
    three_orders_wait_at_most_and_abandoned_ones_count,
    a_provider_that_fails_leaves_an_order_that_can_be_paid,
    a_provider_that_answers_something_else_or_twice_pays_nothing_else,
    an_account_with_an_order_on_its_way_is_not_deleted,
    a_deleted_account_is_refunded,
}

/// A service with products, whose payment provider is the cashier.
pub(super) fn paid_shop(kind: DatabaseKind) -> Result<(TestApp, Arc<Cashier>)> {
    let cashier = Arc::new(Cashier::default());
    let provider: Arc<dyn PaymentProvider> = Arc::<Cashier>::clone(&cashier);
    Ok((shop_of(TestApp::paid_to(kind, provider)?), cashier))
}

/// The command that orders a fan's cart as it is.
pub(super) fn checkout(service: &TestApp, user: UserId) -> PlaceOrder {
    let quote = cart(service, user).cart.quote.unwrap_or_default();
    PlaceOrder {
        user,
        quote,
        use_balance: false,
        book: service.run(service.app().product_book()).expect("products"),
        provider: Some(CASHIER),
        new_account_age: Duration::ZERO,
        granter: service.run(service.app().granter()).expect("the packs"),
    }
}

fn shown(shown: &ShownOrder) -> StoredAnswer {
    StoredAnswer { created: None, body: shown.order.checkout_url.clone().unwrap_or_default() }
}

/// Orders a fan's cart, up to the point where the buyer has a checkout.
pub(super) fn begin(service: &TestApp, user: UserId) -> Order {
    let order = service.done(checkout(service, user)).order;
    service.run(service.app().begin_order_checkout(user, order.id, None, None, shown)).expect("a checkout");
    now(service, order.id)
}

pub(super) fn now(service: &TestApp, order: OrderId) -> Order {
    service.found(ReadOrder { order }).expect("an order").order
}

pub(super) fn notice(kind: NoticeKind, order: &Order) -> PaymentNotice {
    PaymentNotice {
        event_id: format!("evt_{kind}_{}", order.id.as_uuid().simple()),
        payable: order.id.into(),
        kind,
        money: order.card().expect("money"),
        reference: reference(order.id),
        occurred_at: order.created_at,
        detail: None,
    }
}

pub(super) fn notify(service: &TestApp, kind: NoticeKind, order: &Order) -> NoticeTaken {
    service.run(service.app().take_notice(CASHIER, notice(kind, order))).expect("a working store")
}

fn moved_by(service: &TestApp, source: &'static str, order: OrderId) -> Option<i64> {
    transferred(service, source, order.as_uuid())
}

/// What the transfer with this source has moved.
pub(super) fn transferred(service: &TestApp, source: &'static str, of: Uuid) -> Option<i64> {
    let source = TransferSource::of(source, of);
    service.ask(move |tx| tx.transfer_of(&source)).map(|moved| moved.amount.get())
}

/// What the provider has been paid and has given back, or owes.
pub(super) fn journal(service: &TestApp, order: &Order) -> [Option<i64>; 2] {
    let refunds = refunds(service, order.id);
    let given = refunds.iter().filter_map(|refund| transferred(service, "refund", refund.id.as_uuid())).sum();
    [moved_by(service, "payment", order.id), Some(given).filter(|_| !refunds.is_empty())]
}

/// The refunds of an order.
pub(super) fn refunds(service: &TestApp, order: OrderId) -> Vec<Refund> {
    service.found(ReadOrder { order }).expect("an order").refunds
}

/// Asserts that each hold of the order is settled exactly when the order no longer waits.
pub(super) fn holds_fit(service: &TestApp, order: OrderId) {
    let order = now(service, order);
    let PaidBy { points, coins, balance, .. } = order.paid_by;
    for (amount, hold, settle) in [
        (points, "hold_points", "settle_points"),
        (coins, "hold_coins", "settle_coins"),
        (balance, "hold_balance", "settle_balance"),
    ] {
        let held = Some(amount).filter(|amount| *amount > 0);
        let settled = held.filter(|_| order.state != OrderState::Pending);
        assert_eq!(moved_by(service, hold, order.id), held, "{hold}");
        assert_eq!(moved_by(service, settle, order.id), settled, "{settle}");
    }
}

/// Gives points that can be spent.
pub(super) fn give_points(service: &TestApp, fan: UserId, amount: i64) {
    let source = format!("points/{}", fan.as_uuid());
    let from_house = coins(Holder::House(House::Revenue), Holder::Fan(fan), amount, &source);
    moved(service, from_house.of(AccountKind::Points));
}

fn refusal(service: &TestApp, command: PlaceOrder) -> PlaceOrderRefusal {
    service.refused(command)
}

fn what_needs_no_card_is_paid_at_once(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    give_points(&service, mia, 25);
    give_coins(&service, mia, 250);
    put(&service, mia, "badge", 2);
    let badge = service.done(checkout(&service, mia)).order;
    assert_eq!(
        (badge.state, badge.paid_by),
        (OrderState::Completed, PaidBy { points: 20, ..PaidBy::default() })
    );
    assert_eq!(badge.lines[0].state, LineState::Delivered);
    assert_eq!(
        (balance(&service, mia, AccountKind::Points), stock(&service, "badge")),
        (5, Some(Stock { supply: 3, taken: 2 }))
    );
    assert_eq!(lines(&cart(&service, mia)), []);
    // What is sent waits for the operator.
    ship_to(&service, mia, "DE");
    put_priced(&service, mia, "shirt/m", 2, PriceKind::Coins);
    // Shipping costs money, and there is an order to pay by card.
    let shirt = begin(&service, mia);
    assert_eq!((shirt.state, shirt.paid_by.coins), (OrderState::Pending, 200));
    assert!(shirt.paid_by.card > 0);
    assert_eq!(notify(&service, NoticeKind::Paid, &shirt), NoticeTaken::Applied);
    let shirt = now(&service, shirt.id);
    assert_eq!((shirt.state, shirt.lines[0].state), (OrderState::Paid, LineState::Waiting));
    assert_eq!(balance(&service, mia, AccountKind::Coins), 50);
    for order in [badge.id, shirt.id] {
        holds_fit(&service, order);
    }
    assert!(matches!(refusal(&service, checkout(&service, mia)), PlaceOrderRefusal::Empty { pending: None }));
    put(&service, mia, "badge", 1);
    assert!(matches!(
        refusal(&service, checkout(&service, mia)),
        PlaceOrderRefusal::Problem(Problem::InsufficientBalance)
    ));
    put(&service, mia, "badge", 2);
    assert!(matches!(
        refusal(&service, checkout(&service, mia)),
        PlaceOrderRefusal::Problem(Problem::SoldOut)
    ));
    assert_eq!(cashier.asked("begin"), 1);
    in_order(&service);
    Ok(())
}

fn an_order_for_money_waits_and_a_paid_one_is_delivered(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 3);
    let order = begin(&service, mia);
    assert_eq!((order.state, order.paid_by.card), (OrderState::Pending, 3 * 499));
    assert_eq!(order.expires_at, Some(order.created_at.plus(Duration::from_mins(35))));
    assert_eq!(order.checkout_url, Some(format!("https://cashier.example/{}", order.id)));
    let pending = cart(&service, mia).pending.map(|order| order.id);
    assert_eq!((lines(&cart(&service, mia)), pending), (vec![], Some(order.id)));
    let waits = |service: &TestApp| match service.run(service.app().complete_order(mia, order.id)) {
        Err(Failure::Refused(CompleteOrderRefusal::NotPaid(state))) => state,
        other => panic!("{other:?}"),
    };
    assert_eq!(waits(&service), OrderState::Pending);
    // A look-up counts as a notice.
    cashier.books().states.insert(order.id.into(), PaymentState::Paid(order.card().expect("money")));
    let done = service.run(service.app().complete_order(mia, order.id)).expect("a paid order").order;
    assert_eq!((done.state, done.lines[0].state), (OrderState::Completed, LineState::Delivered));
    assert_eq!(balance(&service, mia, AccountKind::Coins), 150);
    assert_eq!(journal(&service, &order), [Some(3 * 499), None]);
    assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Nothing);
    assert_eq!(balance(&service, mia, AccountKind::Coins), 150);
    // An order of another fan is unknown.
    let bo = service.fan("bo_").id;
    assert!(service.found(FindOrder { user: bo, order: order.id }).is_none());
    in_order(&service);
    Ok(())
}

fn points_and_coins_are_held_and_given_back(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    give_points(&service, mia, 12);
    give_coins(&service, mia, 12);
    put(&service, mia, "bundle", 2);
    let first = begin(&service, mia);
    let both =
        |service: &TestApp| [AccountKind::Points, AccountKind::Coins].map(|kind| balance(service, mia, kind));
    assert_eq!((both(&service), first.paid_by.card), ([2, 2], 600));
    holds_fit(&service, first.id);
    assert_eq!(notify(&service, NoticeKind::Failed, &first), NoticeTaken::Applied);
    assert_eq!((both(&service), now(&service, first.id).state), ([12, 12], OrderState::Cancelled));
    holds_fit(&service, first.id);
    // The lines are in the cart again.
    let second = begin(&service, mia);
    assert_eq!(both(&service), [2, 2]);
    assert_eq!(notify(&service, NoticeKind::Paid, &second), NoticeTaken::Applied);
    assert_eq!(now(&service, second.id).state, OrderState::Completed);
    holds_fit(&service, second.id);
    assert_eq!(notify(&service, NoticeKind::Refunded, &second), NoticeTaken::Applied);
    assert_eq!((both(&service), now(&service, second.id).state), ([12, 12], OrderState::Refunded));
    holds_fit(&service, second.id);
    // Money of the fan goes first where the fan wants it.
    let euros = AccountKind::Money("EUR".parse()?);
    moved(&service, coins(Holder::House(House::Payments), Holder::Fan(mia), 250, "euros").of(euros));
    put(&service, mia, "bundle", 2);
    let third = PlaceOrder { use_balance: true, ..checkout(&service, mia) };
    let third = service.done(third).order;
    assert_eq!((third.paid_by.balance, third.paid_by.card), (250, 350));
    assert_eq!(balance(&service, mia, euros), 0);
    service.clock().advance(Duration::from_mins(35));
    service.run(ops::reconcile(service.app()))?;
    assert_eq!((now(&service, third.id).state, balance(&service, mia, euros)), (OrderState::Expired, 250));
    holds_fit(&service, third.id);
    in_order(&service);
    Ok(())
}

fn a_quote_that_is_not_of_this_cart_moves_nothing(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    for fan in [mia, bo] {
        put(&service, fan, "purse", 1);
    }
    let own = checkout(&service, mia);
    let of_another = checkout(&service, bo).quote;
    put(&service, mia, "purse", 2);
    for quote in [own.quote.clone(), of_another, String::new(), "x".repeat(64)] {
        let wrong = PlaceOrder { quote, ..own.clone() };
        let PlaceOrderRefusal::QuoteChanged(shown) = refusal(&service, wrong) else {
            panic!("another quote")
        };
        assert_eq!(shown.cart.totals.money, 2 * 499);
    }
    assert_eq!((lines(&cart(&service, mia)).len(), cashier.asked("begin")), (1, 0));
    assert!(cart(&service, mia).pending.is_none());
    Ok(())
}

fn a_price_that_has_just_changed_moves_nothing(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    give_points(&service, mia, 100);
    put(&service, mia, "badge", 1);
    // This process has read the old prices, and another one loads new ones.
    let stale = checkout(&service, mia);
    load(&service, &PRODUCTS.replacen("amount = 10 }", "amount = 11 }", 1));
    assert!(matches!(refusal(&service, stale.clone()), PlaceOrderRefusal::StaleBook));
    let answered = service.run(service.app().place_order(mia, stale.quote, false, None, shown));
    assert!(answered.is_err(), "the quote is of the old price");
    assert_eq!(
        (balance(&service, mia, AccountKind::Points), stock(&service, "badge")),
        (100, Some(Stock { supply: 3, taken: 0 }))
    );
    put(&service, mia, "badge", 1);
    let order = service.done(checkout(&service, mia)).order;
    assert_eq!(order.paid_by.points, 11);
    Ok(())
}

fn a_quote_of_yesterday_orders_only_what_is_still_sold(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let tomorrow = service.clock().now().plus(Duration::from_hours(24));
    load(&service, &PRODUCTS.replacen("limit = 4", &format!("limit = 4\ncloses = \"{tomorrow}\""), 1));
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    put(&service, mia, "purse", 1);
    put(&service, bo, "shirt/l", 1);
    ship_to(&service, bo, "DE");
    let [of_mia, of_bo] = [mia, bo].map(|fan| checkout(&service, fan));
    service.clock().advance(Duration::from_hours(24));
    let closed = refusal(&service, of_mia);
    assert!(matches!(closed, PlaceOrderRefusal::Problem(Problem::Unavailable)), "{closed:?}");
    assert_eq!(service.done(of_bo).order.paid_by.card, 2500 + 490);
    Ok(())
}

fn an_order_that_ends_returns_its_lines_and_its_stock(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    ship_to(&service, mia, "DE");
    let shirt = variant(&service, "shirt/m").id;
    let taken = |taken| Some(Stock { supply: 5, taken });
    put(&service, mia, "shirt/m", 3);
    let first = begin(&service, mia);
    assert_eq!(stock(&service, "shirt/m"), taken(3));
    // The greater quantity counts when the lines come back.
    put(&service, mia, "shirt/m", 1);
    let cancelled = service.run(service.app().cancel_order(mia, first.id)).expect("a pending order");
    assert_eq!(cancelled.order.state, OrderState::Cancelled);
    assert_eq!((lines(&cart(&service, mia)), stock(&service, "shirt/m")), (vec![(shirt, 3)], taken(0)));
    assert_eq!(cashier.asked("close"), 1);
    let second = begin(&service, mia);
    service.clock().advance(Duration::from_mins(35));
    assert_eq!(service.run(ops::reconcile(service.app()))?.expired, 1);
    assert_eq!((now(&service, second.id).state, stock(&service, "shirt/m")), (OrderState::Expired, taken(0)));
    assert_eq!(lines(&cart(&service, mia)), [(shirt, 3)]);
    // Ending it again changes nothing.
    let book = service.run(service.app().pack_book())?;
    let again = EndPending { payable: second.id.into(), how: CloseReason::Expired, book };
    assert!(!service.done(again));
    let refused = service.run(service.app().cancel_order(mia, second.id));
    assert!(matches!(refused, Err(Failure::Refused(CancelOrderRefusal::NotCancellable))));
    put(&service, mia, "shirt/m", 0);
    let merged = service.run(service.app().reorder(mia, second.id)).expect("a known order");
    assert_eq!((lines(&merged.cart), merged.skipped), (vec![(shirt, 3)], vec![]));
    load(&service, &PRODUCTS.replacen("key = \"m\"", "key = \"xs\"", 1));
    let merged = service.run(service.app().reorder(mia, second.id)).expect("a known order");
    assert_eq!(merged.skipped, [shirt]);
    Ok(())
}

/// Every order of three notices, each of them sent twice.
fn notices_in_any_order_end_in_one_state(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let kinds = [NoticeKind::Paid, NoticeKind::Cancelled, NoticeKind::Refunded];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for (nth, places) in orders.into_iter().enumerate() {
        let mia = service.fan(&format!("mia{nth}")).id;
        give_points(&service, mia, 10);
        give_coins(&service, mia, 10);
        put(&service, mia, "bundle", 2);
        put(&service, mia, "purse", 1);
        let order = begin(&service, mia);
        for place in places {
            for _ in 0..2 {
                notify(&service, kinds[place], &order);
            }
        }
        let after = now(&service, order.id);
        assert_eq!(after.state, OrderState::Refunded, "{places:?}");
        assert!(after.lines.iter().all(|line| line.state == LineState::Revoked), "{places:?}");
        let paid = Some(order.paid_by.card);
        assert_eq!(journal(&service, &order), [paid, paid], "{places:?}");
        let all = [AccountKind::Points, AccountKind::Coins].map(|kind| balance(&service, mia, kind));
        assert_eq!(all, [10, 10], "{places:?}");
        holds_fit(&service, order.id);
        service.run(ops::reconcile(service.app()))?;
    }
    assert_eq!(cashier.asked("refund"), 0, "every refund was confirmed before it was asked for");
    in_order(&service);
    Ok(())
}

fn late_money_is_given_back(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    give_points(&service, mia, 5);
    give_coins(&service, mia, 5);
    put(&service, mia, "bundle", 1);
    let order = begin(&service, mia);
    service.clock().advance(Duration::from_mins(35));
    assert_eq!(notify(&service, NoticeKind::Cancelled, &order), NoticeTaken::Applied);
    assert_eq!(now(&service, order.id).state, OrderState::Expired);
    assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Applied);
    let late = now(&service, order.id);
    assert_eq!(
        (late.state, late.paid_at, journal(&service, &order)),
        (OrderState::Refunded, None, [Some(300); 2])
    );
    let all = [AccountKind::Points, AccountKind::Coins].map(|kind| balance(&service, mia, kind));
    assert_eq!(all, [5, 5]);
    for refunded in [1, 0] {
        assert_eq!(service.run(ops::reconcile(service.app()))?.refunded, refunded);
    }
    assert_eq!(cashier.asked("refund"), 1);
    holds_fit(&service, order.id);
    in_order(&service);
    Ok(())
}

fn a_paid_order_is_cancelled_within_its_time(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let cancel = |order: &Order| service.run(service.app().cancel_order(mia, order.id));
    let paid = |path: &str, units: u32| {
        put(&service, mia, path, units);
        let order = begin(&service, mia);
        assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Applied);
        order
    };
    let purse = paid("purse", 1);
    let shown = cancel(&purse).expect("an unused order");
    assert_eq!((shown.order.state, shown.order.lines[0].state), (OrderState::Refunded, LineState::Revoked));
    assert_eq!(balance(&service, mia, AccountKind::Coins), 0);
    service.run(ops::reconcile(service.app()))?;
    assert_eq!(cashier.asked("refund"), 1);
    // Granted coins that were spent are gone.
    let purse = paid("purse", 1);
    moved(&service, coins(Holder::Fan(mia), Holder::House(House::Revenue), 1, "spent"));
    assert!(matches!(cancel(&purse), Err(Failure::Refused(CancelOrderRefusal::Used))));
    // An operator refunds it nevertheless, and what is missing is written off.
    let refund = FulfilOrder { order: purse.id, line: None, fulfilment: Fulfilment::Refund };
    assert_eq!(service.done(refund).state, OrderState::Refunded);
    assert_eq!(balance(&service, mia, AccountKind::Coins), 0);
    let source = purse.lines[0].source();
    let [grant] = service.ask(move |tx| tx.grants_of(mia, &[source])).try_into().expect("one grant");
    assert_eq!(transferred(&service, "ungrant_spent", grant.id.as_uuid()), Some(1));
    let purse = paid("purse", 1);
    service.clock().advance(Duration::from_hours(24 * 14));
    assert!(matches!(cancel(&purse), Err(Failure::Refused(CancelOrderRefusal::NotCancellable))));
    // The money comes while the fan gives the order up.
    put(&service, mia, "purse", 1);
    let order = begin(&service, mia);
    cashier.books().states.insert(order.id.into(), PaymentState::Paid(order.card().expect("money")));
    assert!(matches!(cancel(&order), Err(Failure::Refused(CancelOrderRefusal::AlreadyPaid))));
    assert_eq!(now(&service, order.id).state, OrderState::Completed);
    in_order(&service);
    Ok(())
}

fn operators_send_deliver_and_refund(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    ship_to(&service, mia, "DE");
    for (path, quantity) in [("shirt/m", 2), ("shirt/l", 1), ("purse", 1)] {
        put(&service, mia, path, quantity);
        service.clock().advance(Duration::from_millis(1));
    }
    let order = begin(&service, mia);
    let fulfil = |line, fulfilment| FulfilOrder { order: order.id, line, fulfilment };
    let ship = || Fulfilment::Ship { carrier: Some("Post".to_owned()), tracking: Some("42".to_owned()) };
    let refused = service.refused(fulfil(None, ship()));
    assert_eq!(refused, FulfilOrderRefusal::WrongState(OrderState::Pending));
    assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Applied);
    let states = |order: &Order| order.lines.iter().map(|line| line.state).collect::<Vec<_>>();
    let line = order.lines.iter().find(|line| line.variant == variant(&service, "shirt/m").id);
    let line = line.map(|line| line.id);
    let shipped = service.done(fulfil(line, ship()));
    assert_eq!(states(&shipped), [LineState::Shipped, LineState::Waiting, LineState::Delivered]);
    assert_eq!(service.refused(fulfil(line, ship())), FulfilOrderRefusal::NothingToDo);
    let cancelled = service.run(service.app().cancel_order(mia, order.id));
    assert!(matches!(cancelled, Err(Failure::Refused(CancelOrderRefusal::NotCancellable))));
    let delivered = service.done(fulfil(None, Fulfilment::Deliver));
    assert_eq!((states(&delivered), delivered.state), (vec![LineState::Delivered; 3], OrderState::Completed));
    assert_eq!(now(&service, order.id), delivered);
    assert_eq!(
        delivered.lines[0].shipment.as_ref().and_then(|sent| sent.tracking.clone()).as_deref(),
        Some("42")
    );
    // What was sent does not return to the stock by itself.
    let refunded = service.done(fulfil(None, Fulfilment::Refund));
    assert_eq!((states(&refunded), refunded.state), (vec![LineState::Revoked; 3], OrderState::Refunded));
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 5, taken: 2 }));
    let again = service.refused(fulfil(None, Fulfilment::Refund));
    assert_eq!(again, FulfilOrderRefusal::WrongState(OrderState::Refunded));
    in_order(&service);
    Ok(())
}

fn three_orders_wait_at_most_and_abandoned_ones_count(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let mut orders = Vec::new();
    for _ in 0..3 {
        put(&service, mia, "bundle", 0);
        put(&service, mia, "purse", 1);
        orders.push(begin(&service, mia));
    }
    put(&service, mia, "purse", 1);
    assert!(matches!(refusal(&service, checkout(&service, mia)), PlaceOrderRefusal::TooManyPending));
    service.clock().advance(Duration::from_mins(35));
    service.run(ops::reconcile(service.app()))?;
    let PlaceOrderRefusal::TooManyAbandoned { wait } = refusal(&service, checkout(&service, mia)) else {
        panic!("three orders were abandoned");
    };
    assert!(wait <= Duration::from_hours(24) && wait > Duration::from_hours(23), "{wait:?}");
    service.clock().advance(wait);
    assert_eq!(service.done(checkout(&service, mia)).order.state, OrderState::Pending);
    // A fan may have four purses in all; those that wait count.
    put(&service, mia, "purse", 4);
    let limited = refusal(&service, checkout(&service, mia));
    assert!(matches!(limited, PlaceOrderRefusal::Problem(Problem::LimitReached)), "{limited:?}");
    // A new account holds one unit of what is limited.
    let bo = service.fan("bo_").id;
    ship_to(&service, bo, "DE");
    put(&service, bo, "shirt/m", 2);
    let new = PlaceOrder { new_account_age: Duration::from_hours(24), ..checkout(&service, bo) };
    assert!(matches!(refusal(&service, new), PlaceOrderRefusal::AccountTooNew { .. }));
    put(&service, bo, "shirt/m", 1);
    let new = PlaceOrder { new_account_age: Duration::from_hours(24), ..checkout(&service, bo) };
    assert_eq!(service.done(new).order.state, OrderState::Pending);
    Ok(())
}

fn a_provider_that_fails_leaves_an_order_that_can_be_paid(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let order = service.done(checkout(&service, mia)).order;
    cashier.books().fault = Some(ProviderFault::Passing("500".to_owned()));
    let begun = service.run(service.app().begin_order_checkout(mia, order.id, None, None, shown));
    assert!(begun.is_err() && now(&service, order.id).state == OrderState::Pending);
    assert!(service.run(service.app().cancel_order(mia, order.id)).is_ok(), "no checkout was begun");
    let order = service.done(checkout(&service, mia)).order;
    cashier.books().fault = None;
    for _ in 0..2 {
        let begun = service.run(service.app().begin_order_checkout(mia, order.id, None, None, shown));
        assert_eq!(begun.expect("a checkout").body, format!("https://cashier.example/{}", order.id));
    }
    assert_eq!(cashier.asked("begin"), 2, "a checkout that is recorded is not begun again");
    // While the provider does not answer, an order expires an hour later.
    cashier.books().fault = Some(ProviderFault::Passing("time out".to_owned()));
    service.clock().advance(Duration::from_mins(40));
    assert_eq!(service.run(ops::reconcile(service.app()))?.left, 1);
    assert_eq!(now(&service, order.id).state, OrderState::Pending);
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(service.run(ops::reconcile(service.app()))?.expired, 1);
    // A provider that refuses ends the order.
    cashier.books().fault = Some(ProviderFault::Refused("no".to_owned()));
    let order = service.done(checkout(&service, mia)).order;
    let begun = service.run(service.app().begin_order_checkout(mia, order.id, None, None, shown));
    assert!(begun.is_err() && now(&service, order.id).state == OrderState::Cancelled);
    Ok(())
}

fn a_provider_that_answers_something_else_or_twice_pays_nothing_else(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let order = begin(&service, mia);
    let right = order.card().expect("money");
    let wrong = [
        Money { amount: right.amount - 1, ..right },
        Money { amount: i64::MAX, ..right },
        Money { amount: 0, ..right },
        Money { currency: "USD".parse()?, ..right },
    ];
    for money in wrong {
        cashier.books().states.insert(order.id.into(), PaymentState::Paid(money));
        assert!(service.run(service.app().complete_order(mia, order.id)).is_err(), "{money:?}");
        let sent = PaymentNotice {
            event_id: format!("evt_{}_{}", money.amount, money.currency),
            money,
            ..notice(NoticeKind::Paid, &order)
        };
        let taken = service.run(service.app().take_notice(CASHIER, sent))?;
        assert!(matches!(taken, NoticeTaken::Mismatch(_)), "{taken:?}");
    }
    let other = PaymentNotice {
        event_id: "evt_other".to_owned(),
        reference: "other".to_owned(),
        ..notice(NoticeKind::Paid, &order)
    };
    assert!(matches!(service.run(service.app().take_notice(CASHIER, other))?, NoticeTaken::Mismatch(_)));
    assert_eq!((now(&service, order.id).state, journal(&service, &order)), (OrderState::Pending, [None; 2]));
    // The same notice, and the same news in another one.
    let paid = notice(NoticeKind::Paid, &order);
    let again = PaymentNotice { event_id: "evt_again".to_owned(), ..paid.clone() };
    let taken = [paid.clone(), paid, again]
        .map(|notice| service.run(service.app().take_notice(CASHIER, notice)).expect("a working store"));
    assert_eq!(taken, [NoticeTaken::Applied, NoticeTaken::Before, NoticeTaken::Nothing]);
    assert_eq!(balance(&service, mia, AccountKind::Coins), 50);
    in_order(&service);
    Ok(())
}

fn an_account_with_an_order_on_its_way_is_not_deleted(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let fan = service.fan("mia");
    let mia = fan.id;
    ship_to(&service, mia, "DE");
    put(&service, mia, "shirt/m", 1);
    let order = begin(&service, mia);
    assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Applied);
    let refused = delete(&service, fan.cookie, PASSWORD);
    assert_eq!(refused, Some(DeleteAccountRefusal::OrderOpen));
    service.done(FulfilOrder { order: order.id, line: None, fulfilment: Fulfilment::Deliver });
    assert_eq!(delete(&service, fan.cookie, PASSWORD), None);
    catch_up(&service);
    assert_eq!(now(&service, order.id).shipping, None, "the address is gone");
    Ok(())
}

fn a_deleted_account_is_refunded(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let fan = service.fan("mia");
    let mia = fan.id;
    give_points(&service, mia, 5);
    give_coins(&service, mia, 5);
    put(&service, mia, "bundle", 1);
    let order = begin(&service, mia);
    assert_eq!(delete(&service, fan.cookie, PASSWORD), None);
    catch_up(&service);
    assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Applied);
    assert_eq!(
        (now(&service, order.id).state, journal(&service, &order)),
        (OrderState::Refunded, [Some(300); 2])
    );
    holds_fit(&service, order.id);
    service.run(ops::reconcile(service.app()))?;
    assert_eq!(cashier.asked("refund"), 1);
    in_order(&service);
    Ok(())
}
