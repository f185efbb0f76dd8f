//! The scan that all repair tasks share.

use crate::maintenance::{AdaptiveBatch, CountRows, Counts, Extent, TaskFailure, Work};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId, Uuid, num};
use terrace_store::{Command, Query, ReadTx, Tx};

/// Accounts that one query checks.
const PORTION: u32 = 1_000;

/// Result of checking one portion.
pub(super) struct CheckedPortion {
    /// Number of rows checked.
    pub(super) rows: u64,
    /// Last row checked: the next portion starts after it.
    pub(super) last: Uuid,
    /// Rows that appear to be wrong, in ascending order of id.
    pub(super) suspects: Vec<Uuid>,
}

/// What a repair task looks for and how it repairs it.
pub(super) trait Repair: Clone + Send + Sync + 'static {
    /// Name in metrics and logs.
    const NAME: &'static str;
    /// Whether the repair is visible on leaderboards.
    const AFFECTS_LEADERBOARD: bool = false;
    /// Maximum number of suspects that one transaction locks.
    const HELD: usize = 200;

    /// Checks the next rows after `after`; `None` if there are none.
    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        now: Timestamp,
    ) -> Result<Option<CheckedPortion>, StoreError>;

    /// Locks the suspects, checks them again and repairs them; returns the number of written rows by kind.
    fn settle(&self, tx: &mut dyn Tx, ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError>;
}

/// Same as [`walk`], for repairs that scan accounts: reports progress by the number of accounts.
pub(super) async fn walk_fans<M: Repair>(work: &Work, repair: M) -> Result<(), TaskFailure> {
    work.expect(work.ask(CountRows(Extent::Accounts)).await?);
    walk(work, repair).await
}

/// Scans all rows and repairs suspects.
pub(super) async fn walk<M: Repair>(work: &Work, repair: M) -> Result<(), TaskFailure> {
    let look = |after| work.ask(Look { repair: repair.clone(), after });
    let mut stride = AdaptiveBatch::up_to(M::HELD);
    let mut found = look(None).await?;
    while let Some(looked) = found {
        // Suspects are checked again under a lock, so the next portion may be read meanwhile.
        let command = |suspects| Settle { repair: repair.clone(), suspects };
        let settled = work.settle(&mut stride, &looked.suspects, command);
        let (settled, next) = tokio::join!(settled, look(Some(looked.last)));
        settled?;
        work.advance(looked.rows);
        found = next?;
    }
    Ok(())
}

struct Look<M> {
    repair: M,
    after: Option<Uuid>,
}

impl<M: Repair> Query for Look<M> {
    const NAME: &'static str = M::NAME;
    type Ports = dyn ReadTx;
    type Output = Option<CheckedPortion>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Option<CheckedPortion>, Infallible> {
        Ok(self.repair.look(tx, self.after, now)?)
    }
}

struct Settle<M> {
    repair: M,
    suspects: Vec<Uuid>,
}

impl<M: Repair> Command for Settle<M> {
    const NAME: &'static str = M::NAME;
    type Ports = dyn Tx;
    type Output = Counts;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = M::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Counts, Infallible> {
        Ok(self.repair.settle(tx, ctx, &self.suspects)?)
    }
}

/// Checks the next accounts: `suspects` returns the suspects between the first and the last of them.
pub(super) fn check_fans(
    tx: &mut dyn ReadTx,
    after: Option<Uuid>,
    suspects: impl FnOnce(&mut dyn ReadTx, UserId, UserId) -> Result<Vec<UserId>, StoreError>,
) -> Result<Option<CheckedPortion>, StoreError> {
    let fans = tx.fans_after(after.map(UserId::from_uuid), PORTION)?;
    let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(None) };
    let mut suspects: Vec<Uuid> = suspects(tx, *first, *last)?.into_iter().map(UserId::as_uuid).collect();
    suspects.sort_unstable();
    suspects.dedup();
    Ok(Some(CheckedPortion { rows: num::to_u64(fans.len()), last: last.as_uuid(), suspects }))
}

/// A portion from a query that returns suspects only, in ascending order of id.
pub(super) fn into_portion(found: Vec<UserId>) -> Option<CheckedPortion> {
    let suspects: Vec<Uuid> = found.into_iter().map(UserId::as_uuid).collect();
    let last = suspects.last().copied()?;
    Some(CheckedPortion { rows: num::to_u64(suspects.len()), last, suspects })
}

/// Converts the ids of suspects to ids of fans.
pub(super) fn fans(suspects: &[Uuid]) -> Vec<UserId> {
    suspects.iter().copied().map(UserId::from_uuid).collect()
}

/// Fans that the transaction has locked.
pub(super) struct Held {
    /// In ascending order of id.
    pub(super) fans: Vec<UserId>,
    pub(super) first: UserId,
    pub(super) last: UserId,
}

impl Held {
    /// Whether the fan is locked, and not merely within the range of ids.
    pub(super) fn contains(&self, user: UserId) -> bool {
        self.fans.binary_search(&user).is_ok()
    }
}

/// Locks the suspects before any of their rows is read, so that other writers have finished or wait. `None` if there
/// are no suspects.
pub(super) fn hold(tx: &mut dyn Tx, suspects: &[Uuid]) -> Result<Option<Held>, StoreError> {
    let fans = fans(suspects);
    let (Some(first), Some(last)) = (fans.first().copied(), fans.last().copied()) else { return Ok(None) };
    tx.hold_fans(&fans)?;
    Ok(Some(Held { fans, first, last }))
}

/// Adds to the number of written rows of a kind.
pub(super) fn count(counts: &mut Counts, kind: &'static str, rows: u64) {
    if rows > 0 {
        let all = counts.entry(kind).or_default();
        *all = all.saturating_add(rows);
    }
}
