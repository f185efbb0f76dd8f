//! Contract part 2 §2, grants (spec §1, shop): one mechanism gives points, coins, packs and collectibles once for each source,
//! takes them back once, and refuses what cannot be delivered without leaving anything.

use super::ledger::{balance, coins, in_order, moved};
use super::packs::{buy, give_coins, open, pack, prove, shop, stock};
use super::points::award;
use super::repairs::stored;
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::grants::{
    Gift, GivenGrant, Giver, Grant, GrantRefusal, GrantSource, Granter, give, give_in_game, is_used,
    take_back,
};
use terrace_testkit::app::packs::{ListCopies, ListOwned};
use terrace_testkit::app::store::{Command, PaymentTx, Tx};
use terrace_testkit::kernel::{Ctx, Failure, Limit, Outcome, UserId, Uuid};
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::packs::{
    CollectibleId, CopyList, CopyOrigin, Owned, OwnedFilter, OwnedSource, Stock, UserPack, UserPackState,
};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    each_kind_is_given_once_and_taken_back_once,
    what_was_opened_and_spent_is_taken_back_as_far_as_it_is_there,
    a_grant_that_cannot_be_delivered_leaves_nothing,
    an_edition_that_sealed_copies_need_is_not_given,
    points_are_given_in_games_only,
    fifty_at_once_give_once,
    grants_and_purchases_at_once_share_the_stock,
}

/// Gives grants for a claim, with a substitute for what cannot be delivered.
#[derive(Clone)]
pub(super) struct Give {
    pub(super) fan: UserId,
    pub(super) gifts: Vec<Gift>,
    pub(super) granter: Granter,
    pub(super) instead: Option<Gift>,
}

impl Command for Give {
    const NAME: &'static str = "give_in_a_test";
    type Ports = dyn PaymentTx;
    type Output = Vec<GivenGrant>;
    type Refusal = GrantRefusal;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<Vec<GivenGrant>, GrantRefusal> {
        tx.lock_fan(self.fan)?;
        match (give(tx, ctx, self.fan, &self.gifts, &self.granter), &self.instead) {
            (Err(Failure::Refused(_)), Some(instead)) => {
                give(tx, ctx, self.fan, std::slice::from_ref(instead), &self.granter)
            }
            (given, _) => given,
        }
    }
}

/// Takes back what a source gave, and returns whether it was used before.
struct TakeBack(UserId, GrantSource);

impl Command for TakeBack {
    const NAME: &'static str = "take_back_in_a_test";
    type Ports = dyn PaymentTx;
    type Output = (bool, Vec<GivenGrant>);
    type Refusal = GrantRefusal;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<Self::Output, GrantRefusal> {
        tx.lock_fan(self.0)?;
        let used = is_used(tx, self.0, &[self.1])?;
        Ok((used, take_back(tx, ctx, self.0, &[self.1], "Taken back")?))
    }
}

fn source(number: u128) -> GrantSource {
    GrantSource { giver: Giver::Claim, id: Uuid::from_u128(number) }
}

fn gift(number: u128, grants: Vec<Grant>) -> Gift {
    Gift { source: source(number), grants, reason: "A claim".to_owned() }
}

pub(super) fn granter(service: &TestApp) -> Granter {
    service.run(service.app().granter()).expect("the packs")
}

fn giving(service: &TestApp, fan: UserId, gifts: Vec<Gift>) -> Give {
    Give { fan, gifts, granter: granter(service), instead: None }
}

fn collectible(service: &TestApp, key: &str) -> CollectibleId {
    let all = service.ask(|tx| tx.collectibles());
    all.into_iter().find(|one| one.key.as_str() == key).expect("a collectible").id
}

fn cups(service: &TestApp, copies: u32) -> Grant {
    Grant::Pack(pack(service, "cups").id.as_uuid(), copies)
}

fn some(service: &TestApp, key: &str, copies: u32) -> Grant {
    Grant::Collectible(collectible(service, key).as_uuid(), copies)
}

pub(super) fn copies(service: &TestApp, user: UserId) -> Vec<UserPack> {
    let list = CopyList::Bought(None);
    let mut copies = service.found(ListCopies { user, list, limit: Limit::MAX, after: None }).items;
    copies.sort_unstable_by_key(|copy| (copy.bought_at, copy.origin, copy.nonce));
    copies
}

pub(super) fn owned(service: &TestApp, user: UserId) -> Vec<Owned> {
    let filter = OwnedFilter::default();
    service.found(ListOwned { user, filter, limit: Limit::MAX, after: None }).items
}

fn coins_of(service: &TestApp, fan: UserId) -> i64 {
    balance(service, fan, AccountKind::Coins)
}

fn each_kind_is_given_once_and_taken_back_once(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    let product = Grant::Product(Uuid::from_u128(9), 1);
    let grants = vec![
        Grant::Coins(50),
        cups(&service, 2),
        some(&service, "scarf", 1),
        some(&service, "badge", 2),
        product,
    ];
    let command = giving(&service, mia, vec![gift(1, grants.clone())]);
    let given = service.done(command.clone());
    assert_eq!(given.iter().map(|one| one.grant).collect::<Vec<_>>(), grants);
    let before = stored(&service, &[]);
    assert_eq!(service.done(command.clone()), [], "it gave before");
    assert_eq!(stored(&service, &[]), before);

    assert_eq!(coins_of(&service, mia), 50);
    let has = copies(&service, mia);
    let origin = CopyOrigin::Grant(given[1].id);
    assert!(has.iter().all(|copy| copy.origin == origin && copy.state == UserPackState::Sealed));
    assert_eq!(has.iter().map(|copy| copy.nonce).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(stock(&service, pack(&service, "cups").id), Stock { sold: 2, sealed: 2 });
    let mut badges = owned(&service, mia);
    badges.retain(|one| one.serial.is_some());
    badges.sort_unstable_by_key(|one| one.serial);
    let of = |number| OwnedSource::Grant { grant: given[3].id, number };
    let serials: Vec<_> = badges.iter().map(|one| (one.serial, one.source)).collect();
    assert_eq!(serials, [(Some(1), of(0)), (Some(2), of(1))]);
    assert_eq!(owned(&service, mia).len(), 3);
    // Another fan is given for the same source, such as a round, as long as there is enough.
    let bo = service.fan("bo_").id;
    assert_eq!(service.refused(Give { fan: bo, ..command }), GrantRefusal::SoldOut, "one badge is left");
    let one = giving(&service, bo, vec![gift(1, vec![some(&service, "badge", 1)])]);
    assert_eq!(service.done(one).len(), 1);
    assert_eq!(owned(&service, bo)[0].serial, Some(3));
    in_order(&service);
    Ok(())
}

fn what_was_opened_and_spent_is_taken_back_as_far_as_it_is_there(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    let day = Grant::Pack(pack(&service, "day").id.as_uuid(), 1);
    let grants = vec![Grant::Coins(50), cups(&service, 2), day, some(&service, "medal", 1)];
    service.done(giving(&service, mia, vec![gift(1, grants.clone()), gift(2, vec![Grant::Coins(7)])]));
    let opened = service.done(open(&service, mia, pack(&service, "cups").id, None));
    prove(&opened);
    moved(&service, coins(Holder::Fan(mia), Holder::House(House::Revenue), 20, "spent"));
    assert_eq!(owned(&service, mia).len(), 3);

    let (used, taken) = service.done(TakeBack(mia, source(1)));
    assert!(used);
    assert_eq!(taken.iter().map(|one| one.grant).collect::<Vec<_>>(), grants);
    // 37 coins were left: those of the other source are not spared, and no balance goes below zero.
    assert_eq!(coins_of(&service, mia), 0);
    assert!(copies(&service, mia).iter().all(|copy| copy.state == UserPackState::Revoked));
    assert_eq!(owned(&service, mia), []);
    // The opened copy has taken from the editions; the sealed one returns to the stock.
    assert_eq!(stock(&service, pack(&service, "cups").id), Stock { sold: 1, sealed: 0 });
    let before = stored(&service, &[]);
    assert_eq!(service.done(TakeBack(mia, source(1))), (false, Vec::new()));
    assert_eq!(stored(&service, &[]), before);
    assert_eq!(service.done(giving(&service, mia, vec![gift(1, grants)])), [], "what is taken back stays so");
    let (used, taken) = service.done(TakeBack(mia, source(2)));
    assert_eq!((used, taken.len(), coins_of(&service, mia)), (true, 1, 0));
    // Serials are not used again.
    service.done(giving(&service, mia, vec![gift(3, vec![some(&service, "medal", 1)])]));
    assert_eq!(owned(&service, mia)[0].serial, Some(2));
    in_order(&service);
    Ok(())
}

fn a_grant_that_cannot_be_delivered_leaves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    let single = Grant::Pack(pack(&service, "single").id.as_uuid(), 1);
    let before = stored(&service, &[]);
    let early = Grant::Pack(pack(&service, "early").id.as_uuid(), 1);
    let cases = [
        (vec![some(&service, "medal", 1), early], GrantRefusal::NotOnSale),
        // Of an edition of three, and after a grant that fits.
        (
            vec![Grant::Coins(5), some(&service, "medal", 5), some(&service, "badge", 4)],
            GrantRefusal::SoldOut,
        ),
        // Of a supply of one.
        (vec![some(&service, "medal", 5), single.times(2)], GrantRefusal::SoldOut),
        // Of an edition of 25 that each copy needs one of.
        (vec![single, cups(&service, 26)], GrantRefusal::SoldOut),
    ];
    for (grants, refusal) in cases {
        let command = giving(&service, mia, vec![gift(1, grants)]);
        assert_eq!(service.refused(command.clone()), refusal);
        assert_eq!(stored(&service, &[]), before);
        // The transaction goes on with a substitute, which is all that is left in it.
        let instead = Some(gift(2, Vec::new()));
        assert_eq!(service.done(Give { instead, ..command }), []);
        assert_eq!(stored(&service, &[]), before);
    }
    let refused = giving(&service, mia, vec![gift(1, vec![some(&service, "badge", 4)])]);
    let instead = Some(gift(1, vec![Grant::Coins(3)]));
    let given = service.done(Give { instead, ..refused });
    assert_eq!((given.len(), coins_of(&service, mia)), (1, 3));
    assert_eq!(owned(&service, mia), []);
    service.done(giving(&service, mia, vec![gift(3, vec![some(&service, "badge", 3)])]));
    assert_eq!(owned(&service, mia).len(), 3, "serials that were taken for a moment are free again");
    in_order(&service);
    Ok(())
}

/// Spec §1, rule 9: every sealed copy can be filled.
fn an_edition_that_sealed_copies_need_is_not_given(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let (mia, cups_id) = (service.fan("mia").id, pack(&service, "cups").id);
    give_coins(&service, mia, 5 * 25);
    for copies in [20, 4] {
        service.done(buy(&service, mia, cups_id, copies));
    }
    let cup = |number| giving(&service, mia, vec![gift(number, vec![some(&service, "cup", 1)])]);
    assert_eq!(service.done(cup(1)).len(), 1);
    assert_eq!(service.refused(cup(2)), GrantRefusal::SoldOut);
    assert_eq!(
        service.refused(giving(&service, mia, vec![gift(3, vec![cups(&service, 1)])])),
        GrantRefusal::SoldOut
    );
    let mut serials: Vec<_> = owned(&service, mia).iter().filter_map(|one| one.serial).collect();
    for _ in 0..24 {
        let opened = service.done(open(&service, mia, cups_id, None));
        serials.extend(opened.opening.owned.iter().filter_map(|one| one.serial));
    }
    serials.sort_unstable();
    assert_eq!(serials, (1..=25).collect::<Vec<_>>());
    Ok(())
}

/// Gives grants in a game.
struct Play(UserId, Gift, Granter, terrace_testkit::app::boards::Awards);

impl Command for Play {
    const NAME: &'static str = "play_in_a_test";
    const AFFECTS_LEADERBOARD: bool = true;
    type Ports = dyn Tx;
    type Output = Vec<GivenGrant>;
    type Refusal = GrantRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Vec<GivenGrant>, GrantRefusal> {
        tx.lock_fan(self.0)?;
        give_in_game(tx, ctx, self.0, &self.1, &self.2, (&self.3, None))
    }
}

/// Places on the boards are not for sale.
fn points_are_given_in_games_only(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let mia = service.fan("mia").id;
    let round = GrantSource { giver: Giver::Round, id: Uuid::from_u128(5) };
    let grants = vec![Grant::Points(30), Grant::Coins(4)];
    let play = |source| {
        let gift = Gift { source, grants: grants.clone(), reason: "A round".to_owned() };
        Play(mia, gift, granter(&service), service.app().awards())
    };
    assert_eq!(service.done(play(round)).len(), 2);
    assert_eq!(service.done(play(round)), []);
    let points = service.ask(move |tx| tx.points_of(mia)).get();
    assert_eq!((points, coins_of(&service, mia)), (30, 4));
    let before = stored(&service, &[]);
    for source in [source(1), GrantSource { giver: Giver::Order, ..round }] {
        assert!(matches!(service.run(service.app().execute(play(source))), Err(Failure::Broken(_))));
        let gifts = vec![Gift { source, grants: grants.clone(), reason: "For sale".to_owned() }];
        let outcome = service.run(service.app().execute(giving(&service, mia, gifts)));
        assert!(matches!(outcome, Err(Failure::Broken(_))));
    }
    assert_eq!(stored(&service, &[]), before);
    in_order(&service);
    Ok(())
}

fn fifty_at_once_give_once(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let gifts = vec![gift(1, vec![Grant::Coins(5), cups(&service, 1), some(&service, "badge", 1)])];
    let command = giving(&service, mia, gifts);
    let works: Vec<_> = [&service, &other]
        .into_iter()
        .cycle()
        .take(50)
        .map(|service| {
            let (app, command) = (Arc::clone(service.app()), command.clone());
            async move { app.execute(command).await }
        })
        .collect();
    let given: Vec<usize> = service.together(works).into_iter().map(|given| given.unwrap().len()).collect();
    assert_eq!(given.iter().filter(|given| **given == 3).count(), 1);
    assert_eq!(given.iter().sum::<usize>(), 3);
    assert_eq!((coins_of(&service, mia), copies(&service, mia).len()), (5, 1));
    assert_eq!(owned(&service, mia).iter().map(|one| one.serial).collect::<Vec<_>>(), [Some(1)]);
    assert_eq!(stock(&service, pack(&service, "cups").id), Stock { sold: 1, sealed: 1 });
    in_order(&service);
    Ok(())
}

/// Work that says whether it succeeded.
type Work = std::pin::Pin<Box<dyn Future<Output = bool> + Send>>;

/// Forty fans want one of 25 copies, half of them as a grant, and ten the collectible itself.
fn grants_and_purchases_at_once_share_the_stock(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let cups_id = pack(&service, "cups").id;
    let fans = service.crowd("fan", 50);
    for fan in &fans {
        give_coins(&service, *fan, 5);
        service.done(award(&service, *fan, 1, "game"));
    }
    let works: Vec<Work> = fans
        .iter()
        .zip([&service, &other].into_iter().cycle())
        .enumerate()
        .map(|(nth, (fan, service))| {
            let app = Arc::clone(service.app());
            let grant = if nth % 5 == 0 { some(service, "cup", 1) } else { cups(service, 1) };
            let given = giving(service, *fan, vec![gift(1, vec![grant])]);
            let bought = buy(service, *fan, cups_id, 1);
            let work: Work = if nth % 5 == 0 || nth % 2 == 0 {
                Box::pin(async move { app.execute(given).await.is_ok() })
            } else {
                Box::pin(async move { app.execute(bought).await.is_ok() })
            };
            work
        })
        .collect();
    let done = service.together(works);
    assert_eq!(done.iter().filter(|done| **done).count(), 25);
    let mut serials = Vec::new();
    for fan in &fans {
        serials.extend(owned(&service, *fan).iter().filter_map(|one| one.serial));
        for copy in copies(&service, *fan) {
            let opened = service.done(open(&service, *fan, cups_id, Some(copy.id)));
            prove(&opened);
            serials.extend(opened.opening.owned.iter().filter_map(|one| one.serial));
        }
    }
    serials.sort_unstable();
    assert_eq!(serials, (1..=25).collect::<Vec<_>>());
    assert_eq!(stock(&service, cups_id).sealed, 0);
    in_order(&service);
    Ok(())
}
