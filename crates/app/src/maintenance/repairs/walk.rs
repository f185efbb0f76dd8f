//! The walk that the tasks have in common.

use crate::maintenance::AdaptiveBatch;
use crate::maintenance::{CountRows, Counts, Extent, TaskFailure, Work};
use crate::store::{Command, Query};
use crate::store::{ReadTx, Tx};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId, Uuid};

/// Accounts that one query looks at.
const PORTION: u32 = 1_000;

/// What one look came to.
pub(super) struct Looked {
    /// How many rows were looked at.
    pub(super) rows: u64,
    /// The last of them: the next look begins behind it.
    pub(super) last: Uuid,
    /// Those that look wrong, in the order of their ids.
    pub(super) suspects: Vec<Uuid>,
}

/// What a task looks for and how it mends that.
pub(super) trait Repair: Clone + Send + Sync + 'static {
    /// What it is called in metrics and logs.
    const NAME: &'static str;
    /// Whether boards show something of what it mends.
    const AFFECTS_LEADERBOARD: bool = false;
    /// Suspects that one transaction holds at most.
    const HELD: usize = 200;

    /// Looks at the next rows behind `after`; nothing where there are none.
    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        now: Timestamp,
    ) -> Result<Option<Looked>, StoreError>;

    /// Holds the suspects, looks at them again and mends what is wrong; says how much of what it wrote.
    fn settle(&self, tx: &mut dyn Tx, ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError>;
}

/// The same of everything that belongs to accounts.
pub(super) async fn walk_fans<M: Repair>(work: &Work, mending: M) -> Result<(), TaskFailure> {
    work.expect(work.ask(CountRows(Extent::Accounts)).await?);
    walk(work, mending).await
}

/// Looks through everything, and settles what is suspected.
pub(super) async fn walk<M: Repair>(work: &Work, mending: M) -> Result<(), TaskFailure> {
    let look = |after| work.ask(Look { mending: mending.clone(), after });
    let mut stride = AdaptiveBatch::up_to(M::HELD);
    let mut found = look(None).await?;
    while let Some(looked) = found {
        // What is suspected is looked at again while it is held: the next may be looked at meanwhile.
        let command = |suspects| Settle { mending: mending.clone(), suspects };
        let settled = work.settle(&mut stride, &looked.suspects, command);
        let (settled, next) = tokio::join!(settled, look(Some(looked.last)));
        settled?;
        work.advance(looked.rows);
        found = next?;
    }
    Ok(())
}

struct Look<M> {
    mending: M,
    after: Option<Uuid>,
}

impl<M: Repair> Query for Look<M> {
    const NAME: &'static str = M::NAME;
    type Output = Option<Looked>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Option<Looked>, Infallible> {
        Ok(self.mending.look(tx, self.after, now)?)
    }
}

struct Settle<M> {
    mending: M,
    suspects: Vec<Uuid>,
}

impl<M: Repair> Command for Settle<M> {
    const NAME: &'static str = M::NAME;
    type Output = Counts;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = M::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Counts, Infallible> {
        Ok(self.mending.settle(tx, ctx, &self.suspects)?)
    }
}

/// A look at the next accounts, those of which `suspects` finds something between the first and the last of them.
pub(super) fn look_at_fans(
    tx: &mut dyn ReadTx,
    after: Option<Uuid>,
    suspects: impl FnOnce(&mut dyn ReadTx, UserId, UserId) -> Result<Vec<UserId>, StoreError>,
) -> Result<Option<Looked>, StoreError> {
    let fans = tx.fans_after(after.map(UserId::from_uuid), PORTION)?;
    let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(None) };
    let mut suspects: Vec<Uuid> = suspects(tx, *first, *last)?.into_iter().map(UserId::as_uuid).collect();
    suspects.sort_unstable();
    suspects.dedup();
    Ok(Some(Looked { rows: tally(fans.len()), last: last.as_uuid(), suspects }))
}

/// A look that finds suspects at once, in the order of their ids.
pub(super) fn look_at_found(found: Vec<UserId>) -> Option<Looked> {
    let suspects: Vec<Uuid> = found.into_iter().map(UserId::as_uuid).collect();
    let last = suspects.last().copied()?;
    Some(Looked { rows: tally(suspects.len()), last, suspects })
}

/// The suspects as fans.
pub(super) fn fans(suspects: &[Uuid]) -> Vec<UserId> {
    suspects.iter().copied().map(UserId::from_uuid).collect()
}

/// Fans whom the transaction holds.
pub(super) struct Held {
    /// In the order of their ids.
    pub(super) fans: Vec<UserId>,
    pub(super) first: UserId,
    pub(super) last: UserId,
}

impl Held {
    /// Whether this is one of them, and not somebody between them.
    pub(super) fn contains(&self, user: UserId) -> bool {
        self.fans.binary_search(&user).is_ok()
    }
}

/// Holds the suspects, before anything of theirs is read: whoever writes something of theirs has, or waits. Nothing where
/// there are none.
pub(super) fn hold(tx: &mut dyn Tx, suspects: &[Uuid]) -> Result<Option<Held>, StoreError> {
    let fans = fans(suspects);
    let (Some(first), Some(last)) = (fans.first().copied(), fans.last().copied()) else { return Ok(None) };
    tx.hold_fans(&fans)?;
    Ok(Some(Held { fans, first, last }))
}

/// Adds to what was written of a kind.
pub(super) fn count(counts: &mut Counts, kind: &'static str, rows: u64) {
    if rows > 0 {
        let all = counts.entry(kind).or_default();
        *all = all.saturating_add(rows);
    }
}

/// A number of rows.
pub(super) fn tally(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
