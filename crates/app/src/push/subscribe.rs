//! The subscription of a session.

use crate::store::Command;
use std::convert::Infallible;
use terrace_identity::{NewPushSubscription, PushSubscriptionId, PushWrite};
use terrace_kernel::{Ctx, Failure, Outcome, SessionId};

/// Stores the subscription of a session, in place of the one that it has. An endpoint belongs to the session that stored it
/// last: a browser in which another fan signs in shows nothing of the fan before.
#[derive(Debug, Clone)]
pub struct PutPushSubscription(pub NewPushSubscription);

/// The session was just ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnded;

impl Command for PutPushSubscription {
    const NAME: &'static str = "put_push_subscription";
    type Ports = dyn PushWrite;
    type Output = ();
    type Refusal = SessionEnded;

    fn run(&self, tx: &mut dyn PushWrite, ctx: &mut Ctx) -> Outcome<(), SessionEnded> {
        let id: PushSubscriptionId = ctx.new_id();
        let is_stored = tx.put_push_subscription(id, &self.0, ctx.now())?;
        if is_stored { Ok(()) } else { Err(Failure::Refused(SessionEnded)) }
    }
}

/// Deletes the subscription of a session, if it has one, with the messages that wait for it.
#[derive(Debug, Clone)]
pub struct DeletePushSubscription(pub SessionId);

impl Command for DeletePushSubscription {
    const NAME: &'static str = "delete_push_subscription";
    type Ports = dyn PushWrite;
    /// Whether there was one.
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PushWrite, _ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.delete_push_subscription(self.0)?)
    }
}
