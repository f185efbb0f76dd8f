//! Spec §1 rule 13: the holds, payments and stock of orders are verified and repaired.

use super::carts::put;
use super::ledger::{balance, in_order};
use super::orders::{begin, give_points, holds_fit, notify, now, paid_shop};
use super::packs::give_coins;
use super::products::stock;
use super::repairs::{NOTHING, damage, id, repair_counts, verified};
use anyhow::Result;
use terrace_testkit::app::payments::{NoticeKind, NoticeTaken};
use terrace_testkit::kernel::UserId;
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::ops;
use terrace_testkit::shop::{Order, OrderState, Stock};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_13_holds_and_payments_of_orders_are_repaired,
    spec_1_rule_13_the_stock_of_variants_is_recounted,
}

/// An order for points, coins and money that waits for its payment.
fn bundle(service: &TestApp, fan: UserId) -> Order {
    give_points(service, fan, 5);
    give_coins(service, fan, 5);
    put(service, fan, "bundle", 1);
    begin(service, fan)
}

fn is_held_right(service: &TestApp) -> bool {
    service.ask(|tx| tx.audit_held()).wrong == 0
}

fn spec_1_rule_13_holds_and_payments_of_orders_are_repaired(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let [mia, bo, kim, ana] = ["mia", "bo_", "kim", "ana"].map(|name| service.fan(name).id);
    let [cancelled, paid, sleeping, _] = [mia, bo, kim, ana].map(|fan| bundle(&service, fan));
    assert_eq!(repair_counts(&service, "repair-orders"), NOTHING);
    verified(&service);
    let [of_cancelled, of_paid, of_sleeping] =
        [&cancelled, &paid, &sleeping].map(|order| id(&service, order.id));
    damage(
        &service,
        &[
            &format!("UPDATE orders SET state = 'cancelled' WHERE id = {of_cancelled}"),
            &format!("UPDATE orders SET state = 'completed', paid_at = created_at WHERE id = {of_paid}"),
            &format!("UPDATE payments SET due_at = NULL WHERE payable_id = {of_sleeping}"),
        ],
    );
    assert!(!is_held_right(&service));
    let repaired = repair_counts(&service, "repair-orders");
    assert_eq!(repaired, [("holds of orders", 4), ("payments woken", 1)]);
    assert!(is_held_right(&service));
    // An order that was not paid returns what it held, and the service gets the rest.
    for (fan, order, has) in [(mia, &cancelled, 5), (bo, &paid, 0)] {
        for kind in [AccountKind::Points, AccountKind::Coins] {
            assert_eq!(balance(&service, fan, kind), has, "{kind}");
        }
        holds_fit(&service, order.id);
    }
    assert_eq!(notify(&service, NoticeKind::Paid, &sleeping), NoticeTaken::Applied);
    assert_eq!(now(&service, sleeping.id).state, OrderState::Completed);
    verified(&service);
    in_order(&service);
    Ok(())
}

fn spec_1_rule_13_the_stock_of_variants_is_recounted(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    give_points(&service, mia, 10);
    put(&service, mia, "badge", 1);
    service.done(super::orders::checkout(&service, mia));
    let right = Some(Stock { supply: 3, taken: 1 });
    assert_eq!(stock(&service, "badge"), right);
    damage(&service, &["UPDATE variant_stock SET taken = taken + 2 WHERE supply = 3"]);
    let dry = service.run(ops::tasks::verify_rows(service.app()))?;
    let found: u64 = dry.iter().map(|ran| ran.counts.values().sum::<u64>()).sum();
    assert_eq!(found, 1, "{dry:?}");
    assert_eq!(repair_counts(&service, "repair-orders"), [("stocks of variants", 1)]);
    assert_eq!(stock(&service, "badge"), right);
    Ok(())
}
