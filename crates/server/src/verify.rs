//! `terrace maintain verify`: compares derived rows with their sources.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::{LedgerCheck, PointsCheck, into_infallible};
use terrace_ops::Verify;

pub(crate) async fn verify(settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = Arc::new(ready_app(&settings, &storage).await?);
    let checks = into_infallible(app.query(Verify).await)?;
    // Concurrently: each is a dry run, in batches.
    let (points, ledger, rows) = tokio::try_join!(
        terrace_ops::verify_points(&app),
        terrace_ops::verify_ledger(&app),
        terrace_ops::tasks::verify_rows(&app)
    )?;
    storage.close();
    for check in &checks {
        report::line(&report::counter(check))?;
    }
    for line in points.lines(PointsCheck::as_str).iter().chain(&ledger.lines(LedgerCheck::as_str)) {
        report::line(line)?;
    }
    for ran in &rows {
        report::line(&report::pending_repairs(ran))?;
    }
    let pending_repairs: u64 = rows.iter().flat_map(|ran| ran.counts.values()).sum();
    let wrong: u64 = checks.iter().map(|check| check.wrong).sum();
    if points.wrong() > 0 {
        report::line(&format!(
            "{} rows disagree with the ledger of points; `terrace maintain repair` makes them right",
            points.wrong()
        ))?;
    }
    if ledger.wrong() > 0 {
        report::line(&format!(
            "{} balances disagree with the journal; `terrace maintain repair` makes them right",
            ledger.wrong()
        ))?;
    }
    if wrong > 0 {
        report::line(&format!(
            "{wrong} counters disagree with what they count; `terrace maintain repair` makes them right, and \
             `terrace maintain run sweep-blocked-follows` ends follows beside blocks"
        ))?;
    }
    if pending_repairs > 0 {
        report::line(&format!("{pending_repairs} rows need repair; run `terrace maintain repair`"))?;
    }
    if wrong > 0 || points.wrong() > 0 || ledger.wrong() > 0 || pending_repairs > 0 {
        return Ok(ExitCode::FAILURE);
    }
    report::line("every counter agrees with what it counts")?;
    Ok(ExitCode::SUCCESS)
}
