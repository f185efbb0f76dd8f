//! The report for operators: its parts add up after any history, and equal what the tables say.

use super::ledger::{balance, coins, moved};
use super::orders::{begin, checkout, notify};
use super::packs::{buy, give_coins, open, pack};
use super::payments;
use super::points::{award, fact, favour};
use super::{boards::Dice, carts::put, products, quests, trivia, wheels};
use anyhow::Result;
use std::collections::BTreeMap;
use std::time::Duration;
use terrace_testkit::app::boards::{AwardPoints, ReversePoints};
use terrace_testkit::app::payments::NoticeKind;
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::app::shop::{FulfilOrder, Fulfilment, Order};
use terrace_testkit::app::trivia::advance_trivia;
use terrace_testkit::kernel::{Clock, Currency, Grant, Timestamp, UserId};
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::ops::operator_report::{Figure, OperatorReport, ReadOperatorReport, UnknownTeam};
use terrace_testkit::scoring::Writer;
use terrace_testkit::{DatabaseKind, PRODUCTS, SeededEntropy, TestApp, WHEELS, on_each_database};

on_each_database! {
    the_parts_of_a_report_add_up_after_any_history,
    a_report_counts_the_fans_of_a_team_only,
    a_report_of_an_empty_period_has_no_flows,
    spec_7_wheels_are_reported_beside_their_expected_payout,
    spec_7_awards_of_trivia_are_reported,
}

fn read(service: &TestApp, from: Timestamp, to: Timestamp, team: Option<&str>) -> OperatorReport {
    service.found(ReadOperatorReport { from, to, team: team.map(str::to_owned) })
}

fn of<'r>(report: &'r OperatorReport, section: &str) -> Vec<&'r Figure> {
    report.figures.iter().filter(|figure| figure.section == section).collect()
}

/// The amount of a figure, 0 if there is none.
fn figure(report: &OperatorReport, section: &str, item: &str, unit: &str) -> i64 {
    let found = of(report, section).into_iter().find(|one| one.item == item && one.unit == unit);
    found.map_or(0, |figure| figure.amount)
}

type Balances = BTreeMap<(String, String), (i64, i64)>;

/// The opening and the closing balance of each account, which its change must lead to.
fn balances(report: &OperatorReport) -> Balances {
    let account = |figure: &&Figure| {
        let (opening, closing) = (figure.opening.expect("an opening"), figure.closing.expect("a closing"));
        assert_eq!(opening + figure.amount, closing, "{figure:?}");
        ((figure.item.clone(), figure.unit.clone()), (opening, closing))
    };
    of(report, "accounts").iter().map(account).collect()
}

/// What must hold of every report.
fn adds_up(report: &OperatorReport) {
    let balances = balances(report);
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for ((_, unit), (opening, closing)) in &balances {
        let sum = sums.entry(unit).or_default();
        (sum.0, sum.1) = (sum.0 + opening, sum.1 + closing);
    }
    for (unit, sum) in sums {
        assert_eq!(sum, (0, 0), "all accounts in {unit}");
        let moved = |item| figure(report, "movements", item, unit);
        let change = |account| figure(report, "accounts", account, unit);
        let explained =
            moved("issued") - moved("taken back") - moved("spent") + moved("returned") + moved("paid in")
                - moved("paid out")
                - moved("lost");
        assert_eq!(change("fans") + change("held"), explained, "{unit}");
        let flows = of(report, "flows").into_iter().filter(|flow| flow.unit == unit);
        let net: i64 = flows
            .map(|flow| {
                let (from, to) = flow.item.split_once(" to ").expect("two accounts");
                let into = i64::from(to.starts_with("revenue:"));
                flow.amount * (into - i64::from(from == "revenue"))
            })
            .sum();
        assert_eq!(net, change("revenue"), "{unit}");
        if !["points", "coins"].contains(&unit) {
            assert_eq!(figure(report, "revenue", "net", unit), net, "{unit}");
        }
    }
}

/// The stock of badges, and how many purses a fan may buy.
const BADGES: usize = 3;
const PURSES: usize = 4;

struct World {
    service: TestApp,
    fans: Vec<UserId>,
    pending: Vec<Order>,
    paid: Vec<Order>,
    dice: Dice,
    badges: usize,
    purses: usize,
    /// What was done, counted without the service.
    issued: i64,
    copies: i64,
    opened: i64,
    placed: i64,
    /// The money that orders brought by card, and what of it was refunded.
    earned: [i64; 2],
}

impl World {
    fn new(kind: DatabaseKind) -> Result<Self> {
        let (service, _cashier) = payments::paid_shop(kind)?;
        products::load(&service, PRODUCTS);
        quests::load(&service, quests::QUESTS);
        let fans: Vec<UserId> = ["mia", "bo_", "ada"].iter().map(|name| service.fan(name).id).collect();
        let dice = Dice(SeededEntropy::new(5));
        Ok(Self {
            service,
            fans,
            pending: Vec::new(),
            paid: Vec::new(),
            dice,
            badges: 0,
            purses: 0,
            issued: 0,
            copies: 0,
            opened: 0,
            placed: 0,
            earned: [0; 2],
        })
    }

    fn act(&mut self, name: &str) {
        self.service.clock().advance(Duration::from_secs(1));
        let service = &self.service;
        let fan = self.fans[self.dice.below(self.fans.len())];
        let has = |kind| balance(service, fan, kind);
        match self.dice.below(10) {
            0 | 1 => {
                service.done(award(service, fan, 60, name));
                self.issued += 60;
            }
            2 => {
                service.done(award(service, fan, 40, name));
                let (awards, reason) = (service.app().awards(), "Taken back".to_owned());
                service.done(ReversePoints {
                    awards,
                    user: fan,
                    source: fact(name),
                    reason,
                    by: Writer::Service,
                });
                self.issued += 40;
            }
            3 if has(AccountKind::Points) >= 20 => {
                service.done(buy(service, fan, pack(service, "day").id, 2));
                self.copies += 2;
            }
            4 if self.opened < self.copies => {
                let opening = open(service, fan, pack(service, "day").id, None);
                self.opened += i64::from(service.run(service.app().execute(opening)).is_ok());
            }
            5 if has(AccountKind::Points) >= 20 && self.badges < BADGES => {
                self.badges += 1;
                put(service, fan, "badge", 1);
                self.placed += 1;
                self.paid.push(service.done(checkout(service, fan)).order);
            }
            6 if self.pending.is_empty() => {
                let can_mix = has(AccountKind::Points) >= 5 && has(AccountKind::Coins) >= 5;
                let product = if can_mix { "bundle" } else { "purse" };
                if product == "purse" && self.purses == PURSES {
                    return;
                }
                self.purses += usize::from(product == "purse");
                put(service, fan, product, 1);
                self.placed += 1;
                self.pending.push(begin(service, fan));
            }
            7 => {
                if let Some(order) = self.pending.pop() {
                    notify(service, NoticeKind::Paid, &order);
                    self.earned[0] += order.paid_by.card;
                    self.paid.push(order);
                }
            }
            8 => {
                if let Some(order) = self.paid.pop() {
                    service.done(FulfilOrder { order: order.id, line: None, fulfilment: Fulfilment::Refund });
                    self.earned[1] += order.paid_by.card;
                }
            }
            _ => {
                let source = format!("gift/{name}");
                moved(service, coins(Holder::House(House::Issuance), Holder::Fan(fan), 7, &source));
            }
        }
    }
}

fn the_parts_of_a_report_add_up_after_any_history(kind: DatabaseKind) -> Result<()> {
    let mut world = World::new(kind)?;
    let first = world.service.clock().now();
    let mut ends = vec![first];
    for round in 0..3 {
        (0..40).for_each(|n| world.act(&format!("{round}/{n}")));
        world.service.clock().advance(Duration::from_secs(1));
        ends.push(world.service.clock().now());
    }
    let service = &world.service;
    let mut before: Option<Balances> = None;
    for period in ends.windows(2) {
        let report = read(service, period[0], period[1], None);
        adds_up(&report);
        let now = balances(&report);
        // A period begins with what the one before it ended with.
        for (account, (_, closing)) in before.iter().flatten() {
            assert_eq!(now.get(account).map(|(opening, _)| opening), Some(closing), "{account:?}");
        }
        before = Some(now);
    }
    let whole = read(service, first, ends[3], None);
    adds_up(&whole);
    let closing = |account: &str, unit: &str| {
        balances(&whole).get(&(account.to_owned(), unit.to_owned())).map_or(0, |(_, closing)| *closing)
    };
    for kind in [AccountKind::Points, AccountKind::Coins, AccountKind::Money(Currency::EUR)] {
        let owed: i64 = world.fans.iter().map(|fan| balance(service, *fan, kind)).sum();
        assert_eq!(closing("fans", &kind.to_string()), owed, "{kind}");
    }
    let total = |section, item, unit| figure(&whole, section, item, unit);
    assert_eq!(total("movements", "issued", "points"), world.issued);
    assert_eq!(total("packs", "sold", "copies"), world.copies);
    assert_eq!(total("packs", "opened", "copies"), world.opened);
    assert_eq!(of(&whole, "orders").iter().map(|state| state.amount).sum::<i64>(), world.placed);
    let [earned, refunded] = world.earned;
    assert_eq!(total("revenue", "orders", "EUR"), earned);
    assert_eq!(total("revenue", "refunds of orders", "EUR"), -refunded);
    assert!(earned > 0 && refunded > 0 && world.opened > 0, "the history is too short");
    Ok(())
}

fn a_report_counts_the_fans_of_a_team_only(kind: DatabaseKind) -> Result<()> {
    let (service, _cashier) = payments::paid_shop(kind)?;
    products::load(&service, PRODUCTS);
    let start = service.clock().now();
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let foxes = service.team("foxes");
    favour(&service, mia, Some(foxes));
    for (fan, amount) in [(mia, 50), (bo, 70)] {
        service.done(AwardPoints { team: None, ..award(&service, fan, amount, "game") });
        give_coins(&service, fan, 5);
        // Paid by card: a transfer between accounts of the service, which belongs to the fan who ordered.
        put(&service, fan, "purse", 1);
        let order = begin(&service, fan);
        notify(&service, NoticeKind::Paid, &order);
        if fan == mia {
            service.done(FulfilOrder { order: order.id, line: None, fulfilment: Fulfilment::Refund });
        }
    }
    service.done(VisitDaily { user: bo, awards: service.app().awards() });
    service.clock().advance(Duration::from_secs(1));
    let end = service.clock().now();
    let (all, own) = (read(&service, start, end, None), read(&service, start, end, Some("foxes")));
    adds_up(&all);
    adds_up(&own);
    let both = |section, item, unit| [&all, &own].map(|report| figure(report, section, item, unit));
    assert_eq!(both("fans", "new", "fans"), [2, 1]);
    assert_eq!(both("fans", "active", "fans"), [2, 1]);
    assert_eq!(figure(&own, "accounts", "fans", "points"), balance(&service, mia, AccountKind::Points));
    let [earned, of_mia] = both("revenue", "orders", "EUR");
    assert!(of_mia > 0 && earned == 2 * of_mia, "{earned} {of_mia}");
    assert_eq!(both("revenue", "refunds of orders", "EUR"), [-of_mia, -of_mia]);
    assert!(own.not_attributed.is_some() && all.not_attributed.is_none());
    let unknown = ReadOperatorReport { from: start, to: end, team: Some("nobody".to_owned()) };
    assert_eq!(service.not_found(unknown), UnknownTeam);
    Ok(())
}

fn a_report_of_an_empty_period_has_no_flows(kind: DatabaseKind) -> Result<()> {
    let (service, _cashier) = payments::paid_shop(kind)?;
    let start = service.clock().now();
    let fan = service.fan("mia").id;
    service.done(award(&service, fan, 50, "game"));
    service.clock().advance(Duration::from_secs(1));
    let later = service.clock().now();
    let empty = read(&service, later, later, None);
    adds_up(&empty);
    assert!(of(&empty, "flows").is_empty() && of(&empty, "movements").is_empty());
    assert_eq!(balances(&empty)[&("fans".to_owned(), "points".to_owned())], (50, 50));
    // Before there was anything, there is no account.
    assert!(of(&read(&service, start, start, None), "accounts").is_empty());
    Ok(())
}

fn spec_7_wheels_are_reported_beside_their_expected_payout(kind: DatabaseKind) -> Result<()> {
    let (service, _cashier) = payments::paid_shop(kind)?;
    wheels::load(&service, WHEELS);
    let start = service.clock().now();
    let fans = ["mia", "bo_", "ada"].map(|name| service.fan(name).id);
    favour(&service, fans[0], Some(service.team("foxes")));
    give_coins(&service, fans[0], 100);
    let mut given: BTreeMap<&str, i64> = BTreeMap::new();
    for fan in fans {
        let grant = wheels::spin(&service, fan, "daily", true).expect("a free spin").spin.grant;
        *given.entry(grant.kind().as_str()).or_default() += grant.amount();
    }
    let packs = (0..4).map(|_| wheels::spin(&service, fans[0], "lucky", false).expect("a spin").spin.grant);
    let packs: i64 = packs.map(Grant::amount).sum();
    assert!(packs > 0, "pity gives a pack at the third spin");
    service.clock().advance(Duration::from_secs(1));
    let end = service.clock().now();
    let (all, own) = (read(&service, start, end, None), read(&service, start, end, Some("foxes")));
    adds_up(&all);
    let both = |item, unit| [&all, &own].map(|report| figure(report, "wheels", item, unit));
    assert_eq!(both("daily: free", "spins"), [3, 1]);
    assert_eq!(both("daily: paid", "spins"), [0, 0]);
    let coins = given.get("coins").copied().unwrap_or_default();
    assert_eq!(both("daily: given", "coins")[0], coins);
    assert_eq!(both("daily: given", "points")[0], given.get("points").copied().unwrap_or_default());
    // A half of 5 coins and a quarter of 7 points, three times and once; halves go to the even number.
    assert_eq!(both("daily: expected", "coins"), [8, 2]);
    assert_eq!(both("daily: expected", "points"), [5, 2]);
    assert_eq!(both("lucky: paid", "spins"), [4, 4]);
    assert_eq!(both("lucky: taken", "coins"), [40, 40]);
    assert_eq!(both("lucky: given", "pack"), [packs, packs]);
    assert_eq!(both("lucky: expected", "pack"), [1, 1]);
    // A wheel that was not spun has no figures, and neither has one in another period.
    assert!(of(&all, "wheels").iter().all(|figure| !figure.item.starts_with("once")));
    assert!(of(&read(&service, end, end.plus(Duration::from_secs(1)), None), "wheels").is_empty());
    Ok(())
}

fn spec_7_awards_of_trivia_are_reported(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = trivia::started(kind, &["mia", "bo_"])?;
    let start = service.clock().now();
    let live = trivia::round(&service, "live");
    trivia::join(&service, &live, &fans);
    trivia::at(&service, &live, 0, Duration::from_secs(1));
    let question = trivia::live(&live, 0);
    trivia::right(&service, &live, fans[0], &question);
    trivia::answer(&service, &live, fans[1], &question, trivia::wrong(&question)).expect("an answer");
    service.clock().set(live.closes_at);
    service.run(advance_trivia(service.app()))?;
    service.clock().advance(Duration::from_secs(1));
    let report = read(&service, start, service.clock().now(), None);
    adds_up(&report);
    let total = |item, unit| figure(&report, "trivia", item, unit);
    assert_eq!((total("joined", "players"), total("answered", "answers")), (2, 2));
    assert_eq!(total("awarded", "players"), 1);
    let points = balance(&service, fans[0], AccountKind::Points);
    assert!(points > 0);
    assert_eq!(total("awarded", "points"), points);
    assert_eq!(figure(&report, "movements", "issued", "points"), points);
    // Before the round, there is nothing.
    assert!(of(&read(&service, start, start, None), "trivia").iter().all(|figure| figure.amount == 0));
    Ok(())
}
