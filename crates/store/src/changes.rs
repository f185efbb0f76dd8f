//! Counts what has changed, so that a process knows which of its cached data may be stale.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use terrace_kernel::{Appended, EventKind, PostId, UserId, Uuid};

/// Number of counters for single resources. Resources that share one are reported as changed together.
const COUNTERS: usize = 16_384;

/// Number of created posts that are remembered. To read many at once takes longer than to read an order anew.
const CREATED: usize = 256;

/// What a change means for posts as feeds show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// A post appears. The subject of the event is the post.
    Created,
    /// One post, or the posts of one account, look different or disappear. The subject of the event is the post or the
    /// account.
    Subject,
    /// A post looks different, and one reader, who is the actor, sees it differently from others. The subject is the post.
    Reaction,
    /// Any post may look different, appear or disappear.
    Everything,
    /// Posts look the same, but the actor and the subject, who are accounts, see others.
    Readers,
    /// Feeds show nothing of it.
    Nothing,
}

impl Effect {
    const fn of(kind: EventKind) -> Self {
        match kind {
            EventKind::PostCreated => Self::Created,
            EventKind::ReactionChanged => Self::Reaction,
            EventKind::PostEdited
            | EventKind::PostDeleted
            | EventKind::CommentCreated
            | EventKind::CommentDeleted
            | EventKind::ContentRemoved
            | EventKind::ProfileChanged => Self::Subject,
            EventKind::AccountDeleted
            | EventKind::AccountSuspended
            | EventKind::AccountRestored
            | EventKind::ContentChanged => Self::Everything,
            EventKind::UserBlocked | EventKind::UserUnblocked => Self::Readers,
            EventKind::CommentEdited
            | EventKind::CommentLiked
            | EventKind::AccountRegistered
            | EventKind::UserFollowed
            | EventKind::UserUnfollowed
            | EventKind::TeamFollowed
            | EventKind::TeamUnfollowed
            | EventKind::FollowsImported
            | EventKind::PointsAwarded
            | EventKind::ScoreChanged
            | EventKind::SeasonChanged
            | EventKind::QuestStarted
            | EventKind::StepCompleted
            | EventKind::QuestCompleted
            | EventKind::AchievementUnlocked
            | EventKind::PurchaseChanged
            | EventKind::OrderChanged
            | EventKind::BalanceChanged
            | EventKind::WalletChanged
            | EventKind::NotificationCreated
            | EventKind::NotificationRead
            | EventKind::RankLost
            | EventKind::StreakAtRisk
            | EventKind::ClaimChanged
            | EventKind::SpinCompleted
            | EventKind::RoundSoon
            | EventKind::QuestionOpened
            | EventKind::QuestionClosed
            | EventKind::StandingsChanged
            | EventKind::RoundEnded => Self::Nothing,
        }
    }
}

/// The changes that this process knows of, as increasing numbers. Data that was read at a lower number than the last
/// change of what it shows may be stale.
///
/// A change is noted after its commit, and before any client can learn of it: before the command is answered, and
/// before its event is delivered.
#[derive(Debug)]
pub struct Changes {
    latest: AtomicU64,
    /// The last change of anything that pages of posts show.
    feeds: AtomicU64,
    /// The last change of which it is unknown which posts it concerns.
    everything: AtomicU64,
    /// The last change of each resource, by its id.
    subjects: Box<[AtomicU64]>,
    /// How often something of each fan has changed, by the account.
    fans: Box<[AtomicU64]>,
    /// How often something has changed that may concern what any fan has.
    every_fan: AtomicU64,
    /// The number of posts that were noted as created.
    created: AtomicU64,
    /// The last of them, the newest at the end. Held while [`Self::created`] changes.
    newest: Mutex<VecDeque<PostId>>,
}

impl Default for Changes {
    fn default() -> Self {
        let counters = || (0..COUNTERS).map(|_| AtomicU64::new(0)).collect();
        Self {
            latest: AtomicU64::new(0),
            feeds: AtomicU64::new(0),
            everything: AtomicU64::new(0),
            subjects: counters(),
            fans: counters(),
            every_fan: AtomicU64::new(0),
            created: AtomicU64::new(0),
            newest: Mutex::default(),
        }
    }
}

impl Changes {
    /// The number of the last change. Take it before reading data that is to be cached.
    pub fn latest(&self) -> u64 {
        self.latest.load(Ordering::Acquire)
    }

    /// The number of the last change of anything that pages of posts show.
    pub fn latest_of_feeds(&self) -> u64 {
        self.feeds.load(Ordering::Acquire)
    }

    /// How often something that this fan has may have changed: events that name the fan, and others that may concern
    /// everybody. What other fans have, and so the fan's rank, is not part of it.
    pub fn count_of_fan(&self, fan: UserId) -> u64 {
        let own = counter(&self.fans, fan.as_uuid()).map_or(0, |own| own.load(Ordering::Acquire));
        self.every_fan.load(Ordering::Acquire) + own
    }

    /// Whether a post that was read at this number is still shown the same.
    pub fn is_post_current(&self, since: u64, post: PostId, author: Option<UserId>) -> bool {
        self.is_current(since, post.as_uuid())
            && author.is_none_or(|author| self.is_current(since, author.as_uuid()))
    }

    /// Whether what was read at this number about what only this reader sees, who is hidden and the own reactions, still
    /// holds.
    pub fn is_reader_current(&self, since: u64, reader: UserId) -> bool {
        self.is_current(since, view_of(reader))
    }

    /// Whether posts that were not shown at this number can only be shown now if they were created since.
    pub fn is_order_current(&self, since: u64) -> bool {
        self.everything.load(Ordering::Acquire) <= since
    }

    /// The number of posts that were noted as created. Take it before reading which posts there are.
    pub fn created(&self) -> u64 {
        self.created.load(Ordering::Acquire)
    }

    /// The posts that were noted as created after the first `known` ones, and the number of all; `None` if some of
    /// them are not remembered.
    pub fn created_after(&self, known: u64) -> Option<(Vec<PostId>, u64)> {
        let newest = self.newest();
        let created = self.created();
        let count = usize::try_from(created.checked_sub(known)?).ok()?;
        let first = newest.len().checked_sub(count)?;
        Some((newest.range(first..).copied().collect(), created))
    }

    /// Notes a change with these events, which were committed or became public.
    pub fn note(&self, events: &[Appended]) {
        let number = self.next();
        for event in events {
            self.count_fans(event);
            match Effect::of(event.kind) {
                Effect::Created => {
                    self.mark(event.subject, number);
                    self.add(PostId::from_uuid(event.subject));
                }
                Effect::Subject => self.mark(event.subject, number),
                Effect::Reaction => {
                    self.mark(event.subject, number);
                    self.mark_reader(event.actor, number);
                }
                Effect::Readers => {
                    self.mark_reader(Some(UserId::from_uuid(event.subject)), number);
                    self.mark_reader(event.actor, number);
                }
                Effect::Everything => {
                    self.everything.fetch_max(number, Ordering::AcqRel);
                }
                Effect::Nothing => continue,
            }
            self.feeds.fetch_max(number, Ordering::AcqRel);
        }
    }

    /// Notes that something of this fan may have changed without an event. What others see has not.
    pub fn note_fan(&self, fan: UserId) {
        self.count(fan.as_uuid());
    }

    /// Notes that anything may have changed.
    pub fn note_unknown(&self) {
        let number = self.next();
        self.every_fan.fetch_add(1, Ordering::AcqRel);
        self.everything.fetch_max(number, Ordering::AcqRel);
        self.feeds.fetch_max(number, Ordering::AcqRel);
    }

    fn next(&self) -> u64 {
        self.latest.fetch_add(1, Ordering::AcqRel) + 1
    }

    fn is_current(&self, since: u64, id: Uuid) -> bool {
        self.everything.load(Ordering::Acquire) <= since
            && counter(&self.subjects, id).is_some_and(|counter| counter.load(Ordering::Acquire) <= since)
    }

    fn newest(&self) -> MutexGuard<'_, VecDeque<PostId>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, post: PostId) {
        let mut newest = self.newest();
        if newest.len() == CREATED {
            newest.pop_front();
        }
        newest.push_back(post);
        self.created.fetch_add(1, Ordering::AcqRel);
    }

    fn count_fans(&self, event: &Appended) {
        if concerns_every_fan(event.kind) {
            self.every_fan.fetch_add(1, Ordering::AcqRel);
        }
        // A subject that is no account shares a counter with some fan, which does no harm.
        for fan in event.actor.map(UserId::as_uuid).into_iter().chain([event.subject]) {
            self.count(fan);
        }
    }

    fn count(&self, fan: Uuid) {
        if let Some(counter) = counter(&self.fans, fan) {
            counter.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn mark_reader(&self, reader: Option<UserId>, number: u64) {
        if let Some(reader) = reader {
            self.mark(view_of(reader), number);
        }
    }

    fn mark(&self, id: Uuid, number: u64) {
        if let Some(counter) = counter(&self.subjects, id) {
            counter.fetch_max(number, Ordering::AcqRel);
        }
    }
}

fn counter(counters: &[AtomicU64], id: Uuid) -> Option<&AtomicU64> {
    // The last bytes of an id are random.
    let (_, last) = id.as_bytes().split_last_chunk()?;
    counters.get(usize::from(u16::from_be_bytes(*last)) % COUNTERS)
}

/// Whether events of a kind may change what fans have whom they do not name.
const fn concerns_every_fan(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::AccountDeleted
            | EventKind::AccountSuspended
            | EventKind::AccountRestored
            | EventKind::ContentChanged
            | EventKind::FollowsImported
            | EventKind::SeasonChanged
            | EventKind::RoundSoon
            | EventKind::RoundEnded
    )
}

/// The id under which the counter of what a reader sees is found, apart from that of the reader's posts.
fn view_of(reader: UserId) -> Uuid {
    Uuid::from_u128(!reader.as_uuid().as_u128())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind, subject: u128) -> Appended {
        Appended { kind, actor: None, subject: Uuid::from_u128(subject) }
    }

    fn post(id: u128) -> PostId {
        PostId::from_uuid(Uuid::from_u128(id))
    }

    fn account(id: u128) -> UserId {
        UserId::from_uuid(Uuid::from_u128(id))
    }

    #[test]
    fn a_change_concerns_its_post_and_no_other() {
        let changes = Changes::default();
        let before = changes.latest();
        changes.note(&[event(EventKind::ReactionChanged, 1), event(EventKind::PointsAwarded, 2)]);
        assert!(changes.latest() > before && changes.latest_of_feeds() > before);
        assert!(!changes.is_post_current(before, post(1), Some(account(9))));
        assert!(changes.is_post_current(before, post(2), Some(account(9))), "points change no post");
        assert!(
            changes.is_post_current(changes.latest(), post(1), Some(account(9))),
            "it was read after the change"
        );
    }

    #[test]
    fn a_profile_concerns_the_posts_of_its_account() {
        let changes = Changes::default();
        changes.note(&[event(EventKind::ProfileChanged, 9)]);
        assert!(!changes.is_post_current(0, post(1), Some(account(9))));
        assert!(changes.is_post_current(0, post(1), Some(account(8))));
        assert!(changes.is_post_current(0, post(1), None));
    }

    #[test]
    fn some_changes_concern_every_post() {
        for note in [
            |changes: &Changes| changes.note(&[event(EventKind::AccountSuspended, 9)]),
            |changes: &Changes| changes.note(&[event(EventKind::ContentChanged, 9)]),
            Changes::note_unknown,
        ] {
            let changes = Changes::default();
            note(&changes);
            assert!(!changes.is_post_current(0, post(1), None));
            assert!(changes.is_post_current(changes.latest(), post(1), None));
        }
    }

    #[test]
    fn a_reaction_concerns_its_post_and_what_its_reader_sees() {
        let changes = Changes::default();
        changes.note(&[Appended { actor: Some(account(8)), ..event(EventKind::ReactionChanged, 1) }]);
        assert!(!changes.is_post_current(0, post(1), None));
        assert!(
            changes.is_post_current(0, post(2), Some(account(8))),
            "a post by who reacted looks the same"
        );
        assert_eq!([7, 8].map(|id| changes.is_reader_current(0, account(id))), [true, false]);
        changes.note_unknown();
        assert!(!changes.is_reader_current(0, account(7)));
    }

    #[test]
    fn a_fan_is_concerned_by_events_that_name_the_fan_or_nobody() {
        let changes = Changes::default();
        let counts = || [7, 8, 9].map(|id| changes.count_of_fan(account(id)));
        changes.note(&[Appended { actor: Some(account(8)), ..event(EventKind::UserFollowed, 9) }]);
        assert_eq!(counts(), [0, 1, 1]);
        changes.note(&[Appended { actor: Some(account(7)), ..event(EventKind::PointsAwarded, 99) }]);
        assert_eq!(counts(), [1, 1, 1]);
        assert!(changes.is_post_current(0, post(7), Some(account(7))), "no post has changed");
        let latest = changes.latest();
        changes.note_fan(account(8));
        assert_eq!((counts(), changes.latest()), ([1, 2, 1], latest));
        changes.note(&[event(EventKind::SeasonChanged, 99)]);
        assert_eq!(counts(), [2, 3, 2]);
        changes.note_unknown();
        assert_eq!(counts(), [3, 4, 3]);
    }

    #[test]
    fn created_posts_are_remembered_in_their_order_until_they_are_many() {
        let changes = Changes::default();
        let created = |id| event(EventKind::PostCreated, id);
        changes.note(&[created(1), event(EventKind::PostEdited, 9), created(2)]);
        let known = changes.created();
        assert_eq!(changes.created_after(0), Some((vec![post(1), post(2)], 2)));
        assert_eq!(changes.created_after(known), Some((vec![], 2)));
        assert_eq!(changes.created_after(known + 1), None, "it is from another process");
        changes.note(&[created(3)]);
        assert_eq!(changes.created_after(known), Some((vec![post(3)], 3)));
        for id in 0..u128::try_from(CREATED).unwrap() {
            assert!(changes.created_after(known + 1).is_some());
            changes.note(&[created(id)]);
        }
        assert_eq!(changes.created_after(known), None);
        assert_eq!(changes.created_after(known + 1).unwrap().0.len(), CREATED);
        assert!(changes.is_order_current(0), "no post is shown again");
        changes.note(&[event(EventKind::AccountRestored, 8)]);
        assert!(!changes.is_order_current(0));
    }

    #[test]
    fn blocks_concern_pages_and_awards_do_not() {
        let changes = Changes::default();
        changes.note(&[event(EventKind::PointsAwarded, 1)]);
        assert_eq!((changes.latest(), changes.latest_of_feeds()), (1, 0));
        let block = Appended { actor: Some(account(8)), ..event(EventKind::UserBlocked, 9) };
        changes.note(&[block]);
        assert_eq!((changes.latest(), changes.latest_of_feeds()), (2, 2));
        assert!(changes.is_post_current(0, post(1), Some(account(1))));
        let current = |id| changes.is_reader_current(1, account(id));
        assert_eq!([7, 8, 9].map(current), [true, false, false]);
        assert!(changes.is_post_current(0, post(1), Some(account(8))), "posts look the same");
        changes.note(&[]);
        assert_eq!((changes.latest(), changes.latest_of_feeds()), (3, 2));
    }
}
