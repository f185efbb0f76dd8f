//! The connections of one worker: which of them to wake, and a cache of output that several of them share.

use crate::streams::frame::About;
use crate::streams::interest::{Interest, Output};
use crate::streams::kind::{ByKind, KINDS, Kind};
use crate::streams::log::{LogCursor, Read, Snapshot};
use crate::streams::slot::{Scan, Slot, Slots};
use crate::streams::view::Reader;
use crate::streams::{Streams, frame};
use actix_web::rt;
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use terrace_kernel::{Position, num};
use tokio::task::yield_now;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// Interval at which due heartbeats and expired streams are looked up.
const TICK: Duration = Duration::from_millis(500);
/// Number of connections that are woken before other tasks run.
const PORTION: usize = 32;
/// Pause after a wake-up, for each connection that was woken, and the longest such pause.
const REST: Duration = Duration::from_micros(100);
const LONGEST_REST: Duration = Duration::from_millis(100);
/// Maximum number of cached outputs.
const COMMON: usize = 32;

/// Cached output of the shared parts, for readers without hidden accounts.
struct Common {
    interest: Interest,
    versions: ByKind<Option<u64>>,
    /// Where the original reader stood.
    from: LogCursor,
    /// The position of the first event in `body`. The output is valid for every reader whose position lies in
    /// `from.reached..first`.
    first: Position,
    body: Bytes,
    to: LogCursor,
}

/// The hub of a worker. It stays on the worker's thread.
pub(crate) struct Hub {
    streams: Arc<Streams>,
    slots: RefCell<Slots>,
    /// The number up to which each log was scanned.
    seen: ByKind<Cell<u64>>,
    alarms: Cell<u64>,
    is_running: Cell<bool>,
    common: RefCell<Vec<Common>>,
    beat: RefCell<Option<(Position, Bytes)>>,
}

/// The result of reading a log.
pub(super) enum Next {
    /// Output to send, and the new place.
    Chunk(Bytes, LogCursor),
    /// No relevant event up to this place.
    Nothing(LogCursor),
    /// The next events must be read from the table.
    Behind,
    /// The reader was too slow: its next events have left the log.
    Overrun,
}

impl Hub {
    /// The hub of one worker.
    pub(crate) fn new(streams: Arc<Streams>) -> Rc<Self> {
        Rc::new(Self {
            streams,
            slots: RefCell::default(),
            seen: ByKind::default(),
            alarms: Cell::new(0),
            is_running: Cell::new(false),
            common: RefCell::default(),
            beat: RefCell::default(),
        })
    }

    pub(super) fn streams(&self) -> &Arc<Streams> {
        &self.streams
    }

    /// Registers a connection; returns its number and slot.
    pub(super) fn join(self: &Rc<Self>, slot: Slot) -> (u64, Rc<Slot>) {
        if !self.is_running.replace(true) {
            rt::spawn(run(Rc::clone(self)));
        }
        let slot = Rc::new(slot);
        (self.slots.borrow_mut().add(&slot), slot)
    }

    /// Removes a connection.
    pub(super) fn leave(&self, number: u64, slot: &Slot) {
        self.slots.borrow_mut().remove(number, slot);
    }

    /// Reads the events for a connection that stands at `place`.
    pub(super) fn read(&self, slot: &Slot, place: LogCursor, reader: Option<&Reader>) -> Next {
        let place = slot.resume(place, &self.seen);
        let interest = &slot.interest;
        let view = reader.map(|reader| (reader.user, reader.view()));
        let logs = self.streams.lock(slot.kinds());
        let hides_none = view.as_ref().is_none_or(|(_, view)| view.hidden.is_empty());
        if hides_none
            && interest.is_common()
            && let Some(place) = without_private_events(interest, &logs, place)
        {
            return self.read_common(interest, &logs, place);
        }
        let view = view.as_ref().map(|(user, view)| (*user, &**view));
        let mut output = Output::new(interest);
        let read = logs.read(place, |frame| output.take(frame, view));
        next(read, output.finish().0)
    }

    /// Reads for a reader that gets what all readers of the shared parts get.
    fn read_common(&self, interest: &Interest, logs: &Snapshot<'_>, place: LogCursor) -> Next {
        let (versions, reached) = (logs.shared_versions(), logs.reached());
        let private = *place.next.get(Kind::Fans);
        let with_private = |mut place: LogCursor, number| {
            *place.next.get_mut(Kind::Fans) = number;
            place
        };
        let from = with_private(place, 0);
        let common = &mut *self.common.borrow_mut();
        let is_same = |known: &Common| {
            known.versions == versions
                && known.from.next == from.next
                && (known.from.reached..known.first).contains(&place.reached)
                && Some(known.to.reached) <= reached
                && known.interest.shares_with(interest)
        };
        if let Some(known) = common.iter().find(|known| is_same(known)) {
            return Next::Chunk(known.body.clone(), with_private(known.to, private));
        }
        let mut output = Output::new(interest);
        let read = logs.read(place, |frame| output.take(frame, None));
        let (body, first) = output.finish();
        let next = next(read, body);
        if let (Next::Chunk(body, to), Some(first)) = (&next, first) {
            common.retain(|known| is_current(&known.versions, &versions));
            if common.len() == COMMON {
                common.remove(0);
            }
            let (interest, body) = (interest.clone(), body.clone());
            common.push(Common { interest, versions, from, first, body, to: *to });
        }
        next
    }

    /// The heartbeat for a position, cached because most connections share the position.
    pub(super) fn beat(&self, position: Position) -> Bytes {
        let beat = &mut *self.beat.borrow_mut();
        match beat {
            Some((known, body)) if *known == position => body.clone(),
            Some(_) | None => {
                let body = frame::beat(position);
                *beat = Some((position, body.clone()));
                body
            }
        }
    }

    /// Scans the logs for new frames; returns the connections to wake.
    pub(super) fn look(&self) -> Vec<Rc<Slot>> {
        // A reader of several logs gets nothing that not all of them have reached, so nothing else counts as scanned.
        let reached = self.streams.lock(ByKind::of(|_| true)).reached().unwrap_or(Position::START);
        let scans = ByKind::of(|kind| {
            let seen = self.seen.get(kind);
            let mut scan = Scan::from(seen.get());
            let log = self.streams.log(kind);
            let (end, missed) = log.peek(seen.get(), reached, |number, about| scan.note(number, about));
            scan.end = end;
            scan.is_for_all |= missed;
            seen.set(end);
            scan
        });
        let slots = self.slots.borrow();
        let mut woken = slots.concerned(&scans);
        let alarms = self.streams.alarms.load(Ordering::Acquire);
        if self.alarms.replace(alarms) != alarms {
            woken.extend(slots.ending(self.streams.is_closed()));
        }
        woken
    }

    fn due(&self) -> Vec<Rc<Slot>> {
        self.slots.borrow().due(Instant::now())
    }
}

/// Passes over the private events of others; `None` if the reader gets private events now, or was too slow for them.
fn without_private_events(
    interest: &Interest,
    logs: &Snapshot<'_>,
    mut place: LogCursor,
) -> Option<LogCursor> {
    let Some(fan) = interest.fan() else { return Some(place) };
    let next = place.next.get_mut(Kind::Fans);
    let (number, position) = logs.find(Kind::Fans, *next, |about| *about == About::Fan(fan))?;
    *next = number;
    position.is_none_or(|position| Some(position) > logs.reached()).then_some(place)
}

/// Whether output of these versions can still be used, as far as the present versions are known.
fn is_current(versions: &ByKind<Option<u64>>, now: &ByKind<Option<u64>>) -> bool {
    KINDS.into_iter().all(|kind| match (versions.get(kind), now.get(kind)) {
        (Some(known), Some(now)) => known == now,
        (..) => true,
    })
}

/// Wakes the connections in portions and yields in between, so that they can write and other tasks can run. A large
/// wake-up causes thousands of writes, and a request that arrives meanwhile must not wait for all of them. Returns
/// the number of connections.
async fn wake(slots: Vec<Rc<Slot>>) -> u32 {
    for portion in slots.chunks(PORTION) {
        for slot in portion {
            slot.wake();
        }
        yield_now().await;
    }
    num::to_u32(slots.len())
}

fn next(read: Read, out: Bytes) -> Next {
    match read {
        Read::UpTo(place) if out.is_empty() => Next::Nothing(place),
        Read::UpTo(place) => Next::Chunk(out, place),
        Read::Behind => Next::Behind,
        Read::Overrun => Next::Overrun,
    }
}

async fn run(hub: Rc<Hub>) {
    let mut bell = hub.streams.bell.subscribe();
    let config = &hub.streams.config;
    let tick = (config.life.min(config.heartbeat) / 4).clamp(Duration::from_millis(5), TICK);
    let mut ticks = interval(tick);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            rung = bell.changed() => {
                if rung.is_err() {
                    return;
                }
                let woken = wake(hub.look()).await;
                // The first event of a quiet stream is sent at once. After a large wake-up, events of the next
                // moments are collected into one write for each connection, which leaves most of the worker's time
                // for requests.
                sleep(REST.saturating_mul(woken).min(LONGEST_REST)).await;
            }
            _ = ticks.tick() => {
                wake(hub.due()).await;
            }
        }
    }
}
