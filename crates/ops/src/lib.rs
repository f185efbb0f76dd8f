//! Operation of the service outside the request path: maintenance, verification and repair, imports, and the upkeep
//! that runs on a schedule. Everything here is a function of an [`App`](terrace_app::App).

mod balances;
pub mod content;
mod count_expired;
#[cfg(test)]
mod hostile;
mod housekeeping;
mod import;
pub mod maintenance;
mod media;
mod minting;
mod name_skeletons;
mod on_demand;
pub mod operator_report;
mod points;
mod purchases;
mod quests;
mod repairs;
pub mod reports;
mod search;
pub mod tasks;
mod topics;
mod upkeep;
mod verify;

pub use balances::{LedgerReport, repair_ledger, verify_ledger};
pub use housekeeping::{Swept, sweep};
pub use import::{
    COMPLETIONS_BATCH, Completion, CompletionsImported, Edge, EdgeListError, FileLine, IMPORT_BATCH,
    Imported, Line, LineFaults, Lines, NotMatched, WhyNotMatched, import_completions, import_follows, legacy,
};
pub use maintenance::{CheckReport, WalkReport, yield_to_writers};
pub use minting::{MintingRetried, mint_earlier, retry_minting};
pub use points::{PointsReport, repair_points, sync_leaderboards, verify_points};
pub use purchases::{reconcile, reconcile_purchases};
pub use quests::sync_quests;
pub use topics::backfill_topics;
pub use upkeep::Upkeep;
pub use verify::Verify;

use terrace_app::Job;
use terrace_kernel::{Page, StoreError};

/// Reads a list to its end; `page` returns the rows after a key.
fn all_pages<T>(
    mut page: impl FnMut(Option<&str>) -> Result<Page<T, String>, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let Page { items, next } = page(after.as_deref())?;
        all.extend(items);
        if next.is_none() {
            return Ok(all);
        }
        after = next;
    }
}

/// The jobs of this crate.
pub fn jobs() -> Vec<Job> {
    let mut jobs = housekeeping::jobs();
    jobs.push(topics::job());
    jobs.push(name_skeletons::job());
    jobs.push(search::job());
    jobs.extend(points::jobs());
    jobs.push(balances::job());
    jobs.push(quests::SYNC_JOB.job());
    jobs.push(purchases::RECONCILE_JOB.job());
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_has_a_name_of_its_own() {
        let all = || terrace_app::jobs().into_iter().chain(jobs());
        let names: std::collections::HashSet<_> = all().map(|job| job.name()).collect();
        assert_eq!(names.len(), all().count());
    }
}
