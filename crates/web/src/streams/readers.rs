//! The readers of streams in this process: their views, their sessions, and how many streams they have.

use crate::edge::Address;
use crate::error::{ApiError, Code};
use crate::streams::interest::Interest;
use crate::streams::view::{Reader, Session};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use terrace_app::App;
use terrace_app::streams::ViewParts;
use terrace_identity::Viewer;
use terrace_kernel::{Event, EventKind, SessionId, StoreError, UserId};

/// `Retry-After` in seconds for a client with too many streams.
const RETRY: u64 = 15;
/// How often a view is reloaded because it changed while it was read.
const ATTEMPTS: u32 = 4;

/// Maximum number of streams of one account, and of one address for signed-out readers; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caps {
    pub(crate) account: Option<u32>,
    pub(crate) address: Option<u32>,
}

/// All readers of this process.
pub(crate) struct Readers {
    caps: Caps,
    known: Mutex<OpenReaders>,
}

#[derive(Default)]
struct OpenReaders {
    users: HashMap<UserId, Listening>,
    sessions: HashMap<SessionId, (Arc<Session>, u32)>,
    addresses: HashMap<Address, u32>,
}

struct Listening {
    reader: Arc<Reader>,
    streams: u32,
    /// Number of private streams among them.
    own: u32,
}

/// The place of one stream in the limits; released on drop.
pub(crate) struct Seat {
    readers: Arc<Readers>,
    holder: Holder,
}

enum Holder {
    SignedOut(Address),
    SignedIn { reader: Arc<Reader>, session: Arc<Session>, own: bool },
}

impl Seat {
    /// The reader, if signed in.
    pub(crate) fn reader(&self) -> Option<&Arc<Reader>> {
        match &self.holder {
            Holder::SignedIn { reader, .. } => Some(reader),
            Holder::SignedOut(_) => None,
        }
    }

    /// The session of a signed-in reader.
    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        match &self.holder {
            Holder::SignedIn { session, .. } => Some(session),
            Holder::SignedOut(_) => None,
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut known = self.readers.lock();
        match &self.holder {
            Holder::SignedOut(address) => give_back(&mut known.addresses, address, |count| count),
            Holder::SignedIn { reader, session, own } => {
                if let Some(listening) = known.users.get_mut(&reader.user) {
                    listening.own -= u32::from(*own).min(listening.own);
                }
                give_back(&mut known.users, &reader.user, |listening| &mut listening.streams);
                give_back(&mut known.sessions, &session.id, |(_, count)| count);
            }
        }
    }
}

fn give_back<K: Hash + Eq, V>(places: &mut HashMap<K, V>, key: &K, count: impl Fn(&mut V) -> &mut u32) {
    if let Some(place) = places.get_mut(key) {
        let count = count(place);
        *count = count.saturating_sub(1);
        if *count == 0 {
            places.remove(key);
        }
    }
}

impl Readers {
    pub(crate) fn new(caps: Caps) -> Self {
        Self { caps, known: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, OpenReaders> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for one more stream; 429 `rate_limited` if the account, or the address of a signed-out reader,
    /// has reached its limit.
    pub(crate) fn seat(
        self: &Arc<Self>,
        viewer: Option<&Viewer>,
        address: Address,
        interest: &Interest,
    ) -> Result<Seat, ApiError> {
        let mut known = self.lock();
        let is_full = |has: u32, most: Option<u32>| most.is_some_and(|most| has >= most);
        let full = || ApiError::new(Code::RateLimited, "too many streams are open").retry_after(RETRY);
        let holder = match viewer {
            None => {
                let count = known.addresses.entry(address).or_insert(0);
                if is_full(*count, self.caps.address) {
                    return Err(full());
                }
                *count += 1;
                Holder::SignedOut(address)
            }
            Some(viewer) => {
                let user = viewer.user_id;
                if is_full(known.users.get(&user).map_or(0, |known| known.streams), self.caps.account) {
                    return Err(full());
                }
                let own = interest.fan().is_some();
                let listening = known.users.entry(user).or_insert_with(|| Listening {
                    reader: Arc::new(Reader::new(user)),
                    streams: 0,
                    own: 0,
                });
                listening.streams += 1;
                listening.own += u32::from(own);
                let reader = Arc::clone(&listening.reader);
                reader.want(interest.needs());
                let session = viewer.session_id;
                let (session, count) =
                    known.sessions.entry(session).or_insert_with(|| (Arc::new(Session::new(session)), 0));
                *count += 1;
                Holder::SignedIn { reader, session: Arc::clone(session), own }
            }
        };
        Ok(Seat { readers: Arc::clone(self), holder })
    }

    /// Whether the fan has an open private stream.
    pub(crate) fn wants_own(&self, fan: UserId) -> bool {
        self.lock().users.get(&fan).is_some_and(|listening| listening.own > 0)
    }

    fn reader(&self, user: UserId) -> Option<Arc<Reader>> {
        self.lock().users.get(&user).map(|listening| Arc::clone(&listening.reader))
    }

    fn needing(&self, parts: ViewParts) -> Vec<Arc<Reader>> {
        let known = self.lock();
        let readers = known.users.values().map(|listening| &listening.reader);
        readers.filter(|reader| reader.parts().covers(parts)).cloned().collect()
    }

    /// Processes events that change views: hides blocked accounts at once and returns the readers whose views
    /// must be reloaded.
    pub(crate) fn turn(&self, events: &[Event]) -> Vec<Arc<Reader>> {
        const FOLLOWS: ViewParts = ViewParts { follows: true, teams: false };
        const TEAMS: ViewParts = ViewParts { follows: false, teams: true };
        let mut stale: HashMap<UserId, Arc<Reader>> = HashMap::new();
        let mut anew = |reader: Option<Arc<Reader>>| {
            if let Some(reader) = reader {
                reader.turn();
                stale.insert(reader.user, reader);
            }
        };
        for event in events {
            let subject = UserId::from_uuid(event.what.subject);
            match (event.what.kind, event.what.actor) {
                (EventKind::UserBlocked, Some(actor)) => {
                    for (one, other) in [(actor, subject), (subject, actor)] {
                        if let Some(reader) = self.reader(one) {
                            reader.hide(other);
                        }
                    }
                }
                (EventKind::UserUnblocked, Some(actor)) => {
                    anew(self.reader(actor));
                    anew(self.reader(subject));
                }
                (EventKind::UserFollowed | EventKind::UserUnfollowed, Some(actor)) => {
                    anew(self.reader(actor).filter(|reader| reader.parts().covers(FOLLOWS)));
                }
                (EventKind::TeamFollowed | EventKind::TeamUnfollowed, Some(actor)) => {
                    anew(self.reader(actor).filter(|reader| {
                        let parts = reader.parts();
                        parts.covers(FOLLOWS) || parts.covers(TEAMS)
                    }));
                }
                (EventKind::ProfileChanged, _) => {
                    anew(self.reader(subject).filter(|reader| reader.parts().covers(TEAMS)));
                }
                (EventKind::FollowsImported, _) => {
                    self.needing(FOLLOWS).into_iter().for_each(|reader| anew(Some(reader)));
                }
                (..) => {}
            }
        }
        stale.into_values().collect()
    }

    /// Marks sessions that have ended; returns whether there were any.
    pub(crate) async fn end_sessions(&self, app: &App) -> Result<bool, StoreError> {
        let sessions: Vec<SessionId> = self.lock().sessions.keys().copied().collect();
        if sessions.is_empty() {
            return Ok(false);
        }
        let ended = app.ended_among(&sessions).await?;
        let known = self.lock();
        ended.iter().filter_map(|id| known.sessions.get(id)).for_each(|(session, _)| session.end());
        Ok(!ended.is_empty())
    }
}

impl Reader {
    /// Loads the view, and loads it again if it changed meanwhile.
    pub(crate) async fn load(&self, app: &App) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            let (turns, parts) = (self.turns(), self.parts());
            let view = app.reader_view(self.user, parts).await?;
            if self.put(view, parts, turns) {
                return Ok(());
            }
        }
        Err(StoreError::Contended("what a reader follows changes all the time".to_owned()))
    }
}
