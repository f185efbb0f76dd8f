//! Tests of the output that connections of one worker share.

use crate::streams::frame::{About, Frame, RoomEvent};
use crate::streams::hub::{Hub, Next};
use crate::streams::interest::Interest;
use crate::streams::kind::{KINDS, Kind};
use crate::streams::log::LogCursor;
use crate::streams::slot::Slot;
use crate::streams::view::{Part, Visibility};
use crate::streams::{StreamConfig, Streams};
use actix_web::rt::Runtime;
use proptest::prelude::*;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use terrace_games::RoundId;
use terrace_kernel::{Position, PostId, TeamId, UserId, Uuid};
use terrace_scoring::BoardId;

fn at(position: i64) -> Position {
    Position::new(position).unwrap()
}

fn frames(positions: impl IntoIterator<Item = i64>) -> Vec<Frame> {
    let created = |position: i64| {
        let post = PostId::from_uuid(Uuid::from_u128(u128::try_from(position).unwrap()));
        let about = RoomEvent { post, team: None, author: None, by: None, comment: None, is_end: false };
        frame(position, "post.created", About::Room(about))
    };
    positions.into_iter().map(created).collect()
}

/// What a reader at `place` receives.
fn chunk(hub: &Rc<Hub>, interest: &Interest, place: LogCursor) -> (String, LogCursor) {
    let (number, slot) = hub.join(Slot::new(interest.clone(), None, None, Instant::now()));
    let next = hub.read(&slot, place, None);
    hub.leave(number, &slot);
    match next {
        Next::Chunk(body, place) => (String::from_utf8(body.to_vec()).unwrap(), place),
        Next::Nothing(place) => (String::new(), place),
        Next::Behind | Next::Overrun => panic!("everything is there"),
    }
}

/// The ids that a reader at `place` receives.
fn sent(hub: &Rc<Hub>, interest: &Interest, place: LogCursor) -> Vec<i64> {
    let (text, _) = chunk(hub, interest, place);
    text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

fn begun(position: i64) -> (Arc<Streams>, Rc<Hub>) {
    let streams = Arc::new(Streams::new(StreamConfig::default(), false));
    for kind in KINDS {
        streams.log(kind).begin(at(position));
    }
    let hub = Hub::new(Arc::clone(&streams));
    (streams, hub)
}

/// Readers from processes that were ahead of this one stand at the same place but need different events.
#[actix_web::test]
async fn shared_output_is_what_each_reader_has_missed() {
    let all: Vec<i64> = (11..=17).collect();
    for interest in [Interest::single(Part::All), Interest::combined(vec![Part::All, Part::GlobalBoard])] {
        let (streams, hub) = begun(10);
        let after = |known: i64| streams.lock(interest.kinds()).place_after(at(known)).unwrap();
        let places = [16, 14, 15, 12].map(after);
        streams.log(Kind::Room).append(frames(11..=17), at(17));
        streams.log(Kind::Boards).append([], at(17));
        // The second pass reads from the cache.
        for _ in 0..2 {
            for (place, known) in places.into_iter().zip([16, 14, 15, 12]) {
                let missed: Vec<i64> = all.iter().copied().filter(|position| *position > known).collect();
                assert_eq!(sent(&hub, &interest, place), missed, "after {known}");
            }
        }
    }
}

fn fan(nth: u128) -> UserId {
    UserId::from_uuid(Uuid::from_u128(nth))
}

fn frame(position: i64, name: &str, about: About) -> Frame {
    Frame::new(at(position), name, &serde_json::json!({"at": position}), about).unwrap()
}

/// Readers of the same shared channels share their output, unless private events come between.
#[actix_web::test]
async fn private_events_are_sent_to_their_fan_in_the_order_of_positions() {
    let (streams, hub) = begun(10);
    let score = About::Score {
        board: BoardId::from_uuid(Uuid::from_u128(7)),
        is_global: true,
        user: fan(9),
        line: None,
    };
    streams.log(Kind::Room).append(frames([11, 13]), at(20));
    streams.log(Kind::Boards).append([frame(12, "score.changed", score)], at(20));
    streams.log(Kind::Fans).append([frame(12, "points.awarded", About::Fan(fan(1)))], at(20));
    let parts = |nth| vec![Part::Own(fan(nth)), Part::All, Part::GlobalBoard];
    let shared = "event: post.created\ndata: {\"channels\":[\"room\"],\"at\":11}\nid: 11\n\n\
        event: score.changed\ndata: {\"channels\":[\"board\"],\"at\":12}\nid: 12\n\n\
        event: post.created\ndata: {\"channels\":[\"room\"],\"at\":13}\nid: 13\n\n";
    let private = shared.replace(
        "\"at\":12}\nid: 12\n\n",
        "\"at\":12}\n\nevent: points.awarded\ndata: {\"channels\":[\"me\"],\"at\":12}\nid: 12\n\n",
    );
    for _ in 0..2 {
        for nth in [2, 1, 3] {
            let interest = Interest::combined(parts(nth));
            let place = streams.lock(interest.kinds()).place_after(at(10)).unwrap();
            let (text, place) = chunk(&hub, &interest, place);
            assert_eq!(text, if nth == 1 { &*private } else { shared }, "{nth}");
            assert_eq!(place.reached, at(20));
            assert_eq!(chunk(&hub, &interest, place).0, "", "{nth} has everything");
        }
    }
    // A log that is behind holds back what comes after.
    streams.log(Kind::Room).append(frames([21]), at(22));
    streams.log(Kind::Fans).append([frame(22, "points.awarded", About::Fan(fan(1)))], at(22));
    let interest = Interest::combined(parts(1));
    let place = streams.lock(interest.kinds()).place_after(at(20)).unwrap();
    assert_eq!(chunk(&hub, &interest, place), (String::new(), place));
    streams.log(Kind::Boards).append([], at(22));
    assert_eq!(sent(&hub, &interest, place), [21, 22]);
}

/// An event that a fan who reads all, or some of it, gets or does not get.
fn about(which: usize) -> (Kind, About) {
    let uuid = |nth| Uuid::from_u128(nth);
    let room = |team| {
        let team = Some(TeamId::from_uuid(uuid(team)));
        let post = PostId::from_uuid(uuid(1));
        About::Room(RoomEvent { post, team, author: None, by: None, comment: None, is_end: false })
    };
    let score = |board, is_global| {
        let board = BoardId::from_uuid(uuid(board));
        About::Score { board, is_global, user: fan(9), line: None }
    };
    match which {
        0 => (Kind::Room, room(1)),
        1 => (Kind::Room, room(2)),
        2 => (Kind::Boards, score(1, true)),
        3 => (Kind::Boards, score(2, false)),
        4 => (Kind::Boards, About::Boards),
        5 => (Kind::Trivia, About::Round(RoundId::from_uuid(uuid(1)))),
        6 => (Kind::Trivia, About::Round(RoundId::from_uuid(uuid(2)))),
        7 => (Kind::Fans, About::Fan(fan(1))),
        _ => (Kind::Fans, About::Fan(fan(2))),
    }
}

fn interest(which: usize) -> Interest {
    let uuid = |nth| Uuid::from_u128(nth);
    let (team, board) = (Part::Team(TeamId::from_uuid(uuid(2))), Part::Board(BoardId::from_uuid(uuid(2))));
    let me = Part::Own(fan(1));
    match which {
        0 => Interest::single(Part::All),
        1 => Interest::single(me),
        2 => Interest::combined(vec![me]),
        3 => Interest::combined(vec![Part::All, Part::GlobalBoard, me]),
        4 => Interest::combined(vec![me, board, team]),
        5 => Interest::combined(vec![board, Part::GlobalBoard]),
        6 => Interest::single(Part::Round(RoundId::from_uuid(uuid(1)))),
        7 => Interest::combined(vec![Part::Round(RoundId::from_uuid(uuid(2))), me, board]),
        _ => Interest::combined(vec![team, Part::All, me]),
    }
}

/// A connection that reads when it is woken.
struct Connection {
    slot: Rc<Slot>,
    place: LogCursor,
    is_woken: bool,
    seen: Vec<i64>,
}

impl Connection {
    fn poll(&mut self, hub: &Hub) {
        self.is_woken = false;
        loop {
            match hub.read(&self.slot, self.place, None) {
                Next::Chunk(body, place) => {
                    let text = String::from_utf8(body.to_vec()).unwrap();
                    let at = text.split("\"at\":").skip(1).map(|rest| rest.split_once('}').unwrap().0);
                    self.seen.extend(at.map(|at| at.parse::<i64>().unwrap()));
                    self.place = place;
                }
                Next::Nothing(place) => {
                    self.place = place;
                    self.slot.arm(Instant::now());
                    return;
                }
                Next::Behind | Next::Overrun => panic!("everything is there"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Readers that wait are woken for each event of theirs, also when the hub looks while only some of the logs have
    /// the events of a batch, and when they read late.
    #[test]
    fn waiting_readers_get_every_event(
        batches in prop::collection::vec(prop::collection::vec((0_i64..3, 0_usize..9), 0..4), 1..16),
        turns in prop::collection::vec((any::<bool>(), 0_usize..12), 8),
    ) {
        let runtime = Runtime::new().unwrap();
        let (seen, expected) = runtime.block_on(async {
            let (streams, hub) = begun(10);
            let mut connections: Vec<Connection> = (0..9)
                .map(|which| {
                    let (_, slot) = hub.join(Slot::new(interest(which), None, None, Instant::now()));
                    let place = streams.lock(slot.kinds()).place_after(at(10)).unwrap();
                    Connection { slot, place, is_woken: true, seen: Vec::new() }
                })
                .collect();
            let mut turns = turns.into_iter().cycle();
            let (mut last, mut published) = (10, Vec::new());
            for batch in batches {
                last += 1;
                let mut events = Vec::new();
                for (gap, which) in batch {
                    last += gap;
                    events.push((last, about(which)));
                }
                for kind in KINDS {
                    let of_kind = events.iter().filter(|(_, (its, _))| *its == kind);
                    let frames = of_kind.map(|(position, (_, about))| frame(*position, "event", about.clone()));
                    streams.log(kind).append(frames, at(last));
                    let (looks, reader) = turns.next().unwrap();
                    if looks || kind == Kind::Fans {
                        for slot in hub.look() {
                            let woken = connections.iter_mut().find(|known| Rc::ptr_eq(&known.slot, &slot));
                            woken.unwrap().is_woken = true;
                        }
                    }
                    // A heartbeat, or a wake-up.
                    if let Some(connection) = connections.get_mut(reader) {
                        connection.poll(&hub);
                    }
                }
                events.sort_by_key(|(position, (kind, _))| (*position, *kind));
                published.extend(events);
            }
            connections.iter_mut().filter(|connection| connection.is_woken).for_each(|known| known.poll(&hub));
            let expected: Vec<Vec<i64>> = (0..9)
                .map(|which| {
                    let interest = interest(which);
                    let is_seen = |about: &About| {
                        interest.parts().iter().any(|part| part.sight(about, None) != Visibility::Nothing)
                    };
                    let mine = published.iter().filter(|(_, (_, about))| is_seen(about));
                    mine.map(|(position, _)| *position).collect()
                })
                .collect();
            (connections.into_iter().map(|known| known.seen).collect::<Vec<_>>(), expected)
        });
        prop_assert_eq!(seen, expected);
    }
}
