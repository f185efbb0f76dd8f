//! Spec §1 rule 13: what lines of orders granted, and the goods of grants, are verified and repaired.

use super::grants::{copies, owned};
use super::ledger::{balance, in_order};
use super::order_grants::{bought, chests, refund, verified};
use super::packs::{open, pack, prove, stock};
use super::repairs::{NOTHING, damage, id, repair_counts};
use anyhow::Result;
use terrace_testkit::kernel::UserId;
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::ops;
use terrace_testkit::packs::{Stock, UserPackState};
use terrace_testkit::shop::Order;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_13_goods_of_grants_are_completed,
    spec_1_rule_13_lines_and_grants_are_made_to_agree,
    spec_1_rule_13_what_was_taken_back_is_revoked,
}

fn coins_of(service: &TestApp, fan: UserId) -> i64 {
    balance(service, fan, AccountKind::Coins)
}

/// The id of the grant of a kind of the order's only line, in the form that a statement takes.
fn grant_of(service: &TestApp, order: &Order, kind: &str) -> String {
    let (user, source) = (order.user, order.lines[0].source());
    let given = service.ask(move |tx| tx.grants_of(user, &[source]));
    id(service, given.iter().find(|one| one.grant.kind().as_str() == kind).expect("a grant").id)
}

fn found(service: &TestApp) -> u64 {
    let ran = service.run(ops::tasks::verify_rows(service.app())).expect("a working store");
    ran.iter().map(|ran| ran.counts.values().sum::<u64>()).sum()
}

fn spec_1_rule_13_goods_of_grants_are_completed(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    let order = bought(&service, mia, "chest", 2);
    assert_eq!(repair_counts(&service, "repair-grants"), NOTHING);
    verified(&service);
    let [packs, scarfs] = ["pack", "collectible"].map(|kind| grant_of(&service, &order, kind));
    damage(
        &service,
        &[
            &format!("DELETE FROM user_packs WHERE grant_id = {packs} AND nonce IN (2, 4)"),
            &format!("DELETE FROM owned_collectibles WHERE grant_id = {scarfs} AND slot = 1"),
        ],
    );
    assert!(found(&service) > 0);
    let repaired = repair_counts(&service, "repair-grants");
    assert_eq!(repaired, [("granted collectibles", 1), ("granted copies", 2)]);
    let has = copies(&service, mia);
    assert_eq!(has.iter().map(|copy| copy.nonce).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!((owned(&service, mia).len(), coins_of(&service, mia)), (2, 20));
    let cups = pack(&service, "cups").id;
    prove(&service.done(open(&service, mia, cups, Some(has[1].id))));
    assert_eq!(stock(&service, cups), Stock { sold: 4, sealed: 3 });
    verified(&service);
    in_order(&service);
    Ok(())
}

fn spec_1_rule_13_lines_and_grants_are_made_to_agree(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let (kept, returned) = (bought(&service, mia, "chest", 1), bought(&service, bo, "chest", 1));
    let coins = grant_of(&service, &kept, "coins");
    let line = id(&service, returned.lines[0].id);
    damage(
        &service,
        &[
            // The journal has the coins: they are not given again.
            &format!("DELETE FROM grants WHERE id = {coins}"),
            &format!("UPDATE order_lines SET state = 'revoked' WHERE id = {line}"),
        ],
    );
    assert!(found(&service) > 0);
    let repaired = repair_counts(&service, "repair-grants");
    assert_eq!(repaired, [("grants of delivered lines", 1), ("grants of revoked lines", 3)]);
    assert_eq!(grant_of(&service, &kept, "coins"), coins);
    assert_eq!((coins_of(&service, mia), coins_of(&service, bo)), (10, 0));
    assert_eq!((owned(&service, mia).len(), owned(&service, bo).len()), (1, 0));
    assert!(copies(&service, bo).iter().all(|copy| copy.state == UserPackState::Revoked));
    assert_eq!(stock(&service, pack(&service, "cups").id), Stock { sold: 2, sealed: 2 });
    assert_eq!(repair_counts(&service, "repair-grants"), NOTHING);
    verified(&service);
    in_order(&service);
    Ok(())
}

fn spec_1_rule_13_what_was_taken_back_is_revoked(kind: DatabaseKind) -> Result<()> {
    let service = chests(kind)?;
    let mia = service.fan("mia").id;
    let order = bought(&service, mia, "chest", 1);
    service.done(open(&service, mia, pack(&service, "cups").id, None));
    let opened = copies(&service, mia).into_iter().find(|copy| copy.opened_at.is_some()).expect("one").id;
    refund(&service, &order, None);
    let scarf = grant_of(&service, &order, "collectible");
    let opened = id(&service, opened);
    damage(
        &service,
        &[
            &format!("UPDATE user_packs SET state = 'opened' WHERE id = {opened}"),
            &format!("UPDATE owned_collectibles SET revoked_at = NULL WHERE copy_id = {opened}"),
            &format!("UPDATE owned_collectibles SET revoked_at = NULL WHERE grant_id = {scarf}"),
        ],
    );
    assert_eq!(found(&service), 2);
    assert_eq!(repair_counts(&service, "repair-grants"), [("goods of grants that were taken back", 2)]);
    assert_eq!(owned(&service, mia), []);
    assert!(copies(&service, mia).iter().all(|copy| copy.state == UserPackState::Revoked));
    verified(&service);
    in_order(&service);
    Ok(())
}
