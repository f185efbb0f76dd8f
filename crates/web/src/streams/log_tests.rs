//! Tests of the log alone: a reader at any position and of any speed gets every event once and in order, or is
//! notified that the events are not available (spec §6).

use crate::streams::frame::{About, Away, Frame, RoomEvent};
use crate::streams::kind::{ByKind, KINDS, Kind};
use crate::streams::log::{Bounds, Log, LogCursor, Read, Snapshot, Taken};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use terrace_kernel::{CommentId, Position, PostId, UserId, Uuid};

const ROOMY: Bounds = Bounds { frames: 1 << 20, bytes: 1 << 30 };

fn at(position: i64) -> Position {
    Position::new(position).unwrap()
}

fn room(n: u128) -> RoomEvent {
    RoomEvent {
        post: PostId::from_uuid(Uuid::from_u128(n)),
        team: None,
        author: Some(UserId::from_uuid(Uuid::from_u128(n % 3))),
        by: None,
        comment: None,
        is_end: false,
    }
}

fn frame(position: i64) -> Frame {
    let about = room(u128::try_from(position).unwrap());
    Frame::new(at(position), "post.created", &position, About::Room(about)).unwrap()
}

fn frames(positions: impl IntoIterator<Item = i64>) -> Vec<Frame> {
    positions.into_iter().map(frame).collect()
}

/// A log that begins after `start`.
fn log(bounds: Bounds, start: i64) -> Log {
    let log = Log::new(bounds);
    log.begin(at(start));
    log
}

fn index(kind: Kind) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap()
}

/// The log alone, locked.
fn locked(log: &Log) -> Snapshot<'_> {
    Snapshot::of(ByKind::of(|kind| (kind == Kind::Room).then_some(log)))
}

fn place_after(log: &Log, position: Position) -> Option<LogCursor> {
    locked(log).place_after(position)
}

/// The positions after `place`, at most `most`, and the reader's new place.
fn read(log: &Log, place: LogCursor, most: usize) -> Result<(Vec<i64>, LogCursor), Read> {
    let mut seen = Vec::new();
    let read = locked(log).read(place, |frame| {
        seen.push(frame.position.get());
        if seen.len() < most { Taken::More } else { Taken::Enough }
    });
    match read {
        Read::UpTo(place) => Ok((seen, place)),
        other @ (Read::Behind | Read::Overrun) => Err(other),
    }
}

#[test]
fn a_reader_continues_from_any_position_in_the_ring() {
    let log = log(ROOMY, 10);
    log.append(frames([12, 15, 15, 19]), at(20));
    for (after, expected) in
        [(10, vec![12, 15, 15, 19]), (11, vec![12, 15, 15, 19]), (12, vec![15, 15, 19]), (15, vec![19])]
    {
        let (seen, place) = read(&log, place_after(&log, at(after)).unwrap(), 99).unwrap();
        assert_eq!((seen, place.reached), (expected, at(20)), "after {after}");
    }
    assert_eq!(place_after(&log, at(9)), None, "that is for the table");
    // The position comes from another process that is ahead: no event arrives twice.
    let ahead = place_after(&log, at(22)).unwrap();
    log.append(frames([21, 22, 23]), at(23));
    assert_eq!(read(&log, ahead, 99).unwrap().0, [23]);
}

#[test]
fn readers_learn_of_events_that_left_the_ring() {
    let log = log(Bounds { frames: 3, bytes: 1 << 20 }, 0);
    let start = place_after(&log, at(0)).unwrap();
    log.append(frames([1, 2, 3]), at(3));
    assert_eq!(read(&log, start, 99).unwrap().0, [1, 2, 3]);
    log.append(frames([4, 5]), at(5));
    assert_eq!(read(&log, start, 99), Err(Read::Overrun));
    assert_eq!(place_after(&log, at(1)), None);
    assert_eq!(read(&log, place_after(&log, at(2)).unwrap(), 99).unwrap().0, [3, 4, 5]);
    let heavy = frame(1).weight();
    let bounded = self::log(Bounds { frames: 99, bytes: 2 * heavy }, 0);
    bounded.append(frames([1, 2, 3]), at(3));
    assert_eq!(bounded.size(), (2, 2 * heavy));
    assert_eq!(place_after(&bounded, at(0)), None);
}

#[test]
fn frames_skipped_without_readers_are_read_from_the_table() {
    let log = log(ROOMY, 0);
    let up_to_date = place_after(&log, at(0)).unwrap();
    log.append(frames([1]), at(1));
    let (_, up_to_date) = read(&log, up_to_date, 99).unwrap();
    log.skip(at(7));
    assert_eq!(read(&log, up_to_date, 99), Err(Read::Behind));
    assert_eq!(place_after(&log, at(6)), None);
    log.append(frames([8]), at(8));
    assert_eq!(read(&log, up_to_date, 99), Err(Read::Behind));
    assert_eq!(read(&log, place_after(&log, at(7)).unwrap(), 99).unwrap().0, [8]);
    log.begin(at(3));
    assert_eq!(log.reached(), Some(at(3)), "another database, and other events");
    assert_eq!(place_after(&log, at(2)), None);
}

#[test]
fn a_log_is_wanted_until_some_time_after_its_last_reader() {
    let log = log(ROOMY, 0);
    log.join();
    log.join();
    log.leave();
    assert!(log.is_wanted());
    log.leave();
    assert!(log.is_wanted(), "they come back");
}

#[test]
fn withdrawn_frames_are_not_sent_to_later_readers() {
    let log = log(ROOMY, 0);
    let author = |n: u128| UserId::from_uuid(Uuid::from_u128(n));
    let comment = CommentId::from_uuid(Uuid::from_u128(77));
    let about = RoomEvent { by: Some(author(9)), comment: Some(comment), ..room(4) };
    let end = RoomEvent { is_end: true, ..room(1) };
    let start = place_after(&log, at(0)).unwrap();
    log.append(frames([1, 2, 3]), at(3));
    log.append(Frame::new(at(4), "comment.created", &4, About::Room(about)), at(4));
    let seen = || read(&log, start, 99).unwrap().0;
    log.mark(&Away::Post(room(1).post));
    log.append(Frame::new(at(5), "post.deleted", &5, About::Room(end)), at(5));
    assert_eq!(seen(), [2, 3, 4, 5]);
    log.mark(&Away::Account(author(2)));
    assert_eq!(seen(), [3, 4, 5]);
    log.mark(&Away::Account(author(9)));
    assert_eq!(seen(), [3, 5]);
    log.mark(&Away::Back(author(9)));
    log.mark(&Away::Back(author(2)));
    assert_eq!(seen(), [2, 3, 4, 5]);
    log.mark(&Away::Comment(comment));
    log.mark(&Away::Back(author(1)));
    assert_eq!(seen(), [2, 3, 5], "what is gone does not come back");
}

#[test]
fn readers_on_many_threads_see_one_order() {
    const LAST: i64 = 20_000;
    let log = Arc::new(log(ROOMY, 0));
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..4_usize)
        .map(|nth| {
            let (log, done) = (Arc::clone(&log), Arc::clone(&done));
            thread::spawn(move || {
                let (mut seen, mut place) = (Vec::new(), place_after(&log, at(0)).unwrap());
                loop {
                    let over = done.load(Ordering::Acquire);
                    let (some, next) = read(&log, place, nth + 1).unwrap();
                    let nothing = some.is_empty();
                    seen.extend(some);
                    place = next;
                    if over && nothing {
                        return seen;
                    }
                }
            })
        })
        .collect();
    let mut next = 1;
    while next <= LAST {
        let end = (next + next % 7).min(LAST);
        log.append(frames(next..=end), at(end));
        next = end + 1;
    }
    done.store(true, Ordering::Release);
    for reader in readers {
        assert_eq!(reader.join().unwrap(), (1..=LAST).collect::<Vec<_>>());
    }
}

proptest! {
    /// A reader of several logs gets the events of all of them in the order of their positions, and of one position all
    /// at once, whichever logs have been written already.
    #[test]
    fn readers_of_several_logs_get_their_union(
        batches in prop::collection::vec(prop::collection::vec((0_i64..3, 0_usize..4), 0..5), 1..20),
        kinds in prop::array::uniform4(any::<bool>()),
        reads in prop::collection::vec(1_usize..6, 1..5),
    ) {
        let logs = ByKind::of(|_| log(ROOMY, 0));
        let wanted = ByKind::of(|kind| kinds[index(kind)]);
        let lock = || Snapshot::of(ByKind::of(|kind| wanted.get(kind).then(|| logs.get(kind))));
        let (mut seen, mut place) = (Vec::new(), lock().place_after(at(0)).unwrap());
        let mut reads = reads.into_iter().cycle();
        let mut published: Vec<(i64, usize)> = Vec::new();
        let mut last = 0;
        for batch in batches {
            let mut events = Vec::new();
            for (gap, kind) in batch {
                last += gap;
                events.push((last.max(1), kind));
            }
            last = last.max(1);
            for kind in KINDS {
                let here = events.iter().filter(|(_, its)| *its == index(kind));
                logs.get(kind).append(frames(here.map(|(position, _)| *position)), at(last));
                // Also between the logs, which do not have the same events then.
                let (most, before) = (reads.next().unwrap(), seen.len());
                let Read::UpTo(next) = lock().read(place, |frame| {
                    seen.push(frame.position.get());
                    if seen.len() - before < most { Taken::More } else { Taken::Enough }
                }) else { panic!("nothing is skipped") };
                prop_assert!(next.reached >= place.reached);
                prop_assert!(seen[before..].iter().all(|position| *position <= next.reached.get()));
                place = next;
            }
            published.extend(events);
            last += 1;
        }
        if kinds.contains(&true) {
            while place.reached < lock().reached().unwrap() {
                let Read::UpTo(next) = lock().read(place, |frame| {
                    seen.push(frame.position.get());
                    Taken::Enough
                }) else { panic!("nothing is skipped") };
                place = next;
            }
        }
        let mut union: Vec<_> = published.into_iter().filter(|(_, kind)| kinds[*kind]).collect();
        union.sort_unstable();
        prop_assert_eq!(seen, union.into_iter().map(|(position, _)| position).collect::<Vec<_>>());
    }

    /// Replay equals live reading: wherever a reader leaves and reconnects, and however full its connection is, it
    /// receives what was published, or is notified that it is not available.
    #[test]
    fn readers_who_reconnect_get_the_log(
        batches in prop::collection::vec((1_i64..4, 0_i64..6), 1..40),
        frames_kept in 4_usize..12,
        steps in prop::collection::vec((0_usize..4, any::<bool>()), 1..80),
    ) {
        let log = log(Bounds { frames: frames_kept, bytes: 1 << 20 }, 0);
        let mut published: Vec<i64> = Vec::new();
        let (mut seen, mut place) = (Vec::new(), place_after(&log, at(0)).unwrap());
        let mut batches = batches.into_iter();
        for (most, leaves) in steps {
            if let Some((gap, count)) = batches.next() {
                let first = log.reached().unwrap().get() + gap;
                let positions: Vec<i64> = (first..first + count).collect();
                published.extend(&positions);
                log.append(frames(positions), at(first + count));
            }
            // Reads the events from the table and continues in the log.
            let mut from_table = |known: LogCursor| {
                seen.extend(published.iter().copied().filter(|position| *position > known.reached.get()));
                place_after(&log, log.reached().unwrap()).unwrap()
            };
            if leaves {
                place = place_after(&log, place.reached).unwrap_or_else(|| from_table(place));
            }
            if let Ok((some, next)) = read(&log, place, most + 1) {
                seen.extend(some);
                place = next;
            } else {
                place = from_table(place);
            }
        }
        prop_assert_eq!(&seen[..], &published[..seen.len()]);
    }
}
