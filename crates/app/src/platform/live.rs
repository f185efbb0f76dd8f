//! Live read models: what is kept in memory of the rows, and follows the event log.
//!
//! # What holds
//!
//! A model is loaded by reading the head of the log first and the rows then, and follows the events after that head.
//! An event says only what it concerns; what counts is the row as it is when the event is dealt with. So a change that
//! is in the rows already is dealt with once more and changes nothing, one that is committed while the rows are read
//! is told by an event after the head, and whatever order changes are met in, the last look comes after the last of
//! them: the model is what the rows are, as of some moment not long ago. Every process has models of its own and hears
//! of what all of them write.
//!
//! A model that has to be right as of a place in the log, and not merely of late, is told what became of each thing by
//! the events themselves. The rows that it is loaded from hold more than the log told by then, so nobody reads it before
//! it has dealt with everything that was committed when the last row was read ([`LiveModel::EXACT`]).
//!
//! Where events that a model needs were swept, or the log is not the one that it followed (a database that was
//! restored), it is loaded anew. While it is, the one that there is goes on answering.

use crate::App;
use crate::platform::follower::Follower;
use crate::store::ReadTx;
use crate::store::{Query, into_infallible};
use futures_util::future::try_join_all;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use terrace_kernel::{Event, EventKind, Outcome, Position, StoreError, Timestamp};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;

/// Events that are dealt with in one go.
const BATCH: u32 = 256;
/// How often to look without being rung.
const SLOW_POLL: Duration = Duration::from_secs(5);
/// How long to wait after a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// How often to look whether what was committed is public.
const PUBLISHING: Duration = Duration::from_millis(5);
/// A model that is to be loaded again and again is loaded for at most one part of the time in so many.
const SHARE: u32 = 5;

/// What is kept in memory of some rows.
pub(crate) trait LiveModel: Send + Sync + Sized + 'static {
    /// What it is called in metrics and logs.
    const NAME: &'static str;
    /// Whether it is what the log told up to its position, and nothing beyond: its changes are made of events alone.
    const EXACT: bool;
    /// In how many lanes its rows are read at once; each has a connection.
    const LANES: usize = 1;
    /// The events that concern it.
    const FOLLOWS: &'static [EventKind];
    /// The model while it is loaded.
    type Draft: Default + Send + Sync + 'static;
    /// What became of that which events concern.
    type Changes: Send + 'static;

    /// Reads the next portion of a lane's rows into the draft.
    fn load(draft: &Self::Draft, lane: usize, tx: &mut dyn ReadTx) -> Result<Loading, StoreError>;

    /// Makes the model of all rows, and leaves nothing in the draft.
    fn finish(draft: &Self::Draft) -> Self;

    /// Reads what these events concern as it is now; they are some of those that it follows, in their order.
    fn look_up(tx: &mut dyn ReadTx, events: &[Event]) -> Result<Looked<Self::Changes>, StoreError>;

    /// Brings the model up to what was looked up. The same may be told again, or something that the model knows.
    fn apply(&mut self, changes: Self::Changes);

    /// Every event up to here is dealt with, for the first time.
    fn begins_at(&mut self, _position: Position) {}
}

/// How far the loading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loading {
    /// There are more rows.
    More,
    /// Every row was read.
    Whole,
}

/// What was looked up.
#[derive(Debug)]
pub(crate) struct Looked<C> {
    /// What is to be applied.
    pub(crate) changes: C,
    /// Whether so much else changed that everything has to be read anew.
    pub(crate) reload: bool,
}

/// How a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody has begun to load it.
    Absent,
    /// It is loaded for the first time.
    Loading,
    /// It knows of every event up to here.
    UpTo(Position),
}

/// A model that lives.
pub(crate) struct Live<M> {
    model: RwLock<Option<M>>,
    state: watch::Sender<State>,
    /// Rings when somebody waits for the model to come further.
    hurry: Notify,
    /// The last position as of which answers were given in the model's place.
    floor: AtomicI64,
    /// Whether a model is about to be there, so that no answers are given in its place.
    closed: AtomicBool,
}

/// Keeps answers in the model's place from being given, until it is dropped.
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
    /// Asks the model. Waits while changes are applied, some milliseconds at most, so not on an async thread.
    pub(crate) fn read<T>(&self, ask: impl FnOnce(&M) -> T) -> Option<T> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(ask)
    }

    /// Whether an answer from elsewhere that is right as of `position` may be given in place of the model: not where the
    /// model can answer, or is about to. A model that is loaded later knows of everything up to `position` from its
    /// first moment on, so that answers do not go back.
    pub(crate) fn is_replaced_at(&self, position: Position, answers: impl FnOnce(&M) -> bool) -> bool {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        let is_free = !model.as_ref().is_some_and(answers) && !self.closed.load(Ordering::Acquire);
        if is_free {
            self.floor.fetch_max(position.get(), Ordering::AcqRel);
        }
        is_free
    }

    /// The last position as of which answers were given in the model's place.
    pub(crate) fn floor(&self) -> Position {
        Position::new(self.floor.load(Ordering::Acquire)).unwrap_or(Position::START)
    }

    /// From now on no answers are given in the model's place.
    fn close(&self) -> Closing<'_> {
        self.closed.store(true, Ordering::Release);
        // Those that are being given hold the lock.
        drop(self.model.write().unwrap_or_else(PoisonError::into_inner));
        Closing(&self.closed)
    }

    /// Waits until the model becomes another one or comes further, at most for `patience`.
    pub(crate) async fn changes_within(&self, patience: Duration) {
        let mut state = self.state.subscribe();
        let _ = tokio::time::timeout(patience, state.changed()).await;
    }

    /// Waits until there is a model, if one is being loaded; says whether there is.
    pub(crate) async fn is_there(&self, patience: Duration) -> bool {
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| *state != State::Loading);
        match tokio::time::timeout(patience, settled).await {
            Ok(Ok(state)) => *state != State::Absent,
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// Up to where the model knows of every event; nothing where there is none that answers.
    pub(crate) fn known(&self) -> Option<Position> {
        match *self.state.borrow() {
            State::UpTo(known) => Some(known),
            State::Absent | State::Loading => None,
        }
    }

    /// Has the model come up to `position` soon; says whether it did within `patience`.
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

    /// Waits until the model knows of every event up to `position`.
    async fn reaches(&self, position: Position) {
        let known = |state: &State| matches!(state, State::UpTo(known) if *known >= position);
        // The error says that nobody is left who could tell, which cannot be while we are here.
        let _ = self.state.subscribe().wait_for(known).await;
    }

    fn replace(&self, model: Option<M>, state: State) {
        let mut place = self.model.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *place, model);
        drop(place);
        self.state.send_replace(state);
        // Behind the lock: millions of edges take a while to be given back.
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
    /// Loads the live read models and keeps them current until `stop` turns true. Then they are gone.
    pub async fn run_live_models(self: Arc<Self>, stop: watch::Receiver<bool>) {
        let (graph, ranks) = (Arc::clone(&self.graph), Arc::clone(&self.ranks));
        tokio::join!(self.keep_live(graph, stop.clone()), self.keep_live(ranks, stop));
    }

    /// Waits until the live read models know of every event up to `position`.
    pub async fn live_models_reach(&self, position: Position) {
        tokio::join!(self.graph.reaches(position), self.ranks.reaches(position));
    }

    async fn keep_live<M: LiveModel>(&self, live: Arc<Live<M>>, mut stop: watch::Receiver<bool>) {
        live.state.send_replace(State::Loading);
        tokio::select! {
            // The error says that nobody is left who could turn it.
            _ = stop.wait_for(|stop| *stop) => {}
            () = self.follow(&live) => {}
        }
        // Whoever asks now is told at once that there is none.
        drop(spawn_blocking(move || live.replace(None, State::Absent)).await);
    }

    async fn follow<M: LiveModel>(&self, live: &Arc<Live<M>>) {
        let mut follower = Follower::new(self.store.bell());
        let mut known = None;
        // When the model is to be read anew, and when that may be.
        let mut due: Option<Instant> = Some(Instant::now());
        let mut rest = Instant::now();
        loop {
            let now = Instant::now();
            let outcome = match known {
                Some(known) if due.is_none_or(|due| now < due) => self.catch_up(live, known).await,
                _ => self.load(live).await.inspect(|_| rest = Instant::now() + now.elapsed() * SHARE),
            };
            let wait = match outcome {
                Ok(Step { reached, next }) => {
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
                            log::info!("live model {} lost the log and is read anew", M::NAME);
                            known = None;
                            Duration::ZERO
                        }
                    }
                }
                Err(error) => {
                    log::warn!("live model {} will try again: {error}", M::NAME);
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

    /// Reads everything, and puts a new model into the place of the one that there is.
    async fn load<M: LiveModel>(&self, live: &Arc<Live<M>>) -> Result<Step, StoreError> {
        let begun = Instant::now();
        // Before the first row: what is committed from now on is told after this.
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
            // Twice: answers that are given while it catches up raise the floor, until that is closed.
            for is_last in [false, true] {
                while reached < end {
                    let ahead = self.query(LookUp::<M> { known: reached, model: PhantomData }).await;
                    let Some(ahead) = into_infallible(ahead)?.filter(Ahead::goes_on) else {
                        return Ok(Step { reached: head, next: Next::Lost });
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
        log::info!("live model {} was read in {took:.1?}", M::NAME);
        Ok(Step { reached, next: Next::Loaded })
    }

    async fn load_lane<M: LiveModel>(&self, draft: Arc<M::Draft>, lane: usize) -> Result<(), StoreError> {
        let portion = || Portion::<M> { draft: Arc::clone(&draft), lane };
        while into_infallible(self.query(portion()).await)? == Loading::More {}
        Ok(())
    }

    /// Waits until everything that is committed by now has its public position, and says the last of them.
    async fn published(&self) -> Result<Position, StoreError> {
        if let Some(last) = self.unpublished().await? {
            self.until_published(last).await?;
        }
        into_infallible(self.query(Head).await)
    }

    /// The last event that is committed and has no public position yet.
    pub(crate) async fn unpublished(&self) -> Result<Option<i64>, StoreError> {
        into_infallible(self.query(Unpublished).await)
    }

    /// Waits until everything up to this event has its public position.
    pub(crate) async fn until_published(&self, last: i64) -> Result<(), StoreError> {
        while into_infallible(self.query(IsUnpublished(last)).await)? {
            tokio::time::sleep(PUBLISHING).await;
        }
        Ok(())
    }

    /// Deals with the next events.
    async fn catch_up<M: LiveModel>(&self, live: &Arc<Live<M>>, known: Position) -> Result<Step, StoreError> {
        let ahead = into_infallible(self.query(LookUp::<M> { known, model: PhantomData }).await)?;
        let Some(Ahead { reached, looked, full }) = ahead else {
            return Ok(Step { reached: known, next: Next::Lost });
        };
        let reload = looked.as_ref().is_some_and(|looked| looked.reload);
        if reload && M::EXACT {
            // What it holds is not what is asked for any more; the tables are asked until it is there again.
            let live = Arc::clone(live);
            let gone = spawn_blocking(move || live.replace(None, State::Loading));
            gone.await.map_err(|error| StoreError::defect(M::NAME, error))?;
            return Ok(Step { reached: known, next: Next::Lost });
        }
        if let Some(Looked { changes, .. }) = looked {
            if M::EXACT {
                // Nobody asks it for long: some microseconds here spare whoever waits for this a change of threads.
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
        Ok(Step { reached, next })
    }
}

/// What one step came to.
struct Step {
    /// Every event up to here is known.
    reached: Position,
    next: Next,
}

enum Next {
    /// Everything was read.
    Loaded,
    /// There may be more events.
    More { reload: bool },
    /// There were no more.
    UpToDate { reload: bool },
    /// Events that are needed are not there.
    Lost,
}

struct Head;

impl Query for Head {
    const NAME: &'static str = "live_head";
    type Output = Position;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Position, Infallible> {
        Ok(tx.head()?)
    }
}

/// Reads the next portion of the rows. A draft whose reading failed is thrown away.
struct Portion<M: LiveModel> {
    draft: Arc<M::Draft>,
    lane: usize,
}

impl<M: LiveModel> Query for Portion<M> {
    const NAME: &'static str = "live_load";
    type Output = Loading;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Loading, Infallible> {
        Ok(M::load(&self.draft, self.lane, tx)?)
    }
}

/// Finds the last event that is committed and not public.
struct Unpublished;

impl Query for Unpublished {
    const NAME: &'static str = "live_unpublished";
    type Output = Option<i64>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Option<i64>, Infallible> {
        Ok(tx.unpublished()?)
    }
}

/// Finds whether an event up to this one is not public yet.
struct IsUnpublished(i64);

impl Query for IsUnpublished {
    const NAME: &'static str = "live_is_unpublished";
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<bool, Infallible> {
        Ok(tx.is_unpublished(self.0)?)
    }
}

/// Reads the next events, and what those of them that concern the model concern.
struct LookUp<M> {
    known: Position,
    model: PhantomData<fn() -> M>,
}

struct Ahead<C> {
    reached: Position,
    /// Nothing where no event concerns the model.
    looked: Option<Looked<C>>,
    full: bool,
}

impl<C> Ahead<C> {
    /// Whether the model can go on with what was looked up.
    fn goes_on(&self) -> bool {
        self.looked.as_ref().is_none_or(|looked| !looked.reload)
    }
}

impl<M: LiveModel> Query for LookUp<M> {
    const NAME: &'static str = "live_look_up";
    /// Nothing when events after what is known are gone.
    type Output = Option<Ahead<M::Changes>>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        // Before the events: what was public when it was read is among them, or gone.
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
