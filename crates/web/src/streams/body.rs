//! The response body of one stream.

use crate::edge::Pulse;
use crate::streams::frame;
use crate::streams::frame::Frame;
use crate::streams::hub::{Hub, Next, Slot, kind_of};
use crate::streams::log::{Log, Place};
use crate::streams::readers::Seat;
use crate::streams::view::{Part, Visibility};
use actix_web::body::{BodySize, MessageBody};
use bytes::{Bytes, BytesMut};
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use terrace_app::App;
use terrace_app::store::BoxFuture;
use terrace_app::streams::ReplayError;
use terrace_kernel::Position;

/// The position at which a stream starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the next event.
    Now,
    /// After the last event that the client has received.
    After(Position),
    /// After a position that cannot exist: the client must reload everything.
    Unknown,
}

/// The result of a query on the event table.
enum Found {
    /// The newest position.
    Head(Position),
    /// The events up to `reached`, and whether there are more.
    Events { frames: Vec<Frame>, reached: Position, more: bool },
    /// The events were deleted or never existed.
    Lost,
    /// The query failed.
    Failed,
}

/// The state of a stream.
enum Stage {
    Begins(Start),
    /// Waits for a query on the event table. The position is the last one that the client has, if it sent one.
    Asks(BoxFuture<'static, Found>, Option<Position>),
    Reads(Place),
    IsOver,
}

/// What a stream needs at its start.
pub(super) struct Opening {
    pub(super) app: Arc<App>,
    pub(super) part: Part,
    pub(super) start: Start,
    pub(super) seat: Seat,
    pub(super) pulse: Option<Rc<Pulse>>,
    /// When the stream ends.
    pub(super) end: Instant,
    /// Milliseconds after which the client is to reconnect.
    pub(super) retry: u64,
}

/// A stream.
pub(super) struct StreamBody {
    hub: Rc<Hub>,
    number: u64,
    slot: Rc<Slot>,
    stage: Stage,
    app: Arc<App>,
    part: Part,
    seat: Seat,
    pulse: Option<Rc<Pulse>>,
    end: Instant,
    /// When the next heartbeat is due if no event is sent before.
    beat: Instant,
    retry: u64,
}

impl StreamBody {
    pub(super) fn new(hub: &Rc<Hub>, opening: Opening) -> Self {
        let Opening { app, part, start, seat, pulse, end, retry } = opening;
        let (number, slot) = hub.join(part, seat.session().cloned(), pulse.clone(), end);
        let hub = Rc::clone(hub);
        // From now on the log keeps new events, so everything that the log lacks is already in the table.
        hub.streams().log(kind_of(part)).join();
        metrics::gauge!("terrace_streams_open", "stream" => crate::streams::feeder::name(kind_of(part)))
            .increment(1.0);
        // The first heartbeat is due at once: it gives a client without events its position.
        let beat = Instant::now();
        Self { hub, number, slot, stage: Stage::Begins(start), app, part, seat, pulse, end, beat, retry }
    }

    fn log(&self) -> &Log {
        self.hub.streams().log(kind_of(self.part))
    }

    /// Whether the stream ends now, even with unread events: the client reconnects and reads them then.
    fn ends(&self, now: Instant) -> bool {
        now >= self.end
            || self.hub.streams().is_closed()
            || self.seat.session().is_some_and(|session| session.has_ended())
    }

    /// The last message of the stream.
    fn farewell(&mut self) -> Bytes {
        let reached = match std::mem::replace(&mut self.stage, Stage::IsOver) {
            Stage::Reads(place) => Some(place.reached),
            Stage::Begins(_) | Stage::Asks(..) | Stage::IsOver => None,
        };
        frame::farewell(self.retry, reached)
    }

    fn ask_head(&self, known: Option<Position>) -> Stage {
        let app = Arc::clone(&self.app);
        let ask = async move {
            match app.head().await {
                Ok(head) => Found::Head(head),
                Err(error) => failed(&error),
            }
        };
        Stage::Asks(Box::pin(ask), known)
    }

    fn ask_table(&self, after: Position) -> Stage {
        let (app, part, streams) = (Arc::clone(&self.app), self.part, Arc::clone(self.hub.streams()));
        let ask = async move {
            // Many clients reconnect at once, and each reads all events that it missed.
            let _turn = streams.replays.acquire().await;
            match app.replay_after(after, Arc::new(part)).await {
                Ok(Ok(batch)) => {
                    let frames = batch.events.iter().filter_map(frame::encode);
                    let frames = frames.filter(|(kind, _)| *kind == kind_of(part)).map(|(_, frame)| frame);
                    Found::Events { frames: frames.collect(), reached: batch.reached, more: batch.more }
                }
                Ok(Err(ReplayError::Lost)) => Found::Lost,
                Err(error) => failed(&error),
            }
        };
        Stage::Asks(Box::pin(ask), Some(after))
    }

    /// The next stage for a client that has every event up to `position`: reading the log, or querying the
    /// table.
    fn after(&self, position: Position) -> Stage {
        match self.log().place_after(position) {
            Some(place) => Stage::Reads(place),
            None => self.ask_table(position),
        }
    }

    fn begin(&self, start: Start) -> (Option<Bytes>, Stage) {
        let reached = self.log().reached();
        match (start, reached) {
            (Start::Unknown, _) => self.resync(),
            // The log holds a fan's private events only from the moment at which a stream for them opens.
            (Start::Now, Some(reached)) if !matches!(self.part, Part::Own(_)) => (None, self.after(reached)),
            (Start::Now, _) => (None, self.ask_head(None)),
            (Start::After(known), Some(reached)) if known > reached => (None, self.ask_head(Some(known))),
            (Start::After(known), _) if matches!(self.part, Part::Own(_)) => (None, self.ask_table(known)),
            (Start::After(known), _) => (None, self.after(known)),
        }
    }

    /// Instructs the client to reload everything, and continues at the current position.
    fn resync(&self) -> (Option<Bytes>, Stage) {
        let position = self.log().reached().unwrap_or(Position::START);
        metrics::counter!("terrace_stream_resyncs_total").increment(1);
        (Some(frame::resync(position)), self.after(position))
    }

    fn found(&mut self, found: Found, known: Option<Position>) -> (Option<Bytes>, Stage) {
        match (found, known) {
            (Found::Head(head), Some(known)) if known > head => self.resync(),
            (Found::Head(head), known) => (None, self.after(known.unwrap_or(head))),
            (Found::Lost, _) => self.resync(),
            (Found::Failed, _) => (Some(self.farewell()), Stage::IsOver),
            (Found::Events { frames, reached, more }, _) => {
                let body = self.seen_of(&frames);
                let stage = if more { self.ask_table(reached) } else { self.after(reached) };
                ((!body.is_empty()).then_some(body), stage)
            }
        }
    }

    fn seen_of(&self, frames: &[Frame]) -> Bytes {
        let view = self.seat.reader().map(|reader| (reader.user, reader.view()));
        let view = view.as_ref().map(|(user, view)| (*user, &**view));
        let mut out = BytesMut::new();
        for frame in frames {
            let sight = self.part.sight(&frame.about, view);
            if sight != Visibility::Nothing {
                frame.write(sight, &mut out);
            }
        }
        out.freeze()
    }

    /// Emits a message and postpones the heartbeat.
    fn sends(&mut self, body: Bytes, now: Instant) -> Poll<Option<Result<Bytes, Infallible>>> {
        self.beat = now + self.hub.streams().config.heartbeat;
        Poll::Ready(Some(Ok(body)))
    }
}

fn failed(error: &terrace_kernel::StoreError) -> Found {
    log::debug!("a stream ends early because the event table cannot be read: {error}");
    Found::Failed
}

impl MessageBody for StreamBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let this = self.get_mut();
        this.slot.wake_here(cx);
        loop {
            if matches!(this.stage, Stage::IsOver) || this.pulse.as_ref().is_some_and(|pulse| pulse.is_gone())
            {
                return Poll::Ready(None);
            }
            let now = Instant::now();
            if this.ends(now) {
                let last = this.farewell();
                return this.sends(last, now);
            }
            let place = match &mut this.stage {
                Stage::Reads(place) => *place,
                Stage::Begins(start) => {
                    let start = *start;
                    let (body, stage) = this.begin(start);
                    this.stage = stage;
                    if let Some(body) = body {
                        return this.sends(body, now);
                    }
                    continue;
                }
                Stage::Asks(ask, known) => {
                    let known = *known;
                    let found = ready!(ask.as_mut().poll(cx));
                    let (body, stage) = this.found(found, known);
                    this.stage = stage;
                    if let Some(body) = body {
                        return this.sends(body, now);
                    }
                    continue;
                }
                Stage::IsOver => return Poll::Ready(None),
            };
            match this.hub.read(&this.slot, this.part, place, this.seat.reader().map(|reader| &**reader)) {
                Next::Chunk(body, place) => {
                    this.stage = Stage::Reads(place);
                    return this.sends(body, now);
                }
                Next::Nothing(place) => {
                    this.stage = Stage::Reads(place);
                    if now >= this.beat {
                        let beat = this.hub.beat(place.reached);
                        return this.sends(beat, now);
                    }
                    this.slot.arm(this.beat.min(this.end));
                    return Poll::Pending;
                }
                Next::Behind => this.stage = this.ask_table(place.reached),
                Next::Overrun => {
                    metrics::counter!("terrace_streams_cut_total").increment(1);
                    let last = this.farewell();
                    return this.sends(last, now);
                }
            }
        }
    }
}

impl Drop for StreamBody {
    fn drop(&mut self) {
        self.hub.leave(self.number, &self.slot);
        self.log().leave();
        metrics::gauge!("terrace_streams_open", "stream" => crate::streams::feeder::name(kind_of(self.part)))
            .decrement(1.0);
    }
}
