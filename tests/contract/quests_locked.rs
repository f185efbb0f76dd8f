//! Quests that require other quests (spec §3, rule 5): what content adds later holds for runs that began before, and
//! a requirement that is fulfilled lets the waiting steps through.

use super::quests::{book, check, complete, load, paid, quest, run_of, start, step};
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::QuestContent;
use terrace_testkit::app::graph::FollowUser;
use terrace_testkit::app::quests::{CompleteStepRefusal, ReadOwnQuests};
use terrace_testkit::kernel::{Failure, UserId};
use terrace_testkit::ops;
use terrace_testkit::quests::{RunStatus, StepRefusal};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_3_rule_5_a_requirement_added_later_locks_the_steps_of_a_run,
    spec_3_rule_5_a_daily_requirement_is_fulfilled_on_any_day,
    spec_3_rule_5_a_completed_requirement_lets_conditions_complete_steps,
    spec_3_rule_5_requirements_in_a_circle_are_refused_and_change_nothing,
    spec_3_rule_5_a_completion_beside_its_requirement_is_refused_or_paid_once,
}

/// A quest with a plain step and one with a condition, one before it, and a daily one; `after` requires `requires`.
fn content(requires: &str) -> String {
    format!(
        r#"
[[quest]]
key = "before"
title = "Before"
cadence = "once"
step = [{{ key = "only", title = "Only", points = 1 }}]

[[quest]]
key = "daily"
title = "Every day"
cadence = "daily"
step = [{{ key = "hello", title = "Hello", points = 2 }}]

[[quest]]
key = "after"
title = "After"
cadence = "once"
requires = [{requires}]
bonus = 16
step = [
    {{ key = "plain", title = "Plain", points = 4 }},
    {{ key = "follow", title = "Follow", points = 8, check = {{ kind = "follow_user", count = 1 }} }},
]
"#
    )
}

fn with_content(kind: DatabaseKind, requires: &str) -> Result<TestApp> {
    let service = TestApp::start(kind)?;
    service.run(service.app().found_seasons())?;
    load(&service, &content(requires));
    Ok(service)
}

fn is_locked(failure: &Failure<CompleteStepRefusal>) -> bool {
    matches!(failure, Failure::Refused(CompleteStepRefusal::Rule(StepRefusal::QuestLocked)))
}

fn assert_locked(service: &TestApp, user: UserId, step: &str) {
    let failure = complete(service, user, step).expect_err("a locked quest");
    assert!(is_locked(&failure), "{failure:?}");
}

fn spec_3_rule_5_a_requirement_added_later_locks_the_steps_of_a_run(kind: DatabaseKind) -> Result<()> {
    let service = with_content(kind, "")?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    start(&service, mia, "after");
    complete(&service, mia, "after/plain").expect("a step");
    load(&service, &content("\"before\""));
    service.done(FollowUser { fan: mia, other: bo });
    assert_locked(&service, mia, "after/follow");
    // A step that was completed before is not refused, and neither checks nor the scan complete others.
    assert_eq!(complete(&service, mia, "after/plain").expect("the same step").points, 0);
    assert!(check(&service, mia).steps.is_empty());
    service.run(ops::sync_quests(service.app()))?;
    service.run(service.app().catch_up_consumers())?;
    assert_eq!((run_of(&service, mia, "after"), paid(&service, mia)), (Some((RunStatus::Active, 1)), (4, 1)));
    start(&service, mia, "before");
    complete(&service, mia, "before/only").expect("a step");
    let own = service.found(ReadOwnQuests { user: mia, book: book(&service) });
    assert_eq!(own.completed, [quest(&service, "before")]);
    assert_eq!(complete(&service, mia, "after/follow").expect("a step").points, 24);
    assert_eq!(run_of(&service, mia, "after"), Some((RunStatus::Completed, 2)));
    Ok(())
}

fn spec_3_rule_5_a_daily_requirement_is_fulfilled_on_any_day(kind: DatabaseKind) -> Result<()> {
    let service = with_content(kind, "")?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    for user in [mia, bo] {
        start(&service, user, "after");
    }
    start(&service, mia, "daily");
    complete(&service, mia, "daily/hello").expect("a step");
    load(&service, &content("\"daily\""));
    service.clock().advance(Duration::from_hours(48));
    complete(&service, mia, "after/plain").expect("a step");
    assert_locked(&service, bo, "after/plain");
    service.done(FollowUser { fan: mia, other: bo });
    service.done(FollowUser { fan: bo, other: mia });
    service.run(ops::sync_quests(service.app()))?;
    let runs = [mia, bo].map(|user| run_of(&service, user, "after"));
    assert_eq!(runs, [Some((RunStatus::Completed, 2)), Some((RunStatus::Active, 0))]);
    Ok(())
}

fn spec_3_rule_5_a_completed_requirement_lets_conditions_complete_steps(kind: DatabaseKind) -> Result<()> {
    let service = with_content(kind, "")?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    start(&service, mia, "after");
    load(&service, &content("\"before\""));
    service.done(FollowUser { fan: mia, other: bo });
    service.run(service.app().catch_up_consumers())?;
    assert_eq!(run_of(&service, mia, "after"), Some((RunStatus::Active, 0)));
    start(&service, mia, "before");
    complete(&service, mia, "before/only").expect("a step");
    // The event of the completion is enough.
    service.run(service.app().catch_up_consumers())?;
    assert_eq!(run_of(&service, mia, "after"), Some((RunStatus::Active, 1)));
    Ok(())
}

fn spec_3_rule_5_requirements_in_a_circle_are_refused_and_change_nothing(kind: DatabaseKind) -> Result<()> {
    let service = with_content(kind, "\"before\"")?;
    let known: Vec<_> = book(&service).quests().to_vec();
    for (requires, why) in [
        ("\"after\"", "comes before itself"),
        ("\"nowhere\"", "no quest \"nowhere\""),
        ("\"before\", \"before\"", "comes before it twice"),
    ] {
        let content = QuestContent::parse(&content(requires)).expect("well formed");
        let refused = service.run(service.app().load_quests(content)).expect_err("a circle");
        let Failure::Refused(error) = refused else { panic!("{refused:?}") };
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(book(&service).quests(), known);
    Ok(())
}

/// Twenty clients complete the required step and twenty a step of the locked quest, at once.
fn spec_3_rule_5_a_completion_beside_its_requirement_is_refused_or_paid_once(
    kind: DatabaseKind,
) -> Result<()> {
    let service = with_content(kind, "")?;
    let mia = service.fan("mia").id;
    for key in ["after", "before"] {
        start(&service, mia, key);
    }
    load(&service, &content("\"before\""));
    let steps = ["before/only", "after/plain"].map(|name| step(&service, name));
    let outcomes = service.together((0..40).map(|n| {
        let (app, step) = (service.app().clone(), steps[n % 2]);
        async move { app.complete_step(mia, step).await.map(|(_, completed)| completed.points) }
    }));
    let paid_points: i64 = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Ok(points) => points,
            Err(refused) => {
                assert!(is_locked(&refused), "{refused:?}");
                0
            }
        })
        .sum();
    let later = complete(&service, mia, "after/plain").expect("unlocked").points;
    assert_eq!((paid_points + later, paid(&service, mia).0), (5, 5));
    Ok(())
}
