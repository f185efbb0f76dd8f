use super::*;
use crate::Period;

fn step(key: &str) -> StepDraft {
    StepDraft { key: key.to_owned(), title: format!("Step {key}"), is_required: true, points: 5, check: None }
}

fn draft(key: &str) -> QuestDraft {
    QuestDraft {
        key: key.to_owned(),
        title: format!("Quest {key}"),
        cadence: "once".to_owned(),
        steps: vec![step("one"), step("two")],
        ..QuestDraft::default()
    }
}

fn team(key: &str) -> Option<TeamId> {
    (key == "lions").then(|| TeamId::from_uuid(Uuid::from_u128(77)))
}

/// Plans content against stored quests, with ids that count up from a number.
fn planned(drafts: &[QuestDraft], there: &[Quest], mut from: u128) -> Result<Vec<Quest>, Vec<ContentError>> {
    plan(drafts, &Known { quests: there, team: &team, closes_after: Some(Timestamp::from_micros(0)) }, || {
        from += 1;
        Uuid::from_u128(from)
    })
}

#[test]
fn content_becomes_quests() {
    let mut first = draft("welcome");
    first.is_onboarding = true;
    first.steps[1].is_required = false;
    let check = CheckDraft { kind: "follow_user".to_owned(), count: Some(3), ..CheckDraft::default() };
    first.steps[1].check = Some(check);
    let mut second = draft("derby");
    second.title = "  Derby day ".to_owned();
    second.cadence = "daily".to_owned();
    second.team = Some("lions".to_owned());
    second.prerequisites = vec!["welcome".to_owned()];
    second.bonus = 1_000_000;
    (second.opens_at, second.closes_at) = (Some(Timestamp::from_micros(1)), Some(Timestamp::from_micros(2)));
    let quests = planned(&[first, second], &[], 0).unwrap();
    let [welcome, derby] = &quests[..] else { panic!("two: {quests:?}") };
    assert!(welcome.is_onboarding && welcome.team.is_none() && welcome.total_points() == 10);
    let steps: Vec<_> =
        welcome.steps.iter().map(|step| (step.position, step.is_required, step.check)).collect();
    assert_eq!(steps, [(1, true, None), (2, false, Some(Check::FollowUser { count: 3 }))]);
    assert_eq!((derby.title.as_str(), derby.team), ("Derby day", team("lions")));
    assert_eq!(derby.prerequisites, [welcome.id]);
    assert_eq!(derby.cadence.period(chrono::NaiveDate::MIN), Period::Day(chrono::NaiveDate::MIN));
    assert!(!derby.is_retired);
    let ids: BTreeSet<_> = quests.iter().flat_map(|quest| &quest.steps).map(|step| step.id).collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn ids_go_by_keys_and_titles_change_nothing() {
    let before = planned(&[draft("welcome"), draft("derby")], &[], 0).unwrap();
    let mut changed = draft("derby");
    changed.title = "Something else".to_owned();
    changed.steps = vec![step("two"), step("new"), step("one")];
    changed.steps[0].title = "Step one".to_owned();
    // Titles were swapped, the order was changed, a step was inserted, and the quest is first now.
    let after = planned(&[changed, draft("welcome")], &before, 1_000).unwrap();
    assert_eq!((after[0].id, after[1].id), (before[1].id, before[0].id));
    let id = |quest: &Quest, key: &str| {
        quest.steps.iter().find(|step| step.key.as_str() == key).map(|step| step.id)
    };
    for key in ["one", "two"] {
        assert_eq!(id(&after[0], key), id(&before[1], key));
    }
    assert!(id(&after[0], "new").is_some_and(|new| new.as_uuid().as_u128() > 1_000));
    assert_eq!(after[0].steps.iter().map(|step| step.position).collect::<Vec<_>>(), [1, 2, 3]);
    // A retired quest that returns keeps its ids.
    let retired: Vec<_> = before.iter().cloned().map(|quest| Quest { is_retired: true, ..quest }).collect();
    assert_eq!(planned(&[draft("welcome"), draft("derby")], &retired, 2_000), Ok(before));
}

/// The problems of a quest after a change of it.
fn said(change: impl FnOnce(&mut QuestDraft)) -> Vec<String> {
    let mut draft = draft("derby");
    change(&mut draft);
    let errors = planned(&[self::draft("welcome"), draft], &[], 0).err().unwrap_or_default();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn errors_name_the_quest() {
    let time = |micros| Some(Timestamp::from_micros(micros));
    for (said, words) in [
        (said(|quest| quest.title = "x".repeat(121)), "the title must hold at most 120 characters"),
        (said(|quest| quest.title = " ".to_owned()), "the title must hold at least 1 visible character(s)"),
        (said(|quest| quest.title = "a\nb".to_owned()), "the title must not hold control characters"),
        (
            said(|quest| quest.description = "x".repeat(501)),
            "the description must hold at most 500 characters",
        ),
        (said(|quest| quest.cadence = "weekly".to_owned()), "the cadence must be \"once\" or \"daily\""),
        (said(|quest| quest.team = Some("tigers".to_owned())), "there is no team \"tigers\""),
        (said(|quest| quest.bonus = 1_000_001), "points must be 0 to 1000000"),
        (said(|quest| quest.bonus = -1), "points must be 0 to 1000000"),
        (
            said(|quest| (quest.opens_at, quest.closes_at) = (time(5), time(5))),
            "it must open before it closes",
        ),
        (said(|quest| quest.steps.clear()), "a quest has 1 to 50 steps"),
        (
            said(|quest| quest.steps = (0..51).map(|n| step(&n.to_string())).collect()),
            "a quest has 1 to 50 steps",
        ),
        (
            said(|quest| quest.prerequisites = vec!["cup".to_owned()]),
            "there is no quest \"cup\" that could come before it",
        ),
        (
            said(|quest| quest.prerequisites = vec!["welcome".to_owned(); 2]),
            "\"welcome\" comes before it twice",
        ),
        (
            said(|quest| quest.prerequisites = vec!["derby".to_owned()]),
            "it comes before itself: derby after derby",
        ),
        (
            said(|quest| {
                quest.is_onboarding = true;
                quest.cadence = "daily".to_owned();
            }),
            "a daily quest cannot be an onboarding one",
        ),
        (
            said(|quest| {
                quest.is_onboarding = true;
                quest.prerequisites = vec!["welcome".to_owned()];
            }),
            "an onboarding quest cannot have prerequisites",
        ),
    ] {
        assert_eq!(said, [format!("\"derby\" (no. 2): {words}")]);
    }
    assert_eq!(said(|_| ()), [""; 0]);
    assert_eq!(
        said(|quest| quest.key = "Derby".to_owned()),
        ["\"Derby\" (no. 2): a key is 1 to 64 of a-z, 0-9, '.', '_' and '-'"]
    );
    assert_eq!(
        said(|quest| quest.key = "welcome".to_owned()),
        ["\"welcome\" (no. 2): the key is used twice"]
    );
    assert_eq!(said(|quest| quest.description = "x".repeat(500)), [""; 0]);
    assert_eq!(said(|quest| quest.steps = (0..50).map(|n| step(&n.to_string())).collect()), [""; 0]);
}

#[test]
fn errors_name_the_step() {
    let check = |kind: &str, count| {
        let check = CheckDraft { kind: kind.to_owned(), count, ..CheckDraft::default() };
        move |quest: &mut QuestDraft| quest.steps[1].check = Some(check)
    };
    for (said, words) in [
        (said(|quest| quest.steps[1].title = "x".repeat(121)), "the title must hold at most 120 characters"),
        (said(|quest| quest.steps[1].points = 1_000_001), "points must be 0 to 1000000"),
        (said(check("follow_user", None)), "the check needs \"count\""),
        (said(check("follow_user", Some(0))), "the check \"count\" must be 1 to 1000000000"),
        (said(check("join_leaderboard", Some(1))), "the check has no parameter \"count\""),
        (
            said(check("dance", None)),
            "the check is no kind of check: there are follow_user, upload_profile_picture, choose_favorite_team, \
             complete_profile, get_followers, join_leaderboard, points_threshold, rank_threshold",
        ),
    ] {
        assert_eq!(said, [format!("\"derby\" (no. 2), step \"two\" (no. 2): {words}")]);
    }
    assert_eq!(
        said(|quest| quest.steps[1].key = "one".to_owned()),
        ["\"derby\" (no. 2), step \"one\" (no. 2): the key is used twice"]
    );
    assert_eq!(
        said(|quest| quest.steps[0].key = String::new()),
        ["\"derby\" (no. 2), step \"\" (no. 1): a key is 1 to 64 of a-z, 0-9, '.', '_' and '-'"]
    );
}

#[test]
fn everything_that_is_wrong_is_reported() {
    let mut wrong = draft("Derby");
    wrong.title = String::new();
    wrong.steps[0].points = -1;
    let errors = planned(&[wrong, draft("a b")], &[], 0).unwrap_err();
    let problems: Vec<_> = errors.iter().map(|error| (error.place, &error.step, &error.problem)).collect();
    assert_eq!(
        problems,
        [
            (0, &None, &ContentProblem::Key(MalformedKey)),
            (0, &None, &ContentProblem::Title(TextError::TooShort(1))),
            (0, &Some(("one".to_owned(), 0)), &ContentProblem::Points),
            (1, &None, &ContentProblem::Key(MalformedKey)),
        ]
    );
}

#[test]
fn prerequisites_have_no_cycle() {
    let chain = |edges: &[(&str, &[&str])]| {
        let drafts: Vec<_> = edges
            .iter()
            .map(|(key, before)| QuestDraft {
                prerequisites: before.iter().map(ToString::to_string).collect(),
                ..draft(key)
            })
            .collect();
        let errors = planned(&drafts, &[], 0).err().unwrap_or_default();
        errors.iter().map(|error| (error.item.clone(), error.problem.clone())).collect::<Vec<_>>()
    };
    // A diamond is not a cycle.
    assert_eq!(chain(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])]), []);
    let around = |keys: &str| ContentProblem::Cycle(keys.split(' ').map(str::to_owned).collect());
    assert_eq!(
        chain(&[("a", &["c"]), ("b", &["a"]), ("c", &["b"]), ("d", &["a"])]),
        [
            ("a".to_owned(), around("a c b a")),
            ("b".to_owned(), around("b a c b")),
            ("c".to_owned(), around("c b a c")),
        ]
    );
}

#[test]
fn achievements_are_checked_as_quests_are() {
    let draft = |key: &str, goal: &str| AchievementDraft {
        key: key.to_owned(),
        title: "Popular".to_owned(),
        goal: goal.to_owned(),
        ..AchievementDraft::default()
    };
    let planned = plan_achievements(&[draft("popular", "followers:10")]).unwrap();
    assert_eq!(planned[0].goal, Goal::Followers(10));
    let errors = plan_achievements(&[draft("popular", "fame"), draft("popular", "follows:1")]).unwrap_err();
    let problems: Vec<_> = errors.iter().map(|error| (error.place, &error.problem)).collect();
    assert_eq!(problems, [(0, &ContentProblem::Goal(MalformedGoal)), (1, &ContentProblem::KeyTwice)]);
}

#[test]
fn a_quest_that_is_new_closes_in_the_future() {
    let closes = |at: i64| QuestDraft { closes_at: Some(Timestamp::from_micros(at)), ..draft("derby") };
    let errors = planned(&[closes(0)], &[], 0).unwrap_err();
    assert_eq!(errors[0].problem, ContentProblem::ClosedBefore);
    let stored = planned(&[closes(1)], &[], 0).unwrap();
    // One that exists may have closed.
    assert!(planned(&[closes(0)], &stored, 0).is_ok());
}
