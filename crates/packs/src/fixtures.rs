//! Packs for the tests of this crate.

use crate::Rarity::{Common, Epic, Legendary, Rare, Uncommon};
use crate::{ClientSeed, CollectibleId, Content, Guarantee, Minted, Pack, PackId, Rarity, ServerSeed, Slot};
use terrace_kernel::Uuid;
use terrace_kernel::{PriceKind, PricePart};

pub(crate) fn collectible(number: u128) -> CollectibleId {
    CollectibleId::from_uuid(Uuid::from_u128(number))
}

/// A pack with these slots (rarities and weights) and contents (rarity, edition and weight, with ids numbered from 1).
pub(crate) fn pack(slots: &[&[(Rarity, u32)]], contents: &[(Rarity, Option<u32>, u32)]) -> Pack {
    let content = |(number, &(rarity, edition, weight)): (u128, &(Rarity, Option<u32>, u32))| Content {
        collectible: collectible(number),
        rarity,
        edition,
        weight,
    };
    Pack {
        id: PackId::from_uuid(Uuid::from_u128(1)),
        key: "pack".parse().unwrap(),
        name: "Pack".to_owned(),
        description: String::new(),
        image_url: None,
        price: PricePart::new(PriceKind::Points, 100, None).unwrap(),
        per_user_limit: None,
        supply: None,
        opens_at: None,
        closes_at: None,
        slots: slots.iter().map(|rarities| Slot { rarities: rarities.to_vec() }).collect(),
        guarantee: None,
        contents: (1..).zip(contents).map(content).collect(),
        is_retired: false,
    }
}

/// Three slots over all rarities, open editions, at least one rare.
pub(crate) fn match_day() -> Pack {
    let slot: &[_] = &[(Common, 700), (Uncommon, 200), (Rare, 80), (Epic, 17), (Legendary, 3)];
    let contents = [
        (Common, None, 1),
        (Common, None, 1),
        (Common, None, 2),
        (Uncommon, None, 3),
        (Uncommon, None, 1),
        (Rare, None, 1),
        (Rare, None, 1),
        (Epic, None, 5),
        (Epic, None, 2),
        (Legendary, None, 1),
    ];
    Pack { guarantee: Some(Guarantee { at_least: Rare }), ..pack(&[slot, slot, slot], &contents) }
}

/// Slots of different rarities, one of them with a single rarity; no guarantee.
pub(crate) fn starter() -> Pack {
    let contents =
        [(Common, None, 1), (Common, None, 4), (Uncommon, None, 7), (Uncommon, None, 2), (Rare, None, 1)];
    pack(&[&[(Common, 1)], &[(Common, 3), (Uncommon, 1)], &[(Uncommon, 9), (Rare, 1)]], &contents)
}

/// Two slots over a closed pool of three legendary collectibles, 6 copies in all.
pub(crate) fn vault() -> Pack {
    let contents =
        [(Common, None, 1), (Legendary, Some(1), 1), (Legendary, Some(2), 1), (Legendary, Some(3), 5)];
    pack(&[&[(Common, 1), (Legendary, 1)], &[(Legendary, 1)]], &contents)
}

/// A server seed with every byte set to `byte`, and a client seed.
pub(crate) fn seeds(byte: u8) -> (ServerSeed, ClientSeed) {
    (ServerSeed::from_bytes([byte; 32]), "goal".parse().unwrap())
}

/// No copies minted.
pub(crate) fn fresh() -> Minted {
    Minted::default()
}
