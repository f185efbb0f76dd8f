//! Validation of rounds as content.

use super::{Choice, Question, Round, RoundMode, RoundStatus, Salt, Script};
use crate::{OptionId, QuestionId, RoundId};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;
use terrace_kernel::content::{ContentError, ContentProblems, LONGEST_ADDRESS, is_image_address};
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{MalformedKey, TeamId, Timestamp, Uuid, num};

/// The longest title of a round, in characters.
const LONGEST_TITLE: usize = 120;
/// The longest text of a question, in characters.
const LONGEST_QUESTION: usize = 300;
/// The longest text of an option, in characters.
const LONGEST_OPTION: usize = 120;
/// The most questions that a fan gets in a round.
const MOST_QUESTIONS: u32 = 50;
/// The most questions of a pool.
const MOST_POOL: usize = 500;
/// A pool has so many times the questions of a fan.
const POOL: u32 = 3;
/// The most points of a question.
const MOST_POINTS: u32 = 10_000;
/// The most points for having played a solo round.
const MOST_AWARD: u32 = 10_000;
/// The longest solo round.
const LONGEST_ROUND: Duration = Duration::from_hours(31 * 24);
/// The time after a live question where the content names none, in seconds.
const REVEAL: i64 = 5;

/// A round as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundDraft {
    /// Stable key.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// `live` or `solo`.
    pub mode: String,
    /// Key of the team.
    pub team: Option<String>,
    /// When it begins; `None` if it could not be read.
    pub starts_at: Option<Timestamp>,
    /// When a solo round ends.
    pub closes_at: Option<Timestamp>,
    /// 5 to 120.
    pub seconds: i64,
    /// 3 to 30.
    pub reveal: Option<i64>,
    /// 1 to 10,000.
    pub max_points: i64,
    /// How many questions a fan gets in a solo round.
    pub question_count: Option<i64>,
    /// Points for having played a solo round.
    pub award: Option<i64>,
    /// The questions, or the pool.
    pub questions: Vec<QuestionDraft>,
    /// Whether parts of it could not be read, so that rules about the whole are not checked.
    pub is_partial: bool,
}

/// A question as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestionDraft {
    /// One line of 1 to 300 characters.
    pub text: String,
    /// The address of its picture.
    pub image_url: Option<String>,
    /// 2 to 6 different lines of 1 to 120 characters.
    pub options: Vec<String>,
    /// The text of the right option.
    pub right: String,
}

/// The list of content that rounds are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds;

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("round")
    }
}

/// A problem of a round in the content, with the place of the round.
pub type RoundError = ContentError<Rounds, RoundProblem>;

/// A problem of a round. Questions are named by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoundProblem {
    /// The key is malformed.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key occurs twice in the list.
    #[error("the key is used twice")]
    KeyTwice,
    /// The title is invalid.
    #[error("the title {0}")]
    Title(TextError),
    /// The mode is unknown.
    #[error("the mode is \"live\" or \"solo\", not {0:?}")]
    Mode(String),
    /// No team has this key.
    #[error("there is no team {0:?}")]
    Team(String),
    /// The time for a question is out of range.
    #[error("a question has 5 to 120 seconds")]
    Seconds,
    /// The time after a question is out of range.
    #[error("`reveal` must be 3 to 30 seconds")]
    Reveal,
    /// The points of a question are out of range.
    #[error("`points` must be 1 to {MOST_POINTS}")]
    Points,
    /// The award is out of range.
    #[error("`award` must be 1 to {MOST_AWARD}")]
    Award,
    /// A live round has fields of a solo round.
    #[error(
        "a live round has no `closes`, `count` and `award`: it ends with its last question, and awards its scores"
    )]
    Live,
    /// A solo round has no end, or it is too short or too long.
    #[error("a solo round has `closes`, after the time of a question and at most 31 days after `starts`")]
    Closes,
    /// The number of questions of a fan is out of range.
    #[error("`count` must be 1 to {MOST_QUESTIONS}")]
    Count,
    /// There are too few or too many questions.
    #[error("a live round has 1 to {MOST_QUESTIONS} questions")]
    Questions,
    /// The pool is too small or too large.
    #[error("a solo round has at least {POOL} times as many questions as `count`, and at most {MOST_POOL}")]
    Pool,
    /// The text of a question is invalid.
    #[error("question {0}: the text {1}")]
    Text(usize, TextError),
    /// Two questions have the same text.
    #[error("question {0}: an earlier question has the same text")]
    TextTwice(usize),
    /// The address of a picture is invalid.
    #[error(
        "question {0}: the image must be an https address or a path of at most {LONGEST_ADDRESS} characters"
    )]
    Image(usize),
    /// There are too few or too many options.
    #[error("question {0}: a question has 2 to 6 options")]
    Options(usize),
    /// The text of an option is invalid.
    #[error("question {0}: an option {1}")]
    Option(usize, TextError),
    /// Two options have the same text.
    #[error("question {0}: two options are {1:?}")]
    OptionTwice(usize, String),
    /// The right option is none of the options.
    #[error("question {0}: `right` is none of the options")]
    Right(usize),
    /// A round that is not stored yet ends before the content is loaded.
    #[error("it is new, and ends in the past")]
    ClosedBefore,
    /// The round was cancelled.
    #[error("it was cancelled: a round that takes its place needs another key")]
    Cancelled,
    /// The round has begun, and differs.
    #[error("it has begun, and can no longer be changed")]
    Begun,
}

/// What the stored content and the rest of the content say.
pub struct KnownRounds<'a> {
    /// The stored rounds.
    pub rounds: &'a [Round],
    /// Finds a team by its key.
    pub team: &'a dyn Fn(&str) -> Option<TeamId>,
    /// The current time, if what depends on it is checked.
    pub now: Option<Timestamp>,
}

impl fmt::Debug for KnownRounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownRounds").field("now", &self.now).finish_non_exhaustive()
    }
}

type Problems = ContentProblems<Rounds, RoundProblem>;

/// Validates rounds as a whole. A round whose key is stored keeps its id, and its questions and commitment if they are the
/// same; `new_id` generates random ids.
///
/// # Errors
///
/// Returns all problems, in the order of the content.
pub fn plan_rounds(
    drafts: &[RoundDraft],
    known: &KnownRounds<'_>,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Vec<Round>, Vec<RoundError>> {
    let mut found = Problems::new(Rounds);
    let mut seen = BTreeSet::new();
    let mut rounds = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        found.at(Rounds, &draft.key, place);
        if !seen.insert(draft.key.as_str()) {
            found.note(RoundProblem::KeyTwice);
        }
        rounds.extend(round(draft, known, &mut new_id, &mut found));
    }
    found.unless_any(rounds)
}

fn round(
    draft: &RoundDraft,
    known: &KnownRounds<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Round> {
    let before = found.count();
    let stored = known.rounds.iter().find(|round| round.key.as_str() == draft.key);
    let key = found.take(draft.key.parse(), RoundProblem::Key);
    let title = found.take(line(&draft.title, 1, LONGEST_TITLE), RoundProblem::Title);
    let mode = found.take(draft.mode.parse(), |_| RoundProblem::Mode(draft.mode.clone()));
    let team = team(draft, known, found);
    let seconds = found.within(draft.seconds, 5, 120, RoundProblem::Seconds);
    let reveal = found.within(draft.reveal.unwrap_or(REVEAL), 3, 30, RoundProblem::Reveal);
    let max_points = found.within(draft.max_points, 1, MOST_POINTS, RoundProblem::Points);
    let texts = questions(draft, found);
    let (mode, seconds, reveal, starts_at) = (mode?, seconds?, reveal?, draft.starts_at?);
    let (question_count, closes_at, award) = match mode {
        RoundMode::Live => live(draft, starts_at, (seconds, reveal), found),
        RoundMode::Solo => solo(draft, starts_at, seconds, found)?,
    };
    // In others, parts that were left out because of an error would only cause follow-up errors.
    if found.count() > before || draft.is_partial {
        return None;
    }
    let round = Round {
        id: stored.map_or_else(|| RoundId::from_uuid(new_id()), |round| round.id),
        key: key?,
        title: title?,
        mode,
        team,
        starts_at,
        closes_at,
        seconds,
        reveal,
        max_points: max_points?,
        question_count,
        award,
        script: script(&texts, stored, new_id),
        is_cancelled: false,
    };
    check_time(&round, stored, known.now, found);
    Some(round)
}

/// What depends on the time.
fn check_time(round: &Round, stored: Option<&Round>, now: Option<Timestamp>, found: &mut Problems) {
    let Some(now) = now else { return };
    match stored {
        None if round.closes_at <= now => found.note(RoundProblem::ClosedBefore),
        Some(stored) if stored.is_cancelled => found.note(RoundProblem::Cancelled),
        Some(stored) if stored.status(now) != RoundStatus::Scheduled && stored != round => {
            found.note(RoundProblem::Begun);
        }
        None | Some(_) => {}
    }
}

fn team(draft: &RoundDraft, known: &KnownRounds<'_>, found: &mut Problems) -> Option<TeamId> {
    let key = draft.team.as_ref()?;
    let team = (known.team)(key);
    if team.is_none() {
        found.note(RoundProblem::Team(key.clone()));
    }
    team
}

/// The number of questions, the end, and the award for playing.
fn live(
    draft: &RoundDraft,
    starts_at: Timestamp,
    (seconds, reveal): (u32, u32),
    found: &mut Problems,
) -> (u32, Timestamp, u32) {
    let count = num::to_u32(draft.questions.len());
    if !(1..=MOST_QUESTIONS).contains(&count) && !draft.is_partial {
        found.note(RoundProblem::Questions);
    }
    if draft.closes_at.is_some() || draft.question_count.is_some() || draft.award.is_some() {
        found.note(RoundProblem::Live);
    }
    (count, Round::live_end(starts_at, seconds, reveal, count), 0)
}

fn solo(
    draft: &RoundDraft,
    starts_at: Timestamp,
    seconds: u32,
    found: &mut Problems,
) -> Option<(u32, Timestamp, u32)> {
    let count = found.within(draft.question_count.unwrap_or(0), 1, MOST_QUESTIONS, RoundProblem::Count);
    let award = found.within(draft.award.unwrap_or(0), 1, MOST_AWARD, RoundProblem::Award);
    let pool = draft.questions.len();
    let is_enough = count.is_none_or(|count| num::to_u32(pool) >= count.saturating_mul(POOL));
    if (pool > MOST_POOL || !is_enough) && !draft.is_partial {
        found.note(RoundProblem::Pool);
    }
    let least = starts_at.plus(Duration::from_secs(u64::from(seconds).saturating_add(1)));
    let closes = draft.closes_at.filter(|closes| (least..=starts_at.plus(LONGEST_ROUND)).contains(closes));
    if closes.is_none() && !draft.is_partial {
        found.note(RoundProblem::Closes);
    }
    Some((count?, closes?, award?))
}

/// A question whose texts are valid.
struct Texts<'a> {
    text: String,
    image_url: Option<&'a str>,
    options: Vec<String>,
    right: String,
}

impl Texts<'_> {
    /// Whether a stored question says the same.
    fn is_same(&self, stored: &Question) -> bool {
        let mut options: Vec<&str> = stored.options.iter().map(|option| option.text.as_str()).collect();
        let mut own: Vec<&str> = self.options.iter().map(String::as_str).collect();
        options.sort_unstable();
        own.sort_unstable();
        let right = stored.options.iter().find(|option| option.id == stored.right);
        self.text == stored.text
            && self.image_url == stored.image_url.as_deref()
            && own == options
            && right.is_some_and(|right| right.text == self.right)
    }
}

fn questions<'d>(draft: &'d RoundDraft, found: &mut Problems) -> Vec<Texts<'d>> {
    let mut seen = BTreeSet::new();
    let mut texts = Vec::new();
    for (number, one) in (1..).zip(&draft.questions) {
        let text =
            found.take(line(&one.text, 1, LONGEST_QUESTION), |error| RoundProblem::Text(number, error));
        if text.as_ref().is_some_and(|text| !seen.insert(text.clone())) {
            found.note(RoundProblem::TextTwice(number));
        }
        let image_url = one.image_url.as_deref();
        if image_url.is_some_and(|address| !is_image_address(address)) {
            found.note(RoundProblem::Image(number));
        }
        let (options, right) = options(one, number, found);
        texts.extend(text.map(|text| Texts { text, image_url, options, right }));
    }
    texts
}

/// The texts of the options, and of the right one.
fn options(draft: &QuestionDraft, number: usize, found: &mut Problems) -> (Vec<String>, String) {
    if !(2..=6).contains(&draft.options.len()) {
        found.note(RoundProblem::Options(number));
    }
    let mut options: Vec<String> = Vec::new();
    for text in &draft.options {
        let option = found.take(line(text, 1, LONGEST_OPTION), |error| RoundProblem::Option(number, error));
        let Some(option) = option else { continue };
        if options.contains(&option) {
            found.note(RoundProblem::OptionTwice(number, option));
        } else {
            options.push(option);
        }
    }
    let right = draft.right.trim().to_owned();
    if !options.contains(&right) {
        found.note(RoundProblem::Right(number));
    }
    (options, right)
}

/// The stored script if the questions are the same, otherwise one with new ids.
fn script(texts: &[Texts<'_>], stored: Option<&Round>, new_id: &mut impl FnMut() -> Uuid) -> Script {
    let same = stored.filter(|round| {
        let stored = &round.script.questions;
        stored.len() == texts.len() && texts.iter().zip(stored).all(|(texts, stored)| texts.is_same(stored))
    });
    if let Some(same) = same {
        return same.script.clone();
    }
    let mut salt = [0; 32];
    for half in salt.chunks_mut(16) {
        half.copy_from_slice(new_id().as_bytes());
    }
    let question = |texts: &Texts<'_>| {
        let id = QuestionId::from_uuid(new_id());
        let choice = |text: &String| Choice { id: OptionId::from_uuid(new_id()), text: text.clone() };
        let mut options: Vec<Choice> = texts.options.iter().map(choice).collect();
        let right = options.iter().find(|option| option.text == texts.right).map(|option| option.id);
        // By their random ids, so that the order says nothing of the right one.
        options.sort_by_key(|option| option.id);
        let image_url = texts.image_url.map(str::to_owned);
        // `options` has noted a problem where no option is right, and then the round is refused.
        let right = right.unwrap_or(OptionId::from_uuid(id.as_uuid()));
        Question { id, text: texts.text.clone(), image_url, options, right }
    };
    Script { salt: Salt::from_bytes(salt), questions: texts.iter().map(question).collect() }
}
