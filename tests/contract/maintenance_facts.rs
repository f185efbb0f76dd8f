//! Spec §1 rule 13 and scoring rules 4 to 6: what fans did and nobody recorded is recorded as of then, once, beside whatever
//! is paid meanwhile; boards are named where they can be known.

use super::mended::{damage, differences, id, mends, run, stored, verified};
use super::points::{active, award, board_of, favour, ledger, start_season};
use super::quests::{book, load, paid, quest, run_of, start, step, with_quests};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::Completion;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::boards::ReversePoints;
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::kernel::{Failure, UserId};
use terrace_testkit::quests::RunStatus;
use terrace_testkit::scoring::{SourceKey, Writer};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    rule_13_what_was_completed_is_recorded_as_of_then,
    rule_13_a_visit_without_a_record_is_recorded_on_its_date,
    rule_5_boards_are_named_where_they_can_be_known,
    rule_6_what_has_no_season_stays_without_a_board,
    what_was_paid_elsewhere_is_not_paid_again,
    facts_that_are_paid_beside_a_backfill_are_paid_once,
    missing_records_are_written_at_once,
    rule_13_onboarding_is_started_for_who_was_there_before,
    rule_13_runs_and_the_order_of_steps_are_repaired,
}

/// What differs between a record and the one that takes its place.
const OF_RECORDS: [&str; 2] = ["points_history.id", "board_totals.version"];
const HOUR: Duration = Duration::from_hours(1);

fn complete(house: &TestApp, user: UserId, name: &str) -> i64 {
    house.clock().advance(HOUR);
    house.run(house.app().complete_step(user, step(house, name))).expect("a step that may be done").1.points
}

/// As if these fans had never been paid for anything: neither records, nor what moved with them.
fn forget_records(house: &TestApp, of: &str) {
    let transfers = match house.kind() {
        DatabaseKind::Postgres => "'award:' || replace(CAST(id AS text), '-', '')",
        DatabaseKind::Sqlite => "'award:' || lower(hex(id))",
    };
    let journal = format!(
        "DELETE FROM ledger_transfers WHERE source_key IN (SELECT {transfers} FROM points_history WHERE {of})"
    );
    damage(house, &[&journal, &format!("DELETE FROM points_history WHERE {of}")]);
    run(house, &["repair-points", "repair-balances"], false);
    verified(house);
}

fn rule_13_what_was_completed_is_recorded_as_of_then(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let [mia, bo, kim] = house.crowd("fan", 3)[..] else { panic!("three fans") };
    let foxes = house.team("foxes");
    favour(&house, mia, Some(foxes));
    for fan in [mia, bo, kim] {
        for key in ["ladder", "single", "daily"] {
            start(&house, fan, key);
        }
    }
    assert_eq!([complete(&house, mia, "ladder/one"), complete(&house, mia, "ladder/two")], [1, 7]);
    assert_eq!([complete(&house, bo, "single/only"), complete(&house, kim, "daily/hello")], [10, 3]);
    // What was taken back has a record, and is not paid again.
    let key = SourceKey::quest_step(step(&house, "single/only"), None);
    let awards = house.app().awards();
    let (reason, by) = ("An error".to_owned(), Writer::Service);
    house.done(ReversePoints { awards, user: bo, source: key, reason, by });
    house.clock().advance(HOUR);
    start_season(&house, "0.6", None);
    house.clock().advance(HOUR);
    house.done(SuspendAccount { username: "fan2".to_owned() });
    let right = stored(&house, &OF_RECORDS);
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(mends(&house, "backfill-quest-points"), nothing);

    let ids = [id(&house, mia), id(&house, kim)].join(", ");
    forget_records(&house, &format!("user_id IN ({ids})"));
    assert_eq!([paid(&house, mia), paid(&house, kim)], [(0, 0), (0, 0)]);
    let mended = mends(&house, "backfill-quest-points");
    assert_eq!(mended, [("points", 1 + 7 + 3), ("records of quests", 2), ("records of steps", 3)]);
    assert_eq!(differences(&right, &stored(&house, &OF_RECORDS)), Vec::<String>::new());
    verified(&house);
    let boards: Vec<_> = ledger(&house, mia).iter().map(|record| record.board.is_some()).collect();
    assert_eq!(boards, [true; 3], "her favourite then is known");
    Ok(())
}

fn rule_13_a_visit_without_a_record_is_recorded_on_its_date(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let mia = house.fan("mia").id;
    let visit = || house.done(VisitDaily { user: mia, awards: house.app().awards() });
    for _ in 0..7 {
        visit();
        house.clock().advance(Duration::from_hours(24));
    }
    assert_eq!(paid(&house, mia), (7 * 10 + 50, 7));
    let last = ledger(&house, mia)[0].clone();
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(mends(&house, "backfill-visit-points"), nothing);
    forget_records(&house, &format!("source_key = '{}'", last.source));
    assert_eq!(paid(&house, mia), (60, 6));
    assert_eq!(mends(&house, "backfill-visit-points"), [("points", 60), ("records of visits", 1)]);
    let again = ledger(&house, mia)[0].clone();
    assert_eq!((&again.source, again.amount, again.season), (&last.source, last.amount, last.season));
    assert_eq!(again.at.to_string(), "2026-05-07T00:00:00.000Z");
    // The next day is another fact.
    assert!(!visit().already_completed);
    assert_eq!(paid(&house, mia), (130, 8));
    verified(&house);
    Ok(())
}

/// As records were before boards were known: without one, and totals accordingly.
fn forget_boards(house: &TestApp) {
    damage(house, &["UPDATE points_history SET leaderboard_id = NULL"]);
    run(house, &["repair-points"], false);
    verified(house);
}

fn rule_5_boards_are_named_where_they_can_be_known(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    house.team("foxes");
    let of_team = r#"
[[quest]]
key = "foxes"
title = "For the foxes"
cadence = "once"
team = "foxes"
step = [{ key = "cheer", title = "Cheer", points = 4 }]
"#;
    load(&house, &format!("{}{of_team}", super::quests::QUESTS));
    let [mia, bo, kim] = house.crowd("fan", 3)[..] else { panic!("three fans") };
    let (foxes, owls) = (house.team("foxes"), house.team("owls"));
    for (fan, team) in [(mia, owls), (kim, owls)] {
        favour(&house, fan, Some(team));
    }
    for fan in [mia, bo, kim] {
        start(&house, fan, "foxes");
        start(&house, fan, "ladder");
        complete(&house, fan, "foxes/cheer");
        complete(&house, fan, "ladder/one");
    }
    let awards = house.app().awards();
    house.done(VisitDaily { user: mia, awards });
    // Of what was brought in nobody knows what it was for.
    house.done(award(&house, bo, 9, "one"));
    let (awards, reason, by) = (house.app().awards(), "Back".to_owned(), Writer::Service);
    let source = SourceKey::quest_step(step(&house, "foxes/cheer"), None);
    house.done(ReversePoints { awards, user: bo, source, reason, by });
    let right = stored(&house, &OF_RECORDS);
    house.clock().advance(HOUR);
    forget_boards(&house);
    let gone = board_of(&house, foxes);
    assert!(ledger(&house, mia).iter().all(|record| record.board.is_none()));
    // Mia: step and quest of the foxes, a step, a visit. Bo: step, quest, and what was taken back. Kim as Mia, but for
    // the visit.
    assert_eq!(mends(&house, "backfill-boards"), [("fans", 3), ("records", 4 + 3 + 3)]);
    let (of_bo, mended) = (id(&house, bo), stored(&house, &OF_RECORDS));
    let differs = differences(&right, &mended);
    assert_eq!(differs, Vec::<String>::new(), "{of_bo}");
    verified(&house);

    // Whoever has changed their account since may have had another favourite then.
    favour(&house, kim, Some(foxes));
    house.clock().advance(HOUR);
    forget_boards(&house);
    assert_eq!(mends(&house, "backfill-boards"), [("fans", 3), ("records", 4 + 3 + 2)]);
    let known = |fan| ledger(&house, fan).iter().filter(|record| record.board.is_some()).count();
    assert_eq!([known(mia), known(bo), known(kim)], [4, 3, 2]);
    assert!(ledger(&house, kim).iter().all(|record| record.board.is_none_or(|board| gone == board.into())));
    verified(&house);
    Ok(())
}

fn rule_6_what_has_no_season_stays_without_a_board(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let mia = house.crowd("mia", 1)[0];
    favour(&house, mia, Some(house.team("foxes")));
    start(&house, mia, "ladder");
    complete(&house, mia, "ladder/one");
    let user = id(&house, mia);
    let legacy = "UPDATE points_history SET season_id = NULL, leaderboard_id = NULL";
    damage(&house, &[&format!("{legacy} WHERE user_id = {user}")]);
    run(&house, &["repair-points"], false);
    let nothing: Vec<(&str, u64)> = Vec::new();
    assert_eq!(mends(&house, "backfill-boards"), nothing);
    assert_eq!(mends(&house, "backfill-quest-points"), nothing, "it has its record");
    let totals = house.ask({
        let season = active(&house).id;
        move |tx| tx.totals_of(mia, season)
    });
    assert!(totals.iter().all(|total| total.total.points.get() == 0), "{totals:?}");
    Ok(())
}

/// Records that were brought in do not say what they are for; and an import of completions says of each what it paid, be it
/// nothing.
fn what_was_paid_elsewhere_is_not_paid_again(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let [mia, bo] = house.crowd("fan", 2)[..] else { panic!("two fans") };
    start(&house, mia, "ladder");
    complete(&house, mia, "ladder/one");
    forget_records(&house, "amount = 1");
    house.done(award(&house, mia, 6, "PointsHistory/clx93"));
    complete(&house, mia, "ladder/two");
    forget_records(&house, "source_key LIKE 'quest%'");
    let free = Completion {
        user: "fan1".to_owned(),
        quest: Some("ladder".to_owned()),
        step: "one".to_owned(),
        completed_at: house.app().now(),
        points: 0,
    };
    let imported = house.run(house.app().import_completions(vec![(1, free)], false))?;
    assert_eq!((imported.steps, imported.records, imported.points), (1, 0, 0));
    assert_eq!(
        mends(&house, "backfill-quest-points"),
        [("points", 7), ("records of quests", 1), ("records of steps", 1)]
    );
    assert_eq!((paid(&house, mia).0, paid(&house, bo)), (6 + 2 + 5, (0, 1)));
    verified(&house);
    Ok(())
}

/// While fans complete steps in two processes, records go missing and are backfilled in two others.
fn facts_that_are_paid_beside_a_backfill_are_paid_once(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let house = house.another()?;
    let (first, second) = (house.another()?, house.another()?);
    let fans = house.crowd("fan", 16);
    for fan in &fans {
        start(&house, *fan, "ladder");
        start(&house, *fan, "single");
    }
    let early: Vec<UserId> = fans.iter().copied().take(8).collect();
    for fan in &early {
        complete(&house, *fan, "ladder/one");
    }
    forget_records(&house, "amount = 1");
    let names = ["ladder/one", "ladder/two", "single/only"].map(|name| step(&house, name));
    let works: Vec<_> = fans
        .iter()
        .enumerate()
        .map(|(n, fan)| {
            let app = Arc::clone(if n % 2 == 0 { first.app() } else { second.app() });
            let fan = *fan;
            house.spawn(async move {
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
            run(&house, &["backfill-quest-points", "backfill-boards"], false).count("records of steps");
    }
    for work in works {
        house.join(work);
    }
    recorded += run(&house, &["backfill-quest-points"], false).count("records of steps");
    assert_eq!(recorded, 8, "what was paid where it was done is nobody else's");
    for fan in &fans {
        assert_eq!(paid(&house, *fan), (1 + 2 + 5 + 3 + 7, 5));
    }
    verified(&house);
    Ok(())
}

/// On a server it is round trips that take time: a batch is so many statements, however many records it writes; how often
/// it is looked whether its events were told is another matter. Where there are none, a record is a few statements.
fn missing_records_are_written_at_once(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let fans = house.crowd("fan", 20);
    for fan in &fans {
        start(&house, *fan, "single");
        complete(&house, *fan, "single/only");
    }
    let cost = |fans: &[UserId]| {
        let ids: Vec<String> = fans.iter().map(|fan| id(&house, *fan)).collect();
        forget_records(&house, &format!("user_id IN ({})", ids.join(", ")));
        let before = house.storage().statements();
        let recorded = run(&house, &["backfill-quest-points"], false).count("records of steps");
        assert_eq!(usize::try_from(recorded).expect("few"), fans.len());
        house.storage().statements() - before
    };
    let (few, many) = (cost(&fans[..4]), cost(&fans));
    match kind {
        DatabaseKind::Postgres => assert!(few.abs_diff(many) < 8, "{few}, {many}"),
        DatabaseKind::Sqlite => assert!(few < many && many - few < 16 * 50, "{few}, {many}"),
    }
    for fan in &fans {
        assert_eq!(paid(&house, *fan), (3 + 7, 2));
    }
    verified(&house);
    Ok(())
}

fn rule_13_onboarding_is_started_for_who_was_there_before(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| house.fan(name).id);
    let welcome = r#"
[[quest]]
key = "welcome"
title = "Welcome"
cadence = "once"
onboarding = true
bonus = 5
step = [{ key = "team", title = "Choose a team", points = 2, check = { kind = "choose_favorite_team" } }]
"#;
    favour(&house, mia, Some(house.team("foxes")));
    load(&house, &format!("{}{welcome}", super::quests::QUESTS));
    let new = house.fan("new").id;
    assert_eq!(run_of(&house, new, "welcome"), Some((RunStatus::Active, 0)));
    house.done(SuspendAccount { username: "kim".to_owned() });
    assert_eq!(mends(&house, "backfill-onboarding"), [("runs", 2)]);
    assert_eq!(run_of(&house, bo, "welcome"), Some((RunStatus::Active, 0)));
    assert_eq!(run_of(&house, kim, "welcome"), None);
    // What held before counts.
    let synced = run(&house, &["sync-quests"], false);
    assert_eq!((synced.count("steps"), synced.count("quests")), (1, 1));
    assert_eq!((run_of(&house, mia, "welcome"), paid(&house, mia).0), (Some((RunStatus::Completed, 1)), 7));
    Ok(())
}

fn rule_13_runs_and_the_order_of_steps_are_repaired(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let [mia, bo] = house.crowd("fan", 2)[..] else { panic!("two fans") };
    for fan in [mia, bo] {
        start(&house, fan, "ladder");
        complete(&house, fan, "ladder/one");
    }
    complete(&house, mia, "ladder/two");
    // When a run was started nobody knows any more: the first of its steps is the earliest that is known.
    let apart = ["user_quest_status.started_at"];
    let right = stored(&house, &apart);
    let ladder = id(&house, quest(&house, "ladder"));
    damage(
        &house,
        &[
            "DELETE FROM user_quest_status",
            &format!("UPDATE quest_steps SET place = place * 3 WHERE quest_id = {ladder}"),
        ],
    );
    assert_eq!(mends(&house, "repair-step-order"), [("places of steps", 2)]);
    assert_eq!(mends(&house, "repair-quest-runs"), [("completed quests", 1), ("runs", 2)]);
    assert_eq!(differences(&right, &stored(&house, &apart)), Vec::<String>::new());
    assert_eq!(run_of(&house, bo, "ladder"), Some((RunStatus::Active, 1)));
    assert_eq!(complete(&house, bo, "ladder/two"), 2 + 5);
    assert!(book(&house).quests().iter().all(|quest| {
        quest.steps.iter().map(|step| step.position).eq(1..=u32::try_from(quest.steps.len()).expect("few"))
    }));
    Ok(())
}
