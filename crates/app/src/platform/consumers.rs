//! Work that must follow an event: durable consumers. Each consumer's stored offset moves in the transaction of its
//! work, so every event is processed exactly once, even if a process is killed at any point.

use crate::App;
use crate::platform::follower::Follower;
use crate::store::{Command, EventRead, Query, Tx, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Ctx, Event, EventKind, Outcome, Position, StoreError, Timestamp, num};
use tokio::sync::watch;

/// Whether an event has been processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Completely.
    Done,
    /// Partly: the next transaction continues with the same event.
    More,
}

/// A durable consumer.
#[derive(Debug, Clone, Copy)]
pub struct Consumer {
    /// Stable name, under which the offset is stored.
    pub name: &'static str,
    /// Kinds of events that it processes; it skips the others.
    pub follows: &'static [EventKind],
    /// Its work, in a transaction of bounded size.
    pub handle: Handle,
}

/// How a consumer processes events.
#[derive(Debug, Clone, Copy)]
pub enum Handle {
    /// One at a time; an event may take several transactions.
    One(fn(&mut dyn Tx, &mut Ctx, &Event) -> Result<Progress, StoreError>),
    /// Some dozens in one transaction.
    Many(fn(&mut dyn Tx, &mut Ctx, &[Event]) -> Result<(), StoreError>),
}

/// Maximum number of rows that one transaction removes.
pub(crate) const PORTION: u32 = 500;
/// Maximum number of events that a consumer processes in one transaction.
const TOGETHER: u32 = 64;
/// Maximum number of positions in which one query looks for events to process.
const SPAN: i64 = 4096;
/// The offset is stored when it lags this far behind the skipped events: storing it for each of them would double the
/// writes under load.
const PASSED_OVER: i64 = 1000;
/// Poll interval without a notification.
const SLOW_POLL: Duration = Duration::from_secs(5);

impl App {
    /// Runs one durable consumer until `stop` turns true. Several processes may run it concurrently.
    pub async fn run_consumer(self: Arc<Self>, consumer: Consumer, mut stop: watch::Receiver<bool>) {
        let mut follower = Follower::new(self.store.bell());
        let mut seen = Position::START;
        loop {
            let wait = match self.advance(consumer, &mut seen, Some(&stop)).await {
                Ok(true) => Duration::ZERO,
                Ok(false) => SLOW_POLL,
                Err(error) => {
                    log::warn!("consumer {} will retry: {error}", consumer.name);
                    Duration::from_secs(1)
                }
            };
            if *stop.borrow() {
                return;
            }
            if !wait.is_zero() {
                tokio::select! {
                    _ = stop.wait_for(|stop| *stop) => return,
                    rung = follower.wait(wait) => if !rung { return },
                }
            }
        }
    }

    /// Reads the next events and processes those that the consumer follows; returns whether there is more to do.
    /// `seen` is the position up to which this process has read. Once `stop` is true, it returns after the current
    /// transaction.
    pub(crate) async fn advance(
        &self,
        consumer: Consumer,
        seen: &mut Position,
        stop: Option<&watch::Receiver<bool>>,
    ) -> Result<bool, StoreError> {
        let ahead = into_infallible(self.query(LookAhead { consumer, seen: *seen }).await)?;
        let lag = metrics::gauge!("terrace_consumer_lag_seconds", "consumer" => consumer.name);
        lag.set(ahead.lag.as_secs_f64());
        if ahead.relevant || ahead.last.get() - ahead.stored.get() >= PASSED_OVER {
            let consume = Consume { consumer, up_to: ahead.last };
            while into_infallible(self.execute_background(consume).await)? {
                // There may be a million pending events; a shutdown does not wait for all of them.
                if stop.is_some_and(|stop| *stop.borrow()) {
                    return Ok(true);
                }
            }
        }
        // Only now: after a failure, the same events are read again.
        *seen = ahead.last;
        if !ahead.full {
            lag.set(0.0);
        }
        Ok(ahead.full)
    }
}

/// Checks, without a write, whether there is work to do.
struct LookAhead {
    consumer: Consumer,
    seen: Position,
}

struct Ahead {
    stored: Position,
    /// The position up to which the query looked for events.
    last: Position,
    relevant: bool,
    /// The age of the first relevant event.
    lag: Duration,
    full: bool,
}

impl Query for LookAhead {
    const NAME: &'static str = "look_ahead";
    type Ports = dyn EventRead;
    type Output = Ahead;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn EventRead, now: Timestamp) -> Outcome<Ahead, Infallible> {
        // The head before the events: every event up to it is public.
        let (stored, head) = tx.consumer_position_and_head(self.consumer.name)?;
        let mut after = self.seen.max(stored);
        if after == Position::START {
            // A new consumer starts at the oldest retained event.
            after = tx.events_after(after, 1)?.first().map_or(after, |oldest| oldest.position.before());
        }
        let last = Position::new(after.get() + SPAN).map_or(head, |end| end.min(head)).max(after);
        let first =
            if last > after { tx.events_of(self.consumer.follows, after, last, 1)? } else { Vec::new() };
        let lag = first.first().map(|event| now.since(event.at));
        Ok(Ahead { stored, last, relevant: lag.is_some(), lag: lag.unwrap_or_default(), full: last < head })
    }
}

/// Processes the next events up to a position, and moves the offset in the same transaction.
#[derive(Clone, Copy)]
struct Consume {
    consumer: Consumer,
    up_to: Position,
}

impl Command for Consume {
    const NAME: &'static str = "consume";
    type Ports = dyn Tx;
    /// Whether there is more to do.
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        let Self { consumer: Consumer { name, follows, handle }, up_to } = *self;
        let stored = tx.lock_consumer(name)?;
        if stored >= up_to {
            return Ok(false);
        }
        let limit = match handle {
            // One event with an effect per transaction keeps transactions small.
            Handle::One(_) => 1,
            Handle::Many(_) => TOGETHER,
        };
        let events = tx.events_of(follows, stored, up_to, limit)?;
        let mut progress = Progress::Done;
        if let Some(at) = events.iter().map(|event| event.at).max() {
            ctx.not_before(at);
            match handle {
                Handle::One(handle) => {
                    for event in &events {
                        progress = handle(tx, ctx, event)?;
                    }
                }
                Handle::Many(handle) => handle(tx, ctx, &events)?,
            }
        }
        if progress == Progress::More {
            return Ok(true);
        }
        let last = events.last().filter(|_| num::to_u32(events.len()) == limit);
        let reached = last.map_or(up_to, |last| last.position);
        tx.set_consumer_position(name, reached)?;
        Ok(reached < up_to)
    }
}
