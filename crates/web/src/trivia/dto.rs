//! Rounds, questions, answers and standings.

use crate::dto::{Time, UserCard, names};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use terrace_app::trivia::{AnsweredQuestion, OwnRound, RoundNow, RoundView, ServedQuestion, StandingsPage};
use terrace_games::{
    Answer as DomainAnswer, GivenAnswer, OptionId, Player, Question as DomainQuestion, QuestionTime,
    Round as DomainRound, RoundMode, RoundStatus as DomainStatus, Standing,
};
use terrace_identity::AuthorCard;
use terrace_kernel::{Timestamp, num};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) use crate::trivia::event_dto::{QuestionClosed, QuestionOpened, RoundEnded, StandingsChanged};

names! {
    /// How a round is played: `live` at the same time by all fans, `solo` at any time while it is open.
    Mode(RoundMode): RoundMode::ALL, RoundMode::as_str
}

/// The state of a round.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoundStatus {
    /// It has not begun.
    Scheduled,
    /// It has begun.
    Open,
    /// It has ended.
    Over,
    /// The club cancelled it.
    Cancelled,
}

impl From<DomainStatus> for RoundStatus {
    fn from(status: DomainStatus) -> Self {
        match status {
            DomainStatus::Scheduled => Self::Scheduled,
            DomainStatus::Open => Self::Open,
            DomainStatus::Over => Self::Over,
            DomainStatus::Cancelled => Self::Cancelled,
        }
    }
}

/// What the reader did in a round.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InRound {
    /// When the reader joined.
    joined_at: Time,
    /// How many questions the reader has answered.
    answered: u32,
    /// The score of the answers whose results are known.
    score: u64,
    /// The points that were awarded for the round; null until then.
    #[schema(required)]
    award: Option<u32>,
}

impl InRound {
    fn new(own: &OwnRound, round: &DomainRound, now: Timestamp) -> Self {
        Self {
            joined_at: Time(own.player.joined_at),
            answered: own.answered(),
            score: own.score(round, now),
            award: own.player.paid,
        }
    }
}

/// A round of trivia.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Round {
    /// The id of the round.
    id: Uuid,
    /// The stable key of the round.
    #[schema(example = "derby-quiz")]
    key: String,
    /// The title of the round.
    title: String,
    /// How it is played.
    mode: Mode,
    /// The team whose fans it is for; null for all.
    #[schema(required)]
    team_id: Option<Uuid>,
    /// When it begins: the first live question opens.
    starts_at: Time,
    /// When it ends.
    closes_at: Time,
    /// How many questions each fan gets.
    #[schema(minimum = 1)]
    question_count: u32,
    /// The time for a question, in seconds.
    #[schema(minimum = 5, maximum = 120)]
    seconds: u32,
    /// The time after a live question, in seconds. Live question `n`, from 0, opens `n × (seconds + reveal)` after
    /// `startsAt`.
    #[schema(minimum = 3, maximum = 30)]
    reveal: u32,
    /// The score of a right answer that takes no time.
    #[schema(minimum = 1, maximum = 10000)]
    max_points: u32,
    /// The points for having played a solo round; 0 for a live round, which awards its scores.
    award: u32,
    /// The state.
    status: RoundStatus,
    /// How many fans have joined.
    player_count: u64,
    /// The SHA-256 of the questions with their right options, which the proof opens when the round is over.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    commitment: String,
    /// What the reader did in it; null if the reader is signed out or has not joined.
    #[schema(required)]
    me: Option<InRound>,
}

impl Round {
    pub(crate) fn new(view: &RoundView, now: Timestamp) -> Self {
        let RoundView { round, players, own } = view;
        Self {
            id: round.id.as_uuid(),
            key: round.key.to_string(),
            title: round.title.clone(),
            mode: Mode(round.mode),
            team_id: round.team.map(terrace_kernel::TeamId::as_uuid),
            starts_at: Time(round.starts_at),
            closes_at: Time(round.closes_at),
            question_count: round.question_count,
            seconds: round.seconds,
            reveal: round.reveal,
            max_points: round.max_points,
            award: round.award,
            status: round.status(now).into(),
            player_count: *players,
            commitment: round.commitment().to_string(),
            me: own.as_ref().map(|own| InRound::new(own, round, now)),
        }
    }
}

/// A page of rounds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundList {
    /// The rounds.
    pub(crate) rounds: Vec<Round>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// An option of a question.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionOption {
    /// The id of the option, by which it is answered.
    id: Uuid,
    /// The text of the option.
    text: String,
}

fn options(question: &DomainQuestion) -> Vec<QuestionOption> {
    let option = |option: &terrace_games::Choice| QuestionOption {
        id: option.id.as_uuid(),
        text: option.text.clone(),
    };
    question.options.iter().map(option).collect()
}

/// A question that is open, or was.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question {
    /// The id of the question.
    id: Uuid,
    /// The number of the question, from 1.
    #[schema(minimum = 1)]
    number: u32,
    /// The text of the question.
    text: String,
    /// The URL of its picture; null if there is none.
    #[schema(required)]
    image_url: Option<String>,
    /// 2 to 6 options. Their order says nothing of the right one.
    options: Vec<QuestionOption>,
    /// When it was served, or opened for all.
    served_at: Time,
    /// When the time for it ends.
    ends_at: Time,
}

impl Question {
    pub(crate) fn new(question: &DomainQuestion, place: u32, time: QuestionTime) -> Self {
        Self {
            id: question.id.as_uuid(),
            number: place.saturating_add(1),
            text: question.text.clone(),
            image_url: question.image_url.clone(),
            options: options(question),
            served_at: Time(time.served_at),
            ends_at: Time(time.ends_at),
        }
    }
}

/// An answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The id of the question.
    question_id: Uuid,
    /// The id of the chosen option.
    option_id: Uuid,
    /// When the request came in.
    answered_at: Time,
    /// The time that counts, in milliseconds: from the serving to the answer, less 250.
    time_ms: u32,
}

impl Answer {
    fn new(answer: &DomainAnswer, given: &GivenAnswer) -> Self {
        Self {
            question_id: answer.question.as_uuid(),
            option_id: given.option.as_uuid(),
            answered_at: Time(given.arrived_at),
            time_ms: given.taken,
        }
    }
}

/// The result of an answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnswerResult {
    /// Whether the chosen option is the right one.
    correct: bool,
    /// The id of the right option.
    correct_option_id: Uuid,
    /// The score of the answer.
    points: u32,
}

impl AnswerResult {
    fn new(question: &DomainQuestion, given: &GivenAnswer) -> Self {
        Self {
            correct: given.option == question.right,
            correct_option_id: question.right.as_uuid(),
            points: given.points,
        }
    }
}

/// How often an option was chosen.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OptionCount {
    /// The id of the option.
    option_id: Uuid,
    /// How many fans chose it.
    count: u64,
}

/// The counts of all options, in the order of the options.
pub(crate) fn option_counts(question: &DomainQuestion, counts: &HashMap<OptionId, u64>) -> Vec<OptionCount> {
    let count = |id: OptionId| counts.get(&id).copied().unwrap_or(0);
    let options = question.options.iter();
    options.map(|option| OptionCount { option_id: option.id.as_uuid(), count: count(option.id) }).collect()
}

/// The latest question of a round.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CurrentQuestion {
    /// The question.
    question: Question,
    /// The reader's answer; null without one.
    #[schema(required)]
    answer: Option<Answer>,
    /// The result of the reader's answer; null without an answer, and until its result is known.
    #[schema(required)]
    result: Option<AnswerResult>,
    /// The id of the right option; null until the question closes, or the reader has answered it in a solo round.
    #[schema(required)]
    correct_option_id: Option<Uuid>,
    /// How often each option of a live question was chosen; null until it closes.
    #[schema(required)]
    counts: Option<Vec<OptionCount>>,
}

impl CurrentQuestion {
    fn of(read: &RoundNow) -> Option<Self> {
        let RoundNow { view: RoundView { round, own, .. }, now, counts, .. } = read;
        if round.status(*now) != DomainStatus::Open {
            return None;
        }
        let answers = own.as_ref().map_or(&[][..], |own| &own.answers);
        let (question, place, time, answer) = match round.mode {
            RoundMode::Live => {
                let place = round.opened(*now).checked_sub(1)?;
                let question = round.script.questions.get(usize::try_from(place).ok()?)?;
                let answer = answers.iter().find(|answer| answer.question == question.id);
                (question, place, round.live_time(place), answer)
            }
            RoundMode::Solo => {
                let answer = answers.last()?;
                (round.script.question(answer.question)?, answer.place, answer.time, Some(answer))
            }
        };
        let given = answer.and_then(|answer| Some((answer, answer.given.as_ref()?)));
        let is_revealed = round.reveals(time, given.is_some(), *now);
        Some(Self {
            question: Question::new(question, place, time),
            answer: given.map(|(answer, given)| Answer::new(answer, given)),
            result: given.filter(|_| is_revealed).map(|(_, given)| AnswerResult::new(question, given)),
            correct_option_id: is_revealed.then_some(question.right.as_uuid()),
            counts: counts.as_ref().map(|counts| option_counts(question, counts)),
        })
    }
}

/// A round with its latest question.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundEnvelope {
    /// The round.
    round: Round,
    /// Of an open round: the latest live question, or the last question that the reader got; null if there is none.
    #[schema(required)]
    current: Option<CurrentQuestion>,
    /// The time of the service, which decides all times of the round.
    server_now: Time,
    /// The position after which a stream continues.
    stream_position: i64,
}

impl From<&RoundNow> for RoundEnvelope {
    fn from(read: &RoundNow) -> Self {
        Self {
            round: Round::new(&read.view, read.now),
            current: CurrentQuestion::of(read),
            server_now: Time(read.now),
            stream_position: read.position.get(),
        }
    }
}

/// A question of a solo round.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionEnvelope {
    /// The question.
    question: Question,
    /// The time of the service, which decides all times of the round.
    server_now: Time,
}

impl QuestionEnvelope {
    pub(crate) fn new(served: &ServedQuestion, now: Timestamp) -> Self {
        let ServedQuestion { place, question, time } = served;
        Self { question: Question::new(question, *place, *time), server_now: Time(now) }
    }
}

/// An answer to a question.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AnswerBody {
    /// The id of the question.
    #[schema(value_type = Uuid, example = "0190a6f2-7c1e-7abc-8def-0123456789ab")]
    pub(crate) question_id: String,
    /// The id of the chosen option.
    #[schema(value_type = Uuid, example = "0190a6f2-7c1e-7abc-8def-0123456789ac")]
    pub(crate) option_id: String,
}

/// An answer that was accepted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnswerEnvelope {
    /// The answer.
    answer: Answer,
    /// Its result; null until a live question has closed.
    #[schema(required)]
    result: Option<AnswerResult>,
}

impl AnswerEnvelope {
    /// `None` without an answer, which an accepted request always has.
    pub(crate) fn new(answered: &AnsweredQuestion) -> Option<Self> {
        let given = answered.answer.given.as_ref()?;
        let result = answered.is_revealed.then(|| AnswerResult::new(&answered.question, given));
        Some(Self { answer: Answer::new(&answered.answer, given), result })
    }
}

/// A fan's place in a round.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundStanding {
    /// The place, from 1.
    #[schema(minimum = 1)]
    rank: u64,
    /// The score.
    score: i64,
    /// The time of all answers in milliseconds. A question without an answer counts with its whole time.
    time_ms: i64,
    /// How many questions the fan has answered.
    answered: u32,
}

impl RoundStanding {
    fn new(standing: &Standing, page: &StandingsPage) -> Self {
        let all = i64::from(page.counted).saturating_mul(page.round.length_ms().into());
        Self {
            rank: standing.rank,
            score: standing.key.score,
            time_ms: all.saturating_add(standing.key.saved),
            answered: standing.answered,
        }
    }
}

/// A line of the standings of a round.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandingEntry {
    /// The place, from 1.
    #[schema(minimum = 1)]
    rank: u64,
    /// The score.
    score: i64,
    /// The time of all answers in milliseconds. A question without an answer counts with its whole time.
    time_ms: i64,
    /// How many questions the fan has answered.
    answered: u32,
    /// The fan; null if a block hides the fan and the reader from each other.
    #[schema(required)]
    user: Option<UserCard>,
}

/// A page of the standings of a round.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandingList {
    /// The id of the round.
    round_id: Uuid,
    /// How many questions decide the standings: of a live round those that have closed.
    counted: u32,
    /// The lines: by score, then time, then who joined first.
    entries: Vec<StandingEntry>,
    /// The reader's place; null if the reader is signed out or has not joined.
    #[schema(required)]
    me: Option<RoundStanding>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

impl StandingList {
    pub(crate) fn new(page: &StandingsPage, next_cursor: Option<String>) -> Self {
        let entry = |(standing, user): &(Standing, Option<AuthorCard>)| {
            let RoundStanding { rank, score, time_ms, answered } = RoundStanding::new(standing, page);
            StandingEntry { rank, score, time_ms, answered, user: user.as_ref().map(UserCard::from) }
        };
        Self {
            round_id: page.round.id.as_uuid(),
            counted: page.counted,
            entries: page.lines.iter().map(entry).collect(),
            me: page.me.as_ref().map(|me| RoundStanding::new(me, page)),
            next_cursor,
        }
    }
}

/// A question of a proof.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProvenQuestion {
    /// The id of the question.
    id: Uuid,
    /// The text of the question.
    text: String,
    /// The URL of its picture; null if there is none.
    #[schema(required)]
    image_url: Option<String>,
    /// The options.
    options: Vec<QuestionOption>,
    /// The id of the right option.
    correct_option_id: Uuid,
}

/// What opens the commitment of a round.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundProof {
    /// The id of the round.
    round_id: Uuid,
    /// The SHA-256 of the canonical text of the questions, which was published before the round.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    commitment: String,
    /// Random bytes that the text contains.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    salt: String,
    /// The questions in the order of the text: all of a live round, or the pool of a solo round.
    questions: Vec<ProvenQuestion>,
}

impl From<&DomainRound> for RoundProof {
    fn from(round: &DomainRound) -> Self {
        let question = |question: &DomainQuestion| ProvenQuestion {
            id: question.id.as_uuid(),
            text: question.text.clone(),
            image_url: question.image_url.clone(),
            options: options(question),
            correct_option_id: question.right.as_uuid(),
        };
        Self {
            round_id: round.id.as_uuid(),
            commitment: round.commitment().to_string(),
            salt: round.script.salt.to_string(),
            questions: round.script.questions.iter().map(question).collect(),
        }
    }
}

/// An answer in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedAnswer {
    /// The id of the question.
    question_id: Uuid,
    /// When the question was served.
    served_at: Time,
    /// The answer; null if none was given.
    #[schema(required)]
    answer: Option<Answer>,
    /// The score of the answer; null until the round was awarded.
    #[schema(required)]
    points: Option<u32>,
}

/// A round that the fan joined, in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedRound {
    /// The id of the round.
    round_id: Uuid,
    /// When the fan joined.
    joined_at: Time,
    /// The points that were awarded; null until then.
    #[schema(required)]
    award: Option<u32>,
    /// How many questions the fan got.
    question_count: u32,
    /// The questions that the fan got.
    answers: Vec<ExportedAnswer>,
}

impl From<&(Player, Vec<DomainAnswer>)> for ExportedRound {
    fn from((player, answers): &(Player, Vec<DomainAnswer>)) -> Self {
        let answer = |answer: &DomainAnswer| ExportedAnswer {
            question_id: answer.question.as_uuid(),
            served_at: Time(answer.time.served_at),
            answer: answer.given.as_ref().map(|given| Answer::new(answer, given)),
            // Before, a score would say whether the answer to an open question is right.
            points: answer.given.filter(|_| player.paid.is_some()).map(|given| given.points),
        };
        Self {
            round_id: player.round.as_uuid(),
            joined_at: Time(player.joined_at),
            award: player.paid,
            question_count: num::to_u32(answers.len()),
            answers: answers.iter().map(answer).collect(),
        }
    }
}
