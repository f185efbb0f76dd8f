//! Trivia: content, rounds, answers and awards. The rules are in `terrace-games`.
//!
//! No process holds a round. When a live question opens, ends and closes is a function of the round and the time, and a
//! question of a solo round is stored with the time at which it was served. [`AnswerQuestion`] decides by the time at which
//! the request came in, and stores the score at once; results are shown once the question has closed, or for solo rounds with
//! the answer. Which questions a fan gets in a solo round follows from a seed ([`TriviaSeeds`]), so reading writes nothing.
//!
//! The job ([`advance_trivia`]) announces a live round five minutes before its start, appends the events of a round and pays its
//! awards, each once: all are guarded by the rows that record them.

mod announce;
mod awards;
mod content;
mod erasure;
pub mod export;
mod job;
mod load_trivia;
mod play;
mod queries;
mod seeds;

pub use content::{TriviaContent, TriviaSummary};
pub(crate) use erasure::ERASURE;
pub use job::advance_trivia;
pub(crate) use job::job;
pub use load_trivia::LoadTrivia;
pub use play::{AnswerQuestion, AnsweredQuestion, JoinRound, NextQuestion, PlayRefusal, ServedQuestion};
pub use queries::{
    FindRound, ListOwnRounds, ListRounds, OwnRound, ReadProof, ReadRound, ReadStandings, RoundNow,
    RoundRefusal, RoundView, StandingsPage,
};
pub use seeds::TriviaSeeds;

use crate::App;
use crate::content::ContentFaults;
use std::sync::Arc;
use terrace_games::{OptionId, QuestionId, Round, RoundId, TriviaRead};
use terrace_kernel::{Outcome, StoreError, Timestamp, UserId};

/// The round with this id.
fn one<T: TriviaRead + ?Sized>(tx: &mut T, id: RoundId) -> Result<Option<Round>, StoreError> {
    Ok(tx.rounds_with(&[id])?.pop())
}

impl App {
    /// The seeds of solo rounds; an error if this process has no secret key.
    pub fn trivia_seeds(&self) -> Result<Arc<TriviaSeeds>, StoreError> {
        let seeds = self.trivia_seeds.as_ref().map(Arc::clone);
        seeds.ok_or_else(|| StoreError::defect("draw questions", "this process has no secret"))
    }

    /// Loads rounds by their keys; rounds that the content no longer contains are cancelled, unless they are over.
    ///
    /// # Errors
    ///
    /// Refuses content that is invalid on its own or together with the existing content, and changes nothing.
    pub async fn load_trivia(&self, content: TriviaContent) -> Outcome<TriviaSummary, ContentFaults> {
        self.execute(LoadTrivia { content }).await
    }

    /// Builds the command by which a fan answers a question.
    ///
    /// # Errors
    ///
    /// If packs cannot be read, or this process has no secret key.
    pub async fn answer_question(
        &self,
        user: UserId,
        round: RoundId,
        (question, option): (QuestionId, OptionId),
        arrived_at: Timestamp,
    ) -> Result<AnswerQuestion, StoreError> {
        let (granter, awards) = (self.granter().await?, self.awards());
        Ok(AnswerQuestion { user, round, question, option, arrived_at, granter, awards })
    }
}
