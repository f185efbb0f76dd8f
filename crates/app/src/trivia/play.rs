//! Joining a round, getting its questions, and answering them.

use crate::boards::Awards;
use crate::grants::Granter;
use crate::store::{Command, TriviaTx};
use crate::trivia::awards::award;
use crate::trivia::{TriviaSeeds, one};
use std::sync::Arc;
use terrace_games::{
    Answer, DuePlayer, GivenAnswer, OptionId, Player, Question, QuestionId, QuestionTime, Round, RoundId,
    RoundMode, RoundStatus,
};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp, UserId};

/// Why a fan does not get on in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayRefusal {
    /// There is no such round.
    UnknownRound,
    /// The round has not begun.
    NotOpen,
    /// The round is over or was cancelled, or the fan had all its questions.
    Over,
    /// The fan has not joined.
    NotJoined,
    /// The question is not open: the fan did not get it, or a live question has not opened.
    QuestionNotOpen,
    /// The time for the question is over.
    TooLate,
    /// The fan has chosen another option.
    AlreadyAnswered,
    /// The question has no such option.
    UnknownOption,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

fn refused(refusal: PlayRefusal) -> Failure<PlayRefusal> {
    Failure::Refused(refusal)
}

/// Locks the fan's account and reads the round.
fn begin(tx: &mut dyn TriviaTx, user: UserId, round: RoundId) -> Outcome<Round, PlayRefusal> {
    tx.lock_fan(user)?.ok_or(refused(PlayRefusal::NotActive))?;
    one(tx, round)?.ok_or(refused(PlayRefusal::UnknownRound))
}

/// Refuses a round that has not begun or is over.
fn check_open(round: &Round, now: Timestamp) -> Outcome<(), PlayRefusal> {
    match round.status(now) {
        RoundStatus::Open => Ok(()),
        RoundStatus::Scheduled => Err(refused(PlayRefusal::NotOpen)),
        RoundStatus::Over | RoundStatus::Cancelled => Err(refused(PlayRefusal::Over)),
    }
}

/// Joins a round that is open or to come. A second time it has no effect.
pub struct JoinRound {
    pub user: UserId,
    pub round: RoundId,
}

impl Command for JoinRound {
    const NAME: &'static str = "join_round";
    type Ports = dyn TriviaTx;
    type Output = ();
    type Refusal = PlayRefusal;

    fn run(&self, tx: &mut dyn TriviaTx, ctx: &mut Ctx) -> Outcome<(), PlayRefusal> {
        let round = begin(tx, self.user, self.round)?;
        if matches!(round.status(ctx.now()), RoundStatus::Over | RoundStatus::Cancelled) {
            return Err(refused(PlayRefusal::Over));
        }
        let player = Player { round: round.id, user: self.user, joined_at: ctx.now(), paid: None };
        tx.insert_player(&player)?;
        Ok(())
    }
}

/// Serves the next question of a solo round. While the last one is open it is served again, with its times.
pub struct NextQuestion {
    pub user: UserId,
    pub round: RoundId,
    pub seeds: Arc<TriviaSeeds>,
}

/// A question that a fan got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedQuestion {
    /// The place of the question among the fan's questions of the round, from 0.
    pub place: u32,
    pub question: Question,
    /// When it was served, and when its time ends.
    pub time: QuestionTime,
}

impl Command for NextQuestion {
    const NAME: &'static str = "next_question";
    type Ports = dyn TriviaTx;
    type Output = ServedQuestion;
    type Refusal = PlayRefusal;

    fn run(&self, tx: &mut dyn TriviaTx, ctx: &mut Ctx) -> Outcome<ServedQuestion, PlayRefusal> {
        let round = begin(tx, self.user, self.round)?;
        check_open(&round, ctx.now())?;
        if tx.players_of(self.user, &[round.id])?.is_empty() {
            return Err(refused(PlayRefusal::NotJoined));
        }
        if round.mode == RoundMode::Live {
            return Err(refused(PlayRefusal::QuestionNotOpen));
        }
        let answers = tx.answers_of(self.user, &[round.id])?;
        if let Some((_, last)) = answers.last()
            && last.given.is_none()
            && !last.time.is_closed(ctx.now())
        {
            let question =
                round.script.question(last.question).ok_or_else(|| defect("it has no question"))?;
            return Ok(ServedQuestion { place: last.place, question: question.clone(), time: last.time });
        }
        let place = answers.last().map_or(0, |(_, last)| last.place.saturating_add(1));
        if place >= round.question_count || ctx.now() > round.last_serving() {
            return Err(refused(PlayRefusal::Over));
        }
        let drawn = round.questions(&self.seeds.seed(round.id, self.user));
        let drawn = usize::try_from(place).ok().and_then(|place| drawn.get(place).copied());
        let question = drawn.ok_or_else(|| defect("it has too few questions"))?;
        let time = QuestionTime::new(ctx.now(), round.length());
        let answer = Answer { place, question: question.id, time, given: None };
        tx.insert_answer(round.id, self.user, &answer)?;
        Ok(ServedQuestion { place, question: question.clone(), time })
    }
}

fn defect(cause: &str) -> StoreError {
    StoreError::defect("play a round", cause.to_owned())
}

/// Answers a question, once.
#[derive(Debug, Clone)]
pub struct AnswerQuestion {
    pub user: UserId,
    pub round: RoundId,
    pub question: QuestionId,
    /// The chosen option.
    pub option: OptionId,
    /// When the request came in.
    pub arrived_at: Timestamp,
    /// Gives what the last question of a solo round awards.
    pub granter: Granter,
    /// Awards points.
    pub awards: Awards,
}

/// An answer that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredQuestion {
    pub round: Round,
    pub question: Question,
    pub answer: Answer,
    /// Whether its result may be shown.
    pub is_revealed: bool,
}

impl Command for AnswerQuestion {
    const NAME: &'static str = "answer_question";
    type Ports = dyn TriviaTx;
    type Output = AnsweredQuestion;
    type Refusal = PlayRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    /// The statements are the same for every option, so that neither their number nor their time says which is right.
    fn run(&self, tx: &mut dyn TriviaTx, ctx: &mut Ctx) -> Outcome<AnsweredQuestion, PlayRefusal> {
        let round = begin(tx, self.user, self.round)?;
        let has_joined = !tx.players_of(self.user, &[round.id])?.is_empty();
        let answers = tx.answers_of(self.user, &[round.id])?;
        let served = answers.into_iter().map(|(_, answer)| answer).find(|one| one.question == self.question);
        let question = round.script.question(self.question).cloned();
        let answer = match (served, question) {
            (Some(Answer { given: Some(given), .. }), _) if given.option != self.option => {
                return Err(refused(PlayRefusal::AlreadyAnswered));
            }
            (Some(answer), Some(question)) if answer.given.is_some() => {
                return Ok(answered(round, question, answer, ctx.now()));
            }
            (served, question) => {
                check_open(&round, ctx.now())?;
                if !has_joined {
                    return Err(refused(PlayRefusal::NotJoined));
                }
                let place = question.and_then(|question| place_of(&round, question, ctx.now()));
                let (question, live) = place.ok_or(refused(PlayRefusal::QuestionNotOpen))?;
                let answer = served.or(live).ok_or(refused(PlayRefusal::QuestionNotOpen))?;
                (question, answer)
            }
        };
        self.give(tx, ctx, round, answer)
    }
}

/// The question, and for a live one that has opened what is stored with its answer.
fn place_of(round: &Round, question: Question, now: Timestamp) -> Option<(Question, Option<Answer>)> {
    if round.mode == RoundMode::Solo {
        return Some((question, None));
    }
    let mut places = (0..).zip(&round.script.questions);
    let (place, _) = places.find(|(_, one)| one.id == question.id)?;
    let time = round.live_time(place);
    let answer = Answer { place, question: question.id, time, given: None };
    time.served_at.is_over(now).then_some((question, Some(answer)))
}

fn answered(round: Round, question: Question, answer: Answer, now: Timestamp) -> AnsweredQuestion {
    let is_revealed = round.reveals(answer.time, true, now);
    AnsweredQuestion { round, question, answer, is_revealed }
}

impl AnswerQuestion {
    fn give(
        &self,
        tx: &mut dyn TriviaTx,
        ctx: &mut Ctx,
        round: Round,
        (question, answer): (Question, Answer),
    ) -> Outcome<AnsweredQuestion, PlayRefusal> {
        if !answer.time.accepts(self.arrived_at, ctx.now()) {
            return Err(refused(PlayRefusal::TooLate));
        }
        if !question.has(self.option) {
            return Err(refused(PlayRefusal::UnknownOption));
        }
        let taken = answer.time.taken(self.arrived_at);
        let points = round.score(question.right == self.option, taken);
        let given = GivenAnswer { option: self.option, arrived_at: self.arrived_at, taken, points };
        let answer = Answer { given: Some(given), ..answer };
        match round.mode {
            RoundMode::Live => tx.insert_answer(round.id, self.user, &answer)?,
            RoundMode::Solo => {
                if !tx.give_answer(round.id, self.user, answer.place, &given)? {
                    return Err(defect("a locked fan answered twice").into());
                }
                if answer.place.saturating_add(1) == round.question_count {
                    let player = DuePlayer { round: round.id, user: self.user };
                    award(tx, ctx, (&round, player, round.award), &self.granter, &self.awards)?;
                }
            }
        }
        Ok(answered(round, question, answer, ctx.now()))
    }
}
