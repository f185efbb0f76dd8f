//! The connections of one worker: which of them to wake, and a cache of output that several of them share.

use crate::edge::Pulse;
use crate::streams::frame::{About, Frame, Kind};
use crate::streams::log::{Place, Read, Taken};
use crate::streams::view::{Part, Session, Visibility};
use crate::streams::{KINDS, Streams, frame};
use actix_web::rt;
use bytes::{Bytes, BytesMut};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};
use terrace_kernel::{Position, TeamId, UserId};
use terrace_scoring::BoardId;
use tokio::task::yield_now;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// Size in bytes at which a chunk is passed to the connection, which writes it before it polls again.
const CHUNK: usize = 16 * 1024;
/// Interval at which due heartbeats and expired streams are looked up.
const TICK: Duration = Duration::from_millis(500);
/// Number of connections that are woken before other tasks run.
const PORTION: usize = 32;
/// Pause after a wake-up, for each connection that was woken, and the longest such pause.
const REST: Duration = Duration::from_micros(100);
const LONGEST_REST: Duration = Duration::from_millis(100);
/// Maximum number of cached outputs.
const COMMON: usize = 8;

/// The subject whose events wake a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Room,
    Team(TeamId),
    GlobalBoard,
    Board(BoardId),
    Fan(UserId),
}

impl Key {
    const fn of(part: Part) -> Self {
        match part {
            Part::All | Part::OwnTeams | Part::Following => Self::Room,
            Part::Team(team) => Self::Team(team),
            Part::GlobalBoard => Self::GlobalBoard,
            Part::Board(board) => Self::Board(board),
            Part::Own(fan) => Self::Fan(fan),
        }
    }
}

/// The kind of stream that carries a part's events.
pub(super) const fn kind_of(part: Part) -> Kind {
    match part {
        Part::All | Part::Team(_) | Part::OwnTeams | Part::Following => Kind::Room,
        Part::GlobalBoard | Part::Board(_) => Kind::Boards,
        Part::Own(_) => Kind::Fans,
    }
}

/// Whether a connection waits for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// It has not read all frames.
    Not,
    /// It waits, and no frame that the hub has scanned is relevant to it.
    Armed,
    /// It was woken; holds the number of the first relevant frame.
    Woken(u64),
}

/// A connection as the hub sees it.
pub(super) struct Slot {
    key: Key,
    kind: Kind,
    waits: Cell<Waits>,
    waker: RefCell<Option<Waker>>,
    /// When it is woken even without an event.
    due: Cell<Instant>,
    session: Option<Arc<Session>>,
    pulse: Option<Rc<Pulse>>,
}

impl Slot {
    /// Stores the task's waker. Must be called on every poll.
    pub(super) fn wake_here(&self, cx: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
    }

    /// Marks the connection as waiting: it has read all frames.
    pub(super) fn arm(&self, due: Instant) {
        self.waits.set(Waits::Armed);
        self.due.set(due);
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}

/// Cached output for the readers of a part without hidden accounts.
struct Common {
    part: Part,
    version: u64,
    from: u64,
    /// `known` is the position up to which the original reader had every event, `first` that of the first event in
    /// `body`. The output is valid for every reader whose position lies in `known..first`.
    known: Position,
    first: Position,
    body: Bytes,
    to: Place,
}

#[derive(Default)]
struct Slots {
    by_key: HashMap<Key, HashMap<u64, Rc<Slot>>>,
    count: u64,
}

impl Slots {
    fn all(&self) -> impl Iterator<Item = &Rc<Slot>> {
        self.by_key.values().flat_map(HashMap::values)
    }
}

/// The hub of a worker. It stays on the worker's thread.
pub(crate) struct Hub {
    streams: Arc<Streams>,
    slots: RefCell<Slots>,
    /// The number up to which each log was scanned.
    seen: [Cell<u64>; 3],
    alarms: Cell<u64>,
    is_running: Cell<bool>,
    common: RefCell<Vec<Common>>,
    beat: RefCell<Option<(Position, Bytes)>>,
}

/// The result of reading a log.
pub(super) enum Next {
    /// Output to send, and the new place.
    Chunk(Bytes, Place),
    /// No relevant event up to this place.
    Nothing(Place),
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
            seen: Default::default(),
            alarms: Cell::new(0),
            is_running: Cell::new(false),
            common: RefCell::default(),
            beat: RefCell::default(),
        })
    }

    pub(super) fn streams(&self) -> &Arc<Streams> {
        &self.streams
    }

    fn seen(&self, kind: Kind) -> &Cell<u64> {
        let [room, boards, fans] = &self.seen;
        match kind {
            Kind::Room => room,
            Kind::Boards => boards,
            Kind::Fans => fans,
        }
    }

    /// Registers a connection; returns its number and slot.
    pub(super) fn join(
        self: &Rc<Self>,
        part: Part,
        session: Option<Arc<Session>>,
        pulse: Option<Rc<Pulse>>,
        due: Instant,
    ) -> (u64, Rc<Slot>) {
        if !self.is_running.replace(true) {
            rt::spawn(run(Rc::clone(self)));
        }
        let slot = Rc::new(Slot {
            key: Key::of(part),
            kind: kind_of(part),
            waits: Cell::new(Waits::Not),
            waker: RefCell::new(None),
            due: Cell::new(due),
            session,
            pulse,
        });
        let slots = &mut *self.slots.borrow_mut();
        slots.count += 1;
        slots.by_key.entry(slot.key).or_default().insert(slots.count, Rc::clone(&slot));
        (slots.count, slot)
    }

    /// Removes a connection.
    pub(super) fn leave(&self, number: u64, slot: &Slot) {
        let by_key = &mut self.slots.borrow_mut().by_key;
        if let Some(slots) = by_key.get_mut(&slot.key) {
            slots.remove(&number);
            if slots.is_empty() {
                by_key.remove(&slot.key);
            }
        }
    }

    /// Reads the events for a connection that stands at `place`.
    pub(super) fn read(
        &self,
        slot: &Slot,
        part: Part,
        place: Place,
        reader: Option<&crate::streams::view::Reader>,
    ) -> Next {
        let mut place = place;
        match slot.waits.replace(Waits::Not) {
            Waits::Not => {}
            Waits::Armed => place.next = place.next.max(self.seen(slot.kind).get()),
            Waits::Woken(number) => place.next = place.next.max(number),
        }
        let view = reader.map(|reader| (reader.user, reader.view()));
        let hides_none = view.as_ref().is_none_or(|(_, view)| view.hidden.is_empty());
        if part.is_common() && hides_none {
            return self.read_common(slot.kind, part, place);
        }
        let view = view.as_ref().map(|(user, view)| (*user, &**view));
        let mut out = BytesMut::new();
        let read = self
            .streams
            .log(slot.kind)
            .read(place, |frame| take(frame, part.sight(&frame.about, view), &mut out));
        next(read, out.freeze())
    }

    fn read_common(&self, kind: Kind, part: Part, place: Place) -> Next {
        let log = self.streams.log(kind);
        let version = log.version();
        let common = &mut *self.common.borrow_mut();
        let is_same = |known: &Common| {
            known.part == part
                && known.version == version
                && known.from == place.next
                && (known.known..known.first).contains(&place.reached)
        };
        if let Some(known) = common.iter().find(|known| is_same(known)) {
            return Next::Chunk(known.body.clone(), known.to);
        }
        let (mut out, mut first) = (BytesMut::new(), None);
        let read = log.read(place, |frame| {
            let sight = part.sight(&frame.about, None);
            if sight != Visibility::Nothing {
                first.get_or_insert(frame.position);
            }
            take(frame, sight, &mut out)
        });
        let next = next(read, out.freeze());
        if let (Next::Chunk(body, to), Some(first)) = (&next, first) {
            common.retain(|known| known.version == version || kind_of(known.part) != kind);
            if common.len() < COMMON {
                let body = body.clone();
                let (from, known) = (place.next, place.reached);
                common.push(Common { part, version, from, known, first, body, to: *to });
            }
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
    fn look(&self) -> Vec<Rc<Slot>> {
        let mut woken = Vec::new();
        let slots = self.slots.borrow();
        for kind in KINDS {
            let mut concerned: HashMap<Key, u64> = HashMap::new();
            let mut all_boards = false;
            let mut note = |key, number| {
                concerned.entry(key).or_insert(number);
            };
            let seen = self.seen(kind);
            let (end, missed) = self.streams.log(kind).peek(seen.get(), |number, about| match about {
                About::Room(event) => {
                    note(Key::Room, number);
                    if let Some(team) = event.team {
                        note(Key::Team(team), number);
                    }
                }
                About::Score { board, is_global, .. } => {
                    note(Key::Board(*board), number);
                    if *is_global {
                        note(Key::GlobalBoard, number);
                    }
                }
                About::Boards => all_boards = true,
                About::Fan(fan) => note(Key::Fan(*fan), number),
            });
            let before = seen.replace(end);
            let mut wake = |slot: &Rc<Slot>, number| {
                if slot.waits.get() == Waits::Armed {
                    slot.waits.set(Waits::Woken(number));
                    woken.push(Rc::clone(slot));
                }
            };
            if missed || all_boards {
                slots.all().filter(|slot| slot.kind == kind).for_each(|slot| wake(slot, before));
                continue;
            }
            for (key, number) in concerned {
                slots
                    .by_key
                    .get(&key)
                    .into_iter()
                    .flat_map(HashMap::values)
                    .for_each(|slot| wake(slot, number));
            }
        }
        let alarms = self.streams.alarms.load(Ordering::Acquire);
        if self.alarms.replace(alarms) != alarms {
            let closed = self.streams.is_closed();
            for slot in slots.all() {
                let has_ended = slot.session.as_ref().is_some_and(|session| session.has_ended());
                if let Some(pulse) = slot.pulse.as_ref().filter(|_| closed) {
                    // A client that does not read would delay the shutdown.
                    pulse.cut();
                }
                if closed || has_ended {
                    woken.push(Rc::clone(slot));
                }
            }
        }
        woken
    }

    /// The connections whose heartbeat is due or whose time is over.
    fn due(&self) -> Vec<Rc<Slot>> {
        let now = Instant::now();
        self.slots.borrow().all().filter(|slot| slot.due.get() <= now).map(Rc::clone).collect()
    }
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
    u32::try_from(slots.len()).unwrap_or(u32::MAX)
}

fn take(frame: &Frame, sight: Visibility, out: &mut BytesMut) -> Taken {
    frame.write(sight, out);
    if out.len() < CHUNK { Taken::More } else { Taken::Enough }
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
