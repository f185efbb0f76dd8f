//! Reactions: at most one per fan and post.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::UnknownName;

/// The kind of a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReactionKind {
    /// A thumb up.
    Like,
    /// A heart.
    Love,
    /// A flame.
    Fire,
    /// Applause.
    Clap,
    /// Laughter.
    Laugh,
    /// A tear.
    Sad,
}

impl ReactionKind {
    /// Every kind, in the order of responses.
    pub const ALL: [Self; 6] = [Self::Like, Self::Love, Self::Fire, Self::Clap, Self::Laugh, Self::Sad];

    /// The stable name, as stored in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Like => "like",
            Self::Love => "love",
            Self::Fire => "fire",
            Self::Clap => "clap",
            Self::Laugh => "laugh",
            Self::Sad => "sad",
        }
    }
}

impl fmt::Display for ReactionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ReactionKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The number of reactions of each kind on a post.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReactionCounts {
    /// Thumbs up.
    pub like: i64,
    /// Hearts.
    pub love: i64,
    /// Flames.
    pub fire: i64,
    /// Applause.
    pub clap: i64,
    /// Laughter.
    pub laugh: i64,
    /// Tears.
    pub sad: i64,
}

impl ReactionCounts {
    /// The count of one kind.
    pub const fn of(&self, kind: ReactionKind) -> i64 {
        match kind {
            ReactionKind::Like => self.like,
            ReactionKind::Love => self.love,
            ReactionKind::Fire => self.fire,
            ReactionKind::Clap => self.clap,
            ReactionKind::Laugh => self.laugh,
            ReactionKind::Sad => self.sad,
        }
    }

    /// Adds `by` to the count of one kind.
    pub const fn add(&mut self, kind: ReactionKind, by: i64) {
        match kind {
            ReactionKind::Like => self.like += by,
            ReactionKind::Love => self.love += by,
            ReactionKind::Fire => self.fire += by,
            ReactionKind::Clap => self.clap += by,
            ReactionKind::Laugh => self.laugh += by,
            ReactionKind::Sad => self.sad += by,
        }
    }

    /// Adds other counts or changes of them.
    pub const fn add_all(&mut self, other: &Self) {
        self.like += other.like;
        self.love += other.love;
        self.fire += other.fire;
        self.clap += other.clap;
        self.laugh += other.laugh;
        self.sad += other.sad;
    }

    /// The total over all kinds.
    pub const fn total(&self) -> i64 {
        self.like + self.love + self.fire + self.clap + self.laugh + self.sad
    }

    /// The change of the counts if a fan's reaction changes from `before` to `after`; `None` if it stays the same.
    pub fn change(before: Option<ReactionKind>, after: Option<ReactionKind>) -> Option<Self> {
        if before == after {
            return None;
        }
        let mut change = Self::default();
        if let Some(kind) = before {
            change.add(kind, -1);
        }
        if let Some(kind) = after {
            change.add(kind, 1);
        }
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reaction_per_fan_whatever_they_change_it_to() {
        use ReactionKind::{Fire, Like};
        assert_eq!(ReactionCounts::change(Some(Like), Some(Like)), None);
        assert_eq!(ReactionCounts::change(None, None), None);
        for (before, after, total) in
            [(None, Some(Like), 1), (Some(Like), Some(Fire), 0), (Some(Fire), None, -1)]
        {
            let change = ReactionCounts::change(before, after).unwrap();
            assert_eq!(change.total(), total, "{before:?} -> {after:?}");
        }
        let swap = ReactionCounts::change(Some(Like), Some(Fire)).unwrap();
        assert_eq!((swap.like, swap.fire), (-1, 1));
    }

    #[test]
    fn names_are_stable() {
        for kind in ReactionKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert!("Like".parse::<ReactionKind>().is_err());
    }
}
