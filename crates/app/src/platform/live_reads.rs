//! What live models read: the head of the log, portions of rows, and the events after a position.

use crate::platform::{EventEffects, LiveModel, Loading};
use crate::store::{EventRead, LiveReadTx, Query};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use terrace_kernel::{Event, Outcome, Position, Timestamp};

/// Maximum number of events processed at once.
const BATCH: u32 = 256;

/// Finds the newest public position.
pub(super) struct Head;

impl Query for Head {
    const NAME: &'static str = "live_head";
    type Ports = dyn EventRead;
    type Output = Position;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn EventRead, _now: Timestamp) -> Outcome<Position, Infallible> {
        Ok(tx.head()?)
    }
}

/// Reads the next portion of rows. If a read fails, its draft is discarded.
pub(super) struct Portion<M: LiveModel> {
    pub(super) draft: Arc<M::Draft>,
    pub(super) lane: usize,
}

impl<M: LiveModel> Query for Portion<M> {
    const NAME: &'static str = "live_load";
    type Ports = dyn LiveReadTx;
    type Output = Loading;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn LiveReadTx, _now: Timestamp) -> Outcome<Loading, Infallible> {
        Ok(M::load(&self.draft, self.lane, tx)?)
    }
}

/// Finds the last event that is committed and not public.
pub(super) struct Unpublished;

impl Query for Unpublished {
    const NAME: &'static str = "live_unpublished";
    type Ports = dyn EventRead;
    type Output = Option<i64>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn EventRead, _now: Timestamp) -> Outcome<Option<i64>, Infallible> {
        Ok(tx.unpublished()?)
    }
}

/// Finds whether any event up to this one is not public yet.
pub(super) struct IsUnpublished(pub(super) i64);

impl Query for IsUnpublished {
    const NAME: &'static str = "live_is_unpublished";
    type Ports = dyn EventRead;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn EventRead, _now: Timestamp) -> Outcome<bool, Infallible> {
        Ok(tx.is_unpublished(self.0)?)
    }
}

/// Reads the next events and the current state of whatever the relevant ones concern.
pub(super) struct LookUp<M> {
    pub(super) known: Position,
    pub(super) model: PhantomData<fn() -> M>,
}

/// The events after a position, and what they change.
pub(super) struct Ahead<C> {
    pub(super) reached: Position,
    /// `None` if none of the events concerns the model.
    pub(super) looked: Option<EventEffects<C>>,
    pub(super) full: bool,
}

impl<C> Ahead<C> {
    /// Whether the model can apply the result, so that no reload is needed.
    pub(super) fn goes_on(&self) -> bool {
        self.looked.as_ref().is_none_or(|looked| !looked.reload)
    }
}

impl<M: LiveModel> Query for LookUp<M> {
    const NAME: &'static str = "live_look_up";
    type Ports = dyn LiveReadTx;
    /// `None` if events after the known position are missing.
    type Output = Option<Ahead<M::Changes>>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn LiveReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        // Before the events: whatever was public at this read is among them, or has been swept.
        let head = tx.head()?;
        let events = tx.events_after(self.known, BATCH)?;
        let is_next = |event: &Event| event.position.get() == self.known.get() + 1;
        if head < self.known || !events.first().map_or(head == self.known, is_next) {
            return Ok(None);
        }
        let reached = events.last().map_or(self.known, |event| event.position);
        let full = u32::try_from(events.len()).is_ok_and(|count| count >= BATCH);
        let mut concerning = events;
        concerning.retain(|event| M::FOLLOWS.contains(&event.what.kind));
        let looked = if concerning.is_empty() { None } else { Some(M::look_up(tx, &concerning)?) };
        Ok(Some(Ahead { reached, looked, full }))
    }
}
