use super::*;
use crate::{OptionId, QuestionId, RoundId};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use terrace_draws::{ChiSquareTest, ServerSeed};
use terrace_kernel::{TeamId, Timestamp, Uuid};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_micros(millis * 1_000)
}

fn question(number: u128) -> Question {
    let choice =
        |n: u128| Choice { id: OptionId::from_uuid(Uuid::from_u128(number * 10 + n)), text: format!("o{n}") };
    Question {
        id: QuestionId::from_uuid(Uuid::from_u128(number * 10)),
        text: format!("Question {number}?"),
        image_url: (number == 2).then(|| "/content/pictures/5f".to_owned()),
        options: vec![choice(1), choice(2), choice(3)],
        right: OptionId::from_uuid(Uuid::from_u128(number * 10 + 2)),
    }
}

/// A round of 20 seconds for each question and 10 after it, which begins at 0.
fn round(mode: RoundMode, pool: u128, count: u32) -> Round {
    Round {
        id: RoundId::from_uuid(Uuid::from_u128(1)),
        key: "derby".parse().unwrap(),
        title: "Derby".to_owned(),
        mode,
        team: None,
        starts_at: at(0),
        closes_at: Round::live_end(at(0), 20, 10, count),
        seconds: 20,
        reveal: 10,
        max_points: 1_000,
        question_count: count,
        award: 50,
        script: Script { salt: Salt::from_bytes([7; 32]), questions: (1..=pool).map(question).collect() },
        is_cancelled: false,
    }
}

#[test]
fn spec_8_times_and_scores_are_those_of_the_formula() {
    let round = round(RoundMode::Live, 3, 3);
    let time = round.live_time(1);
    assert_eq!((time.served_at, time.ends_at, time.closes_at()), (at(30_000), at(50_000), at(50_700)));
    for (arrival, taken, score) in [
        (29_000, 0, 1_000),
        (30_000, 0, 1_000),
        (30_250, 0, 1_000),
        (30_251, 1, 999),
        (40_250, 10_000, 750),
        (50_250, 20_000, 500),
        (50_500, 20_000, 500),
    ] {
        assert_eq!(time.taken(at(arrival)), taken, "{arrival}");
        assert_eq!(round.score(true, taken), score, "{arrival}");
        assert_eq!(round.score(false, taken), 0, "{arrival}");
    }
}

#[test]
fn spec_8_an_answer_is_accepted_until_half_a_second_after_the_end_and_never_after_the_close() {
    let time = round(RoundMode::Live, 3, 3).live_time(0);
    assert!(time.accepts(at(20_500), at(20_500)));
    assert!(!time.accepts(at(20_501), at(20_501)));
    // A request whose body came after the right option was shown.
    assert!(time.accepts(at(10_000), at(20_699)));
    assert!(!time.accepts(at(10_000), at(20_700)));
    assert_eq!((time.is_closed(at(20_699)), time.is_closed(at(20_700))), (false, true));
}

#[test]
fn spec_8_live_questions_open_and_close_by_the_time_alone() {
    let round = round(RoundMode::Live, 3, 3);
    let milestones: Vec<_> = (0..round.milestones()).map(|number| round.milestone(number)).collect();
    assert_eq!(
        milestones,
        [
            (Milestone::Opened(0), at(0)),
            (Milestone::Closed(0), at(20_700)),
            (Milestone::Opened(1), at(30_000)),
            (Milestone::Closed(1), at(50_700)),
            (Milestone::Opened(2), at(60_000)),
            (Milestone::Closed(2), at(80_700)),
            (Milestone::Ended, at(90_000)),
        ]
    );
    for (now, reached, opened, closed, status) in [
        (-1, 0, 0, 0, RoundStatus::Scheduled),
        (0, 1, 1, 0, RoundStatus::Open),
        (20_700, 2, 1, 1, RoundStatus::Open),
        (89_999, 6, 3, 3, RoundStatus::Open),
        (90_000, 7, 3, 3, RoundStatus::Over),
    ] {
        let now = at(now);
        assert_eq!(
            (round.reached(now), round.opened(now), round.closed(now), round.status(now)),
            (reached, opened, closed, status)
        );
    }
    let solo = super::Round { mode: RoundMode::Solo, ..round };
    assert_eq!((solo.milestones(), solo.milestone(0)), (1, (Milestone::Ended, at(90_000))));
    // A question that is served then closes with the round.
    assert_eq!(QuestionTime::new(solo.last_serving(), solo.length()).closes_at(), solo.closes_at);
}

#[test]
fn spec_8_the_proof_opens_the_commitment_and_any_change_is_found() {
    let script = round(RoundMode::Live, 3, 3).script;
    let commitment = script.commitment();
    assert_eq!(verify_round(&script, &commitment), Ok(()));
    let text = script.canonical();
    assert!(text.starts_with(&format!("trivia-v1\nsalt {}\nquestion ", "07".repeat(32))));
    assert_eq!(text.parse::<Script>(), Ok(script.clone()));
    for changed in
        [text.replace("o1", "o4"), text.replacen("salt 07", "salt 08", 1), text.replace("/5f", "/5e")]
    {
        let changed: Script = changed.parse().unwrap();
        assert_eq!(verify_round(&changed, &commitment), Err(RoundFault::Commitment));
    }
    let mut other = script.clone();
    other.questions[1].right = other.questions[1].options[0].id;
    assert_eq!(verify_round(&other, &commitment), Err(RoundFault::Commitment));
    other.questions[1].right = other.questions[0].right;
    assert_eq!(verify_round(&other, &commitment), Err(RoundFault::Right(other.questions[1].id)));
    // A text with line breaks could hide another question in the same canonical text.
    let mut joined = script.clone();
    joined.questions[0].options[2].text.push_str("\nright 0");
    let joined_commitment = joined.commitment();
    assert_eq!(verify_round(&joined, &joined_commitment), Err(RoundFault::Line(joined.questions[0].id)));
    let mut twice = script;
    twice.questions[1].options[0].id = twice.questions[0].options[0].id;
    assert_eq!(verify_round(&twice, &twice.commitment()), Err(RoundFault::Twice));
    for wrong in [
        "",
        "trivia-v1\n",
        "trivia-v2\nsalt 0\n",
        &text.replace("right", "left"),
        &text.replace('\n', "\r\n"),
    ] {
        assert_eq!(wrong.parse::<Script>(), Err(MalformedScript), "{wrong}");
    }
    assert!(!format!("{:?}", round(RoundMode::Live, 1, 1)).contains("right"));
}

#[test]
fn spec_8_solo_questions_are_drawn_for_each_fan_alike_often_and_never_twice() {
    let round = round(RoundMode::Solo, 9, 3);
    let mut counts: BTreeMap<QuestionId, u32> = BTreeMap::new();
    for fan in 0..3_000_u32 {
        let seed = ServerSeed::derived(&[3; 32], &fan.to_be_bytes());
        let drawn: Vec<QuestionId> = round.questions(&seed).iter().map(|question| question.id).collect();
        assert_eq!(drawn, round.questions(&seed).iter().map(|question| question.id).collect::<Vec<_>>());
        assert_eq!(drawn.len(), 3);
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2]);
        *counts.entry(drawn[0]).or_default() += 1;
    }
    let test = ChiSquareTest::of(counts.values().map(|count| (*count, 1.0 / 9.0)));
    assert!(counts.len() == 9 && test.p > 0.001, "{test:?}");
    let live = super::Round { mode: RoundMode::Live, ..round };
    assert_eq!(live.questions(&ServerSeed::from_bytes([1; 32])).len(), 9);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(8), ..ProptestConfig::default() })]

    #[test]
    fn spec_8_a_later_answer_never_scores_more(seconds in 5_u32..=120, most in 1_u32..=10_000, early in 0_i64..130_000, wait in 0_i64..130_000) {
        let round = super::Round { seconds, max_points: most, ..round(RoundMode::Live, 1, 1) };
        let time = round.live_time(0);
        let (first, second) = (time.taken(at(early)), time.taken(at(early + wait)));
        prop_assert!(first <= second && second <= round.length_ms());
        let (more, less) = (round.score(true, first), round.score(true, second));
        prop_assert!(less <= more && more <= most && less >= most / 2);
    }

    #[test]
    fn spec_8_milestones_are_in_order_and_reached_at_their_time(seconds in 5_u32..=120, reveal in 3_u32..=30, count in 1_u32..=50) {
        let round = super::Round { seconds, reveal, closes_at: Round::live_end(at(0), seconds, reveal, count), ..round(RoundMode::Live, 1, count) };
        let times: Vec<_> = (0..round.milestones()).map(|number| round.milestone(number).1).collect();
        prop_assert!(times.is_sorted());
        for (number, time) in (1..).zip(times) {
            prop_assert!(round.reached(time) >= number);
            prop_assert!(round.reached(time.minus(Duration::from_micros(1))) < number);
        }
    }

    #[test]
    fn spec_8_a_script_is_read_from_its_text_alone(texts in prop::collection::vec("[ -~]{0,20}", 1..5)) {
        let mut script = round(RoundMode::Live, 4, 4).script;
        for (question, text) in script.questions.iter_mut().zip(&texts) {
            question.text.clone_from(text);
            question.options[0].text.clone_from(text);
        }
        prop_assert_eq!(script.canonical().parse(), Ok(script));
    }
}

fn draft() -> RoundDraft {
    let question = |number: usize| QuestionDraft {
        text: format!("Question {number}?"),
        options: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
        right: "b".to_owned(),
        image_url: None,
    };
    RoundDraft {
        key: "derby".to_owned(),
        title: "Derby".to_owned(),
        mode: "live".to_owned(),
        starts_at: Some(at(1_000)),
        seconds: 20,
        max_points: 100,
        questions: (0..3).map(question).collect(),
        ..RoundDraft::default()
    }
}

fn solo() -> RoundDraft {
    RoundDraft {
        mode: "solo".to_owned(),
        closes_at: Some(at(1_000_000)),
        question_count: Some(1),
        award: Some(5),
        ..draft()
    }
}

fn planned(drafts: &[RoundDraft], rounds: &[Round], now: i64) -> Result<Vec<Round>, Vec<String>> {
    let team = |key: &str| (key == "reds").then_some(TeamId::from_uuid(Uuid::from_u128(9)));
    let known = KnownRounds { rounds, team: &team, now: Some(at(now)) };
    let mut ids = 0;
    let new_id = || {
        ids += 1;
        Uuid::from_u128(ids)
    };
    plan_rounds(drafts, &known, new_id)
        .map_err(|errors| errors.iter().map(|error| error.problem.to_string()).collect())
}

#[test]
fn a_stored_round_keeps_its_id_and_its_commitment_while_its_questions_are_the_same() {
    let first = planned(&[draft(), RoundDraft { key: "solo".to_owned(), ..solo() }], &[], 0).unwrap();
    assert_eq!(first[0].closes_at, at(1_000 + 3 * 25_000));
    assert_eq!((first[1].question_count, first[1].award), (1, 5));
    let mut turned = draft();
    turned.questions[0].options.reverse();
    turned.title = "Another".to_owned();
    let second = planned(&[turned], &first, 0).unwrap();
    assert_eq!((second[0].id, &second[0].script), (first[0].id, &first[0].script));
    let mut other = draft();
    other.questions[0].right = "a".to_owned();
    let third = planned(&[other.clone()], &first, 0).unwrap();
    assert_eq!(third[0].id, first[0].id);
    assert_ne!(third[0].commitment(), first[0].commitment());
    // Once it has begun, it stays as it is.
    assert_eq!(planned(&[draft()], &first, 2_000).unwrap()[0], first[0]);
    assert_eq!(planned(&[other], &first, 2_000), Err(vec![RoundProblem::Begun.to_string()]));
    let cancelled = [super::Round { is_cancelled: true, ..first[0].clone() }];
    assert_eq!(planned(&[draft()], &cancelled, 0), Err(vec![RoundProblem::Cancelled.to_string()]));
}

#[test]
fn options_are_in_the_order_of_their_ids() {
    let round = planned(&[draft()], &[], 0).unwrap().remove(0);
    for question in &round.script.questions {
        assert!(question.options.is_sorted_by_key(|option| option.id));
        let right = question.options.iter().find(|option| option.id == question.right).unwrap();
        assert_eq!(right.text, "b");
    }
}

#[test]
fn each_problem_is_found() {
    type Change = fn(&mut RoundDraft);
    let cases: [(Change, &str); 22] = [
        (|draft| draft.key = "A".to_owned(), "1 to 64 of a-z"),
        (|draft| draft.title = String::new(), "the title must hold"),
        (|draft| draft.mode = "duel".to_owned(), "\"live\" or \"solo\""),
        (|draft| draft.team = Some("blues".to_owned()), "no team \"blues\""),
        (|draft| draft.seconds = 4, "5 to 120 seconds"),
        (|draft| draft.reveal = Some(31), "3 to 30 seconds"),
        (|draft| draft.max_points = 10_001, "`points` must be"),
        (|draft| draft.award = Some(5), "a live round has no"),
        (|draft| draft.closes_at = Some(at(5)), "a live round has no"),
        (|draft| draft.questions.clear(), "1 to 50 questions"),
        (|draft| *draft = RoundDraft { award: None, ..solo() }, "`award` must be"),
        (|draft| *draft = RoundDraft { question_count: Some(0), ..solo() }, "`count` must be"),
        (|draft| *draft = RoundDraft { question_count: Some(2), ..solo() }, "3 times as many"),
        (|draft| *draft = RoundDraft { closes_at: None, ..solo() }, "a solo round has `closes`"),
        (
            |draft| *draft = RoundDraft { closes_at: Some(at(31 * 86_400_000 + 1_001)), ..solo() },
            "at most 31 days",
        ),
        (|draft| draft.questions[1].text = "Question 0?".to_owned(), "question 2: an earlier question"),
        (|draft| draft.questions[1].text = "a\nb".to_owned(), "question 2: the text"),
        (|draft| draft.questions[1].image_url = Some("//evil".to_owned()), "question 2: the image"),
        (|draft| draft.questions[2].options.truncate(1), "question 3: a question has 2 to 6"),
        (|draft| draft.questions[2].options[0] = " b ".to_owned(), "question 3: two options are \"b\""),
        (|draft| draft.questions[2].options[0] = "\u{202e}".to_owned(), "question 3: an option"),
        (|draft| draft.questions[2].right = "d".to_owned(), "question 3: `right` is none"),
    ];
    for (change, expected) in cases {
        let mut draft = draft();
        change(&mut draft);
        let problems = planned(&[draft], &[], 0).unwrap_err();
        assert!(
            problems.iter().any(|problem| problem.contains(expected)),
            "{expected} is not in {problems:?}"
        );
    }
    assert_eq!(planned(&[draft()], &[], 1_000_000), Err(vec![RoundProblem::ClosedBefore.to_string()]));
    let twice = planned(&[draft(), draft()], &[], 0);
    assert_eq!(twice, Err(vec![RoundProblem::KeyTwice.to_string()]));
}
