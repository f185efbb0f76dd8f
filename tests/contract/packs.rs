//! Spec §1, rules 7 to 11: packs are sold and opened by the rules, what is refused moves nothing, and content that comes
//! again keeps what was bought.

use super::ledger::{balance, coins, in_order, moved};
use super::points::award;
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::accounts::NotFound;
use terrace_testkit::app::packs::{
    GetPurchase, ListCopies, ListOwned, OpenPack, OpenPackRefusal, OpenPackRequest, PackOpened,
    PackPurchased, PurchasePack, PurchasePackRefusal,
};
use terrace_testkit::app::{PackContent, PackSummary};
use terrace_testkit::kernel::{Limit, UserId, Uuid};
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::packs::{
    Claim, ClientSeedSource, CopyList, OwnedFilter, Pack, PackId, Quantity, Rarity, SaleRefusal, Stock,
    UserPackId, UserPackState, verify,
};
use terrace_testkit::{DatabaseKind, PACKS, TestApp, on_each_database};

on_each_database! {
    rule_8_a_purchase_is_recorded_and_paid_at_once,
    rule_9_a_copy_gives_what_its_proof_says_and_the_same_again,
    the_oldest_sealed_copy_is_opened_first,
    what_is_refused_moves_nothing,
    the_seed_of_a_sealed_copy_is_encrypted_and_forgotten,
    content_that_comes_again_keeps_what_was_bought,
    a_pack_that_begins_to_be_counted_counts_what_was_sold,
    rule_11_content_that_cannot_hold_its_odds_changes_nothing,
}

/// A house with teams and packs.
pub(super) fn shop(kind: DatabaseKind) -> Result<TestApp> {
    shop_of(TestApp::start(kind)?)
}

/// The same of a house that is otherwise than usual.
pub(super) fn shop_of(house: TestApp) -> Result<TestApp> {
    assert!(house.run(house.app().found_seasons())?);
    house.team("foxes");
    load(&house, PACKS);
    Ok(house)
}

fn load(house: &TestApp, text: &str) -> PackSummary {
    let content = PackContent::parse(text).expect("packs");
    house.run(house.app().load_packs(content)).expect("packs that hold what they promise")
}

pub(super) fn pack(house: &TestApp, key: &str) -> Pack {
    let packs = house.ask(|tx| tx.packs());
    packs.into_iter().find(|pack| pack.key.as_str() == key).expect("a pack")
}

pub(super) fn give_coins(house: &TestApp, fan: UserId, amount: i64) {
    let source = format!("gift/{}", fan.as_uuid());
    moved(house, coins(Holder::House(House::Issuance), Holder::Fan(fan), amount, &source));
}

pub(super) fn buy(house: &TestApp, fan: UserId, pack: PackId, copies: i64) -> PurchasePack {
    let quantity = Quantity::new(copies).expect("a quantity");
    house.run(house.app().purchase_pack(fan, pack, quantity)).expect("a working store")
}

pub(super) fn open(house: &TestApp, fan: UserId, pack: PackId, copy: Option<UserPackId>) -> OpenPack {
    let wish = OpenPackRequest { pack, copy, client_seed: Some("kop".parse().expect("a client seed")) };
    house.run(house.app().open_pack(fan, wish)).expect("a working store")
}

pub(super) fn stock(house: &TestApp, pack: PackId) -> Stock {
    house.ask(move |tx| tx.stocks(&[pack])).first().expect("a counted pack").1
}

/// Recomputes the draw from what was answered alone.
pub(super) fn prove(opened: &PackOpened) {
    let claim = |owned: &terrace_testkit::packs::Owned| {
        let collectible = opened.book.collectible(owned.collectible).expect("a collectible");
        Claim { rarity: collectible.rarity, collectible: collectible.id }
    };
    let claims: Vec<_> = opened.opening.owned.iter().map(claim).collect();
    assert_eq!(verify(&opened.opening.proof, &claims), Ok(()));
    assert_eq!(opened.opening.proof.server_seed_hash, opened.copy.seed_hash);
}

fn rule_8_a_purchase_is_recorded_and_paid_at_once(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let mia = house.fan("mia").id;
    house.done(award(&house, mia, 35, "game"));
    let day = pack(&house, "day").id;
    let PackPurchased { purchase, copies, .. } = house.done(buy(&house, mia, day, 3));
    assert_eq!((purchase.quantity.copies(), purchase.price.amount(), copies.len()), (3, 10, 3));
    assert_eq!(copies.iter().map(|copy| copy.nonce).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(copies.iter().all(|copy| copy.state == UserPackState::Sealed && copy.purchase == purchase.id));
    assert_ne!(copies[0].seed_hash, copies[1].seed_hash);
    assert_eq!(house.found(GetPurchase { user: mia, purchase: purchase.id }), (purchase.clone(), copies));
    // Points that were spent still count on boards.
    assert_eq!(balance(&house, mia, AccountKind::Points), 5);
    assert_eq!(house.ask(move |tx| tx.points_of(mia)).get(), 35);
    let bo = house.fan("bo_").id;
    assert_eq!(house.not_found(GetPurchase { user: bo, purchase: purchase.id }), NotFound);
    in_order(&house);
    Ok(())
}

fn rule_9_a_copy_gives_what_its_proof_says_and_the_same_again(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let mia = house.fan("mia").id;
    give_coins(&house, mia, 15);
    let cups = pack(&house, "cups").id;
    let copies = house.done(buy(&house, mia, cups, 3)).copies;
    assert_eq!(stock(&house, cups), Stock { sold: 3, sealed: 3 });
    let copy = copies[1].id;
    let first = house.done(open(&house, mia, cups, Some(copy)));
    prove(&first);
    assert_eq!((first.copy.state, first.opening.proof.nonce), (UserPackState::Opened, 2));
    assert_eq!(first.opening.proof.client_seed_source, ClientSeedSource::Client);
    // At least a legendary one is promised, and limited ones carry serials.
    let serials: Vec<_> = first.opening.owned.iter().map(|owned| owned.serial).collect();
    assert_eq!(serials, [None, Some(1)]);
    assert_eq!(stock(&house, cups), Stock { sold: 3, sealed: 2 });
    house.clock().advance(Duration::from_hours(1));
    // Whatever seed is given now.
    let wish = OpenPackRequest { pack: cups, copy: Some(copy), client_seed: None };
    let again = house.done(house.run(house.app().open_pack(mia, wish))?);
    assert_eq!((&again.copy, &again.opening), (&first.copy, &first.opening));
    assert_eq!(stock(&house, cups), Stock { sold: 3, sealed: 2 });
    // Without a seed of one's own the service picks one.
    let wish = OpenPackRequest { pack: cups, copy: None, client_seed: None };
    let picked = house.done(house.run(house.app().open_pack(mia, wish))?);
    prove(&picked);
    assert_eq!(picked.opening.proof.client_seed_source, ClientSeedSource::Server);

    let owned = |filter| {
        let (limit, after) = (Limit::MAX, None);
        house.found(ListOwned { user: mia, filter, limit, after }).items
    };
    assert_eq!(owned(OwnedFilter::default()).len(), 4);
    let legendary = OwnedFilter { rarity: Some(Rarity::Legendary), team: None };
    let legendary: Vec<_> = owned(legendary).iter().map(|owned| owned.serial).collect();
    assert_eq!(legendary, [Some(2), Some(1)]);
    let team = OwnedFilter { rarity: None, team: Some(house.team("foxes")) };
    assert_eq!(owned(team).len(), 2);
    let opened = ListCopies { user: mia, list: CopyList::Opened, limit: Limit::MAX, after: None };
    let opened: Vec<_> = house.found(opened).items.iter().map(|copy| copy.id).collect();
    assert_eq!(opened, [picked.copy.id, copy]);
    Ok(())
}

fn the_oldest_sealed_copy_is_opened_first(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let mia = house.fan("mia").id;
    house.done(award(&house, mia, 40, "game"));
    let day = pack(&house, "day").id;
    let mut bought = house.done(buy(&house, mia, day, 2)).copies;
    house.clock().advance(Duration::from_secs(1));
    bought.extend(house.done(buy(&house, mia, day, 2)).copies);
    let opened: Vec<_> = (0..4).map(|_| house.done(open(&house, mia, day, None)).copy.id).collect();
    assert_eq!(opened, bought.iter().map(|copy| copy.id).collect::<Vec<_>>());
    assert_eq!(house.refused(open(&house, mia, day, None)), OpenPackRefusal::NothingSealed);
    Ok(())
}

fn what_is_refused_moves_nothing(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let [mia, bo] = [house.fan("mia").id, house.fan("bo_").id];
    house.done(award(&house, mia, 30, "game"));
    house.done(award(&house, bo, 1, "game"));
    let id = |key: &str| pack(&house, key).id;
    let refused = |key: &str, copies| house.refused(buy(&house, mia, id(key), copies));
    assert_eq!(refused("day", 4), PurchasePackRefusal::Insufficient { has: 30 });
    assert_eq!(refused("cups", 1), PurchasePackRefusal::Insufficient { has: 0 });
    assert_eq!(refused("over", 1), PurchasePackRefusal::Rule(SaleRefusal::PackClosed));
    assert_eq!(refused("early", 1), PurchasePackRefusal::UnknownPack);
    assert_eq!(refused("few", 3), PurchasePackRefusal::Rule(SaleRefusal::LimitReached { limit: 2 }));
    assert_eq!(refused("single", 2), PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 1 }));
    assert_eq!(refused("paid", 1), PurchasePackRefusal::PaymentUnavailable);
    let nothing = PackId::from_uuid(Uuid::from_u128(1));
    assert_eq!(house.refused(buy(&house, mia, nothing, 1)), PurchasePackRefusal::UnknownPack);
    let nobody = UserId::from_uuid(Uuid::from_u128(1));
    assert_eq!(house.refused(buy(&house, nobody, id("day"), 1)), PurchasePackRefusal::NotActive);
    assert_eq!(balance(&house, mia, AccountKind::Points), 30);
    assert_eq!(stock(&house, id("single")), Stock::default());

    house.done(buy(&house, bo, id("single"), 1));
    // Gone is gone, also for who could not pay.
    let gone = PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 0 });
    assert_eq!(refused("single", 1), gone);
    assert_eq!(house.refused(buy(&house, bo, id("single"), 1)), gone);
    house.done(buy(&house, mia, id("few"), 2));
    assert_eq!(refused("few", 1), PurchasePackRefusal::Rule(SaleRefusal::LimitReached { limit: 2 }));

    let copy = house.done(buy(&house, mia, id("day"), 1)).copies[0].id;
    let no_copy = UserPackId::from_uuid(Uuid::from_u128(1));
    for (fan, key, copy) in [(bo, "day", copy), (mia, "few", copy), (mia, "day", no_copy)] {
        assert_eq!(house.refused(open(&house, fan, id(key), Some(copy))), OpenPackRefusal::UnknownCopy);
    }
    assert_eq!(house.refused(open(&house, bo, id("day"), None)), OpenPackRefusal::NothingSealed);
    let owned = ListOwned { user: bo, filter: OwnedFilter::default(), limit: Limit::MAX, after: None };
    assert_eq!(house.found(owned).items, []);
    in_order(&house);
    Ok(())
}

fn the_seed_of_a_sealed_copy_is_encrypted_and_forgotten(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let mia = house.fan("mia").id;
    house.done(award(&house, mia, 10, "game"));
    let day = pack(&house, "day").id;
    let copy = house.done(buy(&house, mia, day, 1)).copies[0].id;
    let kept =
        move |house: &TestApp| house.write(move |tx, _| Ok(tx.lock_copy(mia, copy)?)).expect("a copy").1;
    let sealed = kept(&house).expect("a sealed seed");
    // Another process opens it.
    let opened = house.another()?.done(open(&house, mia, day, Some(copy)));
    prove(&opened);
    let seed = opened.opening.proof.server_seed.as_bytes();
    assert!(!sealed.as_bytes().windows(8).any(|bytes| seed.windows(8).any(|part| part == bytes)));
    assert_eq!(kept(&house), None);
    Ok(())
}

fn content_that_comes_again_keeps_what_was_bought(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let mia = house.fan("mia").id;
    give_coins(&house, mia, 10);
    let before = house.ask(|tx| tx.packs());
    let cups = pack(&house, "cups").id;
    house.done(buy(&house, mia, cups, 2));
    house.done(open(&house, mia, cups, None));
    assert_eq!(load(&house, PACKS).retired, 0);
    assert_eq!(house.ask(|tx| tx.packs()), before);
    assert_eq!(stock(&house, cups), Stock { sold: 2, sealed: 1 });
    // What is gone from the content is not sold any more, and can be opened.
    let (others, _) = PACKS.split_once("[[pack]]\nkey = \"cups\"").expect("the pack");
    assert_eq!(load(&house, others).retired, before.len() as u64 - 1);
    let refusal = house.refused(buy(&house, mia, cups, 1));
    assert_eq!(refusal, PurchasePackRefusal::Rule(SaleRefusal::PackClosed));
    let opened = house.done(open(&house, mia, cups, None));
    prove(&opened);
    assert_eq!(opened.opening.owned[1].serial, Some(2));
    Ok(())
}

fn a_pack_that_begins_to_be_counted_counts_what_was_sold(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let mia = house.fan("mia").id;
    house.done(award(&house, mia, 100, "game"));
    let day = pack(&house, "day").id;
    house.done(buy(&house, mia, day, 3));
    house.done(open(&house, mia, day, None));
    let counted = PACKS.replacen("description = \"Two finds.\"", "supply = 4", 1);
    load(&house, &counted);
    assert_eq!(stock(&house, day), Stock { sold: 3, sealed: 2 });
    let refusal = house.refused(buy(&house, mia, day, 2));
    assert_eq!(refusal, PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 1 }));
    house.done(buy(&house, mia, day, 1));
    load(&house, PACKS);
    house.done(buy(&house, mia, day, 1));
    load(&house, &counted);
    assert_eq!(stock(&house, day), Stock { sold: 5, sealed: 4 });
    Ok(())
}

fn rule_11_content_that_cannot_hold_its_odds_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let house = shop(kind)?;
    let before = (house.ask(|tx| tx.packs()), house.ask(|tx| tx.collectibles()));
    for (right, wrong) in [
        ("edition = 25", "edition = 26"),
        ("slots = [{ common = 9, rare = 1 }", "slots = [{ common = 8, rare = 2 }"),
        ("team = \"foxes\"", "team = \"nobody\""),
    ] {
        let content = PackContent::parse(&PACKS.replacen(right, wrong, 1))?;
        let refused = house.run(house.app().load_packs(content));
        assert!(refused.is_err(), "{wrong}");
        assert_eq!((house.ask(|tx| tx.packs()), house.ask(|tx| tx.collectibles())), before, "{wrong}");
    }
    Ok(())
}
