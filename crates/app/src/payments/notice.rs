//! Decides what a payment notice changes.

use crate::payments::{
    Charge, ChargeState, Dispute, DisputeState, NoticeDetail, NoticeKind, Payment, PaymentNotice, Refund,
    RefundState,
};
use terrace_shop::RefundId;

/// Whether a text is a valid name of a provider's event or checkout: 1 to 255 visible ASCII characters.
pub fn is_name(text: &str) -> bool {
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
    /// Nothing was refunded under this id.
    #[error("there is no such refund")]
    Refund,
    /// The same event was received before with different content.
    #[error("the event was received before with other content")]
    Event,
}

/// The effect of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision<'k> {
    /// It is paid: the fan gets what it was for.
    Complete,
    /// It will not be paid.
    Cancel,
    /// It ends, and its payment is refunded.
    Refund {
        /// Whether the provider has already refunded it.
        confirmed: bool,
    },
    /// The provider has refunded a payment whose refunds are owed.
    RefundConfirmed,
    /// A refund reached another state.
    RefundMoved(RefundId, RefundState),
    /// A refund has failed whose money was returned with a lost dispute.
    RefundReturned(&'k Refund, &'k Dispute),
    /// A dispute reached another state. If it is lost, the fan has the money back.
    Dispute(DisputeState),
    /// No change.
    Nothing,
}

/// What is known of the payment that a notice names.
pub(crate) struct KnownPayment<'p, 'k> {
    pub(crate) charge: &'p Charge,
    pub(crate) payment: &'p Payment,
    pub(crate) refunds: &'k [Refund],
    /// The disputes of the payment.
    pub(crate) disputes: &'k [Dispute],
}

/// Checks a notice against what it names and returns its effect (spec §3, rule 4). In whatever order
/// notices arrive, every payment is either completed or refunded.
pub(crate) fn decide<'k>(
    notice: &PaymentNotice,
    provider: &str,
    known: &KnownPayment<'_, 'k>,
) -> Result<Decision<'k>, Mismatch> {
    let KnownPayment { charge, payment, refunds, disputes } = known;
    fits(notice, provider, charge, payment)?;
    match (&notice.detail, notice.kind) {
        (Some(NoticeDetail::Refund { id, attempt }), kind) => {
            return decide_refund((*id, *attempt), notice, kind, known);
        }
        (Some(NoticeDetail::Dispute(reference)), kind) => {
            let to = kind.dispute().ok_or(Mismatch::Event)?;
            let mut before = disputes.iter().filter(|dispute| dispute.reference == *reference);
            let is_new =
                before.all(|dispute| dispute.state == DisputeState::Open && to != DisputeState::Open);
            return Ok(if is_new { Decision::Dispute(to) } else { Decision::Nothing });
        }
        (None, _) => {}
    }
    let is_awaited = refunds.iter().any(can_be_confirmed);
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
        (ChargeState::Refunded, NoticeKind::Refunded) if is_awaited => Decision::RefundConfirmed,
        (ChargeState::Refunded, _)
        | (ChargeState::Paid, NoticeKind::Paid | NoticeKind::Failed | NoticeKind::Cancelled)
        | (ChargeState::Expired | ChargeState::Cancelled, NoticeKind::Failed | NoticeKind::Cancelled)
        // Without a refund or a dispute they say nothing.
        | (
            _,
            NoticeKind::RefundGiven
            | NoticeKind::RefundFailed
            | NoticeKind::Disputed
            | NoticeKind::DisputeWon
            | NoticeKind::DisputeLost,
        ) => Decision::Nothing,
    })
}

/// Whether a notice of the whole payment confirms a refund. After a failure, an older notice may arrive late.
pub(crate) fn can_be_confirmed(refund: &Refund) -> bool {
    refund.state == RefundState::Owed && refund.attempt == 0
}

/// A provider reports on one attempt of a refund. A refund that was given may come back from the buyer's bank.
fn decide_refund<'k>(
    (id, attempt): (RefundId, u32),
    notice: &PaymentNotice,
    kind: NoticeKind,
    known: &KnownPayment<'_, 'k>,
) -> Result<Decision<'k>, Mismatch> {
    let refund = known.refunds.iter().find(|refund| refund.id == id).ok_or(Mismatch::Refund)?;
    if refund.card() != Some(notice.money) {
        return Err(Mismatch::Amount);
    }
    if refund.attempt != attempt {
        return Ok(Decision::Nothing);
    }
    Ok(match (refund.state, kind) {
        (RefundState::Owed, NoticeKind::RefundGiven) => Decision::RefundMoved(id, RefundState::Given),
        (RefundState::Owed | RefundState::Given, NoticeKind::RefundFailed) => {
            match lost_with(refund, known.refunds, known.disputes) {
                // The notice is late: the buyer's bank has returned the money since.
                Some(dispute) => Decision::RefundReturned(refund, dispute),
                None => Decision::RefundMoved(id, RefundState::Failed),
            }
        }
        _ => Decision::Nothing,
    })
}

/// The lost dispute with which the money of a refund was returned: the one whose reference the refund has, or one whose
/// money the other refunds with its reference leave for it.
pub(crate) fn lost_with<'d>(
    refund: &Refund,
    refunds: &[Refund],
    disputes: &'d [Dispute],
) -> Option<&'d Dispute> {
    let mut lost = disputes.iter().filter(|dispute| dispute.state == DisputeState::Lost);
    lost.find(|dispute| {
        let others = refunds
            .iter()
            .filter(|other| other.id != refund.id && other.reference.as_ref() == Some(&dispute.reference));
        let taken = others.fold(0_i64, |sum, other| sum.saturating_add(other.parts.card));
        refund.parts.card <= dispute.money.amount.saturating_sub(taken)
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
    let due = charge.money.map_or(0, |money| money.amount);
    let fits = match notice.detail {
        // Of a part of the payment.
        Some(_) => (1..=due).contains(&notice.money.amount),
        None => notice.money.amount == due,
    };
    if !fits {
        return Err(Mismatch::Amount);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payments::NoticeOutcome;
    use terrace_kernel::{Currency, Money, Timestamp, UserId, Uuid};
    use terrace_kernel::{PriceKind, PricePart};
    use terrace_packs::{PackId, Purchase, PurchaseId, PurchaseState, Quantity};
    use terrace_shop::PaidBy;

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

    fn payment() -> Payment {
        Payment {
            payable: PurchaseId::from_uuid(Uuid::from_u128(1)).into(),
            provider: "bank".to_owned(),
            reference: Some("ref".to_owned()),
            checkout_attempt: 0,
            due_at: None,
            attempts: 0,
        }
    }

    fn refund(state: RefundState, attempt: u32) -> Refund {
        let id = RefundId::from_uuid(Uuid::from_u128(1));
        let parts = PaidBy { card: 998, ..PaidBy::default() };
        let refund = Refund::new(id, PurchaseId::from_uuid(Uuid::from_u128(1)).into(), parts, state, at(0));
        Refund { currency: Some(Currency::EUR), attempt, ..refund }
    }

    fn dispute(state: DisputeState, amount: i64) -> Dispute {
        Dispute {
            provider: "bank".to_owned(),
            reference: "dp_1".to_owned(),
            payable: payment().payable,
            state,
            money: Money { amount, currency: Currency::EUR },
            opened_at: at(0),
            changed_at: at(0),
        }
    }

    fn decided<'k>(
        notice: &PaymentNotice,
        charge: &Charge,
        refunds: &'k [Refund],
    ) -> Result<Decision<'k>, Mismatch> {
        decide(notice, "bank", &KnownPayment { charge, payment: &payment(), refunds, disputes: &[] })
    }

    fn notice(kind: NoticeKind) -> PaymentNotice {
        PaymentNotice {
            event_id: "evt".to_owned(),
            payable: PurchaseId::from_uuid(Uuid::from_u128(1)).into(),
            kind,
            money: Money { amount: 998, currency: "EUR".parse().unwrap() },
            reference: "ref".to_owned(),
            occurred_at: at(0),
            detail: None,
        }
    }

    /// `docs/spec.md` §3, rule 4: an interrupted purchase is completed or refunded, whichever notice arrives first.
    #[test]
    fn what_was_paid_is_completed_or_given_back() {
        use Decision::{Cancel, Complete, Nothing, RefundConfirmed};
        let returned = |confirmed| Decision::Refund { confirmed };
        for (state, refunds, decisions) in [
            (PurchaseState::Pending, vec![], [Complete, Cancel, Cancel, returned(true)]),
            (PurchaseState::Completed, vec![], [Nothing, Nothing, Nothing, returned(true)]),
            (PurchaseState::Expired, vec![], [returned(false), Nothing, Nothing, returned(true)]),
            (PurchaseState::Cancelled, vec![], [returned(false), Nothing, Nothing, returned(true)]),
            (
                PurchaseState::Refunded,
                vec![refund(RefundState::Owed, 0)],
                [Nothing, Nothing, Nothing, RefundConfirmed],
            ),
            // The notice may be of the attempt that failed.
            (PurchaseState::Refunded, vec![refund(RefundState::Owed, 1)], [Nothing; 4]),
            (PurchaseState::Refunded, vec![refund(RefundState::Failed, 0)], [Nothing; 4]),
            (PurchaseState::Refunded, vec![refund(RefundState::Given, 0)], [Nothing; 4]),
        ] {
            let kinds = [NoticeKind::Paid, NoticeKind::Failed, NoticeKind::Cancelled, NoticeKind::Refunded];
            let decided = kinds.map(|kind| decided(&notice(kind), &purchase(state), &refunds).unwrap());
            assert_eq!(decided, decisions, "{state}");
        }
    }

    #[test]
    fn a_refund_follows_the_notices_of_its_attempt() {
        use RefundState::{Failed, Given, Owed};
        let charge = purchase(PurchaseState::Refunded);
        let notice = |kind, attempt| {
            let detail = NoticeDetail::Refund { id: refund(Owed, 0).id, attempt };
            PaymentNotice { detail: Some(detail), ..notice(kind) }
        };
        for (state, attempt, given, failed) in [
            (Owed, 1, Some(Given), Some(Failed)),
            (Given, 1, None, Some(Failed)),
            (Failed, 1, None, None),
            (Owed, 0, None, None),
            (Owed, 2, None, None),
        ] {
            for (kind, to) in [(NoticeKind::RefundGiven, given), (NoticeKind::RefundFailed, failed)] {
                let to = to.map_or(Decision::Nothing, |to| Decision::RefundMoved(refund(Owed, 0).id, to));
                assert_eq!(
                    decided(&notice(kind, attempt), &charge, &[refund(state, 1)]),
                    Ok(to),
                    "{state} {kind}"
                );
            }
        }
        let given = notice(NoticeKind::RefundGiven, 0);
        assert_eq!(decided(&given, &charge, &[]), Err(Mismatch::Refund));
        let less = PaymentNotice { money: Money { amount: 997, ..given.money }, ..given };
        assert_eq!(decided(&less, &charge, &[refund(Owed, 0)]), Err(Mismatch::Amount));
    }

    #[test]
    fn a_late_failure_of_a_refund_changes_nothing_that_a_lost_dispute_has_returned() {
        let charge = purchase(PurchaseState::Refunded);
        let own = refund(RefundState::Given, 0);
        let detail = Some(NoticeDetail::Refund { id: own.id, attempt: 0 });
        let failed = PaymentNotice { detail, ..notice(NoticeKind::RefundFailed) };
        let by_dispute = Refund { reference: Some("dp_1".to_owned()), ..own.clone() };
        let other = Refund { id: RefundId::from_uuid(Uuid::from_u128(9)), ..by_dispute.clone() };
        for (state, amount, refunds, is_returned) in [
            (DisputeState::Lost, 998, vec![own.clone()], true),
            (DisputeState::Lost, 998, vec![by_dispute], true),
            // The dispute returned something else.
            (DisputeState::Lost, 997, vec![own.clone()], false),
            (DisputeState::Lost, 998, vec![own.clone(), other], false),
            (DisputeState::Open, 998, vec![own.clone()], false),
            (DisputeState::Won, 998, vec![own], false),
        ] {
            let disputes = [dispute(state, amount)];
            let known =
                KnownPayment { charge: &charge, payment: &payment(), refunds: &refunds, disputes: &disputes };
            let decision = if is_returned {
                Decision::RefundReturned(&refunds[0], &disputes[0])
            } else {
                Decision::RefundMoved(refunds[0].id, RefundState::Failed)
            };
            assert_eq!(decide(&failed, "bank", &known), Ok(decision), "{state} {amount}");
        }
    }

    #[test]
    fn a_dispute_is_opened_and_decided_once_in_whatever_order() {
        use DisputeState::{Lost, Open, Won};
        let (charge, payment) = (purchase(PurchaseState::Completed), payment());
        for (known, kind, to) in [
            (None, NoticeKind::Disputed, Some(Open)),
            (None, NoticeKind::DisputeLost, Some(Lost)),
            (Some(Open), NoticeKind::Disputed, None),
            (Some(Open), NoticeKind::DisputeWon, Some(Won)),
            (Some(Lost), NoticeKind::Disputed, None),
            (Some(Lost), NoticeKind::DisputeLost, None),
            (Some(Won), NoticeKind::DisputeLost, None),
        ] {
            let detail = Some(NoticeDetail::Dispute("dp_1".to_owned()));
            let notice = PaymentNotice { detail, ..notice(kind) };
            let disputes = known.map(|state| dispute(state, 998));
            let disputes = disputes.as_slice();
            let known = KnownPayment { charge: &charge, payment: &payment, refunds: &[], disputes };
            let to = to.map_or(Decision::Nothing, Decision::Dispute);
            assert_eq!(decide(&notice, "bank", &known), Ok(to), "{kind}");
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
        let purchase = purchase(PurchaseState::Pending);
        for (change, mismatch) in cases {
            let mut notice = notice(NoticeKind::Paid);
            change(&mut notice);
            assert_eq!(decided(&notice, &purchase, &[]), Err(mismatch));
        }
        let paid = notice(NoticeKind::Paid);
        let of_bank = payment();
        // While no checkout is recorded here, any reference is accepted.
        let unknown = Payment { reference: None, ..payment() };
        let known = |payment| KnownPayment { charge: &purchase, payment, refunds: &[], disputes: &[] };
        assert_eq!(decide(&paid, "mint", &known(&of_bank)), Err(Mismatch::Provider));
        assert_eq!(decide(&paid, "bank", &known(&unknown)), Ok(Decision::Complete));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for kind in NoticeKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for state in DisputeState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        let refund = NoticeDetail::Refund { id: refund(RefundState::Owed, 0).id, attempt: 2 };
        for detail in [refund, NoticeDetail::Dispute("dp_1".to_owned())] {
            assert_eq!(detail.to_string().parse(), Ok(detail));
        }
        assert!("refund:x:1".parse::<NoticeDetail>().is_err());
        for outcome in NoticeOutcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
        }
        assert!(is_name("evt_1") && !is_name("") && !is_name("a b") && !is_name(&"x".repeat(256)));
    }
}
