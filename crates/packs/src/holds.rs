//! Limits on the stock that unpaid purchases for money may reserve.

use crate::{Quantity, SaleRefusal};
use std::time::Duration;
use terrace_kernel::{Timestamp, num};

/// How many purchases for money of counted packs an account may start and leave unpaid within [`ABANDONED_WINDOW`].
pub const MAX_ABANDONED: u32 = 3;
/// How long an abandoned purchase counts, from its start.
pub const ABANDONED_WINDOW: Duration = Duration::from_hours(24);
/// New accounts together may reserve one copy in this many of those that are left.
const NEW_ACCOUNT_SHARE: u32 = 4;

/// Whether an account with these unpaid purchases may start another. `abandoned` holds their start times, newest first,
/// at most [`MAX_ABANDONED`] of them.
pub fn check_abandoned(abandoned: &[Timestamp], now: Timestamp) -> Result<(), SaleRefusal> {
    let most = num::to_usize(MAX_ABANDONED);
    match abandoned.last() {
        Some(oldest) if abandoned.len() >= most => {
            Err(SaleRefusal::TooManyAbandoned { wait: oldest.plus(ABANDONED_WINDOW).since(now) })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether an account that counts as new until `until` may start a purchase while it has `pending` unpaid ones of
/// counted packs.
pub fn check_new_account(quantity: Quantity, pending: u32, until: Timestamp) -> Result<(), SaleRefusal> {
    if quantity == Quantity::ONE && pending == 0 { Ok(()) } else { Err(SaleRefusal::AccountTooNew { until }) }
}

/// Whether all new accounts together may hold `held` copies of a pack when `remaining` copies are not reserved.
pub fn check_share(held: u32, remaining: u32, until: Timestamp) -> Result<(), SaleRefusal> {
    let share = held.saturating_add(remaining).checked_div(NEW_ACCOUNT_SHARE).unwrap_or(0).max(1);
    if held <= share { Ok(()) } else { Err(SaleRefusal::AccountTooNew { until }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_micros(hours * 3_600_000_000)
    }

    #[test]
    fn three_abandoned_purchases_in_a_day_are_too_many() {
        assert_eq!(check_abandoned(&[], at(30)), Ok(()));
        assert_eq!(check_abandoned(&[at(29), at(28)], at(30)), Ok(()));
        let wait = Duration::from_hours(4);
        let refused = Err(SaleRefusal::TooManyAbandoned { wait });
        assert_eq!(check_abandoned(&[at(29), at(28), at(10)], at(30)), refused);
    }

    #[test]
    fn a_new_account_holds_one_copy() {
        let until = at(24);
        let two = Quantity::new(2).unwrap();
        assert_eq!(check_new_account(Quantity::ONE, 0, until), Ok(()));
        let refused = Err(SaleRefusal::AccountTooNew { until });
        assert_eq!(check_new_account(Quantity::ONE, 1, until), refused);
        assert_eq!(check_new_account(two, 0, until), refused);
    }

    #[test]
    fn new_accounts_share_a_quarter_of_what_is_left() {
        for (held, remaining, may) in [
            (1, 0, true),
            (1, 2, true),
            (2, 5, false),
            (2, 6, true),
            (6, 18, true),
            (7, 17, false),
            (2, 0, false),
            (u32::MAX, 0, false),
        ] {
            assert_eq!(check_share(held, remaining, at(24)).is_ok(), may, "{held} of {remaining}");
        }
    }
}
