//! Content of streams: the event log, event by event, with the current state of whatever each event concerns.
//!
//! [`StreamFeed`] follows the log for a process; [`App::replay_after`] reads a part of it again for one reader who
//! reconnects. Both use the same statements and so produce the same events. This module is independent of the wire
//! format.

mod look_up;
mod readers;

pub use readers::{ReaderView, ViewParts};

use crate::App;
use crate::boards::affects_leaderboard;
use crate::notifications::{ShownNotification, render};
use crate::platform::Follower;
use crate::store::into_infallible;
use crate::streams::look_up::{LogPart, LogRange, LookUp, RankScores, Score};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_games::{OptionId, Question, QuestionTime, RoundId, SegmentKey, SpinId, WheelId};
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Event, EventKind, Failure, Position, PostId, StoreError, TeamId, Timestamp, UserId, num,
};
use terrace_ledger::{AccountKind, Network, WalletId, WalletStatus};
use terrace_packs::{PurchaseId, PurchaseState};
use terrace_quests::{Achievement, Quest, QuestId, StepId};
use terrace_rewards::{ClaimId, ClaimStatus};
use terrace_scoring::{BoardId, Points, PointsRecord, SeasonId};
use terrace_shop::{OrderId, OrderState};
use terrace_social::notifications::ReadMark;
use terrace_social::{Comment, PostView, ReactionCounts};

/// Events committed within this time of a read are published together.
const GATHER: Duration = Duration::from_millis(15);
/// Poll interval without a notification.
const SLOW_POLL: Duration = Duration::from_secs(1);
/// How long a score waits for the in-memory boards before its rank is read from the tables.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of events that one query reads.
const BATCH: u32 = 256;
/// Maximum number of events that one read for a reconnecting reader returns; it may skip many more.
const REPLAY: usize = 64;
/// Number of the newest events that a process loads at its start, for readers that were connected to a process that
/// has just ended.
const WARM: i64 = 1024;

/// Describes which events have listeners, so that nothing is read without need.
pub trait Audience: Send + Sync + 'static {
    /// Called at the start of a read of the log; earlier answers may have become invalid.
    fn begins(&self) {}

    /// Which parts of an event are needed.
    fn wants(&self, event: &Event) -> Wanted;
}

/// Which parts of an event are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// The part that many users may read: that of the locker room, or that of the boards.
    pub shared: bool,
    /// The part that only the acting fan may read.
    pub own: bool,
}

/// A post that an event concerns, with the properties that decide which readers receive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnPost {
    /// Id of the post.
    pub post: PostId,
    /// Team whose room contains it, if any.
    pub team: Option<TeamId>,
    /// Author of the post; `None` if the log does not contain it.
    pub author: Option<UserId>,
}

/// A step of a quest, with titles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamStep {
    /// Id of the quest.
    pub quest: QuestId,
    pub quest_title: String,
    /// Id of the step.
    pub step: StepId,
    pub title: String,
    /// Points that the step pays.
    pub points: i64,
}

/// What happened in a round of trivia.
#[derive(Debug, Clone, PartialEq)]
pub enum RoundEvent {
    /// A question of a live round opened.
    QuestionOpened {
        question: Box<Question>,
        /// The place of the question in the round, from 0.
        place: u32,
        /// When it opened, and when its time ends.
        time: QuestionTime,
    },
    /// A question of a live round closed.
    QuestionClosed {
        question: Box<Question>,
        /// How often each option was given.
        counts: HashMap<OptionId, u64>,
    },
    /// Scores of the question that closed are part of the standings.
    StandingsChanged,
    /// The round ended or was cancelled.
    Ended,
}

/// What happened, with the current state of whatever it concerns. Events about rows that no longer exist are not
/// published.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamWhat {
    /// A post was created.
    PostCreated(Box<PostView<AuthorCard>>),
    /// A post was edited.
    PostEdited(Box<PostView<AuthorCard>>),
    /// A post was deleted.
    PostDeleted(OnPost),
    /// A comment was created.
    CommentCreated {
        /// Post that it belongs to.
        on: OnPost,
        comment: Box<Comment<AuthorCard>>,
        /// Number of comments of the post.
        count: i64,
    },
    /// A comment was edited.
    CommentEdited {
        /// Post that it belongs to.
        on: OnPost,
        comment: Box<Comment<AuthorCard>>,
    },
    /// The number of likes of a comment changed.
    CommentLiked {
        /// Post that it belongs to.
        on: OnPost,
        /// Id of the comment.
        comment: CommentId,
        /// Author of the comment.
        by: UserId,
        /// Number of likes.
        count: i64,
    },
    /// A comment was deleted.
    CommentDeleted {
        /// Post that it belonged to.
        on: OnPost,
        /// Id of the comment.
        comment: CommentId,
        /// Author of the comment.
        by: Option<UserId>,
        /// Number of comments of the post.
        count: i64,
    },
    /// The reactions of a post changed.
    ReactionChanged {
        /// The post.
        on: OnPost,
        /// Number of reactions by kind.
        reactions: ReactionCounts,
    },
    /// A fan's entry on a board changed.
    ScoreChanged {
        board: BoardId,
        /// Whether it is the global board of the season that is shown.
        is_global: bool,
        /// The fan.
        user: UserId,
        /// The fan's points and rank; `None` if the board no longer lists the fan.
        line: Option<(Points, u64)>,
    },
    /// Boards show another season, or the same one after it was closed.
    BoardReset(SeasonId),
    /// A fan received points.
    PointsAwarded(Box<PointsRecord>),
    /// A fan completed a step.
    StepCompleted(UserId, Box<StreamStep>),
    /// A fan completed a quest.
    QuestCompleted(UserId, Box<Quest>),
    /// A fan unlocked an achievement.
    AchievementUnlocked(UserId, Box<Achievement>),
    /// A fan's purchase was started, or changed to the given state.
    PurchaseChanged(UserId, PurchaseId, PurchaseState),
    /// A fan's order was placed, or it or a line of it changed.
    OrderChanged(UserId, OrderId, OrderState),
    /// A fan claimed a reward, or the claim changed to the given state.
    ClaimChanged(UserId, ClaimId, ClaimStatus),
    /// A fan's wallet on a network was requested, or changed to the given state.
    WalletChanged(UserId, WalletId, Network, WalletStatus),
    /// A notification of a fan was made or changed. The number of the fan's unread ones is as of the read.
    NotificationCreated(UserId, Box<ShownNotification>, i64),
    /// A fan has read notifications; also with the number of unread ones.
    NotificationRead(UserId, ReadMark, i64),
    /// A transfer changed a fan's balance of a kind to the given amount.
    BalanceChanged(UserId, AccountKind, i64),
    /// Something happened in a round of trivia.
    InRound(RoundId, RoundEvent),
    /// A fan spun a wheel, which gave the segment.
    SpinCompleted(UserId, SpinId, WheelId, SegmentKey),
}

/// A published event.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// Position in the log.
    pub position: Position,
    /// Time of the event.
    pub at: Timestamp,
    /// What happened.
    pub what: StreamWhat,
}

/// A part of the log, ready to be published.
#[derive(Debug, Clone, Default)]
pub struct StreamBatch {
    /// Every event up to this position has been processed.
    pub reached: Position,
    /// Whether there are more events.
    pub more: bool,
    /// Published events, in order.
    pub events: Vec<StreamEvent>,
    /// Events after which readers may see other content: follows, blocks, profiles, created and removed accounts.
    pub turns: Vec<Event>,
}

/// The next part of the log.
#[derive(Debug, Clone)]
pub enum Fed {
    /// The log continues.
    Batch(StreamBatch),
    /// The log is a different one, or events of it were swept before they were read: the feed starts over.
    Anew {
        /// Position after which it starts over; the events that follow are older, for readers who reconnect.
        from: Position,
        /// Head of the log, for readers who want only new events.
        head: Position,
    },
}

/// Why no events after a position are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayError {
    /// Events after it were swept, or the position never existed.
    Lost,
}

impl App {
    /// Follows the log for this process.
    pub fn stream_feed(self: &Arc<Self>, audience: Arc<dyn Audience>) -> StreamFeed {
        let follower = Follower::gathering(self.store.bell(), GATHER);
        StreamFeed { app: Arc::clone(self), follower, audience, known: None, more: false }
    }

    /// Returns the position of the newest public event.
    pub async fn head(&self) -> Result<Position, StoreError> {
        into_infallible(self.query(look_up::Head).await)
    }

    /// Returns the part of the log after `after` that the audience wants, up to a bounded number of events.
    ///
    /// # Errors
    ///
    /// When the log cannot be read; the inner [`ReplayError`] if events that the reader has missed are gone.
    pub async fn replay_after(
        &self,
        after: Position,
        audience: Arc<dyn Audience>,
    ) -> Result<Result<StreamBatch, ReplayError>, StoreError> {
        let up_to = *self.store.bell().borrow();
        let asked = LogRange { after, up_to, limit: BATCH, max_wanted: REPLAY };
        match into_infallible(self.query(LookUp { asked, audience }).await)? {
            None => Ok(Err(ReplayError::Lost)),
            Some(looked) => self.to_batch(looked).await.map(Ok),
        }
    }

    /// Adds data that is not in the tables: ranks and titles of quests.
    async fn to_batch(&self, looked: LogPart) -> Result<StreamBatch, StoreError> {
        let LogPart { mut batch, scores, quests, resets, notified, boards_up_to } = looked;
        let mut in_memory = true;
        if let Some(position) = boards_up_to {
            in_memory = self.ranks.comes_up_to(position, PATIENCE).await;
        }
        if !scores.is_empty() || !resets.is_empty() {
            self.add_scores(&mut batch, in_memory, scores, &resets).await?;
        }
        if !quests.is_empty() {
            let book = self.quest_book().await?;
            batch.events.extend(quests.iter().filter_map(|event| look_up::quest_event(&book, event)));
        }
        if !notified.changed.is_empty() {
            let titles = self.notification_titles().await?;
            batch.events.extend(notified.changed.iter().filter_map(|changed| {
                let shown = render(&changed.row, &notified.shown, &titles)?;
                let what = StreamWhat::NotificationCreated(changed.fan, Box::new(shown), changed.unread);
                Some(StreamEvent { position: changed.position, at: changed.at, what })
            }));
        }
        batch.events.sort_by_key(|event| event.position);
        Ok(batch)
    }

    async fn add_scores(
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
            batch.events.push(StreamEvent { position: event.position, at: event.at, what });
        }
        let scores: Vec<Score> = scores.into_iter().filter(|score| score.season == shown.id).collect();
        let lines = match self.lines_in_memory(shown.id, &scores) {
            Some(lines) if in_memory => lines,
            Some(_) | None => into_infallible(self.query(RankScores(scores.clone())).await)?,
        };
        batch.events.extend(scores.iter().zip(lines).map(|(score, line)| StreamEvent {
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

    /// Standings of these fans according to the in-memory boards; `None` if those are not loaded or show another
    /// season.
    fn lines_in_memory(&self, season: SeasonId, scores: &[Score]) -> Option<Vec<Option<(Points, u64)>>> {
        let line = |ranks: &crate::boards::Ranks, score: &Score| {
            let (standing, _) = ranks.board(score.board, |index| index.standing(score.user));
            let ranked = standing?.ranked;
            Some((ranked.points, num::to_u64(ranked.rank)))
        };
        let read = self.ranks.read(|ranks| {
            (ranks.season() == Some(season))
                .then(|| scores.iter().map(|score| line(ranks, score)).collect::<Vec<_>>())
        });
        read.flatten()
    }
}

/// The log as one process publishes it.
pub struct StreamFeed {
    app: Arc<App>,
    follower: Follower,
    audience: Arc<dyn Audience>,
    known: Option<Position>,
    more: bool,
}

impl StreamFeed {
    /// Waits for the next part. The first call returns the start position. The feed never runs ahead of what this
    /// process has been notified of, so that pages requested after an event was published contain its change.
    ///
    /// # Errors
    ///
    /// When the log cannot be read; the next call continues at the same position.
    pub async fn next(&mut self) -> Result<Fed, StoreError> {
        let Some(known) = self.known else { return self.take_up().await };
        loop {
            if !self.more && !self.follower.wait(SLOW_POLL).await {
                return Err(StoreError::Unavailable("the store is closed".to_owned()));
            }
            self.more = false;
            let up_to = self.follower.heard();
            let asked = LogRange { after: known, up_to, limit: BATCH, max_wanted: usize::MAX };
            let audience = Arc::clone(&self.audience);
            let Some(looked) = into_infallible(self.app.query(LookUp { asked, audience }).await)? else {
                self.known = None;
                return self.take_up().await;
            };
            if looked.batch.reached > known {
                let batch = self.app.to_batch(looked).await?;
                self.known = Some(batch.reached);
                self.more = batch.more;
                return Ok(Fed::Batch(batch));
            }
        }
    }

    async fn take_up(&mut self) -> Result<Fed, StoreError> {
        let head = self.app.head().await?;
        // A reconnecting reader does not receive events that this process was not notified of, and would wait for
        // them in vain.
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

/// Returns whether readers may see other content after an event of this kind.
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

/// Position of the last of these events that affects leaderboards.
fn last_on_boards(events: &[Event]) -> Option<Position> {
    events.iter().rev().find(|event| affects_leaderboard(event.what.kind)).map(|event| event.position)
}
