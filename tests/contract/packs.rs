//! Spec §1, rules 7 to 11: packs are sold and opened by the rules, a refusal moves nothing, and content that
//! is loaded again keeps what was bought.

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
    Claim, ClientSeedSource, CopyList, CopyOrigin, OwnedFilter, Pack, PackId, Quantity, Rarity, SaleRefusal,
    Stock, UserPackId, UserPackState, verify,
};
use terrace_testkit::{DatabaseKind, PACKS, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_8_a_purchase_is_recorded_and_paid_at_once,
    spec_1_rule_9_a_copy_gives_what_its_proof_derives_and_the_same_again,
    the_oldest_sealed_copy_is_opened_first,
    a_refusal_moves_nothing,
    the_seed_of_a_sealed_copy_is_encrypted_and_forgotten,
    content_that_is_loaded_again_keeps_what_was_bought,
    a_pack_that_gets_a_stock_counts_what_was_sold,
    spec_1_rule_11_content_that_cannot_hold_its_odds_changes_nothing,
}

/// A service with teams and packs.
pub(super) fn shop(kind: DatabaseKind) -> Result<TestApp> {
    shop_of(TestApp::start(kind)?)
}

/// Adds teams and packs to a service with other settings.
pub(super) fn shop_of(service: TestApp) -> Result<TestApp> {
    assert!(service.run(service.app().found_seasons())?);
    service.team("foxes");
    load(&service, PACKS);
    Ok(service)
}

fn load(service: &TestApp, text: &str) -> PackSummary {
    let content = PackContent::parse(text).expect("packs");
    service.run(service.app().load_packs(content)).expect("packs that hold what they promise")
}

pub(super) fn pack(service: &TestApp, key: &str) -> Pack {
    let packs = service.ask(|tx| tx.packs());
    packs.into_iter().find(|pack| pack.key.as_str() == key).expect("a pack")
}

pub(super) fn give_coins(service: &TestApp, fan: UserId, amount: i64) {
    let source = format!("gift/{}", fan.as_uuid());
    moved(service, coins(Holder::House(House::Issuance), Holder::Fan(fan), amount, &source));
}

pub(super) fn buy(service: &TestApp, fan: UserId, pack: PackId, copies: i64) -> PurchasePack {
    let quantity = Quantity::new(copies).expect("a quantity");
    service.run(service.app().purchase_pack(fan, pack, quantity)).expect("a working store")
}

pub(super) fn open(service: &TestApp, fan: UserId, pack: PackId, copy: Option<UserPackId>) -> OpenPack {
    let request = OpenPackRequest { pack, copy, client_seed: Some("kop".parse().expect("a client seed")) };
    service.run(service.app().open_pack(fan, request)).expect("a working store")
}

pub(super) fn stock(service: &TestApp, pack: PackId) -> Stock {
    service.ask(move |tx| tx.stocks(&[pack])).first().expect("a counted pack").1
}

/// Recomputes the draw from the answer alone.
pub(super) fn prove(opened: &PackOpened) {
    let claim = |owned: &terrace_testkit::packs::Owned| {
        let collectible = opened.book.collectible(owned.collectible).expect("a collectible");
        Claim { rarity: collectible.rarity, collectible: collectible.id }
    };
    let claims: Vec<_> = opened.opening.owned.iter().map(claim).collect();
    assert_eq!(verify(&opened.opening.proof, &claims), Ok(()));
    assert_eq!(opened.opening.proof.server_seed_hash, opened.copy.seed_hash);
}

fn spec_1_rule_8_a_purchase_is_recorded_and_paid_at_once(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 35, "game"));
    let day = pack(&service, "day").id;
    let PackPurchased { purchase, copies, .. } = service.done(buy(&service, mia, day, 3));
    assert_eq!((purchase.quantity.copies(), purchase.price.amount(), copies.len()), (3, 10, 3));
    assert_eq!(copies.iter().map(|copy| copy.nonce).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(
        copies
            .iter()
            .all(|copy| copy.state == UserPackState::Sealed
                && copy.origin == CopyOrigin::Purchase(purchase.id))
    );
    assert_ne!(copies[0].seed_hash, copies[1].seed_hash);
    assert_eq!(service.found(GetPurchase { user: mia, purchase: purchase.id }), (purchase.clone(), copies));
    // Spent points still count on boards.
    assert_eq!(balance(&service, mia, AccountKind::Points), 5);
    assert_eq!(service.ask(move |tx| tx.points_of(mia)).get(), 35);
    let bo = service.fan("bo_").id;
    assert_eq!(service.not_found(GetPurchase { user: bo, purchase: purchase.id }), NotFound);
    in_order(&service);
    Ok(())
}

fn spec_1_rule_9_a_copy_gives_what_its_proof_derives_and_the_same_again(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 15);
    let cups = pack(&service, "cups").id;
    let copies = service.done(buy(&service, mia, cups, 3)).copies;
    assert_eq!(stock(&service, cups), Stock { sold: 3, sealed: 3 });
    let copy = copies[1].id;
    let first = service.done(open(&service, mia, cups, Some(copy)));
    prove(&first);
    assert_eq!((first.copy.state, first.opening.proof.nonce), (UserPackState::Opened, 2));
    assert_eq!(first.opening.proof.client_seed_source, ClientSeedSource::Client);
    // At least a legendary one is guaranteed, and limited ones have serials.
    let serials: Vec<_> = first.opening.owned.iter().map(|owned| owned.serial).collect();
    assert_eq!(serials, [None, Some(1)]);
    assert_eq!(stock(&service, cups), Stock { sold: 3, sealed: 2 });
    service.clock().advance(Duration::from_hours(1));
    // Whatever seed is sent now.
    let request = OpenPackRequest { pack: cups, copy: Some(copy), client_seed: None };
    let again = service.done(service.run(service.app().open_pack(mia, request))?);
    assert_eq!((&again.copy, &again.opening), (&first.copy, &first.opening));
    assert_eq!(stock(&service, cups), Stock { sold: 3, sealed: 2 });
    // Without a seed of the client the service picks one.
    let request = OpenPackRequest { pack: cups, copy: None, client_seed: None };
    let picked = service.done(service.run(service.app().open_pack(mia, request))?);
    prove(&picked);
    assert_eq!(picked.opening.proof.client_seed_source, ClientSeedSource::Server);

    let owned = |filter| {
        let (limit, after) = (Limit::MAX, None);
        service.found(ListOwned { user: mia, filter, limit, after }).items
    };
    assert_eq!(owned(OwnedFilter::default()).len(), 4);
    let legendary = OwnedFilter { rarity: Some(Rarity::Legendary), team: None };
    let legendary: Vec<_> = owned(legendary).iter().map(|owned| owned.serial).collect();
    assert_eq!(legendary, [Some(2), Some(1)]);
    let team = OwnedFilter { rarity: None, team: Some(service.team("foxes")) };
    assert_eq!(owned(team).len(), 2);
    let opened = ListCopies { user: mia, list: CopyList::Opened, limit: Limit::MAX, after: None };
    let opened: Vec<_> = service.found(opened).items.iter().map(|copy| copy.id).collect();
    assert_eq!(opened, [picked.copy.id, copy]);
    Ok(())
}

fn the_oldest_sealed_copy_is_opened_first(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 40, "game"));
    let day = pack(&service, "day").id;
    let mut bought = service.done(buy(&service, mia, day, 2)).copies;
    service.clock().advance(Duration::from_secs(1));
    bought.extend(service.done(buy(&service, mia, day, 2)).copies);
    let opened: Vec<_> = (0..4).map(|_| service.done(open(&service, mia, day, None)).copy.id).collect();
    assert_eq!(opened, bought.iter().map(|copy| copy.id).collect::<Vec<_>>());
    assert_eq!(service.refused(open(&service, mia, day, None)), OpenPackRefusal::NothingSealed);
    Ok(())
}

fn a_refusal_moves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    service.done(award(&service, mia, 30, "game"));
    service.done(award(&service, bo, 1, "game"));
    let id = |key: &str| pack(&service, key).id;
    let refused = |key: &str, copies| service.refused(buy(&service, mia, id(key), copies));
    assert_eq!(refused("day", 4), PurchasePackRefusal::Insufficient { has: 30 });
    assert_eq!(refused("cups", 1), PurchasePackRefusal::Insufficient { has: 0 });
    assert_eq!(refused("over", 1), PurchasePackRefusal::Rule(SaleRefusal::PackClosed));
    assert_eq!(refused("early", 1), PurchasePackRefusal::UnknownPack);
    assert_eq!(refused("few", 3), PurchasePackRefusal::Rule(SaleRefusal::LimitReached { limit: 2 }));
    assert_eq!(refused("single", 2), PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 1 }));
    assert_eq!(refused("paid", 1), PurchasePackRefusal::PaymentUnavailable);
    let nothing = PackId::from_uuid(Uuid::from_u128(1));
    assert_eq!(service.refused(buy(&service, mia, nothing, 1)), PurchasePackRefusal::UnknownPack);
    let stranger = UserId::from_uuid(Uuid::from_u128(1));
    assert_eq!(service.refused(buy(&service, stranger, id("day"), 1)), PurchasePackRefusal::NotActive);
    assert_eq!(balance(&service, mia, AccountKind::Points), 30);
    assert_eq!(stock(&service, id("single")), Stock::default());

    service.done(buy(&service, bo, id("single"), 1));
    // A pack that is sold out is refused as such, also for a fan who could not pay.
    let gone = PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 0 });
    assert_eq!(refused("single", 1), gone);
    assert_eq!(service.refused(buy(&service, bo, id("single"), 1)), gone);
    service.done(buy(&service, mia, id("few"), 2));
    assert_eq!(refused("few", 1), PurchasePackRefusal::Rule(SaleRefusal::LimitReached { limit: 2 }));

    let copy = service.done(buy(&service, mia, id("day"), 1)).copies[0].id;
    let no_copy = UserPackId::from_uuid(Uuid::from_u128(1));
    for (fan, key, copy) in [(bo, "day", copy), (mia, "few", copy), (mia, "day", no_copy)] {
        assert_eq!(service.refused(open(&service, fan, id(key), Some(copy))), OpenPackRefusal::UnknownCopy);
    }
    assert_eq!(service.refused(open(&service, bo, id("day"), None)), OpenPackRefusal::NothingSealed);
    let owned = ListOwned { user: bo, filter: OwnedFilter::default(), limit: Limit::MAX, after: None };
    assert_eq!(service.found(owned).items, []);
    in_order(&service);
    Ok(())
}

fn the_seed_of_a_sealed_copy_is_encrypted_and_forgotten(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 10, "game"));
    let day = pack(&service, "day").id;
    let copy = service.done(buy(&service, mia, day, 1)).copies[0].id;
    let kept =
        move |service: &TestApp| service.write(move |tx, _| Ok(tx.lock_copy(mia, copy)?)).expect("a copy").1;
    let sealed = kept(&service).expect("a sealed seed");
    // Another process opens it.
    let opened = service.another()?.done(open(&service, mia, day, Some(copy)));
    prove(&opened);
    let seed = opened.opening.proof.server_seed.as_bytes();
    assert!(!sealed.as_bytes().windows(8).any(|bytes| seed.windows(8).any(|part| part == bytes)));
    assert_eq!(kept(&service), None);
    Ok(())
}

fn content_that_is_loaded_again_keeps_what_was_bought(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 10);
    let before = service.ask(|tx| tx.packs());
    let cups = pack(&service, "cups").id;
    service.done(buy(&service, mia, cups, 2));
    service.done(open(&service, mia, cups, None));
    assert_eq!(load(&service, PACKS).retired, 0);
    assert_eq!(service.ask(|tx| tx.packs()), before);
    assert_eq!(stock(&service, cups), Stock { sold: 2, sealed: 1 });
    // A pack that is no longer in the content is not sold any more, and can be opened.
    let (others, _) = PACKS.split_once("[[pack]]\nkey = \"cups\"").expect("the pack");
    assert_eq!(load(&service, others).retired, before.len() as u64 - 1);
    let refusal = service.refused(buy(&service, mia, cups, 1));
    assert_eq!(refusal, PurchasePackRefusal::Rule(SaleRefusal::PackClosed));
    let opened = service.done(open(&service, mia, cups, None));
    prove(&opened);
    assert_eq!(opened.opening.owned[1].serial, Some(2));
    Ok(())
}

fn a_pack_that_gets_a_stock_counts_what_was_sold(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 100, "game"));
    let day = pack(&service, "day").id;
    service.done(buy(&service, mia, day, 3));
    service.done(open(&service, mia, day, None));
    let counted = PACKS.replacen("description = \"Two finds.\"", "supply = 4", 1);
    load(&service, &counted);
    assert_eq!(stock(&service, day), Stock { sold: 3, sealed: 2 });
    let refusal = service.refused(buy(&service, mia, day, 2));
    assert_eq!(refusal, PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 1 }));
    service.done(buy(&service, mia, day, 1));
    load(&service, PACKS);
    service.done(buy(&service, mia, day, 1));
    load(&service, &counted);
    assert_eq!(stock(&service, day), Stock { sold: 5, sealed: 4 });
    Ok(())
}

fn spec_1_rule_11_content_that_cannot_hold_its_odds_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let before = (service.ask(|tx| tx.packs()), service.ask(|tx| tx.collectibles()));
    for (right, wrong) in [
        ("edition = 25", "edition = 26"),
        ("slots = [{ common = 9, rare = 1 }", "slots = [{ common = 8, rare = 2 }"),
        ("team = \"foxes\"", "team = \"nobody\""),
    ] {
        let content = PackContent::parse(&PACKS.replacen(right, wrong, 1))?;
        let refused = service.run(service.app().load_packs(content));
        assert!(refused.is_err(), "{wrong}");
        assert_eq!((service.ask(|tx| tx.packs()), service.ask(|tx| tx.collectibles())), before, "{wrong}");
    }
    Ok(())
}
