//! Spec §1, rule 8, and §3, rules 4 and 6: a buyer gives up a purchase that waits for its payment.

use super::ledger::in_order;
use super::packs::{buy, pack, stock};
use super::payments::{
    CASHIER, Cashier, begin, complete, copies, journal, money, notice, notify, paid_shop, send_notice, state,
};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::payments::{
    CancelPurchaseRefusal, CompletePurchaseRefusal, NoticeKind, NoticeTaken, PaymentState, ProviderFault,
};
use terrace_testkit::kernel::{EventKind, Failure, Position, UserId};
use terrace_testkit::ops;
use terrace_testkit::packs::{Purchase, PurchaseId, PurchaseState, Stock, UserPackState};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_8_a_purchase_that_is_given_up_is_closed_at_the_provider_and_releases_its_stock,
    spec_1_rule_8_of_many_cancellations_at_once_one_ends_the_purchase,
    spec_3_rule_4_a_payment_after_the_cancellation_is_refunded,
    spec_3_rule_4_a_payment_that_the_provider_knows_completes_the_purchase,
    spec_3_rule_4_a_payment_beside_the_cancellation_is_completed_or_refunded,
    a_checkout_that_is_not_closed_leaves_the_purchase_pending,
    a_purchase_without_a_checkout_is_cancelled_at_once,
    only_pending_purchases_of_the_buyer_are_cancelled,
}

fn cancel(service: &TestApp, user: UserId, purchase: PurchaseId) -> Result<Purchase, CancelPurchaseRefusal> {
    match service.run(service.app().cancel_purchase(user, purchase)) {
        Ok(cancelled) => Ok(cancelled),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

fn changes(service: &TestApp) -> Vec<String> {
    let log = service.log(Position::START).into_iter();
    let changed = log.filter(|event| event.what.kind == EventKind::PurchaseChanged);
    changed.filter_map(|event| event.detail.map(String::from)).collect()
}

/// A fan with a purchase of two copies of a limited pack, and its checkout.
fn waiting(kind: DatabaseKind) -> Result<(TestApp, Arc<Cashier>, Purchase)> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let purchase = begin(&service, mia, pack(&service, "gala").id, 2);
    Ok((service, cashier, purchase))
}

fn spec_1_rule_8_a_purchase_that_is_given_up_is_closed_at_the_provider_and_releases_its_stock(
    kind: DatabaseKind,
) -> Result<()> {
    let (service, cashier, purchase) = waiting(kind)?;
    let cancelled = cancel(&service, purchase.user, purchase.id).expect("cancelled");
    assert_eq!((cancelled.state, &cancelled.checkout_url), (PurchaseState::Cancelled, &None));
    assert_eq!(cashier.books().asked.last(), Some(&("close", purchase.id.into())));
    assert_eq!(cashier.books().states[&purchase.id.into()], PaymentState::Ended);
    assert_eq!(
        (stock(&service, purchase.pack), journal(&service, &purchase)),
        (Stock::default(), [None, None])
    );
    assert_eq!(complete(&service, &purchase).unwrap_err(), CompletePurchaseRefusal::Cancelled);
    assert_eq!(changes(&service), ["pending", "cancelled"]);
    // The provider's own message says what is known, and reconciliation has nothing to do.
    assert_eq!(notify(&service, NoticeKind::Cancelled, &purchase), NoticeTaken::Nothing);
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(service.run(ops::reconcile(service.app()))?.looked_at, 0);
    in_order(&service);
    Ok(())
}

fn spec_1_rule_8_of_many_cancellations_at_once_one_ends_the_purchase(kind: DatabaseKind) -> Result<()> {
    let (service, _, purchase) = waiting(kind)?;
    let other = service.another()?;
    let (user, id) = (purchase.user, purchase.id);
    let outcomes = service.together((0..20).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        async move { app.cancel_purchase(user, id).await }
    }));
    let ended = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let late = CancelPurchaseRefusal::NotPending(PurchaseState::Cancelled);
    let is_late = |error: &Failure<_>| matches!(error, Failure::Refused(refusal) if *refusal == late);
    let refused = outcomes.iter().filter(|outcome| outcome.as_ref().is_err_and(is_late)).count();
    assert_eq!((ended, refused), (1, 19));
    assert_eq!(stock(&service, purchase.pack), Stock::default());
    assert_eq!(changes(&service), ["pending", "cancelled"]);
    Ok(())
}

fn spec_3_rule_4_a_payment_after_the_cancellation_is_refunded(kind: DatabaseKind) -> Result<()> {
    let (service, cashier, purchase) = waiting(kind)?;
    cancel(&service, purchase.user, purchase.id).expect("cancelled");
    assert_eq!(notify(&service, NoticeKind::Paid, &purchase), NoticeTaken::Applied);
    assert_eq!(state(&service, &purchase), PurchaseState::Refunded);
    assert_eq!(
        (journal(&service, &purchase), copies(&service, &purchase)),
        ([Some(2500), Some(2500)], vec![])
    );
    assert_eq!(service.run(ops::reconcile(service.app()))?.refunded, 1);
    assert_eq!(cashier.asked("refund"), 1);
    assert_eq!(stock(&service, purchase.pack), Stock::default());
    Ok(())
}

fn spec_3_rule_4_a_payment_that_the_provider_knows_completes_the_purchase(kind: DatabaseKind) -> Result<()> {
    let (service, cashier, purchase) = waiting(kind)?;
    // The buyer has paid, and the message about it is on its way.
    cashier.books().states.insert(purchase.id.into(), PaymentState::Paid(money(&purchase)));
    let refusal = cancel(&service, purchase.user, purchase.id).unwrap_err();
    assert_eq!(refusal, CancelPurchaseRefusal::NotPending(PurchaseState::Completed));
    assert_eq!(copies(&service, &purchase), [UserPackState::Sealed; 2]);
    assert_eq!(notify(&service, NoticeKind::Paid, &purchase), NoticeTaken::Nothing);
    assert_eq!(journal(&service, &purchase), [Some(2500), None]);
    Ok(())
}

fn spec_3_rule_4_a_payment_beside_the_cancellation_is_completed_or_refunded(
    kind: DatabaseKind,
) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let paid = pack(&service, "paid").id;
    for nth in 0..10 {
        let purchase = begin(&service, service.fan(&format!("mia{nth}")).id, paid, 1);
        let (user, id, message) = (purchase.user, purchase.id, notice(NoticeKind::Paid, &purchase));
        let (app, beside) = (Arc::clone(service.app()), Arc::clone(other.app()));
        let cancelling = service.spawn(async move { app.cancel_purchase(user, id).await });
        let taking = service.spawn(async move { beside.take_notice(CASHIER, message).await });
        let cancelled = service.join(cancelling);
        assert_eq!(service.join(taking).expect("a working store"), NoticeTaken::Applied);
        let expected = match cancelled {
            Ok(_) => (PurchaseState::Refunded, [Some(499), Some(499)], vec![]),
            Err(_) => (PurchaseState::Completed, [Some(499), None], vec![UserPackState::Sealed]),
        };
        let found = (state(&service, &purchase), journal(&service, &purchase), copies(&service, &purchase));
        assert_eq!(found, expected);
    }
    in_order(&service);
    Ok(())
}

fn a_checkout_that_is_not_closed_leaves_the_purchase_pending(kind: DatabaseKind) -> Result<()> {
    let (service, cashier, purchase) = waiting(kind)?;
    let held = stock(&service, purchase.pack);
    for fault in [ProviderFault::Passing("slow".to_owned()), ProviderFault::Refused("closed".to_owned())] {
        cashier.books().fault = Some(fault);
        let refusal = cancel(&service, purchase.user, purchase.id).unwrap_err();
        assert_eq!(refusal, CancelPurchaseRefusal::NotNow);
        assert_eq!(
            (state(&service, &purchase), stock(&service, purchase.pack)),
            (PurchaseState::Pending, held)
        );
    }
    cashier.books().fault = None;
    // It can still be paid.
    let paid = notice(NoticeKind::Paid, &purchase);
    assert_eq!(send_notice(&service, paid), NoticeTaken::Applied);
    assert_eq!(state(&service, &purchase), PurchaseState::Completed);
    Ok(())
}

fn a_purchase_without_a_checkout_is_cancelled_at_once(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let purchase = service.done(buy(&service, mia, gala, 1)).purchase;
    cancel(&service, mia, purchase.id).expect("cancelled");
    assert_eq!((cashier.asked("close"), stock(&service, gala)), (0, Stock::default()));
    // The request that began it goes on, and gets no checkout.
    let shown = |_: &terrace_testkit::app::packs::PackPurchased| terrace_testkit::app::store::StoredAnswer {
        created: None,
        body: String::new(),
    };
    service.run(service.app().begin_checkout(mia, purchase.id, None, None, shown)).expect("an answer");
    assert_eq!(cashier.asked("begin"), 0);
    assert_eq!(state(&service, &purchase), PurchaseState::Cancelled);
    Ok(())
}

fn only_pending_purchases_of_the_buyer_are_cancelled(kind: DatabaseKind) -> Result<()> {
    let (service, cashier, purchase) = waiting(kind)?;
    let bo = service.fan("bo_").id;
    assert_eq!(cancel(&service, bo, purchase.id).unwrap_err(), CancelPurchaseRefusal::UnknownPurchase);
    assert_eq!((cashier.asked("close"), state(&service, &purchase)), (0, PurchaseState::Pending));
    assert_eq!(notify(&service, NoticeKind::Paid, &purchase), NoticeTaken::Applied);
    let not_pending = |state| CancelPurchaseRefusal::NotPending(state);
    let refusal = || cancel(&service, purchase.user, purchase.id).unwrap_err();
    assert_eq!(refusal(), not_pending(PurchaseState::Completed));
    assert_eq!(notify(&service, NoticeKind::Refunded, &purchase), NoticeTaken::Applied);
    assert_eq!(refusal(), not_pending(PurchaseState::Refunded));
    let unpaid = begin(&service, bo, purchase.pack, 1);
    service.clock().advance(Duration::from_mins(31));
    service.run(ops::reconcile(service.app()))?;
    assert_eq!(cancel(&service, bo, unpaid.id).unwrap_err(), not_pending(PurchaseState::Expired));
    Ok(())
}
