//! Push messages: the subscriptions of browsers at push services, and the queue of messages about notifications.
//!
//! 1. `PUT /api/push/subscription` stores the subscription of a session. It is deleted with the session, in the transaction
//!    that ends it; one whose session expired gets nothing and is swept.
//! 2. [`enqueue`] adds a message about a notification to the queue, in the transaction that stores the notification: one row
//!    for each subscription. A message that waits takes up later ones about the same notification, and after it was
//!    sent the next one waits for [`PAUSE`]. [`enqueue_shared`] does the same for a notification that all accounts share,
//!    in portions, so that its messages do not delay others.
//! 3. `App::run_push` takes messages that are due and leases them for a minute (`push_deliveries.due_at`); renders them with
//!    the [`PushRender`] of the notifications, which may hold a message back or drop it; sends them, outside of any
//!    transaction; and records the outcomes. A process that is killed between the two sends a message once more after
//!    the lease, and never loses one.
//! 4. A push service that is busy or not reached gets the message again after a pause. One that no longer has the
//!    subscription ends it.

mod deliver;
pub(crate) mod erasure;
pub mod export;
mod payload;
mod sender;
mod subscribe;

pub(crate) use erasure::ERASURE;
pub use payload::{LONGEST_PAYLOAD, PushDecision, PushDecisions, PushGroups, PushPayload, PushRender};
pub use sender::{PushFault, PushMessage, PushRejection, PushSender, ServerKey, Urgency};
pub use subscribe::{DeletePushSubscription, PutPushSubscription, SessionEnded};
/// Types for senders, re-exported so that adapters need not depend on the domain crates.
pub use terrace_identity::{NewPushSubscription, PushEndpoint, PushKeys, PushStanding};

use crate::App;
use std::sync::Arc;
use std::time::Duration;
use terrace_identity::PushQueue;
use terrace_kernel::{StoreError, Timestamp, UserId, Uuid};

/// After a message about a notification was sent, the pause before the next one about it.
pub const PAUSE: Duration = Duration::from_hours(1);
/// How long a message may wait to be sent, in quiet hours and for a push service that is not reached.
const LIFE: Duration = Duration::from_hours(24);

/// The sender of push messages, and what renders them.
#[derive(Clone)]
pub(crate) struct PushCalls {
    pub(crate) sender: Arc<dyn PushSender>,
    pub(crate) render: PushRender,
}

impl App {
    /// Sets the sender of push messages; without one browsers cannot subscribe.
    #[must_use]
    pub fn with_push(self, sender: Arc<dyn PushSender>, render: PushRender) -> Self {
        Self { push: Some(PushCalls { sender, render }), ..self }
    }

    /// The key that browsers subscribe with; `None` if no push messages are sent.
    pub fn push_key(&self) -> Option<ServerKey> {
        self.push.as_ref().map(|push| push.sender.key())
    }

    /// Whether messages can be sent to a subscription; `None` if no push messages are sent.
    pub fn check_push(&self, subscription: &NewPushSubscription) -> Option<Result<(), PushRejection>> {
        self.push.as_ref().map(|push| push.sender.check(subscription))
    }
}

/// Enqueues a message about a notification of a fan, `group`, to each of the fan's live subscriptions.
pub fn enqueue(
    tx: &mut (impl PushQueue + ?Sized),
    user: UserId,
    group: Uuid,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.enqueue_push(user, group, now, now.plus(LIFE))
}

/// Enqueues messages about a notification that all accounts share, once for each `group`.
pub fn enqueue_shared(
    tx: &mut (impl PushQueue + ?Sized),
    group: Uuid,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.enqueue_shared_push(group, now, now.plus(LIFE))
}
