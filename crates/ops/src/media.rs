//! Removes pictures that have been unreferenced for a day, and objects without a picture row.

use crate::count_expired::CountExpired;
use crate::maintenance::{TaskContext, TaskFailure};
use std::convert::Infallible;
use std::time::Duration;
use terrace_app::App;
use terrace_app::media::ObjectKey;
use terrace_kernel::{Ctx, Outcome, Timestamp, num};
use terrace_store::media::{MediaRead, MediaWrite};
use terrace_store::{Command, Query, Retention, into_infallible};

/// Maximum number of rows removed by one transaction.
const PORTION: u32 = 200;
/// How long an unreferenced picture is kept, and how long an object may exist before its row is inserted.
const UNUSED_STAY: Duration = Duration::from_hours(24);
/// Objects looked up by one query.
const BATCH: usize = 200;

/// Counts of removed items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SweptMedia {
    /// Expired uploads that no post used.
    pub(crate) uploads: u64,
    /// Pictures that nothing referred to.
    pub(crate) pictures: u64,
    /// Objects without a picture row.
    pub(crate) objects: u64,
}

/// The folders, by first byte of the hash, that a sweep covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shards {
    /// All folders.
    All,
    /// Two folders, different ones every ten minutes: every folder is covered within a day, and no sweep lists
    /// everything.
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

/// Removes everything past its retention, in small transactions.
pub(crate) async fn sweep_media(
    app: &App,
    shards: Shards,
    pace: &TaskContext,
) -> Result<SweptMedia, TaskFailure> {
    let now = app.now();
    let before = now.minus(UNUSED_STAY);
    let mut swept = SweptMedia::default();
    if pace.is_dry() {
        let count = |what, before| app.query(CountExpired { what, before });
        swept.uploads = into_infallible(count(Retention::Uploads, now).await)?;
        swept.pictures = into_infallible(count(Retention::Pictures, before).await)?;
    } else {
        swept.uploads = pace.drain(app, PORTION, || SweepPortion::Uploads(now)).await?;
        pace.drain(app, PORTION, || SweepPortion::Unmark).await?;
        swept.pictures = remove_unused(app, before, pace).await?;
    }
    let shards = shards.list();
    pace.expect(num::to_u64(shards.len()));
    for shard in shards {
        // Marked after the removal, so that a picture marked now is kept for a full day.
        if !pace.is_dry() {
            pace.batch(app, MarkUnused { shard, now }).await?;
        }
        pace.go_on()?;
        swept.objects += sweep_shard(app, shard, before, pace).await?;
        pace.advance(1);
    }
    Ok(swept)
}

async fn remove_unused(app: &App, before: Timestamp, pace: &TaskContext) -> Result<u64, TaskFailure> {
    let mut all = 0;
    loop {
        let removed = pace.batch(app, RemoveUnused { before }).await?;
        for object in &removed {
            // If the deletion fails, the next sweep finds the object without a picture.
            app.media_store().delete(*object).await?;
        }
        if removed.is_empty() {
            return Ok(all);
        }
        all += num::to_u64(removed.len());
    }
}

/// Removes the objects of one folder that were stored before `before` and have no picture row.
async fn sweep_shard(
    app: &App,
    shard: u8,
    before: Timestamp,
    pace: &TaskContext,
) -> Result<u64, TaskFailure> {
    let mut old = app.media_store().list(shard).await?;
    old.retain(|object| object.put_at().is_some_and(|at| at <= before));
    let mut removed = 0;
    for batch in old.chunks(BATCH) {
        let known = into_infallible(app.query(KnownObjects { objects: batch.to_vec() }).await)?;
        for object in batch.iter().filter(|object| !known.contains(object)) {
            if !pace.is_dry() {
                app.media_store().delete(*object).await?;
            }
            removed += 1;
        }
    }
    Ok(removed)
}

/// Processes one portion.
#[derive(Clone, Copy)]
enum SweepPortion {
    /// Removes expired uploads that no post used.
    Uploads(Timestamp),
    /// Removes the mark from pictures that are referenced again.
    Unmark,
}

impl Command for SweepPortion {
    const NAME: &'static str = "sweep_media";
    type Ports = dyn MediaWrite;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn MediaWrite, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(match *self {
            Self::Uploads(now) => tx.sweep_uploads(now, PORTION)?,
            Self::Unmark => tx.unmark_used_media(PORTION)?,
        })
    }
}

/// Marks the unreferenced pictures of one folder.
struct MarkUnused {
    shard: u8,
    now: Timestamp,
}

impl Command for MarkUnused {
    const NAME: &'static str = "mark_unused_media";
    type Ports = dyn MediaWrite;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn MediaWrite, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        Ok(tx.mark_unused_media(self.shard, self.now)?)
    }
}

struct RemoveUnused {
    before: Timestamp,
}

impl Command for RemoveUnused {
    const NAME: &'static str = "remove_unused_media";
    type Ports = dyn MediaWrite;
    type Output = Vec<ObjectKey>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn MediaWrite, _ctx: &mut Ctx) -> Outcome<Vec<ObjectKey>, Infallible> {
        Ok(tx.remove_unused_media(self.before, PORTION)?)
    }
}

struct KnownObjects {
    objects: Vec<ObjectKey>,
}

impl Query for KnownObjects {
    const NAME: &'static str = "known_objects";
    type Ports = dyn MediaRead;
    type Output = Vec<ObjectKey>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn MediaRead, _now: Timestamp) -> Outcome<Vec<ObjectKey>, Infallible> {
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
