//! The list of rounds in the export of an account.

use crate::store::ExportReadTx;
use terrace_games::{Answer, Player, RoundId};
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};

/// The rounds that the fan has joined with the answers, the latest first.
pub fn rounds(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<(Player, Vec<Answer>)>, StoreError> {
    let players = tx.rounds_of(user, Limit::MAX, after)?;
    let ids: Vec<RoundId> = players.items.iter().map(|player| player.round).collect();
    let answers = if ids.is_empty() { Vec::new() } else { tx.answers_of(user, &ids)? };
    Ok(players.map(|player| {
        let own = answers.iter().filter(|(round, _)| *round == player.round);
        (player, own.map(|(_, answer)| answer.clone()).collect())
    }))
}
