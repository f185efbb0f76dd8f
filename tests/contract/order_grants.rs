//! Contract part 2 §3, grants of products (spec §1, shop): packs, coins and collectibles are given with the payment, and taken
//! back with a refund of their line.

use super::carts::put;
use super::grants::{copies, owned};
use super::ledger::{balance, coins, in_order, moved};
use super::orders::{begin, checkout, give_points, notice, notify, now, paid_shop};
use super::packs::{buy, give_coins, open, pack, prove, shop_of, stock};
use super::payments::CASHIER;
use super::products::{load, product, variant};
use super::repairs;
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::payments::{NoticeDetail, NoticeKind, NoticeTaken, PaymentNotice};
use terrace_testkit::app::shop::{
    CancelOrder, CancelOrderRefusal, FulfilOrder, Fulfilment, PlaceOrder, PlaceOrderRefusal, ShopContent,
};
use terrace_testkit::kernel::{Failure, Grant, GrantKind, UserId};
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::ops;
use terrace_testkit::packs::{CopyOrigin, Stock, UserPackState};
use terrace_testkit::shop::{LineState, ORDER_LIFE, Order, OrderLineId, OrderState, Problem};
use terrace_testkit::{DatabaseKind, SHIPPING, TestApp, on_each_database};

on_each_database! {
    what_a_product_grants_is_given_with_the_payment,
    an_unpaid_order_holds_its_packs_until_it_ends,
    an_order_with_a_pack_is_cancelled_before_it_is_opened,
    a_refund_takes_opened_packs_back,
    a_line_takes_back_only_what_it_granted,
    a_lost_dispute_takes_packs_back,
    late_money_is_returned_and_grants_nothing,
    orders_and_purchases_at_once_share_the_stock,
    a_new_account_holds_one_limited_pack,
    content_is_refused_where_its_grants_do_not_fit,
}

const CHESTS: &str = r#"
    [[product]]
    key = "chest"
    name = "Chest"
    kind = "digital"
    grants = [
        { kind = "pack", key = "cups", amount = 2 },
        { kind = "coins", amount = 10 },
        { kind = "collectible", key = "scarf" },
    ]

    [[product.variant]]
    key = "one"
    name = "One"
    prices = [[{ kind = "money", amount = 900, currency = "EUR" }]]

    [[product]]
    key = "crate"
    name = "Crate"
    kind = "digital"
    grants = [{ kind = "pack", key = "cups" }]

    [[product.variant]]
    key = "one"
    name = "One"
    prices = [[{ kind = "points", amount = 5 }]]

    [[product]]
    key = "box"
    name = "Box"
    kind = "digital"
    grants = [{ kind = "pack", key = "cups" }]

    [[product.variant]]
    key = "one"
    name = "One"
    prices = [[{ kind = "money", amount = 300, currency = "EUR" }]]
"#;

pub(super) fn chests(kind: DatabaseKind) -> Result<TestApp> {
    let (service, _) = paid_shop(kind)?;
    let service = shop_of(service)?;
    load(&service, CHESTS);
    Ok(service)
}

fn cups(service: &TestApp) -> Stock {
    stock(service, pack(service, "cups").id)
}

/// Nothing is out of place: neither counters and journals, nor orders, grants, copies and stocks.
pub(super) fn verified(service: &TestApp) {
    repairs::verified(service);
    let ran = service.run(ops::tasks::verify_rows(service.app())).expect("a working store");
    let found: u64 = ran.iter().map(|ran| ran.counts.values().sum::<u64>()).sum();
    assert_eq!(found, 0, "{ran:?}");
}

fn coins_of(service: &TestApp, fan: UserId) -> i64 {
    balance(service, fan, AccountKind::Coins)
}

/// A paid order of so many chests.
pub(super) fn bought(service: &TestApp, fan: UserId, path: &str, quantity: u32) -> Order {
    put(service, fan, path, quantity);
    let order = begin(service, fan);
    assert_eq!(notify(service, NoticeKind::Paid, &order), NoticeTaken::Applied);
    now(service, order.id)
}

pub(super) fn refund(service: &TestApp, order: &Order, line: Option<OrderLineId>) -> Order {
    service.done(FulfilOrder { order: order.id, line, fulfilment: Fulfilment::Refund })
}

fn states(service: &TestApp, fan: UserId) -> Vec<UserPackState> {
    copies(service, fan).iter().map(|copy| copy.state).collect()
}

fn what_a_product_grants_is_given_with_the_payment(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    let kinds: Vec<_> = product(&service, "chest").grants.iter().map(|grant| grant.kind()).collect();
    assert_eq!(kinds, [GrantKind::Pack, GrantKind::Coins, GrantKind::Collectible]);
    let order = bought(&service, mia, "chest", 2);
    let line = &order.lines[0];
    let amounts: Vec<_> = line.grants.iter().map(|grant| grant.amount()).collect();
    assert_eq!(
        (order.state, line.state, amounts),
        (OrderState::Completed, LineState::Delivered, vec![4, 20, 2])
    );
    let source = line.source();
    let given = service.ask(move |tx| tx.grants_of(mia, &[source]));
    assert_eq!(given.iter().map(|one| one.grant).collect::<Vec<_>>(), line.grants);
    assert_eq!(coins_of(&service, mia), 20);
    let has = copies(&service, mia);
    assert!(has.iter().all(|copy| copy.origin == CopyOrigin::Grant(given[0].id)));
    assert_eq!(has.iter().map(|copy| copy.nonce).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!((cups(&service), owned(&service, mia).len()), (Stock { sold: 4, sealed: 4 }, 2));
    // A copy that was granted is opened and proved like one that was bought.
    let opened = service.done(open(&service, mia, pack(&service, "cups").id, Some(has[2].id)));
    prove(&opened);
    assert_eq!(opened.opening.proof.nonce, 3);
    // The same notice again gives nothing again.
    assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Before);
    assert_eq!((coins_of(&service, mia), copies(&service, mia).len()), (20, 4));
    // What is paid at once is given at once.
    give_points(&service, mia, 5);
    put(&service, mia, "crate", 1);
    let at_once = service.done(checkout(&service, mia)).order;
    assert_eq!((at_once.state, copies(&service, mia).len()), (OrderState::Completed, 5));
    verified(&service);
    in_order(&service);
    Ok(())
}

fn an_unpaid_order_holds_its_packs_until_it_ends(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let cups_id = pack(&service, "cups").id;
    put(&service, mia, "chest", 4);
    let order = begin(&service, mia);
    assert_eq!((cups(&service), copies(&service, mia).len()), (Stock { sold: 8, sealed: 8 }, 0));
    give_coins(&service, bo, 5 * 20);
    service.done(buy(&service, bo, cups_id, 17));
    assert!(service.run(service.app().execute(buy(&service, bo, cups_id, 1))).is_err());
    put(&service, bo, "box", 1);
    assert!(matches!(service.refused(checkout(&service, bo)), PlaceOrderRefusal::Problem(Problem::SoldOut)));
    verified(&service);
    // The packs of one that ends are sold again.
    service.clock().advance(ORDER_LIFE);
    service.run(ops::reconcile(service.app())).expect("a working store");
    assert_eq!(now(&service, order.id).state, OrderState::Expired);
    assert_eq!((cups(&service), copies(&service, mia).len()), (Stock { sold: 17, sealed: 17 }, 0));
    let again = service.done(checkout(&service, bo)).order;
    assert_eq!(cups(&service), Stock { sold: 18, sealed: 18 });
    service.done(CancelOrder { user: bo, order: again.id, is_paid: false });
    assert_eq!(cups(&service), Stock { sold: 17, sealed: 17 });
    verified(&service);
    in_order(&service);
    Ok(())
}

fn an_order_with_a_pack_is_cancelled_before_it_is_opened(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    let order = bought(&service, mia, "chest", 1);
    let cancel = CancelOrder { user: mia, order: order.id, is_paid: true };
    let after = service.done(cancel.clone()).order;
    assert_eq!(after.state, OrderState::Refunded);
    assert_eq!(states(&service, mia), [UserPackState::Revoked; 2]);
    assert_eq!((owned(&service, mia), coins_of(&service, mia)), (Vec::new(), 0));
    assert_eq!(cups(&service), Stock { sold: 0, sealed: 0 });
    assert_eq!(service.refused(cancel), CancelOrderRefusal::NotCancellable);
    // Goods that were used are not returned by the fan.
    let order = bought(&service, mia, "chest", 1);
    service.done(open(&service, mia, pack(&service, "cups").id, None));
    let cancel = CancelOrder { user: mia, order: order.id, is_paid: true };
    assert_eq!(service.refused(cancel), CancelOrderRefusal::Used);
    let order = bought(&service, mia, "chest", 1);
    moved(&service, coins(Holder::Fan(mia), Holder::House(House::Revenue), 11, "spent"));
    let cancel = CancelOrder { user: mia, order: order.id, is_paid: true };
    assert_eq!(service.refused(cancel), CancelOrderRefusal::Used);
    verified(&service);
    in_order(&service);
    Ok(())
}

fn a_refund_takes_opened_packs_back(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    let cups_id = pack(&service, "cups").id;
    let order = bought(&service, mia, "chest", 1);
    let opened = service.done(open(&service, mia, cups_id, None));
    moved(&service, coins(Holder::Fan(mia), Holder::House(House::Revenue), 4, "spent"));
    assert_eq!(owned(&service, mia).len(), 3);
    let after = refund(&service, &order, None);
    assert_eq!(after.state, OrderState::Refunded);
    assert_eq!((states(&service, mia), owned(&service, mia)), (vec![UserPackState::Revoked; 2], Vec::new()));
    // Six coins are taken back, and four are written off: no balance goes below zero.
    assert_eq!(coins_of(&service, mia), 0);
    // The serial that the opened copy took is not used again.
    assert_eq!(cups(&service), Stock { sold: 1, sealed: 0 });
    let serial = |opened: &terrace_testkit::app::packs::PackOpened| {
        opened.opening.owned.iter().filter_map(|one| one.serial).collect::<Vec<_>>()
    };
    assert_eq!(serial(&opened), [1]);
    bought(&service, mia, "chest", 1);
    assert_eq!(serial(&service.done(open(&service, mia, cups_id, None))), [2]);
    verified(&service);
    in_order(&service);
    Ok(())
}

fn a_line_takes_back_only_what_it_granted(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "chest", 1);
    service.clock().advance(Duration::from_millis(1));
    put(&service, mia, "box", 3);
    let order = begin(&service, mia);
    assert_eq!(notify(&service, NoticeKind::Paid, &order), NoticeTaken::Applied);
    assert_eq!(states(&service, mia).len(), 5);
    let boxes = order.lines.iter().find(|line| line.variant == variant(&service, "box").id).expect("a line");
    let after = refund(&service, &order, Some(boxes.id));
    assert_eq!(after.state, OrderState::Completed);
    let sealed = states(&service, mia).into_iter().filter(|state| *state == UserPackState::Sealed).count();
    assert_eq!((sealed, cups(&service)), (2, Stock { sold: 2, sealed: 2 }));
    assert_eq!((coins_of(&service, mia), owned(&service, mia).len()), (10, 1));
    refund(&service, &order, None);
    assert_eq!((coins_of(&service, mia), owned(&service, mia).len()), (0, 0));
    assert_eq!(cups(&service), Stock { sold: 0, sealed: 0 });
    verified(&service);
    in_order(&service);
    Ok(())
}

fn a_lost_dispute_takes_packs_back(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    let order = bought(&service, mia, "chest", 1);
    service.done(open(&service, mia, pack(&service, "cups").id, None));
    let lost = PaymentNotice {
        detail: Some(NoticeDetail::Dispute("dp_1".to_owned())),
        ..notice(NoticeKind::DisputeLost, &order)
    };
    let taken = service.run(service.app().take_notice(CASHIER, lost)).expect("a working store");
    assert_eq!((taken, now(&service, order.id).state), (NoticeTaken::Applied, OrderState::Refunded));
    assert_eq!((states(&service, mia), owned(&service, mia)), (vec![UserPackState::Revoked; 2], Vec::new()));
    assert_eq!((coins_of(&service, mia), cups(&service)), (0, Stock { sold: 1, sealed: 0 }));
    verified(&service);
    in_order(&service);
    Ok(())
}

fn late_money_is_returned_and_grants_nothing(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    put(&service, mia, "chest", 1);
    let order = begin(&service, mia);
    service.clock().advance(ORDER_LIFE + Duration::from_hours(2));
    service.run(ops::reconcile(service.app())).expect("a working store");
    assert_eq!(now(&service, order.id).state, OrderState::Expired);
    let late = PaymentNotice {
        occurred_at: terrace_testkit::kernel::Clock::now(service.clock()),
        ..notice(NoticeKind::Paid, &order)
    };
    service.run(service.app().take_notice(CASHIER, late)).expect("a working store");
    assert_eq!(now(&service, order.id).state, OrderState::Refunded);
    assert_eq!((copies(&service, mia), owned(&service, mia), coins_of(&service, mia)), (vec![], vec![], 0));
    assert_eq!(cups(&service), Stock { sold: 0, sealed: 0 });
    verified(&service);
    in_order(&service);
    Ok(())
}

/// Work that says whether it succeeded.
type Work = std::pin::Pin<Box<dyn Future<Output = bool> + Send>>;

/// Forty fans want one of 25 packs: half of them buy it, the others buy a product that grants it.
fn orders_and_purchases_at_once_share_the_stock(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let other = service.another()?;
    let cups_id = pack(&service, "cups").id;
    let fans = service.crowd("fan", 40);
    for fan in &fans {
        give_coins(&service, *fan, 5);
        give_points(&service, *fan, 5);
        put(&service, *fan, "crate", 1);
    }
    let works: Vec<Work> = fans
        .iter()
        .zip([&service, &other].into_iter().cycle())
        .enumerate()
        .map(|(nth, (fan, service))| {
            let app = Arc::clone(service.app());
            let (ordered, bought) = (checkout(service, *fan), buy(service, *fan, cups_id, 1));
            let work: Work = if nth % 4 < 2 {
                Box::pin(async move { app.execute(ordered).await.is_ok() })
            } else {
                Box::pin(async move { app.execute(bought).await.is_ok() })
            };
            work
        })
        .collect();
    let done = service.together(works);
    assert_eq!(done.iter().filter(|done| **done).count(), 25);
    assert_eq!(cups(&service), Stock { sold: 25, sealed: 25 });
    let mut serials = Vec::new();
    for fan in &fans {
        for copy in copies(&service, *fan) {
            let opened = service.done(open(&service, *fan, cups_id, Some(copy.id)));
            prove(&opened);
            serials.extend(opened.opening.owned.iter().filter_map(|one| one.serial));
        }
    }
    serials.sort_unstable();
    assert_eq!(serials, (1..=25).collect::<Vec<_>>());
    verified(&service);
    in_order(&service);
    Ok(())
}

fn a_new_account_holds_one_limited_pack(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    let new_account_age = Duration::from_hours(24);
    put(&service, mia, "box", 2);
    let command = PlaceOrder { new_account_age, ..checkout(&service, mia) };
    assert!(matches!(service.refused(command), PlaceOrderRefusal::AccountTooNew { .. }));
    assert_eq!(cups(&service), Stock { sold: 0, sealed: 0 });
    put(&service, mia, "box", 1);
    let command = PlaceOrder { new_account_age, ..checkout(&service, mia) };
    assert_eq!(service.done(command).order.state, OrderState::Pending);
    // All new accounts together hold a quarter of the 25 copies at most.
    let mut done = 0;
    for fan in service.crowd("new", 8) {
        put(&service, fan, "box", 1);
        let command = PlaceOrder { new_account_age, ..checkout(&service, fan) };
        done += usize::from(service.run(service.app().execute(command)).is_ok());
    }
    assert_eq!((done, cups(&service)), (5, Stock { sold: 6, sealed: 6 }));
    Ok(())
}

fn content_is_refused_where_its_grants_do_not_fit(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let before = service.ask(|tx| tx.catalogue());
    for (from, to, words) in [
        ("key = \"cups\", amount = 2", "key = \"none\"", "there is no pack \"none\""),
        (
            "kind = \"collectible\", key = \"scarf\"",
            "kind = \"collectible\", key = \"cup\"",
            "no limited collectible",
        ),
        ("kind = \"coins\"", "kind = \"points\"", "it cannot grant \"points\""),
        (
            "{ kind = \"coins\", amount = 10 }",
            "{ kind = \"product\", key = \"box\" }",
            "it cannot grant \"product\"",
        ),
        (
            "prices = [[{ kind = \"money\", amount = 900, currency = \"EUR\" }]]",
            "prices = [[{ kind = \"coins\", amount = 10 }]]",
            "grants at least as many coins as it costs",
        ),
    ] {
        assert!(CHESTS.contains(from), "{from}");
        let content = ShopContent::parse(&CHESTS.replacen(from, to, 1), SHIPPING).expect("products");
        let Err(Failure::Refused(faults)) = service.run(service.app().load_products(content)) else {
            panic!("{words}: it was loaded");
        };
        let text = faults.to_string();
        assert!(text.contains(words) && text.contains("products.toml:2:"), "{words}: {text}");
    }
    assert_eq!(service.ask(|tx| tx.catalogue()), before);
    // Content that is loaded again changes what is granted from then on.
    load(&service, &CHESTS.replace("amount = 10", "amount = 3"));
    let mia = service.fan("mia").id;
    assert_eq!(bought(&service, mia, "chest", 1).lines[0].grants[1], Grant::Coins(3));
    Ok(())
}
