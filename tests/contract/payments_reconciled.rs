//! Spec §3, rule 4: a payment that stops half-way is completed, expired or refunded, by any process that
//! reconciles, however many do so at once.

use super::ledger::in_order;
use super::packs::{buy, pack, stock};
use super::payments::{
    CASHIER, Cashier, begin, copies, journal, money, notice, now, paid_shop, send_notice, state,
};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::ReconcileReport;
use terrace_testkit::app::payments::{
    CompletePurchaseRefusal, NoticeKind, NoticeTaken, PaymentState, ProviderFault,
};
use terrace_testkit::ops;
use terrace_testkit::packs::{Purchase, PurchaseState, Stock, UserPackState};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    an_unpaid_purchase_expires_and_its_stock_can_be_bought,
    a_payment_without_a_notice_is_completed,
    a_payment_at_the_last_moment_does_not_expire,
    a_provider_that_does_not_answer_is_asked_again,
    a_purchase_without_a_checkout_expires,
    a_refund_is_requested_until_it_is_made,
    many_reconciliations_at_once_do_each_thing_once,
    a_buyer_who_asks_after_paying_need_not_wait,
}

const MINUTE: Duration = Duration::from_mins(1);

fn reconcile(service: &TestApp) -> ReconcileReport {
    service.run(ops::reconcile(service.app())).expect("a working store")
}

fn says(cashier: &Cashier, purchase: &Purchase, state: PaymentState) {
    cashier.books().states.insert(purchase.id.into(), state);
}

fn an_unpaid_purchase_expires_and_its_stock_can_be_bought(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let gala = pack(&service, "gala").id;
    let purchase = begin(&service, mia, gala, 4);
    assert_eq!(reconcile(&service), ReconcileReport::default());
    // While it may be paid it waits.
    service.clock().advance(MINUTE * 29);
    assert_eq!(reconcile(&service), ReconcileReport { looked_at: 1, left: 1, ..ReconcileReport::default() });
    service.clock().advance(MINUTE);
    assert_eq!(
        reconcile(&service),
        ReconcileReport { looked_at: 1, expired: 1, ..ReconcileReport::default() }
    );
    assert_eq!(
        (state(&service, &purchase), stock(&service, gala)),
        (PurchaseState::Expired, Stock::default())
    );
    assert_eq!((now(&service, &purchase).checkout_url, journal(&service, &purchase)), (None, [None, None]));
    assert_eq!((cashier.asked("look_up"), cashier.asked("close")), (1, 1));
    assert_eq!(reconcile(&service), ReconcileReport::default());
    service.done(buy(&service, bo, gala, 4));
    // A payment that comes later is refunded.
    assert_eq!(send_notice(&service, notice(NoticeKind::Paid, &purchase)), NoticeTaken::Applied);
    assert_eq!(state(&service, &purchase), PurchaseState::Refunded);
    assert_eq!((reconcile(&service).refunded, cashier.asked("refund")), (1, 1));
    assert_eq!(stock(&service, gala), Stock { sold: 4, sealed: 4 });
    in_order(&service);
    Ok(())
}

fn a_payment_without_a_notice_is_completed(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let paid = pack(&service, "paid").id;
    let [bought, declined, back] = [1, 2, 3].map(|copies| begin(&service, mia, paid, copies));
    says(&cashier, &bought, PaymentState::Paid(money(&bought)));
    says(&cashier, &declined, PaymentState::Ended);
    says(&cashier, &back, PaymentState::Refunded(money(&back)));
    service.clock().advance(MINUTE * 2);
    let report = reconcile(&service);
    let done = ReconcileReport { looked_at: 3, completed: 1, cancelled: 1, refunded: 1, ..report };
    assert_eq!((report, report.left), (done, 0));
    let states = [&bought, &declined, &back].map(|purchase| state(&service, purchase));
    assert_eq!(states, [PurchaseState::Completed, PurchaseState::Cancelled, PurchaseState::Refunded]);
    assert_eq!(copies(&service, &bought), [UserPackState::Sealed]);
    // A notice that comes afterwards changes nothing.
    assert_eq!(send_notice(&service, notice(NoticeKind::Paid, &bought)), NoticeTaken::Nothing);
    assert_eq!(journal(&service, &bought), [Some(499), None]);
    assert_eq!(reconcile(&service), ReconcileReport::default());
    // A payment of another amount is not accepted.
    let odd = begin(&service, mia, paid, 1);
    says(&cashier, &odd, PaymentState::Paid(money(&back)));
    service.clock().advance(MINUTE * 2);
    assert_eq!(reconcile(&service).left, 1);
    assert_eq!((state(&service, &odd), journal(&service, &odd)), (PurchaseState::Pending, [None, None]));
    Ok(())
}

fn a_payment_at_the_last_moment_does_not_expire(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let purchase = begin(&service, mia, gala, 1);
    says(&cashier, &purchase, PaymentState::Paid(money(&purchase)));
    service.clock().advance(MINUTE * 31);
    assert_eq!(reconcile(&service).completed, 1);
    assert_eq!(state(&service, &purchase), PurchaseState::Completed);
    assert_eq!(stock(&service, gala), Stock { sold: 1, sealed: 1 });
    Ok(())
}

fn a_provider_that_does_not_answer_is_asked_again(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let purchase = begin(&service, mia, gala, 1);
    cashier.books().fault = Some(ProviderFault::Passing("a dead line".to_owned()));
    service.clock().advance(MINUTE * 31);
    // Each time it waits a little longer.
    for pause in [30, 60, 120] {
        assert_eq!(reconcile(&service).left, 1);
        service.clock().advance(Duration::from_secs(pause - 1));
        assert_eq!(reconcile(&service), ReconcileReport::default());
        service.clock().advance(Duration::from_secs(1));
    }
    assert_eq!(state(&service, &purchase), PurchaseState::Pending);
    cashier.books().fault = None;
    assert_eq!(reconcile(&service).expired, 1);

    // The stock is not held for ever.
    let purchase = begin(&service, mia, gala, 1);
    cashier.books().fault = Some(ProviderFault::Refused("who are you?".to_owned()));
    service.clock().advance(MINUTE * 90);
    assert_eq!((reconcile(&service).expired, stock(&service, gala)), (1, Stock::default()));
    assert_eq!(state(&service, &purchase), PurchaseState::Expired);
    Ok(())
}

fn a_purchase_without_a_checkout_expires(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    // The process that sold it was killed before it asked the provider.
    let purchase = service.done(buy(&service, mia, gala, 2)).purchase;
    service.clock().advance(MINUTE * 29);
    assert_eq!(reconcile(&service).left, 1);
    service.clock().advance(MINUTE);
    assert_eq!((reconcile(&service).expired, stock(&service, gala)), (1, Stock::default()));
    assert_eq!((state(&service, &purchase), cashier.books().asked.len()), (PurchaseState::Expired, 0));
    Ok(())
}

fn a_refund_is_requested_until_it_is_made(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let paid = pack(&service, "paid").id;
    let purchase = begin(&service, mia, paid, 1);
    send_notice(&service, notice(NoticeKind::Failed, &purchase));
    send_notice(&service, notice(NoticeKind::Paid, &purchase));
    cashier.books().fault = Some(ProviderFault::Passing("a dead line".to_owned()));
    for pause in [30, 60] {
        assert_eq!(reconcile(&service).left, 1);
        service.clock().advance(Duration::from_secs(pause));
    }
    cashier.books().fault = None;
    assert_eq!((reconcile(&service).refunded, cashier.asked("refund")), (1, 3));
    assert_eq!(cashier.books().states[&purchase.id.into()], PaymentState::Refunded(money(&purchase)));
    service.clock().advance(MINUTE * 600);
    assert_eq!(reconcile(&service), ReconcileReport::default());
    assert_eq!(journal(&service, &purchase), [Some(499), Some(499)]);
    Ok(())
}

fn many_reconciliations_at_once_do_each_thing_once(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let other = service.another()?;
    let paid = pack(&service, "paid").id;
    let fans = service.crowd("buyer", 40);
    let purchases: Vec<_> = fans.iter().map(|fan| begin(&service, *fan, paid, 1)).collect();
    for (nth, purchase) in purchases.iter().enumerate() {
        match nth % 4 {
            0 => says(&cashier, purchase, PaymentState::Paid(money(purchase))),
            1 => says(&cashier, purchase, PaymentState::Refunded(money(purchase))),
            2 => {
                send_notice(&service, notice(NoticeKind::Failed, purchase));
                send_notice(&service, notice(NoticeKind::Paid, purchase));
            }
            _ => {}
        }
    }
    service.clock().advance(MINUTE * 31);
    let works: Vec<_> = [&service, &other, &service, &other]
        .map(|service| {
            let app = Arc::clone(service.app());
            async move { ops::reconcile(&app).await }
        })
        .into();
    let mut sum = ReconcileReport::default();
    for report in service.together(works) {
        let report = report?;
        sum.completed += report.completed;
        sum.expired += report.expired;
        sum.refunded += report.refunded;
        sum.left += report.left;
    }
    assert_eq!((sum.completed, sum.expired, sum.refunded, sum.left), (10, 10, 20, 0));
    let count = |wanted| purchases.iter().filter(|purchase| state(&service, purchase) == wanted).count();
    let counts = [PurchaseState::Completed, PurchaseState::Refunded, PurchaseState::Expired].map(count);
    assert_eq!(counts, [10, 20, 10]);
    assert_eq!(reconcile(&service), ReconcileReport::default());
    for purchase in &purchases {
        let moved = match state(&service, purchase) {
            PurchaseState::Completed => [Some(499), None],
            PurchaseState::Refunded => [Some(499), Some(499)],
            PurchaseState::Pending | PurchaseState::Expired | PurchaseState::Cancelled => [None, None],
        };
        assert_eq!(journal(&service, purchase), moved);
    }
    in_order(&service);
    Ok(())
}

fn a_buyer_who_asks_after_paying_need_not_wait(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let paid = pack(&service, "paid").id;
    let purchase = begin(&service, mia, paid, 1);
    says(&cashier, &purchase, PaymentState::Paid(money(&purchase)));
    let command = service.run(service.app().complete_purchase(mia, paid, purchase.id))?;
    assert_eq!(service.done(command).copies.len(), 1);
    // Nor does a fan whose payment was declined have to wait.
    let declined = begin(&service, mia, paid, 1);
    says(&cashier, &declined, PaymentState::Ended);
    let command = service.run(service.app().complete_purchase(mia, paid, declined.id))?;
    assert_eq!(service.refused(command), CompletePurchaseRefusal::Cancelled);
    assert_eq!(
        service.run(service.app().take_notice(CASHIER, notice(NoticeKind::Paid, &purchase)))?,
        NoticeTaken::Nothing
    );
    Ok(())
}
