//! Server-sent events based on the event log.
//!
//! One [`feeder`] for each process follows the event log and copies its events into four in-memory [`log`]s, encoded
//! once each. It then signals the [`hub`] of each worker, which wakes the connections for which an event is relevant.
//! Each connection ([`body`]) reads the logs of its [`interest`] from its own place. Writers never wait for readers. The
//! ids are the public positions of the event log. They are the same in every process and after every restart, so a
//! client can resume at any server.

mod body;
mod channels;
mod config;
mod document;
pub(crate) mod dto;
mod feeder;
mod frame;
mod hub;
#[cfg(test)]
mod hub_tests;
mod interest;
mod kind;
mod log;
#[cfg(test)]
mod log_tests;
mod open;
mod readers;
mod routes;
mod slot;
mod view;

pub use config::StreamConfig;
pub(crate) use document::add_events;
pub(crate) use feeder::feed;
pub(crate) use hub::Hub;
pub(crate) use interest::Interest;
pub(crate) use open::{StreamRequest, open, start};
pub(crate) use routes::StreamQuery;
pub(crate) use view::Part;

use crate::edge::fallback;
use crate::register::Routes;
use crate::streams::kind::{ByKind, Kind};
use crate::streams::log::{Bounds, Log, Snapshot};
use crate::streams::readers::{Caps, Readers};
use actix_web::web;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::stream_leaderboard)
        .service(routes::stream_own)
        .service(routes::stream_locker_room)
        .service(routes::stream_all)
        // Other methods on this path get 405, instead of being routed to a post with the id `stream`.
        .route("/api/locker-room/stream", web::to(fallback::answer));
}

/// Number of reconnecting readers that read events from the table at once.
const REPLAYS: usize = 4;

/// Stream state that all workers share.
pub(crate) struct Streams {
    logs: ByKind<Log>,
    readers: Arc<Readers>,
    bell: watch::Sender<u64>,
    /// The position at which this process started to follow the event log. Earlier events are sent only to
    /// clients that resume before it.
    heard_from: AtomicI64,
    /// Incremented when streams must end early.
    alarms: AtomicU64,
    closed: AtomicBool,
    replays: Semaphore,
    config: StreamConfig,
}

impl Streams {
    /// Creates the state of a process. The limits for accounts and addresses apply if `capped`.
    pub(crate) fn new(config: StreamConfig, capped: bool) -> Self {
        let bounds = Bounds { frames: config.kept_events, bytes: config.kept_bytes };
        let cap = |most| capped.then_some(most);
        let caps = Caps { account: cap(config.per_account), address: cap(config.per_address) };
        Self {
            logs: ByKind::of(|_| Log::new(bounds)),
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
        self.logs.get(kind)
    }

    /// The logs of these kinds, locked for reading.
    fn lock(&self, kinds: ByKind<bool>) -> Snapshot<'_> {
        Snapshot::of(ByKind::of(|kind| kinds.get(kind).then(|| self.log(kind))))
    }

    /// Notifies every worker of new events.
    fn ring(&self) {
        self.bell.send_modify(|rings| *rings = rings.wrapping_add(1));
    }

    /// Makes every worker check for streams that must end.
    fn alarm(&self) {
        self.alarms.fetch_add(1, Ordering::AcqRel);
        self.ring();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Ends every stream, and each stream that is opened from now on: the clients reconnect to another
    /// process.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.alarm();
    }

    /// Waits until the log holds everything from before this process started to follow it, so that a stream opened
    /// now does not send older events. Returns `false` if `patience` has passed first.
    async fn is_ready(&self, patience: Duration) -> bool {
        let mut bell = self.bell.subscribe();
        let is_there = || {
            let heard_from = self.heard_from.load(Ordering::Acquire);
            self.log(Kind::Fans).reached().is_some_and(|reached| reached.get() >= heard_from)
        };
        let begun = bell.wait_for(|_| is_there());
        matches!(tokio::time::timeout(patience, begun).await, Ok(Ok(_)))
    }
}
