//! Spins that wait at the same time share statements on PostgreSQL (docs/architecture.md, invariant 11; contract part 2 §9): each is
//! answered as if it ran alone, and one that is refused affects no other.

use super::completions::verified;
use super::ledger::{balance, in_order};
use super::packs_batched::{at_once, refused};
use super::wheels::{give, request, rule, spins, started, wheel};
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::wheels::{SpinWheel, SpinWheelRefusal, WheelSpun};
use terrace_testkit::games::{SpinRefusal, Wheel, WheelId, verify_spin};
use terrace_testkit::kernel::{Event, EventKind, Grant, UserId, Uuid};
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::{DatabaseKind, on_each_database};

on_each_database! { spec_9_spins_of_many_fans_at_once_are_answered_one_by_one }

const FANS: usize = 40;
const PRICE: i64 = 10;

/// The points and coins of a grant.
fn of(grant: Grant) -> (i64, i64) {
    match grant {
        Grant::Points(amount) => (amount, 0),
        Grant::Coins(amount) => (0, amount),
        Grant::Pack(..) | Grant::Collectible(..) | Grant::Code(_) | Grant::Product(..) | Grant::Nothing => {
            (0, 0)
        }
    }
}

fn spec_9_spins_of_many_fans_at_once_are_answered_one_by_one(kind: DatabaseKind) -> Result<()> {
    let (service, _) = started(kind, &[])?;
    let other = service.another()?;
    let fans = service.crowd("fan", FANS);
    let out = service.fan("out").id;
    let [daily, lucky, over] = ["daily", "lucky", "over"].map(|key| wheel(&service, key));
    let unknown = Wheel { id: WheelId::from_uuid(Uuid::from_u128(1)), ..daily.clone() };
    // Of the fans of every eighth number, those who pay have coins for one spin.
    for fan in fans.iter().skip(2).step_by(8) {
        give(&service, *fan, PRICE, &format!("gift/{fan}"));
    }
    let command = |fan: UserId, wheel: &Wheel, request| -> SpinWheel {
        service.run(service.app().spin_wheel(fan, wheel.id, request)).expect("a working store")
    };
    let ask =
        |fan: UserId, wheel: &Wheel, is_free| command(fan, wheel, request(&service, fan, wheel, is_free));
    let mut wanted = Vec::new();
    for (n, fan) in fans.iter().enumerate() {
        match n % 8 {
            2 | 3 => wanted.push(ask(*fan, &lucky, false)),
            4 => wanted.push(command(*fan, &daily, request(&service, fans[0], &daily, true))),
            5 => wanted.push(ask(*fan, &over, true)),
            6 => wanted.push(ask(*fan, &unknown, true)),
            // Of two free spins at once, one is given.
            7 => wanted.extend([ask(*fan, &daily, true), ask(*fan, &daily, true)]),
            _ => wanted.push(ask(*fan, &daily, true)),
        }
    }
    wanted.push(ask(out, &daily, true));
    service.done(SuspendAccount { username: "out".to_owned() });
    let since = service.settled();
    let spun = at_once(&[&service, &other], wanted.iter().cloned());
    let published = service.log(since);
    let of_fan = |fan: UserId| wanted.iter().zip(&spun).filter(move |(one, _)| one.user == fan);
    for (n, fan) in fans.iter().enumerate() {
        let mut outcomes: Vec<_> = of_fan(*fan).map(|(_, spun)| refused(spun)).collect();
        outcomes.sort_by_key(Option::is_some);
        let expected = match n % 8 {
            3 => vec![Some(SpinWheelRefusal::Insufficient { has: 0 })],
            4 => vec![Some(SpinWheelRefusal::SeedChanged)],
            5 => vec![Some(rule(SpinRefusal::Closed))],
            6 => vec![Some(SpinWheelRefusal::UnknownWheel)],
            7 => vec![None, Some(rule(SpinRefusal::NoFreeSpin))],
            _ => vec![None],
        };
        assert_eq!(outcomes, expected, "{n}");
        let done: Vec<&WheelSpun> = of_fan(*fan).filter_map(|(_, spun)| spun.as_ref().ok()).collect();
        let (mut points, mut coins) = (0, 0);
        for one in &done {
            assert_eq!(verify_spin(&one.proof, &one.spin.segment), Ok(()));
            let (more_points, more_coins) = of(one.spin.grant);
            (points, coins) = (points + more_points, coins + more_coins);
            assert_eq!((one.spin.user, one.spin.nonce), (*fan, 1));
            assert_eq!(one.next_free_spin_at.is_some(), n % 8 != 2);
        }
        assert_eq!(balance(&service, *fan, AccountKind::Points), points, "{n}");
        assert_eq!(balance(&service, *fan, AccountKind::Coins), coins, "{n}");
        assert_eq!(spins(&service, *fan), done.len());
        let mine = published.iter().filter(|event| event.what.actor == Some(*fan));
        let kinds = mine.map(|event| (event.what.kind, event.detail.as_deref().unwrap_or_default()));
        let mut kinds: Vec<_> = kinds.filter(|(kind, _)| *kind != EventKind::PointsAwarded).collect();
        let (balances, segments): (Vec<_>, Vec<_>) =
            kinds.drain(..).partition(|(kind, _)| *kind == EventKind::BalanceChanged);
        let changed: Vec<String> = match n % 8 {
            2 => vec!["coins/0".to_owned()],
            _ if coins > 0 => vec![format!("coins/{coins}")],
            _ => Vec::new(),
        };
        assert_eq!(balances.iter().map(|(_, detail)| *detail).collect::<Vec<_>>(), changed, "{n}");
        let drawn: Vec<_> =
            done.iter().map(|one| (EventKind::SpinCompleted, one.spin.segment.as_str())).collect();
        assert_eq!(segments, drawn, "{n}");
    }
    assert_eq!(
        of_fan(out).map(|(_, spun)| refused(spun)).collect::<Vec<_>>(),
        [Some(SpinWheelRefusal::NotActive)]
    );
    // The wheel gave points, coins and nothing.
    let given = spun.iter().flatten().map(|one| of(one.spin.grant));
    let (points, coins) = given.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(points > 0 && coins > 0, "{points} {coins}");
    // On the next date, each has a free spin again.
    service.clock().advance(Duration::from_hours(24));
    let again: Vec<_> = fans.iter().map(|fan| ask(*fan, &daily, true)).collect();
    let since = service.settled();
    assert!(at_once(&[&service, &other], again).iter().all(Result::is_ok));
    in_order(&service);
    let completed = |event: &Event| event.what.kind == EventKind::SpinCompleted;
    assert_eq!(service.log(since).iter().filter(|event| completed(event)).count(), FANS);
    verified(&service);
    Ok(())
}
