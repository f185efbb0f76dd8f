//! Spec §1 rule 13: data that no request can need any more is removed, by tasks and by jobs, and nothing
//! else.

use super::jobs::turn;
use super::legacy::{agrees, check, files, import, sources};
use super::payments::{begin, notice, paid_shop, send_notice};
use super::repairs::repair_counts;
use anyhow::{Context, Result};
use std::io;
use std::time::Duration;
use terrace_testkit::app::payments::NoticeKind;
use terrace_testkit::app::{Job, Turn};
use terrace_testkit::kernel::{Clock, Timestamp, Uuid};
use terrace_testkit::ops;
use terrace_testkit::ops::legacy::{ImportId, LegacyError, LegacyProgress, import_id};
use terrace_testkit::ops::maintenance::{MaintenanceHistory, RunOutcome, RunRecord};
use terrace_testkit::{DatabaseKind, TestApp, jobs, on_each_database};

on_each_database! {
    spec_1_rule_13_the_journal_keeps_recent_runs_and_the_last_of_each_task,
    spec_1_rule_13_staged_rows_of_an_import_are_removed_after_a_week,
    an_abandoned_import_starts_again,
    an_import_that_stages_for_longer_than_a_week_is_kept,
    notices_and_imports_are_swept_by_jobs_under_a_lease,
}

const DAY: Duration = Duration::from_hours(24);

/// Records a run of a task that began now.
fn noted(service: &TestApp, task: &str, outcome: RunOutcome) {
    let task = task.to_owned();
    service.write(move |tx, ctx| {
        let run = RunRecord {
            id: ctx.new_id(),
            holder: Uuid::from_u128(1),
            task: task.clone(),
            started_by: "mia".to_owned(),
            arguments: "run".to_owned(),
            started_at: ctx.now(),
            finished_at: None,
            outcome: RunOutcome::Running,
            counts: [("rows".to_owned(), 1)].into(),
            failure: None,
        };
        tx.begin_maintenance(&run)?;
        if outcome != RunOutcome::Running {
            tx.end_maintenance(run.id, ctx.now(), outcome, &run.counts, None)?;
        }
        Ok(())
    });
}

/// The runs of a task in the journal, the oldest first, and how they ended.
fn journal(service: &TestApp, task: &str) -> Vec<(Timestamp, RunOutcome)> {
    let all = service.found(MaintenanceHistory { limit: 1_000 }).into_iter().rev();
    all.filter(|(run, _)| run.task == task).map(|(run, _)| (run.started_at, run.outcome)).collect()
}

fn spec_1_rule_13_the_journal_keeps_recent_runs_and_the_last_of_each_task(kind: DatabaseKind) -> Result<()> {
    use RunOutcome::{Failed, Running, Stopped, Succeeded};
    let service = TestApp::start(kind)?;
    let begun = service.clock().now();
    let day = |n: u32| begun.plus(DAY * n);
    // Whether the last of them completed, failed, or never ended.
    for (n, runs) in [
        (0, vec![("seasons", Succeeded), ("teams", Succeeded), ("packs", Running), ("quests", Failed)]),
        (1, vec![("seasons", Failed), ("teams", Failed), ("quests", Failed)]),
        (2, vec![("seasons", Stopped), ("teams", Succeeded)]),
        (100, vec![("teams", Succeeded)]),
    ] {
        service.clock().set(day(n));
        for (task, outcome) in runs {
            noted(&service, task, outcome);
        }
    }
    // On the last day everything is still there.
    service.clock().set(day(400));
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(repair_counts(&service, "sweep-journal"), nothing);
    service.clock().set(day(403));
    let (stays, successes) = (service.ask(|tx| tx.maintenance_successes()), ["seasons", "teams"]);
    assert_eq!(repair_counts(&service, "sweep-journal"), [("runs", 4)]);
    assert_eq!(journal(&service, "seasons"), [(day(0), Succeeded), (day(2), Stopped)]);
    assert_eq!(journal(&service, "teams"), [(day(2), Succeeded), (day(100), Succeeded)]);
    assert_eq!(journal(&service, "packs"), [(day(0), Running)]);
    assert_eq!(journal(&service, "quests"), [(day(1), Failed)]);
    // The last success of each task is still known.
    let left = service.ask(|tx| tx.maintenance_successes());
    assert!(successes.iter().all(|task| left[*task] == stays[*task]), "{left:?}");
    // Its own runs are among those of the last days.
    assert_eq!(journal(&service, "sweep-journal").len(), 4);
    Ok(())
}

/// Begins an import and ends it once a part of its file is staged, as a kill would.
fn stopped(service: &TestApp) -> Result<ImportId> {
    let files = files(&[]);
    let checked = check(service, &files)?;
    let (sources, app) = (sources(&files), service.app());
    let id = import_id(&sources, &checked)?;
    let mut stop = |progress: LegacyProgress| match progress {
        LegacyProgress::Moving => Err(io::Error::other("stopped")),
        LegacyProgress::Read(_) => Ok(()),
    };
    let stopped = service.run(ops::legacy::import_legacy(app, id, &sources, &checked, &mut stop));
    assert!(matches!(stopped, Err(LegacyError::Read { .. })), "{stopped:?}");
    Ok(id)
}

/// The tables with staged rows of imports, and the rows of each.
fn waiting(service: &TestApp) -> Result<Vec<String>> {
    let tables = ["users", "points", "runs", "steps", "entries", "follows", "team_follows"];
    let counts = tables.map(|table| {
        format!("SELECT '{table} ' || CAST(COUNT(*) AS text) AS text, COUNT(*) AS n FROM legacy_{table}")
    });
    let sql =
        format!("SELECT text FROM ({}) AS counts WHERE n > 0 ORDER BY text", counts.join(" UNION ALL "));
    Ok(service.storage().read_by_hand(&sql)?)
}

fn spec_1_rule_13_staged_rows_of_an_import_are_removed_after_a_week(kind: DatabaseKind) -> Result<()> {
    let service = super::legacy::service(kind)?;
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(repair_counts(&service, "sweep-imports"), nothing);
    stopped(&service)?;
    let waits = waiting(&service)?;
    assert!(waits.len() == 7, "{waits:?}");
    service.clock().advance(DAY * 7);
    assert_eq!(repair_counts(&service, "sweep-imports"), nothing, "within the week");
    assert_eq!(waiting(&service)?, waits);
    service.clock().advance(Duration::from_millis(1));
    let swept = repair_counts(&service, "sweep-imports");
    let rows: u64 = waits.iter().filter_map(|one| one.split(' ').nth(1)?.parse::<u64>().ok()).sum();
    // The import is one of them.
    assert_eq!(swept, [("rows of imports", rows + 1)]);
    assert_eq!(waiting(&service)?, Vec::<String>::new());
    // Moved rows are no longer staged, and the record of the import stays.
    import(&service, &files(&[]))?;
    service.clock().advance(DAY * 1_000);
    assert_eq!(repair_counts(&service, "sweep-imports"), nothing);
    agrees(&service);
    Ok(())
}

/// Also between its rows: the remaining rows are staged again.
fn an_abandoned_import_starts_again(kind: DatabaseKind) -> Result<()> {
    let service = super::legacy::service(kind)?;
    let id = stopped(&service)?;
    service.clock().advance(DAY * 8);
    let (before, waits) = (service.clock().now().minus(DAY * 7), waiting(&service)?);
    assert_eq!(service.write(move |tx, _| Ok(tx.sweep_imports(before, 4)?)), 4);
    let left = waiting(&service)?;
    assert!(left.len() < waits.len(), "{left:?}");
    // A process that was suspended for so long learns that others have worked on it, and does no harm.
    assert!(!service.write(move |tx, ctx| Ok(tx.stage(id, 30, &[], ctx.now())?)));
    // An import that resumes now is not swept meanwhile.
    assert_eq!(service.write(move |tx, ctx| Ok(tx.begin_import(id, ctx.now())?)), 0);
    assert_eq!(service.write(move |tx, _| Ok(tx.sweep_imports(before, 500)?)), 0);
    assert_eq!(waiting(&service)?, left);
    let moved = import(&service, &files(&[]))?;
    assert_eq!((moved.users, moved.records, moved.runs, moved.follows), (3, 9, 3, 3));
    agrees(&service);
    Ok(())
}

fn an_import_that_stages_for_longer_than_a_week_is_kept(kind: DatabaseKind) -> Result<()> {
    let service = super::legacy::service(kind)?;
    let id = stopped(&service)?;
    let staged = service.write(move |tx, ctx| Ok(tx.begin_import(id, ctx.now())?));
    let waits = waiting(&service)?;
    for _ in 0..3 {
        service.clock().advance(DAY * 4);
        assert!(service.write(move |tx, ctx| Ok(tx.stage(id, staged, &[], ctx.now())?)));
        let nothing: Vec<(&str, u64)> = Vec::new();
        assert_eq!(repair_counts(&service, "sweep-imports"), nothing);
    }
    assert_eq!(waiting(&service)?, waits);
    Ok(())
}

fn job(name: &str) -> Result<Job> {
    jobs().into_iter().find(|job| job.name() == name).context("a job of this name")
}

fn notices_and_imports_are_swept_by_jobs_under_a_lease(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let paid = super::packs::pack(&service, "paid").id;
    let [settled, open, new] = [1, 2, 3].map(|copies| begin(&service, mia, paid, copies));
    send_notice(&service, notice(NoticeKind::Paid, &settled));
    let mut wrong = notice(NoticeKind::Paid, &open);
    wrong.money.amount += 1;
    send_notice(&service, wrong);
    let import = ImportId::from(Uuid::from_u128(7));
    service.write(move |tx, ctx| Ok(tx.begin_import(import, ctx.now())?));
    let kinds = || service.storage().read_by_hand("SELECT kind AS text FROM payment_notices ORDER BY kind");
    let imports = || service.storage().read_by_hand("SELECT CAST(staged AS text) AS text FROM imports");
    let (notices, sweeping) = (job("sweep-notices")?, job("sweep-imports")?);
    for job in [&notices, &sweeping] {
        assert_eq!(turn(&service, job), Turn::Done);
        assert!(matches!(turn(&other, job), Turn::NotDue(_)), "one does it for all");
    }
    assert_eq!((kinds()?.len(), imports()?.len()), (2, 1));
    service.clock().advance(DAY * 401);
    send_notice(&service, notice(NoticeKind::Cancelled, &new));
    for job in [&notices, &sweeping] {
        assert_eq!(turn(&other, job), Turn::Done);
        assert!(matches!(turn(&service, job), Turn::NotDue(_)), "one does it for all");
    }
    assert_eq!((kinds()?, imports()?.len()), (vec!["cancelled".to_owned(), "paid".to_owned()], 0));
    Ok(())
}
