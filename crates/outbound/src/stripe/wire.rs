//! Requests to Stripe and what it answers, as far as this service reads it.

use super::amount::of_stripe;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use terrace_app::payments::{Payable, PaymentState, ProviderFault, RefundState};
use terrace_kernel::{Money, Uuid};

/// The fields of a form, in the order in which they are sent.
#[derive(Default)]
pub(super) struct Form(String);

impl Form {
    pub(super) fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        encode(name, &mut self.0);
        self.0.push('=');
        encode(value.as_ref(), &mut self.0);
        self
    }

    pub(super) fn encoded(self) -> String {
        self.0
    }
}

/// Percent-encodes all but the unreserved characters of RFC 3986.
fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

/// An object, or only its id.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Ref<T> {
    Id(String),
    Object(T),
}

#[derive(Deserialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) url: Option<String>,
    pub(super) status: Option<String>,
    pub(super) payment_status: Option<String>,
    pub(super) amount_total: Option<i64>,
    pub(super) currency: Option<String>,
    pub(super) client_reference_id: Option<String>,
    pub(super) payment_intent: Option<Ref<Intent>>,
    pub(super) livemode: bool,
}

#[derive(Deserialize)]
pub(super) struct Intent {
    pub(super) id: String,
    status: Option<String>,
    latest_charge: Option<Box<Ref<Charge>>>,
}

#[derive(Deserialize)]
pub(super) struct Charge {
    #[serde(default)]
    pub(super) refunded: bool,
    #[serde(default)]
    pub(super) amount_refunded: i64,
    #[serde(default)]
    pub(super) currency: String,
    pub(super) payment_intent: Option<Ref<Intent>>,
}

#[derive(Deserialize)]
pub(super) struct RefundObject {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    status: Option<String>,
    pub(super) payment_intent: Option<Ref<Intent>>,
    #[serde(default)]
    pub(super) metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(super) struct DisputeObject {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) status: String,
    pub(super) payment_intent: Option<Ref<Intent>>,
}

#[derive(Deserialize)]
pub(super) struct List<T> {
    pub(super) data: Vec<T>,
}

/// The body of an error. The message is left out: it may repeat what was sent.
#[derive(Deserialize)]
pub(super) struct ErrorBody {
    error: ErrorObject,
}

#[derive(Deserialize)]
struct ErrorObject {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
}

impl<T> Ref<T> {
    pub(super) fn object(&self) -> Option<&T> {
        match self {
            Self::Id(_) => None,
            Self::Object(object) => Some(object),
        }
    }
}

impl Ref<Intent> {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Id(id) => id,
            Self::Object(intent) => &intent.id,
        }
    }
}

/// The `client_reference_id` of a payment.
pub(super) fn client_reference(payable: Payable) -> String {
    format!("{}_{}", payable.kind(), payable.id().hyphenated())
}

impl Session {
    /// What it is to pay for; `None` if it is none of this service.
    pub(super) fn payable(&self) -> Option<Payable> {
        let (kind, id) = self.client_reference_id.as_deref()?.split_once('_')?;
        Payable::of(kind, Uuid::parse_str(id).ok()?).ok()
    }

    pub(super) fn money(&self) -> Option<Money> {
        of_stripe(self.amount_total?, self.currency.as_deref()?)
    }

    /// The state of the payment.
    pub(super) fn state(&self) -> Result<PaymentState, ProviderFault> {
        let unreadable = || ProviderFault::Passing("the checkout has no amount".to_owned());
        let intent = self.payment_intent.as_ref().and_then(Ref::object);
        match (self.status.as_deref(), self.payment_status.as_deref()) {
            (Some("expired"), _) => Ok(PaymentState::Ended),
            (Some("complete"), Some("paid" | "no_payment_required")) => {
                let money = self.money().ok_or_else(unreadable)?;
                let charge = intent.and_then(|intent| intent.latest_charge.as_deref()).and_then(Ref::object);
                let is_refunded = charge.is_some_and(|charge| charge.refunded);
                Ok(if is_refunded { PaymentState::Refunded(money) } else { PaymentState::Paid(money) })
            }
            (Some("complete"), _) => {
                let status = intent.and_then(|intent| intent.status.as_deref());
                let has_failed = matches!(status, Some("requires_payment_method" | "canceled"));
                Ok(if has_failed { PaymentState::Ended } else { PaymentState::Open })
            }
            _ => Ok(PaymentState::Open),
        }
    }
}

impl RefundObject {
    pub(super) fn state(&self) -> RefundState {
        match self.status.as_deref() {
            Some("succeeded") => RefundState::Given,
            Some("failed" | "canceled") => RefundState::Failed,
            // `pending`, `requires_action`, and what may come.
            _ => RefundState::Owed,
        }
    }

    /// The refund of this service, with its attempt.
    pub(super) fn own(&self) -> Option<(Uuid, u32)> {
        let id = Uuid::parse_str(self.metadata.get("refund")?).ok()?;
        Some((id, self.metadata.get("attempt")?.parse().ok()?))
    }
}

impl ErrorBody {
    pub(super) fn code(&self) -> Option<&str> {
        self.error.code.as_deref()
    }

    /// Whether an earlier request with the same idempotency key asked for something else.
    pub(super) fn is_of_another_request(&self) -> bool {
        self.error.kind.as_deref() == Some("idempotency_error")
    }

    /// For logs: type, code and parameter.
    pub(super) fn summary(&self) -> String {
        let parts = [&self.error.kind, &self.error.code, &self.error.param];
        let parts: Vec<&str> = parts.into_iter().filter_map(Option::as_deref).collect();
        parts.join(", ").chars().filter(|letter| !letter.is_control()).take(200).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded() {
        let form = Form::default().with("a[b]", "x y&z=ß").with("c", "1");
        assert_eq!(form.encoded(), "a%5Bb%5D=x%20y%26z%3D%C3%9F&c=1");
    }

    #[test]
    fn states_of_sessions_are_those_of_payments() {
        let session = |text: &str| serde_json::from_str::<Session>(text).unwrap().state().unwrap();
        let of = |rest: &str| {
            format!(r#"{{"id":"cs_1","livemode":false,"amount_total":500,"currency":"isk",{rest}}}"#)
        };
        let money = Money { amount: 5, currency: "ISK".parse().unwrap() };
        for (rest, state) in [
            (r#""status":"open","payment_status":"unpaid""#, PaymentState::Open),
            (r#""status":"expired","payment_status":"unpaid""#, PaymentState::Ended),
            (r#""status":"complete","payment_status":"unpaid","payment_intent":"pi_1""#, PaymentState::Open),
            (
                r#""status":"complete","payment_status":"unpaid","payment_intent":{"id":"pi_1","status":"requires_payment_method"}"#,
                PaymentState::Ended,
            ),
            (
                r#""status":"complete","payment_status":"paid","payment_intent":"pi_1""#,
                PaymentState::Paid(money),
            ),
            (
                r#""status":"complete","payment_status":"paid","payment_intent":{"id":"pi_1","latest_charge":{"refunded":true}}"#,
                PaymentState::Refunded(money),
            ),
        ] {
            assert_eq!(session(&of(rest)), state, "{rest}");
        }
    }
}
