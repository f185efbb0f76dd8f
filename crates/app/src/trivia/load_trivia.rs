//! Loads rounds into the database.

use crate::content::ContentFaults;
use crate::store::{Command, TriviaContentTx};
use crate::trivia::{TriviaContent, TriviaSummary};
use std::collections::HashMap;
use terrace_games::KnownRounds;
use terrace_kernel::{Ctx, Failure, Outcome, TeamId};

/// Loads rounds by their keys. A round whose key exists keeps its id, and its commitment if its questions are the same.
pub struct LoadTrivia {
    /// The rounds.
    pub content: TriviaContent,
}

impl Command for LoadTrivia {
    const NAME: &'static str = "load_trivia";
    type Ports = dyn TriviaContentTx;
    type Output = TriviaSummary;
    type Refusal = ContentFaults;

    fn run(&self, tx: &mut dyn TriviaContentTx, ctx: &mut Ctx) -> Outcome<TriviaSummary, ContentFaults> {
        let (stored, now) = (tx.rounds()?, ctx.now());
        let teams = tx.all_teams()?;
        let teams: HashMap<&str, TeamId> = teams.iter().map(|team| (team.key.as_str(), team.id)).collect();
        let team = |key: &str| teams.get(key).copied();
        let known = KnownRounds { rounds: &stored, team: &team, now: Some(now) };
        let planned = self.content.plan(&known, || ctx.new_id()).map_err(Failure::Refused)?;
        tx.put_rounds(&planned)?;
        let keys: Vec<_> = planned.iter().map(|round| round.key.clone()).collect();
        let cancelled = tx.cancel_rounds(&keys, now)?;
        Ok(TriviaSummary { rounds: planned.len(), cancelled })
    }
}
