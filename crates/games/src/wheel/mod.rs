//! Wheels: their odds, their draws, and the conditions of a spin.

mod content;
mod proof;
mod terms;

pub use content::{KnownWheels, SegmentDraft, WheelDraft, WheelError, WheelProblem, Wheels, plan_wheels};
pub use proof::{MalformedSpinTable, SpinFault, SpinProof, SpinTable, verify_spin};
pub use terms::{FreeSpin, SpinRefusal, may_spin};

use crate::{SegmentKey, WheelId, WheelKey};
use terrace_draws::{ClientSeed, ServerSeed};
use terrace_kernel::{Grant, GrantKind, PriceKind, Timestamp, num};

/// The largest weight of a segment.
pub const MOST_WEIGHT: u32 = 1_000_000;

/// A wheel that fans spin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wheel {
    /// Identifies the wheel; it stays the same when the content changes.
    pub id: WheelId,
    /// The key, which identifies the wheel across versions of the content.
    pub key: WheelKey,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// 2 to 50 segments, in the order in which their weights are accumulated.
    pub segments: Vec<Segment>,
    /// What a spin costs that is not free; `None` if only free spins exist.
    pub price: Option<SpinPrice>,
    /// Whether a fan has one free spin on each local date.
    pub has_free_spin: bool,
    /// The guarantee after spins without luck.
    pub pity: Option<Pity>,
    /// How many spins a fan has on a local date, free ones included; `None` without limit.
    pub daily_limit: Option<u32>,
    /// The first instant at which it can be spun.
    pub opens_at: Option<Timestamp>,
    /// The first instant at which it cannot be spun any more.
    pub closes_at: Option<Timestamp>,
    /// Whether the content does not contain it any more.
    pub is_retired: bool,
}

/// A segment of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Unique in the wheel; what the segment gave is counted under it.
    pub key: SegmentKey,
    /// What fans read: one line of 1 to 60 characters.
    pub label: String,
    /// What it gives.
    pub grant: Grant,
    /// Its weight among the segments, 1 to [`MOST_WEIGHT`].
    pub weight: u32,
    /// How often it gives its grant to all fans together; `None` without limit.
    pub stock: Option<u32>,
    /// What it gives once its stock is used up, or where its grant cannot be delivered: coins or nothing.
    pub substitute: Option<Grant>,
}

/// The price of a spin, in points or coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpinPrice {
    /// Points or coins, never money.
    pub kind: PriceKind,
    /// 1 to 1,000,000,000.
    pub amount: i64,
}

/// A guarantee: after some spins in a row that gave none of its segments, the next spin gives one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pity {
    /// The spins in a row without one of the segments, 1 to 1,000.
    pub after: u32,
    /// The segments, in the order of the wheel; neither none nor all of them.
    pub segments: Vec<SegmentKey>,
}

/// The outcome of a spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spun {
    /// Index of the segment.
    pub segment: usize,
    /// Whether the guarantee narrowed the table.
    pub is_guaranteed: bool,
    /// The spins in a row without a segment of the guarantee, this one included.
    pub pity_count: u32,
}

impl Wheel {
    /// The table of the draw: the part of the wheel that decides outcomes.
    pub fn table(&self) -> SpinTable {
        let rows = self.segments.iter().map(|segment| (segment.key.clone(), segment.weight)).collect();
        SpinTable { rows, pity: self.pity.clone() }
    }

    /// Draws a segment. `nonce` counts the fan's spins of this wheel from 1, and `pity_count` the last ones in a row that
    /// gave no segment of the guarantee.
    pub fn spin(&self, seed: &ServerSeed, client_seed: &ClientSeed, nonce: u32, pity_count: u32) -> Spun {
        self.table().draw(seed, client_seed, nonce, pity_count)
    }

    /// The proof of a spin.
    pub fn proof(
        &self,
        seed: &ServerSeed,
        client_seed: ClientSeed,
        nonce: u32,
        pity_count: u32,
    ) -> SpinProof {
        let table = self.table();
        SpinProof {
            server_seed: seed.clone(),
            server_seed_hash: seed.hash(),
            client_seed,
            nonce,
            pity_count,
            table_hash: table.hash(),
            table,
        }
    }

    /// The probability of each segment, in their order: its share of the spins in the long run, with the guarantee. They
    /// add up to 1, and each is within 1e-12 of the exact fraction.
    pub fn probabilities(&self) -> Vec<f64> {
        let weight = |segment: &Segment| f64::from(segment.weight);
        let total: f64 = self.segments.iter().map(weight).sum();
        let Some(pity) = &self.pity else {
            return self.segments.iter().map(|segment| weight(segment) / total).collect();
        };
        let is_lucky = |segment: &Segment| pity.segments.contains(&segment.key);
        let lucky: f64 = self.segments.iter().filter(|segment| is_lucky(segment)).map(weight).sum();
        let unlucky = total - lucky;
        let miss = unlucky / total;
        // A cycle ends with one spin that gives a segment of the guarantee. Spin k of a cycle takes place if k spins before
        // it missed; the spin after `after` misses cannot miss.
        let cycle = (0..pity.after).fold((1.0, 1.0), |(sum, missed): (f64, f64), _| {
            let missed = missed * miss;
            (sum + missed, missed)
        });
        let share = 1.0 / cycle.0;
        let probability = |segment: &Segment| {
            if is_lucky(segment) {
                share * weight(segment) / lucky
            } else {
                (1.0 - share) * weight(segment) / unlucky
            }
        };
        self.segments.iter().map(probability).collect()
    }

    /// How much of this kind a spin gives on average, at most: the larger of grant and substitute counts.
    pub fn expected(&self, kind: GrantKind) -> f64 {
        self.mean(|segment| {
            of_kind(segment.grant, kind).max(segment.substitute.map_or(0.0, |it| of_kind(it, kind)))
        })
    }

    /// How much of this kind a spin gives on average while no stock is used up.
    pub fn average(&self, kind: GrantKind) -> f64 {
        self.mean(|segment| of_kind(segment.grant, kind))
    }

    fn mean(&self, value: impl Fn(&Segment) -> f64) -> f64 {
        self.segments.iter().zip(self.probabilities()).map(|(segment, odds)| odds * value(segment)).sum()
    }

    /// Whether a spin gives back what it costs, on average or more: then it has no price.
    pub fn returns_its_price(&self) -> bool {
        let Some(price) = self.price else { return false };
        let kind = match price.kind {
            PriceKind::Points => GrantKind::Points,
            PriceKind::Coins => GrantKind::Coins,
            PriceKind::Money => return false,
        };
        // Sums of fractions are not exact; a wheel on the edge is refused.
        self.expected(kind) >= amount_f64(price.amount) - 1e-6
    }

    /// Whether the wheel can be spun at this instant.
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.is_retired && self.was_open(now) && self.closes_at.is_none_or(|closes| now < closes)
    }

    /// Whether the wheel had opened at this instant, even if it is closed since.
    pub fn was_open(&self, now: Timestamp) -> bool {
        self.opens_at.is_none_or(|opens| opens <= now)
    }

    /// Whether the number of some grants is limited, so that new accounts may not spin.
    pub fn is_limited(&self) -> bool {
        self.segments.iter().any(|segment| segment.stock.is_some())
    }

    /// The segment with this key.
    pub fn segment(&self, key: &SegmentKey) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.key == *key)
    }
}

/// The amount of a grant of this kind; 0 for another.
fn of_kind(grant: Grant, kind: GrantKind) -> f64 {
    if grant.kind() == kind { amount_f64(grant.amount()) } else { 0.0 }
}

/// Amounts are at most 1,000,000,000, which a `u32` holds.
fn amount_f64(amount: i64) -> f64 {
    num::to_f64(amount.max(0))
}

#[cfg(test)]
pub(crate) mod tests;
