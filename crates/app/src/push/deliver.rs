//! Sends messages that are due. Several processes may do so concurrently: a message that one of them has taken is not due for
//! a minute, and attempts are numbered, so that a late outcome does not overwrite a later one.

use crate::App;
use crate::push::{PAUSE, PushCalls, PushDecision, PushFault, PushMessage, PushPayload};
use crate::store::{Command, Query, into_infallible};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_identity::{PushDelivery, PushRead, PushSettlement, PushStanding, PushWrite};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId, Uuid, num};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Number of messages that one process sends concurrently.
const AT_ONCE: usize = 64;
/// When a message that was taken is due again; longer than a call takes.
const TAKEN_FOR: Duration = Duration::from_mins(1);
/// Number of subscriptions for which a shared message is enqueued at once, and the pause before the next portion.
const PORTION: u32 = 250;
const PORTION_EVERY: Duration = Duration::from_secs(1);
/// Pause after the first failed attempt; each further attempt doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// Maximum pause that is not asked for by the push service.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);
/// Maximum pause that a push service can ask for.
const LONGEST_WAIT: Duration = Duration::from_hours(6);
/// Interval between two checks for due messages.
const LOOK: Duration = Duration::from_secs(1);
/// Interval between two updates of the gauges.
const COUNT: Duration = Duration::from_secs(30);

type Running = JoinSet<Result<bool, StoreError>>;

impl App {
    /// Sends push messages until `stop` becomes true. Several processes may do so concurrently. Returns at once without a
    /// sender.
    pub async fn run_push(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        if self.push.is_none() {
            return;
        }
        let mut counted: Option<Instant> = None;
        while !*stop.borrow() {
            if let Err(error) = self.push_until(&stop).await {
                log::warn!("push messages will be sent later: {error}");
            }
            if counted.is_none_or(|at| at.elapsed() >= COUNT) {
                counted = Some(Instant::now());
                self.count_pushes().await;
            }
            tokio::select! {
                // The sender was dropped, or it sent true.
                _ = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Sends every message that is due, once; returns how many were sent.
    ///
    /// # Errors
    ///
    /// If the database is unavailable.
    pub async fn deliver_pushes(self: &Arc<Self>) -> Result<u64, StoreError> {
        let (_never_stopped, stop) = watch::channel(false);
        self.push_until(&stop).await
    }

    async fn push_until(self: &Arc<Self>, stop: &watch::Receiver<bool>) -> Result<u64, StoreError> {
        let Some(calls) = &self.push else { return Ok(0) };
        let (mut sent, mut failed) = (0, None);
        let mut running = Running::new();
        loop {
            // Half of the places are kept free, so that a push service that does not answer does not hold up others.
            if failed.is_none() && !*stop.borrow() && running.len() <= AT_ONCE / 2 {
                failed = self.take_pushes(calls, &mut running).await.err();
            }
            // Calls in flight are waited for in any case, so that their outcomes are recorded.
            match running.join_next().await {
                Some(Ok(Ok(is_sent))) => sent += u64::from(is_sent),
                Some(Ok(Err(error))) => log::warn!("the outcome of a push message was not recorded: {error}"),
                Some(Err(error)) => log::error!("a push message is sent again: {error}"),
                None => return failed.map_or(Ok(sent), Err),
            }
        }
    }

    /// Takes messages that are due, as long as there are any and few are being sent.
    async fn take_pushes(
        self: &Arc<Self>,
        calls: &PushCalls,
        running: &mut Running,
    ) -> Result<(), StoreError> {
        while running.len() <= AT_ONCE / 2 {
            // Most checks end here, without a write.
            if !into_infallible(self.query(IsPushDue).await)? {
                return Ok(());
            }
            let spread = into_infallible(self.execute(SpreadPush).await)?;
            let limit = num::to_u32(AT_ONCE.saturating_sub(running.len()));
            let taken = into_infallible(self.execute(TakePushes { limit }).await)?;
            if taken.is_empty() && spread.is_none() {
                return Ok(());
            }
            // Once for all devices of a fan.
            let groups: BTreeSet<_> = taken.iter().map(group).collect();
            let decisions = (calls.render)(self, groups.into_iter().collect()).await?;
            for delivery in taken {
                let decision = decisions.get(&group(&delivery)).cloned().unwrap_or(PushDecision::Drop);
                running.spawn(deliver(Arc::clone(self), calls.clone(), delivery, decision));
            }
        }
        Ok(())
    }

    async fn count_pushes(&self) {
        let standing = match into_infallible(self.query(PushesStanding).await) {
            Ok(standing) => standing,
            Err(error) => return log::debug!("push messages were not counted: {error}"),
        };
        metrics::gauge!("terrace_push_subscriptions").set(num::to_f64(standing.subscriptions));
        metrics::gauge!("terrace_push_due").set(num::to_f64(standing.due));
        let age = standing.oldest.map_or(Duration::ZERO, |oldest| self.now().since(oldest));
        metrics::gauge!("terrace_push_oldest_age_seconds").set(age.as_secs_f64());
    }
}

fn group(delivery: &PushDelivery) -> (UserId, Uuid) {
    (delivery.subscription.user, delivery.group)
}

/// What becomes of a message, and why it is dropped if it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcomes {
    Settled(PushSettlement),
    Dropped(&'static str),
    Gone,
}

/// Sends one message, and records the outcome. Returns whether it was sent.
async fn deliver(
    app: Arc<App>,
    calls: PushCalls,
    delivery: PushDelivery,
    decision: PushDecision,
) -> Result<bool, StoreError> {
    let now = app.now();
    let outcome = match decision {
        _ if delivery.expires_at.is_over(now) => Outcomes::Dropped("expired"),
        PushDecision::Drop => Outcomes::Dropped("stale"),
        PushDecision::Hold(until) => Outcomes::Settled(PushSettlement::Held(until)),
        PushDecision::Send(payload) => send(&app, &calls, &delivery, payload, now).await,
    };
    if let Outcomes::Dropped(reason) = outcome {
        metrics::counter!("terrace_push_dropped_total", "reason" => reason).increment(1);
    }
    let is_sent = matches!(outcome, Outcomes::Settled(PushSettlement::Sent(_)));
    into_infallible(app.execute(SettlePush { delivery, outcome }).await)?;
    Ok(is_sent)
}

async fn send(
    app: &App,
    calls: &PushCalls,
    delivery: &PushDelivery,
    payload: PushPayload,
    now: Timestamp,
) -> Outcomes {
    let (urgency, interest) = payload.class();
    let Some(payload) = payload.encode() else { return Outcomes::Dropped("long") };
    let mut ctx = app.seed().open();
    let to = &delivery.subscription;
    let message = PushMessage {
        endpoint: to.endpoint.clone(),
        keys: to.keys.clone(),
        key_id: to.key_id.clone(),
        payload,
        ttl: interest.min(delivery.expires_at.since(now)),
        urgency,
        topic: delivery.group.simple().to_string(),
        salt: ctx.random_bytes(),
    };
    let began = Instant::now();
    let came = calls.sender.send(message, now).await;
    count_call(&came, began);
    // The time at which the answer came: a pause begins there.
    let now = app.now();
    let Err(fault) = came else { return Outcomes::Settled(PushSettlement::Sent(now.plus(PAUSE))) };
    log::debug!("a push message to {} was not sent: {fault}", to.endpoint.host());
    let wait = match fault {
        PushFault::Gone(_) => return Outcomes::Gone,
        PushFault::Refused(_) => return Outcomes::Dropped("refused"),
        PushFault::Busy { after: Some(after), .. } => after.clamp(FIRST_PAUSE, LONGEST_WAIT),
        PushFault::Busy { after: None, .. } | PushFault::Unreached(_) => {
            pause(delivery.failures, ctx.random_bytes())
        }
    };
    Outcomes::Settled(PushSettlement::Failed(now.plus(wait)))
}

fn count_call(came: &Result<(), PushFault>, began: Instant) {
    let outcome = match came {
        Ok(()) => "sent",
        Err(PushFault::Gone(_)) => "gone",
        Err(PushFault::Busy { .. }) => "busy",
        Err(PushFault::Unreached(_)) => "unreached",
        Err(PushFault::Refused(_)) => "refused",
    };
    metrics::counter!("terrace_push_sends_total", "outcome" => outcome).increment(1);
    metrics::histogram!("terrace_push_send_seconds").record(began.elapsed().as_secs_f64());
}

/// The pause before the next attempt: doubles with each, minus a random share of up to one half.
fn pause(failures: u32, luck: [u8; 4]) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures.min(20))).min(LONGEST_PAUSE);
    let share = f64::from(u32::from_le_bytes(luck)) / f64::from(u32::MAX);
    whole.mul_f64(1.0 - share / 2.0)
}

struct IsPushDue;

impl Query for IsPushDue {
    const NAME: &'static str = "is_push_due";
    type Ports = dyn PushRead;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PushRead, now: Timestamp) -> Outcome<bool, Infallible> {
        Ok(tx.is_push_due(now)?)
    }
}

struct PushesStanding;

impl Query for PushesStanding {
    const NAME: &'static str = "read_push_standing";
    type Ports = dyn PushRead;
    type Output = PushStanding;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PushRead, now: Timestamp) -> Outcome<PushStanding, Infallible> {
        Ok(tx.push_standing(now)?)
    }
}

/// Enqueues a portion of a shared message.
struct SpreadPush;

impl Command for SpreadPush {
    const NAME: &'static str = "spread_push";
    type Ports = dyn PushWrite;
    type Output = Option<u64>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PushWrite, ctx: &mut Ctx) -> Outcome<Option<u64>, Infallible> {
        Ok(tx.spread_push(ctx.now(), ctx.now().plus(PORTION_EVERY), PORTION)?)
    }
}

struct TakePushes {
    limit: u32,
}

impl Command for TakePushes {
    const NAME: &'static str = "take_pushes";
    type Ports = dyn PushWrite;
    type Output = Vec<PushDelivery>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PushWrite, ctx: &mut Ctx) -> Outcome<Vec<PushDelivery>, Infallible> {
        Ok(tx.take_pushes(ctx.now(), ctx.now().plus(TAKEN_FOR), self.limit)?)
    }
}

/// Records the outcome of an attempt.
struct SettlePush {
    delivery: PushDelivery,
    outcome: Outcomes,
}

impl Command for SettlePush {
    const NAME: &'static str = "settle_push";
    type Ports = dyn PushWrite;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PushWrite, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let delivery = &self.delivery;
        match self.outcome {
            Outcomes::Settled(settlement) => tx.settle_push(delivery, settlement)?,
            Outcomes::Dropped(_) => tx.settle_push(delivery, PushSettlement::Dropped)?,
            Outcomes::Gone => tx.drop_push_subscription(delivery.id, &delivery.subscription.endpoint)?,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_and_are_shortened_by_half_at_most() {
        for (failures, seconds) in [(0, 30.0), (1, 60.0), (6, 1920.0), (7, 3600.0), (u32::MAX, 3600.0)] {
            let (longest, shortest) = (pause(failures, [0; 4]), pause(failures, [255; 4]));
            assert!((longest.as_secs_f64() - seconds).abs() < 1e-6, "{failures}: {longest:?}");
            assert!((shortest.as_secs_f64() - seconds / 2.0).abs() < 1e-6, "{failures}: {shortest:?}");
        }
    }
}
