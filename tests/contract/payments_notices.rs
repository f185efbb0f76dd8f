//! Spec §3, rule 4: each notice of a payment counts once, in any order; a purchase that is unpaid, refunded
//! or whose buyer is gone gives back what it held.

use super::ledger::in_order;
use super::packs::{buy, open, pack, stock};
use super::payments::{
    CASHIER, begin, complete, copies, journal, money, notice, notify, owned, paid_shop, reference,
    send_notice, state,
};
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::Password;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::packs::OpenPackRefusal;
use terrace_testkit::app::payments::{
    CompletePurchaseRefusal, Mismatch, NoticeKind, NoticeOutcome, NoticeTaken, PaymentNotice, PaymentState,
};
use terrace_testkit::kernel::Money;
use terrace_testkit::kernel::{Event, EventKind, Position, UserId, Uuid};
use terrace_testkit::ops;
use terrace_testkit::packs::{PurchaseId, PurchaseState, Stock, UserPackState};
use terrace_testkit::{DatabaseKind, PASSWORD, on_each_database};

on_each_database! {
    an_unpaid_purchase_is_cancelled_and_its_stock_can_be_bought,
    spec_3_rule_4_a_late_payment_is_refunded,
    spec_3_rule_4_a_refund_revokes_what_a_purchase_gave,
    notices_in_any_order_end_in_one_state,
    a_notice_that_does_not_match_moves_nothing,
    a_deleted_account_is_refunded,
    each_change_of_a_purchase_is_published,
}

fn an_unpaid_purchase_is_cancelled_and_its_stock_can_be_bought(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let gala = pack(&service, "gala").id;
    for kind in [NoticeKind::Failed, NoticeKind::Cancelled] {
        let purchase = begin(&service, mia, gala, 4);
        assert_eq!(notify(&service, kind, &purchase), NoticeTaken::Applied);
        assert_eq!(state(&service, &purchase), PurchaseState::Cancelled);
        assert_eq!(complete(&service, &purchase).unwrap_err(), CompletePurchaseRefusal::Cancelled);
        assert_eq!((stock(&service, gala), journal(&service, &purchase)), (Stock::default(), [None, None]));
        assert_eq!(notify(&service, kind, &purchase), NoticeTaken::Before);
    }
    // A checkout that the provider ends when its time is over has expired.
    let purchase = begin(&service, mia, gala, 4);
    service.clock().advance(Duration::from_mins(30));
    assert_eq!(notify(&service, NoticeKind::Cancelled, &purchase), NoticeTaken::Applied);
    assert_eq!(
        (state(&service, &purchase), stock(&service, gala)),
        (PurchaseState::Expired, Stock::default())
    );
    assert_eq!(service.done(buy(&service, bo, gala, 4)).purchase.state, PurchaseState::Pending);
    Ok(())
}

fn spec_3_rule_4_a_late_payment_is_refunded(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let purchase = begin(&service, mia, gala, 2);
    assert_eq!(notify(&service, NoticeKind::Cancelled, &purchase), NoticeTaken::Applied);
    assert_eq!(notify(&service, NoticeKind::Paid, &purchase), NoticeTaken::Applied);
    assert_eq!(state(&service, &purchase), PurchaseState::Refunded);
    assert_eq!(complete(&service, &purchase).unwrap_err(), CompletePurchaseRefusal::Refunded);
    assert_eq!(journal(&service, &purchase), [Some(2500), Some(2500)]);
    assert_eq!((stock(&service, gala), copies(&service, &purchase)), (Stock::default(), vec![]));
    // Reconciliation asks the provider for the refund, once.
    assert_eq!(cashier.asked("refund"), 0);
    for refunded in [1, 0] {
        assert_eq!(service.run(ops::reconcile(service.app()))?.refunded, refunded);
    }
    assert_eq!(cashier.asked("refund"), 1);
    // The provider then sends a notice of it.
    assert_eq!(notify(&service, NoticeKind::Refunded, &purchase), NoticeTaken::Nothing);
    assert_eq!(journal(&service, &purchase), [Some(2500), Some(2500)]);
    in_order(&service);
    Ok(())
}

fn spec_3_rule_4_a_refund_revokes_what_a_purchase_gave(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let gala = pack(&service, "gala").id;
    let purchase = begin(&service, mia, gala, 3);
    assert_eq!(notify(&service, NoticeKind::Paid, &purchase), NoticeTaken::Applied);
    let opened = service.done(open(&service, mia, gala, None));
    assert_eq!(owned(&service, mia), [Some(1)]);
    assert_eq!(stock(&service, gala), Stock { sold: 3, sealed: 2 });
    assert_eq!(notify(&service, NoticeKind::Refunded, &purchase), NoticeTaken::Applied);
    assert_eq!(state(&service, &purchase), PurchaseState::Refunded);
    assert_eq!(copies(&service, &purchase), [UserPackState::Revoked; 3]);
    assert_eq!((owned(&service, mia), journal(&service, &purchase)), (vec![], [Some(3750), Some(3750)]));
    // Opened copies are lost, the sealed ones can be bought by others.
    assert_eq!(stock(&service, gala), Stock { sold: 1, sealed: 0 });
    assert_eq!(service.refused(open(&service, mia, gala, Some(opened.copy.id))), OpenPackRefusal::Revoked);
    assert_eq!(service.refused(open(&service, mia, gala, None)), OpenPackRefusal::NothingSealed);
    assert_eq!(notify(&service, NoticeKind::Refunded, &purchase), NoticeTaken::Before);
    assert_eq!(stock(&service, gala), Stock { sold: 1, sealed: 0 });
    // The provider is not asked for a refund that it has made, and the serial is not used again.
    service.run(ops::reconcile(service.app()))?;
    assert_eq!(cashier.asked("refund"), 0);
    let next = begin(&service, bo, gala, 4);
    assert_eq!(notify(&service, NoticeKind::Paid, &next), NoticeTaken::Applied);
    for _ in 0..4 {
        service.done(open(&service, bo, gala, None));
    }
    let mut serials = owned(&service, bo);
    serials.sort_unstable();
    assert_eq!(serials, [2, 3, 4, 5].map(Some));
    in_order(&service);
    Ok(())
}

/// Every order of four notices, each of them sent twice.
fn notices_in_any_order_end_in_one_state(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let paid = pack(&service, "paid").id;
    let mut orders = Vec::new();
    for first in 0..3 {
        for second in (0..3).filter(|second| *second != first) {
            orders.push([first, second, 3 - first - second]);
        }
    }
    for (nth, order) in orders.into_iter().enumerate() {
        let mia = service.fan(&format!("mia{nth}")).id;
        let kinds = [NoticeKind::Paid, NoticeKind::Cancelled, NoticeKind::Refunded];
        let purchase = begin(&service, mia, paid, 2);
        for place in order {
            for _ in 0..2 {
                notify(&service, kinds[place], &purchase);
            }
        }
        // All of it was paid and refunded, whichever notice came first.
        assert_eq!(state(&service, &purchase), PurchaseState::Refunded, "{order:?}");
        assert_eq!(journal(&service, &purchase), [Some(998), Some(998)], "{order:?}");
        assert!(copies(&service, &purchase).iter().all(|copy| *copy == UserPackState::Revoked), "{order:?}");
        service.run(ops::reconcile(service.app()))?;
        assert_eq!(cashier.asked("refund"), 0, "{order:?}");
    }
    in_order(&service);
    Ok(())
}

fn a_notice_that_does_not_match_moves_nothing(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let [paid, gala] = ["paid", "gala"].map(|key| pack(&service, key).id);
    let [purchase, others] = [begin(&service, mia, gala, 2), begin(&service, bo, paid, 1)];
    let good = || notice(NoticeKind::Paid, &purchase);
    let unknown = PurchaseId::from_uuid(Uuid::from_u128(1));
    let one = money(&others);
    for (nth, (wrong, mismatch)) in [
        (PaymentNotice { money: Money { amount: 2499, ..good().money }, ..good() }, Mismatch::Amount),
        (PaymentNotice { money: Money { amount: 25_00_00, ..good().money }, ..good() }, Mismatch::Amount),
        (PaymentNotice { money: Money { amount: -2500, ..good().money }, ..good() }, Mismatch::Amount),
        (
            PaymentNotice { money: Money { currency: "USD".parse()?, ..good().money }, ..good() },
            Mismatch::Currency,
        ),
        (PaymentNotice { payable: unknown.into(), ..good() }, Mismatch::Payable),
        // A payment of another purchase for this one, and the other way round.
        (PaymentNotice { reference: reference(others.id), ..good() }, Mismatch::Reference),
        (PaymentNotice { payable: others.id.into(), money: one, ..good() }, Mismatch::Reference),
    ]
    .into_iter()
    .enumerate()
    {
        let wrong = PaymentNotice { event_id: format!("evt_wrong_{nth}"), ..wrong };
        for _ in 0..2 {
            assert_eq!(send_notice(&service, wrong.clone()), NoticeTaken::Mismatch(mismatch), "{wrong:?}");
        }
        let kept = service.ask(move |tx| tx.notice(CASHIER, &format!("evt_wrong_{nth}")));
        assert_eq!(kept, Some((wrong, NoticeOutcome::Mismatch)));
    }
    for purchase in [&purchase, &others] {
        assert_eq!(state(&service, purchase), PurchaseState::Pending);
        assert_eq!(journal(&service, purchase), [None, None]);
    }
    // A notice of another provider counts for nothing.
    let other = service.run(service.app().take_notice("another", good()))?;
    assert_eq!(other, NoticeTaken::Mismatch(Mismatch::Provider));
    // The same event with another content is refused, whether it comes before or after.
    assert_eq!(send_notice(&service, good()), NoticeTaken::Applied);
    let changed = PaymentNotice { kind: NoticeKind::Refunded, ..good() };
    assert_eq!(send_notice(&service, changed), NoticeTaken::Mismatch(Mismatch::Event));
    assert_eq!(state(&service, &purchase), PurchaseState::Completed);
    // A purchase for points has no payment.
    let day = pack(&service, "day").id;
    service.done(super::points::award(&service, mia, 10, "game"));
    let points = service.done(buy(&service, mia, day, 1)).purchase;
    let claim = PaymentNotice { payable: points.id.into(), event_id: "evt_points".to_owned(), ..good() };
    assert_eq!(send_notice(&service, claim), NoticeTaken::Mismatch(Mismatch::Payable));
    Ok(())
}

fn a_deleted_account_is_refunded(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let (leaver, bo) = (service.fan("mia"), service.fan("bo_").id);
    let mia = leaver.id;
    let gala = pack(&service, "gala").id;
    let [gone, aside] = [begin(&service, mia, gala, 2), begin(&service, bo, gala, 1)];
    let viewer = service.viewer(leaver.cookie).expect("signed in");
    let deleted = service.run(service.app().delete_account(&viewer, Password::offer(PASSWORD.to_owned())));
    assert!(deleted.is_ok());
    service.done(SuspendAccount { username: "bo_".to_owned() });
    assert_eq!(notify(&service, NoticeKind::Paid, &gone), NoticeTaken::Applied);
    assert_eq!(notify(&service, NoticeKind::Paid, &aside), NoticeTaken::Applied);
    // A suspended fan keeps what they have paid for; a deleted account receives nothing.
    assert_eq!(state(&service, &aside), PurchaseState::Completed);
    assert_eq!((state(&service, &gone), copies(&service, &gone)), (PurchaseState::Refunded, vec![]));
    assert_eq!(stock(&service, gala), Stock { sold: 1, sealed: 1 });
    assert_eq!(service.run(ops::reconcile(service.app()))?.refunded, 1);
    assert_eq!(cashier.books().states[&gone.id.into()], PaymentState::Refunded(money(&gone)));
    in_order(&service);
    Ok(())
}

fn each_change_of_a_purchase_is_published(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    service.done(super::points::award(&service, mia, 10, "game"));
    let [paid, day] = ["paid", "day"].map(|key| pack(&service, key).id);
    let before = service.settled();
    let points = service.done(buy(&service, mia, day, 1)).purchase;
    let purchase = begin(&service, mia, paid, 1);
    notify(&service, NoticeKind::Paid, &purchase);
    notify(&service, NoticeKind::Paid, &purchase);
    notify(&service, NoticeKind::Refunded, &purchase);
    let given_up = begin(&service, mia, paid, 1);
    notify(&service, NoticeKind::Failed, &given_up);
    let changes: Vec<_> = service.log(before).into_iter().filter_map(change).collect();
    assert_eq!(
        changes,
        [
            (mia, points.id, "completed".to_owned()),
            (mia, purchase.id, "pending".to_owned()),
            (mia, purchase.id, "completed".to_owned()),
            (mia, purchase.id, "refunded".to_owned()),
            (mia, given_up.id, "pending".to_owned()),
            (mia, given_up.id, "cancelled".to_owned()),
        ]
    );
    assert!(before > Position::START);
    Ok(())
}

fn change(event: Event) -> Option<(UserId, PurchaseId, String)> {
    (event.what.kind == EventKind::PurchaseChanged).then(|| {
        let detail = event.detail.expect("a state").into_string();
        (event.what.actor.expect("a fan"), PurchaseId::from_uuid(event.what.subject), detail)
    })
}
