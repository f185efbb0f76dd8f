//! What a provider reports about a payment, and the disputes that it reports.

use crate::payments::Payable;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Money, Timestamp, UnknownName};
use terrace_shop::RefundId;

/// Kind of change that a provider reports for a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoticeKind {
    /// The payment succeeded.
    Paid,
    /// A payment attempt failed.
    Failed,
    /// The checkout was cancelled or expired.
    Cancelled,
    /// The full amount was refunded.
    Refunded,
    /// A refund that this service requested was made.
    RefundGiven,
    /// A refund that this service requested was not made, or came back.
    RefundFailed,
    /// The buyer's bank disputes the payment.
    Disputed,
    /// The dispute was decided for the service, or withdrawn.
    DisputeWon,
    /// The dispute was decided for the buyer, who has the money back.
    DisputeLost,
}

impl NoticeKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Paid,
        Self::Failed,
        Self::Cancelled,
        Self::Refunded,
        Self::RefundGiven,
        Self::RefundFailed,
        Self::Disputed,
        Self::DisputeWon,
        Self::DisputeLost,
    ];

    /// The stable name, as stored in tables and sent in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
            Self::RefundGiven => "refund_given",
            Self::RefundFailed => "refund_failed",
            Self::Disputed => "disputed",
            Self::DisputeWon => "dispute_won",
            Self::DisputeLost => "dispute_lost",
        }
    }

    /// The state of a dispute that this kind reports.
    pub const fn dispute(self) -> Option<DisputeState> {
        match self {
            Self::Disputed => Some(DisputeState::Open),
            Self::DisputeWon => Some(DisputeState::Won),
            Self::DisputeLost => Some(DisputeState::Lost),
            Self::Paid
            | Self::Failed
            | Self::Cancelled
            | Self::Refunded
            | Self::RefundGiven
            | Self::RefundFailed => None,
        }
    }
}

impl fmt::Display for NoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for NoticeKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// What a notice is about, beside the payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeDetail {
    /// A refund that this service requested.
    Refund {
        /// [`Refund::id`](super::Refund::id).
        id: RefundId,
        /// [`Refund::attempt`](super::Refund::attempt).
        attempt: u32,
    },
    /// A dispute, by the id that the provider assigned to it.
    Dispute(String),
}

/// As stored: `refund:<id>:<attempt>` or `dispute:<id>`.
impl fmt::Display for NoticeDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refund { id, attempt } => write!(f, "refund:{id}:{attempt}"),
            Self::Dispute(id) => write!(f, "dispute:{id}"),
        }
    }
}

impl FromStr for NoticeDetail {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let refund = |rest: &str| {
            let (id, attempt) = rest.split_once(':')?;
            Some(Self::Refund { id: id.parse().ok()?, attempt: attempt.parse().ok()? })
        };
        let read = match text.split_once(':') {
            Some(("refund", rest)) => refund(rest),
            Some(("dispute", id)) => Some(Self::Dispute(id.to_owned())),
            _ => None,
        };
        read.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// How far a dispute is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisputeState {
    /// Not decided yet.
    Open,
    /// Decided for the service, or withdrawn.
    Won,
    /// Decided for the buyer, whom the provider has paid.
    Lost,
}

impl DisputeState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Open, Self::Won, Self::Lost];

    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Won => "won",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for DisputeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DisputeState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A dispute of a payment by the buyer's bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// Name of the provider.
    pub provider: String,
    /// Id that the provider assigned to it.
    pub reference: String,
    /// What was paid for.
    pub payable: Payable,
    /// How far it is.
    pub state: DisputeState,
    /// The disputed money.
    pub money: Money,
    /// When this service first knew of it.
    pub opened_at: Timestamp,
    /// When its state last changed here.
    pub changed_at: Timestamp,
}

/// A provider's report about a payment, in a form common to all providers. It may arrive more than once, late, and in
/// any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentNotice {
    /// Id that the provider assigns to the event: 1 to 255 visible ASCII characters; a redelivery carries the same
    /// id.
    pub event_id: String,
    /// What the payment is for.
    pub payable: Payable,
    /// Kind of change.
    pub kind: NoticeKind,
    /// Amount that was, or would have been, moved.
    pub money: Money,
    /// Id that the provider assigns to the checkout: 1 to 255 visible ASCII characters.
    pub reference: String,
    /// Time of the event at the provider.
    pub occurred_at: Timestamp,
    /// The refund or the dispute, if it is about one.
    pub detail: Option<NoticeDetail>,
}

impl PaymentNotice {
    /// Returns whether both notices have the same content, ignoring event id and time.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |notice: &Self| (notice.payable, notice.kind, notice.money);
        said(self) == said(other) && self.reference == other.reference && self.detail == other.detail
    }
}

/// Result of processing a notice, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOutcome {
    /// The notice changed the state of the payment.
    Applied,
    /// The notice carried no new information.
    Nothing,
    /// The notice contradicts what it names; nothing was changed.
    Mismatch,
}

impl NoticeOutcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Applied, Self::Nothing, Self::Mismatch];

    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Nothing => "nothing",
            Self::Mismatch => "mismatch",
        }
    }
}

impl FromStr for NoticeOutcome {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|outcome| outcome.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}
