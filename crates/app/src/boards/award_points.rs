//! Awards points to a fan for a fact (spec, leaderboard scoring rules 1 and 4).

use crate::boards::awards::{AwardPointsRefusal, AwardResult, Awards};
use crate::store::{Batched, BoardTx, Command};
use terrace_kernel::{Ctx, Outcome, StoreError, TeamId};
use terrace_scoring::{NewAward, Writer};

/// Writes an award, at most once per fact.
#[derive(Debug, Clone)]
pub struct AwardPoints {
    /// Determines season and board of the award; see [`crate::App::awards`].
    pub awards: Awards,
    pub award: NewAward,
    /// The team of the quest or game that the award is for.
    pub team: Option<TeamId>,
    /// The writer of the record: the service or maintenance.
    pub by: Writer,
}

impl Command for AwardPoints {
    const NAME: &'static str = "award_points";
    type Ports = dyn BoardTx;
    type Output = AwardResult;
    type Refusal = AwardPointsRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn batches(&self) -> bool {
        true
    }

    fn run(&self, tx: &mut dyn BoardTx, ctx: &mut Ctx) -> Outcome<AwardResult, AwardPointsRefusal> {
        self.awards.give(tx, ctx, &self.award, self.team, self.by)
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn BoardTx) -> Result<Batched<Self>, StoreError> {
        let Some((first, _)) = batch.first() else { return Ok(Vec::new()) };
        let awards = first.awards.clone();
        awards.give_batch(tx, batch)
    }
}
