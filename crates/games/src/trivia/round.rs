//! Rounds, and the instants at which their questions open, end and close.

use super::{Question, Script};
use crate::{RoundId, RoundKey};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use terrace_draws::{ClientSeed, Digest, ServerSeed, Source};
use terrace_kernel::{TeamId, Timestamp, UnknownName, num};

/// Taken off the time of every answer, for the way of the question and of the answer over the network.
pub const ANSWER_TOLERANCE: Duration = Duration::from_millis(250);
/// How long after the end of a question an answer is accepted.
pub const ANSWER_GRACE: Duration = Duration::from_millis(500);
/// How long after its end a question closes: results are not shown earlier.
pub const CLOSING_DELAY: Duration = Duration::from_millis(700);

/// How a round is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoundMode {
    /// All fans get the same questions at the same time.
    Live,
    /// Each fan gets questions drawn from a pool, at any time while the round is open.
    Solo,
}

impl RoundMode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Live, Self::Solo];

    /// The stable name, as used in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Solo => "solo",
        }
    }
}

impl fmt::Display for RoundMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RoundMode {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let named = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        named.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The state of a round, which follows from the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundStatus {
    /// It has not begun.
    Scheduled,
    /// It has begun.
    Open,
    /// It has ended.
    Over,
    /// The content dropped it before its end.
    Cancelled,
}

impl RoundStatus {
    /// The state at `now` of a round that was not cancelled.
    pub fn of(starts_at: Timestamp, closes_at: Timestamp, now: Timestamp) -> Self {
        if closes_at.is_over(now) {
            Self::Over
        } else if starts_at.is_over(now) {
            Self::Open
        } else {
            Self::Scheduled
        }
    }
}

/// When a fan got a question, and until when it can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionTime {
    /// When the question was served, or a live question opened.
    pub served_at: Timestamp,
    /// When the time for it ends.
    pub ends_at: Timestamp,
}

impl QuestionTime {
    /// The time of a question that is served at this instant.
    pub fn new(served_at: Timestamp, length: Duration) -> Self {
        Self { served_at, ends_at: served_at.plus(length) }
    }

    /// Whether a request that came in at `arrival` and is processed at `now` is in time. The second condition matters for
    /// requests whose body comes late: no answer is chosen after the right option was shown.
    pub fn accepts(&self, arrival: Timestamp, now: Timestamp) -> bool {
        arrival <= self.ends_at.plus(ANSWER_GRACE) && !self.is_closed(now)
    }

    /// When the question closes.
    pub fn closes_at(&self) -> Timestamp {
        self.ends_at.plus(CLOSING_DELAY)
    }

    /// Whether the question has closed, so that its result may be shown.
    pub fn is_closed(&self, now: Timestamp) -> bool {
        self.closes_at().is_over(now)
    }

    /// The time that an answer took, in whole milliseconds: `clamp(arrival − served − 250 ms, 0, L)`.
    pub fn taken(&self, arrival: Timestamp) -> u32 {
        let taken = arrival.since(self.served_at.plus(ANSWER_TOLERANCE));
        num::to_u32(taken.min(self.ends_at.since(self.served_at)).as_millis())
    }
}

/// What happens in a round at a known instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Milestone {
    /// The live question of this place opens.
    Opened(u32),
    /// The live question of this place closes.
    Closed(u32),
    /// The round ends.
    Ended,
}

/// A round of trivia.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// Identifies the round; it stays the same when the content changes.
    pub id: RoundId,
    /// The key, which identifies the round across versions of the content.
    pub key: RoundKey,
    /// One line of 1 to 120 characters.
    pub title: String,
    /// How it is played.
    pub mode: RoundMode,
    /// The team whose fans it is for, and on whose board its points are.
    pub team: Option<TeamId>,
    /// When it begins; the first live question opens.
    pub starts_at: Timestamp,
    /// When it ends.
    pub closes_at: Timestamp,
    /// The time for a question, 5 to 120 seconds.
    pub seconds: u32,
    /// The time after a live question, 3 to 30 seconds.
    pub reveal: u32,
    /// The score of a right answer that takes no time, 1 to 10,000.
    pub max_points: u32,
    /// How many questions each fan gets: of a live round all of them.
    pub question_count: u32,
    /// The points that a fan gets for having played a solo round; a live round gives its score.
    pub award: u32,
    /// The questions with their right options.
    pub script: Script,
    /// Whether the content dropped it before its end.
    pub is_cancelled: bool,
}

impl Round {
    /// The time for a question.
    pub fn length(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    /// The time for a question, in milliseconds.
    pub fn length_ms(&self) -> u32 {
        self.seconds.saturating_mul(1_000)
    }

    /// From the opening of a live question to that of the next.
    fn pace(&self) -> Duration {
        Duration::from_secs(u64::from(self.seconds).saturating_add(self.reveal.into()))
    }

    /// The end of a live round with so many questions.
    pub fn live_end(starts_at: Timestamp, seconds: u32, reveal: u32, questions: u32) -> Timestamp {
        let pace = Duration::from_secs(u64::from(seconds).saturating_add(reveal.into()));
        starts_at.plus(pace.saturating_mul(questions))
    }

    /// The time of the live question of this place, from 0.
    pub fn live_time(&self, place: u32) -> QuestionTime {
        QuestionTime::new(self.starts_at.plus(self.pace().saturating_mul(place)), self.length())
    }

    /// How many live questions have opened.
    pub fn opened(&self, now: Timestamp) -> u32 {
        self.count_live(|time| time.served_at.is_over(now))
    }

    /// How many live questions have closed.
    pub fn closed(&self, now: Timestamp) -> u32 {
        self.count_live(|time| time.is_closed(now))
    }

    /// Of the questions, which open one after another, those for which a condition holds.
    fn count_live(&self, holds: impl Fn(QuestionTime) -> bool) -> u32 {
        let live = (0..self.question_count).take_while(|place| holds(self.live_time(*place)));
        num::to_u32(live.count())
    }

    /// The latest instant at which a solo question is served: it closes before the round ends.
    pub fn last_serving(&self) -> Timestamp {
        self.closes_at.minus(self.length().saturating_add(CLOSING_DELAY))
    }

    /// Whether the result of a question may be shown to a fan: once it has closed, and in a solo round once the fan has
    /// answered it.
    pub fn reveals(&self, time: QuestionTime, is_answered: bool, now: Timestamp) -> bool {
        time.is_closed(now) || (self.mode == RoundMode::Solo && is_answered)
    }

    /// The state at this instant.
    pub fn status(&self, now: Timestamp) -> RoundStatus {
        if self.is_cancelled {
            RoundStatus::Cancelled
        } else {
            RoundStatus::of(self.starts_at, self.closes_at, now)
        }
    }

    /// The score of an answer: `floor(maxPoints × (2L − t) / 2L)` if it is right, otherwise 0.
    pub fn score(&self, is_right: bool, taken: u32) -> u32 {
        let twice = u64::from(self.length_ms()).saturating_mul(2);
        let left = twice.saturating_sub(taken.into());
        let score = u64::from(self.max_points).saturating_mul(left).checked_div(twice).unwrap_or(0);
        if is_right { num::to_u32(score) } else { 0 }
    }

    /// The digest of the questions, published before the round.
    pub fn commitment(&self) -> Digest {
        self.script.commitment()
    }

    /// The questions of a fan, in order: those of a live round, or those that the seed of the round and the fan draws. Two
    /// processes draw the same ones, and drawing writes nothing.
    pub fn questions(&self, seed: &ServerSeed) -> Vec<&Question> {
        let all = &self.script.questions;
        if self.mode == RoundMode::Live {
            return all.iter().collect();
        }
        let Ok(client_seed) = DRAWN_FOR.parse::<ClientSeed>() else { return Vec::new() };
        let source = Source::new(seed, &client_seed, 1);
        let mut words = source.slot(0);
        let mut left: Vec<&Question> = all.iter().collect();
        let mut drawn = Vec::new();
        while num::to_u32(drawn.len()) < self.question_count {
            let places: Vec<usize> = (0..left.len()).collect();
            let Some(place) = words.pick(&places, |_| 1) else { break };
            drawn.push(left.remove(*place));
        }
        drawn
    }

    /// How many milestones it has.
    pub fn milestones(&self) -> u32 {
        match self.mode {
            RoundMode::Live => self.question_count.saturating_mul(2).saturating_add(1),
            RoundMode::Solo => 1,
        }
    }

    /// The milestone of this number, from 0, and its time. They are in the order of their times.
    pub fn milestone(&self, number: u32) -> (Milestone, Timestamp) {
        if number.saturating_add(1) >= self.milestones() {
            return (Milestone::Ended, self.closes_at);
        }
        let place = number / 2;
        let time = self.live_time(place);
        if number.is_multiple_of(2) {
            (Milestone::Opened(place), time.served_at)
        } else {
            (Milestone::Closed(place), time.closes_at())
        }
    }

    /// How many milestones have come.
    pub fn reached(&self, now: Timestamp) -> u32 {
        let past = (0..self.milestones()).take_while(|number| self.milestone(*number).1.is_over(now));
        num::to_u32(past.count())
    }
}

/// The client seed of the draws of solo rounds.
const DRAWN_FOR: &str = "solo";
