//! Leaderboards for readers: served from memory, as of a position in the event log, if the boards of the active
//! season are loaded; otherwise, and for closed seasons, from the tables.

mod award_points;
mod awards;
mod board_membership;
mod cards;
pub mod export;
mod own_ranks;
mod points;
mod queries;
mod ranks;
mod reverse_points;
mod seasons;
mod stale_accounts;

pub use award_points::AwardPoints;
pub use awards::{AwardPointsRefusal, AwardResult, Awards, ReversePointsRefusal};
pub use board_membership::{BoardChoice, BoardJoined, ChangeBoardMembership, MembershipRefusal};
pub(crate) use board_membership::{EnsureTeamBoard, GLOBAL, board_name};
pub(crate) use own_ranks::OwnRanks;
pub use points::{OwnPoints, ReadOwnPoints};
pub(crate) use queries::{
    FindBoard, HiddenAmong, HiddenFrom, ListBoards, Published, ReadCards, ReadRows, ReadSeasons, ReadStanding,
};
pub use ranks::BoardStamp;
pub(crate) use ranks::{Hidden, Ranks, affects_leaderboard};
pub use reverse_points::ReversePoints;
pub use seasons::{CloseSeason, FoundSeasons, StartSeason, TurnSeasons};
pub(crate) use stale_accounts::{AffectedReader, StaleAccounts};

use crate::App;

use crate::store::into_infallible;

use crate::boards::stale_accounts::Note;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_identity::AuthorCard;
use terrace_kernel::{Failure, Limit, Outcome, Position, StoreError, UserId, num};
use terrace_scoring::{Board, BoardScope, RankIndex, RankKey, Ranked, Season, SeasonId, Seasons, Standing};

/// Maximum time that a reader waits for the boards in memory to show the reader's own writes.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a reader of the tables waits until every change of the board that they hold has a position in the event
/// log. After that, the transaction of the read assigns positions to the pending events.
const PUBLISHING: Duration = Duration::from_millis(500);
/// Maximum time between two checks of that condition.
const PAUSE: Duration = Duration::from_millis(5);

/// A request for a page of a board.
#[derive(Debug, Clone)]
pub struct ReadBoard {
    pub board: BoardChoice,
    /// The season; `None` for the one that is currently shown.
    pub season: Option<SeasonId>,
    /// If set, the page is centred on this user instead of starting at the top.
    pub around: Option<UserId>,
    /// Maximum number of lines.
    pub limit: Limit,
    /// The line after which the page starts.
    pub after: Option<RankKey>,
    /// The line before which the page ends, without `after`.
    pub before: Option<RankKey>,
    /// The reader; `None` if signed out.
    pub reader: Option<UserId>,
}

/// Why a board is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardRefusal {
    /// No such board exists.
    UnknownBoard,
    /// No team has this id.
    UnknownTeam,
    /// No such season exists, or the board does not belong to it.
    UnknownSeason,
}

/// A resolved board with the season to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownBoard {
    pub board: Board,
    /// Display name of the board.
    pub name: String,
    pub season: Season,
}

/// One line of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardLine {
    /// Rank and points.
    pub ranked: Ranked,
    /// The fan; `None` if the reader and the fan are hidden from each other.
    pub user: Option<AuthorCard>,
}

#[derive(Debug, Clone)]
pub struct BoardPage {
    /// The lines, in order of rank.
    pub lines: Vec<BoardLine>,
    /// The reader's standing, if the reader is listed.
    pub me: Option<Standing>,
    /// Number of listed fans.
    pub total: u64,
    /// Log position as of which the page is exact.
    pub version: Position,
    /// The line after which the next page begins; `None` on the last page.
    pub next: Option<RankKey>,
    /// The line before which the previous page ends; `None` on the first page.
    pub previous: Option<RankKey>,
    /// Log position at which an event stream continues from this page.
    pub stream_position: Position,
    /// Stamp of the board's state; `None` if the page was read from the tables.
    pub stamp: Option<BoardStamp>,
}

/// The state of the boards in memory at one moment: the log position that they have applied, once they show the
/// reader's writes or the wait has timed out. A request takes one snapshot and uses it throughout.
#[derive(Debug, Clone, Copy)]
pub struct BoardSnapshot {
    /// Position applied by the boards in memory; `None` if the tables must be read.
    known: Option<Position>,
    /// Position up to which pages were served from the tables; never beyond `known`.
    served: Position,
}

impl App {
    /// The writer of awards.
    pub fn awards(&self) -> crate::boards::awards::Awards {
        self.awards.clone()
    }

    /// Creates the first seasons if there are none; returns whether it did.
    pub async fn found_seasons(&self) -> Result<bool, StoreError> {
        into_infallible(self.execute(crate::boards::FoundSeasons).await)
    }

    /// Closes and starts the seasons that are due; returns the changed seasons.
    pub async fn turn_seasons(&self) -> Result<Vec<Season>, StoreError> {
        into_infallible(self.execute(crate::boards::TurnSeasons).await)
    }

    /// Waits, for at most half a second, until the boards in memory show the reader's writes from this process.
    /// Commands wait for the same before they return, so readers rarely have to.
    pub async fn boards_now(&self, reader: Option<UserId>) -> BoardSnapshot {
        // Before the notes are looked at: boards that become available meanwhile may not show the writes yet.
        let now = self.boards_as_they_are();
        let stale = self.stale.of(reader);
        if stale.is_empty() || now.known.is_none() {
            return now;
        }
        let shown = async {
            let settled = self.store.settled().await?;
            self.ranks.comes_up_to(settled, PATIENCE).await.then_some(())
        };
        if let Ok(Some(())) = tokio::time::timeout(PATIENCE, shown).await {
            self.stale.remove(stale);
        }
        self.boards_as_they_are()
    }

    /// Whether [`App::changes`] contains every event that the boards in memory show. They may be ahead of the bell.
    pub fn has_noted_boards(&self) -> bool {
        self.ranks.known().is_none_or(|known| known <= self.known_position())
    }

    fn boards_as_they_are(&self) -> BoardSnapshot {
        let known = self.ranks.known();
        let served = self.ranks.floor();
        BoardSnapshot { known, served: known.map_or(served, |known| served.min(known)) }
    }

    /// Waits until the boards show everything that this process has committed so far. Call it before the affected
    /// accounts can learn of the change. If the wait times out or is cancelled, the accounts are noted and wait when
    /// they next read a board.
    pub(crate) async fn wait_until_visible(&self, concerned: Vec<AffectedReader>) {
        let mut note = Note { stale: &self.stale, concerned };
        // While the boards are loading, reads go to the tables, but loading may finish at any time, so the note
        // stays.
        if self.ranks.known().is_none() {
            return;
        }
        let Some(settled) = self.store.settled().await else { return };
        if self.ranks.comes_up_to(settled, PATIENCE).await {
            note.concerned.clear();
        }
    }

    /// Waits until the boards show the points that the reader is about to be shown.
    pub async fn boards_show_points_of(&self, reader: UserId) {
        self.wait_until_visible(vec![AffectedReader::Account(reader)]).await;
    }

    /// All seasons.
    pub async fn seasons(&self, now: BoardSnapshot) -> Result<Arc<Seasons>, StoreError> {
        if now.known.is_some()
            && let Some(seasons) = self.ranks.read(|ranks| Arc::clone(ranks.seasons()))
        {
            return Ok(seasons);
        }
        let seasons = Arc::new(into_infallible(self.query(ReadSeasons).await)?);
        self.awards.know(Arc::clone(&seasons));
        Ok(seasons)
    }

    /// Resolves the requested board; a team's board is created on first use.
    pub async fn find_board(
        &self,
        now: BoardSnapshot,
        choice: BoardChoice,
        season: Option<SeasonId>,
    ) -> Outcome<Arc<ShownBoard>, BoardRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let seasons = self.seasons(now).await.map_err(Failure::Broken)?;
        let wanted = match season {
            Some(id) => seasons.get(id).filter(|season| season.is_counted()),
            None => seasons.shown(),
        };
        let wanted = wanted.ok_or(refused(BoardRefusal::UnknownSeason))?;
        let place = (choice, wanted.id);
        let found = match self.found_boards.get(&place) {
            Some(found) if found.season == *wanted => found,
            Some(_) | None => {
                let found = Arc::new(self.look_for_board(&seasons, choice, wanted, season.is_some()).await?);
                self.found_boards.insert(place, Arc::clone(&found));
                found
            }
        };
        Ok(found)
    }

    async fn look_for_board(
        &self,
        seasons: &Seasons,
        choice: BoardChoice,
        season: &Season,
        is_season_requested: bool,
    ) -> Outcome<ShownBoard, BoardRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let found = into_infallible(self.query(FindBoard { choice, season: season.id }).await);
        let found = match (found.map_err(Failure::Broken)?, choice) {
            (Some(found), _) => found,
            (None, BoardChoice::Team(team)) => {
                let made =
                    into_infallible(self.execute(EnsureTeamBoard(team)).await).map_err(Failure::Broken)?;
                let made = made.ok_or(refused(BoardRefusal::UnknownTeam))?;
                let again = FindBoard { choice: BoardChoice::Board(made.id), season: season.id };
                let found = into_infallible(self.query(again).await).map_err(Failure::Broken)?;
                found.ok_or(refused(BoardRefusal::UnknownBoard))?
            }
            (None, BoardChoice::Board(_) | BoardChoice::Global) => {
                return Err(refused(BoardRefusal::UnknownBoard));
            }
        };
        let (board, name) = found;
        // A global board shows its own season, even if another one is active.
        let season = match board.scope {
            BoardScope::Global(own) if own != season.id => {
                let own = seasons.get(own).filter(|_| !is_season_requested).cloned();
                own.ok_or(refused(BoardRefusal::UnknownSeason))?
            }
            BoardScope::Global(_) | BoardScope::Team(_) => season.clone(),
        };
        Ok(ShownBoard { board, name, season })
    }

    /// The stamp of a board's state; `None` if the board is not in memory, or not at the moment.
    pub fn board_stamp(&self, now: BoardSnapshot, shown: &ShownBoard) -> Option<BoardStamp> {
        now.known?;
        let is_kept = |ranks: &Ranks| ranks.season() == Some(shown.season.id);
        let stamp = self.ranks.read(|ranks| is_kept(ranks).then(|| ranks.stamp(shown.board.id))).flatten()?;
        Some(stamp.after(now.served))
    }

    /// Reads a page of a resolved board.
    pub async fn read_board(
        &self,
        now: BoardSnapshot,
        shown: &ShownBoard,
        asked: &ReadBoard,
    ) -> Result<BoardPage, StoreError> {
        let mut page = self.page(now, shown, asked).await?;
        // A page around a user who is hidden from the reader would reveal that user's rank.
        let is_hidden = |line: &BoardLine| Some(line.ranked.user) == asked.around && line.user.is_none();
        if page.lines.iter().any(is_hidden) {
            page.lines.clear();
            (page.next, page.previous) = (None, None);
        }
        Ok(page)
    }

    async fn page(
        &self,
        mut now: BoardSnapshot,
        shown: &ShownBoard,
        asked: &ReadBoard,
    ) -> Result<BoardPage, StoreError> {
        let begun = Instant::now();
        loop {
            if let Some(page) = self.page_in_memory(now, shown, asked).await? {
                return Ok(page);
            }
            let publishes = begun.elapsed() > PUBLISHING;
            if let Some(page) = self.page_in_tables(shown, asked, publishes).await? {
                return Ok(page);
            }
            self.ranks.changes_within(PAUSE).await;
            now = self.boards_now(asked.reader).await;
        }
    }

    async fn page_in_memory(
        &self,
        now: BoardSnapshot,
        shown: &ShownBoard,
        asked: &ReadBoard,
    ) -> Result<Option<BoardPage>, StoreError> {
        let BoardSnapshot { known: Some(known), served } = now else { return Ok(None) };
        let read = self.ranks.read(|ranks| {
            let kept = (Arc::clone(ranks.cards()), Arc::clone(ranks.hidden()));
            let (rows, stamp) = ranks.board(shown.board.id, |index| Rows::of(index, asked));
            (ranks.season() == Some(shown.season.id)).then_some((rows, stamp, kept))
        });
        let Some((rows, stamp, (cards, hidden))) = read.flatten() else { return Ok(None) };
        let stamp = stamp.after(served);
        let users: Vec<UserId> = rows.lines.iter().map(|line| line.user).collect();
        let since = cards.since();
        let mut shown: Vec<Option<AuthorCard>> = users.iter().map(|user| cards.get(*user)).collect();
        let missing = users.iter().zip(&shown).filter(|(_, card)| card.is_none());
        let missing: Vec<UserId> = missing.map(|(user, _)| *user).collect();
        if !missing.is_empty() {
            let mut read = self.cards_of(missing).await?;
            for card in read.values() {
                cards.keep(since, card);
            }
            for (card, user) in shown.iter_mut().zip(&users).filter(|(card, _)| card.is_none()) {
                *card = read.remove(user);
            }
        }
        let hidden = self.hidden(asked.reader, users, Some(&hidden)).await?;
        Ok(Some(rows.into_page(shown, &hidden, (stamp.version, known.max(stamp.version)), Some(stamp))))
    }

    /// A page from the tables. `None` if the tables contain changes without a position in the event log, so that the
    /// page would not be exact as of any position, or if the boards in memory have become available.
    async fn page_in_tables(
        &self,
        shown: &ShownBoard,
        asked: &ReadBoard,
        publishes: bool,
    ) -> Result<Option<BoardPage>, StoreError> {
        let query = ReadRows { season: shown.season.id, board: shown.board.id, asked: asked.clone() };
        let found = if publishes { self.query(Published(query)).await } else { self.query(query).await };
        let Some((rows, head)) = into_infallible(found)? else { return Ok(None) };
        let is_kept = |ranks: &Ranks| ranks.season() == Some(shown.season.id);
        if shown.season.is_active() && !self.ranks.is_replaced_at(head, is_kept) {
            return Ok(None);
        }
        let users: Vec<UserId> = rows.lines.iter().map(|line| line.user).collect();
        let mut cards = self.cards_of(users.clone()).await?;
        let cards = users.iter().map(|user| cards.remove(user)).collect();
        let hidden = self.hidden(asked.reader, users, None).await?;
        Ok(Some(rows.into_page(cards, &hidden, (head, head), None)))
    }

    /// The cards of these fans in the tables.
    async fn cards_of(&self, users: Vec<UserId>) -> Result<HashMap<UserId, AuthorCard>, StoreError> {
        let cards = into_infallible(self.query(ReadCards(users)).await)?;
        Ok(cards.into_iter().map(|card| (card.id, card)).collect())
    }

    /// Which of these users are hidden from the reader, by the cache if given, otherwise by the tables.
    async fn hidden(
        &self,
        reader: Option<UserId>,
        users: Vec<UserId>,
        kept: Option<&Hidden>,
    ) -> Result<Vec<UserId>, StoreError> {
        let Some(reader) = reader.filter(|_| !users.is_empty()) else { return Ok(Vec::new()) };
        let Some(kept) = kept else {
            return into_infallible(self.query(HiddenAmong { reader, others: users }).await);
        };
        let hidden = self.hidden_from(kept, reader).await?;
        Ok(users.into_iter().filter(|user| hidden.contains(user)).collect())
    }

    /// All users hidden from the reader, from the cache or, on a miss, from the tables.
    async fn hidden_from(&self, kept: &Hidden, reader: UserId) -> Result<Arc<HashSet<UserId>>, StoreError> {
        if let Some(hidden) = kept.get(reader) {
            return Ok(hidden);
        }
        let since = kept.since();
        let hidden: HashSet<_> = into_infallible(self.query(HiddenFrom(reader)).await)?.into_iter().collect();
        let hidden = Arc::new(hidden);
        kept.keep(since, reader, Arc::clone(&hidden));
        Ok(hidden)
    }

    /// A fan's standing on a board; `None` if the fan is not listed.
    pub async fn standing(
        &self,
        now: BoardSnapshot,
        shown: &ShownBoard,
        user: UserId,
    ) -> Result<Option<Standing>, StoreError> {
        if now.known.is_some() {
            let read = self.ranks.read(|ranks| {
                let (standing, _) = ranks.board(shown.board.id, |index| index.standing(user));
                (ranks.season() == Some(shown.season.id)).then_some(standing)
            });
            if let Some(standing) = read.flatten() {
                return Ok(standing);
            }
        }
        into_infallible(
            self.query(ReadStanding { season: shown.season.id, board: shown.board.id, user }).await,
        )
    }

    /// A fan's standing on the global board of the season that is shown; `None` if the fan is not listed, or if there
    /// is no season. The boards show at least the writes of the reader.
    pub async fn shown_standing(
        &self,
        reader: Option<UserId>,
        user: UserId,
    ) -> Result<Option<Standing>, StoreError> {
        let now = self.boards_now(reader).await;
        match self.find_board(now, BoardChoice::Global, None).await {
            Ok(shown) => self.standing(now, &shown, user).await,
            Err(Failure::Refused(_)) => Ok(None),
            Err(Failure::Broken(error)) => Err(error),
        }
    }

    /// The boards of the season that is shown: the teams' boards that the reader joined first, then the global one,
    /// then the other teams' in the order in which they were created.
    pub async fn list_boards(
        &self,
        reader: Option<UserId>,
    ) -> Outcome<(Season, Vec<(Board, String)>), BoardRefusal> {
        let now = self.boards_now(reader).await;
        let seasons = self.seasons(now).await.map_err(Failure::Broken)?;
        let season = seasons.shown().ok_or(Failure::Refused(BoardRefusal::UnknownSeason))?.clone();
        let boards = into_infallible(self.query(ListBoards { season: season.id, reader }).await);
        Ok((season, boards.map_err(Failure::Broken)?))
    }
}

/// The rows of a page, before names are added.
pub(crate) struct Rows {
    pub(crate) lines: Vec<Ranked>,
    pub(crate) me: Option<Standing>,
    pub(crate) total: u64,
}

impl Rows {
    fn of(index: &RankIndex, asked: &ReadBoard) -> Self {
        let limit = usize::from(asked.limit.rows());
        let lines = match (asked.around, &asked.after, &asked.before) {
            (Some(user), _, _) => around(index, user, limit),
            (None, Some(key), _) => index.page_after(key, limit),
            (None, None, Some(key)) => index.page_before(key, limit),
            (None, None, None) => index.page(0, limit),
        };
        Self {
            lines,
            me: asked.reader.and_then(|reader| index.standing(reader)),
            total: num::to_u64(index.len()),
        }
    }

    /// The page with the cards of its lines, in their order.
    fn into_page(
        self,
        cards: Vec<Option<AuthorCard>>,
        hidden: &[UserId],
        (version, stream_position): (Position, Position),
        stamp: Option<BoardStamp>,
    ) -> BoardPage {
        let Self { lines, me, total } = self;
        let is_last = |line: &&Ranked| num::to_u64(line.position) >= total;
        let next = lines.last().filter(|line| !is_last(line)).map(Ranked::key);
        let previous = lines.first().filter(|line| line.position > 1).map(Ranked::key);
        let line = |(ranked, card): (Ranked, Option<AuthorCard>)| BoardLine {
            user: card.filter(|_| !hidden.contains(&ranked.user)),
            ranked,
        };
        BoardPage {
            lines: lines.into_iter().zip(cards).map(line).collect(),
            me,
            total,
            version,
            next,
            previous,
            stream_position,
            stamp,
        }
    }
}

/// Up to `limit` lines centred on the fan.
fn around(index: &RankIndex, user: UserId, limit: usize) -> Vec<Ranked> {
    let Some(standing) = index.standing(user) else { return Vec::new() };
    let offset = standing.ranked.position.saturating_sub(1).saturating_sub(limit / 2);
    index.page(offset, limit)
}
