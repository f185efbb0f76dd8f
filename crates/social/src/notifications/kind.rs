//! Kinds of notifications.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::UnknownName;

/// The kind of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotificationKind {
    /// Others followed the fan. Subject: the fan.
    Follow,
    /// Others commented on a post of the fan. Subject: the post; object: the newest comment.
    Comment,
    /// Others replied to a comment of the fan. Subject: that comment; object: the newest reply.
    Reply,
    /// Another mentioned the fan. Subject: the post or comment; object: the post, if the subject is a comment.
    Mention,
    /// Others reacted to a post of the fan, or like a comment. Subject: the post or comment; object: the post, if the
    /// subject is a comment.
    Reaction,
    /// The fan completed a quest. Subject: the quest.
    QuestCompleted,
    /// The fan unlocked an achievement. Detail: its key.
    Achievement,
    /// The fan reached a level. Subject: the fan; detail: the number of the level.
    Level,
    /// A claimed reward changed. Subject: the claim; detail: its state.
    Reward,
    /// An order changed. Subject: the order; detail: its state.
    Order,
    /// A purchase of a pack changed. Subject: the purchase; detail: its state.
    Purchase,
    /// A live round of trivia begins soon; one row for all fans who had joined it by then. Subject: the round.
    TriviaSoon,
    /// The fan's streak of daily visits ends today without a visit. Subject: the fan; detail: the streak.
    StreakAtRisk,
    /// The fan left the first hundred of a board. Subject: the board; object: its team, if it is that of one.
    RankLost,
    /// A season began or ended; one row for all fans. Subject: the season; detail: its state.
    Season,
    /// A moderator removed a post or comment of the fan. Subject: the post or comment; object: the post, if the subject
    /// is a comment.
    Moderation,
}

impl NotificationKind {
    /// Every kind, in the order of responses.
    pub const ALL: [Self; 16] = [
        Self::Follow,
        Self::Comment,
        Self::Reply,
        Self::Mention,
        Self::Reaction,
        Self::QuestCompleted,
        Self::Achievement,
        Self::Level,
        Self::Reward,
        Self::Order,
        Self::Purchase,
        Self::TriviaSoon,
        Self::StreakAtRisk,
        Self::RankLost,
        Self::Season,
        Self::Moderation,
    ];

    /// The stable name, as stored in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::Comment => "comment",
            Self::Reply => "reply",
            Self::Mention => "mention",
            Self::Reaction => "reaction",
            Self::QuestCompleted => "quest_completed",
            Self::Achievement => "achievement",
            Self::Level => "level",
            Self::Reward => "reward",
            Self::Order => "order",
            Self::Purchase => "purchase",
            Self::TriviaSoon => "trivia_soon",
            Self::StreakAtRisk => "streak_at_risk",
            Self::RankLost => "rank_lost",
            Self::Season => "season",
            Self::Moderation => "moderation",
        }
    }

    /// Whether other fans cause it.
    pub const fn has_actors(self) -> bool {
        matches!(self, Self::Follow | Self::Comment | Self::Reply | Self::Mention | Self::Reaction)
    }

    /// Whether an actor can take its cause back and repeat it, so that each actor counts once for a subject.
    pub const fn counts_once(self) -> bool {
        matches!(self, Self::Follow | Self::Reaction)
    }

    /// Whether every fan is notified in the inbox, whatever the preferences say.
    pub const fn is_always_in_app(self) -> bool {
        matches!(self, Self::Moderation)
    }
}

impl fmt::Display for NotificationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for NotificationKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stable_and_distinct() {
        for kind in NotificationKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert!(!kind.counts_once() || kind.has_actors(), "{kind}");
        }
        assert!("like".parse::<NotificationKind>().is_err());
    }
}
