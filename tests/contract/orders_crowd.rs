//! Many checkouts at once (contract part 2 §3, stock and holds; spec §1, shop): they sell exactly the stock, never wait for each other in a
//! circle, and a notice counts once wherever it is received.

use super::carts::{cart, put, ship_to};
use super::ledger::{balance, in_order};
use super::orders::{begin, checkout, holds_fit, journal, notice, notify, now, paid_shop};
use super::packs::give_coins;
use super::payments::{CASHIER, Cashier};
use super::products::{change_stock, load, shop_of, stock, variant};
use anyhow::Result;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use terrace_testkit::app::payments::{
    CloseReason, EndPending, NoticeKind, NoticeTaken, PaymentNotice, PaymentProvider,
};
use terrace_testkit::app::shop::{PlaceOrder, PlaceOrderRefusal, PutCartLine, StockChange};
use terrace_testkit::kernel::{Clock, Failure, PriceKind, UserId};
use terrace_testkit::ledger::{AccountKind, Amount, Holder, House, Transfer, TransferSource};
use terrace_testkit::ops;
use terrace_testkit::shop::{Amounts, CartItem, Order, OrderState, Pricing, Problem, Stock, StoredCart};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    racing_checkouts_sell_exactly_the_stock,
    carts_in_opposite_order_never_wait_for_each_other,
    a_payment_and_the_end_of_its_order_at_once_end_in_one_state,
    one_cart_that_is_ordered_often_is_ordered_once,
    ten_thousand_checkouts_of_five_hundred_units_sell_exactly_those,
}

const BUYERS: usize = 10_000;
const UNITS: u32 = 500;
/// Checkouts at a time.
const AT_ONCE: usize = 64;
/// Of so many buyers one holds coins beside the money.
const WITH_COINS: usize = 4;

const TICKETS: &str = r#"
    [[product]]
    key = "ticket"
    name = "Ticket"
    kind = "digital"

    [[product.variant]]
    key = "one"
    name = "One"
    stock = 500
    prices = [
        [{ kind = "money", amount = 100, currency = "EUR" }],
        [{ kind = "money", amount = 50, currency = "EUR" }, { kind = "coins", amount = 3 }],
    ]
"#;

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
            service.clock().advance(Duration::from_millis(1));
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
            state
            @ (OrderState::Pending | OrderState::Paid | OrderState::Expired | OrderState::Cancelled) => {
                panic!("what was paid is {state}")
            }
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

/// Fills the carts of the buyers, and returns their checkouts.
fn ten_thousand_carts(service: &TestApp, fans: &[UserId]) -> Vec<PlaceOrder> {
    let ticket = variant(service, "ticket");
    let items =
        [0, 1].map(|nth: usize| CartItem { variant: ticket.id, price: ticket.prices[nth].id, quantity: 1 });
    let item = move |nth: usize| items[usize::from(nth.is_multiple_of(WITH_COINS))];
    let all = fans.to_vec();
    service.write(move |tx, ctx| {
        for (nth, fan) in all.iter().enumerate() {
            tx.touch_cart(*fan, ctx.now())?;
            tx.put_cart_lines(*fan, &[item(nth)], ctx.now())?;
            if nth.is_multiple_of(WITH_COINS) {
                let source = format!("gift/{nth}");
                tx.transfer(&Transfer {
                    id: ctx.new_id(),
                    kind: AccountKind::Coins,
                    debit: Holder::House(House::Issuance),
                    credit: Holder::Fan(*fan),
                    amount: Amount::new(3).expect("an amount"),
                    reason: "A gift".to_owned(),
                    source: TransferSource::operator(&source).expect("a source"),
                    at: ctx.now(),
                })?;
            }
        }
        Ok(())
    });
    let book = service.run(service.app().product_book()).expect("products");
    let quote = |nth: usize, user: UserId| {
        let coins = i64::from(nth.is_multiple_of(WITH_COINS)) * 3;
        let pricing = Pricing {
            user,
            catalogue: book.catalogue(),
            variant: &|id| book.variant(id),
            bought: &HashMap::new(),
            balances: Amounts { coins, ..Amounts::default() },
            now: service.clock().now(),
        };
        pricing.price(&StoredCart { items: vec![(item(nth), None)], shipping: None }).quote
    };
    let granter = service.run(service.app().granter()).expect("the packs");
    let command = |(nth, fan): (usize, &UserId)| PlaceOrder {
        user: *fan,
        quote: quote(nth, *fan).expect("a quote"),
        use_balance: false,
        book: book.clone(),
        provider: Some(CASHIER),
        new_account_age: Duration::ZERO,
        granter: granter.clone(),
    };
    fans.iter().enumerate().map(command).collect()
}

fn ten_thousand_checkouts_of_five_hundred_units_sell_exactly_those(kind: DatabaseKind) -> Result<()> {
    let provider: Arc<dyn PaymentProvider> = Arc::new(Cashier::default());
    let service = TestApp::adjusted_and_paid_to(kind, |storage, _| storage.run_twice = false, provider)?;
    let service = shop_of(service);
    load(&service, TICKETS);
    let other = service.another()?;
    let fans = service.crowd("fan", BUYERS);
    let commands = ten_thousand_carts(&service, &fans);
    let parts: Vec<_> = commands.chunks(BUYERS.div_ceil(AT_ONCE)).map(<[PlaceOrder]>::to_vec).collect();
    let works: Vec<_> = parts
        .into_iter()
        .zip([&service, &other].into_iter().cycle())
        .map(|(part, service)| {
            let app = Arc::clone(service.app());
            async move {
                let mut orders = Vec::new();
                for command in part {
                    match app.execute(command).await {
                        Ok(shown) => orders.push(shown.order),
                        Err(Failure::Refused(PlaceOrderRefusal::Problem(Problem::SoldOut))) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
                orders
            }
        })
        .collect();
    let is_over = AtomicBool::new(false);
    let (orders, looks) = thread::scope(|scope| {
        // Another process sees at any commit that exactly what pending orders hold is held.
        let watch = scope.spawn(|| {
            let mut looks = 0;
            while !is_over.load(Ordering::Acquire) {
                let held = other.ask(|tx| tx.audit_held());
                assert_eq!(held.wrong, 0, "{held:?}");
                looks += 1;
            }
            looks
        });
        let orders: Vec<Order> = service.together(works).into_iter().flatten().collect();
        is_over.store(true, Ordering::Release);
        (orders, watch.join().expect("what is held agrees"))
    });
    assert!(looks > 3, "{looks}");
    let units = usize::try_from(UNITS)?;
    let ticket = |service: &TestApp| stock(service, "ticket");
    assert_eq!((orders.len(), ticket(&service)), (units, Some(Stock { supply: UNITS, taken: UNITS })));
    let held = |orders: &[Order]| orders.iter().map(|order| order.paid_by.coins).sum::<i64>();
    assert!(held(&orders) > 0);
    // Some are paid; all others expire.
    let (paid, unpaid) = orders.split_at(units / 10);
    for order in paid {
        assert_eq!(notify(&service, NoticeKind::Paid, order), NoticeTaken::Applied);
    }
    service.clock().advance(Duration::from_mins(35));
    assert_eq!(service.run(ops::reconcile(service.app()))?.expired, u64::try_from(unpaid.len())?);
    let taken = u32::try_from(paid.len())?;
    assert_eq!(ticket(&service), Some(Stock { supply: UNITS, taken }));
    let house = service.ask(|tx| tx.audit_held());
    assert_eq!(house.wrong, 0, "{house:?}");
    let coins: i64 = service.ask(move |tx| {
        let mut sum = 0;
        for fan in fans.iter().step_by(WITH_COINS) {
            sum += tx.balances(*fan)?.iter().map(|balance| balance.amount).sum::<i64>();
        }
        Ok(sum)
    });
    assert_eq!(coins, i64::try_from(BUYERS.div_ceil(WITH_COINS))? * 3 - held(paid));
    for order in orders.iter().step_by(25) {
        holds_fit(&service, order.id);
    }
    Ok(())
}
