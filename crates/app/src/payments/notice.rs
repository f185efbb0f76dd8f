//! Decides what a payment notice changes.

use crate::payments::{Charge, ChargeState, NoticeKind, Payment, PaymentNotice, RefundState};

/// Whether a text is a valid name of a provider's event or checkout: 1 to 255 visible ASCII characters.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Why a notice does not match what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Nothing that costs money has this id.
    #[error("there is nothing for money of this id")]
    Payable,
    /// The payment belongs to another provider.
    #[error("another provider takes this money")]
    Provider,
    /// The payment has another checkout.
    #[error("the payment has another checkout")]
    Reference,
    /// The amounts differ.
    #[error("another amount is due")]
    Amount,
    /// The currencies differ.
    #[error("it is paid in another currency")]
    Currency,
    /// The same event was received before with different content.
    #[error("the event was received before with other content")]
    Event,
}

/// The effect of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is paid: the fan gets what it was for.
    Complete,
    /// It will not be paid.
    Cancel,
    /// It ends, and its payment is refunded.
    Refund {
        /// Whether the provider has already refunded it.
        confirmed: bool,
    },
    /// The provider has refunded a payment that was due for refund.
    RefundConfirmed,
    /// No change.
    Nothing,
}

/// Checks a notice against what it names and returns its effect (spec §3, rule 4). In whatever order
/// notices arrive, every payment is either completed or refunded.
pub(crate) fn decide(
    notice: &PaymentNotice,
    provider: &str,
    charge: &Charge,
    payment: &Payment,
) -> Result<Decision, Mismatch> {
    fits(notice, provider, charge, payment)?;
    Ok(match (charge.state, notice.kind) {
        (ChargeState::Pending, NoticeKind::Paid) => Decision::Complete,
        (ChargeState::Pending, NoticeKind::Failed | NoticeKind::Cancelled) => Decision::Cancel,
        // Paid too late.
        (ChargeState::Expired | ChargeState::Cancelled, NoticeKind::Paid) => {
            Decision::Refund { confirmed: false }
        }
        // Includes payments without a notice, which arrives later or never.
        (
            ChargeState::Pending | ChargeState::Paid | ChargeState::Expired | ChargeState::Cancelled,
            NoticeKind::Refunded,
        ) => Decision::Refund { confirmed: true },
        (ChargeState::Refunded, NoticeKind::Refunded) if payment.refund == Some(RefundState::Owed) => {
            Decision::RefundConfirmed
        }
        (ChargeState::Refunded, _)
        | (ChargeState::Paid, NoticeKind::Paid | NoticeKind::Failed | NoticeKind::Cancelled)
        | (ChargeState::Expired | ChargeState::Cancelled, NoticeKind::Failed | NoticeKind::Cancelled) => {
            Decision::Nothing
        }
    })
}

fn fits(notice: &PaymentNotice, provider: &str, charge: &Charge, payment: &Payment) -> Result<(), Mismatch> {
    if payment.provider != provider {
        return Err(Mismatch::Provider);
    }
    if payment.reference.as_ref().is_some_and(|reference| *reference != notice.reference) {
        return Err(Mismatch::Reference);
    }
    if charge.money.map(|money| money.currency) != Some(notice.money.currency) {
        return Err(Mismatch::Currency);
    }
    if charge.money != Some(notice.money) {
        return Err(Mismatch::Amount);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payments::NoticeOutcome;
    use terrace_kernel::{Money, Timestamp, UserId, Uuid};
    use terrace_kernel::{PriceKind, PricePart};
    use terrace_packs::{PackId, Purchase, PurchaseId, PurchaseState, Quantity};

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn purchase(state: PurchaseState) -> Charge {
        Charge::from(&Purchase {
            id: PurchaseId::from_uuid(Uuid::from_u128(1)),
            user: UserId::from_uuid(Uuid::from_u128(2)),
            pack: PackId::from_uuid(Uuid::from_u128(3)),
            quantity: Quantity::new(2).unwrap(),
            price: PricePart::new(PriceKind::Money, 499, Some("EUR".parse().unwrap())).unwrap(),
            state,
            checkout_url: None,
            created_at: at(0),
            expires_at: Some(at(1)),
            changed_at: at(0),
        })
    }

    fn payment(refund: Option<RefundState>) -> Payment {
        Payment {
            payable: PurchaseId::from_uuid(Uuid::from_u128(1)).into(),
            provider: "bank".to_owned(),
            reference: Some("ref".to_owned()),
            refund,
            due_at: None,
            attempts: 0,
        }
    }

    fn notice(kind: NoticeKind) -> PaymentNotice {
        PaymentNotice {
            event_id: "evt".to_owned(),
            payable: PurchaseId::from_uuid(Uuid::from_u128(1)).into(),
            kind,
            money: Money { amount: 998, currency: "EUR".parse().unwrap() },
            reference: "ref".to_owned(),
            occurred_at: at(0),
        }
    }

    /// `docs/spec.md` §3, rule 4: an interrupted purchase is completed or refunded, whichever notice arrives first.
    #[test]
    fn what_was_paid_is_completed_or_given_back() {
        use Decision::{Cancel, Complete, Nothing, Refund, RefundConfirmed};
        let refund = |confirmed| Refund { confirmed };
        for (state, refund, decisions) in [
            (PurchaseState::Pending, None, [Complete, Cancel, Cancel, refund(true)]),
            (PurchaseState::Completed, None, [Nothing, Nothing, Nothing, refund(true)]),
            (PurchaseState::Expired, None, [refund(false), Nothing, Nothing, refund(true)]),
            (PurchaseState::Cancelled, None, [refund(false), Nothing, Nothing, refund(true)]),
            (PurchaseState::Refunded, Some(RefundState::Owed), [Nothing, Nothing, Nothing, RefundConfirmed]),
            (PurchaseState::Refunded, Some(RefundState::Refunded), [Nothing; 4]),
        ] {
            let decided = NoticeKind::ALL
                .map(|kind| decide(&notice(kind), "bank", &purchase(state), &payment(refund)).unwrap());
            assert_eq!(decided, decisions, "{state}");
        }
    }

    #[test]
    fn mismatches_are_distinguished() {
        type Change = fn(&mut PaymentNotice);
        let cases: [(Change, Mismatch); 4] = [
            (|notice| notice.reference = "other".to_owned(), Mismatch::Reference),
            (|notice| notice.money.amount = 997, Mismatch::Amount),
            // The price of one copy instead of two.
            (|notice| notice.money.amount = 499, Mismatch::Amount),
            (|notice| notice.money.currency = "USD".parse().unwrap(), Mismatch::Currency),
        ];
        let (purchase, payment) = (purchase(PurchaseState::Pending), payment(None));
        for (change, mismatch) in cases {
            let mut notice = notice(NoticeKind::Paid);
            change(&mut notice);
            assert_eq!(decide(&notice, "bank", &purchase, &payment), Err(mismatch));
        }
        assert_eq!(decide(&notice(NoticeKind::Paid), "mint", &purchase, &payment), Err(Mismatch::Provider));
        // While no checkout is recorded here, any reference is accepted.
        let unknown = Payment { reference: None, ..payment };
        assert_eq!(decide(&notice(NoticeKind::Paid), "bank", &purchase, &unknown), Ok(Decision::Complete));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for kind in NoticeKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for outcome in NoticeOutcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
        }
        assert!(is_name("evt_1") && !is_name("") && !is_name("a b") && !is_name(&"x".repeat(256)));
    }
}
