//! A connection as the hub of its worker sees it: the events that wake it, and from where it then reads.

use crate::edge::Pulse;
use crate::streams::frame::About;
use crate::streams::interest::Interest;
use crate::streams::kind::{ByKind, KINDS, Kind};
use crate::streams::log::LogCursor;
use crate::streams::view::{Part, Session};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Instant;
use terrace_games::RoundId;
use terrace_kernel::{TeamId, UserId};
use terrace_scoring::BoardId;

/// The subject whose events wake a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Room,
    Team(TeamId),
    GlobalBoard,
    Board(BoardId),
    Round(RoundId),
    Fan(UserId),
}

impl Key {
    const fn of(part: Part) -> Self {
        match part {
            Part::All | Part::OwnTeams | Part::Following => Self::Room,
            Part::Team(team) => Self::Team(team),
            Part::GlobalBoard => Self::GlobalBoard,
            Part::Board(board) => Self::Board(board),
            Part::Round(round) => Self::Round(round),
            Part::Own(fan) => Self::Fan(fan),
        }
    }
}

/// The new frames of one log.
pub(super) struct Scan {
    /// The number of the first of them.
    begin: u64,
    /// The number after the last of them.
    pub(super) end: u64,
    /// The number of the first frame about each subject.
    first: HashMap<Key, u64>,
    /// Whether every connection that reads the log must read these frames.
    pub(super) is_for_all: bool,
}

impl Scan {
    /// No frames, from this number on.
    pub(super) fn from(begin: u64) -> Self {
        Self { begin, end: begin, first: HashMap::new(), is_for_all: false }
    }

    /// Adds a frame.
    pub(super) fn note(&mut self, number: u64, about: &About) {
        let mut note = |key| {
            self.first.entry(key).or_insert(number);
        };
        match about {
            About::Room(event) => {
                note(Key::Room);
                if let Some(team) = event.team {
                    note(Key::Team(team));
                }
            }
            About::Score { board, is_global, .. } => {
                note(Key::Board(*board));
                if *is_global {
                    note(Key::GlobalBoard);
                }
            }
            About::Boards => self.is_for_all = true,
            About::Round(round) => note(Key::Round(*round)),
            About::Fan(fan) => note(Key::Fan(*fan)),
        }
    }
}

/// Whether a connection waits for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// It has not read all frames.
    Not,
    /// It waits, and no frame that the hub has scanned is relevant to it.
    Armed,
    /// It was woken, and no frame before these numbers is relevant to it.
    Woken(ByKind<u64>),
}

/// A connection.
pub(super) struct Slot {
    pub(super) interest: Interest,
    kinds: ByKind<bool>,
    waits: Cell<Waits>,
    waker: RefCell<Option<Waker>>,
    /// When it is woken even without an event.
    due: Cell<Instant>,
    session: Option<Arc<Session>>,
    pulse: Option<Rc<Pulse>>,
}

impl Slot {
    /// A connection that is woken at `due` at the latest.
    pub(super) fn new(
        interest: Interest,
        session: Option<Arc<Session>>,
        pulse: Option<Rc<Pulse>>,
        due: Instant,
    ) -> Self {
        Self {
            kinds: interest.kinds(),
            interest,
            waits: Cell::new(Waits::Not),
            waker: RefCell::new(None),
            due: Cell::new(due),
            session,
            pulse,
        }
    }

    /// The kinds of events that the connection reads.
    pub(super) const fn kinds(&self) -> ByKind<bool> {
        self.kinds
    }

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

    /// Ends the waiting; returns the place without the frames that the hub, which has scanned up to `seen`, knows to be
    /// irrelevant.
    pub(super) fn resume(&self, mut place: LogCursor, seen: &ByKind<Cell<u64>>) -> LogCursor {
        let from = match self.waits.replace(Waits::Not) {
            Waits::Not => return place,
            Waits::Armed => ByKind::of(|kind| seen.get(kind).get()),
            Waits::Woken(from) => from,
        };
        for kind in KINDS.into_iter().filter(|kind| *self.kinds.get(*kind)) {
            let next = place.next.get_mut(kind);
            *next = (*next).max(*from.get(kind));
        }
        place
    }

    /// Notes that the frame of this number is relevant. Returns whether the connection must be woken for it; `ends` are
    /// the numbers up to which the hub has scanned.
    fn note(&self, kind: Kind, number: u64, ends: ByKind<u64>) -> bool {
        let (is_new, mut from) = match self.waits.get() {
            Waits::Not => return false,
            Waits::Armed => (true, ends),
            Waits::Woken(from) => (false, from),
        };
        let first = from.get_mut(kind);
        *first = (*first).min(number);
        self.waits.set(Waits::Woken(from));
        is_new
    }

    pub(super) fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}

/// The connections of a worker.
#[derive(Default)]
pub(super) struct Slots {
    all: HashMap<u64, Rc<Slot>>,
    by_key: HashMap<Key, HashMap<u64, Rc<Slot>>>,
    count: u64,
}

impl Slots {
    /// Adds a connection; returns its number.
    pub(super) fn add(&mut self, slot: &Rc<Slot>) -> u64 {
        self.count += 1;
        self.all.insert(self.count, Rc::clone(slot));
        for part in slot.interest.parts() {
            self.by_key.entry(Key::of(*part)).or_default().insert(self.count, Rc::clone(slot));
        }
        self.count
    }

    /// Removes a connection.
    pub(super) fn remove(&mut self, number: u64, slot: &Slot) {
        self.all.remove(&number);
        for key in slot.interest.parts().iter().copied().map(Key::of) {
            if let Some(slots) = self.by_key.get_mut(&key) {
                slots.remove(&number);
                if slots.is_empty() {
                    self.by_key.remove(&key);
                }
            }
        }
    }

    /// The waiting connections to which one of the new frames is relevant.
    pub(super) fn concerned(&self, scans: &ByKind<Scan>) -> Vec<Rc<Slot>> {
        let ends = ByKind::of(|kind| scans.get(kind).end);
        let mut concerned = Vec::new();
        for kind in KINDS {
            let scan = scans.get(kind);
            let mut note = |slot: &Rc<Slot>, number| {
                if slot.note(kind, number, ends) {
                    concerned.push(Rc::clone(slot));
                }
            };
            if scan.is_for_all {
                self.all
                    .values()
                    .filter(|slot| *slot.kinds.get(kind))
                    .for_each(|slot| note(slot, scan.begin));
                continue;
            }
            for (key, number) in &scan.first {
                let slots = self.by_key.get(key).into_iter().flat_map(HashMap::values);
                slots.for_each(|slot| note(slot, *number));
            }
        }
        concerned
    }

    /// The connections that must end: all if `closed`, else those whose session has ended.
    pub(super) fn ending(&self, closed: bool) -> Vec<Rc<Slot>> {
        let mut ending = Vec::new();
        for slot in self.all.values() {
            let has_ended = slot.session.as_ref().is_some_and(|session| session.has_ended());
            if let Some(pulse) = slot.pulse.as_ref().filter(|_| closed) {
                // A client that does not read would delay the shutdown.
                pulse.cut();
            }
            if closed || has_ended {
                ending.push(Rc::clone(slot));
            }
        }
        ending
    }

    /// The connections whose heartbeat is due or whose time is over.
    pub(super) fn due(&self, now: Instant) -> Vec<Rc<Slot>> {
        self.all.values().filter(|slot| slot.due.get() <= now).map(Rc::clone).collect()
    }
}
