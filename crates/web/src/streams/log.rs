//! The latest events of one kind of stream: a ring of encoded events, read by position.
//!
//! A live reader, a slow reader and a reader that reconnects all read the same ring, each from its own place. The
//! publisher waits for none of them. Events older than the ring are in the event table.

use crate::streams::frame::{About, Away, Frame};
use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use terrace_kernel::Position;

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
pub(crate) struct Place {
    /// The number of the next frame.
    pub(crate) next: u64,
    /// The reader has every event up to this position.
    pub(crate) reached: Position,
}

/// The result of reading the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// All frames were offered, or as many as were taken.
    UpTo(Place),
    /// The next frames were never in the ring: they must be read from the table.
    Behind,
    /// The next frames left the ring before the reader took them.
    Overrun,
}

/// Whether a reader wants more frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Continue with the next frame.
    More,
    /// Stop after this frame.
    Enough,
}

impl Ring {
    fn end(&self) -> u64 {
        self.first + u64::try_from(self.frames.len()).unwrap_or(u64::MAX)
    }

    fn from(&self, number: u64) -> impl Iterator<Item = (u64, &Frame)> {
        let skip = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let first = self.first;
        self.frames
            .iter()
            .enumerate()
            .skip(skip)
            .map(move |(place, frame)| (first + u64::try_from(place).unwrap_or(u64::MAX), frame))
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

    /// The place of a reader that has every event up to `position`; `None` if the ring does not hold all later
    /// events.
    pub(crate) fn place_after(&self, position: Position) -> Option<Place> {
        let ring = self.read_lock();
        if position < ring.floor || ring.reached.is_none() {
            return None;
        }
        let passed = ring.frames.partition_point(|frame| frame.position <= position);
        Some(Place { next: ring.first + u64::try_from(passed).ok()?, reached: position })
    }

    /// A number that changes with every change of the log's content.
    pub(crate) fn version(&self) -> u64 {
        self.read_lock().version
    }

    /// Offers the frames after `place`, in order, until `take` has enough. Withdrawn frames are passed over.
    pub(crate) fn read(&self, place: Place, mut take: impl FnMut(&Frame) -> Taken) -> Read {
        let ring = self.read_lock();
        if place.next < ring.first {
            // A reader that had read everything before a skip was not too slow: the skip was deliberate.
            return if place.next + 1 == ring.skipped { Read::Behind } else { Read::Overrun };
        }
        // Several frames may have the same position; at most one of them is relevant to any one reader.
        let known = place.reached;
        let mut place = place;
        for (number, frame) in ring.from(place.next) {
            place.next = number + 1;
            place.reached = place.reached.max(frame.position);
            if frame.position > known && frame.is_visible() && take(frame) == Taken::Enough {
                return Read::UpTo(place);
            }
        }
        place.reached = place.reached.max(ring.reached.unwrap_or(Position::START));
        Read::UpTo(place)
    }

    /// Calls `see` for every frame from `number` on. Returns the number of the next frame, and whether some frames
    /// had left the ring before.
    pub(crate) fn peek(&self, number: u64, mut see: impl FnMut(u64, &About)) -> (u64, bool) {
        let ring = self.read_lock();
        for (number, frame) in ring.from(number) {
            see(number, &frame.about);
        }
        (ring.end(), number < ring.first)
    }

    /// Number of frames, and their size in bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let ring = self.read_lock();
        (ring.frames.len(), ring.bytes)
    }
}
