//! What was told last, for all readers of a kind of stream: a ring of events that were encoded once, read by position.
//!
//! A live reader, one that has fallen a little behind and one that comes back read the same ring in the same way, each
//! from where it is; the one that publishes waits for none of them. What is older than the ring is in the event table.

use crate::streams::frame::{About, Away, Frame};
use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use terrace_kernel::Position;

/// How long a log goes on being kept after its last reader has gone: they come back.
const LINGER: Duration = Duration::from_mins(1);

/// The bounds of a log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// How many events it holds.
    pub(crate) frames: usize,
    /// How many bytes of them.
    pub(crate) bytes: usize,
}

/// The ring. Frames have numbers of their own, which only grow; several may have one position.
pub(crate) struct Log {
    ring: RwLock<Ring>,
    bounds: Bounds,
}

struct Ring {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// The number of the oldest frame, or of the next one where there is none.
    first: u64,
    /// Every event up to here was dealt with; none before the log begins.
    reached: Option<Position>,
    /// Every event after here that concerns this log is in the ring.
    floor: Position,
    /// The number that the oldest frame had when frames were last left out on purpose.
    skipped: u64,
    /// Grows with every change.
    version: u64,
    /// Readers that are there.
    readers: usize,
    /// Until when it is kept without any.
    until: Instant,
}

/// Where a reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the next frame.
    pub(crate) next: u64,
    /// Up to where the reader knows of everything.
    pub(crate) reached: Position,
}

/// What became of a look into the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// Everything up to here was offered, or as much as was taken.
    UpTo(Place),
    /// What comes next is not in the ring, and never was: it is to be read from the table.
    Behind,
    /// What comes next has left the ring before the reader took it.
    Overrun,
}

/// Whether a reader wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The next one, too.
    More,
    /// This was the last one for now.
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

    /// The log begins (again) here, and knows of nothing before.
    pub(crate) fn begin(&self, position: Position) {
        let ring = &mut *self.write_lock();
        // A number of its own, so that nobody takes what comes for what they waited for.
        ring.first = ring.end() + 1;
        ring.skipped = ring.first;
        ring.frames.clear();
        ring.bytes = 0;
        ring.reached = Some(position);
        ring.floor = position;
        ring.version += 1;
    }

    /// Adds what happened up to `reached`, in the order of the positions.
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

    /// Nobody is there: what happened up to `reached` is left out.
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

    /// Somebody is away, or there again: what is about them is told to nobody, or is again.
    pub(crate) fn mark(&self, away: &Away) {
        let ring = &mut *self.write_lock();
        for frame in &mut ring.frames {
            frame.mark(away);
        }
        ring.version += 1;
    }

    /// A reader comes. From now on until it leaves, what happens is kept.
    pub(crate) fn join(&self) {
        self.write_lock().readers += 1;
    }

    /// A reader leaves.
    pub(crate) fn leave(&self) {
        let ring = &mut *self.write_lock();
        ring.readers = ring.readers.saturating_sub(1);
        ring.until = Instant::now() + LINGER;
    }

    /// Whether anybody is there, or may come back soon.
    pub(crate) fn is_wanted(&self) -> bool {
        let ring = self.read_lock();
        ring.readers > 0 || Instant::now() < ring.until
    }

    /// Every event up to here was dealt with; none before the log has begun.
    pub(crate) fn reached(&self) -> Option<Position> {
        self.read_lock().reached
    }

    /// Where a reader who knows of everything up to `position` goes on; none where that is not in the ring.
    pub(crate) fn place_after(&self, position: Position) -> Option<Place> {
        let ring = self.read_lock();
        if position < ring.floor || ring.reached.is_none() {
            return None;
        }
        let passed = ring.frames.partition_point(|frame| frame.position <= position);
        Some(Place { next: ring.first + u64::try_from(passed).ok()?, reached: position })
    }

    /// What changes with every change of what the log holds.
    pub(crate) fn version(&self) -> u64 {
        self.read_lock().version
    }

    /// Offers what comes after `place`, in order, until `take` has enough. Frames about who is away are passed over.
    pub(crate) fn read(&self, place: Place, mut take: impl FnMut(&Frame) -> Taken) -> Read {
        let ring = self.read_lock();
        if place.next < ring.first {
            // Who had read everything when frames were left out has missed them through no fault of theirs.
            return if place.next + 1 == ring.skipped { Read::Behind } else { Read::Overrun };
        }
        // Several frames may have one position; of these at most one is any reader's.
        let known = place.reached;
        let mut place = place;
        for (number, frame) in ring.from(place.next) {
            place.next = number + 1;
            place.reached = place.reached.max(frame.position);
            if frame.position > known && frame.is_told() && take(frame) == Taken::Enough {
                return Read::UpTo(place);
            }
        }
        place.reached = place.reached.max(ring.reached.unwrap_or(Position::START));
        Read::UpTo(place)
    }

    /// Tells of every frame from `number` on what it is about. Says the number of the next one, and whether some had
    /// left the ring before they were seen.
    pub(crate) fn peek(&self, number: u64, mut see: impl FnMut(u64, &About)) -> (u64, bool) {
        let ring = self.read_lock();
        for (number, frame) in ring.from(number) {
            see(number, &frame.about);
        }
        (ring.end(), number < ring.first)
    }

    /// How many frames there are, and how many bytes they take.
    pub(crate) fn size(&self) -> (usize, usize) {
        let ring = self.read_lock();
        (ring.frames.len(), ring.bytes)
    }
}
