//! Spec §1 rule 5, §3 and §4 "Quests" in the store: a step pays once, with its completion or not at all;
//! progress outlives changes of the content; a step that is not available is refused.

use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::graph::{FollowUser, UnfollowUser};
use terrace_testkit::app::quests::{
    CompleteStepRefusal, ReadOwnQuests, StartQuest, StartQuestRefusal, StepCompleted,
};
use terrace_testkit::app::{Checked, QuestBook, QuestContent};
use terrace_testkit::identity::TimeZone;
use terrace_testkit::kernel::{Clock, EventKind, Failure, Limit, Outcome, Position, UserId};
use terrace_testkit::quests::{QuestId, RunStatus, StartRefusal, StepId, StepRefusal};
use terrace_testkit::scoring::{Season, SeasonStatus};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database, registration};

on_each_database! {
    spec_3_rules_2_and_3_two_hundred_at_once_pay_once_and_complete_once,
    spec_3_rule_2_steps_of_many_fans_at_once_are_answered_one_by_one,
    spec_3_rule_2_a_failure_between_step_and_reward_leaves_neither,
    spec_4_a_quest_that_is_edited_midway_keeps_what_fans_did,
    an_unavailable_step_is_refused_and_changes_nothing,
    spec_1_rule_5_unfollow_and_follow_again_counts_as_one,
    spec_1_rule_5_unprocessed_actions_are_processed_after_a_restart,
    spec_1_rule_5_a_completion_is_not_dated_before_its_event,
    a_daily_quest_goes_by_the_fans_own_date,
    a_check_with_nothing_new_is_three_statements_and_writes_nothing,
}

/// Quests of every sort.
pub(super) const QUESTS: &str = r#"
[[quest]]
key = "ladder"
title = "Up the ladder"
cadence = "once"
sequential = true
bonus = 5
step = [
    { key = "one", title = "One", points = 1 },
    { key = "two", title = "Two", points = 2 },
]

[[quest]]
key = "single"
title = "One step"
cadence = "once"
bonus = 7
step = [{ key = "only", title = "Only", points = 3 }]

[[quest]]
key = "friends"
title = "Friends"
cadence = "once"
step = [{ key = "two", title = "Follow two", points = 4, check = { kind = "follow_user", count = 2 } }]

[[quest]]
key = "daily"
title = "Every day"
cadence = "daily"
bonus = 2
step = [{ key = "hello", title = "Hello", points = 1 }]

[[quest]]
key = "later"
title = "Not yet"
cadence = "once"
opens = "2026-05-02T12:00:00Z"
closes = "2026-05-03T12:00:00Z"
step = [{ key = "fans", title = "Have a follower", points = 9, check = { kind = "get_followers", count = 1 } }]

[[quest]]
key = "second"
title = "After the ladder"
cadence = "once"
requires = ["ladder"]
step = [{ key = "only", title = "Only", points = 1 }]

[[quest]]
key = "climb"
title = "Up the table"
cadence = "once"
step = [{ key = "second", title = "Stand second", points = 6, check = { kind = "rank_threshold", rank = 2 } }]
"#;

pub(super) fn load(service: &TestApp, content: &str) {
    let content = QuestContent::parse(content).expect("quests");
    service.run(service.app().load_quests(content)).expect("quests that go with what there is");
}

/// A process on a database with these quests and a season.
pub(super) fn with_quests(kind: DatabaseKind) -> Result<TestApp> {
    quests_of(TestApp::start(kind)?)
}

/// Adds a season and quests to a service with other settings.
pub(super) fn quests_of(service: TestApp) -> Result<TestApp> {
    service.run(service.app().found_seasons())?;
    load(&service, QUESTS);
    Ok(service)
}

pub(super) fn book(service: &TestApp) -> Arc<QuestBook> {
    service.run(service.app().quest_book()).expect("the quests")
}

pub(super) fn quest(service: &TestApp, key: &str) -> QuestId {
    let book = book(service);
    book.quests().iter().find(|quest| quest.key.as_str() == key).expect("the quest").id
}

/// The step `quest/step`.
pub(super) fn step(service: &TestApp, name: &str) -> StepId {
    let (key, step) = name.split_once('/').expect("a quest and a step");
    let book = book(service);
    let quest = book.quests().iter().find(|quest| quest.key.as_str() == key).expect("the quest");
    quest.steps.iter().find(|one| one.key.as_str() == step).expect("the step").id
}

pub(super) fn start(service: &TestApp, user: UserId, key: &str) {
    service.done(StartQuest { user, quest: quest(service, key), book: book(service) });
}

pub(super) fn complete(
    service: &TestApp,
    user: UserId,
    name: &str,
) -> Outcome<StepCompleted, CompleteStepRefusal> {
    let step = step(service, name);
    service.run(service.app().complete_step(user, step)).map(|(_, completed)| completed)
}

/// Completes a step and returns the points paid.
fn pays(service: &TestApp, user: UserId, name: &str) -> i64 {
    complete(service, user, name).expect("a step that may be done").points
}

fn refusal<T>(outcome: Outcome<T, CompleteStepRefusal>) -> CompleteStepRefusal {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal,
        Err(Failure::Broken(error)) => panic!("{error}"),
        Ok(_) => panic!("it was not refused"),
    }
}

pub(super) fn check(service: &TestApp, user: UserId) -> Checked {
    service.run(service.app().check_progress(user)).expect("a fan")
}

/// The sum of a fan's records, and their number.
pub(super) fn paid(service: &TestApp, user: UserId) -> (i64, usize) {
    let records = service.ask(move |tx| tx.records(user, Limit::MAX, None)).items;
    (records.iter().map(|record| record.amount.get()).sum(), records.len())
}

/// The status of a fan's run of a quest, and how many of its steps are completed.
pub(super) fn run_of(service: &TestApp, user: UserId, key: &str) -> Option<(RunStatus, usize)> {
    let own = service.found(ReadOwnQuests { user, book: book(service) });
    own.runs.get(&quest(service, key)).map(|(run, done)| (run.status, done.len()))
}

fn events_of(service: &TestApp, kind: EventKind) -> usize {
    service.log(Position::START).into_iter().filter(|event| event.what.kind == kind).count()
}

fn spec_3_rules_2_and_3_two_hundred_at_once_pay_once_and_complete_once(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let other = service.another()?;
    let mia = service.crowd("mia", 1)[0];
    start(&service, mia, "single");
    let only = step(&service, "single/only");
    let completed = service.together((0..200).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        async move { app.complete_step(mia, only).await.map(|(_, completed)| completed) }
    }));
    let completed: Vec<StepCompleted> = completed.into_iter().map(|one| one.expect("an answer")).collect();
    assert_eq!(completed.iter().map(|one| one.points).sum::<i64>(), 3 + 7);
    assert_eq!(completed.iter().filter(|one| one.completes_quest).count(), 1);
    assert_eq!(paid(&service, mia), (3 + 7, 2));
    assert_eq!(
        [EventKind::StepCompleted, EventKind::QuestCompleted].map(|kind| events_of(&service, kind)),
        [1, 1]
    );
    assert_eq!(run_of(&service, mia, "single"), Some((RunStatus::Completed, 1)));
    Ok(())
}

/// Paid, completed before, refused, or the last step of its quest: none affects another of the same batch.
fn spec_3_rule_2_steps_of_many_fans_at_once_are_answered_one_by_one(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let fans = service.crowd("fan", 30);
    let steps = ["ladder/one", "ladder/two", "single/only", "ladder/one"].map(|path| step(&service, path));
    for (n, fan) in fans.iter().enumerate() {
        match n % 5 {
            2 => start(&service, *fan, "single"),
            3 => {}
            _ => start(&service, *fan, "ladder"),
        }
    }
    let order = |fan: UserId, step: StepId| {
        let app = Arc::clone(service.app());
        async move { app.complete_step(fan, step).await.map(|(_, completed)| completed) }
    };
    let orders = fans.iter().enumerate().flat_map(|(n, fan)| match steps.get(n % 5) {
        Some(step) => vec![order(*fan, *step)],
        None => vec![order(*fan, steps[0]), order(*fan, steps[0])],
    });
    let mut answers = service.together(orders).into_iter();
    for (n, fan) in fans.iter().enumerate() {
        let answer = answers.next().expect("an answer");
        let points = |answer: &Outcome<StepCompleted, CompleteStepRefusal>| {
            answer.as_ref().map_or(-1, |completed| completed.points)
        };
        let expected = match n % 5 {
            0 => 1,
            2 => 3 + 7,
            4 => {
                assert_eq!(points(&answer) + points(&answers.next().expect("an answer")), 1);
                assert_eq!(paid(&service, *fan), (1, 1));
                continue;
            }
            _ => {
                let refused = matches!(answer, Err(Failure::Refused(CompleteStepRefusal::Rule(_))));
                assert!(refused, "{answer:?}");
                assert_eq!(paid(&service, *fan), (0, 0));
                continue;
            }
        };
        assert_eq!((points(&answer), paid(&service, *fan).0), (expected, expected));
    }
    assert_eq!(
        [EventKind::StepCompleted, EventKind::QuestCompleted].map(|kind| events_of(&service, kind)),
        [18, 6]
    );
    Ok(())
}

/// The season is closed although it covers today, so that its rules refuse every award.
fn spec_3_rule_2_a_failure_between_step_and_reward_leaves_neither(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    start(&service, mia, "single");
    start(&service, mia, "friends");
    for other in service.crowd("other", 2) {
        service.done(FollowUser { fan: mia, other });
    }
    let active = service.ask(|tx| tx.seasons()).active().expect("a season").clone();
    let put = |season: Season| {
        service.write(move |tx, ctx| Ok(tx.put_seasons(&[(season.clone(), ctx.new_id())], ctx.now())?));
        // A closed season does not open again, so a process has to load it first.
        service
            .run(async { service.app().seasons(service.app().boards_now(None).await).await })
            .expect("the seasons");
    };
    let ends_at = Some(service.app().now().plus(Duration::from_hours(1)));
    put(Season { status: SeasonStatus::Closed, ends_at, ..active.clone() });
    let before = service.settled();
    for _ in 0..2 {
        let broken = complete(&service, mia, "single/only");
        assert!(matches!(broken, Err(Failure::Broken(_))), "{broken:?}");
        let broken = service.run(service.app().check_progress(mia));
        assert!(matches!(broken, Err(Failure::Broken(_))), "{broken:?}");
    }
    for quest in ["single", "friends"] {
        assert_eq!(run_of(&service, mia, quest), Some((RunStatus::Active, 0)));
    }
    assert_eq!((paid(&service, mia), service.log(before)), ((0, 0), Vec::new()));
    put(active);
    assert_eq!(pays(&service, mia, "single/only"), 10);
    assert_eq!(check(&service, mia).points, 4);
    Ok(())
}

fn spec_4_a_quest_that_is_edited_midway_keeps_what_fans_did(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let [mia, bo] = [0, 1].map(|n: usize| service.crowd(["mia", "bo"][n], 1)[0]);
    for fan in [mia, bo] {
        start(&service, fan, "ladder");
    }
    assert_eq!(pays(&service, mia, "ladder/one"), 1);
    let ids = ["ladder/one", "ladder/two"].map(|name| step(&service, name));
    // Other texts and points, and one more step: completed steps stay completed, and paid points stay as they
    // were.
    let edited = QUESTS
        .replace("Up the ladder", "To the top")
        .replace(
            r#"{ key = "one", title = "One", points = 1 }"#,
            r#"{ key = "one", title = "First", points = 50 }"#,
        )
        .replace(
            r#"{ key = "two", title = "Two", points = 2 }"#,
            r#"{ key = "two", title = "Two", points = 2 }, { key = "three", title = "Three", points = 4 }"#,
        );
    load(&service, &edited);
    assert_eq!(["ladder/one", "ladder/two"].map(|name| step(&service, name)), ids);
    assert_eq!(run_of(&service, mia, "ladder"), Some((RunStatus::Active, 1)));
    assert_eq!(pays(&service, mia, "ladder/one"), 0);
    assert_eq!(pays(&service, bo, "ladder/one"), 50);
    assert_eq!(
        refusal(complete(&service, mia, "ladder/three")),
        CompleteStepRefusal::Rule(StepRefusal::OutOfOrder)
    );
    assert_eq!(pays(&service, mia, "ladder/two"), 2);
    assert_eq!(run_of(&service, mia, "ladder"), Some((RunStatus::Active, 2)), "the new step is wanted, too");
    // The new step is removed again, and with it the open work: the next check completes the quest, once.
    load(&service, QUESTS);
    let checked = check(&service, mia);
    assert_eq!((checked.steps.len(), checked.quests.len(), checked.points), (0, 1, 5));
    assert_eq!((check(&service, mia).points, paid(&service, mia)), (0, (1 + 2 + 5, 3)));
    // A removed step belongs to no quest, and its completions return with it.
    let shorter = QUESTS.replace(r#"{ key = "two", title = "Two", points = 2 },"#, "");
    load(&service, &shorter);
    assert_eq!(refusal_of(&service, bo, ids[1]), CompleteStepRefusal::UnknownStep);
    assert_eq!(check(&service, bo).points, 5);
    load(&service, QUESTS);
    assert_eq!(run_of(&service, mia, "ladder"), Some((RunStatus::Completed, 2)));
    assert_eq!(run_of(&service, bo, "ladder"), Some((RunStatus::Completed, 1)));
    // A fan who completed the quest without the step may still complete it, which does not complete the quest
    // again.
    assert_eq!(pays(&service, bo, "ladder/two"), 2);
    assert_eq!(paid(&service, bo), (50 + 5 + 2, 3));
    assert_eq!(events_of(&service, EventKind::QuestCompleted), 2);
    Ok(())
}

fn refusal_of(service: &TestApp, user: UserId, step: StepId) -> CompleteStepRefusal {
    refusal(service.run(service.app().complete_step(user, step)))
}

fn an_unavailable_step_is_refused_and_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let [mia, bo] = [0, 1].map(|n: usize| service.crowd(["mia", "bo"][n], 1)[0]);
    let nothing = (0, 0);
    let rule = CompleteStepRefusal::Rule;
    let refuses = |name: &str| refusal(complete(&service, mia, name));
    let cannot_start = |key: &str| {
        let starting = StartQuest { user: mia, quest: quest(&service, key), book: book(&service) };
        match service.refused(starting) {
            StartQuestRefusal::Rule(rule) => rule,
            StartQuestRefusal::UnknownQuest | StartQuestRefusal::NotActive => panic!("{key} is there"),
        }
    };
    assert_eq!(refuses("ladder/one"), rule(StepRefusal::QuestNotStarted));
    start(&service, mia, "ladder");
    // A run of one quest does not count for another, nor for another fan.
    assert_eq!(refuses("single/only"), rule(StepRefusal::QuestNotStarted));
    assert_eq!(refusal(complete(&service, bo, "ladder/one")), rule(StepRefusal::QuestNotStarted));
    assert_eq!(refuses("ladder/two"), rule(StepRefusal::OutOfOrder));
    assert_eq!(cannot_start("second"), StartRefusal::PrerequisitesMissing);
    assert_eq!(cannot_start("later"), StartRefusal::QuestClosed);
    start(&service, mia, "friends");
    service.done(FollowUser { fan: mia, other: bo });
    assert_eq!(refuses("friends/two"), rule(StepRefusal::ConditionNotMet));
    assert_eq!((check(&service, mia), paid(&service, mia)), (Checked::default(), nothing));
    // From the first instant of its window to the last.
    service.clock().advance(Duration::from_hours(24));
    start(&service, mia, "later");
    assert_eq!(refuses("later/fans"), rule(StepRefusal::ConditionNotMet));
    service.done(FollowUser { fan: bo, other: mia });
    service.clock().advance(Duration::from_hours(24));
    assert_eq!(refuses("later/fans"), rule(StepRefusal::QuestClosed));
    assert_eq!((check(&service, mia), paid(&service, mia)), (Checked::default(), nothing));
    // A quest that left the content is closed to fans with a run of it.
    let one = step(&service, "ladder/one");
    let ladder = &QUESTS[..QUESTS.find("[[quest]]\nkey = \"single\"").expect("the second")];
    let without = QUESTS.replace(ladder, "\n").replace("requires = [\"ladder\"]\n", "");
    load(&service, &without);
    assert_eq!(refusal_of(&service, mia, one), rule(StepRefusal::QuestClosed));
    load(&service, QUESTS);
    assert_eq!(pays(&service, mia, "ladder/one") + pays(&service, mia, "ladder/two"), 1 + 2 + 5);
    start(&service, mia, "second");
    Ok(())
}

fn spec_1_rule_5_unfollow_and_follow_again_counts_as_one(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let (mia, others) = (service.crowd("mia", 1)[0], service.crowd("other", 2));
    start(&service, mia, "friends");
    for _ in 0..3 {
        service.done(FollowUser { fan: mia, other: others[0] });
        service.done(FollowUser { fan: mia, other: others[0] });
        assert_eq!(check(&service, mia).points, 0);
        service.done(UnfollowUser { fan: mia, other: others[0] });
    }
    for other in &others {
        service.done(FollowUser { fan: mia, other: *other });
    }
    assert_eq!(check(&service, mia).points, 4);
    // Completed steps stay completed when the follows end, and they are not completed again.
    for other in &others {
        service.done(UnfollowUser { fan: mia, other: *other });
        service.done(FollowUser { fan: mia, other: *other });
    }
    assert_eq!((check(&service, mia).points, paid(&service, mia)), (0, (4, 2)));
    Ok(())
}

/// Social actions are processed from the event log: another process processes what one has left.
fn spec_1_rule_5_unprocessed_actions_are_processed_after_a_restart(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let (fans, others) = (service.crowd("fan", 5), service.crowd("other", 2));
    for fan in &fans {
        start(&service, *fan, "friends");
        for other in &others {
            service.done(FollowUser { fan: *fan, other: *other });
        }
    }
    service.settled();
    let next = service.another()?;
    drop(service);
    next.settled();
    // Several processes at once process each of them once.
    let also = next.another()?;
    let outcomes = next.together([next.app(), also.app()].map(|app| {
        let app = Arc::clone(app);
        async move { app.catch_up_consumers().await }
    }));
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    for fan in &fans {
        assert_eq!(paid(&next, *fan), (4, 2));
        assert_eq!(run_of(&next, *fan, "friends"), Some((RunStatus::Completed, 1)));
    }
    assert_eq!(events_of(&next, EventKind::QuestCompleted), fans.len());
    Ok(())
}

/// The consumer's process may have read its time before the event existed, or its clock may be behind.
fn spec_1_rule_5_a_completion_is_not_dated_before_its_event(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let (fan, others) = (service.crowd("fan", 1)[0], service.crowd("other", 2));
    start(&service, fan, "friends");
    service.clock().advance(Duration::from_mins(1));
    for other in others {
        service.done(FollowUser { fan, other });
    }
    let followed = service.clock().now();
    service.settled();
    service.clock().set(followed.minus(Duration::from_mins(1)));
    service.run(service.app().catch_up_consumers())?;
    let limit = Limit::new(100).expect("a limit");
    let records = service.ask(move |tx| tx.records(fan, limit, None)).items;
    assert_eq!(records.iter().map(|record| record.at).collect::<Vec<_>>(), [followed; 2], "step and quest");
    Ok(())
}

/// At noon in UTC it has been tomorrow for two hours on Kiritimati, and a new date for two hours in Honolulu.
fn a_daily_quest_goes_by_the_fans_own_date(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let fan = |name: &str, zone: &str| {
        let zone: TimeZone = zone.parse().expect("a zone");
        let signing_up =
            terrace_testkit::app::Registration { time_zone: Some(zone), ..registration(name, PASSWORD) };
        service.run(service.app().register(signing_up, None)).expect("an account").profile.account.card.id
    };
    let [east, west] = [fan("east", "Pacific/Kiritimati"), fan("west", "Pacific/Honolulu")];
    let is_in_it = |user| run_of(&service, user, "daily");
    let visit = |user| {
        start(&service, user, "daily");
        pays(&service, user, "daily/hello")
    };
    assert_eq!([visit(east), visit(west), visit(east), visit(west)], [3, 3, 0, 0]);
    // Midnight on Kiritimati is at ten in the morning, and in Honolulu too: twenty-four hours apart by the
    // date.
    service.clock().advance(Duration::from_hours(22) - Duration::from_secs(1));
    assert_eq!([east, west].map(is_in_it), [Some((RunStatus::Completed, 1)); 2]);
    service.clock().advance(Duration::from_secs(1));
    assert_eq!([east, west].map(is_in_it), [None; 2]);
    assert_eq!(
        refusal(complete(&service, east, "daily/hello")),
        CompleteStepRefusal::Rule(StepRefusal::QuestNotStarted)
    );
    assert_eq!([visit(east), visit(west)], [3, 3]);
    // Both were paid for two dates each, one of which is the same.
    let dates = |user: UserId| {
        let records = service.ask(move |tx| tx.records(user, Limit::MAX, None)).items;
        let mut dates: Vec<_> = records.iter().filter_map(|record| record.source.local_date()).collect();
        dates.sort();
        dates.dedup();
        dates.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!([dates(east), dates(west)], [["2026-05-02", "2026-05-03"], ["2026-05-01", "2026-05-02"]]);
    Ok(())
}

/// A check that finds nothing is three statements: the time zone with the visits, the facts of the fan, and
/// their runs with the steps.
fn a_check_with_nothing_new_is_three_statements_and_writes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    for quest in ["ladder", "single", "friends", "daily"] {
        start(&service, mia, quest);
    }
    pays(&service, mia, "ladder/one");
    pays(&service, mia, "single/only");
    check(&service, mia);
    let before = service.settled();
    // The quests themselves are cached for a second; a check that has to read them does that once.
    let statements = (0..5).map(|_| {
        let before = service.storage().statements();
        assert_eq!(check(&service, mia), Checked::default());
        service.storage().statements() - before
    });
    assert_eq!(statements.min(), Some(3));
    assert_eq!(service.log(before), []);
    Ok(())
}
