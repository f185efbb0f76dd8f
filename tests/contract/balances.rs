//! Balances over time: what milestones and operators award, how errors
//! are found and repaired, and money that keeps an account from being deleted.

use super::ledger::{balance, coins, entries, in_order, moved};
use super::points::{award, founded};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::balances::{CoinsMoved, MoveCoins, MoveCoinsRefusal};
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::app::{AwardResult, DeleteAccountRefusal, Turn};
use terrace_testkit::identity::Password;
use terrace_testkit::kernel::Currency;
use terrace_testkit::kernel::{Failure, UserId};
use terrace_testkit::ledger::{
    AccountKind, Amount, Balance, Holder, House, LedgerCheck, LedgerRepair, TransferOutcome, TransferSource,
};
use terrace_testkit::ops::{self, LedgerReport};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, jobs, on_each_database};
use tokio::sync::watch;

on_each_database! {
    milestones_of_daily_visits_pay_coins_once,
    operators_add_and_remove_coins_once_each,
    a_balance_that_was_tampered_with_is_found_and_repaired_once,
    a_record_that_moved_nothing_is_found_and_repaired,
    a_repair_beside_transfers_loses_nothing,
    balances_are_repaired_every_hour,
    remaining_money_keeps_an_account,
}

fn verify(service: &TestApp) -> LedgerReport {
    service.run(ops::verify_ledger(service.app())).expect("a working store")
}

fn repair(service: &TestApp, dry_run: bool) -> LedgerReport {
    service.run(ops::repair_ledger(service.app(), dry_run)).expect("a working store")
}

fn wrong(report: &LedgerReport) -> Vec<(LedgerCheck, u64)> {
    let wrong = report.checks.iter().map(|(check, found)| (*check, found.wrong));
    wrong.filter(|(_, wrong)| *wrong > 0).collect()
}

fn milestones_of_daily_visits_pay_coins_once(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia").id;
    for day in 1..=8 {
        for _ in 0..2 {
            service.done(VisitDaily { user: mia, awards: service.app().awards() });
        }
        let coins = match day {
            1 => 0,
            2..7 => 10,
            _ => 20,
        };
        assert_eq!(balance(&service, mia, AccountKind::Coins), coins, "day {day}");
        service.clock().advance(Duration::from_hours(24));
    }
    // The bonus of points is paid in addition.
    assert_eq!(balance(&service, mia, AccountKind::Points), 8 * 10 + 50);
    let given = entries(&service, mia).into_iter().find(|entry| entry.kind == AccountKind::Coins);
    assert_eq!(given.map(|entry| entry.reason), Some("7 days in a row".to_owned()));
    in_order(&service);
    Ok(())
}

fn operators_add_and_remove_coins_once_each(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let request = |gives, amount, key: &str| MoveCoins {
        username: "MIA".to_owned(),
        amount: Amount::new(amount).expect("an amount"),
        gives,
        reason: "For your patience".to_owned(),
        source: TransferSource::operator(key).expect("a key"),
    };
    let done = |command| service.run(service.app().move_coins(command));
    let came = |balance| CoinsMoved { user: mia, balance };
    assert_eq!(done(request(true, 10, "t/1")).ok(), Some(came(Some(10))));
    assert_eq!(done(request(true, 10, "t/1")).ok(), Some(came(None)));
    assert_eq!(done(request(false, 4, "t/2")).ok(), Some(came(Some(6))));
    assert_eq!(done(request(false, 4, "t/2")).ok(), Some(came(None)));
    let refused = |command| match done(command) {
        Err(Failure::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(request(false, 7, "t/3")), MoveCoinsRefusal::Insufficient { has: 6 });
    let unknown_fan = MoveCoins { username: "nobody\0".to_owned(), ..request(true, 1, "t/4") };
    assert_eq!(refused(unknown_fan), MoveCoinsRefusal::UnknownAccount);
    assert_eq!((balance(&service, mia, AccountKind::Coins), entries(&service, mia).len()), (6, 2));
    in_order(&service);
    Ok(())
}

fn tamper(service: &TestApp, user: UserId, kind: AccountKind, amount: i64, points: i64) {
    service.write(move |tx, ctx| {
        let correction =
            LedgerRepair { user, balances: vec![Balance { kind, amount }], points, statements: vec![] };
        Ok(tx.write_ledger_repair(&correction, ctx.new_id(), ctx.now())?)
    });
}

fn a_balance_that_was_tampered_with_is_found_and_repaired_once(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fans = service.crowd("fan", 5);
    for fan in &fans {
        service.done(award(&service, *fan, 9, "one"));
    }
    moved(&service, coins(Holder::House(House::Issuance), Holder::Fan(fans[1]), 4, "gift"));
    let sound = verify(&service);
    assert_eq!((wrong(&sound), sound.checks[&LedgerCheck::Balances].checked), (vec![], 6));
    tamper(&service, fans[1], AccountKind::Coins, 400, 0);
    tamper(&service, fans[2], AccountKind::Points, 8, 0);
    // An account that the journal does not contain.
    tamper(&service, fans[3], AccountKind::Money(Currency::EUR), 1, 0);
    let found = verify(&service);
    assert_eq!((wrong(&found), found.repaired), (vec![(LedgerCheck::Balances, 3)], 3));
    let examples = found.checks[&LedgerCheck::Balances].examples.join("\n");
    assert!(examples.contains("the balance of coins is 400, the journal has 4"), "{examples}");
    assert_eq!(repair(&service, true).repaired, 3);
    assert_eq!(balance(&service, fans[1], AccountKind::Coins), 400, "a dry run writes nothing");
    assert_eq!(repair(&service, false).repaired, 3);
    assert_eq!((repair(&service, false).repaired, wrong(&verify(&service))), (0, vec![]));
    assert_eq!(balance(&service, fans[1], AccountKind::Coins), 4);
    assert_eq!(balance(&service, fans[2], AccountKind::Points), 9);
    Ok(())
}

fn a_record_that_moved_nothing_is_found_and_repaired(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 9, "one"));
    // The journal has three more than the records.
    tamper(&service, mia, AccountKind::Points, 9, 3);
    assert_eq!(balance(&service, mia, AccountKind::Points), 12);
    assert_eq!(wrong(&verify(&service)), [(LedgerCheck::Awards, 1)]);
    assert_eq!(repair(&service, false).repaired, 1);
    assert_eq!((balance(&service, mia, AccountKind::Points), wrong(&verify(&service))), (9, vec![]));
    in_order(&service);
    Ok(())
}

fn a_repair_beside_transfers_loses_nothing(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 4);
    for (n, fan) in fans.iter().enumerate() {
        moved(&service, coins(Holder::House(House::Issuance), Holder::Fan(*fan), 100, &format!("gift/{n}")));
    }
    tamper(&service, fans[0], AccountKind::Coins, 1_000, 0);
    let repairing = service.spawn({
        let app = Arc::clone(other.app());
        async move {
            let mut repaired = 0;
            for _ in 0..10 {
                repaired += ops::repair_ledger(&app, false).await.expect("a working store").repaired;
            }
            repaired
        }
    });
    let works = (0..80_usize).map(|n| {
        let (app, fan) = (Arc::clone(service.app()), fans[n % 4]);
        let spent = coins(Holder::Fan(fan), Holder::House(House::Revenue), 1, &format!("spent/{n}"));
        let award = award(&service, fan, 2, &n.to_string());
        async move {
            let spent = app.execute(spent).await;
            assert!(matches!(spent, Ok(TransferOutcome::Now { .. })), "{spent:?}");
            assert!(matches!(app.execute(award).await, Ok(AwardResult::Now { .. })));
        }
    });
    service.together(works);
    assert_eq!(service.join(repairing), 1, "what was in order is left alone");
    for fan in fans {
        let has = [AccountKind::Coins, AccountKind::Points].map(|kind| balance(&service, fan, kind));
        assert_eq!(has, [80, 40]);
    }
    in_order(&service);
    Ok(())
}

fn balances_are_repaired_every_hour(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia").id;
    moved(&service, coins(Holder::House(House::Issuance), Holder::Fan(mia), 4, "gift"));
    let job = jobs().into_iter().find(|job| job.name() == "sync-balances").expect("the job");
    let turn = || {
        let (_keep, mut stop) = watch::channel(false);
        service.run(service.app().try_job(&job, &mut stop)).expect("a working store")
    };
    assert_eq!(turn(), Turn::Done);
    tamper(&service, mia, AccountKind::Coins, 400, 0);
    assert!(matches!(turn(), Turn::NotDue(_)));
    assert_eq!(balance(&service, mia, AccountKind::Coins), 400);
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(turn(), Turn::Done);
    assert_eq!((balance(&service, mia, AccountKind::Coins), wrong(&verify(&service))), (4, vec![]));
    Ok(())
}

fn remaining_money_keeps_an_account(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia");
    let viewer = service.viewer(mia.cookie).expect("a session");
    let euros = |from, to, source: &str| {
        let kind = AccountKind::Money(Currency::EUR);
        moved(&service, coins(from, to, 250, source).of(kind))
    };
    let (payments, fan) = (Holder::House(House::Payments), Holder::Fan(mia.id));
    euros(payments, fan, "in");
    moved(&service, coins(Holder::House(House::Issuance), fan, 3, "gift"));
    let delete = || service.run(service.app().delete_account(&viewer, Password::offer(PASSWORD.to_owned())));
    assert!(matches!(delete(), Err(Failure::Refused(DeleteAccountRefusal::BalanceLeft))));
    assert!(service.viewer(mia.cookie).is_some(), "nothing was deleted");
    assert_eq!(euros(fan, payments, "out"), TransferOutcome::Now { debit: Some(0), credit: None });
    delete().expect("no money is left");
    // Coins and the rows stay, under an account that is anonymous now; and nothing more is paid to it.
    assert_eq!((balance(&service, mia.id, AccountKind::Coins), entries(&service, mia.id).len()), (3, 3));
    assert_eq!(euros(payments, fan, "late"), TransferOutcome::NoFan);
    in_order(&service);
    Ok(())
}
