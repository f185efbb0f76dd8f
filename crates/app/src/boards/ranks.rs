//! The boards of the active season as a live model: all ranks, exactly as of a position in the event log.

use crate::boards::cards::Cards;
use crate::platform::{EventEffects, LiveModel, Loading};
use crate::store::LiveReadTx;
use moka::sync::Cache;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use terrace_kernel::{Event, EventKind, Position, StoreError, UserId, num};
use terrace_scoring::{
    BoardId, BoardRead, RankIndex, RankIndexBuilder, SeasonId, Seasons, Total, TotalChanges, TotalsSpan,
};

/// Totals read per portion. Small, because each reading connection has its own thread, and the thread keeps the
/// memory that a portion took.
const PORTION: u32 = 1536;
/// Capacity of the cache of hidden users: four units per reader and one per hidden user, some 20 bytes each.
const MOST_HIDDEN: u64 = 400_000;

/// The boards of the active season, and caches of the data shown next to their lines.
pub(crate) struct Ranks {
    seasons: Arc<Seasons>,
    season: Option<SeasonId>,
    pub(super) boards: HashMap<BoardId, Ranking>,
    /// The position as of which an empty board is exact.
    pub(super) begun: Position,
    /// Increases with each change of how lines are displayed that does not change ranks: names, pictures, blocks.
    looks: u64,
    cards: Arc<Cards>,
    hidden: Arc<Hidden>,
}

pub(super) struct Ranking {
    pub(super) index: RankIndex,
    pub(super) version: Position,
}

/// Identifies the state of a board among all its states in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardStamp {
    /// Position of the last event that changed the board. The board is exact from there up to the last position that
    /// the process has applied.
    pub version: Position,
    /// Counter of display changes.
    pub looks: u64,
}

impl BoardStamp {
    /// This stamp with a version of at least `served`, the position up to which clients have been served from the
    /// tables. The board is exact at `served` too if nothing changed it since.
    pub(crate) fn after(self, served: Position) -> Self {
        Self { version: self.version.max(served), ..self }
    }
}

impl Ranks {
    /// All seasons.
    pub(crate) const fn seasons(&self) -> &Arc<Seasons> {
        &self.seasons
    }

    /// The season of these boards.
    pub(crate) const fn season(&self) -> Option<SeasonId> {
        self.season
    }

    /// Applies `ask` to the index of a board, an empty one if the board has no members, and returns the stamp with
    /// the result.
    pub(crate) fn board<T>(&self, board: BoardId, ask: impl FnOnce(&RankIndex) -> T) -> (T, BoardStamp) {
        match self.boards.get(&board) {
            Some(ranking) => (ask(&ranking.index), self.stamp(board)),
            None => (ask(&RankIndex::new()), self.stamp(board)),
        }
    }

    /// The stamp of the board's current state.
    pub(crate) fn stamp(&self, board: BoardId) -> BoardStamp {
        let version = self.boards.get(&board).map_or(self.begun, |ranking| ranking.version);
        BoardStamp { version, looks: self.looks }
    }

    /// The author cards of fans.
    pub(crate) const fn cards(&self) -> &Arc<Cards> {
        &self.cards
    }

    /// The cache of hidden users by reader.
    pub(crate) const fn hidden(&self) -> &Arc<Hidden> {
        &self.hidden
    }

    /// Heap size of the boards in bytes.
    fn heap_bytes(&self) -> usize {
        self.boards.values().map(|ranking| ranking.index.heap_bytes()).sum()
    }
}

/// The users hidden from each reader of boards. An entry is removed when an event reports a change.
pub(crate) struct Hidden {
    known: Cache<UserId, Arc<HashSet<UserId>>>,
    /// Counts removals. A read that was in flight during a removal is not cached.
    removals: AtomicU64,
}

impl Hidden {
    fn new() -> Self {
        let weigh = |_: &UserId, hidden: &Arc<HashSet<UserId>>| num::to_u32(hidden.len() + 4);
        let known = Cache::builder().weigher(weigh).max_capacity(MOST_HIDDEN).build();
        Self { known, removals: AtomicU64::new(0) }
    }

    /// The current counter of removals. Call it before a read whose result is passed to [`Hidden::keep`].
    pub(crate) fn since(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    pub(crate) fn get(&self, reader: UserId) -> Option<Arc<HashSet<UserId>>> {
        self.known.get(&reader)
    }

    /// Caches the users hidden from a reader, unless an entry was removed since the read began.
    pub(crate) fn keep(&self, since: u64, reader: UserId, hidden: Arc<HashSet<UserId>>) {
        self.known.insert(reader, hidden);
        // Checked after the insertion: of an insertion and a concurrent removal, the later one sees the other and
        // removes the entry.
        if self.since() != since {
            self.known.invalidate(&reader);
        }
    }

    fn forget(&self, reader: UserId) {
        self.removals.fetch_add(1, Ordering::AcqRel);
        self.known.invalidate(&reader);
    }
}

/// The boards while they are loaded from both ends, until the two lanes meet. A total that is read twice is applied
/// once.
#[derive(Default)]
pub(crate) struct Draft {
    seasons: Option<Arc<Seasons>>,
    season: Option<SeasonId>,
    boards: HashMap<BoardId, RankIndexBuilder>,
    /// The span that is not read yet. A portion counts as read once a lane has applied it.
    left: TotalsSpan,
    met: bool,
}

impl Draft {
    /// The season and the next span for a lane; `None` if the lanes have met.
    fn next(
        &mut self,
        backwards: bool,
        tx: &mut dyn BoardRead,
    ) -> Result<Option<(SeasonId, TotalsSpan)>, StoreError> {
        if self.seasons.is_none() {
            let seasons = tx.seasons()?;
            self.season = seasons.active().map(|season| season.id);
            self.seasons = Some(Arc::new(seasons));
        }
        let Some(season) = self.season.filter(|_| !self.met) else { return Ok(None) };
        Ok(Some((season, TotalsSpan { backwards, ..self.left })))
    }

    fn take(&mut self, backwards: bool, totals: &[(BoardId, UserId, Total)]) -> Loading {
        for (board, user, total) in totals {
            let builder = self.boards.entry(*board).or_insert_with(|| RankIndexBuilder::for_about(0));
            builder.apply(*user, total);
        }
        let reached = totals.last().map(|(board, user, _)| (*board, *user));
        if backwards {
            self.left.before = reached.or(self.left.before);
        } else {
            self.left.after = reached.or(self.left.after);
        }
        let is_full = u32::try_from(totals.len()).is_ok_and(|count| count >= PORTION);
        self.met |= !is_full;
        if self.met { Loading::Whole } else { Loading::More }
    }
}

/// The changes derived from a batch of events.
#[derive(Default)]
pub(crate) struct RankChanges {
    scores: Vec<(Position, UserId, TotalChanges)>,
    /// Users whose card may have changed.
    renamed: Vec<UserId>,
    /// Readers whose set of hidden users may have changed.
    parted: Vec<UserId>,
}

/// Whether an event of this kind changes what boards show.
pub(crate) fn affects_leaderboard(kind: EventKind) -> bool {
    Ranks::FOLLOWS.contains(&kind)
}

impl LiveModel for Ranks {
    const NAME: &'static str = "ranks";
    const EXACT: bool = true;
    const FOLLOWS: &'static [EventKind] = &[
        EventKind::PointsAwarded,
        EventKind::ScoreChanged,
        EventKind::SeasonChanged,
        EventKind::ProfileChanged,
        EventKind::AccountDeleted,
        EventKind::AccountSuspended,
        EventKind::AccountRestored,
        EventKind::UserBlocked,
        EventKind::UserUnblocked,
    ];
    const LANES: usize = 2;
    type Draft = Mutex<Draft>;
    type Changes = RankChanges;

    fn load(draft: &Mutex<Draft>, lane: usize, tx: &mut dyn LiveReadTx) -> Result<Loading, StoreError> {
        let open = || draft.lock().unwrap_or_else(PoisonError::into_inner);
        let backwards = lane % 2 == 1;
        let next = open().next(backwards, tx)?;
        let Some((season, span)) = next else { return Ok(Loading::Whole) };
        let totals = tx.listed_totals(season, PORTION, &span)?;
        Ok(open().take(backwards, &totals))
    }

    fn finish(draft: &Mutex<Draft>) -> Self {
        let draft = std::mem::take(&mut *draft.lock().unwrap_or_else(PoisonError::into_inner));
        let Draft { seasons, season, boards, left: _, met: _ } = draft;
        let ranking =
            |builder: RankIndexBuilder| Ranking { index: builder.finish(), version: Position::START };
        Self {
            seasons: seasons.unwrap_or_default(),
            season,
            boards: boards.into_iter().map(|(board, builder)| (board, ranking(builder))).collect(),
            begun: Position::START,
            looks: 0,
            cards: Arc::new(Cards::new()),
            hidden: Arc::new(Hidden::new()),
        }
    }

    fn look_up(_tx: &mut dyn LiveReadTx, events: &[Event]) -> Result<EventEffects<RankChanges>, StoreError> {
        let mut looked = EventEffects { changes: RankChanges::default(), reload: false };
        for event in events {
            let user = UserId::from_uuid(event.what.subject);
            match (event.what.kind, event.what.actor) {
                (EventKind::PointsAwarded | EventKind::ScoreChanged, Some(actor)) => {
                    let detail = event.detail.as_deref().unwrap_or_default();
                    let changes = detail.parse().map_err(|error| StoreError::defect("ranks", error))?;
                    looked.changes.scores.push((event.position, actor, changes));
                }
                (EventKind::SeasonChanged, _) => looked.reload = true,
                (EventKind::UserBlocked | EventKind::UserUnblocked, actor) => {
                    looked.changes.parted.extend(actor.into_iter().chain([user]));
                }
                (_, _) => looked.changes.renamed.push(user),
            }
        }
        Ok(looked)
    }

    fn apply(&mut self, changes: RankChanges) {
        let RankChanges { scores, renamed, parted } = changes;
        for (position, user, changes) in scores {
            for change in changes.0.into_iter().filter(|change| Some(change.season) == self.season) {
                let ranking = self
                    .boards
                    .entry(change.board)
                    .or_insert_with(|| Ranking { index: RankIndex::new(), version: Position::START });
                if change.is_listed {
                    ranking.index.apply(user, &change.total);
                } else {
                    ranking.index.remove(user, change.total.version);
                }
                ranking.version = position;
            }
        }
        if !parted.is_empty() || !renamed.is_empty() {
            self.looks += 1;
        }
        for user in renamed {
            self.cards.forget(user);
        }
        for user in parted {
            self.hidden.forget(user);
        }
    }

    fn begins_at(&mut self, position: Position) {
        self.begun = position;
        for ranking in self.boards.values_mut() {
            ranking.version = position;
        }
        let fans: usize = self.boards.values().map(|ranking| ranking.index.len()).sum();
        log::debug!("{} boards with {fans} lines take {} bytes", self.boards.len(), self.heap_bytes());
    }
}
