//! Refunds of orders: which lines, and what goes back in each kind.
//!
//! A payment is divided among the lines and the shipping when it is made: points and coins of a line are those of its price,
//! and its money comes from the balance and the card in the proportion of the whole order. The division is the same for every
//! refund, whatever was refunded before, so that the refunds of all lines return exactly what was paid in each kind.

use crate::{LineState, Order, OrderLine, OrderLineId, OrderState, PaidBy, RefundId, VariantId, units};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Currency, GrantSource, UnknownName};

/// The state of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefundState {
    /// Requested from the provider, with retries, until the provider confirms it.
    Owed,
    /// The fan has it.
    Given,
    /// The provider could not deliver it; an operator has it requested again.
    Failed,
}

impl RefundState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Owed, Self::Given, Self::Failed];

    /// The stable name, as used in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Given => "given",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for RefundState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RefundState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// What a refund of some lines of an order does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundPlan {
    /// The lines, which are revoked; none of them was revoked before.
    pub lines: Vec<OrderLineId>,
    /// What goes back in each kind.
    pub parts: PaidBy,
    /// Whether the price of the shipping is part of it: it goes back with the last line.
    pub with_shipping: bool,
    /// The lines whose grants are taken back.
    pub given: Vec<GrantSource>,
    /// The units that return to the stock, in the order of the ids of the variants. What was sent stays taken.
    pub units: Vec<(VariantId, u32)>,
}

/// Why lines are not refunded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefundRefusal {
    /// The order has no such line.
    #[error("the order has no such line")]
    UnknownLine,
    /// The line was refunded before.
    #[error("the line was refunded before")]
    Revoked,
}

/// The smallest unit in which card providers move money of a currency, in its minor units: of three decimal places the last
/// one is zero.
fn card_step(currency: Option<Currency>) -> i64 {
    if currency.and_then(|currency| currency.decimals()) == Some(3) { 10 } else { 1 }
}

/// `part` of `whole`, of `total`, rounded half to even to multiples of `step`.
fn share(part: i64, whole: i64, total: i64, step: i64) -> i64 {
    if total == 0 {
        return 0;
    }
    let (product, divisor) = (i128::from(part) * i128::from(whole), i128::from(total) * i128::from(step));
    let (quotient, rest) = (product.div_euclid(divisor), product.rem_euclid(divisor));
    let up = match (rest * 2).cmp(&divisor) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => quotient % 2 != 0,
        std::cmp::Ordering::Greater => true,
    };
    i64::try_from((quotient + i128::from(up)) * i128::from(step)).unwrap_or(whole)
}

impl Order {
    /// What was, or is to be, paid for each line, and for the shipping. The sums are what is paid in each kind.
    pub fn shares(&self) -> (Vec<PaidBy>, PaidBy) {
        let shipping = self.shipping.as_ref().map_or(0, |shipping| shipping.amount);
        let money: Vec<i64> = self.lines.iter().map(|line| line.total().money).chain([shipping]).collect();
        let total: i64 = money.iter().fold(0, |sum, part| sum.saturating_add(*part));
        let step = card_step(self.currency);
        let fits = money.iter().chain([&self.paid_by.card]).all(|amount| amount % step == 0);
        let step = if fits { step } else { 1 };
        let (mut due, mut by_card) = (0_i64, 0_i64);
        // The share of all lines so far is rounded, not that of each line: the differences add up.
        let mut cards = money.iter().map(|part| {
            due = due.saturating_add(*part);
            let card = share(due, self.paid_by.card, total, step).saturating_sub(by_card);
            by_card = by_card.saturating_add(card);
            (card, part.saturating_sub(card))
        });
        let of_line = |line: &OrderLine| {
            let total = line.total();
            let (card, balance) = cards.next().unwrap_or_default();
            PaidBy { points: total.points, coins: total.coins, balance, card }
        };
        let lines = self.lines.iter().map(of_line).collect();
        let (card, balance) = cards.next().unwrap_or_default();
        (lines, PaidBy { balance, card, ..PaidBy::default() })
    }

    /// The refund of these lines of a paid order, or of all that were not revoked.
    pub fn refund_of(&self, lines: Option<&[OrderLineId]>) -> Result<RefundPlan, RefundRefusal> {
        for id in lines.unwrap_or_default() {
            let line = self.lines.iter().find(|line| line.id == *id).ok_or(RefundRefusal::UnknownLine)?;
            if line.state == LineState::Revoked {
                return Err(RefundRefusal::Revoked);
            }
        }
        let is_open = |line: &OrderLine| line.state != LineState::Revoked;
        let is_meant = |line: &OrderLine| is_open(line) && lines.is_none_or(|lines| lines.contains(&line.id));
        let with_shipping = self.lines.iter().all(|line| !is_open(line) || is_meant(line));
        let (shares, of_shipping) = self.shares();
        let meant: Vec<(&OrderLine, PaidBy)> =
            self.lines.iter().zip(shares).filter(|(line, _)| is_meant(line)).collect();
        let start = if with_shipping { of_shipping } else { PaidBy::default() };
        let given =
            meant.iter().filter(|(line, _)| line.state == LineState::Delivered && !line.grants.is_empty());
        let unsent = meant.iter().filter(|(line, _)| line.shipment.is_none());
        Ok(RefundPlan {
            lines: meant.iter().map(|(line, _)| line.id).collect(),
            parts: meant.iter().fold(start, |sum, (_, share)| sum.and(*share)),
            with_shipping,
            given: given.map(|(line, _)| line.source()).collect(),
            units: units(unsent.map(|(line, _)| (line.variant, line.quantity))),
        })
    }

    /// The refund of an order that was not paid when its money came: only that money goes back, because nothing else was
    /// taken. `takes_stock` is whether the order still takes its units from the stock.
    pub fn refund_of_late_money(&self, takes_stock: bool) -> RefundPlan {
        RefundPlan {
            lines: self.lines.iter().map(|line| line.id).collect(),
            parts: PaidBy { card: self.paid_by.card, ..PaidBy::default() },
            with_shipping: true,
            given: Vec::new(),
            units: if takes_stock { self.taken() } else { Vec::new() },
        }
    }

    /// The state after a refund of lines; `None` if it stays. An order with no line to send or on its way is completed, and
    /// one without a line is refunded.
    pub fn state_after_refund(&self) -> Option<OrderState> {
        let any = |states: &[LineState]| self.lines.iter().any(|line| states.contains(&line.state));
        if !any(&[LineState::Waiting, LineState::Shipped, LineState::Delivered]) {
            return Some(OrderState::Refunded);
        }
        let is_over = self.state == OrderState::Paid && !any(&[LineState::Waiting, LineState::Shipped]);
        is_over.then_some(OrderState::Completed)
    }

    /// The tax in what a refund returned, by rate.
    pub fn refunded_taxes(&self, refund: RefundId, with_shipping: bool) -> BTreeMap<u32, i64> {
        let is_part = |line: &&OrderLine| line.refund == Some(refund);
        crate::order::taxes(
            self.lines.iter().filter(is_part),
            self.shipping.as_ref().filter(|_| with_shipping),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, OrderId, OrderShipping, PriceId, ProductId, ProductKind, Shipment, Shipping};
    use proptest::prelude::*;
    use terrace_kernel::{Price, PriceKind, PricePart, Timestamp, UserId, Uuid};

    fn line(nth: u128, quantity: u32, (points, coins, money): (i64, i64, i64), code: &str) -> OrderLine {
        let part = |kind, amount, currency: Option<Currency>| {
            (amount > 0).then(|| PricePart::new(kind, amount, currency).unwrap())
        };
        let parts = [
            part(PriceKind::Points, points, None),
            part(PriceKind::Coins, coins, None),
            part(PriceKind::Money, money, code.parse().ok()),
        ];
        let unit = Price::new(parts.into_iter().flatten().collect()).unwrap();
        let tax = crate::tax_inside(money * i64::from(quantity), 1900);
        OrderLine {
            id: OrderLineId::from_uuid(Uuid::from_u128(nth)),
            product: ProductId::from_uuid(Uuid::from_u128(1)),
            variant: VariantId::from_uuid(Uuid::from_u128(nth)),
            price: PriceId::from_uuid(Uuid::from_u128(1)),
            name: "Thing".to_owned(),
            kind: ProductKind::Digital,
            quantity,
            unit,
            tax_rate: 1900,
            tax,
            grants: Vec::new(),
            state: LineState::Delivered,
            shipment: None,
            refund: None,
        }
    }

    fn order(lines: Vec<OrderLine>, shipping: i64, balance: i64, code: &str) -> Order {
        let totals = lines.iter().fold(crate::Amounts::default(), |sum, line| sum.and(line.total()));
        let totals = crate::Amounts { money: totals.money + shipping, ..totals };
        let currency: Currency = code.parse().unwrap();
        let address = Address {
            name: "Mia".to_owned(),
            line1: "Way 1".to_owned(),
            line2: None,
            postal_code: "1".to_owned(),
            city: "Town".to_owned(),
            region: None,
            country: "DE".parse().unwrap(),
        };
        let shipping = (shipping > 0).then(|| OrderShipping {
            shipping: Shipping { method: "post".parse().unwrap(), address },
            name: "Post".to_owned(),
            amount: shipping,
            tax_rate: 1900,
            tax: crate::tax_inside(shipping, 1900),
        });
        Order {
            id: OrderId::from_uuid(Uuid::from_u128(9)),
            user: UserId::from_uuid(Uuid::from_u128(8)),
            state: OrderState::Completed,
            lines,
            shipping,
            paid_by: PaidBy::of(totals, balance, Some(currency)),
            currency: Some(currency),
            checkout_url: None,
            created_at: Timestamp::from_micros(0),
            expires_at: None,
            paid_at: Some(Timestamp::from_micros(1)),
            changed_at: Timestamp::from_micros(1),
        }
    }

    /// Refunds the lines one by one in this order, and returns what went back.
    fn refund_each(order: &mut Order, sequence: &[usize]) -> (PaidBy, i64) {
        let (mut sum, mut tax) = (PaidBy::default(), 0);
        for (nth, place) in sequence.iter().enumerate() {
            let id = order.lines[*place].id;
            let plan = order.refund_of(Some(&[id])).unwrap();
            assert_eq!(plan.with_shipping, nth + 1 == sequence.len());
            let all = [plan.parts.points, plan.parts.coins, plan.parts.balance, plan.parts.card];
            assert!(all.into_iter().all(|part| part >= 0), "{all:?}");
            sum = sum.and(plan.parts);
            let refund = RefundId::from_uuid(Uuid::from_u128(100 + u128::try_from(nth).unwrap()));
            order.lines[*place].state = LineState::Revoked;
            order.lines[*place].refund = Some(refund);
            tax += order.refunded_taxes(refund, plan.with_shipping).values().sum::<i64>();
            assert_eq!(order.refund_of(Some(&[id])), Err(RefundRefusal::Revoked));
        }
        (sum, tax)
    }

    proptest! {
        #[test]
        fn the_refunds_of_all_lines_return_exactly_what_was_paid(
            prices in prop::collection::vec((0..50_i64, 0..50_i64, 1..100_000_i64, 1..=20_u32), 1..8),
            shipping in 0..2_000_i64,
            balance in 0..1_000_000_i64,
            code in prop::sample::select(vec!["EUR", "JPY", "BHD", "UGX", "ISK"]),
            seed in any::<u64>(),
        ) {
            let step = if code == "BHD" { 10 } else { 1 };
            let lines = prices.iter().zip(1..).map(|((points, coins, money, quantity), nth)| {
                line(nth, *quantity, (*points, *coins, *money * step), code)
            });
            let mut order = order(lines.collect(), shipping * step, balance, code);
            let mut sequence: Vec<usize> = (0..order.lines.len()).collect();
            sequence.sort_by_key(|place| seed.rotate_left(u32::try_from(*place).unwrap() * 7) % 97);
            prop_assert_eq!(order.paid_by.card % step, 0);
            let (shares, _) = order.shares();
            prop_assert!(shares.iter().all(|share| share.card % step == 0));
            let (paid, taxes) = (order.paid_by, order.taxes().values().sum::<i64>());
            let (returned, tax) = refund_each(&mut order, &sequence);
            prop_assert_eq!(returned, paid);
            prop_assert_eq!(tax, taxes);
        }
    }

    #[test]
    fn a_refund_has_the_lines_that_are_asked_for() {
        let mut order =
            order(vec![line(1, 3, (1, 0, 100), "JPY"), line(2, 1, (0, 2, 50), "JPY")], 10, 36, "JPY");
        // Of 360 yen a tenth came from the balance.
        let first = order.refund_of(Some(&[order.lines[0].id])).unwrap();
        assert_eq!(first.parts, PaidBy { points: 3, coins: 0, balance: 30, card: 270 });
        assert!(!first.with_shipping);
        assert_eq!(first.units, [(order.lines[0].variant, 3)]);
        let unknown = OrderLineId::from_uuid(Uuid::from_u128(77));
        assert_eq!(order.refund_of(Some(&[unknown])), Err(RefundRefusal::UnknownLine));
        let all = order.refund_of(None).unwrap();
        assert_eq!((all.parts, all.with_shipping), (order.paid_by, true));
        // What was sent stays taken.
        order.lines[0].shipment =
            Some(Shipment { carrier: None, tracking: None, at: Timestamp::from_micros(2) });
        assert_eq!(order.refund_of(None).unwrap().units, [(order.lines[1].variant, 1)]);
        order.lines[0].state = LineState::Revoked;
        let rest = order.refund_of(None).unwrap();
        assert_eq!(rest.parts, PaidBy { points: 0, coins: 2, balance: 6, card: 54 });
        assert_eq!(rest.lines, [order.lines[1].id]);
    }

    #[test]
    fn the_lines_that_are_left_decide_the_state() {
        use LineState::{Delivered, Revoked, Shipped, Waiting};
        for (from, states, to) in [
            (OrderState::Paid, [Waiting, Revoked], None),
            (OrderState::Paid, [Shipped, Revoked], None),
            (OrderState::Paid, [Delivered, Revoked], Some(OrderState::Completed)),
            (OrderState::Completed, [Delivered, Revoked], None),
            (OrderState::Completed, [Revoked, Revoked], Some(OrderState::Refunded)),
            (OrderState::Paid, [Revoked, Revoked], Some(OrderState::Refunded)),
        ] {
            let mut order =
                order(vec![line(1, 1, (0, 0, 1), "EUR"), line(2, 1, (0, 0, 1), "EUR")], 0, 0, "EUR");
            order.state = from;
            order.lines.iter_mut().zip(states).for_each(|(line, state)| line.state = state);
            assert_eq!(order.state_after_refund(), to, "{from} {states:?}");
        }
    }

    #[test]
    fn states_of_refunds_are_read_as_they_are_written() {
        for state in RefundState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
    }
}
