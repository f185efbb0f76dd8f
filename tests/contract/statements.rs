//! Contract part 2 §4, held amounts and statements: the entries of a money account are numbered without gaps, and a statement's
//! opening balance and its entries come to its closing balance.

use super::carts::put;
use super::deletion::delete;
use super::ledger::{MakeTransfer, balance, coins, entries, in_order, moved};
use super::migrations::recorded;
use super::orders::{checkout, give_points, paid_shop};
use super::packs::give_coins;
use super::repairs::{damage, id, run};
use anyhow::Result;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::sync::Arc;
use terrace_testkit::app::balances::{ReadCash, ReadStatement, ReadWallets};
use terrace_testkit::app::shop::PlaceOrder;
use terrace_testkit::kernel::{Clock, Currency, Limit, Timestamp, UserId};
use terrace_testkit::ledger::{
    AccountKind, Holder, House, LedgerCheck, Period, Statement, StatementEnds, StatementEntry, StatementPlace,
};
use terrace_testkit::ops;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    spec_4_pending_orders_show_what_they_hold,
    spec_4_concurrent_transfers_number_entries_without_gaps,
    spec_4_opening_and_entries_come_to_closing_in_every_statement,
    spec_4_a_statement_that_is_being_paged_does_not_change,
    spec_4_a_page_costs_the_same_wherever_it_is,
    spec_4_earlier_entries_are_numbered_by_the_migration,
    spec_4_wrong_numbers_are_found_and_repaired_once,
    spec_4_points_and_coins_have_no_numbers,
}

const EUROS: AccountKind = AccountKind::Money(Currency::EUR);
const PAYMENTS: Holder = Holder::House(House::Payments);
const WHOLE: Period = Period { from: None, to: None };

fn euros(from: Holder, to: Holder, amount: i64, source: &str) -> MakeTransfer {
    coins(from, to, amount, source).of(EUROS)
}

fn page(
    service: &TestApp,
    user: UserId,
    period: Period,
    limit: i64,
    place: Option<StatementPlace>,
) -> Statement {
    let limit = Limit::new(limit).expect("a limit");
    service.found(ReadStatement { user, currency: Currency::EUR, period, limit, place })
}

/// The ends of a statement, and the entries of all its pages.
fn statement(
    service: &TestApp,
    user: UserId,
    period: Period,
    limit: i64,
) -> (StatementEnds, Vec<StatementEntry>) {
    let (mut all, mut place) = (Vec::new(), None);
    loop {
        let read = page(service, user, period, limit, place);
        all.extend(read.entries.items);
        place = read.entries.next;
        if place.is_none() {
            return (read.ends, all);
        }
    }
}

/// Asserts that a statement is complete and leads from its opening to its closing balance.
fn adds_up(ends: StatementEnds, entries: &[StatementEntry]) {
    let (mut seq, mut has) = (ends.opening.seq, ends.opening.balance);
    for entry in entries {
        seq += 1;
        has += entry.change;
        assert_eq!((entry.seq, entry.balance_after), (seq, has), "{entries:?}");
    }
    assert_eq!((seq, has), (ends.closing.seq, ends.closing.balance), "{entries:?}");
    assert!(entries.is_sorted_by_key(|entry| entry.at), "{entries:?}");
}

fn spec_4_pending_orders_show_what_they_hold(kind: DatabaseKind) -> Result<()> {
    let (service, _cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    give_points(&service, mia, 12);
    give_coins(&service, mia, 12);
    moved(&service, euros(PAYMENTS, Holder::Fan(mia), 250, "in"));
    let held = || -> Vec<(AccountKind, i64, i64)> {
        let wallets = service.found(ReadWallets { user: mia, limit: Limit::MAX, after: None });
        wallets
            .accounts
            .iter()
            .map(|account| (account.balance.kind, account.balance.amount, account.held))
            .collect()
    };
    let cash = || {
        let cash = service.found(ReadCash { user: mia, currency: Currency::EUR });
        (cash.balance.amount, cash.held)
    };
    let free = [(AccountKind::Points, 12, 0), (AccountKind::Coins, 12, 0), (EUROS, 250, 0)];
    assert_eq!((held(), cash()), (free.to_vec(), (250, 0)));
    put(&service, mia, "bundle", 2);
    let order = service.done(PlaceOrder { use_balance: true, ..checkout(&service, mia) }).order;
    assert!(order.paid_by.card > 0, "it waits for its payment: {:?}", order.paid_by);
    let taken = [(AccountKind::Points, 2, 10), (AccountKind::Coins, 2, 10), (EUROS, 0, 250)];
    assert_eq!((held(), cash()), (taken.to_vec(), (0, 250)));
    // Another fan's orders do not count.
    let bo = service.fan("bo_").id;
    let other = service.found(ReadWallets { user: bo, limit: Limit::MAX, after: None });
    assert!(other.accounts.iter().all(|account| account.held == 0), "{other:?}");
    assert!(service.run(service.app().cancel_order(mia, order.id)).is_ok());
    assert_eq!((held(), cash()), (free.to_vec(), (250, 0)));
    Ok(())
}

fn spec_4_concurrent_transfers_number_entries_without_gaps(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    moved(&service, euros(PAYMENTS, Holder::Fan(mia), 1_000, "in"));
    let works = (0..60_i64).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let (from, to) = match n % 3 {
            0 => (PAYMENTS, Holder::Fan(bo)),
            1 => (Holder::Fan(mia), Holder::Fan(bo)),
            _ => (Holder::Fan(bo), Holder::Fan(mia)),
        };
        // Some come twice, and some find too little.
        let transfer = euros(from, to, 1 + n % 7, &format!("t/{}", n / 4 * 4 + n % 3));
        async move { app.execute(transfer).await }
    });
    for done in service.together(works) {
        done.expect("a working store");
    }
    for fan in [mia, bo] {
        let (ends, listed) = statement(&service, fan, WHOLE, 7);
        adds_up(ends, &listed);
        let journal = entries(&service, fan);
        assert_eq!(listed.len(), journal.len());
        assert_eq!(ends.closing.balance, balance(&service, fan, EUROS));
        for entry in &journal {
            let found = listed.iter().find(|listed| listed.id == entry.id).expect("an entry");
            assert_eq!((found.change, found.balance_after), (entry.change, entry.balance_after));
        }
    }
    in_order(&service);
    Ok(())
}

/// Transfers in and out, and by how much the clock moves before each: clocks of processes differ, so also back.
fn history() -> impl Strategy<Value = Vec<(bool, i64, i64)>> {
    proptest::collection::vec((any::<bool>(), 1..40_i64, -3..6_i64), 0..30)
}

fn spec_4_opening_and_entries_come_to_closing_in_every_statement(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let runs = Cell::new(0);
    let config = Config { cases: 16, failure_persistence: None, ..Config::default() };
    let start = service.clock().now();
    let periods = proptest::collection::vec((0..60_i64, 0..60_i64), 1..5);
    TestRunner::new(config).run(&(history(), periods, 1..12_i64), |(history, periods, limit)| {
        let nth = runs.get() + 1;
        runs.set(nth);
        let fan = service.fan(&format!("fan{nth}")).id;
        let mut seconds = 30;
        let at = |seconds: i64| Timestamp::from_micros(start.as_micros() + seconds * 1_000_000);
        for (n, (comes, amount, step)) in history.into_iter().enumerate() {
            seconds = (seconds + step).max(0);
            service.clock().set(at(seconds));
            let (from, to) = if comes { (PAYMENTS, Holder::Fan(fan)) } else { (Holder::Fan(fan), PAYMENTS) };
            service.done(euros(from, to, amount, &format!("{nth}/{n}")));
        }
        let (ends, all) = statement(&service, fan, WHOLE, limit);
        adds_up(ends, &all);
        prop_assert_eq!((ends.opening.seq, ends.opening.balance), (0, 0));
        prop_assert_eq!(ends.closing.balance, balance(&service, fan, EUROS));
        for (one, other) in periods {
            let period = Period::new(Some(at(one.min(other))), Some(at(one.max(other)))).expect("a period");
            let (ends, part) = statement(&service, fan, period, limit);
            adds_up(ends, &part);
            let inside = |entry: &&StatementEntry| {
                period.from.is_some_and(|from| entry.at >= from) && period.to.is_some_and(|to| entry.at < to)
            };
            prop_assert_eq!(part, all.iter().filter(inside).cloned().collect::<Vec<_>>());
        }
        in_order(&service);
        Ok(())
    })?;
    Ok(())
}

fn spec_4_a_statement_that_is_being_paged_does_not_change(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    for n in 0..5 {
        moved(&service, euros(PAYMENTS, Holder::Fan(mia), 10, &format!("in/{n}")));
    }
    let first = page(&service, mia, WHOLE, 3, None);
    moved(&service, euros(Holder::Fan(mia), PAYMENTS, 7, "out"));
    let second = page(&service, mia, WHOLE, 3, first.entries.next);
    assert_eq!((second.ends, second.ends.closing.balance), (first.ends, 50));
    let numbers: Vec<_> =
        [first, second].iter().flat_map(|page| &page.entries.items).map(|it| it.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!(statement(&service, mia, WHOLE, 100).0.closing.balance, 43);
    // An account that never had an entry has an empty statement.
    let nothing = page(&service, service.fan("bo_").id, WHOLE, 3, None);
    assert_eq!((nothing.ends, nothing.entries.items.len()), (StatementEnds::default(), 0));
    Ok(())
}

fn spec_4_a_page_costs_the_same_wherever_it_is(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let mia = service.fan("mia").id;
    for n in 0..120 {
        moved(&service, euros(PAYMENTS, Holder::Fan(mia), 1, &format!("in/{n}")));
    }
    let cost = |place, limit| {
        let before = service.storage().statements();
        let read = page(&service, mia, WHOLE, limit, place);
        (service.storage().statements() - before, read.entries.next)
    };
    for limit in [1, 25, 100] {
        let (statements, next) = cost(None, limit);
        assert_eq!(statements, 2, "the ends and the page, whatever its size");
        assert_eq!(cost(next, limit).0, 1, "a later page");
    }
    Ok(())
}

fn spec_4_earlier_entries_are_numbered_by_the_migration(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    for n in 0..4 {
        moved(&service, euros(PAYMENTS, Holder::Fan(mia), 10 + n, &format!("in/{n}")));
        moved(&service, euros(Holder::Fan(mia), Holder::Fan(bo), 3, &format!("gift/{n}")));
    }
    give_coins(&service, mia, 5);
    let storage = service.storage();
    let before = [mia, bo].map(|fan| statement(&service, fan, WHOLE, 100));
    while recorded(storage)?.last().is_some_and(|version| version.as_str() >= "20261124000700") {
        storage.revert_last()?;
    }
    storage.migrate()?;
    assert_eq!([mia, bo].map(|fan| statement(&service, fan, WHOLE, 100)), before);
    assert_eq!(before[0].1.len(), 8);
    // Later entries continue the numbers.
    moved(&service, euros(PAYMENTS, Holder::Fan(mia), 1, "later"));
    let (ends, listed) = statement(&service, mia, WHOLE, 100);
    adds_up(ends, &listed);
    in_order(&service);
    Ok(())
}

fn spec_4_wrong_numbers_are_found_and_repaired_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 5);
    for fan in &fans {
        for n in 0..3 {
            moved(&service, euros(PAYMENTS, Holder::Fan(*fan), 10, &format!("in/{n}/{fan}")));
        }
    }
    let before: Vec<_> = fans.iter().map(|fan| statement(&service, *fan, WHOLE, 100)).collect();
    let of = |nth: usize| format!("user_id = {} AND unit = 'EUR'", id(&service, fans[nth]));
    damage(
        &service,
        &[
            &format!("DELETE FROM money_entries WHERE {} AND seq = 2", of(0)),
            &format!("UPDATE money_entries SET balance_after = 99 WHERE {} AND seq = 2", of(1)),
            &format!("UPDATE ledger_accounts SET entry_count = 7 WHERE {}", of(2)),
            &format!("UPDATE money_entries SET change = 1, balance_after = 21 WHERE {} AND seq = 3", of(3)),
        ],
    );
    let wrong = || {
        let report = service.run(ops::verify_ledger(service.app())).expect("a working store");
        report.checks[&LedgerCheck::Statements].wrong
    };
    assert_eq!(wrong(), 4);
    run(&service, &["repair-balances"], true);
    assert_eq!(wrong(), 4, "a dry run writes nothing");
    run(&service, &["repair-balances"], false);
    assert_eq!(wrong(), 0);
    let after: Vec<_> = fans.iter().map(|fan| statement(&service, *fan, WHOLE, 100)).collect();
    assert_eq!(after, before);
    moved(&service, euros(PAYMENTS, Holder::Fan(fans[2]), 10, "next"));
    assert_eq!(statement(&service, fans[2], WHOLE, 100).1.last().map(|entry| entry.seq), Some(4));
    in_order(&service);
    Ok(())
}

fn spec_4_points_and_coins_have_no_numbers(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia");
    give_coins(&service, mia.id, 5);
    moved(&service, euros(PAYMENTS, Holder::Fan(mia.id), 5, "in"));
    moved(&service, euros(Holder::Fan(mia.id), PAYMENTS, 5, "out"));
    let rows = service.storage().read_by_hand("SELECT unit AS text FROM money_entries ORDER BY seq")?;
    assert_eq!(rows, ["EUR", "EUR"]);
    // The entries stay with the account, like the journal.
    assert!(delete(&service, mia.cookie, PASSWORD).is_none());
    assert_eq!(statement(&service, mia.id, WHOLE, 100).1.len(), 2);
    in_order(&service);
    Ok(())
}
