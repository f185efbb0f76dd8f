//! Contract part 2 §3, refunds by line and disputes: each part goes back in its kind and never more than was paid, what a line
//! granted is taken back, and a refund is requested until it is given (spec §1, shop).

use super::carts::{put, put_priced, ship_to};
use super::ledger::{balance, coins, in_order, moved};
use super::orders::{
    begin, checkout, give_points, holds_fit, journal, notice, notify, now, paid_shop, refunds, transferred,
};
use super::packs::give_coins;
use super::payments::CASHIER;
use super::products::{load, load_in, stock, variant};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::payments::{
    NoticeDetail, NoticeKind, NoticeTaken, OpenDisputes, Payable, PaymentNotice, ProviderFault, Refund,
    RefundState, RetryRefunds, RetryRefundsRefusal,
};
use terrace_testkit::app::shop::{FulfilOrder, FulfilOrderRefusal, Fulfilment, PlaceOrder, ReadOrder};
use terrace_testkit::kernel::{Clock, Failure, Money, PriceKind, UserId};
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::ops;
use terrace_testkit::shop::{
    LineState, Order, OrderId, OrderLineId, OrderState, PaidBy, RefundRefusal, Stock,
};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    a_line_is_refunded_and_the_rest_of_the_order_stays,
    each_part_of_a_mixed_payment_goes_back_in_its_kind,
    what_was_sent_stays_taken_after_its_refund,
    an_order_without_a_line_to_send_is_completed,
    spent_coins_are_written_off_and_no_returned_coin_pays_for_them,
    fifty_refunds_at_once_return_what_was_paid_once,
    a_failed_refund_is_requested_again_by_an_operator,
    a_refund_that_the_provider_processes_stays_owed,
    a_dispute_marks_its_order_and_a_lost_one_returns_it,
    open_disputes_are_listed_until_they_are_decided,
    a_lost_dispute_settles_what_is_owed,
    notices_of_disputes_count_in_any_order,
    a_refund_that_failed_before_a_lost_dispute_is_owed_no_more_in_whatever_order,
}

const PINS: &str = r#"
    [[product]]
    key = "pin"
    name = "Pin"
    kind = "digital"
    grants = [{ kind = "coins", amount = 6 }]

    [[product.variant]]
    key = "one"
    name = "One"
    prices = [[{ kind = "money", amount = 333, currency = "EUR" }, { kind = "coins", amount = 7 }]]

    [[product]]
    key = "flag"
    name = "Flag"
    kind = "digital"

    [[product.variant]]
    key = "one"
    name = "One"
    prices = [[{ kind = "money", amount = 101, currency = "EUR" }, { kind = "points", amount = 3 }]]
"#;

fn line_of(service: &TestApp, order: &Order, path: &str) -> OrderLineId {
    let variant = variant(service, path).id;
    order.lines.iter().find(|line| line.variant == variant).expect("a line").id
}

fn refund(order: OrderId, line: Option<OrderLineId>) -> FulfilOrder {
    FulfilOrder { order, line, fulfilment: Fulfilment::Refund }
}

fn pay(service: &TestApp, order: &Order) {
    assert_eq!(notify(service, NoticeKind::Paid, order), NoticeTaken::Applied);
}

fn states(service: &TestApp, order: OrderId) -> Vec<RefundState> {
    refunds(service, order).iter().map(|refund| refund.state).collect()
}

fn reconcile(service: &TestApp) -> u64 {
    service.run(ops::reconcile(service.app())).expect("a working store").refunded
}

fn take(service: &TestApp, notice: PaymentNotice) -> NoticeTaken {
    service.run(service.app().take_notice(CASHIER, notice)).expect("a working store")
}

/// A notice about a refund.
fn of_refund(kind: NoticeKind, order: &Order, refund: &Refund, attempt: u32) -> PaymentNotice {
    PaymentNotice {
        event_id: format!("evt_{kind}_{}_{attempt}", refund.id.as_uuid().simple()),
        money: refund.card().expect("money"),
        detail: Some(NoticeDetail::Refund { id: refund.id, attempt }),
        ..notice(kind, order)
    }
}

fn of_dispute(kind: NoticeKind, order: &Order, amount: i64) -> PaymentNotice {
    let money = order.card().expect("money");
    PaymentNotice {
        money: Money { amount, ..money },
        detail: Some(NoticeDetail::Dispute(format!("dp_{}", order.id.as_uuid().simple()))),
        ..notice(kind, order)
    }
}

fn is_disputed(service: &TestApp, order: OrderId) -> bool {
    service.found(ReadOrder { order }).expect("an order").is_disputed
}

fn a_line_is_refunded_and_the_rest_of_the_order_stays(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    ship_to(&service, mia, "DE");
    put(&service, mia, "shirt/m", 2);
    put(&service, mia, "purse", 1);
    let order = begin(&service, mia);
    let (shirts, purse) = (line_of(&service, &order, "shirt/m"), line_of(&service, &order, "purse"));
    assert_eq!(
        service.refused(refund(order.id, Some(purse))),
        FulfilOrderRefusal::WrongState(OrderState::Pending)
    );
    pay(&service, &order);
    assert_eq!(balance(&service, mia, AccountKind::Coins), 50);
    let unknown = OrderLineId::from_uuid(order.id.as_uuid());
    let refused = service.refused(refund(order.id, Some(unknown)));
    assert_eq!(refused, FulfilOrderRefusal::NoRefund(RefundRefusal::UnknownLine));

    let after = service.done(refund(order.id, Some(purse)));
    assert_eq!((after.state, now(&service, order.id)), (OrderState::Paid, after));
    let [of_purse] = refunds(&service, order.id).try_into().expect("one refund");
    assert_eq!(of_purse.parts, PaidBy { card: 499, ..PaidBy::default() });
    assert_eq!((of_purse.state, of_purse.with_shipping), (RefundState::Owed, false));
    let line = now(&service, order.id).lines.into_iter().find(|line| line.id == purse).expect("a line");
    assert_eq!((line.state, line.refund), (LineState::Revoked, Some(of_purse.id)));
    assert_eq!(now(&service, order.id).refunded_taxes(of_purse.id, false), [(2000, line.tax)].into());
    assert_eq!(balance(&service, mia, AccountKind::Coins), 0);
    let refused = service.refused(refund(order.id, Some(purse)));
    assert_eq!(refused, FulfilOrderRefusal::NoRefund(RefundRefusal::Revoked));
    assert_eq!([reconcile(&service), reconcile(&service)], [1, 0]);
    assert_eq!((states(&service, order.id), cashier.asked("refund")), (vec![RefundState::Given], 1));
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 5, taken: 2 }));

    // The shipping goes back with the last line.
    service.clock().advance(Duration::from_millis(1));
    let after = service.done(refund(order.id, Some(shirts)));
    assert_eq!(after.state, OrderState::Refunded);
    let card: Vec<i64> = refunds(&service, order.id).iter().map(|refund| refund.parts.card).collect();
    assert_eq!(card, [499, 5490]);
    assert_eq!(journal(&service, &order), [Some(order.paid_by.card); 2]);
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 5, taken: 0 }));
    let taxes = |order: &Order| order.taxes().values().sum::<i64>();
    let refunded = refunds(&service, order.id);
    let returned = refunded.iter().flat_map(|one| after.refunded_taxes(one.id, one.with_shipping));
    assert_eq!(returned.map(|(_, tax)| tax).sum::<i64>(), taxes(&after));
    assert_eq!(reconcile(&service), 1);
    in_order(&service);
    Ok(())
}

fn each_part_of_a_mixed_payment_goes_back_in_its_kind(kind: DatabaseKind) -> Result<()> {
    for code in ["JPY", "UGX", "ISK", "BHD", "EUR"] {
        let (service, _) = paid_shop(kind)?;
        load_in(&service, PINS, code);
        let mia = service.fan("mia").id;
        let money = AccountKind::Money(code.parse()?);
        give_points(&service, mia, 30);
        give_coins(&service, mia, 100);
        moved(&service, coins(Holder::House(House::Payments), Holder::Fan(mia), 250, "money").of(money));
        put(&service, mia, "pin", 3);
        service.clock().advance(Duration::from_millis(1));
        put(&service, mia, "flag", 2);
        let order = service.done(PlaceOrder { use_balance: true, ..checkout(&service, mia) }).order;
        assert_eq!(order.paid_by.totals().money, 3 * 333 + 2 * 101, "{code}");
        assert_eq!(order.paid_by.balance, 250, "{code}");
        let paid = PaymentNotice { reference: "cs_1".to_owned(), ..notice(NoticeKind::Paid, &order) };
        assert_eq!(take(&service, paid), NoticeTaken::Applied);
        let all = |service: &TestApp| {
            [AccountKind::Points, AccountKind::Coins, money].map(|kind| balance(service, mia, kind))
        };
        // 21 coins were paid and 18 granted.
        assert_eq!(all(&service), [24, 97, 0], "{code}");
        for path in ["flag", "pin"] {
            let line = line_of(&service, &order, path);
            service.done(refund(order.id, Some(line)));
        }
        assert_eq!(all(&service), [30, 100, 250], "{code}");
        let parts = refunds(&service, order.id).iter().fold(PaidBy::default(), |sum, one| sum.and(one.parts));
        assert_eq!(parts, order.paid_by, "{code}");
        assert_eq!(now(&service, order.id).state, OrderState::Refunded, "{code}");
        holds_fit(&service, order.id);
        in_order(&service);
    }
    Ok(())
}

fn what_was_sent_stays_taken_after_its_refund(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    ship_to(&service, mia, "DE");
    put(&service, mia, "shirt/m", 2);
    put(&service, mia, "shirt/l", 1);
    let order = begin(&service, mia);
    pay(&service, &order);
    let line = Some(line_of(&service, &order, "shirt/m"));
    let ship = Fulfilment::Ship { carrier: None, tracking: None };
    service.done(FulfilOrder { order: order.id, line, fulfilment: ship });
    let after = service.done(refund(order.id, line));
    assert_eq!(after.state, OrderState::Paid, "the other shirt is still to be sent");
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 5, taken: 2 }));
    in_order(&service);
    Ok(())
}

fn an_order_without_a_line_to_send_is_completed(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    ship_to(&service, mia, "DE");
    put(&service, mia, "shirt/l", 1);
    put(&service, mia, "purse", 1);
    let order = begin(&service, mia);
    pay(&service, &order);
    assert_eq!(now(&service, order.id).state, OrderState::Paid);
    let after = service.done(refund(order.id, Some(line_of(&service, &order, "shirt/l"))));
    assert_eq!((after.state, now(&service, order.id).state), (OrderState::Completed, OrderState::Completed));
    assert_eq!(balance(&service, mia, AccountKind::Coins), 50, "the other line stays");
    Ok(())
}

fn spent_coins_are_written_off_and_no_returned_coin_pays_for_them(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    load(&service, PINS);
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 7);
    put(&service, mia, "pin", 1);
    let order = begin(&service, mia);
    pay(&service, &order);
    moved(&service, coins(Holder::Fan(mia), Holder::House(House::Revenue), 5, "spent"));
    assert_eq!(balance(&service, mia, AccountKind::Coins), 1);
    service.done(refund(order.id, Some(order.lines[0].id)));
    // One of the six granted coins is taken back, five are written off, and the seven that were paid go back.
    assert_eq!(balance(&service, mia, AccountKind::Coins), 7);
    let [one] = refunds(&service, order.id).try_into().expect("one refund");
    let line = order.lines[0].source();
    let [grant] = service.ask(move |tx| tx.grants_of(mia, &[line])).try_into().expect("one grant");
    let by = |source, id| transferred(&service, source, id);
    let taken = ["ungrant", "ungrant_spent"].map(|source| by(source, grant.id.as_uuid()));
    assert_eq!((taken, by("return_coins", one.id.as_uuid())), ([Some(1), Some(5)], Some(7)));
    in_order(&service);
    Ok(())
}

fn fifty_refunds_at_once_return_what_was_paid_once(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    give_points(&service, mia, 20);
    give_coins(&service, mia, 120);
    ship_to(&service, mia, "DE");
    for (path, quantity) in [("purse", 2), ("bundle", 1), ("shirt/l", 3)] {
        put(&service, mia, path, quantity);
        service.clock().advance(Duration::from_millis(1));
    }
    put_priced(&service, mia, "shirt/m", 1, PriceKind::Coins);
    let order = begin(&service, mia);
    let before = [AccountKind::Points, AccountKind::Coins].map(|kind| balance(&service, mia, kind));
    assert_eq!(before, [15, 15]);
    pay(&service, &order);
    let works: Vec<_> = (0..50)
        .map(|nth| {
            let app = Arc::clone(if nth % 2 == 0 { service.app() } else { other.app() });
            // Each line is asked for ten times, and all of them ten times.
            let line = order.lines.get(nth % (order.lines.len() + 1)).map(|line| line.id);
            async move { app.fulfil_order(refund(order.id, line)).await }
        })
        .collect();
    let done = service.together(works);
    let refused = done.iter().filter(|outcome| matches!(outcome, Err(Failure::Refused(_)))).count();
    let made = refunds(&service, order.id);
    assert_eq!(done.len() - refused, made.len());
    let parts = made.iter().fold(PaidBy::default(), |sum, one| sum.and(one.parts));
    assert_eq!((parts, now(&service, order.id).state), (order.paid_by, OrderState::Refunded));
    assert_eq!(made.iter().filter(|one| one.with_shipping).count(), 1);
    let after = [AccountKind::Points, AccountKind::Coins].map(|kind| balance(&service, mia, kind));
    assert_eq!(after, [20, 120], "what was granted is taken back, and what was paid is returned");
    let works: Vec<_> = [&service, &other, &service, &other]
        .map(|service| Arc::clone(service.app()))
        .into_iter()
        .map(|app| async move { ops::reconcile(&app).await })
        .collect();
    service.together(works);
    let given: i64 = cashier.books().returned.values().map(|money| money.amount).sum();
    assert_eq!(
        (given, cashier.asked("refund")),
        (order.paid_by.card, made.iter().filter(|one| one.parts.card > 0).count())
    );
    assert_eq!(journal(&service, &order), [Some(order.paid_by.card); 2]);
    holds_fit(&service, order.id);
    in_order(&service);
    Ok(())
}

fn a_failed_refund_is_requested_again_by_an_operator(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let order = begin(&service, mia);
    let retry = RetryRefunds { payable: order.id.into() };
    pay(&service, &order);
    assert_eq!(service.refused(retry), RetryRefundsRefusal::NoneFailed);
    service.done(refund(order.id, None));
    let [first] = refunds(&service, order.id).try_into().expect("one refund");
    assert_eq!(take(&service, of_refund(NoticeKind::RefundFailed, &order, &first, 0)), NoticeTaken::Applied);
    assert_eq!(states(&service, order.id), [RefundState::Failed]);
    // What failed is not requested by itself, and no older notice makes it given.
    service.clock().advance(Duration::from_hours(48));
    assert_eq!((reconcile(&service), cashier.asked("refund")), (0, 0));
    assert_eq!(take(&service, of_refund(NoticeKind::RefundGiven, &order, &first, 0)), NoticeTaken::Nothing);
    assert_eq!(notify(&service, NoticeKind::Refunded, &order), NoticeTaken::Nothing);
    let [second] = service.done(retry).try_into().expect("one refund");
    assert_eq!((second.id, second.attempt, second.state), (first.id, 1, RefundState::Owed));
    assert_eq!(
        take(
            &service,
            PaymentNotice {
                event_id: "late".to_owned(),
                ..of_refund(NoticeKind::RefundGiven, &order, &first, 0)
            }
        ),
        NoticeTaken::Nothing
    );
    assert_eq!((reconcile(&service), states(&service, order.id)), (1, vec![RefundState::Given]));
    assert_eq!(cashier.books().returned.keys().copied().collect::<Vec<_>>(), [(first.id, 1)]);
    // A bank may send it back.
    assert_eq!(take(&service, of_refund(NoticeKind::RefundFailed, &order, &first, 1)), NoticeTaken::Applied);
    assert_eq!(states(&service, order.id), [RefundState::Failed]);
    let less = PaymentNotice {
        event_id: "less".to_owned(),
        money: Money { amount: 1, ..order.card().expect("money") },
        ..of_refund(NoticeKind::RefundGiven, &order, &first, 1)
    };
    assert!(matches!(take(&service, less), NoticeTaken::Mismatch(_)));
    let unknown = RetryRefunds { payable: OrderId::from_uuid(first.id.as_uuid()).into() };
    assert_eq!(service.refused(unknown), RetryRefundsRefusal::Unknown);
    in_order(&service);
    Ok(())
}

fn a_refund_that_the_provider_processes_stays_owed(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let order = begin(&service, mia);
    pay(&service, &order);
    service.done(refund(order.id, None));
    cashier.books().fault = Some(ProviderFault::Passing("500".to_owned()));
    assert_eq!((reconcile(&service), reconcile(&service)), (0, 0));
    assert_eq!(cashier.asked("refund"), 1, "it waits before it asks again");
    cashier.books().fault = None;
    cashier.books().refund = RefundState::Owed;
    service.clock().advance(Duration::from_mins(1));
    assert_eq!((reconcile(&service), states(&service, order.id)), (0, vec![RefundState::Owed]));
    let [one] = refunds(&service, order.id).try_into().expect("one refund");
    assert_eq!(one.reference, Some(format!("re_{}", one.id)));
    assert!(one.asked_at.is_some_and(|at| at < service.clock().now()));
    assert_eq!(take(&service, of_refund(NoticeKind::RefundGiven, &order, &one, 0)), NoticeTaken::Applied);
    service.clock().advance(Duration::from_hours(2));
    assert_eq!((reconcile(&service), states(&service, order.id)), (0, vec![RefundState::Given]));
    assert_eq!(cashier.asked("refund"), 2);
    Ok(())
}

/// A fan with a paid order for points, coins and money, which granted 100 coins.
fn disputed_order(service: &TestApp, name: &str) -> (UserId, Order) {
    let mia = service.fan(name).id;
    give_points(service, mia, 5);
    give_coins(service, mia, 5);
    put(service, mia, "bundle", 1);
    put(service, mia, "purse", 2);
    let order = begin(service, mia);
    pay(service, &order);
    (mia, order)
}

fn a_dispute_marks_its_order_and_a_lost_one_returns_it(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let (mia, order) = disputed_order(&service, "mia");
    let all =
        |service: &TestApp| [AccountKind::Points, AccountKind::Coins].map(|kind| balance(service, mia, kind));
    let card = order.paid_by.card;
    assert!(!is_disputed(&service, order.id));
    assert!(matches!(
        take(&service, of_dispute(NoticeKind::Disputed, &order, card + 1)),
        NoticeTaken::Mismatch(_)
    ));
    let opened =
        PaymentNotice { event_id: "opened".to_owned(), ..of_dispute(NoticeKind::Disputed, &order, card) };
    assert_eq!(
        [take(&service, opened.clone()), take(&service, opened)],
        [NoticeTaken::Applied, NoticeTaken::Before]
    );
    assert!(is_disputed(&service, order.id));
    assert_eq!((now(&service, order.id).state, all(&service)), (OrderState::Completed, [0, 100]));
    assert_eq!(take(&service, of_dispute(NoticeKind::DisputeLost, &order, card)), NoticeTaken::Applied);
    let after = now(&service, order.id);
    assert_eq!(after.state, OrderState::Refunded);
    assert!(after.lines.iter().all(|line| line.state == LineState::Revoked));
    assert_eq!((all(&service), states(&service, order.id)), ([5, 5], vec![RefundState::Given]));
    assert!(is_disputed(&service, order.id));
    assert_eq!(journal(&service, &order), [Some(card); 2]);
    assert_eq!((reconcile(&service), cashier.asked("refund")), (0, 0), "the bank has returned the money");
    // One that is won changes nothing.
    let (_, won) = disputed_order(&service, "bo_");
    let won_card = won.paid_by.card;
    assert_eq!(take(&service, of_dispute(NoticeKind::Disputed, &won, won_card)), NoticeTaken::Applied);
    assert_eq!(take(&service, of_dispute(NoticeKind::DisputeWon, &won, won_card)), NoticeTaken::Applied);
    assert!(!is_disputed(&service, won.id) && now(&service, won.id).state == OrderState::Completed);
    in_order(&service);
    Ok(())
}

fn open_disputes_are_listed_until_they_are_decided(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let open = |limit| -> Vec<Payable> {
        service.found(OpenDisputes { limit }).into_iter().map(|dispute| dispute.payable).collect()
    };
    assert_eq!(open(10), []);
    let mut orders = Vec::new();
    for name in ["mia", "bo_", "kim"] {
        let (_, order) = disputed_order(&service, name);
        let card = order.paid_by.card;
        assert_eq!(take(&service, of_dispute(NoticeKind::Disputed, &order, card)), NoticeTaken::Applied);
        service.clock().advance(Duration::from_secs(1));
        orders.push(order);
    }
    let ids: Vec<Payable> = orders.iter().map(|order| order.id.into()).collect();
    assert_eq!((open(10), open(2)), (ids.clone(), ids[..2].to_vec()));
    for (order, kind) in orders[1..].iter().zip([NoticeKind::DisputeWon, NoticeKind::DisputeLost]) {
        let decided = of_dispute(kind, order, order.paid_by.card);
        assert_eq!(take(&service, decided), NoticeTaken::Applied);
    }
    assert_eq!(open(10), ids[..1]);
    Ok(())
}

fn a_lost_dispute_settles_what_is_owed(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let (_, order) = disputed_order(&service, "mia");
    let purse = line_of(&service, &order, "purse");
    assert_eq!(
        take(&service, of_dispute(NoticeKind::Disputed, &order, order.paid_by.card)),
        NoticeTaken::Applied
    );
    // The provider makes no refund of what is disputed.
    service.done(refund(order.id, Some(purse)));
    cashier.books().fault = Some(ProviderFault::Disputed);
    assert_eq!(reconcile(&service), 0);
    cashier.books().fault = None;
    assert_eq!(
        take(&service, of_dispute(NoticeKind::DisputeLost, &order, order.paid_by.card)),
        NoticeTaken::Applied
    );
    assert_eq!(states(&service, order.id), [RefundState::Given; 2]);
    service.clock().advance(Duration::from_hours(2));
    assert_eq!((reconcile(&service), cashier.books().returned.len()), (0, 0));
    assert_eq!(journal(&service, &order), [Some(order.paid_by.card); 2]);
    in_order(&service);
    Ok(())
}

fn notices_of_disputes_count_in_any_order(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let kinds = [NoticeKind::Paid, NoticeKind::Disputed, NoticeKind::DisputeLost];
    for (nth, places) in
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].into_iter().enumerate()
    {
        let mia = service.fan(&format!("mia{nth}")).id;
        give_points(&service, mia, 5);
        give_coins(&service, mia, 5);
        put(&service, mia, "bundle", 1);
        let order = begin(&service, mia);
        let card = order.paid_by.card;
        for place in places {
            for _ in 0..2 {
                if kinds[place] == NoticeKind::Paid {
                    notify(&service, NoticeKind::Paid, &order);
                } else {
                    take(&service, of_dispute(kinds[place], &order, card));
                }
            }
        }
        let after = now(&service, order.id);
        assert_eq!(after.state, OrderState::Refunded, "{places:?}");
        assert_eq!(journal(&service, &order), [Some(card); 2], "{places:?}");
        let all = [AccountKind::Points, AccountKind::Coins].map(|kind| balance(&service, mia, kind));
        assert_eq!((all, states(&service, order.id)), ([5, 5], vec![RefundState::Given]), "{places:?}");
        holds_fit(&service, order.id);
    }
    in_order(&service);
    Ok(())
}

/// The provider tells a failure twice, and the bank has returned the money in between. An operator has what failed requested
/// again as soon as it shows; the provider makes no refund of what is disputed.
fn a_refund_that_failed_before_a_lost_dispute_is_owed_no_more_in_whatever_order(
    kind: DatabaseKind,
) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    for (nth, places) in
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].into_iter().enumerate()
    {
        cashier.books().fault = None;
        let (_, order) = disputed_order(&service, &format!("mia{nth}"));
        let card = order.paid_by.card;
        service.done(refund(order.id, None));
        cashier.books().refund = RefundState::Given;
        assert_eq!(reconcile(&service), 1);
        cashier.books().fault = Some(ProviderFault::Disputed);
        let [given] = refunds(&service, order.id).try_into().expect("one refund");
        let failed = of_refund(NoticeKind::RefundFailed, &order, &given, 0);
        let updated = PaymentNotice { event_id: format!("{}_updated", failed.event_id), ..failed.clone() };
        let notices = [failed, updated, of_dispute(NoticeKind::DisputeLost, &order, card)];
        for place in places {
            take(&service, notices[place].clone());
            let _ = service.run(service.app().retry_refunds(order.id.into()));
            assert_eq!(reconcile(&service), 0, "{places:?}");
        }
        assert_eq!(states(&service, order.id), [RefundState::Given], "{places:?}");
        assert_eq!(journal(&service, &order), [Some(card); 2], "{places:?}");
    }
    in_order(&service);
    Ok(())
}
