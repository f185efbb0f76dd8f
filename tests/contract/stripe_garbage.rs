//! Contract part 2 §3, the Stripe adapter (spec §1, shop): answers with the status 200 that are no answers leave orders in a state
//! from which reconciliation ends them, and no order is paid without money.

use super::carts::put;
use super::ledger::in_order;
use super::orders::{journal, now, refunds};
use super::stripe::{begin_checkout, deliver_all, movements, place, purse, reconcile, refund, stripe_shop};
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::payments::{CheckoutRefusal, RefundState};
use terrace_testkit::shop::{Order, OrderState};
use terrace_testkit::{DatabaseKind, Movements, StripeGarbage, StripeStandIn, TestApp, on_each_database};

on_each_database! {
    garbage_in_place_of_a_checkout_begins_it_once,
    garbage_in_place_of_a_look_up_completes_and_ends_nothing,
    an_unpaid_order_expires_beside_garbage,
    garbage_in_place_of_a_refund_returns_the_money_once,
}

/// Reconciles every ten minutes; returns how many refunds were confirmed.
fn reconcile_for(service: &TestApp, hours: u64) -> u64 {
    (0..hours * 6)
        .map(|_| {
            service.clock().advance(Duration::from_mins(10));
            reconcile(service)
        })
        .sum()
}

fn state(service: &TestApp, order: &Order) -> OrderState {
    now(service, order.id).state
}

fn unpaid(stand_in: &StripeStandIn, order: &Order) -> bool {
    movements(stand_in, order.id) == Movements::default()
}

fn garbage_in_place_of_a_checkout_begins_it_once(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    for (nth, garbage) in StripeGarbage::ALL.into_iter().enumerate() {
        let mia = service.fan(&format!("mia{nth}")).id;
        put(&service, mia, "purse", 1);
        let order = place(&service, mia);
        stand_in.answer_garbage(Some(garbage));
        for _ in 0..2 {
            assert_eq!(begin_checkout(&service, &order), Err(CheckoutRefusal::NotNow), "{garbage:?}");
        }
        let pending = now(&service, order.id);
        assert_eq!((pending.state, pending.checkout_url), (OrderState::Pending, None), "{garbage:?}");
        stand_in.answer_garbage(None);
        // The same key: the checkout that was begun is answered.
        let url = begin_checkout(&service, &order).expect("a checkout");
        let keys = stand_in.keys();
        assert_eq!(keys[keys.len() - 3..], vec![format!("checkout:{}:0", order.id); 3], "{garbage:?}");
        assert!(stand_in.pay(&url));
        deliver_all(&service, &stand_in);
        assert_eq!(state(&service, &order), OrderState::Completed, "{garbage:?}");
        assert_eq!(movements(&stand_in, order.id).payments, 1, "{garbage:?}");
    }
    in_order(&service);
    Ok(())
}

fn garbage_in_place_of_a_look_up_completes_and_ends_nothing(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    for (nth, garbage) in StripeGarbage::ALL.into_iter().enumerate() {
        let (paid, url) = purse(&service, &format!("mia{nth}"));
        let (open, _) = purse(&service, &format!("bo_{nth}"));
        assert!(stand_in.pay(&url));
        // No event arrives.
        stand_in.take_events();
        stand_in.answer_garbage(Some(garbage));
        for order in [&paid, &open] {
            assert!(service.run(service.app().complete_order(order.user, order.id)).is_err());
        }
        // Stripe closes the checkout, and the order cannot know.
        assert!(service.run(service.app().cancel_order(open.user, open.id)).is_err());
        assert!(service.run(service.app().cancel_order(paid.user, paid.id)).is_err());
        service.clock().advance(Duration::from_mins(36));
        reconcile(&service);
        for order in [&paid, &open] {
            assert_eq!(state(&service, order), OrderState::Pending, "{garbage:?}");
            assert_eq!(journal(&service, order), [None; 2], "{garbage:?}");
        }
        stand_in.answer_garbage(None);
        service.clock().advance(Duration::from_mins(10));
        reconcile(&service);
        assert_eq!(state(&service, &paid), OrderState::Completed, "{garbage:?}");
        assert_eq!(journal(&service, &paid), [Some(499), None], "{garbage:?}");
        let ended = state(&service, &open);
        assert!(matches!(ended, OrderState::Expired | OrderState::Cancelled), "{garbage:?}: {ended}");
        assert!(unpaid(&stand_in, &open) && journal(&service, &open) == [None; 2], "{garbage:?}");
    }
    in_order(&service);
    Ok(())
}

fn an_unpaid_order_expires_beside_garbage(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    for (nth, garbage) in StripeGarbage::ALL.into_iter().enumerate() {
        let (order, _) = purse(&service, &format!("mia{nth}"));
        let (late, url) = purse(&service, &format!("bo_{nth}"));
        stand_in.answer_garbage(Some(garbage));
        // An unanswered look-up delays the end by one hour at most.
        reconcile_for(&service, 2);
        for order in [&order, &late] {
            assert_eq!(state(&service, order), OrderState::Expired, "{garbage:?}");
            assert!(unpaid(&stand_in, order) && journal(&service, order) == [None; 2], "{garbage:?}");
        }
        stand_in.answer_garbage(None);
        assert!(!stand_in.pay(&url), "the checkout is over as well");
    }
    in_order(&service);
    Ok(())
}

fn garbage_in_place_of_a_refund_returns_the_money_once(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = stripe_shop(kind)?;
    for (nth, garbage) in StripeGarbage::ALL.into_iter().enumerate() {
        let (order, url) = purse(&service, &format!("mia{nth}"));
        assert!(stand_in.pay(&url));
        deliver_all(&service, &stand_in);
        refund(&service, order.id);
        stand_in.answer_garbage(Some(garbage));
        assert_eq!((reconcile(&service), reconcile_for(&service, 2)), (0, 0), "{garbage:?}");
        assert_eq!(refunds(&service, order.id)[0].state, RefundState::Owed, "{garbage:?}");
        stand_in.answer_garbage(None);
        assert_eq!(reconcile_for(&service, 2), 1, "{garbage:?}");
        let moved = Movements { paid: 499, returned: 499, payments: 1 };
        assert_eq!(movements(&stand_in, order.id), moved, "{garbage:?}");
        assert_eq!(journal(&service, &order), [Some(499); 2], "{garbage:?}");
        assert_eq!(state(&service, &order), OrderState::Refunded, "{garbage:?}");
    }
    in_order(&service);
    Ok(())
}
