//! Many requests at once (spec §1, rules 8 and 10, and §3, rule 4): a notice counts once however often and
//! wherever it is received, and purchases that wait for their payment never hold more than the stock.

use super::packs::{buy, open, pack, stock};
use super::payments::{CASHIER, begin, copies, journal, notice, owned, paid_shop, send_notice, state};
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::packs::PurchasePackRefusal;
use terrace_testkit::app::payments::{NoticeKind, NoticeTaken, PaymentNotice};
use terrace_testkit::kernel::Failure;
use terrace_testkit::ops;
use terrace_testkit::packs::{PurchaseState, SaleRefusal, Stock, UserPackState};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_8_fifty_same_notices_at_once_complete_once,
    spec_3_rule_4_a_payment_and_its_expiry_at_once_end_in_one_state,
    spec_3_rule_4_a_refund_and_an_opening_at_once_leave_nothing,
    no_more_purchases_for_money_wait_than_can_be_filled,
}

/// All at once, in two processes.
fn notify_together(services: [&TestApp; 2], notices: Vec<PaymentNotice>) -> Vec<NoticeTaken> {
    let each = notices.into_iter().zip([services[0], services[1]].into_iter().cycle());
    let works: Vec<_> = each
        .map(|(notice, service)| {
            let app = Arc::clone(service.app());
            async move { app.take_notice(CASHIER, notice).await.expect("a working store") }
        })
        .collect();
    services[0].together(works)
}

fn spec_1_rule_8_fifty_same_notices_at_once_complete_once(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let purchase = begin(&service, mia, gala, 2);
    let taken = notify_together([&service, &other], vec![notice(NoticeKind::Paid, &purchase); 50]);
    assert_eq!(taken.iter().filter(|taken| **taken == NoticeTaken::Applied).count(), 1, "{taken:?}");
    assert_eq!(taken.iter().filter(|taken| **taken == NoticeTaken::Before).count(), 49, "{taken:?}");
    assert_eq!(copies(&service, &purchase), [UserPackState::Sealed; 2]);
    assert_eq!((journal(&service, &purchase), stock(&service, gala).sold), ([Some(2500), None], 2));
    // As fifty different events they complete no more.
    let purchase = begin(&service, mia, gala, 1);
    let many = (0..50)
        .map(|n| PaymentNotice { event_id: format!("evt_{n}"), ..notice(NoticeKind::Paid, &purchase) });
    let taken = notify_together([&service, &other], many.collect());
    assert_eq!(taken.iter().filter(|taken| **taken == NoticeTaken::Applied).count(), 1, "{taken:?}");
    assert_eq!(copies(&service, &purchase), [UserPackState::Sealed]);
    Ok(())
}

fn spec_3_rule_4_a_payment_and_its_expiry_at_once_end_in_one_state(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let other = service.another()?;
    let paid = pack(&service, "paid").id;
    let kinds = [NoticeKind::Paid, NoticeKind::Cancelled, NoticeKind::Failed, NoticeKind::Paid];
    for nth in 0..10 {
        let mia = service.fan(&format!("mia{nth}")).id;
        let purchase = begin(&service, mia, paid, 1);
        notify_together([&service, &other], kinds.map(|kind| notice(kind, &purchase)).into());
        match state(&service, &purchase) {
            PurchaseState::Completed => {
                assert_eq!(journal(&service, &purchase), [Some(499), None]);
                assert_eq!(copies(&service, &purchase), [UserPackState::Sealed]);
            }
            PurchaseState::Refunded => {
                assert_eq!(journal(&service, &purchase), [Some(499), Some(499)]);
                assert_eq!(copies(&service, &purchase), []);
                assert_eq!(service.run(ops::reconcile(service.app()))?.refunded, 1);
            }
            state @ (PurchaseState::Pending | PurchaseState::Expired | PurchaseState::Cancelled) => {
                panic!("what was paid is {state}");
            }
        }
    }
    assert_eq!(cashier.asked("look_up") + cashier.asked("close"), 0);
    Ok(())
}

fn spec_3_rule_4_a_refund_and_an_opening_at_once_leave_nothing(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let gala = pack(&service, "gala").id;
    let mut gone = 0;
    for nth in 0..5 {
        let mia = service.fan(&format!("mia{nth}")).id;
        let purchase = begin(&service, mia, gala, 1);
        assert_eq!(send_notice(&service, notice(NoticeKind::Paid, &purchase)), NoticeTaken::Applied);
        let refund = {
            let (app, notice) = (Arc::clone(service.app()), notice(NoticeKind::Refunded, &purchase));
            service.spawn(async move { app.take_notice(CASHIER, notice).await })
        };
        let opening = {
            let (app, command) = (Arc::clone(other.app()), open(&other, mia, gala, None));
            other.spawn(async move { app.execute(command).await })
        };
        assert_eq!(service.join(refund)?, NoticeTaken::Applied);
        gone += u32::from(service.join(opening).is_ok());
        // Whichever came first, the fan has nothing, and only an opened copy is lost.
        assert_eq!(
            (copies(&service, &purchase), owned(&service, mia)),
            (vec![UserPackState::Revoked], vec![])
        );
        assert_eq!(stock(&service, gala), Stock { sold: gone, sealed: 0 });
    }
    Ok(())
}

fn no_more_purchases_for_money_wait_than_can_be_filled(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let gala = pack(&service, "gala").id;
    let fans = service.crowd("buyer", 30);
    let each = fans.iter().zip([&service, &other].into_iter().cycle());
    let works: Vec<_> = each
        .map(|(fan, service)| {
            let (app, command) = (Arc::clone(service.app()), buy(service, *fan, gala, 1));
            async move { app.execute(command).await }
        })
        .collect();
    let sold = service.together(works);
    let waiting: Vec<_> = sold.iter().filter_map(|sold| sold.as_ref().ok()).collect();
    assert_eq!((waiting.len(), stock(&service, gala)), (5, Stock { sold: 5, sealed: 5 }));
    for refused in sold.iter().filter_map(|sold| sold.as_ref().err()) {
        let gone = PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 0 });
        assert!(matches!(refused, Failure::Refused(refusal) if *refusal == gone), "{refused:?}");
    }
    Ok(())
}
