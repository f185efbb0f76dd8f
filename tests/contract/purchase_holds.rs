//! Stock that is held without a payment: how often an account may abandon purchases, and how much new
//! accounts may hold together.

use super::packs::{buy, open, pack, stock};
use super::payments::{CASHIER, Cashier, begin, copies, journal, notice, send_notice, state};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::PackContent;
use terrace_testkit::app::packs::{OpenPackRefusal, PurchasePack, PurchasePackRefusal};
use terrace_testkit::app::payments::{
    NoticeKind, NoticeTaken, PaymentProvider, ProviderFault, ReturnPurchase, ReturnPurchaseRefusal,
};
use terrace_testkit::kernel::{Clock, Failure, UserId};
use terrace_testkit::packs::{PackId, PurchaseState, SaleRefusal, Stock, UserPackState};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    new_accounts_hold_a_quarter_of_the_remaining_stock,
    fifty_new_accounts_at_once_hold_a_quarter_of_the_stock,
    a_new_account_holds_one_copy_however_often_it_asks_at_once,
    three_abandoned_purchases_stop_an_account_for_a_day,
    a_purchase_that_the_provider_refuses_is_not_abandoned,
    one_of_a_concurrent_return_and_opening_succeeds,
    a_refund_by_the_provider_revokes_what_was_opened,
}

const DAY: Duration = Duration::from_hours(24);

/// A limited pack of 24 copies, and one without a limit.
const DROP: &str = r#"
[[collectible]]
key = "scarf"
name = "Knitted scarf"
rarity = "common"

[[pack]]
key = "drop"
name = "The drop"
description = "Two dozen."
price = { kind = "money", amount = 499, currency = "EUR" }
supply = 24
slots = [{ common = 1 }]

[pack.contents]
scarf = 1

[[pack]]
key = "plenty"
name = "Plenty"
description = "As many as you like."
price = { kind = "money", amount = 499, currency = "EUR" }
slots = [{ common = 1 }]

[pack.contents]
scarf = 1
"#;

/// A service in which accounts are new for a day.
fn drop_shop(kind: DatabaseKind) -> Result<(TestApp, Arc<Cashier>, PackId)> {
    let cashier = Arc::new(Cashier::default());
    let provider: Arc<dyn PaymentProvider> = Arc::<Cashier>::clone(&cashier);
    let service = TestApp::adjusted_and_paid_to(kind, |_, app| app.new_account_age = DAY, provider)?;
    assert!(service.run(service.app().found_seasons())?);
    let content = PackContent::parse(DROP)?;
    service.run(service.app().load_packs(content)).expect("packs that hold what they promise");
    let drop = pack(&service, "drop").id;
    Ok((service, cashier, drop))
}

fn refusal(service: &TestApp, command: PurchasePack) -> SaleRefusal {
    let refused = service.refused(command);
    let PurchasePackRefusal::Rule(refusal) = refused else { panic!("{refused:?}") };
    refusal
}

fn new_accounts_hold_a_quarter_of_the_remaining_stock(kind: DatabaseKind) -> Result<()> {
    let (service, _, drop) = drop_shop(kind)?;
    let old = service.fan("old").id;
    service.clock().advance(DAY);
    let fresh = service.crowd("fresh", 12);
    let too_new = SaleRefusal::AccountTooNew { until: service.clock().now().plus(DAY) };
    assert_eq!(refusal(&service, buy(&service, fresh[0], drop, 2)), too_new);
    let mut held = Vec::new();
    for fan in &fresh[..6] {
        held.push(begin(&service, *fan, drop, 1));
        assert_eq!(refusal(&service, buy(&service, *fan, drop, 1)), too_new, "one each");
    }
    for fan in &fresh[6..] {
        assert_eq!(refusal(&service, buy(&service, *fan, drop, 1)), too_new);
    }
    assert_eq!(stock(&service, drop), Stock { sold: 6, sealed: 6 });
    // They may buy a pack without a limit.
    begin(&service, fresh[6], pack(&service, "plenty").id, 5);

    // A paid purchase holds nothing, and its fan may hold another copy; the share is of what is left.
    assert_eq!(send_notice(&service, notice(NoticeKind::Paid, &held[0])), NoticeTaken::Applied);
    assert_eq!(refusal(&service, buy(&service, fresh[7], drop, 1)), too_new, "5 of 23 are held: a quarter");
    // An older account may hold all the rest.
    begin(&service, old, drop, 18);
    assert_eq!(stock(&service, drop), Stock { sold: 24, sealed: 24 });
    let gone = SaleRefusal::SoldOut { remaining: 0 };
    assert_eq!(refusal(&service, buy(&service, fresh[7], drop, 1)), gone);

    // After a day they are like any other account.
    service.clock().advance(DAY);
    service.run(service.app().reconcile())?;
    assert_eq!(stock(&service, drop), Stock { sold: 1, sealed: 1 });
    begin(&service, fresh[7], drop, 20);
    Ok(())
}

/// Buys one copy for each fan, at once, from two processes. Returns how many got one, and the refusals of the
/// others.
fn together(services: [&TestApp; 2], fans: &[UserId], pack: PackId) -> (usize, Vec<SaleRefusal>) {
    let each = fans.iter().zip(services.into_iter().cycle());
    let works: Vec<_> = each
        .map(|(fan, service)| {
            let (app, command) = (Arc::clone(service.app()), buy(service, *fan, pack, 1));
            async move { app.execute(command).await }
        })
        .collect();
    let mut refusals = Vec::new();
    for outcome in services[0].together(works) {
        match outcome {
            Ok(_) => {}
            Err(Failure::Refused(PurchasePackRefusal::Rule(refusal))) => refusals.push(refusal),
            Err(other) => panic!("{other:?}"),
        }
    }
    (fans.len() - refusals.len(), refusals)
}

fn fifty_new_accounts_at_once_hold_a_quarter_of_the_stock(kind: DatabaseKind) -> Result<()> {
    let (service, _, drop) = drop_shop(kind)?;
    let other = service.another()?;
    let old = service.fan("old").id;
    service.clock().advance(DAY);
    let (held, refusals) = together([&service, &other], &service.crowd("fresh", 50), drop);
    assert_eq!((held, stock(&service, drop).sold), (6, 6));
    assert!(
        refusals.iter().all(|refusal| matches!(refusal, SaleRefusal::AccountTooNew { .. })),
        "{refusals:?}"
    );
    begin(&service, old, drop, 18);
    Ok(())
}

fn a_new_account_holds_one_copy_however_often_it_asks_at_once(kind: DatabaseKind) -> Result<()> {
    let (service, _, drop) = drop_shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let (held, _) = together([&service, &other], &[mia; 50], drop);
    assert_eq!((held, stock(&service, drop).sold), (1, 1));
    Ok(())
}

fn three_abandoned_purchases_stop_an_account_for_a_day(kind: DatabaseKind) -> Result<()> {
    let (service, _, drop) = drop_shop(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    service.clock().advance(DAY);
    // Two expire, and one is cancelled.
    for _ in 0..2 {
        begin(&service, mia, drop, 20);
        service.clock().advance(Duration::from_mins(31));
        assert_eq!(service.run(service.app().reconcile())?.expired, 1);
    }
    let given_up = begin(&service, mia, drop, 20);
    assert_eq!(send_notice(&service, notice(NoticeKind::Cancelled, &given_up)), NoticeTaken::Applied);
    let wait = DAY.checked_sub(Duration::from_mins(62)).expect("a span");
    assert_eq!(refusal(&service, buy(&service, mia, drop, 1)), SaleRefusal::TooManyAbandoned { wait });
    // Another account, and packs without a limit, are not affected.
    begin(&service, bo, drop, 20);
    begin(&service, mia, pack(&service, "plenty").id, 1);
    // The first one no longer counts after a day.
    service.clock().advance(wait);
    service.run(service.app().reconcile())?;
    begin(&service, mia, drop, 1);
    Ok(())
}

fn a_purchase_that_the_provider_refuses_is_not_abandoned(kind: DatabaseKind) -> Result<()> {
    let (service, cashier, drop) = drop_shop(kind)?;
    let mia = service.fan("mia").id;
    service.clock().advance(DAY);
    cashier.books().fault = Some(ProviderFault::Refused("no such currency".to_owned()));
    for _ in 0..4 {
        let purchase = service.done(buy(&service, mia, drop, 1)).purchase;
        let begun =
            service.run(service.app().begin_checkout(mia, purchase.id, None, None, |_| unreachable!()));
        assert!(begun.is_err());
        assert_eq!(state(&service, &purchase), PurchaseState::Cancelled);
    }
    cashier.books().fault = None;
    begin(&service, mia, drop, 1);
    Ok(())
}

fn giving_back(
    service: &TestApp,
    user: UserId,
    purchase: &terrace_testkit::packs::Purchase,
) -> ReturnPurchase {
    let book = service.run(service.app().pack_book()).expect("packs");
    ReturnPurchase { user, purchase: purchase.id, book }
}

fn one_of_a_concurrent_return_and_opening_succeeds(kind: DatabaseKind) -> Result<()> {
    let (service, _, drop) = drop_shop(kind)?;
    let other = service.another()?;
    for nth in 0..8 {
        let mia = service.fan(&format!("mia{nth}")).id;
        let purchase = begin(&service, mia, drop, 1);
        assert_eq!(send_notice(&service, notice(NoticeKind::Paid, &purchase)), NoticeTaken::Applied);
        let returning = {
            let (app, command) = (Arc::clone(service.app()), giving_back(&service, mia, &purchase));
            service.spawn(async move { app.execute(command).await })
        };
        let opening = {
            let (app, command) = (Arc::clone(other.app()), open(&other, mia, drop, None));
            other.spawn(async move { app.execute(command).await })
        };
        match (service.join(returning), service.join(opening)) {
            (Ok(()), Err(Failure::Refused(OpenPackRefusal::NothingSealed | OpenPackRefusal::Revoked))) => {
                assert_eq!(journal(&service, &purchase), [Some(499), Some(499)]);
                assert_eq!(copies(&service, &purchase), [UserPackState::Revoked]);
                // The provider is asked for the refund, and it is not made twice.
                assert_eq!(service.run(service.app().reconcile())?.refunded, 1);
                service.done(giving_back(&service, mia, &purchase));
            }
            (Err(Failure::Refused(ReturnPurchaseRefusal::Used)), Ok(_)) => {
                assert_eq!(journal(&service, &purchase), [Some(499), None]);
                assert_eq!(copies(&service, &purchase), [UserPackState::Opened]);
            }
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

fn a_refund_by_the_provider_revokes_what_was_opened(kind: DatabaseKind) -> Result<()> {
    let (service, _, drop) = drop_shop(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let purchase = begin(&service, mia, drop, 1);
    assert_eq!(send_notice(&service, notice(NoticeKind::Paid, &purchase)), NoticeTaken::Applied);
    service.done(open(&service, mia, drop, None));
    assert_eq!(service.refused(giving_back(&service, mia, &purchase)), ReturnPurchaseRefusal::Used);
    assert_eq!(service.refused(giving_back(&service, bo, &purchase)), ReturnPurchaseRefusal::UnknownPurchase);
    assert_eq!(state(&service, &purchase), PurchaseState::Completed);
    let taken = service.run(service.app().take_notice(CASHIER, notice(NoticeKind::Refunded, &purchase)))?;
    assert_eq!(taken, NoticeTaken::Applied);
    assert_eq!(copies(&service, &purchase), [UserPackState::Revoked]);
    Ok(())
}
