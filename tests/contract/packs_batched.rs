//! Purchases and openings that wait at the same time share statements on PostgreSQL (docs/architecture.md, invariants 11, 54
//! and 61): each is answered as if it ran alone, and one that is refused or fails affects no other.

use super::ledger::{balance, in_order};
use super::packs::{buy, give_coins, open, pack, prove, shop, shop_of, stock};
use super::points::award;
use super::repairs::{NOTHING, repair_counts, verified};
use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::Arc;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::packs::{
    ListPurchases, OpenPack, OpenPackRefusal, PackOpened, PackPurchased, PurchasePack, PurchasePackRefusal,
    SeedCipher,
};
use terrace_testkit::app::platform::SecretKey;
use terrace_testkit::app::store::{IdempotencyScope, StoredAnswer};
use terrace_testkit::app::{Command, KeyedRequest, OnceRefusal};
use terrace_testkit::kernel::{EventKind, Failure, Limit, Outcome, Position, StoreError, UserId, Uuid};
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::packs::{CopyOrigin, PackId, SaleRefusal, Stock, UserPackId};
use terrace_testkit::{DatabaseKind, Gate, TestApp, TestRefusal, body, on_each_database};

on_each_database! {
    purchases_of_many_fans_at_once_are_answered_one_by_one,
    openings_of_many_fans_at_once_are_answered_one_by_one,
    a_copy_that_cannot_be_opened_affects_no_other,
    keys_in_one_batch_are_used_once_each,
    a_refusal_leaves_its_key_unused,
    purchases_and_openings_of_limited_packs_race_from_two_processes,
    what_locks_in_another_order_ends_no_batch,
    a_batch_waits_for_a_stock_and_sells_what_is_left,
}

type Sold = Outcome<PackPurchased, PurchasePackRefusal>;

/// All at once, each from the next of these processes.
pub(super) fn at_once<C: Command + Clone>(
    services: &[&TestApp],
    commands: impl IntoIterator<Item = C>,
) -> Vec<Outcome<C::Output, C::Refusal>> {
    let works = commands.into_iter().zip(services.iter().cycle()).map(|(command, service)| {
        let app = Arc::clone(service.app());
        async move { app.execute(command).await }
    });
    services[0].together(works.collect::<Vec<_>>())
}

/// Fans with points and coins.
fn rich(service: &TestApp, prefix: &str, count: usize) -> Vec<UserId> {
    let fans = service.crowd(prefix, count);
    for fan in &fans {
        service.done(award(service, *fan, 100, "game"));
        give_coins(service, *fan, 10);
    }
    fans
}

pub(super) fn refused<T, R: Copy>(outcome: &Outcome<T, R>) -> Option<R> {
    match outcome {
        Ok(_) => None,
        Err(Failure::Refused(refusal)) => Some(*refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// The events about purchases and balances of a fan since a position, with their details.
fn events_of(service: &TestApp, fan: UserId, since: Position) -> Vec<(EventKind, String)> {
    let events = service.log(since).into_iter().filter(|event| event.what.actor == Some(fan));
    let published = events
        .filter(|event| [EventKind::PurchaseChanged, EventKind::BalanceChanged].contains(&event.what.kind));
    published.map(|event| (event.what.kind, event.detail.map(String::from).unwrap_or_default())).collect()
}

/// `verify` and the repairs find nothing.
fn sound(service: &TestApp) {
    in_order(service);
    verified(service);
    for task in ["repair-purchases", "backfill-packs", "repair-pack-stock"] {
        assert_eq!(repair_counts(service, task), NOTHING, "{task}");
    }
}

fn purchases_of_many_fans_at_once_are_answered_one_by_one(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let fans = rich(&service, "fan", 32);
    let poor = service.crowd("poor", 8);
    let out = service.fan("out").id;
    service.done(SuspendAccount { username: "out".to_owned() });
    let id = |key: &str| pack(&service, key).id;
    let [day, few, single, over, cups] = ["day", "few", "single", "over", "cups"].map(id);
    let nothing = PackId::from_uuid(Uuid::from_u128(1));
    let since = service.settled();
    let mut wanted: Vec<(UserId, PackId, i64)> = Vec::new();
    for (n, fan) in fans.iter().enumerate() {
        wanted.push(match n % 8 {
            0 => (*fan, day, 2),
            1 => (*fan, few, 3),
            2 => (*fan, single, 1),
            3 => (*fan, over, 1),
            4 => (*fan, nothing, 1),
            5 => (*fan, cups, 3),
            6 => (*fan, cups, 2),
            _ => (*fan, few, 2),
        });
        if n % 8 == 7 {
            // Of two purchases at once, the limit permits one.
            wanted.push((*fan, few, 2));
        }
    }
    wanted.extend(poor.iter().map(|fan| (*fan, day, 1)));
    wanted.push((out, day, 1));
    let commands: Vec<PurchasePack> =
        wanted.iter().map(|(fan, pack, copies)| buy(&service, *fan, *pack, *copies)).collect();
    let sold = at_once(&[&service], commands);
    let outcomes_of = |fan: UserId| -> Vec<Option<PurchasePackRefusal>> {
        let of_fan = wanted.iter().zip(&sold).filter(|((one, ..), _)| *one == fan);
        of_fan.map(|(_, sold)| refused(sold)).collect()
    };
    let rule = |refusal| Some(PurchasePackRefusal::Rule(refusal));
    let gone = rule(SaleRefusal::SoldOut { remaining: 0 });
    let mut singles = Vec::new();
    for (n, fan) in fans.iter().enumerate() {
        let outcomes = outcomes_of(*fan);
        let spent = match n % 8 {
            0 => [None].as_slice(),
            1 => &[rule(SaleRefusal::LimitReached { limit: 2 })],
            2 => {
                singles.push((*fan, outcomes[0]));
                continue;
            }
            3 => &[rule(SaleRefusal::PackClosed)],
            4 => &[Some(PurchasePackRefusal::UnknownPack)],
            5 => &[Some(PurchasePackRefusal::Insufficient { has: 10 })],
            6 => &[None],
            _ => {
                let limit = rule(SaleRefusal::LimitReached { limit: 2 });
                assert!(outcomes == [None, limit] || outcomes == [limit, None], "{outcomes:?}");
                assert_eq!(balance(&service, *fan, AccountKind::Points), 98);
                continue;
            }
        };
        assert_eq!(outcomes, spent, "{n}");
        let paid = i64::from(n % 8 == 0) * 20;
        assert_eq!(balance(&service, *fan, AccountKind::Points), 100 - paid);
        assert_eq!(balance(&service, *fan, AccountKind::Coins), if n % 8 == 6 { 0 } else { 10 });
        let published = match n % 8 {
            0 => vec![(EventKind::BalanceChanged, "points/80"), (EventKind::PurchaseChanged, "completed")],
            6 => vec![(EventKind::BalanceChanged, "coins/0"), (EventKind::PurchaseChanged, "completed")],
            _ => Vec::new(),
        };
        let published: Vec<_> =
            published.into_iter().map(|(kind, detail)| (kind, detail.to_owned())).collect();
        assert_eq!(events_of(&service, *fan, since), published, "{n}");
    }
    assert_eq!(singles.iter().filter(|(_, outcome)| outcome.is_none()).count(), 1);
    assert!(singles.iter().all(|(_, outcome)| outcome.is_none() || *outcome == gone), "{singles:?}");
    for fan in &poor {
        assert_eq!(outcomes_of(*fan), [Some(PurchasePackRefusal::Insufficient { has: 0 })]);
    }
    assert_eq!(outcomes_of(out), [Some(PurchasePackRefusal::NotActive)]);
    for sold in sold.into_iter().flatten() {
        let copies = sold.copies.iter().map(|copy| (copy.origin, copy.nonce)).collect::<Vec<_>>();
        let expected: Vec<_> = (1..=sold.purchase.quantity.copies())
            .map(|n| (CopyOrigin::Purchase(sold.purchase.id), n))
            .collect();
        assert_eq!(copies, expected);
    }
    assert_eq!(stock(&service, cups), Stock { sold: 8, sealed: 8 });
    assert_eq!(stock(&service, single), Stock { sold: 1, sealed: 1 });
    sound(&service);
    Ok(())
}

fn openings_of_many_fans_at_once_are_answered_one_by_one(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let fans = rich(&service, "fan", 24);
    let [day, cups] = ["day", "cups"].map(|key| pack(&service, key).id);
    let commands: Vec<_> = fans.iter().map(|fan| buy(&service, *fan, cups, 1)).collect();
    let copies: Vec<UserPackId> =
        at_once(&[&service], commands).into_iter().map(|sold| sold.expect("a copy").copies[0].id).collect();
    // Opened before.
    let before: Vec<PackOpened> = (0..4).map(|n| service.done(open(&service, fans[n], cups, None))).collect();
    let no_copy = UserPackId::from_uuid(Uuid::from_u128(1));
    let mut wanted: Vec<(usize, PackId, Option<UserPackId>)> = Vec::new();
    for n in 0..fans.len() {
        match n {
            0..4 => wanted.push((n, cups, Some(copies[n]))),
            4..8 => wanted.push((n, cups, Some(no_copy))),
            8..12 => wanted.push((n, day, None)),
            12..16 => wanted.push((n, cups, Some(copies[n - 8]))),
            16..20 => wanted.extend([(n, cups, None), (n, cups, Some(copies[n]))]),
            _ => wanted.push((n, cups, None)),
        }
    }
    let commands: Vec<OpenPack> =
        wanted.iter().map(|(n, pack, copy)| open(&service, fans[*n], *pack, *copy)).collect();
    let mut opened = wanted.iter().map(|(n, ..)| *n).zip(at_once(&[&service], commands)).collect::<Vec<_>>();
    let mut serials: Vec<u32> = before.iter().filter_map(|one| one.opening.owned[1].serial).collect();
    let mut twice = 0;
    while let Some((n, outcome)) = opened.pop() {
        match n {
            0..4 => {
                let again = outcome.expect("an answer");
                assert_eq!((&again.copy, &again.opening), (&before[n].copy, &before[n].opening));
            }
            4..8 | 12..16 => {
                assert!(matches!(outcome, Err(Failure::Refused(OpenPackRefusal::UnknownCopy))), "{n}");
            }
            8..12 => {
                assert!(matches!(outcome, Err(Failure::Refused(OpenPackRefusal::NothingSealed))), "{n}");
            }
            16..20 => {
                // The opening of the oldest one comes first, or finds nothing that is sealed.
                let (_, other) = opened.pop().expect("two openings");
                let [by_id, oldest] = [outcome, other].map(Result::ok);
                let by_id = by_id.expect("one's own copy");
                if let Some(oldest) = oldest {
                    assert_eq!((&oldest.copy, &oldest.opening), (&by_id.copy, &by_id.opening));
                    twice += 1;
                }
                prove(&by_id);
                serials.extend(by_id.opening.owned[1].serial);
            }
            _ => {
                let opened = outcome.expect("a copy");
                prove(&opened);
                assert_eq!(opened.copy.id, copies[n]);
                serials.extend(opened.opening.owned[1].serial);
            }
        }
    }
    assert!(twice <= 4);
    serials.sort_unstable();
    // Neither the copies that others asked for nor the refused ones took one.
    assert_eq!(serials, (1..=12).collect::<Vec<_>>());
    assert_eq!(stock(&service, cups), Stock { sold: 24, sealed: 12 });
    sound(&service);
    Ok(())
}

/// A process with another secret cannot read the seed; the copy stays sealed.
fn a_copy_that_cannot_be_opened_affects_no_other(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let fans = rich(&service, "fan", 20);
    let day = pack(&service, "day").id;
    for fan in &fans {
        service.done(buy(&service, *fan, day, 1));
    }
    let wrong = Arc::new(SeedCipher::new(&SecretKey::from_bytes([200; 32])));
    let commands = fans.iter().enumerate().map(|(n, fan)| {
        let command = open(&service, *fan, day, None);
        if n % 5 == 0 { OpenPack { safe: Arc::clone(&wrong), ..command } } else { command }
    });
    let opened = at_once(&[&service], commands.collect::<Vec<_>>());
    for (n, opened) in opened.iter().enumerate() {
        match opened {
            Ok(opened) => prove(opened),
            Err(error) => {
                assert!(matches!(error, Failure::Broken(StoreError::Corrupt { .. })), "{error:?}");
            }
        }
        assert_eq!(opened.is_err(), n % 5 == 0);
    }
    for fan in fans.iter().step_by(5) {
        prove(&service.done(open(&service, *fan, day, None)));
    }
    sound(&service);
    Ok(())
}

fn render(purchased: &PackPurchased) -> StoredAnswer {
    StoredAnswer { created: None, body: purchased.purchase.id.to_string() }
}

fn keyed(fan: UserId, fingerprint: u8) -> KeyedRequest {
    KeyedRequest {
        scope: IdempotencyScope { account: Some(fan), operation: "POST /api/packs/{id}/purchase" },
        key: "once".to_owned(),
        fingerprint: [fingerprint; 32],
    }
}

/// Each fan sends the same request three times and another one under the same key, to two processes.
fn keys_in_one_batch_are_used_once_each(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let fans = rich(&service, "fan", 10);
    let [day, few] = ["day", "few"].map(|key| pack(&service, key).id);
    let works = fans.iter().flat_map(|fan| [(*fan, 1), (*fan, 2), (*fan, 1), (*fan, 1)]).enumerate();
    let works: Vec<_> = works
        .map(|(n, (fan, fingerprint))| {
            let service = if n % 3 == 0 { &service } else { &other };
            let command = buy(service, fan, if fingerprint == 1 { day } else { few }, 1);
            let (app, request) = (Arc::clone(service.app()), Some(keyed(fan, fingerprint)));
            async move { app.execute_once(command, request, render).await }
        })
        .collect();
    let answers = service.together(works);
    for (fan, answers) in fans.iter().zip(answers.chunks(4)) {
        let answered: Vec<_> = answers.iter().flatten().collect();
        let bodies: BTreeSet<_> = answered.iter().map(|answered| answered.answer.body.clone()).collect();
        assert_eq!(bodies.len(), 1);
        assert_eq!(answered.iter().filter(|answered| !answered.replayed).count(), 1);
        let reused =
            answers.iter().filter(|answer| matches!(answer, Err(Failure::Refused(OnceRefusal::KeyReused))));
        assert_eq!(answered.len() + reused.count(), 4);
        let list = ListPurchases { user: *fan, limit: Limit::MAX, after: None };
        assert_eq!(service.found(list).items.len(), 1);
        let has = balance(&service, *fan, AccountKind::Points);
        assert_eq!(has, if answers[1].is_ok() { 99 } else { 90 });
    }
    sound(&service);
    Ok(())
}

/// The key of a refused request can be used again, also where its neighbours committed.
fn a_refusal_leaves_its_key_unused(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let fans = service.crowd("fan", 20);
    let day = pack(&service, "day").id;
    for fan in fans.iter().step_by(2) {
        service.done(award(&service, *fan, 10, "game"));
    }
    let ask = || {
        let works = fans.iter().map(|fan| {
            let (app, command) = (Arc::clone(service.app()), buy(&service, *fan, day, 1));
            let request = Some(keyed(*fan, 1));
            async move { app.execute_once(command, request, render).await }
        });
        service.together(works.collect::<Vec<_>>())
    };
    let first = ask();
    for (n, answer) in first.iter().enumerate() {
        match answer {
            Ok(_) => assert_eq!(n % 2, 0),
            Err(Failure::Refused(OnceRefusal::Refused(PurchasePackRefusal::Insufficient { has: 0 }))) => {
                assert_eq!(n % 2, 1);
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    for fan in fans.iter().skip(1).step_by(2) {
        service.done(award(&service, *fan, 10, "game"));
    }
    for (n, answer) in ask().into_iter().enumerate() {
        let answer = answer.expect("a fan who can pay");
        assert_eq!(answer.replayed, n % 2 == 0);
        if let Ok(before) = &first[n] {
            assert_eq!(before.answer, answer.answer);
        }
    }
    sound(&service);
    Ok(())
}

/// Two processes sell and open a pack whose edition runs out, and one that draws limited collectibles by chance.
fn purchases_and_openings_of_limited_packs_race_from_two_processes(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let fans = rich(&service, "fan", 40);
    let [day, cups] = ["day", "cups"].map(|key| pack(&service, key).id);
    let works = fans.iter().enumerate().map(|(n, fan)| {
        let service = if n % 2 == 0 { &service } else { &other };
        let order = if n % 4 < 2 { [day, cups] } else { [cups, day] };
        let commands = order.map(|pack| (buy(service, *fan, pack, 1), open(service, *fan, pack, None)));
        let app = Arc::clone(service.app());
        async move {
            let mut opened = Vec::new();
            for (buy, open) in commands {
                match app.execute(buy).await {
                    Ok(_) => opened.push(app.execute(open).await.expect("a copy that was bought")),
                    Err(Failure::Refused(refusal)) => {
                        assert_eq!(refusal, PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 0 }));
                    }
                    Err(Failure::Broken(error)) => panic!("{error}"),
                }
            }
            opened
        }
    });
    let opened: Vec<PackOpened> = service.together(works.collect::<Vec<_>>()).into_iter().flatten().collect();
    opened.iter().for_each(prove);
    let serials = |pack: PackId| {
        let of_pack = opened.iter().filter(|one| one.copy.pack == pack);
        let mut serials: Vec<u32> =
            of_pack.flat_map(|one| &one.opening.owned).filter_map(|owned| owned.serial).collect();
        serials.sort_unstable();
        serials
    };
    assert_eq!(opened.len(), 40 + 25);
    assert_eq!(serials(cups), (1..=25).collect::<Vec<_>>());
    // Of forty copies some eleven would draw the badge, of which there are three.
    assert_eq!(serials(day), [1, 2, 3]);
    assert_eq!(stock(&service, cups), Stock { sold: 25, sealed: 0 });
    sound(&service);
    Ok(())
}

/// Transactions that lock two balances and two stocks against the order of the batches, beside them: every command
/// finishes.
fn what_locks_in_another_order_ends_no_batch(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let fans = rich(&service, "fan", 16);
    let [few, cups, single] = ["few", "cups", "single"].map(|key| pack(&service, key).id);
    let backwards = |round: usize| {
        let (fans, app) = (fans.clone(), Arc::clone(other.app()));
        let backwards = body(move |tx, _| {
            tx.lock_stock(if round.is_multiple_of(2) { cups } else { single })?;
            for fan in fans.iter().rev().skip(round % 3) {
                tx.lock_balances(*fan)?;
            }
            tx.lock_stock(if round.is_multiple_of(2) { single } else { cups })?;
            Ok::<(), Failure<TestRefusal>>(())
        });
        async move { app.execute(backwards).await }
    };
    for round in 0..2 {
        let blocked: Vec<_> = (0..2).map(|n| service.spawn(backwards(round + n))).collect();
        let packs = [few, cups];
        let commands = fans.iter().enumerate().map(|(n, fan)| buy(&service, *fan, packs[n % 2], 1));
        let sold = at_once(&[&service, &other], commands.collect::<Vec<_>>());
        for sold in &sold {
            let rule = refused(sold);
            let limit = SaleRefusal::LimitReached { limit: 2 };
            let allowed = [
                None,
                Some(PurchasePackRefusal::Rule(limit)),
                Some(PurchasePackRefusal::Insufficient { has: 0 }),
            ];
            assert!(allowed.contains(&rule), "{rule:?}");
        }
        for blocked in blocked {
            assert!(service.join(blocked).is_ok());
        }
    }
    for (n, fan) in fans.iter().enumerate() {
        let (points, coins) = if n % 2 == 0 { (98, 10) } else { (100, 0) };
        assert_eq!(balance(&service, *fan, AccountKind::Points), points);
        assert_eq!(balance(&service, *fan, AccountKind::Coins), coins);
    }
    assert_eq!(stock(&service, cups), Stock { sold: 16, sealed: 16 });
    sound(&service);
    Ok(())
}

/// While another process holds the last copies, a batch waits; afterwards it sells what is left.
fn a_batch_waits_for_a_stock_and_sells_what_is_left(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::without_dry_run(kind)?)?;
    let other = service.another()?;
    let fans = rich(&service, "fan", 30);
    let cups = pack(&service, "cups").id;
    let (held, release) = (Gate::default(), Gate::default());
    let holder = {
        let (held, release, buyer) = (held.clone(), release.clone(), buy(&other, fans[29], cups, 2));
        let app = Arc::clone(other.app());
        let bought_slowly = body(move |tx, ctx| {
            buyer.run(tx, ctx).map_err(|failure| failure.map(|_| TestRefusal))?;
            held.open();
            release.pass();
            Ok::<(), Failure<TestRefusal>>(())
        });
        service.spawn(async move { app.execute(bought_slowly).await })
    };
    held.pass();
    let buyers: Vec<_> = fans[..29]
        .iter()
        .map(|fan| {
            let (app, command) = (Arc::clone(service.app()), buy(&service, *fan, cups, 1));
            service.spawn(async move { app.execute(command).await })
        })
        .collect();
    release.open();
    assert!(service.join(holder).is_ok());
    let sold: Vec<Sold> = buyers.into_iter().map(|buyer| service.join(buyer)).collect();
    assert_eq!(sold.iter().filter(|sold| sold.is_ok()).count(), 23);
    let gone = Some(PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 0 }));
    assert!(sold.iter().map(refused).all(|refusal| refusal.is_none() || refusal == gone));
    assert_eq!(stock(&service, cups), Stock { sold: 25, sealed: 25 });
    sound(&service);
    Ok(())
}
