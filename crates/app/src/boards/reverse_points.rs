//! Reverses the points paid for a fact: with a new record of the opposite amount, never by changing the original.

use crate::boards::awards::{AwardResult, Awards, ReversePointsRefusal};
use crate::store::{BoardTx, Command};
use terrace_kernel::{Ctx, Outcome, UserId};
use terrace_scoring::{SourceKey, Writer};

/// Reverses the points of a fact, at most once.
#[derive(Debug, Clone)]
pub struct ReversePoints {
    /// The cached seasons; see [`crate::App::awards`].
    pub awards: Awards,
    /// The fan whose points are reversed.
    pub user: UserId,
    /// The fact.
    pub source: SourceKey,
    /// Reason shown to the fan, checked by `terrace_scoring::reason`.
    pub reason: String,
    /// The writer of the record: the service or maintenance.
    pub by: Writer,
}

impl Command for ReversePoints {
    const NAME: &'static str = "reverse_points";
    type Ports = dyn BoardTx;
    type Output = AwardResult;
    type Refusal = ReversePointsRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn BoardTx, ctx: &mut Ctx) -> Outcome<AwardResult, ReversePointsRefusal> {
        self.awards.take_back(tx, ctx, (self.user, &self.source), &self.reason, self.by)
    }
}
