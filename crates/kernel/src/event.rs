//! Events: each is appended in the transaction that causes it, and all are read in one public order.

use crate::{StoreError, TeamId, Timestamp, UserId};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// A position in the public order of events. Positions increase without gaps; 0 lies before the first event. Retention
/// removes events from the beginning of the log only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(i64);

impl Position {
    /// The position before the first event.
    pub const START: Self = Self(0);

    /// A position from its stored number; `None` below zero.
    pub fn new(position: i64) -> Option<Self> {
        (position >= 0).then_some(Self(position))
    }

    /// The number that clients and tables use.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The position before this one; none is before [`Position::START`].
    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0.saturating_sub(1)).max(Self::START)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is not one of the known names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name {0:?}")]
pub struct UnknownName(pub String);

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All values, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name, as used in tables and streams.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    other => Err(UnknownName(other.to_owned())),
                }
            }
        }
    };
}

named! {
    /// The log to which an event belongs. Readers of one stream read one topic.
    Topic {
        /// Posts, comments and reactions.
        LockerRoom = "locker_room",
        /// Changes of one account, such as its profile and its devices.
        Account = "account",
        /// Follows and blocks.
        Graph = "graph",
        /// Points and board membership.
        Leaderboard = "leaderboard",
        /// Progress of fans in quests.
        Quests = "quests",
        /// Purchases, orders and balances of fans.
        Packs = "packs",
        /// Notifications of fans, and what causes nothing else.
        Notifications = "notifications",
        /// Rounds of trivia.
        Trivia = "trivia",
        /// Content of the club.
        Content = "content",
    }
}

named! {
    /// The kind of an event. The names are those of the streams (`docs/events.md`).
    EventKind {
        /// A post was created. Subject: the post.
        PostCreated = "post.created",
        /// The author edited a post. Subject: the post.
        PostEdited = "post.edited",
        /// A post was deleted. Subject: the post.
        PostDeleted = "post.deleted",
        /// A comment was created. Subject: the post; object: the comment.
        CommentCreated = "comment.created",
        /// The author edited a comment. Subject: the post; object: the comment.
        CommentEdited = "comment.edited",
        /// A comment was deleted. Subject: the post; object: the comment.
        CommentDeleted = "comment.deleted",
        /// The number of likes of a comment changed. Subject: the post; object: the comment.
        CommentLiked = "comment.liked",
        /// The reactions of a post changed. Subject: the post.
        ReactionChanged = "reaction.changed",
        /// An account was registered. Subject: the account.
        AccountRegistered = "account.registered",
        /// An account was deleted. It is hidden at once, and its content is erased in batches. Subject: the account.
        AccountDeleted = "account.deleted",
        /// An operator suspended an account, which hides it. Subject: the account.
        AccountSuspended = "account.suspended",
        /// An operator restored a suspended account. Subject: the account.
        AccountRestored = "account.restored",
        /// A profile changed. Subject: the account.
        ProfileChanged = "profile.changed",
        /// The actor followed a user. Subject: the account that is followed.
        UserFollowed = "user.followed",
        /// The actor unfollowed a user. Subject: the account that was followed.
        UserUnfollowed = "user.unfollowed",
        /// The actor followed a team. Subject: the team.
        TeamFollowed = "team.followed",
        /// The actor unfollowed a team. Subject: the team.
        TeamUnfollowed = "team.unfollowed",
        /// The actor blocked a user: neither sees the other any more, and neither follows the other. Subject: the
        /// account that is blocked.
        UserBlocked = "user.blocked",
        /// The actor unblocked a user. Subject: the account that was blocked.
        UserUnblocked = "user.unblocked",
        /// Follows were imported, too many to publish one by one. A process that keeps the follow graph in memory
        /// reloads it. Subject and actor: an account that is the follower in one of them.
        FollowsImported = "follows.imported",
        /// A record of points was written. Actor: the fan who earns the points; team: the team for which they are
        /// earned; subject: the record; detail: the totals that changed with it.
        PointsAwarded = "points.awarded",
        /// Totals changed without a record of points, because an account is now listed on boards or no longer is. Actor
        /// and subject: the account; detail: its totals.
        ScoreChanged = "score.changed",
        /// A season was announced, began, or was closed. Subject: the season.
        SeasonChanged = "season.changed",
        /// A fan started a quest. Actor: the fan; subject: the quest.
        QuestStarted = "quest.started",
        /// A fan completed a step of a quest. Actor: the fan; subject: the step.
        StepCompleted = "step.completed",
        /// A fan completed a quest. Actor: the fan; subject: the quest.
        QuestCompleted = "quest.completed",
        /// A fan unlocked an achievement. Actor and subject: the fan; detail: the achievement's key.
        AchievementUnlocked = "achievement.unlocked",
        /// A purchase was started, or its state changed. Actor: the fan; subject: the purchase; detail: the new state
        /// (`pending`, `completed`, `expired`, `cancelled`, `refunded`).
        PurchaseChanged = "purchase.changed",
        /// An order was placed, or its state or that of a line changed. Actor: the fan; subject: the order; detail: the
        /// state (`pending`, `paid`, `completed`, `expired`, `cancelled`, `refunded`).
        OrderChanged = "order.changed",
        /// A transfer changed a balance. Actor and subject: the fan; detail: the kind of the account and its balance,
        /// `kind/balance`. Spendable points also change with `points.awarded`, which this event does not repeat.
        BalanceChanged = "balance.changed",
        /// A wallet was requested, or its state changed. Actor: the fan; subject: the wallet; detail: its network and its
        /// state (`requested`, `ready`, `failed`), `network/state`.
        WalletChanged = "wallet.changed",
        /// A notification was made, or changed. Actor: the fan who is notified; subject: the notification.
        NotificationCreated = "notification.created",
        /// A fan has read notifications. Actor and subject: the fan; detail: the last position of what was read, or the
        /// ids of the notifications.
        NotificationRead = "notification.read",
        /// A fan left the first hundred of a board. Actor: the fan; team: that of the board; subject: the board.
        RankLost = "rank.lost",
        /// A fan's streak of daily visits ends today without a visit. Actor and subject: the fan; detail: the streak.
        StreakAtRisk = "streak.at_risk",
        /// A moderator removed a post or comment. Actor: the author; subject: the post; object: the comment.
        ContentRemoved = "content.removed",
        /// A reward was claimed, or the state of the claim changed. Actor: the fan; subject: the claim; detail: the new state
        /// (`issued`, `used`, `expired`, `revoked`).
        ClaimChanged = "claim.changed",
        /// A fan spun a wheel. Actor: the fan; subject: the spin; object: the wheel; detail: the key of the segment.
        SpinCompleted = "spin.completed",
        /// A live round begins soon. Team: that of the round; subject: the round.
        RoundSoon = "round.soon",
        /// A question of a live round opened. Subject: the round; object: the question.
        QuestionOpened = "question.opened",
        /// A question of a live round closed. Subject: the round; object: the question.
        QuestionClosed = "question.closed",
        /// The standings of a round changed. Subject: the round.
        StandingsChanged = "standings.changed",
        /// A round ended, or was cancelled. Subject: the round.
        RoundEnded = "round.ended",
        /// A club's content was loaded. Subject: a new id.
        ContentChanged = "content.changed",
    }
}

/// An event that a command appends in its own transaction. It carries identifiers instead of content: the publisher
/// reads the row at the time of publication, so content that was deleted in the meantime is never published, and an
/// erased account leaves no text in the log. Where readers need every intermediate total, the event also carries the
/// resulting numbers ([`EventLog::append_with_detail`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewEvent {
    /// The log to which the event belongs.
    pub topic: Topic,
    /// The kind of the event.
    pub kind: EventKind,
    /// The account that acted, so that the event can be withheld from readers who are hidden from it.
    pub actor: Option<UserId>,
    /// The team in whose room it happened, so that readers can filter by team.
    pub team: Option<TeamId>,
    /// The resource that was affected; see [`EventKind`].
    pub subject: Uuid,
    /// A second affected resource; see [`EventKind`].
    pub object: Option<Uuid>,
}

/// An event with its position in the public order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Position of the event.
    pub position: Position,
    /// The time at which the command that caused it was submitted.
    pub at: Timestamp,
    /// The event as it was appended.
    pub what: NewEvent,
    /// The resulting numbers; see [`EventKind`].
    pub detail: Option<Box<str>>,
}

/// What an event that the current transaction appended concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The kind of the event.
    pub kind: EventKind,
    /// The account that acted or was affected; see [`NewEvent::actor`].
    pub actor: Option<UserId>,
    /// The resource that was affected; see [`NewEvent::subject`].
    pub subject: Uuid,
}

impl From<&NewEvent> for Appended {
    fn from(event: &NewEvent) -> Self {
        Self { kind: event.kind, actor: event.actor, subject: event.subject }
    }
}

/// Appends events to the log in the transaction of the command that causes them.
pub trait EventLog {
    /// Appends `event`, which becomes public, in order, after the transaction commits.
    fn append(&mut self, event: &NewEvent, at: Timestamp) -> Result<(), StoreError>;

    /// Appends `event` together with the resulting numbers.
    fn append_with_detail(&mut self, event: &NewEvent, detail: &str, at: Timestamp)
    -> Result<(), StoreError>;

    /// Appends `events`, each with its time, in the given order, in one round trip.
    fn append_all(&mut self, events: &[(NewEvent, Timestamp)]) -> Result<(), StoreError>;

    /// Appends `events`, each with its resulting numbers and its time, in the given order, in one round trip.
    fn append_all_with_details(&mut self, events: &[(NewEvent, String, Timestamp)])
    -> Result<(), StoreError>;

    /// The events that this transaction has appended so far, in order.
    fn appended(&self) -> &[Appended];
}
