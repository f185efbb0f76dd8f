//! The events that a reader sees: the part that the stream covers, without accounts hidden from the reader.

use crate::streams::frame::{About, RoomEvent};
use crate::streams::kind::Kind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use terrace_app::streams::{ReaderView, ViewParts, Wanted};
use terrace_games::RoundId;
use terrace_kernel::{Event, SessionId, TeamId, Topic, UserId};
use terrace_scoring::BoardId;

/// The part of the events that a stream covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// All posts.
    All,
    /// The room of a team.
    Team(TeamId),
    /// The rooms of the reader's own teams.
    OwnTeams,
    /// Posts of the accounts and teams that the reader follows, and the reader's own; all posts if there are none.
    Following,
    /// The global board of the displayed season.
    GlobalBoard,
    /// One board.
    Board(BoardId),
    /// A round of trivia.
    Round(RoundId),
    /// The private events of the reader.
    Own(UserId),
}

/// How much of an event a reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// The event is not for this reader.
    Nothing,
    /// The score without the account.
    Nameless,
    /// The whole event.
    Whole,
}

impl Part {
    /// The kind of the part's events.
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::All | Self::Team(_) | Self::OwnTeams | Self::Following => Kind::Room,
            Self::GlobalBoard | Self::Board(_) => Kind::Boards,
            Self::Round(_) => Kind::Trivia,
            Self::Own(_) => Kind::Fans,
        }
    }

    /// The parts of the reader's view that the stream needs.
    pub(crate) const fn needs(self) -> ViewParts {
        match self {
            Self::Following => ViewParts { follows: true, teams: false },
            Self::OwnTeams => ViewParts { follows: false, teams: true },
            Self::All
            | Self::Team(_)
            | Self::GlobalBoard
            | Self::Board(_)
            | Self::Round(_)
            | Self::Own(_) => ViewParts { follows: false, teams: false },
        }
    }

    /// Whether all readers without hidden accounts see the same.
    pub(crate) const fn is_common(self) -> bool {
        match self {
            Self::All | Self::Team(_) | Self::GlobalBoard | Self::Board(_) | Self::Round(_) => true,
            Self::OwnTeams | Self::Following | Self::Own(_) => false,
        }
    }

    /// How much of an event the reader sees.
    pub(crate) fn sight(self, about: &About, reader: Option<(UserId, &ReaderView)>) -> Visibility {
        let hides = |user: Option<UserId>| {
            user.is_some_and(|user| reader.is_some_and(|(_, view)| view.hidden.contains(&user)))
        };
        match (self, about) {
            (Self::All | Self::Team(_) | Self::OwnTeams | Self::Following, About::Room(event)) => {
                if !self.takes(event, reader) || hides(event.author) || hides(event.by) {
                    return Visibility::Nothing;
                }
                Visibility::Whole
            }
            (Self::GlobalBoard, About::Score { is_global, user, .. }) if *is_global => {
                named(hides(Some(*user)))
            }
            (Self::Board(asked), About::Score { board, user, .. }) if asked == *board => {
                named(hides(Some(*user)))
            }
            (Self::GlobalBoard | Self::Board(_), About::Boards) => Visibility::Whole,
            (Self::Round(asked), About::Round(round)) if asked == *round => Visibility::Whole,
            (Self::Own(reader), About::Fan(fan)) if reader == *fan => Visibility::Whole,
            (..) => Visibility::Nothing,
        }
    }

    fn takes(self, event: &RoomEvent, reader: Option<(UserId, &ReaderView)>) -> bool {
        match (self, reader) {
            (Self::All, _) => true,
            (Self::Team(team), _) => event.team == Some(team),
            (Self::OwnTeams, Some((_, view))) => event.team.is_some_and(|team| view.is_own_team(team)),
            (Self::Following, Some((reader, view))) => {
                view.follows_no_one()
                    || event.author.is_some_and(|author| author == reader || view.followed.contains(&author))
                    || event.team.is_some_and(|team| view.teams.contains(&team))
            }
            (..) => false,
        }
    }

    /// The parts of an event that a client that reconnects needs from the event table.
    pub(crate) fn wants(self, event: &Event) -> Wanted {
        let what = &event.what;
        match self {
            Self::All | Self::OwnTeams | Self::Following => {
                Wanted { shared: what.topic == Topic::LockerRoom, own: false }
            }
            Self::Team(team) => {
                Wanted { shared: what.topic == Topic::LockerRoom && what.team == Some(team), own: false }
            }
            Self::GlobalBoard | Self::Board(_) => {
                Wanted { shared: what.topic == Topic::Leaderboard, own: false }
            }
            Self::Round(round) => {
                Wanted { shared: what.topic == Topic::Trivia && what.subject == round.as_uuid(), own: false }
            }
            Self::Own(fan) => Wanted {
                shared: false,
                own: what.actor == Some(fan)
                    && matches!(
                        what.topic,
                        Topic::Leaderboard | Topic::Quests | Topic::Packs | Topic::Notifications
                    ),
            },
        }
    }
}

fn named(is_hidden: bool) -> Visibility {
    if is_hidden { Visibility::Nameless } else { Visibility::Whole }
}

/// A signed-in reader; shared by all streams of the account.
pub(crate) struct Reader {
    pub(crate) user: UserId,
    seen: RwLock<Seen>,
}

#[derive(Default)]
struct Seen {
    view: Arc<ReaderView>,
    /// The parts of the view that the reader's streams need.
    parts: ViewParts,
    /// Incremented when the view becomes outdated: a view loaded before is discarded.
    turns: u64,
}

impl Reader {
    pub(crate) fn new(user: UserId) -> Self {
        Self { user, seen: RwLock::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Seen> {
        self.seen.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Seen> {
        self.seen.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest view.
    pub(crate) fn view(&self) -> Arc<ReaderView> {
        Arc::clone(&self.read().view)
    }

    /// The parts of the view that the reader's streams need.
    pub(super) fn parts(&self) -> ViewParts {
        self.read().parts
    }

    /// Adds the parts that a further stream needs; the view is loaded before the stream begins.
    pub(super) fn want(&self, parts: ViewParts) {
        let seen = &mut *self.write();
        seen.parts = seen.parts.and(parts);
    }

    pub(super) fn turns(&self) -> u64 {
        self.read().turns
    }

    /// Marks the view as outdated, including one that is being loaded.
    pub(super) fn turn(&self) {
        self.write().turns += 1;
    }

    /// Stores a view that was loaded at `turns`, unless it is outdated or lacks a part; returns whether it was
    /// stored.
    pub(super) fn put(&self, view: ReaderView, parts: ViewParts, turns: u64) -> bool {
        let seen = &mut *self.write();
        let is_good = seen.turns == turns && parts.covers(seen.parts);
        if is_good {
            seen.view = Arc::new(view);
        }
        is_good
    }

    /// Hides an account from the reader at once, after a block.
    pub(super) fn hide(&self, other: UserId) {
        let seen = &mut *self.write();
        seen.turns += 1;
        Arc::make_mut(&mut seen.view).hidden.insert(other);
    }
}

/// A session with open streams.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    ended: AtomicBool,
}

impl Session {
    pub(crate) fn new(id: SessionId) -> Self {
        Self { id, ended: AtomicBool::new(false) }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}
