use super::*;
use crate::fixtures::{collectible, fresh, match_day, pack, starter, vault};
use crate::{Guarantee, Slot};
use Rarity::{Common, Epic, Legendary, Rare, Uncommon};
use proptest::prelude::*;

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

/// An exact fraction of whole numbers.
#[derive(Clone, Copy)]
struct Fraction(u128, u128);

impl Fraction {
    const ZERO: Self = Self(0, 1);

    fn reduced(self) -> Self {
        let (mut a, mut b) = (self.0, self.1);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        Self(self.0 / a, self.1 / a)
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0 * other.1 + other.0 * self.1, self.1 * other.1).reduced()
    }

    fn times(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 * other.1).reduced()
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "it is compared with what is rounded"
    )]
    fn value(self) -> f64 {
        self.0 as f64 / self.1 as f64
    }
}

/// All sequences of rarities that a copy may give, with their exact probabilities: an independent enumeration of the
/// draw.
fn ways(pack: &Pack) -> Vec<(Vec<Rarity>, Fraction)> {
    let mut ways = vec![(Vec::new(), Fraction(1, 1))];
    for (slot, number) in pack.slots.iter().zip(1..) {
        let mut longer = Vec::new();
        for (way, probability) in ways {
            let owed = pack.guarantee.filter(|guarantee| {
                number == pack.slots.len() && way.iter().all(|rarity| *rarity < guarantee.at_least)
            });
            let rows = slot.rarities.iter().filter(|row| owed.is_none_or(|owed| row.0 >= owed.at_least));
            let total: u128 = rows.clone().map(|(_, weight)| u128::from(*weight)).sum();
            for (rarity, weight) in rows {
                let probability = probability.times(Fraction(u128::from(*weight), total));
                longer.push(([&way[..], &[*rarity]].concat(), probability));
            }
        }
        ways = longer;
    }
    ways
}

fn assert_exact(pack: &Pack) {
    let ways = ways(pack);
    let sum = |holds: &dyn Fn(&[Rarity]) -> bool| {
        let held = ways.iter().filter(|(way, _)| holds(way));
        held.fold(Fraction::ZERO, |sum, (_, probability)| sum.plus(*probability)).value()
    };
    let Odds { rarities, slots } = odds(pack, &fresh());
    for (number, slot) in slots.iter().enumerate() {
        for (rarity, odds) in &slot.rarities {
            assert!(close(*odds, sum(&|way| way[number] == *rarity)), "{number} {rarity}");
        }
        assert!(close(slot.rarities.values().sum(), 1.0));
        assert!(close(slot.collectibles.values().sum(), 1.0));
    }
    for row in &rarities {
        assert!(close(row.at_least_one, sum(&|way| way.contains(&row.rarity))), "{row:?}");
        let share: f64 = slots.iter().map(|slot| slot.rarity(row.rarity)).sum();
        assert!(close(row.share * num::to_f64(slots.len()), share));
    }
    assert!(close(rarities.iter().map(|row| row.share).sum(), 1.0));
}

/// The published odds equal the exact probabilities of the draw (`docs/spec.md` §1, rule 11).
#[test]
fn the_odds_are_exact() {
    for mut pack in [match_day(), starter(), vault()] {
        for at_least in [None, Some(Common), Some(Uncommon), Some(Rare)] {
            pack.guarantee = at_least.map(|at_least| Guarantee { at_least });
            assert_exact(&pack);
        }
    }
}

#[test]
fn a_guarantee_makes_its_rarities_likelier_in_the_last_slot() {
    let pack = match_day();
    let with = odds(&pack, &fresh());
    let without = odds(&Pack { guarantee: None, ..pack }, &fresh());
    assert_eq!(with.slots[..2], without.slots[..2]);
    assert!(with.slots[2].rarity(Legendary) > without.slots[2].rarity(Legendary));
    // The guarantee is unfulfilled before the last slot in 0.9 * 0.9 of all copies: of those, 80 of 100 are rare; of
    // the others, 80 of 1000.
    assert!(close(with.slots[2].rarity(Rare), 0.81 * 0.8 + 0.19 * 0.08));
    assert!(close(with.slots[2].collectibles[&collectible(6)], 0.81 * 0.4 + 0.19 * 0.04));
}

#[test]
fn what_is_exhausted_leaves_its_odds_to_its_rarity() {
    let pack = vault();
    let exhausted: Minted = [(collectible(4), 3), (collectible(2), 0)].into_iter().collect();
    let (before, after) = (odds(&pack, &fresh()), odds(&pack, &exhausted));
    assert_eq!(before.rarities, after.rarities);
    assert!(close(before.slots[1].collectibles[&collectible(4)], 5.0 / 7.0));
    let left: Vec<_> = after.slots[1].collectibles.iter().collect();
    assert_eq!(left, [(&collectible(2), &0.5), (&collectible(3), &0.5)]);
    // With nothing left, the odds of rarities are unchanged and no collectible has any.
    let nothing: Minted =
        [(collectible(2), 1), (collectible(3), 2), (collectible(4), 3)].into_iter().collect();
    let odds = odds(&pack, &nothing);
    assert_eq!(odds.rarities, before.rarities);
    assert!(odds.slots[1].collectibles.is_empty());
}

#[test]
fn what_is_certain_is_one() {
    let odds = odds(&starter(), &fresh());
    let certain = odds.rarities[0];
    assert_eq!((certain.rarity, certain.at_least_one), (Common, 1.0));
    assert!(close(certain.share, (1.0 + 0.75) / 3.0));
}

fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let weights = proptest::collection::btree_map(0_usize..5, 1_u32..=9, 1..=5);
    let slot = weights.prop_map(|weights| Slot {
        rarities: weights.into_iter().map(|(rarity, weight)| (Rarity::ALL[rarity], weight)).collect(),
    });
    proptest::collection::vec(slot, 1..=4)
}

proptest! {
    #[test]
    fn odds_add_up(slots in slots(), guaranteed in 0_usize..6) {
        let contents = Rarity::ALL.map(|rarity| (rarity, None, 1));
        let mut pack = Pack { slots, ..pack(&[], &contents) };
        let rarest = pack.slots.last().and_then(|slot| slot.rarities.last()).map(|row| row.0).unwrap();
        let at_least = Rarity::ALL.get(guaranteed).copied().filter(|least| *least <= rarest);
        pack.guarantee = at_least.map(|at_least| Guarantee { at_least });
        assert_exact(&pack);
    }

    #[test]
    fn odds_of_many_slots_add_up(weight in 1_u32..=1_000_000, slots in 1_usize..=20) {
        let slot = Slot { rarities: vec![(Common, weight), (Epic, 1_000_000), (Legendary, 1)] };
        let contents = [(Common, None, 1), (Epic, None, 1), (Legendary, None, 1)];
        let pack = Pack {
            slots: vec![slot; slots],
            guarantee: Some(Guarantee { at_least: Legendary }),
            ..pack(&[], &contents)
        };
        let odds = odds(&pack, &fresh());
        prop_assert!(close(odds.rarities.iter().map(|row| row.share).sum(), 1.0));
        prop_assert!(odds.rarities.iter().all(|row| (0.0..=1.0).contains(&row.at_least_one)));
        prop_assert!(close(odds.rarities[2].at_least_one, 1.0));
    }
}
