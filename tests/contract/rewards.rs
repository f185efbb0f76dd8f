//! Contract part 2 §5, rewards: what a claim costs and gives, who may claim, and what becomes of a claim. The list agrees with
//! what a claim gets, and no code lies in clear anywhere.

use super::deletion::{catch_up, delete};
use super::ledger::{balance, in_order};
use super::packs::give_coins;
use super::points::{award, start_season};
use super::quests::{complete, quest, quests_of, start};
use super::repairs::{damage, id, kept, repair_counts};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::OnceRefusal;
use terrace_testkit::app::packs::PackContent;
use terrace_testkit::app::rewards::{
    AddCodes, AddCodesRefusal, AddTill, ClaimRewardRefusal, CodesAdded, ListClaims, RedeemCodeRefusal,
    Redemption, RevokeClaim, RevokeClaimRefusal, RevokeTill, RewardContent, RewardSummary, ShownClaim,
    ShownReward, TillRefusal, UseClaim, UseClaimRefusal, expire_claims,
};
use terrace_testkit::identity::{Token, TokenKind};
use terrace_testkit::kernel::{EventKind, Failure, Limit, Position, UserId};
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::rewards::{
    ClaimId, ClaimRefusal, ClaimStatus, Code, Reward, RewardStock, TillId, UseRefusal,
};
use terrace_testkit::{DatabaseKind, PACKS, PASSWORD, REWARDS, TestApp, on_each_database};

on_each_database! {
    spec_5_a_claim_costs_what_it_says_and_gives_a_code,
    spec_5_what_a_reward_requires_is_read_with_the_claim,
    spec_5_limits_of_a_fan_count_in_their_period,
    spec_5_a_limited_reward_needs_an_account_of_a_day_and_ends_with_its_stock,
    spec_5_codes_of_a_pool_are_given_once,
    spec_5_goods_are_given_with_the_claim,
    spec_5_a_claim_is_used_once_or_expires,
    spec_5_a_revoked_claim_has_its_cost_back_unless_it_is_kept,
    spec_5_a_till_redeems_until_its_token_is_revoked,
    spec_5_no_code_lies_in_clear_in_the_database_or_its_events,
    spec_5_a_deleted_account_leaves_no_code,
    spec_5_content_that_is_loaded_again_keeps_ids_and_stock,
    spec_5_damaged_claims_and_stocks_are_found_and_repaired,
}

const DAY: Duration = Duration::from_hours(24);

/// A process with quests, packs and these rewards.
pub(super) fn with_rewards(kind: DatabaseKind) -> Result<TestApp> {
    let service = quests_of(TestApp::adjusted(kind, |_, app| app.new_account_age = DAY)?)?;
    service.team("foxes");
    let packs = PackContent::parse(PACKS).expect("packs");
    service.run(service.app().load_packs(packs)).expect("packs that hold what they promise");
    load(&service, REWARDS);
    Ok(service)
}

pub(super) fn load(service: &TestApp, text: &str) -> RewardSummary {
    let content = RewardContent::parse(text).expect("rewards");
    service.run(service.app().load_rewards(content)).expect("rewards that fit")
}

pub(super) fn reward(service: &TestApp, key: &str) -> Reward {
    let book = service.run(service.app().reward_book()).expect("rewards");
    book.rewards().iter().find(|reward| reward.key.as_str() == key).expect("a reward").clone()
}

pub(super) fn stock(service: &TestApp, key: &str) -> Option<RewardStock> {
    let reward = reward(service, key).id;
    service.ask(move |tx| tx.reward_stocks()).get(&reward).copied()
}

fn shown(service: &TestApp, user: UserId, key: &str) -> ShownReward {
    let app = service.app();
    let book = service.run(app.reward_book()).expect("rewards");
    let rewards = vec![reward(service, key).id];
    service.run(app.show_rewards(Some(user), book, rewards)).expect("a working store").remove(0)
}

/// Claims a reward, and compares what the list has said with what the claim gets.
fn attempt(service: &TestApp, user: UserId, key: &str) -> Result<ClaimId, ClaimRefusal> {
    let listed = shown(service, user, key).refusal;
    let claimed = service.run(service.app().claim_reward(user, reward(service, key).id, None));
    match claimed {
        Ok(answered) => {
            assert_eq!(listed, None, "{key}");
            Ok(answered.answer.body.parse().expect("the id of the claim and nothing else"))
        }
        Err(Failure::Refused(OnceRefusal::Refused(ClaimRewardRefusal::Rule(rule)))) => {
            assert_eq!(listed, Some(rule), "{key}");
            Err(rule)
        }
        Err(other) => panic!("{key}: {other:?}"),
    }
}

pub(super) fn claim(service: &TestApp, user: UserId, key: &str) -> ShownClaim {
    let claim = attempt(service, user, key).expect("a claim");
    find(service, user, claim)
}

fn find(service: &TestApp, user: UserId, claim: ClaimId) -> ShownClaim {
    service.run(service.app().find_claim(user, claim)).expect("a working store").expect("an own claim")
}

fn code(shown: &ShownClaim) -> Code {
    shown.code.clone().expect("a code")
}

fn coins(service: &TestApp, user: UserId) -> i64 {
    balance(service, user, AccountKind::Coins)
}

/// A fan with coins, whose account is old enough for limited rewards.
fn settled_fan(service: &TestApp, name: &str) -> UserId {
    let fan = service.fan(name).id;
    give_coins(service, fan, 100);
    service.clock().advance(DAY);
    fan
}

pub(super) fn fill(service: &TestApp, key: &str, codes: &[&str]) -> CodesAdded {
    let codes = codes.iter().map(|text| Code::parse(text).expect("a code")).collect();
    let cipher = service.app().code_cipher().expect("a secret");
    service.done(AddCodes { reward: key.to_owned(), codes, cipher })
}

pub(super) fn till(service: &TestApp, name: &str) -> TillId {
    let secret = service.done(AddTill { name: name.to_owned() });
    let token = Token::present(TokenKind::Till, secret.expose()).expect("a token of a till");
    service.run(service.app().find_till(token)).expect("a working store").expect("the till").id
}

fn redeem(service: &TestApp, till: TillId, code: &Code) -> Result<Redemption, RedeemCodeRefusal> {
    match service.run(service.app().redeem_code(till, code.clone())) {
        Ok(redemption) => Ok(redemption),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// The states that the log reports of a claim, in order.
fn changes(service: &TestApp, claim: ClaimId) -> Vec<String> {
    let log = service.log(Position::START).into_iter();
    let own = log
        .filter(|event| event.what.kind == EventKind::ClaimChanged && event.what.subject == claim.as_uuid());
    own.map(|event| event.detail.as_deref().unwrap_or_default().to_owned()).collect()
}

fn spec_5_a_claim_costs_what_it_says_and_gives_a_code(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let mia = service.fan("mia").id;
    assert_eq!(attempt(&service, mia, "voucher"), Err(ClaimRefusal::Insufficient { has: 0 }));
    give_coins(&service, mia, 25);
    let first = claim(&service, mia, "voucher");
    assert_eq!((first.claim.status, coins(&service, mia)), (ClaimStatus::Issued, 15));
    assert_eq!(first.claim.expires_at, Some(first.claim.created_at.plus(DAY)));
    assert_eq!(code(&first).expose().len(), 19);
    service.clock().advance(Duration::from_secs(1));
    let second = claim(&service, mia, "voucher");
    assert_ne!(code(&first).expose(), code(&second).expose());
    assert_eq!(attempt(&service, mia, "voucher"), Err(ClaimRefusal::Insufficient { has: 5 }));
    assert_eq!(coins(&service, mia), 5);
    // Another fan does not see it.
    let bo = service.fan("bo_").id;
    assert!(service.run(service.app().find_claim(bo, first.claim.id))?.is_none());
    let own = |status| {
        let cipher = Some(service.app().code_cipher().expect("a secret"));
        let list =
            ListClaims { user: Some(mia), reward: None, status, limit: Limit::MAX, after: None, cipher };
        service.found(list).items.iter().map(|shown| shown.claim.id).collect::<Vec<_>>()
    };
    assert_eq!(own(None), [second.claim.id, first.claim.id]);
    assert_eq!((own(Some(ClaimStatus::Issued)).len(), own(Some(ClaimStatus::Used)).len()), (2, 0));
    assert_eq!(changes(&service, first.claim.id), ["issued"]);
    in_order(&service);
    Ok(())
}

fn spec_5_what_a_reward_requires_is_read_with_the_claim(kind: DatabaseKind) -> Result<()> {
    const REQUIRING: &str = r#"
        [[reward]]
        key = "level"
        name = "Level"
        requires = [{ level = 2 }]
        limit = 1
        grant = { kind = "code", codes = "generated" }
        [[reward]]
        key = "points"
        name = "Points"
        requires = [{ points = 50 }]
        limit = 1
        grant = { kind = "code", codes = "generated" }
        [[reward]]
        key = "rank"
        name = "Rank"
        requires = [{ rank = 1 }]
        limit = 1
        grant = { kind = "code", codes = "generated" }
        [[reward]]
        key = "quest"
        name = "Quest"
        requires = [{ quest = "single" }]
        limit = 1
        grant = { kind = "code", codes = "generated" }
        [[reward]]
        key = "achievement"
        name = "Achievement"
        requires = [{ achievement = "first-quest" }, { quest = "single" }]
        limit = 1
        grant = { kind = "code", codes = "generated" }
    "#;
    let service = with_rewards(kind)?;
    load(&service, REQUIRING);
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let missing = Err(ClaimRefusal::RequirementNotMet);
    for key in ["level", "points", "rank", "quest", "achievement"] {
        assert_eq!(attempt(&service, mia, key), missing, "{key}");
    }
    service.done(award(&service, mia, 60, "one"));
    service.done(award(&service, bo, 70, "two"));
    assert!(attempt(&service, mia, "points").is_ok());
    assert_eq!(attempt(&service, mia, "level"), missing, "level 2 begins at 100 points");
    assert_eq!(attempt(&service, mia, "rank"), missing, "the other fan is first");
    start(&service, mia, "single");
    assert!(complete(&service, mia, "single/only").is_ok());
    service.settled();
    service.run(service.app().catch_up_consumers())?;
    assert_eq!(shown(&service, mia, "achievement").met, Some(vec![true, true]));
    assert_eq!(shown(&service, bo, "achievement").met, Some(vec![false, false]));
    for key in ["quest", "achievement"] {
        assert!(attempt(&service, mia, key).is_ok(), "{key}");
    }
    service.done(award(&service, mia, 40, "three"));
    for key in ["level", "rank"] {
        assert!(attempt(&service, mia, key).is_ok(), "{key}");
    }
    // Points of an earlier season are part of the level alone.
    service.clock().advance(Duration::from_secs(1));
    start_season(&service, "next", None);
    let [points, level] = ["points", "level"].map(|key| shown(&service, bo, key).met);
    assert_eq!((points, level), (Some(vec![false]), Some(vec![false])));
    assert_eq!(shown(&service, mia, "level").met, Some(vec![true]));
    let unknown = REQUIRING.replace("\"single\"", "\"nowhere\"");
    let refused = service.run(service.app().load_rewards(RewardContent::parse(&unknown)?));
    assert!(matches!(refused, Err(Failure::Refused(_))));
    assert_eq!(quest(&service, "single").as_uuid().get_version_num(), 7);
    Ok(())
}

fn spec_5_limits_of_a_fan_count_in_their_period(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let mia = service.fan("mia").id;
    let reached = |claimed| Err(ClaimRefusal::LimitReached { claimed });
    assert!(attempt(&service, mia, "drink").is_ok());
    assert_eq!(attempt(&service, mia, "drink"), reached(1));
    service.clock().advance(DAY);
    assert!(attempt(&service, mia, "drink").is_ok(), "another date");
    assert_eq!(attempt(&service, mia, "drink"), reached(1));
    for _ in 0..2 {
        assert!(attempt(&service, mia, "banner").is_ok());
    }
    service.clock().advance(Duration::from_hours(48));
    assert_eq!(attempt(&service, mia, "banner"), reached(2));
    start_season(&service, "next", None);
    assert!(attempt(&service, mia, "banner").is_ok(), "another season");
    service.done(award(&service, mia, 100, "one"));
    for _ in 0..2 {
        assert!(attempt(&service, mia, "purse").is_ok());
    }
    service.clock().advance(Duration::from_hours(1000));
    assert_eq!(attempt(&service, mia, "purse"), reached(2));
    // Content that changes the period counts the same claims anew.
    load(&service, &REWARDS.replace("limit = 2\ngrant", "limit = 2\nperiod = \"day\"\ngrant"));
    assert!(attempt(&service, mia, "purse").is_ok());
    Ok(())
}

fn spec_5_a_limited_reward_needs_an_account_of_a_day_and_ends_with_its_stock(
    kind: DatabaseKind,
) -> Result<()> {
    let service = with_rewards(kind)?;
    load(&service, &REWARDS.replace("requires = [{ level = 2 }]\n", ""));
    let fans: Vec<UserId> = (0..7).map(|nth| service.fan(&format!("fan{nth}")).id).collect();
    assert!(matches!(attempt(&service, fans[0], "tour"), Err(ClaimRefusal::AccountTooNew { .. })));
    assert!(attempt(&service, fans[0], "drink").is_ok(), "an unlimited reward needs no old account");
    service.clock().advance(DAY);
    for fan in &fans[..5] {
        assert!(attempt(&service, *fan, "tour").is_ok());
    }
    assert_eq!(stock(&service, "tour"), Some(RewardStock { supply: 5, taken: 5 }));
    assert_eq!(attempt(&service, fans[5], "tour"), Err(ClaimRefusal::SoldOut));
    assert_eq!(shown(&service, fans[5], "tour").remaining, Some(0));
    // More of it: the content says how many there are in all.
    load(&service, &REWARDS.replace("requires = [{ level = 2 }]\nstock = 5", "stock = 6"));
    assert!(attempt(&service, fans[5], "tour").is_ok());
    assert_eq!(attempt(&service, fans[6], "tour"), Err(ClaimRefusal::SoldOut));
    // Without a limit, and with one again: the claims were counted meanwhile.
    load(&service, &REWARDS.replace("requires = [{ level = 2 }]\nstock = 5\n", ""));
    assert_eq!(stock(&service, "tour"), None);
    assert!(attempt(&service, fans[6], "tour").is_ok());
    load(&service, REWARDS);
    assert_eq!(stock(&service, "tour"), Some(RewardStock { supply: 5, taken: 7 }));
    Ok(())
}

fn spec_5_codes_of_a_pool_are_given_once(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let mia = settled_fan(&service, "mia");
    assert_eq!(attempt(&service, mia, "ticket"), Err(ClaimRefusal::SoldOut));
    let added = fill(&service, "ticket", &["SEAT-A1", "SEAT-A2", "seat a1"]);
    assert_eq!(added, CodesAdded { added: 2, known: 1 });
    assert_eq!(fill(&service, "ticket", &["SEATA2", "SEAT-A3"]), CodesAdded { added: 1, known: 1 });
    assert_eq!(stock(&service, "ticket"), Some(RewardStock { supply: 3, taken: 0 }));
    let mut given: Vec<String> =
        (0..3).map(|_| code(&claim(&service, mia, "ticket")).expose().to_owned()).collect();
    given.sort();
    assert_eq!(given, ["SEAT-A1", "SEAT-A2", "SEAT-A3"]);
    assert_eq!((attempt(&service, mia, "ticket"), coins(&service, mia)), (Err(ClaimRefusal::SoldOut), 91));
    let cipher = service.app().code_cipher()?;
    let add =
        |reward: &str| AddCodes { reward: reward.to_owned(), codes: vec![], cipher: Arc::clone(&cipher) };
    assert_eq!(service.refused(add("nothing")), AddCodesRefusal::UnknownReward);
    assert_eq!(service.refused(add("voucher")), AddCodesRefusal::NoPool);
    // The same content again, and the pool stays.
    load(&service, REWARDS);
    assert_eq!(stock(&service, "ticket"), Some(RewardStock { supply: 3, taken: 3 }));
    Ok(())
}

fn spec_5_goods_are_given_with_the_claim(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let mia = settled_fan(&service, "mia");
    assert_eq!(attempt(&service, mia, "purse"), Err(ClaimRefusal::Insufficient { has: 0 }));
    service.done(award(&service, mia, 15, "one"));
    let purse = claim(&service, mia, "purse");
    let points = balance(&service, mia, AccountKind::Points);
    assert_eq!((coins(&service, mia), points), (120, 5));
    assert_eq!((purse.claim.status, purse.claim.used_at), (ClaimStatus::Used, Some(purse.claim.created_at)));
    assert!(purse.code.is_none() && purse.claim.expires_at.is_none());
    // What a fan has had is neither used again nor revoked.
    let again = UseClaim { user: mia, claim: purse.claim.id };
    assert_eq!(service.refused(again), UseClaimRefusal::Rule(UseRefusal::Used));
    let revoke = RevokeClaim { claim: purse.claim.id, returns: true };
    assert_eq!(service.refused(revoke), RevokeClaimRefusal::Rule(UseRefusal::Used));
    let pack = "\n[[reward]]\nkey = \"pack\"\nname = \"A pack\"\ncost = { kind = \"coins\", amount = 20 }\n\
                grant = { kind = \"pack\", key = \"day\" }\n";
    load(&service, &format!("{REWARDS}{pack}"));
    claim(&service, mia, "pack");
    let held = service.ask(move |tx| tx.held(mia));
    assert_eq!(held.iter().map(|(_, held)| held.owned).sum::<u32>(), 1, "{held:?}");
    assert_eq!(coins(&service, mia), 100);
    // The only copy of another pack is given, and nothing is paid for the next.
    let single =
        pack.replace("key = \"day\"", "key = \"single\"").replace("key = \"pack\"", "key = \"single\"");
    load(&service, &format!("{REWARDS}{single}"));
    claim(&service, mia, "single");
    assert_eq!((attempt(&service, mia, "single"), coins(&service, mia)), (Err(ClaimRefusal::SoldOut), 80));
    let points_for_coins = pack.replace("kind = \"pack\", key = \"day\"", "kind = \"points\", amount = 1");
    let content = RewardContent::parse(&format!("{REWARDS}{points_for_coins}"))?;
    assert!(matches!(service.run(service.app().load_rewards(content)), Err(Failure::Refused(_))));
    in_order(&service);
    Ok(())
}

fn spec_5_a_claim_is_used_once_or_expires(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let (mia, bo) = (settled_fan(&service, "mia"), service.fan("bo_").id);
    let [used, late, expired] = [(); 3].map(|()| claim(&service, mia, "voucher").claim.id);
    let lasting = claim(&service, mia, "drink").claim.id;
    let using = |user, claim| UseClaim { user, claim };
    assert_eq!(service.refused(using(bo, used)), UseClaimRefusal::UnknownClaim);
    service.done(using(mia, used));
    assert_eq!(service.refused(using(mia, used)), UseClaimRefusal::Rule(UseRefusal::Used));
    let after = find(&service, mia, used).claim;
    assert_eq!((after.status, after.used_at, after.till), (ClaimStatus::Used, Some(after.created_at), None));
    assert_eq!(service.run(expire_claims(service.app()))?, 0);
    service.clock().advance(DAY);
    // Its time is over, whether or not the job has run.
    assert_eq!(service.refused(using(mia, late)), UseClaimRefusal::Rule(UseRefusal::Expired));
    assert_eq!(find(&service, mia, late).claim.status, ClaimStatus::Expired);
    assert_eq!(service.run(expire_claims(service.app()))?, 2);
    assert_eq!(service.run(expire_claims(service.app()))?, 0);
    assert_eq!(service.refused(using(mia, expired)), UseClaimRefusal::Rule(UseRefusal::Expired));
    assert_eq!(changes(&service, used), ["issued", "used"]);
    assert_eq!(changes(&service, late), ["issued", "expired"]);
    assert_eq!(find(&service, mia, lasting).claim.status, ClaimStatus::Issued);
    assert_eq!(coins(&service, mia), 70, "what has expired stays paid");
    Ok(())
}

fn spec_5_a_revoked_claim_has_its_cost_back_unless_it_is_kept(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    load(&service, &REWARDS.replace("valid_hours = 24\n", "valid_hours = 24\nlimit = 2\n"));
    let mia = settled_fan(&service, "mia");
    let [back, kept] = [(); 2].map(|()| claim(&service, mia, "voucher").claim.id);
    assert_eq!(attempt(&service, mia, "voucher"), Err(ClaimRefusal::LimitReached { claimed: 2 }));
    let revoke = |claim, returns| RevokeClaim { claim, returns };
    assert!(service.done(revoke(back, true)).is_returned);
    assert!(!service.done(revoke(kept, false)).is_returned);
    assert_eq!(coins(&service, mia), 90);
    assert_eq!(service.refused(revoke(back, true)), RevokeClaimRefusal::Rule(UseRefusal::Revoked));
    assert_eq!(coins(&service, mia), 90);
    // Only the one that was returned may be claimed again.
    let again = claim(&service, mia, "voucher");
    assert_eq!(attempt(&service, mia, "voucher"), Err(ClaimRefusal::LimitReached { claimed: 2 }));
    let gate = till(&service, "gate");
    let shown = find(&service, mia, back);
    let refused = Err(RedeemCodeRefusal::Rule(UseRefusal::Revoked));
    assert_eq!(redeem(&service, gate, &code(&shown)), refused);
    assert!(redeem(&service, gate, &code(&again)).is_ok());
    let of_used = service.refused(revoke(again.claim.id, true));
    assert_eq!(of_used, RevokeClaimRefusal::Rule(UseRefusal::Used));
    let unknown = service.refused(revoke(ClaimId::from_uuid(mia.as_uuid()), true));
    assert_eq!(unknown, RevokeClaimRefusal::UnknownClaim);
    assert_eq!(changes(&service, back), ["issued", "revoked"]);
    in_order(&service);
    Ok(())
}

fn spec_5_a_till_redeems_until_its_token_is_revoked(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let mia = settled_fan(&service, "mia");
    let voucher = claim(&service, mia, "voucher");
    let secret = service.done(AddTill { name: "kiosk".to_owned() });
    let token = Token::present(TokenKind::Till, secret.expose()).expect("a token");
    let kiosk = service.run(service.app().find_till(token))?.expect("the till").id;
    assert_eq!(service.refused(AddTill { name: "kiosk".to_owned() }), TillRefusal::NameTaken);
    let typed = Code::parse(&code(&voucher).expose().to_lowercase().replace('-', " "))?;
    let first = redeem(&service, kiosk, &typed).expect("a code");
    let (claim_id, reward) = (voucher.claim.id, voucher.claim.reward);
    let used_at = find(&service, mia, claim_id).claim.used_at.expect("a time");
    assert_eq!(first, Redemption { redeemed: true, claim: claim_id, reward, used_at });
    service.clock().advance(Duration::from_secs(5));
    assert_eq!(redeem(&service, kiosk, &typed), Ok(Redemption { redeemed: false, ..first }));
    assert_eq!(find(&service, mia, claim_id).claim.till, Some(kiosk));
    let unknown = Code::parse("0000-0000-0000-0000")?;
    assert_eq!(redeem(&service, kiosk, &unknown), Err(RedeemCodeRefusal::UnknownCode));
    // A code that is still free in its pool belongs to no claim.
    fill(&service, "ticket", &["SEAT-A1"]);
    assert_eq!(redeem(&service, kiosk, &Code::parse("SEAT-A1")?), Err(RedeemCodeRefusal::UnknownCode));
    let drink = claim(&service, mia, "voucher");
    service.clock().advance(DAY);
    let expired = Err(RedeemCodeRefusal::Rule(UseRefusal::Expired));
    assert_eq!(redeem(&service, kiosk, &code(&drink)), expired);
    service.done(RevokeTill { name: "kiosk".to_owned() });
    assert!(service.run(service.app().find_till(token))?.is_none());
    assert_eq!(service.refused(RevokeTill { name: "kiosk".to_owned() }), TillRefusal::UnknownTill);
    // The name is free again.
    assert_ne!(till(&service, "kiosk"), kiosk);
    Ok(())
}

/// The forms in which a text could lie in a dump: as it is, without hyphens, and as a blob.
fn forms(text: &str) -> Vec<String> {
    let bare = text.replace('-', "");
    let hex = |text: &str| terrace_testkit::kernel::hex::encode(text.as_bytes());
    vec![text.to_lowercase(), bare.to_lowercase(), hex(text), hex(&bare)]
}

fn spec_5_no_code_lies_in_clear_in_the_database_or_its_events(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let mia = settled_fan(&service, "mia");
    fill(&service, "ticket", &["SEAT-ROW14-A1", "SEAT-ROW14-A2"]);
    let [voucher, ticket, used] = ["voucher", "ticket", "voucher"].map(|key| claim(&service, mia, key));
    let kiosk = till(&service, "kiosk");
    assert!(redeem(&service, kiosk, &code(&used)).is_ok());
    service.settled();
    let dump = format!("{:?}", kept(service.storage(), &[])).to_lowercase();
    assert!(
        dump.contains(&voucher.claim.id.as_uuid().simple().to_string())
            || dump.contains(&voucher.claim.id.to_string())
    );
    let free = if code(&ticket).expose() == "SEAT-ROW14-A1" { "SEAT-ROW14-A2" } else { "SEAT-ROW14-A1" };
    let codes = [&voucher, &ticket, &used].map(|shown| code(shown).expose().to_owned());
    for code in codes.iter().map(String::as_str).chain([free]) {
        for form in forms(code) {
            assert!(!dump.contains(&form), "{form} lies in the database");
        }
    }
    let log = format!("{:?}", service.log(Position::START)).to_lowercase();
    for code in &codes {
        assert!(forms(code).iter().all(|form| !log.contains(form)));
        assert!(!format!("{:?}", Code::parse(code)?).contains(code));
    }
    Ok(())
}

fn spec_5_a_deleted_account_leaves_no_code(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let fan = service.fan("mia");
    give_coins(&service, fan.id, 20);
    let voucher = claim(&service, fan.id, "voucher");
    let kiosk = till(&service, "kiosk");
    assert!(delete(&service, fan.cookie, PASSWORD).is_none());
    catch_up(&service);
    let claim = voucher.claim.id;
    assert!(service.ask(move |tx| tx.codes_of(&[claim])).is_empty());
    let left = service.ask(move |tx| tx.claim(claim)).expect("the claim");
    assert_eq!(left.status, ClaimStatus::Expired);
    let refused = Err(RedeemCodeRefusal::Rule(UseRefusal::Expired));
    assert_eq!(redeem(&service, kiosk, &code(&voucher)), refused);
    assert!(repair_counts(&service, "repair-rewards").is_empty());
    Ok(())
}

fn spec_5_content_that_is_loaded_again_keeps_ids_and_stock(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let before = reward(&service, "voucher");
    assert_eq!(load(&service, REWARDS), RewardSummary { rewards: 6, retired: 0 });
    assert_eq!(reward(&service, "voucher"), before);
    let mia = settled_fan(&service, "mia");
    let voucher = claim(&service, mia, "voucher");
    let (_, rest) = REWARDS.split_once("[[reward]]\nkey = \"tour\"").expect("the second reward");
    let rest = format!("[[reward]]\nkey = \"tour\"{rest}");
    assert_eq!(load(&service, &rest), RewardSummary { rewards: 5, retired: 1 });
    assert_eq!(attempt(&service, mia, "voucher"), Err(ClaimRefusal::Closed));
    // What was claimed stays good.
    service.done(UseClaim { user: mia, claim: voucher.claim.id });
    load(&service, REWARDS);
    assert_eq!(reward(&service, "voucher"), before);
    let other_kind = REWARDS.replacen("codes = \"generated\"", "codes = \"pool\"", 1);
    let refused = service.run(service.app().load_rewards(RewardContent::parse(&other_kind)?));
    assert!(matches!(refused, Err(Failure::Refused(_))));
    Ok(())
}

fn spec_5_damaged_claims_and_stocks_are_found_and_repaired(kind: DatabaseKind) -> Result<()> {
    let service = with_rewards(kind)?;
    let mia = settled_fan(&service, "mia");
    fill(&service, "ticket", &["SEAT-A1", "SEAT-A2"]);
    claim(&service, mia, "ticket");
    let [unpaid, codeless, revoked] = [(); 3].map(|()| claim(&service, mia, "voucher").claim.id);
    assert!(repair_counts(&service, "repair-rewards").is_empty());
    assert!(service.ask(|tx| tx.audit_counters()).iter().all(|check| check.wrong == 0));
    let [unpaid_id, codeless_id, revoked_id] = [unpaid, codeless, revoked].map(|claim| id(&service, claim));
    damage(
        &service,
        &[
            "UPDATE reward_stock SET taken = 0, supply = 7",
            &format!("DELETE FROM ledger_transfers WHERE source_key = 'claim:{}'", unpaid.as_uuid().simple()),
            &format!("DELETE FROM reward_codes WHERE claim_id = {codeless_id}"),
            &format!(
                "UPDATE reward_claims SET status = 'revoked', is_returned = true WHERE id = {revoked_id}"
            ),
            &format!("UPDATE reward_claims SET cost_amount = 10 WHERE id = {unpaid_id}"),
        ],
    );
    let repaired = repair_counts(&service, "repair-rewards");
    let count = |what| repaired.iter().find(|(name, _)| *name == what).map(|(_, count)| *count);
    assert_eq!(count("claims that were not paid"), Some(1), "{repaired:?}");
    assert_eq!(count("claims without a code"), Some(1), "{repaired:?}");
    assert_eq!(count("costs of revoked claims"), Some(1), "{repaired:?}");
    assert_eq!(count("stocks of rewards"), Some(2), "{repaired:?}");
    assert_eq!(stock(&service, "ticket"), Some(RewardStock { supply: 2, taken: 1 }));
    let codeless = find(&service, mia, codeless).claim;
    assert_eq!((codeless.status, codeless.is_returned), (ClaimStatus::Revoked, true));
    Ok(())
}
