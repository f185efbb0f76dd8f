//! Tests of the output that connections of one worker share.

use crate::streams::frame::{About, Frame, Kind, RoomEvent};
use crate::streams::hub::{Hub, Next};
use crate::streams::log::Place;
use crate::streams::view::Part;
use crate::streams::{StreamConfig, Streams};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use terrace_kernel::{Position, PostId, Uuid};

fn at(position: i64) -> Position {
    Position::new(position).unwrap()
}

fn frames(positions: impl IntoIterator<Item = i64>) -> Vec<Frame> {
    let frame = |position: i64| {
        let post = PostId::from_uuid(Uuid::from_u128(u128::try_from(position).unwrap()));
        let about = RoomEvent { post, team: None, author: None, by: None, comment: None, is_end: false };
        Frame::new(at(position), "post.created", &position, About::Room(about)).unwrap()
    };
    positions.into_iter().map(frame).collect()
}

/// The positions of the events that a reader at `place` receives.
fn sent(hub: &Rc<Hub>, place: Place) -> Vec<i64> {
    let (number, slot) = hub.join(Part::All, None, None, Instant::now());
    let next = hub.read(&slot, Part::All, place, None);
    hub.leave(number, &slot);
    let Next::Chunk(body, _) = next else { return Vec::new() };
    let text = String::from_utf8(body.to_vec()).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

/// Readers from processes that were ahead of this one stand at the same place but need different events.
#[actix_web::test]
async fn shared_output_is_what_each_reader_has_missed() {
    let streams = Arc::new(Streams::new(StreamConfig::default(), false));
    let hub = Hub::new(Arc::clone(&streams));
    let log = streams.log(Kind::Room);
    log.begin(at(10));
    let places = [16, 14, 15, 12].map(|known| log.place_after(at(known)).unwrap());
    log.append(frames(11..=17), at(17));
    let all: Vec<i64> = (11..=17).collect();
    // The second pass reads from the cache.
    for _ in 0..2 {
        for (place, known) in places.into_iter().zip([16, 14, 15, 12]) {
            let missed: Vec<i64> = all.iter().copied().filter(|position| *position > known).collect();
            assert_eq!(sent(&hub, place), missed, "after {known}");
        }
    }
}
