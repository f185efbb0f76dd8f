//! Stripe's events as notices.

use super::amount::of_stripe;
use super::wire::{Charge, DisputeObject, Intent, Ref, RefundObject, Session};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use terrace_app::payments::{NoticeDetail, NoticeFault, NoticeKind, PaymentNotice, RefundState, is_name};
use terrace_kernel::{Money, Timestamp};

/// An event of a webhook.
#[derive(Deserialize)]
pub(super) struct Event {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    created: i64,
    pub(super) livemode: bool,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: Value,
}

/// What an event says, before it is known which payment it is about.
pub(super) enum News {
    /// Of a checkout.
    OfSession(NoticeKind, Session),
    /// Of a charge, a refund or a dispute, which name only the payment intent.
    OfIntent { intent: String, kind: NoticeKind, money: Money, detail: Option<NoticeDetail> },
}

fn malformed(why: impl std::fmt::Display) -> NoticeFault {
    NoticeFault::Malformed(why.to_string())
}

impl Event {
    pub(super) fn read(body: &[u8]) -> Result<Self, NoticeFault> {
        let event: Self = serde_json::from_slice(body).map_err(malformed)?;
        if is_name(&event.id) { Ok(event) } else { Err(malformed("the id is not visible ASCII")) }
    }

    fn object<T: DeserializeOwned>(&self) -> Result<T, NoticeFault> {
        T::deserialize(&self.data.object).map_err(malformed)
    }

    /// What it says of a payment; `None` if it says nothing.
    pub(super) fn news(&self) -> Result<Option<News>, NoticeFault> {
        match self.kind.as_str() {
            "checkout.session.completed" => {
                let session: Session = self.object()?;
                let is_paid = session.payment_status.as_deref() == Some("paid");
                Ok(is_paid.then_some(News::OfSession(NoticeKind::Paid, session)))
            }
            "checkout.session.async_payment_succeeded" => self.of_session(NoticeKind::Paid),
            "checkout.session.async_payment_failed" => self.of_session(NoticeKind::Failed),
            "checkout.session.expired" => self.of_session(NoticeKind::Cancelled),
            "charge.refunded" => {
                let charge: Charge = self.object()?;
                if !charge.refunded {
                    // Of a part: the refunds report themselves.
                    return Ok(None);
                }
                of_intent(
                    charge.payment_intent.as_ref(),
                    NoticeKind::Refunded,
                    (charge.amount_refunded, &charge.currency),
                    None,
                )
            }
            "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => {
                self.of_refund()
            }
            "charge.dispute.created" | "charge.dispute.closed" => self.of_dispute(),
            _ => Ok(None),
        }
    }

    fn of_session(&self, kind: NoticeKind) -> Result<Option<News>, NoticeFault> {
        Ok(Some(News::OfSession(kind, self.object()?)))
    }

    fn of_refund(&self) -> Result<Option<News>, NoticeFault> {
        let refund: RefundObject = self.object()?;
        let kind = match refund.state() {
            RefundState::Given => NoticeKind::RefundGiven,
            RefundState::Failed => NoticeKind::RefundFailed,
            RefundState::Owed => return Ok(None),
        };
        // One that was made in Stripe's dashboard has none; `charge.refunded` reports it.
        let Some((id, attempt)) = refund.own() else { return Ok(None) };
        let detail = NoticeDetail::Refund { id: id.into(), attempt };
        of_intent(refund.payment_intent.as_ref(), kind, (refund.amount, &refund.currency), Some(detail))
    }

    fn of_dispute(&self) -> Result<Option<News>, NoticeFault> {
        let dispute: DisputeObject = self.object()?;
        if !is_name(&dispute.id) {
            return Err(malformed("the id of the dispute is not visible ASCII"));
        }
        let kind = match (self.kind.as_str(), dispute.status.as_str()) {
            ("charge.dispute.created", _) => NoticeKind::Disputed,
            (_, "won" | "warning_closed") => NoticeKind::DisputeWon,
            (_, "lost") => NoticeKind::DisputeLost,
            _ => return Ok(None),
        };
        let detail = Some(NoticeDetail::Dispute(dispute.id));
        of_intent(dispute.payment_intent.as_ref(), kind, (dispute.amount, &dispute.currency), detail)
    }

    /// The notice about the payment of this checkout; `None` if it is none of this service.
    pub(super) fn notice(
        &self,
        session: &Session,
        kind: NoticeKind,
        money: Money,
        detail: Option<NoticeDetail>,
    ) -> Option<PaymentNotice> {
        let payable = session.payable().filter(|_| is_name(&session.id))?;
        Some(PaymentNotice {
            event_id: self.id.clone(),
            payable,
            kind,
            money,
            reference: session.id.clone(),
            occurred_at: Timestamp::from_micros(self.created.saturating_mul(1_000_000)),
            detail,
        })
    }
}

fn of_intent(
    intent: Option<&Ref<Intent>>,
    kind: NoticeKind,
    (amount, currency): (i64, &str),
    detail: Option<NoticeDetail>,
) -> Result<Option<News>, NoticeFault> {
    // A charge without an intent was not made by a checkout.
    let Some(intent) = intent else { return Ok(None) };
    let money = of_stripe(amount, currency).ok_or_else(|| malformed("it has no such amount"))?;
    Ok(Some(News::OfIntent { intent: intent.id().to_owned(), kind, money, detail }))
}
