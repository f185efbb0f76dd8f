//! The awards of rounds: one for each fan and round, under the source `game:<round>`.

use crate::boards::Awards;
use crate::grants::{Gift, Granter, give_in_game};
use crate::store::{Command, TriviaTx};
use std::collections::HashMap;
use std::convert::Infallible;
use terrace_games::{DuePlayer, Round, RoundId, RoundMode};
use terrace_kernel::{Ctx, Failure, Giver, Grant, GrantSource, Outcome, StoreError, distinct};

/// Awards a fan, whose account the caller has locked, the points of a round, unless it was done before.
pub(super) fn award(
    tx: &mut dyn TriviaTx,
    ctx: &mut Ctx,
    (round, player, points): (&Round, DuePlayer, u32),
    granter: &Granter,
    awards: &Awards,
) -> Result<bool, StoreError> {
    if !tx.pay_player(player, points, ctx.now())? {
        return Ok(false);
    }
    if points > 0 {
        let gift = Gift {
            source: GrantSource { giver: Giver::Round, id: round.id.as_uuid() },
            grants: vec![Grant::Points(points.into())],
            reason: round.title.clone(),
        };
        match give_in_game(tx, ctx, player.user, &gift, granter, (awards, round.team)) {
            Ok(_) => {}
            Err(Failure::Broken(error)) => return Err(error),
            Err(Failure::Refused(refusal)) => return Err(StoreError::defect("award a round", refusal)),
        }
    }
    Ok(true)
}

/// Awards fans what rounds owe them: the score of a live round, or the award of a solo round.
pub(super) struct AwardPlayers {
    /// In the order of their ids, in which their accounts are locked.
    pub(super) players: Vec<DuePlayer>,
    pub(super) granter: Granter,
    pub(super) awards: Awards,
}

impl Command for AwardPlayers {
    const NAME: &'static str = "award_players";
    type Ports = dyn TriviaTx;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TriviaTx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        let ids = distinct(self.players.iter().map(|player| player.round));
        let rounds: HashMap<RoundId, Round> =
            tx.rounds_with(&ids)?.into_iter().map(|round| (round.id, round)).collect();
        let mut awarded = 0;
        for player in &self.players {
            let Some(round) = rounds.get(&player.round).filter(|round| !round.is_cancelled) else { continue };
            // An account that was suspended meanwhile is awarded when it is restored.
            if tx.lock_fan(player.user)?.is_none() {
                continue;
            }
            let points = match round.mode {
                RoundMode::Solo => round.award,
                RoundMode::Live => {
                    let answers = tx.answers_of(player.user, &[round.id])?;
                    let given = answers.iter().filter_map(|(_, answer)| answer.given);
                    given.fold(0, |sum: u32, given| sum.saturating_add(given.points))
                }
            };
            if award(tx, ctx, (round, *player, points), &self.granter, &self.awards)? {
                awarded += 1;
            }
        }
        Ok(awarded)
    }
}
