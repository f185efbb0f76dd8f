//! Reads a part of the log and the current state of whatever its events concern.

use crate::notifications::{Shown, gather, read_mark};
use crate::quests::QuestBook;
use crate::store::{EventRead, NotificationReadTx, Query, RoomReadTx, StreamReadTx};
use crate::streams::{
    Audience, OnPost, RoundEvent, StreamBatch, StreamEvent, StreamStep, StreamWhat, last_on_boards,
    turns_views,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_games::{Question, Round, RoundId, SpinId, TriviaRead, WheelId};
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Event, EventKind, Outcome, Position, PostId, StoreError, Timestamp, Topic, UserId, distinct,
};
use terrace_ledger::WalletId;
use terrace_packs::PurchaseId;
use terrace_quests::{QuestId, StepId};
use terrace_rewards::ClaimId;
use terrace_scoring::{
    BoardId, BoardRead, Points, PointsRead, PointsRecord, RecordId, SeasonId, Total, TotalChanges,
};
use terrace_shop::OrderId;
use terrace_social::notifications::{Notification, NotificationId};
use terrace_social::{Comment, PostView};

/// The part of the log to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogRange {
    pub(super) after: Position,
    /// Last position to read.
    pub(super) up_to: Position,
    /// Maximum number of events to read.
    pub(super) limit: u32,
    /// Maximum number of wanted events among those.
    pub(super) max_wanted: usize,
}

/// The newest change of a fan's total on a board within this part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Score {
    pub(super) position: Position,
    pub(super) at: Timestamp,
    pub(super) season: SeasonId,
    pub(super) board: BoardId,
    pub(super) user: UserId,
    total: Total,
    is_listed: bool,
}

/// The result. Scores still lack ranks, and quest events still lack titles.
#[derive(Default)]
pub(super) struct LogPart {
    pub(super) batch: StreamBatch,
    pub(super) scores: Vec<Score>,
    pub(super) quests: Vec<Event>,
    pub(super) resets: Vec<Event>,
    pub(super) notified: Notified,
    /// Position of the last event that affects leaderboards.
    pub(super) boards_up_to: Option<Position>,
}

/// Notifications that changed, and what they show.
#[derive(Default)]
pub(super) struct Notified {
    pub(super) changed: Vec<ChangedNotification>,
    pub(super) shown: Shown,
}

pub(super) struct ChangedNotification {
    pub(super) position: Position,
    pub(super) at: Timestamp,
    pub(super) fan: UserId,
    pub(super) row: Notification,
    pub(super) unread: i64,
}

/// Finds the newest public position.
pub(super) struct Head;

impl Query for Head {
    const NAME: &'static str = "stream_head";
    type Ports = dyn EventRead;
    type Output = Position;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn EventRead, _now: Timestamp) -> Outcome<Position, Infallible> {
        Ok(tx.head()?)
    }
}

/// Finds the position before the oldest event after the given one.
pub(super) struct OldestAfter(pub(super) Position);

impl Query for OldestAfter {
    const NAME: &'static str = "stream_oldest";
    type Ports = dyn EventRead;
    type Output = Option<Position>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn EventRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let first = tx.events_after(self.0, 1)?.into_iter().next();
        Ok(first.map(|event| event.position.before()))
    }
}

/// Reads the part.
pub(super) struct LookUp {
    pub(super) asked: LogRange,
    pub(super) audience: Arc<dyn Audience>,
}

impl Query for LookUp {
    const NAME: &'static str = "stream_look_up";
    type Ports = dyn StreamReadTx;
    /// `None` if events after the given position are gone, or never existed.
    type Output = Option<LogPart>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn StreamReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let LogRange { after, up_to, limit, max_wanted } = self.asked;
        self.audience.begins();
        // Before the events: whatever was public at this read is among them, or has been swept.
        let head = tx.head()?;
        let mut events = tx.events_after(after, limit)?;
        let is_next = |event: &Event| event.position.get() == after.get() + 1;
        if head < after || !events.first().map_or(head == after, is_next) {
            return Ok(None);
        }
        let mut more = u32::try_from(events.len()).is_ok_and(|count| count >= limit);
        more &= events.last().is_some_and(|last| last.position < up_to);
        events.retain(|event| event.position <= up_to);
        let mut wanted = Wants::default();
        let mut reached = after;
        for event in &events {
            let wants = self.audience.wants(event);
            if wants.shared || wants.own {
                if wanted.count == max_wanted {
                    more = true;
                    break;
                }
                wanted.take(event, wants.shared, wants.own)?;
            }
            reached = event.position;
        }
        events.retain(|event| event.position <= reached);
        let mut looked = wanted.look_up(tx)?;
        looked.boards_up_to = last_on_boards(&events);
        looked.batch.reached = reached;
        looked.batch.more = more;
        events.retain(|event| turns_views(event.what.kind));
        looked.batch.turns = events;
        Ok(Some(looked))
    }
}

/// Wanted events, by the data they need.
#[derive(Default)]
struct Wants {
    count: usize,
    room: Vec<Event>,
    scores: BTreeMap<(BoardId, UserId), Score>,
    resets: Vec<Event>,
    awards: Vec<Event>,
    quests: Vec<Event>,
    purchases: Vec<StreamEvent>,
    notifications: Vec<Event>,
    rounds: Vec<Event>,
}

impl Wants {
    fn take(&mut self, event: &Event, shared: bool, own: bool) -> Result<(), StoreError> {
        self.count += 1;
        match (event.what.topic, event.what.kind, event.what.actor) {
            (Topic::LockerRoom, ..) if shared => self.room.push(event.clone()),
            (Topic::Trivia, ..) if shared => self.rounds.push(event.clone()),
            (Topic::Quests, ..) if own => self.quests.push(event.clone()),
            (Topic::Packs, ..) if own => self.purchases.extend(purchase(event)?),
            (Topic::Notifications, ..) if own => self.notifications.push(event.clone()),
            (_, EventKind::SeasonChanged, _) if shared => self.resets.push(event.clone()),
            (_, kind @ (EventKind::PointsAwarded | EventKind::ScoreChanged), Some(user)) => {
                if shared {
                    self.take_scores(event, user)?;
                }
                if own && kind == EventKind::PointsAwarded {
                    self.awards.push(event.clone());
                }
            }
            (..) => {}
        }
        Ok(())
    }

    fn take_scores(&mut self, event: &Event, user: UserId) -> Result<(), StoreError> {
        let detail = event.detail.as_deref().unwrap_or_default();
        let changes: TotalChanges = detail.parse().map_err(|error| StoreError::defect("streams", error))?;
        for change in changes.0 {
            let score = Score {
                position: event.position,
                at: event.at,
                season: change.season,
                board: change.board,
                user,
                total: change.total,
                is_listed: change.is_listed,
            };
            self.scores.insert((change.board, user), score);
        }
        Ok(())
    }

    fn look_up(self, tx: &mut dyn StreamReadTx) -> Result<LogPart, StoreError> {
        let mut looked = LogPart {
            scores: self.scores.into_values().collect(),
            quests: self.quests,
            resets: self.resets,
            ..LogPart::default()
        };
        looked.batch.events = room(tx, &self.room)?;
        looked.batch.events.extend(self.purchases);
        looked.batch.events.extend(rounds(tx, &self.rounds)?);
        looked.take_notifications(tx, &self.notifications)?;
        looked.batch.events.extend(awards(tx, &self.awards)?);
        Ok(looked)
    }
}

impl LogPart {
    /// Notifications as they are now: at most two statements for each event, and a fixed number for what all of them show.
    fn take_notifications(
        &mut self,
        tx: &mut dyn NotificationReadTx,
        events: &[Event],
    ) -> Result<(), StoreError> {
        let mut unread: HashMap<UserId, i64> = HashMap::new();
        for event in events {
            let Some(fan) = event.what.actor else { continue };
            let is_read = event.what.kind == EventKind::NotificationRead;
            let row = if event.what.kind == EventKind::NotificationCreated {
                tx.notification(fan, NotificationId::from_uuid(event.what.subject))?
            } else {
                None
            };
            if row.is_none() && !is_read {
                continue;
            }
            let unread = match unread.get(&fan) {
                Some(unread) => *unread,
                None => *unread.entry(fan).or_insert(tx.unread_notifications(fan)?),
            };
            if let Some(row) = row {
                let (position, at) = (event.position, event.at);
                self.notified.changed.push(ChangedNotification { position, at, fan, row, unread });
            } else {
                let mark = read_mark(event.detail.as_deref().unwrap_or_default())?;
                self.batch.events.push(stream_event(event, StreamWhat::NotificationRead(fan, mark, unread)));
            }
        }
        let rows: Vec<Notification> =
            self.notified.changed.iter().map(|changed| changed.row.clone()).collect();
        if !rows.is_empty() {
            self.notified.shown = gather(tx, &rows)?;
        }
        Ok(())
    }
}

/// Awards with their records, in one statement.
fn awards(tx: &mut dyn PointsRead, events: &[Event]) -> Result<Vec<StreamEvent>, StoreError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let id = |event: &Event| RecordId::from_uuid(event.what.subject);
    let fans: Vec<UserId> = events.iter().filter_map(|event| event.what.actor).collect();
    let ids: Vec<RecordId> = events.iter().map(id).collect();
    let records: HashMap<RecordId, PointsRecord> =
        tx.records_with(&fans, &ids)?.into_iter().map(|record| (record.id, record)).collect();
    let shown = events.iter().filter_map(|event| {
        let record = records.get(&id(event))?;
        Some(stream_event(event, StreamWhat::PointsAwarded(Box::new(record.clone()))))
    });
    Ok(shown.collect())
}

fn stream_event(event: &Event, what: StreamWhat) -> StreamEvent {
    StreamEvent { position: event.position, at: event.at, what }
}

/// The new state of a purchase, an order, a claim, a wallet or a balance, or a spin, which the event contains completely.
fn purchase(event: &Event) -> Result<Option<StreamEvent>, StoreError> {
    let Some(fan) = event.what.actor else { return Ok(None) };
    let state = event.detail.as_deref().unwrap_or_default();
    let malformed = |error| StoreError::defect("streams", error);
    let what = if event.what.kind == EventKind::PurchaseChanged {
        let purchase = PurchaseId::from_uuid(event.what.subject);
        StreamWhat::PurchaseChanged(fan, purchase, state.parse().map_err(malformed)?)
    } else if event.what.kind == EventKind::OrderChanged {
        let order = OrderId::from_uuid(event.what.subject);
        StreamWhat::OrderChanged(fan, order, state.parse().map_err(malformed)?)
    } else if event.what.kind == EventKind::ClaimChanged {
        let claim = ClaimId::from_uuid(event.what.subject);
        StreamWhat::ClaimChanged(fan, claim, state.parse().map_err(malformed)?)
    } else if event.what.kind == EventKind::BalanceChanged {
        let (kind, balance) = state.split_once('/').unwrap_or_default();
        let balance = balance.parse().map_err(|error| StoreError::defect("streams", error))?;
        StreamWhat::BalanceChanged(fan, kind.parse().map_err(malformed)?, balance)
    } else if event.what.kind == EventKind::WalletChanged {
        let (network, state) = state.split_once('/').unwrap_or_default();
        let network = network.parse().map_err(|error| StoreError::defect("streams", error))?;
        let wallet = WalletId::from_uuid(event.what.subject);
        StreamWhat::WalletChanged(fan, wallet, network, state.parse().map_err(malformed)?)
    } else if event.what.kind == EventKind::SpinCompleted {
        let segment = state.parse().map_err(|error| StoreError::defect("streams", error))?;
        let Some(wheel) = event.what.object else { return Ok(None) };
        StreamWhat::SpinCompleted(
            fan,
            SpinId::from_uuid(event.what.subject),
            WheelId::from_uuid(wheel),
            segment,
        )
    } else {
        return Ok(None);
    };
    Ok(Some(stream_event(event, what)))
}

/// Events of rounds: one statement for all rounds, and one for each question that closed.
fn rounds(tx: &mut dyn TriviaRead, events: &[Event]) -> Result<Vec<StreamEvent>, StoreError> {
    let ids = distinct(events.iter().map(|event| RoundId::from_uuid(event.what.subject)));
    let known = if ids.is_empty() { Vec::new() } else { tx.rounds_with(&ids)? };
    let mut found = Vec::new();
    for event in events {
        let id = RoundId::from_uuid(event.what.subject);
        let kind = event.what.kind;
        let what = if kind == EventKind::StandingsChanged {
            RoundEvent::StandingsChanged
        } else if kind == EventKind::RoundEnded {
            RoundEvent::Ended
        } else {
            let Some((round, place, question)) = question_of(&known, event) else { continue };
            let question = Box::new(question.clone());
            if kind == EventKind::QuestionOpened {
                RoundEvent::QuestionOpened { question, place, time: round.live_time(place) }
            } else {
                let counts = tx.option_counts(id, question.id)?;
                RoundEvent::QuestionClosed { question, counts }
            }
        };
        found.push(stream_event(event, StreamWhat::InRound(id, what)));
    }
    Ok(found)
}

/// The question of an event with its round and its place.
fn question_of<'r>(rounds: &'r [Round], event: &Event) -> Option<(&'r Round, u32, &'r Question)> {
    let round = rounds.iter().find(|round| round.id.as_uuid() == event.what.subject)?;
    let mut places = (0..).zip(&round.script.questions);
    let (place, question) = places.find(|(_, question)| Some(question.id.as_uuid()) == event.what.object)?;
    Some((round, place, question))
}

/// Events of the locker room, in two statements regardless of their number.
fn room(tx: &mut dyn RoomReadTx, events: &[Event]) -> Result<Vec<StreamEvent>, StoreError> {
    let kept = events.iter().filter(|event| event.what.kind != EventKind::PostDeleted);
    let posts = distinct(kept.map(|event| PostId::from_uuid(event.what.subject)));
    let comments: Vec<CommentId> = events
        .iter()
        .filter(|event| {
            use EventKind::{CommentCreated, CommentEdited, CommentLiked};
            matches!(event.what.kind, CommentCreated | CommentEdited | CommentLiked)
        })
        .filter_map(|event| event.what.object.map(CommentId::from_uuid))
        .collect();
    let comments = if comments.is_empty() { Vec::new() } else { tx.comments_among(&comments)? };
    // After the comments: a comment that was read is included in the count.
    let posts = if posts.is_empty() { Vec::new() } else { tx.posts_among(&posts)? };
    let posts: HashMap<PostId, PostView<AuthorCard>> =
        posts.into_iter().map(|view| (view.post.id, view)).collect();
    let comments: HashMap<CommentId, Comment<AuthorCard>> =
        comments.into_iter().map(|comment| (comment.id, comment)).collect();
    let what = |event: &Event| {
        let post = PostId::from_uuid(event.what.subject);
        if event.what.kind == EventKind::PostDeleted {
            let on = OnPost { post, team: event.what.team, author: event.what.actor };
            return Some(StreamWhat::PostDeleted(on));
        }
        let view = posts.get(&post)?;
        let on = OnPost { post, team: view.post.team, author: Some(view.post.author) };
        let count = view.post.comment_count;
        match (event.what.kind, event.what.object.map(CommentId::from_uuid)) {
            (EventKind::PostCreated, _) => Some(StreamWhat::PostCreated(Box::new(view.clone()))),
            (EventKind::PostEdited, _) => Some(StreamWhat::PostEdited(Box::new(view.clone()))),
            (EventKind::CommentEdited, Some(comment)) => {
                let comment = Box::new(comments.get(&comment)?.clone());
                Some(StreamWhat::CommentEdited { on, comment })
            }
            (EventKind::CommentLiked, Some(comment)) => {
                let Comment { author, like_count, .. } = comments.get(&comment)?;
                Some(StreamWhat::CommentLiked { on, comment, by: author.id, count: *like_count })
            }
            (EventKind::CommentCreated, Some(comment)) => {
                let comment = Box::new(comments.get(&comment)?.clone());
                Some(StreamWhat::CommentCreated { on, comment, count })
            }
            (EventKind::CommentDeleted, Some(comment)) => {
                Some(StreamWhat::CommentDeleted { on, comment, by: event.what.actor, count })
            }
            (EventKind::ReactionChanged, _) => {
                Some(StreamWhat::ReactionChanged { on, reactions: view.post.reactions })
            }
            (..) => None,
        }
    };
    Ok(events.iter().filter_map(|event| Some(stream_event(event, what(event)?))).collect())
}

/// A quest event with titles; `None` if the content no longer contains the quest.
pub(super) fn quest_event(book: &QuestBook, event: &Event) -> Option<StreamEvent> {
    let fan = event.what.actor?;
    let what = match (event.what.kind, event.detail.as_deref()) {
        (EventKind::StepCompleted, _) => {
            let (quest, step) = book.step(StepId::from_uuid(event.what.subject))?;
            let step = StreamStep {
                quest: quest.id,
                quest_title: quest.title.clone(),
                step: step.id,
                title: step.title.clone(),
                points: step.points,
            };
            StreamWhat::StepCompleted(fan, Box::new(step))
        }
        (EventKind::QuestCompleted, _) => {
            let quest = book.quest(QuestId::from_uuid(event.what.subject))?;
            StreamWhat::QuestCompleted(fan, Box::new(quest.clone()))
        }
        (EventKind::AchievementUnlocked, Some(key)) => {
            let unlocked = book.achievements().iter().find(|known| known.key.as_str() == key)?;
            StreamWhat::AchievementUnlocked(fan, Box::new(unlocked.clone()))
        }
        (..) => return None,
    };
    Some(stream_event(event, what))
}

/// Ranks scores from the tables, for when the in-memory boards are not available.
pub(super) struct RankScores(pub(super) Vec<Score>);

impl Query for RankScores {
    const NAME: &'static str = "stream_ranks";
    // A rank is the sum of several counts.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn BoardRead;
    type Output = Vec<Option<(Points, u64)>>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BoardRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let mut lines = vec![None; self.0.len()];
        let mut listed: Vec<(&Score, &mut Option<(Points, u64)>)> =
            self.0.iter().zip(&mut lines).filter(|(score, _)| score.is_listed).collect();
        // From the top of each board, so that its rows are counted once, not once for each score.
        listed.sort_by_key(|(score, _)| (score.season, score.board, Reverse(score.total.points)));
        let mut last: Option<(SeasonId, BoardId, Points, u64)> = None;
        for (score, line) in listed {
            let Score { season, board, total: Total { points, .. }, .. } = *score;
            let above = match last {
                Some((of, on, high, above)) if (of, on) == (season, board) => {
                    above + tx.count_between(season, board, points, high)?
                }
                _ => tx.count_above(season, board, points)?,
            };
            last = Some((season, board, points, above));
            *line = Some((points, above + 1));
        }
        Ok(lines)
    }
}
