//! The store interface that trivia needs. One call is one round trip to the database.

use crate::{OptionId, QuestionId, QuestionTime, Round, RoundId, RoundKey};
use std::collections::HashMap;
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// A fan who plays a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Player {
    /// Id of the round.
    pub round: RoundId,
    /// The fan.
    pub user: UserId,
    /// When the fan joined.
    pub joined_at: Timestamp,
    /// The points that were awarded for the round; `None` until then.
    pub paid: Option<u32>,
}

/// A question that a fan got, with the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The place of the question among the fan's questions of the round, from 0.
    pub place: u32,
    /// Id of the question.
    pub question: QuestionId,
    /// When it was served, and when its time ends.
    pub time: QuestionTime,
    /// The answer; `None` if the fan has given none.
    pub given: Option<GivenAnswer>,
}

/// An answer of a fan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenAnswer {
    /// Id of the option.
    pub option: OptionId,
    /// When the request came in.
    pub arrived_at: Timestamp,
    /// The time that it took, in milliseconds.
    pub taken: u32,
    /// Its score. It is not shown before the question closes.
    pub points: u32,
}

/// The values by which fans are ranked in a round: the highest score first, then the least time, then who joined first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingKey {
    /// The sum of the scores.
    pub score: i64,
    /// The sum of the times of answers in milliseconds, less the time for a question for each of them.
    pub saved: i64,
    /// When the fan joined.
    pub joined_at: Timestamp,
    /// The fan.
    pub user: UserId,
}

/// A fan's place in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The values that decide it.
    pub key: StandingKey,
    /// The place, from 1.
    pub rank: u64,
    /// How many questions the fan has answered.
    pub answered: u32,
}

/// Which rounds a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoundList {
    /// Those that are open or to come, in the order of their start.
    Current,
    /// Those that are over or were cancelled, the latest end first.
    Past,
}

/// A round whose milestones were not all published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundProgress {
    /// Id of the round.
    pub round: RoundId,
    /// How many milestones were published.
    pub published: u32,
}

/// A fan whose award for a round is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuePlayer {
    /// Id of the round.
    pub round: RoundId,
    /// The fan.
    pub user: UserId,
}

/// Reads rounds, players and answers.
pub trait TriviaRead {
    /// All rounds, in the order of their start.
    fn rounds(&mut self) -> Result<Vec<Round>, StoreError>;

    /// The rounds with these ids, in no order.
    fn rounds_with(&mut self, ids: &[RoundId]) -> Result<Vec<Round>, StoreError>;

    /// A list of rounds at this time. Keys are starts or, for past rounds, ends.
    fn list_rounds(
        &mut self,
        list: RoundList,
        now: Timestamp,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Round>, StoreError>;

    /// How many fans play each of these rounds; rounds without players are missing.
    fn player_counts(&mut self, rounds: &[RoundId]) -> Result<HashMap<RoundId, u64>, StoreError>;

    /// A fan's places in these rounds, as far as the fan has joined them.
    fn players_of(&mut self, user: UserId, rounds: &[RoundId]) -> Result<Vec<Player>, StoreError>;

    /// The rounds that a fan has joined, the latest first.
    fn rounds_of(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Player>, StoreError>;

    /// The questions that a fan got in these rounds, with the answers, by round and place.
    fn answers_of(&mut self, user: UserId, rounds: &[RoundId]) -> Result<Vec<(RoundId, Answer)>, StoreError>;

    /// How often each option of a question was given; options that no fan gave are missing.
    fn option_counts(
        &mut self,
        round: RoundId,
        question: QuestionId,
    ) -> Result<HashMap<OptionId, u64>, StoreError>;

    /// The places of active fans in a round after a key, as far as their first `counted` questions decide them.
    fn standings(
        &mut self,
        round: &Round,
        counted: u32,
        limit: Limit,
        after: Option<StandingKey>,
    ) -> Result<Vec<Standing>, StoreError>;

    /// A fan's place in a round in the same way; `None` if the fan does not play it.
    fn standing_of(
        &mut self,
        round: &Round,
        counted: u32,
        user: UserId,
    ) -> Result<Option<Standing>, StoreError>;

    /// Rounds that have begun or were cancelled, and whose milestones were not all published.
    fn unfinished_rounds(&mut self, now: Timestamp) -> Result<Vec<RoundProgress>, StoreError>;

    /// When the next round begins.
    fn next_start(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Whether a live round begins after `now`, at `until` at the latest, that was not announced.
    fn is_announcement_due(&mut self, now: Timestamp, until: Timestamp) -> Result<bool, StoreError>;

    /// Active fans whose award is due: all players of a live round that is over, and players of a solo round whose last
    /// question was answered or has closed. Rounds that ended before `since` are left out.
    fn due_players(
        &mut self,
        now: Timestamp,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DuePlayer>, StoreError>;
}

/// Writes rounds, players and answers. Where a fan is named, the caller holds the lock on the account.
pub trait TriviaWrite: TriviaRead {
    /// Inserts or overwrites rounds, by id.
    fn put_rounds(&mut self, rounds: &[Round]) -> Result<(), StoreError>;

    /// Cancels every round whose key is not in `keep`, unless it is over; returns how many.
    fn cancel_rounds(&mut self, keep: &[RoundKey], now: Timestamp) -> Result<u64, StoreError>;

    /// Inserts a player; `false` if the fan had joined before.
    fn insert_player(&mut self, player: &Player) -> Result<bool, StoreError>;

    /// Inserts a question that a fan gets, with the answer to a live question.
    fn insert_answer(&mut self, round: RoundId, user: UserId, answer: &Answer) -> Result<(), StoreError>;

    /// Stores the answer to a question that was served; `false` if it has an answer.
    fn give_answer(
        &mut self,
        round: RoundId,
        user: UserId,
        place: u32,
        given: &GivenAnswer,
    ) -> Result<bool, StoreError>;

    /// Records that milestones were published, if so many were published before; `false` otherwise.
    fn publish_milestones(
        &mut self,
        before: RoundProgress,
        published: u32,
        is_finished: bool,
    ) -> Result<bool, StoreError>;

    /// Records that all live rounds that begin after `now`, at `until` at the latest, are announced; returns those that were not
    /// before, each with its team.
    fn announce_rounds(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<(RoundId, Option<TeamId>)>, StoreError>;

    /// Records the award of a fan, unless one was recorded; `false` then.
    fn pay_player(&mut self, player: DuePlayer, points: u32, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes a fan's places and answers.
    fn erase_rounds(&mut self, user: UserId) -> Result<(), StoreError>;
}
