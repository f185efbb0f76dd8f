//! Server-sent events on the event log.
//!
//! One [`feeder`] for the process follows the log and writes what it tells into three [`log`]s, each event encoded once.
//! A bell rings; the [`hub`] of each worker wakes those of its connections that are concerned, and each connection
//! ([`body`]) reads the log from where it is. Nobody who writes waits for anybody who reads. Ids are the public positions
//! of the event log, the same in every process and after every restart, so that a client goes on wherever it comes back.

mod body;
pub(crate) mod dto;
mod feeder;
mod frame;
mod hub;
#[cfg(test)]
mod hub_tests;
mod log;
#[cfg(test)]
mod log_tests;
mod open;
mod readers;
pub(crate) mod routes;
mod view;

pub(crate) use feeder::feed;
pub(crate) use hub::Hub;
pub(crate) use open::{Asked, open, start};
pub(crate) use view::Part;

use crate::streams::frame::Kind;
use crate::streams::log::{Bounds, Log};
use crate::streams::readers::{Caps, Readers};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// How many readers who come back are read events for at once.
const REPLAYS: usize = 4;

/// The bounds of streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamConfig {
    /// How long a stream lasts at least; up to a fifth of it is added by chance, so that clients do not come back all at
    /// once.
    pub life: Duration,
    /// After how long a silence a stream shows that it is there.
    pub heartbeat: Duration,
    /// How many streams one account may have; lifted with the rate limits.
    pub per_account: u32,
    /// How many streams those who are signed out may have from one address; lifted with the rate limits.
    pub per_address: u32,
    /// How many events of each kind of stream are kept in memory for readers who come back.
    pub kept_events: usize,
    /// How many bytes of them.
    pub kept_bytes: usize,
    /// How long a client may take nothing of what waits for it.
    pub write_timeout: Duration,
}

impl Default for StreamConfig {
    fn default() -> Self {
        Self {
            life: Duration::from_mins(5),
            heartbeat: Duration::from_secs(15),
            per_account: 12,
            per_address: 1000,
            kept_events: 4096,
            kept_bytes: 8 * 1024 * 1024,
            write_timeout: Duration::from_secs(20),
        }
    }
}

/// What all workers share of the streams.
pub(crate) struct Streams {
    room: Log,
    boards: Log,
    fans: Log,
    readers: Arc<Readers>,
    bell: watch::Sender<u64>,
    /// The place at which the log was taken up: what was before is told only to those who come back.
    heard_from: AtomicI64,
    /// Grows when streams are to end before their time.
    alarms: AtomicU64,
    closed: AtomicBool,
    replays: Semaphore,
    config: StreamConfig,
}

impl Streams {
    /// Those of a process. Caps hold where `capped`.
    pub(crate) fn new(config: StreamConfig, capped: bool) -> Self {
        let bounds = Bounds { frames: config.kept_events, bytes: config.kept_bytes };
        let cap = |most| capped.then_some(most);
        let caps = Caps { account: cap(config.per_account), address: cap(config.per_address) };
        Self {
            room: Log::new(bounds),
            boards: Log::new(bounds),
            fans: Log::new(bounds),
            readers: Arc::new(Readers::new(caps)),
            bell: watch::Sender::new(0),
            heard_from: AtomicI64::new(i64::MAX),
            alarms: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            replays: Semaphore::new(REPLAYS),
            config,
        }
    }

    fn log(&self, kind: Kind) -> &Log {
        match kind {
            Kind::Room => &self.room,
            Kind::Boards => &self.boards,
            Kind::Fans => &self.fans,
        }
    }

    /// Tells every worker that there is something to be looked at.
    fn ring(&self) {
        self.bell.send_modify(|rings| *rings = rings.wrapping_add(1));
    }

    /// Has every worker look for streams that are to end.
    fn alarm(&self) {
        self.alarms.fetch_add(1, Ordering::AcqRel);
        self.ring();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Ends every stream, and every one that is opened from now on at once: its client comes back, elsewhere.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.alarm();
    }

    /// Waits until the log is there, with all that had happened when it was taken up: whoever listens from now on hears
    /// none of it. Says whether it is.
    async fn is_ready(&self, patience: Duration) -> bool {
        let mut bell = self.bell.subscribe();
        let is_there = || {
            let heard_from = self.heard_from.load(Ordering::Acquire);
            self.fans.reached().is_some_and(|reached| reached.get() >= heard_from)
        };
        let begun = bell.wait_for(|_| is_there());
        matches!(tokio::time::timeout(patience, begun).await, Ok(Ok(_)))
    }
}

/// What all kinds of streams are.
const KINDS: [Kind; 3] = [Kind::Room, Kind::Boards, Kind::Fans];
