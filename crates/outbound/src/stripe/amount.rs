//! Amounts as Stripe counts them.

use terrace_kernel::{Currency, Money};

/// An amount in Stripe's units for its currency, and the currency in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StripeAmount {
    pub(super) amount: i64,
    pub(super) currency: String,
}

/// How Stripe counts a currency, compared with the minor unit of ISO 4217.
enum Units {
    Same,
    /// Without decimal places at ISO and with two at Stripe, of which both are zero.
    Hundredths,
    /// With two decimal places at ISO and none at Stripe.
    Whole,
    /// Three decimal places, of which the last is zero.
    Tens,
}

fn units(currency: Currency) -> Units {
    match (currency.as_str(), currency.decimals()) {
        ("ISK" | "UGX", _) => Units::Hundredths,
        ("MGA", _) => Units::Whole,
        (_, Some(3)) => Units::Tens,
        _ => Units::Same,
    }
}

/// What Stripe calls this amount; `None` if Stripe has no such amount.
pub(super) fn to_stripe(money: Money) -> Option<StripeAmount> {
    let whole = |divisor: i64| (money.amount % divisor == 0).then_some(money.amount);
    let amount = match units(money.currency) {
        Units::Same => Some(money.amount),
        Units::Hundredths => money.amount.checked_mul(100),
        Units::Whole => whole(100).map(|amount| amount / 100),
        Units::Tens => whole(10),
    };
    Some(StripeAmount { amount: amount?, currency: money.currency.as_str().to_ascii_lowercase() })
}

/// The amount that Stripe calls so; `None` if it is none of the currency.
pub(super) fn of_stripe(amount: i64, currency: &str) -> Option<Money> {
    let currency: Currency = currency.to_ascii_uppercase().parse().ok()?;
    let amount = match units(currency) {
        Units::Same | Units::Tens => Some(amount),
        Units::Hundredths => (amount % 100 == 0).then_some(amount / 100),
        Units::Whole => amount.checked_mul(100),
    };
    Some(Money { amount: amount?, currency })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_counted_as_stripe_counts_them() {
        for (amount, code, at_stripe) in [
            (499, "EUR", Some(499)),
            (499, "JPY", Some(499)),
            (5, "ISK", Some(500)),
            (5, "UGX", Some(500)),
            (i64::MAX, "UGX", None),
            (5_120, "KWD", Some(5_120)),
            (5_124, "KWD", None),
            (500, "MGA", Some(5)),
            (501, "MGA", None),
        ] {
            let money = Money { amount, currency: code.parse().unwrap() };
            let there = to_stripe(money);
            assert_eq!(there.as_ref().map(|there| there.amount), at_stripe, "{money:?}");
            if let Some(StripeAmount { amount, currency }) = there {
                assert_eq!((of_stripe(amount, &currency), currency), (Some(money), code.to_lowercase()));
            }
        }
        assert_eq!((of_stripe(550, "isk"), of_stripe(1, "euro")), (None, None));
    }
}
