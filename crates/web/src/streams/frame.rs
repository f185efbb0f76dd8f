//! Events in wire format. Each is encoded once for all readers.

use crate::boards::dto::PointsEntry;
use crate::streams::dto::{
    AchievementUnlocked, BalanceChanged, BoardReset, ClaimChanged, CommentCreated, CommentDeleted,
    CommentEdited, CommentLiked, NotificationCreated, NotificationRead, OrderChanged, PostCreated,
    PostDeleted, PostEdited, PurchaseChanged, QuestCompleted, ReactionChanged, ScoreChanged, StepCompleted,
    StreamedComment, WalletChanged,
};
use crate::streams::kind::Kind;
use crate::streams::view::Visibility;
use crate::trivia::dto::{QuestionClosed, QuestionOpened, RoundEnded, StandingsChanged};
use crate::wheels::dto::SpinCompleted;
use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use std::borrow::Cow;
use terrace_app::streams::{OnPost, RoundEvent, StreamEvent, StreamWhat};
use terrace_games::RoundId;
use terrace_identity::AuthorCard;
use terrace_kernel::{CommentId, Position, PostId, TeamId, UserId};
use terrace_scoring::{BoardId, Points};
use terrace_social::PostView;

/// Approximate size of a frame without its text, in bytes.
const OVERHEAD: usize = 200;

/// An event of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Position in the event log; also the event's id.
    pub(crate) position: Position,
    /// The event in wire format.
    encoded: Encoded,
    /// Decides which readers receive it.
    pub(crate) about: About,
    /// Set while the event is withdrawn: its post or comment was deleted, or its author or actor is away.
    gone: bool,
    author_away: bool,
    actor_away: bool,
}

/// The readers to which an event is relevant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum About {
    /// Readers of the locker room.
    Room(RoomEvent),
    /// Readers of a leaderboard.
    Score {
        board: BoardId,
        /// Whether it is the global board of the displayed season.
        is_global: bool,
        /// The account whose score changed.
        user: UserId,
        /// Points and rank; `None` if the board no longer lists the account.
        line: Option<(Points, u64)>,
    },
    /// Readers of all boards.
    Boards,
    /// Readers of a round of trivia.
    Round(RoundId),
    /// One fan only.
    Fan(UserId),
}

/// The properties of a locker room event that decide who sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoomEvent {
    pub(crate) post: PostId,
    /// The team to whose room the post belongs.
    pub(crate) team: Option<TeamId>,
    /// Author of the post.
    pub(crate) author: Option<UserId>,
    /// Author of the comment, for an event about one.
    pub(crate) by: Option<UserId>,
    /// The comment, if the event is about an existing one.
    pub(crate) comment: Option<CommentId>,
    /// Whether the event is the deletion of the post.
    pub(crate) is_end: bool,
}

/// A change that withdraws events already in the log, or restores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Away {
    /// The post was deleted: withdraws its events.
    Post(PostId),
    /// The comment was deleted.
    Comment(CommentId),
    /// The account was deleted or suspended: withdraws what it wrote.
    Account(UserId),
    /// The account was restored.
    Back(UserId),
}

impl Frame {
    pub(crate) fn new(position: Position, name: &str, data: &impl Serialize, about: About) -> Option<Self> {
        let data = match serde_json::to_vec(data) {
            Ok(data) => data,
            Err(error) => {
                log::error!("a stream event cannot be encoded: {error}");
                return None;
            }
        };
        let encoded = Encoded::new(position, name, &data);
        Some(Self { position, encoded, about, gone: false, author_away: false, actor_away: false })
    }

    /// Approximate memory in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.encoded.text.len() + OVERHEAD
    }

    /// Whether readers may receive it.
    pub(crate) fn is_visible(&self) -> bool {
        !(self.gone || self.author_away || self.actor_away)
    }

    pub(crate) fn mark(&mut self, away: &Away) {
        let About::Room(about) = &self.about else { return };
        match away {
            Away::Post(post) => self.gone |= about.post == *post && !about.is_end,
            Away::Comment(comment) => self.gone |= about.comment == Some(*comment),
            Away::Account(user) if !about.is_end => {
                self.author_away |= about.author == Some(*user);
                self.actor_away |= about.by == Some(*user) && about.comment.is_some();
            }
            Away::Account(_) => {}
            Away::Back(user) => {
                self.author_away &= about.author != Some(*user);
                self.actor_away &= about.by != Some(*user);
            }
        }
    }

    /// The event as readers see it to whom it is relevant.
    pub(crate) fn seen(&self, sight: Visibility) -> Cow<'_, Encoded> {
        match (sight, &self.about) {
            (Visibility::Nameless, About::Score { line, .. }) => {
                let data = serde_json::to_vec(&ScoreChanged::new(None, *line)).unwrap_or_default();
                Cow::Owned(Encoded::new(self.position, SCORE_CHANGED, &data))
            }
            (..) => Cow::Borrowed(&self.encoded),
        }
    }
}

const SCORE_CHANGED: &str = "score.changed";

/// An event in wire format, encoded once for all readers: `id`, `event`, `data` and an empty line.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    text: Bytes,
    /// Where the line `event` begins.
    name_at: usize,
    /// Where the first field of the data begins.
    fields_at: usize,
}

impl Encoded {
    /// Encodes an event whose data is a JSON object. JSON contains no line breaks, so one `data` line suffices.
    fn new(position: Position, name: &str, data: &[u8]) -> Self {
        let id = format!("id: {position}\n");
        let head = format!("event: {name}\ndata: ");
        let mut text = BytesMut::with_capacity(id.len() + head.len() + data.len() + 2);
        text.put_slice(id.as_bytes());
        text.put_slice(head.as_bytes());
        text.put_slice(data);
        text.put_slice(b"\n\n");
        Self { text: text.freeze(), name_at: id.len(), fields_at: id.len() + head.len() + 1 }
    }

    /// The whole event.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The event without `id`, up to the first field of its data.
    pub(crate) fn before_fields(&self) -> &[u8] {
        self.text.get(self.name_at..self.fields_at).unwrap_or_default()
    }

    /// The event from the first field of its data on, without the empty line at its end.
    pub(crate) fn fields(&self) -> &[u8] {
        let end = self.text.len().saturating_sub(1);
        self.text.get(self.fields_at..end).unwrap_or_default()
    }
}

/// The event after which a client reloads everything and continues at `position`.
pub(crate) fn resync(position: Position) -> Encoded {
    Encoded::new(position, "resync", b"{}")
}

/// A heartbeat: keeps the connection open and gives the client its current position.
pub(crate) fn beat(position: Position) -> Bytes {
    format!(":\nid: {position}\n\n").into()
}

/// The last message of a stream: reconnect after `retry` milliseconds.
pub(crate) fn farewell(retry: u64, position: Option<Position>) -> Bytes {
    match position {
        Some(position) => format!("retry: {retry}\nid: {position}\n\n").into(),
        None => format!("retry: {retry}\n\n").into(),
    }
}

fn room(on: &OnPost) -> RoomEvent {
    RoomEvent { post: on.post, team: on.team, author: on.author, by: None, comment: None, is_end: false }
}

fn on_post(view: &PostView<AuthorCard>) -> OnPost {
    OnPost { post: view.post.id, team: view.post.team, author: Some(view.post.author) }
}

fn in_room(position: Position, name: &str, data: &impl Serialize, about: RoomEvent) -> Option<(Kind, Frame)> {
    Frame::new(position, name, data, About::Room(about)).map(|frame| (Kind::Room, frame))
}

fn own(position: Position, name: &str, data: &impl Serialize, fan: UserId) -> Option<(Kind, Frame)> {
    Frame::new(position, name, data, About::Fan(fan)).map(|frame| (Kind::Fans, frame))
}

fn in_round(position: Position, round: RoundId, what: &RoundEvent) -> Option<(Kind, Frame)> {
    let (about, round_id) = (About::Round(round), round.as_uuid());
    let frame = match what {
        RoundEvent::QuestionOpened { question, place, time } => {
            let data = QuestionOpened::new(round, question, *place, *time);
            Frame::new(position, "question.opened", &data, about)
        }
        RoundEvent::QuestionClosed { question, counts } => {
            let data = QuestionClosed::new(round, question, counts);
            Frame::new(position, "question.closed", &data, about)
        }
        RoundEvent::StandingsChanged => {
            Frame::new(position, "standings.changed", &StandingsChanged { round_id }, about)
        }
        RoundEvent::Ended => Frame::new(position, "round.ended", &RoundEnded { round_id }, about),
    };
    frame.map(|frame| (Kind::Trivia, frame))
}

/// The encoded event and the kind of stream that carries it; `None` if it cannot be encoded.
pub(crate) fn encode(event: &StreamEvent) -> Option<(Kind, Frame)> {
    let StreamEvent { position, at, what } = event;
    let (position, at) = (*position, *at);
    match what {
        StreamWhat::PostCreated(view) => {
            in_room(position, "post.created", &PostCreated::from(&**view), room(&on_post(view)))
        }
        StreamWhat::PostEdited(view) => {
            in_room(position, "post.edited", &PostEdited::from(&**view), room(&on_post(view)))
        }
        StreamWhat::PostDeleted(on) => {
            let about = RoomEvent { is_end: true, ..room(on) };
            in_room(position, "post.deleted", &PostDeleted { post_id: on.post.as_uuid() }, about)
        }
        StreamWhat::CommentCreated { on, comment, count } => {
            let about = RoomEvent { by: Some(comment.author.id), comment: Some(comment.id), ..room(on) };
            let data = CommentCreated { comment: StreamedComment::from(&**comment), comment_count: *count };
            in_room(position, "comment.created", &data, about)
        }
        StreamWhat::CommentEdited { on, comment } => {
            let about = RoomEvent { by: Some(comment.author.id), comment: Some(comment.id), ..room(on) };
            let data = CommentEdited { comment: StreamedComment::from(&**comment) };
            in_room(position, "comment.edited", &data, about)
        }
        StreamWhat::CommentLiked { on, comment, by, count } => {
            let about = RoomEvent { by: Some(*by), comment: Some(*comment), ..room(on) };
            let data = CommentLiked {
                post_id: on.post.as_uuid(),
                comment_id: comment.as_uuid(),
                like_count: *count,
            };
            in_room(position, "comment.liked", &data, about)
        }
        StreamWhat::CommentDeleted { on, comment, by, count } => {
            let data = CommentDeleted {
                post_id: on.post.as_uuid(),
                comment_id: comment.as_uuid(),
                comment_count: *count,
            };
            in_room(position, "comment.deleted", &data, RoomEvent { by: *by, ..room(on) })
        }
        StreamWhat::ReactionChanged { on, reactions } => {
            in_room(position, "reaction.changed", &ReactionChanged::new(on.post, *reactions), room(on))
        }
        StreamWhat::ScoreChanged { board, is_global, user, line } => {
            let about = About::Score { board: *board, is_global: *is_global, user: *user, line: *line };
            let data = ScoreChanged::new(Some(*user), *line);
            Frame::new(position, SCORE_CHANGED, &data, about).map(|frame| (Kind::Boards, frame))
        }
        StreamWhat::BoardReset(season) => {
            let data = BoardReset { season_id: season.as_uuid() };
            Frame::new(position, "board.reset", &data, About::Boards).map(|frame| (Kind::Boards, frame))
        }
        StreamWhat::PointsAwarded(record) => {
            own(position, "points.awarded", &PointsEntry::from(&**record), record.user)
        }
        StreamWhat::StepCompleted(fan, step) => {
            own(position, "step.completed", &StepCompleted::new(step, at), *fan)
        }
        StreamWhat::QuestCompleted(fan, quest) => {
            own(position, "quest.completed", &QuestCompleted::new(quest, at), *fan)
        }
        StreamWhat::AchievementUnlocked(fan, achievement) => {
            own(position, "achievement.unlocked", &AchievementUnlocked::new(achievement, at), *fan)
        }
        StreamWhat::PurchaseChanged(fan, purchase, state) => {
            own(position, "purchase.changed", &PurchaseChanged::new(*purchase, *state, at), *fan)
        }
        StreamWhat::OrderChanged(fan, order, state) => {
            own(position, "order.changed", &OrderChanged::new(*order, *state, at), *fan)
        }
        StreamWhat::ClaimChanged(fan, claim, status) => {
            own(position, "claim.changed", &ClaimChanged::new(*claim, *status, at), *fan)
        }
        StreamWhat::WalletChanged(fan, wallet, network, status) => {
            own(position, "wallet.changed", &WalletChanged::new(*wallet, network, *status, at), *fan)
        }
        StreamWhat::NotificationCreated(fan, notification, unread) => {
            own(position, "notification.created", &NotificationCreated::new(notification, *unread), *fan)
        }
        StreamWhat::NotificationRead(fan, mark, unread) => {
            own(position, "notification.read", &NotificationRead::new(mark, *unread), *fan)
        }
        StreamWhat::BalanceChanged(fan, kind, balance) => {
            own(position, "balance.changed", &BalanceChanged::new(*kind, *balance, at), *fan)
        }
        StreamWhat::InRound(round, what) => in_round(position, *round, what),
        StreamWhat::SpinCompleted(fan, spin, wheel, segment) => {
            own(position, "spin.completed", &SpinCompleted::new(spin.as_uuid(), *wheel, segment, at), *fan)
        }
    }
}
