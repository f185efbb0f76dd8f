//! Copies events from the event log into the in-memory logs that streams read.

use crate::streams::frame::{Away, Frame};
use crate::streams::kind::{ByKind, KINDS, Kind};
use crate::streams::view::Reader;
use crate::streams::{Streams, frame};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use terrace_app::App;
use terrace_app::streams::{Audience, Fed, StreamBatch, StreamWhat, Wanted};
use terrace_kernel::{Event, EventKind, StoreError, Topic, UserId, num};
use tokio::time::{MissedTickBehavior, interval, sleep};

/// How long to wait after a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval at which ended sessions are looked up: a session's streams end within twice this time.
const SESSIONS: Duration = Duration::from_secs(1);

/// Feeds the logs for as long as it is polled.
pub(crate) async fn feed(streams: Arc<Streams>, app: Arc<App>) {
    tokio::join!(follow(&streams, &app), watch_sessions(&streams, &app));
}

async fn watch_sessions(streams: &Streams, app: &App) {
    let mut ticks = interval(SESSIONS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match streams.readers.end_sessions(app).await {
            Ok(true) => streams.alarm(),
            Ok(false) => {}
            Err(error) => log::debug!("streams cannot look up which sessions have ended: {error}"),
        }
        for kind in KINDS {
            let (events, bytes) = streams.log(kind).size();
            metrics::gauge!("terrace_stream_kept_events", "stream" => kind.name()).set(num::to_f64(events));
            metrics::gauge!("terrace_stream_kept_bytes", "stream" => kind.name()).set(num::to_f64(bytes));
        }
    }
}

/// Selects the events that open streams need. A log that was not selected for a batch skips that batch.
struct Listening {
    streams: Arc<Streams>,
    room: AtomicBool,
    boards: AtomicBool,
    trivia: AtomicBool,
}

impl Audience for Listening {
    fn begins(&self) {
        self.room.store(self.streams.log(Kind::Room).is_wanted(), Ordering::Release);
        self.boards.store(self.streams.log(Kind::Boards).is_wanted(), Ordering::Release);
        self.trivia.store(self.streams.log(Kind::Trivia).is_wanted(), Ordering::Release);
    }

    fn wants(&self, event: &Event) -> Wanted {
        let shared = match event.what.topic {
            Topic::LockerRoom => self.room.load(Ordering::Acquire),
            Topic::Leaderboard => self.boards.load(Ordering::Acquire),
            Topic::Trivia => self.trivia.load(Ordering::Acquire),
            Topic::Account
            | Topic::Graph
            | Topic::Quests
            | Topic::Packs
            | Topic::Notifications
            | Topic::Content => false,
        };
        let is_own = matches!(
            event.what.topic,
            Topic::Leaderboard | Topic::Quests | Topic::Packs | Topic::Notifications
        );
        let own = is_own && event.what.actor.is_some_and(|fan| self.streams.readers.wants_own(fan));
        Wanted { shared, own }
    }
}

async fn follow(streams: &Arc<Streams>, app: &Arc<App>) {
    let listening = Arc::new(Listening {
        streams: Arc::clone(streams),
        room: AtomicBool::new(false),
        boards: AtomicBool::new(false),
        trivia: AtomicBool::new(false),
    });
    let mut feed = app.stream_feed(Arc::<Listening>::clone(&listening));
    let mut stale: HashMap<UserId, Arc<Reader>> = HashMap::new();
    loop {
        match feed.next().await {
            Ok(Fed::Anew { from, head }) => {
                streams.heard_from.store(head.get(), Ordering::Release);
                for kind in KINDS {
                    streams.log(kind).begin(from);
                }
                streams.ring();
            }
            Ok(Fed::Batch(batch)) => {
                // Before the events are published: a block takes effect before any event behind it is sent.
                turn(streams, app, &batch, &mut stale).await;
                publish(streams, &listening, &batch);
            }
            Err(error) => {
                log::warn!("streams cannot read the event log and will retry: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Updates the views of readers.
async fn turn(streams: &Streams, app: &App, batch: &StreamBatch, stale: &mut HashMap<UserId, Arc<Reader>>) {
    for reader in streams.readers.turn(&batch.turns) {
        stale.insert(reader.user, reader);
    }
    for user in stale.keys().copied().collect::<Vec<_>>() {
        let Some(reader) = stale.get(&user) else { continue };
        match reader.load(app).await {
            Ok(()) => drop(stale.remove(&user)),
            Err(StoreError::Contended(_)) => {}
            Err(error) => log::warn!("the view of a stream's reader could not be updated: {error}"),
        }
    }
}

fn publish(streams: &Streams, listening: &Listening, batch: &StreamBatch) {
    let room = streams.log(Kind::Room);
    for event in &batch.turns {
        let user = UserId::from_uuid(event.what.subject);
        if matches!(event.what.kind, EventKind::AccountDeleted | EventKind::AccountSuspended) {
            room.mark(&Away::Account(user));
        } else if event.what.kind == EventKind::AccountRestored {
            room.mark(&Away::Back(user));
        }
    }
    let mut frames: ByKind<Vec<Frame>> = ByKind::default();
    for event in &batch.events {
        if let StreamWhat::PostDeleted(on) = &event.what {
            room.mark(&Away::Post(on.post));
        } else if let StreamWhat::CommentDeleted { comment, .. } = &event.what {
            room.mark(&Away::Comment(*comment));
        }
        if let Some((kind, frame)) = frame::encode(event) {
            frames.get_mut(kind).push(frame);
        }
    }
    for kind in KINDS {
        let is_taken = match kind {
            Kind::Room => listening.room.load(Ordering::Acquire),
            Kind::Boards => listening.boards.load(Ordering::Acquire),
            Kind::Trivia => listening.trivia.load(Ordering::Acquire),
            Kind::Fans => true,
        };
        let frames = std::mem::take(frames.get_mut(kind));
        metrics::counter!("terrace_stream_events_total").increment(num::to_u64(frames.len()));
        if is_taken {
            streams.log(kind).append(frames, batch.reached);
        } else {
            streams.log(kind).skip(batch.reached);
        }
    }
    streams.ring();
}
