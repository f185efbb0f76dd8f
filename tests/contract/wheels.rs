//! Contract part 2 §9, the wheel: one free spin on a local date, spins that anyone can recompute, and grants, stock and pity
//! that commit with the spin.

use super::completions::verified;
use super::deletion::{catch_up, delete};
use super::ledger::{balance, coins, moved};
use super::packs::shop_of;
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::ChangeProfile;
use terrace_testkit::app::packs::ListCopies;
use terrace_testkit::app::wheels::{
    ListSpins, ReadFanAtWheels, ReadSegmentsGiven, SpinWheelRefusal, SpinWheelRequest, WheelContent,
    WheelSpun,
};
use terrace_testkit::games::{SpinRefusal, Wheel, verify_spin};
use terrace_testkit::identity::ProfileChange;
use terrace_testkit::kernel::{Clock, EventKind, Failure, Grant, Limit, Position, UserId};
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::packs::CopyList;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, WHEELS, on_each_database};

on_each_database! {
    spec_9_a_spin_gives_its_segment_and_anyone_can_recompute_it,
    spec_9_one_free_spin_is_given_on_a_local_date,
    spec_9_a_change_of_the_time_zone_gives_no_second_free_spin,
    spec_9_a_hundred_free_spins_at_once_are_one,
    spec_9_a_stock_is_given_once_and_then_its_substitute,
    spec_9_pity_and_the_daily_limit_hold_over_spins_that_are_paid,
    spec_9_a_refused_spin_changes_nothing,
    spec_9_a_new_account_does_not_spin_for_limited_grants,
    spec_9_ten_thousand_spins_fit_the_published_odds,
    spec_9_a_deleted_account_leaves_no_seed,
    spec_9_wheels_that_the_content_drops_are_closed,
}

const DAY: Duration = Duration::from_hours(24);

pub(super) fn load(service: &TestApp, text: &str) {
    let content = WheelContent::parse(text).expect("wheels");
    service.run(service.app().load_wheels(content)).expect("wheels that fit");
}

/// A service with wheels, and fans whose accounts are not new any more.
pub(super) fn started(kind: DatabaseKind, names: &[&str]) -> Result<(TestApp, Vec<UserId>)> {
    let service = shop_of(TestApp::adjusted(kind, |_, app| app.new_account_age = DAY)?)?;
    load(&service, WHEELS);
    let fans = names.iter().map(|name| service.fan(name).id).collect();
    service.clock().advance(DAY * 2);
    Ok((service, fans))
}

pub(super) fn wheel(service: &TestApp, key: &str) -> Wheel {
    let book = service.run(service.app().wheel_book()).expect("a working store");
    book.wheels().iter().find(|wheel| wheel.key.as_str() == key).expect("a wheel").clone()
}

/// The request for the fan's next spin.
pub(super) fn request(service: &TestApp, fan: UserId, wheel: &Wheel, is_free: bool) -> SpinWheelRequest {
    let at = service.found(ReadFanAtWheels { user: fan }).expect("an active account");
    let nonce = at.state(wheel.id).count + 1;
    let seeds = service.app().wheel_seeds().expect("a secret");
    let seed_hash = seeds.seed(wheel.id, fan, nonce).hash();
    SpinWheelRequest { is_free, seed_hash, client_seed: format!("kop {nonce}").parse().expect("a seed") }
}

pub(super) fn spin(
    service: &TestApp,
    fan: UserId,
    key: &str,
    is_free: bool,
) -> std::result::Result<WheelSpun, SpinWheelRefusal> {
    let wheel = wheel(service, key);
    let request = request(service, fan, &wheel, is_free);
    let command = service.run(service.app().spin_wheel(fan, wheel.id, request)).expect("a working store");
    service.run(service.app().execute(command)).map_err(|failure| match failure {
        Failure::Refused(refusal) => refusal,
        Failure::Broken(error) => panic!("{error}"),
    })
}

pub(super) fn rule(refusal: SpinRefusal) -> SpinWheelRefusal {
    SpinWheelRefusal::Rule(refusal)
}

pub(super) fn give(service: &TestApp, fan: UserId, amount: i64, source: &str) {
    moved(service, coins(Holder::House(House::Issuance), Holder::Fan(fan), amount, source));
}

fn in_coins(service: &TestApp, fan: UserId) -> i64 {
    balance(service, fan, AccountKind::Coins)
}

pub(super) fn spins(service: &TestApp, fan: UserId) -> usize {
    service.found(ListSpins { user: fan, limit: Limit::MAX, after: None }).items.len()
}

fn spec_9_a_spin_gives_its_segment_and_anyone_can_recompute_it(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let mia = fans[0];
    let before = service.log(Position::START).len();
    let shown = request(&service, mia, &wheel(&service, "daily"), true);
    let spun = spin(&service, mia, "daily", true).expect("a free spin");
    assert_eq!(spun.proof.server_seed_hash, shown.seed_hash);
    assert_eq!(verify_spin(&spun.proof, &spun.spin.segment), Ok(()));
    let segment = wheel(&service, "daily").segment(&spun.spin.segment).expect("a segment").clone();
    assert_eq!((spun.spin.grant, spun.spin.is_substituted, spun.spin.nonce), (segment.grant, false, 1));
    // The grant is there when the spin is answered.
    let (points, held) = (balance(&service, mia, AccountKind::Points), in_coins(&service, mia));
    let expected = match segment.grant {
        Grant::Coins(amount) => (0, amount),
        Grant::Points(amount) => (amount, 0),
        Grant::Pack(..) | Grant::Collectible(..) | Grant::Code(_) | Grant::Product(..) | Grant::Nothing => {
            (0, 0)
        }
    };
    assert_eq!((points, held), expected);
    let events = service.log(Position::START).split_off(before);
    let completed: Vec<_> =
        events.iter().filter(|event| event.what.kind == EventKind::SpinCompleted).collect();
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0].detail.as_deref(), Some(spun.spin.segment.as_str()));
    // The list has the same spin, and its table.
    let listed = service.found(ListSpins { user: mia, limit: Limit::MAX, after: None }).items;
    assert_eq!(listed, [(spun.spin.clone(), spun.proof.table.clone())]);
    assert_eq!(spun.next_seed_hash, request(&service, mia, &wheel(&service, "daily"), true).seed_hash);
    verified(&service);
    Ok(())
}

fn spec_9_one_free_spin_is_given_on_a_local_date(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let mia = fans[0];
    let spun = spin(&service, mia, "daily", true).expect("a free spin");
    let next = spun.next_free_spin_at.expect("a next one");
    assert_eq!(spin(&service, mia, "daily", true).unwrap_err(), rule(SpinRefusal::NoFreeSpin));
    // Another wheel has its own.
    spin(&service, mia, "once", true).expect("a free spin of another wheel");
    let at = service.found(ReadFanAtWheels { user: mia }).expect("an active account");
    assert_eq!(at.next_date_at, next);
    let wait = next.minus(Duration::from_millis(1)).since(service.clock().now());
    service.clock().advance(wait);
    assert_eq!(spin(&service, mia, "daily", true).unwrap_err(), rule(SpinRefusal::NoFreeSpin));
    service.clock().advance(Duration::from_millis(1));
    spin(&service, mia, "daily", true).expect("the free spin of the next date");
    assert_eq!(spins(&service, mia), 3);
    Ok(())
}

fn spec_9_a_change_of_the_time_zone_gives_no_second_free_spin(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let mia = fans[0];
    let zone = |name: &str| {
        let time_zone = Some(name.parse().expect("a zone"));
        service.done(ChangeProfile {
            user: mia,
            change: ProfileChange { time_zone, ..ProfileChange::default() },
        });
    };
    zone("Pacific/Kiritimati");
    spin(&service, mia, "daily", true).expect("a free spin");
    // There it is a date earlier, and back again no later.
    for name in ["Pacific/Honolulu", "Pacific/Kiritimati", "Europe/London", "Pacific/Kiritimati"] {
        zone(name);
        assert_eq!(spin(&service, mia, "daily", true).unwrap_err(), rule(SpinRefusal::NoFreeSpin), "{name}");
    }
    service.clock().advance(DAY);
    spin(&service, mia, "daily", true).expect("the free spin of the next day");
    Ok(())
}

fn spec_9_a_hundred_free_spins_at_once_are_one(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let mia = fans[0];
    let daily = wheel(&service, "daily");
    let request = request(&service, mia, &daily, true);
    let works = (0..100).map(|_| {
        let (app, request) = (Arc::clone(service.app()), request.clone());
        let id = daily.id;
        async move {
            let command = app.spin_wheel(mia, id, request).await.expect("a working store");
            app.execute(command).await
        }
    });
    let (mut done, mut refused) = (0, 0);
    for outcome in service.together(works) {
        match outcome {
            Ok(_) => done += 1,
            Err(Failure::Refused(_)) => refused += 1,
            Err(Failure::Broken(error)) => panic!("{error}"),
        }
    }
    assert_eq!((done, refused, spins(&service, mia)), (1, 99, 1));
    Ok(())
}

fn spec_9_a_stock_is_given_once_and_then_its_substitute(kind: DatabaseKind) -> Result<()> {
    let names: Vec<String> = (0..20).map(|n| format!("fan{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (service, fans) = started(kind, &names)?;
    let once = wheel(&service, "once");
    let works = fans.iter().map(|fan| {
        let (app, request, fan, id) =
            (Arc::clone(service.app()), request(&service, *fan, &once, true), *fan, once.id);
        async move {
            let command = app.spin_wheel(fan, id, request).await.expect("a working store");
            app.execute(command).await.expect("a spin")
        }
    });
    let spun = service.together(works);
    let jackpots = spun.iter().filter(|spun| spun.spin.grant == Grant::Coins(500)).count();
    assert_eq!(jackpots, 1);
    for one in spun.iter().filter(|spun| spun.spin.segment.as_str() == "jackpot") {
        assert_eq!(one.spin.is_substituted, one.spin.grant == Grant::Coins(1));
        // The draw does not depend on what is left.
        assert_eq!(verify_spin(&one.proof, &one.spin.segment), Ok(()));
    }
    let held: i64 = fans.iter().map(|fan| in_coins(&service, *fan)).sum();
    let substitutes = spun.iter().filter(|spun| spun.spin.is_substituted).count();
    assert_eq!(held, 500 + i64::try_from(substitutes)?);
    let given = service.found(ReadSegmentsGiven);
    assert_eq!(given.into_values().collect::<Vec<_>>(), [1]);
    verified(&service);
    Ok(())
}

fn spec_9_pity_and_the_daily_limit_hold_over_spins_that_are_paid(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let mia = fans[0];
    give(&service, mia, 100, "gift");
    let mut segments = Vec::new();
    for _ in 0..5 {
        let spun = spin(&service, mia, "lucky", false).expect("a paid spin");
        assert_eq!(verify_spin(&spun.proof, &spun.spin.segment), Ok(()));
        segments.push(spun.spin.segment.to_string());
    }
    // One in a million draws gives the pack by itself; every third spin at the latest does.
    assert_eq!(segments, ["blank", "blank", "pack", "blank", "blank"]);
    assert_eq!(in_coins(&service, mia), 50);
    let copies = ListCopies { user: mia, list: CopyList::Bought(None), limit: Limit::MAX, after: None };
    assert_eq!(service.found(copies).items.len(), 1);
    assert_eq!(spin(&service, mia, "lucky", false).unwrap_err(), rule(SpinRefusal::LimitReached));
    service.clock().advance(DAY);
    // Pity goes on across dates.
    assert_eq!(spin(&service, mia, "lucky", false).expect("a spin").spin.segment.as_str(), "pack");
    verified(&service);
    Ok(())
}

fn spec_9_a_refused_spin_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_"])?;
    let (mia, bo) = (fans[0], fans[1]);
    let before = service.log(Position::START).len();
    let (daily, lucky) = (wheel(&service, "daily"), wheel(&service, "lucky"));
    let refuse = |wheel: &Wheel, request: SpinWheelRequest| {
        let command = service.run(service.app().spin_wheel(mia, wheel.id, request)).expect("a working store");
        service.refused(command)
    };
    // The seed of another fan, of a later spin, and of another wheel.
    let own = request(&service, mia, &daily, true);
    let others = request(&service, bo, &daily, true);
    assert_eq!(refuse(&daily, others), SpinWheelRefusal::SeedChanged);
    assert_eq!(refuse(&daily, request(&service, mia, &lucky, true)), SpinWheelRefusal::SeedChanged);
    assert_eq!(refuse(&lucky, own), rule(SpinRefusal::NoFreeSpin));
    assert_eq!(spin(&service, mia, "lucky", false).unwrap_err(), SpinWheelRefusal::Insufficient { has: 0 });
    assert_eq!(spin(&service, mia, "daily", false).unwrap_err(), rule(SpinRefusal::NoPrice));
    assert_eq!(spin(&service, mia, "over", true).unwrap_err(), rule(SpinRefusal::Closed));
    assert_eq!((spins(&service, mia), in_coins(&service, mia)), (0, 0));
    assert_eq!(service.log(Position::START).len(), before);
    spin(&service, mia, "daily", true).expect("the free spin is still there");
    Ok(())
}

fn spec_9_a_new_account_does_not_spin_for_limited_grants(kind: DatabaseKind) -> Result<()> {
    let (service, _) = started(kind, &[])?;
    let bo = service.fan("bo_").id;
    assert_eq!(spin(&service, bo, "once", true).unwrap_err(), rule(SpinRefusal::AccountTooNew));
    spin(&service, bo, "daily", true).expect("a wheel without limits");
    service.clock().advance(DAY);
    spin(&service, bo, "once", true).expect("a day later");
    Ok(())
}

fn spec_9_ten_thousand_spins_fit_the_published_odds(kind: DatabaseKind) -> Result<()> {
    const FANS: usize = 1_000;
    let service = shop_of(TestApp::without_dry_run(kind)?)?;
    load(&service, WHEELS);
    let fans = service.crowd("fan", FANS);
    let daily = wheel(&service, "daily");
    let mut counts = vec![0_u32; daily.segments.len()];
    for _ in 0..10 {
        let works = fans.iter().map(|fan| {
            let (app, fan, id) = (Arc::clone(service.app()), *fan, daily.id);
            async move {
                let at = app.query(ReadFanAtWheels { user: fan }).await.expect("a read").expect("a fan");
                let nonce = at.state(id).count + 1;
                let seed_hash = app.wheel_seeds().expect("a secret").seed(id, fan, nonce).hash();
                let client_seed = "kop".parse().expect("a seed");
                let request = SpinWheelRequest { is_free: true, seed_hash, client_seed };
                let command = app.spin_wheel(fan, id, request).await.expect("a working store");
                app.execute(command).await.expect("a spin").spin.segment
            }
        });
        for segment in service.together(works) {
            let place = daily.segments.iter().position(|one| one.key == segment).expect("a segment");
            counts[place] += 1;
        }
        service.clock().advance(DAY);
    }
    let test = terrace_testkit::draws::ChiSquareTest::of(counts.iter().copied().zip(daily.probabilities()));
    assert!(test.p > 0.001, "{counts:?}: {test:?}");
    Ok(())
}

fn spec_9_a_deleted_account_leaves_no_seed(kind: DatabaseKind) -> Result<()> {
    let (service, _) = started(kind, &[])?;
    let mia = service.fan("mia");
    let spun = spin(&service, mia.id, "daily", true).expect("a free spin");
    assert_eq!(delete(&service, mia.cookie, PASSWORD), None);
    catch_up(&service);
    let left = service.found(ListSpins { user: mia.id, limit: Limit::MAX, after: None }).items;
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].0.client_seed.clone(), &left[0].0.segment), (None, &spun.spin.segment));
    verified(&service);
    Ok(())
}

fn spec_9_wheels_that_the_content_drops_are_closed(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let before = wheel(&service, "daily");
    let only = WHEELS.split("[[wheel]]").nth(2).expect("another wheel");
    load(&service, &format!("[[wheel]]{only}"));
    assert_eq!(spin(&service, fans[0], "daily", true).unwrap_err(), rule(SpinRefusal::Closed));
    // One that comes back is the same wheel, with what its segments gave.
    load(&service, WHEELS);
    assert_eq!(wheel(&service, "daily"), before);
    spin(&service, fans[0], "daily", true).expect("a free spin");
    Ok(())
}
