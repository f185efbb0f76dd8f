//! Delivers the messages of the outbox.
//!
//! A process takes lanes (one lane is one fan's messages), sends the first message of each, records the outcome, and
//! continues with the next message. The holder of a lane has a lease of one minute, which it renews, so that only one
//! process sends. If the holder dies or loses its database connection, the lease expires and the message is sent
//! again. No database lock is held while waiting for the minter.

use crate::App;
use crate::minting::{MintFault, MintNotice, Minter};
use crate::store::{Command, Query, into_infallible};
use crate::store::{ReadTx, Tx};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use uuid::Uuid;

/// Number of lanes that one process sends from concurrently.
const AT_ONCE: usize = 8;
/// Lease of a lane; longer than any call takes.
const HELD_FOR: Duration = Duration::from_mins(1);
/// Maximum number of messages sent from a lane in a row before other lanes get their turn.
const IN_A_ROW: u32 = 50;
/// Pause after the first failed attempt; each further attempt doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);
/// Number of refusals by the minter after which a message is set aside: with the pauses between, after some nine
/// minutes.
const MOST_REFUSALS: u32 = 10;
/// Maximum length of a stored error text, in characters.
const WORDS: usize = 200;
/// Interval between two checks for due messages.
const LOOK: Duration = Duration::from_secs(1);
/// Interval between two updates of the gauges.
const COUNT: Duration = Duration::from_secs(30);

impl App {
    /// Delivers messages until `stop` becomes true. Several processes may do so concurrently. Returns at once without
    /// a minter.
    pub async fn run_minting(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        if !self.has_minter() {
            return;
        }
        let mut counted: Option<Instant> = None;
        while !*stop.borrow() {
            if let Err(error) = self.deliver_until(&stop).await {
                log::warn!("minting will try again: {error}");
            }
            if counted.is_none_or(|at| at.elapsed() >= COUNT) {
                counted = Some(Instant::now());
                self.count_minting().await;
            }
            tokio::select! {
                // The sender was dropped, or it sent true.
                _ = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Delivers everything that is due, including what becomes due in the meantime; returns the number of delivered
    /// messages. Undelivered messages stay pending until their next attempt.
    ///
    /// # Errors
    ///
    /// If the database is unavailable.
    pub async fn deliver_minting(self: &Arc<Self>) -> Result<u64, StoreError> {
        let (_never_stopped, stop) = watch::channel(false);
        self.deliver_until(&stop).await
    }

    async fn deliver_until(self: &Arc<Self>, stop: &watch::Receiver<bool>) -> Result<u64, StoreError> {
        let Some(minter) = &self.minter else { return Ok(0) };
        // A new id for each round: two rounds in one process are as independent as two processes.
        let holder = self.seed().open().new_id();
        let mut running = JoinSet::new();
        let mut delivered = 0;
        loop {
            let free = AT_ONCE.saturating_sub(running.len());
            let taken =
                if *stop.borrow() || free == 0 { Ok(Vec::new()) } else { self.take(holder, free).await };
            match taken {
                Ok(firsts) => {
                    for first in firsts {
                        let lane = Lane { app: Arc::clone(self), minter: Arc::clone(minter), holder };
                        running.spawn(lane.send(first, stop.clone()));
                    }
                }
                Err(error) if running.is_empty() => return Err(error),
                // Deliveries in progress are completed.
                Err(error) => log::warn!("minting will look again: {error}"),
            }
            if running.is_empty() {
                return Ok(delivered);
            }
            tokio::select! {
                Some(sent) = running.join_next() => delivered += got_through(sent),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Takes up to `most` lanes that are due and returns their first messages.
    async fn take(&self, holder: Uuid, most: usize) -> Result<Vec<MintNotice>, StoreError> {
        // Most checks end here, without a write.
        if !into_infallible(self.query(IsMintingDue).await)? {
            return Ok(Vec::new());
        }
        let limit = u32::try_from(most).unwrap_or(u32::MAX);
        into_infallible(self.execute(TakeLanes { holder, limit }).await)
    }

    async fn count_minting(&self) {
        let standing = match into_infallible(self.query(crate::minting::upkeep::ReadMinting).await) {
            Ok(standing) => standing,
            Err(error) => return log::debug!("the pending messages to the minter were not counted: {error}"),
        };
        let gauge = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        metrics::gauge!("terrace_minting_pending").set(gauge(standing.pending));
        metrics::gauge!("terrace_minting_failed").set(gauge(standing.failed));
        let age = standing.oldest.map_or(Duration::ZERO, |oldest| self.now().since(oldest));
        metrics::gauge!("terrace_minting_oldest_age_seconds").set(age.as_secs_f64());
    }
}

fn got_through(sent: Result<Result<u64, StoreError>, JoinError>) -> u64 {
    match sent {
        Ok(Ok(delivered)) => delivered,
        Ok(Err(error)) => {
            log::warn!("the outcome of a message to the minter was not recorded, it is sent again: {error}");
            0
        }
        Err(error) => {
            log::error!("a message to the minter is sent again: {error}");
            0
        }
    }
}

/// A lane that this process holds.
struct Lane {
    app: Arc<App>,
    minter: Arc<dyn Minter>,
    holder: Uuid,
}

impl Lane {
    /// Sends messages in order until none is left, one fails, or other lanes are due for their turn.
    async fn send(self, first: MintNotice, stop: watch::Receiver<bool>) -> Result<u64, StoreError> {
        let (mut next, mut sent, mut delivered) = (Some(first), 0_u32, 0);
        while let Some(notice) = next {
            let began = Instant::now();
            let came = self.minter.send(&notice, self.app.now()).await;
            sent += 1;
            count_call(&came, began.elapsed());
            if let Err(fault) = &came {
                log::debug!("the minter gave no receipt for message {}: {fault}", notice.id());
            }
            delivered += u64::from(came.is_ok());
            let goes_on = sent < IN_A_ROW && !*stop.borrow();
            let settled = Settle { holder: self.holder, notice: notice.clone(), came, goes_on };
            let settled = into_infallible(self.app.execute(settled).await)?;
            if settled.is_set_aside {
                metrics::counter!("terrace_minting_set_aside_total").increment(1);
                log::error!("the minter refuses message {}, which is set aside", notice.id());
            }
            next = settled.next;
        }
        Ok(delivered)
    }
}

fn count_call(came: &Result<(), MintFault>, took: Duration) {
    let outcome = match came {
        Ok(()) => "delivered",
        Err(MintFault::Passing(_)) => "unreached",
        Err(MintFault::Refused(_)) => "refused",
    };
    metrics::counter!("terrace_minting_calls_total", "outcome" => outcome).increment(1);
    metrics::histogram!("terrace_minting_call_seconds").record(took.as_secs_f64());
}

/// The pause before the next attempt: doubles with each attempt, minus a random share of up to one half, so that
/// messages that failed together are not retried together.
fn pause(attempts: u32, luck: [u8; 4]) -> Duration {
    let doublings = attempts.saturating_sub(1).min(20);
    let whole = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_PAUSE);
    let share = f64::from(u32::from_le_bytes(luck)) / f64::from(u32::MAX);
    whole.mul_f64(1.0 - share / 2.0)
}

struct IsMintingDue;

impl Query for IsMintingDue {
    const NAME: &'static str = "is_minting_due";
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<bool, Infallible> {
        Ok(tx.is_minting_due(now)?)
    }
}

/// Takes lanes, and reads the first message of each.
struct TakeLanes {
    holder: Uuid,
    limit: u32,
}

impl Command for TakeLanes {
    const NAME: &'static str = "take_mint_lanes";
    type Output = Vec<MintNotice>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Vec<MintNotice>, Infallible> {
        let now = ctx.now();
        let mut firsts = Vec::new();
        for user in tx.take_lanes(self.holder, now, now.plus(HELD_FOR), self.limit)? {
            match tx.next_notice(user)? {
                Some(first) => firsts.push(first),
                None => tx.close_lane(user)?,
            }
        }
        Ok(firsts)
    }
}

/// Records the outcome of a message, and reads the next one.
struct Settle {
    holder: Uuid,
    notice: MintNotice,
    came: Result<(), MintFault>,
    /// Whether the holder would send another message.
    goes_on: bool,
}

#[derive(Default)]
struct Settled {
    /// The message to send now.
    next: Option<MintNotice>,
    is_set_aside: bool,
}

impl Command for Settle {
    const NAME: &'static str = "settle_mint_message";
    type Output = Settled;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Settled, Infallible> {
        let MintNotice { user, sequence, .. } = self.notice;
        // Locks before any read: a message that is being added is then visible, or its writer finds the lane closed
        // and reopens it.
        let is_ours = tx.lock_lane(user, self.holder)?;
        let mut settled = Settled::default();
        match &self.came {
            // A receipt counts even if another process holds the lane by now.
            Ok(()) => tx.note_receipt(sequence, ctx.now())?,
            Err(_) if !is_ours => {}
            Err(fault) => {
                let is_refusal = matches!(fault, MintFault::Refused(_));
                // `None` if another process has settled the message in the meantime.
                if let Some(tries) = tx.note_fault(sequence, is_refusal, &words(fault))? {
                    if !is_refusal || tries.refusals < MOST_REFUSALS {
                        let ready_at = ctx.now().plus(pause(tries.attempts, ctx.random_bytes()));
                        tx.leave_lane(user, ready_at)?;
                        return Ok(settled);
                    }
                    tx.set_aside(sequence, ctx.now())?;
                    settled.is_set_aside = true;
                }
            }
        }
        if !is_ours {
            return Ok(settled);
        }
        match tx.next_notice(user)? {
            None => tx.close_lane(user)?,
            Some(_) if !self.goes_on => tx.leave_lane(user, ctx.now())?,
            next => {
                tx.keep_lane(user, ctx.now().plus(HELD_FOR))?;
                settled.next = next;
            }
        }
        Ok(settled)
    }
}

/// The error text to store: at most `WORDS` characters, without control characters.
fn words(fault: &MintFault) -> String {
    fault.to_string().chars().filter(|letter| !letter.is_control()).take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_and_are_shortened_by_half_at_most() {
        for (attempts, seconds) in
            [(1, 1.0), (2, 2.0), (3, 4.0), (12, 2048.0), (13, 3600.0), (u32::MAX, 3600.0)]
        {
            let (longest, shortest) = (pause(attempts, [0; 4]), pause(attempts, [255; 4]));
            assert!((longest.as_secs_f64() - seconds).abs() < 1e-6, "{attempts}: {longest:?}");
            assert!((shortest.as_secs_f64() - seconds / 2.0).abs() < 1e-6, "{attempts}: {shortest:?}");
        }
    }

    #[test]
    fn faults_are_kept_as_one_short_line() {
        let long = MintFault::Passing(format!("no\0 answer\n{}", "x".repeat(1000)));
        let kept = words(&long);
        assert!(kept.starts_with("no answerxx") && kept.len() == WORDS, "{kept}");
    }
}
