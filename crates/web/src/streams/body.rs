//! The response body of one stream.

use crate::edge::Pulse;
use crate::streams::frame;
use crate::streams::frame::Frame;
use crate::streams::hub::{Hub, Next};
use crate::streams::interest::{Interest, Output};
use crate::streams::kind::{KINDS, Kind};
use crate::streams::log::LogCursor;
use crate::streams::readers::Seat;
use crate::streams::slot::Slot;
use crate::streams::view::Part;
use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use terrace_app::App;
use terrace_app::store::BoxFuture;
use terrace_app::streams::ReplayError;
use terrace_kernel::{Position, UserId};

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
    /// No private events from `after` to `reached`.
    NothingPrivate { after: Position, reached: Position },
    /// There may be private events after this position.
    Private { after: Position },
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
    Reads(LogCursor),
    IsOver,
}

/// What a stream needs at its start.
pub(super) struct Opening {
    pub(super) app: Arc<App>,
    pub(super) interest: Interest,
    pub(super) start: Start,
    pub(super) seat: Seat,
    pub(super) pulse: Option<Rc<Pulse>>,
    /// When the stream ends.
    pub(super) end: Instant,
    /// Milliseconds after which the client is to reconnect.
    pub(super) retry: u64,
}

pub(super) struct StreamBody {
    hub: Rc<Hub>,
    number: u64,
    slot: Rc<Slot>,
    stage: Stage,
    app: Arc<App>,
    seat: Seat,
    pulse: Option<Rc<Pulse>>,
    end: Instant,
    /// When the next heartbeat is due if no event is sent before.
    beat: Instant,
    retry: u64,
}

impl StreamBody {
    pub(super) fn new(hub: &Rc<Hub>, opening: Opening) -> Self {
        let Opening { app, interest, start, seat, pulse, end, retry } = opening;
        metrics::gauge!("terrace_streams_open", "stream" => interest.name()).increment(1.0);
        let (number, slot) = hub.join(Slot::new(interest, seat.session().cloned(), pulse.clone(), end));
        let hub = Rc::clone(hub);
        // From now on the logs keep new events, so everything that a log lacks is already in the table.
        for kind in KINDS.into_iter().filter(|kind| *slot.kinds().get(*kind)) {
            hub.streams().log(kind).join();
        }
        // The first heartbeat is due at once: it gives a client without events its position.
        let beat = Instant::now();
        Self { hub, number, slot, stage: Stage::Begins(start), app, seat, pulse, end, beat, retry }
    }

    /// The position that all logs of the stream have reached.
    fn reached(&self) -> Option<Position> {
        self.hub.streams().lock(self.slot.kinds()).reached()
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
        let (app, streams) = (Arc::clone(&self.app), Arc::clone(self.hub.streams()));
        let (interest, kinds) = (self.slot.interest.clone(), self.slot.kinds());
        let ask = async move {
            // Many clients reconnect at once, and each reads all events that it missed.
            let _turn = streams.replays.acquire().await;
            match app.replay_after(after, Arc::new(interest)).await {
                Ok(Ok(batch)) => {
                    let frames = batch.events.iter().filter_map(frame::encode);
                    let mut frames: Vec<(Kind, Frame)> =
                        frames.filter(|(kind, _)| *kinds.get(*kind)).collect();
                    // The order in which the logs are read.
                    frames.sort_by_key(|(kind, frame)| (frame.position, *kind));
                    let frames = frames.into_iter().map(|(_, frame)| frame).collect();
                    Found::Events { frames, reached: batch.reached, more: batch.more }
                }
                Ok(Err(ReplayError::Lost)) => Found::Lost,
                Err(error) => failed(&error),
            }
        };
        Stage::Asks(Box::pin(ask), Some(after))
    }

    /// Asks whether the fan has private events after `after`. If not, all other events can be read from the logs.
    fn ask_private(&self, fan: UserId, after: Position) -> Stage {
        let (app, streams) = (Arc::clone(&self.app), Arc::clone(self.hub.streams()));
        let ask = async move {
            let _turn = streams.replays.acquire().await;
            match app.replay_after(after, Arc::new(Interest::single(Part::Own(fan)))).await {
                Ok(Ok(batch)) if batch.events.is_empty() && !batch.more => {
                    Found::NothingPrivate { after, reached: batch.reached }
                }
                Ok(Ok(_)) => Found::Private { after },
                Ok(Err(ReplayError::Lost)) => Found::Lost,
                Err(error) => failed(&error),
            }
        };
        Stage::Asks(Box::pin(ask), Some(after))
    }

    /// The next stage for a client that has every event up to `position`: reading the logs, or querying the
    /// table.
    fn after(&self, position: Position) -> Stage {
        let place = self.hub.streams().lock(self.slot.kinds()).place_after(position);
        match place {
            Some(place) => Stage::Reads(place),
            None => self.ask_table(position),
        }
    }

    fn begin(&self, start: Start) -> (Option<Bytes>, Stage) {
        let is_private = self.slot.interest.fan().is_some();
        match (start, self.reached()) {
            (Start::Unknown, _) => self.resync(),
            (Start::Now, Some(reached)) if !is_private => (None, self.after(reached)),
            (Start::Now, _) => (None, self.ask_head(None)),
            (Start::After(known), Some(reached)) if known > reached => (None, self.ask_head(Some(known))),
            (Start::After(known), _) => (None, self.resume(known)),
        }
    }

    /// The first stage of a client that has every event up to `known`. The log holds a fan's private events only from the
    /// moment at which a stream for them opens.
    fn resume(&self, known: Position) -> Stage {
        let interest = &self.slot.interest;
        let Some(fan) = interest.fan() else { return self.after(known) };
        let is_in_memory = self.hub.streams().lock(self.slot.kinds()).place_after(known).is_some();
        if is_in_memory && !interest.shared().is_empty() {
            self.ask_private(fan, known)
        } else {
            self.ask_table(known)
        }
    }

    /// Instructs the client to reload everything, and continues at the current position.
    fn resync(&self) -> (Option<Bytes>, Stage) {
        let position = self.reached().unwrap_or(Position::START);
        metrics::counter!("terrace_stream_resyncs_total").increment(1);
        (Some(self.slot.interest.to_all(&frame::resync(position), position)), self.after(position))
    }

    fn found(&mut self, found: Found, known: Option<Position>) -> (Option<Bytes>, Stage) {
        match (found, known) {
            (Found::Head(head), Some(known)) if known > head => self.resync(),
            (Found::Head(_), Some(known)) => (None, self.resume(known)),
            (Found::Head(head), None) => (None, self.after(head)),
            (Found::NothingPrivate { after, reached }, _) => {
                let place = self.hub.streams().lock(self.slot.kinds()).place_with_private(after, reached);
                (None, place.map_or_else(|| self.ask_table(after), Stage::Reads))
            }
            (Found::Private { after }, _) => (None, self.ask_table(after)),
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
        let mut output = Output::new(&self.slot.interest);
        for frame in frames {
            output.take(frame, view);
        }
        output.finish().0
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
            match this.hub.read(&this.slot, place, this.seat.reader().map(|reader| &**reader)) {
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
        for kind in KINDS.into_iter().filter(|kind| *self.slot.kinds().get(*kind)) {
            self.hub.streams().log(kind).leave();
        }
        metrics::gauge!("terrace_streams_open", "stream" => self.slot.interest.name()).decrement(1.0);
    }
}
