//! Notifications of fans.
//!
//! 1. The consumer `notify` follows the log (`sources` finds whom an event concerns, `record` writes the groups). It
//!    begins at the head of the log: the migration that makes the tables stores its offset. Its offset moves in the
//!    transaction of the rows, so each event notifies once. What happens without an event gets one (`rank.lost`,
//!    `streak.at_risk`, `content.removed`, `round.soon`), so that everything takes this path.
//! 2. Rows hold ids. `read` gathers what they show in a fixed number of statements, and `text` renders it. What can no
//!    longer be shown is dropped from the page, and taken out of the inbox afterwards, so that it is not counted as unread.
//! 3. The `streamPosition` of an inbox is the position up to which the consumer has processed the log: notifications of later
//!    events are not in it. A read mark up to that position therefore marks what the inbox contained, and nothing newer.

pub(crate) mod erasure;
pub mod export;
mod jobs;
mod mark;
mod push;
mod read;
mod record;
mod sources;
mod state;
mod text;

pub(crate) use erasure::ERASURE;
pub(crate) use jobs::jobs;
pub(crate) use mark::read_mark;
pub use mark::{MarkRead, NotActive, SetPreferences};
pub use push::render_pushes;
pub use read::{InboxPage, ReadPreferences, ShownNotification, ShownSubject};
pub(crate) use read::{Shown, gather};
pub(crate) use record::notify;
pub use text::SUBJECTS;
pub(crate) use text::render;

use crate::platform::{Consumer, Handle};
use terrace_kernel::EventKind;

/// Notifies the fans whom events concern.
pub const NOTIFY: Consumer = Consumer {
    name: "notify",
    follows: &[
        EventKind::AccountRegistered,
        EventKind::UserFollowed,
        EventKind::UserBlocked,
        EventKind::PostCreated,
        EventKind::PostEdited,
        EventKind::CommentCreated,
        EventKind::CommentEdited,
        EventKind::CommentLiked,
        EventKind::ReactionChanged,
        EventKind::PointsAwarded,
        EventKind::QuestCompleted,
        EventKind::AchievementUnlocked,
        EventKind::PurchaseChanged,
        EventKind::OrderChanged,
        EventKind::ClaimChanged,
        EventKind::SeasonChanged,
        EventKind::RankLost,
        EventKind::StreakAtRisk,
        EventKind::ContentRemoved,
        EventKind::RoundSoon,
    ],
    handle: Handle::Many(|tx, ctx, events| notify(tx, ctx, events)),
};
