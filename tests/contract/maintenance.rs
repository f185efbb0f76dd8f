//! Spec §1 rules 12 and 13: maintenance has an order, has a dry run, changes nothing the second time, is
//! recorded, and runs in one process at a time.

use super::jobs::{LEASE, wait_for_renewal};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use terrace_testkit::app::boards::{AwardPoints, StartSeason};
use terrace_testkit::app::room::CreatePost;
use terrace_testkit::app::store::{IdempotencyScope, StoredAnswer};
use terrace_testkit::app::{App, AppConfig, KeyedRequest};
use terrace_testkit::identity::AuthorCard;
use terrace_testkit::kernel::{Clock, Timestamp, UserId};
use terrace_testkit::ledger::{AccountKind, Balance, LedgerRepair};
use terrace_testkit::ops;
use terrace_testkit::ops::maintenance::{
    Busy, Category, MaintenanceHistory, Round, RoundFailure, RoundReport, RunOutcome, RunRecord, RunState,
    Task, TaskFailure, TaskList, Unwatched, Wanted,
};
use terrace_testkit::ops::tasks::catalogue;
use terrace_testkit::scoring::{NewAward, Points, SourceKey, TotalsRepair, Writer};
use terrace_testkit::social::{NewPost, PostView};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database};
use tokio::sync::watch;

on_each_database! {
    spec_1_rule_13_the_second_run_of_everything_changes_nothing,
    a_dry_run_counts_what_the_run_does_and_writes_nothing,
    seasons_that_are_due_have_a_dry_run_and_are_turned,
    one_process_runs_and_the_other_gets_its_name_and_start,
    a_stopped_run_is_recorded_and_the_next_run_does_the_rest,
    a_killed_run_is_recorded_as_such_and_taken_over,
    a_run_that_lasts_longer_than_its_lease_keeps_it,
    prerequisites_have_run_or_are_named,
    a_failure_is_recorded_and_later_tasks_do_not_run,
    tasks_that_need_a_minter_wait_for_one,
}

fn wanted(names: &[&str]) -> Wanted {
    Wanted::Named(names.iter().map(|name| (*name).to_owned()).collect())
}

fn round(tasks: &TaskList, wanted: &Wanted) -> Round {
    let plan = tasks.plan(wanted).expect("an order");
    let (by, arguments) = ("mia".to_owned(), "run".to_owned());
    Round { plan, is_dry: false, only: false, by, arguments }
}

/// In a process that is not stopped.
async fn carry_out(app: Arc<App>, round: Round) -> Result<RoundReport, RoundFailure> {
    let (_keep, stop) = watch::channel(false);
    ops::maintenance::maintain(&app, round, Arc::new(Unwatched), stop).await
}

fn done(service: &TestApp, round: Round) -> RoundReport {
    let report = service.run(carry_out(Arc::clone(service.app()), round)).expect("a round");
    assert!(report.is_well(), "{report:?}");
    report
}

fn failure(service: &TestApp, round: Round) -> RoundFailure {
    service.run(carry_out(Arc::clone(service.app()), round)).expect_err("no round")
}

fn history(service: &TestApp) -> Vec<(RunRecord, RunState)> {
    service.found(MaintenanceHistory { limit: 1_000 })
}

/// The newest run of a task.
fn last_run(service: &TestApp, task: &str) -> (RunRecord, RunState) {
    history(service).into_iter().find(|(run, _)| run.task == task).expect("a run of the task")
}

/// The counts of each task that wrote something.
fn counts(report: &RoundReport) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let counts = report.ran.iter().map(|ran| (ran.task, ran.counts.clone()));
    counts.filter(|(_, counts)| !counts.is_empty()).collect()
}

fn spec_1_rule_13_the_second_run_of_everything_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    service.fan("mia");
    let all = || round(&catalogue(), &Wanted::All);
    let first = done(&service, all());
    let written = counts(&first);
    assert_eq!(written["seasons"], BTreeMap::from([("seasons", 2)]));
    assert!(written["teams"]["leagues"] >= 10 && written["teams"]["teams"] >= 200, "{written:?}");
    assert!(written["quests"]["quests"] >= 3 && written["packs"]["packs"] >= 3, "{written:?}");
    let began = service.clock().now();
    service.clock().advance(Duration::from_secs(1));
    let second = done(&service, all());
    assert_eq!(counts(&second), BTreeMap::new());
    assert_eq!(service.run(ops::verify_points(service.app()))?.wrong(), 0);

    let noted = history(&service);
    assert_eq!(noted.len(), 2 * first.ran.len());
    assert!(noted.iter().all(|(_, state)| *state == RunState::Succeeded), "{noted:?}");
    let teams = noted.iter().map(|(run, _)| run).rfind(|run| run.task == "teams").context("a run")?;
    let (by, at) = (teams.started_by.as_str(), (teams.started_at, teams.finished_at));
    assert_eq!((by, teams.arguments.as_str(), at), ("mia", "run", (began, Some(began))));
    assert_eq!(teams.counts["teams"], written["teams"]["teams"]);
    Ok(())
}

fn created(view: &PostView<AuthorCard>) -> StoredAnswer {
    StoredAnswer { created: None, body: view.post.body.clone() }
}

/// Fans with points, and something wrong or overdue of most kinds.
fn neglected(service: &TestApp) -> Result<Vec<UserId>> {
    done(service, round(&catalogue(), &Wanted::Of(Category::SetUp)));
    let fans = service.crowd("fan", 8);
    for (fan, amount) in fans.iter().zip(1..) {
        service.clock().advance(Duration::from_secs(1));
        let award = NewAward {
            user: *fan,
            amount: Points::new(amount),
            reason: "A ticket".to_owned(),
            source: SourceKey::import("one").context("a key")?,
            at: service.clock().now(),
        };
        let awards = service.app().awards();
        service.done(AwardPoints { awards, award, team: None, by: Writer::Maintenance });
    }
    let (wrong, poor) = (fans[2], fans[3]);
    service.write(move |tx, ctx| {
        let fan = tx.points_between(wrong, wrong)?.into_iter().next().expect("a fan");
        let mut totals = fan.totals.clone();
        for change in &mut totals {
            change.total.points = Points::new(99);
            change.total.version += 1;
        }
        tx.write_points_repairs(&[TotalsRepair { user: wrong, totals, entries: vec![] }], ctx.now())?;
        let balances = vec![Balance { kind: AccountKind::Coins, amount: 400 }];
        tx.write_ledger_repair(
            &LedgerRepair { user: poor, balances, points: 0, statements: vec![] },
            ctx.new_id(),
            ctx.now(),
        )?;
        // As they were written before topics existed.
        for n in 0..3 {
            let (id, created_at) = (ctx.new_id(), ctx.now());
            let body = format!("Up the #terrace, again and again #week{n}");
            tx.insert_post(&NewPost { id, author: wrong, team: None, body, image: None, created_at })?;
        }
        Ok(())
    });
    let mia = service.fan("mia").id;
    let post = CreatePost { author: mia, team: None, body: "Goal".to_owned(), media: None };
    let scope = IdempotencyScope { account: Some(mia), operation: "POST /api/locker-room" };
    let request = KeyedRequest { scope, key: "goal".to_owned(), fingerprint: [1; 32] };
    let answer = service.run(service.app().execute_once(post, Some(request), created));
    assert!(answer.is_ok(), "{:?}", answer.err());
    service.settled();
    // Past the life of sessions and of ended sessions.
    service.clock().advance(Duration::from_hours(24 * 120));
    Ok(fans)
}

fn a_dry_run_counts_what_the_run_does_and_writes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    neglected(&service)?;
    let all = || round(&catalogue(), &Wanted::All);
    let dry = || Round { is_dry: true, ..all() };
    let (noted, wrong) = (history(&service), service.run(ops::verify_points(service.app()))?.wrong());
    let head = service.ask(|tx| tx.head());
    let dry_run = done(&service, dry());
    assert_eq!(history(&service), noted);
    assert_eq!(service.run(ops::verify_points(service.app()))?.wrong(), wrong);
    assert_eq!(service.ask(|tx| tx.head()), head);
    assert_eq!(counts(&done(&service, dry())), counts(&dry_run));

    let ran = done(&service, all());
    assert_eq!(counts(&ran), counts(&dry_run));
    let written = counts(&ran);
    assert_eq!(written["repair-balances"], BTreeMap::from([("balances of fans", 1)]));
    assert_eq!(written["backfill-topics"], BTreeMap::from([("topics of posts", 6)]));
    assert_eq!(written["sweep-idempotency-keys"], BTreeMap::from([("idempotency keys", 1)]));
    for task in ["repair-points", "sweep-sessions", "sweep-events"] {
        assert!(written.contains_key(task), "{task}: {written:?}");
    }
    assert_eq!(counts(&done(&service, all())), BTreeMap::new());
    assert_eq!(service.run(ops::verify_points(service.app()))?.wrong(), 0);
    Ok(())
}

fn seasons_that_are_due_have_a_dry_run_and_are_turned(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let turn = || round(&catalogue(), &wanted(&["turn-seasons"]));
    assert_eq!(done(&service, Round { is_dry: true, ..turn() }).rows(), 2, "the first seasons");
    assert_eq!(done(&service, turn()).rows(), 2);
    let starts_at = Some(service.clock().now().plus(Duration::from_mins(5)));
    let key = "1".parse().expect("a key");
    service.done(StartSeason { key, name: "One".to_owned(), starts_at, ends_at: None });
    assert_eq!(done(&service, turn()).rows(), 0);
    service.clock().advance(Duration::from_mins(5));
    let dry_run = done(&service, Round { is_dry: true, ..turn() });
    assert_eq!(counts(&dry_run)["turn-seasons"], BTreeMap::from([("seasons", 2)]));
    assert_eq!(counts(&done(&service, turn())), counts(&dry_run));
    assert_eq!(done(&service, turn()).rows(), 0);
    Ok(())
}

/// A task that counts, signals that it began, and waits until it is released.
fn waiting(name: &'static str) -> (Task, watch::Receiver<u64>, watch::Sender<bool>) {
    let (tell, begun) = watch::channel(0);
    let (open, gate) = watch::channel(false);
    let task = Task::new(name, Category::Repair, "Waits", move |work| {
        let (tell, mut gate) = (tell.clone(), gate.clone());
        async move {
            work.count("rows", 1);
            tell.send_modify(|runs| *runs += 1);
            gate.wait_for(|open| *open).await.expect("the gate opens");
            work.go_on()?;
            work.count("rows", 1);
            Ok(())
        }
    });
    (task, begun, open)
}

async fn begun(mut begun: watch::Receiver<u64>) {
    begun.wait_for(|runs| *runs > 0).await.expect("the task is there");
}

fn one_process_runs_and_the_other_gets_its_name_and_start(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (task, has_begun, gate) = waiting("wait");
    let tasks = catalogue().with(task);
    let since = service.clock().now();
    let first = service.spawn(carry_out(Arc::clone(service.app()), round(&tasks, &wanted(&["wait"]))));
    service.run(begun(has_begun));
    service.clock().advance(Duration::from_secs(5));
    let seasons = || Round { by: "bo".to_owned(), ..round(&tasks, &wanted(&["seasons"])) };
    let busy = Busy { by: "mia".to_owned(), since, task: "wait".to_owned() };
    for process in [&service, &other] {
        match failure(process, seasons()) {
            RoundFailure::Busy(found) => assert_eq!(found, busy),
            other @ (RoundFailure::Missing { .. } | RoundFailure::Unfit(_) | RoundFailure::Broken(_)) => {
                panic!("{other}")
            }
        }
    }
    assert_eq!(history(&service).len(), 1, "who is refused leaves nothing");
    assert_eq!(history(&service)[0].1, RunState::Running);
    // A dry run blocks no other run.
    assert_eq!(done(&other, Round { is_dry: true, ..seasons() }).rows(), 2);
    gate.send_replace(true);
    assert!(service.join(first)?.is_well());
    assert_eq!(done(&other, seasons()).rows(), 2);
    let states: Vec<_> = history(&service).into_iter().map(|(run, state)| (run.task, state)).collect();
    let succeeded = |task: &str| (task.to_owned(), RunState::Succeeded);
    assert_eq!(states, [succeeded("seasons"), succeeded("wait")]);
    Ok(())
}

fn a_stopped_run_is_recorded_and_the_next_run_does_the_rest(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (task, has_begun, gate) = waiting("wait");
    let tasks = catalogue().with(task.after(&["seasons"]));
    let (stop, stopped) = watch::channel(false);
    let (app, both) = (Arc::clone(service.app()), round(&tasks, &wanted(&["wait", "teams"])));
    let stopping = service
        .spawn(async move { ops::maintenance::maintain(&app, both, Arc::new(Unwatched), stopped).await });
    service.run(begun(has_begun));
    stop.send_replace(true);
    gate.send_replace(true);
    let report = service.join(stopping)?;
    assert!(report.is_stopped && !report.is_well(), "{report:?}");
    let last = report.ran.last().context("a task")?;
    assert_eq!((last.task, last.outcome), ("wait", RunOutcome::Stopped));
    let (noted, state) = last_run(&service, "wait");
    assert_eq!((state, noted.counts["rows"]), (RunState::Stopped, 1));
    assert!(noted.finished_at.is_some());
    // At once, without waiting for the lease to end.
    let rest = done(&other, round(&tasks, &wanted(&["wait"])));
    assert_eq!(counts(&rest), BTreeMap::from([("wait", BTreeMap::from([("rows", 2)]))]));
    Ok(())
}

fn a_killed_run_is_recorded_as_such_and_taken_over(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (task, has_begun, _gate) = waiting("wait");
    let tasks = catalogue().with(task);
    let dying = service.spawn(carry_out(Arc::clone(service.app()), round(&tasks, &wanted(&["wait"]))));
    service.run(begun(has_begun));
    dying.abort();
    assert!(service.run(dying).is_err_and(|end| end.is_cancelled()));
    assert_eq!(history(&other)[0].1, RunState::Running);
    let seasons = || round(&tasks, &wanted(&["seasons"]));
    assert!(matches!(failure(&other, seasons()), RoundFailure::Busy(_)));
    service.clock().advance(service.app().config().job_lease);
    assert_eq!(history(&other)[0].1, RunState::Interrupted);
    done(&other, seasons());
    let states: Vec<_> = history(&other).into_iter().map(|(run, state)| (run.task, state)).collect();
    let expected = [("seasons", RunState::Succeeded), ("wait", RunState::Interrupted)];
    assert_eq!(states, expected.map(|(task, state)| (task.to_owned(), state)));
    Ok(())
}

fn a_run_that_lasts_longer_than_its_lease_keeps_it(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let config = AppConfig { job_lease: LEASE, ..AppConfig::default() };
    let store = Arc::new(service.storage().clone());
    let clock = Arc::new(service.clock().clone());
    let hasty = Arc::new(App::new(store, clock, Arc::new(SeededEntropy::new(77)), config));
    let refused = Arc::new(AtomicU64::new(0));
    let task = Task::new("wait", Category::Repair, "Takes its time", {
        let (clock, refused) = (service.clock().clone(), Arc::clone(&refused));
        let other = Arc::clone(other.app());
        move |_| {
            let (clock, refused, other) = (clock.clone(), Arc::clone(&refused), Arc::clone(&other));
            async move {
                for _ in 0..4 {
                    clock.advance(Duration::from_millis(200));
                    wait_for_renewal(&other, "maintenance", clock.now().plus(LEASE)).await;
                    let seasons = round(&catalogue(), &wanted(&["seasons"]));
                    let end = carry_out(Arc::clone(&other), seasons).await;
                    refused.fetch_add(u64::from(matches!(end, Err(RoundFailure::Busy(_)))), Ordering::SeqCst);
                }
                Ok(())
            }
        }
    });
    let report = service.run(carry_out(hasty, round(&TaskList::new([task]), &Wanted::All)))?;
    assert!(report.is_well(), "{report:?}");
    assert_eq!(refused.load(Ordering::SeqCst), 4);
    Ok(())
}

fn prerequisites_have_run_or_are_named(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let only = |names: &[&str]| Round { only: true, ..round(&catalogue(), &wanted(names)) };
    let missing = failure(&service, only(&["turn-seasons"])).to_string();
    assert!(missing.starts_with("turn-seasons comes after seasons, which never ran"), "{missing}");
    assert!(matches!(
        failure(&service, Round { is_dry: true, ..only(&["turn-seasons"]) }),
        RoundFailure::Missing { .. }
    ));
    assert_eq!((history(&service), service.ask(|tx| tx.seasons()).iter().count()), (vec![], 0));
    let both = done(&service, only(&["turn-seasons", "seasons"]));
    assert_eq!(both.ran.iter().map(|ran| ran.task).collect::<Vec<_>>(), ["seasons", "turn-seasons"]);
    let one = done(&service, only(&["turn-seasons"]));
    assert_eq!(one.ran.iter().map(|ran| ran.task).collect::<Vec<_>>(), ["turn-seasons"]);
    let whole = done(&service, round(&catalogue(), &wanted(&["repair-points"])));
    let order: Vec<_> = whole.ran.iter().map(|ran| ran.task).collect();
    assert_eq!(order, ["seasons", "turn-seasons", "repair-points"]);
    Ok(())
}

fn a_failure_is_recorded_and_later_tasks_do_not_run(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let refused = Task::new("refused", Category::Repair, "Says no", |work| async move {
        work.count("rows", 3);
        Err(TaskFailure::Refused("on purpose".to_owned()))
    });
    let broken = Task::new("broken", Category::Repair, "Panics", |work| async move {
        assert!(work.is_dry(), "on purpose");
        Ok(())
    });
    let tasks = catalogue().with(refused.after(&["seasons"])).with(broken);
    let after = Task::new("after", Category::Repair, "Never runs", |_| async { Ok(()) });
    let tasks = tasks.with(after.after(&["refused"]));
    let ends = |name: &str| {
        let round = round(&tasks, &wanted(&[name]));
        service.run(carry_out(Arc::clone(service.app()), round)).expect("a round")
    };
    let report = ends("after");
    let ran: Vec<_> = report.ran.iter().map(|ran| (ran.task, ran.outcome)).collect();
    assert_eq!(ran, [("seasons", RunOutcome::Succeeded), ("refused", RunOutcome::Failed)]);
    assert!(!report.is_well() && !report.is_stopped);
    let (noted, state) = last_run(&service, "refused");
    assert_eq!(state, RunState::Failed);
    assert_eq!((noted.failure.as_deref(), noted.counts["rows"]), (Some("on purpose"), 3));
    service.clock().advance(Duration::from_secs(1));
    assert_eq!(ends("broken").ran[0].outcome, RunOutcome::Failed);
    let (noted, _) = last_run(&service, "broken");
    assert!(noted.failure.is_some_and(|why| why.contains("panicked")));
    // The failure blocked no other task.
    done(&service, round(&tasks, &wanted(&["seasons"])));
    Ok(())
}

fn tasks_that_need_a_minter_wait_for_one(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let all = done(&service, round(&catalogue(), &Wanted::All));
    let left: Vec<_> = all.left.iter().map(|left| left.task).collect();
    assert_eq!(left, ["mint-earlier"]);
    assert!(all.ran.iter().all(|ran| ran.task != "mint-earlier" && ran.task != "demo"));
    let named = failure(&service, round(&catalogue(), &wanted(&["mint-earlier"]))).to_string();
    assert!(named.contains("no minter is configured"), "{named}");
    let later: Timestamp = service.clock().now();
    assert!(history(&service).iter().all(|(run, _)| run.started_at <= later && run.task != "mint-earlier"));
    Ok(())
}
