//! Points, coins and money as one ledger: every row of the journal moves an amount from one account to
//! another, nothing is paid twice, no fan's balance is below zero, and an award's spendable points are
//! written with it or not at all.

use super::points::{award, founded};
use anyhow::Result;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::boards::{AwardPoints, ReversePoints};
use terrace_testkit::app::store::Tx;
use terrace_testkit::app::{AwardResult, Command};
use terrace_testkit::kernel::Currency;
use terrace_testkit::kernel::{Clock, Ctx, Failure, Limit, Outcome, UserId, Uuid};
use terrace_testkit::ledger::{
    AccountKind, Amount, Balance, Entry, Holder, House, Transfer, TransferId, TransferOutcome, TransferSource,
};
use terrace_testkit::scoring::{SourceKey, Writer};
use terrace_testkit::{DatabaseKind, TestApp, TestRefusal, body, on_each_database};

on_each_database! {
    a_transfer_takes_from_one_what_it_gives_to_another_once,
    a_hundred_debits_at_once_never_go_below_zero,
    a_source_sent_a_hundred_times_at_once_pays_once,
    first_credits_at_once_open_one_account,
    gifts_back_and_forth_at_once_lose_nothing,
    an_award_gives_as_many_points_to_spend_or_leaves_nothing,
    a_reversal_takes_back_what_is_left_and_the_rest_is_written_off,
    a_deleted_account_receives_nothing,
    entries_are_paged_from_the_newest,
    any_history_equals_a_naive_model,
}

#[derive(Debug, Clone)]
pub(super) struct MakeTransfer {
    kind: AccountKind,
    from: Holder,
    to: Holder,
    amount: i64,
    source: String,
}

pub(super) fn coins(from: Holder, to: Holder, amount: i64, source: &str) -> MakeTransfer {
    MakeTransfer { kind: AccountKind::Coins, from, to, amount, source: source.to_owned() }
}

impl MakeTransfer {
    pub(super) fn of(self, kind: AccountKind) -> Self {
        Self { kind, ..self }
    }
}

const ISSUANCE: Holder = Holder::House(House::Issuance);
const REVENUE: Holder = Holder::House(House::Revenue);

impl Command for MakeTransfer {
    const NAME: &'static str = "make_transfer";
    type Ports = dyn Tx;
    type Output = TransferOutcome;
    type Refusal = TestRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<TransferOutcome, TestRefusal> {
        Ok(tx.transfer(&Transfer {
            id: ctx.new_id(),
            kind: self.kind,
            debit: self.from,
            credit: self.to,
            amount: Amount::new(self.amount).expect("an amount"),
            reason: "A test".to_owned(),
            source: TransferSource::operator(&self.source).expect("a source"),
            at: ctx.now(),
        })?)
    }
}

pub(super) fn moved(service: &TestApp, transfer: MakeTransfer) -> TransferOutcome {
    service.clock().advance(Duration::from_millis(1));
    service.done(transfer)
}

/// All at once, from two processes.
fn together(service: &TestApp, other: &TestApp, transfers: Vec<MakeTransfer>) -> Vec<TransferOutcome> {
    let works = transfers.into_iter().enumerate().map(|(n, transfer)| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        async move { app.execute(transfer).await }
    });
    service.together(works).into_iter().map(|moved| moved.expect("a working store")).collect()
}

pub(super) fn balance(service: &TestApp, fan: UserId, kind: AccountKind) -> i64 {
    let balances = service.ask(move |tx| tx.balances(fan));
    balances.iter().find(|balance| balance.kind == kind).map_or(0, |balance| balance.amount)
}

pub(super) fn entries(service: &TestApp, fan: UserId) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut after = None;
    loop {
        let page = service.ask(move |tx| tx.entries(fan, Limit::MAX, after));
        entries.extend(page.items);
        after = page.next;
        if after.is_none() {
            return entries;
        }
    }
}

/// Compares every fan's balances with the journal and the records.
pub(super) fn in_order(service: &TestApp) {
    let all = [0, u128::MAX].map(|n| UserId::from_uuid(Uuid::from_u128(n)));
    for fan in service.ask(move |tx| tx.ledger_between(all[0], all[1])) {
        assert_eq!(fan.audit(), (vec![], None), "{fan:?}");
        assert!(fan.balances.iter().all(|balance| balance.amount >= 0));
    }
}

fn a_transfer_takes_from_one_what_it_gives_to_another_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let given = coins(ISSUANCE, Holder::Fan(mia), 10, "gift");
    assert_eq!(moved(&service, given.clone()), TransferOutcome::Now { debit: None, credit: Some(10) });
    assert_eq!(moved(&service, given), TransferOutcome::Before);
    let passed = moved(&service, coins(Holder::Fan(mia), Holder::Fan(bo), 4, "passed"));
    assert_eq!(passed, TransferOutcome::Now { debit: Some(6), credit: Some(4) });
    let spent = moved(&service, coins(Holder::Fan(mia), REVENUE, 6, "spent"));
    assert_eq!(spent, TransferOutcome::Now { debit: Some(0), credit: None });
    let more = moved(&service, coins(Holder::Fan(mia), REVENUE, 1, "more"));
    assert_eq!(more, TransferOutcome::Insufficient { has: 0 });
    // A source that was paid stays paid, also where there is nothing left to pay it with.
    assert_eq!(moved(&service, coins(Holder::Fan(mia), REVENUE, 6, "spent")), TransferOutcome::Before);
    // Accounts differ by what they hold, and an account that never existed has a balance of zero.
    let euros = MakeTransfer {
        kind: AccountKind::Money(Currency::EUR),
        ..coins(Holder::Fan(bo), REVENUE, 1, "euros")
    };
    assert_eq!(moved(&service, euros), TransferOutcome::Insufficient { has: 0 });
    let stranger = UserId::from_uuid(Uuid::from_u128(1));
    assert_eq!(moved(&service, coins(ISSUANCE, Holder::Fan(stranger), 1, "nobody")), TransferOutcome::NoFan);
    assert_eq!(
        moved(&service, coins(Holder::House(House::Payments), REVENUE, 5, "houses")),
        TransferOutcome::Now { debit: None, credit: None }
    );
    let listed: Vec<_> =
        entries(&service, mia).iter().map(|entry| (entry.change, entry.balance_after)).collect();
    assert_eq!(listed, [(-6, 0), (-4, 6), (10, 10)]);
    let source = TransferSource::operator("passed")?;
    let row = service.ask(move |tx| tx.transfer_of(&source)).expect("a transfer");
    assert_eq!((row.debit, row.credit, row.amount.get()), (Holder::Fan(mia), Holder::Fan(bo), 4));
    in_order(&service);
    Ok(())
}

fn a_hundred_debits_at_once_never_go_below_zero(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    moved(&service, coins(ISSUANCE, Holder::Fan(mia), 100, "gift"));
    // Thirty-three transfers of three each can be paid, and one coin is left.
    let transfers = (0..100).map(|n| coins(Holder::Fan(mia), REVENUE, 3, &format!("spent/{n}"))).collect();
    let paid = together(&service, &other, transfers);
    let now = paid.iter().filter(|moved| matches!(moved, TransferOutcome::Now { .. })).count();
    let refused =
        paid.iter().filter(|moved| matches!(moved, TransferOutcome::Insufficient { has: 0..3 })).count();
    assert_eq!((now, refused), (33, 67), "{paid:?}");
    assert_eq!(balance(&service, mia, AccountKind::Coins), 1);
    // Each entry has the balance after it, and no two are the same.
    let left: BTreeSet<_> = entries(&service, mia).iter().map(|entry| entry.balance_after).collect();
    assert_eq!(left, (0..=33).map(|paid| 100 - 3 * paid).collect());
    in_order(&service);
    Ok(())
}

fn a_source_sent_a_hundred_times_at_once_pays_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    for (from, to) in [(ISSUANCE, Holder::Fan(mia)), (Holder::Fan(mia), REVENUE)] {
        let transfer = coins(from, to, 7, if from == ISSUANCE { "gift" } else { "spent" });
        let paid = together(&service, &other, vec![transfer; 100]);
        assert_eq!(paid.iter().filter(|moved| matches!(moved, TransferOutcome::Now { .. })).count(), 1);
        assert_eq!(paid.iter().filter(|moved| **moved == TransferOutcome::Before).count(), 99, "{paid:?}");
    }
    assert_eq!((balance(&service, mia, AccountKind::Coins), entries(&service, mia).len()), (0, 2));
    in_order(&service);
    Ok(())
}

fn first_credits_at_once_open_one_account(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    for round in 0..5 {
        let mia = service.fan(&format!("mia{round}")).id;
        let points = |n: usize| MakeTransfer {
            kind: AccountKind::Points,
            ..coins(REVENUE, Holder::Fan(mia), 1, &format!("back/{round}/{n}"))
        };
        let works = (0..20).map(|n| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let (transfer, award) = (points(n), award(&service, mia, 1, &format!("{round}/{n}")));
            async move {
                if n % 4 < 2 {
                    assert!(matches!(app.execute(transfer).await, Ok(TransferOutcome::Now { .. })));
                } else {
                    assert!(matches!(app.execute(award).await, Ok(AwardResult::Now { .. })));
                }
            }
        });
        service.together(works);
        assert_eq!(balance(&service, mia, AccountKind::Points), 20);
        let after: BTreeSet<_> = entries(&service, mia).iter().map(|entry| entry.balance_after).collect();
        assert_eq!(after, (1..=20).collect());
    }
    in_order(&service);
    Ok(())
}

fn gifts_back_and_forth_at_once_lose_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    for (n, fan) in fans.iter().enumerate() {
        moved(&service, coins(ISSUANCE, Holder::Fan(*fan), 10, &format!("gift/{n}")));
    }
    let transfers = (0..90).map(|n| {
        let (from, to) = (fans[n % 3], fans[(n + 1 + n / 3 % 2) % 3]);
        coins(Holder::Fan(from), Holder::Fan(to), 3, &format!("passed/{n}"))
    });
    together(&service, &other, transfers.collect());
    let sum: i64 = fans.iter().map(|fan| balance(&service, *fan, AccountKind::Coins)).sum();
    assert_eq!(sum, 30);
    in_order(&service);
    Ok(())
}

fn an_award_gives_as_many_points_to_spend_or_leaves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia").id;
    let record = match service.done(award(&service, mia, 7, "one")) {
        AwardResult::Now { record, .. } => record,
        AwardResult::Before => panic!("it is new"),
    };
    assert_eq!(service.done(award(&service, mia, 7, "one")), AwardResult::Before);
    service.done(award(&service, mia, 0, "zero"));
    // An award before the first season counts on no board, and can be spent.
    let mut legacy = award(&service, mia, 2, "legacy");
    legacy.award.at = service.clock().now().minus(Duration::from_secs(1_000_000));
    service.done(AwardPoints { by: Writer::Maintenance, ..legacy });
    let listed = entries(&service, mia);
    let listed: Vec<_> =
        listed.iter().map(|entry| (entry.change, entry.balance_after, &entry.source)).collect();
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&(7, 7, &TransferSource::award(record.id))), "{listed:?}");
    assert_eq!(balance(&service, mia, AccountKind::Points), 9);

    // A body that fails after the award leaves neither the record nor the points.
    let failing = award(&service, mia, 100, "lost");
    let lost = service.run(service.app().execute(body(move |tx, ctx| {
        let given = failing.run(tx, ctx).expect("an award");
        assert!(matches!(given, AwardResult::Now { .. }));
        assert_eq!(tx.balances(mia)?.first().map(|balance| balance.amount), Some(109));
        Err::<(), _>(Failure::Refused(TestRefusal))
    })));
    assert!(matches!(lost, Err(Failure::Refused(TestRefusal))));
    assert_eq!(balance(&service, mia, AccountKind::Points), 9);
    let fact = SourceKey::import("lost")?;
    assert_eq!(service.ask(move |tx| tx.record(mia, &fact)), None);
    in_order(&service);
    Ok(())
}

fn a_reversal_takes_back_what_is_left_and_the_rest_is_written_off(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia").id;
    let take_back = |fact: &str| {
        let source = SourceKey::import(fact).expect("a key");
        let reason = "Taken back".to_owned();
        service.done(ReversePoints {
            awards: service.app().awards(),
            user: mia,
            source,
            reason,
            by: Writer::Service,
        })
    };
    for fact in ["one", "two", "three"] {
        service.clock().advance(Duration::from_secs(1));
        service.done(award(&service, mia, 10, fact));
    }
    let spent = MakeTransfer { kind: AccountKind::Points, ..coins(Holder::Fan(mia), REVENUE, 18, "spent") };
    assert_eq!(moved(&service, spent), TransferOutcome::Now { debit: Some(12), credit: None });
    for (fact, left) in [("three", 2), ("two", 0), ("one", 0)] {
        service.clock().advance(Duration::from_secs(1));
        take_back(fact);
        assert_eq!(balance(&service, mia, AccountKind::Points), left);
    }
    let listed: Vec<_> =
        entries(&service, mia).iter().map(|entry| (entry.change, entry.balance_after)).collect();
    assert_eq!(listed, [(-2, 0), (-10, 2), (-18, 12), (10, 30), (10, 20), (10, 10)]);
    let fan = service.ask(move |tx| tx.ledger_between(mia, mia)).pop().expect("a fan");
    assert_eq!((fan.issued, fan.written_off, fan.recorded), (18, 18, 0));
    in_order(&service);
    Ok(())
}

fn a_deleted_account_receives_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    moved(&service, coins(ISSUANCE, Holder::Fan(mia), 3, "gift"));
    service.write(move |tx, ctx| {
        assert!(tx.close_account(mia, &terrace_testkit::identity::deleted_name(mia), ctx.now())?);
        Ok(tx.lock_balances(mia)?)
    });
    assert_eq!(moved(&service, coins(ISSUANCE, Holder::Fan(mia), 3, "late")), TransferOutcome::NoFan);
    // The balance stays, under a name that is anonymous now.
    let left = service.ask(move |tx| tx.balances(mia));
    assert_eq!(left, [Balance { kind: AccountKind::Coins, amount: 3 }]);
    in_order(&service);
    Ok(())
}

fn entries_are_paged_from_the_newest(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    for n in 0..12 {
        let (from, to) = if n % 4 == 3 { (Holder::Fan(mia), REVENUE) } else { (ISSUANCE, Holder::Fan(mia)) };
        let transfer = coins(from, to, n + 1, &n.to_string());
        // Three of one instant each.
        let done = if n % 3 == 0 { moved(&service, transfer) } else { service.done(transfer) };
        assert!(matches!(done, TransferOutcome::Now { .. }));
    }
    let whole = entries(&service, mia);
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let page = service.ask(move |tx| tx.entries(mia, Limit::new(5).expect("a limit"), after));
        paged.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(paged, whole);
    let keys: Vec<(_, TransferId)> = whole.iter().map(|entry| (entry.at, entry.id)).collect();
    assert!(keys.iter().rev().is_sorted() && keys.len() == 12, "{keys:?}");
    Ok(())
}

/// A step of a random history.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Give { fan: usize, amount: i64, fact: u8 },
    TakeBack { fan: usize, fact: u8 },
    Move { from: Option<usize>, to: Option<usize>, kind: u8, amount: i64, source: u8 },
}

fn step() -> impl Strategy<Value = Operation> {
    let (fan, holder) = (0..3_usize, proptest::option::of(0..3_usize));
    prop_oneof![
        (fan.clone(), 0..20_i64, 0..8_u8).prop_map(|(fan, amount, fact)| Operation::Give {
            fan,
            amount,
            fact
        }),
        (fan, 0..8_u8).prop_map(|(fan, fact)| Operation::TakeBack { fan, fact }),
        (holder.clone(), holder, 0..3_u8, 1..20_i64, 0..40_u8)
            .prop_map(|(from, to, kind, amount, source)| Operation::Move { from, to, kind, amount, source }),
    ]
}

/// The naive model: each fan's balances, and the sources that were paid.
#[derive(Default)]
struct Naive {
    has: BTreeMap<(usize, AccountKind), i64>,
    paid: BTreeSet<String>,
    records: BTreeMap<(usize, u8), i64>,
}

fn any_history_equals_a_naive_model(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let runs = Cell::new(0);
    let config = Config { cases: 12, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&proptest::collection::vec(step(), 1..60), |steps| {
        let nth = runs.get() + 1;
        runs.set(nth);
        let fans: Vec<UserId> = (0..3).map(|n| service.fan(&format!("fan{nth}x{n}")).id).collect();
        let mut naive = Naive::default();
        for step in steps {
            service.clock().advance(Duration::from_millis(1));
            take(&service, &fans, nth, &mut naive, step);
        }
        for (n, fan) in fans.iter().enumerate() {
            for kind in KINDS {
                let expected = naive.has.get(&(n, kind)).copied().unwrap_or(0);
                prop_assert_eq!(balance(&service, *fan, kind), expected);
                let listed: i64 = entries(&service, *fan)
                    .iter()
                    .filter(|entry| entry.kind == kind)
                    .map(|entry| entry.change)
                    .sum();
                prop_assert_eq!(listed, expected);
            }
        }
        in_order(&service);
        Ok(())
    })?;
    Ok(())
}

const KINDS: [AccountKind; 3] = [AccountKind::Points, AccountKind::Coins, AccountKind::Money(Currency::EUR)];

fn take(service: &TestApp, fans: &[UserId], nth: u32, naive: &mut Naive, step: Operation) {
    match step {
        Operation::Give { fan, amount, fact } => {
            service.done(award(service, fans[fan], amount, &fact.to_string()));
            if let std::collections::btree_map::Entry::Vacant(new) = naive.records.entry((fan, fact)) {
                new.insert(amount);
                *naive.has.entry((fan, AccountKind::Points)).or_default() += amount;
            }
        }
        Operation::TakeBack { fan, fact } => {
            let source = SourceKey::import(&fact.to_string()).expect("a key");
            let (awards, reason) = (service.app().awards(), "Back".to_owned());
            let reversal = ReversePoints { awards, user: fans[fan], source, reason, by: Writer::Service };
            let taken = service.run(service.app().execute(reversal));
            if let (Ok(AwardResult::Now { .. }), Some(amount)) = (taken, naive.records.get(&(fan, fact))) {
                let has = naive.has.entry((fan, AccountKind::Points)).or_default();
                *has = (*has - amount).max(0);
            }
        }
        Operation::Move { from, to, kind, amount, source } => {
            let holder = |fan: Option<usize>, service| fan.map_or(service, |fan| Holder::Fan(fans[fan]));
            let (kind, source) = (KINDS[usize::from(kind)], format!("{nth}/{source}"));
            // Points come from records; what fans pass on came from there.
            let (debit, credit) = (holder(from, Holder::House(House::Payments)), holder(to, REVENUE));
            if debit == credit {
                return;
            }
            let moved = moved(
                service,
                MakeTransfer { kind, from: debit, to: credit, amount, source: source.clone() },
            );
            let has = from.map(|from| naive.has.get(&(from, kind)).copied().unwrap_or(0));
            let expected = match has {
                _ if naive.paid.contains(&source) => TransferOutcome::Before,
                Some(has) if has < amount => TransferOutcome::Insufficient { has },
                Some(_) | None => {
                    naive.paid.insert(source);
                    let mut change = |fan: Option<usize>, by: i64| {
                        let has = naive.has.entry((fan?, kind)).or_default();
                        *has += by;
                        Some(*has)
                    };
                    TransferOutcome::Now { debit: change(from, -amount), credit: change(to, amount) }
                }
            };
            assert_eq!(moved, expected);
        }
    }
}
