//! Takes back what a fact has paid: a record of the opposite amount, never a change of the first.

use crate::boards::awards::{AwardResult, Awards, ReversePointsRefusal};
use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, Outcome, UserId};
use terrace_scoring::{SourceKey, Writer};

/// Takes back the points of a fact, once.
#[derive(Debug, Clone)]
pub struct ReversePoints {
    /// What knows the seasons; see [`crate::App::awards`].
    pub awards: Awards,
    /// Whose points.
    pub user: UserId,
    /// The fact.
    pub source: SourceKey,
    /// What it says to the fan, checked by `terrace_scoring::reason`.
    pub reason: String,
    /// Who writes.
    pub by: Writer,
}

impl Command for ReversePoints {
    const NAME: &'static str = "reverse_points";
    type Output = AwardResult;
    type Refusal = ReversePointsRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<AwardResult, ReversePointsRefusal> {
        self.awards.take_back(tx, ctx, (self.user, &self.source), &self.reason, self.by)
    }
}
