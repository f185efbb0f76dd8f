//! Spec §1 rule 13 for quests: what fans completed elsewhere is imported once, matched by keys and titles and
//! never by a guess, with its points on the boards where they belong; boards, records and completed quests
//! agree afterwards.

use super::points::{active, board_of, global, ledger, points_on, start_season};
use super::quests::{QUESTS, book, check, load, paid, quest, run_of, start, step, with_quests};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::{ChangeProfile, SuspendAccount};
use terrace_testkit::app::quests::ReadCompletedQuests;
use terrace_testkit::identity::ProfileChange;
use terrace_testkit::kernel::{Limit, Timestamp, UserId};
use terrace_testkit::ops::{self, Completion, CompletionsImported, Verify, WhyNotMatched};
use terrace_testkit::quests::{Mismatch, Period, RunStatus};
use terrace_testkit::scoring::SourceKey;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_13_completions_are_imported_once,
    completions_made_here_are_unchanged,
    a_quest_begun_by_an_import_can_be_completed_here,
    lines_that_match_nothing_are_left_out_and_named,
    scoring_rules_4_to_6_points_count_in_the_season_of_their_time,
    a_daily_quest_goes_by_the_date_where_the_fan_was,
    a_dry_run_reports_the_same_and_writes_nothing,
    imports_and_fans_at_once_record_each_step_once,
}

/// Before the first season, which begins at 2026-05-01T12:00:00Z.
const MARCH: &str = "2025-03-01T10:00:00Z";
const APRIL: &str = "2025-04-01T10:00:00Z";

fn at(time: &str) -> Timestamp {
    time.parse().expect("an instant")
}

/// A line: the fan, the step as `quest/step` or its title alone, the time, the points paid.
fn line(user: &str, what: &str, time: &str, points: i64) -> Completion {
    let (quest, step) = what.split_once('/').map_or((None, what), |(quest, step)| (Some(quest), step));
    Completion {
        user: user.to_owned(),
        quest: quest.map(str::to_owned),
        step: step.to_owned(),
        completed_at: at(time),
        points,
    }
}

fn import(service: &TestApp, lines: &[Completion], dry_run: bool) -> CompletionsImported {
    let lines = (1..).zip(lines.iter().cloned()).collect();
    service.run(ops::import_completions(service.app(), lines, dry_run)).expect("a working store")
}

/// Imports lines twice: the second import changes nothing and appends no event.
fn import_twice(service: &TestApp, lines: &[Completion]) -> CompletionsImported {
    let first = import(service, lines, false);
    let before = service.settled();
    let again = import(service, lines, false);
    let expected = CompletionsImported {
        before: first.recorded + first.before,
        not_matched: first.not_matched.clone(),
        ..CompletionsImported::default()
    };
    assert_eq!((again, service.log(before).len()), (expected, 0));
    verified(service);
    first
}

pub(super) fn verified(service: &TestApp) {
    let points = service.run(ops::verify_points(service.app())).expect("a working store");
    assert_eq!(points.wrong(), 0, "{points:?}");
    let wrong: Vec<_> = service.found(Verify).into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn recorded(steps: u64, quests: u64, records: u64, points: i64) -> CompletionsImported {
    CompletionsImported { recorded: steps, steps, quests, records, points, ..CompletionsImported::default() }
}

/// The titles of what a fan completed, the points paid, the time.
fn completed(service: &TestApp, user: UserId) -> Vec<(String, i64, Timestamp)> {
    let read = ReadCompletedQuests { user, limit: Limit::MAX, after: None, book: book(service) };
    service.found(read).items.into_iter().map(|quest| (quest.title, quest.points, quest.at)).collect()
}

/// When a fan began a quest, and completed it.
fn times(service: &TestApp, user: UserId, key: &str, period: Period) -> (Timestamp, Option<Timestamp>) {
    let quest = quest(service, key);
    let runs = service.ask(move |tx| tx.runs(user, &[(quest, period)]));
    (runs[0].0.started_at, runs[0].0.completed_at)
}

/// The points that completing a step here pays now.
fn pays(service: &TestApp, user: UserId, name: &str) -> i64 {
    service
        .run(service.app().complete_step(user, step(service, name)))
        .expect("a step that may be done")
        .1
        .points
}

/// In any order; fans by name in any spelling or by id; steps by key or by title; whether or not the quest is
/// sequential, open, or comes after another.
fn spec_1_rule_13_completions_are_imported_once(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let [mia, bo] = service.crowd("fan", 2)[..] else { panic!("two fans") };
    let lines = [
        line("FAN0", " up THE  ladder/TWO", APRIL, 20),
        line("fan0", "one", MARCH, 10),
        line("fan0", "ladder/one", APRIL, 99),
        line(&bo.to_string(), "second/only", MARCH, 0),
        line("fan1", "Have a follower", APRIL, 4),
    ];
    let first = import_twice(&service, &lines);
    assert_eq!(first, CompletionsImported { before: 1, ..recorded(4, 3, 3, 34) });
    assert_eq!(run_of(&service, mia, "ladder"), Some((RunStatus::Completed, 2)));
    assert_eq!(times(&service, mia, "ladder", Period::Once), (at(MARCH), Some(at(APRIL))));
    assert_eq!(completed(&service, mia), [("Up the ladder".to_owned(), 30, at(APRIL))]);
    let late = ("Not yet".to_owned(), 4, at(APRIL));
    assert_eq!(completed(&service, bo), [late, ("After the ladder".to_owned(), 0, at(MARCH))]);
    let records: Vec<_> = ledger(&service, mia)
        .into_iter()
        .map(|record| {
            (record.source.to_string(), record.amount.get(), record.season, record.board, record.at)
        })
        .collect();
    let key = |name| SourceKey::quest_step(step(&service, name), None).to_string();
    assert_eq!(records.len(), 3);
    for record in [
        (key("ladder/one"), 10, None, None, at(MARCH)),
        (key("ladder/two"), 20, None, None, at(APRIL)),
        (SourceKey::quest(quest(&service, "ladder"), None).to_string(), 0, None, None, at(APRIL)),
    ] {
        assert!(records.contains(&record), "{record:?}: {records:?}");
    }
    // The step is completed: here it pays nothing any more, by hand or by a check.
    assert_eq!(["ladder/one", "ladder/two"].map(|name| pays(&service, mia, name)), [0, 0]);
    assert_eq!((check(&service, mia).points, paid(&service, mia)), (0, (30, 3)));
    assert_eq!(import(&service, &[], false), CompletionsImported::default());
    Ok(())
}

fn completions_made_here_are_unchanged(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    let now = service.app().now();
    start(&service, mia, "ladder");
    start(&service, mia, "single");
    assert_eq!(pays(&service, mia, "ladder/one"), 1);
    assert_eq!(pays(&service, mia, "single/only"), 3 + 7);
    let lines = [line("mia0", "ladder/one", MARCH, 50), line("mia0", "single/only", MARCH, 50)];
    assert_eq!(
        import_twice(&service, &lines),
        CompletionsImported { before: 2, ..CompletionsImported::default() }
    );
    assert_eq!(times(&service, mia, "ladder", Period::Once), (now, None));
    assert_eq!(
        (paid(&service, mia), run_of(&service, mia, "ladder")),
        ((11, 3), Some((RunStatus::Active, 1)))
    );
    // The other step is new: the quest is complete since the last of its steps, and its bonus is not paid.
    assert_eq!(import_twice(&service, &[line("mia0", "ladder/two", MARCH, 8)]), recorded(1, 1, 1, 8));
    assert_eq!(times(&service, mia, "ladder", Period::Once), (at(MARCH), Some(now)));
    assert_eq!(paid(&service, mia), (11 + 8, 5));
    Ok(())
}

fn a_quest_begun_by_an_import_can_be_completed_here(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    // Without points: nothing was paid, and nothing pays it later, neither another file nor the step here.
    assert_eq!(import_twice(&service, &[line("mia0", "ladder/one", MARCH, 0)]), recorded(1, 0, 0, 0));
    assert_eq!(
        (paid(&service, mia), run_of(&service, mia, "ladder")),
        ((0, 1), Some((RunStatus::Active, 1)))
    );
    let later = import_twice(&service, &[line("mia0", "ladder/one", APRIL, 6)]);
    assert_eq!(later, CompletionsImported { before: 1, ..CompletionsImported::default() });
    assert_eq!(pays(&service, mia, "ladder/one"), 0);
    // The last step is completed here, and so the bonus is paid.
    assert_eq!(pays(&service, mia, "ladder/two"), 2 + 5);
    assert_eq!(paid(&service, mia), (7, 3));
    verified(&service);
    Ok(())
}

fn lines_that_match_nothing_are_left_out_and_named(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let twice = QUESTS.replace("title = \"Every day\"", "title = \"One step\"");
    load(&service, &twice);
    service.crowd("mia", 2);
    service.done(SuspendAccount { username: "mia1".to_owned() });
    let stranger = UserId::from_uuid("01890000-0000-7000-8000-000000000000".parse()?);
    let now = service.app().now();
    let lines = [
        line("mia", "ladder/one", MARCH, 1),
        line("m\0ia", "ladder/one", MARCH, 1),
        line("", "ladder/one", MARCH, 1),
        line("mia1", "ladder/one", MARCH, 1),
        line(&stranger.to_string(), "ladder/one", MARCH, 1),
        line("mia0", "snakes/one", MARCH, 1),
        line("mia0", "ladder/three", MARCH, 1),
        line("mia0", "one step/only", MARCH, 1),
        line("mia0", "Only", MARCH, 1),
        line("mia0", "Nothing\u{1b}", MARCH, 1),
        line("mia0", "ladder/one", "2026-05-01T12:00:00.000001Z", 1),
        line("mia0", "ladder/two", &now.to_string(), 2),
    ];
    let imported = import_twice(&service, &lines);
    assert_eq!(CompletionsImported { not_matched: Vec::new(), ..imported.clone() }, recorded(1, 0, 1, 2));
    let left: Vec<_> =
        imported.not_matched.iter().map(|left| (left.line, left.why, left.about.as_str())).collect();
    let id = stranger.to_string();
    let expected = [
        (WhyNotMatched::UnknownFan, "mia"),
        (WhyNotMatched::UnknownFan, "m\u{fffd}ia"),
        (WhyNotMatched::UnknownFan, ""),
        (WhyNotMatched::NotActive, "mia1"),
        (WhyNotMatched::NotActive, &id),
        (Mismatch::UnknownQuest.into(), "snakes"),
        (Mismatch::UnknownStep.into(), "three"),
        (Mismatch::AmbiguousQuest.into(), "one step"),
        (Mismatch::AmbiguousStep.into(), "Only"),
        (Mismatch::UnknownStep.into(), "Nothing\u{fffd}"),
        (WhyNotMatched::Future, "2026-05-01T12:00:00.000Z"),
    ];
    let expected: Vec<_> = (1..).zip(expected).map(|(number, (why, about))| (number, why, about)).collect();
    assert_eq!(left, expected);
    Ok(())
}

/// Also in a season that is over, since maintenance writes it. An award without a team has no board,
/// whichever team is the favourite now.
fn scoring_rules_4_to_6_points_count_in_the_season_of_their_time(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let (foxes, owls) = (service.team("foxes"), service.team("owls"));
    let team = QUESTS.replace("title = \"One step\"", "title = \"One step\"\nteam = \"foxes\"");
    load(&service, &team);
    let mia = service.crowd("mia", 1)[0];
    let change = ProfileChange { favorite_team: Some(Some(owls)), ..ProfileChange::default() };
    service.done(ChangeProfile { user: mia, change });
    let (over, then) = (active(&service), service.app().now().to_string());
    service.clock().advance(Duration::from_hours(24));
    start_season(&service, "0.6", None);
    service.clock().advance(Duration::from_hours(24));
    let (this, now) = (active(&service), service.app().now().to_string());
    let lines = [
        line("mia0", "ladder/one", MARCH, 100),
        line("mia0", "ladder/two", &then, 20),
        line("mia0", "single/only", &then, 3),
        line("mia0", "friends/two", &now, 5),
    ];
    assert_eq!(import_twice(&service, &lines), recorded(4, 3, 4, 128));
    let counts = |season, board| points_on(&service, mia, season, board);
    assert_eq!(counts(over.id, global(&service, over.id)), Some(20 + 3));
    assert_eq!(counts(this.id, global(&service, this.id)), Some(5));
    assert_eq!(counts(over.id, board_of(&service, foxes)), Some(3));
    let boards: Vec<_> = ledger(&service, mia).into_iter().filter_map(|record| record.board).collect();
    // The step and the quest of the team.
    assert_eq!(
        boards.iter().map(|board| board.as_uuid()).collect::<Vec<_>>(),
        [board_of(&service, foxes).as_uuid(); 2]
    );
    Ok(())
}

fn a_daily_quest_goes_by_the_date_where_the_fan_was(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    let lives_in = |zone: &str| {
        let change =
            ProfileChange { time_zone: Some(zone.parse().expect("a zone")), ..ProfileChange::default() };
        service.done(ChangeProfile { user: mia, change });
    };
    lives_in("Pacific/Auckland");
    // Still the first date in London, the second in Auckland, and the same date an hour later.
    let lines = [
        line("mia0", "daily/hello", "2025-03-01T12:00:00Z", 1),
        line("mia0", "daily/hello", "2025-03-01T13:00:00Z", 1),
        line("mia0", "daily/hello", "2025-03-02T12:00:00Z", 1),
    ];
    let first = import_twice(&service, &lines);
    assert_eq!(first, CompletionsImported { before: 1, ..recorded(2, 2, 2, 2) });
    for (date, time) in [("2025-03-02", "2025-03-01T12:00:00Z"), ("2025-03-03", "2025-03-02T12:00:00Z")] {
        let day = Period::Day(date.parse()?);
        assert_eq!(times(&service, mia, "daily", day), (at(time), Some(at(time))), "{date}");
    }
    // A fan who has moved since is not paid twice.
    lives_in("Pacific/Honolulu");
    assert_eq!(
        import(&service, &[lines[0].clone(), lines[2].clone()], false),
        CompletionsImported { before: 2, ..CompletionsImported::default() }
    );
    Ok(())
}

fn a_dry_run_reports_the_same_and_writes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    let lines = [
        line("mia0", "ladder/one", MARCH, 1),
        line("mia0", "ladder/two", APRIL, 2),
        line("mia0", "Two", APRIL, 2),
        line("mia0", "Nothing", APRIL, 2),
    ];
    let before = service.settled();
    let said = import(&service, &lines, true);
    assert_eq!(
        (service.log(before).len(), paid(&service, mia), run_of(&service, mia, "ladder")),
        (0, (0, 0), None)
    );
    assert_eq!(import(&service, &lines, false), said);
    assert_eq!((said.recorded, said.before, said.not_matched.len()), (2, 1, 1));
    // Lines that exist already are counted as such.
    let again =
        CompletionsImported { before: 3, not_matched: said.not_matched, ..CompletionsImported::default() };
    assert_eq!(import(&service, &lines, true), again);
    Ok(())
}

/// Accounts are locked in the order of their ids: there is no deadlock, whatever the order of the lines.
fn imports_and_fans_at_once_record_each_step_once(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 12);
    for fan in &fans {
        start(&service, *fan, "single");
    }
    let mut lines: Vec<(u64, Completion)> = Vec::new();
    for (number, n) in (1..).zip(0..fans.len()) {
        lines.push((number, line(&format!("fan{n}"), "single/only", MARCH, 4)));
        lines.push((number, line(&format!("fan{n}"), "ladder/one", MARCH, 6)));
    }
    let imports = (0..4).map(|n| {
        let (app, mut lines) =
            (Arc::clone(if n % 2 == 0 { service.app() } else { other.app() }), lines.clone());
        lines.rotate_left(n * 5);
        service.spawn(async move { ops::import_completions(&app, lines, false).await })
    });
    let imports: Vec<_> = imports.collect();
    let only = step(&service, "single/only");
    let here = service.together(fans.iter().map(|fan| {
        let (app, fan) = (Arc::clone(service.app()), *fan);
        async move { app.complete_step(fan, only).await.expect("a step that may be done").1.points }
    }));
    let imported: Vec<_> =
        imports.into_iter().map(|import| service.join(import).expect("a working store")).collect();
    assert_eq!(imported.iter().map(|one| one.recorded + one.before).collect::<Vec<_>>(), [24; 4]);
    let by_hand = here.iter().filter(|points| **points == 3 + 7).count();
    assert_eq!(by_hand, here.iter().filter(|points| **points > 0).count());
    let new: u64 = imported.iter().map(|one| one.steps).sum();
    assert_eq!(usize::try_from(new)?, 24 - by_hand);
    for (fan, points) in fans.iter().zip(here) {
        let single = if points > 0 { points } else { 4 };
        assert_eq!(paid(&service, *fan), (6 + single, 3));
    }
    verified(&service);
    Ok(())
}
