//! Contract part 2 §8, trivia: one answer for each fan and question, times that only the server decides, results that come
//! after the close, and one award for each fan and round, whatever happens to the processes.

use super::completions::verified;
use super::deletion::{catch_up, delete};
use super::jobs::turn;
use super::packs::shop_of;
use super::points::ledger;
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::Turn;
use terrace_testkit::app::accounts::{RestoreAccount, SuspendAccount};
use terrace_testkit::app::graph::BlockUser;
use terrace_testkit::app::trivia::{
    AnsweredQuestion, JoinRound, NextQuestion, PlayRefusal, ReadRound, ReadStandings, RoundView,
    ServedQuestion, StandingsPage, TriviaContent, advance_trivia,
};
use terrace_testkit::games::{OptionId, Question, QuestionId, Round, StandingKey};
use terrace_testkit::kernel::{Clock, EventKind, Failure, Limit, Position, Timestamp, Topic, UserId};
use terrace_testkit::{DatabaseKind, Fan, PASSWORD, TestApp, jobs, on_each_database, trivia};

on_each_database! {
    spec_8_a_fan_answers_a_question_once_also_a_hundred_times_at_once,
    spec_8_the_same_option_again_is_the_same_answer_and_another_is_refused,
    spec_8_an_answer_counts_by_its_arrival_and_not_after_the_close,
    spec_8_rounds_and_questions_that_are_not_open_are_refused,
    spec_8_results_of_a_live_question_come_with_its_close,
    spec_8_asking_again_never_moves_the_time_of_a_solo_question,
    spec_8_solo_questions_are_the_same_in_each_process_and_no_fan_gets_one_twice,
    spec_8_events_and_awards_come_once_from_two_processes_and_after_a_restart,
    spec_8_the_job_publishes_what_has_happened_and_gives_the_awards,
    spec_8_a_solo_round_awards_with_its_last_answer,
    spec_8_a_solo_round_awards_when_its_last_question_lapses,
    spec_8_no_solo_question_is_served_that_would_close_after_its_round,
    spec_8_standings_go_by_score_then_time_then_joining,
    spec_8_fans_who_are_suspended_or_blocked_are_treated_as_on_boards,
    spec_8_a_deleted_account_leaves_no_answers,
    spec_8_verification_finds_scores_and_awards_that_lie,
}

pub(super) const MILLI: Duration = Duration::from_millis(1);
pub(super) const SECOND: Duration = Duration::from_secs(1);

pub(super) fn load(service: &TestApp, text: &str) {
    let content = TriviaContent::parse(text).expect("rounds");
    service.run(service.app().load_trivia(content)).expect("rounds that fit");
}

/// A service with rounds that begin in ten seconds, and fans. The right option of question n is the one of number n % 3.
pub(super) fn started(kind: DatabaseKind, names: &[&str]) -> Result<(TestApp, Vec<UserId>)> {
    let service = shop_of(TestApp::start(kind)?)?;
    load(&service, &trivia(service.clock().now().plus(SECOND * 10), |number| number));
    let fans = names.iter().map(|name| service.fan(name).id).collect();
    Ok((service, fans))
}

pub(super) fn round(service: &TestApp, key: &str) -> Round {
    let rounds = service.ask(|tx| tx.rounds());
    rounds.into_iter().find(|round| round.key.as_str() == key).expect("a round")
}

pub(super) fn join(service: &TestApp, round: &Round, fans: &[UserId]) {
    for user in fans {
        service.done(JoinRound { user: *user, round: round.id });
    }
}

/// Sets the clock to a time after the opening of a live question.
pub(super) fn at(service: &TestApp, round: &Round, place: u32, after: Duration) {
    service.clock().set(round.live_time(place).served_at.plus(after));
}

pub(super) fn live(round: &Round, place: usize) -> Question {
    round.script.questions[place].clone()
}

pub(super) fn wrong(question: &Question) -> OptionId {
    question.options.iter().map(|option| option.id).find(|id| *id != question.right).expect("a wrong option")
}

pub(super) type Answered = std::result::Result<AnsweredQuestion, PlayRefusal>;

fn answer_at(
    service: &TestApp,
    (round, user): (&Round, UserId),
    (question, option): (QuestionId, OptionId),
    arrival: Timestamp,
) -> Answered {
    let asked = service.app().answer_question(user, round.id, (question, option), arrival);
    let command = service.run(asked).expect("a working store");
    service.run(service.app().execute(command)).map_err(|failure| match failure {
        Failure::Refused(refusal) => refusal,
        Failure::Broken(error) => panic!("{error}"),
    })
}

pub(super) fn answer(
    service: &TestApp,
    round: &Round,
    user: UserId,
    question: &Question,
    option: OptionId,
) -> Answered {
    answer_at(service, (round, user), (question.id, option), service.clock().now())
}

pub(super) fn right(service: &TestApp, round: &Round, user: UserId, question: &Question) -> AnsweredQuestion {
    answer(service, round, user, question, question.right).expect("an answer")
}

pub(super) fn next(
    service: &TestApp,
    round: &Round,
    user: UserId,
) -> std::result::Result<ServedQuestion, PlayRefusal> {
    let seeds = service.app().trivia_seeds().expect("a secret");
    let outcome = service.run(service.app().execute(NextQuestion { user, round: round.id, seeds }));
    outcome.map_err(|failure| match failure {
        Failure::Refused(refusal) => refusal,
        Failure::Broken(error) => panic!("{error}"),
    })
}

fn view(service: &TestApp, round: &Round, reader: UserId) -> RoundView {
    service.found(ReadRound { round: round.id, reader: Some(reader) }).view
}

fn score(service: &TestApp, round: &Round, user: UserId) -> u64 {
    let now = service.clock().now();
    view(service, round, user).own.expect("a player").score(round, now)
}

fn standings(service: &TestApp, round: &Round, reader: Option<UserId>) -> StandingsPage {
    service.found(ReadStandings { round: round.id, reader, limit: Limit::MAX, after: None })
}

fn ranked(service: &TestApp, round: &Round) -> Vec<UserId> {
    standings(service, round, None).lines.iter().map(|(standing, _)| standing.key.user).collect()
}

pub(super) fn advance(service: &TestApp) {
    service.run(advance_trivia(service.app())).expect("a working store");
}

/// The events of rounds so far, in order.
pub(super) fn events(service: &TestApp) -> Vec<EventKind> {
    service.settled();
    let all = service.ask(|tx| tx.events_after(Position::START, 1_000_000));
    all.iter().filter(|event| event.what.topic == Topic::Trivia).map(|event| event.what.kind).collect()
}

/// What a fan was awarded for rounds.
pub(super) fn awarded(service: &TestApp, user: UserId) -> Vec<i64> {
    let records = ledger(service, user).into_iter();
    let of_games = records.filter(|record| record.source.to_string().starts_with("game:"));
    of_games.map(|record| record.amount.get()).collect()
}

fn spec_8_a_fan_answers_a_question_once_also_a_hundred_times_at_once(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let (mia, round) = (fans[0], round(&service, "live"));
    join(&service, &round, &fans);
    at(&service, &round, 0, SECOND);
    let question = live(&round, 0);
    let arrival = service.clock().now();
    let works = (0..100).map(|number| {
        let (app, id) = (Arc::clone(service.app()), round.id);
        let chosen = (question.id, question.options[number % 3].id);
        async move {
            let command = app.answer_question(mia, id, chosen, arrival).await.expect("a working store");
            app.execute(command).await
        }
    });
    let mut kept = Vec::new();
    for outcome in service.together(works) {
        match outcome {
            Ok(answered) => kept.push(answered.answer),
            Err(Failure::Refused(refusal)) => assert_eq!(refusal, PlayRefusal::AlreadyAnswered),
            Err(Failure::Broken(error)) => panic!("{error}"),
        }
    }
    // The one that came first, once for each request with the same option.
    assert!((33..=34).contains(&kept.len()), "{}", kept.len());
    assert!(kept.iter().all(|answer| *answer == kept[0]));
    assert_eq!(view(&service, &round, mia).own.expect("a player").answers, [kept[0].clone()]);
    verified(&service);
    Ok(())
}

fn spec_8_the_same_option_again_is_the_same_answer_and_another_is_refused(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let (mia, round) = (fans[0], round(&service, "live"));
    join(&service, &round, &fans);
    at(&service, &round, 0, SECOND);
    let question = live(&round, 0);
    let first = right(&service, &round, mia, &question);
    service.clock().advance(SECOND);
    assert_eq!(right(&service, &round, mia, &question).answer, first.answer);
    let other = wrong(&question);
    assert_eq!(answer(&service, &round, mia, &question, other).unwrap_err(), PlayRefusal::AlreadyAnswered);
    // Also when it is too late for an answer, and when the round is over.
    for later in [SECOND * 20, Duration::from_hours(2)] {
        service.clock().set(round.starts_at.plus(later));
        let again = right(&service, &round, mia, &question);
        assert_eq!((again.answer, again.is_revealed), (first.answer.clone(), true));
        assert_eq!(
            answer(&service, &round, mia, &question, other).unwrap_err(),
            PlayRefusal::AlreadyAnswered
        );
    }
    Ok(())
}

fn spec_8_an_answer_counts_by_its_arrival_and_not_after_the_close(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_", "cy_", "di_", "eve"])?;
    let round = round(&service, "live");
    join(&service, &round, &fans);
    let (question, opened) = (live(&round, 0), round.live_time(0).served_at);
    // Arrival and processing in milliseconds after the opening, and the time that the answer took.
    for (user, arrival, now, expected) in [
        (fans[0], 3_250, 3_250, Some(3_000)),
        (fans[1], 1_000, 9_000, Some(750)),
        (fans[2], 10_500, 10_699, Some(10_000)),
        (fans[3], 10_501, 10_501, None),
        // Its body came when the right option was shown.
        (fans[4], 1_000, 10_700, None),
    ] {
        service.clock().set(opened.plus(MILLI * now));
        let chosen = (question.id, question.right);
        let answered = answer_at(&service, (&round, user), chosen, opened.plus(MILLI * arrival));
        match (answered, expected) {
            (Ok(answered), Some(taken)) => {
                let given = answered.answer.given.expect("an answer");
                assert_eq!((given.taken, given.points), (taken, round.score(true, taken)), "{arrival}");
                assert_eq!(given.arrived_at, opened.plus(MILLI * arrival));
            }
            (Err(refusal), None) => assert_eq!(refusal, PlayRefusal::TooLate, "{arrival}"),
            (other, _) => panic!("{arrival}: {other:?}"),
        }
    }
    verified(&service);
    Ok(())
}

fn spec_8_rounds_and_questions_that_are_not_open_are_refused(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_"])?;
    let (mia, bo) = (fans[0], fans[1]);
    let (round, solo) = (round(&service, "live"), round(&service, "solo"));
    join(&service, &round, &[mia]);
    join(&service, &solo, &[mia]);
    let (first, second) = (live(&round, 0), live(&round, 1));
    let refusal = |user, question: &Question, option| {
        answer(&service, &round, user, question, option).expect_err("a refusal")
    };
    assert_eq!(refusal(mia, &first, first.right), PlayRefusal::NotOpen);
    assert_eq!(next(&service, &solo, mia).unwrap_err(), PlayRefusal::NotOpen);
    at(&service, &round, 0, SECOND);
    assert_eq!(refusal(bo, &first, first.right), PlayRefusal::NotJoined);
    assert_eq!(next(&service, &solo, bo).unwrap_err(), PlayRefusal::NotJoined);
    // A question that has not opened cannot be distinguished from one that does not exist.
    assert_eq!(refusal(mia, &second, second.right), PlayRefusal::QuestionNotOpen);
    let unknown = Question { id: QuestionId::from_uuid(round.id.as_uuid()), ..second.clone() };
    assert_eq!(refusal(mia, &unknown, second.right), PlayRefusal::QuestionNotOpen);
    assert_eq!(refusal(mia, &first, second.right), PlayRefusal::UnknownOption);
    assert_eq!(next(&service, &round, mia).unwrap_err(), PlayRefusal::QuestionNotOpen);
    // A question of the pool that the fan did not get.
    let pool = live(&solo, 0);
    assert_eq!(answer(&service, &solo, mia, &pool, pool.right).unwrap_err(), PlayRefusal::QuestionNotOpen);
    at(&service, &round, 1, SECOND);
    assert_eq!(refusal(mia, &first, first.right), PlayRefusal::TooLate);
    service.clock().set(round.closes_at);
    assert_eq!(refusal(mia, &second, second.right), PlayRefusal::Over);
    assert_eq!(service.refused(JoinRound { user: bo, round: round.id }), PlayRefusal::Over);
    let missing = terrace_testkit::games::RoundId::from_uuid(first.id.as_uuid());
    assert_eq!(service.refused(JoinRound { user: bo, round: missing }), PlayRefusal::UnknownRound);
    assert_eq!(view(&service, &round, mia).own.expect("a player").answers, []);
    assert_eq!(view(&service, &round, bo).own, None);
    Ok(())
}

fn spec_8_results_of_a_live_question_come_with_its_close(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_"])?;
    let (mia, round) = (fans[0], round(&service, "live"));
    join(&service, &round, &fans);
    at(&service, &round, 0, MILLI * 250);
    let question = live(&round, 0);
    assert!(!right(&service, &round, mia, &question).is_revealed);
    answer(&service, &round, fans[1], &question, wrong(&question)).expect("an answer");
    let shown = || {
        let read = service.found(ReadRound { round: round.id, reader: Some(mia) });
        let page = standings(&service, &round, Some(mia));
        let scores: Vec<_> = page.lines.iter().map(|(standing, _)| standing.key.score).collect();
        (read.counts, score(&service, &round, mia), page.counted, scores)
    };
    at(&service, &round, 0, MILLI * 10_699);
    advance(&service);
    assert_eq!(shown(), (None, 0, 0, vec![0, 0]));
    assert_eq!(events(&service), [EventKind::QuestionOpened]);
    service.clock().advance(MILLI);
    // It needs no job.
    let counts = [(question.right, 1), (wrong(&question), 1)].into();
    assert_eq!(shown(), (Some(counts), 100, 1, vec![100, 0]));
    assert!(right(&service, &round, mia, &question).is_revealed);
    advance(&service);
    assert_eq!(events(&service)[1..], [EventKind::QuestionClosed, EventKind::StandingsChanged]);
    Ok(())
}

fn spec_8_asking_again_never_moves_the_time_of_a_solo_question(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let (mia, solo) = (fans[0], round(&service, "solo"));
    join(&service, &solo, &fans);
    service.clock().set(solo.starts_at.plus(SECOND));
    let first = next(&service, &solo, mia).expect("a question");
    assert_eq!(first.time.served_at, service.clock().now());
    for wait in [SECOND, SECOND * 19, MILLI * 699] {
        service.clock().advance(wait);
        assert_eq!(next(&service, &solo, mia).expect("the same"), first);
    }
    // It has closed: the next one comes.
    service.clock().advance(MILLI);
    let second = next(&service, &solo, mia).expect("the next");
    assert_eq!((second.place, second.time.served_at), (1, service.clock().now()));
    // Results of a solo round come with the answer.
    assert!(right(&service, &solo, mia, &second.question).is_revealed);
    assert_eq!(next(&service, &solo, mia).unwrap_err(), PlayRefusal::Over);
    assert_eq!(score(&service, &solo, mia), 1_000);
    verified(&service);
    Ok(())
}

fn spec_8_solo_questions_are_the_same_in_each_process_and_no_fan_gets_one_twice(
    kind: DatabaseKind,
) -> Result<()> {
    let (service, _) = started(kind, &[])?;
    let (fans, other) = (service.crowd("fan", 12), service.another()?);
    let solo = round(&service, "solo");
    join(&service, &solo, &fans);
    service.clock().set(solo.starts_at.plus(SECOND));
    let mut firsts = std::collections::BTreeSet::new();
    for fan in &fans {
        let drawn = |service: &TestApp| {
            let seed = service.app().trivia_seeds().expect("a secret").seed(solo.id, *fan);
            solo.questions(&seed).into_iter().map(|question| question.id).collect::<Vec<_>>()
        };
        assert_eq!(drawn(&service), drawn(&other));
        let first = next(&service, &solo, *fan).expect("a question");
        assert_eq!(next(&other, &solo, *fan).expect("the same"), first);
        right(&other, &solo, *fan, &first.question);
        let second = next(&other, &solo, *fan).expect("another");
        assert_eq!(drawn(&service), [first.question.id, second.question.id]);
        firsts.insert(first.question.id);
    }
    assert!(firsts.len() > 1, "all fans got the same question");
    Ok(())
}

fn spec_8_events_and_awards_come_once_from_two_processes_and_after_a_restart(
    kind: DatabaseKind,
) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_", "cy_"])?;
    let round = round(&service, "live");
    join(&service, &round, &fans);
    let both = |service: &TestApp, other: &TestApp| {
        let works = [service, other].map(|one| {
            let app = Arc::clone(one.app());
            async move { advance_trivia(&app).await }
        });
        for outcome in service.together(works) {
            outcome.expect("a working store");
        }
    };
    let other = service.another()?;
    at(&service, &round, 0, MILLI * 250);
    both(&service, &other);
    right(&service, &round, fans[0], &live(&round, 0));
    // All processes are gone in mid-round; the close of the first question is not published.
    drop(other);
    at(&service, &round, 1, MILLI * 5_250);
    right(&service, &round, fans[0], &live(&round, 1));
    right(&service, &round, fans[1], &live(&round, 1));
    let other = service.another()?;
    both(&service, &other);
    service.clock().set(round.closes_at.minus(MILLI));
    both(&service, &other);
    assert_eq!(awarded(&service, fans[0]), Vec::<i64>::new());
    service.clock().advance(MILLI);
    both(&service, &other);
    both(&service, &other);
    let (opened, closed, changed) =
        (EventKind::QuestionOpened, EventKind::QuestionClosed, EventKind::StandingsChanged);
    let question = [opened, closed, changed];
    let mut expected: Vec<_> = question.repeat(3);
    expected.push(EventKind::RoundEnded);
    assert_eq!(events(&service)[..10], expected);
    // The solo round goes on.
    assert_eq!(events(&service).len(), 10);
    let points = [fans[0], fans[1], fans[2]].map(|fan| awarded(&service, fan));
    assert_eq!(points, [vec![175], vec![75], vec![]]);
    assert_eq!(view(&service, &round, fans[0]).own.expect("a player").player.paid, Some(175));
    assert_eq!(view(&service, &round, fans[2]).own.expect("a player").player.paid, Some(0));
    verified(&service);
    Ok(())
}

fn spec_8_the_job_publishes_what_has_happened_and_gives_the_awards(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let round = round(&service, "live");
    join(&service, &round, &fans);
    at(&service, &round, 0, MILLI * 250);
    right(&service, &round, fans[0], &live(&round, 0));
    service.clock().set(round.closes_at);
    let job = jobs().into_iter().find(|job| job.name() == "run-trivia").expect("the job");
    let other = service.another()?;
    assert_eq!(turn(&service, &job), Turn::Done);
    assert!(matches!(turn(&other, &job), Turn::NotDue(_)));
    assert_eq!((events(&service).len(), awarded(&service, fans[0])), (10, vec![100]));
    verified(&service);
    Ok(())
}

fn spec_8_a_solo_round_awards_with_its_last_answer(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let (mia, solo) = (fans[0], round(&service, "solo"));
    join(&service, &solo, &fans);
    service.clock().set(solo.starts_at);
    let first = next(&service, &solo, mia).expect("a question").question;
    answer(&service, &solo, mia, &first, wrong(&first)).expect("an answer");
    let second = next(&service, &solo, mia).expect("a question").question;
    assert_eq!(awarded(&service, mia), Vec::<i64>::new());
    answer(&service, &solo, mia, &second, wrong(&second)).expect("an answer");
    // For having played, whatever was answered, and once.
    assert_eq!(awarded(&service, mia), [25]);
    answer(&service, &solo, mia, &second, wrong(&second)).expect("the same answer");
    advance(&service);
    service.clock().set(solo.closes_at);
    advance(&service);
    assert_eq!((awarded(&service, mia), score(&service, &solo, mia)), (vec![25], 0));
    assert_eq!(events(&service).last(), Some(&EventKind::RoundEnded));
    verified(&service);
    Ok(())
}

fn spec_8_a_solo_round_awards_when_its_last_question_lapses(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_"])?;
    let (mia, solo) = (fans[0], round(&service, "solo"));
    join(&service, &solo, &fans);
    service.clock().set(solo.starts_at);
    let first = next(&service, &solo, mia).expect("a question").question;
    right(&service, &solo, mia, &first);
    let last = next(&service, &solo, mia).expect("a question");
    // A fan who stops before the last question gets nothing.
    next(&service, &solo, fans[1]).expect("a question");
    service.clock().set(last.time.closes_at().minus(MILLI));
    advance(&service);
    assert_eq!(awarded(&service, mia), Vec::<i64>::new());
    service.clock().advance(MILLI);
    let other = service.another()?;
    advance(&service);
    advance(&other);
    assert_eq!((awarded(&service, mia), awarded(&service, fans[1])), (vec![25], vec![]));
    let late = answer(&service, &solo, mia, &last.question, last.question.right).unwrap_err();
    assert_eq!(late, PlayRefusal::TooLate);
    verified(&service);
    Ok(())
}

fn spec_8_no_solo_question_is_served_that_would_close_after_its_round(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_"])?;
    let solo = round(&service, "solo");
    join(&service, &solo, &fans);
    service.clock().set(solo.closes_at.minus(MILLI * 20_700));
    let served = next(&service, &solo, fans[0]).expect("a question");
    assert_eq!(served.time.closes_at(), solo.closes_at);
    service.clock().advance(MILLI);
    assert_eq!(next(&service, &solo, fans[1]).unwrap_err(), PlayRefusal::Over);
    Ok(())
}

fn spec_8_standings_go_by_score_then_time_then_joining(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_", "cy_", "di_", "eve"])?;
    let round = round(&service, "live");
    for fan in &fans {
        service.clock().advance(MILLI);
        join(&service, &round, &[*fan]);
    }
    let [mia, bo, cy, di, eve] = fans[..] else { panic!("five fans") };
    let question = live(&round, 0);
    // `cy` and `mia` answer at once, of whom `mia` joined first; the others wrongly, slowly and not at all.
    at(&service, &round, 0, MILLI * 300);
    right(&service, &round, cy, &question);
    right(&service, &round, mia, &question);
    answer(&service, &round, di, &question, wrong(&question)).expect("an answer");
    at(&service, &round, 0, SECOND * 5);
    answer(&service, &round, eve, &question, wrong(&question)).expect("an answer");
    assert_eq!(ranked(&service, &round), fans);
    at(&service, &round, 0, MILLI * 10_700);
    let expected = [mia, cy, di, eve, bo];
    assert_eq!(ranked(&service, &round), expected);
    // Page by page it is the same, and a fan finds the own place.
    let (mut paged, mut after): (Vec<UserId>, Option<StandingKey>) = (Vec::new(), None);
    loop {
        let limit = Limit::new(2)?;
        let page = service.found(ReadStandings { round: round.id, reader: Some(di), limit, after });
        assert_eq!(page.me.map(|me| (me.rank, me.answered)), Some((3, 1)));
        paged.extend(page.lines.iter().map(|(standing, _)| standing.key.user));
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!(paged, expected);
    let ranks: Vec<_> = standings(&service, &round, None).lines.iter().map(|(line, _)| line.rank).collect();
    assert_eq!(ranks, [1, 2, 3, 4, 5]);
    Ok(())
}

fn spec_8_fans_who_are_suspended_or_blocked_are_treated_as_on_boards(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia", "bo_", "cy_"])?;
    let (mia, bo, round) = (fans[0], fans[1], round(&service, "live"));
    join(&service, &round, &fans);
    at(&service, &round, 0, MILLI * 250);
    for fan in &fans {
        right(&service, &round, *fan, &live(&round, 0));
    }
    service.done(BlockUser { fan: mia, other: bo });
    service.done(SuspendAccount { username: "cy_".to_owned() });
    service.clock().set(round.closes_at);
    // A block hides the name and keeps the place; a suspension takes the place.
    let named = |reader| {
        let lines = standings(&service, &round, reader).lines.into_iter();
        lines.map(|(_, card)| card.map(|card| card.id)).collect::<Vec<_>>()
    };
    assert_eq!(named(None), [Some(mia), Some(bo)]);
    assert_eq!(named(Some(mia)), [Some(mia), None]);
    assert_eq!(named(Some(bo)), [None, Some(bo)]);
    advance(&service);
    assert_eq!([awarded(&service, mia), awarded(&service, fans[2])], [vec![100], vec![]]);
    let suspended = service.refused(JoinRound { user: fans[2], round: round.id });
    assert_eq!(suspended, PlayRefusal::NotActive);
    service.done(RestoreAccount { username: "cy_".to_owned() });
    advance(&service);
    assert_eq!(awarded(&service, fans[2]), [100]);
    assert_eq!(ranked(&service, &round).len(), 3);
    verified(&service);
    Ok(())
}

fn spec_8_a_deleted_account_leaves_no_answers(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["bo_"])?;
    let mia: Fan = service.fan("mia");
    let round = round(&service, "live");
    join(&service, &round, &[fans[0], mia.id]);
    at(&service, &round, 0, SECOND);
    right(&service, &round, mia.id, &live(&round, 0));
    assert_eq!(delete(&service, mia.cookie, PASSWORD), None);
    catch_up(&service);
    assert_eq!(view(&service, &round, mia.id).own, None);
    let id = round.id;
    assert_eq!(service.ask(move |tx| tx.answers_of(mia.id, &[id])), []);
    assert_eq!((ranked(&service, &round), view(&service, &round, fans[0]).players), (vec![fans[0]], 1));
    service.clock().set(round.closes_at);
    advance(&service);
    verified(&service);
    Ok(())
}

fn spec_8_verification_finds_scores_and_awards_that_lie(kind: DatabaseKind) -> Result<()> {
    use terrace_testkit::games::{DuePlayer, GivenAnswer};
    let (service, fans) = started(kind, &["mia", "bo_"])?;
    let solo = round(&service, "solo");
    join(&service, &solo, &fans);
    service.clock().set(solo.starts_at.plus(SECOND));
    let served = next(&service, &solo, fans[0]).expect("a question");
    verified(&service);
    // A score that is not that of the formula, and an award without points.
    let given = GivenAnswer {
        option: wrong(&served.question),
        arrived_at: service.clock().now(),
        taken: 0,
        points: 1_000,
    };
    let (id, mia, bo) = (solo.id, fans[0], fans[1]);
    service.write(move |tx, ctx| {
        tx.give_answer(id, mia, 0, &given)?;
        Ok(tx.pay_player(DuePlayer { round: id, user: bo }, 25, ctx.now())?)
    });
    let checks = service.ask(|tx| tx.audit_counters());
    let wrong: Vec<_> = checks.iter().filter(|check| check.wrong > 0).map(|check| check.counter).collect();
    assert_eq!(wrong, ["trivia_answers.points", "trivia_players.paid"]);
    Ok(())
}
