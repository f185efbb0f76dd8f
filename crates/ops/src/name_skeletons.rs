//! Backfills name skeletons for usernames that were stored before skeletons existed, and for imported usernames.

use crate::maintenance::{TaskContext, TaskFailure};
use std::convert::Infallible;
use std::time::Duration;
use terrace_app::App;
use terrace_app::platform::Job;
use terrace_identity::{AccountWrite, Username};
use terrace_kernel::{Ctx, Outcome, UserId};
use terrace_store::Command;

/// Name of the task and of the job.
pub(crate) const NAME: &str = "backfill-name-skeletons";
/// Interval between two scans for names without a skeleton; a partial index finds them.
const EVERY: Duration = Duration::from_hours(1);
/// Maximum number of names filled in by one transaction.
const PORTION: u32 = 200;

/// The job that backfills missing skeletons.
pub(crate) fn job() -> Job {
    Job::new(NAME, EVERY, |app| async move {
        let filled =
            fill_name_skeletons(&app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)?;
        if filled.names > 0 {
            log::info!(
                "{NAME} filled in {} names; {} look like an earlier name",
                filled.names,
                filled.clashes
            );
        }
        Ok(())
    })
}

/// Counts of processed names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FilledSkeletons {
    /// Names that have a skeleton now.
    pub(crate) names: u64,
    /// Names that still have none, because another account has the same skeleton.
    pub(crate) clashes: u64,
}

/// Fills in every missing skeleton. Of two look-alike names the earlier one gets the skeleton.
pub(crate) async fn fill_name_skeletons(
    app: &App,
    pace: &TaskContext,
) -> Result<FilledSkeletons, TaskFailure> {
    let mut all = FilledSkeletons::default();
    let mut after = None;
    while let Some((filled, last)) = pace.batch(app, FillNameSkeletons { after }).await? {
        all.names += filled.names;
        all.clashes += filled.clashes;
        pace.advance(filled.names + filled.clashes);
        after = Some(last);
    }
    Ok(all)
}

/// Fills in the next names after `after` and returns the last of them; `None` if there are no more. If a concurrent
/// registration takes the same skeleton, the transaction fails and the next run repeats it.
struct FillNameSkeletons {
    after: Option<UserId>,
}

impl Command for FillNameSkeletons {
    const NAME: &'static str = "fill_name_skeletons";
    type Ports = dyn AccountWrite;
    type Output = Option<(FilledSkeletons, UserId)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn AccountWrite, _ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        let mut filled = FilledSkeletons::default();
        let mut last = None;
        for (id, key) in tx.names_without_skeleton(self.after, PORTION)? {
            if tx.set_name_skeleton(id, &Username::skeleton_of(&key))? {
                filled.names += 1;
            } else {
                filled.clashes += 1;
            }
            last = Some(id);
        }
        Ok(last.map(|last| (filled, last)))
    }
}
