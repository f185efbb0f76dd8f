//! The boards of the active season as a live model: who stands where, exactly as of a place in the event log.

use crate::platform::{LiveModel, Loading, Looked};
use crate::store::ReadTx;
use moka::sync::Cache;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use terrace_identity::AuthorCard;
use terrace_kernel::{Event, EventKind, Position, StoreError, UserId};
use terrace_scoring::{
    BoardId, RankIndex, RankIndexBuilder, SeasonId, Seasons, Total, TotalChanges, TotalsSpan,
};

/// Totals that one portion reads. Few, because the thread that read them keeps the memory that they took: each reading
/// connection has one.
const PORTION: u32 = 1536;
/// How many fans' cards are kept; some 250 bytes each.
const MOST_CARDS: u64 = 50_000;
/// How much is kept of who is hidden from readers: four for each reader and one for each who is hidden, some 20 bytes.
const MOST_HIDDEN: u64 = 400_000;

/// The boards of the active season, and what of fans stands beside their lines.
pub(crate) struct Ranks {
    seasons: Arc<Seasons>,
    season: Option<SeasonId>,
    boards: HashMap<BoardId, Ranking>,
    /// Where boards begin that nobody is on yet.
    begun: Position,
    /// Grows with whatever changes how lines look without changing who stands where: names, pictures, blocks.
    looks: u64,
    cards: Arc<Cards>,
    hidden: Arc<Hidden>,
}

struct Ranking {
    index: RankIndex,
    version: Position,
}

/// What tells a board's state from every other one of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardStamp {
    /// The place in the log of what last changed the board: it is right as of there, and of everything after it up to
    /// what the process knows.
    pub version: Position,
    /// What tells apart how its lines look.
    pub looks: u64,
}

impl BoardStamp {
    /// The stamp that does not fall behind `told`, up to where readers were told of the board from the tables: it is right
    /// as of there, too, where nothing changed it since.
    pub(crate) fn after(self, told: Position) -> Self {
        Self { version: self.version.max(told), ..self }
    }
}

impl Ranks {
    /// Every season.
    pub(crate) const fn seasons(&self) -> &Arc<Seasons> {
        &self.seasons
    }

    /// The season whose boards these are.
    pub(crate) const fn season(&self) -> Option<SeasonId> {
        self.season
    }

    /// What asks about a board; one that nobody is on is empty.
    pub(crate) fn board<T>(&self, board: BoardId, ask: impl FnOnce(&RankIndex) -> T) -> (T, BoardStamp) {
        match self.boards.get(&board) {
            Some(ranking) => (ask(&ranking.index), self.stamp(board)),
            None => (ask(&RankIndex::new()), self.stamp(board)),
        }
    }

    /// The board's state.
    pub(crate) fn stamp(&self, board: BoardId) -> BoardStamp {
        let version = self.boards.get(&board).map_or(self.begun, |ranking| ranking.version);
        BoardStamp { version, looks: self.looks }
    }

    /// The cards of fans.
    pub(crate) const fn cards(&self) -> &Arc<Cards> {
        &self.cards
    }

    /// Who is hidden from fans.
    pub(crate) const fn hidden(&self) -> &Arc<Hidden> {
        &self.hidden
    }

    /// The bytes that the boards take.
    fn heap_bytes(&self) -> usize {
        self.boards.values().map(|ranking| ranking.index.heap_bytes()).sum()
    }
}

/// What is kept of fans, and forgotten as soon as the log tells that it changed.
pub(crate) struct Kept<V> {
    known: Cache<UserId, V>,
    /// Counts changes: what was on its way while one was told is not kept.
    changes: AtomicU64,
}

impl<V: Clone + Send + Sync + 'static> Kept<V> {
    fn new(known: Cache<UserId, V>) -> Self {
        Self { known, changes: AtomicU64::new(0) }
    }

    /// To be asked before something is read that is to be kept.
    pub(crate) fn since(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    pub(crate) fn get(&self, user: UserId) -> Option<V> {
        self.known.get(&user)
    }

    /// Keeps what was read, unless something changed since.
    pub(crate) fn keep(&self, since: u64, user: UserId, value: V) {
        self.known.insert(user, value);
        // After the insertion: whichever of the two sees the other forgets it.
        if self.since() != since {
            self.known.invalidate(&user);
        }
    }

    fn forget(&self, user: UserId) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.known.invalidate(&user);
    }
}

/// Cards of fans.
pub(crate) type Cards = Kept<Arc<AuthorCard>>;
/// Who is hidden from fans who read boards.
pub(crate) type Hidden = Kept<Arc<HashSet<UserId>>>;

fn cards() -> Arc<Cards> {
    Arc::new(Kept::new(Cache::new(MOST_CARDS)))
}

fn hidden() -> Arc<Hidden> {
    let weigh =
        |_: &UserId, hidden: &Arc<HashSet<UserId>>| u32::try_from(hidden.len() + 4).unwrap_or(u32::MAX);
    Arc::new(Kept::new(Cache::builder().weigher(weigh).max_capacity(MOST_HIDDEN).build()))
}

/// The boards while they are loaded: from both ends, until the two lanes meet. A total that is read twice is taken once.
#[derive(Default)]
pub(crate) struct Draft {
    seasons: Option<Arc<Seasons>>,
    season: Option<SeasonId>,
    boards: HashMap<BoardId, RankIndexBuilder>,
    /// What nobody has read yet, lanes that are reading left out of account.
    left: TotalsSpan,
    met: bool,
}

impl Draft {
    /// The season, and what a lane reads next; nothing where the lanes have met.
    fn next(
        &mut self,
        backwards: bool,
        tx: &mut dyn ReadTx,
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

/// What events told.
#[derive(Default)]
pub(crate) struct RankChanges {
    scores: Vec<(Position, UserId, TotalChanges)>,
    /// Whose card may be another now.
    renamed: Vec<UserId>,
    /// From whom others are hidden now than before.
    parted: Vec<UserId>,
}

/// Whether boards look otherwise after an event of this kind.
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

    fn load(draft: &Mutex<Draft>, lane: usize, tx: &mut dyn ReadTx) -> Result<Loading, StoreError> {
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
            cards: cards(),
            hidden: hidden(),
        }
    }

    fn look_up(_tx: &mut dyn ReadTx, events: &[Event]) -> Result<Looked<RankChanges>, StoreError> {
        let mut looked = Looked { changes: RankChanges::default(), reload: false };
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
