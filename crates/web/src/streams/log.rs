//! The latest events of one kind: a ring of encoded events, read by position.
//!
//! A live reader, a slow reader and a reader that reconnects all read the same rings, each from its own place. The
//! publisher waits for none of them. Events older than the ring are in the event table. A reader of several kinds
//! reads their rings as one, in the order of the positions, up to the position that all of them have reached.

use crate::streams::frame::{About, Away, Frame};
use crate::streams::kind::{ByKind, KINDS, Kind};
use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use terrace_kernel::{Position, num};

/// How long a log is kept after its last reader has left, since readers usually reconnect.
const LINGER: Duration = Duration::from_mins(1);

/// The bounds of a log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Maximum number of events.
    pub(crate) frames: usize,
    /// Maximum total size in bytes.
    pub(crate) bytes: usize,
}

/// The ring. Frames have numbers of their own, which only increase; several may have the same position.
pub(crate) struct Log {
    ring: RwLock<Ring>,
    bounds: Bounds,
}

struct Ring {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// The number of the oldest frame, or of the next one if the ring is empty.
    first: u64,
    /// Every event up to here was processed; `None` before the log begins.
    reached: Option<Position>,
    /// Every relevant event after this position is in the ring.
    floor: Position,
    /// The value of `first` after frames were last skipped deliberately.
    skipped: u64,
    /// Incremented by every change.
    version: u64,
    /// Number of open readers.
    readers: usize,
    /// Until when the log is kept without readers.
    until: Instant,
}

/// The place of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogCursor {
    /// The number of the next frame of each log that it reads.
    pub(crate) next: ByKind<u64>,
    /// The reader has every event up to this position.
    pub(crate) reached: Position,
}

/// The result of reading logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// All frames were offered, or as many as were taken.
    UpTo(LogCursor),
    /// The next frames of a log were never in its ring: they must be read from the table.
    Behind,
    /// The next frames of a log left its ring before the reader took them.
    Overrun,
}

/// Whether a reader wants more frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Continue with the next frame.
    More,
    /// Stop after the frames of this position.
    Enough,
}

impl Ring {
    fn end(&self) -> u64 {
        self.first + num::to_u64(self.frames.len())
    }

    fn frame(&self, number: u64) -> Option<&Frame> {
        self.frames.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// The frames from `number` on, with their numbers.
    fn from(&self, number: u64) -> impl Iterator<Item = (u64, &Frame)> {
        (number.max(self.first)..).map_while(|number| Some((number, self.frame(number)?)))
    }

    /// The number of the frame after `position`; `None` if the ring does not hold all later events.
    fn after(&self, position: Position) -> Option<u64> {
        if position < self.floor || self.reached.is_none() {
            return None;
        }
        let passed = self.frames.partition_point(|frame| frame.position <= position);
        Some(self.first + num::to_u64(passed))
    }
}

impl Log {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let ring = Ring {
            frames: VecDeque::new(),
            bytes: 0,
            first: 0,
            reached: None,
            floor: Position::START,
            skipped: 0,
            version: 0,
            readers: 0,
            until: Instant::now() + LINGER,
        };
        Self { ring: RwLock::new(ring), bounds }
    }

    fn read_lock(&self) -> RwLockReadGuard<'_, Ring> {
        self.ring.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, Ring> {
        self.ring.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the log, or restarts it, at `position`; it holds no earlier event.
    pub(crate) fn begin(&self, position: Position) {
        let ring = &mut *self.write_lock();
        // Skips a number, so that a reader waiting for the next frame cannot mistake the new frames for it.
        ring.first = ring.end() + 1;
        ring.skipped = ring.first;
        ring.frames.clear();
        ring.bytes = 0;
        ring.reached = Some(position);
        ring.floor = position;
        ring.version += 1;
    }

    /// Appends the events up to `reached`, in the order of their positions.
    pub(crate) fn append(&self, frames: impl IntoIterator<Item = Frame>, reached: Position) {
        let ring = &mut *self.write_lock();
        for frame in frames {
            ring.bytes += frame.weight();
            ring.frames.push_back(frame);
        }
        while ring.frames.len() > self.bounds.frames || ring.bytes > self.bounds.bytes {
            let Some(oldest) = ring.frames.pop_front() else { break };
            ring.bytes = ring.bytes.saturating_sub(oldest.weight());
            ring.first += 1;
            ring.floor = ring.floor.max(oldest.position);
        }
        ring.reached = Some(reached);
        ring.version += 1;
    }

    /// Skips the events up to `reached`, because the log has no reader.
    pub(crate) fn skip(&self, reached: Position) {
        let ring = &mut *self.write_lock();
        ring.first = ring.end() + 1;
        ring.skipped = ring.first;
        ring.frames.clear();
        ring.bytes = 0;
        ring.reached = Some(reached);
        ring.floor = reached;
        ring.version += 1;
    }

    /// Withdraws or restores the frames that a change affects.
    pub(crate) fn mark(&self, away: &Away) {
        let ring = &mut *self.write_lock();
        for frame in &mut ring.frames {
            frame.mark(away);
        }
        ring.version += 1;
    }

    /// Registers a reader. The log keeps new events until it leaves.
    pub(crate) fn join(&self) {
        self.write_lock().readers += 1;
    }

    /// Unregisters a reader.
    pub(crate) fn leave(&self) {
        let ring = &mut *self.write_lock();
        ring.readers = ring.readers.saturating_sub(1);
        ring.until = Instant::now() + LINGER;
    }

    /// Whether the log has a reader, or had one until recently.
    pub(crate) fn is_wanted(&self) -> bool {
        let ring = self.read_lock();
        ring.readers > 0 || Instant::now() < ring.until
    }

    /// Every event up to here was processed; `None` before the log has begun.
    pub(crate) fn reached(&self) -> Option<Position> {
        self.read_lock().reached
    }

    /// Calls `see` for every frame from `number` on up to the position `up_to`. Returns the number of the next frame,
    /// and whether some frames had left the ring before.
    pub(crate) fn peek(&self, number: u64, up_to: Position, mut see: impl FnMut(u64, &About)) -> (u64, bool) {
        let ring = self.read_lock();
        let mut next = number.max(ring.first);
        for (number, frame) in ring.from(number).take_while(|(_, frame)| frame.position <= up_to) {
            see(number, &frame.about);
            next = number + 1;
        }
        (next, number < ring.first)
    }

    /// Number of frames, and their size in bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let ring = self.read_lock();
        (ring.frames.len(), ring.bytes)
    }
}

/// Logs that are locked at once, so that they do not change while they are read as one.
pub(crate) struct Snapshot<'a>(ByKind<Option<RwLockReadGuard<'a, Ring>>>);

impl<'a> Snapshot<'a> {
    /// Locks these logs. A writer locks only one log at a time.
    pub(crate) fn of(logs: ByKind<Option<&'a Log>>) -> Self {
        Self(ByKind::of(|kind| logs.get(kind).map(Log::read_lock)))
    }

    fn rings(&self) -> impl Iterator<Item = (Kind, &Ring)> {
        KINDS.into_iter().filter_map(|kind| Some((kind, &**self.0.get(kind).as_ref()?)))
    }

    /// Every event up to here was processed in all these logs; `None` before all have begun.
    pub(crate) fn reached(&self) -> Option<Position> {
        self.rings().map(|(_, ring)| ring.reached).min().flatten()
    }

    /// The place of a reader that has every event up to `position`; `None` if the rings do not hold all later
    /// events.
    pub(crate) fn place_after(&self, position: Position) -> Option<LogCursor> {
        self.place_with_private(position, position)
    }

    /// The place of a reader that has every event up to `position`, and for whom there are no private events from there
    /// to `private`.
    pub(crate) fn place_with_private(&self, position: Position, private: Position) -> Option<LogCursor> {
        let mut next = ByKind::default();
        for (kind, ring) in self.rings() {
            let known = if kind == Kind::Fans { private } else { position };
            *next.get_mut(kind) = ring.after(known)?;
        }
        Some(LogCursor { next, reached: position })
    }

    /// The version of each log, which changes with every change of its content; `None` for a log of private events and
    /// for those that are not locked.
    pub(crate) fn shared_versions(&self) -> ByKind<Option<u64>> {
        let mut versions = ByKind::default();
        for (kind, ring) in self.rings().filter(|(kind, _)| *kind != Kind::Fans) {
            *versions.get_mut(kind) = Some(ring.version);
        }
        versions
    }

    /// The number of the first frame of a log, from `number` on, for which `is_sought` holds, and its position; the
    /// number of the next frame that the log will get if there is none. `None` if frames from `number` on have left
    /// the ring.
    pub(crate) fn find(
        &self,
        kind: Kind,
        number: u64,
        is_sought: impl Fn(&About) -> bool,
    ) -> Option<(u64, Option<Position>)> {
        let ring = self.0.get(kind).as_ref().filter(|ring| number >= ring.first)?;
        let found = ring.from(number).find(|(_, frame)| is_sought(&frame.about));
        Some(found.map_or((ring.end(), None), |(number, frame)| (number, Some(frame.position))))
    }

    /// Offers the frames after `place` in the order of their positions, up to the position that all logs have reached.
    /// Stops only between positions. Withdrawn frames are passed over.
    pub(crate) fn read(&self, place: LogCursor, mut take: impl FnMut(&Frame) -> Taken) -> Read {
        for (kind, ring) in self.rings() {
            let next = *place.next.get(kind);
            if next < ring.first {
                // A reader that had read everything before a skip was not too slow: the skip was deliberate.
                return if next + 1 == ring.skipped { Read::Behind } else { Read::Overrun };
            }
        }
        let up_to = self.reached().unwrap_or(Position::START);
        let known = place.reached;
        let mut place = place;
        loop {
            let positions = self.rings().filter_map(|(kind, ring)| ring.frame(*place.next.get(kind)));
            let position = positions.map(|frame| frame.position).min();
            let Some(position) = position.filter(|position| *position <= up_to) else { break };
            let mut taken = Taken::More;
            for (kind, ring) in self.rings() {
                let next = place.next.get_mut(kind);
                while let Some(frame) = ring.frame(*next).filter(|frame| frame.position == position) {
                    *next += 1;
                    if position > known && frame.is_visible() && take(frame) == Taken::Enough {
                        taken = Taken::Enough;
                    }
                }
            }
            place.reached = place.reached.max(position);
            if taken == Taken::Enough {
                return Read::UpTo(place);
            }
        }
        place.reached = place.reached.max(up_to);
        Read::UpTo(place)
    }
}
