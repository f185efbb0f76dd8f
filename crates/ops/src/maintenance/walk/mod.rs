//! One walk through rows that are derived from others, for verification and for repair.
//!
//! Rows are scanned in the order of their keys, a page per query. A difference found there may be a change that was
//! committed between two statements. So each suspect is checked again in a transaction that holds the locks involved,
//! and only differences that remain are reported and repaired. Other writers wait for the rows of one such transaction
//! at most. Verification is a dry run: its transactions are rolled back.

mod adaptive_batch;
mod report;

pub use report::{CheckReport, WalkReport};

use crate::maintenance::{TaskContext, TaskFailure};
use adaptive_batch::AdaptiveBatch;
use std::collections::BTreeMap;
use std::convert::Infallible;
use terrace_app::App;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId, num};
use terrace_store::{Command, OpsReadTx, OpsTx, Query, into_infallible};

/// Rows that are derived from others: how wrong ones are found and repaired.
pub(crate) trait Derived: Clone + Send + Sync + 'static {
    /// Name in metrics and logs.
    const NAME: &'static str;
    /// Whether the repair is visible on leaderboards.
    const AFFECTS_LEADERBOARD: bool = false;
    /// Maximum number of rows that one query checks.
    const PAGE: u32 = 1_000;
    /// Maximum number of suspects that one transaction locks.
    const HELD: usize = 200;
    /// Checks that the report lists even if they find nothing.
    const CHECKS: &'static [Self::Check] = &[];
    /// Key of the scanned rows.
    type Key: Copy + Send + Sync + 'static;
    /// What faults are reported by; [`Infallible`] if only written rows are counted.
    type Check: Copy + Ord + Send + Sync + 'static;

    /// Checks the rows of a page; `None` after the last row.
    fn look(&self, page: Page<'_, Self::Key>) -> Looked<Self::Key, Self::Check>;

    /// Locks the suspects, in ascending order of key, checks them again, and repairs them.
    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[Self::Key]) -> Settled<Self::Check>;
}

/// Result of [`Derived::look`].
pub(crate) type Looked<K, C = Infallible> = Result<Option<Portion<K, C>>, StoreError>;
/// Result of [`Derived::settle`].
pub(crate) type Settled<C = Infallible> = Result<WalkReport<C>, StoreError>;

/// The rows that one query checks.
pub(crate) struct Page<'t, K> {
    pub(crate) tx: &'t mut dyn OpsReadTx,
    /// The rows start after this key.
    pub(crate) after: Option<K>,
    /// Maximum number of rows.
    pub(crate) limit: u32,
    pub(crate) now: Timestamp,
}

/// Result of checking one page.
pub(crate) struct Portion<K, C = Infallible> {
    /// Number of rows checked.
    pub(crate) rows: u64,
    /// Last row checked: the next page starts after it.
    pub(crate) last: K,
    /// Rows that appear to be wrong, in ascending order of key.
    pub(crate) suspects: Vec<K>,
    /// Number of rows by check.
    pub(crate) checked: BTreeMap<C, u64>,
}

impl<K: Copy, C> Portion<K, C> {
    /// A portion whose rows are not counted by check.
    pub(crate) fn new(rows: u64, last: K, suspects: Vec<K>) -> Self {
        Self { rows, last, suspects, checked: BTreeMap::new() }
    }

    /// A portion from a query that returns suspects only; `None` if there are none.
    pub(crate) fn of_suspects(suspects: Vec<K>) -> Option<Self> {
        let last = *suspects.last()?;
        Some(Self::new(num::to_u64(suspects.len()), last, suspects))
    }
}

impl<K, C: Ord> Portion<K, C> {
    /// Adds the audit of one row.
    pub(crate) fn audited(&mut self, key: K, checked: BTreeMap<C, u64>, is_wrong: bool) {
        for (check, count) in checked {
            *self.checked.entry(check).or_default() += count;
        }
        self.suspects.extend(is_wrong.then_some(key));
    }
}

impl Page<'_, UserId> {
    /// Checks the next accounts: `suspects` returns the suspects between the first and the last of them.
    pub(crate) fn fans<C>(
        self,
        suspects: impl FnOnce(&mut dyn OpsReadTx, UserId, UserId) -> Result<Vec<UserId>, StoreError>,
    ) -> Looked<UserId, C> {
        self.audit_fans(|tx, portion, first, last| {
            portion.suspects = suspects(tx, first, last)?;
            Ok(())
        })
    }

    /// Same as [`Self::fans`], for a check that also counts the rows that it checks.
    pub(crate) fn audit_fans<C>(
        self,
        check: impl FnOnce(&mut dyn OpsReadTx, &mut Portion<UserId, C>, UserId, UserId) -> Result<(), StoreError>,
    ) -> Looked<UserId, C> {
        let fans = self.tx.fans_after(self.after, self.limit)?;
        let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(None) };
        let mut portion = Portion::new(num::to_u64(fans.len()), *last, Vec::new());
        check(self.tx, &mut portion, *first, *last)?;
        portion.suspects.sort_unstable();
        portion.suspects.dedup();
        Ok(Some(portion))
    }
}

/// Scans all rows and repairs the wrong ones; a dry run only reports them. May be stopped and run again at any time,
/// also concurrently with itself and with other writers.
pub(crate) async fn walk<D: Derived>(
    app: &App,
    pace: &TaskContext,
    derived: D,
) -> Result<WalkReport<D::Check>, TaskFailure> {
    let mut report = WalkReport::of(D::CHECKS);
    let look = async |after| {
        pace.go_on()?;
        let look = Look { derived: derived.clone(), after };
        Ok::<_, TaskFailure>(into_infallible(app.query(look).await)?)
    };
    let mut batch = AdaptiveBatch::up_to(D::HELD);
    let mut found = look(None).await?;
    while let Some(portion) = found {
        for (check, rows) in portion.checked {
            report.count(check, rows);
        }
        // Suspects are checked again under a lock, so the next page may be read meanwhile.
        let settled = settle(app, pace, &derived, &mut batch, &portion.suspects, &mut report);
        let (settled, next) = tokio::join!(settled, look(Some(portion.last)));
        settled?;
        pace.advance(portion.rows);
        found = next?;
    }
    Ok(report)
}

/// Settles suspects in transactions of adaptive size.
async fn settle<D: Derived>(
    app: &App,
    pace: &TaskContext,
    derived: &D,
    batch: &mut AdaptiveBatch,
    suspects: &[D::Key],
    report: &mut WalkReport<D::Check>,
) -> Result<(), TaskFailure> {
    let mut rest = suspects;
    while !rest.is_empty() {
        let (held, more) = batch.step(rest);
        let settle = Settle { derived: derived.clone(), suspects: held.to_vec() };
        let (outcome, took) = pace.carry_out(app, settle).await?;
        let settled = match outcome {
            Ok(settled) => settled,
            Err(never) => match never {},
        };
        for (kind, rows) in &settled.written {
            pace.count(kind, *rows);
        }
        report.merge(settled);
        batch.took(took);
        rest = more;
    }
    Ok(())
}

struct Look<D: Derived> {
    derived: D,
    after: Option<D::Key>,
}

impl<D: Derived> Query for Look<D> {
    const NAME: &'static str = D::NAME;
    type Ports = dyn OpsReadTx;
    type Output = Option<Portion<D::Key, D::Check>>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(self.derived.look(Page { tx, after: self.after, limit: D::PAGE, now })?)
    }
}

struct Settle<D: Derived> {
    derived: D,
    suspects: Vec<D::Key>,
}

impl<D: Derived> Command for Settle<D> {
    const NAME: &'static str = D::NAME;
    type Ports = dyn OpsTx;
    type Output = WalkReport<D::Check>;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = D::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        Ok(self.derived.settle(tx, ctx, &self.suspects)?)
    }
}

/// Fans that the transaction has locked.
pub(crate) struct Held<'a> {
    /// In ascending order of id.
    pub(crate) fans: &'a [UserId],
    pub(crate) first: UserId,
    pub(crate) last: UserId,
}

impl Held<'_> {
    /// Whether the fan is locked, and not merely within the range of ids.
    pub(crate) fn contains(&self, user: UserId) -> bool {
        self.fans.binary_search(&user).is_ok()
    }
}

/// Locks fans before any of their rows is read, so that other writers have finished or wait. `None` if there are no
/// fans.
pub(crate) fn hold<'a>(tx: &mut dyn OpsTx, fans: &'a [UserId]) -> Result<Option<Held<'a>>, StoreError> {
    let (Some(first), Some(last)) = (fans.first().copied(), fans.last().copied()) else { return Ok(None) };
    tx.hold_fans(fans)?;
    Ok(Some(Held { fans, first, last }))
}
