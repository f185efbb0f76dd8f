//! What streams tell: the event log, event by event, with what each event concerns as it is now.
//!
//! [`StreamFeed`] follows the log for a process; [`App::told_after`] reads a part of it again for one reader who comes
//! back. Both read through the same statements and so tell the same. Nothing here knows how it is told.

mod look_up;
mod readers;

pub use readers::{ReaderView, ViewParts};

use crate::App;
use crate::boards::affects_leaderboard;
use crate::platform::Follower;
use crate::store::into_infallible;
use crate::streams::look_up::{Asked, LookUp, Looked, RankScores, Score};
use std::sync::Arc;
use std::time::Duration;
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Event, EventKind, Failure, Position, PostId, StoreError, TeamId, Timestamp, UserId,
};
use terrace_packs::{PurchaseId, PurchaseState};
use terrace_quests::{Achievement, Quest, QuestId, StepId};
use terrace_scoring::{BoardId, Points, PointsRecord, SeasonId};
use terrace_social::{Comment, PostView, ReactionCounts};

/// What is committed within this time of a look is told together.
const GATHER: Duration = Duration::from_millis(15);
/// How often to look without being rung.
const SLOW_POLL: Duration = Duration::from_secs(1);
/// How long a score waits for the boards in memory before its rank is read from the tables.
const PATIENCE: Duration = Duration::from_millis(500);
/// Events that are read in one go.
const BATCH: u32 = 256;
/// Events of which one look of a reader who comes back tells at most; it passes over many more.
const REPLAY: usize = 64;
/// How many of the newest events a process tells of when it starts, so that readers of another one that has just ended
/// find them.
const WARM: i64 = 1024;

/// Who listens, so that nothing is looked up for nobody.
pub trait Audience: Send + Sync + 'static {
    /// A look at the log begins: what was wanted before may be wanted no more.
    fn begins(&self) {}

    /// What of an event is to be told.
    fn wants(&self, event: &Event) -> Wanted;
}

/// What of an event is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// What many may read: the locker room's part, or the boards'.
    pub shared: bool,
    /// What only the fan reads whose deed it was.
    pub own: bool,
}

/// A post that something happened to, as far as readers are told apart by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnPost {
    /// The post.
    pub post: PostId,
    /// The team whose room it is in.
    pub team: Option<TeamId>,
    /// Who wrote it; none where the log does not say.
    pub author: Option<UserId>,
}

/// A quest or a step of one, as it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTold {
    /// The quest.
    pub quest: QuestId,
    /// What the quest is called.
    pub quest_title: String,
    /// The step.
    pub step: StepId,
    /// What the step is called.
    pub title: String,
    /// What it pays.
    pub points: i64,
}

/// What happened, with what it concerns as it is now. What is not there any more is not told.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamWhat {
    /// A post was created.
    PostCreated(Box<PostView<AuthorCard>>),
    /// A post was deleted.
    PostDeleted(OnPost),
    /// A comment was created.
    CommentCreated {
        /// On which post.
        on: OnPost,
        /// The comment.
        comment: Box<Comment<AuthorCard>>,
        /// How many comments the post has.
        count: i64,
    },
    /// A comment was deleted.
    CommentDeleted {
        /// On which post.
        on: OnPost,
        /// Which.
        comment: CommentId,
        /// Who wrote it.
        by: Option<UserId>,
        /// How many comments the post has.
        count: i64,
    },
    /// The reactions of a post changed.
    ReactionChanged {
        /// Which post.
        on: OnPost,
        /// How many of each kind it has.
        reactions: ReactionCounts,
    },
    /// A fan's line on a board changed.
    ScoreChanged {
        /// The board.
        board: BoardId,
        /// Whether it is the global one of the season that is shown.
        is_global: bool,
        /// The fan.
        user: UserId,
        /// Their points and their rank; none where the board does not list them any more.
        line: Option<(Points, u64)>,
    },
    /// Boards show another season, or the same one, closed.
    BoardReset(SeasonId),
    /// A fan got points.
    PointsAwarded(Box<PointsRecord>),
    /// A fan completed a step.
    StepCompleted(UserId, Box<StepTold>),
    /// A fan completed a quest.
    QuestCompleted(UserId, Box<Quest>),
    /// A fan came to an achievement.
    AchievementUnlocked(UserId, &'static Achievement),
    /// A fan's purchase was started, or came to the state that is named.
    PurchaseChanged(UserId, PurchaseId, PurchaseState),
}

/// An event that is told.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// Its place in the log.
    pub position: Position,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub what: StreamWhat,
}

/// A part of the log, told.
#[derive(Debug, Clone, Default)]
pub struct StreamBatch {
    /// Every event up to here was looked at.
    pub reached: Position,
    /// Whether there was more to look at.
    pub more: bool,
    /// What is told, in order.
    pub told: Vec<StreamEvent>,
    /// What readers may see otherwise from here on: follows, blocks, profiles, accounts that come and go.
    pub turns: Vec<Event>,
}

/// What comes next in the log.
#[derive(Debug, Clone)]
pub enum Fed {
    /// More of it.
    Batch(StreamBatch),
    /// It is not the log that was followed, or events of it were swept unseen: it begins again.
    Anew {
        /// Behind this place: what is told next is of some while ago, for readers who come back.
        from: Position,
        /// Here, for those who want to hear what happens from now on.
        head: Position,
    },
}

/// Why nothing after a position can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTold {
    /// Events after it were swept, or there never was such a position.
    Lost,
}

impl App {
    /// Follows the log for this process.
    pub fn stream_feed(self: &Arc<Self>, audience: Arc<dyn Audience>) -> StreamFeed {
        let follower = Follower::gathering(self.store.bell(), GATHER);
        StreamFeed { app: Arc::clone(self), follower, audience, known: None, more: false }
    }

    /// The place of the newest event that is public.
    pub async fn head(&self) -> Result<Position, StoreError> {
        into_infallible(self.query(look_up::Head).await)
    }

    /// Tells what of the log after `after` the audience wants, up to a bounded number of events.
    ///
    /// # Errors
    ///
    /// When it cannot be read; [`NotTold`] inside where a reader has missed something that is gone.
    pub async fn told_after(
        &self,
        after: Position,
        audience: Arc<dyn Audience>,
    ) -> Result<Result<StreamBatch, NotTold>, StoreError> {
        let up_to = *self.store.bell().borrow();
        let asked = Asked { after, up_to, limit: BATCH, most_told: REPLAY };
        match into_infallible(self.query(LookUp { asked, audience }).await)? {
            None => Ok(Err(NotTold::Lost)),
            Some(looked) => self.tell(looked).await.map(Ok),
        }
    }

    /// Adds what is not in the tables: ranks, and what quests are called.
    async fn tell(&self, looked: Looked) -> Result<StreamBatch, StoreError> {
        let Looked { mut batch, scores, quests, resets, boards_up_to } = looked;
        let mut in_memory = true;
        if let Some(position) = boards_up_to {
            in_memory = self.ranks.comes_up_to(position, PATIENCE).await;
        }
        if !scores.is_empty() || !resets.is_empty() {
            self.tell_scores(&mut batch, in_memory, scores, &resets).await?;
        }
        if !quests.is_empty() {
            let book = self.quest_book().await?;
            batch.told.extend(quests.iter().filter_map(|event| look_up::quest_told(&book, event)));
        }
        batch.told.sort_by_key(|event| event.position);
        Ok(batch)
    }

    async fn tell_scores(
        &self,
        batch: &mut StreamBatch,
        in_memory: bool,
        scores: Vec<Score>,
        resets: &[Event],
    ) -> Result<(), StoreError> {
        let now = self.boards_now(None).await;
        let seasons = self.seasons(now).await?;
        let Some(shown) = seasons.shown() else { return Ok(()) };
        let global = match self.find_board(now, crate::boards::BoardChoice::Global, None).await {
            Ok(found) => Some(found.board.id),
            Err(Failure::Refused(_)) => None,
            Err(Failure::Broken(error)) => return Err(error),
        };
        for event in resets.iter().filter(|event| event.what.subject == shown.id.as_uuid()) {
            let what = StreamWhat::BoardReset(shown.id);
            batch.told.push(StreamEvent { position: event.position, at: event.at, what });
        }
        let scores: Vec<Score> = scores.into_iter().filter(|score| score.season == shown.id).collect();
        let lines = match self.lines_in_memory(shown.id, &scores) {
            Some(lines) if in_memory => lines,
            Some(_) | None => into_infallible(self.query(RankScores(scores.clone())).await)?,
        };
        batch.told.extend(scores.iter().zip(lines).map(|(score, line)| StreamEvent {
            position: score.position,
            at: score.at,
            what: StreamWhat::ScoreChanged {
                board: score.board,
                is_global: Some(score.board) == global,
                user: score.user,
                line,
            },
        }));
        Ok(())
    }

    /// Where these fans stand by the boards in memory; none where those are not there, or of another season.
    fn lines_in_memory(&self, season: SeasonId, scores: &[Score]) -> Option<Vec<Option<(Points, u64)>>> {
        let line = |ranks: &crate::boards::Ranks, score: &Score| {
            let (standing, _) = ranks.board(score.board, |index| index.standing(score.user));
            let ranked = standing?.ranked;
            Some((ranked.points, u64::try_from(ranked.rank).unwrap_or(u64::MAX)))
        };
        let read = self.ranks.read(|ranks| {
            (ranks.season() == Some(season))
                .then(|| scores.iter().map(|score| line(ranks, score)).collect::<Vec<_>>())
        });
        read.flatten()
    }
}

/// The log, as one process tells it.
pub struct StreamFeed {
    app: Arc<App>,
    follower: Follower,
    audience: Arc<dyn Audience>,
    known: Option<Position>,
    more: bool,
}

impl StreamFeed {
    /// Waits for what comes next. The first call says where the log is taken up. Never ahead of what this process has
    /// heard of: pages that are asked for after an event was told show it.
    ///
    /// # Errors
    ///
    /// When the log cannot be read; the next call goes on at the same place.
    pub async fn next(&mut self) -> Result<Fed, StoreError> {
        let Some(known) = self.known else { return self.take_up().await };
        loop {
            if !self.more && !self.follower.wait(SLOW_POLL).await {
                return Err(StoreError::Unavailable("the store is closed".to_owned()));
            }
            self.more = false;
            let up_to = self.follower.heard();
            let asked = Asked { after: known, up_to, limit: BATCH, most_told: usize::MAX };
            let audience = Arc::clone(&self.audience);
            let Some(looked) = into_infallible(self.app.query(LookUp { asked, audience }).await)? else {
                self.known = None;
                return self.take_up().await;
            };
            if looked.batch.reached > known {
                let batch = self.app.tell(looked).await?;
                self.known = Some(batch.reached);
                self.more = batch.more;
                return Ok(Fed::Batch(batch));
            }
        }
    }

    async fn take_up(&mut self) -> Result<Fed, StoreError> {
        let head = self.app.head().await?;
        // A reader who comes back is told of nothing that this process has not heard of, and would wait for it in vain.
        while self.follower.heard() < head {
            if !self.follower.wait(SLOW_POLL).await {
                return Err(StoreError::Unavailable("the store is closed".to_owned()));
            }
        }
        let start = Position::new(head.get().saturating_sub(WARM)).unwrap_or(Position::START);
        let start = into_infallible(self.app.query(look_up::OldestAfter(start)).await)?.unwrap_or(head);
        self.known = Some(start);
        self.more = true;
        Ok(Fed::Anew { from: start, head })
    }
}

/// Whether readers may see otherwise after an event of this kind.
const fn turns_views(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::UserFollowed
            | EventKind::UserUnfollowed
            | EventKind::TeamFollowed
            | EventKind::TeamUnfollowed
            | EventKind::UserBlocked
            | EventKind::UserUnblocked
            | EventKind::FollowsImported
            | EventKind::ProfileChanged
            | EventKind::AccountDeleted
            | EventKind::AccountSuspended
            | EventKind::AccountRestored
    )
}

/// The last of these events that boards show.
fn last_on_boards(events: &[Event]) -> Option<Position> {
    events.iter().rev().find(|event| affects_leaderboard(event.what.kind)).map(|event| event.position)
}
