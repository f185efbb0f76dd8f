use super::*;
use crate::fixtures::{collectible, fresh, match_day, pack, seeds, starter, vault};
use crate::{ChiSquareTest, Odds, odds};
use Rarity::{Common, Legendary, Rare, Uncommon};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn drawn(pack: &Pack, byte: u8, nonce: u32, minted: &Minted) -> Vec<SlotOutcome> {
    let (seed, client_seed) = seeds(byte);
    draw(&seed, &client_seed, nonce, pack, minted).unwrap().outcomes
}

/// The example of `docs/fair-draws.md`, which its script reproduces. Changing the draw would invalidate existing
/// proofs.
#[test]
fn the_worked_example_holds() {
    let page = include_str!("../../../../docs/fair-draws.md");
    let seed = ServerSeed::from_bytes(std::array::from_fn(|n| u8::try_from(n).unwrap()));
    let slot: &[_] = &[(Common, 9), (Rare, 1)];
    let contents = [(Common, None, 3), (Common, None, 1), (Rare, None, 1), (Rare, None, 1)];
    let mut pack = pack(&[slot; 2], &contents);
    pack.guarantee = Some(Guarantee { at_least: Rare });
    for (content, number) in pack.contents.iter_mut().zip(1..) {
        content.collectible = collectible(0x7000_8000_0000_0000_0000 + number);
    }
    let draw = draw(&seed, &"kop".parse().unwrap(), 1, &pack, &fresh()).unwrap();
    assert_eq!(draw.outcomes.len(), 2);
    for (outcome, (number, is_guaranteed)) in draw.outcomes.iter().zip([(0, false), (2, true)]) {
        let content = pack.contents[number];
        assert_eq!((outcome.collectible, outcome.rarity), (content.collectible, content.rarity));
        assert_eq!(outcome.is_guaranteed, is_guaranteed);
        let line = format!("{{ \"id\": \"{}\", \"rarity\": \"{}\" }}", outcome.collectible, outcome.rarity);
        assert!(page.contains(&line), "{line}");
    }
    for expected in [
        format!("\"serverSeed\": \"{}\"", seed.reveal()),
        format!("\"serverSeedHash\": \"{}\"", seed.hash()),
        format!("\"tableHash\": \"{}\"", draw.tables.hash()),
    ] {
        assert!(page.contains(&expected), "{expected}");
    }
    let text = draw.tables.canonical();
    let beginning: String = text.lines().take(5).flat_map(|line| [line, "\n"]).collect();
    assert!(page.contains(&beginning), "{beginning}");
}

/// The expected values were also computed with the script of `docs/fair-draws.md`.
#[test]
fn a_larger_draw_is_what_it_was() {
    let seed = ServerSeed::from_bytes(std::array::from_fn(|n| u8::try_from(n).unwrap()));
    let drawn = |nonce| {
        let draw = draw(&seed, &"kop".parse().unwrap(), nonce, &match_day(), &fresh()).unwrap();
        let hash = "cb20a388b5a48bc67604455b49add295f377c9ffca776c066560f9703bae3898";
        assert_eq!(draw.tables.hash().to_string(), hash);
        draw.outcomes.iter().map(|outcome| outcome.collectible.as_uuid().as_u128()).collect::<Vec<_>>()
    };
    let expected = [[1, 4, 7], [3, 3, 6], [1, 5, 6], [1, 3, 7], [3, 6, 5], [2, 3, 6], [5, 2, 6], [2, 4, 9]];
    for (expected, nonce) in expected.iter().zip(1..) {
        assert_eq!(drawn(nonce), expected, "{nonce}");
    }
}

#[test]
fn a_draw_goes_by_seeds_and_nonce_alone() {
    let pack = match_day();
    let base = drawn(&pack, 1, 1, &fresh());
    assert_eq!(base, drawn(&pack, 1, 1, &fresh()));
    let others = (2..200).map(|nonce| drawn(&pack, 1, nonce, &fresh()));
    assert!(others.filter(|other| *other == base).count() < 20);
    let others = (2..200).map(|byte| drawn(&pack, byte, 1, &fresh()));
    assert!(others.filter(|other| *other == base).count() < 20);
}

/// Draws follow the published odds (`docs/spec.md` §1, rule 11), in every slot.
#[test]
fn draws_go_by_the_odds() {
    const COPIES: u32 = 100_000;
    for pack in [match_day(), starter()] {
        let Odds { slots, rarities } = odds(&pack, &fresh());
        let mut drawn: Vec<BTreeMap<CollectibleId, u32>> = vec![BTreeMap::new(); slots.len()];
        let mut with: BTreeMap<Rarity, u32> = BTreeMap::new();
        let (seed, client_seed) = seeds(5);
        for nonce in 0..COPIES {
            let outcomes = draw(&seed, &client_seed, nonce, &pack, &fresh()).unwrap().outcomes;
            for (outcome, drawn) in outcomes.iter().zip(&mut drawn) {
                *drawn.entry(outcome.collectible).or_default() += 1;
            }
            for row in &rarities {
                if outcomes.iter().any(|outcome| outcome.rarity == row.rarity) {
                    *with.entry(row.rarity).or_default() += 1;
                }
            }
        }
        for (slot, drawn) in slots.iter().zip(&drawn) {
            assert!(drawn.keys().all(|id| slot.collectibles.contains_key(id)));
            let count = |id| drawn.get(id).copied().unwrap_or(0);
            let fit = ChiSquareTest::of(slot.collectibles.iter().map(|(id, odds)| (count(id), *odds)));
            assert!(fit.p > 0.001 && fit.degrees > 0, "{fit:?}: {drawn:?}");
        }
        for row in rarities {
            let expected = row.at_least_one * f64::from(COPIES);
            let deviation = (expected * (1.0 - row.at_least_one)).sqrt();
            let drawn = f64::from(with.get(&row.rarity).copied().unwrap_or(0));
            assert!((drawn - expected).abs() <= 4.0 * deviation, "{row:?}: {drawn} of {expected}");
        }
    }
}

#[test]
fn the_guarantee_holds_and_narrows_the_last_slot_alone() {
    let pack = match_day();
    let mut narrowed = 0;
    for nonce in 0..2_000 {
        let outcomes = drawn(&pack, 3, nonce, &fresh());
        let [first, second, last] = &outcomes[..] else { panic!("three: {outcomes:?}") };
        assert!(outcomes.iter().any(|outcome| outcome.rarity >= Rare));
        assert!(!first.is_guaranteed && !second.is_guaranteed);
        assert_eq!(last.is_guaranteed, first.rarity < Rare && second.rarity < Rare);
        narrowed += u32::from(last.is_guaranteed);
    }
    assert!((1_500..1_700).contains(&narrowed), "{narrowed}");
    // Without the guarantee, the same words may give only lower rarities.
    let free = Pack { guarantee: None, ..pack };
    assert!((0..50).any(|nonce| drawn(&free, 3, nonce, &fresh()).iter().all(|one| one.rarity < Rare)));
}

/// The weight of an exhausted edition goes to the others of its rarity; the odds of rarities do not change.
#[test]
fn what_is_exhausted_is_not_drawn_and_changes_no_rarity() {
    let slots: &[&[_]] = &[&[(Common, 1), (Uncommon, 1)]];
    let pack = pack(slots, &[(Common, Some(7), 1_000), (Common, None, 1), (Uncommon, None, 1)]);
    let exhausted: Minted = [(collectible(1), 7)].into_iter().collect();
    for nonce in 0..500 {
        let (before, after) = (drawn(&pack, 2, nonce, &fresh()), drawn(&pack, 2, nonce, &exhausted));
        assert_eq!(before[0].rarity, after[0].rarity);
        let expected = if after[0].rarity == Common { 2 } else { 3 };
        assert_eq!(after[0].collectible, collectible(expected));
    }
}

/// A copy that slot 1 takes is not available to slot 2.
#[test]
fn one_copy_takes_no_more_than_there_is() {
    let slot: &[_] = &[(Legendary, 1)];
    let pack = pack(&[slot; 3], &[(Legendary, Some(2), 1_000_000), (Legendary, Some(1), 1)]);
    for nonce in 0..100 {
        let outcomes = drawn(&pack, 4, nonce, &fresh());
        let mut taken: Vec<_> = outcomes.iter().map(|outcome| outcome.collectible).collect();
        taken.sort_unstable();
        assert_eq!(taken, [collectible(1), collectible(1), collectible(2)]);
    }
    let one_minted: Minted = [(collectible(1), 1)].into_iter().collect();
    let (seed, client_seed) = seeds(4);
    assert_eq!(draw(&seed, &client_seed, 0, &pack, &one_minted), Err(Unfillable { slot: 2 }));
}

proptest! {
    #[test]
    fn a_copy_gives_what_its_slots_may(seed: [u8; 32], client_seed in "\\PC{1,64}", nonce: u32, minted in 0_u32..2) {
        let minted: Minted = (2..5).map(|number| (collectible(number), minted)).collect();
        let (seed, client_seed) = (ServerSeed::from_bytes(seed), client_seed.parse().unwrap());
        for pack in [match_day(), starter(), vault()] {
            let draw = draw(&seed, &client_seed, nonce, &pack, &minted).unwrap();
            prop_assert_eq!(draw.outcomes.len(), pack.slots.len());
            let mut after = minted.clone();
            for ((outcome, slot), number) in draw.outcomes.iter().zip(&pack.slots).zip(0..) {
                prop_assert_eq!(outcome.slot, number);
                prop_assert!(slot.can_give(outcome.rarity));
                let content = pack.contents.iter().find(|one| one.collectible == outcome.collectible).unwrap();
                prop_assert_eq!(content.rarity, outcome.rarity);
                prop_assert!(after.is_left(content));
                after.mint(content);
            }
        }
    }
}
