//! Spec §1 rule 13 and scoring rules 4 to 6: completions and visits without a record get one with their own
//! time, once, beside awards that are paid meanwhile; boards are set where they can be derived.

use super::points::{active, award, board_of, favour, ledger, start_season};
use super::quests::{book, load, paid, quest, run_of, start, step, with_quests};
use super::repairs::{damage, differences, id, repair_counts, run, stored, verified};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::boards::ReversePoints;
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::kernel::{Failure, UserId};
use terrace_testkit::ops::{self, Completion};
use terrace_testkit::quests::RunStatus;
use terrace_testkit::scoring::{SourceKey, Writer};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_13_completions_are_recorded_with_their_own_time,
    spec_1_rule_13_a_visit_without_a_record_is_recorded_on_its_date,
    scoring_rule_5_boards_are_set_where_they_can_be_derived,
    scoring_rule_6_records_without_a_season_stay_without_a_board,
    awards_paid_elsewhere_are_not_paid_again,
    awards_beside_a_backfill_are_paid_once,
    missing_records_are_written_at_once,
    spec_1_rule_13_onboarding_is_started_for_existing_fans,
    spec_1_rule_13_runs_and_the_order_of_steps_are_repaired,
}

/// The columns that differ between a record and its replacement.
const OF_RECORDS: [&str; 2] = ["points_history.id", "board_totals.version"];
const HOUR: Duration = Duration::from_hours(1);

fn complete(service: &TestApp, user: UserId, name: &str) -> i64 {
    service.clock().advance(HOUR);
    service
        .run(service.app().complete_step(user, step(service, name)))
        .expect("a step that may be done")
        .1
        .points
}

/// As if these fans had never been paid for anything: deletes records and what moved with them.
fn forget_records(service: &TestApp, of: &str) {
    let transfers = match service.kind() {
        DatabaseKind::Postgres => "'award:' || replace(CAST(id AS text), '-', '')",
        DatabaseKind::Sqlite => "'award:' || lower(hex(id))",
    };
    let journal = format!(
        "DELETE FROM ledger_transfers WHERE source_key IN (SELECT {transfers} FROM points_history WHERE {of})"
    );
    damage(service, &[&journal, &format!("DELETE FROM points_history WHERE {of}")]);
    run(service, &["repair-points", "repair-balances"], false);
    verified(service);
}

fn spec_1_rule_13_completions_are_recorded_with_their_own_time(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let [mia, bo, kim] = service.crowd("fan", 3)[..] else { panic!("three fans") };
    let foxes = service.team("foxes");
    favour(&service, mia, Some(foxes));
    for fan in [mia, bo, kim] {
        for key in ["ladder", "single", "daily"] {
            start(&service, fan, key);
        }
    }
    assert_eq!([complete(&service, mia, "ladder/one"), complete(&service, mia, "ladder/two")], [1, 7]);
    assert_eq!([complete(&service, bo, "single/only"), complete(&service, kim, "daily/hello")], [10, 3]);
    // A reversed award has a record, and is not paid again.
    let key = SourceKey::quest_step(step(&service, "single/only"), None);
    let awards = service.app().awards();
    let (reason, by) = ("An error".to_owned(), Writer::Service);
    service.done(ReversePoints { awards, user: bo, source: key, reason, by });
    service.clock().advance(HOUR);
    start_season(&service, "0.6", None);
    service.clock().advance(HOUR);
    service.done(SuspendAccount { username: "fan2".to_owned() });
    let right = stored(&service, &OF_RECORDS);
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(repair_counts(&service, "backfill-quest-points"), nothing);

    let ids = [id(&service, mia), id(&service, kim)].join(", ");
    forget_records(&service, &format!("user_id IN ({ids})"));
    assert_eq!([paid(&service, mia), paid(&service, kim)], [(0, 0), (0, 0)]);
    let repaired = repair_counts(&service, "backfill-quest-points");
    assert_eq!(repaired, [("points", 1 + 7 + 3), ("records of quests", 2), ("records of steps", 3)]);
    assert_eq!(differences(&right, &stored(&service, &OF_RECORDS)), Vec::<String>::new());
    verified(&service);
    let boards: Vec<_> = ledger(&service, mia).iter().map(|record| record.board.is_some()).collect();
    assert_eq!(boards, [true; 3], "her favourite then is known");
    Ok(())
}

fn spec_1_rule_13_a_visit_without_a_record_is_recorded_on_its_date(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.fan("mia").id;
    let visit = || service.done(VisitDaily { user: mia, awards: service.app().awards() });
    for _ in 0..7 {
        visit();
        service.clock().advance(Duration::from_hours(24));
    }
    assert_eq!(paid(&service, mia), (7 * 10 + 50, 7));
    let last = ledger(&service, mia)[0].clone();
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(repair_counts(&service, "backfill-visit-points"), nothing);
    forget_records(&service, &format!("source_key = '{}'", last.source));
    assert_eq!(paid(&service, mia), (60, 6));
    assert_eq!(repair_counts(&service, "backfill-visit-points"), [("points", 60), ("records of visits", 1)]);
    let again = ledger(&service, mia)[0].clone();
    assert_eq!((&again.source, again.amount, again.season), (&last.source, last.amount, last.season));
    assert_eq!(again.at.to_string(), "2026-05-07T00:00:00.000Z");
    // The next day is another visit.
    assert!(!visit().already_completed);
    assert_eq!(paid(&service, mia), (130, 8));
    verified(&service);
    Ok(())
}

/// Records as they were before boards existed: without a board, and totals accordingly.
fn forget_boards(service: &TestApp) {
    damage(service, &["UPDATE points_history SET leaderboard_id = NULL"]);
    run(service, &["repair-points"], false);
    verified(service);
}

fn scoring_rule_5_boards_are_set_where_they_can_be_derived(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    service.team("foxes");
    let of_team = r#"
[[quest]]
key = "foxes"
title = "For the foxes"
cadence = "once"
team = "foxes"
step = [{ key = "cheer", title = "Cheer", points = 4 }]
"#;
    load(&service, &format!("{}{of_team}", super::quests::QUESTS));
    let [mia, bo, kim] = service.crowd("fan", 3)[..] else { panic!("three fans") };
    let (foxes, owls) = (service.team("foxes"), service.team("owls"));
    for (fan, team) in [(mia, owls), (kim, owls)] {
        favour(&service, fan, Some(team));
    }
    for fan in [mia, bo, kim] {
        start(&service, fan, "foxes");
        start(&service, fan, "ladder");
        complete(&service, fan, "foxes/cheer");
        complete(&service, fan, "ladder/one");
    }
    let awards = service.app().awards();
    service.done(VisitDaily { user: mia, awards });
    // For imported records, the reason of the award is unknown.
    service.done(award(&service, bo, 9, "one"));
    let (awards, reason, by) = (service.app().awards(), "Back".to_owned(), Writer::Service);
    let source = SourceKey::quest_step(step(&service, "foxes/cheer"), None);
    service.done(ReversePoints { awards, user: bo, source, reason, by });
    let right = stored(&service, &OF_RECORDS);
    service.clock().advance(HOUR);
    forget_boards(&service);
    let gone = board_of(&service, foxes);
    assert!(ledger(&service, mia).iter().all(|record| record.board.is_none()));
    // Mia: step and quest of the foxes, a step, a visit. Bo: step, quest, and the reversed award. Kim as Mia,
    // but for the visit.
    assert_eq!(repair_counts(&service, "backfill-boards"), [("fans", 3), ("records", 4 + 3 + 3)]);
    let (of_bo, repaired) = (id(&service, bo), stored(&service, &OF_RECORDS));
    let differs = differences(&right, &repaired);
    assert_eq!(differs, Vec::<String>::new(), "{of_bo}");
    verified(&service);

    // A fan who has changed their account since may have had another favourite then.
    favour(&service, kim, Some(foxes));
    service.clock().advance(HOUR);
    forget_boards(&service);
    assert_eq!(repair_counts(&service, "backfill-boards"), [("fans", 3), ("records", 4 + 3 + 2)]);
    let known = |fan| ledger(&service, fan).iter().filter(|record| record.board.is_some()).count();
    assert_eq!([known(mia), known(bo), known(kim)], [4, 3, 2]);
    assert!(ledger(&service, kim).iter().all(|record| record.board.is_none_or(|board| gone == board.into())));
    verified(&service);
    Ok(())
}

fn scoring_rule_6_records_without_a_season_stay_without_a_board(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    favour(&service, mia, Some(service.team("foxes")));
    start(&service, mia, "ladder");
    complete(&service, mia, "ladder/one");
    let user = id(&service, mia);
    let legacy = "UPDATE points_history SET season_id = NULL, leaderboard_id = NULL";
    damage(&service, &[&format!("{legacy} WHERE user_id = {user}")]);
    run(&service, &["repair-points"], false);
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(repair_counts(&service, "backfill-boards"), nothing);
    assert_eq!(repair_counts(&service, "backfill-quest-points"), nothing, "it has its record");
    let totals = service.ask({
        let season = active(&service).id;
        move |tx| tx.totals_of(mia, season)
    });
    assert!(totals.iter().all(|total| total.total.points.get() == 0), "{totals:?}");
    Ok(())
}

/// Imported records do not name their reason; and an import of completions states for each what it paid,
/// which may be nothing.
fn awards_paid_elsewhere_are_not_paid_again(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let [mia, bo] = service.crowd("fan", 2)[..] else { panic!("two fans") };
    start(&service, mia, "ladder");
    complete(&service, mia, "ladder/one");
    forget_records(&service, "amount = 1");
    service.done(award(&service, mia, 6, "PointsHistory/clx93"));
    complete(&service, mia, "ladder/two");
    forget_records(&service, "source_key LIKE 'quest%'");
    let free = Completion {
        user: "fan1".to_owned(),
        quest: Some("ladder".to_owned()),
        step: "one".to_owned(),
        completed_at: service.app().now(),
        points: 0,
    };
    let imported = service.run(ops::import_completions(service.app(), vec![(1, free)], false))?;
    assert_eq!((imported.steps, imported.records, imported.points), (1, 0, 0));
    assert_eq!(
        repair_counts(&service, "backfill-quest-points"),
        [("points", 7), ("records of quests", 1), ("records of steps", 1)]
    );
    assert_eq!((paid(&service, mia).0, paid(&service, bo)), (6 + 2 + 5, (0, 1)));
    verified(&service);
    Ok(())
}

/// While fans complete steps in two processes, records go missing and are backfilled in two others.
fn awards_beside_a_backfill_are_paid_once(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let service = service.another()?;
    let (first, second) = (service.another()?, service.another()?);
    let fans = service.crowd("fan", 16);
    for fan in &fans {
        start(&service, *fan, "ladder");
        start(&service, *fan, "single");
    }
    let early: Vec<UserId> = fans.iter().copied().take(8).collect();
    for fan in &early {
        complete(&service, *fan, "ladder/one");
    }
    forget_records(&service, "amount = 1");
    let names = ["ladder/one", "ladder/two", "single/only"].map(|name| step(&service, name));
    let works: Vec<_> = fans
        .iter()
        .enumerate()
        .map(|(n, fan)| {
            let app = Arc::clone(if n % 2 == 0 { first.app() } else { second.app() });
            let fan = *fan;
            service.spawn(async move {
                for name in names {
                    match app.complete_step(fan, name).await {
                        Ok(_) => {}
                        Err(Failure::Broken(error)) => panic!("{error}"),
                        Err(Failure::Refused(refusal)) => panic!("{refusal:?}"),
                    }
                }
            })
        })
        .collect();
    let mut recorded = 0;
    while works.iter().any(|work| !work.is_finished()) {
        recorded +=
            run(&service, &["backfill-quest-points", "backfill-boards"], false).count("records of steps");
    }
    for work in works {
        service.join(work);
    }
    recorded += run(&service, &["backfill-quest-points"], false).count("records of steps");
    assert_eq!(recorded, 8, "only the lost records are backfilled");
    for fan in &fans {
        assert_eq!(paid(&service, *fan), (1 + 2 + 5 + 3 + 7, 5));
    }
    verified(&service);
    Ok(())
}

/// On a server the time goes into round trips: a batch is a fixed number of statements, however many records
/// it writes; the statements that check whether its events are published are not counted. Where there are no
/// round trips, a record is a few statements.
fn missing_records_are_written_at_once(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let fans = service.crowd("fan", 20);
    for fan in &fans {
        start(&service, *fan, "single");
        complete(&service, *fan, "single/only");
    }
    let cost = |fans: &[UserId]| {
        let ids: Vec<String> = fans.iter().map(|fan| id(&service, *fan)).collect();
        forget_records(&service, &format!("user_id IN ({})", ids.join(", ")));
        let before = service.storage().statements();
        let recorded = run(&service, &["backfill-quest-points"], false).count("records of steps");
        assert_eq!(usize::try_from(recorded).expect("few"), fans.len());
        service.storage().statements() - before
    };
    let (few, many) = (cost(&fans[..4]), cost(&fans));
    match kind {
        DatabaseKind::Postgres => assert!(few.abs_diff(many) < 8, "{few}, {many}"),
        DatabaseKind::Sqlite => assert!(few < many && many - few < 16 * 50, "{few}, {many}"),
    }
    for fan in &fans {
        assert_eq!(paid(&service, *fan), (3 + 7, 2));
    }
    verified(&service);
    Ok(())
}

fn spec_1_rule_13_onboarding_is_started_for_existing_fans(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let welcome = r#"
[[quest]]
key = "welcome"
title = "Welcome"
cadence = "once"
onboarding = true
bonus = 5
step = [{ key = "team", title = "Choose a team", points = 2, check = { kind = "choose_favorite_team" } }]
"#;
    favour(&service, mia, Some(service.team("foxes")));
    load(&service, &format!("{}{welcome}", super::quests::QUESTS));
    let new = service.fan("new").id;
    assert_eq!(run_of(&service, new, "welcome"), Some((RunStatus::Active, 0)));
    service.done(SuspendAccount { username: "kim".to_owned() });
    assert_eq!(repair_counts(&service, "backfill-onboarding"), [("runs", 2)]);
    assert_eq!(run_of(&service, bo, "welcome"), Some((RunStatus::Active, 0)));
    assert_eq!(run_of(&service, kim, "welcome"), None);
    // Conditions that held before count.
    let synced = run(&service, &["sync-quests"], false);
    assert_eq!((synced.count("steps"), synced.count("quests")), (1, 1));
    assert_eq!(
        (run_of(&service, mia, "welcome"), paid(&service, mia).0),
        (Some((RunStatus::Completed, 1)), 7)
    );
    Ok(())
}

fn spec_1_rule_13_runs_and_the_order_of_steps_are_repaired(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let [mia, bo] = service.crowd("fan", 2)[..] else { panic!("two fans") };
    for fan in [mia, bo] {
        start(&service, fan, "ladder");
        complete(&service, fan, "ladder/one");
    }
    complete(&service, mia, "ladder/two");
    // The start of the run is lost: the earliest of its steps takes its place.
    let apart = ["user_quest_status.started_at"];
    let right = stored(&service, &apart);
    let ladder = id(&service, quest(&service, "ladder"));
    damage(
        &service,
        &[
            "DELETE FROM user_quest_status",
            &format!("UPDATE quest_steps SET place = place * 3 WHERE quest_id = {ladder}"),
        ],
    );
    assert_eq!(repair_counts(&service, "repair-step-order"), [("places of steps", 2)]);
    assert_eq!(repair_counts(&service, "repair-quest-runs"), [("completed quests", 1), ("runs", 2)]);
    assert_eq!(differences(&right, &stored(&service, &apart)), Vec::<String>::new());
    assert_eq!(run_of(&service, bo, "ladder"), Some((RunStatus::Active, 1)));
    assert_eq!(complete(&service, bo, "ladder/two"), 2 + 5);
    assert!(book(&service).quests().iter().all(|quest| {
        quest.steps.iter().map(|step| step.position).eq(1..=u32::try_from(quest.steps.len()).expect("few"))
    }));
    Ok(())
}
