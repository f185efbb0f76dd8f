//! Many requests at once (spec §1, rules 8 and 9): no more is sold than can be filled, each serial is
//! assigned once, and a repeated request buys once.

use super::ledger::{balance, in_order};
use super::packs::{buy, give_coins, open, pack, prove, shop, stock};
use super::points::award;
use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::Arc;
use terrace_testkit::app::KeyedRequest;
use terrace_testkit::app::packs::{
    ListPurchases, OpenPackRequest, PackOpened, PackPurchased, PurchasePackRefusal,
};
use terrace_testkit::app::store::{IdempotencyScope, StoredAnswer};
use terrace_testkit::kernel::{Failure, Limit, UserId};
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::packs::{PackId, SaleRefusal, Stock, UserPackId};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    only_as_many_of_sixty_buyers_get_a_copy_as_can_be_filled,
    the_last_of_an_edition_goes_to_one_and_the_others_draw_again,
    the_same_key_fifty_times_at_once_buys_once,
    a_copy_opened_twenty_times_at_once_gives_one_result,
    openings_at_once_take_different_copies,
    a_limit_holds_for_purchases_at_once,
}

type Sold = Result<PackPurchased, Failure<PurchasePackRefusal>>;

/// All at once, from two processes.
fn buy_together(services: [&TestApp; 2], fans: &[UserId], pack: PackId) -> Vec<Sold> {
    let commands = fans.iter().zip([services[0], services[1]].into_iter().cycle());
    let works: Vec<_> = commands
        .map(|(fan, service)| {
            let (app, command) = (Arc::clone(service.app()), buy(service, *fan, pack, 1));
            async move { app.execute(command).await }
        })
        .collect();
    services[0].together(works)
}

fn open_together(
    services: [&TestApp; 2],
    requests: &[(UserId, Option<UserPackId>)],
    pack: PackId,
) -> Vec<PackOpened> {
    let commands = requests.iter().zip([services[0], services[1]].into_iter().cycle());
    let works: Vec<_> = commands
        .map(|((fan, copy), service)| {
            let (app, command) = (Arc::clone(service.app()), open(service, *fan, pack, *copy));
            async move { app.execute(command).await }
        })
        .collect();
    let opened = services[0].together(works);
    opened.into_iter().map(|opened| opened.expect("a copy that is opened")).collect()
}

fn serials(opened: &[PackOpened]) -> Vec<u32> {
    let mut serials: Vec<_> =
        opened.iter().flat_map(|opened| &opened.opening.owned).filter_map(|owned| owned.serial).collect();
    serials.sort_unstable();
    serials
}

fn only_as_many_of_sixty_buyers_get_a_copy_as_can_be_filled(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let fans = service.crowd("buyer", 60);
    for fan in &fans {
        give_coins(&service, *fan, 5);
    }
    let cups = pack(&service, "cups").id;
    let sold = buy_together([&service, &other], &fans, cups);
    let gone = |sold: &Sold| {
        matches!(
            sold,
            Err(Failure::Refused(PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 0 })))
        )
    };
    assert_eq!(
        (sold.iter().filter(|sold| sold.is_ok()).count(), sold.iter().filter(|sold| gone(sold)).count()),
        (25, 35)
    );
    assert_eq!(stock(&service, cups), Stock { sold: 25, sealed: 25 });
    for (fan, sold) in fans.iter().zip(&sold) {
        assert_eq!(balance(&service, *fan, AccountKind::Coins), if sold.is_ok() { 0 } else { 5 });
    }
    let copies: Vec<_> = sold.into_iter().flatten().flat_map(|sold| sold.copies).collect();
    let requests: Vec<_> = copies.iter().map(|copy| (copy.user, Some(copy.id))).collect();
    let opened = open_together([&service, &other], &requests, cups);
    opened.iter().for_each(prove);
    assert_eq!(serials(&opened), (1..=25).collect::<Vec<_>>());
    assert_eq!(stock(&service, cups), Stock { sold: 25, sealed: 0 });
    in_order(&service);
    Ok(())
}

fn the_last_of_an_edition_goes_to_one_and_the_others_draw_again(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let fans = service.crowd("buyer", 40);
    for fan in &fans {
        service.done(award(&service, *fan, 10, "game"));
    }
    let day = pack(&service, "day").id;
    let sold = buy_together([&service, &other], &fans, day);
    let requests: Vec<_> = sold
        .into_iter()
        .flat_map(|sold| sold.expect("a pack of which there is any number").copies)
        .map(|copy| (copy.user, Some(copy.id)))
        .collect();
    let opened = open_together([&service, &other], &requests, day);
    opened.iter().for_each(prove);
    // Of forty copies some eleven would draw the badge, of which there are three.
    assert_eq!(serials(&opened), [1, 2, 3]);
    Ok(())
}

fn the_same_key_fifty_times_at_once_buys_once(kind: DatabaseKind) -> Result<()> {
    fn render(purchased: &PackPurchased) -> StoredAnswer {
        StoredAnswer { created: None, body: purchased.purchase.id.to_string() }
    }
    let service = shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 1000, "game"));
    let day = pack(&service, "day").id;
    let request = KeyedRequest {
        scope: IdempotencyScope { account: Some(mia), operation: "POST /api/packs/{id}/purchase" },
        key: "once".to_owned(),
        fingerprint: [1; 32],
    };
    let works: Vec<_> = (0..50)
        .map(|n| {
            let service = if n % 2 == 0 { &service } else { &other };
            let (app, command, request) =
                (Arc::clone(service.app()), buy(service, mia, day, 1), Some(request.clone()));
            async move { app.execute_once(command, request, render).await }
        })
        .collect();
    let answers = service.together(works).into_iter().map(|answer| answer.expect("an answer"));
    let bodies: BTreeSet<_> = answers.map(|answered| answered.answer.body).collect();
    assert_eq!(bodies.len(), 1);
    let purchases = service.found(ListPurchases { user: mia, limit: Limit::MAX, after: None });
    assert_eq!((purchases.items.len(), balance(&service, mia, AccountKind::Points)), (1, 990));
    in_order(&service);
    Ok(())
}

fn a_copy_opened_twenty_times_at_once_gives_one_result(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 5);
    let cups = pack(&service, "cups").id;
    let copy = service.done(buy(&service, mia, cups, 1)).copies[0].id;
    // Each with its own seed: the first one decides.
    let works: Vec<_> = (0..20)
        .map(|n| {
            let service = if n % 2 == 0 { &service } else { &other };
            let client_seed = Some(format!("seed {n}").parse().expect("a client seed"));
            let request = OpenPackRequest { pack: cups, copy: Some(copy), client_seed };
            let command = service.run(service.app().open_pack(mia, request)).expect("a working store");
            let app = Arc::clone(service.app());
            async move { app.execute(command).await }
        })
        .collect();
    let opened: Vec<_> =
        service.together(works).into_iter().map(|opened| opened.expect("an answer")).collect();
    prove(&opened[0]);
    assert!(opened.iter().all(|other| other.opening == opened[0].opening && other.copy == opened[0].copy));
    assert_eq!(stock(&service, cups), Stock { sold: 1, sealed: 0 });
    Ok(())
}

fn openings_at_once_take_different_copies(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 100, "game"));
    let day = pack(&service, "day").id;
    service.done(buy(&service, mia, day, 10));
    let opened = open_together([&service, &other], &[(mia, None); 10], day);
    let copies: BTreeSet<_> = opened.iter().map(|opened| opened.copy.id).collect();
    assert_eq!(copies.len(), 10);
    Ok(())
}

fn a_limit_holds_for_purchases_at_once(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    service.done(award(&service, mia, 100, "game"));
    let few = pack(&service, "few").id;
    let sold = buy_together([&service, &other], &[mia; 10], few);
    assert_eq!(sold.iter().filter(|sold| sold.is_ok()).count(), 2);
    assert_eq!(balance(&service, mia, AccountKind::Points), 98);
    Ok(())
}
