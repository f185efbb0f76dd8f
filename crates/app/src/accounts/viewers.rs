//! A short-lived cache of viewers by token, so that a request needs no lookup of its own.

use moka::sync::Cache;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use terrace_identity::{TokenHash, TokenKind, Viewer};
use terrace_kernel::{SessionId, Timestamp, UserId};

/// Capacity in tokens; some 200 bytes each.
const MOST: u64 = 100_000;

/// Caches the viewer of a token for a bounded time. Sessions that end in this process are evicted immediately.
pub(crate) struct Viewers {
    /// `None` if caching is off.
    known: Option<Cache<(TokenKind, TokenHash), Viewer>>,
    /// Counts ended sessions. A lookup that was in flight while a session ended is not cached.
    endings: AtomicU64,
}

/// The value of the endings counter when a lookup began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since(u64);

impl Viewers {
    pub(crate) fn new(memory: Duration) -> Self {
        let known = (!memory.is_zero()).then(|| {
            Cache::builder().max_capacity(MOST).time_to_live(memory).support_invalidation_closures().build()
        });
        Self { known, endings: AtomicU64::new(0) }
    }

    /// The cached viewer of the token, unless the token has expired at `now`.
    pub(crate) fn get(&self, token: (TokenKind, TokenHash), now: Timestamp) -> Option<Viewer> {
        self.known.as_ref()?.get(&token).filter(|viewer| !viewer.expires_at.is_over(now))
    }

    /// The current endings counter. Call it before a lookup whose result is passed to [`Viewers::remember`].
    pub(crate) fn since(&self) -> Since {
        Since(self.endings.load(Ordering::Acquire))
    }

    /// Caches the viewer of the token, unless a session ended since the lookup began.
    pub(crate) fn remember(&self, since: Since, token: (TokenKind, TokenHash), viewer: Viewer) {
        let Some(known) = &self.known else { return };
        known.insert(token, viewer);
        // Checked after the insertion: of an insertion and a concurrent eviction, the later one sees the other and
        // removes the entry.
        if self.endings.load(Ordering::Acquire) != since.0 {
            known.invalidate(&token);
        }
    }

    /// Evicts a session that ended.
    pub(crate) fn forget_session(&self, session: SessionId) {
        self.forget(move |viewer| viewer.session_id == session);
    }

    /// Evicts every session of an account.
    pub(crate) fn forget_user(&self, user: UserId) {
        self.forget(move |viewer| viewer.user_id == user);
    }

    fn forget(&self, which: impl Fn(&Viewer) -> bool + Send + Sync + 'static) {
        self.endings.fetch_add(1, Ordering::AcqRel);
        let Some(known) = &self.known else { return };
        if known.invalidate_entries_if(move |_, viewer| which(viewer)).is_err() {
            // Fails only if invalidation closures are unsupported; evicting everything is correct as well.
            known.invalidate_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_identity::Role;
    use terrace_kernel::CtxSeed;

    const FOREVER: Duration = Duration::from_hours(1);

    fn viewer(seed: u8) -> Viewer {
        let mut ctx = CtxSeed::new(Timestamp::from_micros(0), [seed; 32]).open();
        Viewer {
            user_id: ctx.new_id(),
            session_id: ctx.new_id(),
            role: Role::Fan,
            last_seen_at: Timestamp::from_micros(0),
            expires_at: Timestamp::from_micros(10),
        }
    }

    fn token(seed: u8) -> (TokenKind, TokenHash) {
        (TokenKind::Cookie, TokenHash::from_bytes([seed; 32]))
    }

    #[test]
    fn forgets_what_is_ended_and_only_that() {
        let viewers = Viewers::new(FOREVER);
        let now = Timestamp::from_micros(1);
        for seed in [1, 2, 3] {
            viewers.remember(viewers.since(), token(seed), viewer(seed));
        }
        viewers.forget_session(viewer(1).session_id);
        viewers.forget_user(viewer(2).user_id);
        assert_eq!([1, 2, 3].map(|seed| viewers.get(token(seed), now).is_some()), [false, false, true]);
    }

    #[test]
    fn an_answer_from_before_an_ending_is_not_remembered() {
        let viewers = Viewers::new(FOREVER);
        let since = viewers.since();
        viewers.forget_session(viewer(1).session_id);
        viewers.remember(since, token(1), viewer(1));
        assert_eq!(viewers.get(token(1), Timestamp::from_micros(1)), None);
    }

    #[test]
    fn what_is_over_by_the_clock_is_not_remembered() {
        let viewers = Viewers::new(FOREVER);
        viewers.remember(viewers.since(), token(1), viewer(1));
        assert!(viewers.get(token(1), Timestamp::from_micros(9)).is_some());
        assert_eq!(viewers.get(token(1), Timestamp::from_micros(10)), None);
        let none = Viewers::new(Duration::ZERO);
        none.remember(none.since(), token(1), viewer(1));
        assert_eq!(none.get(token(1), Timestamp::from_micros(1)), None);
    }
}
