//! Statements: the entries of a money account in a period, numbered from 1 without gaps.

use crate::TransferId;
use terrace_kernel::{Currency, Page, Timestamp};

/// The state of a money account after one of its entries. Before the first, both numbers are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatementPoint {
    /// The number of the entry.
    pub seq: i64,
    /// The balance after it, in minor units.
    pub balance: i64,
}

/// The ends of a statement. Entries are never changed, and later ones have later times, so the ends of a statement stay the
/// same while it is paged through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatementEnds {
    /// The state before the first entry of the period.
    pub opening: StatementPoint,
    /// The state after the last entry of the period.
    pub closing: StatementPoint,
}

/// The period of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first instant that belongs to it; `None` if it begins with the account.
    pub from: Option<Timestamp>,
    /// The first instant after it; `None` if it ends now.
    pub to: Option<Timestamp>,
}

/// The period ends before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must not be before `from`")]
pub struct PeriodReversed;

impl Period {
    /// Creates a period; an empty one is allowed.
    pub fn new(from: Option<Timestamp>, to: Option<Timestamp>) -> Result<Self, PeriodReversed> {
        if from.zip(to).is_some_and(|(from, to)| to < from) {
            return Err(PeriodReversed);
        }
        Ok(Self { from, to })
    }
}

/// An entry of a money account, as a statement shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementEntry {
    /// The number of the entry: entries of an account are numbered from 1 without gaps, in the order of booking.
    pub seq: i64,
    /// Id of the transfer.
    pub id: TransferId,
    /// The change of the balance in minor units, never zero.
    pub change: i64,
    /// The balance after the entry, which is the balance after the previous one plus the change.
    pub balance_after: i64,
    /// The reason of the transfer.
    pub reason: String,
    /// When it was booked: the time of the transfer, but never before the previous entry.
    pub at: Timestamp,
}

/// Where a page of a statement continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementPlace {
    /// The ends of the whole statement.
    pub ends: StatementEnds,
    /// The number of the last entry before the page.
    pub after: i64,
}

/// A page of a statement, oldest entries first. The opening balance and the changes of all pages sum to the closing balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The currency of the account.
    pub currency: Currency,
    /// The ends of the whole statement, not of the page.
    pub ends: StatementEnds,
    /// The page of entries.
    pub entries: Page<StatementEntry, StatementPlace>,
}

/// A transfer of a money account in the journal, with the time at which it was booked before, if it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    /// Id of the transfer.
    pub id: TransferId,
    /// The change of the balance in minor units.
    pub change: i64,
    /// The reason of the transfer.
    pub reason: String,
    /// The time of the transfer.
    pub at: Timestamp,
    /// The number and the time of its present entry.
    pub booked: Option<(i64, Timestamp)>,
}

/// Numbers the transfers of an account anew. Those with an entry keep their order, and the others are placed among them by
/// their times.
pub fn number_entries(mut bookings: Vec<Booking>) -> Vec<StatementEntry> {
    bookings.sort_by_key(|booking| {
        let (seq, at) = booking.booked.unwrap_or((i64::MAX, booking.at));
        (at, seq, booking.id)
    });
    let (mut point, mut last) = (StatementPoint::default(), None);
    let entry = |booking: Booking| {
        let at = booking.booked.map_or(booking.at, |(_, at)| at).max(last.unwrap_or(booking.at));
        last = Some(at);
        point = StatementPoint {
            seq: point.seq.saturating_add(1),
            balance: point.balance.saturating_add(booking.change),
        };
        StatementEntry {
            seq: point.seq,
            id: booking.id,
            change: booking.change,
            balance_after: point.balance,
            reason: booking.reason,
            at,
        }
    };
    bookings.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::Uuid;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn booking(id: u128, change: i64, made: i64, booked: Option<(i64, i64)>) -> Booking {
        Booking {
            id: TransferId::from_uuid(Uuid::from_u128(id)),
            change,
            reason: "A test".to_owned(),
            at: at(made),
            booked: booked.map(|(seq, micros)| (seq, at(micros))),
        }
    }

    #[test]
    fn a_period_may_be_open_or_empty_and_is_never_reversed() {
        assert!(Period::new(None, None).is_ok() && Period::new(Some(at(5)), None).is_ok());
        assert!(Period::new(None, Some(at(5))).is_ok() && Period::new(Some(at(5)), Some(at(5))).is_ok());
        assert_eq!(Period::new(Some(at(5)), Some(at(4))), Err(PeriodReversed));
    }

    #[test]
    fn new_numbers_have_no_gaps_and_keep_the_order_of_booking() {
        // The second was made before the first and booked after it; the third has lost its number.
        let entries = number_entries(vec![
            booking(3, -4, 30, None),
            booking(2, 5, 10, Some((4, 20))),
            booking(1, 7, 20, Some((2, 20))),
            booking(4, 1, 40, Some((7, 40))),
        ]);
        let shown: Vec<_> = entries
            .iter()
            .map(|entry| (entry.seq, entry.id.as_uuid().as_u128(), entry.balance_after, entry.at.as_micros()))
            .collect();
        assert_eq!(shown, [(1, 1, 7, 20), (2, 2, 12, 20), (3, 3, 8, 30), (4, 4, 9, 40)]);
    }
}
