//! Rounds of trivia, the fans who play them, and their answers.

mod audit;
mod content;
mod players;
pub(crate) mod schema;
mod standings;

pub(crate) use audit::PAID;

use crate::tx::DieselTx;
use std::collections::HashMap;
use terrace_games::{
    Answer, DuePlayer, GivenAnswer, OptionId, Player, QuestionId, Round, RoundId, RoundKey, RoundList,
    RoundProgress, Standing, StandingKey, TriviaRead, TriviaWrite,
};
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

impl TriviaRead for DieselTx<'_> {
    fn rounds(&mut self) -> Result<Vec<Round>, StoreError> {
        self.read_rounds()
    }

    fn rounds_with(&mut self, ids: &[RoundId]) -> Result<Vec<Round>, StoreError> {
        self.read_rounds_with(ids)
    }

    fn list_rounds(
        &mut self,
        list: RoundList,
        now: Timestamp,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Round>, StoreError> {
        self.read_round_list(list, now, limit, after)
    }

    fn player_counts(&mut self, rounds: &[RoundId]) -> Result<HashMap<RoundId, u64>, StoreError> {
        self.count_players(rounds)
    }

    fn players_of(&mut self, user: UserId, rounds: &[RoundId]) -> Result<Vec<Player>, StoreError> {
        self.read_players(user, rounds)
    }

    fn rounds_of(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Player>, StoreError> {
        self.list_players(user, limit, after)
    }

    fn answers_of(&mut self, user: UserId, rounds: &[RoundId]) -> Result<Vec<(RoundId, Answer)>, StoreError> {
        self.read_answers(user, rounds)
    }

    fn option_counts(
        &mut self,
        round: RoundId,
        question: QuestionId,
    ) -> Result<HashMap<OptionId, u64>, StoreError> {
        self.count_options(round, question)
    }

    fn standings(
        &mut self,
        round: &Round,
        counted: u32,
        limit: Limit,
        after: Option<StandingKey>,
    ) -> Result<Vec<Standing>, StoreError> {
        self.read_standings(round, counted, limit, after)
    }

    fn standing_of(
        &mut self,
        round: &Round,
        counted: u32,
        user: UserId,
    ) -> Result<Option<Standing>, StoreError> {
        self.read_standing(round, counted, user)
    }

    fn unfinished_rounds(&mut self, now: Timestamp) -> Result<Vec<RoundProgress>, StoreError> {
        self.read_unfinished(now)
    }

    fn next_start(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.read_next_start(now)
    }

    fn is_announcement_due(&mut self, now: Timestamp, until: Timestamp) -> Result<bool, StoreError> {
        self.has_unannounced(now, until)
    }

    fn due_players(
        &mut self,
        now: Timestamp,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DuePlayer>, StoreError> {
        self.read_due_players(now, since, limit)
    }
}

impl TriviaWrite for DieselTx<'_> {
    fn put_rounds(&mut self, rounds: &[Round]) -> Result<(), StoreError> {
        self.write_rounds(rounds)
    }

    fn cancel_rounds(&mut self, keep: &[RoundKey], now: Timestamp) -> Result<u64, StoreError> {
        self.cancel_other_rounds(keep, now)
    }

    fn insert_player(&mut self, player: &Player) -> Result<bool, StoreError> {
        self.write_player(player)
    }

    fn insert_answer(&mut self, round: RoundId, user: UserId, answer: &Answer) -> Result<(), StoreError> {
        self.write_answer(round, user, answer)
    }

    fn give_answer(
        &mut self,
        round: RoundId,
        user: UserId,
        place: u32,
        given: &GivenAnswer,
    ) -> Result<bool, StoreError> {
        self.complete_answer(round, user, place, given)
    }

    fn publish_milestones(
        &mut self,
        before: RoundProgress,
        published: u32,
        is_finished: bool,
    ) -> Result<bool, StoreError> {
        self.write_progress(before, published, is_finished)
    }

    fn announce_rounds(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<(RoundId, Option<TeamId>)>, StoreError> {
        self.write_announced(now, until)
    }

    fn pay_player(&mut self, player: DuePlayer, points: u32, at: Timestamp) -> Result<bool, StoreError> {
        self.write_paid(player, points, at)
    }

    fn erase_rounds(&mut self, user: UserId) -> Result<(), StoreError> {
        self.delete_rounds_of(user)
    }
}
