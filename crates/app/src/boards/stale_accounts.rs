//! Accounts with committed writes that the boards in memory may not show yet.
//!
//! A command that affects leaderboards waits after its commit until the boards show its effect. If that wait times
//! out or is cancelled because the client disconnected, the affected accounts are noted here. Readers with a note
//! wait when they read a board; other readers do not.

use crate::boards::affects_leaderboard;
use moka::ops::compute::Op;
use moka::sync::Cache;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Appended, UserId};

/// Capacity of the notes.
const MOST: u64 = 50_000;
/// Lifetime of a note. Boards that lag further behind are no reason to delay every request of a reader.
const LIFE: Duration = Duration::from_mins(1);
/// A command that affects more accounts than this is noted as affecting every reader.
const MANY: usize = 64;

/// A reader whose view of the boards a command affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AffectedReader {
    /// One account.
    Account(UserId),
    /// Every reader, for example when a season starts or an account is suspended.
    Everybody,
}

impl AffectedReader {
    /// The readers affected by these events, without duplicates.
    pub(crate) fn by(appended: &[Appended]) -> Vec<Self> {
        let mut concerned: Vec<Self> = Vec::new();
        for event in appended.iter().filter(|event| affects_leaderboard(event.kind)) {
            let one = event.actor.map_or(Self::Everybody, Self::Account);
            if !concerned.contains(&one) {
                concerned.push(one);
            }
            if concerned.len() > MANY {
                return vec![Self::Everybody];
            }
        }
        concerned
    }
}

/// The notes by affected reader.
pub(crate) struct StaleAccounts(Cache<AffectedReader, Arc<()>>);

impl Default for StaleAccounts {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MOST).time_to_live(LIFE).build())
    }
}

/// A note, distinguished from later notes with the same key by its pointer.
pub(crate) type StaleNote = (AffectedReader, Arc<()>);

impl StaleAccounts {
    /// The notes that apply to a reader.
    pub(crate) fn of(&self, reader: Option<UserId>) -> Vec<StaleNote> {
        let names = reader.map(AffectedReader::Account).into_iter().chain([AffectedReader::Everybody]);
        names.filter_map(|name| Some((name, self.0.get(&name)?))).collect()
    }

    /// Removes these notes, except those that were renewed in the meantime.
    pub(crate) fn remove(&self, noted: Vec<StaleNote>) {
        for (name, mark) in noted {
            self.0.entry(name).and_compute_with(|kept| match kept {
                Some(kept) if Arc::ptr_eq(kept.value(), &mark) => Op::Remove,
                Some(_) | None => Op::Nop,
            });
        }
    }
}

/// Guard that notes the accounts when it is dropped, unless they were cleared before.
pub(crate) struct Note<'a> {
    pub(crate) stale: &'a StaleAccounts,
    pub(crate) concerned: Vec<AffectedReader>,
}

impl Drop for Note<'_> {
    fn drop(&mut self) {
        for name in self.concerned.drain(..) {
            self.stale.0.insert(name, Arc::new(()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::{EventKind, Uuid};

    fn fan(number: u128) -> UserId {
        UserId::from_uuid(Uuid::from_u128(number))
    }

    fn appended(kind: EventKind, actor: Option<UserId>) -> Appended {
        Appended { kind, actor, subject: Uuid::nil() }
    }

    #[test]
    fn a_command_concerns_those_whose_lines_it_changes() {
        let events = [
            appended(EventKind::PointsAwarded, Some(fan(1))),
            appended(EventKind::PostCreated, Some(fan(2))),
            appended(EventKind::ScoreChanged, Some(fan(1))),
        ];
        assert_eq!(AffectedReader::by(&events), [AffectedReader::Account(fan(1))]);
        assert_eq!(
            AffectedReader::by(&[appended(EventKind::SeasonChanged, None)]),
            [AffectedReader::Everybody]
        );
        let many: Vec<_> = (0..100).map(|n| appended(EventKind::PointsAwarded, Some(fan(n)))).collect();
        assert_eq!(AffectedReader::by(&many), [AffectedReader::Everybody]);
    }

    #[test]
    fn a_note_concerns_its_reader_until_it_is_struck_out() {
        let stale = StaleAccounts::default();
        let note = |concerned| drop(Note { stale: &stale, concerned });
        note(vec![AffectedReader::Account(fan(1))]);
        assert!(stale.of(None).is_empty() && stale.of(Some(fan(2))).is_empty());
        let noted = stale.of(Some(fan(1)));
        assert_eq!(noted.len(), 1);
        // A note that was renewed in the meantime stays.
        note(vec![AffectedReader::Account(fan(1))]);
        stale.remove(noted);
        let noted = stale.of(Some(fan(1)));
        assert_eq!(noted.len(), 1);
        stale.remove(noted);
        assert!(stale.of(Some(fan(1))).is_empty());
        note(vec![AffectedReader::Everybody]);
        assert_eq!((stale.of(None).len(), stale.of(Some(fan(2))).len()), (1, 1));
        note(Vec::new());
        assert_eq!(stale.of(None).len(), 1);
    }
}
