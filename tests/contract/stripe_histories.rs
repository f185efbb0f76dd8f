//! Contract part 2 §3, random histories of orders at Stripe (spec §1, shop): requests whose answers are lost or stored, events that
//! come late, often and in any order, processes that stop in mid-request, refunds that come back, and disputes. Each ends in one state, and
//! both journals say the same.

use super::carts::put;
use super::ledger::{balance, in_order};
use super::orders::{give_points, holds_fit, now, refunds, transferred};
use super::packs::give_coins;
use super::products::shop_of;
use super::stripe::{deliver, place};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::App;
use terrace_testkit::app::payments::{Payable, RefundState};
use terrace_testkit::app::shop::{FulfilOrder, Fulfilment, ShownOrder};
use terrace_testkit::app::store::StoredAnswer;
use terrace_testkit::ledger::AccountKind;
use terrace_testkit::ops;
use terrace_testkit::shop::{Order, OrderLine, OrderLineId, OrderState};
use terrace_testkit::{DatabaseKind, StripeEvent, StripeStandIn, TestApp, on_each_database};

on_each_database! {
    spec_3_rule_4_random_histories_at_stripe_end_in_one_state_and_both_journals_agree,
}

/// On each database; a thousand on both.
const HISTORIES: usize = 500;
/// Steps of each history.
const ROUNDS: usize = 8;
/// Of a hundred requests to Stripe, so many fail.
const FAILING: u32 = 20;
/// Requests at a time.
const AT_ONCE: usize = 32;

/// Numbers that a seed repeats.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap_or(0) % below
    }
}

/// What a fan or an operator does in a step.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Begin,
    Ask,
    Cancel,
    Refund(Option<OrderLineId>),
    Retry,
}

fn shown(shown: &ShownOrder) -> StoredAnswer {
    StoredAnswer { created: None, body: shown.order.checkout_url.clone().unwrap_or_default() }
}

/// Does it. A process that stops forgets what it was waiting for: it is given up after so many steps of its work.
async fn carry_out(app: Arc<App>, order: Order, deed: Deed, stops: bool) {
    let work = async {
        match deed {
            Deed::Begin => drop(app.begin_order_checkout(order.user, order.id, None, None, shown).await),
            Deed::Ask => drop(app.complete_order(order.user, order.id).await),
            Deed::Cancel => drop(app.cancel_order(order.user, order.id).await),
            Deed::Refund(line) => {
                drop(
                    app.fulfil_order(FulfilOrder { order: order.id, line, fulfilment: Fulfilment::Refund })
                        .await,
                );
            }
            Deed::Retry => drop(app.retry_refunds(order.id.into()).await),
        }
    };
    if stops {
        // Ends the work wherever it waits: for the database, for Stripe, or between both.
        let _ = tokio::time::timeout(Duration::from_micros(1500), work).await;
    } else {
        work.await;
    }
}

fn in_portions<F>(service: &TestApp, works: Vec<F>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut works = works.into_iter().peekable();
    while works.peek().is_some() {
        service.together(works.by_ref().take(AT_ONCE).collect::<Vec<_>>());
    }
}

/// Delivers these events in any order, some of them twice; returns those that were not accepted.
fn deliver_some(
    service: &TestApp,
    stand_in: &Arc<StripeStandIn>,
    mut events: Vec<StripeEvent>,
    dice: &mut Dice,
) -> Vec<StripeEvent> {
    for place in (1..events.len()).rev() {
        events.swap(place, dice.roll(place + 1));
    }
    let later = if events.len() > 4 { events.split_off(events.len() - events.len() / 4) } else { Vec::new() };
    let mut works = Vec::new();
    for event in &events {
        for _ in 0..=usize::from(dice.roll(4) == 0) {
            let (app, event) = (Arc::clone(service.app()), event.clone());
            let stand_in = Arc::clone(stand_in);
            works.push(async move {
                let accepted = deliver(&app, &stand_in, &event).await.is_ok();
                (!accepted).then_some(event)
            });
        }
    }
    let mut left = later;
    let mut works = works.into_iter().peekable();
    while works.peek().is_some() {
        left.extend(service.together(works.by_ref().take(AT_ONCE).collect::<Vec<_>>()).into_iter().flatten());
    }
    left
}

/// Fans with an order each, for which nothing was asked yet.
fn orders(service: &TestApp) -> Vec<Order> {
    let order = |nth: usize| {
        let fan = service.fan(&format!("fan{nth}")).id;
        give_points(service, fan, 5);
        give_coins(service, fan, 5);
        put(service, fan, "purse", 1 + u32::try_from(nth % 3).unwrap_or(0));
        if nth.is_multiple_of(2) {
            put(service, fan, "bundle", 1);
        }
        place(service, fan)
    };
    (0..HISTORIES).map(order).collect()
}

/// The orders of which a refund has failed.
fn failed_refunds(service: &TestApp, orders: &[Order]) -> BTreeSet<Payable> {
    let all: Vec<Payable> = orders.iter().map(|order| order.id.into()).collect();
    let refunds = service.ask(move |tx| tx.refunds(&all)).into_iter();
    refunds.filter(|refund| refund.state == RefundState::Failed).map(|refund| refund.payable).collect()
}

/// What buyers, banks and operators do meanwhile, outside of the service.
fn outside(stand_in: &StripeStandIn, order: &Order, dice: &mut Dice) {
    let Some(url) = &order.checkout_url else { return };
    if dice.roll(2) == 0 {
        stand_in.pay(url);
    }
}

fn aftermath(stand_in: &StripeStandIn, url: &str, dice: &mut Dice) {
    match dice.roll(16) {
        0 => drop(stand_in.dispute(url)),
        1 => drop(stand_in.decide_dispute(url, true)),
        2 => drop(stand_in.decide_dispute(url, false)),
        3 => drop(stand_in.return_refund(url)),
        4 => drop(stand_in.refund_in_dashboard(url)),
        5 | 6 => drop(stand_in.pay(url)),
        _ => {}
    }
}

fn deed(order: &Order, dice: &mut Dice) -> Deed {
    match dice.roll(10) {
        0..=3 => Deed::Begin,
        4 | 5 => Deed::Ask,
        6 => Deed::Cancel,
        7 => Deed::Refund(order.lines.get(dice.roll(order.lines.len())).map(|line| line.id)),
        8 => Deed::Refund(None),
        _ => Deed::Retry,
    }
}

fn spec_3_rule_4_random_histories_at_stripe_end_in_one_state_and_both_journals_agree(
    kind: DatabaseKind,
) -> Result<()> {
    let stand_in = Arc::new(StripeStandIn::start()?);
    let provider = stand_in.provider();
    let service = TestApp::adjusted_and_paid_to(kind, |storage, _| storage.run_twice = false, provider)?;
    let mut service = shop_of(service);
    stand_in.follow(service.clock().clone());
    let mut dice = Dice(0x5EED_0000_0000_0007 ^ u64::from(kind == DatabaseKind::Sqlite));
    let placed = orders(&service);
    // The pages that buyers have seen: what is paid there is paid also after the order has forgotten its page.
    let mut pages: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut events: Vec<StripeEvent> = Vec::new();
    stand_in.fail(FAILING, 11);
    for round in 0..ROUNDS {
        let mut works = Vec::new();
        for (nth, order) in placed.iter().enumerate() {
            let current = now(&service, order.id);
            if let Some(url) = &current.checkout_url {
                let seen = pages.entry(nth).or_default();
                if !seen.contains(url) {
                    seen.push(url.clone());
                }
            }
            outside(&stand_in, &current, &mut dice);
            if let Some(url) = pages.get(&nth).and_then(|seen| seen.last()) {
                aftermath(&stand_in, url, &mut dice);
            }
            let what = if round == 0 { Deed::Begin } else { deed(&current, &mut dice) };
            works.push(carry_out(Arc::clone(service.app()), current, what, dice.roll(4) == 0));
        }
        in_portions(&service, works);
        stand_in.process_refunds(round % 3 == 1);
        stand_in.expire_sessions();
        events.extend(stand_in.take_events());
        events = deliver_some(&service, &stand_in, events, &mut dice);
        if round % 2 == 1 {
            service.clock().advance(Duration::from_mins(9));
            // Two processes reconcile at once, and one of them is a new one.
            let other = service.another()?;
            let works: Vec<_> = [Arc::clone(service.app()), Arc::clone(other.app())]
                .into_iter()
                .map(|app| async move { drop(ops::reconcile(&app).await) })
                .collect();
            service.together(works);
            service = other;
        }
    }
    // Everything answers again, and what waits is done.
    stand_in.fail(0, 1);
    stand_in.process_refunds(false);
    for round in 0..32 {
        service.clock().advance(Duration::from_hours(if round < 4 { 1 } else { 2 }));
        stand_in.expire_sessions();
        stand_in.finish_refunds();
        for url in pages.values().flatten() {
            stand_in.decide_dispute(url, round % 2 == 0);
        }
        events.extend(stand_in.take_events());
        events = deliver_some(&service, &stand_in, events, &mut dice);
        let failed = failed_refunds(&service, &placed);
        let works: Vec<_> = placed
            .iter()
            .filter(|order| failed.contains(&order.id.into()))
            .map(|order| carry_out(Arc::clone(service.app()), order.clone(), Deed::Retry, false))
            .collect();
        let retried = works.len();
        in_portions(&service, works);
        let report = service.run(ops::reconcile(service.app()))?;
        let is_open = report.looked_at > 0 || retried > 0 || !events.is_empty();
        if !is_open && round > 14 {
            break;
        }
    }
    for (nth, order) in placed.iter().enumerate() {
        ends_well(&service, &stand_in, order, nth);
    }
    in_order(&service);
    Ok(())
}

fn ends_well(service: &TestApp, stand_in: &StripeStandIn, order: &Order, nth: usize) {
    let after = now(service, order.id);
    let moved = stand_in.movements(&format!("order_{}", order.id));
    let made = refunds(service, order.id);
    assert!(made.iter().all(|refund| refund.state == RefundState::Given), "{nth}: {made:?}");
    let paid = transferred(service, "payment", order.id.as_uuid()).unwrap_or(0);
    let returned: i64 = made.iter().filter_map(|one| transferred(service, "refund", one.id.as_uuid())).sum();
    assert_eq!((paid, returned), (moved.paid, moved.returned), "{nth}: {after:?} {made:?}");
    assert!(moved.payments <= 1 && returned <= paid, "{nth}: {moved:?}");
    match after.state {
        OrderState::Completed => assert!(returned < paid, "{nth}"),
        OrderState::Refunded => assert_eq!(returned, paid, "{nth}"),
        OrderState::Expired | OrderState::Cancelled => assert_eq!((paid, returned), (0, 0), "{nth}"),
        OrderState::Pending | OrderState::Paid => panic!("{nth}: {after:?}"),
    }
    holds_fit(service, order.id);
    keeps_what_is_due(service, &after, nth);
}

/// Points and coins of the fan are what the lines that are left have cost and granted.
fn keeps_what_is_due(service: &TestApp, order: &Order, nth: usize) {
    let is_kept = |line: &&OrderLine| order.state == OrderState::Completed && line.refund.is_none();
    let sum = |of: &dyn Fn(&OrderLine) -> i64| order.lines.iter().filter(is_kept).map(of).sum::<i64>();
    let granted = |line: &OrderLine| line.grants.iter().map(|grant| grant.amount()).sum::<i64>();
    let (points, coins) = (sum(&|line| line.total().points), sum(&|line| line.total().coins - granted(line)));
    let has = [AccountKind::Points, AccountKind::Coins].map(|kind| balance(service, order.user, kind));
    assert_eq!(has, [5 - points, 5 - coins], "{nth}");
}
