use super::*;
use proptest::prelude::*;
use terrace_draws::ChiSquareTest;
use uuid::Uuid;

/// Segments of these weights; those of `lucky` are guaranteed after `after` spins without them.
fn wheel(weights: &[u32], pity: Option<(u32, &[usize])>) -> Wheel {
    let key = |index: usize| -> SegmentKey { format!("s{index}").parse().unwrap() };
    let segment = |(index, weight): (usize, &u32)| Segment {
        key: key(index),
        label: format!("Segment {index}"),
        grant: if index == 0 { Grant::Coins(100) } else { Grant::Nothing },
        weight: *weight,
        stock: None,
        substitute: None,
    };
    Wheel {
        id: Uuid::from_u128(1).into(),
        key: "daily".parse().unwrap(),
        name: "Daily".to_owned(),
        segments: weights.iter().enumerate().map(segment).collect(),
        price: None,
        has_free_spin: true,
        pity: pity
            .map(|(after, lucky)| Pity { after, segments: lucky.iter().map(|index| key(*index)).collect() }),
        daily_limit: None,
        opens_at: None,
        closes_at: None,
        is_retired: false,
    }
}

fn client_seed() -> ClientSeed {
    "kop".parse().unwrap()
}

fn seed(number: u32) -> ServerSeed {
    ServerSeed::derived(&[7; 32], &number.to_be_bytes())
}

/// Spins in a row of one fan: how often each segment came, and the longest row without a lucky one.
fn spins(wheel: &Wheel, count: u32) -> (Vec<u32>, u32) {
    let (table, client_seed) = (wheel.table(), client_seed());
    let (mut counts, mut pity, mut longest) = (vec![0_u32; wheel.segments.len()], 0, 0);
    for nonce in 1..=count {
        let spun = table.draw(&seed(nonce), &client_seed, nonce, pity);
        counts[spun.segment] += 1;
        pity = spun.pity_count;
        longest = longest.max(pity);
    }
    (counts, longest)
}

#[test]
fn spec_contract_9_a_million_spins_fit_the_published_odds() {
    for wheel in [wheel(&[5, 15, 30, 50], None), wheel(&[1, 29, 70], Some((20, &[0])))] {
        let (counts, longest) = spins(&wheel, 1_000_000);
        let odds = wheel.probabilities();
        // Spins with pity are not independent: their counts vary less than independent ones, so the test is only stricter
        // than needed about what differs.
        let test = ChiSquareTest::of(counts.iter().copied().zip(odds.iter().copied()));
        assert!(test.p > 0.001, "{counts:?} do not fit {odds:?}: {test:?}");
        assert!(longest <= wheel.pity.as_ref().map_or(u32::MAX, |pity| pity.after));
    }
}

#[test]
fn without_pity_the_odds_are_the_weights() {
    assert_eq!(wheel(&[1, 3], None).probabilities(), [0.25, 0.75]);
}

#[test]
fn pity_raises_the_odds_of_its_segments() {
    // One in two, at the latest every second spin: a cycle has 1.5 spins on average.
    let odds = wheel(&[1, 1], Some((1, &[0]))).probabilities();
    assert!((odds[0] - 2.0 / 3.0).abs() < 1e-12, "{odds:?}");
    assert!((odds[1] - 1.0 / 3.0).abs() < 1e-12, "{odds:?}");
}

#[test]
fn a_spin_after_the_last_miss_is_guaranteed() {
    let wheel = wheel(&[1, 1_000, 1_000], Some((3, &[0])));
    for nonce in 1..200 {
        let spun = wheel.spin(&seed(nonce), &client_seed(), nonce, 3);
        assert_eq!(spun, Spun { segment: 0, is_guaranteed: true, pity_count: 0 });
    }
}

#[test]
fn a_wheel_that_returns_its_price_is_found() {
    let coins = |amount| Some(SpinPrice { kind: PriceKind::Coins, amount });
    // A quarter of 100 coins is 25.
    for (amount, returns) in [(24, true), (25, true), (26, false)] {
        let wheel = Wheel { price: coins(amount), ..wheel(&[1, 3], None) };
        assert_eq!(wheel.returns_its_price(), returns, "{amount}");
    }
    // Points do not return coins.
    let price = Some(SpinPrice { kind: PriceKind::Points, amount: 1 });
    assert!(!Wheel { price, ..wheel(&[1, 3], None) }.returns_its_price());
    // A substitute counts, because stock ends.
    let mut limited = Wheel { price: coins(26), ..wheel(&[1, 3], None) };
    limited.segments[1].substitute = Some(Grant::Coins(2));
    assert!(limited.returns_its_price());
}

#[test]
fn an_average_counts_the_odds_with_pity_and_no_substitute() {
    let average = |wheel: &Wheel| wheel.average(GrantKind::Coins);
    // A quarter of 100 coins.
    let mut plain = wheel(&[1, 3], None);
    plain.segments[0].substitute = Some(Grant::Coins(500));
    assert!((average(&plain) - 25.0).abs() < 1e-9);
    assert!((plain.average(GrantKind::Points)).abs() < 1e-9);
    // Two of three spins, as pity has it.
    assert!((average(&wheel(&[1, 1], Some((1, &[0])))) - 200.0 / 3.0).abs() < 1e-9);
}

#[test]
fn a_proof_shows_the_outcome_and_any_change_is_found() {
    let wheel = wheel(&[10, 20, 30], Some((5, &[0, 2])));
    let spun = wheel.spin(&seed(1), &client_seed(), 1, 2);
    let proof = wheel.proof(&seed(1), client_seed(), 1, 2);
    let drawn = wheel.segments[spun.segment].key.clone();
    assert_eq!(verify_spin(&proof, &drawn), Ok(()));
    let other = wheel.segments.iter().find(|segment| segment.key != drawn).unwrap();
    assert_eq!(verify_spin(&proof, &other.key), Err(SpinFault::Segment(drawn.clone())));
    let changed = SpinProof { server_seed: seed(2), ..proof.clone() };
    assert_eq!(verify_spin(&changed, &drawn), Err(SpinFault::SeedHash));
    let mut changed = proof.clone();
    changed.table.rows[0].1 = 11;
    assert_eq!(verify_spin(&changed, &drawn), Err(SpinFault::TableHash));
    let table = SpinTable { rows: Vec::new(), pity: None };
    let empty = SpinProof { table_hash: table.hash(), table, ..proof };
    assert_eq!(verify_spin(&empty, &drawn), Err(SpinFault::Table));
}

#[test]
fn tables_are_read_as_they_are_written() {
    for table in [wheel(&[10, 20], Some((5, &[1]))).table(), wheel(&[1, 2], None).table()] {
        let text = table.canonical();
        assert_eq!(text.parse(), Ok(table));
        for wrong in [
            text.replacen("wheel-v1", "wheel-v2", 1),
            text.replacen("segment ", "segment  ", 1),
            text.replacen("pity", "Pity", 1),
            format!("{text}\n"),
            String::new(),
        ] {
            assert_eq!(wrong.parse::<SpinTable>(), Err(MalformedSpinTable), "{wrong}");
        }
    }
}

#[test]
fn the_table_as_text_is_stable() {
    let text = wheel(&[10, 20], Some((5, &[1]))).table().canonical();
    assert_eq!(text, "wheel-v1\nsegment s0 10\nsegment s1 20\npity 5 s1\n");
    assert_eq!(wheel(&[1, 2], None).table().canonical(), "wheel-v1\nsegment s0 1\nsegment s1 2\npity none\n");
}

fn date(day: u32) -> chrono::NaiveDate {
    chrono::NaiveDate::from_ymd_opt(2026, 5, day).unwrap()
}

#[test]
fn one_free_spin_is_given_on_a_date_and_the_limit_counts_all() {
    let now = Timestamp::from_micros(0);
    let wheel = Wheel {
        daily_limit: Some(2),
        price: Some(SpinPrice { kind: PriceKind::Coins, amount: 500 }),
        ..wheel(&[1, 3], None)
    };
    let may = |spins: &FreeSpin, is_free, day| may_spin(&wheel, spins, is_free, false, date(day), now);
    let spins = FreeSpin::default();
    assert_eq!(may(&spins, true, 2), Ok(()));
    let spins = spins.after(date(2), true);
    assert_eq!(may(&spins, true, 2), Err(SpinRefusal::NoFreeSpin));
    // A date before it, after a change of the zone, gives none either.
    assert_eq!(may(&spins, true, 1), Err(SpinRefusal::NoFreeSpin));
    assert_eq!(may(&spins, false, 2), Ok(()));
    let spins = spins.after(date(2), false);
    assert_eq!(may(&spins, false, 2), Err(SpinRefusal::LimitReached));
    assert_eq!(may(&spins, false, 1), Err(SpinRefusal::LimitReached));
    assert_eq!(may(&spins, true, 3), Ok(()));
}

#[test]
fn a_wheel_is_refused_while_it_is_closed_and_to_new_accounts_where_it_is_limited() {
    let at = Timestamp::from_micros;
    let may =
        |wheel: &Wheel, is_new, now| may_spin(wheel, &FreeSpin::default(), true, is_new, date(1), at(now));
    let plain = Wheel { opens_at: Some(at(10)), closes_at: Some(at(20)), ..wheel(&[1, 1], None) };
    for (now, expected) in
        [(9, Err(SpinRefusal::Closed)), (10, Ok(())), (19, Ok(())), (20, Err(SpinRefusal::Closed))]
    {
        assert_eq!(may(&plain, true, now), expected, "{now}");
    }
    assert_eq!(may(&Wheel { is_retired: true, ..plain.clone() }, false, 15), Err(SpinRefusal::Closed));
    let mut limited = plain.clone();
    limited.segments[0].stock = Some(5);
    assert_eq!(may(&limited, true, 15), Err(SpinRefusal::AccountTooNew));
    assert_eq!(may(&limited, false, 15), Ok(()));
    assert_eq!(
        may_spin(&plain, &FreeSpin::default(), false, false, date(1), at(15)),
        Err(SpinRefusal::NoPrice)
    );
}

proptest! {
    #[test]
    fn probabilities_add_up_to_one(
        weights in prop::collection::vec(1..=MOST_WEIGHT, 2..20),
        after in 1..=1_000_u32,
        has_pity: bool,
    ) {
        let odds = wheel(&weights, has_pity.then_some((after, &[0][..]))).probabilities();
        prop_assert!((odds.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        prop_assert!(odds.iter().all(|odds| (0.0..=1.0).contains(odds)));
    }
}
