//! The contract under "Platform": the server runs its jobs by itself, and each run is done by one of many
//! processes.

use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use terrace_testkit::app::platform::Overview;
use terrace_testkit::app::{App, AppConfig, Job, JobRecord, Turn};
use terrace_testkit::kernel::{Clock, StoreError, Timestamp};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, jobs, on_each_database, question, wait_until};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

on_each_database! {
    a_job_runs_when_it_is_due_and_a_restart_neither_repeats_nor_forgets_it,
    one_of_many_processes_does_each_run,
    a_job_that_fails_is_tried_again_after_a_while,
    a_process_that_dies_loses_its_job_when_its_lease_is_over,
    a_process_that_stops_gives_its_job_back,
    a_run_that_lasts_longer_than_its_lease_keeps_it,
    a_process_that_was_silent_too_long_loses_its_job,
    two_attempts_in_one_process_do_the_work_once,
    every_job_of_the_program_does_its_work,
}

const PERIOD: Duration = Duration::from_mins(10);
/// The lease of a process that renews it every tenth of a second.
pub(super) const LEASE: Duration = Duration::from_millis(300);

/// A job that counts its runs.
fn counting(runs: &Arc<AtomicUsize>) -> Job {
    let runs = Arc::clone(runs);
    Job::new("count", PERIOD, move |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    })
}

/// One attempt by a process that is not stopped.
pub(super) async fn attempt(app: Arc<App>, job: Job) -> Turn {
    let (_keep, mut stop) = watch::channel(false);
    app.try_job(&job, &mut stop).await.expect("the database is there")
}

pub(super) fn turn(service: &TestApp, job: &Job) -> Turn {
    service.run(attempt(Arc::clone(service.app()), job.clone()))
}

fn record(service: &TestApp) -> JobRecord {
    let records = service.found(Overview).jobs;
    records.into_iter().find(|record| record.name == "count").expect("the job has run")
}

/// A process whose leases are short, by the clock of `service`.
fn hasty(service: &TestApp, number: u64) -> Arc<App> {
    let config = AppConfig { job_lease: LEASE, ..AppConfig::default() };
    let store = Arc::new(service.storage().clone());
    Arc::new(App::new(store, Arc::new(service.clock().clone()), Arc::new(SeededEntropy::new(number)), config))
}

/// Waits until the lease of this name lasts until `end`.
pub(super) async fn wait_for_renewal(app: &Arc<App>, lease: &'static str, end: Timestamp) {
    let (app, runtime) = (Arc::clone(app), Handle::current());
    let renewed = move || {
        wait_until("the lease is renewed", || {
            let lease = runtime.block_on(app.query(question(move |tx| tx.lease(lease))));
            Ok(lease.is_ok_and(|lease| lease.is_some_and(|lease| lease.expires_at >= end)))
        })
    };
    spawn_blocking(renewed).await.expect("no panic").expect("a renewal");
}

fn a_job_runs_when_it_is_due_and_a_restart_neither_repeats_nor_forgets_it(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let runs = Arc::new(AtomicUsize::new(0));
    let job = counting(&runs);
    let began = service.clock().now();
    assert_eq!(turn(&service, &job), Turn::Done);
    assert_eq!(turn(&service, &job), Turn::NotDue(began.plus(PERIOD)));
    let restarted = service.another()?;
    assert_eq!(turn(&restarted, &job), Turn::NotDue(began.plus(PERIOD)));
    service.clock().advance(PERIOD);
    assert_eq!(turn(&restarted, &job), Turn::Done);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    let record = record(&service);
    assert_eq!((record.succeeded_at, record.failures), (Some(began.plus(PERIOD)), 0));
    Ok(())
}

fn one_of_many_processes_does_each_run(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let others = [service.another()?, service.another()?, service.another()?];
    let runs = Arc::new(AtomicUsize::new(0));
    for round in 1..=5 {
        let apps = others.iter().chain([&service]).map(|process| Arc::clone(process.app()));
        let turns = service.together(apps.map(|app| attempt(app, counting(&runs))).collect::<Vec<_>>());
        assert_eq!(turns.iter().filter(|turn| **turn == Turn::Done).count(), 1, "{turns:?}");
        assert_eq!(runs.load(Ordering::SeqCst), round);
        service.clock().advance(PERIOD);
    }
    Ok(())
}

fn a_job_that_fails_is_tried_again_after_a_while(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let runs = Arc::new(AtomicUsize::new(0));
    let job = Job::new("count", PERIOD, {
        let runs = Arc::clone(&runs);
        move |_| {
            let run = runs.fetch_add(1, Ordering::SeqCst);
            async move {
                assert_ne!(run, 1, "on purpose");
                if run == 0 { Err(StoreError::Unavailable("on purpose".to_owned())) } else { Ok(()) }
            }
        }
    });
    assert_eq!(turn(&service, &job), Turn::Failed);
    let Turn::NotDue(due) = turn(&service, &job) else { panic!("it waits") };
    let first = due.since(service.clock().now());
    service.clock().set(due);
    assert_eq!(turn(&service, &job), Turn::Failed, "a panic is a failure");
    assert_eq!(record(&service).failures, 2);
    let Turn::NotDue(due) = turn(&service, &job) else { panic!("it waits") };
    assert!(due.since(service.clock().now()) > first && first > Duration::ZERO);
    service.clock().set(due);
    assert_eq!(turn(&service, &job), Turn::Done);
    assert_eq!(record(&service).failures, 0);
    Ok(())
}

/// A job that begins, signals it, and goes on for ever. Its later runs end at once.
fn endless() -> (Job, watch::Receiver<usize>) {
    let (tell, begun) = watch::channel(0);
    let job = Job::new("count", PERIOD, move |_| {
        let mut first = false;
        tell.send_modify(|runs| {
            first = *runs == 0;
            *runs += 1;
        });
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok(())
        }
    });
    (job, begun)
}

async fn wait_for_run(mut begun: watch::Receiver<usize>) {
    begun.wait_for(|runs| *runs > 0).await.expect("the job is there");
}

fn a_process_that_dies_loses_its_job_when_its_lease_is_over(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (job, begun) = endless();
    let dying = service.spawn(attempt(Arc::clone(service.app()), job.clone()));
    service.run(wait_for_run(begun));
    dying.abort();
    assert!(service.run(dying).is_err_and(|end| end.is_cancelled()));
    assert_eq!(turn(&other, &job), Turn::HeldElsewhere);
    service.clock().advance(service.app().config().job_lease);
    assert_eq!(turn(&other, &job), Turn::Done);
    Ok(())
}

fn a_process_that_stops_gives_its_job_back(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (job, begun) = endless();
    let (tell, mut stop) = watch::channel(false);
    let (app, own) = (Arc::clone(service.app()), job.clone());
    let stopping = service.spawn(async move { app.try_job(&own, &mut stop).await });
    service.run(wait_for_run(begun));
    assert_eq!(turn(&other, &job), Turn::HeldElsewhere);
    tell.send_replace(true);
    assert_eq!(service.join(stopping)?, Turn::Interrupted);
    assert_eq!(turn(&other, &job), Turn::Done, "at once, without waiting for the lease to end");
    Ok(())
}

fn a_run_that_lasts_longer_than_its_lease_keeps_it(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let clock = service.clock().clone();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let job = Job::new("count", PERIOD, {
        let (seen, other) = (Arc::clone(&seen), Arc::clone(other.app()));
        move |_| {
            let (clock, seen, other) = (clock.clone(), Arc::clone(&seen), Arc::clone(&other));
            async move {
                for _ in 0..4 {
                    clock.advance(Duration::from_millis(200));
                    wait_for_renewal(&other, "job:count", clock.now().plus(LEASE)).await;
                    let job = Job::new("count", PERIOD, |_| async { Ok(()) });
                    let turn = attempt(Arc::clone(&other), job).await;
                    seen.lock().expect("no panic").push(turn);
                }
                Ok(())
            }
        }
    });
    assert_eq!(service.run(attempt(hasty(&service, 77), job)), Turn::Done);
    assert_eq!(*seen.lock().expect("no panic"), [Turn::HeldElsewhere; 4]);
    Ok(())
}

fn a_process_that_was_silent_too_long_loses_its_job(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (job, begun) = endless();
    let silent = service.spawn(attempt(hasty(&service, 78), job.clone()));
    service.run(wait_for_run(begun));
    // The silent process renews every tenth of a second: sooner or later the other one is faster.
    loop {
        service.clock().advance(Duration::from_hours(1));
        match turn(&other, &job) {
            Turn::HeldElsewhere => {}
            Turn::Done => break,
            end @ (Turn::Failed | Turn::Interrupted | Turn::TakenOver | Turn::NotDue(_)) => panic!("{end:?}"),
        }
    }
    let after = record(&service);
    assert_eq!(service.join(silent), Turn::TakenOver);
    assert_eq!(record(&service), after);
    Ok(())
}

/// A cron route and the schedule may start the same job in the same process.
fn two_attempts_in_one_process_do_the_work_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (job, begun) = endless();
    let (tell, mut stop) = watch::channel(false);
    let (app, own) = (Arc::clone(service.app()), job.clone());
    let first = service.spawn(async move { app.try_job(&own, &mut stop).await });
    service.run(wait_for_run(begun));
    assert_eq!(turn(&service, &job), Turn::HeldElsewhere);
    tell.send_replace(true);
    assert_eq!(service.join(first)?, Turn::Interrupted);
    Ok(())
}

fn every_job_of_the_program_does_its_work(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    for job in jobs() {
        assert_eq!(turn(&service, &job), Turn::Done, "{job:?}");
    }
    Ok(())
}
