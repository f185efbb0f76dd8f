//! Many checkouts at once (contract part 2 §3, stock and holds): they sell exactly the stock, never wait for each other in a
//! circle, and a notice counts once wherever it is received.

use super::carts::{cart, put, ship_to};
use super::ledger::{balance, in_order};
use super::orders::{begin, checkout, holds_fit, journal, notice, now, paid_shop};
use super::packs::give_coins;
use super::payments::CASHIER;
use super::products::{change_stock, stock, variant};
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::payments::{CloseReason, EndPending, NoticeKind, NoticeTaken, PaymentNotice};
use terrace_testkit::app::shop::{PlaceOrder, PlaceOrderRefusal, PutCartLine, StockChange};
use terrace_testkit::kernel::{Failure, PriceKind, UserId};
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::shop::{Order, OrderState, Problem, Stock};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    racing_checkouts_sell_exactly_the_stock,
    carts_in_opposite_order_never_wait_for_each_other,
    a_payment_and_the_end_of_its_order_at_once_end_in_one_state,
    one_cart_that_is_ordered_often_is_ordered_once,
}

/// Runs checkouts at once, in two processes; returns the orders and how many were refused by the stock.
fn order_together(services: [&TestApp; 2], commands: Vec<PlaceOrder>) -> (Vec<Order>, usize) {
    let each = commands.into_iter().zip([services[0], services[1]].into_iter().cycle());
    let works: Vec<_> = each
        .map(|(command, service)| {
            let app = Arc::clone(service.app());
            async move { app.execute(command).await }
        })
        .collect();
    let (mut orders, mut sold_out) = (Vec::new(), 0);
    for outcome in services[0].together(works) {
        match outcome {
            Ok(shown) => orders.push(shown.order),
            Err(Failure::Refused(PlaceOrderRefusal::Problem(Problem::SoldOut))) => sold_out += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    (orders, sold_out)
}

fn crowd(service: &TestApp, count: usize) -> Vec<UserId> {
    (0..count).map(|nth| service.fan(&format!("fan{nth}")).id).collect()
}

/// Puts a variant into a cart at its price in coins.
fn put_for_coins(service: &TestApp, user: UserId, path: &str, quantity: u32) {
    let found = variant(service, path);
    let price = found.prices.iter().find(|one| one.price.amount(PriceKind::Coins) > 0).expect("a price").id;
    let book = service.run(service.app().product_book()).expect("products");
    service.done(PutCartLine { user, variant: found.id, quantity, price: Some(price), book });
}

fn racing_checkouts_sell_exactly_the_stock(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let fans = crowd(&service, 12);
    for fan in &fans {
        give_coins(&service, *fan, 100);
        ship_to(&service, *fan, "DE");
        put_for_coins(&service, *fan, "shirt/m", 1);
    }
    let commands: Vec<_> = fans.iter().map(|fan| checkout(&service, *fan)).collect();
    let (orders, sold_out) = order_together([&service, &other], commands);
    assert_eq!((orders.len(), sold_out), (5, 7));
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 5, taken: 5 }));
    let held = |service: &TestApp| {
        fans.iter().map(|fan| 100 - balance(service, *fan, AccountKind::Coins)).sum::<i64>()
    };
    assert_eq!(held(&service), 5 * 100);
    let book = service.run(service.app().pack_book())?;
    for order in &orders {
        holds_fit(&service, order.id);
        let end = EndPending { payable: order.id.into(), how: CloseReason::Cancelled, book: book.clone() };
        assert!(service.done(end));
        holds_fit(&service, order.id);
    }
    assert_eq!((held(&service), stock(&service, "shirt/m")), (0, Some(Stock { supply: 5, taken: 0 })));
    in_order(&service);
    Ok(())
}

fn carts_in_opposite_order_never_wait_for_each_other(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    assert!(change_stock(&service, "shirt/m", StockChange::Set(Some(200))).is_ok());
    assert!(change_stock(&service, "shirt/l", StockChange::Set(Some(200))).is_ok());
    let fans = crowd(&service, 16);
    for (nth, fan) in fans.iter().enumerate() {
        ship_to(&service, *fan, "DE");
        let paths = if nth % 2 == 0 { ["shirt/m", "shirt/l"] } else { ["shirt/l", "shirt/m"] };
        for path in paths {
            put(&service, *fan, path, 1);
            service.clock().advance(std::time::Duration::from_millis(1));
        }
    }
    let commands: Vec<_> = fans.iter().map(|fan| checkout(&service, *fan)).collect();
    let (orders, sold_out) = order_together([&service, &other], commands);
    assert_eq!((orders.len(), sold_out), (16, 0));
    for path in ["shirt/m", "shirt/l"] {
        assert_eq!(stock(&service, path), Some(Stock { supply: 200, taken: 16 }), "{path}");
    }
    Ok(())
}

fn a_payment_and_the_end_of_its_order_at_once_end_in_one_state(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let kinds = [NoticeKind::Paid, NoticeKind::Cancelled, NoticeKind::Failed, NoticeKind::Paid];
    for nth in 0..6 {
        let mia = service.fan(&format!("mia{nth}")).id;
        put(&service, mia, "purse", 1);
        let order = begin(&service, mia);
        let works: Vec<_> = kinds
            .iter()
            .zip([&service, &other].into_iter().cycle())
            .enumerate()
            .map(|(place, (kind, service))| {
                let app = Arc::clone(service.app());
                let notice =
                    PaymentNotice { event_id: format!("evt_{nth}_{place}"), ..notice(*kind, &order) };
                async move { app.take_notice(CASHIER, notice).await.expect("a working store") }
            })
            .collect();
        let taken = service.together(works);
        assert!(taken.contains(&NoticeTaken::Applied));
        let after = now(&service, order.id);
        let coins = balance(&service, mia, AccountKind::Coins);
        match after.state {
            OrderState::Completed => assert_eq!((journal(&service, &order), coins), ([Some(499), None], 50)),
            OrderState::Refunded => assert_eq!((journal(&service, &order), coins), ([Some(499); 2], 0)),
            state => panic!("what was paid is {state}"),
        }
        holds_fit(&service, order.id);
    }
    in_order(&service);
    Ok(())
}

fn one_cart_that_is_ordered_often_is_ordered_once(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    let command = checkout(&service, mia);
    let works: Vec<_> = (0..10)
        .zip([&service, &other].into_iter().cycle())
        .map(|(_, service)| {
            let (app, command) = (Arc::clone(service.app()), command.clone());
            async move { app.execute(command).await }
        })
        .collect();
    let outcomes = service.together(works);
    let placed = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let empty = |outcome: &Result<_, Failure<PlaceOrderRefusal>>| {
        matches!(outcome, Err(Failure::Refused(PlaceOrderRefusal::Empty { pending: Some(_) })))
    };
    assert_eq!((placed, outcomes.iter().filter(|outcome| empty(outcome)).count()), (1, 9));
    assert!(cart(&service, mia).pending.is_some());
    Ok(())
}
