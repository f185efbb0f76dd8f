//! Many claims and tills at once (contract part 2 §5): each code is given once and used once, and a fan who gets none pays
//! nothing.

use super::ledger::in_order;
use super::rewards::{claim, fill, load, reward, stock, till, with_rewards};
use anyhow::Result;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::OnceRefusal;
use terrace_testkit::app::rewards::{AddCodes, ClaimRewardRefusal, ListClaims, UseClaim};
use terrace_testkit::kernel::{Failure, Limit, UserId};
use terrace_testkit::ledger::{AccountKind, Amount, Holder, House, Transfer, TransferSource};
use terrace_testkit::rewards::{ClaimRefusal, Code, RewardStock, TillId};
use terrace_testkit::{DatabaseKind, REWARDS, TestApp, on_each_database};

on_each_database! {
    spec_5_ten_thousand_claims_on_a_thousand_codes_give_each_code_once,
    spec_5_a_code_is_redeemed_by_one_of_fifty_tills,
    spec_5_one_fan_does_not_exceed_a_limit_by_hurrying,
}

const FANS: usize = 10_000;
const CODES: usize = 1_000;
/// Claims at a time.
const AT_ONCE: usize = 64;
/// What a claim costs, and what each fan has.
const COST: i64 = 3;

fn give_each(service: &TestApp, fans: &[UserId]) {
    let fans = fans.to_vec();
    service.write(move |tx, ctx| {
        for (nth, fan) in fans.iter().enumerate() {
            tx.transfer(&Transfer {
                id: ctx.new_id(),
                kind: AccountKind::Coins,
                debit: Holder::House(House::Issuance),
                credit: Holder::Fan(*fan),
                amount: Amount::new(COST).expect("an amount"),
                reason: "A gift".to_owned(),
                source: TransferSource::operator(&format!("gift/{nth}")).expect("a source"),
                at: ctx.now(),
            })?;
        }
        Ok(())
    });
}

fn spec_5_ten_thousand_claims_on_a_thousand_codes_give_each_code_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::adjusted(kind, |storage, _| storage.run_twice = false)?;
    service.run(service.app().found_seasons())?;
    load(&service, &REWARDS.replace("requires = [{ level = 2 }]\n", ""));
    let fans = service.crowd("fan", FANS);
    give_each(&service, &fans);
    service.clock().advance(Duration::from_hours(24));
    let cipher = service.app().code_cipher()?;
    let codes: Vec<Code> =
        (0..CODES).map(|nth| Code::parse(&format!("SEAT-{nth:06}")).expect("a code")).collect();
    for part in codes.chunks(500) {
        service.done(AddCodes { reward: "ticket".to_owned(), codes: part.to_vec(), cipher: cipher.clone() });
    }
    let other = service.another()?;
    let ticket = reward(&service, "ticket").id;
    let parts: Vec<Vec<UserId>> = fans.chunks(FANS.div_ceil(AT_ONCE)).map(<[UserId]>::to_vec).collect();
    let works: Vec<_> = parts
        .into_iter()
        .zip([&service, &other].into_iter().cycle())
        .map(|(part, service)| {
            let app = Arc::clone(service.app());
            async move {
                let mut winners = Vec::new();
                for fan in part {
                    match app.claim_reward(fan, ticket, None).await {
                        Ok(_) => winners.push(fan),
                        Err(Failure::Refused(OnceRefusal::Refused(ClaimRewardRefusal::Rule(
                            ClaimRefusal::SoldOut,
                        )))) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
                winners
            }
        })
        .collect();
    let winners: HashSet<UserId> = service.together(works).into_iter().flatten().collect();
    assert_eq!(winners.len(), CODES);
    let supply = u32::try_from(CODES)?;
    assert_eq!(stock(&service, "ticket"), Some(RewardStock { supply, taken: supply }));
    let (mut given, mut after) = (HashSet::new(), None);
    loop {
        let cipher = Some(service.app().code_cipher()?);
        let list =
            ListClaims { user: None, reward: Some(ticket), status: None, limit: Limit::MAX, after, cipher };
        let page = service.found(list);
        for shown in &page.items {
            assert!(winners.contains(&shown.claim.user));
            let code = shown.code.as_ref().expect("a code").expose().to_owned();
            assert!(given.insert(code.clone()), "{code} was given twice");
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let all: HashSet<String> = codes.iter().map(|code| code.expose().to_owned()).collect();
    assert_eq!(given, all);
    // Losers pay nothing.
    let balances = service.ask(move |tx| {
        let mut balances = Vec::new();
        for fan in &fans {
            balances.push((*fan, tx.balances(*fan)?.iter().map(|balance| balance.amount).sum::<i64>()));
        }
        Ok(balances)
    });
    for (fan, coins) in balances {
        assert_eq!(coins, if winners.contains(&fan) { 0 } else { COST });
    }
    Ok(())
}

fn spec_5_a_code_is_redeemed_by_one_of_fifty_tills(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let tills: Vec<TillId> = (0..50).map(|nth| till(&service, &format!("till {nth}"))).collect();
    for round in 0..3 {
        let shown = claim(&service, mia, "drink");
        let code = shown.code.clone().expect("a code");
        let redeeming = tills.iter().zip([&service, &other].into_iter().cycle()).map(|(till, service)| {
            let (app, till, code) = (Arc::clone(service.app()), *till, code.clone());
            async move { app.redeem_code(till, code).await.expect("a code that is known") }
        });
        let redeemed = service.together(redeeming.collect::<Vec<_>>());
        assert_eq!(redeemed.iter().filter(|one| one.redeemed).count(), 1, "round {round}");
        assert!(redeemed.iter().all(|one| one.claim == shown.claim.id));
        let times: HashSet<_> = redeemed.iter().map(|one| one.used_at).collect();
        assert_eq!(times.len(), 1, "all tills learn the same time");
        let again = UseClaim { user: mia, claim: shown.claim.id };
        assert!(matches!(service.run(service.app().execute(again)), Err(Failure::Refused(_))));
        service.clock().advance(Duration::from_hours(24));
    }
    Ok(())
}

fn spec_5_one_fan_does_not_exceed_a_limit_by_hurrying(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    service.clock().advance(Duration::from_hours(24));
    fill(&service, "ticket", &["SEAT-A1", "SEAT-A2"]);
    let banner = reward(&service, "banner").id;
    let claims = (0..12).zip([&service, &other].into_iter().cycle()).map(|(_, service)| {
        let app = Arc::clone(service.app());
        async move { app.claim_reward(mia, banner, None).await.is_ok() }
    });
    let made = service.together(claims.collect::<Vec<_>>()).into_iter().filter(|is_made| *is_made).count();
    assert_eq!(made, 2);
    in_order(&service);
    Ok(())
}
