use super::*;
use crate::draw;
use crate::fixtures::{collectible, fresh, match_day, pack, seeds, starter, vault};
use SaleRefusal::{LimitReached, PackClosed, SoldOut, TooManyPending};
use proptest::prelude::*;
use terrace_kernel::PricePart;

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn sold(sold: u32, sealed: u32) -> Stock {
    Stock { sold, sealed }
}

fn sell(pack: &Pack, copies: i64, bought: Bought, stock: Stock) -> Result<(), SaleRefusal> {
    can_sell(pack, Quantity::new(copies).unwrap(), at(100), bought, stock, &fresh())
}

/// `docs/spec.md` §1, rule 7: only available stock is sold.
#[test]
fn a_pack_is_sold_within_its_window() {
    let (none, stock) = (Bought::default(), Stock::default());
    let open = Pack { opens_at: Some(at(100)), closes_at: Some(at(101)), ..starter() };
    assert_eq!(sell(&open, 20, none, stock), Ok(()));
    for closed in [
        Pack { opens_at: Some(at(101)), ..starter() },
        Pack { closes_at: Some(at(100)), ..starter() },
        Pack { is_retired: true, ..starter() },
    ] {
        assert_eq!(sell(&closed, 1, none, stock), Err(PackClosed));
    }
}

#[test]
fn a_fan_buys_up_to_the_limit() {
    let limited = Pack { per_user_limit: Some(5), ..starter() };
    let had = |copies| Bought { copies, pending: 0 };
    assert_eq!(sell(&limited, 2, had(3), Stock::default()), Ok(()));
    assert_eq!(sell(&limited, 3, had(3), Stock::default()), Err(LimitReached { limit: 5 }));
    assert_eq!(sell(&limited, 1, had(u32::MAX), Stock::default()), Err(LimitReached { limit: 5 }));
}

#[test]
fn few_purchases_wait_for_money() {
    let euro = PricePart::new(PriceKind::Money, 499, Some("EUR".parse().unwrap())).unwrap();
    let paid = Pack { price: euro, ..starter() };
    let waiting = |pending| Bought { copies: 0, pending };
    assert_eq!(sell(&paid, 1, waiting(2), Stock::default()), Ok(()));
    assert_eq!(sell(&paid, 1, waiting(3), Stock::default()), Err(TooManyPending));
    assert_eq!(sell(&starter(), 1, waiting(3), Stock::default()), Ok(()));
}

#[test]
fn no_more_is_sold_than_the_supply() {
    let scarce = Pack { supply: Some(10), ..match_day() };
    let none = Bought::default();
    assert!(scarce.is_counted());
    assert_eq!(sell(&scarce, 3, none, sold(7, 1)), Ok(()));
    assert_eq!(sell(&scarce, 4, none, sold(7, 1)), Err(SoldOut { remaining: 3 }));
    // Lowering the supply below the number sold leaves 0, not a negative number.
    assert_eq!(scarce.remaining(sold(11, 0), &fresh()), Some(0));
    assert!(!match_day().is_counted());
    assert_eq!(match_day().remaining(Stock::default(), &fresh()), None);
}

/// Every sealed copy can be filled, whatever its slots turn out to give.
#[test]
fn no_more_is_sold_than_closed_pools_can_fill() {
    let pack = vault();
    let pools: Vec<_> = pack.closed_pools().collect();
    assert_eq!(pools, [ClosedPool { rarity: Rarity::Legendary, slots: 2 }]);
    assert!(pack.is_counted());
    // Six editions; a copy may take two.
    let remaining = |sealed, minted: &[(u128, u32)]| {
        let minted = minted.iter().map(|(number, count)| (collectible(*number), *count)).collect();
        pack.remaining(sold(0, sealed), &minted).unwrap()
    };
    assert_eq!(remaining(0, &[]), 3);
    assert_eq!(remaining(2, &[]), 1);
    assert_eq!(remaining(2, &[(4, 1)]), 0);
    assert_eq!(remaining(1, &[(4, 1)]), 1);
    assert_eq!(remaining(3, &[]), 0);
    assert_eq!(remaining(0, &[(2, 1), (3, 2), (4, 3)]), 0);
    // The lower of both limits applies.
    let supplied = Pack { supply: Some(2), ..vault() };
    assert_eq!(supplied.remaining(sold(1, 0), &fresh()), Some(1));
    assert_eq!(supplied.remaining(sold(0, 3), &fresh()), Some(0));
}

#[test]
fn a_rarity_with_an_open_edition_never_runs_out() {
    let contents = [(Rarity::Rare, Some(1), 9), (Rarity::Rare, None, 1)];
    let pack = pack(&[&[(Rarity::Rare, 1)]], &contents);
    assert_eq!(pack.closed_pools().next(), None);
    assert!(!pack.is_counted());
}

#[test]
fn stock_comes_back_as_it_went() {
    let three = Quantity::new(3).unwrap();
    assert_eq!(StockChange::purchased(three), StockChange { sold: 3, sealed: 3 });
    assert_eq!(StockChange::released(three), StockChange { sold: -3, sealed: -3 });
}

proptest! {
    /// For any sequence of purchases, openings and revocations, no copy is unfillable, no edition is exceeded, and
    /// everything that may be sold is sold at the end.
    #[test]
    fn every_sealed_copy_can_be_filled(
        steps in proptest::collection::vec((0_u8..4, 1_i64..4), 1..60),
        editions in proptest::collection::vec(1_u32..6, 1..4),
        seed: u8,
    ) {
        let limited = editions.iter().map(|edition| (Rarity::Legendary, Some(*edition), 1));
        let contents: Vec<_> = [(Rarity::Common, None, 1)].into_iter().chain(limited).collect();
        let slots: [&[_]; 2] = [&[(Rarity::Common, 1), (Rarity::Legendary, 3)], &[(Rarity::Legendary, 1)]];
        let pack = pack(&slots, &contents);
        let (mut stock, mut minted) = (Stock::default(), fresh());
        let (seed, client_seed) = seeds(seed);
        for ((step, copies), nonce) in steps.into_iter().zip(0..) {
            if step < 2 {
                let quantity = Quantity::new(copies).unwrap();
                if can_sell(&pack, quantity, at(0), Bought::default(), stock, &minted).is_ok() {
                    stock.sold += quantity.copies();
                    stock.sealed += quantity.copies();
                }
            } else if stock.sealed > 0 && step == 2 {
                let draw = draw(&seed, &client_seed, nonce, &pack, &minted);
                let Ok(draw) = draw else { panic!("a sold copy is unfillable: {draw:?}") };
                for outcome in &draw.outcomes {
                    minted.mint(pack.contents.iter().find(|one| one.collectible == outcome.collectible).unwrap());
                }
                stock.sealed -= 1;
            } else if stock.sealed > 0 {
                stock.sold -= 1;
                stock.sealed -= 1;
            }
            for content in &pack.contents {
                let count = minted.count(content.collectible);
                prop_assert!(content.edition.is_none_or(|edition| count <= edition));
            }
        }
    }
}
