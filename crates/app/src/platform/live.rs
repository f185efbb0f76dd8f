//! Live read models: in-memory copies of database rows that follow the event log.
//!
//! # Guarantees
//!
//! Loading a model reads the head of the log first and the rows second; the model then follows the events after that
//! head. An event only identifies what it concerns; the row as it is when the event is processed decides. A change
//! that the loaded rows already contain is therefore processed again without effect; a change that is committed while
//! the rows are read has an event after the head; and in whatever order changes are processed, the last read comes
//! after the last change. So the model equals the rows as of a recent moment. Each process has its own models and
//! receives the events of all processes.
//!
//! A model that must be exact as of a log position, and not merely recent, takes the new state of each row from the
//! events themselves. Its initial rows may contain changes beyond the loaded head, so it is not read before it has
//! processed every event that was committed when the last row was read ([`LiveModel::EXACT`]).
//!
//! If events that a model needs were swept, or the log is a different one (a restored database), the model is
//! reloaded. The existing model continues to answer in the meantime.

use crate::App;
use crate::platform::follower::Follower;
use crate::platform::live_reads::{Ahead, Head, IsUnpublished, LookUp, Portion, Unpublished};
use crate::store::{LiveReadTx, into_infallible};
use futures_util::future::try_join_all;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use terrace_kernel::{Event, EventKind, Position, StoreError};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;

/// Poll interval without a notification.
const SLOW_POLL: Duration = Duration::from_secs(5);
/// Delay after a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// Poll interval while waiting for committed events to become public.
const PUBLISHING: Duration = Duration::from_millis(5);
/// A model that needs repeated reloads spends at most one part in this many of the time on loading.
const SHARE: u32 = 5;

/// An in-memory copy of some rows.
pub(crate) trait LiveModel: Send + Sync + Sized + 'static {
    /// Name in metrics and logs.
    const NAME: &'static str;
    /// Whether the model must equal the log up to its position and contain nothing beyond it: its changes come from
    /// events alone.
    const EXACT: bool;
    /// Number of lanes that load rows in parallel; each uses a connection.
    const LANES: usize = 1;
    /// Kinds of events that concern the model.
    const FOLLOWS: &'static [EventKind];
    /// The model during loading.
    type Draft: Default + Send + Sync + 'static;
    /// New state of whatever the events concern.
    type Changes: Send + 'static;

    /// Reads the next portion of a lane's rows into the draft.
    fn load(draft: &Self::Draft, lane: usize, tx: &mut dyn LiveReadTx) -> Result<Loading, StoreError>;

    /// Builds the model from all rows and empties the draft.
    fn finish(draft: &Self::Draft) -> Self;

    /// Reads the current state of whatever these events concern. The events are a subset of those that the model
    /// follows, in order.
    fn look_up(tx: &mut dyn LiveReadTx, events: &[Event]) -> Result<EventEffects<Self::Changes>, StoreError>;

    /// Applies changes. Must be idempotent: the same change, or one that the model already contains, may be applied
    /// again.
    fn apply(&mut self, changes: Self::Changes);

    /// Called once, when the model has processed every event up to its first position.
    fn begins_at(&mut self, _position: Position) {}
}

/// Progress of loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loading {
    /// There are more rows.
    More,
    /// Every row has been read.
    Whole,
}

/// Result of looking up events.
#[derive(Debug)]
pub(crate) struct EventEffects<C> {
    /// Changes to apply.
    pub(crate) changes: C,
    /// Whether so much else changed that the model must be reloaded.
    pub(crate) reload: bool,
}

/// State of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Loading has not started.
    Absent,
    /// The first load is in progress.
    Loading,
    /// The model has processed every event up to this position.
    UpTo(Position),
}

/// A model together with its state.
pub(crate) struct Live<M> {
    model: RwLock<Option<M>>,
    state: watch::Sender<State>,
    /// Notified when a caller waits for the model to advance.
    hurry: Notify,
    /// Highest position as of which answers were served from elsewhere instead of the model.
    floor: AtomicI64,
    /// Whether the model is about to become available, so that no more answers are served instead of it.
    closed: AtomicBool,
}

/// Guard: while it exists, no answers are served instead of the model.
struct Closing<'a>(&'a AtomicBool);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<M> Default for Live<M> {
    fn default() -> Self {
        Self {
            model: RwLock::new(None),
            state: watch::Sender::new(State::Absent),
            hurry: Notify::new(),
            floor: AtomicI64::new(Position::START.get()),
            closed: AtomicBool::new(false),
        }
    }
}

impl<M: LiveModel> Live<M> {
    /// Runs `ask` on the model. Blocks while changes are applied, for some milliseconds at most, so do not call it on
    /// an async thread.
    pub(crate) fn read<T>(&self, ask: impl FnOnce(&M) -> T) -> Option<T> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(ask)
    }

    /// Whether an answer from elsewhere that is correct as of `position` may be served instead of the model's: not if
    /// the model can answer or is about to. A model that is loaded later has processed everything up to `position`
    /// before it first answers, so answers never go back in time.
    pub(crate) fn is_replaced_at(&self, position: Position, answers: impl FnOnce(&M) -> bool) -> bool {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        let is_free = !model.as_ref().is_some_and(answers) && !self.closed.load(Ordering::Acquire);
        if is_free {
            self.floor.fetch_max(position.get(), Ordering::AcqRel);
        }
        is_free
    }

    /// The highest position as of which answers were served instead of the model.
    pub(crate) fn floor(&self) -> Position {
        Position::new(self.floor.load(Ordering::Acquire)).unwrap_or(Position::START)
    }

    /// From now on, no answers are served instead of the model.
    fn close(&self) -> Closing<'_> {
        self.closed.store(true, Ordering::Release);
        // Calls in progress hold the lock.
        drop(self.model.write().unwrap_or_else(PoisonError::into_inner));
        Closing(&self.closed)
    }

    /// Waits until the model is replaced or advances, for at most `patience`.
    pub(crate) async fn changes_within(&self, patience: Duration) {
        let mut state = self.state.subscribe();
        let _ = tokio::time::timeout(patience, state.changed()).await;
    }

    /// Waits until loading has finished, if it is in progress; returns whether there is a model.
    pub(crate) async fn is_there(&self, patience: Duration) -> bool {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| *state != State::Loading);
        match tokio::time::timeout(patience, settled).await {
            Ok(Ok(state)) => *state != State::Absent,
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// Position up to which the model has processed every event; `None` if there is no model that can answer.
    pub(crate) fn known(&self) -> Option<Position> {
        match *self.state.borrow() {
            State::UpTo(known) => Some(known),
            State::Absent | State::Loading => None,
        }
    }

    /// Requests that the model advances to `position`; returns whether it did within `patience`.
    pub(crate) async fn comes_up_to(&self, position: Position, patience: Duration) -> bool {
        match self.known() {
            None => false,
            Some(known) if known >= position => true,
            Some(_) => {
                self.hurry.notify_one();
                tokio::time::timeout(patience, self.reaches(position)).await.is_ok()
            }
        }
    }

    /// Waits until the model has processed every event up to `position`.
    async fn reaches(&self, position: Position) {
        let known = |state: &State| matches!(state, State::UpTo(known) if *known >= position);
        // An error would mean that the sender is gone, which is impossible while `self` exists.
        let _ = self.state.subscribe().wait_for(known).await;
    }

    fn replace(&self, model: Option<M>, state: State) {
        let mut place = self.model.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *place, model);
        drop(place);
        self.state.send_replace(state);
        // Outside the lock: dropping millions of edges takes a while.
        drop(old);
    }

    fn apply(&self, changes: M::Changes, known: Position) {
        if let Some(model) = self.model.write().unwrap_or_else(PoisonError::into_inner).as_mut() {
            model.apply(changes);
        }
        self.state.send_replace(State::UpTo(known));
    }
}

impl App {
    /// Loads the live read models and keeps them current until `stop` turns true. The models are then dropped.
    pub async fn run_live_models(self: Arc<Self>, stop: watch::Receiver<bool>) {
        let (graph, ranks) = (Arc::clone(&self.graph), Arc::clone(&self.ranks));
        tokio::join!(
            self.keep_live(graph, stop.clone()),
            self.keep_live(Arc::clone(&self.newest_posts), stop.clone()),
            self.keep_live(ranks, stop.clone()),
            self.read_cards_ahead(stop),
        );
    }

    /// Waits until the live read models have processed every event up to `position`.
    pub async fn live_models_reach(&self, position: Position) {
        tokio::join!(
            self.graph.reaches(position),
            self.newest_posts.reaches(position),
            self.ranks.reaches(position),
        );
    }

    async fn keep_live<M: LiveModel>(&self, live: Arc<Live<M>>, mut stop: watch::Receiver<bool>) {
        live.state.send_replace(State::Loading);
        tokio::select! {
            // An error means that the sender is gone.
            _ = stop.wait_for(|stop| *stop) => {}
            () = self.follow(&live) => {}
        }
        // Callers that are waiting learn at once that there is no model.
        drop(spawn_blocking(move || live.replace(None, State::Absent)).await);
    }

    async fn follow<M: LiveModel>(&self, live: &Arc<Live<M>>) {
        let mut follower = Follower::new(self.store.bell());
        let mut known = None;
        // When the model needs a reload, and the earliest time at which that may start.
        let mut due: Option<Instant> = Some(Instant::now());
        let mut rest = Instant::now();
        loop {
            let now = Instant::now();
            let outcome = match known {
                Some(known) if due.is_none_or(|due| now < due) => self.catch_up(live, known).await,
                _ => self.load(live).await.inspect(|_| rest = Instant::now() + now.elapsed() * SHARE),
            };
            let wait = match outcome {
                Ok(ModelProgress { reached, next }) => {
                    known = Some(reached);
                    match next {
                        Next::Loaded => {
                            due = None;
                            Duration::ZERO
                        }
                        Next::More { reload } => {
                            due = due.or(reload.then_some(rest));
                            Duration::ZERO
                        }
                        Next::UpToDate { reload } => {
                            due = due.or(reload.then_some(rest));
                            let rest = due.map(|due| due.saturating_duration_since(Instant::now()));
                            rest.map_or(SLOW_POLL, |rest| rest.min(SLOW_POLL))
                        }
                        Next::Lost => {
                            log::info!("live model {} lost its place in the log and is reloaded", M::NAME);
                            known = None;
                            Duration::ZERO
                        }
                    }
                }
                Err(error) => {
                    log::warn!("live model {} will retry: {error}", M::NAME);
                    PAUSE
                }
            };
            if !wait.is_zero() {
                tokio::select! {
                    heard = follower.wait(wait) => if !heard { return },
                    () = live.hurry.notified() => follower.look(),
                }
            }
        }
    }

    /// Reads all rows and replaces the existing model with a new one.
    async fn load<M: LiveModel>(&self, live: &Arc<Live<M>>) -> Result<ModelProgress, StoreError> {
        let begun = Instant::now();
        // Before the first row: whatever is committed from now on has an event after this position.
        let head = into_infallible(self.query(Head).await)?;
        let draft: Arc<M::Draft> = Arc::default();
        let lanes = (0..M::LANES).map(|lane| self.load_lane::<M>(Arc::clone(&draft), lane));
        try_join_all(lanes).await?;
        let made = spawn_blocking(move || M::finish(&draft));
        let mut model = made.await.map_err(|error| StoreError::defect(M::NAME, error))?;
        let mut reached = head;
        let mut closing = None;
        if M::EXACT {
            let mut end = self.published().await?;
            // Twice: answers served during the first pass raise the floor, until they are closed off.
            for is_last in [false, true] {
                while reached < end {
                    let ahead = self.query(LookUp::<M> { known: reached, model: PhantomData }).await;
                    let Some(ahead) = into_infallible(ahead)?.filter(Ahead::goes_on) else {
                        return Ok(ModelProgress { reached: head, next: Next::Lost });
                    };
                    ahead.looked.into_iter().for_each(|looked| model.apply(looked.changes));
                    reached = ahead.reached;
                }
                if !is_last {
                    closing = Some(live.close());
                    end = live.floor();
                }
            }
        }
        model.begins_at(reached);
        let place = Arc::clone(live);
        let placed = spawn_blocking(move || place.replace(Some(model), State::UpTo(reached)));
        placed.await.map_err(|error| StoreError::defect(M::NAME, error))?;
        drop(closing);
        let took = begun.elapsed();
        metrics::histogram!("terrace_live_load_seconds", "model" => M::NAME).record(took.as_secs_f64());
        log::info!("live model {} was loaded in {took:.1?}", M::NAME);
        Ok(ModelProgress { reached, next: Next::Loaded })
    }

    async fn load_lane<M: LiveModel>(&self, draft: Arc<M::Draft>, lane: usize) -> Result<(), StoreError> {
        let portion = || Portion::<M> { draft: Arc::clone(&draft), lane };
        while into_infallible(self.query(portion()).await)? == Loading::More {}
        Ok(())
    }

    /// Waits until everything committed by now has a public position, and returns the head of the log.
    async fn published(&self) -> Result<Position, StoreError> {
        if let Some(last) = self.unpublished().await? {
            self.until_published(last).await?;
        }
        into_infallible(self.query(Head).await)
    }

    /// The last event that is committed and has no public position yet.
    pub async fn unpublished(&self) -> Result<Option<i64>, StoreError> {
        into_infallible(self.query(Unpublished).await)
    }

    /// Waits until every event up to this one has a public position.
    pub async fn until_published(&self, last: i64) -> Result<(), StoreError> {
        while into_infallible(self.query(IsUnpublished(last)).await)? {
            tokio::time::sleep(PUBLISHING).await;
        }
        Ok(())
    }

    /// Processes the next events.
    async fn catch_up<M: LiveModel>(
        &self,
        live: &Arc<Live<M>>,
        known: Position,
    ) -> Result<ModelProgress, StoreError> {
        let ahead = into_infallible(self.query(LookUp::<M> { known, model: PhantomData }).await)?;
        let Some(Ahead { reached, looked, full }) = ahead else {
            return Ok(ModelProgress { reached: known, next: Next::Lost });
        };
        let reload = looked.as_ref().is_some_and(|looked| looked.reload);
        if reload && M::EXACT {
            // The model no longer covers what readers ask for; the tables answer until it is reloaded.
            let live = Arc::clone(live);
            let gone = spawn_blocking(move || live.replace(None, State::Loading));
            gone.await.map_err(|error| StoreError::defect(M::NAME, error))?;
            return Ok(ModelProgress { reached: known, next: Next::Lost });
        }
        if let Some(EventEffects { changes, .. }) = looked {
            if M::EXACT {
                // No reader holds the lock for long: blocking some microseconds here saves the waiting readers a
                // thread switch.
                live.apply(changes, reached);
            } else {
                let live = Arc::clone(live);
                let applied = spawn_blocking(move || live.apply(changes, reached));
                applied.await.map_err(|error| StoreError::defect(M::NAME, error))?;
            }
        } else if reached > known {
            live.state.send_replace(State::UpTo(reached));
        }
        let next = if full { Next::More { reload } } else { Next::UpToDate { reload } };
        Ok(ModelProgress { reached, next })
    }
}

/// Result of one step.
struct ModelProgress {
    /// Every event up to this position has been processed.
    reached: Position,
    next: Next,
}

enum Next {
    /// The model was loaded.
    Loaded,
    /// There may be more events.
    More { reload: bool },
    /// There are no more events.
    UpToDate { reload: bool },
    /// Required events are missing.
    Lost,
}
