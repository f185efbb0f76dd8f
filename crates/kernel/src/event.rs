//! Events: what happened, appended in the transaction in which it happened, read in one public order.

use crate::{StoreError, TeamId, Timestamp, UserId};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// A place in the public order of events. Positions only grow, without gaps; 0 lies before the first event. What is
/// past its time is removed from the log's beginning only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(i64);

impl Position {
    /// Before the first event.
    pub const START: Self = Self(0);

    /// A position as it is stored; below zero there is none.
    pub fn new(position: i64) -> Option<Self> {
        (position >= 0).then_some(Self(position))
    }

    /// The number that clients and tables hold.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text names no known value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name {0:?}")]
pub struct UnknownName(pub String);

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name, as tables and streams hold it.
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
    /// Which log an event belongs to: readers of one stream read one topic.
    Topic {
        /// Posts, comments and reactions.
        LockerRoom = "locker_room",
        /// What concerns one account: its profile, its devices.
        Account = "account",
        /// Who follows and who blocks whom.
        Graph = "graph",
        /// Points, and who is on which board.
        Leaderboard = "leaderboard",
        /// What fans do in quests.
        Quests = "quests",
        /// What fans buy.
        Packs = "packs",
    }
}

named! {
    /// What happened. The names are those of the streams (`docs/events.md`).
    EventKind {
        /// A post was created. Subject: the post.
        PostCreated = "post.created",
        /// A post was deleted. Subject: the post.
        PostDeleted = "post.deleted",
        /// A comment was created. Subject: the post; object: the comment.
        CommentCreated = "comment.created",
        /// A comment was deleted. Subject: the post; object: the comment.
        CommentDeleted = "comment.deleted",
        /// The reactions of a post changed. Subject: the post.
        ReactionChanged = "reaction.changed",
        /// An account was registered. Subject: the account.
        AccountRegistered = "account.registered",
        /// An account was deleted: nothing of it is shown any more, and what it left goes in portions. Subject:
        /// the account.
        AccountDeleted = "account.deleted",
        /// An operator put an account aside: nothing of it is shown. Subject: the account.
        AccountSuspended = "account.suspended",
        /// An operator took an account back in. Subject: the account.
        AccountRestored = "account.restored",
        /// A profile changed. Subject: the account.
        ProfileChanged = "profile.changed",
        /// The actor follows somebody. Subject: the account that is followed.
        UserFollowed = "user.followed",
        /// The actor follows somebody no more. Subject: the account that was followed.
        UserUnfollowed = "user.unfollowed",
        /// The actor follows a team. Subject: the team.
        TeamFollowed = "team.followed",
        /// The actor follows a team no more. Subject: the team.
        TeamUnfollowed = "team.unfollowed",
        /// The actor blocks somebody: neither sees the other any more, and neither follows the other. Subject: the
        /// account that is blocked.
        UserBlocked = "user.blocked",
        /// The actor blocks somebody no more. Subject: the account that was blocked.
        UserUnblocked = "user.unblocked",
        /// Follows were brought in, too many to be told one by one. Whoever keeps the follow graph in memory reads it
        /// anew. Subject and actor: an account that one of them begins with.
        FollowsImported = "follows.imported",
        /// A record of points was written. Actor: whose points; team: the one that it was for; subject: the record;
        /// detail: the totals that changed with it.
        PointsAwarded = "points.awarded",
        /// Totals changed in another way: somebody is listed on boards, or is not any more. Actor and subject: whose
        /// totals; detail: those.
        ScoreChanged = "score.changed",
        /// A season was announced, began, or was closed. Subject: the season.
        SeasonChanged = "season.changed",
        /// A fan started a quest. Actor: the fan; subject: the quest.
        QuestStarted = "quest.started",
        /// A fan completed a step of a quest. Actor: the fan; subject: the step.
        StepCompleted = "step.completed",
        /// A fan completed a quest. Actor: the fan; subject: the quest.
        QuestCompleted = "quest.completed",
        /// A fan came to an achievement. Actor and subject: the fan; detail: the achievement's key.
        AchievementUnlocked = "achievement.unlocked",
        /// A purchase was started, or came to another state. Actor: the fan; subject: the purchase; detail: the state
        /// that it has since (`pending`, `completed`, `expired`, `cancelled`, `refunded`).
        PurchaseChanged = "purchase.changed",
    }
}

/// An event that a command appends in its own transaction. It carries identifiers, not contents: whoever
/// tells it on reads the row as it is then, so that what was deleted meanwhile is never told, and an account
/// that goes leaves no words behind in the log. Beside them stand the numbers that a total came to, where readers go
/// by each of them in its turn ([`EventLog::append_told`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewEvent {
    /// The log that it belongs to.
    pub topic: Topic,
    /// What happened.
    pub kind: EventKind,
    /// Whose deed it was, so that readers who are hidden from them can be passed over.
    pub actor: Option<UserId>,
    /// The team whose room it happened in, so that readers can ask for one team's.
    pub team: Option<TeamId>,
    /// The resource that it happened to; see [`EventKind`].
    pub subject: Uuid,
    /// A second resource; see [`EventKind`].
    pub object: Option<Uuid>,
}

/// An event in its public order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place.
    pub position: Position,
    /// When the command that caused it was given.
    pub at: Timestamp,
    /// What happened.
    pub what: NewEvent,
    /// The numbers that it came to; see [`EventKind`].
    pub detail: Option<Box<str>>,
}

/// Kind and actor of an event that the current transaction appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// What happened.
    pub kind: EventKind,
    /// The account that did it, or that it happened to; see [`NewEvent::actor`].
    pub actor: Option<UserId>,
}

/// Appends events to the log, in the transaction of the command that causes them.
pub trait EventLog {
    /// Appends `event`; it becomes public, in order, after the transaction commits.
    fn append(&mut self, event: &NewEvent, at: Timestamp) -> Result<(), StoreError>;

    /// Appends `event` with the numbers that it came to.
    fn append_told(&mut self, event: &NewEvent, detail: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Appends `events` in their order, in one round trip.
    fn append_all(&mut self, events: &[NewEvent], at: Timestamp) -> Result<(), StoreError>;

    /// What was appended in this transaction, in order.
    fn appended(&self) -> &[Appended];
}
