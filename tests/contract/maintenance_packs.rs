//! Spec §1 rule 13 and §3 rule 4: purchases, copies, collectibles, stock and editions are repaired from the
//! journal and the proofs of draws, and messages to a minter are sent.

use super::ledger::in_order;
use super::packs::{buy, give_coins, open, pack, prove, shop, stock};
use super::payments::{begin, copies, notice, now, paid_shop, send_notice, state};
use super::points::award;
use super::repairs::{NOTHING, damage, differences, id, repair_counts, run, stored, verified};
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::payments::NoticeKind;
use terrace_testkit::kernel::{Failure, UserId};
use terrace_testkit::ops;
use terrace_testkit::packs::{PurchaseState, Stock, UserPackState};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_3_rule_4_states_follow_the_journal_and_the_draws,
    spec_3_rule_4_paid_copies_and_drawn_collectibles_are_restored,
    spec_3_rule_4_an_overlooked_payment_is_reconciled,
    spec_1_rule_13_stock_and_editions_are_recounted,
    copies_are_restored_once_beside_purchases_and_openings,
    spec_1_rule_10_messages_without_a_lane_get_one,
}

fn all_are_content(service: &TestApp) {
    for task in ["repair-purchases", "backfill-packs", "repair-pack-stock"] {
        assert_eq!(repair_counts(service, task), NOTHING, "{task}");
    }
}

fn spec_3_rule_4_states_follow_the_journal_and_the_draws(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 25);
    let (cups, gala) = (pack(&service, "cups").id, pack(&service, "gala").id);
    let coins = service.done(buy(&service, mia, cups, 2)).purchase;
    service.done(open(&service, mia, cups, None));
    let [paid, back, waiting] = [1, 2, 1].map(|copies| begin(&service, mia, gala, copies));
    send_notice(&service, notice(NoticeKind::Paid, &paid));
    send_notice(&service, notice(NoticeKind::Paid, &back));
    service.done(open(&service, mia, gala, None));
    send_notice(&service, notice(NoticeKind::Refunded, &back));
    all_are_content(&service);
    let apart = ["pack_purchases.changed_at", "user_packs.changed_at", "pack_purchases.checkout_url"];
    let right = stored(&service, &apart);
    let [of_coins, of_paid, of_back] = [coins.id, paid.id, back.id].map(|purchase| id(&service, purchase));
    let seed = if kind == DatabaseKind::Postgres { "'\\x01'" } else { "x'01'" };
    damage(
        &service,
        &[
            &format!("UPDATE pack_purchases SET state = 'pending' WHERE id IN ({of_coins}, {of_paid})"),
            &format!("UPDATE pack_purchases SET state = 'completed' WHERE id = {of_back}"),
            &format!(
                "UPDATE user_packs SET state = 'sealed', sealed_seed = {seed}, opened_at = NULL \
                 WHERE purchase_id = {of_coins} AND state = 'opened'"
            ),
            &format!(
                "UPDATE user_packs SET state = 'opened', opened_at = bought_at \
                 WHERE purchase_id = {of_back} AND nonce = 2"
            ),
        ],
    );
    service.clock().advance(Duration::from_secs(1));
    let repaired = repair_counts(&service, "repair-purchases");
    assert_eq!(repaired, [("states of copies", 2), ("states of purchases", 3)]);
    let mut differs = differences(&right, &stored(&service, &apart));
    // The copy that was returned sealed is now recorded as having been opened: no data says otherwise.
    differs.retain(|row| !row.contains("user_packs"));
    assert_eq!(differs, Vec::<String>::new());
    assert_eq!(
        [&coins, &paid, &back, &waiting].map(|one| state(&service, one)),
        [PurchaseState::Completed, PurchaseState::Completed, PurchaseState::Refunded, PurchaseState::Pending,]
    );
    assert_eq!(copies(&service, &coins), [UserPackState::Opened, UserPackState::Sealed]);
    assert_eq!(copies(&service, &back), [UserPackState::Revoked; 2]);
    in_order(&service);
    Ok(())
}

fn spec_3_rule_4_paid_copies_and_drawn_collectibles_are_restored(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 30);
    let cups = pack(&service, "cups").id;
    let purchase = service.done(buy(&service, mia, cups, 3)).purchase;
    let bought_at = purchase.created_at;
    service.clock().advance(Duration::from_hours(1));
    let opened = service.done(open(&service, mia, cups, None));
    let again = service.done(open(&service, mia, cups, None));
    all_are_content(&service);
    let apart = [
        "owned_collectibles.id",
        "user_packs.id",
        "user_packs.seed_hash",
        "user_packs.sealed_seed",
        "user_packs.changed_at",
    ];
    let right = stored(&service, &apart);
    let (purchase_id, copy) = (id(&service, purchase.id), id(&service, opened.copy.id));
    damage(
        &service,
        &[
            &format!("DELETE FROM user_packs WHERE purchase_id = {purchase_id} AND state = 'sealed'"),
            &format!("DELETE FROM owned_collectibles WHERE copy_id = {copy}"),
        ],
    );
    let gave = u64::try_from(opened.opening.owned.len())?;
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(repair_counts(&service, "backfill-packs"), [("collectibles", gave), ("copies", 1)]);
    assert_eq!(differences(&right, &stored(&service, &apart)), Vec::<String>::new(), "since {bought_at:?}");
    // It is the same draw, with the same serials.
    let now = service.done(open(&service, mia, cups, Some(opened.copy.id)));
    prove(&now);
    let given = |owned: &[terrace_testkit::packs::Owned]| -> Vec<_> {
        owned.iter().map(|owned| (owned.collectible, owned.serial, owned.acquired_at)).collect()
    };
    assert_eq!(given(&now.opening.owned), given(&opened.opening.owned));
    assert_ne!(opened.copy.id, again.copy.id);
    // The lost copy is sealed again, and can be opened and proved.
    prove(&service.done(open(&service, mia, cups, None)));
    assert_eq!(stock(&service, cups), Stock { sold: 3, sealed: 0 });
    all_are_content(&service);
    Ok(())
}

fn spec_3_rule_4_an_overlooked_payment_is_reconciled(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let [asleep, forsaken] = [1, 1].map(|copies| begin(&service, mia, gala, copies));
    let forsaken_id = id(&service, forsaken.id);
    damage(
        &service,
        &[
            "UPDATE payments SET due_at = NULL",
            &format!("DELETE FROM payments WHERE payable_id = {forsaken_id}"),
        ],
    );
    assert_eq!(repair_counts(&service, "repair-purchases"), [("payments woken", 1)]);
    assert_eq!(state(&service, &forsaken), PurchaseState::Pending, "its time is not over");
    service.clock().advance(Duration::from_hours(2));
    assert_eq!(repair_counts(&service, "repair-purchases"), [("states of purchases", 1)]);
    assert_eq!(repair_counts(&service, "repair-pack-stock"), [("stocks of packs", 1)]);
    let reconciled = service.run(ops::reconcile(service.app()))?;
    assert_eq!((reconciled.expired, cashier.asked("close")), (1, 1));
    assert_eq!([&asleep, &forsaken].map(|one| now(&service, one).state), [PurchaseState::Expired; 2]);
    assert_eq!(stock(&service, gala), Stock::default());
    Ok(())
}

fn spec_1_rule_13_stock_and_editions_are_recounted(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 50);
    service.done(award(&service, mia, 10, "game"));
    let (cups, few) = (pack(&service, "cups").id, pack(&service, "single").id);
    service.done(buy(&service, mia, cups, 4));
    service.done(buy(&service, mia, few, 1));
    for _ in 0..2 {
        service.done(open(&service, mia, cups, None));
    }
    let right = stored(&service, &[]);
    damage(
        &service,
        &[
            "UPDATE pack_stock SET sold = sold + 3, sealed = 0",
            "UPDATE collectibles SET minted = 0 WHERE minted > 0",
        ],
    );
    let repaired = repair_counts(&service, "repair-pack-stock");
    assert!(repaired.contains(&("editions", 1)), "{repaired:?}");
    assert_eq!(differences(&right, &stored(&service, &[])), Vec::<String>::new());
    // The next one gets the next serial.
    prove(&service.done(open(&service, mia, cups, None)));
    assert_eq!(repair_counts(&service, "repair-pack-stock"), NOTHING);
    Ok(())
}

/// Fans buy and open in two processes while copies go missing and are restored.
fn copies_are_restored_once_beside_purchases_and_openings(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let fans: Vec<UserId> = service.crowd("fan", 6);
    let cups = pack(&service, "cups").id;
    for fan in &fans {
        give_coins(&service, *fan, 20);
        service.done(buy(&service, *fan, cups, 2));
    }
    let victim = id(&service, fans[0]);
    damage(&service, &[&format!("DELETE FROM user_packs WHERE user_id = {victim} AND nonce = 2")]);
    let works: Vec<_> = fans
        .iter()
        .enumerate()
        .map(|(n, fan)| {
            let (purchase, opening) = (buy(&service, *fan, cups, 2), open(&service, *fan, cups, None));
            let app = std::sync::Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            service.spawn(async move {
                app.execute(purchase).await.expect("a purchase");
                for _ in 0..2 {
                    match app.execute(opening.clone()).await {
                        Ok(_) => {}
                        Err(Failure::Refused(refusal)) => panic!("{refusal:?}"),
                        Err(Failure::Broken(error)) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    let mut given = 0;
    let tasks = ["repair-purchases", "backfill-packs", "repair-pack-stock"];
    while works.iter().any(|work| !work.is_finished()) {
        given += run(&other, &tasks, false).count("copies");
    }
    for work in works {
        service.join(work);
    }
    given += run(&other, &tasks, false).count("copies");
    assert_eq!(given, 1);
    assert_eq!(stock(&service, cups), Stock { sold: 24, sealed: 12 });
    all_are_content(&service);
    verified(&service);
    in_order(&service);
    Ok(())
}

fn spec_1_rule_10_messages_without_a_lane_get_one(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 10);
    let cups = pack(&service, "cups").id;
    service.done(buy(&service, mia, cups, 1));
    let opened = service.done(open(&service, mia, cups, None));
    let copy = opened.copy.id;
    service.write(move |tx, ctx| Ok(tx.hand_to_minter(&[copy], ctx.now())?));
    let right = stored(&service, &[]);
    damage(&service, &["DELETE FROM mint_lanes"]);
    assert_eq!(repair_counts(&service, "repair-minting-lanes"), [("lanes", 1)]);
    assert_eq!(differences(&right, &stored(&service, &[])), Vec::<String>::new());
    Ok(())
}
