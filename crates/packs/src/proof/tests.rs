use super::*;
use crate::fixtures::{collectible, fresh, match_day, seeds, vault};
use crate::{Guarantee, Minted, Pack, RarityRow, draw};
use Rarity::{Common, Legendary, Rare};

fn proved(pack: &Pack, nonce: u32, minted: &Minted) -> (Proof, Vec<Claim>) {
    let (seed, client_seed) = seeds(8);
    let draw = draw(&seed, &client_seed, nonce, pack, minted).unwrap();
    let claims = draw.outcomes.iter().map(Claim::from).collect();
    (Proof::of(&draw, seed, client_seed, ClientSeedSource::Client, nonce), claims)
}

#[test]
fn what_was_drawn_verifies() {
    for nonce in 0..300 {
        for pack in [match_day(), vault()] {
            let (proof, claims) = proved(&pack, nonce, &fresh());
            assert_eq!(verify(&proof, &claims), Ok(()));
        }
    }
}

/// Verifies a proof of a pack with a guarantee after `change` tampered with it. The table hash is recomputed where the
/// tables change, as a forger would do.
fn said(change: impl FnOnce(&mut Proof, &mut Vec<Claim>)) -> Result<(), ProofFault> {
    // A nonce for which the guarantee narrowed the last slot.
    let narrowed = |nonce: &u32| {
        let (_, claims) = proved(&match_day(), *nonce, &fresh());
        claims[..2].iter().all(|claim| claim.rarity < Rare)
    };
    let nonce = (0..1_000).find(narrowed).unwrap();
    let (mut proof, mut claims) = proved(&match_day(), nonce, &fresh());
    let tables = proof.tables.clone();
    change(&mut proof, &mut claims);
    if proof.tables != tables {
        proof.table_hash = proof.tables.hash();
    }
    verify(&proof, &claims)
}

fn rows(proof: &mut Proof, slot: usize) -> &mut Vec<RarityRow> {
    &mut proof.tables.slots[slot].rarities
}

/// The parts of a proof are checked against each other: no change goes undetected.
#[test]
fn whatever_is_changed_is_found() {
    let is_wrong_draw = |said: Result<(), ProofFault>| {
        matches!(said, Err(ProofFault::Rarity { .. } | ProofFault::Collectible { .. }))
    };
    assert_eq!(said(|_, _| ()), Ok(()));
    let other_seed = ServerSeed::from_bytes([7; 32]);
    assert_eq!(said(|proof, _| proof.server_seed = other_seed.clone()), Err(ProofFault::SeedHash));
    assert_eq!(said(|proof, _| proof.server_seed_hash = Digest::of(b"")), Err(ProofFault::SeedHash));
    assert!(is_wrong_draw(said(|proof, _| {
        proof.server_seed_hash = other_seed.hash();
        proof.server_seed = other_seed.clone();
    })));
    assert!(is_wrong_draw(said(|proof, _| proof.client_seed = "goals".parse().unwrap())));
    assert!(is_wrong_draw(said(|proof, _| proof.nonce += 1_000)));
    assert_eq!(said(|proof, _| proof.table_hash = Digest::of(b"")), Err(ProofFault::TableHash));
    // Tables: a weight, a collectible's weight, an order, a missing entry, a duplicate entry.
    assert!(is_wrong_draw(said(|proof, _| rows(proof, 0)[0].weight = 1)));
    assert!(is_wrong_draw(said(|proof, _| {
        for slot in 0..3 {
            for row in rows(proof, slot) {
                row.collectibles.reverse();
            }
        }
    })));
    assert_eq!(
        said(|proof, _| rows(proof, 1)[4].collectibles[0].1 = 9),
        Err(ProofFault::TableChanged { slot: 1 })
    );
    assert_eq!(
        said(|proof, _| rows(proof, 2)[4].collectibles.truncate(0)),
        Err(ProofFault::TableChanged { slot: 2 })
    );
    assert_eq!(said(|proof, _| rows(proof, 0)[3].weight = 0), Err(ProofFault::Table { slot: 0 }));
    assert_eq!(said(|proof, _| rows(proof, 0)[3].rarity = Legendary), Err(ProofFault::Table { slot: 0 }));
    assert_eq!(
        said(|proof, _| {
            let first = rows(proof, 1)[0].collectibles[0];
            rows(proof, 1)[1].collectibles.push(first);
        }),
        Err(ProofFault::Table { slot: 1 })
    );
    assert_eq!(said(|proof, _| rows(proof, 0).clear()), Err(ProofFault::Unfillable { slot: 0 }));
    assert_eq!(
        said(|proof, _| proof.tables.slots.truncate(2)),
        Err(ProofFault::Slots { tables: 2, claims: 3 })
    );
    assert_eq!(said(|_, claims| claims.truncate(2)), Err(ProofFault::Slots { tables: 3, claims: 2 }));
}

#[test]
fn outcomes_that_were_not_drawn_are_found() {
    for slot in 0..3 {
        let other = collectible(77);
        let Err(ProofFault::Collectible { slot: found, claimed, .. }) =
            said(|_, claims| claims[slot].collectible = other)
        else {
            panic!("another collectible in slot {slot}")
        };
        assert_eq!((usize::try_from(found).unwrap(), claimed), (slot, other));
        let Err(ProofFault::Rarity { slot: found, claimed, .. }) = said(|_, claims| {
            claims[slot].rarity = Legendary;
            claims[2].rarity = Legendary;
        }) else {
            panic!("another rarity in slot {slot}")
        };
        assert_eq!((usize::try_from(found).unwrap(), claimed), (slot, Legendary));
    }
}

#[test]
fn a_broken_guarantee_is_found() {
    assert_eq!(said(|_, claims| claims[2].rarity = Common), Err(ProofFault::GuaranteeBroken(Rare)));
    // Without the guarantee, the last slot would have been drawn differently; with a higher one, too.
    assert!(said(|proof, _| proof.tables.guarantee = None).is_err());
    let higher = Some(Guarantee { at_least: Legendary });
    assert!(said(|proof, _| proof.tables.guarantee = higher).is_err());
}

/// Within one opening, a limited collectible disappears from the tables only after a slot took it.
#[test]
fn tables_follow_from_one_another() {
    let pack = vault();
    let last_of_all: Minted = [(collectible(3), 2), (collectible(4), 2)].into_iter().collect();
    let both_taken =
        |nonce: &u32| proved(&pack, *nonce, &last_of_all).1.iter().all(|claim| claim.rarity == Legendary);
    let nonce = (0..1_000).find(both_taken).unwrap();
    let (proof, claims) = proved(&pack, nonce, &last_of_all);
    assert_eq!(verify(&proof, &claims), Ok(()));
    assert_eq!(proof.tables.slots[1].rarities[0].collectibles.len(), 1);
    let mut restored = proof;
    restored.tables.slots[1].rarities[0].collectibles = vec![(collectible(2), 1), (collectible(4), 5)];
    restored.tables.slots[0].rarities[1].collectibles = vec![(collectible(2), 1)];
    restored.table_hash = restored.tables.hash();
    assert!(verify(&restored, &claims).is_err());
}

#[test]
fn the_text_of_tables_is_plain() {
    let (proof, _) = proved(&vault(), 0, &[(collectible(3), 2), (collectible(4), 1)].into_iter().collect());
    let id = |number| format!("00000000-0000-0000-0000-00000000000{number}");
    let first = format!(
        "tables-v1\nguarantee none\nslot 0\nrarity common 1\ncollectible {} 1\nrarity legendary 1\n\
         collectible {} 1\ncollectible {} 5\nslot 1\nrarity legendary 1\ncollectible ",
        id(1),
        id(2),
        id(4)
    );
    assert!(proof.tables.canonical().starts_with(&first), "{}", proof.tables.canonical());
    assert_eq!(proof.tables.hash(), Digest::of(proof.tables.canonical().as_bytes()));
    assert_eq!("hmac-sha256-v1".parse(), Ok(proof.algorithm));
    assert!("hmac-sha256-v2".parse::<Algorithm>().is_err());
}
