//! Removes pictures that nothing refers to any more, a day after they were seen so, and objects that no picture
//! lies in.

use crate::App;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::media::ObjectKey;
use crate::platform::CountExpired;
use crate::store::{Command, Query, into_infallible};
use crate::store::{ReadTx, Retention, Tx};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, Timestamp};

/// Rows that one transaction removes at most.
const PORTION: u32 = 200;
/// How long an unused picture stays, and how long an object may wait for the row that tells of it.
const UNUSED_STAY: Duration = Duration::from_hours(24);
/// Objects that are looked up at once.
const BATCH: usize = 200;

/// How much was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SweptMedia {
    /// Uploads that no post took.
    pub(crate) uploads: u64,
    /// Pictures that nothing referred to.
    pub(crate) pictures: u64,
    /// Objects that no picture lay in.
    pub(crate) objects: u64,
}

/// Which folders, by the first byte of hashes, a sweep looks through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shards {
    /// All.
    All,
    /// Two, others each time: in a day every folder has its turn, and no sweep lists everything.
    DueAt(Timestamp),
}

impl Shards {
    fn list(self) -> Vec<u8> {
        match self {
            Self::All => (0..=u8::MAX).collect(),
            Self::DueAt(now) => {
                let round = now.as_unix_millis() / 1000 / 600 * 2;
                [round, round + 1].map(u64::to_le_bytes).map(|[low, ..]| low).to_vec()
            }
        }
    }
}

impl App {
    /// Removes what is past its time, in small transactions.
    pub(crate) async fn sweep_media(
        &self,
        shards: Shards,
        pace: &TaskContext,
    ) -> Result<SweptMedia, TaskFailure> {
        let now = self.now();
        let before = now.minus(UNUSED_STAY);
        let mut swept = SweptMedia::default();
        if pace.is_dry() {
            let count = |what, before| self.query(CountExpired { what, before });
            swept.uploads = into_infallible(count(Retention::Uploads, now).await)?;
            swept.pictures = into_infallible(count(Retention::Pictures, before).await)?;
        } else {
            swept.uploads = pace.drain(self, PORTION, || Step::Uploads(now)).await?;
            pace.drain(self, PORTION, || Step::Unmark).await?;
            swept.pictures = self.remove_unused(before, pace).await?;
        }
        let shards = shards.list();
        pace.expect(u64::try_from(shards.len()).unwrap_or(u64::MAX));
        for shard in shards {
            // After the removal: what is noted now has its day before it.
            if !pace.is_dry() {
                pace.batch(self, MarkUnused { shard, now }).await?;
            }
            pace.go_on()?;
            swept.objects += self.sweep_shard(shard, before, pace).await?;
            pace.advance(1);
        }
        Ok(swept)
    }

    async fn remove_unused(&self, before: Timestamp, pace: &TaskContext) -> Result<u64, TaskFailure> {
        let mut all = 0;
        loop {
            let removed = pace.batch(self, RemoveUnused { before }).await?;
            for object in &removed {
                // Whoever fails here leaves an object without a picture, for the next sweep.
                self.media.delete(*object).await?;
            }
            if removed.is_empty() {
                return Ok(all);
            }
            all += u64::try_from(removed.len()).unwrap_or(u64::MAX);
        }
    }

    /// Removes the objects of one folder that were put before `before` and that no picture lies in.
    async fn sweep_shard(
        &self,
        shard: u8,
        before: Timestamp,
        pace: &TaskContext,
    ) -> Result<u64, TaskFailure> {
        let mut old = self.media.list(shard).await?;
        old.retain(|object| object.put_at().is_some_and(|at| at <= before));
        let mut removed = 0;
        for batch in old.chunks(BATCH) {
            let known = into_infallible(self.query(KnownObjects { objects: batch.to_vec() }).await)?;
            for object in batch.iter().filter(|object| !known.contains(object)) {
                if !pace.is_dry() {
                    self.media.delete(*object).await?;
                }
                removed += 1;
            }
        }
        Ok(removed)
    }
}

/// Does one portion.
#[derive(Clone, Copy)]
enum Step {
    /// Removes uploads that no post took in time.
    Uploads(Timestamp),
    /// Takes the note from what is used again.
    Unmark,
}

impl Command for Step {
    const NAME: &'static str = "sweep_media";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match *self {
            Self::Uploads(now) => tx.sweep_uploads(now, PORTION)?,
            Self::Unmark => tx.unmark_used_media(PORTION)?,
        })
    }
}

/// Notes what is unused in one folder.
struct MarkUnused {
    shard: u8,
    now: Timestamp,
}

impl Command for MarkUnused {
    const NAME: &'static str = "mark_unused_media";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(tx.mark_unused_media(self.shard, self.now)?)
    }
}

struct RemoveUnused {
    before: Timestamp,
}

impl Command for RemoveUnused {
    const NAME: &'static str = "remove_unused_media";
    type Output = Vec<ObjectKey>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<Vec<ObjectKey>, Infallible> {
        Ok(tx.remove_unused_media(self.before, PORTION)?)
    }
}

struct KnownObjects {
    objects: Vec<ObjectKey>,
}

impl Query for KnownObjects {
    const NAME: &'static str = "known_objects";
    type Output = Vec<ObjectKey>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Vec<ObjectKey>, Infallible> {
        Ok(tx.known_objects(&self.objects)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_day_every_folder_has_its_turn() {
        let day = (0..144_i64).map(|round| Timestamp::from_micros(round * 600_000_000));
        let mut seen: Vec<u8> = day.flat_map(|now| Shards::DueAt(now).list()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, Shards::All.list());
    }
}
