//! Gives a fan points for a fact (spec, leaderboard scoring rules 1 and 4).

use crate::boards::awards::{AwardPointsRefusal, AwardResult, Awards};
use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, Outcome, TeamId};
use terrace_scoring::{NewAward, Writer};

/// Gives the points of an award, once.
#[derive(Debug, Clone)]
pub struct AwardPoints {
    /// What stamps it; see [`crate::App::awards`].
    pub awards: Awards,
    /// The award.
    pub award: NewAward,
    /// The team of the quest or game that it is for.
    pub team: Option<TeamId>,
    /// Who writes.
    pub by: Writer,
}

impl Command for AwardPoints {
    const NAME: &'static str = "award_points";
    type Output = AwardResult;
    type Refusal = AwardPointsRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<AwardResult, AwardPointsRefusal> {
        self.awards.give(tx, ctx, &self.award, self.team, self.by)
    }
}
