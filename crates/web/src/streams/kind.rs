//! The kinds of events, each of which has a log of its own.

/// The kind of an event. Events of one position are sent in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Of the locker room.
    Room,
    /// Of a leaderboard.
    Boards,
    /// Of rounds of trivia.
    Trivia,
    /// Of one fan only.
    Fans,
}

impl Kind {
    /// The name in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Room => "locker-room",
            Self::Boards => "leaderboard",
            Self::Trivia => "trivia",
            Self::Fans => "user",
        }
    }
}

/// All kinds, in their order.
pub(crate) const KINDS: [Kind; 4] = [Kind::Room, Kind::Boards, Kind::Trivia, Kind::Fans];

/// A value for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ByKind<T> {
    room: T,
    boards: T,
    trivia: T,
    fans: T,
}

impl<T> ByKind<T> {
    /// The values that `value` returns.
    pub(crate) fn of(mut value: impl FnMut(Kind) -> T) -> Self {
        let [room, boards, trivia, fans] = KINDS;
        Self { room: value(room), boards: value(boards), trivia: value(trivia), fans: value(fans) }
    }

    pub(crate) const fn get(&self, kind: Kind) -> &T {
        match kind {
            Kind::Room => &self.room,
            Kind::Boards => &self.boards,
            Kind::Trivia => &self.trivia,
            Kind::Fans => &self.fans,
        }
    }

    pub(crate) const fn get_mut(&mut self, kind: Kind) -> &mut T {
        match kind {
            Kind::Room => &mut self.room,
            Kind::Boards => &mut self.boards,
            Kind::Trivia => &mut self.trivia,
            Kind::Fans => &mut self.fans,
        }
    }
}
